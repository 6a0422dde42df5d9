"""create_executor: the ways to run a program."""
import os
import resource
import signal
import threading
import time

import numpy as np
import pytest

import relayvm as rvm

HEADER = '#[version = "0.0.5"]\n'
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples")
DENSE = HEADER + """
def @twice(%a: Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32] { multiply(%a, 2f) }
def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(3, 4), float32]) {
  let %h = nn.dense(%x, %w, units=3);
  (@twice(%h), nn.relu(%h))
}
"""
LIST = HEADER + """
type List[A] { Cons(A, List[A]), Nil, }
def @main(%l: List[int64], %n: int64) -> List[int64] {
  match (%l) {
    Cons(%h, %t) => { if (less(%h, %n)) { Cons(multiply(%h, %n), @main(%t, %n)) } else { @main(%t, %n) } },
    Nil => { Nil },
  }
}
"""
W = np.arange(12, dtype="f4").reshape(3, 4)
X = np.linspace(-1, 1, 8, dtype="f4").reshape(2, 4)


@pytest.mark.parametrize("kind", ["vm", "debug"])
def test_programs_give_what_a_model_gives(kind):
    run = rvm.create_executor(kind, rvm.parse(DENSE), {"w": W}).evaluate()
    for twice, relu in (run(X), run(x=X)):
        np.testing.assert_allclose(twice, X @ W.T * 2, rtol=1e-5)
        np.testing.assert_allclose(relu, np.maximum(X @ W.T, 0), rtol=1e-5)
    assert [a.name for a in run.inputs] == ["x"] and [a.shape[1] for a in run.outputs] == [3, 3]
    lists = rvm.create_executor(kind, mod=LIST).evaluate()
    assert [int(i) for i in lists([1, 7, 2], 5).to_list()] == [5, 10]
    assert type(lists([], n=5)) is rvm.Adt


@pytest.mark.parametrize("kind", ["vm", "debug"])
def test_evaluate_takes_a_function_or_its_name(kind):
    mod = rvm.parse(DENSE)
    executor = rvm.create_executor(kind, mod)
    for f in (executor.evaluate("twice"), executor.evaluate("@twice"), executor.evaluate(mod["twice"])):
        np.testing.assert_allclose(f(X[:, :3]), X[:, :3] * 2)
    with pytest.raises(KeyError, match="no function thrice; there are main, twice"):
        executor.evaluate("thrice")
    with pytest.raises(TypeError, match="a function's name or a relay expression, found int"):
        executor.evaluate(3)


def test_an_unknown_kind_names_the_known_ones():
    with pytest.raises(ValueError, match="no executor 'interp'; executors: .*debug, .*graph, .*vm"):
        rvm.create_executor("interp", rvm.parse(DENSE))
    with pytest.raises(TypeError, match="mod="):
        rvm.create_executor("vm").evaluate()


def test_models_from_files(tmp_path):
    x = np.load(os.path.join(EXAMPLES, "newton_numbers.npy"))
    path = os.path.join(EXAMPLES, "newton.onnx")
    results = [rvm.create_executor(kind, path).evaluate()(x) for kind in ("vm", "debug")]
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5)
    assert results[0][1] == results[1][1] == 14


def test_debug_shows_each_value_on_its_way():
    seen = []
    run = rvm.create_executor("debug", rvm.parse(DENSE, name="dense.relay"), {"w": W}, on_value=seen.append).evaluate()
    twice, _ = run(X)
    assert [(v.name, v.operator, v.function) for v in seen] == [
        ("%x", "parameter", "main"), ("%h", "nn.dense", "main"), ("%a", "parameter", "twice"), ("", "multiply", "twice"),
        ("", "@twice", "main"), ("", "nn.relu", "main"), ("", "tuple", "main")]
    np.testing.assert_allclose(seen[1].value, X @ W.T, rtol=1e-5)
    assert seen[6].value[0].shape == (2, 3)
    np.testing.assert_array_equal(seen[3].value, twice)
    assert (seen[1].place.file, seen[1].place.line) == ("dense.relay", 5) and "nn.dense" in seen[1].place.source_line
    assert seen[1].relay_type.endswith(", 3), float32]") and "min" in seen[1].summary and "nn.dense" in repr(seen[1])


