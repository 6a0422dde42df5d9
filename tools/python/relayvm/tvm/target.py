"""Targets: names of machines, as TVM writes them."""
from types import SimpleNamespace

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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass
