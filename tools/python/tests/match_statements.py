"""Trees and nodes in `match` statements, which Python has from 3.10 on: test_match.py runs this where it does."""
import numpy as np
import pytest

import relayvm as rvm
from relayvm import relay

LIST = rvm.Adt("Cons", 20, rvm.Adt("Nil"))


def test_trees():
    leaf = np.array([5, 6], "f4")
    match rvm.Adt("Node", rvm.Adt("Leaf", leaf), rvm.Adt("Node", LIST, rvm.Adt("Leaf", leaf))):
        case rvm.Adt("Node", (rvm.Adt("Leaf", (x,)), rvm.Adt("Node", (a, b)))):
            assert x is leaf and a is LIST and b.constructor == "Leaf"
        case other:
            pytest.fail(f"matched nothing: {other}")


def test_an_empty_constructor():
    match LIST:
        case rvm.Adt("Cons", (head, rvm.Adt("Nil", ()))):
            assert head == 20
        case other:
            pytest.fail(f"matched nothing: {other}")


def test_nodes():
    dense = relay.nn.dense(relay.var("x", shape=(2, 4)), relay.var("w", shape=(3, 4)), units=3)
    match relay.add(relay.nn.relu(dense), relay.const(2.0)):
        case relay.Call(op=relay.Op(name="add"), args=(relay.Call(args=(d,)), _)):
            assert d is dense
        case other:
            pytest.fail(f"matched nothing: {other}")
