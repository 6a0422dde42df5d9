"""PyTorch's models: from_pytorch, against what PyTorch gives."""
from typing import List, Optional, Tuple

import numpy as np
import pytest

import relayvm as rvm
from relayvm import relay

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

torch.set_num_threads(1)


def check(module, infos, *inputs, tol=1e-5, **options):
    """That it gives what the module gives; the rvm.Module."""
    mod, params = rvm.from_pytorch(module, infos, **options)
    assert params == {}
    with torch.no_grad():
        expected = module(*inputs)
    found = rvm.compile(mod, opt_level=1)(*flat_inputs(inputs))
    same(found, expected, tol)
    return mod


def flat_inputs(inputs):
    return [x if isinstance(x, (list, tuple)) else x.numpy() if isinstance(x, torch.Tensor) else x for x in inputs]


def same(found, expected, tol=1e-5):
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other, tol)
    else:
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), tol, tol)


def types(mod):
    return {p.name_hint: str(p.checked_type) for p in mod["main"].params}


class Block(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside)
        self.conv2, self.bn2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False), nn.BatchNorm2d(outside)
        self.down = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside)) if stride != 1 else nn.Identity()

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        y += self.down(x)
        return F.relu(y)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        self.layers = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2))
        self.pool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(16, 10)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.layers(self.stem(x))), 1))


