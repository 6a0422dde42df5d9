"""Models of torch.export with their results: the walk that export_operators.zip was chosen from.

usage: make_export.py FOLDER programs|vision|operators [PART PARTS]

Needs torch 2.15, torchvision and, for "operators", expecttest. Seeds are fixed. "programs" are dims, control flow, state and whole models;
"operators" are the samples of torch.testing's op_db, exported plain, with open dims and decomposed; PART of PARTS of them. Each becomes
NAME.pt2, NAME.in.npz (inputs by position), NAME.out.npz; NAME.meta.json says of more runs (NAME.rK), and of those that must fail."""
import os, sys, io, json, subprocess, numpy as np, torch, zipfile, warnings, logging
warnings.filterwarnings('ignore')
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)

def array(t):
    if isinstance(t, torch.Tensor):
        t = t.detach()
        if t.is_quantized:
            t = t.int_repr()
        if t.layout != torch.strided:
            raise ValueError('layout')
        if t.is_complex():
            t = torch.view_as_real(t.resolve_conj())
        if t.is_conj() or t.is_neg():
            t = t.clone()
        if t.dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
            t = t.float()
        if t.dtype == torch.bfloat16:
            return t.contiguous().view(torch.uint16).numpy().copy()
        return t.resolve_neg().contiguous().numpy().copy()
    if isinstance(t, bool):
        return np.array(t)
    if isinstance(t, int):
        return np.array(t, np.int64)
    if isinstance(t, float):
        return np.array(t, np.float64)
    raise ValueError(type(t))

def flat(x):
    import torch.utils._pytree as p
    return p.tree_flatten(x)[0]

def write(folder, name, ep, inputs, outputs, meta=None):
    base = os.path.join(folder, name)
    torch.export.save(ep, base + '.pt2')
    ins = [array(t) for t in flat(inputs) if t is not None and (not isinstance(t, str))]
    outs = [array(t) for t in flat(outputs) if t is not None and (not isinstance(t, str))]
    np.savez_compressed(base + '.in.npz', **{str(i): v for i, v in enumerate(ins)})
    np.savez_compressed(base + '.out.npz', **{f'out{i}': v for i, v in enumerate(outs)})
    json.dump(dict(meta or {}, bf16=[i for i, t in enumerate((t for t in flat(outputs) if t is not None and (not isinstance(t, str)))) if isinstance(t, torch.Tensor) and t.dtype == torch.bfloat16]), open(base + '.meta.json', 'w'))
import sys, dataclasses, collections, time
import torch.nn as nn, torch.nn.functional as F
from torch.export import Dim
OUT = sys.argv[1]
os.makedirs(OUT, exist_ok=True)
ONLY = None
CASES = []

def case(name, args, kwargs=None, dyn=None, more=(), core=False, strict=False, state=0, fails=(), **meta):
    """more: other (args, kwargs) run by the eager module. fails: ((args), [texts])"""

    def take(cls):
        for c in (False, True) if core == 'both' else (core,):
            CASES.append((name + ('_core' if c else ''), cls, args, kwargs, dyn, more, c, strict, state, fails, meta))
        return cls
    return take

def T(*s, dtype=torch.float32, seed=0, lo=0, hi=5):
    g = torch.Generator().manual_seed(seed + sum(s))
    if dtype.is_floating_point:
        return torch.randn(*s, generator=g).to(dtype)
    return torch.randint(lo, hi, s, generator=g).to(dtype)

