"""torch.compile(backend=relayvm.torch.backend), relayvm.torch.compile_module, explain: against what PyTorch itself gives.

compile_module works with any PyTorch; the rest needs 2.1 or newer and is skipped, saying so, where that is not installed (Debian's is 1.13):
run it with a Python 3.11 that has PyPI's torch.
"""
import ast
import copy
import inspect
import os
import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils import _pytree as pytree  # noqa: E402

import relayvm as rvm  # noqa: E402
import relayvm.torch  # noqa: E402

VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])
needs_dynamo = pytest.mark.skipif(VERSION < (2, 1), reason=f"torch.compile needs torch 2.1 or newer, this is {torch.__version__}")
needs_old = pytest.mark.skipif(VERSION >= (2, 1), reason="what torch.jit.trace is used for, before torch.export")
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    if VERSION >= (2, 1):
        torch._dynamo.reset()


def same(found, expected, tolerance=1e-5):
    """That two trees are equal: their structure, dtypes, shapes and values."""
    found, found_spec = pytree.tree_flatten(found)
    expected, expected_spec = pytree.tree_flatten(expected)
    assert found_spec == expected_spec
    for one, other in zip(found, expected):
        if isinstance(other, torch.Tensor):
            assert one.dtype == other.dtype
            torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
        else:
            assert one == other and type(one) is type(other)


class ResidualBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(8, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16)
        self.conv2, self.bn2 = nn.Conv2d(16, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16)
        self.down = nn.Sequential(nn.Conv2d(8, 16, 1, 2, bias=False), nn.BatchNorm2d(16))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = self.bn2(self.conv2(y))
        y += self.down(x)
        return F.relu(y)


class Attention(nn.Module):
    def __init__(self, width=16, heads=4):
        super().__init__()
        self.qkv, self.out, self.heads = nn.Linear(width, 3 * width), nn.Linear(width, width), heads

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, n, c))


