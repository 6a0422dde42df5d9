"""What TVM's tutorials do, written as they write it, but for the import lines. The counts are those of a TVM that ran the same (0.16)."""
import subprocess
import sys

import numpy as np
import pytest

import relayvm.tvm as tvm
from relayvm.tvm import relay
from relayvm.tvm.contrib import graph_executor, utils
from relayvm.tvm.instrument import PassTimingInstrument, pass_instrument
from relayvm.tvm.relay.dataflow_pattern import DFPatternCallback, is_constant, is_op, rewrite, wildcard
from relayvm.tvm.runtime.vm import Executable, VirtualMachine

rng = np.random.default_rng(0)


def text_of(mod):
    return mod.astext(show_meta_data=False)


# --- Quick start: a network of relay.testing ---


def test_quick_start():
    mod, params = relay.testing.resnet.get_workload(num_layers=18, batch_size=1, image_shape=(3, 32, 32), num_classes=10)
    assert "nn.conv2d" in text_of(mod)
    target = tvm.target.Target("llvm")
    dev = tvm.device(str(target), 0)
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target, params=params)
    data = rng.uniform(-1, 1, size=(1, 3, 32, 32)).astype("float32")
    module = graph_executor.GraphModule(lib["default"](dev))
    module.set_input("data", data)
    module.run()
    out = module.get_output(0, tvm.nd.empty((1, 10))).numpy()
    assert abs(out.sum() - 1) < 1e-4

    temp = utils.tempdir()
    path_lib = temp.relpath("deploy_lib.tar")
    lib.export_library(path_lib)
    assert temp.listdir() == ["deploy_lib.tar"]
    loaded_lib = tvm.runtime.load_module(path_lib)
    module = graph_executor.GraphModule(loaded_lib["default"](dev))
    module.run(data=tvm.nd.array(data))
    tvm.testing.assert_allclose(module.get_output(0).numpy(), out, atol=1e-5)


# --- The pass infrastructure ---


def example():
    c = relay.const(np.ones((1, 64, 54, 54), "float32"))
    weight, x = relay.var("weight", shape=(64, 64, 3, 3)), relay.var("x", relay.TensorType((1, 64, 56, 56), "float32"))
    conv = relay.nn.conv2d(x, weight)
    y = relay.multiply(relay.add(c, c), relay.const(2, "float32"))
    y = relay.add(conv, y)
    z, z1 = relay.add(y, c), relay.add(y, c)
    return relay.Function([x, weight], relay.add(z, z1))


def test_use_pass_infra():
    mod = tvm.IRModule.from_expr(example())
    mod = relay.transform.FoldConstant()(mod)
    mod = relay.transform.EliminateCommonSubexpr()(mod)
    assert text_of(relay.transform.FuseOps(fuse_opt_level=0)(mod)).count("Primitive=1") == 4
    seq = tvm.transform.Sequential([relay.transform.FoldConstant(), relay.transform.EliminateCommonSubexpr(), relay.transform.FuseOps(fuse_opt_level=2)])
    with tvm.transform.PassContext(opt_level=3):
        assert text_of(seq(tvm.IRModule.from_expr(example()))).count("Primitive=1") == 1
    with tvm.transform.PassContext(opt_level=3, disabled_pass=["EliminateCommonSubexpr"]):
        assert text_of(seq(tvm.IRModule.from_expr(example()))).count("add(") == 4

    @relay.transform.function_pass(opt_level=1)
    class CustomPipeline:
        def __init__(self, multiplier):
            self.multiplier = multiplier

        def transform_function(self, func, mod, ctx):
            obj = self

            class ReplaceConstant(tvm.relay.ExprMutator):
                def visit_constant(self, c):
                    return relay.multiply(obj.multiplier, c)
            return ReplaceConstant().visit(func)

    custom_pass = CustomPipeline(multiplier=relay.const(3, "float32"))
    assert custom_pass.info.name == "CustomPipeline"
    assert text_of(custom_pass(tvm.IRModule.from_expr(example()))).count("multiply(") == 3


