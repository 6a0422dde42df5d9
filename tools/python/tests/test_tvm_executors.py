"""TVM's executors, virtual machine, graph executor, modules and values under relayvm.tvm."""
import json

import numpy as np
import pytest

import relayvm.tvm as tvm
from relayvm.tvm import relay, runtime, te, tir
from relayvm.tvm.contrib import graph_executor, utils
from relayvm.tvm.contrib.debugger import debug_executor
from relayvm.tvm.relay.backend import Executor, Runtime
from relayvm.tvm.relay.backend.interpreter import ConstructorValue, RefValue
from relayvm.tvm.relay.testing import run_infer_type


def data(*shape):
    return np.random.default_rng(0).random(shape).astype("float32")


def two_inputs():
    x, y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(3,))
    return relay.Function([x, y], relay.Tuple([x + y, x]))


# --- Executors ---


@pytest.mark.parametrize("kind", ["debug", "graph", "vm"])
def test_functions_are_callables(kind):
    x, y = data(2, 3), data(3)
    run = relay.create_executor(kind).evaluate(two_inputs())
    for result in (run(x, y), run(x, y=y), run(tvm.nd.array(x), relay.const(y))):
        assert isinstance(result, runtime.container.ADT) and len(result) == 2
        np.testing.assert_array_equal(result[0].numpy(), x + y)
        np.testing.assert_array_equal(result[1].asnumpy(), x)


def test_other_expressions_are_values():
    v = relay.var("v", shape=(2,))
    executor = relay.create_executor()
    assert executor.evaluate(relay.const(2.0) * relay.const(3.0)).numpy() == 6
    np.testing.assert_array_equal(executor.evaluate(v + v, {v: relay.const([1.0, 2.0])}).numpy(), [2, 4])
    np.testing.assert_array_equal(executor.evaluate(v + v, {v: np.array([1, 3], "float32")}).numpy(), [2, 6])
    with pytest.raises(ValueError, match="%v"):
        executor.evaluate(v + v)


def test_an_expression_that_gives_a_function_is_a_callable():
    x, k = relay.var("x", "float32"), relay.var("k", "float32")
    closure = relay.Let(k, relay.const(3.0), relay.Function([x], x * k))
    assert relay.create_executor("vm").evaluate(closure)(2.0).numpy() == 6


def test_references_are_values():
    result = relay.create_executor().evaluate(relay.RefCreate(relay.const(5)))
    assert isinstance(result, RefValue) and result.value.numpy() == 5


def test_functions_of_the_module_and_data_types():
    mod = tvm.IRModule.from_expr(relay.Function([], relay.const(0)))
    box = relay.GlobalTypeVar("Box")
    full, empty = relay.Constructor("Full", [relay.scalar_type("float32")], box), relay.Constructor("Empty", [], box)
    mod[box] = relay.TypeData(box, [], [full, empty])
    b, x = relay.var("b", box()), relay.var("x", "float32")
    mod["open"] = relay.Function([b], relay.Match(b, [
        relay.Clause(relay.PatternConstructor(full, [relay.PatternVar(x)]), x),
        relay.Clause(relay.PatternConstructor(empty), relay.const(-1.0))]), relay.scalar_type("float32"))
    executor = relay.create_executor("vm", mod)
    unpack = executor.evaluate(mod.get_global_var("open"))
    assert unpack(ConstructorValue(full.tag, [np.float32(4)], full)).numpy() == 4
    assert unpack(empty()).numpy() == -1
    value = executor.evaluate(full(relay.const(2.0)))
    assert isinstance(value, ConstructorValue) and value.tag == full.tag != empty.tag
    assert value.fields[0].numpy() == value[0].numpy() == 2


def test_generic_functions_take_what_comes():
    a = relay.TypeVar("a")
    v = relay.Var("v", a)
    mod = tvm.IRModule()
    mod["same"] = relay.Function([v], v, a, [a])
    same = relay.create_executor(mod=mod).evaluate(mod.get_global_var("same"))
    assert same(np.float32(2)).numpy() == 2
    pair = same(runtime.container.tuple_object([tvm.nd.array(data(3)), tvm.nd.array(data(2))]))
    assert [field.shape for field in pair] == [(3,), (2,)]
    assert same(RefValue(tvm.nd.array(data(4)))).value.shape == (4,)