class EmbeddingMean(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.out = nn.Embedding(50, 8, padding_idx=0), nn.Linear(8, 3)

    def forward(self, ids):
        mask = (ids != 0).unsqueeze(-1)
        return self.out((self.table(ids) * mask).sum(1) / mask.sum(1).clamp(min=1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.up, self.c = nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(16, 2, 3, padding=1)

    def forward(self, x):
        a = F.relu(self.a(x))
        b = F.relu(self.b(F.max_pool2d(a, 2)))
        return self.c(torch.cat([a, self.up(b)], 1))


class Halving(nn.Module):
    """A loop that data ends: Python runs between its graphs."""

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        x = torch.tanh(self.l(x))
        while x.abs().max() > 0.3:
            x = x * 0.5
        return self.l(x)


class InDict(nn.Module):
    def forward(self, batch):
        return {"sum": batch["a"] + batch["b"], "first": batch["a"][:, 0]}


class InPlace(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:, 1:] += 1
        y[:, 0].mul_(2)
        x.add_(1)  # the caller's too
        return y.clamp_(0, 2)


class Masked(nn.Module):
    def forward(self, x, mask):
        y = x.masked_fill(~mask, float("-inf")).softmax(-1)
        return torch.where(mask & (x > 0), y, torch.zeros_like(y))


class Selected(nn.Module):
    def forward(self, x):
        return x[x > 0].sum() + x.sum()


class Einsum(nn.Module):
    def forward(self, x, y):
        return torch.einsum("bik,bkj->bij", x, y), torch.einsum("bii->b", torch.einsum("bik,bjk->bij", x, x))


class Integers(nn.Module):
    def forward(self, x):
        return (x * 3 + 1) // 2, x.cumsum(0), x.argmax(1), x % 5, x.bitwise_and(3)


class HalfPrecision(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(8, 8).to(torch.bfloat16)

    def forward(self, x):
        return F.gelu(self.l(x)), x.float().mean(-1)


class Complex(nn.Module):
    def forward(self, x):
        return (x * x.conj()).real, torch.fft.rfft(x.real)


class Views(nn.Module):
    def forward(self, x):
        y = x.unsqueeze(1).expand(-1, 2, -1, -1).transpose(2, 3)
        return y.flatten(1), x.permute(2, 0, 1), x[:, ::2].squeeze(), x.view(x.shape[0], -1)


class Outputs(nn.Module):
    def forward(self, x):
        mean, std = x.mean(-1), x.std(-1)
        return mean, (std, None), [x, x.shape[0] * 2], x.topk(2)


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.rnn = kind(6, 5, num_layers=2, batch_first=True)

    def forward(self, x):
        y, state = self.rnn(x)
        return y[:, -1], state


class RotaryNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(8))

    def forward(self, x):
        x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight
        angle = torch.arange(x.shape[1], dtype=torch.float32)[:, None] * 0.1
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


class Sampled(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, training=False) + torch.rand_like(x) * 0


def images(*shapes):
    return [(torch.rand(shape),) for shape in shapes]


def cases():
    torch.manual_seed(0)
    return {
        "mlp": (nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4), nn.Softmax(-1)), images((2, 8), (5, 8))),
        "cnn": (nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.AdaptiveAvgPool2d(1),
                              nn.Flatten(), nn.Linear(8, 5)), images((2, 3, 16, 16), (3, 3, 24, 20))),
        "residual block": (ResidualBlock(), images((2, 8, 16, 16), (1, 8, 12, 20))),
        "lstm": (Recurrent(nn.LSTM), images((2, 4, 6), (3, 7, 6))),
        "gru": (Recurrent(nn.GRU), images((2, 4, 6), (3, 7, 6))),
        "transformer layer": (nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), images((2, 5, 16), (3, 9, 16))),
        "attention": (Attention(), images((2, 5, 16), (3, 9, 16))),
        "embedding and mean": (EmbeddingMean(), [(torch.randint(0, 50, s),) for s in [(2, 5), (4, 9)]]),
        "conv transpose": (nn.Sequential(nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1), nn.ELU()), images((1, 4, 7, 7), (2, 4, 5, 9))),
        "group norm": (nn.Sequential(nn.Conv2d(3, 8, 3), nn.GroupNorm(4, 8), nn.SiLU()), images((1, 3, 8, 8), (2, 3, 9, 11))),
        "u-net": (UNet(), images((1, 3, 16, 16), (2, 3, 24, 32))),
        "data-dependent loop": (Halving(), images((2, 4), (5, 4))),
        "dict": (InDict(), [({"a": torch.rand(s), "b": torch.rand(s)},) for s in [(2, 3), (4, 5)]]),
        "in place": (InPlace(), images((2, 3), (4, 5))),
        "boolean masks": (Masked(), [(torch.randn(s), torch.rand(s) > 0.3) for s in [(4, 6), (5, 9)]]),
        "boolean selection": (Selected(), [(torch.randn(s),) for s in [(4, 6), (5, 9)]]),
        "einsum": (Einsum(), [(torch.rand(b, n, k), torch.rand(b, k, m)) for b, n, k, m in [(2, 3, 4, 5), (3, 6, 7, 8)]]),
        "interpolate": (nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False), images((1, 3, 4, 5), (2, 3, 7, 6))),
        "integers": (Integers(), [(torch.randint(-9, 9, s),) for s in [(3, 4), (5, 6)]]),
        "bfloat16": (HalfPrecision(), [(torch.randn(n, 8).to(torch.bfloat16),) for n in (2, 5)]),
        "complex": (Complex(), [(torch.randn(n, 8, dtype=torch.complex64),) for n in (2, 5)]),
        "views": (Views(), images((2, 4, 6), (3, 5, 7))),
        "many results": (Outputs(), images((2, 4), (3, 6))),
        "rotary": (RotaryNorm(), images((2, 5, 8), (3, 9, 8))),
        "random": (Sampled(), images((2, 4), (3, 4))),
    }


# Those of which PyTorch runs graphs itself: how many, and what the reason says.
EAGER = {"random": (1, "aten.rand_like.default draws random numbers, which have to come from PyTorch's generator")}


def compiled_as_eager(module, inputs, dynamic):
    """The backend after all these inputs; results, and what became of the inputs, are as without it."""
    backend = relayvm.torch.Backend(warn=False)
    fast = torch.compile(module, backend=backend, dynamic=dynamic)
    with torch.no_grad():
        for given in inputs:
            plain, other = copy.deepcopy(given), copy.deepcopy(given)
            expected = module(*plain)
            same(fast(*other), expected)
            same(other, plain)
    return backend


@needs_dynamo
@pytest.mark.parametrize("name", list(cases()))
def test_one_program_for_all_sizes(name):
    module, inputs = cases()[name]
    backend = compiled_as_eager(module.eval(), inputs, True)
    count, reason = EAGER.get(name, (0, ""))
    eager = [graph for graph in backend.graphs if not graph.compiled]
    assert len(eager) == count and all(reason in graph.reason for graph in eager), [*map(str, backend.graphs)]


