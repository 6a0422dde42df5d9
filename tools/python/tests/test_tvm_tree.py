"""What TVM's names do in relayvm.tvm, besides passes, operators and executors: small things that scripts use. Expected is what TVM 0.16 gives."""
import importlib
import pathlib

import numpy as np
import pytest

import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.contrib import cc, download, pickle_memoize, relay_viz, tar, utils
from relayvm.tvm.ir.base import get_first_structural_mismatch
from relayvm.tvm.ir.supply import GlobalVarSupply, NameSupply
from relayvm.tvm.relay.frontend import common
from relayvm.tvm.relay.op import op_attrs
from relayvm.tvm.relay.testing import tf, yolo_detection
from relayvm.tvm.runtime import profiler_vm, profiling


def var(name, *shape, dtype="float32"):
    return relay.var(name, shape=shape, dtype=dtype)


def function_of(body):
    return relay.Function(relay.analysis.free_vars(body), body)


def run(body, **values):
    return relay.create_executor("vm", tvm.IRModule.from_expr(function_of(body))).evaluate()(**values).numpy()


# --- Names ---

@pytest.mark.parametrize("name", ["autotvm", "auto_scheduler", "autotvm.tuner", "contrib.cutlass", "relay.op.contrib.ethosu",
                                  "target.datatype"])
def test_what_has_no_place_is_imported_and_says_what_to_use(name):
    module = importlib.import_module("relayvm.tvm." + name)
    assert "instead: " in repr(module)
    with pytest.raises(NotImplementedError, match=rf"tvm\.{name}\.Any\.thing is not there; instead: "):
        module.Any.thing(1)
    with pytest.raises(NotImplementedError, match="instead: "):
        class _(module.Base):
            pass


def test_files_of_tvms_tree_have_what_they_have_there():
    from relayvm.tvm.relay.analysis.analysis import post_order_visit
    from relayvm.tvm.relay.expr_functor import Call, ExprMutator
    from relayvm.tvm.relay.op.nn.nn import conv2d
    from relayvm.tvm.relay.ty import TensorType
    assert (post_order_visit, Call, ExprMutator, TensorType) == (relay.analysis.post_order_visit, relay.Call, relay.ExprMutator, relay.TensorType)
    assert conv2d is relay.op.get("nn.conv2d") is relay.op.nn.conv2d
    assert "Function" in dir(tvm.relay.function) and relay.transform.recast.__name__ == "recast"
    with pytest.raises(AttributeError, match="reluu"):
        relay.op.nn.nn.reluu


def test_errors_are_caught_by_tvms_names():
    assert issubclass(tvm.error.OpAttributeInvalid, tvm.error.OpError) and issubclass(tvm.error.OpAttributeUnImplemented, tvm.error.OpNotImplemented)
    with pytest.raises(tvm.TVMError):
        raise tvm.error.OpAttributeRequired("there is no axis")


# --- Objects ---

def test_names_are_given_once():
    names = NameSupply("p")
    assert [names.fresh_name("x"), names.fresh_name("x"), names.fresh_name("x", False)] == ["p_x", "p_x_1", "x"]
    assert names.reserve_name("y") == "p_y" and names.fresh_name("y") == "p_y_1" and names.contains_name("y") and not names.contains_name("z")
    assert NameSupply("").fresh_name("a b.c") == "a b_c"
    supply = GlobalVarSupply(tvm.IRModule.from_expr(var("x", 1)))
    assert supply.fresh_global("main").name_hint == "tvmgen_default_main"
    one = supply.unique_global_for("f")
    assert one.same_as(supply.unique_global_for("f")) and supply.fresh_global("f").name_hint == "tvmgen_default_f_1"
    with pytest.raises(ValueError, match="allow_conflict"):
        supply.reserve_global(relay.GlobalVar(one.name_hint))


