"""What a notebook shows: of everything its types, of programs the graph, of profiles the rates. Names are strangers', and sizes have bounds."""
import html.parser
import json
import os
import re
import sys
import xml.etree.ElementTree

import numpy as np
import pytest

import relayvm as rvm
from relayvm import relay

HOSTILE = '<script>alert(1)</script>"\'&<img src=x onerror=alert(2)></svg>]]>'
VOID = {"br", "img", "meta"}
ALLOWED = {"div", "b", "p", "pre", "span", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "svg", "defs", "marker", "path", "rect", "g",
           "text", "title"}


class Checker(html.parser.HTMLParser):
    """That elements are closed, known, and do nothing."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED, tag
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs), attrs
        self.tags.append(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def shown(thing):
    """The texts of what a notebook shows of it."""
    return Checker(thing._repr_html_()).texts


def weights(*shape):
    return relay.const(np.random.default_rng(0).standard_normal(shape).astype("float32"), name="w")


def picture_net():
    x = relay.var("x", shape=(1, 3, 16, 16))
    y = relay.nn.relu(relay.nn.conv2d(x, weights(8, 3, 3, 3), strides=(2, 2), padding=(1, 1), channels=8, kernel_size=(3, 3)))
    y = relay.nn.softmax(relay.nn.dense(relay.nn.batch_flatten(relay.nn.global_avg_pool2d(y)), weights(10, 8)))
    return rvm.IRModule({"main": relay.Function([x], y, attrs={"output_names": ("probabilities",)})})


@pytest.fixture(scope="module")
def exe():
    return rvm.compile(picture_net())


def test_a_module_shows_types_attributes_constants_and_names():
    texts = shown(picture_net())
    assert {"@main", "x", "nn.conv2d", "nn.dense", "probabilities", "weight <w (8, 3, 3, 3) float32>", "-> (1, 10) float32"} <= set(texts)
    assert {"channels=8, kernel_size=[3, 3]", "padding=[1, 1, 1, 1], strides=[2, 2]"} <= set(texts)  # what is not as the default
    assert "Tensor[(1, 3, 16, 16), float32]" in texts


def test_classes_have_colours():
    from relayvm.compiler.pictures import COLOURS
    from relayvm.compiler.program_graphs import class_of
    classes = {"nn.conv2d": "product", "nn.dense": "product", "add": "elementwise", "nn.relu": "activation", "reshape": "moving", "sum": "reduction",
               "nn.max_pool2d": "reduction", "nn.layer_norm": "normalisation", "qnn.add": "quantisation", "dyn.reshape": "moving", "where": "elementwise"}
    assert {name: class_of(name) for name in classes} == classes
    assert {class_of(name) for name in relay.op.list_op_names()} <= set(COLOURS) if hasattr(relay.op, "list_op_names") else True
    svg = rvm.draw(picture_net()).svg
    assert COLOURS["product"][0] in svg and COLOURS["activation"][0] in svg


LOOP = """#[version = "0.0.5"]
def @main(%n: int32, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
  let %loop = fn (%i: int32, %acc: Tensor[(4), float32]) -> Tensor[(4), float32] {
    if (less(%i, %n)) { %loop(add(%i, 1), multiply(%acc, %x)) } else { %acc }
  };
  %loop(0, %x)
}
"""


def test_loops_and_ifs_are_boxes():
    texts = shown(rvm.parse(LOOP))
    assert {"fn %loop", "call of %loop", "if", "then", "else", "condition" if "condition" in texts else "less", "multiply", "acc"} <= set(texts)
    [root] = [xml.etree.ElementTree.fromstring(rvm.draw(rvm.parse(LOOP)).svg)]
    paths = root.findall(".//{http://www.w3.org/2000/svg}path")
    assert len(paths) > 8


def test_matches_show_their_patterns():
    text = """#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }
