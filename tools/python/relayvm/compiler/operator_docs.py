"""What there is to say of operators: `operators()` gives a row for each, of what is written (operator_rows.py), what was measured
(operator_types.py), the parameters of TVM's functions (operators.py) and the compiler's table of operators; help(relay.nn.conv2d) and the stubs
show it."""
import dataclasses
import functools
import inspect
import textwrap
from typing import Any, Optional

from . import _native, op_patterns, operator_table, operators

_FUSES = {0: "makes one element of one", 1: "makes one element of one after broadcasting", 2: "moves elements", 3: "reduces",
          4: "sums products and the like, and takes what makes one element of one into its kernel", 8: "has a kernel of its own"}
_KEYWORD, _POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY
_EMPTY = inspect.Parameter.empty
_GROUPS = {"float": ("float16", "float32", "float64"), "bfloat": ("bfloat16",), "int": ("int8", "int16", "int32", "int64"),
           "uint": ("uint8", "uint16", "uint32", "uint64")}
_WORDS = {"float bfloat int uint bool string": "any dtype", "float bfloat int uint bool": "any dtype but string",
          "float bfloat int uint": "any number", "float int uint": "any number but bfloat16", "float bfloat": "any float",
          "int uint bool": "any integer or bool", "int uint": "any integer"}
_FIRST = {"nn.dropout"}  # functions that give the first field of what their operator gives
_WIDTH = 120


@dataclasses.dataclass(frozen=True)
class Operand:
    """An operand: name, description; shape in brackets ("[N, C, H, W]"; "..." are any dims), dtypes that it takes, ranks that it takes; the
    operand whose dtype it has to be (None: its own), what goes with others besides [(dtypes of this one, dtypes of that one)]; whether it is
    a tuple of tensors, and whether it may be left out. dtypes and ranks are empty where there is nothing to measure."""
    name: str
    description: str
    shape: str
    dtypes: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    dtype_of: Optional[str] = None
    mixed: tuple[tuple[str, str], ...] = ()
    is_tuple: bool = False
    is_optional: bool = False

    @property
    def type_info(self):
        """What TVM has there: "Tensor", or "Tuple of Tensors"."""
        return "Tuple of Tensors" if self.is_tuple else "Tensor"

    @property
    def type_text(self):
        """Its type in words, with shape and dtypes."""
        return f"{'Tuple of tensors' if self.is_tuple else 'Tensor'} {self.shape}{self._rank_text()}{self._dtype_text()}"

    def _rank_text(self):
        """What "..." leaves open: the least rank."""
        if "..." not in self.shape or not self.ranks or not self.ranks[0] or self.shape.count(",") == self.ranks[0]:
            return ""
        is_open = self.ranks == tuple(range(self.ranks[0], 7))
        return f" (rank {self.ranks[0]} or more)" if is_open else f" (rank {' or '.join(map(str, self.ranks))})"

    def _dtype_text(self):
        if not self.dtypes:
            return ""
        if self.dtype_of is None:
            return f" of {said(self.dtypes)}"
        more = "".join(f"; of {said(firsts.split())} also {said(others.split())}" for firsts, others in self.mixed)
        return f" of {self.dtype_of}'s dtype ({said(self.dtypes)}){more}"


@dataclasses.dataclass(frozen=True)
class Result:
    """A result: its name ("" of one that stands alone), its shape in brackets or in words, its dtype in words ("" where it was not measured)."""
    name: str
    shape: str
    dtype: str = ""