def test_ranges_and_numbers():
    r = tvm.ir.Range(2, 5)
    assert (r.min, r.extent) == (2, 3) and tvm.ir.Range(4) == tvm.ir.Range(0, 4) and repr(tvm.ir.Range.from_min_extent(2, 5)) == "Range(2, 7)"
    n = tvm.tir.IntImm("int64", 7)
    assert [(n + 2).value, (n // 2).value, (9 - n).value, (n % 4).dtype] == [9, 3, 2, "int64"] and n.astype("float32").dtype == "float32"
    assert tvm.ir.PrimType("int32") == tvm.ir.PrimType("int32") != tvm.ir.PrimType("int8")
    assert tvm.ir.PointerType(tvm.ir.PrimType("int8"), "global").storage_scope == "global"
    made = tvm.runtime.convert([1, "a", 2.5, [True], {"k": 1 << 40}])
    assert isinstance(made, tvm.ir.Array) and [x.dtype for x in (made[0], made[2], made[3][0], made[4]["k"])] == ["int32", "float32", "bool", "int64"]
    assert tvm.runtime.ShapeTuple([1, 2]) == (1, 2) == tuple(tvm.runtime.ShapeTuple([1, 2])) and repr(tvm.runtime.ShapeTuple((3,))) == "[3]"


def test_dtypes_of_arrays_go_where_dtypes_are_wanted():
    a = tvm.nd.array(np.ones((2, 3), "int8"))
    x = relay.var("x", shape=a.shape, dtype=a.dtype)
    assert str(x.type_annotation) == "Tensor[(2, 3), int8]" == str(relay.TensorType((2, 3), np.int8))
    assert relay.cast(x, a.dtype).attrs.dtype == "int8" == relay.zeros((1,), np.dtype("int8")).attrs.dtype
    kind = tvm.DataType("float32x4")
    assert (kind.bits, kind.lanes, kind.type_code) == (32, 4, tvm.DataTypeCode.FLOAT) and tvm.DataType("handle") == "handle64"
    assert repr(a).startswith("<tvm.nd.NDArray shape=(2, 3), cpu(0)>\narray([[1, 1, 1],") and str(a) == str(a.numpy())
    np.testing.assert_array_equal(tvm.nd.from_dlpack(a.to_dlpack()).numpy(), a.numpy())


def test_devices_are_numbers():
    assert (tvm.cpu().device_type, tvm.cuda(1).device_type, tvm.device(1)) == (1, 2, tvm.cpu()) and repr(tvm.mtl(2)) == "metal(2)"
    assert tvm.cpu().device_type == tvm.nd.Device.kDLCPU and tvm.vulkan().exist is False
    with pytest.raises(ValueError, match="Unknown device type: nope"):
        tvm.device("nope")


def test_the_first_difference_has_a_way_to_it():
    x, y, z = var("x", 2, 3), var("y", 2, 3), var("z", 3, 3)
    f = relay.Function

    def at(left, right):
        found = get_first_structural_mismatch(left, right)
        return None if found is None else tuple(map(str, found))
    assert at(x, x) is None and at(f([x], relay.sqrt(x)), f([y], relay.sqrt(y))) is None
    assert at(relay.nn.relu(x), relay.sqrt(x)) == ("<root>.op",) * 2
    assert at(relay.Tuple([x, relay.const(1)]), relay.Tuple([x, relay.const(2)])) == ("<root>.fields[1].data",) * 2
    assert at(relay.Tuple([x, x]), relay.Tuple([x])) == ("<root>.fields[1]", "<root>.fields[<missing element #1>]")
    assert at(f([x], relay.sqrt(x)), f([y], relay.sqrt(relay.sqrt(y)))) == ("<root>.body.args[0]",) * 2
    assert at(f([x], x), f([z], z)) == ("<root>.params[0].type_annotation.shape[0].value",) * 2
    assert at(relay.nn.softmax(x, axis=0), relay.nn.softmax(x, axis=1)) == ("<root>.attrs.axis",) * 2
    assert at([1, 2, 3], [1, 4, 3]) == ("<root>[1].value",) * 2 and at({"a": 3}, {"a": 3, "c": 5}) == ("<root>[<missing entry>]", '<root>["c"]')
    way = tvm.runtime.ObjectPath.root().attr("body").array_index(5)
    assert way.get_prefix(2) == way.parent and way.parent.is_prefix_of(way) and len(way) == 3


def test_operators_know_what_tvm_tells_of_them():
    op = relay.op.get("nn.conv2d")
    assert [a.name for a in op.arguments] == ["data", "weight"] and (op.num_inputs, op.support_level) == (2, 2)
    assert op.attrs_type_key == "relay.attrs.Conv2DAttrs" and relay.op.get("add").attrs_type_key == "" and "convolution" in op.description
    attrs = relay.nn.conv2d(var("x", 1, 3, 4, 4), var("w", 2, 3, 1, 1)).attrs
    assert isinstance(attrs, op_attrs.Conv2DAttrs) and not isinstance(attrs, op_attrs.DenseAttrs)
    assert {"padding", "groups"} <= {field.name for field in attrs.list_field_info()}
    with pytest.raises(NotImplementedError, match="plugins"):
        relay.op.op.register("mine")


def test_functions_and_modules_lose_attributes_too():
    f = relay.Function([], relay.const(1.0)).with_attrs({"a": 1, "b": 2}).without_attr("a")
    assert dict(f.attrs) == {"b": 2}
    mod = tvm.IRModule.from_expr(f).with_attrs({"x": 1, "y": 2}).without_attr("x")
    assert dict(mod.attrs) == {"y": 2} and mod.global_var_map_["main"] == relay.GlobalVar("main") and mod.get_attr("x") is None


def test_functions_by_name():
    @tvm.register_func("test.twice", override=True)
    def twice(x):
        return 2 * x
    assert isinstance(tvm.get_global_func("test.twice"), tvm.runtime.PackedFunc) and tvm.ir.EnvFunc.get("test.twice")(4) == 8
    assert "test.twice" in tvm._ffi.registry.list_global_func_names()
    tvm._ffi.registry.remove_global_func("test.twice")
    assert tvm.get_global_func("test.twice", allow_missing=True) is None


def test_targets_are_read():
    target = tvm.target.Target("llvm -mcpu=core-avx2 -mattr=+fma,+avx -num-cores=4", host="llvm")
    assert (target.mcpu, target.mattr, target.keys, target.host.kind.name) == ("core-avx2", ["+fma", "+avx"], ["cpu"], "llvm")
    assert target.attrs["num-cores"] == 4 and tvm.target.Target(target.export()) == target.with_host(None) or target.export()["mcpu"] == "core-avx2"
    assert tvm.target.Target({"kind": "llvm", "mcpu": "znver3"}).mcpu == "znver3" and tvm.target.Target("llvm").mcpu == ""
    assert target.features.has_avx2 and not tvm.target.Target("llvm -mcpu=core-avx2").features.has_avx512f
    assert tvm.target.Target.canon_target_and_host("llvm") == ("llvm", None) and tvm.target.Target.canon_multi_target("llvm") == ["llvm"]
    with tvm.target.Target("llvm -mcpu=skylake-avx512") as current:
        assert tvm.target.Target.target_or_current(None) is current and tvm.target.get_simd_32bit_lanes() == 16
    told = tvm.target.Target("cuda --host llvm -libs=cublas,cudnn -fast=true")
    assert (str(told.host), told.libs, told.keys, told.attrs["fast"]) == ("llvm", ["cublas", "cudnn"], ["cuda", "gpu"], True)
    assert tvm.target.Target('{"kind": "llvm", "mattr": ["+neon", "-avx512f"]}').mattr == ["+neon", "-avx512f"]
    assert tvm.target.Target("vulkan -device_name='A card'").attrs["device_name"] == "A card"
    with pytest.raises(ValueError, match="Target is not set"):
        tvm.target.Target.target_or_current(None)


def test_functions_have_forms_for_targets():
    @tvm.target.generic_func
    def rows(x):
        return x + 1

    @rows.register(["cuda", "gpu"])
    def _(x):
        return x + 2
    rows.register("arm_cpu", lambda x: x + 3)
    with tvm.target.Target("metal"):
        assert rows(1) == 3
    with tvm.target.arm_cpu():
        assert rows(1) == 4 == rows.get_packed_func()(1)
    assert rows(1) == 2
    with pytest.raises(ValueError, match="already"):
        rows.register("gpu", len)


def test_lists_and_arrays_go_through_json():
    read = tvm.ir.load_json(tvm.ir.save_json([1, "a", 2.5, {"k": tvm.nd.array([1.0, 2.0])}]))
    assert (read[0].value, read[0].dtype, read[1], read[2].value) == (1, "int32", "a", 2.5)
    assert tvm.ir.structural_equal(read[3]["k"], tvm.nd.array([1.0, 2.0])) and not tvm.ir.structural_equal(read[3]["k"], tvm.nd.array([1.0, 3.0]))


# --- Programs ---

def test_the_steps_of_a_build():
    module = relay.build_module.BuildModule()
    with pytest.raises(ValueError, match="build comes before"):
        module.get_module()
    graph, lib, params = module.build(tvm.IRModule.from_expr(relay.exp(var("x", 2))), "llvm")
    assert '"nodes"' in graph and params == {} and lib["default"](tvm.cpu()).get_num_inputs() == 1
    run = tvm.contrib.graph_executor.GraphModule(lib["default"](tvm.cpu()))
    out = tvm.nd.empty((2,))
    run.set_output_zero_copy(0, out)
    run.run(x=np.zeros(2, "float32"))
    np.testing.assert_array_equal(out.numpy(), [1, 1])


def test_a_profile_is_a_report():
    exe = relay.vm.compile(tvm.IRModule.from_expr(relay.exp(var("x", 4))), "llvm")
    report = profiler_vm.VirtualMachineProfiler(exe, tvm.cpu()).profile(np.ones(4, "float32"))
    assert [type(report.calls[0][key]) for key in ("Count", "Duration (us)", "Percent")] == [profiling.Count, profiling.Duration, profiling.Percent]
    assert report.csv().startswith("Name,Count,") and "Configuration" in str(report) and report.configuration == {"Executor": "VM"}
    again = profiling.Report.from_json(report.json())
    assert again.calls[0]["Name"] == report.calls[0]["Name"] and again.table() == report.table()
    code, lib = exe.save()
    loaded = profiler_vm.VirtualMachineProfiler(tvm.runtime.vm.Executable.load_exec(code, lib), tvm.cpu())
    assert loaded.profile(np.ones(4, "float32")).calls[0]["Name"] == report.calls[0]["Name"]


def test_programs_are_shown_as_text(capsys):
    x, w = var("x", 1, 3, 8, 8), var("w", 4, 3, 3, 3)
    mod = tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.relu(relay.nn.conv2d(x, w))))
    relay_viz.RelayVisualizer(mod, relay_param={"w": np.ones(1)}).render()
    assert capsys.readouterr().out.splitlines()[1:] == [
        "`--Call ", "   |--nn.relu ", "   `--Call ", "      |--nn.conv2d ", "      |--Var(Input) name_hint: x, shape: (1, 3, 8, 8), dtype: float32",
        "      `--Var(Param) name_hint: w, shape: (4, 3, 3, 3), dtype: float32"]