def test_debug_calls_a_function_where_the_executor_is_debug():
    seen = []
    x = relay.var("x", "float32")
    program = relay.debug(x + x, debug_func=seen.append) * relay.const(2.0)
    assert relay.create_executor().evaluate(program, {x: relay.const(3.0)}).numpy() == 12
    assert [value.numpy() for value in seen] == [6]


def test_unknown_executors_and_devices_are_refused():
    with pytest.raises(RuntimeError, match="unknown execution strategy: tree"):
        relay.create_executor("tree")
    with pytest.raises(ValueError, match="processor alone"):
        relay.create_executor(device=tvm.cuda())


# --- The virtual machine ---


def test_inputs_of_the_virtual_machine_by_number_name_and_dict():
    vm = runtime.vm.VirtualMachine(relay.vm.compile(two_inputs(), "llvm"), tvm.cpu())
    x, y = data(2, 3), data(3)
    expected = x + y
    assert (vm.get_input_index("y"), vm.get_input_index("z")) == (1, -1)
    vm.set_input("main", y=y, x=x)
    np.testing.assert_array_equal(vm.invoke("main")[0].numpy(), expected)
    vm.set_one_input("main", 0, x * 2)
    vm.set_one_input("main", y=y)
    np.testing.assert_array_equal(vm.run()[0].numpy(), x * 2 + y)
    vm.invoke_stateful("main", x, y)
    assert len(vm.get_outputs()) == 2
    out = [tvm.nd.empty((2, 3)), tvm.nd.empty((2, 3))]
    vm.invoke_with_outputs("main", {"x": x, "y": y}, out)
    np.testing.assert_array_equal(out[0].numpy(), expected)
    with pytest.raises(ValueError, match="main takes x, y; found an input z"):
        vm.set_input("main", z=x)
    with pytest.raises(ValueError, match="y is not set"):
        runtime.vm.VirtualMachine(relay.vm.compile(two_inputs()), tvm.cpu()).invoke("main", x)
    assert len(vm.benchmark(tvm.cpu(), x, y, repeat=2, number=1).results) == 2


def test_programs_are_saved_and_loaded(tmp_path):
    exe = relay.vm.compile(two_inputs())
    assert exe.globals == ["main"] and exe.get_function_params("main") == ["x", "y"] and "kernel" in exe.bytecode
    code, lib = exe.save()
    assert isinstance(code, bytearray) and isinstance(lib, runtime.Module)
    lib.export_library(tmp_path / "lib.so")
    loaded = runtime.load_module(str(tmp_path / "lib.so"))
    for program in (runtime.vm.Executable.load_exec(code, lib), loaded, runtime.vm.Executable(loaded)):
        result = runtime.vm.VirtualMachine(program, tvm.cpu()).run(data(2, 3), data(3))
        np.testing.assert_array_equal(result[0].numpy(), data(2, 3) + data(3))


@pytest.mark.parametrize("by_map", [False, True])
def test_large_constants_may_be_elsewhere(tmp_path, by_map):
    x = relay.var("x", shape=(100,))
    weight, small = data(100), np.float32(0.5)
    exe = relay.vm.compile(relay.Function([x], (x + relay.const(weight)) * relay.const(small)))
    whole = len(exe.mod.to_bytes())
    if by_map:
        where = exe.get_late_bound_consts(byte_limit=256)
    else:
        where = str(tmp_path / "consts")
        exe.move_late_bound_consts(where, byte_limit=256)
    exe.mod.export_library(tmp_path / "lib.so")
    assert (tmp_path / "lib.so").stat().st_size < whole
    loaded = runtime.load_module(tmp_path / "lib.so")
    with pytest.raises(ValueError, match="load_late_bound_consts"):
        runtime.vm.VirtualMachine(loaded, tvm.cpu()).invoke("main", data(100))
    loaded["load_late_bound_consts_from_map" if by_map else "load_late_bound_consts"](where)
    result = runtime.vm.VirtualMachine(loaded, tvm.cpu()).invoke("main", data(100))
    np.testing.assert_array_equal(result.numpy(), (data(100) + weight) * small)


def test_the_steps_of_the_compiler():
    compiler = relay.vm.VMCompiler()
    compiler.set_params({"y": data(3)})
    compiler.lower(two_inputs(), "llvm")
    compiler.codegen()
    vm = runtime.vm.VirtualMachine(compiler.get_exec(), tvm.cpu())
    np.testing.assert_array_equal(vm.run(data(2, 3))[0].numpy(), data(2, 3) + data(3))
    optimised, params = relay.optimize(tvm.IRModule.from_expr(two_inputs()), "llvm", {"y": data(3)})
    assert [p.name_hint for p in optimised["main"].params] == ["x"] and list(params) == ["y"]


