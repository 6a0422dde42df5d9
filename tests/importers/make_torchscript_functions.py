"""The language: scripted functions.

usage: SCRIPT BIN REPORT [FILTER [ARCHIVE.zip MOST]], with PyTorch 2.x (and expecttest, torchvision); see torchscript_walk.py."""

from torchscript_walk import *


# ---- functions ----
def early(x: Tensor, n: int) -> Tensor:
    if n > 3:
        return x + 1
    if n > 1:
        y = x * 2
        if n == 2:
            return y
        return y - 1
    return x


fn("early", early, (R(2, 3), 5), (R(2, 3), 2), (R(2, 3), 3), (R(2, 3), 0))


def brk(x: Tensor, n: int) -> Tensor:
    s = torch.zeros_like(x)
    for i in range(10):
        if i == n:
            break
        if i % 2 == 0:
            continue
        s = s + x * i
    return s


fn("break_continue", brk, (R(3), 7), (R(3), 0), (R(3), 20))


def brk_t(x: Tensor) -> Tensor:
    s = torch.zeros(3)
    i = 0
    while bool((s.sum() < 10)):
        i += 1
        if i > 50:
            break
        s += x.abs()
        if i % 3 == 0:
            continue
        s = s + 0.1
    return s


fn("while_tensor", brk_t, (R(3),), (torch.zeros(3),))


def nested(x: Tensor) -> Tensor:
    t = x.new_zeros(x.size(0), x.size(1))
    for i in range(x.size(0)):
        for j in range(x.size(1)):
            if i == j:
                continue
            if j > 2:
                break
            t[i, j] = x[i, j] * float(i + 1)
    return t


fn("nested", nested, (R(3, 4),), (R(5, 2),))


def comp(xs: List[Tensor]) -> Tensor:
    ys = [x * 2 for x in xs]
    return torch.cat([y.sum(0, keepdim=True) for y in ys], 0)


fn("comprehension", comp, ([R(2, 3), R(2, 3), R(2, 3)],), ([R(2, 3), R(4, 3)],))


def comp2(n: int) -> List[int]:
    return [i * i for i in range(n)]


fn("comprehension_ints", comp2, (5,), (0,))


def zipe(xs: List[Tensor], ys: List[Tensor]) -> Tensor:
    s = torch.zeros(3)
    for i, (x, y) in enumerate(zip(xs, ys)):
        s = s + x * y * i
    return s


fn("zip_enumerate", zipe, ([R(3), R(3), R(3)], [R(3), R(3), R(3)]))


def rng(x: Tensor) -> Tensor:
    s = x
    for i in range(5, 1, -2):
        s = s * i
    for i in range(1, x.size(0)):
        s = s + i
    for i in range(x.size(0), 0, -1):
        s = s - i * 0.5
    return s


fn("ranges", rng, (R(4),), (R(1),))


def dic(x: Tensor) -> Dict[str, Tensor]:
    d: Dict[str, Tensor] = {}
    d["a"] = x
    d["b"] = x + 1
    for k, v in d.items():
        d[k] = v * 2
    if "a" in d:
        d["c"] = d["a"] + d["b"]
    return d


fn("dict", dic, (R(2, 2),))


def dic2(x: Tensor) -> Tensor:
    d: Dict[int, Tensor] = {}
    for i in range(4):
        d[i] = x * i
    s = torch.zeros_like(x)
    for k in d.keys():
        s = s + d[k] * k
    for v in d.values():
        s = s + v
    p = d.pop(2)
    s = s + p * len(d)
    if d.get(7) is None:
        s = s - 1
    del d[0]
    return s + len(d) + d.setdefault(9, x).sum()


fn("dict_int", dic2, (R(3),))


def sl(xs: List[Tensor], x: Tensor) -> Tensor:
    a = xs[1:]
    b = xs[:-1]
    c = xs[::2]
    l = [1, 2, 3, 4, 5]
    k = l[-3:-1]
    l.reverse()
    l.extend([7, 8])
    l.insert(0, 9)
    l.remove(3)
    z = sorted(l)
    l.sort(reverse=True)
    return torch.cat(a + b + c, 0).sum() * k[0] + x * z[0] + l[1] + l.index(9) + l.count(7)


fn("list_slices", sl, ([R(2), R(2), R(2), R(2)], R(3)))


def srt(xs: List[float], x: Tensor) -> Tensor:
    xs = sorted(xs)
    return x * xs[0] + xs[-1]


fn("sorted_floats", srt, ([3.0, 1.0, 2.0], R(2)))


def opt(x: Tensor, y: Optional[Tensor] = None, k: Optional[int] = None) -> Tensor:
    if y is not None:
        x = x + y
    if k is None:
        k = 3
    assert k is not None
    return x * k


