"""Programs of one's own for networks_pytorch.py: recurrent networks, loops, lists, searches, results of all kinds; branches, loops, scans and
buffers of torch.export."""

from collections import namedtuple
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch, torchvision, torch.nn as nn, torch.nn.functional as F
from torch import Tensor

R = torch.randn


def I(hi, *s):
    return torch.randint(0, hi, s)


# --- Scripts ---


class CustomLstm(nn.Module):
    """Cells in a loop over time, states in a list, layers in a ModuleList."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(6, 8), nn.LSTMCell(8, 8)])
        self.out = nn.Linear(8, 3)

    def forward(self, x: Tensor, state: Optional[List[Tuple[Tensor, Tensor]]] = None) -> Tuple[Tensor, List[Tuple[Tensor, Tensor]]]:
        if state is None:
            zeros = torch.zeros(x.size(1), 8, dtype=x.dtype, device=x.device)
            states = [(zeros, zeros), (zeros, zeros)]
        else:
            states = state
        outputs: List[Tensor] = []
        for t in range(x.size(0)):
            h = x[t]
            new: List[Tuple[Tensor, Tensor]] = []
            for i, cell in enumerate(self.cells):
                hc = cell(h, states[i])
                new.append(hc)
                h = hc[0]
            states = new
            outputs.append(self.out(h))
        return torch.stack(outputs), states


class Packed(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.embed = nn.Embedding(20, 6, padding_idx=0)
        self.rnn = getattr(nn, kind)(6, 5, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(10, 2)

    def forward(self, x: Tensor, lengths: Tensor) -> Tuple[Tensor, Tensor]:
        e = self.embed(x)
        packed = nn.utils.rnn.pack_padded_sequence(e, lengths, batch_first=True, enforce_sorted=False)
        y, h = self.rnn(packed)
        padded, n = nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=x.size(1))
        return self.out(padded), n


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Linear(16, 8)
        self.v = nn.Linear(8, 1, bias=False)

    def forward(self, h: Tensor, enc: Tensor, mask: Tensor) -> Tuple[Tensor, Tensor]:
        e = self.v(torch.tanh(self.w(torch.cat([h.unsqueeze(1).expand(-1, enc.size(1), -1), enc], -1)))).squeeze(-1)
        e = e.masked_fill(~mask, float("-inf"))
        a = F.softmax(e, dim=-1)
        return torch.bmm(a.unsqueeze(1), enc).squeeze(1), a


class Seq2Seq(nn.Module):
    """Greedy decoding until all sequences have ended, results in a dict."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 8)
        self.encoder = nn.GRU(8, 8, batch_first=True)
        self.cell = nn.GRUCell(16, 8)
        self.attention = Attention()
        self.out = nn.Linear(8, 12)

    def forward(self, x: Tensor, limit: int) -> Dict[str, Tensor]:
        enc, h = self.encoder(self.embed(x))
        h = h.squeeze(0)
        token = torch.ones(x.size(0), dtype=torch.long)
        done = torch.zeros(x.size(0), dtype=torch.bool)
        tokens = torch.jit.annotate(List[Tensor], [])
        weights = torch.jit.annotate(List[Tensor], [])
        steps = 0
        while steps < limit and not bool(done.all()):
            context, a = self.attention(h, enc, x != 0)
            h = self.cell(torch.cat([self.embed(token), context], -1), h)
            token = self.out(h).argmax(-1)
            token = torch.where(done, torch.zeros_like(token), token)
            done = done | (token == 2)
            tokens.append(token)
            weights.append(a)
            steps += 1
        return {"tokens": torch.stack(tokens, 1), "attention": torch.stack(weights, 1), "steps": torch.tensor(steps)}


class BeamSearch(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.cell = nn.LSTMCell(8, 8)
        self.out = nn.Linear(8, 10)

    def forward(self, h: Tensor, c: Tensor, beam: int, length: int) -> Tuple[Tensor, Tensor]:
        h, c = h.expand(beam, -1), c.expand(beam, -1)
        scores = torch.full((beam,), -1e9)
        scores[0] = 0.0
        last = torch.ones(beam, dtype=torch.long)
        paths = torch.zeros(beam, 0, dtype=torch.long)
        for _ in range(length):
            h, c = self.cell(self.embed(last), (h, c))
            logp = F.log_softmax(self.out(h), -1) + scores.unsqueeze(1)
            scores, best = logp.view(-1).topk(beam)
            row = torch.div(best, 10, rounding_mode="floor")
            last = best % 10
            h, c = h[row], c[row]
            paths = torch.cat([paths[row], last.unsqueeze(1)], 1)
        return paths, scores


class Out(NamedTuple):
    logits: Tensor
    hidden: Optional[Tensor]
    count: int


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x: Tensor, want: bool) -> Out:
        y = self.a(x)
        return Out(logits=y.softmax(-1), hidden=y if want else None, count=x.size(0))