# --- Graphs ---


def test_a_graph_module_keeps_its_inputs():
    graph, lib, params = relay.build(tvm.IRModule.from_expr(two_inputs()), "llvm")
    assert [node["name"] for node in json.loads(graph)["nodes"][:2]] == ["x", "y"]
    module = graph_executor.create(graph, lib, tvm.cpu())
    x, y = data(2, 3), data(3)
    module.set_input(0, x)
    module.set_input(y=y.astype("float64"), **params)
    module.run()
    assert (module.get_num_inputs(), module.get_num_outputs()) == (2, 2)
    np.testing.assert_array_equal(module.get_output(0).numpy(), x + y)
    np.testing.assert_array_equal(module.get_output(1, tvm.nd.empty((2, 3))).numpy(), x)
    np.testing.assert_array_equal(module.get_input("y").numpy(), y)
    assert (module.get_input_index("y"), module.get_input_index("z")) == (1, -1)
    shapes, dtypes = module.get_input_info()
    assert shapes["x"] == runtime.ShapeTuple([2, 3]) and dtypes["y"] == "float32"
    with pytest.raises(RuntimeError, match="Could not find 'z' in graph's inputs"):
        module.set_input("z", x)
    with pytest.raises(ValueError, match="expected Tensor"):
        module.set_input("x", y)


def test_programs_without_a_graph_are_built_too():
    x = relay.var("x", shape=[16])
    graph, lib, _ = relay.build(relay.Function([x], relay.Tuple([])))
    module = graph_executor.create(graph, lib, tvm.cpu())
    module.run()
    assert module.get_num_outputs() == 0


def test_a_library_may_be_a_file_and_parameters_bytes():
    temp = utils.tempdir()
    lib = relay.build(two_inputs(), "llvm")
    lib.export_library(temp.relpath("net.tar"))
    assert temp.listdir() == ["net.tar"]
    module = graph_executor.GraphModule(tvm.runtime.load_module(temp.relpath("net.tar"))["default"](tvm.cpu()))
    module.load_params(relay.save_param_dict({"x": data(2, 3), "y": data(3)}))
    module.run()
    np.testing.assert_array_equal(module.get_output(0).numpy(), data(2, 3) + data(3))


def test_the_debugger_has_times_and_values():
    x = relay.var("x", shape=(3,))
    y = relay.var("y")
    lib = relay.build(relay.Function([x], relay.Let(y, relay.exp(x), relay.nn.relu(y) + y)))
    module = debug_executor.create(lib.graph_json, lib, tvm.cpu())
    module.run(x=data(3))
    np.testing.assert_allclose(module.get_output(0).numpy(), 2 * np.exp(data(3)), rtol=1e-6)
    np.testing.assert_allclose(module.debug_get_output("y").numpy(), np.exp(data(3)), rtol=1e-6)
    assert len(module.run_individual(2)) == len(lib.executable.kernels)
    assert "Duration (us)" in str(module.profile(x=data(3)))


def test_executors_and_runtimes_know_their_options():
    assert not Executor("graph")["link-params"]
    assert "interface-api" in Executor("aot", {"interface-api": "c"}) and "interface-api" not in Executor("aot")
    assert Executor.list_registered_options("aot")["interface-api"] == "runtime.String"
    assert set(Runtime.list_registered()) == {"cpp", "crt"}
    for wrong, message in ((("tree",), "is not defined"), (("aot", {"tree": 1}), "not available"),
                           (("aot", {"interface-api": True}), "should have type")):
        with pytest.raises(tvm.TVMError, match=message):
            Executor(*wrong)


# --- Values, sizes ---


def test_arrays_have_the_methods_of_tvms():
    a = tvm.nd.array([[1.0, 2.0]])
    assert a.same_as(a) and not a.same_as(a.copyto(tvm.cpu())) and a.device == tvm.cpu()
    b = tvm.nd.empty((1, 2), "int32").copyfrom(a)
    np.testing.assert_array_equal(b.numpy(), [[1, 2]])
    with pytest.raises(ValueError, match="do not match"):
        b.copyfrom(np.zeros(3))