@pass_instrument
class CallNodeDiffer:
    """What passes change in the counts of operators."""

    def __init__(self):
        self.diffs, self.before, self.names = [], [], []

    def should_run(self, mod, info):
        return info.name != "FastMath"

    def run_before_pass(self, mod, info):
        self.names.append(info.name)
        self.before.append((info.name, self.count(mod)))

    def run_after_pass(self, mod, info):
        name, before = self.before.pop()
        after = self.count(mod)
        diff = {op: after.get(op, 0) - before.get(op, 0) for op in {**before, **after} if after.get(op, 0) != before.get(op, 0)}
        assert name == info.name
        self.diffs.append((name, diff))

    @staticmethod
    def count(mod):
        counts = {}

        def visit(node):
            if isinstance(node, relay.expr.Call) and hasattr(node.op, "name"):
                counts[node.op.name] = counts.get(node.op.name, 0) + 1
        relay.analysis.post_order_visit(mod["main"], visit)
        return counts


def test_use_pass_instrument():
    differ, timing = CallNodeDiffer(), PassTimingInstrument()
    seq = tvm.transform.Sequential([relay.transform.FoldConstant(), relay.transform.EliminateCommonSubexpr(), relay.transform.FastMath()])
    with tvm.transform.PassContext(opt_level=4, instruments=[differ, timing]):
        seq(tvm.IRModule.from_expr(example()))
        profiles = timing.render()
    told = [(name, diff) for name, diff in differ.diffs if name in ("FoldConstant", "EliminateCommonSubexpr")]
    assert told == [("FoldConstant", {"add": -1, "multiply": -1}), ("EliminateCommonSubexpr", {"add": -1})]
    assert "FastMath" not in differ.names and "FoldConstant: " in profiles

    @pass_instrument
    class Broken:
        def run_before_pass(self, mod, info):
            raise ValueError("not this one")
    with pytest.raises(ValueError, match="not this one"), tvm.transform.PassContext(instruments=[Broken()]):
        relay.transform.InferType()(tvm.IRModule.from_expr(example()))

    @tvm.transform.module_pass(opt_level=2)
    def with_abs(mod, ctx):
        x = relay.var("x", relay.TensorType((10,), "float32"))
        new_mod = tvm.IRModule({relay.GlobalVar("abs"): relay.Function([x], relay.abs(x))})
        new_mod.update(mod)
        return new_mod
    assert isinstance(with_abs, tvm.transform.ModulePass) and with_abs.info.opt_level == 2
    assert sorted(v.name_hint for v in with_abs(tvm.IRModule.from_expr(example())).get_global_vars()) == ["abs", "main"]


# --- Patterns ---


class BatchnormCallback(DFPatternCallback):
    def __init__(self):
        super(BatchnormCallback, self).__init__()
        self.x, self.var, self.mean, self.beta, self.gamma, self.eps = *(wildcard() for _ in range(5)), is_constant()
        self.pattern = self.gamma * (self.x - self.mean) / is_op("sqrt")(self.var + self.eps) + self.beta

    def callback(self, pre, post, node_map):
        x, var, mean, beta, gamma, eps = (node_map[p][0] for p in (self.x, self.var, self.mean, self.beta, self.gamma, self.eps))
        return relay.op.nn.batch_norm(x, gamma, beta, mean, var, epsilon=eps.data.numpy().item())[0]


def test_pattern_language():
    x = relay.var("x", shape=(2, 4))
    var, mean, beta, gamma = (relay.var(name, shape=(4,)) for name in ("var", "mean", "beta", "gamma"))
    norm = gamma * (x - mean) / relay.op.sqrt(var + relay.const(1e-5)) + beta
    out = rewrite(BatchnormCallback(), norm)
    assert tvm.ir.structural_equal(out, relay.op.nn.batch_norm(x, gamma, beta, mean, var, epsilon=1e-5)[0])
    values = [rng.random(shape).astype("float32") for shape in ((2, 4), *[(4,)] * 4)]
    found = [relay.create_executor("vm", tvm.IRModule.from_expr(relay.Function([x, var, mean, beta, gamma], e)), tvm.cpu(), "llvm").evaluate()(*values)
             for e in (norm, out)]
    np.testing.assert_allclose(found[0].numpy(), found[1].numpy(), 1e-4, 1e-5)


# --- The virtual machine: sizes that are open, loops, a program in two files ---


