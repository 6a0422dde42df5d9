"""What help(relay.nn.conv2d) says: an operator's parameters, operands, and attributes with their defaults, of `operators` and the compiler's
table of operators."""
import inspect

from . import _native, op_patterns, operators

_FUSES = {0: "makes one element of one", 1: "makes one element of one after broadcasting", 2: "moves elements", 3: "reduces",
          4: "sums products and the like, and takes what makes one element of one into its kernel", 8: "has a kernel of its own"}
_KEYWORD, _POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY
_EMPTY = inspect.Parameter.empty


def _num_operands(name):
    """-1: any number; None of what is no operator."""
    count = _native.operator_arguments(name)
    return count[0] if isinstance(count, tuple) else count


def signature_of(name):
    """The parameters of an operator: TVM's where it has a function of that name, else operands, then attributes in their order."""
    signature = operators.signature_of(name)
    if signature is not None:
        return signature
    _, attrs = _native.operator_schema(name)
    count = _num_operands(name)
    if count < 0:
        params = [inspect.Parameter("operands", inspect.Parameter.VAR_POSITIONAL)]
    else:
        params = [inspect.Parameter(f"operand_{i}", _POSITIONAL) for i in range(count)]
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


def _operands(name):
    count = _num_operands(name)
    names = operators.operand_names(name)
    if count < 0:
        return "any number of operands"
    tuples = _native.operator_schema(name)[0]
    shown = [names[i] if i < len(names) else f"operand_{i}" for i in range(count)]
    return ", ".join(f"{n} (a tuple or list of tensors)" if i in tuples else n for i, n in enumerate(shown)) or "none"


def doc_of(name):
    """What there is to say of an operator."""
    signature = signature_of(name)
    lines = [f"{name}{signature}", ""]
    if _native.operator_arguments(name) is None:
        return "\n".join([*lines, "A function that makes several calls, as TVM's of that name."])
    pattern = op_patterns.KINDS.get(name)
    lines += [f"Makes a call of the operator {name}" + (f", which {_FUSES[pattern]}." if pattern is not None else "."), "",
              f"Operands: {_operands(name)}. Numbers and arrays become constants."]
    if name in operators._DYNAMIC:
        lines.append(f"An expression for {', '.join(operators._DYNAMIC[name])} makes a call of dyn.{name}.")
    if name in operators._FIELDS:
        lines.append("Gives a tuple, whose fields are call[0], call[1] ..." if not callable(operators._FIELDS[name]) else
                     "Gives a tuple, depending on attributes: call[0], call[1] ...")
    attrs = attributes_of(name)
    if attrs:
        lines += ["", "Attributes, call.attrs.NAME:"]
    renamed = {attr: param for param, attr in operators._RENAMED.get(name, {}).items()}
    for attr, (is_required, fallback) in attrs.items():
        param = signature.parameters.get(renamed.get(attr, attr))
        default = param.default if param is not None else fallback
        text = f"    {attr}" + (" (to be given)" if default is _EMPTY or param is None and is_required else f" = {default!r}")
        if param is not None and param.default is not _EMPTY and not is_required and default != fallback and default is not None:
            text += f"; in text and in relay.Call: {fallback!r}"
        if attr in renamed:
            text += f"; the parameter {renamed[attr]}"
        lines.append(text)
    return "\n".join(lines)
