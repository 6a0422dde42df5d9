"""The kinds of types: `analysis.check_kind`."""
from ..errors import InvalidInput
from . import relay
from .relay import TypeKind


def check_kind(t, mod=None):
    """The kind of a type (`TypeKind`). Raises InvalidInput where a part of it is of another kind than its place asks for. mod: whose type
    definitions say how many arguments they take."""
    if isinstance(t, (relay.TypeVar, relay.GlobalTypeVar, relay.IncompleteType)):
        return t.kind
    if isinstance(t, relay.TypeData):
        _expect(t, [t.header], TypeKind.AdtHandle, mod)
        _expect(t, [field for c in t.constructors for field in c.inputs], TypeKind.Type, mod)
        return TypeKind.TypeData
    if isinstance(t, relay.TupleType):
        _expect(t, t.fields, TypeKind.Type, mod)
    elif isinstance(t, relay.RefType):
        _expect(t, [t.value], TypeKind.Type, mod)
    elif isinstance(t, relay.FuncType):
        _expect(t, [*t.arg_types, t.ret_type], TypeKind.Type, mod)
        _expect(t, t.type_constraints, TypeKind.Constraint, mod)
    elif isinstance(t, relay.TypeRelation):
        _expect(t, t.args, TypeKind.Type, mod)
        return TypeKind.Constraint
    elif isinstance(t, relay.TypeCall):
        _call(t, mod)
    return TypeKind.Type


def _expect(whole, parts, kind, mod):
    for part in parts:
        found = check_kind(part, mod)
        if found != kind:
            raise InvalidInput(f"{whole}: expected the kind {kind.name}, found {part} of the kind {found.name}")


def _call(t, mod):
    _expect(t, [t.func], TypeKind.AdtHandle, mod)
    _expect(t, t.args, TypeKind.Type, mod)
    if mod is None:
        return
    data = mod.type_definitions.get(str(t.func))
    if data is None:
        raise InvalidInput(f"{t}: there is no type {t.func}; there are {', '.join(mod.type_definitions) or 'none'}")
    if len(data.type_vars) != len(t.args):
        raise InvalidInput(f"{t}: {t.func} takes {len(data.type_vars)} types, found {len(t.args)}")
