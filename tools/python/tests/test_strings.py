"""Tensors of strings: numpy's arrays of str and bytes in, arrays of str objects out."""
import numpy as np
import pytest

import relayvm as rvm

HEADER = '#[version = "0.0.5"]\n'


@pytest.fixture(scope="module")
def chosen():
    return rvm.compile(HEADER + """
def @main(%x: Tensor[(?, 2), string], %i: Tensor[(?), int64]) -> Tensor[(?, 2), string] { take(%x, %i, axis=0) }
""").load()


def test_arrays_of_every_kind_go_in_and_str_comes_out(chosen):
    texts = [["a", "bé"], ["", "漢字\0x"], ["😀", "a"]]
    for x in (np.array(texts, dtype=object), texts, np.array(texts)):
        y = chosen(x, np.int64([2, 0, 1]))
        assert y.dtype == object and y.shape == (3, 2)
        assert y.tolist() == [texts[2], texts[0], texts[1]]
        assert all(type(t) is str for t in y.ravel())
    y = chosen(np.array([[b"ab", "é".encode()]]), [0, 0])
    assert y.tolist() == [["ab", "é"], ["ab", "é"]]
    assert chosen(np.empty((0, 2), object), np.int64([])).shape == (0, 2)
    assert chosen(np.array(texts, order="F").T[:1].T.repeat(2, 1), [1]).tolist() == [["", ""]]


def test_what_is_no_string_is_named(chosen):
    with pytest.raises(TypeError, match="expected a tensor of strings, element 1 is of type int"):
        chosen(np.array([["a", 1]], dtype=object), [0])
    with pytest.raises(TypeError, match="element 0 is of type float"):
        chosen(np.float32([[1, 2]]), [0])
    with pytest.raises(rvm.InvalidArgument, match="string 1 is not UTF-8"):
        chosen(np.array([[b"a", b"\xff"]]), [0])
    with pytest.raises(UnicodeEncodeError):
        chosen([["a", "\ud800"]], [0])
    with pytest.raises(rvm.InvalidArgument, match="string"):
        chosen(["a"], [0])


def test_what_computes_with_strings_does_not_compile():
    with pytest.raises(rvm.Error, match="add: expected numbers, found strings"):
        rvm.compile(HEADER + "def @main(%x: Tensor[(?), string]) { add(%x, %x) }")


def test_results_live_on_after_their_run(chosen):
    kept = [chosen([[f"text {i}", "x" * i]], [0]) for i in range(100)]
    assert [y[0, 0] for y in kept] == [f"text {i}" for i in range(100)]
    assert all(len(y[0, 1]) == i for i, y in enumerate(kept))


def test_parameters_of_strings():
    exe = rvm.compile(HEADER + """
def @main(%i: Tensor[(?), int64], %names: Tensor[(3), string]) { take(%names, %i) }
""", params={"names": np.array(["zero", "one", "two"])})
    assert exe.load()(np.int64([2, 0])).tolist() == ["two", "zero"]


def test_the_debug_executor_has_strings_too():
    mod = rvm.parse(HEADER + """
def @main(%x: Tensor[(?), string], %n: Tensor[(?), int64]) { string.concat(%x, string.from_number(%n)) }
""")
    assert rvm.create_executor("debug", mod).evaluate()(["ab", ""], np.int64([3, -4])).tolist() == ["ab3", "-4"]
