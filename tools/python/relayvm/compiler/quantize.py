"""Convolutions and dense layers of a float32 model in integers of 8 bits: `quantize`, as tvm.relay.quantize has it.

What such a call reads is rounded to n * threshold / 128, n an int8: its weights with a threshold of their own, its data with one for all
calls (calibrate_mode "global_scale"), or with what a data set shows ("kl_divergence", "percentile", "max"). It sums int32, which are float32
again after it; the compiler makes one kernel of that and of what follows. Tested in tests/test_quantize.py.
"""
import contextvars

import numpy

from . import Module, bind_params_by_name, create_executor, relay, transform

_contexts = contextvars.ContextVar("relayvm_quantize_contexts")
_HEAVY = {"nn.conv2d": "skip_conv_layers", "nn.dense": "skip_dense_layer"}


class QConfig:
    """How `quantize` does it. `with QConfig(...):` for those inside.

    nbit_input, nbit_weight: bits of data and weights, at most 8. calibrate_mode: see above. global_scale: the threshold of "global_scale".
    weight_scale: "max": the largest weight is the threshold; "power2": the next power of two. skip_conv_layers: numbers of convolutions that
    stay float32. skip_dense_layer: dense layers do. do_simulation: values are rounded, and computed with in float32.
    """

    _DEFAULTS = {
        "nbit_input": 8, "nbit_weight": 8, "nbit_activation": 32, "dtype_input": "int8", "dtype_weight": "int8", "dtype_activation": "int32",
        "calibrate_mode": "global_scale", "global_scale": 8.0, "weight_scale": "power2", "skip_dense_layer": True, "skip_conv_layers": (0,),
        "do_simulation": False, "percentile": 0.99999}
    # TVM's, that have no effect here: sums are int32, rounding is to the nearest, what follows is fused.
    _WITHOUT_EFFECT = {"round_for_shift": True, "debug_enabled_ops": None, "rounding": "UPWARD", "calibrate_chunk_by": -1,
                       "partition_conversions": "disabled", "calibrate_skip_layers": None, "store_lowbit_output": True}
    _CHOICES = {"calibrate_mode": ("global_scale", "kl_divergence", "percentile", "max"), "weight_scale": ("max", "power2")}

    def __init__(self, **settings):
        known = {**self._DEFAULTS, **self._WITHOUT_EFFECT}
        for name, value in settings.items():
            if name not in known:
                raise ValueError(f"qconfig: there is no setting {name}; there are {', '.join(known)}")
            if name in self._CHOICES and value not in self._CHOICES[name]:
                raise ValueError(f"qconfig: {name}: expected one of {', '.join(self._CHOICES[name])}, found {value}")
        vars(self).update({**known, **settings})
        for name in ("nbit_input", "nbit_weight"):
            if not 2 <= getattr(self, name) <= 8:
                raise ValueError(f"qconfig: {name}: expected 2 to 8, found {getattr(self, name)}")

    def __enter__(self):
        _stack().append(self)
        return self

    def __exit__(self, *_):
        _stack().pop()

    def __repr__(self):
        return f"qconfig({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _stack():
    if _contexts.get(None) is None:
        _contexts.set([])
    return _contexts.get()


def current_qconfig():
    """That of the innermost `with`, or the defaults."""
    return _stack()[-1] if _stack() else QConfig()


def prerequisite_optimize(mod, params=None):
    """The module with its weights, whose normalisations are parts of convolutions: what `quantize` takes its calls of."""
    if params:
        names = {p.name_hint for p in mod["main"].params}
        mod = bind_params_by_name(mod, {name: value for name, value in params.items() if name in names})
    steps = ("SimplifyInference", "FoldConstants", "FoldScaleAxis", "CanonicalizeOps", "FoldConstants")
    for step in steps:
        mod = getattr(transform, step)()(mod)
    return mod


def quantize(mod, params=None, dataset=None, config=None):
    """The module with the calls of main in integers. dataset: dicts of arrays by the names of main's inputs, which the calibrate modes other
    than "global_scale" run. config: a `QConfig`, else the current one."""
    config = config or current_qconfig()
    mod = prerequisite_optimize(mod, params)
    calls = _calls(mod["main"], config)
    if not calls:
        return mod
    thresholds = {call: float(config.global_scale) for call in calls}
    if config.calibrate_mode != "global_scale":
        if dataset is None:
            raise ValueError(f"quantize: calibrate_mode {config.calibrate_mode} takes a dataset")
        thresholds = dict(zip(calls, _measured(mod, calls, dataset, config)))
    return _with_main(mod, _Quantizer(thresholds, config).visit(mod["main"]))


def _with_main(mod, function):
    return transform.function_pass(lambda fn, *_: function if fn.name == "main" else fn, opt_level=0, name="Quantize")(mod)


