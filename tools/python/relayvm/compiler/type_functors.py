"""Walks over types: a method for each kind, as `relay.ExprFunctor` has them for expressions."""
from . import relay

_METHODS = {relay.TypeVar: "visit_type_var", relay.IncompleteType: "visit_incomplete_type", relay.TensorType: "visit_tensor_type",
            relay.FuncType: "visit_func_type", relay.TupleType: "visit_tuple_type", relay.TypeRelation: "visit_type_relation",
            relay.RefType: "visit_ref_type", relay.GlobalTypeVar: "visit_global_type_var", relay.TypeCall: "visit_type_call",
            relay.TypeData: "visit_type_data"}


class TypeFunctor:
    """A walk: visit(type) calls the method of its kind, which subclasses define."""

    def visit(self, typ):
        """What the method for the kind of `typ` gives."""
        name = _METHODS.get(type(typ))
        if name is None:
            raise TypeError(f"visit: expected a type, found {type(typ).__name__}")
        return getattr(self, name)(typ)


def _not_visited(name):
    def method(self, typ):
        raise NotImplementedError(f"{type(self).__name__} has no {name}, which {typ} needs")
    method.__name__, method.__doc__ = name, f"Of a {name.removeprefix('visit_')}: to override."
    return method


for _name in _METHODS.values():
    setattr(TypeFunctor, _name, _not_visited(_name))


class TypeVisitor(TypeFunctor):
    """Visits what each type is made of."""

    def _visit_all(self, types):
        for t in types:
            self.visit(t)

    def visit_type_var(self, tv):
        pass

    visit_incomplete_type = visit_tensor_type = visit_global_type_var = visit_type_var

    def visit_func_type(self, ft):
        self._visit_all([*ft.arg_types, ft.ret_type, *ft.type_params, *ft.type_constraints])

    def visit_tuple_type(self, tt):
        self._visit_all(tt.fields)

    def visit_type_relation(self, tr):
        self._visit_all(tr.args)

    def visit_ref_type(self, rt):
        self.visit(rt.value)

    def visit_type_call(self, tc):
        self._visit_all([tc.func, *tc.args])

    def visit_type_data(self, td):
        self._visit_all([td.header, *td.type_vars, *(t for c in td.constructors for t in c.inputs)])


class TypeMutator(TypeFunctor):
    """Makes a new type: override the methods for what is to be replaced."""

    def _visit_all(self, types):
        return [self.visit(t) for t in types]

    def visit_type_var(self, tv):
        return tv

    visit_incomplete_type = visit_tensor_type = visit_global_type_var = visit_type_var

    def visit_func_type(self, ft):
        return relay.FuncType(self._visit_all(ft.arg_types), self.visit(ft.ret_type), self._visit_all(ft.type_params),
                              self._visit_all(ft.type_constraints))

    def visit_tuple_type(self, tt):
        return relay.TupleType(self._visit_all(tt.fields))

    def visit_type_relation(self, tr):
        return relay.TypeRelation(tr.func, self._visit_all(tr.args), tr.num_inputs, tr.attrs)

    def visit_ref_type(self, rt):
        return relay.RefType(self.visit(rt.value))

    def visit_type_call(self, tc):
        return relay.TypeCall(self.visit(tc.func), self._visit_all(tc.args))

    def visit_type_data(self, td):
        header = self.visit(td.header)
        constructors = [relay.Constructor(c.name_hint, self._visit_all(c.inputs), header) for c in td.constructors]
        return relay.TypeData(header, self._visit_all(td.type_vars), constructors)
