"""The language: scripted modules and classes, strings.

usage: SCRIPT BIN REPORT [FILTER [ARCHIVE.zip MOST]], with PyTorch 2.x (and expecttest, torchvision); see torchscript_walk.py."""

from torchscript_walk import *


# ---- modules ----
class Attr(nn.Module):
    n: int
    names: List[str]
    d: Dict[str, int]

    def __init__(self):
        super().__init__()
        self.n = 0
        self.names = ["a", "b"]
        self.d = {"a": 1}
        self.register_buffer("buf", torch.zeros(3))
        self.lin = nn.Linear(3, 3)
        self.k: Final[int] = 4

    def forward(self, x: Tensor) -> Tensor:
        self.n += 1
        self.d["b"] = self.n
        self.buf += x.mean(0)
        return self.lin(x) * self.n + self.d["b"] + self.buf + len(self.names) + self.helper(x, k=3)

    def helper(self, x: Tensor, k: int = 2) -> Tensor:
        return x * k

    @torch.jit.export
    def other(self, x: Tensor) -> Tensor:
        return x - self.n

    @torch.jit.unused
    def unused_(self, x: Tensor) -> Tensor:
        return x.numpy()


add("attributes", Attr(), (R(2, 3),))


class ML(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
        self.d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
        self.s = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.ps = nn.ParameterList([nn.Parameter(R(3)), nn.Parameter(R(3))])

    def forward(self, x: Tensor) -> Tensor:
        for i, m in enumerate(self.l):
            x = m(x) + i
        for k, m in self.d.items():
            x = m(x)
            if k == "b":
                x = x * 2
        for a, b in zip(self.l, self.s):
            x = a(x) + b(x)
        for m in self.d.values():
            x = m(x)
        for p in self.ps:
            x = x + p
        return self.s[0](x) + self.l[-1](x) + self.d["a"](x) + len(self.l)


add("module_lists", ML(), (R(2, 3),))


@torch.jit.interface
class Itf(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class IM(nn.Module):
    sub: Itf
    l: nn.ModuleList

    def __init__(self):
        super().__init__()
        self.sub = nn.ReLU6()
        self.ms = nn.ModuleList([nn.ReLU(), nn.Sigmoid()])

    def forward(self, x: Tensor, i: int) -> Tensor:
        m: Itf = self.ms[i]
        return m.forward(self.sub.forward(x))


class A1(nn.Module):
    def forward(self, input: Tensor) -> Tensor:
        return input * 2


class A2(nn.Module):
    def forward(self, input: Tensor) -> Tensor:
        return input + 2


@torch.jit.interface
class Itf2(nn.Module):
    def forward(self, input: Tensor) -> Tensor:
        pass


class IM2(nn.Module):
    sub: Itf2

    def __init__(self):
        super().__init__()
        self.sub = A1()
        self.ms = nn.ModuleList([A1(), A2()])

    def forward(self, x: Tensor, i: int) -> Tensor:
        m: Itf2 = self.ms[i]
        return m.forward(self.sub.forward(x))


add("interface", IM2(), (R(2), 1), (R(2), 0))


class Hook(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = A1()

    def forward(self, x: Tensor) -> Tensor:
        return self.a(x)


def hk(self, inp: Tuple[Tensor], out: Tensor) -> Tensor:
    return out + inp[0]


def phk(self, inp: Tuple[Tensor]) -> Tuple[Tensor]:
    return (inp[0] + 1,)


h = Hook()
h.a.register_forward_hook(hk)
h.a.register_forward_pre_hook(phk)
add("hooks", h, (R(2),))


@torch.jit.script
class Acc:
    def __init__(self, x: Tensor):
        self.t = x
        self.n = 0
        self.items: List[Tensor] = []

    def push(self, y: Tensor) -> int:
        self.t = self.t + y
        self.n += 1
        self.items.append(y)
        return self.n

    @property
    def size(self) -> int:
        return len(self.items)

    @staticmethod
    def st(x: Tensor) -> Tensor:
        return x * 3

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, i: int) -> Tensor:
        return self.items[i]

    def __add__(self, o: int) -> Tensor:
        return self.t + o

    def __contains__(self, i: int) -> bool:
        return i < self.n


class Cls(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        a = Acc(x)
        for i in range(3):
            k = a.push(x * i)
        b = a
        b.push(x)
        r = a.t * a.n + a.size + Acc.st(x) + len(a) + a[1] + (a + 3)
        if 2 in a:
            r = r + 1
        return r


add("classes", Cls(), (R(3),))


class ClsDyn(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        a = Acc(x[0])
        for i in range(x.size(0)):
            a.push(x[i])
        return a.t * a.n + torch.stack(a.items).sum() + a.size


add("classes_dyn", ClsDyn(), (R(3, 2),), (R(15, 2),))


class Cell_(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)

    def forward(self, x: Tensor, state: Optional[Tuple[Tensor, Tensor]] = None) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        if state is None:
            state = (x.new_zeros(x.size(1), 4), x.new_zeros(x.size(1), 4))
        out: List[Tensor] = []
        for t in x.unbind(0):
            state = self.cell(t, state)
            out += [state[0]]
        return torch.stack(out), state


add("lstm_cell", Cell_(), (R(3, 2, 3),), (R(7, 2, 3), (R(2, 4), R(2, 4))))


class Gen(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(7, 4)
        self.gru = nn.GRUCell(4, 4)
        self.out = nn.Linear(4, 7)

    def forward(self, h: Tensor, maxlen: int) -> Tuple[Tensor, List[int]]:
        tok = torch.zeros(1, dtype=torch.long)
        toks: List[int] = []
        for i in range(maxlen):
            h = self.gru(self.emb(tok), h)
            tok = self.out(h).argmax(-1)
            t = int(tok.item())
            toks.append(t)
            if t == 3:
                break
        return h, toks


add("greedy", Gen(), (R(1, 4), 6), (R(1, 4), 30))


class Cache(nn.Module):
    cache: Optional[Tensor]

    def __init__(self):
        super().__init__()
        self.cache = None

    def forward(self, x: Tensor) -> Tensor:
        c = self.cache
        if c is None:
            c = x
        else:
            c = torch.cat([c, x], 0)
        self.cache = c
        return c.sum(0)


add("cache", Cache(), (R(2, 3),))


class Sup(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("w", torch.arange(6).view(2, 3))
        self.act = "relu"
        self.t = (1, 2.5)
        self.fl = True
        self.dev = torch.device("cpu")
        self.dt = torch.float64
        self.none = None

    def forward(self, x: Tensor) -> Tensor:
        if self.act == "relu":
            x = F.relu(x)
        else:
            x = F.gelu(x)
        if self.fl:
            x = x + self.t[0] + self.t[1]
        if self.none is not None:
            x = x * 3
        return (x + self.w.to(x.dtype)).to(self.dt)


add("constants", Sup(), (R(2, 3),))


class IgnoreM(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if torch.jit.is_scripting():
            return x * 2
        return self.py(x)

    @torch.jit.unused
    def py(self, x: Tensor) -> Tensor:
        return x.apply_(lambda v: v)


add("unused", IgnoreM(), (R(2),))


class Overl(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        a = self.f(x, 2)
        return a

    def f(self, x: Tensor, n: int) -> Tensor:
        if n == 0:
            return x
        return x * n


add("methods", Overl(), (R(2),))


class Ctx(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            y = x * 2
        with torch.autograd.profiler.record_function("f"):
            y = y + 1
        return y


add("with", Ctx(), (R(2),))


class Beam(nn.Module):
    def forward(self, logits: Tensor) -> Tuple[Tensor, Tensor]:
        T, V = logits.shape
        lp = torch.log_softmax(logits, -1)
        seqs = torch.zeros(1, 0, dtype=torch.long)
        scores = torch.zeros(1)
        for t in range(T):
            s = scores.unsqueeze(1) + lp[t].unsqueeze(0)
            v, i = s.view(-1).topk(min(2, s.numel()))
            seqs = torch.cat([seqs[i // V], (i % V).unsqueeze(1)], 1)
            scores = v
        return seqs, scores


add("beam", Beam(), (R(4, 5),), (R(1, 5),))


class CTC(nn.Module):
    def forward(self, x: Tensor) -> List[int]:
        prev = -1
        out: List[int] = []
        for i in range(x.size(0)):
            k = int(x[i].argmax().item())
            if k != prev and k != 0:
                out.append(k)
            prev = k
        return out


add("ctc_greedy", CTC(), (R(6, 4),), (R(12, 4),))


class NMSm(nn.Module):
    def forward(self, b: Tensor, s: Tensor) -> Tensor:
        keep = torch.ops.torchvision.nms(b, s, 0.5)
        return b[keep]


try:
    import torchvision

    bb = torch.rand(6, 4)
    bb[:, 2:] += bb[:, :2]
    add("nms", NMSm(), (bb, torch.rand(6)))
except Exception as e:
    print(e)


class Rec(nn.Module):
    def forward(self, x: Tensor, n: int) -> Tensor:
        return x


def mutual(x: Tensor, xs: List[Tensor]) -> Tensor:
    xs.append(x)
    return xs[0]


class Mut(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        l: List[Tensor] = [x]
        y = mutual(x + 1, l)
        a = l
        a[0] = x * 3
        return torch.stack(l) + y


add("mutation", Mut(), (R(2),))


class TD(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tuple[Tensor, Tensor]]:
        d: Dict[str, Tuple[Tensor, Tensor]] = {}
        for k in ["a", "b"]:
            d[k] = (x, x + 1)
        return d


add("dict_of_tuples", TD(), (R(2),))


class OD(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        out = OrderedDict([("out", self.a(x))])
        o2 = torch.jit.annotate(Dict[str, Tensor], OrderedDict())
        o2["x"] = x
        o2.update(out)
        return o2


add("ordered_dict", OD(), (R(1, 2),))


class Tern(nn.Module):
    def forward(self, x: Tensor, lens: Tensor) -> Tensor:
        out = torch.zeros_like(x)
        for i in range(x.size(0)):
            n = int(lens[i])
            if n > 0:
                out[i, :n] = x[i, :n].flip(0)
        return out


add("lens", Tern(), (R(3, 4), torch.tensor([2, 0, 4])))


class DS(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        n = int((x > 0).sum())
        y = torch.arange(n)
        z = torch.zeros(n, 2)
        return torch.cat([y.unsqueeze(1).float(), z], 1) * x.max()


add("data_sizes", DS(), (R(6),), (-torch.ones(3),))


class CTCS(nn.Module):
    def __init__(self):
        super().__init__()
        self.labels = ["-", "a", "b", "c"]

    def forward(self, x: Tensor) -> str:
        prev = -1
        out = ""
        for i in range(x.size(0)):
            k = int(x[i].argmax().item())
            if k != prev and k != 0:
                out += self.labels[k]
            prev = k
        return out


add("ctc_string", CTCS(), (R(6, 4),), (R(12, 4),))


class Lbl(nn.Module):
    def __init__(self):
        super().__init__()
        self.labels = ["cat", "dog", "bird"]
        self.score = {"cat": 1, "dog": 2, "bird": 5}

    def forward(self, x: Tensor) -> Tuple[str, int, bool, str, int]:
        i = int(x.argmax())
        l = self.labels[i]
        return l, self.score[l], l == "dog", f"{l}-{i}", self.score.get(l + "x", 7)


add("label", Lbl(), (R(3),), (torch.tensor([0.0, 1.0, 0.0]),))


class Lst(nn.Module):
    def __init__(self):
        super().__init__()
        self.labels = ["cat", "dog", "bird"]

    def forward(self, x: Tensor) -> Tuple[List[str], str]:
        out: List[str] = []
        for i in range(x.size(0)):
            out.append(self.labels[int(x[i].argmax())])
        return out, ",".join(out)


add("labels", Lst(), (R(4, 3),), (R(15, 3),))


def rr(x: Tensor) -> Tensor:
    n = int(x.sum())
    assert n < 100, f"too many {n} of {float(x[0])}"
    s = str(n)
    if s == "3":
        return x + 1
    return x


fn("str_eq", rr, (torch.ones(3),), (torch.ones(4),))


def opn(n: int) -> Tuple[List[int], List[float]]:
    return [0, 1] * n, [0.5] * n


fn("repeat", opn, (3,), (0,))


def st2(x: Tensor) -> Tuple[int, int, List[int]]:
    return x.stride(0), x.stride(-1), x.stride()


fn("stride", st2, (R(2, 3, 4),))


def dint(n: int, x: Tensor) -> Tensor:
    d = {1: x, 5: x * 2, 9: x - 1}
    r = x
    if n in d:
        r = d[n]
    return r


fn("dict_int_key", dint, (5, R(2)), (9, R(2)), (4, R(2)))


def od(x: Tensor) -> Dict[str, Tensor]:
    o = OrderedDict([("a", x), ("b", x + 1)])
    e = dict(o)
    e["c"] = x
    return e


fn("ordered", od, (R(2),))


class Kin(nn.Module):
    def forward(self, x: Tensor, flag: bool) -> Tensor:
        kind = "a" if flag else "b"
        m = {"a": 1.5, "b": 2.5}
        return x * m[kind]


add("flag_key", Kin(), (R(2), True), (R(2), False))
done()
