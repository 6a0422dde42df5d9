"""Places in sources, as TVM names them. Nodes of a text have spans of the compiler's; new ones are made here, and stay until a program
is made of the nodes."""
import abc

from . import _native
from .objects import Object


class SourceName(Object):
    """The name of a source."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = str(name)

    def __eq__(self, other):
        return isinstance(other, SourceName) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"SourceName({self.name})"


class Span(Object, abc.ABC):
    """A place in a source: from a line and column to others."""

    __slots__ = ("source_name", "line", "end_line", "column", "end_column")

    def __init__(self, source_name, line, end_line, column, end_column):
        self.source_name = source_name if isinstance(source_name, SourceName) or source_name is None else SourceName(source_name)
        self.line, self.end_line, self.column, self.end_column = line, end_line, column, end_column

    def _key(self):
        return self.source_name, self.line, self.end_line, self.column, self.end_column

    def __eq__(self, other):
        return isinstance(other, Span) and self._key() == Span._key(other)

    def __hash__(self):
        return hash(self._key())

    @property
    def file(self):
        """The source's name."""
        return self.source_name.name if self.source_name is not None else ""

    @property
    def length(self):
        """How many columns, within its first line."""
        return max(self.end_column - self.column, 0) if self.line == self.end_line else 0

    def __str__(self):
        return f"{self.file}:{self.line}:{self.column}"

    def __repr__(self):
        return f"Span({self})"


class SequentialSpan(Span):
    """Several places that one node comes from."""

    __slots__ = ("spans",)

    def __init__(self, spans):
        self.spans = [part for span in spans for part in (span.spans if isinstance(span, SequentialSpan) else [span])]
        first = self.spans[0] if self.spans else Span("", 0, 0, 0, 0)
        super().__init__(first.source_name, first.line, first.end_line, first.column, first.end_column)

    def _key(self):
        return tuple(Span._key(span) for span in self.spans)

    def __str__(self):
        return ", ".join(map(str, self.spans))


# What the compiler's spans have besides.
Span.register(_native.Span)
_native.Span.same_as = Object.same_as
_native.Span.source_name = property(lambda span: SourceName(span.file), doc="The name of the source.")