def test_weights_as_bytes_keep_dtypes_and_shapes():
    params = {"w": data(2, 3), "n": np.array(7, "int64"), "flags": np.array([True, False]), "none": np.zeros((0, 4), "uint8"),
              "half": data(3).astype("float16")}
    bytes_of = runtime.save_param_dict(params)
    read = relay.load_param_dict(bytes_of)
    assert isinstance(bytes_of, bytearray) and sorted(read) == sorted(params)
    for name, value in params.items():
        assert read[name].dtype == value.dtype and read[name].shape == value.shape
        np.testing.assert_array_equal(read[name].numpy(), value)


def test_inferred_types_equal_those_that_are_written():
    n, m = te.size_var("n"), te.var("m")
    x = relay.var("x", shape=(n, m, 4))
    assert run_infer_type(relay.transpose(x, (1, 0, 2))).checked_type == relay.TensorType((m, n, 4))
    assert run_infer_type(relay.concatenate([x, x], 0)).checked_type == relay.TensorType((n * 2, m, 4))
    assert run_infer_type(relay.split(x, 2, axis=2).astuple()).checked_type == relay.TupleType([relay.TensorType((n, m, tir.indexdiv(4, 2)))] * 2)
    assert run_infer_type(x + x).checked_type != relay.TensorType((m, n, 4))


def test_any_equals_what_is_found_for_it():
    x = relay.var("x", shape=(relay.Any(), 4))
    kind = run_infer_type(relay.concatenate([x, x], 0)).checked_type
    written = relay.TensorType((relay.Any(), 4))
    assert kind == written and hash(kind) == hash(written)
    assert kind != relay.TensorType((relay.Any(), 5)) and run_infer_type(x + x).checked_type != kind
    assert isinstance(kind.shape[0], relay.Any) and not isinstance(kind.shape[1], relay.Any)
    assert kind.shape[1].value == 4 and isinstance(te.size_var("n"), tir.Var)


def test_a_module_without_a_source_may_have_checks():
    x, shape = relay.var("x", shape=(4,), dtype="int32"), relay.var("shape", shape=(2,), dtype="int32")
    run = relay.create_executor("vm").evaluate(relay.Function([x, shape], relay.unravel_index(x, shape)))
    indices, sizes = np.arange(4, dtype="int32"), np.array([2, 2], "int32")
    np.testing.assert_array_equal(run(indices, sizes).numpy(), np.unravel_index(indices, sizes))


@pytest.mark.parametrize("func, expected", [(relay.mean_variance, np.var), (relay.mean_std, np.std)])
def test_means_of_many_half_floats(func, expected):
    x = relay.var("x", shape=(20000,), dtype="float16")
    values = data(20000).astype("float16")
    mean, spread = relay.create_executor("vm").evaluate(relay.Function([x], func(x).astuple()))(values)
    assert abs(mean.numpy() - values.astype("float32").mean()) < 1e-3
    assert abs(spread.numpy() - expected(values.astype("float32"))) < 1e-3


def test_sparse_to_dense_takes_shapes_that_are_computed():
    indices, shape = relay.var("i", shape=(2,), dtype="int64"), relay.var("s", shape=(1,), dtype="int64")
    z = relay.sparse_to_dense(indices, shape, relay.const([3.0, 4.0]))
    run = relay.create_executor("vm").evaluate(relay.Function([indices, shape], z))
    np.testing.assert_array_equal(run(np.array([0, 3]), np.array([5])).numpy(), [3, 0, 0, 4, 0])


def test_dtypes_may_be_without_bits_and_dilation_takes_four_numbers():
    assert relay.TensorType((2,), "int") == relay.TensorType((2,), "int32") != relay.TensorType((2,), "uint")
    x, w = relay.var("x", shape=(1, 2, 8, 8)), relay.var("w", shape=(2, 3, 3))
    y = relay.image.dilation2d(x, w, strides=[1, 1, 1, 1], dilations=[2, 2, 1, 1], padding=[0, 0, 0, 0])
    assert run_infer_type(y).checked_type == relay.TensorType((1, 2, 4, 4))


def test_inputs_of_one_name_get_its_value():
    first, second, scale = relay.var("data", shape=(2,)), relay.var("data", shape=(2,)), relay.var("scale", shape=(2,))
    mod = tvm.IRModule.from_expr(relay.Function([first, second, scale], relay.subtract(relay.multiply(first, scale), second)))
    run = relay.create_executor("vm", mod).evaluate()
    data, scale = np.array([1, 2], "float32"), np.array([3, 4], "float32")
    assert run(data=data, scale=scale).numpy().tolist() == [2, 6]
    assert run(scale, data=data, scale=data).numpy().tolist() == [2, 6]
    with pytest.raises(TypeError, match="scale"):
        run(data=data)