def _calls(function, config):
    """Calls that become integers, in the order of the program."""
    found, counts = [], dict.fromkeys(_HEAVY, 0)

    def visit(node):
        name = node.op.name if isinstance(node, relay.Call) and isinstance(node.op, relay.Op) else None
        if name in _HEAVY:
            skip = getattr(config, _HEAVY[name]) or ()
            if not (skip is True or skip is not False and counts[name] in skip) and _is_plain(node):
                found.append(node)
            counts[name] += 1
    relay.post_order_visit(function.body, visit)
    return found


def _is_plain(call):
    data, weight = call.args
    return isinstance(weight, relay.Constant) and all(a.checked_type.dtype == "float32" for a in (data, weight)) \
        and call.attrs["out_dtype"] in ("", "float32")


class _Quantizer(relay.ExprMutator):
    def __init__(self, thresholds, config):
        super().__init__()
        self._thresholds, self._config, self._rounded = thresholds, config, {}

    def visit_call(self, call):
        if call not in self._thresholds:
            return super().visit_call(call)
        config = self._config
        data_step = self._thresholds[call] / 2 ** (config.nbit_input - 1)
        weight = call.args[1].data.numpy()
        limit = float(numpy.abs(weight).max()) or 1.0
        if config.weight_scale == "power2":
            limit = 2.0 ** numpy.ceil(numpy.log2(limit))
        weight_step = limit / 2 ** (config.nbit_weight - 1)
        data = self._steps(self.visit(call.args[0]), data_step)
        whole = _clipped(weight, weight_step, config.nbit_weight)
        if config.do_simulation:
            return relay.Call(call.op, [data * relay.const(data_step), relay.const(whole * numpy.float32(weight_step))], call.attrs, span=call.span)
        sums = relay.Call(call.op, [relay.cast(data, "int8"), relay.const(whole.astype("int8"))], {**call.attrs, "out_dtype": "int32"}, span=call.span)
        return relay.cast(sums, "float32") * relay.const(data_step * weight_step)

    def _steps(self, data, step):
        """How many steps values are, as whole float32 numbers; once for all that read them with this step."""
        key = (data, step)
        if key not in self._rounded:
            most = 2.0 ** (self._config.nbit_input - 1)
            self._rounded[key] = relay.clip(relay.round(data * relay.const(1 / step)), 1 - most, most - 1)
        return self._rounded[key]


def _clipped(values, step, bits):
    most = 2.0 ** (bits - 1)
    return numpy.clip(numpy.rint(values / numpy.float32(step)), 1 - most, most - 1).astype("float32")


# --- What a data set shows ---


def _measured(mod, calls, dataset, config):
    """The threshold of each call's data."""
    main = mod["main"]
    probe = Module.from_expr(relay.Function(main.params, relay.Tuple([call.args[0] for call in calls])))
    run = create_executor("vm", probe).evaluate()
    seen = [[] for _ in calls]
    for batch in dataset:
        for values, array in zip(seen, run(**{name: numpy.asarray(value) for name, value in batch.items()})):
            values.append(numpy.abs(array).ravel())
    if not seen[0]:
        raise ValueError("quantize: the dataset is empty")
    threshold = {"kl_divergence": lambda values: _kl_threshold(values, config.nbit_input), "max": lambda values: values.max(),
                 "percentile": lambda values: numpy.quantile(values, config.percentile)}[config.calibrate_mode]
    return [float(threshold(numpy.concatenate(values))) or 1.0 for values in seen]


def _kl_threshold(values, bits, bins=2048):
    """The threshold whose steps keep most of what a histogram of absolute values says: the least divergence of the histogram up to it, with
    what is above in its last bin, from the same in steps."""
    levels = 2 ** (bits - 1)
    counts, edges = numpy.histogram(values, bins, (0, values.max() or 1.0))
    counts = counts.astype("float64")
    best, found = numpy.inf, edges[-1]
    for end in range(levels, bins + 1, max(1, bins // 512)):
        wanted = counts[:end].copy()
        wanted[-1] += counts[end:].sum()
        step = numpy.arange(end) * levels // end
        filled = counts[:end] > 0
        total, cells = numpy.bincount(step, counts[:end], levels), numpy.bincount(step, filled, levels)
        rounded = numpy.where(filled, (total / cells.clip(1))[step], 0)
        divergence = _divergence(wanted, rounded)
        if divergence < best:
            best, found = divergence, edges[end]
    return found


def _divergence(p, q, least=1e-4):
    """Of two histograms; empty bins have a little."""
    if not q.sum():
        return numpy.inf
    p, q = ((h / h.sum()).clip(least / len(h)) for h in (p, q))
    return float((p * numpy.log(p / q)).sum())
