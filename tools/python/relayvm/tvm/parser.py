"""tvm.parser: Relay text."""
from ..compiler import parse as _parse
from .ir.module import IRModule

_VERSION = '#[version = "0.0.5"]\n'


def parse(source, source_name="from_string", init_module=None, init_meta_table=None):
    """An IRModule of text with definitions."""
    mod = IRModule(_parse(source if source.lstrip().startswith("#[version") else _VERSION + source, name=source_name)._native)
    if init_module is not None:
        mod.update(init_module)
    return mod


def parse_expr(source):
    """The expression of a text that has one, and no definitions."""
    body = source.replace(_VERSION.strip(), "", 1)
    function = _parse(f"{_VERSION}def @main() {{ {body} }}", name="from_string")["main"]
    return function.body


def fromtext(source, source_name="from_string"):
    """An IRModule of text with definitions, an expression of one without."""
    bare = source.replace(_VERSION.strip(), "", 1).lstrip()
    return parse(source, source_name) if bare.startswith(("def ", "type ", "extern ")) or not bare else parse_expr(source)


__all__ = ["fromtext", "parse", "parse_expr"]
