"""tvm.ir.container: lists and dicts of the runtime."""


class Array(list):
    """A list."""


class Map(dict):
    """A dict."""


__all__ = ["Array", "Map"]