def test_debug_shows_data_and_functions():
    seen = {}
    text = LIST + """
def @apply(%f: fn (int64) -> int64, %r: ref(int64)) -> int64 { %f(ref_read(%r)) }
def @other(%x: int64) {
  let %l = Cons(%x, Nil);
  let %r = ref(%x);
  let %f = fn (%y: int64) -> int64 { add(%y, %x) };
  (%l, @apply(%f, %r))
}
"""
    executor = rvm.create_executor("debug", text, on_value=lambda v: seen.setdefault(v.name, v))
    _, result = executor.evaluate("other")(20)
    assert result == 40
    head, rest = seen["%l"].value.fields
    assert seen["%l"].value.constructor == "Cons" and head == 20 and rest == rvm.Adt("Nil")
    assert seen["%f"].value is None and seen["%r"].value is None and seen["%f"].summary.startswith("fn ")


def test_what_a_hook_raises_ends_the_run():
    def stop(value):
        if value.operator == "nn.dense":
            raise LookupError("seen enough")
    run = rvm.create_executor("debug", DENSE, on_value=stop).evaluate()
    with pytest.raises(LookupError, match="seen enough"):
        run(X, W)
    run.on_value = None
    assert run(X, W)[0].shape == (2, 3)


def test_debug_fails_as_the_program_does():
    run = rvm.create_executor("debug", HEADER + "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) { add(%x, %y) }").evaluate()
    with pytest.raises(rvm.FailedPrecondition, match="broadcast"):
        run(np.ones(2, "f4"), np.ones(3, "f4"))
    with pytest.raises(TypeError, match="input y .* is missing"):
        run(np.ones(2, "f4"))


def test_a_tensor_that_does_not_fit_ends_a_debug_run():
    run = rvm.create_executor("debug", HEADER + """
def @main(%s: Tensor[(1), int64]) -> Tensor[(?), int8] { dyn.zeros(%s, dtype="int8") }""").evaluate()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 40 if hard == resource.RLIM_INFINITY else min(1 << 40, hard), hard))
    try:
        with pytest.raises(rvm.ResourceExhausted, match=r"dyn.zeros: no memory for Tensor\[\(35184372088832\), int8\]"):
            run(np.array([1 << 45]))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert run(np.array([3])).shape == (3,)


def test_ctrl_c_ends_a_debug_run():
    run = rvm.create_executor("debug", HEADER + """
def @loop(%n: int64) -> int64 { if (less(%n, 0i64)) { %n } else { @loop(add(%n, 1i64)) } }
def @main(%n: int64) -> int64 { @loop(%n) }""").evaluate()
    begin = time.monotonic()
    threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        run(1)
    assert time.monotonic() - begin < 5


CONV = HEADER + """
def @main(%x: Tensor[(1, 3, 16, 16), float32], %s: float32, %w: Tensor[(8, 3, 3, 3), float32]) {
  let %c = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  let %p = nn.max_pool2d(nn.relu(%c), pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  (nn.softmax(nn.batch_flatten(%p)), (multiply(%s, 2f), %x))
}
"""
RANDOM = np.random.default_rng(7)
CONV_W = RANDOM.standard_normal((8, 3, 3, 3), "f4")
CONV_X = RANDOM.standard_normal((1, 3, 16, 16), "f4")