# --- Importers of one's own ---

def test_attributes_of_other_formats():
    x = var("x", 1, 4)
    convert = common.AttrCvt("leaky_relu", transforms={"slope": ("alpha", 0.3, lambda v: 2 * v)}, ignores=["name"], excludes=["mode"])
    assert convert([x], {"slope": 0.1, "name": "n"}).attrs.alpha == 0.2
    with pytest.raises(NotImplementedError, match="mode"):
        convert([x], {"mode": 1})
    attrs = common.StrAttrsDict({"kernel": "(3, 3)", "flag": "True", "pad": "((1,2),(3,4))"})
    assert attrs.get_int_tuple("kernel") == (3, 3) and attrs.get_bool("flag") and attrs.get_tuple_tuple_int("pad") == ((1, 2), (3, 4))
    with pytest.raises(AttributeError, match="Required attribute axis"):
        attrs.get_int("axis")
    assert attrs.get_int("axis", 7) == 7 and common.Renamer("relu")([x], {}).op.name == "nn.relu"


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_cells_are_those_of_numpy():
    rng = np.random.default_rng(0)
    xs, h, c = rng.random((2, 2, 3), "float32"), rng.random((2, 5), "float32"), rng.random((2, 5), "float32")
    w, u, b = rng.random((20, 3), "float32"), rng.random((20, 5), "float32"), rng.random(20, "float32")
    inputs = [var("x0", 2, 3), var("x1", 2, 3)]
    outputs, _, cell = common.lstm_cell(inputs, var("h", 2, 5), var("c", 2, 5), var("w", 20, 3), var("u", 20, 5), b_inp=var("b", 20))
    found = run(relay.concatenate([*outputs, cell], 0), x0=xs[0], x1=xs[1], h=h, c=c, w=w, u=u, b=b)
    want, hidden, state = [], h, c
    for x in xs:
        i, f, g, o = np.split(x @ w.T + b + hidden @ u.T, 4, axis=1)
        state = sigmoid(f) * state + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(state)
        want.append(hidden)
    np.testing.assert_allclose(found, np.concatenate([*want, state]), rtol=1e-5)
    outputs, _ = common.gru_cell(inputs, var("h", 2, 5), var("w", 15, 3), var("u", 15, 5), backwards=True, linear_before_reset=False)
    found = run(relay.concatenate(outputs, 0), x0=xs[0], x1=xs[1], h=h, w=w[:15], u=u[:15])
    want, hidden = [], h
    for x in xs[::-1]:
        (xr, xz, xn), (ur, uz, un) = np.split(x @ w[:15].T, 3, axis=1), np.split(u[:15], 3)
        r, z = sigmoid(xr + hidden @ ur.T), sigmoid(xz + hidden @ uz.T)
        hidden = (hidden - (n := np.tanh(xn + (r * hidden) @ un.T))) * z + n
        want.append(hidden)
    np.testing.assert_allclose(found, np.concatenate(want), rtol=1e-5)


