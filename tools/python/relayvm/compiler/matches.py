"""Which values a match does not take: `analysis.unmatched_cases`. The matrix of patterns is split by the constructors of its first column,
as in Maranget, "Warnings for pattern matching"."""
from . import relay

_ANY = relay.PatternWildcard()


def unmatched_cases(match, mod=None):
    """Patterns of values that no clause takes; none where the match is complete. mod: which defines the types of the constructors."""
    return [row[0] for row in _missing([[clause.lhs] for clause in match.clauses], 1, mod)]


def _missing(rows, width, mod):
    """Rows of patterns of values that none of the rows takes."""
    if width == 0:
        return [] if rows else [[]]
    heads = [row[0] for row in rows]
    first = next((head for head in heads if isinstance(head, (relay.PatternConstructor, relay.PatternTuple))), None)
    if first is None:
        return [[_ANY, *rest] for rest in _missing([row[1:] for row in rows], width - 1, mod)]
    found = []
    for constructor, size in _alternatives(first, mod):
        inside = [_fields(row[0], size) + row[1:] for row in rows if _may_be(row[0], constructor)]
        for row in _missing(inside, size + width - 1, mod):
            pattern = relay.PatternTuple(row[:size]) if constructor is None else relay.PatternConstructor(constructor, row[:size])
            found.append([pattern, *row[size:]])
    return found


def _alternatives(head, mod):
    """(constructor, number of fields) of all that may stand in place of a pattern; of a tuple, (None, number)."""
    if isinstance(head, relay.PatternTuple):
        return [(None, len(head.patterns))]
    name = str(head.constructor.belong_to)
    if mod is None or name not in mod.type_definitions:
        raise ValueError(f"unmatched_cases: give the module that defines the type {name}")
    return [(c, len(c.inputs)) for c in mod.type_definitions[name].constructors]


def _may_be(pattern, constructor):
    return not isinstance(pattern, relay.PatternConstructor) or pattern.constructor.name_hint == constructor.name_hint


def _fields(pattern, size):
    return list(pattern._patterns()) if isinstance(pattern, (relay.PatternConstructor, relay.PatternTuple)) else [_ANY] * size