def convolve(x, w):
    """What CONV computes of a picture, in numpy."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    c = np.maximum(np.einsum("nchwij,ocij->nohw", windows, w), 0)
    p = c.reshape(1, 8, 8, 2, 8, 2).max(axis=(3, 5)).reshape(1, -1)
    e = np.exp(p - p.max())
    return e / e.sum()


def test_graph_gives_what_a_model_gives():
    graph = rvm.create_executor("graph", rvm.parse(CONV), {"w": CONV_W}).evaluate()
    for y, (double, x) in (graph(CONV_X, 1.5), graph(s=1.5, x=CONV_X)):
        np.testing.assert_allclose(y, convolve(CONV_X, CONV_W), rtol=1e-4, atol=1e-6)
        assert double == 3 and double.dtype == np.float32
        np.testing.assert_array_equal(x, CONV_X)
    assert [a.name for a in graph.inputs] == ["x", "s"] and len(graph.outputs) == 3
    with pytest.raises(TypeError, match="input s .* is missing"):
        graph(CONV_X)


def test_graph_module_as_tvm_has_it(tmp_path):
    rvm.create_executor("graph", rvm.parse(CONV), {"w": CONV_W}).evaluate().save(tmp_path / "net")
    assert sorted(os.listdir(tmp_path / "net")) == ["graph.json", "graph.params", "kernels.vmx"]
    module = rvm.load_graph(tmp_path / "net")
    assert module.get_num_outputs() == 3 and module.get_num_inputs() == 2 + len(rvm.load_params(tmp_path / "net/graph.params"))
    with pytest.raises(rvm.FailedPrecondition, match="input x is not set"):
        module.run()
    module.set_input("x", CONV_X)
    module.set_input(1, 2.0)
    module.run()
    y = module.get_output(0)
    np.testing.assert_allclose(y, convolve(CONV_X, CONV_W), rtol=1e-4, atol=1e-6)
    module.run(x=np.zeros_like(CONV_X), s=5)
    assert module.get_output(1) == 10 and module.get_input("s") == 5
    out = np.empty_like(y)
    assert module.get_output(0, out=out) is out and np.allclose(out, 1 / 512)
    np.testing.assert_allclose(y, convolve(CONV_X, CONV_W), rtol=1e-4, atol=1e-6)  # a copy
    with pytest.raises(rvm.NotFound, match="no input y; inputs: x, s"):
        module.set_input("y", 1)
    with pytest.raises(rvm.Error):
        module.set_input("x", np.zeros((2, 2), "f4"))
    with pytest.raises(rvm.OutOfRange):
        module.get_output(3)
    with pytest.raises(rvm.InvalidArgument, match="expected a buffer"):
        module.get_output(0, out=np.empty(3, "f4"))


def test_graph_input_without_a_copy():
    module = rvm.create_executor("graph", HEADER + "def @main(%x: Tensor[(1024), float32]) { add(%x, 1f) }").evaluate()
    memory = np.zeros(1024 + 16, "f4")
    x = memory[(-memory.ctypes.data % 64) // 4:][:1024]
    module.set_input_zero_copy("x", x)
    module.run()
    assert module.get_output(0)[5] == 1
    x[5] = 6
    module.run()
    assert module.get_output(0)[5] == 7


def test_graph_runs_within_limits(tmp_path):
    text = HEADER + "def @main(%x: Tensor[(2048, 2048), float64], %s: float64) { multiply(nn.dense(nn.dense(%x, %x), %x), %s) }"
    program = rvm.create_executor("graph", text).evaluate()
    program.save(tmp_path / "g")
    x = np.ones((2048, 2048))
    with pytest.raises(rvm.DeadlineExceeded, match="the deadline has passed"):
        program(x, 1.0, timeout=0.001)
    graph = rvm.load_graph(tmp_path / "g", memory_limit=1 << 28)
    with pytest.raises(rvm.DeadlineExceeded, match=r"node \d+ .*: kernel .*: the deadline has passed"):
        graph.run(x=x, s=1.0, timeout=0.002)
    with pytest.raises(rvm.FailedPrecondition, match="has not run to its end"):
        graph.get_output(0)
    threading.Timer(0.01, graph.cancel).start()
    with pytest.raises(rvm.Cancelled):
        graph.run()
    with pytest.raises(ValueError, match="timeout: expected seconds"):
        graph.run(timeout=-1)
    with pytest.raises(rvm.ResourceExhausted, match="the graph: no memory for its tensors and scratch"):
        rvm.load_graph(tmp_path / "g", memory_limit=1 << 20)
    # An input of that name is meant first.
    named = rvm.create_executor("graph", HEADER + "def @main(%x: Tensor[(2), float64], %timeout: float64) { multiply(%x, %timeout) }").evaluate()
    assert named(np.ones(2), timeout=3.0).tolist() == [3, 3]
    named.run(x=np.ones(2), timeout=4.0)
    assert named.get_output(0).tolist() == [4, 4]


def test_ctrl_c_ends_a_run_of_a_graph():
    lets = "".join(f"let %y{i + 1} = nn.dense(%y{i}, %y{i}); " for i in range(40))
    graph = rvm.create_executor("graph", HEADER + f"def @main(%y0: Tensor[(2048, 2048), float64]) {{ {lets} %y40 }}").evaluate()
    graph.set_input("y0", np.full((2048, 2048), 1e-4))
    begin = time.monotonic()
    threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        graph.run()
    assert time.monotonic() - begin < 3
    with pytest.raises(rvm.DeadlineExceeded):  # the next run is a new one
        graph.run(timeout=0.1)
    # A handler that raises nothing ends nothing, and must not touch the graph meanwhile.
    errors = []

    def handler(*_):
        for use in (graph.run, lambda: graph.set_input("y0", np.zeros((2048, 2048))), lambda: graph(np.zeros((2048, 2048)))):
            with pytest.raises(rvm.FailedPrecondition, match="the graph is running") as error:
                use()
            errors.append(error)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(rvm.DeadlineExceeded):
            graph.run(timeout=0.4)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(errors) == 3


def test_graph_runs_count_in_a_runtime(tmp_path):
    rvm.create_executor("graph", HEADER + "def @main(%x: Tensor[(4), float32]) { add(%x, 1f) }").evaluate().save(tmp_path / "g")
    runtime = rvm.Runtime()
    graph = rvm.load_graph(tmp_path / "g", runtime=runtime)
    for _ in range(3):
        graph(np.zeros(4, "f4"))
    stats = runtime.stats()
    assert stats["started"] == 3 and stats["kernel_calls"] >= 3 and stats["workspaces"] == 1
    del graph
    assert runtime.stats()["idle_workspaces"] == 1


def test_graph_weights_are_loaded_and_shared(tmp_path):
    text = HEADER + "def @main(%x: Tensor[(4), float32], %w: Tensor[(4), float32]) { multiply(%x, %w) }"
    one, two, three = [np.full(4, n, "f4") for n in (1, 2, 3)]
    a, b = [rvm.create_executor("graph", text, {"w": three}).evaluate() for _ in range(2)]
    a.load_params({"w": two})
    a.save(tmp_path / "g")
    np.testing.assert_array_equal(a(one), two)
    assert b.share_params(a) == 1
    np.testing.assert_array_equal(b(one), two)
    b.load_params((tmp_path / "g/graph.params").read_bytes())  # as it was compiled
    np.testing.assert_array_equal(b(two), two * 3)
    np.testing.assert_array_equal(a(two), two * 2)


def test_graph_times_and_memory():
    module = rvm.create_executor("graph", rvm.parse(CONV), {"w": CONV_W}).evaluate()
    times = module.time_nodes(repeat=3, x=CONV_X, s=1)
    assert all(t.calls == 3 and t.total_ns > 0 for t in times) and any("conv2d" in t.name for t in times)
    assert module.memory["planned_bytes"] > 0 and module.memory["weight_bytes"] >= CONV_W.nbytes


@pytest.mark.parametrize("text, message", [
    ("def @main(%x: Tensor[(?, 3), float32]) { nn.relu(%x) }", r"dimension 0 of parameter %x: .* is open"),
    ("def @main(%x: float32) { if (less(%x, 0f)) { %x } else { exp(%x) } }", "this if depends on data"),
    ("def @main(%x: Tensor[(4), float32]) { argwhere(%x) }", "depends on data"),
])
def test_graph_says_what_is_in_the_way(text, message):
    with pytest.raises(rvm.Unsupported, match=message) as raised:
        rvm.create_executor("graph", rvm.parse(HEADER + text, name="g.relay")).evaluate()
    assert raised.value.line == 2 and raised.value.file == "g.relay"


def test_a_damaged_graph_is_refused(tmp_path):
    rvm.create_executor("graph", rvm.parse(CONV), {"w": CONV_W}).evaluate().save(tmp_path / "g")
    path = tmp_path / "g/graph.json"
    text = path.read_text()
    path.write_text(text.replace('"kernel":"0"', '"kernel":"99"'))
    with pytest.raises(rvm.InvalidInput, match="there is no kernel 99"):
        rvm.load_graph(tmp_path / "g")
    path.write_text(text[:100])
    with pytest.raises(rvm.InvalidInput, match="graph.json: no JSON"):
        rvm.load_graph(tmp_path / "g")


def aligned(shape, offset=0, dtype="f4"):
    """An array at 64n + offset: at 64n its memory is used where it is."""
    count = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(count + 128, "u1")
    start = -memory.ctypes.data % 64 + offset
    return memory[start:start + count].view(dtype).reshape(shape)


PASSED_THROUGH = """
type List[A] {{ Cons(A, List[A]), Nil, }}
def @main(%x: Tensor[({n}, 64), float32], %t: (Tensor[({n}, 64), float32], float32)) {{
  (%x, expand_dims(%x, axis=0), reshape(%x, newshape=[-1, 32]), %t, add(%x, 0f){more})
}}
"""


PASSED_THROUGH_OF_ONE = """
def @main(%x: Tensor[(64, 64), float32]) { (%x, expand_dims(%x, axis=0), reshape(%x, newshape=[-1, 32]), add(%x, 0f)) }
"""


def tensors(value):
    if isinstance(value, rvm.Adt):
        value = value.fields
    return [a for part in value for a in tensors(part)] if isinstance(value, tuple) else [np.asarray(value)]


@pytest.mark.parametrize("offset", [0, 4])
@pytest.mark.parametrize("kind", ["vm", "debug", "graph", "aot", "aot of any length", "vm, asynchronous"])
def test_results_stay_when_the_arguments_are_filled_anew(kind, offset):
    static = kind in ("graph", "aot")
    text = HEADER + (PASSED_THROUGH_OF_ONE if kind == "graph" else
                     PASSED_THROUGH.format(n=64 if static else "?", more="" if static else ", Cons(%x, Nil)"))
    if kind == "vm, asynchronous":
        import asyncio
        model = rvm.compile(text).load()

        def run(*args):
            return asyncio.run(model.run_async(*args))
    else:
        run = rvm.create_executor(kind.split()[0], rvm.parse(text)).evaluate()
    x, y = aligned((64, 64), offset), aligned((64, 64), offset)
    x[:], y[:] = 1, 1
    result = run(x) if kind == "graph" else run(x, (y, 1.0))
    x[:], y[:] = 2, 2
    assert all((a == 1).all() for a in tensors(result)), [a.ravel()[:1] for a in tensors(result)]


# Inputs, and what is said of them; None: they fit.
SHARED = [
    (("n", 4), ("n", 4), (2, 4), (2, 4), None),
    (("n", 4), ("n", 4), (2, 4), (3, 4), "x's dim 0 (n) is 2, y's dim 0 (n) is 3"),
    (("n", 4), ("n", 4), (3, 4), (2, 4), "x's dim 0 (n) is 3, y's dim 0 (n) is 2"),
    (("n", 4), ("n", 4), (1, 4), (3, 4), "x's dim 0 (n) is 1, y's dim 0 (n) is 3"),
    (("n", 4), ("n", 4), (100_000, 4), (1, 4), "x's dim 0 (n) is 100000, y's dim 0 (n) is 1"),
    (("n", "n"), ("n", "n"), (3, 3), (3, 3), None),
    (("n", "n"), ("n", "n"), (2, 3), (2, 3), "x's dim 0 (n) is 2, x's dim 1 (n) is 3"),
]


@pytest.mark.parametrize("kind", ["vm", "debug", "aot"])
def test_dims_of_one_name_are_one_number(kind):
    from relayvm import relay
    made = {}
    for x_shape, y_shape, x, y, message in SHARED:
        if x_shape not in made:
            a, b = relay.var("x", shape=x_shape), relay.var("y", shape=y_shape)
            mod = rvm.IRModule.from_expr(relay.Function([a, b], relay.add(a, b)))
            made[x_shape] = rvm.create_executor(kind, mod).evaluate()
        inputs = np.ones(x, "f4"), np.full(y, 2, "f4")
        if message is None:
            np.testing.assert_array_equal(made[x_shape](*inputs), inputs[0] + inputs[1])
            continue
        with pytest.raises(rvm.InvalidArgument) as e:
            made[x_shape](*inputs)
        assert f"main: {message}; where these are two sizes, relayc --shape " in str(e.value)


NAMED_DIMS = '''
#[metadata]
{"root": 1, "nodes": [{"type_key": ""},
  {"type_key": "Map", "keys": ["tir.SizeVar", "tir.Add"], "data": [2, 3]},
  {"type_key": "Array", "data": [4]}, {"type_key": "Array", "data": [5]},
  {"type_key": "tir.SizeVar", "attrs": {"dtype": "int32", "name": "6"}},
  {"type_key": "tir.Add", "attrs": {"a": "4", "b": "7"}},
  {"type_key": "runtime.String", "repr_str": "n"},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "1"}}]}
'''


@pytest.mark.parametrize("kind", ["vm", "debug", "aot"])
def test_names_of_dims_hold_inside_of_lists(kind):
    n, next_n = "meta[tir.SizeVar][0]", "meta[tir.Add][0]"
    run = rvm.create_executor(kind, rvm.parse(HEADER + f"""
