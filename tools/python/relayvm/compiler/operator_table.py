"""The rows of operator_rows*.py, read: what each operator takes, gives and computes. Tested by tests/test_operator_docs.py."""
import dataclasses
import functools
import re
from typing import Optional

from . import operator_rows, operator_rows_more, operator_rows_nn

_HEAD = re.compile(r"(?P<names>[\w. ]+?) \((?P<operands>.*)\) -> (?P<results>.+)")
_PART = re.compile(r"""(?P<name>\w*)(?P<many>\*?)(?:\[(?P<shape>[^\]]*)\]|"(?P<words>[^"]*)")(?P<optional>\??)""")


@dataclasses.dataclass(frozen=True)
class Part:
    """An operand or a result as a row has it: its name ("" of a result that stands alone), its shape ("N, C, H, W"; of results None where
    `words` say it), whether it is a tuple of tensors, and whether it may be left out."""
    name: str
    shape: Optional[str]
    words: Optional[str] = None
    is_tuple: bool = False
    is_optional: bool = False

    @property
    def shape_text(self):
        """The shape as it is shown."""
        return f"[{self.shape}]" if self.words is None else self.words


@dataclasses.dataclass(frozen=True)
class Row:
    """What is written of an operator: `formula` is its result in NumPy's terms (or None), `note` for which attributes that holds ("" for
    all); `example` the arguments of a call, for tests."""
    name: str
    summary: str
    operands: tuple
    results: tuple
    operand_texts: dict
    attribute_texts: dict
    formula: Optional[str]
    note: str
    example: str


def _parts(text):
    return tuple(Part(m["name"], m["shape"], m["words"], bool(m["many"]), bool(m["optional"])) for m in _PART.finditer(text))


def _pattern_row(text):
    """The rows that a block of lines is: one for each of its names."""
    first, *lines = re.sub(r"\n {8,}", " ", text).splitlines()
    head = _HEAD.fullmatch(first)
    sentences, texts, last = [], {"-": {}, ".": {}}, None
    formula, note, example = None, "", ""
    for line in map(str.strip, lines):
        if line[:2] == "- " or line[0] == "." and line[1:2].isalpha():
            last, said = line[0], line[1:].strip()
            name, _, what = said.partition(" " if line[0] == "." else ": ")
            name = name.removesuffix(":")
            texts[last][name] = what
        elif line.startswith("numpy"):
            note, _, formula = line.removeprefix("numpy").partition(": ")
            last = None
        elif line.startswith("try "):
            example, last = line.removeprefix("try "), None
        elif last is not None:
            texts[last][name] += " " + line
        else:
            sentences.append(line)
    operands, results = _parts(head["operands"]), _parts(head["results"])
    for name in head["names"].split():
        yield Row(name, " ".join(sentences), operands, results, texts["-"], texts["."], formula, note.strip(), example)


def _columns(text):
    return [[cell.strip() for cell in line.split(" | ")] for line in text.strip().splitlines()]


def _blocks():
    for name, formula, what in _columns(operator_rows.EACH):
        of = operator_rows.OF_OTHER_DTYPES.get(name) or ("f(2, 3)" if name in operator_rows.OF_ANY_SIGN else "p(2, 3)")
        if name == "acosh":
            of = "q(2, 3)"
        yield f"{name} (data[...]) -> [...]\n{what}\nnumpy: {formula}\ntry {of}"
    for name, formula, what in _columns(operator_rows.PAIRS):
        yield f"{name} (lhs[...], rhs[...]) -> [broadcast]\n{what}\nnumpy: {formula}\ntry {operator_rows.OF_PAIRS.get(name, 'f(2, 3), f(3)')}"
    for name, formula, what in _columns(operator_rows.REDUCTIONS):
        of = "b(2, 3)" if name in ("all", "any") else "f(2, 3)"
        many = "which axis" if name.startswith("arg") else "along which axes, one or several"
        yield (f"{name} (data[...]) -> \"as data without axis; with keepdims, 1 there\"\n{what}\n.axis: {many}; None: all elements\n"
               f"numpy: {formula}\ntry {of}, axis=1")
    for module in (operator_rows, operator_rows_nn, operator_rows_more):
        yield from re.split(r"\n(?=\S)", module.ROWS.strip())


@functools.cache
def rows():
    """{name: Row}, of operators and of functions that make several calls."""
    return {row.name: row for block in _blocks() for row in _pattern_row(block)}


def operand_text(row, part):
    """What an operand is."""
    return row.operand_texts.get(part.name) or operator_rows.OPERANDS.get(part.name, "")


def attribute_text(name, attribute):
    """What an attribute is."""
    row = rows().get(name)
    return (row.attribute_texts.get(attribute) if row is not None else None) or operator_rows.ATTRIBUTES.get(attribute, "")
