"""Values that programs take and give, as TVM has them."""
import numpy

from ..adt import Adt, tag_of
from ..compiler import relay
from ..compiler.executor import RefValue
from .nd import NDArray


class _Fields(type):
    def __instancecheck__(cls, value):
        return isinstance(value, Adt) or type.__instancecheck__(cls, value)


class ADT(tuple, metaclass=_Fields):
    """A tuple (tag 0), or a value of an algebraic data type: ADT(constructor.tag, fields). Results of data types are `relayvm.Adt`, which
    counts as one."""

    def __new__(cls, tag, fields=()):
        made = super().__new__(cls, fields)
        made.tag = tag
        return made


def tuple_object(fields=None):
    """A tuple of values."""
    return ADT(0, fields or ())


def wrapped(value):
    """A result, as TVM gives it: arrays and `ADT`s of them."""
    if isinstance(value, numpy.ndarray):
        return value.view(NDArray)
    if isinstance(value, tuple):
        return ADT(0, map(wrapped, value))
    if isinstance(value, RefValue):
        return RefValue(wrapped(value.value))
    stack = [value] if isinstance(value, Adt) else []
    while stack:  # lists are deep
        one = stack.pop()
        one.fields = tuple([field if isinstance(field, Adt) else wrapped(field) for field in one.fields])
        stack.extend(field for field in one.fields if isinstance(field, Adt))
    return value


def given(value, model=None):
    """An argument, as relayvm takes it. model: which has the constructors of `ADT`s."""
    if isinstance(value, relay.Constant):
        return value.data
    if isinstance(value, (tuple, list, relay.Tuple)) and not isinstance(value, numpy.ndarray):
        fields = tuple([given(field, model) for field in value])
        tag = getattr(value, "tag", 0)
        return Adt(_constructor(tag, model), *fields) if tag else fields if isinstance(value, (tuple, relay.Tuple)) else list(fields)
    return value


def _constructor(tag, model):
    names = [name for constructors in (model.types if model is not None else {}).values() for name in constructors]
    for name in names:
        if tag_of(name) == tag:
            return name
    raise ValueError(f"there is no constructor of tag {tag}; constructors: {', '.join(names) or 'none'}")


class ConstructorValue(Adt, metaclass=_Fields):
    """A value of a data type, as the executor "debug" has it: ConstructorValue(cons.tag, [x, rest], cons). Results are `relayvm.Adt`, which
    counts as one."""

    __slots__ = ()

    def __new__(cls, tag, fields, constructor):
        return Adt(constructor.name_hint, *fields)


def is_plain(value):
    """Whether programs take an argument as it is."""
    if isinstance(value, (relay.Expr, RefValue)):
        return isinstance(value, relay.Constant)
    return all(map(is_plain, value)) if isinstance(value, tuple) else not isinstance(value, Adt) or all(map(is_plain, value.fields))


def as_expression(value, mod=None):
    """An expression of an argument. mod: which has the constructors."""
    if isinstance(value, relay.Expr):
        return value
    if isinstance(value, RefValue):
        return relay.RefCreate(as_expression(value.value, mod))
    if isinstance(value, Adt):
        constructors = [c for data in mod.type_definitions.values() for c in data.constructors if c.name_hint == value.constructor]
        return relay.Call(constructors[0], [as_expression(field, mod) for field in value.fields])
    return relay.Tuple([as_expression(field, mod) for field in value]) if isinstance(value, tuple) else relay.const(value)
