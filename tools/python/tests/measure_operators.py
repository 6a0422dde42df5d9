"""Measures which dtypes and ranks operators take, what they give, and which values attributes have: by asking the type relation and the
compiler about variations of each operator's example. What is refused in all variations that are tried is not in the table; what is in it is
taken. Names of values are tried that stand in the sources of operators (kernels/op).

    PYTHONPATH=... python3 measure_operators.py > ../relayvm/compiler/operator_types.py      minutes
    PYTHONPATH=... python3 measure_operators.py nn.conv2d add                                prints these rows

Compared with the table by test_operator_docs.py.
"""
import concurrent.futures
import itertools
import os
import pprint
import re
import sys

import numpy as np
import operator_calls as calls

import relayvm as rvm
from relayvm import relay
from relayvm.compiler import _native, operator_table
from relayvm.errors import Error

DTYPES = {"float": ("float16", "float32", "float64"), "bfloat": ("bfloat16",), "int": ("int8", "int16", "int32", "int64"),
          "uint": ("uint8", "uint16", "uint32", "uint64"), "bool": ("bool",), "string": ("string",)}
ALL = [dtype for group in DTYPES.values() for dtype in group]
RANKS = range(7)
KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "kernels", "op")


def short(dtypes):
    """Dtypes, whole groups by their name: "float int8"."""
    left, said = set(dtypes), []
    for group, members in DTYPES.items():
        said += [group] if left.issuperset(members) else [m for m in members if m in left]
    return " ".join(said)


class Probe:
    """One operator, and what it takes."""

    def __init__(self, name):
        self.name, self.row = name, operator_table.rows()[name]
        self.example = calls.Example(self.row)
        self.attrs = self.example.attrs
        self.shapes = [tuple(f.shape for f in x) if isinstance(x, tuple) else x.shape for x in self.example.operands]
        # Of a tuple: of its first field, and of the others.
        self.dtypes = [(calls.dtype_of(x[0]), calls.dtype_of(x[-1])) if isinstance(x, tuple) else calls.dtype_of(x) for x in self.example.operands]
        self.taken = []  # (shapes, dtypes, attributes) that the relation takes

    def types(self, shapes, dtypes):
        """An operand for each; those that the relation reads are constants where their dtype is the example's."""
        made = []
        for shape, dtype, given in zip(shapes, dtypes, self.example.operands):
            if isinstance(dtype, tuple):
                made.append(tuple(relay.TensorType(s, dtype[k > 0]) for k, s in enumerate(shape)))
            elif not isinstance(given, tuple) and given.dtype == np.int64 and shape == given.shape and dtype == "int64":
                made.append(relay.const(given, "int64"))  # sizes: without their values, ranks of results may not follow
            else:
                made.append(relay.TensorType(shape, dtype))
        return made

    def result(self, shapes=None, dtypes=None, attrs=None):
        """The type of the result, None where the operands or attributes are refused."""
        shapes, dtypes, attrs = shapes or self.shapes, dtypes or self.dtypes, self.attrs if attrs is None else attrs
        for made in (self.types(shapes, dtypes), [self._plain(s, d) for s, d in zip(shapes, dtypes)]):
            try:
                body = calls.program_of(self.name, made, attrs)["main"].body
                self.taken.append((made, attrs))
                return getattr(body, "tuple_value", body).checked_type
            except (Error, TypeError, ValueError, AttributeError):
                continue
        return None

    @staticmethod
    def _plain(shape, dtype):
        return tuple(relay.TensorType(s, dtype[k > 0]) for k, s in enumerate(shape)) if isinstance(dtype, tuple) else relay.TensorType(shape, dtype)

    def compiles(self, cases):
        """Those of the cases that the compiler takes: all at once where it can be."""
        cases = list(cases)
        functions = {f"f{i}": calls.program_of(self.name, made, attrs)["main"] for i, (made, attrs) in enumerate(cases)}
        try:
            rvm.compile(rvm.Module({"main": functions["f0"], **functions}), opt_level=0)
            return cases
        except Error:
            half = len(cases) // 2
            return self.compiles(cases[:half]) + self.compiles(cases[half:]) if half else []


# --- Dtypes ---


def changed(values, at, to):
    return [((to, to) if isinstance(value, tuple) else to) if i in at else value for i, value in enumerate(values)]


def first(dtype):
    return dtype[0] if isinstance(dtype, tuple) else dtype


