"""Whether two programs are the same but for names: `rvm.structural_equal`, `assert_structural_equal`, `structural_hash`.

They take modules, functions, expressions, types, and lists, tuples and dicts of them. Bound variables and type parameters correspond
by where they are bound; what several nodes share must be shared on both sides. Sizes that are no numbers correspond as their
names do; one that has no name ("?") is any of these. As TVM's tvm.ir.structural_equal.
"""
from collections.abc import Mapping

from . import _native, relay

_LEAVES = (int, float, str, bool, bytes, type(None))


class _Differs(Exception):
    pass


def _at_end(text, limit=120):
    text = str(text)
    return text if len(text) <= limit else text[:limit] + "..."


class _Comparison:
    """Pairs still to compare, the next one last; what corresponds so far."""

    def __init__(self, map_free_vars):
        self.map_free_vars = map_free_vars
        self.todo = []
        self.of_left, self.of_right = {}, {}  # nodes and symbols, by id or handle -> what corresponds
        self.kept = []  # whose ids are keys

    def run(self, left, right):
        self.todo.append((left, right))
        while self.todo:
            self.compare(*self.todo.pop())

    def fail(self, left, right, why=""):
        raise _Differs(f"{_at_end(left)}\nand\n{_at_end(right)}\ndiffer{': ' + why if why else ''}")

    def add(self, pairs):
        """Pairs that come before all that is left, in their order."""
        self.todo.extend(reversed(list(pairs)))

    def bind(self, left, right, left_key, right_key):
        """The two correspond from here on."""
        self.kept += [left, right]
        self.of_left[left_key], self.of_right[right_key] = right_key, left_key

    def known(self, left, right, left_key, right_key):
        """Whether they correspond already; None where neither has been met."""
        if left_key not in self.of_left and right_key not in self.of_right:
            return None
        return self.of_left.get(left_key) == right_key and self.of_right.get(right_key) == left_key

    def compare(self, left, right):
        if isinstance(left, relay.Expr) and isinstance(right, relay.Expr):
            self.expressions(left, right)
        elif isinstance(left, relay.Type) and isinstance(right, relay.Type):
            self.types(left, right)
        elif isinstance(left, _native.Dim) or isinstance(right, _native.Dim):
            self.dims(left, right)
        elif isinstance(left, relay.Pattern) and isinstance(right, relay.Pattern):
            self.patterns(left, right)
        elif isinstance(left, Mapping) and isinstance(right, Mapping):
            self.mappings(left, right)
        elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            self.sequences(left, right)
        elif hasattr(left, "_names") and hasattr(right, "_names"):
            self.modules(left, right)
        elif isinstance(left, relay.TypeData) and isinstance(right, relay.TypeData):
            self.sequences([left.header, *left.constructors], [right.header, *right.constructors])
        elif type(left) is not type(right) and not (isinstance(left, _LEAVES) and isinstance(right, _LEAVES)) or left != right:
            self.fail(left, right)

    def sequences(self, left, right):
        if len(left) != len(right):
            self.fail(left, right, f"{len(left)} parts, and {len(right)}")
        self.add(zip(left, right))

    def mappings(self, left, right):
        if set(left) != set(right):
            self.fail(left, right, f"the names {', '.join(map(str, set(left) ^ set(right)))}")
        self.add((left[k], right[k]) for k in left)

    def modules(self, left, right):
        if set(left._names) != set(right._names):
            self.fail(f"a module of {', '.join(left._names)}", f"a module of {', '.join(right._names)}")
        self.add((left[name], right[name]) for name in left._names)

    # --- Types ---

    def dims(self, left, right):
        if isinstance(left, int) or isinstance(right, int):
            if left != right:
                self.fail(left, right)
            return
        if any(str(d) == "?" or "." in str(d) for d in (left, right)):
            return
        known = self.known(left, right, left, right)
        if known is None:
            self.bind(left, right, left, right)
        elif not known:
            self.fail(left, right)

    def types(self, left, right):
        if type(left) is not type(right):
            self.fail(left, right)
        match left:
            case relay.TensorType():
                if left.dtype != right.dtype:
                    self.fail(left, right)
                self.sequences(left.shape, right.shape)
            case relay.TupleType():
                self.sequences(left.fields, right.fields)
            case relay.FuncType():
                if len(left.type_params) != len(right.type_params):
                    self.fail(left, right)
                for a, b in zip(left.type_params, right.type_params):
                    self.bind(a, b, a, b)
                self.sequences([*left.arg_types, left.ret_type], [*right.arg_types, right.ret_type])
            case relay.RefType():
                self.add([(left.value, right.value)])
            case relay.TypeCall():
                if str(left.func) != str(right.func):
                    self.fail(left, right)
                self.sequences(left.args, right.args)
            case _:
                known = self.known(left, right, left, right)
                if known is False or known is None and left != right and not self.map_free_vars:
                    self.fail(left, right)
                if known is None:
                    self.bind(left, right, left, right)

    # --- Expressions ---

    def variable(self, left, right, is_bound):
        known = self.known(left, right, id(left), id(right))
        if known is False or known is None and not is_bound and left is not right and not self.map_free_vars:
            self.fail(left, right, "they are other variables")
        if known is None:
            self.bind(left, right, id(left), id(right))
            if left.type_annotation is not None and right.type_annotation is not None:
                self.add([(left.type_annotation, right.type_annotation)])
            elif is_bound and (left.type_annotation is None) != (right.type_annotation is None):
                pass  # a type that is written, and one that is inferred

    def expressions(self, left, right):
        if isinstance(left, relay.Var) and isinstance(right, relay.Var):
            self.variable(left, right, is_bound=False)
            return
        if type(left) is not type(right):
            self.fail(left, right)
        if isinstance(left, relay.Constant):
            self.constants(left, right)
            return
        if isinstance(left, (relay.Op, relay.GlobalVar)):
            if left is not right and (isinstance(left, relay.Op) or left.name_hint != right.name_hint):
                self.fail(left, right)
            return
        if isinstance(left, relay.Constructor):
            if (str(left.belong_to), left.name_hint) != (str(right.belong_to), right.name_hint):
                self.fail(left, right)
            return
        known = self.known(left, right, id(left), id(right))
        if known is not None:
            if not known:
                self.fail(left, right, "one of them is shared with other nodes")
            return
        self.bind(left, right, id(left), id(right))
        self.parts(left, right)

    def constants(self, left, right):
        if left.checked_type != right.checked_type:
            self.fail(left, right)
        if left._handle is not right._handle and left.data.tobytes() != right.data.tobytes():
            self.fail(left, right, "their elements")

    def parts(self, left, right):
        match left:
            case relay.Call():
                if (left.attrs is None) != (right.attrs is None):
                    self.fail(left, right)
                if left.attrs is not None:
                    self.add([(left.attrs, right.attrs)])
                self.add([(left.op, right.op), (left.args, right.args)])
            case relay.Function():
                self.functions(left, right)
            case relay.Let():
                self.lets(left, right)
            case relay.Match():
                if left.complete != right.complete or len(left.clauses) != len(right.clauses):
                    self.fail(left, right)
                pairs = [(left.data, right.data)]
                for a, b in zip(left.clauses, right.clauses):
                    pairs += [(a.lhs, b.lhs), (a.rhs, b.rhs)]
                self.add(pairs)
            case relay.TupleGetItem():
                if left.index != right.index:
                    self.fail(left, right)
                self.add([(left.tuple_value, right.tuple_value)])
            case relay.Internal():
                if left.kind != right.kind:
                    self.fail(left, right)
                self.sequences(left.args, right.args)
            case _:
                self.sequences(left._children(), right._children())

    def functions(self, left, right):
        if len(left.params) != len(right.params) or len(left.type_params) != len(right.type_params):
            self.fail(left, right, "their parameters")
        for a, b in zip(left.type_params, right.type_params):
            self.bind(a, b, a, b)
        self.add([(dict(left.attrs), dict(right.attrs)), (left.body, right.body)])
        if left.ret_type is not None and right.ret_type is not None:
            self.add([(left.ret_type, right.ret_type)])
        for a, b in zip(left.params, right.params):
            self.variable(a, b, is_bound=True)

    def lets(self, left, right):
        self.variable(left.var, right.var, is_bound=True)
        self.add([(left.value, right.value), (left.body, right.body)])

    def patterns(self, left, right):
        if type(left) is not type(right):
            self.fail(left, right)
        if isinstance(left, relay.PatternVar):
            self.variable(left.var, right.var, is_bound=True)
            return
        if isinstance(left, relay.PatternConstructor):
            self.add([(left.constructor, right.constructor)])
        self.sequences(left._patterns(), right._patterns())


