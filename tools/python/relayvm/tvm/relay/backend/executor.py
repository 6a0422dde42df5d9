"""What will run a program, as TVM's build names it."""


class _Named:
    _kinds = ()

    def __init__(self, name, options=None):
        if name not in self._kinds:
            raise ValueError(f"{type(self).__name__}: expected one of {', '.join(self._kinds)}, found {name}")
        self.name, self.attrs = name, dict(options or {})

    def __getitem__(self, name):
        return self.attrs[name]

    def __eq__(self, other):
        return type(self) is type(other) and (self.name, self.attrs) == (other.name, other.attrs)

    __hash__ = None

    @classmethod
    def list_registered(cls):
        """Names of all."""
        return list(cls._kinds)

    def __str__(self):
        return " ".join([self.name, *(f"-{key}={int(value) if isinstance(value, bool) else value}" for key, value in self.attrs.items())])

    __repr__ = __str__


class Executor(_Named):
    """Executor("graph"), Executor("aot")."""

    _kinds = ("aot", "graph")


class Runtime(_Named):
    """Runtime("cpp"), Runtime("crt")."""

    _kinds = ("cpp", "crt")


__all__ = ["Executor", "Runtime"]