def with_dtype(attrs, dtype):
    """Attributes, those of dtypes changed too where they are given."""
    return {name: dtype if name.endswith("dtype") else value for name, value in attrs.items()}


def dtypes_of(probe):
    """For each operand [the dtypes it takes, which operand's it has to be, [(dtypes, dtypes of the other) that go together besides]]; and the
    results for each way."""
    results, rows = {}, []

    def tried(dtypes, attrs=None):
        before = len(probe.taken)
        given = probe.result(dtypes=dtypes, attrs=attrs)
        if given is not None:
            results[tuple(dtypes)] = given, probe.taken[before], attrs is not None
        return given is not None
    tried(probe.dtypes)
    for i, base in enumerate(probe.dtypes):
        same = [j for j, d in enumerate(probe.dtypes) if first(d) == first(base)]
        alone, joint, tie = [first(base)], [], None
        for dtype in ALL:
            if dtype == first(base):
                continue
            groups = [(i,), *((i, j) if i < j else (j, i) for j in same if j != i), tuple(same)]
            options = [(at, changed(probe.dtypes, at, dtype)) for at in groups]
            if isinstance(base, tuple):
                options.append(((i,), [(dtype, base[1]) if j == i else d for j, d in enumerate(probe.dtypes)]))
            for at, dtypes in options:
                if tried(dtypes) or tried(dtypes, with_dtype(probe.attrs, dtype)):
                    (alone if at == (i,) else joint).append(dtype)
                    tie = at if at != (i,) and tie is None else tie
                    break
        rows.append([alone + joint, min((j for j in tie if j < i), default=None) if tie else None])
    return rows, results


def mixed(probe, i, j, dtypes):
    """Dtypes of two operands that have to be the same, as a rule, but go together: {the first's: the second's}."""
    found = {}
    for a, b in itertools.permutations(dtypes, 2):
        start = [a if d == probe.dtypes[i] and not isinstance(d, tuple) else d for d in probe.dtypes]
        if probe.result(dtypes=changed(changed(start, (j,), a), (i,), b)) is not None:
            found.setdefault(a, []).append(b)
    by_second = {}
    for a, others in found.items():
        by_second.setdefault(frozenset(others) | {a}, []).append(a)
    return [(short(firsts), short(all_of)) for all_of, firsts in by_second.items()]


def fields_of(given):
    return list(given.fields) if hasattr(given, "fields") else [given]


def result_dtypes(probe, results):
    """For each result: "as NAME", a dtype, or which dtype for which of the first operand's."""
    rows = []
    plain = {dtypes: given for dtypes, (given, _, with_attrs) in results.items() if not with_attrs} or {d: g for d, (g, _, _) in results.items()}
    for k in range(min(len(fields_of(given)) for given in plain.values())):
        found = {dtypes: fields_of(given)[k].dtype for dtypes, given in plain.items()}
        rules = [f"as {part.name}" for i, part in enumerate(probe.row.operands[:len(probe.dtypes)])
                 if all(first(d[i]) == r for d, r in found.items()) and len({first(d[i]) for d in found}) > 1]
        if rules:
            rows.append(rules[0])
        elif len(set(found.values())) == 1:
            rows.append(next(iter(found.values())))
        else:
            by_result = {}
            for dtypes, result in found.items():
                by_result.setdefault(result, set()).add(first(dtypes[0]))
            rows.append("; ".join(f"{result} of {short(of)}" for result, of in sorted(by_result.items())))
    return rows


def dtype_attributes(probe):
    return [name for name, _, _ in (_native.operator_schema(probe.name) or ((), ()))[1] if kind_of(probe, name) == "the name of a dtype"]


def with_attributes(probe, rows, named):
    """The rows of results, with the attributes that say another dtype behind them; of one that has to be given, that alone."""
    is_required = {name: needed for name, needed, _ in (_native.operator_schema(probe.name) or ((), ()))[1]}
    for name in named:
        found = {}
        for dtype in ("float64", "int64", "float32", "int32", "uint32", "uint8"):
            given = probe.result(attrs={**probe.attrs, parameter_of(probe, name): dtype})
            if given is not None:
                found[dtype] = [field.dtype for field in fields_of(given)]
        for k, rule in enumerate(rows):
            if len(found) > 1 and all(k < len(given) and given[k] == dtype for dtype, given in found.items()):
                rows[k] = name if is_required[name] else f"{rule} | {name}"
    return rows


# --- Ranks ---


