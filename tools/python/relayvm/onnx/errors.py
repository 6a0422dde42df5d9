"""Exceptions by ONNX Runtime's names. Each is an exception of relayvm's too, with its fields: places, subject, expected, found."""
from .. import errors as _ours


class Fail(_ours.Error, RuntimeError):
    """What went wrong has no name of its own: a run that was cancelled, a request that cannot be met."""


class InvalidArgument(_ours.InvalidArgument, RuntimeError):
    """An input or option is wrong: its name, dtype, dims or values."""


class NoSuchFile(_ours.FileNotFound):
    """There is no such model, or no such file of its weights."""


class NoModel(_ours.Error, RuntimeError):
    """A session without a model."""


class EngineError(_ours.Error, RuntimeError):
    """An engine failed."""


class RuntimeException(_ours.Error, RuntimeError):
    """A run failed: no memory, or what the model asks of its data did not hold."""


class InvalidProtobuf(_ours.InvalidInput, RuntimeError):
    """The bytes are no ONNX model."""


class ModelLoaded(_ours.Error, RuntimeError):
    """A session that has a model already."""


class NotImplemented(_ours.Unsupported, RuntimeError):  # noqa: A001 (ONNX Runtime's name)
    """An operator or type that there is not."""


class InvalidGraph(_ours.InvalidInput, RuntimeError):
    """The model is malformed, or its types are wrong."""


class EPFail(_ours.Error, RuntimeError):
    """An execution provider failed."""


class ModelLoadCanceled(_ours.Error, RuntimeError):
    """Loading was cancelled."""


class ModelRequiresCompilation(_ours.Error, RuntimeError):
    """A model that must be compiled first."""


class NotFound(_ours.NotFound, RuntimeError):
    """A name that there is not."""


class DeviceReset(_ours.Error, RuntimeError):
    """A device that was reset."""


ALL = (DeviceReset, EPFail, EngineError, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, ModelLoadCanceled, ModelLoaded,
       ModelRequiresCompilation, NoModel, NoSuchFile, NotFound, NotImplemented, RuntimeException)

_OF = ((_ours.FileNotFound, NoSuchFile), (_ours.InvalidArgument, InvalidArgument), (_ours.InvalidInput, InvalidGraph),
       (_ours.Unsupported, NotImplemented), (_ours.NotFound, NotFound), (_ours.OutOfRange, InvalidArgument),
       ((_ours.Cancelled, _ours.DeadlineExceeded), Fail))


def translated(error):
    """The exception of ONNX Runtime's name for one of ours, or for a value of a type that no tensor is made of."""
    if isinstance(error, ALL):
        return error
    if not isinstance(error, _ours.Error):
        return InvalidArgument(str(error))
    kind = next((kind for ours, kind in _OF if isinstance(error, ours)), RuntimeException)
    new = kind(*error.__reduce__()[1])
    for note in getattr(error, "__notes__", ()):
        new.add_note(note)
    return new
