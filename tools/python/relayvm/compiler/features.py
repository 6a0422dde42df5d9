"""Which kinds of expressions a program has: `analysis.detect_feature`."""
import enum

from . import relay


class Feature(enum.IntEnum):
    """A kind of expression; fGraph: an expression that several use, fLetRec: a function that a let binds and that calls itself."""

    fVar, fGlobalVar, fConstant, fTuple, fTupleGetItem, fFunction, fOp, fCall, fLet, fIf, fRefCreate, fRefRead, fRefWrite, fConstructor, \
        fMatch, fGraph, fLetRec = range(17)


_ATOMS = (relay.Var, relay.GlobalVar, relay.Constant, relay.Op, relay.Constructor)


def detect_feature(a, b=None):
    """The `Feature`s of an expression, or of all functions of a module."""
    found = set()
    for of in (a, b):
        if of is None:
            continue
        for root in [of] if isinstance(of, relay.Expr) else [of[name] for name in of._names]:
            _detect(root, found)
    return found


def _detect(root, found):
    used = set()
    for node in relay._post_order(root, lambda e: () if isinstance(e, relay.Function) and "Primitive" in e.attrs else e._children()):
        name = f"f{type(node).__name__}"
        if name in Feature.__members__:
            found.add(Feature[name])
        if isinstance(node, relay.Let) and isinstance(node.value, relay.Function) and node.var in relay._free_vars(node.value):
            found.add(Feature.fLetRec)
        if name == "fFunction" and "Primitive" in node.attrs:
            continue
        for part in node._children():
            if not isinstance(part, _ATOMS):
                if id(part) in used:
                    found.add(Feature.fGraph)
                used.add(id(part))