@dataclasses.dataclass(frozen=True)
class Attribute:
    """An attribute: description, what it takes in words, its values where there are only these, whether calls must give it, its default in text
    and in relay.Call, and the function's parameter for it (None: it has none) with its default."""
    name: str
    description: str
    type: str
    values: tuple[str, ...]
    is_required: bool
    default: Any
    parameter: Optional[str] = None
    parameter_default: Any = None


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator, or a function that makes several calls (is_function): what it computes, in a sentence or more; its result in NumPy's terms
    (None: it has no short form) and for which attributes that holds ("" for all); operands, results, attributes."""
    name: str
    is_function: bool
    summary: str
    formula: Optional[str]
    formula_holds: str
    operands: tuple[Operand, ...]
    results: tuple[Result, ...]
    attributes: tuple[Attribute, ...]
    signature: inspect.Signature


def said(groups):
    """Dtypes in words: of names, and of groups of them (float: float16, float32, float64)."""
    left = " ".join(_short(groups))
    if left in _WORDS:
        return _WORDS[left]
    left = [dtype for group in left.split() for dtype in _GROUPS.get(group, (group,))]
    return left[0] if len(left) == 1 else f"{', '.join(left[:-1])} or {left[-1]}"


def _short(dtypes):
    """Dtypes, whole groups by their name."""
    names, left = set(dtypes), []
    names |= {dtype for group in names for dtype in _GROUPS.get(group, ())}
    for group, members in [*_GROUPS.items(), ("bool", ("bool",)), ("string", ("string",))]:
        left += [group] if names.issuperset(members) else [m for m in members if m in names]
    return left


def _expanded(groups):
    return tuple(dtype for group in groups.split() for dtype in _GROUPS.get(group, (group,)))


def _ranks(text):
    first, dash, last = text.partition("-")
    return tuple(range(int(first), int(last) + 1)) if dash else tuple(map(int, text.split()))


@functools.cache
def _types():
    from . import operator_types  # which is large
    return operator_types.TYPES


def _num_operands(name):
    """-1: any number; None of what is no operator."""
    count = _native.operator_arguments(name)
    return count[0] if isinstance(count, tuple) else count


# --- Parameters ---


def signature_of(name):
    """The parameters of an operator: TVM's where it has a function of that name, else operands, then attributes in their order."""
    signature = operators.signature_of(name)
    if signature is not None:
        return signature
    schema = _native.operator_schema(name)
    if schema is None:  # a library's
        any_number, any_name = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        return inspect.Signature([inspect.Parameter("operands", any_number), inspect.Parameter("attrs", any_name)])
    attrs = schema[1]
    count = _num_operands(name)
    if count < 0:
        params = [inspect.Parameter("operands", inspect.Parameter.VAR_POSITIONAL)]
    else:
        taken = {attr for attr, _, _ in attrs}
        row = operator_table.rows().get(name)
        names = [part.name for part in row.operands] if row is not None else [f"operand_{i}" for i in range(count)]
        params = [inspect.Parameter(f"{n}_operand" if n in taken else n, _POSITIONAL) for n in names]
    required = [is_required for _, is_required, _ in attrs]
    in_order = count >= 0 and sorted(required, reverse=True) == required
    kind = _KEYWORD if in_order else inspect.Parameter.KEYWORD_ONLY
    params += [inspect.Parameter(attr, kind, default=_EMPTY if is_required else fallback) for attr, is_required, fallback in attrs]
    return inspect.Signature(params)


def attributes_of(name):
    """{attribute: (whether it must be given, its default in text)}"""
    schema = _native.operator_schema(name)
    return {attr: (is_required, fallback) for attr, is_required, fallback in schema[1]} if schema is not None else {}


def more_attributes_of(name):
    """Attributes that TVM's function has no parameter for, and that calls take by name nevertheless."""
    params = signature_of(name).parameters
    renamed = operators._RENAMED.get(name, {}).values()
    return {} if name in operators._SPECIAL else {a: of for a, of in attributes_of(name).items() if a not in params and a not in renamed}


# --- Rows ---


def _operands(row):
    measured = _types().get(row.name, ((),))[0]
    for i, part in enumerate(row.operands):
        more = {}
        if i < len(measured):
            dtypes, ranks, *tie = measured[i]
            more = {"dtypes": _expanded(dtypes), "ranks": _ranks(ranks), "dtype_of": tie[0] if tie else None, "mixed": tuple(tie[1:])}
        text = operator_table.operand_text(row, part)
        yield Operand(part.name, text, part.shape_text, is_tuple=part.is_tuple, is_optional=part.is_optional, **more)


def _results(row):
    measured = _types().get(row.name, ((), ()))[1]
    for i, part in enumerate(row.results):
        yield Result(part.name, part.shape_text, measured[i] if i < len(measured) else "")


def _attributes(name, signature):
    renamed = {attr: param for param, attr in operators._RENAMED.get(name, {}).items()}
    kinds = _types().get(name, ((), (), {}))[2]
    names = attributes_of(name)
    if _native.operator_arguments(name) is None:
        operands = {part.name for part in operator_table.rows()[name].operands}
        names = {p.name: (p.default is _EMPTY, None) for p in signature.parameters.values() if p.name not in operands}
    for attr, (is_required, fallback) in names.items():
        param = signature.parameters.get(renamed.get(attr, attr))
        kind, *values = kinds.get(attr, ("",))
        text = operator_table.attribute_text(name, attr)
        if param is None:
            yield Attribute(attr, text, kind, tuple(values), is_required, fallback)
        else:
            has_default = param.default is not _EMPTY
            yield Attribute(attr, text, kind, tuple(values), not has_default, fallback, param.name, param.default if has_default else None)


