"""Tensors of PyTorch's as what programs take, and back: the same memory, whenever it is contiguous and aligned.

Where PyTorch has DLPack's functions of C, the native part takes tensors and gives them itself. Else numpy's arrays are the quickest way
between the two for the dtypes that numpy has; the rest go by DLPack.
"""
import operator

import torch

from .. import _native

# The native part takes and gives tensors.
_DIRECT = _native.exchanges(torch.Tensor)

# What numpy has no dtype of.
_BY_DLPACK = {torch.bfloat16}


def _plain(tensor):
    """Without gradients, and with what conj() and neg views put off done."""
    return tensor.detach().resolve_conj().resolve_neg()


def _array(tensor):
    try:
        return tensor.numpy()
    except RuntimeError:  # it requires gradients, or is a lazy conjugate or negative
        return _plain(tensor).numpy()


def _complex(tensor):
    return torch.view_as_real(_plain(tensor)).numpy()


def caller(function):
    """What calls a `relayvm.Function` with what `into` gives, for what `out_of` takes."""
    if not _DIRECT:
        return function
    call = _native.Callable()
    call._bind(function._call.giving(torch.Tensor))
    return call


def into(example):
    """The function that takes an argument like this one (a fake tensor, a number) to what a program takes; None: as it is."""
    if not isinstance(example, torch.Tensor):
        return None
    if example.dtype.is_complex:
        return _complex
    if _DIRECT:
        return None
    return _plain if example.dtype in _BY_DLPACK else _array


def taker(inputs):
    """The function that takes the program's inputs out of arguments; inputs: [(position of an argument, what `into` gave)]."""
    positions = [i for i, _ in inputs]
    if any(into for _, into in inputs):
        return lambda arguments: [into(arguments[i]) if into else arguments[i] for i, into in inputs]
    if not positions:
        return lambda arguments: ()
    if positions == list(range(positions[0], positions[-1] + 1)):
        return operator.itemgetter(slice(positions[0], positions[-1] + 1))
    return operator.itemgetter(*positions)


def _tensor(array):
    # What is not writable has other users: a constant of the program, or another result that is the same.
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def _complex_tensor(result):
    return torch.view_as_complex(result if _DIRECT else _tensor(result))


def _number_of(result):
    return result.item()


def out_of(example):
    """The function that makes a result like this one of what a program gives; None: it is that."""
    if not isinstance(example, torch.Tensor):
        return _number_of
    if example.dtype.is_complex:
        return _complex_tensor
    if _DIRECT:
        return None
    return torch.from_dlpack if example.dtype in _BY_DLPACK else _tensor


def may_share(examples):
    """Whether two of these results may be one tensor of the program, and not say so: arrays do, what comes by DLPack does not."""
    return not _DIRECT and sum(isinstance(example, torch.Tensor) and example.dtype in _BY_DLPACK for example in examples) > 1


def unshare(results):
    """Copies tensors whose memory an earlier one has, in place."""
    seen = set()
    for i, result in enumerate(results):
        if isinstance(result, torch.Tensor):
            place = result.data_ptr()
            if place in seen:
                results[i] = result.clone()
            seen.add(place)
