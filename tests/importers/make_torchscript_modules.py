"""Further functions; modules: recurrent, attention, quantised; torchvision's models.

usage: SCRIPT BIN REPORT [FILTER [ARCHIVE.zip MOST]], with PyTorch 2.x (and expecttest, torchvision); see torchscript_walk.py."""

from torchscript_walk import *

def anys(xs: List[Tensor], n: int) -> Tensor:
    b = all([x.size(0) > 1 for x in xs])
    c = any([x.size(0) > 3 for x in xs])
    s = sum([x.size(0) for x in xs])
    m = max([x.size(0) for x in xs]) + min([x.size(0) for x in xs])
    return xs[0] * float(b) + float(c) + s + m


fn("all_any_sum", anys, ([R(2), R(2)], 3))


def cmpc(n: int, a: float) -> bool:
    return 0 < n <= 5 and (a >= 2.0 or not (n != 3)) and n in [1, 2, 3] and n is not None


fn("compares", cmpc, (3, 1.0), (4, 3.0), (2, 5.0))


def lst(n: int) -> Tuple[List[int], List[int], bool]:
    a = [0] * n
    b = a + [1]
    a[0] = 4
    b[-1] += 3
    c = b.copy()
    c.clear()
    d = list(range(n))
    e = b.pop()
    f = b.pop(0)
    return a + d, b + [e, f], a == b


fn("list_ops", lst, (3,))


def sh(x: Tensor) -> Tensor:
    b, c, h, w = x.shape
    return x.view(b, c * h, w).permute(0, 2, 1).reshape(b, -1, h).unsqueeze(1).expand(-1, 2, -1, -1)


fn("shapes", sh, (R(2, 3, 4, 5),))


def prom(x: Tensor, y: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    return x + y, x * 2.5, y / 2, torch.where(y > 1, x, 1.0)


fn("promotion", prom, (R(3), I(0, 4, 3)), (R(3).double(), I(0, 4, 3).int()), (R(3).half(), torch.tensor(2)))


def cplx(x: Tensor) -> Tensor:
    c = torch.complex(x, x * 2)
    return torch.view_as_real(c * c.conj()).sum() + c.abs() + c.real + c.imag + torch.angle(c)


fn("complex", cplx, (R(3),))


def dele(x: Tensor) -> Tensor:
    l = [x, x + 1, x + 2]
    del l[1]
    y = l[-1]
    del l
    return y


fn("del", dele, (R(2),))


def ww(n: int) -> int:
    s = 0
    while True:
        s += n
        n -= 1
        if n < 0:
            break
    return s


fn("while_true", ww, (4,), (0,))


def ew(x: Tensor) -> Tensor:
    i = 0
    while i < 3:
        x = x + i
        i += 1
    else_ = x
    return else_


fn("while_int", ew, (R(2),))


def tofn(x: Tensor) -> Tensor:
    return (
        F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False).mean()
        + F.pad(x, (1, 1)).sum()
        + F.softmax(x, dim=1).max()
        + F.gelu(x).min()
    )


fn("functional", tofn, (R(1, 2, 4, 4),))

torch.manual_seed(0)


def tr(name, m, *ins, how=("traced", "scripted"), **kw):
    if FILTER and not re.search(FILTER, name):
        return
    m = m.eval()
    for h in how:
        try:
            with torch.no_grad():
                s = torch.jit.trace(m, ins, check_trace=False, strict=False) if h == "traced" else torch.jit.script(m)
                if h == "frozen":
                    s = torch.jit.freeze(s)
        except Exception as e:
            W.results.append((f"{name}.{h}", "oracle", str(e)[-300:]))
            continue
        W.case(f"{name}.{h}", s, list(ins), **{"rtol": 1e-3, "atol": 1e-4, **kw})


