"""Passes: relayvm.transform's, and PassContext."""
import warnings

from ..compiler import PassContext as _PassContext
from ..compiler import _native
from ..compiler import transform as _transform


class PassContext(_PassContext):
    """Options for what is built inside of a `with`. Passes of TVM's that have no counterpart of the name here are disabled already."""

    def __init__(self, opt_level=2, required_pass=None, disabled_pass=None, instruments=None, config=None, **options):
        known = _native.passes()
        others = [name for name in disabled_pass or () if name not in known]
        if others:
            warnings.warn(f"PassContext: there are no passes {', '.join(others)} here", stacklevel=2)
        super().__init__(opt_level, required_pass, [name for name in disabled_pass or () if name in known], config, **options)


def __getattr__(name):
    return getattr(_transform, name)