class Early(nn.Module):
    """Early returns, asserts, ranks that branch, defaults."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Conv1d(4, 4, 3, padding=1)
        self.scale: float = 0.5

    def half(self, x: Tensor) -> Tensor:
        if x.dim() == 2:
            return self.a(x)
        assert x.dim() == 3, "rank"
        if x.size(-1) < 2:
            return self.a(x.mean(-1)) * self.scale
        return self.b(x).mean(-1)

    def forward(self, x: Tensor, y: Optional[Tensor] = None) -> Tensor:
        if y is None:
            return self.half(x)
        if bool((y > 0).any()):
            return self.half(x) + y
        return self.half(x) - y


class Tree(nn.Module):
    """A tree's nodes one by one, with a stack."""

    def __init__(self):
        super().__init__()
        self.leaf, self.join = nn.Embedding(9, 6), nn.Linear(12, 6)

    def forward(self, actions: List[int]) -> Tensor:
        stack: List[Tensor] = []
        for a in actions:
            if a >= 0:
                stack.append(self.leaf(torch.tensor(a)))
            else:
                right = stack.pop()
                left = stack.pop()
                stack.append(torch.tanh(self.join(torch.cat([left, right]))))
        return stack[-1]


class Stateful(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)
        self.register_buffer("h", torch.zeros(1, 4))
        self.steps: int = 0

    def forward(self, x: Tensor) -> Tensor:
        self.h = self.cell(x, self.h)
        self.steps += 1
        return self.h * self.steps


class Features(nn.Module):
    """Dicts of tensors in and out, loops over their items."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleDict({"a": nn.Linear(3, 4), "b": nn.Linear(5, 4)})

    def forward(self, x: Dict[str, Tensor]) -> Dict[str, Tensor]:
        out: Dict[str, Tensor] = {}
        total = torch.zeros(1)
        for name, layer in self.layers.items():
            y = layer(x[name])
            out[name] = y
            total = total + y.sum()
        out["total"] = total
        for k, v in x.items():
            out["in_" + k] = v.mean()
        return out


class Viterbi(nn.Module):
    def __init__(self):
        super().__init__()
        self.trans = nn.Parameter(R(5, 5))
        self.start = nn.Parameter(R(5))

    def forward(self, emissions: Tensor) -> Tuple[Tensor, Tensor]:
        score = self.start + emissions[0]
        history: List[Tensor] = []
        for t in range(1, emissions.size(0)):
            best, idx = (score.unsqueeze(1) + self.trans + emissions[t].unsqueeze(0)).max(0)
            score = best
            history.append(idx)
        last = score.argmax()
        path = [last]
        for i in range(len(history)):
            last = history[len(history) - 1 - i][last]
            path.append(last)
        path.reverse()
        return torch.stack(path), score.max()


class Pyramid(nn.Module):
    """Lists of maps that grow backwards, sizes that are asked for."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(3, 4, 3, 2, 1), nn.Conv2d(4, 4, 3, 2, 1), nn.Conv2d(4, 4, 3, 2, 1)])
        self.side = nn.ModuleList([nn.Conv2d(4, 4, 1) for _ in range(3)])

    def forward(self, x: Tensor) -> List[Tensor]:
        maps: List[Tensor] = []
        for d in self.down:
            x = F.relu(d(x))
            maps.append(x)
        results: List[Tensor] = []
        last: Optional[Tensor] = None
        for i, s in enumerate(self.side):
            k = len(maps) - 1 - i
            y = s(maps[k])
            if last is not None:
                y = y + F.interpolate(last, size=[y.shape[-2], y.shape[-1]], mode="nearest")
            last = y
            results.insert(0, y)
        return results


class Boxes(nn.Module):
    """Anchors, decoding, suppression, filtering by score: what detectors do."""

    def forward(self, scores: Tensor, deltas: Tensor, image: Tensor) -> Tuple[Tensor, Tensor, int]:
        import_h, import_w = image.shape[-2:]
        side = int(float(scores.size(0)) ** 0.5)
        ys, xs = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
        centres = torch.stack([xs.reshape(-1), ys.reshape(-1)], 1).float() * 4.0
        xy = centres + deltas[:, :2]
        wh = torch.exp(deltas[:, 2:].clamp(max=2.0)) * 4.0
        boxes = torch.cat([xy - wh / 2, xy + wh / 2], 1)
        boxes[:, 0::2].clamp_(0, float(import_w))
        boxes[:, 1::2].clamp_(0, float(import_h))
        keep = torch.where(scores > 0.3)[0]
        boxes, scores = boxes[keep], scores[keep]
        order = torch.ops.torchvision.nms(boxes, scores, 0.4)
        order = order[:10]
        return boxes[order], scores[order], order.numel()


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = nn.Transformer(16, 2, 1, 1, 32, batch_first=True)
        self.e = nn.Embedding(10, 16)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        return self.t(self.e(src), self.e(tgt), tgt_mask=mask, src_key_padding_mask=src == 0)