@needs_dynamo
@pytest.mark.parametrize("name", ["mlp", "attention", "in place", "dict", "views"])
def test_a_program_for_each_size_until_they_change(name):
    module, inputs = cases()[name]
    backend = compiled_as_eager(module.eval(), [inputs[0], *inputs], None)
    assert [graph.compiled for graph in backend.graphs] == [True, True]  # the second with what changed as symbols
    assert "s" not in backend.graphs[0].inputs[0].split("[")[1].split(")")[0] and backend.graphs[0].calls == 2


@needs_dynamo
def test_marked_sizes_are_symbols():
    module = nn.Linear(4, 3).eval()
    backend = relayvm.torch.Backend()
    fast = torch.compile(module, backend=backend)
    x = torch.rand(5, 4)
    torch._dynamo.mark_dynamic(x, 0)
    with torch.no_grad():
        same(fast(x), module(x))
        for rows in (2, 9, 100):
            x = torch.rand(rows, 4)
            same(fast(x), module(x))
    [graph] = backend.graphs
    assert graph.compiled and graph.calls == 4 and graph.compilations == 1
    [given] = graph.inputs
    assert given.split("(")[1].startswith("s") and given.endswith(", 4), float32]"), given


@needs_dynamo
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers(kind):
    with torch._dynamo.config.patch(allow_rnn=True):
        backend = compiled_as_eager(Recurrent(kind).eval(), images((2, 3, 6), (4, 3, 6)), True)
    assert backend.graphs and all(graph.compiled for graph in backend.graphs), [*map(str, backend.graphs)]


@needs_dynamo
def test_sizes_and_numbers_are_results_and_inputs():
    def f(x, n):
        return x.reshape(-1, n), x.shape[0] * n, x, 3, None

    fast = torch.compile(f, backend=relayvm.torch.Backend(fallback=False), dynamic=True)
    for rows, n in ((4, 2), (6, 3), (9, 3)):
        x = torch.rand(rows, 6)
        same(fast(x, n), f(x, n))


@needs_dynamo
def test_floats_that_change_are_inputs():
    fast = torch.compile(lambda x, scale: x * scale + scale, backend=relayvm.torch.Backend(fallback=False))
    x = torch.rand(3, 4)
    for scale in (2.5, 3.5, -1.25):
        same(fast(x, scale), x * scale + scale)


@needs_dynamo
def test_tensors_that_are_the_same():
    def f(x, y):
        x.add_(1)
        return y * 2

    x = torch.rand(4)
    expected = (x + 1) * 2
    same(torch.compile(f, backend=relayvm.torch.Backend(fallback=False))(x, x), expected)


@needs_dynamo
def test_results_are_laid_out_as_pytorch_has_them():
    def f(x):
        y = x + 1
        return y.t(), y.permute(1, 0).contiguous(), x.t()

    fast = torch.compile(f, backend=relayvm.torch.Backend(fallback=False))
    x = torch.rand(3, 4)
    for one, other in zip(fast(x), f(x)):
        same(one, other)
        assert one.stride() == other.stride()
    assert fast(x)[2].data_ptr() == x.data_ptr()  # a view of what was given


@needs_dynamo
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_results_that_are_the_same_or_constant_can_be_written(dtype):
    weight = nn.Parameter(torch.ones(3, dtype=dtype), requires_grad=False)

    def f(x):
        y = x * 2
        return y, y.clone(), weight * 2

    fast = torch.compile(f, backend=relayvm.torch.Backend(fallback=False))
    x = torch.ones(3, dtype=dtype)
    for _ in range(2):
        one, other, constant = fast(x)
        one.zero_()
        same((other, constant), (x * 2, x * 2))
        constant.zero_()


@needs_dynamo
def test_inputs_need_not_be_contiguous():
    def f(x):
        return x * 2 + x.sum()

    fast = torch.compile(f, backend=relayvm.torch.Backend(fallback=False))
    x = torch.rand(8, 6)
    for view in (x.t(), x[::2, 1:], x[1:, 3].expand(2, 7), torch.rand(4, 2, dtype=torch.complex64).imag, x[3]):
        same(fast(view), f(view))