@functools.cache
def row_of(name):
    """The row of an operator, or of a function that makes several calls; None of what a library brought."""
    if name not in operator_table.rows():
        return None
    row, signature = operator_table.rows()[name], signature_of(name)
    return Operator(name, _native.operator_arguments(name) is None, row.summary, row.formula, row.note, tuple(_operands(row)), tuple(_results(row)),
                    tuple(_attributes(name, signature)), signature)


def describe_operators():
    """All that there is to say of the operators of Relay and of functions that make several calls: a row for each (name, summary, formula,
    operands, results, attributes, signature), in order of their names."""
    return [row_of(name) for name in sorted(operator_table.rows())]


# --- As text ---


def _wrapped(text, indent=""):
    return textwrap.wrap(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _dtype_words(text):
    """"as data | out_dtype" in words."""
    rule, _, attribute = text.partition(" | ")
    rule = f"{rule[3:]}'s dtype" if rule.startswith("as ") else " or ".join(
        f"{dtype} (of {said(of.split())})" if of else f"the dtype {dtype}" if dtype.endswith("dtype") else dtype
        for dtype, _, of in (part.partition(" of ") for part in rule.split("; ")))
    return f"{rule}, or {attribute}" if attribute else rule


def _result_lines(row):
    is_tuple = len(row.results) > 1 or bool(row.results[0].name)
    yield "Gives a tuple, call[0], call[1] ...:" if is_tuple and row.name not in _FIRST else "Gives:"
    for result in row.results[:1 if row.name in _FIRST else None]:
        shape = {"[broadcast]": "the operands' shape, broadcast", "[]": "one number"}.get(result.shape, result.shape)
        dtype = f"; {_dtype_words(result.dtype)}" if result.dtype else ""
        yield from _wrapped(f"{result.name + ': ' if result.name and row.name not in _FIRST else ''}{shape}{dtype}", "    ")


def _attribute_head(attr, is_function):
    default = attr.default if attr.parameter is None else attr.parameter_default
    details = [f"one of {', '.join(attr.values)}" if len(attr.values) > 1 else attr.values[0] if attr.values else attr.type]
    if attr.parameter not in (None, attr.name):
        details.append(f"the parameter {attr.parameter}")
    if attr.parameter is not None and not is_function and not attr.is_required and default not in (None, attr.default):
        details.append(f"in text and in relay.Call: {attr.default!r}")
    details = [detail for detail in details if detail and detail != "any value"]
    head = f"{attr.name}, to be given" if attr.is_required else f"{attr.name} = {default!r}"
    return head + (f" ({'; '.join(details)})" if details else "")


def doc_of(name):
    """What there is to say of an operator."""
    row = row_of(name)
    if row is None:
        return f"{name}{signature_of(name)}\n\nAn operator of a library."
    lines = [f"{name}{row.signature}", "", *_wrapped(row.summary)]
    if row.formula is not None:
        lines += ["", f"In NumPy{' ' + row.formula_holds if row.formula_holds else ''}: {row.formula}"]
    lines += ["", "Operands (numbers and arrays become constants):" if row.operands else "It has no operands."]
    for operand in row.operands:
        lines += _wrapped(f"{operand.name}: {operand.type_text}{', may be left out' if operand.is_optional else ''}", "    ")
        lines += _wrapped(operand.description, "        ")
    lines += ["", *_result_lines(row)]
    if row.attributes:
        lines += ["", "Parameters:" if row.is_function else "Attributes, call.attrs.NAME:"]
    for attr in row.attributes:
        lines += _wrapped(_attribute_head(attr, row.is_function), "    ")
        lines += _wrapped(attr.description, "        ")
    return "\n".join([*lines, "", *_wrapped(_notes(row))]).rstrip()


def _notes(row):
    """How its calls are made, and what becomes of them."""
    notes = []
    if row.is_function:
        notes.append("A function that makes several calls, as TVM's of that name.")
    if row.name in operators._DYNAMIC:
        notes.append(f"An expression for {', '.join(operators._DYNAMIC[row.name])} makes a call of dyn.{row.name}.")
    pattern = op_patterns.KINDS.get(row.name)
    if pattern is not None:
        notes.append(f"In kernels it {_FUSES[pattern]}.")
    return " ".join(notes)
