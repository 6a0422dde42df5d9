"""Weights for networks of which only the shape is known."""
import numpy

from ...ir import IRModule
from ...nd import array


class Initializer:
    """Fills arrays by the names of parameters: what ends in gamma or var is one, in bias, beta or mean zero, in weight random."""

    def __call__(self, desc, arr):
        if desc.endswith(("gamma", "var")):
            arr[:] = 1
        elif desc.endswith(("bias", "beta", "mean")):
            arr[:] = 0
        else:
            self._init_weight(desc, arr)

    def _init_weight(self, name, arr):
        raise NotImplementedError(f"{type(self).__name__} says nothing of {name}")


class Xavier(Initializer):
    """Uniform or Gaussian weights, whose size keeps the variance of what goes through."""

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        self.rnd_type, self.factor_type, self.magnitude = rnd_type, factor_type, float(magnitude)

    def _init_weight(self, name, arr):
        area = float(numpy.prod(arr.shape[2:]))
        fan_in, fan_out = (arr.shape[1] if arr.ndim > 1 else 1) * area, arr.shape[0] * area
        factor = {"avg": (fan_in + fan_out) / 2, "in": fan_in, "out": fan_out}[self.factor_type]
        scale = numpy.sqrt(self.magnitude / factor) if factor > 0 else 0
        arr[:] = numpy.random.uniform(-scale, scale, arr.shape) if self.rnd_type == "uniform" else numpy.random.normal(0, scale, arr.shape)


class Constant(Initializer):
    """One number everywhere: so that an array sums up to 1, unless it is given."""

    def __init__(self, value=None):
        self.value = value

    def _init_weight(self, name, arr):
        arr[:] = 1 / arr.size if self.value is None else self.value


def create_workload(net, initializer=None, seed=0):
    """(module, weights by name) of a function: each parameter but data is a weight."""
    from .. import transform
    mod = transform.InferType()(IRModule.from_expr(net))
    initializer = initializer or Xavier()
    numpy.random.seed(seed)
    params = {}
    for v in mod["main"].params:
        if v.name_hint == "data":
            continue
        value = numpy.zeros(v.checked_type.concrete_shape, v.checked_type.dtype)
        initializer(v.name_hint, value)
        params[v.name_hint] = array(value)
    return mod, params
