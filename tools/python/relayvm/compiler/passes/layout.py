"""Layouts of tensors as passes write them: "NCHW", and "NCHW16c" where blocks of 16 channels come last."""
import re


class Layout:
    """Axes in their order: (letter, factor), where an axis in capitals has the factor 0 and a block of one has its size.

    name: as it is written. A layout that is not known is None.
    """

    __slots__ = ("name", "axes")

    def __init__(self, name):
        self.name = name
        self.axes = tuple((letter, int(factor or 0)) for factor, letter in re.findall(r"(\d*)([A-Za-z])", name))
        if re.sub(r"\d*[A-Za-z]|\d+$", "", name):
            raise ValueError(f"layout {name}: expected axes in capitals and blocks such as 16c")
        for letter, factor in self.axes:
            if letter.isupper() == bool(factor) or letter.upper() not in self.letters:
                raise ValueError(f"layout {name}: a block has a size and its axis in capitals stands there too, as in NCHW16c")

    @classmethod
    def of(cls, axes):
        """The layout of some axes."""
        made = object.__new__(cls)
        made.axes = tuple(axes)
        made.name = "".join(f"{factor or ''}{letter}" for letter, factor in made.axes)
        return made

    @property
    def letters(self):
        """Its letters in their order: "NCHWc"."""
        return "".join(letter for letter, _ in self.axes)

    @property
    def primal_rank(self):
        """Axes without blocks."""
        return sum(letter.isupper() for letter in self.letters)

    def __len__(self):
        return len(self.axes)

    def __eq__(self, other):
        return isinstance(other, Layout) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"Layout({self.name})"

    def index(self, letter):
        """Where an axis stands; -1 where it does not."""
        return self.letters.find(letter)

    def factor(self, letter):
        """The size of an axis's blocks; None where it has none."""
        product = None
        for axis, factor in self.axes:
            if axis == letter.lower():
                product = (product or 1) * factor
        return product

    def index_of(self, axis):
        """As `index`, by TVM's name."""
        return self.index(axis)

    def factor_of(self, axis):
        """As `factor`, by TVM's name; -1 where the axis has no blocks."""
        return self.factor(axis) or -1

    def part(self, start, length):
        """Some of its axes."""
        return Layout.of(self.axes[start:start + length])

    def with_missing(self, target):
        """The layout behind those axes of another one that it has not."""
        return Layout("".join(letter for letter in target.letters if letter.isupper() and letter not in self.letters) + self.name)


def same_structure(a, b):
    """Whether two layouts differ in letters alone."""
    if len(a) != len(b):
        return False
    to, back = {}, {}
    for (x, x_factor), (y, y_factor) in zip(a.axes, b.axes):
        if x_factor != y_factor or to.setdefault(x, y) != y or back.setdefault(y, x) != x:
            return False
    return True


def changed_like(layout, before, after):
    """How a layout changes when that of the tensor that it is broadcast with changes from `before` to `after`; None where that has no meaning.

    NW with NC and NC1c gives NW1w: its letters are its own, and the axes that it lacks are new ones.
    """
    large, small = (before, layout) if len(before) > len(layout) else (layout, before)
    rest = len(large) - len(small)
    end = large.part(rest, len(small))
    if any(letter.upper() in end.letters or letter.lower() in end.letters for letter in large.letters[:rest]) or not same_structure(end, small):
        return None
    if not len(layout):
        return layout
    letters = {theirs.upper(): own.upper() for theirs, own in zip(reversed(before.letters), reversed(layout.letters))}
    for letter in reversed(before.letters.upper()):
        if letter not in letters:
            used = set(letters.values())
            letters[letter] = letter if letter not in used else next(c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in used)
    if any(letter.upper() not in letters for letter in after.letters):
        return None
    return Layout.of((letters[c] if c.isupper() else letters[c.upper()].lower(), factor) for c, factor in after.axes)


def with_blocks_of_one(layout, before, shape):
    """The layout with blocks of size 1 for axes that have the size 1 in `shape`, whose layout was `before`, or that this had not; blocks that it
    had stay."""
    def fits(letter):
        at = before.index(letter.upper())
        return at >= 0 and (shape[at] != 1 or letter in before.letters)
    return Layout.of((c, factor if c.isupper() or fits(c) else 1) for c, factor in layout.axes)
