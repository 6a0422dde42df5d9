"""Calls without a name where they are used: f(g(x)) instead of let %v = g(x); f(%v).

The compiler's form binds each call of a function, which may have effects, by a let, so that their order is said. Where the one use of
such a binding comes next, the nodes that Python sees have the call there: what is made of them again has the same order.
"""
from . import relay

_LONGEST = 64  # reads that are remembered of a node; of more, some bindings stay


def may_apply(records):
    """Whether there is a let without a name."""
    return any(kind == "let" and not records[operands[0]][2].name for kind, operands, *_ in records)


class Builder:
    """Told of each node as it is made, operands first: gives the node that stands for it."""

    def __init__(self, records):
        self.uses = [0] * len(records)
        for _, operands, *_ in records:
            for i in operands:
                self.uses[i] += 1
        self.reads = {}  # id of a node -> variables that it reads before it has an effect: [(variable, id of the one that reads)]
        self.nodes = {}

    def add(self, node, record):
        """What stands for the node of a record."""
        if type(node) is relay.Let:
            made = self.without(node, record[1][0])
            if made is not node:
                return made
        found = self.read_first(node)
        if found:
            self.reads[id(node)] = found[:_LONGEST]
            self.nodes[id(node)] = node
        return node

    def read_first(self, node):
        """[(variable, node)]: variables without a name that a node reads before anything else."""
        found = []
        for part in _evaluated(node):
            if type(part) is relay.Var:
                if not part.name_hint:
                    found.append((part, node))
            else:
                inner = self.reads.get(id(part))
                if inner:
                    found.extend(inner)
                if _has_effect(part):
                    break
        return found

    def without(self, let, position):
        """The let's body with the value where the variable is read, if that is the same; or else the let."""
        variable = let.var
        if variable.name_hint or self.uses[position] != 2 or type(let.value) in (relay.Let, relay.Function):
            return let
        if let.body is variable:
            return let.value
        reads = self.reads.get(id(let.body), [])
        at = next((i for i, (v, _) in enumerate(reads) if v is variable), None)
        if at is None:
            return let
        _replace(reads[at][1], variable, let.value)
        self.reads[id(let.body)] = (reads[:at] + self.reads.get(id(let.value), []))[:_LONGEST]
        return let.body


def _evaluated(node):
    """What is evaluated first of a node: parts, in their order."""
    if isinstance(node, relay.Let):
        return (node.value,)
    if isinstance(node, relay.If):
        return (node.cond,)
    if isinstance(node, relay.Match):
        return (node.data,)
    if isinstance(node, relay.Function):
        return ()
    if isinstance(node, (relay.Call, relay.Tuple, relay.TupleGetItem, relay.RefCreate, relay.RefRead, relay.RefWrite)):
        return node._children()
    return ()


def _has_effect(node):
    if isinstance(node, relay.Call):
        return not isinstance(node.op, (relay.Op, relay.Constructor))
    if isinstance(node, (relay.Tuple, relay.TupleGetItem, relay.Function, relay.Constant, relay.GlobalVar, relay.Constructor, relay.Op)):
        return False
    return True


def _replace(node, variable, value):
    for name in ("op", "args", "fields", "tuple_value", "value", "cond", "data", "ref"):
        part = getattr(node, name, None)
        if part is variable:
            relay._set(node, name, value)
        elif isinstance(part, tuple) and any(p is variable for p in part):
            relay._set(node, name, type(part)(value if p is variable else p for p in part))