def assert_structural_equal(lhs, rhs, map_free_vars=False):
    """Raises ValueError, which shows the first difference, unless `structural_equal`."""
    try:
        _Comparison(map_free_vars).run(lhs, rhs)
    except _Differs as differs:
        raise ValueError(f"not structurally equal:\n{differs}") from None


def structural_equal(lhs, rhs, map_free_vars=False):
    """Whether two are the same but for the names of what they bind. map_free_vars: what nothing binds may have other names too."""
    try:
        _Comparison(map_free_vars).run(lhs, rhs)
    except _Differs:
        return False
    return True


def structural_hash(node, map_free_vars=False):
    """A number that is the same for what is structurally equal."""
    numbers, seen = {}, {}  # of variables and nodes, in the order in which they are met
    sequence = []
    todo = [node]
    while todo:
        x = todo.pop()
        if isinstance(x, _native.Dim):
            sequence.append("dim")
        elif isinstance(x, (relay.Var, relay.TypeVar)):
            key = x if isinstance(x, relay.TypeVar) else id(x)
            is_new = key not in numbers
            sequence.append(("var", numbers.setdefault(key, len(numbers))))
            if is_new and isinstance(x, relay.Var) and x.type_annotation is not None:
                todo.append(x.type_annotation)
        elif isinstance(x, relay.Constant):
            sequence.append((str(x.checked_type), x.data.tobytes()))
        elif isinstance(x, (relay.Op, relay.GlobalVar, relay.Constructor)):
            sequence.append((type(x).__name__, x.name if isinstance(x, relay.Op) else x.name_hint))
        elif isinstance(x, relay.Expr):
            if id(x) in seen:
                sequence.append(("node", seen[id(x)]))
                continue
            seen[id(x)] = len(seen)
            sequence.append(type(x).__name__)
            todo.extend(reversed(_parts_of(x)))
        elif isinstance(x, relay.Type):
            sequence.append(type(x).__name__)
            todo.extend(_parts_of_type(x))
        elif isinstance(x, relay.Pattern):
            sequence.append(type(x).__name__)
            todo.extend(x._patterns() if not isinstance(x, relay.PatternVar) else [x.var])
        elif isinstance(x, Mapping):
            todo.extend(part for name in sorted(x, key=str) for part in (str(name), x[name]))
        elif hasattr(x, "_names"):
            todo.extend(part for name in sorted(x._names) for part in (name, x[name]))
        elif isinstance(x, (list, tuple)):
            sequence.append(len(x))
            todo.extend(x)
        else:
            sequence.append(x if isinstance(x, _LEAVES) else str(x))
    return hash(tuple(sequence))


def _parts_of(x):
    match x:
        case relay.Call():
            return [x.op, list(x.args), dict(x.attrs or {})]
        case relay.Function():
            return [*x.params, x.body, dict(x.attrs)]
        case relay.Match():
            return [x.data, *(part for clause in x.clauses for part in (clause.lhs, clause.rhs))]
        case relay.TupleGetItem():
            return [x.tuple_value, x.index]
    return list(x._children())


def _parts_of_type(x):
    match x:
        case relay.TensorType():
            return [*x.shape, x.dtype]
        case relay.TupleType():
            return list(x.fields)
        case relay.FuncType():
            return [*x.type_params, *x.arg_types, x.ret_type]
        case relay.RefType():
            return [x.value]
        case relay.TypeCall():
            return [str(x.func), *x.args]
    return []