def emit(entry):
    name, cls, args, kwargs, dyn, more, core, strict, state, fails, meta = entry
    meta = dict(meta)
    torch.manual_seed(0)
    m = cls() if isinstance(cls, type) else cls()
    if not meta.pop('train', False):
        m.eval()
    kwargs = kwargs or {}
    import copy
    meta = dict(meta)
    with torch.no_grad():
        ep = torch.export.export(copy.deepcopy(m), copy.deepcopy(args), copy.deepcopy(kwargs), dynamic_shapes=dyn, strict=strict)
        if core:
            ep = ep.run_decompositions()
        base = os.path.join(OUT, name)
        fl = lambda a, k: flat((a, k))
        runs = []
        want = m(*copy.deepcopy(args), **copy.deepcopy(kwargs)) if meta.get('eager', True) else ep.module()(*args, **kwargs)
        meta = dict(meta)
        if state:
            meta['state'] = True
        write(OUT, name, ep, fl(args, kwargs), want, meta)
        meta = json.load(open(base + '.meta.json'))
        n = 0

        def step(a, k):
            nonlocal n
            w = m(*copy.deepcopy(a), **copy.deepcopy(k))
            np.savez_compressed(f'{base}.r{n}.in.npz', **{str(i): array(v) for i, v in enumerate((x for x in fl(a, k) if x is not None and (not isinstance(x, str))))})
            np.savez_compressed(f'{base}.r{n}.out.npz', **{f'out{i}': array(v) for i, v in enumerate((x for x in flat(w) if x is not None and (not isinstance(x, str))))})
            n += 1
        for _ in range(state - 1 if state else 0):
            step(args, kwargs)
        for a in more:
            step(*(a if isinstance(a, tuple) and len(a) == 2 and isinstance(a[1], dict) else (a, {})))
        meta['fails'] = {}
        for a, texts in fails:
            np.savez_compressed(f'{base}.r{n}.in.npz', **{str(i): array(v) for i, v in enumerate((x for x in flat(a) if x is not None and (not isinstance(x, str))))})
            meta['fails'][f'.r{n}'] = list(texts)
            n += 1
        meta['runs'] = n
        json.dump(meta, open(base + '.meta.json', 'w'))

def main():
    good = 0
    for e in CASES:
        if ONLY and (not any((o in e[0] for o in ONLY))):
            continue
        try:
            emit(e)
            good += 1
        except Exception as ex:
            print('NOT', e[0], type(ex).__name__, str(ex).replace('\n', ' ')[:300])
    print(good, 'written of', len(CASES))
B = Dim('b')

@case('range', (T(6, 3), T(16)), dyn=dict(x={0: Dim('b', min=4, max=64)}, y={0: 8 * Dim('k', max=10)}), more=[(T(64, 3), T(80)), (T(4, 3), T(16))], fails=[((T(3, 3), T(16)), ["'x'", 'dimension 0', '3, expected 4 to 64']), ((T(65, 3), T(16)), ["'x'", '65']), ((T(5, 3), T(17)), ["'y'", 'multiple of 8']), ((T(5, 3), T(88)), ["'y'", '88'])])
class _(nn.Module):

    def forward(self, x, y):
        return (x * 2 + y.sum(), x.shape[0])

@case('numbers', (T(3), 3, True, 0.5, 'mean', None), fails=[((T(3), 4, True, 0.5), ["'n'", '4, expected 3']), ((T(3), 3, False, 0.5), ["'flag'"]), ((T(3), 3, True, 0.25), ["'f'", '0.5'])])
class _(nn.Module):

    def forward(self, x, n, flag, f, mode: str, extra=None):
        return x * n * f if flag else x

@case('two', (T(6), T(12)), dyn=dict(x={0: B}, y={0: 2 * B}), more=[(T(5), T(10)), (T(1), T(2))], fails=[((T(6), T(13)), ['y'])])
class _(nn.Module):

    def forward(self, x, y):
        return (x * 2 + y[:x.shape[0]], y[::2])

@case('plus', (T(6), T(8)), dyn=dict(x={0: B}, y={0: B + 2}), more=[(T(3), T(5)), (T(9), T(11))])
class _(nn.Module):

    def forward(self, x, y):
        return x + y[2:] * y[:-2]

@case('equal', (T(6, 4), T(6, 5)), dyn=dict(x={0: B}, y={0: B}), more=[(T(3, 4), T(3, 5)), (T(9, 4), T(9, 5))])
class _(nn.Module):

    def forward(self, x, y):
        return torch.cat([x, y], 1)

@case('auto', (T(6, 4, 8),), dyn=dict(x={0: Dim.AUTO, 1: Dim.AUTO, 2: Dim.AUTO}), more=[(T(3, 8, 2),), (T(9, 5, 4),)], core='both')
class _(nn.Module):

    def forward(self, x):
        b, s, d = x.shape
        return (x.view(b * s, d).sum(1), x.reshape(b, -1), x.flatten(1), x.transpose(1, 2).reshape(b, d * s)[:, ::2], x.mean((0, 2)), x.new_zeros(b, s + 1), torch.arange(s), F.pad(x, (1, 1)), x.expand(2, b, s, d), x.unsqueeze(1).repeat(1, 2, 1, 1))

@case('scalar_dyn', (T(6), 3), dyn=dict(x=None, n=Dim.DYNAMIC), more=[(T(6), 4), (T(6), 2)])
class _(nn.Module):

    def forward(self, x, n):
        return (x * n, x.new_ones(n), torch.arange(n) * 2, n * 2 + 1, n / 2)

