"""Attributes of calls as Relay text has them: in TVM's order, and those that TVM writes."""
from . import _native, relay
from .attribute_classes import OF_OPERATORS

# Fields whose defaults are others in TVM than here, so that they are written always.
_ALWAYS = {"image.resize1d": "roi", "image.resize2d": "roi", "image.resize3d": "roi", "qnn.batch_matmul": "out_dtype", "qnn.conv2d": "out_dtype",
           "qnn.conv2d_transpose": "out_dtype", "qnn.dense": "out_dtype", "qnn.requantize": "out_dtype", "random.normal": "out_dtype",
           "random.uniform": "out_dtype", "vision.multibox_transform_loc": "variances"}
_DEFAULTS = {"nn.conv1d": {"padding": (0, 0)}, "one_hot": {"depth": 1}}  # of TVM
# What TVM's functions put in place of None: attributes that operands say, and places of no importance.
_IN_PLACE_OF_NONE = {
    **dict.fromkeys(["dyn.image.resize2d", "dyn.nn.pad", "dyn.reshape", "dyn.squeeze", "dyn.tile"], dict.fromkeys(
        ["axis", "newshape", "pad_width", "reps", "roi", "size"], ())),
    "dyn.strided_slice": {"begin": (), "end": (), "strides": ()},
    **{f"image.resize{n}d": {"roi": (0.0,) * (2 * n)} for n in (1, 2, 3)},
}
# The same of values that are kept as nothing: () and False.
_NONE_IN_PLACE = {**{f"nn.adaptive_{kind}_pool{rank}d": "output_size" for kind in ("avg", "max") for rank in (1, 2, 3)},
                  "cumprod": "exclusive", "cumsum": "exclusive"}
_OPERANDS = {"arange": ("start", "stop", "step")}  # which are attributes, too
_schemas = {}


def schema_of(name):
    """(name, whether it is written always, default) of each attribute of an operator, in the order of the text; None where that is not known."""
    if name not in _schemas:
        known = _native.operator_schema(name)
        _schemas[name] = known and _as_written(name, known[1])
    return _schemas[name]


def _as_written(name, fields):
    of_class = OF_OPERATORS.get(name)
    theirs = of_class.fields if of_class else ()
    places = {field.name: i for i, field in enumerate(theirs)}
    always = {field.name for field in theirs if not field.has_default} | {_ALWAYS.get(name)}
    defaults = _DEFAULTS.get(name, {})
    fields = sorted(fields, key=lambda field: places.get(field[0], len(places)))
    return [(field, is_required and field not in defaults or field in always, defaults.get(field, fallback))
            for field, is_required, fallback in fields]


def complete_attrs(call):
    """All attributes of a call of an operator, with what TVM has in place of None, and the operands that are attributes once more."""
    attrs = dict(call.attrs)
    for name, value in _IN_PLACE_OF_NONE.get(call.op.name, {}).items():
        if name in attrs and attrs[name] is None:
            attrs[name] = value
    none = _NONE_IN_PLACE.get(call.op.name)
    if none is not None:
        attrs[none] = attrs[none] or None
    attrs.update(zip(_OPERANDS.get(call.op.name, ()), call.args))
    return attrs


def written_attrs(call):
    """(name, value) of the attributes of a call that the text has, in its order: those that have not their defaults."""
    if not isinstance(call.op, relay.Op):
        attrs = call.attrs
        key = [("attrs_type_key", attrs.type_key)] if attrs is not None and attrs.type_key else []
        return [*attrs.items(), *key] if attrs else key
    schema = schema_of(call.op.name)
    if schema == []:
        return []
    if schema is None:
        return [(name, value) for name, value in call.attrs.items() if value is not None]
    attrs = complete_attrs(call)
    return [(name, attrs[name]) for name, is_always, fallback in schema if name in attrs and (is_always or attrs[name] != fallback)]


def object_class(call):
    """TVM's class of a call's attributes that text refers to as an object: of an operator whose attributes text does not have."""
    of_class = OF_OPERATORS.get(call.op.name) if isinstance(call.op, relay.Op) else None
    if of_class is None or of_class.is_text or schema_of(call.op.name) is None:
        return None
    attrs, theirs = call.attrs, {field.name for field in of_class.fields}
    has_all = all(name in theirs or attrs[name] == fallback for name, _, fallback in schema_of(call.op.name) if name in attrs)
    return of_class.type_key if has_all else None
