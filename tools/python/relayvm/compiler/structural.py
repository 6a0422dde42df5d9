"""Whether two programs are the same but for names: `rvm.structural_equal`, `assert_structural_equal`.

They take modules, functions, expressions, types, and lists, tuples and dicts of them. Bound variables and type parameters correspond
by where they are bound; what several nodes share must be shared on both sides. Sizes that are no numbers correspond as their
names do; one that has no name ("?") is any of these. Types that inference found are those of variables and functions that have none.
As TVM's tvm.ir.structural_equal.
"""
from collections.abc import Mapping

from . import _native, relay

_LEAVES = (int, float, str, bool, bytes, type(None))


def _is_inferred(node):
    """Whether the type of a variable's or of a function's result may be one that inference found."""
    return node._handle is not None or isinstance(node, relay.Function) and node._type is not None


class _Differs(Exception):
    def __str__(self):  # which takes long of large parts, and is rarely asked for
        left, right, why = self.args
        return f"{_at_end(left)}\nand\n{_at_end(right)}\ndiffer{': ' + why if why else ''}"


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
        raise _Differs(left, right, why)

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
        if left is right and isinstance(left, _LEAVES):
            return
        if isinstance(left, relay.Expr) and isinstance(right, relay.Expr):
            self.expressions(left, right)
        elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            self.sequences(left, right)
        elif isinstance(left, relay.Type) and isinstance(right, relay.Type):
            self.types(left, right)
        elif isinstance(left, _native.Dim) or isinstance(right, _native.Dim):
            self.dims(left, right)
        elif isinstance(left, relay.Pattern) and isinstance(right, relay.Pattern):
            self.patterns(left, right)
        elif isinstance(left, Mapping) and isinstance(right, Mapping):
            self.mappings(left, right)
        elif hasattr(left, "_names") and hasattr(right, "_names"):
            self.modules(left, right)
        elif isinstance(left, relay.TypeData) and isinstance(right, relay.TypeData):
            self.type_data(left, right)
        elif hasattr(left, "tobytes") and hasattr(right, "tobytes"):  # arrays
            if (left.shape, left.dtype, left.tobytes()) != (right.shape, right.dtype, right.tobytes()):
                self.fail(left, right)
        elif isinstance(left, float) and isinstance(right, float):
            if abs(left - right) >= 1e-9 and left != right:  # as in TVM
                self.fail(left, right)
        elif type(left) is not type(right) and not (isinstance(left, _LEAVES) and isinstance(right, _LEAVES)) or left != right:
            self.fail(left, right)

    def type_data(self, left, right):
        if len(left.type_vars) != len(right.type_vars) or len(left.constructors) != len(right.constructors):
            self.fail(left, right)
        for a, b in zip(left.type_vars, right.type_vars):
            self.bind(a, b, a._handle, b._handle)
        self.add([(str(left.header), str(right.header))])
        for a, b in zip(left.constructors, right.constructors):
            self.add([(a.name_hint, b.name_hint), (a.inputs, b.inputs)])

    def sequences(self, left, right):
        if len(left) != len(right):
            self.fail(left, right, f"{len(left)} parts, and {len(right)}")
        self.add(zip(left, right))

    def mappings(self, left, right):
        if any(isinstance(key, (relay.Var, relay.Id)) for key in left):
            left, right = _by_variable(left), {self.of_right.get(k, k): value for k, value in _by_variable(right).items()}
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
        if isinstance(left, relay.TensorType):
            if left.dtype != right.dtype:
                self.fail(left, right)
            self.sequences(left.shape, right.shape)
        elif isinstance(left, relay.TupleType):
            self.sequences(left.fields, right.fields)
        elif isinstance(left, relay.FuncType):
            if len(left.type_params) != len(right.type_params):
                self.fail(left, right)
            self.type_params(left, right)
            self.sequences([*left.arg_types, left.ret_type], [*right.arg_types, right.ret_type])
            self.add([(left.type_constraints, right.type_constraints)])
        elif isinstance(left, relay.RefType):
            self.add([(left.value, right.value)])
        elif isinstance(left, relay.TypeCall):
            if str(left.func) != str(right.func):
                self.fail(left, right)
            self.sequences(left.args, right.args)
        elif isinstance(left, relay.TypeRelation):
            if left.func is not right.func or left.num_inputs != right.num_inputs:
                self.fail(left, right)
            self.add([(left.args, right.args), (left.attrs, right.attrs)])
        elif isinstance(left, relay.TypeVar):
            known = self.known(left, right, left._handle, right._handle)
            if known is False or known is None and left._handle != right._handle and not self.map_free_vars or left.kind != right.kind:
                self.fail(left, right)
            if known is None:
                self.bind(left, right, left._handle, right._handle)
        else:
            if left._handle != right._handle:
                self.fail(left, right)

    def type_params(self, left, right):
        for a, b in zip(left.type_params, right.type_params):
            if a.kind != b.kind:
                self.fail(a, b, "they are of other kinds")
            self.bind(a, b, a._handle, b._handle)

    # --- Expressions ---

    def variable(self, left, right, is_bound, is_inferred=False):
        """is_inferred: types may be those that inference found."""
        known = self.known(left, right, id(left), id(right))
        if known is False or known is None and not is_bound and left is not right and not self.map_free_vars:
            self.fail(left, right, "they are other variables")
        if known is None:
            self.bind(left, right, id(left), id(right))
            self.written_types(left, right, left.type_annotation, right.type_annotation, is_inferred)

    def written_types(self, left, right, type_of_left, type_of_right, is_inferred=False):
        """Types of variables and functions, which may be left out; those that the compiler knows are inferred."""
        if type_of_left is not None and type_of_right is not None:
            self.add([(type_of_left, type_of_right)])
        elif type_of_left is not type_of_right and not is_inferred and not _is_inferred(left) and not _is_inferred(right):
            self.fail(left, right, "one of them has no type")

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
        if isinstance(left, relay.Tuple) and not left.fields and not right.fields:
            return  # it is as a constant
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
        if isinstance(left, relay.Call):
            if left._attrs is not right._attrs:
                if (left.attrs is None) != (right.attrs is None):
                    self.fail(left, right)
                if left.attrs:
                    self.add([(left.attrs, right.attrs)])
            if len(left.args) != len(right.args):
                self.fail(left, right, f"{len(left.args)} arguments, and {len(right.args)}")
            self.add([(left.op, right.op), *zip(left.args, right.args)])
            if not isinstance(left.op, relay.Op) and left._type is None and right._type is None:
                self.add([(left.type_args, right.type_args)])
        elif isinstance(left, relay.Function):
            self.functions(left, right)
        elif isinstance(left, relay.Let):
            self.lets(left, right)
        elif isinstance(left, relay.Match):
            if left.complete != right.complete or len(left.clauses) != len(right.clauses):
                self.fail(left, right)
            pairs = [(left.data, right.data)]
            for a, b in zip(left.clauses, right.clauses):
                pairs += [(a.lhs, b.lhs), (a.rhs, b.rhs)]
            self.add(pairs)
        elif isinstance(left, relay.TupleGetItem):
            if left.index != right.index:
                self.fail(left, right)
            self.add([(left.tuple_value, right.tuple_value)])
        elif isinstance(left, relay.Internal):
            if left.kind != right.kind:
                self.fail(left, right)
            self.sequences(left.args, right.args)
        else:
            self.sequences(left._children(), right._children())

    def functions(self, left, right):
        if len(left.params) != len(right.params) or len(left.type_params) != len(right.type_params):
            self.fail(left, right, "their parameters")
        self.type_params(left, right)
        self.add([(dict(left.attrs), dict(right.attrs)), (left.body, right.body)])
        self.written_types(left, right, left.ret_type, right.ret_type)
        for a, b in zip(left.params, right.params):
            self.variable(a, b, is_bound=True, is_inferred=_is_inferred(left) or _is_inferred(right))

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


def _by_variable(mapping):
    """A dict whose keys are variables, by their ids."""
    return {id(k.variable if isinstance(k, relay.Id) else k) if isinstance(k, (relay.Var, relay.Id)) else k: v for k, v in mapping.items()}