@case('conv_dyn', (T(2, 3, 16, 16),), dyn=dict(x={0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO}), more=[(T(1, 3, 20, 14),), (T(3, 3, 33, 17),)], core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.c = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, padding='same', groups=4))
        self.u = nn.Upsample(scale_factor=2, mode='bilinear')
        self.t = nn.ConvTranspose2d(8, 4, 2, 2)

    def forward(self, x):
        y = self.c(x)
        return (self.u(y), self.t(y), F.adaptive_avg_pool2d(y, 2), F.interpolate(y, size=x.shape[-2:], mode='nearest'), y.mean((2, 3)))

@case('unet', (T(1, 4, 16, 16), torch.tensor([7])), dyn=dict(x={0: Dim.AUTO, 2: 4 * Dim('h'), 3: 4 * Dim('w')}, t={0: Dim.AUTO}), more=[(T(2, 4, 8, 24), torch.tensor([1, 900])), (T(3, 4, 12, 4), torch.tensor([1, 900, 3]))], core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.i = nn.Conv2d(4, 16, 3, padding=1)
        self.n = nn.GroupNorm(4, 16)
        self.d = nn.Conv2d(16, 16, 3, 2, 1)
        self.a = nn.MultiheadAttention(16, 2, batch_first=True)
        self.e = nn.Linear(16, 16)
        self.o = nn.Conv2d(32, 4, 1)

    def forward(self, x, t):
        f = torch.exp(-torch.arange(8) * 0.5)
        e = t[:, None].float() * f[None]
        e = self.e(torch.cat([e.sin(), e.cos()], -1))
        h = self.i(x)
        y = self.d(F.silu(self.n(h))) + e[:, :, None, None]
        b, c, hh, ww = y.shape
        z = y.view(b, c, hh * ww).transpose(1, 2)
        z = z + self.a(z, z, z, need_weights=False)[0]
        y = z.transpose(1, 2).reshape(b, c, hh, ww)
        y = F.interpolate(y, scale_factor=2.0, mode='nearest')
        return self.o(torch.cat([y, h], 1))

@case('audio', (T(2, 400),), dyn=dict(x={0: Dim.AUTO, 1: Dim('t', min=200, max=4000)}), more=[(T(1, 300),), (T(3, 777),)])
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.register_buffer('w', torch.hann_window(64))
        self.c = nn.Conv1d(33, 8, 5, 2, 2)
        self.p = nn.Conv1d(8, 8, 3, padding=2, dilation=2, groups=8)
        self.n = nn.InstanceNorm1d(8, affine=True)

    def forward(self, x):
        s = torch.stft(x, 64, 16, window=self.w, return_complex=True)
        m = torch.log1p(s.abs())
        y = self.n(F.glu(torch.cat([self.c(m), self.p(self.c(m))], 1), 1))
        return (y, F.avg_pool1d(y, 3, 2), y.cumsum(-1))

class P(torch.nn.Module):
    pass
Point = collections.namedtuple('Point', 'x y')

@case('pytree', ({'b': T(3), 'a': [T(3, seed=1), (T(3, seed=2), None)]}, [T(3, seed=3)]), kwargs={'w': {'z': T(3, seed=4)}, 'v': T(3, seed=5)})
class _(nn.Module):

    def forward(self, d, l, *, v, w):
        return {'s': d['b'] - d['a'][0], 't': [d['a'][1][0] * l[0], None], 'u': (v, w['z'] * 3)}

@case('namedtuple', (Point(T(3), T(3, seed=1)),))
class _(nn.Module):

    def forward(self, p):
        return (Point(p.x + p.y, p.x - p.y), {'k': p.x.max(0)})

@case('outputs', (T(3, 2),), dyn=dict(x={0: Dim.AUTO}), more=[(T(5, 2),)])
class _(nn.Module):

    def forward(self, x):
        return (x, x.shape[0], None, 3, 2.5, True, x.shape[0] * 2 + 1, x.shape[0] / 2, x.shape[0] > 4 if False else x)

@case('same_out', (T(3, 2),))
class _(nn.Module):

    def forward(self, x):
        y = x + 1
        return (y, y, x, [y, x])

@case('kwargs_only', (), kwargs=dict(q=T(2, 3), k=T(2, 3, seed=1)), dyn=dict(q={0: Dim.AUTO}, k={0: Dim.AUTO}), more=[((), dict(q=T(4, 3), k=T(4, 3, seed=1)))])
class _(nn.Module):

    def forward(self, *, q, k):
        return q @ k.t()

@case('varargs', (T(2), T(2, seed=1), T(2, seed=2)), kwargs=dict(z=T(2, seed=3)))
class _(nn.Module):

    def forward(self, *a, **k):
        return a[0] + a[1] * a[2] - k['z']

@case('nonzero', (T(6, 3),), dyn=dict(x={0: Dim.AUTO}), more=[(T(9, 3),), (-T(4, 3).abs(),)])
class _(nn.Module):

    def forward(self, x):
        i = x.nonzero()
        m = torch.masked_select(x, x > 0)
        return (i, m, m.sum(), x[x[:, 0] > 0], torch.nonzero(x[:, 0] > 0).squeeze(1))

@case('item', (T(8), torch.tensor(3)), more=[(T(8), torch.tensor(5)), (T(8), torch.tensor(8))])
class _(nn.Module):

    def forward(self, x, n):
        k = n.item()
        torch._check(k >= 0)
        torch._check(k <= 8)
        return (x[:k], torch.zeros(k), x.narrow(0, 0, k).sum(), torch.arange(k))

@case('tolist', (T(8), torch.tensor([3, 5])), more=[(T(8), torch.tensor([2, 6]))])
class _(nn.Module):

    def forward(self, x, n):
        a, b = n.tolist()
        torch._check(a + b == 8)
        return torch.split(x, [a, b])

@case('unique', (T(8, dtype=torch.int64),), more=[(T(8, dtype=torch.int64, seed=4),)])
class _(nn.Module):

    def forward(self, x):
        return torch.unique(x, return_inverse=True, return_counts=True)

@case('mask_put', (T(4, 3), T(4, 3, seed=1)), more=[(T(4, 3, seed=7), T(4, 3, seed=2))])
class _(nn.Module):

    def forward(self, x, y):
        z = x.clone()
        z[y > 0] = 0
        z[:, 1] = y[:, 0]
        z[1:3] += 1
        z.masked_fill_(y < -1, 5.0)
        z[[0, 2], [1, 1]] = 9.0
        return (z, torch.where(x > 0), x[torch.tensor([2, 0])])

@case('cond_t', (T(3),), more=[(-T(3),), (T(3, seed=9),)], core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: (self.l(x), x.sum()), lambda x: (x - 1, x.max()), (x,))

@case('cond_sym', (T(6, 3),), dyn=dict(x={0: Dim.AUTO}), more=[(T(3, 3),), (T(9, 3),)])
class _(nn.Module):

    def forward(self, x):
        return torch.cond(x.shape[0] > 4, lambda x: x.cos(), lambda x: x.sin(), (x,))

@case('while', (T(3), torch.tensor(5)), more=[(T(3), torch.tensor(0))], core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x, n):
        from torch._higher_order_ops.while_loop import while_loop
        return while_loop(lambda i, x: i > 0, lambda i, x: (i - 1, torch.tanh(self.l(x)) + i), (n, x))

@case('scan', (T(3), T(5, 3)), dyn=dict(c=None, xs={0: Dim.AUTO}), more=[(T(3), T(7, 3)), (T(3), T(2, 3))])
class _(nn.Module):

    def forward(self, c, xs):
        from torch._higher_order_ops.scan import scan
        return scan(lambda c, x: (c * 0.5 + x, (c + x).sin()), c, xs)

@case('scan_rev', (T(3), T(2, 5, 3)))
class _(nn.Module):

    def forward(self, c, xs):
        from torch._higher_order_ops.scan import scan
        return scan(lambda c, x: (c * 0.5 + x.sum(0), {'a': x * 2, 'b': c + 1}), c, xs, dim=1, reverse=True)

@case('map', (T(4, 3), T(3)), dyn=dict(xs={0: Dim.AUTO}, y=None), more=[(T(7, 3), T(3))])
class _(nn.Module):

    def forward(self, xs, y):
        from torch._higher_order_ops.map import map
        return map(lambda x, y: (x + y, x.sum()), xs, y)

@case('assoc', (T(5, 3),), more=[])
class _(nn.Module):

    def forward(self, x):
        from torch._higher_order_ops.associative_scan import associative_scan
        return associative_scan(lambda a, b: a * 0.5 + b, x, 0, combine_mode='generic')

@case('nograd', (T(2, 3),), core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        with torch.no_grad():
            y = self.l(x)
        with torch.enable_grad():
            y = y + 1
        return y * self.l(y)

@case('autocast', (T(2, 3),), core='both', rtol=0.02, atol=0.01)
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        with torch.autocast('cpu', torch.bfloat16):
            y = self.l(x)
            z = F.softmax(y, -1)
        return (y.float(), z, self.l(x))

@case('checkpoint', (T(2, 3),))
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        from torch.utils.checkpoint import checkpoint
        return checkpoint(lambda y: self.l(y).relu(), x, use_reentrant=False)

@case('vmap', (T(4, 3), T(3, 3)), core='both')
class _(nn.Module):

    def forward(self, x, w):
        return (torch.vmap(lambda r: (w @ r).softmax(0))(x), torch.vmap(torch.dot, in_dims=(0, None))(x, w[0]))

@case('flex', (T(1, 2, 8, 16), T(1, 2, 8, 16, seed=1), T(1, 2, 8, 16, seed=2)))
class _(nn.Module):

    def forward(self, q, k, v):
        from torch.nn.attention.flex_attention import flex_attention
        return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s + (i - j) * 0.1)

@case('counter', (T(3),), state=4, core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.register_buffer('n', torch.zeros(()))
        self.register_buffer('m', torch.ones(3))

    def forward(self, x):
        self.n += 1
        self.m.mul_(0.5).add_(x)
        return (x * self.n, self.m)

@case('ring', (T(2),), state=4)
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.register_buffer('r', torch.zeros(3, 2), persistent=False)
        self.register_buffer('i', torch.zeros((), dtype=torch.int64))

    def forward(self, x):
        self.r[self.i % 3] = x
        self.i.add_(1)
        self.r[:, 0] += 1
        return (self.r.sum(0), self.i + 0)

@case('kv', (T(1, 1, 8), torch.tensor([0])), state=3, more=[(T(1, 1, 8, seed=3), torch.tensor([4])), (T(1, 1, 8, seed=5), torch.tensor([5]))], core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.o = nn.Linear(8, 8)
        self.register_buffer('k', torch.zeros(1, 2, 6, 4))
        self.register_buffer('v', torch.zeros(1, 2, 6, 4))
        self.register_buffer('mask', torch.tril(torch.ones(6, 6, dtype=torch.bool)))

    def forward(self, x, pos):
        q, k, v = (t.view(1, 1, 2, 4).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        self.k.index_copy_(2, pos, k)
        self.v[:, :, pos] = v
        return self.o(F.scaled_dot_product_attention(q, self.k, self.v, attn_mask=self.mask[pos][None, None]).transpose(1, 2).reshape(1, 1, 8))

@case('mutated_input', (T(3), T(3, seed=2)), core='both')
class _(nn.Module):

    def forward(self, x, y):
        x.add_(y)
        y[0] = 7
        return x * 2

@case('bn_train', (T(4, 3),), state=3, train=True, core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.b = nn.BatchNorm1d(3)

    def forward(self, x):
        return self.b(x)

@case('only_state', (T(3),), state=2)
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.register_buffer('n', torch.zeros(3))

    def forward(self, x):
        self.n += x
        return self.n.clone()

@case('lifted', (T(3),))
class _(nn.Module):

    def forward(self, x):
        c = torch.tensor([1.0, 2.0, 3.0])
        d = torch.tensor(2)
        return (x * c + d, c, torch.tensor([[1, 2]]), torch.full((2,), float('inf')))
for N, cls, kw in (('lstm', nn.LSTM, {}), ('gru', nn.GRU, {}), ('rnn', nn.RNN, {'nonlinearity': 'relu'}), ('lstmp', nn.LSTM, {'proj_size': 3}), ('gru_bi', nn.GRU, {'bidirectional': True, 'num_layers': 2})):

    @case(N, (T(2, 5, 4),), dyn=dict(x={0: Dim.AUTO}), more=[(T(4, 5, 4),)], core='both')
    def make(cls=cls, kw=kw):

        class R(nn.Module):

            def __init__(self):
                super().__init__()
                self.r = cls(4, 6, batch_first=True, **kw)

            def forward(self, x):
                return self.r(x)
        return R()

@case('lstm_seq', (T(5, 2, 4), T(1, 2, 6), T(1, 2, 6, seed=1)), dyn=dict(x={0: Dim.AUTO, 1: Dim.AUTO}, h={1: Dim.AUTO}, c={1: Dim.AUTO}), more=[(T(8, 3, 4), T(1, 3, 6), T(1, 3, 6, seed=1))])
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.r = nn.LSTM(4, 6)

    def forward(self, x, h, c):
        return self.r(x, (h, c))

@case('tfm', (torch.arange(10).view(2, 5),), dyn=dict(ids={0: Dim.AUTO, 1: Dim('s', max=32)}), more=[(torch.arange(21).view(3, 7),), (torch.arange(1).view(1, 1),)], core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(32, 16)
        self.p = nn.Embedding(32, 16)
        self.l = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True), 2, enable_nested_tensor=False)
        self.h = nn.Linear(16, 32)

    def forward(self, ids):
        s = ids.shape[1]
        x = self.e(ids) + self.p(torch.arange(s))
        m = torch.triu(torch.full((s, s), float('-inf')), 1)
        return self.h(self.l(x, mask=m, is_causal=True))

@case('rope', (T(2, 5, 16),), dyn=dict(x={0: Dim.AUTO, 1: Dim.AUTO}), more=[(T(1, 9, 16),), (T(3, 2, 16),)], core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(16, 16, bias=False)
        self.k = nn.Linear(16, 8, bias=False)
        self.v = nn.Linear(16, 8, bias=False)
        self.n = nn.RMSNorm(16)

    def forward(self, x):
        b, s, _ = x.shape
        y = self.n(x)
        f = 1.0 / 10000 ** (torch.arange(0, 8, 2) / 8)
        a = torch.outer(torch.arange(s).float(), f)
        cos, sin = (torch.cat([a, a], -1).cos(), torch.cat([a, a], -1).sin())
        rot = lambda t: torch.cat([-t[..., 4:], t[..., :4]], -1)
        q = self.q(y).view(b, s, 2, 8).transpose(1, 2)
        k = self.k(y).view(b, s, 1, 8).transpose(1, 2)
        v = self.v(y).view(b, s, 1, 8).transpose(1, 2)
        q, k = (q * cos + rot(q) * sin, k * cos + rot(k) * sin)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        c = torch.view_as_complex(q.reshape(b, 2, s, 4, 2)) * torch.polar(torch.ones_like(a), a)
        return (o.transpose(1, 2).reshape(b, s, 16) + x, torch.view_as_real(c).flatten(3))

@case('moe', (T(6, 8),), dyn=dict(x={0: Dim.AUTO}), more=[(T(3, 8),), (T(11, 8),)], core='both')
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.g = nn.Linear(8, 4)
        self.w = nn.Parameter(torch.randn(4, 8, 8))
        self.ex = nn.ModuleList((nn.Linear(8, 8) for _ in range(4)))

    def forward(self, x):
        p, i = torch.topk(self.g(x).softmax(-1), 2)
        p = p / p.sum(-1, keepdim=True)
        a = torch.einsum('tkoi,ti->tko', self.w[i], x)
        y = (a * p[..., None]).sum(1)
        z = torch.zeros_like(x)
        for e, l in enumerate(self.ex):
            t, k = torch.where(i == e)
            z.index_add_(0, t, l(x[t]) * p[t, k, None])
        return (y, z, F.one_hot(i, 4).sum(1), torch.bincount(i.flatten(), minlength=4))

@case('encdec', (T(1, 6, 8), torch.tensor([[1]])), more=[(T(1, 6, 8, seed=3), torch.tensor([[2]]))])
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.t = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        self.e = nn.Embedding(10, 8)
        self.h = nn.Linear(8, 10)

    def forward(self, x, s):
        from torch._higher_order_ops.while_loop import while_loop
        m = self.t.encoder(x)
        ids = torch.zeros(1, 5, dtype=torch.int64) + s

        def body(i, ids):
            d = self.t.decoder(self.e(ids), m, tgt_mask=torch.triu(torch.full((5, 5), float('-inf')), 1))
            n = self.h(d).argmax(-1)
            return (i + 1, torch.where(torch.arange(5) == i, n.roll(1, 1), ids))
        return while_loop(lambda i, ids: i < 5, body, (torch.tensor(1), ids))

@case('qdq', (T(2, 4),), quant=True)
class _(nn.Module):

    def __init__(self):
        super().__init__()
        self.register_buffer('w', torch.randint(-128, 127, (3, 4), dtype=torch.int8))
        self.register_buffer('s', torch.rand(3) * 0.01 + 0.01)
        self.register_buffer('z', torch.zeros(3, dtype=torch.int64))

    def forward(self, x):
        import torch.ao.quantization.fx._decomposed
        q = torch.ops.quantized_decomposed
        a = q.dequantize_per_tensor(q.quantize_per_tensor(x, 0.05, 3, -128, 127, torch.int8), 0.05, 3, -128, 127, torch.int8)
        w = q.dequantize_per_channel(self.w, self.s, self.z, 0, -128, 127, torch.int8)
        y = F.linear(a, w)
        s, z = q.choose_qparams.tensor(y, 0, 255, 1e-06, torch.uint8)
        return (q.quantize_per_tensor.tensor(y, s, z, 0, 255, torch.uint8), s, z)

@case('qtoken', (T(2, 3, 8),))
class _(nn.Module):

    def forward(self, x):
        import torch.ao.quantization.fx._decomposed
        q = torch.ops.quantized_decomposed
        s, z = q.choose_qparams_per_token(x, torch.int8)
        y = q.quantize_per_token(x, s, z, -128, 127, torch.int8)
        s2, z2 = q.choose_qparams_per_token_asymmetric(x, torch.int8)
        y2 = q.quantize_per_token(x, s2, z2, -128, 127, torch.int8)
        w = torch.arange(-8, 8, dtype=torch.int8).view(2, 8)
        g = q.dequantize_per_channel_group(w, torch.tensor([[0.1, 0.2], [0.3, 0.4]]), torch.zeros(2, 2, dtype=torch.int32), -8, 7, torch.int8, 4, torch.float32)
        return (y, s, q.dequantize_per_token(y2, s2, z2, -128, 127, torch.int8, torch.float32), g, q.fake_quant_per_channel(x, torch.rand(3) * 0 + 0.1, torch.zeros(3, dtype=torch.int64), 1, -128, 127))

def vision(name, make, shape, **kw):

    @case(name, (T(*shape),), **kw)
    def f(make=make):
        import torchvision
        return make(torchvision)
if sys.argv[2] == 'vision':
    auto = dict(dyn=({0: Dim.AUTO},), more=[(T(3, 3, 64, 64),)])
    hw = dict(dyn=({0: Dim.AUTO, 2: Dim.AUTO, 3: Dim.AUTO},), more=[(T(1, 3, 96, 64),), (T(3, 3, 64, 128),)])
    vision('tv_resnet18', lambda v: v.models.resnet18(), (2, 3, 64, 64), **hw)
    vision('tv_shuffle', lambda v: v.models.shufflenet_v2_x0_5(), (2, 3, 64, 64), **auto)
    vision('tv_squeeze', lambda v: v.models.squeezenet1_1(), (2, 3, 64, 64), **hw)
    vision('tv_regnet', lambda v: v.models.regnet_y_400mf(), (2, 3, 64, 64), **auto)
    vision('tv_effnet', lambda v: v.models.efficientnet_b0(), (2, 3, 64, 64), **auto)
    vision('tv_densenet', lambda v: v.models.densenet121(), (2, 3, 64, 64), **auto)
    vision('tv_googlenet', lambda v: v.models.googlenet(init_weights=False), (2, 3, 64, 64), **auto)
    vision('tv_swin', lambda v: v.models.SwinTransformer([4, 4], 16, [1, 1], [2, 2], [4, 4], num_classes=7), (2, 3, 64, 64), **auto)
    vision('tv_swinv2', lambda v: v.models.SwinTransformer([4, 4], 16, [1, 1], [2, 2], [4, 4], num_classes=7, block=v.models.swin_transformer.SwinTransformerBlockV2, downsample_layer=v.models.swin_transformer.PatchMergingV2), (2, 3, 64, 64), **auto)
    vision('tv_vit', lambda v: v.models.VisionTransformer(64, 16, 1, 2, 32, 64, num_classes=7), (2, 3, 64, 64), **auto)
    vision('tv_maxvit', lambda v: v.models.MaxVit((64, 64), 16, [16, 32], [1, 1], 8, 0.0, partition_size=2), (2, 3, 64, 64))
    vision('tv_convnext', lambda v: v.models.ConvNeXt([v.models.convnext.CNBlockConfig(16, 32, 1), v.models.convnext.CNBlockConfig(32, None, 1)]), (2, 3, 64, 64), **auto)
    vision('tv_mnasnet', lambda v: v.models.mnasnet0_5(), (2, 3, 64, 64), **auto)
    vision('tv_lraspp', lambda v: v.models.segmentation.lraspp_mobilenet_v3_large(weights_backbone=None), (2, 3, 64, 64), **hw)
    vision('tv_deeplab', lambda v: v.models.segmentation.deeplabv3_mobilenet_v3_large(weights_backbone=None), (2, 3, 64, 64), **auto)
    vision('tv_fcn', lambda v: v.models.segmentation.fcn_resnet50(weights_backbone=None), (1, 3, 64, 64))
    vision('tv_r3d', lambda v: v.models.video.r3d_18(), (1, 3, 8, 32, 32))

    def det(name, mk):

        @case(name, ([T(3, 64, 64).sigmoid()],), rtol=0.001, atol=0.001)
        def f():
            import torchvision
            return mk(torchvision)
    det('tv_ssdlite', lambda v: v.models.detection.ssdlite320_mobilenet_v3_large(weights_backbone=None, num_classes=3))
    det('tv_retina', lambda v: v.models.detection.retinanet_resnet50_fpn(weights_backbone=None, num_classes=3, min_size=64, max_size=96))
    det('tv_fcos', lambda v: v.models.detection.fcos_resnet50_fpn(weights_backbone=None, num_classes=3, min_size=64, max_size=96))
    det('tv_frcnn', lambda v: v.models.detection.fasterrcnn_mobilenet_v3_large_320_fpn(weights_backbone=None, num_classes=3))
import torch.utils._pytree as pytree
COUNT = {torch.float32: 4, torch.int64: 2, torch.bool: 1, torch.float16: 1, torch.bfloat16: 1, torch.float64: 1, torch.complex64: 1, torch.uint8: 1, torch.int32: 1, torch.int8: 1}
SKIP = ('_refs', 'sparse', 'masked.', 'nested', 'jiterator', '_segment', 'linalg.cond_', 'empty', 'new_empty', '_batch_norm_with', 'empty_like', 'empty_strided', 'bernoulli', 'multinomial', 'normal', 'rand', 'uniform', 'cauchy', 'exponential', 'geometric', 'log_normal', 'dropout', 'rrelu', 'randn', 'to_sparse', 'resize', 'as_strided_scatter__partial')

class M(torch.nn.Module):

    def __init__(self, f, spec, leaves):
        super().__init__()
        self.f, self.spec, self.leaves = (f, spec, leaves)

    def forward(self, *t):
        it = iter(t)
        l = [next(it) if isinstance(x, torch.Tensor) else x for x in self.leaves]
        a, k = pytree.tree_unflatten(l, self.spec)
        return self.f(*a, **k)

def operators(out, part, parts):
    from torch.testing._internal.common_methods_invocations import op_db
    n = bad = 0
    t0 = time.time()
    errs = []
    for i, op in enumerate(op_db):
        if i % parts != part:
            continue
        name = op.name.replace('.', '_') + ('_' + op.variant_test_name if op.variant_test_name else '')
        if any((op.name.startswith(s) or op.name.startswith('nn.functional.' + s) for s in SKIP)):
            continue
        for dtype, count in COUNT.items():
            if dtype not in op.dtypes:
                continue
            torch.manual_seed(0)
            np.random.seed(0)
            try:
                samples = list(op.sample_inputs('cpu', dtype, requires_grad=False))
            except Exception as e:
                errs.append((name, 'samples', str(e)[:100]))
                continue
            samples = [s for s in samples if sum((t.numel() for t in flat((s.input, s.args, s.kwargs)) if isinstance(t, torch.Tensor))) < 20000]
            if len(samples) > count:
                step = (len(samples) - 1) / max(count - 1, 1)
                samples = [samples[int(j * step)] for j in range(count)]
            for j, s in enumerate(samples):
                dyn = j == 1 and dtype == torch.float32
                tag = f'{name}.{str(dtype)[6:]}.{j}' + ('.dyn' if dyn else '')
                try:
                    leaves, spec = pytree.tree_flatten(((s.input, *s.args), s.kwargs))
                    tensors = tuple((x.detach() for x in leaves if isinstance(x, torch.Tensor)))
                    m = M(op.op, spec, leaves).eval()
                    with torch.no_grad():
                        want = m(*[t.clone() for t in tensors])
                        array(flat(want)[0])
                        ds = None
                        if dyn:
                            ds = (tuple(({d: torch.export.Dim.AUTO for d in range(t.dim())} for t in tensors)),)
                        ep = torch.export.export(m, tensors, dynamic_shapes=ds, strict=False)
                        if j == 2 and dtype == torch.float32:
                            ep = ep.run_decompositions()
                            tag += '.core'
                    write(out, tag, ep, tensors, want)
                    n += 1
                except Exception as e:
                    bad += 1
                    errs.append((tag, 'export', str(e).splitlines()[0][:150] if str(e) else repr(e)))
    print(n, 'written', bad, 'not', time.time() - t0)
    json.dump(errs, open(f'{out}/errors.{part}.txt', 'w'), indent=0)
if __name__ == '__main__':
    if sys.argv[2] == 'operators':
        operators(OUT, int(sys.argv[3]), int(sys.argv[4]))
    else:
        main()