type List[A] {{ Cons(A, List[A]), Nil }}
def @main(%l: List[Tensor[({next_n}, 4), float32]], %x: Tensor[({n}, 4), float32], %k: List[Tensor[({n}), int64]]) {{
  (%l, %x, %k)
}}
""" + NAMED_DIMS)).evaluate()

    def call(l, x, k):
        return run(items(*(np.ones((i, 4), "f4") for i in l)), np.ones((x, 4), "f4"), items(*(np.ones(i, "i8") for i in k)))

    def items(*tensors):
        chain = rvm.Adt("Nil")
        for one in reversed(tensors):
            chain = rvm.Adt("Cons", one, chain)
        return chain
    call((4, 4), 3, (3, 3, 3))
    call((), 3, ())
    for sizes, message in ((((4, 5), 3, ()), "x's dim 0 (n) is 3, a tensor in l's dim 0 (n + 1) is 5"),
                           (((), 3, (3, 2)), "x's dim 0 (n) is 3, a tensor in k's dim 0 (n) is 2")):
        with pytest.raises(rvm.InvalidArgument) as e:
            call(*sizes)
        assert message in str(e.value)


@pytest.mark.parametrize("kind", ["vm", "debug", "aot"])
def test_names_of_dims_hold_in_tuples_and_expressions(kind):
    n, next_n = "meta[tir.SizeVar][0]", "meta[tir.Add][0]"
    run = rvm.create_executor(kind, rvm.parse(HEADER + f"""