def of_rank(shape, rank):
    """Shapes of that rank that are like a shape."""
    more = max(rank - len(shape), 0)
    one, two = (1,) * more, (2,) * more
    if rank <= len(shape):
        return {(1,) * rank, shape[len(shape) - rank:], shape[:rank], shape[:1] + shape[len(shape) - rank + 1:] if rank else ()}
    return {(1,) * rank, (2,) * rank, one + shape, two + shape, shape + one, shape + two, shape[:1] + two + shape[1:], shape[:1] + one + shape[1:], shape[:2] + two + shape[2:]}


def attributes_of_rank(attrs, base, rank):
    """Attributes as given; with lists as long as the rank; with an axis that there is."""
    def fitted(value):
        if not isinstance(value, (list, tuple)) or len(value) != base:
            return value
        if sorted(map(str, value)) == sorted(map(str, range(base))):
            return list(range(rank))[::-1]
        return (list(value) + [value[-1]] * rank)[:rank] if value else value
    yield attrs
    fit = {name: fitted(value) for name, value in attrs.items()}
    yield fit
    for axis in (0, -1):
        if "axis" in attrs:
            yield {**attrs, "axis": [axis] if isinstance(attrs["axis"], list) else axis}
    if "newshape" in attrs:
        yield {**attrs, "newshape": [-1]}
    for name in ("shape", "newshape"):
        if name in attrs:
            yield {**attrs, name: [2] * max(rank - base, 0) + list(attrs[name])}
    for name in ("begin", "end", "strides"):
        if name in attrs:
            yield {**attrs, "begin": [0], "end": [1], "strides": [1]}


def equations(attrs, rank):
    return [{**attrs, "equation": "abcdefg"[:rank] + "," + "abcdefg"[:rank] + "->"}] if "equation" in attrs else []


def takes_rank(probe, i, rank):
    shape = probe.shapes[i]
    is_tuple = bool(shape) and isinstance(shape[0], tuple)
    base = len(shape[0]) if is_tuple else len(shape)
    if rank == base:
        return True
    like = [j for j, s in enumerate(probe.shapes) if s == shape or j == i]
    ranked = [j for j, s in enumerate(probe.shapes) if s and (isinstance(s[0], tuple) and len(s[0]) or len(s)) == base or j == i]
    tensors = [j for j, s in enumerate(probe.shapes) if s or j == i]
    for attrs in [*attributes_of_rank(probe.attrs, base, rank), *equations(probe.attrs, rank)]:
        for at in {(i,), tuple(like), tuple(ranked), tuple(tensors)}:
            options = [sorted(of_rank(s, rank)) if j in at and not (s and isinstance(s[0], tuple)) else
                       [tuple(x) for x in zip(*(sorted(of_rank(f, rank)) for f in s))] if j in at else [s] for j, s in enumerate(probe.shapes)]
            for k in range(max(map(len, options))):
                if probe.result(shapes=[o[k % len(o)] for o in options], attrs=attrs) is not None:
                    return True
    return False


def said_ranks(ranks):
    if not ranks:
        return ""
    if len(ranks) > 2 and list(ranks) == list(range(ranks[0], ranks[-1] + 1)):
        return f"{ranks[0]}-{ranks[-1]}"
    return " ".join(map(str, ranks))


# --- Attributes ---


def refused_text(probe, attribute, value):
    """What is said of a value of an attribute; "" where it is taken."""
    call, _ = calls.call_of(probe.name, probe.types(probe.shapes, probe.dtypes), probe.attrs)
    call = getattr(call, "tuple_value", call)
    needed = {name: call.attrs[name] for name, is_required, _ in _native.operator_schema(probe.name)[1] if is_required}
    try:
        relay.Call(call.op, list(call.args), {**needed, attribute: value})
        return ""
    except (Error, TypeError, ValueError) as error:
        return str(error)


def kind_of(probe, attribute):
    """What an attribute takes, in the words of the error."""
    for value in ("no such thing", 3):
        found = re.search(r"must be (.+), not", refused_text(probe, attribute, value))
        if found:
            return found.group(1)
    return "any value"


def words_of_sources():
    """Words in quotes that stand in definitions of operators."""
    found = set()
    for path in sorted(os.listdir(KERNELS)):
        if path.endswith(".cc") and not path.endswith("_test.cc"):
            with open(os.path.join(KERNELS, path)) as f:
                found |= set(re.findall(r'"([A-Za-z]+(?:_[a-z]+)*)"', f.read()))
    return sorted(found | {"CRD"})


