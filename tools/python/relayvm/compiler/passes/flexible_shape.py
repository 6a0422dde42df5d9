"""FlexibleShapeDispatch: a program of fixed sizes takes others, with a function of its own for each size that is named."""
from .. import relay
from .rewriter import function_pass

__all__ = ["ChangeBatch", "FlexibleShapeDispatch"]


def _with_dim(kind, axis, dim):
    shape = list(kind.shape)
    shape[axis] = dim
    return relay.TensorType(shape, kind.dtype)


class _Dispatch:
    """What a module's main becomes; the functions for sizes are its main with other parameters."""

    def __init__(self, mod, options):
        self.mod, self.main = mod, mod["main"]
        self.__dict__.update(options)
        self.size = relay.size_var("n")
        self.params = self._params(self.size)
        first = self.params[self.input_indices[0]]
        self.given = relay.take(relay.shape_of(first), relay.const(self.axis))

    def _params(self, dim):
        """Parameters of main with another size."""
        return [relay.Var(p.name_hint, _with_dim(p.checked_type, self.axis, dim)) if i in self.input_indices
                else relay.Var(p.name_hint, p.checked_type) for i, p in enumerate(self.main.params)]

    def _function(self, name, dim):
        params = self._params(dim)
        self.mod[name] = relay.Function(params, relay.bind(self.main.body, dict(zip(self.main.params, params))), None, None, self.main.attrs)
        return relay.GlobalVar(name)

    def _padded(self, x, bucket):
        rank = len(x.type_annotation.shape)
        widths = relay.scatter_nd(relay.zeros([rank, 2], "int32"), relay.const([self.axis, 1]), relay.const(bucket) - self.given)
        return relay.nn.pad(x, widths, relay.const(self.pad_value, x.type_annotation.dtype))

    def _call(self, bucket):
        args = []
        for i, (param, old) in enumerate(zip(self.params, self.main.params)):
            if i in self.input_indices:
                value = self._padded(param, bucket) if self.auto_pad else param
                param = relay.reshape(value, _with_dim(old.checked_type, self.axis, bucket).shape)
            args.append(param)
        result = self._function(f"main_{bucket}", bucket)(*args)
        return self._as_long_as_given(result) if self.affects_output else result

    def _as_long_as_given(self, result):
        """The part of a result, or of each of a tuple, that is no padding."""
        places = relay.arange(relay.const(0), self.given, dtype="int32")

        def part(x):
            return relay.take(x, places, axis=self.axis, mode="fast")
        kind = self.main.body.checked_type
        if isinstance(kind, relay.TupleType):
            return relay.Tuple([part(relay.TupleGetItem(result, i)) for i in range(len(kind.fields))])
        return part(result)

    def run(self):
        body = self._function("main_any", relay.size_var("n"))(*self.params)
        for bucket in sorted(self.buckets, reverse=True):
            compare = relay.less_equal if self.auto_pad else relay.equal
            body = relay.If(compare(self.given, relay.const(bucket)), self._call(bucket), body)
        self.mod["main"] = relay.Function(self.params, body, None, None, self.main.attrs)
        return self.mod


def FlexibleShapeDispatch(buckets, axis=0, auto_pad=False, pad_value=0, input_indices=None, affects_output=True):  # noqa: N802 (TVM's name)
    """A pass after which main takes any size along an axis. For those in `buckets` there are functions of their own, others go through one
    for all sizes.

    auto_pad: data are padded with pad_value to the next bucket. input_indices: parameters that have the axis, the first one if left out.
    affects_output: whether results have the axis too.
    """
    from ..transform import PythonPass
    options = {"buckets": list(buckets), "axis": axis, "auto_pad": auto_pad, "pad_value": pad_value, "input_indices": list(input_indices or [0]),
               "affects_output": affects_output}

    def run(mod, _):
        dispatch = _Dispatch(_Settable(mod), options)
        functions = dispatch.run().functions
        return mod._like(mod._made_with(functions, "pass FlexibleShapeDispatch"))
    return PythonPass("FlexibleShapeDispatch", run)


class _Settable:
    """Functions of a module, and what is set in their place."""

    def __init__(self, mod):
        self._mod, self.functions = mod, {}

    def __getitem__(self, name):
        return self._mod[name]

    def __setitem__(self, name, function):
        self.functions[name] = function


def ChangeBatch(data, batch_size=16):  # noqa: N802 (TVM's name)
    """A pass that gives parameters another batch. data: {variable, or its name: the axis of its batch}; types are inferred anew."""
    axes = {var if isinstance(var, str) else var.name_hint: axis for var, axis in data.items()}

    def change(function):
        params = [relay.Var(p.name_hint, _with_dim(p.checked_type, axes[p.name_hint], batch_size)) if p.name_hint in axes else p
                  for p in function.params]
        changed = {old: new for old, new in zip(function.params, params) if old is not new}
        if not changed:
            return function
        return relay.Function(params, relay.bind(function.body, changed), None, function.type_params, function.attrs, name=function.name)
    return function_pass("ChangeBatch", change, opt_level=1)