def @main(%y: Tensor[({next_n}, 4), float32], %x: (Tensor[({n}, 4), float32], Tensor[({n}), int64])) {{
  (add(concatenate((%x.0, ones(shape=[1, 4], dtype="float32")), axis=0), %y), %x.1)
}}
""" + NAMED_DIMS)).evaluate()

    def call(y, x, i):
        return run(np.ones((y, 4), "f4"), (np.ones((x, 4), "f4"), np.ones(i, "i8")))
    np.testing.assert_array_equal(call(4, 3, 3)[0], np.full((4, 4), 2))
    for sizes, message in (((5, 3, 3), "x.0's dim 0 (n) is 3, y's dim 0 (n + 1) is 5"),
                           ((3, 3, 3), "x.0's dim 0 (n) is 3, y's dim 0 (n + 1) is 3"),
                           ((4, 3, 2), "x.0's dim 0 (n) is 3, x.1's dim 0 (n) is 2")):
        with pytest.raises(rvm.InvalidArgument) as e:
            call(*sizes)
        assert message in str(e.value)


@pytest.mark.parametrize("kind", ["vm", "graph", "aot"])
def test_executors_run_on_a_runtime(kind):
    text = DENSE.replace("(?,", "(2,")
    runtime = rvm.Runtime(num_threads=2)
    run = rvm.create_executor(kind, rvm.parse(text), {"w": W}, runtime=runtime).evaluate()
    before = runtime.stats()
    for _ in range(3):
        run(X)
    after = runtime.stats()
    assert after["ended"]["ok"] == before["ended"]["ok"] + 3
    assert after["workspaces"] >= 1
    small = rvm.Runtime(memory_limit=1)
    with pytest.raises(rvm.ResourceExhausted):
        rvm.create_executor(kind, rvm.parse(text), {"w": W}, runtime=small).evaluate()(X)
