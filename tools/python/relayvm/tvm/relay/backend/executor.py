"""What will run a program, as TVM's build names it."""
from ....compiler.objects import Object
from ...error import TVMError

_TYPES = {str: "runtime.String", bool: "IntImm", int: "IntImm"}


class _Named(Object):
    """A kind by its name, with options that it knows."""

    flag_registry_name = ""
    _kinds = {}  # name: {option: (type, default or None)}

    def __init__(self, name, options=None):
        known = self.list_registered_options(name)
        self.name, self.attrs = name, {key: default for key, (_, default) in self._kinds[name].items() if default is not None}
        for key, value in dict(options or {}).items():
            if key not in known:
                raise TVMError(f'Attribute "{key}" is not available on this {type(self).__name__}; there are {", ".join(known) or "none"}')
            found = _TYPES.get(type(value), type(value).__name__)
            if found != known[key]:
                raise TVMError(f'Attribute "{key}" should have type "{known[key]}" but instead found "{found}"')
            self.attrs[key] = value

    def __contains__(self, name):
        return name in self.attrs

    def __getitem__(self, name):
        if name not in self._kinds[self.name]:
            raise KeyError(name)
        return self.attrs.get(name)

    def __eq__(self, other):
        return type(self) is type(other) and (self.name, self.attrs) == (other.name, other.attrs)

    __hash__ = None

    @classmethod
    def list_registered(cls):
        """Names of all."""
        return list(cls._kinds)

    @classmethod
    def list_registered_options(cls, name):
        """Types of the options of a kind, by their names."""
        if name not in cls._kinds:
            raise TVMError(f'{cls.__name__} "{name}" is not defined; there are {", ".join(cls._kinds)}')
        return {key: kind for key, (kind, _) in cls._kinds[name].items()}

    def __str__(self):
        return " ".join([self.name, *(f"-{key}={int(value) if isinstance(value, bool) else value}" for key, value in self.attrs.items())])

    __repr__ = __str__


class Executor(_Named):
    """Executor("graph"), Executor("aot", {"interface-api": "c"}). Programs of relay.build run either way."""

    flag_registry_name = "executor"

    _kinds = {
        "aot": {"link-params": ("IntImm", True), "unpacked-api": ("IntImm", None), "interface-api": ("runtime.String", None),
                "workspace-byte-alignment": ("IntImm", None), "constant-byte-alignment": ("IntImm", None)},
        "graph": {"link-params": ("IntImm", False)},
    }


class Runtime(_Named):
    """Runtime("cpp"), Runtime("crt")."""

    flag_registry_name = "runtime"

    _kinds = {"cpp": {"system-lib": ("IntImm", None)}, "crt": {"system-lib": ("IntImm", None)}}


__all__ = ["Executor", "Runtime"]