fn("optional", opt, (R(2), R(2), 4), (R(2), None, None), (R(2), R(2), None), open_=(False, True))


class P(NamedTuple):
    a: Tensor
    b: int
    c: Optional[Tensor]


def nt(x: Tensor) -> Tuple[Tensor, P]:
    p = P(x, 3, None)
    q = P(a=p.a * p.b, b=p.b + 1, c=p.a)
    c = q.c
    if c is not None:
        return q[0] + c, p
    return q[0], q


fn("namedtuple", nt, (R(2, 3),))


class Col(Enum):
    RED = 1
    GREEN = 2


def en(x: Tensor, n: int) -> Tensor:
    c = Col.RED if n > 0 else Col.GREEN
    if c == Col.RED:
        return x * c.value
    for m in Col:
        x = x + m.value
    return x - len(c.name)


fn("enum", en, (R(2), 1), (R(2), -1))


def strs(x: Tensor, mode: str = "up") -> Tensor:
    s = "a{}b{}".format(1, 2.5)
    if s == "a1b2.5":
        x = x + 1
    if mode.startswith("u") and mode in ["up", "down"]:
        x = x * 2
    parts = "a,b,c".split(",")
    x = x + len(parts) + ord("a")
    if "-".join(parts) == "a-b-c":
        x = x * 3
    if f"{len(parts)}-{mode}" == "3-up":
        x = x + 10
    if "%d %s" % (3, "x") == "3 x":
        x = x + 100
    if mode.upper() == "UP":
        x = x + 7
    return x + int("12") + float("0.5") + mode.find("p") + len(mode[1:]) + len(mode * 3)


fn("strings", strs, (R(3),))


def strs_in(x: Tensor, mode: str) -> Tensor:
    if mode == "up":
        return x + 1
    elif mode == "down":
        return x - 1
    return x


def rec_fail(x: Tensor) -> Tensor:
    try_ = x
    if x.size(0) > 100:
        raise ValueError(f"too large {x.size(0)}")
    assert x.dim() == 2, "rank"
    return try_ * 2


fn("raise", rec_fail, (R(3, 2),))


def fact(n: int) -> int:
    r = 1
    while n > 1:
        r *= n
        n -= 1
    return r


def calls(x: Tensor, n: int) -> Tensor:
    return x * fact(n)


fn("calls", calls, (R(2), 5), (R(2), 0))


def tup(x: Tensor) -> Tuple[Tensor, Tuple[Tensor, int], List[Tensor]]:
    a, b = x, x + 1
    a, b = b, a
    (c, d), e = (a, b), 3
    return c, (d, e), [a, b]


fn("tuples", tup, (R(2),))


def isinst(x: Tensor, y: Union[int, Tensor, List[int]]) -> Tensor:
    if torch.jit.isinstance(y, List[int]):
        return x + y[0]
    if isinstance(y, int):
        return x * y
    assert isinstance(y, Tensor)
    return x - y


fn("union", isinst, (R(2), R(2)))


def anyt(x: Tensor) -> Tensor:
    l: List[Any] = [1, x, "s", [1, 2]]
    s = x
    for v in l:
        if isinstance(v, int):
            s = s + v
        elif isinstance(v, Tensor):
            s = s * v
        elif torch.jit.isinstance(v, List[int]):
            s = s + v[1]
    return s


fn("any", anyt, (R(2),))


def prims(x: Tensor) -> Tensor:
    y = x
    if (
        x.is_floating_point()
        and x.dtype == torch.float32
        and x.device.type == "cpu"
        and not x.requires_grad
        and x.ndim == 2
        and not x.is_cuda
        and not x.is_sparse
        and x.layout == torch.strided
    ):
        y = y + 1
    return (
        y.to(torch.float64).type_as(x)
        + x.numel()
        + len(x)
        + x.stride(0)
        + x.storage_offset()
        + x.element_size()
        + torch.numel(x)
        + x.shape[-1]
        + x.size()[0]
    )


fn("tensor_attributes", prims, (R(2, 3),))


def item_(x: Tensor) -> Tuple[float, int, bool, Tensor]:
    v = x.max().item()
    i = int(x.argmax())
    b = bool(x.sum() > 0)
    l: List[float] = x.flatten().tolist()
    return float(v), i, b, torch.tensor(l) * 2


fn("item_tolist", item_, (R(4),), (R(1),))


def tl(x: Tensor) -> List[int]:
    l: List[int] = x.tolist()
    l.append(5)
    return l


fn("tolist_int", tl, (I(0, 9, 4),))


def ifexp(x: Tensor, flag: bool) -> Tensor:
    return x + 1 if flag and x.size(0) > 1 else x - 1 if not flag else x