def parameter_of(probe, attribute):
    """The name that the Python function has for an attribute."""
    from relayvm.compiler import operators
    return {a: p for p, a in operators._RENAMED.get(probe.name, {}).items()}.get(attribute, attribute)


def values_of(probe, attribute, default):
    """Which values a text has, [] where any are taken; of layouts, which orders of letters."""
    def taken(value):
        attrs = {**probe.attrs, parameter_of(probe, attribute): value}
        return any(probe.result(shapes=shapes, attrs={**attrs, **more}) is not None for more in extra)
    fields = [field[0] for field in _native.operator_schema(probe.name)[1]]
    extra = [{}] + [{"roi": [0.0] * len(probe.shapes[0][2:]) + [1.0] * len(probe.shapes[0][2:])}] * ("roi" in fields)
    shapes = probe.shapes
    if attribute.endswith("layout"):
        shapes = [s if s and isinstance(s[0], tuple) else (relay.Any(),) * len(s) if len(s) > 2 else s for s in probe.shapes]
        letters = probe.attrs.get(attribute, default)
        if not letters or not letters.isalpha():
            return []
        orders = ["".join(order) for order in itertools.permutations(letters)]
        good = [order for order in orders if taken(order)]
        return ["any order of " + letters] if len(good) == len(orders) and len(good) > 2 else sorted(good)
    if taken("no such thing"):
        return []
    return sorted(word for word in WORDS if taken(word))


WORDS = []


def row_of(name):
    """(operands, results, attributes): what the table has of an operator."""
    probe = Probe(name)
    WORDS[:] = WORDS or words_of_sources()
    named = dtype_attributes(probe)
    plain = {attr: value for attr, value in probe.attrs.items() if attr not in [parameter_of(probe, n) for n in named]}
    if probe.result(attrs=plain) is not None:
        probe.attrs = plain
    dtypes, results = dtypes_of(probe)
    good = probe.compiles([case for _, case, _ in results.values()])
    kept = {d: r for d, r in results.items() if any(r[1] is case for case in good)}
    operands = []
    for i, (taken, tie) in enumerate(dtypes):
        taken = [d for d in ALL if d in taken and any(first(k[i]) == d for k in kept)]
        row = [short(taken), said_ranks([r for r in RANKS if takes_rank(probe, i, r)])]
        if tie is not None:
            row += [probe.row.operands[tie].name, *mixed(probe, i, tie, taken)]
        operands.append(tuple(row))
    attributes = {}
    for attribute, _, default in (_native.operator_schema(name) or ((), ()))[1]:
        kind = kind_of(probe, attribute)
        values = values_of(probe, attribute, default) if kind == "a string" else []
        attributes[attribute] = (kind, *values)
    return tuple(operands), tuple(with_attributes(probe, result_dtypes(probe, kept), named)), attributes


def measured(names):
    names = [name for name in names if has_example(name)]
    with concurrent.futures.ProcessPoolExecutor(min(4, len(names))) as pool:  # each waits for the compiler's threads most of the time
        yield from zip(names, pool.map(row_of, names, chunksize=4))


def has_example(name):
    """But for random.threefry_key, which has a number, and what is no tensor's."""
    row = operator_table.rows()[name]
    return bool(row.example) and not any(isinstance(x, int) for x in calls.Example(row).operands)


HEAD = '''"""Measured by tools/python/tests/measure_operators.py: which dtypes and ranks operators take, what they give, and which values attributes have.

    NAME: (((DTYPES, RANKS[, the operand whose dtype it has to be[, (of these dtypes, these go too)]...]) of each operand),
           ("as OPERAND" or DTYPE, " | ATTRIBUTE" where that says another one; DTYPE of DTYPES; ...) of each result,
           {ATTRIBUTE: (kind, its values where there are only these)})
"""

TYPES = {
'''


def table(rows):
    out = [HEAD]
    for name, row in rows:
        lines = pprint.pformat(row, width=140, compact=True).splitlines()
        out.append(f"    {name!r}:\n" + "".join(f"        {line}\n" for line in lines)[:-1] + ",\n")
    return "".join([*out, "}\n"])


if __name__ == "__main__":
    if sys.argv[1:]:
        pprint.pprint(dict(measured(sys.argv[1:])), width=146, compact=True)
    else:
        print(table(measured(calls.all_names())), end="")