def test_virtual_machine():
    data, w = relay.var("data", shape=(relay.Any(), 16), dtype="float32"), relay.var("w", shape=(8, 16))
    out = relay.nn.relu(relay.nn.dense(data, w))
    mod = tvm.IRModule.from_expr(relay.Function([data, w], relay.concatenate([out, relay.ones_like(out)], axis=0)))
    weight = rng.random((8, 16)).astype("float32")
    with tvm.transform.PassContext(opt_level=3):
        vm_exec = relay.vm.compile(mod, target="llvm", params={"w": weight})
    temp = utils.tempdir()
    code, lib = vm_exec.save()
    lib.export_library(temp.relpath("lib.so"))
    with open(temp.relpath("code.ro"), "wb") as fo:
        fo.write(code)
    loaded_code = bytearray(open(temp.relpath("code.ro"), "rb").read())
    des_exec = Executable.load_exec(loaded_code, tvm.runtime.load_module(temp.relpath("lib.so")))
    for vm in (VirtualMachine(vm_exec, tvm.cpu()), VirtualMachine(des_exec, tvm.cpu())):
        for n in (1, 3):
            x = rng.random((n, 16)).astype("float32")
            vm.set_input("main", data=x)
            np.testing.assert_allclose(vm.run().numpy(), np.concatenate([np.maximum(x @ weight.T, 0), np.ones((n, 8))]), 1e-5)
    assert vm.benchmark(tvm.cpu(), x, number=1, repeat=2).mean > 0


def test_while_loop():
    i, st = relay.var("i", shape=(), dtype="int32"), relay.var("st", shape=(relay.Any(), 1), dtype="int32")

    def _cond(i, st):
        return relay.op.min(relay.op.less(i, relay.const(5)))

    def _body(i, st):
        return i + relay.const(1, dtype="int32"), relay.op.concatenate([st, relay.op.reshape(i, (1, 1))], axis=0)
    loop = relay.loops.while_loop(_cond, [i, st], _body)
    start = relay.var("start", shape=(), dtype="int32")
    body = loop(start, relay.op.reshape(relay.const(0), newshape=(1, 1)))
    mod = tvm.IRModule()
    mod["main"] = relay.Function([start], relay.TupleGetItem(body, 1))
    for kind in ["debug", "vm"]:
        result = relay.create_executor(kind, mod=mod, device=tvm.cpu(), target="llvm").evaluate()(np.int32(0))
        assert result.numpy().reshape(-1).tolist() == [0, 0, 1, 2, 3, 4]


# --- Lists, gradients ---


def test_prelude():
    mod = tvm.IRModule()
    p = relay.prelude.Prelude(mod)
    _, cons, nil = mod.get_type("List")
    x = relay.var("x", "int32")
    numbers = cons(relay.const(1), cons(relay.const(2), cons(relay.const(3), nil())))
    mod["main"] = relay.Function([], p.map(relay.Function([x], relay.multiply(x, relay.const(2))), numbers))
    found, value = [], relay.create_executor("debug", mod, tvm.cpu(), "llvm").evaluate()()
    while value.constructor.name_hint == "Cons":
        found.append(int(value.fields[0].numpy()))
        value = value.fields[1]
    assert found == [2, 4, 6]
    mod["main"] = relay.Function([], p.sum(numbers))
    assert relay.create_executor("vm", mod, tvm.cpu(), "llvm").evaluate()().numpy() == 6
    head, tail, whole = relay.var("h"), relay.var("t"), relay.var("l", mod.get_type("List")[0](relay.scalar_type("int32")))
    clauses = [relay.Clause(relay.PatternConstructor(nil, []), relay.const(-1)),
               relay.Clause(relay.PatternConstructor(cons, [relay.PatternVar(head), relay.PatternVar(tail)]), head)]
    first = relay.GlobalVar("first")
    mod[first] = relay.Function([whole], relay.Match(whole, clauses), relay.scalar_type("int32"))
    mod["main"] = relay.Function([], first(numbers))
    assert relay.create_executor("vm", mod, tvm.cpu(), "llvm").evaluate()().numpy() == 1


@pytest.mark.parametrize("mode", ["higher_order", "first_order"])
def test_gradient(mode):
    x, w = relay.var("x", shape=(3, 4)), relay.var("w", shape=(5, 4))
    loss = relay.sum(relay.nn.relu(relay.nn.dense(x, w)) * relay.const(2.0))
    fwd = relay.testing.run_infer_type(relay.Function([x, w], loss))
    bwd = relay.testing.run_infer_type(relay.transform.gradient(fwd, mode=mode))
    data, weight = (rng.standard_normal(shape).astype("float32") for shape in ((3, 4), (5, 4)))
    out, (dx, dw) = relay.create_executor("debug", device=tvm.cpu(), target="llvm").evaluate(bwd)(data, weight)
    slope = (data @ weight.T > 0) * 2.0
    np.testing.assert_allclose(out.numpy(), (data @ weight.T * slope).sum(), 1e-4)
    np.testing.assert_allclose(dx.numpy(), slope @ weight, 1e-4, 1e-4)
    np.testing.assert_allclose(dw.numpy(), slope.T @ data, 1e-4, 1e-4)


