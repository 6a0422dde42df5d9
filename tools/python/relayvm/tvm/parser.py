"""tvm.parser: Relay text."""
import re

from ..compiler import Module
from ..compiler import parse as _parse
from ..compiler import text as _text
from ..compiler.text import VERSION
from .ir.module import IRModule

_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|/\*.*?\*/|//[^\n]*|[%@][\w./:-]+|[A-Za-z_][\w.]*', re.DOTALL)
_HOST = re.compile(r"\bhost\s*=")
_SHORT = {"float": "float32", "int": "int32", "uint": "uint32"}  # dtypes without their bits


def _written_out(source):
    return _WORD.sub(lambda word: _SHORT.get(word[0], word[0]), source)


def _whole(source, init_module, init_meta_table):
    """The text with the version, with what is there already, and with tensors that were given as objects."""
    source = source.replace(VERSION.strip(), "", 1) if source.lstrip().startswith("#[version") else source
    if init_module is not None:
        source = str(init_module) + source
    return VERSION + source + (_text.metadata_of(init_meta_table) if init_meta_table else "")


def parse(source, source_name="from_string", init_module=None, init_meta_table=None):
    """An IRModule of text with definitions. init_module: which has what the text refers to besides. init_meta_table: {"relay.Constant": [...]},
    what meta[relay.Constant][0] of the text is."""
    text = _written_out(_whole(source, init_module, init_meta_table))
    if not re.search(r"\bdef @", text):
        return IRModule(None, Module(_parse(text + "\ndef @main() { () }", name=source_name)._native))
    typed = Module(_parse(text, name=source_name)._native)  # what is wrong is said here
    if _HOST.search(text):  # whose functions have no body
        return IRModule(typed._native)
    mod = IRModule(None, typed)
    for name, function in _text.functions_as_written(text, source_name, typed).items():
        mod[name] = function
    return mod._inferred()


def parse_expr(source):
    """The expression of a text that has one, and no definitions. Types are not inferred."""
    return _text.parse_expr(_written_out(source))


def fromtext(source, source_name="from_string"):
    """An IRModule of text with definitions, an expression of one without."""
    bare = source.replace(VERSION.strip(), "", 1).lstrip()
    return parse(source, source_name) if bare.startswith(("def ", "type ", "extern ")) or not bare else parse_expr(source)


__all__ = ["fromtext", "parse", "parse_expr"]