def scripts(case):
    s = lambda name, make, inputs, more=None, **o: case("programs", name, make, inputs, ways="s", more=more, **o)
    s("custom_lstm", CustomLstm, lambda: (R(5, 2, 6), None), lambda: (R(7, 3, 6), None))
    s("custom_lstm_state", CustomLstm, lambda: (R(5, 2, 6), [(R(2, 8), R(2, 8)), (R(2, 8), R(2, 8))]))
    for kind in ("LSTM", "GRU", "RNN"):
        s("packed_" + kind.lower(), lambda k=kind: Packed(k), lambda: (I(19, 3, 6) + 1, torch.tensor([4, 6, 2])), lambda: (I(19, 4, 7) + 1, torch.tensor([4, 7, 2, 5])))
    s("seq2seq", Seq2Seq, lambda: (I(11, 2, 5) + 1, 6), lambda: (I(11, 3, 7) + 1, 4))
    s("beam_search", BeamSearch, lambda: (R(1, 8), R(1, 8), 3, 5))
    s("named_tuple", Named, lambda: (R(2, 4), True), lambda: (R(3, 4), True))
    s("early_2", Early, lambda: (R(2, 4), None), lambda: (R(3, 4), None))
    s("early_3", Early, lambda: (R(2, 4, 5), R(2, 4)), lambda: (R(3, 4, 1), -R(3, 4).abs()))
    s("tree", Tree, lambda: ([1, 2, -1, 3, 4, -1, -1],), flags=[])
    s("stateful", Stateful, lambda: (R(1, 3),), steps=lambda: [(R(1, 3),) for _ in range(3)])
    s("features", Features, lambda: ({"a": R(2, 3), "b": R(2, 5)},), lambda: ({"a": R(4, 3), "b": R(4, 5)},))
    s("viterbi", Viterbi, lambda: (R(6, 5),), lambda: (R(9, 5),))
    s("pyramid", Pyramid, lambda: (R(1, 3, 32, 32),), lambda: (R(2, 3, 48, 40),))
    s("boxes", Boxes, lambda: (torch.rand(16), R(16, 4), R(1, 3, 16, 16)), lambda: (torch.rand(25), R(25, 4), R(1, 3, 20, 24)))
    case("programs", "transformer", Transformer, lambda: (I(9, 2, 5) + 1, I(10, 2, 4)), ways="tse", more=lambda: (I(9, 3, 7) + 1, I(10, 3, 6)))
    for name, make, inputs, more in (
        ("lstm", lambda: nn.LSTM(4, 5, 2, bidirectional=True), lambda: (R(6, 2, 4),), lambda: (R(6, 3, 4),)),
        ("gru_batch", lambda: nn.GRU(4, 5, 1, batch_first=True), lambda: (R(2, 6, 4), R(1, 2, 5)), lambda: (R(3, 6, 4), R(1, 3, 5))),
        ("rnn_relu", lambda: nn.RNN(4, 5, 1, nonlinearity="relu"), lambda: (R(6, 2, 4),), lambda: (R(6, 3, 4),)),
        ("lstm_proj", lambda: nn.LSTM(4, 6, 1, proj_size=3), lambda: (R(6, 2, 4),), lambda: (R(6, 3, 4),)),
        ("encoder", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True), 2, enable_nested_tensor=False), lambda: (R(2, 5, 16),), lambda: (R(3, 7, 16),)),
        ("decoder", lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 4, 32), 2), lambda: (R(5, 2, 16), R(6, 2, 16)), lambda: (R(7, 3, 16), R(4, 3, 16))),
    ):
        case("programs", name, make, inputs, ways="tse" if name in ("encoder", "decoder") else "te", more=more)


# --- torch.export ---


class Cond(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, y):
        def yes(x, y):
            return self.a(x).relu(), y + 1

        def no(x, y):
            return self.b(x) * 2, torch.cond(y.sum() > 3, lambda y: y * 3, lambda y: y - 2, (y,))

        z, w = torch.cond(x.sum() > 0, yes, no, (x, y))
        return z, w, torch.cond(x.shape[0] > 2, lambda x: x.cumsum(0), lambda x: -x, (x,))