ALL = ("traced", "scripted", "frozen")
tr("encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2), R(2, 5, 8), how=ALL)
tr(
    "encoder_gelu_first",
    nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", norm_first=True), 2, norm=nn.LayerNorm(8)),
    R(5, 2, 8),
    how=ALL,
)


class EncMask(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=False)

    def forward(self, x: Tensor, pad: Tensor) -> Tensor:
        return self.e(x, src_key_padding_mask=pad)


tr("encoder_pad", EncMask(), R(2, 5, 8), torch.tensor([[False] * 5, [False] * 3 + [True] * 2]), how=ALL)


class EncMask2(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)

    def forward(self, x: Tensor, pad: Tensor) -> Tensor:
        return self.e(x, src_key_padding_mask=pad)


tr("encoder_nested", EncMask2(), R(2, 5, 8), torch.tensor([[False] * 5, [False] * 3 + [True] * 2]), how=ALL)
tr("transformer", nn.Transformer(8, 2, 1, 1, 16, batch_first=True), R(2, 5, 8), R(2, 3, 8), how=ALL)


class TrM(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = nn.Transformer(8, 2, 1, 1, 16)

    def forward(self, s: Tensor, t: Tensor) -> Tensor:
        return self.t(s, t, tgt_mask=nn.Transformer.generate_square_subsequent_mask(t.size(0)), tgt_is_causal=True)


tr("transformer_mask", TrM(), R(5, 2, 8), R(3, 2, 8), how=("traced",))


class MHA(nn.Module):
    def __init__(self, **k):
        super().__init__()
        self.m = nn.MultiheadAttention(8, 2, **k)

    def forward(self, q: Tensor, kv: Tensor) -> Tuple[Tensor, Optional[Tensor]]:
        return self.m(q, kv, kv)


tr("mha", MHA(), R(3, 2, 8), R(5, 2, 8), how=ALL)
tr("mha_bias", MHA(add_bias_kv=True, add_zero_attn=True, batch_first=True), R(2, 3, 8), R(2, 5, 8), how=ALL)


class MHAK(nn.Module):
    def __init__(self):
        super().__init__()
        self.m = nn.MultiheadAttention(8, 2, kdim=4, vdim=6)

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return self.m(q, k, v, need_weights=False)[0]


tr("mha_kv", MHAK(), R(3, 2, 8), R(5, 2, 4), R(5, 2, 6), how=ALL)
for cls in ("LSTM", "GRU", "RNN"):
    for kw in (
        dict(),
        dict(num_layers=2, bidirectional=True),
        dict(batch_first=True, bias=False),
        dict(num_layers=2, dropout=0.3, bidirectional=True, batch_first=True),
    ):
        tr(f"{cls}.{'_'.join(kw) or 'plain'}", getattr(nn, cls)(3, 4, **kw), R(2, 5, 3), how=ALL)
tr("LSTM.proj", nn.LSTM(3, 4, proj_size=2, bidirectional=True), R(5, 2, 3), how=ALL)
tr("RNN.relu", nn.RNN(3, 4, nonlinearity="relu"), R(5, 3), how=ALL)
tr("GRU.unbatched", nn.GRU(3, 4, bidirectional=True), R(5, 3), how=ALL)


class Packed(nn.Module):
    def __init__(self, c, sort=True, **k):
        super().__init__()
        self.r = c(3, 4, **k)
        self.sort = sort
        self.bf = k.get("batch_first", False)

    def forward(self, x: Tensor, n: Tensor) -> Tuple[Tensor, Tensor]:
        p = nn.utils.rnn.pack_padded_sequence(x, n, batch_first=self.bf, enforce_sorted=self.sort)
        y, h = self.r(p)
        o, l = nn.utils.rnn.pad_packed_sequence(y, batch_first=self.bf)
        return o, l


tr("packed_gru", Packed(nn.GRU), R(5, 2, 3), torch.tensor([5, 3]), how=ALL)
tr("packed_lstm_unsorted", Packed(nn.LSTM, sort=False, bidirectional=True, batch_first=True), R(3, 5, 3), torch.tensor([2, 5, 3]), how=ALL)
# quantised
import torch.ao.quantization as Q

torch.backends.quantized.engine = "fbgemm"


class QN(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = Q.QuantStub()
        self.c = nn.Conv2d(3, 4, 3, padding=1)
        self.b = nn.BatchNorm2d(4)
        self.r = nn.ReLU()
        self.c2 = nn.Conv2d(4, 4, 3, stride=2)
        self.p = nn.AdaptiveAvgPool2d(1)
        self.l = nn.Linear(4, 5)
        self.d = Q.DeQuantStub()
        self.f = nn.quantized.FloatFunctional() if hasattr(nn, "quantized") else torch.ao.nn.quantized.FloatFunctional()
        self.hs = nn.Hardswish()
        self.e = nn.ELU()
        self.mp = nn.MaxPool2d(2)

    def forward(self, x):
        x = self.q(x)
        y = self.r(self.b(self.c(x)))
        z = self.f.add(y, y)
        z = self.mp(self.hs(z))
        z = self.e(self.c2(self.f.cat([z, z], 0)))
        z = self.p(z).flatten(1)
        return self.d(self.l(z))


def static(m, x):
    m.eval()
    m = Q.fuse_modules(m, [["c", "b", "r"]])
    m.qconfig = Q.get_default_qconfig("fbgemm")
    Q.prepare(m, inplace=True)
    m(x)
    return Q.convert(m)


try:
    tr("q_static", static(QN(), torch.rand(2, 3, 16, 16)), torch.rand(2, 3, 16, 16), how=ALL, atol=0.02)
except Exception as e:
    print("q_static", repr(e)[:300])


class DN(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(6, 5)
        self.r = nn.LSTM(5, 4, num_layers=2, bidirectional=True)
        self.g = nn.GRU(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.g(self.r(torch.relu(self.l(x)))[0])[0]


for dt in (torch.qint8, torch.float16):
    try:
        tr(
            f"q_dynamic_{str(dt)[6:]}",
            Q.quantize_dynamic(DN().eval(), {nn.Linear, nn.LSTM, nn.GRU}, dtype=dt),
            R(4, 2, 6),
            how=ALL,
            atol=0.03,
        )
    except Exception as e:
        print("q_dynamic", repr(e)[:300])


class CellN(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c(3, 4)

    def forward(self, x: Tensor) -> Tensor:
        r = self.c(x)
        return r[0] if isinstance(r, tuple) else r


for c in (nn.LSTMCell, nn.GRUCell, nn.RNNCell):
    try:
        tr(
            f"q_dynamic_{c.__name__}",
            Q.quantize_dynamic(CellN(c).eval(), {nn.LSTMCell, nn.GRUCell, nn.RNNCell}),
            R(2, 3),
            how=("traced",),
            atol=0.03,
        )
    except Exception as e:
        print("q_cell", repr(e)[:300])
from torch.ao.quantization.quantize_fx import prepare_fx, convert_fx


class FXN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, 4, 3)
        self.b = nn.BatchNorm2d(4)
        self.l = nn.Linear(4, 5)
        self.e = nn.LayerNorm(4)
        self.ct = nn.ConvTranspose2d(4, 4, 2)

    def forward(self, x):
        y = torch.relu(self.b(self.c(x)))
        y = self.ct(y) + 1.5
        y = F.hardtanh(y, 0.0, 6.0)
        y = F.interpolate(y, scale_factor=2.0)
        y = y.mean((2, 3))
        y = self.e(y)
        return F.softmax(self.l(y), -1) * torch.sigmoid(self.l(y))


for be in ("fbgemm", "qnnpack"):
    try:
        x = torch.rand(2, 3, 8, 8)
        m = FXN().eval()
        m = prepare_fx(m, Q.get_default_qconfig_mapping(be), (x,))
        m(x)
        m = convert_fx(m)
        tr(f"q_fx_{be}", m, x, how=ALL, atol=0.02)
    except Exception as e:
        print("fx", repr(e)[:300])


class QV(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer(
            "w", torch.quantize_per_channel(R(4, 3, 2), torch.tensor([0.1, 0.2, 0.05, 0.3]), torch.tensor([0, 1, 2, 3]), 0, torch.qint8)
        )

    def forward(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
        return (
            self.w.transpose(0, 1).dequantize() + x.sum(),
            self.w[1:].dequantize(),
            self.w.permute(2, 0, 1).dequantize(),
            self.w.select(1, 0).dequantize(),
        )


tr("q_channel_views", QV(), R(2), how=("traced",))


class QE(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.EmbeddingBag(10, 8, mode="sum")
        self.f = nn.Embedding(10, 8)

    def forward(self, i, o):
        return self.e(i, o), self.f(i)


m = QE().eval()
m.e.qconfig = Q.float_qparams_weight_only_qconfig
m.f.qconfig = Q.float_qparams_weight_only_qconfig
try:
    Q.prepare(m, inplace=True)
    m = Q.convert(m)
    tr("q_embedding", m, I(0, 10, 6), torch.tensor([0, 2]), how=("traced", "scripted"), atol=0.01)
except Exception as e:
    print("qe", repr(e)[:300])
# misc modules
for name, m, ins in [
    ("unfold", nn.Sequential(nn.Unfold(2, stride=2)), (R(1, 2, 4, 4),)),
    ("fold", nn.Fold((4, 4), 2, stride=2), (R(1, 8, 4),)),
    ("pixel", nn.Sequential(nn.PixelShuffle(2), nn.PixelUnshuffle(2)), (R(1, 4, 3, 3),)),
    ("instnorm", nn.InstanceNorm2d(3, affine=True, track_running_stats=True), (R(2, 3, 4, 4),)),
    ("groupnorm", nn.GroupNorm(2, 4), (R(2, 4, 3),)),
    ("prelu", nn.PReLU(3), (R(2, 3, 4),)),
    ("glu", nn.GLU(1), (R(2, 4),)),
    ("bilinear", nn.Bilinear(2, 3, 4), (R(5, 2), R(5, 3))),
    ("embbag", nn.EmbeddingBag(10, 3, mode="max"), (I(0, 10, 4, 3),)),
    ("upsample", nn.Upsample(scale_factor=(2.0, 1.5), mode="bicubic"), (R(1, 2, 4, 4),)),
    ("cosine", nn.CosineSimilarity(dim=1), (R(3, 4), R(3, 4))),
    ("lppool", nn.LPPool2d(2, 3, 2), (R(1, 2, 7, 7),)),
    ("maxunpool", None, None),
    ("chanshuffle", nn.ChannelShuffle(2), (R(1, 4, 3, 3),)),
    ("softmax2d", nn.Softmax2d(), (R(1, 3, 2, 2),)),
    ("adaptlog", nn.AdaptiveLogSoftmaxWithLoss(6, 10, [3, 6]), (R(4, 6), I(0, 10, 4))),
    ("spectral", nn.utils.parametrizations.spectral_norm(nn.Linear(3, 4)), (R(2, 3),)),
    ("weightnorm", nn.utils.parametrizations.weight_norm(nn.Linear(3, 4)), (R(2, 3),)),
    (
        "lazy",
        nn.Sequential(nn.Conv1d(3, 4, 3, padding="same", padding_mode="circular"), nn.Hardsigmoid(), nn.Mish(), nn.SELU()),
        (R(1, 3, 6),),
    ),
    (
        "ctr",
        nn.Sequential(nn.ConvTranspose1d(3, 4, 3, stride=2, output_padding=1, groups=1), nn.Flatten(), nn.Unflatten(1, (4, -1))),
        (R(1, 3, 6),),
    ),
    (
        "gaussdrop",
        nn.Sequential(
            nn.Dropout(),
            nn.AlphaDropout(),
            nn.Identity(),
            nn.Threshold(0.1, 2.0),
            nn.LogSigmoid(),
            nn.Softplus(2.0),
            nn.Softshrink(),
            nn.Tanhshrink(),
            nn.CELU(),
            nn.RReLU(),
        ),
        (R(2, 3),),
    ),
]:
    if m is not None:
        tr(name, m, *ins, how=ALL)

import torchvision.models as TM

x = torch.rand(1, 3, 64, 64)
for n in (
    "resnet18",
    "mobilenet_v3_small",
    "shufflenet_v2_x0_5",
    "mnasnet0_5",
    "squeezenet1_1",
    "efficientnet_b0",
    "regnet_y_400mf",
    "densenet121",
):
    tr(n, getattr(TM, n)(), x)
tr("googlenet", TM.googlenet(init_weights=False), torch.rand(1, 3, 64, 64))
tr("inception", TM.inception_v3(init_weights=False), torch.rand(1, 3, 96, 96))
tr("vit", TM.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=5), torch.rand(1, 3, 32, 32))
tr("swin", TM.SwinTransformer([4, 4], 16, [1, 1], [2, 2], [4, 4], num_classes=5), torch.rand(1, 3, 32, 32))
from torchvision.models.swin_transformer import SwinTransformerBlockV2, PatchMergingV2

tr(
    "swinv2",
    TM.SwinTransformer([4, 4], 16, [1, 1], [2, 2], [4, 4], num_classes=5, block=SwinTransformerBlockV2, downsample_layer=PatchMergingV2),
    torch.rand(1, 3, 32, 32),
)
from torchvision.models.convnext import CNBlockConfig

tr("convnext", TM.ConvNeXt([CNBlockConfig(8, 16, 1), CNBlockConfig(16, None, 1)], num_classes=4), torch.rand(1, 3, 32, 32))

tr("lraspp", TM.segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=3), x)
tr("fcn", TM.segmentation.fcn_resnet50(weights_backbone=None, num_classes=3), torch.rand(1, 3, 32, 32), open_=(True,))
tr("r3d", TM.video.r3d_18(num_classes=3), torch.rand(1, 3, 4, 16, 16), open_=(False,))
d = TM.detection
torch.manual_seed(3)
tr(
    "ssdlite",
    d.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=4),
    [torch.rand(3, 100, 120)],
    open_=(False,),
)
tr(
    "retinanet",
    d.retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=3, min_size=64, max_size=96),
    [torch.rand(3, 70, 80)],
    open_=(False,),
)
tr(
    "fasterrcnn",
    d.fasterrcnn_mobilenet_v3_large_320_fpn(weights=None, weights_backbone=None, num_classes=3, min_size=64, max_size=96),
    [torch.rand(3, 70, 80)],
    open_=(False,),
)
done()
