"""tvm.relay.backend.te_compiler: TVM's store of kernels. Here each program has its own, and there is nothing to forget."""
from ....compiler.objects import Object
from ...elsewhere import elsewhere
from .names import mangle_module_name


class TECompiler(Object):
    """What `get` gives."""

    def clear(self):
        """Forgets kernels: there are none."""

    def items(self):
        """Kernels: none."""
        return []

    def shape_func_items(self):
        """Functions of shapes: none."""
        return []

    def get_current_ccache_key(self):
        """Refused: kernels have no keys."""
        return _ABSENT["CCacheKey"]()

    def lower(self, source_func, target=None, mod_name="default"):
        """Refused: relay.build makes programs."""
        return _ABSENT["lower_call"]()

    jit = lower_shape_func = lower


_COMPILER = TECompiler()


def get():
    """The store."""
    return _COMPILER


def get_shape(shape):
    """The dims as they are: open ones stay."""
    return list(shape)


_NAMES = ("CCacheKey", "CCacheValue", "LoweredOutput", "get_valid_implementations", "is_auto_scheduler_enabled", "is_meta_schedule_enabled",
          "lower_call", "lower_to_primfunc", "select_implementation")
_INSTEAD = "kernels are made by the compiler; operators of your own are plugins (relayc --plugin)"
_ABSENT = {name: elsewhere(f"relay.backend.te_compiler.{name}", _INSTEAD) for name in _NAMES}


def __getattr__(name):
    if name in _ABSENT:
        return _ABSENT[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["TECompiler", "get", "get_shape", "mangle_module_name"]
