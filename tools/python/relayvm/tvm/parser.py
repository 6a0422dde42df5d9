"""tvm.parser: Relay text."""
from ..compiler import parse as _parse
from ..compiler.text import VERSION, parse_expr
from .ir.module import IRModule


def parse(source, source_name="from_string", init_module=None, init_meta_table=None):
    """An IRModule of text with definitions."""
    mod = IRModule(_parse(source if source.lstrip().startswith("#[version") else VERSION + source, name=source_name)._native)
    if init_module is not None:
        mod.update(init_module)
    return mod


def fromtext(source, source_name="from_string"):
    """An IRModule of text with definitions, an expression of one without."""
    bare = source.replace(VERSION.strip(), "", 1).lstrip()
    return parse(source, source_name) if bare.startswith(("def ", "type ", "extern ")) or not bare else parse_expr(source)


__all__ = ["fromtext", "parse", "parse_expr"]
