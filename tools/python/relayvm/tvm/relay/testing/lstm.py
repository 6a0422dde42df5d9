"""An LSTM, unrolled: each step is a call of a function, with weights and an input of its own."""
from .. import (Function, ScopeBuilder, TensorType, Tuple, TupleGetItem, TupleType, add, analysis, multiply, nn, sigmoid, split, tanh, var, zeros)
from .init import create_workload


def _types(num_hidden, batch_size, dtype):
    """Of the input, output and state; of a weight; of a bias."""
    return (TensorType(shape, dtype) for shape in ((batch_size, num_hidden), (4 * num_hidden, num_hidden), (4 * num_hidden,)))


def _weights(name, weight, bias):
    return [var(f"{part}{name}_{what}", weight if what == "weight" else bias) for part in ("i2h", "h2h") for what in ("weight", "bias")]


def lstm_cell(num_hidden, batch_size=1, dtype="float32", name=""):
    """A step as a function of (input, (output, state), weights and biases of the input, those of the output): gives (output, (output, state))."""
    kind, weight, bias = _types(num_hidden, batch_size, dtype)
    inputs, states = var("inputs", kind), var("states", TupleType([kind, kind]))
    weights = _weights("", weight, bias)
    sb = ScopeBuilder()
    i2h = sb.let(f"{name}i2h", nn.bias_add(nn.dense(inputs, weights[0], units=4 * num_hidden), weights[1], axis=-1))
    h2h = sb.let(f"{name}h2h", nn.bias_add(nn.dense(TupleGetItem(states, 0), weights[2], units=4 * num_hidden), weights[3], axis=-1))
    gates = sb.let(f"{name}gates", add(i2h, h2h))
    parts = sb.let(f"{name}slice_gates", split(gates, indices_or_sections=4, axis=1).astuple())
    taken = sb.let(f"{name}in_gate", sigmoid(TupleGetItem(parts, 0)))
    kept = sb.let(f"{name}forget_gate", sigmoid(TupleGetItem(parts, 1)))
    new = sb.let(f"{name}in_transform", tanh(TupleGetItem(parts, 2)))
    given = sb.let(f"{name}out_gate", sigmoid(TupleGetItem(parts, 3)))
    state = sb.let(f"{name}next_c", add(multiply(kept, TupleGetItem(states, 1)), multiply(taken, new)))
    output = sb.let(f"{name}next_h", multiply(given, tanh(state)))
    sb.ret(sb.let(f"{name}ret", Tuple([output, Tuple([output, state])])))
    return Function([inputs, states, *weights], sb.get(), TupleType([kind, TupleType([kind, kind])]))


def get_net(iterations, num_hidden, batch_size=1, dtype="float32"):
    """The steps as a function of their inputs and weights: each takes the states that the one before gave."""
    kind, weight, bias = _types(num_hidden, batch_size, dtype)
    sb = ScopeBuilder()
    empty = sb.let("zeros", zeros((batch_size, num_hidden), dtype))
    states, output = sb.let("init_states", Tuple([empty, empty])), None
    for step in range(iterations):
        cell = lstm_cell(num_hidden, batch_size, dtype)
        call = sb.let(f"call_{step}", cell(var("data", kind), states, *_weights(f"_{step}", weight, bias)))
        output, states = sb.let(f"out_{step}", TupleGetItem(call, 0)), sb.let(f"states_{step}", TupleGetItem(call, 1))
    sb.ret(output)
    body = sb.get()
    return Function(analysis.free_vars(body), body, kind)


def get_workload(iterations, num_hidden, batch_size=1, dtype="float32"):
    """(module, weights)."""
    return create_workload(get_net(iterations, num_hidden, batch_size, dtype))