class Newton(nn.Module):
    def forward(self, x):
        from torch._higher_order_ops import while_loop

        def go(i, y):
            return (i < 20) & ((y * y - x).abs().max() > 1e-3)

        def step(i, y):
            return i + 1, 0.5 * (y + x / y)

        i, y = while_loop(go, step, (torch.zeros((), dtype=torch.int64), x.clone()))
        return i, y


class Scan(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, h, x):
        from torch._higher_order_ops.scan import scan

        def step(h, x):
            h = self.cell(x, h)
            return h, h.sum(-1)

        return scan(step, h, x)


class Map(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 3)

    def forward(self, x, y):
        from torch._higher_order_ops.map import map as over

        return over(lambda x, y: self.a(x).softmax(-1) + y, x, y)


class Buffers(nn.Module):
    """A ring of what was seen, a counter, statistics."""

    def __init__(self):
        super().__init__()
        self.register_buffer("ring", torch.zeros(4, 3))
        self.register_buffer("at", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(3), persistent=False)

    def forward(self, x):
        self.ring.index_copy_(0, (self.at % 4).reshape(1), x.reshape(1, 3))
        self.at.add_(1)
        self.mean.mul_(0.9).add_(x, alpha=0.1)
        self.ring[:, 0] += 1
        return self.ring.sum(0), self.mean * 2, self.at


class Nested(nn.Module):
    def forward(self, x, parts, *, scale, options=None):
        (a, b), d = parts
        y = x @ a + b
        for k, v in d.items():
            y = y + v if k != "skip" else y
        if options is not None:
            y = y * options["gain"]
        return {"y": y * scale, "all": [a.sum(), (b, d["u"])]}


Pair = namedtuple("Pair", "first second")
torch.utils._pytree._register_namedtuple(Pair, serialized_type_name="networks_pytorch_programs.Pair")


class Pairs(nn.Module):
    def forward(self, p, rest):
        return Pair(p.first + rest[0], p.second * len(rest)), [r.flip(0) for r in rest]


class Ragged(nn.Module):
    """Sizes that data say."""

    def forward(self, x, mask):
        y = x[mask]
        torch._check(y.shape[0] >= 2)
        n = mask.sum().item()
        torch._check(n >= 1)
        torch._check(n <= 100)
        return y.mean(0), y.sort(0).values, torch.arange(n) * 2, x.nonzero()


class Autocast(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, x):
        with torch.no_grad():
            y = self.a(x)
        with torch.autocast("cpu", enabled=False):
            return self.a(y).exp()


class InPlace(nn.Module):
    """Writes through views of views, of copies that may be none."""

    def forward(self, x):
        y = x.transpose(1, 2).reshape(x.shape[0], -1)
        y[:, 0] = 0
        z = torch.zeros(x.shape[0], 4, 6)
        z[:, 1:3].view(x.shape[0], -1)[:, ::2] += 1
        z.permute(0, 2, 1)[..., 0].copy_(x.sum((1, 2))[:, None].expand(-1, 6))
        w = z.transpose(1, 2).contiguous()
        w.mul_(2)
        return y, z, w, z.flatten(1).clamp_(max=0.5)


def exports(case):
    e = lambda name, make, inputs, more=None, ways="ed", **o: case("programs", name, make, inputs, ways=ways, more=more, **o)
    e("cond", Cond, lambda: (R(3, 4), R(3)), lambda: (-R(5, 4).abs(), R(3)))
    e("while_loop", Newton, lambda: (torch.rand(3) + 1,), lambda: (torch.rand(5) + 4,))
    e("scan", Scan, lambda: (R(2, 4), R(5, 2, 3)), lambda: (R(3, 4), R(7, 3, 3)))
    e("map", Map, lambda: (R(3, 2, 4), R(3)), lambda: (R(5, 2, 4), R(3)))
    e("buffers", Buffers, lambda: (R(3),), steps=lambda: [(R(3),) for _ in range(6)])
    e("nested", Nested, lambda: {"x": R(2, 3), "parts": ((R(3, 4), R(4)), {"u": R(4), "skip": R(4)}), "scale": 0.5, "options": {"gain": R(1)}})
    e("pairs", Pairs, lambda: (Pair(R(2), R(3)), [R(2), R(4)]))
    e("ragged", Ragged, lambda: (R(6, 2), torch.tensor([True, False, True, True, False, True])), lambda: (R(8, 2), torch.tensor([True, False, True, True, True, True, True, True])))
    e("autocast", Autocast, lambda: (R(2, 4),), lambda: (R(3, 4),))
    e("in_place", InPlace, lambda: (R(2, 3, 4),), lambda: (R(5, 3, 4),), ways="edt")


def add(case):
    scripts(case)
    exports(case)
