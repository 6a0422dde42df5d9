"""Rewrite rules."""
import numpy as np
import pytest

import relayvm as rvm

RULES = """
rule @twice(%x) { nn.relu(nn.relu(%x)) => nn.relu(%x) }
rule @zero(%x) { add(%x, 0f) or add(0f, %x) => %x }
"""
PROGRAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 3), float32]) { let %a = nn.relu(add(%x, 0f)); tanh(nn.relu(nn.relu(%a))) }
"""


def test_rules_are_applied_and_results_stay():
    mod = rvm.parse(PROGRAM)
    told = []
    after = rvm.rewrite(mod, RULES, explain=told.append)
    assert str(after).count("nn.relu") == 1 and "add" not in str(after)
    assert "rule @twice: applied 2 times" in told[0] and "is not applied: expected nn.relu, found" not in told[0]
    x = np.linspace(-1, 1, 6, dtype="f4").reshape(2, 3)
    np.testing.assert_array_equal(rvm.compile(after)(x), rvm.compile(mod)(x))


def test_files_of_rules(tmp_path):
    path = tmp_path / "a.rules"
    path.write_text(RULES)
    assert "add" not in str(rvm.rewrite(rvm.parse(PROGRAM), path))
    x = np.ones((1, 3), "f4")
    np.testing.assert_allclose(rvm.compile(PROGRAM, rules=[path])(x), np.tanh(x), rtol=1e-5)
    with pytest.raises(rvm.NotFound):
        rvm.rewrite(rvm.parse(PROGRAM), tmp_path / "none.rules")


def test_wrong_rules():
    mod = rvm.parse(PROGRAM)
    with pytest.raises(rvm.InvalidInput, match="both sides must have the same type") as e:
        rvm.rewrite(mod, "rule @t(%x) {\n  tanh(%x) => cast(%x, dtype=\"int8\") }")
    assert e.value.line == 2 and "cast" in e.value.source_line
    with pytest.raises(rvm.InvalidArgument, match="@a .*@b|@b .*@a"):
        rvm.rewrite(mod, "rule @a(%x) { tanh(%x) => sigmoid(%x) } rule @b(%x) { sigmoid(%x) => tanh(%x) }")
