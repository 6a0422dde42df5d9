"""Which functions of a module refer to which: `analysis.CallGraph`."""
from . import relay
from .objects import Object


class CallGraph(Object):
    """Of a module: who refers to whom. Functions by `relay.GlobalVar` or name."""

    def __init__(self, module):
        self.module = module
        self._refers = {}  # name -> names in it, each once
        for name in module._names:
            uses = {}

            def see(node, uses=uses):
                uses.update((part.name_hint, None) for part in node._children() if isinstance(part, relay.GlobalVar))
            relay.post_order_visit(module[name], see)
            self._refers[name] = list(uses)

    def _uses(self, var):
        name = relay._name_of(var)
        if name not in self._refers:
            raise ValueError(f"there is no function {name}; there are {', '.join(self._refers)}")
        return self._refers[name]

    def ref_count(self, var):
        """How many functions refer to it, itself too."""
        self._uses(var)
        return sum(uses.count(relay._name_of(var)) for uses in self._refers.values())

    def global_call_count(self, var):
        """How many functions it refers to."""
        return len(self._uses(var))

    def is_recursive(self, var):
        """Whether it refers to itself, through others too."""
        seen, left = set(), list(self._uses(var))
        while left:
            name = left.pop()
            if name == relay._name_of(var):
                return True
            if name not in seen:
                seen.add(name)
                left.extend(self._refers.get(name, ()))
        return False

    def print_var(self, var):
        """Text about a function."""
        uses = self._uses(var)
        lines = [f"@{relay._name_of(var)}: #refs = {self.ref_count(var)}"]
        return "\n".join([*lines, *(f"  refers to @{name}" for name in uses)]) + "\n"

    def __str__(self):
        return "\n".join(map(self.print_var, self._refers))
