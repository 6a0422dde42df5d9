"""The names of tvm.relay.op.nn.utils: padding written out."""


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


__all__ = ["get_pad_tuple1d", "get_pad_tuple2d", "get_pad_tuple3d"]