class Gated(nn.Module):
    """An LSTM cell over a sequence, with a branch on data and a loop over its length."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(4, 6)

    def forward(self, x: torch.Tensor, reverse: bool):
        h = torch.zeros(x.size(1), 6)
        c = torch.zeros(x.size(1), 6)
        if reverse:
            x = x.flip(0)
        for i in range(x.size(0)):
            h, c = self.cell(x[i], (h, c))
            if bool(h.sum() > 0):
                h = h * 0.5
        return h, c


@pytest.fixture(scope="module")
def resnet():
    torch.manual_seed(0)
    return ResNet().eval()


@pytest.fixture(scope="module")
def picture():
    return torch.rand(2, 3, 32, 32)


@pytest.mark.parametrize("make", [lambda m, x: torch.jit.trace(m, x), lambda m, x: torch.jit.script(m),
                                  lambda m, x: torch.jit.freeze(torch.jit.trace(m, x))], ids=["trace", "script", "frozen"])
def test_resnet(resnet, picture, make):
    mod = check(make(resnet, picture), [("input0", (2, 3, 32, 32))], picture)
    assert types(mod) == {"input0": "Tensor[(2, 3, 32, 32), float32]"}


def test_open_dims(resnet, picture):
    mod, _ = rvm.from_pytorch(torch.jit.trace(resnet, picture), [("x", ("n", 3, relay.Any(), None))])
    model = rvm.compile(mod)
    for shape in (1, 3, 40, 24), (3, 3, 33, 65):
        x = torch.rand(shape)
        same(model(x.numpy()), resnet(x).detach(), 1e-4)


def test_lstm_with_branch_and_loop():
    torch.manual_seed(0)
    module = torch.jit.script(Gated().eval())
    mod, _ = rvm.from_pytorch(module, [("x", (-1, -1, 4)), ("reverse", ((), "bool"))])
    model = rvm.compile(mod)
    for turns in (1, 5):
        x = torch.randn(turns, 3, 4)
        for reverse in (False, True):
            with torch.no_grad():
                same(model(x.numpy(), reverse), module(x, reverse))


def test_paths_bytes_and_files(resnet, picture, tmp_path):
    path = tmp_path / "model.pt"
    traced = torch.jit.trace(resnet, picture)
    traced.save(str(path))
    infos = [("x", (2, 3, 32, 32))]
    expected = resnet(picture).detach()
    with open(path, "rb") as file:
        for model in (path, str(path), path.read_bytes(), file):
            same(rvm.compile(rvm.from_pytorch(model, infos)[0])(picture.numpy()), expected, 1e-4)
    [name] = [a.name for a in rvm.compile(path, shape={"0": (2, 3, "h", "w")}, opt_level=0).inputs]
    same(rvm.compile_model(path, shape={name: "(2, 3, ?, ?)"})(picture.numpy()), expected, 1e-4)


class Nested(nn.Module):
    def forward(self, xs: List[torch.Tensor], pair: Tuple[torch.Tensor, torch.Tensor]):
        return torch.cat(xs) + pair[0] * pair[1]


@pytest.mark.parametrize("xs", [[(2, 3), (1, 3)], ((2, 3), (1, 3)), [((2, 3), "float32"), ((1, 3), "float32")],
                                "(Tensor[(2, 3), float32], Tensor[(1, 3), float32])"])
def test_lists_and_tuples(xs):
    module = torch.jit.script(Nested())
    x = torch.rand(3, 3)
    mod, _ = rvm.from_pytorch(module, [("xs", xs), ("pair", [(3, 3), ((3, 3), "float32")])])
    assert types(mod) == {"xs": "(Tensor[(2, 3), float32], Tensor[(1, 3), float32])", "pair": "(Tensor[(3, 3), float32], Tensor[(3, 3), float32])"}
    found = rvm.compile(mod)((x[:2].numpy(), x[2:].numpy()), (x.numpy(), x.numpy()))
    same(found, x + x * x)


def test_list_of_any_length():
    mod, _ = rvm.from_pytorch(torch.jit.script(Nested()), [("xs", "List[Tensor[(?, 3), float32]]"), ("pair", ((3, 3), (3, 3)))])
    assert types(mod)["xs"].startswith("List[")


@pytest.mark.parametrize("info, options, told", [
    ((2, 3), {}, "Tensor[(2, 3), float32]"),
    (("x", (2, 3)), {}, "Tensor[(2, 3), float32]"),
    (["x", [2, 3]], {}, "Tensor[(2, 3), float32]"),
    (("x", ((2, 3), "int32")), {}, "Tensor[(2, 3), int32]"),
    (("x", ((2, 3), torch.int64)), {}, "Tensor[(2, 3), int64]"),
    (("x", ((2, 3), "double")), {}, "Tensor[(2, 3), float64]"),
    (("x", (np.int64(2), 3)), {"default_dtype": "float64"}, "Tensor[(2, 3), float64]"),
    (("x", torch.Size([2, 3])), {"default_dtype": "int64"}, "Tensor[(2, 3), int64]"),
    (("x", relay.TensorType((2, 3), "int32")), {}, "Tensor[(2, 3), int32]"),
    (("x", ()), {}, "float32"),
])
def test_input_infos(info, options, told):
    module = torch.jit.trace(nn.ReLU(), torch.zeros(2, 3))
    mod, _ = rvm.from_pytorch(module, [info], **options)
    assert list(types(mod).values()) == [told]


def test_none_and_defaults():
    class Biased(nn.Module):
        def forward(self, x, bias: Optional[torch.Tensor], scale: float = 2.0):
            return x * scale if bias is None else x * scale + bias

    module = torch.jit.script(Biased())
    x = torch.rand(3)
    mod, _ = rvm.from_pytorch(module, [("x", (3,)), ("bias", None)])
    assert list(types(mod)) == ["x"]
    same(rvm.compile(mod)(x.numpy()), x * 2)
    mod, _ = rvm.from_pytorch(module, [("x", (3,)), ("bias", (3,))])
    same(rvm.compile(mod)(x.numpy(), x.numpy()), x * 3)


def test_names():
    module = torch.jit.trace(nn.ReLU(), torch.zeros(2))
    assert list(types(rvm.from_pytorch(module, [("a.b:0", (2,))], use_parser_friendly_name=True)[0])) == ["a_b_0"]
    assert list(types(rvm.from_pytorch(module, [(2,)])[0])) == ["input0"]


def test_errors(resnet, picture, tmp_path):
    with pytest.raises(TypeError, match=r"torch\.jit\.trace.*found ResNet"):
        rvm.from_pytorch(resnet, [("x", (2, 3, 32, 32))])
    with pytest.raises(rvm.Unsupported, match="does not say what shapes") as info:
        rvm.from_pytorch(torch.jit.trace(resnet, picture))
    assert any('input_infos=[("x", ((1, 3, None, None), "float32"))]' in note for note in info.value.__notes__)
    with pytest.raises(rvm.FileNotFound):
        rvm.from_pytorch(tmp_path / "none.pt", [("x", (2,))])
    with pytest.raises(TypeError, match="input_infos: expected a shape"):
        rvm.from_pytorch(torch.jit.trace(nn.ReLU(), torch.zeros(2)), [("x", 3)])
    with pytest.raises(rvm.Error):
        rvm.from_pytorch(torch.jit.trace(nn.ReLU(), torch.zeros(2)), [("x", (2,)), ("y", (2,))])
    with pytest.raises(rvm.InvalidInput):
        rvm.from_pytorch(b"no model at all", [("x", (2,))])


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x):
        self.total += x
        return self.total * 1.0


def test_state():
    module = torch.jit.script(Counter())
    mod, _ = rvm.from_pytorch(module, [("x", (3,))])
    model = rvm.compile(mod).load()
    state = model.state()
    assert len(state) == 1
    total = np.zeros(3, np.float32)
    for i in range(3):
        x = np.full(3, i + 1, np.float32)
        total += x
        y = model(x, state=state)
        same(y[0] if isinstance(y, tuple) else y, total)
    state.reset()
    y = model(x, state=state)
    same(y[0] if isinstance(y, tuple) else y, x)


# --- Quantised ---


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.dequant = torch.quantization.QuantStub(), torch.quantization.DeQuantStub()
        self.conv, self.relu, self.fc = nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Linear(8, 4)

    def forward(self, x):
        x = self.relu(self.conv(self.quant(x)))
        return self.dequant(self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1)))


def quantised(engine, calibration):
    if "quantized::conv2d" not in rvm.list_operators("torchscript"):
        pytest.skip("quantised operators are not supported yet")
    if engine not in torch.backends.quantized.supported_engines:
        pytest.skip(f"PyTorch without {engine}")
    torch.backends.quantized.engine = engine
    torch.manual_seed(0)
    model = Quantised().eval()
    torch.quantization.fuse_modules(model, [["conv", "relu"]], inplace=True)
    model.qconfig = torch.quantization.get_default_qconfig(engine)
    torch.quantization.prepare(model, inplace=True)
    model(calibration)
    torch.quantization.convert(model, inplace=True)
    return model


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("keep", [False, True])
def test_quantised(engine, keep):
    x = torch.rand(2, 3, 16, 16)
    model = quantised(engine, x)
    traced = torch.jit.trace(model, x).eval()
    mod, _ = rvm.from_pytorch(traced, [("x", (2, 3, 16, 16))], keep_quantized_weight=keep)
    found, expected = rvm.compile(mod)(x.numpy()), traced(x).detach().numpy()
    # One step of the last quantisation.
    assert np.abs(found - expected).max() <= float(model.fc.scale) * 1.01


# --- Converters of one's own ---


def test_converter_of_a_known_operator():
    calls = []

    def relu(inputs, input_types):
        calls.append((inputs, input_types))
        return relay.nn.relu(inputs[0]) * relay.const(2.0)

    module = torch.jit.trace(nn.Sequential(nn.ReLU(), nn.Sigmoid()), torch.zeros(2, 3))
    x = torch.randn(2, 3)
    for name in ("aten::relu", "relu"):
        mod, _ = rvm.from_pytorch(module, [("x", ("n", 3))], {name: relu})
        same(rvm.compile(mod)(x.numpy()), torch.sigmoid(F.relu(x) * 2))
    [(inputs, kinds)] = calls[:1]
    assert kinds == ["float32"] and str(inputs[0].checked_type) == "Tensor[(n, 3), float32]"


def test_arguments_of_converters():
    seen = []

    def convert(inputs, input_types):
        seen.append((inputs[1:], input_types))
        return relay.mean(inputs[0], axis=list(inputs[1]), keepdims=inputs[2])

    class Mean(nn.Module):
        def forward(self, x):
            return torch.mean(x, [1, 2], keepdim=True)

    x = torch.rand(2, 3, 4)
    same(rvm.compile(rvm.from_pytorch(torch.jit.script(Mean()), [("x", (2, 3, 4))], {"aten::mean": convert})[0])(x.numpy()), x.mean([1, 2], True))
    assert seen == [([[1, 2], True, None], ["float32", "ListType", "BoolType", "OptionalType"])]


def test_converter_of_an_in_place_operator():
    class Twice(nn.Module):
        def forward(self, x):
            y = x + 1
            y.clamp_(0.0, 1.0)
            return y, y[0]

    module = torch.jit.script(Twice())
    x = torch.randn(2, 3)
    convert = {"aten::clamp": lambda inputs, types: relay.clip(inputs[0], inputs[1], inputs[2]) * relay.const(3.0)}
    found = rvm.compile(rvm.from_pytorch(module, [("x", (2, 3))], convert)[0])(x.numpy())
    y = (x + 1).clamp(0, 1) * 3
    same(found, (y, y[0]))


def test_converters_give_lists_and_branches():
    class Parts(nn.Module):
        def forward(self, x):
            a, b = torch.split(x, 2)
            return torch.sinc(a), b

    def sinc(inputs, _):
        x = inputs[0]
        return relay.If(relay.sum(x) > relay.const(0.0), relay.sin(x), relay.cos(x))

    module = torch.jit.script(Parts())
    convert = {"aten::sinc": sinc, "aten::split": lambda inputs, _: list(relay.split(inputs[0], 2))}
    model = rvm.compile(rvm.from_pytorch(module, [("x", (4, 3))], convert)[0])
    x = torch.rand(4, 3)
    same(model(x.numpy()), (torch.sin(x[:2]), x[2:]))
    same(model(-x.numpy()), (torch.cos(-x[:2]), -x[2:]))


def test_converter_of_an_unknown_operator(tmp_path):
    """Of an operator that a library registers, as PyTorch's users have them."""
    library = torch.library.Library("relayvm_test", "DEF")
    library.define("shifted(Tensor x, int by, Tensor? weight=None) -> Tensor")
    library.impl("shifted", lambda x, by, weight=None: x.roll(by), "CompositeImplicitAutograd")

    class Shifted(nn.Module):
        def forward(self, x):
            return torch.ops.relayvm_test.shifted(x, 1)

    module = torch.jit.script(Shifted())
    x = torch.rand(5)
    infos = [("x", (5,))]
    with pytest.raises(rvm.Unsupported, match="relayvm_test::shifted"):
        rvm.from_pytorch(module, infos)
    seen = []

    def convert(inputs, types):
        seen.append(types)
        x, by = inputs[:2]
        return relay.concatenate([relay.strided_slice(x, [-by], [5]), relay.strided_slice(x, [0], [5 - by])], axis=0)

    same(rvm.compile(rvm.from_pytorch(module, infos, {"relayvm_test::shifted": convert})[0])(x.numpy()), x.roll(1))
    assert seen[0][:2] == ["float32", "IntType"]


def test_errors_of_converters():
    class Odd(Exception):
        pass

    def raises(inputs, types):
        raise Odd("not today")

    module = torch.jit.trace(nn.ReLU(), torch.zeros(2))
    with pytest.raises(Odd, match="not today") as info:
        rvm.from_pytorch(module, [("x", (2,))], {"aten::relu": raises})
    assert info.traceback[-1].name == "raises"
    for convert, error, text in [(lambda inputs, types: object(), TypeError, "the converter of aten::relu: expected an expression"),
                                 (lambda inputs, types: relay.var("y", shape=(2,)), rvm.Error, "not one of its inputs"),
                                 (lambda inputs, types: relay.nn.dense(inputs[0], inputs[0]), rvm.Error, "nn.dense")]:
        with pytest.raises(error, match=text):
            rvm.from_pytorch(module, [("x", (2,))], {"aten::relu": convert})