@needs_dynamo
def test_no_copies():
    program = relayvm.torch.compile_module(lambda x: x + 1, torch.rand(64, 64))._program
    seen = []
    call = program._call
    program._call = lambda *arrays: seen.extend([*arrays, result := call(*arrays)]) or result
    x = torch.rand(64, 64)
    [y] = program([x])
    places = [one.data_ptr() if isinstance(one, torch.Tensor) else one.ctypes.data for one in seen]
    assert places == [x.data_ptr(), y.data_ptr()]


# --- Weights ---


@needs_dynamo
def test_changed_weights_are_seen():
    module = nn.Linear(4, 3).eval()
    backend = relayvm.torch.Backend()
    fast = torch.compile(module, backend=backend)
    x = torch.rand(2, 4)
    with torch.no_grad():
        for change in range(4):
            same(fast(x), module(x))
            same(fast(x), module(x))
            module.weight.mul_(-1.5)
    [graph] = backend.graphs
    assert graph.compilations == 3 and graph.frozen == 1  # a constant, another constant, an input; the bias stays one
    same(fast(x).detach(), module(x).detach())


@needs_dynamo
def test_loaded_weights_and_other_modules():
    first, second = nn.Linear(4, 3).eval(), nn.Linear(4, 3).eval()
    fast = torch.compile(lambda module, x: module(x), backend=relayvm.torch.Backend(fallback=False))
    x = torch.rand(2, 4)
    with torch.no_grad():
        same(fast(first, x), first(x))
        same(fast(second, x), second(x))
        first.load_state_dict(second.state_dict())
        same(fast(first, x), second(x))


@needs_dynamo
def test_weights_as_inputs():
    backend = relayvm.torch.Backend(freeze=False)
    module = nn.Linear(4, 3).eval()
    with torch.no_grad():
        same(torch.compile(module, backend=backend)(torch.ones(2, 4)), module(torch.ones(2, 4)))
    [graph] = backend.graphs
    assert graph.frozen == 0 and len(graph.inputs) == 3


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        y = self.norm(x)
        self.total += y.sum(0)
        return y * self.total


@needs_dynamo
def test_buffers_that_a_graph_changes():
    module = Counting().train()
    other = copy.deepcopy(module)
    backend = relayvm.torch.Backend(fallback=False)
    fast = torch.compile(other, backend=backend)
    with torch.no_grad():
        for _ in range(3):
            x = torch.rand(5, 3)
            same(fast(x), module(x))
            same(dict(other.named_buffers()), dict(module.named_buffers()))
    assert backend.graphs[0].compilations == 1


# --- What PyTorch runs ---


@needs_dynamo
def test_training_is_pytorchs():
    module = nn.Linear(4, 3)
    backend = relayvm.torch.Backend()
    fast = torch.compile(module, backend=backend)
    x = torch.rand(2, 4)
    with pytest.warns(RuntimeWarning, match=r"PyTorch runs graph0 .*: gradients are wanted of 2 weights and 0 inputs; call it under"):
        fast(x).sum().backward()
    assert module.weight.grad is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is said once
        torch._dynamo.reset()
        fast(x)
    with torch.no_grad():
        fast(x)
    with torch.inference_mode():
        fast(x)
    assert [graph.compiled for graph in backend.graphs] == [False, False, True, True]


@needs_dynamo
@pytest.mark.parametrize("f, x, reason", [
    (lambda x: x + torch.randn(3), torch.rand(3), "aten.randn.default draws random numbers"),
    (lambda x: F.dropout(x, 0.5), torch.rand(3), "draws random numbers"),
    (lambda x: x + 1, torch.ones(3).requires_grad_(), "gradients are wanted of 0 weights and 1 inputs"),
    (lambda x: torch.geqrf(x)[0], torch.eye(3), "operators that are not supported:\n  torch.ops.aten.geqrf.default (1 time"),
    (lambda x: x + 1, torch.empty(3, device="meta"), "the input 0 is on the device meta; relayvm runs on the CPU"),
], ids=["randn", "dropout", "gradients", "operator", "device"])
def test_reasons(f, x, reason):
    backend = relayvm.torch.Backend(warn=False)
    fast = torch.compile(f, backend=backend)
    fast(x)
    [graph] = backend.graphs
    assert not graph.compiled and reason in graph.reason, graph.reason
    torch._dynamo.reset()
    with pytest.raises(Exception, match=reason.split("(")[0].split("\n")[0]):
        torch.compile(f, backend=relayvm.torch.Backend(fallback=False))(x)


