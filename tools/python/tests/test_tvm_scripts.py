"""What TVM's tutorials do with a model once they have it: as they write it, but for the import line."""
from types import SimpleNamespace

import models
import numpy as np
import pytest

import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm import te  # noqa: F401 (the tutorials import it)

rng = np.random.default_rng(0)
W, BIAS = rng.standard_normal((3, 4)).astype("float32"), np.float32([-1, 0, 1, 2])
X = rng.standard_normal((2, 3)).astype("float32")


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def torch_operators():
    import relayvm
    return relayvm.list_operators("torchscript")


def test_from_pytorch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, 2), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1),
                                torch.nn.Flatten(), torch.nn.Linear(8, 10))
    model = model.eval()
    input_shape = [1, 3, 32, 32]
    input_data = torch.randn(input_shape)
    scripted_model = torch.jit.trace(model, input_data).eval()
    img = input_data.numpy()

    input_name = "input0"
    shape_list = [(input_name, img.shape)]
    mod, params = relay.frontend.from_pytorch(scripted_model, shape_list)

    target = tvm.target.Target("llvm", host="llvm")
    dev = tvm.cpu(0)
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target=target, params=params)

    from relayvm.tvm.contrib import graph_executor

    dtype = "float32"
    m = graph_executor.GraphModule(lib["default"](dev))
    m.set_input(input_name, tvm.nd.array(img.astype(dtype)))
    m.run()
    tvm_output = m.get_output(0)

    top1_tvm = np.argmax(tvm_output.numpy()[0])
    with torch.no_grad():
        output = model(input_data)
    assert top1_tvm == np.argmax(output[0].numpy())
    np.testing.assert_allclose(tvm_output.numpy(), output.numpy(), 1e-4, 1e-5)


def test_deploy_prequantized():
    torch = pytest.importorskip("torch")
    if "quantized::conv2d" not in torch_operators():
        pytest.skip("quantised operators are not supported yet")
    engine = next(e for e in ("fbgemm", "qnnpack") if e in torch.backends.quantized.supported_engines)
    torch.backends.quantized.engine = engine
    torch.manual_seed(0)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.quant, self.dequant = torch.quantization.QuantStub(), torch.quantization.DeQuantStub()
            self.conv, self.relu = torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU()

        def forward(self, x):
            return self.dequant(self.relu(self.conv(self.quant(x))))

    inp = rng.random((1, 3, 16, 16), dtype="float32")

    def quantize_model(model, inp):
        torch.quantization.fuse_modules(model, [["conv", "relu"]], inplace=True)
        model.qconfig = torch.quantization.get_default_qconfig(engine)
        torch.quantization.prepare(model, inplace=True)
        model(inp)
        torch.quantization.convert(model, inplace=True)

    def run_tvm_model(mod, params, input_name, inp, target="llvm"):
        with tvm.transform.PassContext(opt_level=3):
            lib = relay.build(mod, target=target, params=params)

        runtime = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.device(target, 0)))

        runtime.set_input(input_name, inp)
        runtime.run()
        return runtime.get_output(0).numpy(), runtime

    qmodel = Net().eval()
    pt_inp = torch.from_numpy(inp)
    quantize_model(qmodel, pt_inp)
    script_module = torch.jit.trace(qmodel, pt_inp).eval()
    with torch.no_grad():
        pt_result = script_module(pt_inp).numpy()

    input_name = "input"
    input_shapes = [(input_name, (1, 3, 16, 16))]
    for keep in (False, True):
        mod, params = relay.frontend.from_pytorch(script_module, input_shapes, keep_quantized_weight=keep)
        tvm_result, rt_mod = run_tvm_model(mod, params, input_name, inp, target="llvm")
        assert np.abs(tvm_result - pt_result).max() <= qmodel.conv.scale * 1.01
    measured = rt_mod.benchmark(tvm.cpu(0), number=1, repeat=3)
    assert len(measured.results) == 3 and "mean (ms)" in str(measured)


def test_deploy_object_detection():
    """The virtual machine, and a number of results that depends on data."""
    torch = pytest.importorskip("torch")

    class Best(torch.nn.Module):
        def forward(self, boxes, scores):
            keep = scores > 0.5
            return boxes[keep], scores[keep]

    boxes, scores = torch.rand(5, 4), torch.tensor([0.9, 0.1, 0.6, 0.2, 0.7])
    script_module = torch.jit.trace(Best(), (boxes, scores))
    mod, params = relay.frontend.from_pytorch(script_module, [("boxes", (5, 4)), ("scores", (5,))])
    with pytest.warns(UserWarning, match="no passes PlanStorage"), \
            tvm.transform.PassContext(opt_level=3, disabled_pass=["FoldScaleAxis", "PlanStorage"]):
        vm_exec = relay.vm.compile(mod, target="llvm", params=params)

    from relayvm.tvm.runtime.vm import VirtualMachine

    dev = tvm.cpu()
    vm = VirtualMachine(vm_exec, dev)
    vm.set_input("main", **{"boxes": boxes.numpy(), "scores": scores.numpy()})
    tvm_res = vm.run()
    assert tvm_res[0].numpy().tolist() == boxes[[0, 2, 4]].tolist()
    assert tvm_res[1].asnumpy().shape == (3,)
    np.testing.assert_array_equal(vm.invoke("main", boxes.numpy(), scores.numpy())[1], tvm_res[1])
    assert len(vm.get_outputs()) == 2


