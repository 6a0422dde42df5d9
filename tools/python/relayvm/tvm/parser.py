"""tvm.parser: Relay text."""
import contextlib
import re

from ..compiler import Module
from ..compiler import parse as _parse
from ..compiler import text as _text
from ..compiler.text import VERSION
from ..compiler.typed import module_as_written
from ..errors import Error, InvalidInput
from .ir.module import IRModule

_HOST = re.compile(r"\bhost\s*=")
_BEFORE = re.compile(r"(?:\s|//[^\n]*\n|/\*.*?\*/)*", re.DOTALL)
_VERSION = re.compile(r"#\[\s*version[^\]]*\]")


def _with_version(source, types):
    """(the text with the version and definitions of types before it, how many bytes are not its own)."""
    version = _VERSION.match(source, _BEFORE.match(source).end())
    if version is None:
        before = VERSION + types
    elif not types:
        return source, 0
    else:
        before = version[0] + "\n" + types
        source = source[:version.start()] + " " * len(version[0]) + source[version.end():]
    return before + source, len(before.encode())


@contextlib.contextmanager
def _diagnosed():
    """All that is wrong with a text is one kind of error, as in TVM."""
    try:
        yield
    except InvalidInput:
        raise
    except Error as e:
        raise InvalidInput(str(e)) from e


@_diagnosed()
def parse(source, source_name="from_string", init_module=None, init_meta_table=None):
    """An IRModule of text with definitions. init_module: which has what the text refers to besides, and which the result has, too.
    init_meta_table: {"relay.Constant": [...]}, what meta[relay.Constant][0] of the text is."""
    types = "\n".join(data._text() for data in init_module.type_definitions.values()) + "\n" if init_module is not None else ""
    text, skipped = _with_version(source, types)
    text += _text.metadata_of(init_meta_table) if init_meta_table else ""
    if _HOST.search(text):  # whose functions have no body
        return IRModule(Module(_parse(text, name=source_name)._native)._native)
    if init_module is None:
        return module_as_written(IRModule, text, source_name, skipped)
    functions, _, types = _text.as_written(text, source_name, skipped=skipped)
    mod = IRModule(None, types)
    mod.update(init_module)
    for name, function in functions.items():
        mod[name] = function
    mod._sources.update({**init_module._sources, source_name: source})
    return mod._inferred()


@_diagnosed()
def parse_expr(source):
    """The expression of a text that has one, and no definitions. Types are not inferred."""
    return _text.parse_expr(source)


def fromtext(source, source_name="from_string"):
    """An IRModule of text with definitions, an expression of one without."""
    at = _BEFORE.match(source).end()
    version = _VERSION.match(source, at)
    rest = source[_BEFORE.match(source, version.end() if version else at).end():]
    return parse(source, source_name) if rest.startswith(("def ", "type ", "extern ")) or not rest else parse_expr(source)


__all__ = ["fromtext", "parse", "parse_expr"]
