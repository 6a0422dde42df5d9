"""tvm.runtime.script_printer: text of programs."""
from ...compiler.objects import Node as Scriptable
from ...compiler.objects import Object


class PrinterConfig(Object):
    """How TVM writes TVMScript. Programs are Relay text here, which has one form."""

    def __init__(self, **config):
        self.__dict__.update(config)


__all__ = ["PrinterConfig", "Scriptable"]