def @main(%xs: List[float32]) -> float32 { match (%xs) { Cons(%x, _) => { exp(%x) }, Nil => { 0f } } }
"""
    texts = shown(rvm.parse(text))
    assert "match" in texts and "exp" in texts and any(t.startswith("Cons(%x") for t in texts) and any("type definitions" in t for t in texts)


def scoped(name, i):
    return f"/encoder/layer.{i}/{name}"


def long_chain(count):
    x = relay.var("x", shape=(4,))
    y = x
    for i in range(count):
        y = relay.tanh(y) if i % 2 else relay.add(y, relay.const(np.float32(i)))
    return rvm.IRModule({"main": relay.Function([x], y)})


def test_large_programs_are_folded_and_bounded():
    small, large = (long_chain(n)._repr_html_() for n in (150, 8000))
    assert "nodes 1 to 60" in small and small.count("<svg") == 4
    texts = Checker(large).texts
    assert len(large) < 1_500_000 and any(t.startswith("not drawn: ") and "1,500" in t for t in texts)
    assert any("of" in t and "characters" in t for t in texts)


def test_parts_of_names_fold_together():
    from relayvm.compiler.pictures import Graph, Node
    from relayvm.compiler.program_graphs import fold
    nodes, scopes = [Node("x", "input")], {}
    for layer in range(5):
        for i in range(20):
            nodes.append(Node(f"{layer}.{i}", inputs=[(nodes[-1], "")]))
            scopes[nodes[-1]] = ("encoder", f"layer.{layer}")
    graph, apart = fold(Graph(nodes), scopes)
    assert [n.title for n in graph.nodes] == ["x"] + [f"encoder/layer.{i}" for i in range(5)]
    assert [title for title, _, _ in apart] == [f"encoder/layer.{i}" for i in range(5)]
    assert [source.title for source, _ in graph.nodes[2].inputs] == ["encoder/layer.0"]
    assert [n.kind for n in apart[1][1].nodes][:2] == ["outer", "other"] and len(apart[1][1].nodes) == 21


def test_names_of_strangers_are_text():
    x = relay.var(HOSTILE, shape=(2,))
    function = relay.Function([x], relay.add(x, relay.const(np.zeros(2, "float32"), name=HOSTILE)), attrs={"output_names": (HOSTILE,), "note" + HOSTILE: HOSTILE})
    mod = rvm.IRModule({"main": function})
    made = rvm.compile(mod)
    trace = rvm.Profile()
    model = made.load(runtime=rvm.Runtime(trace=trace))
    model(np.ones(2, "float32"))
    for thing in (mod, mod["main"], mod["main"].body, made, model, model.main, trace, model._runtime):
        assert not any(tag in thing._repr_html_() for tag in ("<script", "<img")), thing
        shown(thing)
    root = xml.etree.ElementTree.fromstring(rvm.draw(mod).svg)
    assert root.tag.endswith("svg") and any(HOSTILE[:20] in (t.text or "") for t in root.iter())


def test_characters_that_have_no_place_in_html():
    from relayvm.pages import escaped
    assert escaped("a\x00b\ud800\u202e<") == "a\\x00b\\ud800\\u202e&lt;"


def test_tables_say_what_they_leave_out():
    from relayvm.pages import table
    text = table(("n",), [(i,) for i in range(1000)])
    assert text.count("<tr>") == 202 and "and 800 more" in text


def test_an_executable(exe):
    assert repr(exe) == "<relayvm.Executable (x: Tensor[(1, 3, 16, 16), float32]) -> (probabilities: Tensor[(1, 10), float32]): 4 kernels>"
    texts = shown(exe)
    assert {"x", "probabilities", exe.memory_formula(), *exe.kernels, "nn.conv2d"} <= set(texts)


def test_a_program_that_cannot_be_loaded_here():
    made = rvm.compile("""#[version = "0.0.5"]
