"""What can fail, as exceptions: one class for each kind of failure.

Each is an `Error` and the built-in exception that is nearest to it, so that `except ValueError` and
`except rvm.Error` both work. The text is the one that relayvm's tools print.
"""
import errno
import re


class Place:
    """A place in a program.

    function: of the program that runs; file: of its source, or an ONNX node's name; line, column: from
    1, 0 where unknown; length: bytes that it is about; source_line: the text of the line.
    """

    __slots__ = ("function", "file", "line", "column", "length", "source_line", "instruction")

    def __init__(self, function="", file="", line=0, column=0, length=0, source_line="", instruction=0):
        self.function, self.file, self.line, self.column = function, file, line, column
        self.length, self.source_line, self.instruction = length, source_line, instruction

    def __repr__(self):
        where = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"Place({' in '.join(part for part in (where, self.function) if part)!r})"


class Error(Exception):
    """A failure of relayvm.

    message: the text. places: where it failed and the calls that led there, the innermost first
    (`Place`). file, line, column, source_line, function: those of the first place. subject: the
    parameter, output or kernel that it is about. expected, found: numbers, such as the dims of a shape
    (-1: any). expected_text, found_text: the same in words. numbers: of a guard that failed.
    """

    def __init__(self, message="", fields=None):
        super().__init__(message)
        fields = fields or {}
        self.message = message
        self.places = tuple(p if isinstance(p, Place) else Place(**p) for p in fields.get("places", ()))
        self.subject = fields.get("subject", "")
        self.expected = fields.get("expected", ())
        self.found = fields.get("found", ())
        self.expected_text = fields.get("expected_text", "")
        self.found_text = fields.get("found_text", "")
        self.numbers = fields.get("numbers", ())
        first = self.places[0] if self.places else Place()
        self.function, self.file, self.line = first.function, first.file, first.line
        self.column, self.source_line = first.column, first.source_line

    def __str__(self):
        return self.message

    if not hasattr(Exception, "add_note"):  # before Python 3.11, whose tracebacks do not show notes: with the message
        def add_note(self, note):
            """A line more of the message."""
            self.__notes__ = [*getattr(self, "__notes__", ()), note]

        def __str__(self):
            return "\n".join([self.message, *getattr(self, "__notes__", ())])

    def __reduce__(self):
        fields = {name: getattr(self, name)
                  for name in ("subject", "expected", "found", "expected_text", "found_text", "numbers")}
        fields["places"] = [{name: getattr(place, name) for name in Place.__slots__} for place in self.places]
        return type(self), (self.message, fields)


class InvalidArgument(Error, ValueError):
    """An argument is wrong: an input of another shape or dtype, an option that there is not."""


class InvalidInput(Error, ValueError):
    """A file or program is malformed, or its types are wrong."""


class Unsupported(Error, NotImplementedError):
    """Well-formed, but this compiler or runtime cannot do it."""


class NotFound(Error, LookupError):
    """A file, function or name that does not exist."""


class FileNotFound(NotFound, FileNotFoundError):
    """A file that does not exist."""

    def __init__(self, message="", fields=None):
        super().__init__(message, fields)
        self.errno = errno.ENOENT
        opened = re.search("cannot open '([^']*)'", message)
        self.filename = opened.group(1) if opened else None


class OutOfRange(Error, IndexError):
    """An index, a depth or a size beyond its limit."""


class ResourceExhausted(Error, MemoryError):
    """The limit of memory or of the stack is reached."""


class FailedPrecondition(Error, RuntimeError):
    """What the program asks of its data did not hold."""


class Cancelled(Error):
    """The run or compilation was cancelled."""


class DeadlineExceeded(Error, TimeoutError):
    """The run took longer than it may."""


class InternalError(Error, RuntimeError):
    """A defect of relayvm; please report it."""
