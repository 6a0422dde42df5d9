"""An LSTM, unrolled: each step is a call of one function."""
from .. import (Function, ScopeBuilder, TensorType, Tuple, TupleGetItem, TupleType, add, multiply, nn, sigmoid, split, tanh, var, zeros)
from .init import create_workload


def lstm_cell(num_hidden, batch_size=1, dtype="float32", name=""):
    """A step as a function of (input, (output, state), weights and biases of the input, those of the output): gives (output, (output, state))."""
    kind, weight, bias = (TensorType(shape, dtype) for shape in ((batch_size, num_hidden), (4 * num_hidden, num_hidden), (4 * num_hidden,)))
    inputs, states = var("inputs", kind), var("states", TupleType([kind, kind]))
    weights = [var(f"{name}{part}_{what}", weight if what == "weight" else bias) for part in ("i2h", "h2h") for what in ("weight", "bias")]
    sb = ScopeBuilder()
    i2h = sb.let("i2h", nn.bias_add(nn.dense(inputs, weights[0], units=4 * num_hidden), weights[1], axis=-1))
    h2h = sb.let("h2h", nn.bias_add(nn.dense(TupleGetItem(states, 0), weights[2], units=4 * num_hidden), weights[3], axis=-1))
    gates = sb.let("gates", split(add(i2h, h2h), indices_or_sections=4, axis=1).astuple())
    taken = sb.let("in_gate", sigmoid(TupleGetItem(gates, 0)))
    kept = sb.let("forget_gate", sigmoid(TupleGetItem(gates, 1)))
    new = sb.let("in_transform", tanh(TupleGetItem(gates, 2)))
    given = sb.let("out_gate", sigmoid(TupleGetItem(gates, 3)))
    state = sb.let("next_c", add(multiply(kept, TupleGetItem(states, 1)), multiply(taken, new)))
    output = sb.let("next_h", multiply(given, tanh(state)))
    sb.ret(Tuple([output, Tuple([output, state])]))
    return Function([inputs, states, *weights], sb.get(), TupleType([kind, TupleType([kind, kind])]))


def get_net(iterations, num_hidden, batch_size=1, dtype="float32"):
    """The steps as a function of the input and the weights: each takes what the one before gave."""
    kind, weight, bias = (TensorType(shape, dtype) for shape in ((batch_size, num_hidden), (4 * num_hidden, num_hidden), (4 * num_hidden,)))
    data = var("data", kind)
    weights = [var(f"{part}_{what}", weight if what == "weight" else bias) for part in ("i2h", "h2h") for what in ("weight", "bias")]
    sb = ScopeBuilder()
    cell = sb.let("lstm_cell", lstm_cell(num_hidden, batch_size, dtype))
    empty = zeros((batch_size, num_hidden), dtype)
    inputs, states = data, sb.let("states", Tuple([empty, empty]))
    for step in range(iterations):
        call = sb.let(f"call_{step}", cell(inputs, states, *weights))
        inputs, states = sb.let(f"out_{step}", TupleGetItem(call, 0)), sb.let(f"states_{step}", TupleGetItem(call, 1))
    sb.ret(inputs)
    return Function([data, *weights], sb.get(), kind)


def get_workload(iterations, num_hidden, batch_size=1, dtype="float32"):
    """(module, weights)."""
    return create_workload(get_net(iterations, num_hidden, batch_size, dtype))
