"""Names that nothing has yet: `NameSupply` of texts, `GlobalVarSupply` of functions' names."""
import re

from . import relay
from .objects import Object

_NOT_PLAIN = re.compile(r"[^\w ]")


class NameSupply(Object):
    """Names with a prefix, each given once."""

    def __init__(self, prefix=""):
        self._prefix, self._numbers = prefix, {}  # of each name, the next number behind it

    def _whole(self, name, add_prefix):
        name = f"{self._prefix}_{name}" if add_prefix and self._prefix else name
        return _NOT_PLAIN.sub("_", name)

    def fresh_name(self, name, add_prefix=True, add_underscore=True):
        """The name, with a number where it is taken (behind a _, unless that is not wanted); it is taken from here on."""
        whole = given = self._whole(name, add_prefix)
        while given in self._numbers:
            self._numbers[whole] += 1
            given = f"{whole}{'_' if add_underscore else ''}{self._numbers[whole]}"
        self._numbers[given] = 0
        return given

    def reserve_name(self, name, add_prefix=True):
        """Takes a name, whether it is taken or not."""
        whole = self._whole(name, add_prefix)
        self._numbers.setdefault(whole, 0)
        return whole

    def contains_name(self, name, add_prefix=True):
        """Whether it is taken."""
        return self._whole(name, add_prefix) in self._numbers


def _prefix_of(module):
    """What names of a module's functions begin with, as TVM has it."""
    name = (getattr(module, "attrs", None) or {}).get("mod_name", "default")
    return f"tvmgen_{name}"


class GlobalVarSupply(Object):
    """`relay.GlobalVar`s by name, each name once.

    value: a `NameSupply` that gives the names, or None; a module or several, whose functions keep their names: new ones begin with the
    first module's.
    """

    def __init__(self, value=None):
        modules = [] if value is None or isinstance(value, NameSupply) else value if isinstance(value, (list, tuple)) else [value]
        self._names = value if isinstance(value, NameSupply) else NameSupply(_prefix_of(modules[0]) if modules else "")
        self._vars = {}
        for module in modules:
            for var in module.get_global_vars():
                self.reserve_global(var, allow_conflict=True)

    def fresh_global(self, name, add_prefix=True):
        """A new one, with a number in its name where that is taken."""
        given = self._names.fresh_name(name, add_prefix)
        return self._vars.setdefault(given, relay.GlobalVar(given))

    def unique_global_for(self, name, add_prefix=True):
        """The one of that name: always the same."""
        whole = self._names._whole(name, add_prefix)
        if whole not in self._vars:
            self._names.reserve_name(whole, False)
            self._vars[whole] = relay.GlobalVar(whole)
        return self._vars[whole]

    def reserve_global(self, global_var, allow_conflict=False):
        """Takes one with its name."""
        name = global_var.name_hint
        if name in self._vars and not allow_conflict and self._vars[name] is not global_var:
            raise ValueError(f"reserve_global: there is another function {name} already; allow_conflict=True puts this one in its place")
        self._names.reserve_name(name, False)
        self._vars[name] = global_var
