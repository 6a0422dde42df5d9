"""tvm.relay.quantize: float32 models in integers, against the float model and against the same rounding in numpy."""
import numpy as np
import pytest

import relayvm.tvm as tvm
from relayvm.compiler import quantize
from relayvm.tvm import relay

rng = np.random.default_rng(0)
W1, W2 = (rng.standard_normal(shape).astype("float32") * 0.3 for shape in ((8, 3, 3, 3), (8, 8, 3, 3)))
HEAD, X = rng.standard_normal((10, 8)).astype("float32"), rng.standard_normal((1, 3, 12, 12)).astype("float32")
PARAMS = {"w1": tvm.nd.array(W1), "w2": tvm.nd.array(W2), "head": tvm.nd.array(HEAD)}


def network():
    data, *weights = relay.var("data", shape=X.shape), *[relay.var(name, shape=value.shape) for name, value in PARAMS.items()]
    x = relay.nn.relu(relay.nn.conv2d(data, weights[0], padding=(1, 1)))
    x = relay.nn.relu(relay.nn.conv2d(x, weights[1], padding=(1, 1)))
    x = relay.nn.dense(relay.nn.batch_flatten(relay.nn.global_avg_pool2d(x)), weights[2])
    return tvm.IRModule.from_expr(relay.Function([data, *weights], x))


def run(mod, params=None):
    return relay.create_executor("vm", mod, tvm.cpu(), "llvm", params).evaluate()(X).numpy()


def dataset():
    for i in range(3):
        yield {"data": tvm.nd.array(np.random.default_rng(i).standard_normal(X.shape).astype("float32"))}


def test_numbers_are_those_of_the_steps():
    x, w = relay.var("x", shape=(2, 4)), relay.var("w", shape=(3, 4))
    mod = tvm.IRModule.from_expr(relay.Function([x, w], relay.nn.dense(x, w)))
    data, weight = (rng.uniform(-5, 5, shape).astype("float32") for shape in ((2, 4), (3, 4)))
    with relay.quantize.qconfig(global_scale=4.0, skip_dense_layer=False):
        found = relay.quantize.quantize(mod, {"w": weight})
    whole = [np.clip(np.rint(v / (limit / 128)), -127, 127) for v, limit in ((data, 4), (weight, 8))]
    result = relay.create_executor("vm", found, tvm.cpu(), "llvm").evaluate()(data).numpy()
    np.testing.assert_allclose(result, whole[0] @ whole[1].T * 4 / 128 * 8 / 128, 1e-6)
    assert found["main"].params[0].name_hint == "x" and len(found["main"].params) == 1


@pytest.mark.parametrize("mode, least", [("global_scale", 0.2), ("kl_divergence", 0.1), ("percentile", 0.1), ("max", 0.1)])
def test_results_are_near(mode, least):
    with relay.quantize.qconfig(calibrate_mode=mode, weight_scale="max", skip_conv_layers=[], skip_dense_layer=False):
        mod = relay.quantize.quantize(network(), PARAMS, dataset=None if mode == "global_scale" else dataset())
    assert mod.astext(show_meta_data=False).count('out_dtype="int32"') == 3
    expected = run(network(), PARAMS)
    assert np.abs(run(mod) - expected).max() < least * np.abs(expected).max()


def test_what_stays():
    for settings, count in (({}, 1), ({"skip_conv_layers": [0, 1]}, 0), ({"skip_dense_layer": False}, 2)):
        with relay.quantize.qconfig(**settings):
            assert relay.quantize.quantize(network(), PARAMS).astext(show_meta_data=False).count('out_dtype="int32"') == count
    assert "int8" not in relay.quantize.quantize(network()).astext()  # whose weights are not known


def test_simulation_gives_the_same_in_float32():
    found = []
    for simulated in (False, True):
        with relay.quantize.qconfig(global_scale=6.0, skip_conv_layers=[], do_simulation=simulated):
            mod = relay.quantize.quantize(network(), PARAMS)
        assert ("int8" in mod.astext(show_meta_data=False)) != simulated
        found.append(run(mod))
    np.testing.assert_allclose(*found, 1e-4, 1e-5)


def test_thresholds_of_histograms():
    values = np.abs(np.append(np.random.default_rng(0).standard_normal(20000), 80.0))
    assert 2 < quantize._kl_threshold(values, 8) < 20
    assert quantize._kl_threshold(np.linspace(0, 1, 5000), 8) > 0.9
    assert quantize._kl_threshold(np.zeros(5), 8) > 0


def test_settings():
    assert relay.quantize.current_qconfig().skip_conv_layers == (0,)
    with relay.quantize.qconfig(nbit_input=4) as config:
        assert relay.quantize.current_qconfig() is config and config.nbit_input == 4
    for wrong, message in (({"calibrate_mod": "max"}, "no setting calibrate_mod"), ({"calibrate_mode": "mean"}, "expected one of global_scale"),
                           ({"nbit_weight": 16}, "expected 2 to 8")):
        with pytest.raises(ValueError, match=message):
            relay.quantize.qconfig(**wrong)
    with relay.quantize.qconfig(calibrate_mode="max", skip_conv_layers=[]), pytest.raises(ValueError, match="takes a dataset"):
        relay.quantize.quantize(network(), PARAMS)