def test_shapes_and_values_of_expressions():
    y = var("y", 2, 3)
    assert common.shape_of(y, start=1).data.tolist() == [3] and common.shape_of(var("z", relay.Any(), 3)).op.name == "shape_of"
    columns = relay.concatenate(common.unbind(y, 1).fields, 0)
    np.testing.assert_array_equal(run(columns, y=np.arange(6, dtype="float32").reshape(2, 3)), [0, 3, 1, 4, 2, 5])
    assert common.try_infer_value(relay.const(2), on_success=lambda v: v * 3) == (6, True) and common.try_infer_value(y) == (y, False)
    for mode, pairs in (("SAME_UPPER", [0, 1]), ("SAME_LOWER", [1, 0])):
        assert [list(p) for p in common.autopad(var("x", 1, 2, 8, 7), [2, 2], [3, 3], mode=mode).attrs.pad_width[2:]] == [pairs, [1, 1]]
    assert common.set_span(relay.nn.relu(relay.sqrt(y)), "layer").args[0].span.source_name.name == "layer"


# --- Files and pictures ---

def test_files_come_from_addresses_once(tmp_path, monkeypatch):
    source = tmp_path / "source.txt"
    source.write_text("first")
    monkeypatch.setenv("TEST_DATA_ROOT_PATH", str(tmp_path / "data"))
    path = download.download_testdata(source.as_uri(), "a.txt", module=["one", "two"])
    assert path == str(tmp_path / "data/one/two/a.txt") and pathlib.Path(path).read_text() == "first"
    source.write_text("second")
    assert pathlib.Path(download.download_testdata(source.as_uri(), "a.txt", module=["one", "two"])).read_text() == "first"
    download.download(source.as_uri(), path, overwrite=True)
    assert pathlib.Path(path).read_text() == "second"
    with pytest.raises(OSError, match="nothing.txt"):
        download.download((tmp_path / "nothing.txt").as_uri(), tmp_path / "b.txt", retries=1)
    assert not list(tmp_path.glob("tmp*"))