def test_a_variable_is_bound_once():
    x = relay.var("x", shape=(2,))
    square = relay.Function([x], x * x)
    mod = tvm.IRModule.from_expr(relay.Function([x], relay.Call(square, [x]) + x))
    assert not relay.analysis.well_formed(mod["main"])
    with pytest.raises(ValueError, match="%x .*bound twice.*relay.var of its own"):
        relay.build(mod, "llvm")


# --- Programs in files ---

ELSEWHERE = """
import numpy as np
import relayvm.tvm as tvm
from relayvm.tvm.contrib import graph_executor
module = graph_executor.GraphModule(tvm.runtime.load_module("{graph}")["mynet"](tvm.cpu(0)))
module.set_input("x", np.ones((2, 3), "float32"))
module.set_input("y", np.zeros((2, 3), "float32"))
module.run()
vm = tvm.runtime.vm.VirtualMachine(tvm.runtime.load_module("{machine}"), tvm.cpu())
print(module.get_output(0).numpy().tolist(), vm.invoke("main", np.ones((2, 3), "float32"), np.zeros((2, 3), "float32")).numpy().tolist())
"""


def test_another_process_loads_what_was_exported(tmp_path):
    x, y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(2, 3))
    mod = tvm.IRModule.from_expr(relay.Function([x, y], relay.add(x, relay.exp(y))))
    paths = {"graph": str(tmp_path / "net.so"), "machine": str(tmp_path / "vm.so")}
    relay.build(mod, target="llvm", mod_name="mynet").export_library(paths["graph"])
    relay.vm.compile(mod, target="llvm").mod.export_library(paths["machine"])
    ran = subprocess.run([sys.executable, "-c", ELSEWHERE.format(**paths)], capture_output=True, text=True, timeout=120)
    assert ran.stdout.strip() == f"{[[2.0] * 3] * 2} {[[2.0] * 3] * 2}", ran.stderr
    loaded = tvm.runtime.load_module(paths["graph"])
    assert not loaded.implements_function("mynet")
    with pytest.raises(AttributeError, match="no function 'mian'; it has main, default"):
        loaded["mian"](np.ones((2, 3), "float32"))


def test_graph_library_and_params_in_three_files():
    x, w, b = relay.var("x", shape=(2, 3)), relay.var("w", shape=(4, 3)), relay.var("b", shape=(4,))
    mod = tvm.IRModule.from_expr(relay.Function([x, w, b], relay.nn.bias_add(relay.nn.dense(x, w), b)))
    params = {"w": tvm.nd.array(rng.random((4, 3)).astype("float32")), "b": tvm.nd.array(rng.random(4).astype("float32"))}
    temp, data = utils.tempdir(), rng.random((2, 3)).astype("float32")
    with tvm.transform.PassContext(opt_level=3):
        graph, lib, bound = relay.build_module.build(mod, target="llvm", params=params)
    lib.export_library(temp.relpath("net.so"))
    with open(temp.relpath("net.json"), "w") as fo:
        fo.write(graph)
    with open(temp.relpath("net.params"), "wb") as fo:
        fo.write(relay.save_param_dict(bound))
    loaded_json, loaded_lib = open(temp.relpath("net.json")).read(), tvm.runtime.load_module(temp.relpath("net.so"))
    module = graph_executor.create(loaded_json, loaded_lib, tvm.cpu(0))
    module.load_params(bytearray(open(temp.relpath("net.params"), "rb").read()))
    module.run(x=data)
    expected = data @ params["w"].numpy().T + params["b"].numpy()
    np.testing.assert_allclose(module.get_output(0).numpy(), expected, 1e-5)

    unbound = graph_executor.GraphModule(relay.build(mod, target="llvm")["default"](tvm.cpu()))
    unbound.load_params(relay.save_param_dict(params))
    unbound.set_input("x", data)
    unbound.run()
    np.testing.assert_allclose(unbound.get_output(0).numpy(), expected, 1e-5)
