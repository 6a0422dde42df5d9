"""tvm.contrib.dlpack: functions of arrays as functions of another package's tensors."""
from ..nd import NDArray, from_dlpack


def convert_func(tvm_func, tensor_type, to_dlpack_func):
    """The function, which takes tensors of `tensor_type` too: they cross by DLPack, without a copy."""
    def run(*args):
        return tvm_func(*(from_dlpack(to_dlpack_func(arg)) if isinstance(arg, tensor_type) else arg for arg in args))
    return run


def to_pytorch_func(tvm_func):
    """The function, which takes tensors of PyTorch's too."""
    import torch
    from torch.utils import dlpack
    return convert_func(tvm_func, torch.Tensor, dlpack.to_dlpack)


__all__ = ["NDArray", "convert_func", "to_pytorch_func"]