def @host(%x: Tensor[(2), float32], host=1) -> Tensor[(2), float32];
def @main(%x: Tensor[(2), float32]) -> Tensor[(2), float32] { tanh(@host(%x)) }
""")
    assert repr(made) == "<relayvm.Executable: 1 kernel>"
    assert any("cannot be loaded here by itself" in text for text in shown(made))


def test_work_of_kernels(exe):
    works = {re.sub(r"_\d+$", "", name): work for name, work in exe.work().items()}
    conv = next(work for name, work in works.items() if "conv2d" in name)
    made = 8 * 8 * 8
    assert conv.flops == made * (2 * 3 * 9 + 1) and conv.bytes >= 4 * (3 * 16 * 16 + 8 * 27 + made)
    dense = next(work for name, work in works.items() if "dense" in name)
    assert dense.flops == 2 * 10 * 8 and dense.why == ""
    assert next(work for name, work in works.items() if "softmax" in name).bytes == 2 * 4 * 10


def test_kernels_of_one_name_and_result_have_their_own_work():
    x, y = relay.var("x", shape=(4, 64)), relay.var("y", shape=(4, 16))
    both = relay.nn.dense(x, weights(8, 64), units=8), relay.nn.dense(y, weights(8, 16), units=8)
    works = rvm.compile(rvm.IRModule({"main": relay.Function([x, y], relay.Tuple(both))}), opt_level=1).work()
    assert sorted(work.flops for work in works.values()) == [2 * 4 * 8 * 16, 2 * 4 * 8 * 64]


def test_work_that_is_not_known_says_why():
    x = relay.var("x", shape=("n", 4))
    [work] = rvm.compile(rvm.IRModule({"main": relay.Function([x], relay.exp(x))})).work().values()
    assert (work.flops, work.bytes, work.why) == (None, None, "sizes are known when the program runs")
    x = relay.var("x", shape=(64,))
    [work] = rvm.compile(rvm.IRModule({"main": relay.Function([x], relay.sort(x))})).work().values()
    assert (work.flops, work.bytes) == (None, None) and work.why.startswith("a function of the runtime")
    x = relay.var("x", shape=(1, 2, 4, 4))
    [work] = rvm.compile(rvm.IRModule({"main": relay.Function([x], relay.image.resize2d(x, (8, 8)))})).work().values()
    assert (work.flops, work.bytes) == (None, 4 * 2 * (16 + 64)) and work.why == "of image.resize2d operations are not counted"


def test_a_profile_has_rates(exe, tmp_path):
    profile = rvm.Profile()
    model = exe.load(runtime=rvm.Runtime(trace=profile))
    for _ in range(5):
        model(np.ones((1, 3, 16, 16), "float32"))
    rates = profile.rates()
    for row in profile.by_kernel():
        flops, size, why = rates[row.name]
        work = exe.work()[row.name]
        assert size == pytest.approx(work.bytes * row.calls / row.total_ns)
        assert flops == pytest.approx(work.flops * row.calls / row.total_ns) and why == ""
    texts = shown(profile)
    assert {"by operators", "by kernel", "GFLOP/s", "GB/s"} <= set(texts) and any(t.startswith("Profile: 5 runs") for t in texts)
    exe.save(tmp_path / "m.vmx")
    other = rvm.Profile()
    rvm.load(tmp_path / "m.vmx", runtime=rvm.Runtime(trace=other))(np.ones((1, 3, 16, 16), "float32"))
    assert all(rate == (None, None, "its program was not loaded by Executable.load") for rate in other.rates().values()) and other.rates()
    assert "its program was not loaded by Executable.load" in shown(other)


def test_models_runtimes_and_traces(exe):
    trace = rvm.ChromeTrace()
    runtime = rvm.Runtime(trace=trace)
    model = exe.load(runtime=runtime)
    model(np.ones((1, 3, 16, 16), "float32"))
    assert {"x", "probabilities", "(1, 10)", f"memory at most: {model.memory_formula()} bytes"} <= set(shown(model))
    assert {"Function main", "x"} <= set(shown(model.main))
    assert re.match(r"<relayvm.Runtime: 1 thread, 1 runs, ", repr(runtime))
    assert {"kernel_calls", "peak_bytes", exe.kernels[0]} <= set(shown(runtime))
    assert any(t.startswith("ChromeTrace: ") for t in shown(trace)) and "events" in repr(trace)


NOTEBOOK = os.path.join(os.path.dirname(__file__), "..", "examples", "looking_at_programs.ipynb")


def test_the_notebook_runs(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="apt-get install python3-nbclient python3-ipykernel")
    pytest.importorskip("ipykernel", reason="apt-get install python3-nbclient python3-ipykernel")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    kernel = tmp_path / "kernels" / "this_python"  # the system's would not find what this environment has
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "this_python", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="this_python", resources={"metadata": {"path": str(tmp_path)}}).execute()
    pages = [output["data"]["text/html"] for cell in notebook.cells for output in cell.get("outputs", ()) if "text/html" in output.get("data", {})]
    assert len(pages) >= 5
    for page in pages:
        Checker(page)
    assert any("<svg" in page for page in pages) and any("GFLOP/s" in page for page in pages)