def test_archives_folders_and_libraries(tmp_path):
    with utils.tempdir() as folder:
        for name in ("a.txt", "b.txt"):
            pathlib.Path(folder / name).write_text(name)
        tar.tar(folder / "x.tar", [folder / "a.txt", folder / "b.txt"])
        found = tar.normalize_file_list_by_unpacking_tars(folder, [folder / "x.tar", "c.txt"])
        assert [pathlib.Path(path).name for path in found] == ["a.txt", "b.txt", "c.txt"]
        if cc.get_cc():
            pathlib.Path(folder / "f.c").write_text("int f(void) { return 1; }")
            cc.create_shared(folder / "f.so", [folder / "f.c"])
            assert pathlib.Path(folder / "f.so").stat().st_size
    assert not pathlib.Path(folder.temp_dir).exists()
    calls = []
    twice = pickle_memoize.memoize("test.twice")(lambda x: calls.append(x) or 2 * x)
    assert (twice(3), twice(3), calls) == (6, 6, [3])


def test_findings_of_yolo(capsys):
    output = np.zeros((1, 7, 2, 2))
    output[0, :, 0, 1] = [0.5, 0.5, 0, 0, 0.9, 0.8, 0.1]
    output[0, :, 1, 1] = [0.5, -0.4, 0, 0, 0.8, 0.7, 0.2]
    layer = {"type": "Yolo", "output": output, "biases": [4, 4], "mask": [0], "classes": 2}
    found = yolo_detection.fill_network_boxes((8, 8), (8, 8), 0.5, True, [layer])
    assert found[0]["bbox"] == (0.75, 0.25, 0.5, 0.5) and [one["objectness"] for one in found] == [0.9, 0.8]
    yolo_detection.do_nms_sort(found, 2, 0.4)
    assert sorted(float(one["prob"][0]) for one in found) == [0, pytest.approx(0.72)]
    yolo_detection.show_detections(np.zeros((3, 100, 200)), found, 0.5, ["cat", "dog"], 2)
    assert capsys.readouterr().out == "class:['cat 0.72'] left:100 top:0 right:199 bottom:50\n"