@needs_dynamo
def test_options():
    module = nn.Linear(64, 64).eval()
    x = torch.rand(4, 64)
    with torch.no_grad():
        exact = module(x)
        rough = torch.compile(module, backend=relayvm.torch.backend, options={"precision": "bf16"})(x)
        same(rough, exact, 0.05)
        assert not torch.equal(rough, exact)
        for options, message in (({"precison": "bf16"}, "there is no option precison; did you mean precision"), ({"O": 9}, "O")):
            torch._dynamo.reset()
            with pytest.raises(Exception, match=message):
                torch.compile(module, backend=relayvm.torch.backend, options=options)(x)
        torch._dynamo.reset()
        with pytest.raises(Exception, match="mode: relayvm has none, found 'max-autotune'"):
            torch.compile(module, backend=relayvm.torch.backend, mode="max-autotune")(x)


@needs_dynamo
def test_explain():
    def f(x):
        y = torch.tanh(x)
        print("between graphs")
        return F.dropout(y, 0.5)

    found = relayvm.torch.explain(f, torch.rand(2, 3))
    assert found.result.shape == (2, 3) and found.compiled == 1
    text = str(found)
    assert text.startswith("2 graphs, 1 compiled, 1 eager\ngraph0: 1 operators, compiled (")
    assert "\ngraph1: 1 operators, eager: aten." in text and "\ngraph break (1): " in text


PROGRAM = """
import torch
x = torch.ones(2)
with torch.no_grad():
    print(torch.compile(lambda x: x + 1, backend="relayvm")(x).tolist())
import relayvm.torch
print([graph.compiled for graph in relayvm.torch.backend.graphs])
"""


@needs_dynamo
@pytest.mark.parametrize("how", ["entry point", "register"])
def test_the_name_of_the_backend(how, tmp_path):
    path = [os.path.dirname(os.path.dirname(rvm.__file__))]
    program = PROGRAM
    if how == "entry point":  # as setup.py says it
        info = tmp_path / "relayvm_compiler-0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: relayvm-compiler\nVersion: 0\n")
        (info / "entry_points.txt").write_text("[torch_dynamo_backends]\nrelayvm = relayvm.torch:backend\n")
        path.append(str(tmp_path))
    else:
        program = "import relayvm.torch\nrelayvm.torch.register()\n" + program
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": os.pathsep.join(path)}, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[2.0, 2.0]", "[True]"], done.stderr


def test_importing_it_does_not_import_torch():
    program = "import sys, relayvm.torch; assert 'torch' not in sys.modules, 'imported'"
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(rvm.__file__))}, check=True)


def test_names():
    for name in relayvm.torch.__all__:
        if name in ("compile_module", "CompiledModule", "register", "backend") or VERSION >= (2, 1):
            assert getattr(relayvm.torch, name).__doc__, name
    with pytest.raises(AttributeError, match="has no attribute 'compile_modul'"):
        relayvm.torch.compile_modul


# --- Whole modules ---

WHOLE = ["mlp", "cnn", "residual block", *(["attention"] if hasattr(F, "scaled_dot_product_attention") else []), "embedding and mean",
         "conv transpose", "group norm", "u-net", "dict", "boolean masks", "einsum", "interpolate", "integers", "bfloat16", "views", "rotary"]


@pytest.mark.parametrize("name", WHOLE)
def test_compile_module(name):
    module, inputs = cases()[name]
    module.eval()
    run = relayvm.torch.compile_module(module, inputs[0])
    with torch.no_grad():
        same(run(*inputs[0]), module(*inputs[0]))


def test_compile_module_for_all_sizes():
    module, inputs = cases()["boolean masks"]
    run = relayvm.torch.compile_module(module, inputs[0], {"x": {0: "n", 1: "m"}, "mask": {0: "n", 1: "m"}})
    assert len(run.executable.inputs) == 2
    for given in inputs:
        same(run(*given), module(*given))
    module, inputs = cases()["lstm"]
    module.eval()
    # torch.export holds the length of a recurrent layer's input for fixed, a trace does not.
    run = relayvm.torch.compile_module(module, inputs[0], ({0: "batch"} if VERSION >= (2, 1) else {0: "batch", 1: "length"},))
    for (x,) in inputs:
        x = x[:, :4] if VERSION >= (2, 1) else x
        with torch.no_grad():
            same(run(x), module(x))


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)

    def forward(self, d, k, *, scale=2.0):
        y = self.linear(d["x"]) * scale
        return {"y": y, "rest": (k * 2, y.sum(0))}


