"""What tvm.relay.ty and tvm.relay.scope_builder have besides."""


def is_dynamic(tensor_type):
    """Whether a size of a tensor type, or of those in a tuple, is known only when the program runs."""
    fields = getattr(tensor_type, "fields", None)
    return any(map(is_dynamic, fields)) if fields is not None else not all(isinstance(dim, int) for dim in tensor_type.shape)


class WithScope:
    """with WithScope(value, exit_cb) as value: exit_cb() is called where it ends."""

    def __init__(self, enter_value, exit_cb):
        self._enter_value, self._exit_cb = enter_value, exit_cb

    def __enter__(self):
        return self._enter_value

    def __exit__(self, *_):
        self._exit_cb()


__all__ = ["WithScope", "is_dynamic"]