fn("ifexp", ifexp, (R(2), True), (R(2), False), (R(1), True))


def tif(x: Tensor) -> Tensor:
    if x.sum() > 0:
        y = x * 2
        z = [x, y]
    else:
        y = x - 1
        z = [y]
    for t in z:
        y = y + t
    return y


fn("if_lists", tif, (torch.ones(3),), (-torch.ones(3),))


def tif2(x: Tensor) -> Tensor:
    if bool(x.sum() > 0):
        return x.reshape(-1)
    return x.t().reshape(-1)[:2]


fn("if_shapes", tif2, (torch.ones(3, 2),), (-torch.ones(3, 2),))


def lt(xs: List[Tensor]) -> List[Tensor]:
    out: List[Tensor] = []
    for x in xs:
        if x.sum() > 0:
            out.append(x)
    return out


fn("filter_list", lt, ([torch.ones(2), -torch.ones(2), torch.ones(2) * 3],))


def wl(x: Tensor) -> List[Tensor]:
    out: List[Tensor] = []
    n = int(x.sum())
    while n > 0:
        out.append(x[:n])
        n -= 2
    return out


fn("grow_uneven", wl, (torch.ones(5),), (torch.ones(4),))


def st(x: Tensor) -> Tensor:
    outs: List[Tensor] = []
    h = torch.zeros(x.size(1))
    for i in range(x.size(0)):
        h = torch.tanh(x[i] + h)
        outs.append(h)
    return torch.stack(outs)


fn("rnn_stack", st, (R(4, 3),), (R(20, 2),))


def rev(x: Tensor) -> Tensor:
    outs: List[Tensor] = []
    h = torch.zeros(x.size(1))
    for i in range(x.size(0)):
        h = torch.tanh(x[x.size(0) - 1 - i] + h)
        outs = [h] + outs
    return torch.stack(outs)


fn("rnn_prepend", rev, (R(4, 3),), (R(9, 2),))


def rev2(x: Tensor) -> Tensor:
    outs: List[Tensor] = []
    for t in x.unbind(0):
        outs.append(t * 2)
    outs.reverse()
    return torch.stack(outs)


fn("rnn_reverse", rev2, (R(4, 3),), (R(9, 2),))


def ub(x: Tensor) -> Tensor:
    s = torch.zeros(x.size(1))
    for t in x:
        s = s * 0.5 + t
    return s


fn("iterate_tensor", ub, (R(5, 2),), (R(1, 2),))


def spl(x: Tensor) -> Tensor:
    a, b, c = x.chunk(3, dim=-1)
    d = torch.split(x, 2, dim=1)
    return a * b + c + d[0].sum() + len(d)


fn("chunks", spl, (R(2, 6),))


def lol(x: Tensor) -> Tensor:
    g: List[List[Tensor]] = []
    for i in range(3):
        row: List[Tensor] = []
        for j in range(2):
            row.append(x * (i + j))
        g.append(row)
    return torch.stack([torch.stack(r) for r in g])


fn("lists_of_lists", lol, (R(2),))


def lol2(x: Tensor) -> Tensor:
    g: List[List[Tensor]] = []
    for i in range(x.size(0)):
        g.append([x[i], x[i] * 2])
    return torch.stack([torch.stack(r) for r in g])


fn("lists_of_lists_dyn", lol2, (R(3, 2),), (R(12, 2),))


def tl2(xs: List[Tuple[Tensor, int]]) -> Tensor:
    s = torch.zeros(2)
    for x, n in xs:
        s = s + x * n
    return s


fn("list_of_tuples", tl2, ([(R(2), 3), (R(2), 4)],))


def td(d: Dict[str, Tensor]) -> Tensor:
    return d["a"] + d["b"] * 2


fn("dict_in", td, ({"a": R(2), "b": R(2)},))


def td2(d: Dict[str, Tensor]) -> Tensor:
    s = torch.zeros(2)
    for k, v in d.items():
        if k != "a":
            s = s + v
    return s + len(d)


fn("dict_in_items", td2, ({"a": R(2), "b": R(2)},))


def gbl(x: Tensor) -> Tensor:
    x = x.clone()
    x[0] = 5
    x[:, 1] += 2
    x[1:, 0] *= 3
    x[x > 4] = -1
    return x


fn("setitem", gbl, (R(3, 3),))


def prnt(x: Tensor) -> Tensor:
    print("x", x.shape)
    return x


fn("print", prnt, (R(2),))


def gen(x: Tensor) -> Tensor:
    f = torch.jit.fork(torch.relu, x)
    g = torch.jit.fork(st, x)
    return torch.jit.wait(f).sum() + torch.jit.wait(g)


fn("fork", gen, (R(3, 2),))


done()