def test_from_tensorflow():
    graph_def = SimpleNamespace(SerializeToString=lambda: models.dense_graph(W, (2, 3)))
    target = tvm.target.Target("llvm", host="llvm")
    layout = None
    dev = tvm.cpu(0)
    x = X
    shape_dict = {"x": x.shape}
    mod, params = relay.frontend.from_tensorflow(graph_def, layout=layout, shape=shape_dict)
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target, params=params)

    from relayvm.tvm.contrib import graph_executor

    dtype = "float32"
    m = graph_executor.GraphModule(lib["default"](dev))
    m.set_input("x", tvm.nd.array(x.astype(dtype)))
    m.run()
    tvm_output = m.get_output(0, tvm.nd.empty(((2, 4)), "float32"))
    predictions = tvm_output.numpy()
    np.testing.assert_allclose(np.squeeze(predictions), softmax(x @ W), 1e-5)


def test_from_mxnet():
    text = models.mxnet_symbol()
    mx_sym = SimpleNamespace(tojson=lambda: text)
    args = {"fc_weight": SimpleNamespace(asnumpy=lambda: np.ascontiguousarray(W.T)), "fc_bias": SimpleNamespace(asnumpy=lambda: BIAS)}
    auxs = {}
    x = X
    shape_dict = {"data": x.shape}
    mod, params = relay.frontend.from_mxnet(mx_sym, shape_dict, arg_params=args, aux_params=auxs)
    ## we want a probability so add a softmax operator
    func = mod["main"]
    func = relay.Function(func.params, relay.nn.softmax(func.body), None, func.type_params, func.attrs)

    target = "llvm"
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(func, target, params=params)

    from relayvm.tvm.contrib import graph_executor

    dev = tvm.cpu(0)
    dtype = "float32"
    m = graph_executor.GraphModule(lib["default"](dev))
    m.set_input("data", tvm.nd.array(x.astype(dtype)))
    m.run()
    tvm_output = m.get_output(0)
    top1 = np.argmax(tvm_output.numpy()[0])
    expected = softmax(x @ W + BIAS)
    assert top1 == np.argmax(expected[0])
    np.testing.assert_allclose(tvm_output.numpy(), expected, 1e-5)


def test_from_tflite():
    tflite_model = SimpleNamespace(_tab=SimpleNamespace(Bytes=models.tflite_model(BIAS)))
    input_tensor = "x"
    input_shape = (1, 4)
    input_dtype = "float32"
    image_data = np.float32([[1, 2, 3, 4]])
    mod, params = relay.frontend.from_tflite(tflite_model, shape_dict={input_tensor: input_shape}, dtype_dict={input_tensor: input_dtype})

    target = "llvm"
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target, params=params)

    from relayvm.tvm.contrib import graph_executor as runtime

    module = runtime.GraphModule(lib["default"](tvm.cpu()))
    module.set_input(input_tensor, tvm.nd.array(image_data))
    module.run()
    tvm_output = module.get_output(0).numpy()
    np.testing.assert_allclose(tvm_output, 1 / (1 + np.exp(-(image_data + BIAS))), 1e-5)


def test_from_keras():
    """The part of the tutorial after from_keras, on a program that is there."""
    mod = tvm.IRModule.from_expr(relay.Function([data := relay.var("input_1", shape=(1, 3, 2, 2))], relay.nn.relu(data)))
    params = {}
    target = "llvm"
    dev = tvm.cpu(0)
    with tvm.transform.PassContext(opt_level=0):
        model = relay.build_module.create_executor("vm", mod, dev, target, params).evaluate()
    data = rng.standard_normal((1, 3, 2, 2))
    dtype = "float32"
    tvm_out = model(tvm.nd.array(data.astype(dtype)))
    top1_tvm = np.argmax(tvm_out.numpy()[0])
    assert top1_tvm == np.argmax(data[0].clip(0))


def test_devices_and_arrays():
    assert tvm.cpu().exist and not tvm.cuda().exist and tvm.device("llvm", 0) == tvm.cpu(0)
    with pytest.raises(ValueError, match="the processor alone"):
        tvm.nd.array(X, tvm.cuda())
    array = tvm.nd.array(X)
    assert array.asnumpy() is not X and type(array.numpy()) is np.ndarray
    np.testing.assert_array_equal(tvm.nd.empty((2, 3)).copyfrom(array), X)
    assert tvm.target.Target("llvm -mcpu=core-avx2").kind.name == "llvm"
    with pytest.raises(NotImplementedError, match="made by the compiler"):
        te.compute((3,), lambda i: i)
