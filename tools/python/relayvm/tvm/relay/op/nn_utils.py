"""The names of tvm.relay.op.nn.utils: padding written out; and those of tvm.relay.op.nn that are no operators here."""
from ...elsewhere import elsewhere


def _whole(padding, rank):
    """Before all dims, then behind all, of one number, one for each dim, or all."""
    padding = [int(p) for p in padding] if isinstance(padding, (list, tuple)) else [int(padding)]
    if len(padding) not in (1, rank, 2 * rank):
        raise ValueError(f"Size of padding can only be {', '.join(map(str, sorted({1, rank, 2 * rank})))}, found {padding}")
    return tuple(padding * (2 * rank) if len(padding) == 1 else padding * 2 if len(padding) == rank else padding)


def get_pad_tuple1d(padding):
    """(left, right)"""
    return _whole(padding, 1)


def get_pad_tuple2d(padding):
    """(top, left, bottom, right)"""
    return _whole(padding, 2)


def get_pad_tuple3d(padding):
    """(front, top, left, back, bottom, right)"""
    return _whole(padding, 3)


_OF_KERNELS = """bitpack bitserial_conv2d bitserial_dense contrib_conv2d_gemm_weight_transform contrib_conv2d_gemm_without_weight_transform
contrib_conv2d_winograd_nnpack_weight_transform contrib_conv2d_winograd_weight_transform contrib_conv2d_winograd_without_weight_transform
contrib_conv3d_winograd_weight_transform contrib_conv3d_winograd_without_weight_transform conv2d_backward_weight""".split()


def __getattr__(name):
    if name in _OF_KERNELS:
        return elsewhere(f"relay.op.nn.{name}", "the compiler chooses how a convolution or product is computed: write nn.conv2d, nn.conv3d, nn.dense")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["get_pad_tuple1d", "get_pad_tuple2d", "get_pad_tuple3d"]