def test_structures_of_arguments_and_results():
    module = Mixed().eval()
    run = relayvm.torch.compile_module(module, ({"x": torch.rand(2, 3)}, torch.rand(2)), {"d": {"x": {0: "n"}}, "k": {0: "m"}})
    x, k = torch.rand(5, 3), torch.rand(7)
    with torch.no_grad():
        same(run({"x": x}, k), module({"x": x}, k))
    with pytest.raises(TypeError, match=r"expected arguments as the example's, \{'x': _\}, _; found _"):
        run(x)
    with pytest.raises(ValueError, match="argument 0 requires gradients, and a compiled module has none: give x.detach()"):
        run({"x": x.clone().requires_grad_()}, k)
    with pytest.raises(rvm.InvalidArgument, match="3"):
        run({"x": torch.rand(5, 2)}, k)


def test_arguments_by_name_and_numbers():
    module = Mixed().eval()
    given = {"k": torch.rand(2), "d": {"x": torch.rand(2, 3)}, "scale": 3.0}
    run = relayvm.torch.compile_module(module, given)
    with torch.no_grad():
        same(run(**given), module(**given))
        same(run(d=given["d"], scale=3.0, k=given["k"]), module(**given))
    with pytest.raises(ValueError, match=r"compiled for 3.0, found 2.0"):
        run(d=given["d"], scale=2.0, k=given["k"])


def test_functions_and_options():
    f = relayvm.torch.compile_module(lambda a, b: (a @ b).relu(), (torch.rand(2, 3), torch.rand(3, 2)), opt_level=0)
    a, b = torch.randn(2, 3), torch.randn(3, 2)
    same(f(a, b), (a @ b).relu())
    with pytest.raises(TypeError, match="there is no option precison; did you mean precision"):
        relayvm.torch.compile_module(lambda a: a + 1, a, precison="bf16")
    with pytest.raises(TypeError, match="module: expected a torch.nn.Module or a function of tensors, found int"):
        relayvm.torch.compile_module(3, a)


@needs_dynamo
def test_compile_module_changes_what_the_module_changes():
    module = Counting().train()
    other = copy.deepcopy(module)
    run = relayvm.torch.compile_module(other, torch.rand(5, 3))
    same(dict(other.named_buffers()), dict(module.named_buffers()))  # compiling it changes nothing
    for _ in range(3):
        x = torch.rand(5, 3)
        with torch.no_grad():
            same(run(x), module(x))
        same(dict(other.named_buffers()), dict(module.named_buffers()))
    module = InPlace()
    run = relayvm.torch.compile_module(module, torch.rand(2, 3), {"x": {0: "n"}})
    x = torch.rand(4, 3)
    y = x.clone()
    same(run(x), module(y))
    same(x, y)


@needs_dynamo
def test_what_compile_module_refuses():
    with pytest.raises(rvm.Unsupported, match="aten.rand_like.default draws random numbers"):
        relayvm.torch.compile_module(lambda x: x + torch.rand_like(x), torch.rand(3))
    with pytest.raises(Exception, match="data-dependent"):  # torch.export's own words
        relayvm.torch.compile_module(Halving(), torch.rand(3, 4))


@needs_old
def test_what_a_trace_refuses():
    module = Counting().train()
    before = copy.deepcopy(dict(module.named_buffers()))
    with pytest.raises(rvm.Unsupported, match="the module changes the buffer total, .*norm.running_mean.*; torch 2.1 and newer"):
        relayvm.torch.compile_module(module, torch.rand(5, 3))
    same(dict(module.named_buffers()), before)
    with pytest.raises(rvm.Unsupported, match="the module changes the input 0"):
        relayvm.torch.compile_module(InPlace(), torch.rand(2, 3))
    with pytest.raises(ValueError, match="dynamic_shapes: forward has no parameter y; it has input"):
        relayvm.torch.compile_module(nn.Identity(), torch.rand(5, 3), {"y": {0: "n"}})


def test_the_stub_says_what_is_there():
    with open(os.path.join(os.path.dirname(relayvm.torch.__file__), "__init__.pyi")) as f:
        tree = ast.parse(f.read())
    told = {node.name if hasattr(node, "name") else node.target.id for node in tree.body if not isinstance(node, ast.ImportFrom)}
    assert told == set(relayvm.torch.__all__)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            a = node.args
            names = [x.arg for x in [*a.posonlyargs, *a.args, *filter(None, [a.vararg]), *a.kwonlyargs, *filter(None, [a.kwarg])]]
            assert names == list(inspect.signature(getattr(relayvm.torch, node.name)).parameters), node.name
