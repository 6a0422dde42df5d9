"""Targets: names of machines, as TVM writes them."""
from types import SimpleNamespace

from ..compiler.passes.quantised import current_target, for_target

codegen = SimpleNamespace(llvm_version_major=lambda allow_none=False: 19)  # which the compiler is built with


class Target(str):
    """"llvm", "llvm -mcpu=skylake-avx512", or a target of relayvm's. host is the same machine here."""

    def __new__(cls, target="llvm", host=None):
        if isinstance(target, dict):
            target = " ".join([target.get("kind", "llvm"), *(f"-{key}={value}" for key, value in target.items() if key != "kind")])
        made = super().__new__(cls, target)
        made.host = host if host is None or isinstance(host, Target) else Target(host)
        return made

    @property
    def kind(self):
        """Its first word, as `name` of it."""
        return SimpleNamespace(name=self.split()[0])

    @property
    def max_function_args(self):
        """The most arguments that a kernel has; 0: any number."""
        return 0

    def __enter__(self):
        self._entered = [*getattr(self, "_entered", ()), for_target(self)]
        self._entered[-1].__enter__()
        return self

    def __exit__(self, *_):
        self._entered.pop().__exit__(None, None, None)

    @staticmethod
    def current(allow_none=True):
        """The target of the innermost `with`, or None."""
        if current_target() is None and not allow_none:
            raise ValueError("Target.current: there is no `with` of a target")
        return current_target()


class VirtualDevice:
    """A device, the target that programs for it are made for, and a place in its memory; there is the processor alone."""

    def __init__(self, device=None, target=None, memory_scope=""):
        self.device, self.target, self.memory_scope = device, target, memory_scope

    def __repr__(self):
        return f"VirtualDevice({self.device!r}, {self.target!r})"