def test_labels_and_lists_of_tensorflows(tmp_path):
    (tmp_path / "labels").write_text('entry {\n  target_class: 449\n  target_class_string: "n01440764"\n}\n')
    (tmp_path / "names").write_text("n01440764\ttench, Tinca tinca\n")
    lookup = tf.NodeLookup(tmp_path / "labels", tmp_path / "names")
    assert lookup.id_to_string(449) == "tench, Tinca tinca" and lookup.id_to_string(1) == ""
    flat = tf.vmobj_to_list((tvm.nd.array([1.0]), (tvm.nd.array([2.0]),)))
    assert [x.tolist() for x in flat] == [[1.0], [2.0]]


class TestFolding(tvm.testing.CompareBeforeAfter):
    transform = relay.transform.FoldConstant()

    def before(self):
        return relay.Function([], relay.const(1.0) + relay.const(2.0))

    expected = relay.Function([], relay.const(3.0))


def test_contexts_say_what_they_are():
    assert repr(tvm.transform.PassContext(opt_level=2)) == "PassContext(opt_level=2)"
    context = tvm.transform.PassContext(opt_level=3, disabled_pass=["FoldConstant"], config={"relay.FuseOps.max_depth": 4})
    assert repr(context) == "PassContext(opt_level=3, disabled_pass=['FoldConstant'], config={'relay.FuseOps.max_depth': 4})"
    assert tvm.relay.transform.InferType().pass_info.name == "InferType"
