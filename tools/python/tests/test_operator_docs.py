"""What is said of operators is so: their rows (compiler/operator_rows*.py) against what they compute, NumPy and TVM; the measured table
against measuring anew; and where it is shown."""
import inspect
import json
import os
import pydoc
import re
import subprocess

import numpy as np
import pytest

pytest.importorskip("relayvm.compiler")

import measure_operators
import operator_calls as calls

import relayvm as rvm
from relayvm import relay
from relayvm.compiler import _native, operator_docs, operator_table, operator_types, operators

ROWS = operator_table.rows()
NAMES = sorted(ROWS)
WITHOUT_EXAMPLE = {"annotation.function_on_device"}  # it gives a function
EXAMPLES = [name for name in NAMES if name not in WITHOUT_EXAMPLE]
FUNCTIONS_TAKE_TOGETHER = {"nn.sparse_add", "nn.sparse_dense", "nn.sparse_transpose"}  # the parts of a sparse matrix
OF_SEVERAL_ATTRIBUTES = {"matrix_set_diag", "device_copy"}  # parameters that become others


def test_every_operator_has_a_row_that_fits_it():
    assert NAMES == calls.all_names(), "kernels/op/README.md says where a row goes"
    for name, row in ROWS.items():
        count, schema = _native.operator_arguments(name), _native.operator_schema(name)
        assert count in (None, -1, len(row.operands)), name
        if schema is not None:
            assert [i for i, part in enumerate(row.operands) if part.is_tuple] == schema[0], name
        if count and operators.operand_names(name) and name not in FUNCTIONS_TAKE_TOGETHER | OF_SEVERAL_ATTRIBUTES:
            assert sorted(operators.operand_names(name)) == sorted(part.name for part in row.operands), name


def test_nothing_lacks_words_and_no_words_are_of_what_is_not_there():
    for row in rvm.describe_operators():
        assert row.summary and row.summary.endswith((".", ")")), row.name
        assert all(operand.description for operand in row.operands), row
        assert all(attribute.description for attribute in row.attributes), row
        written = ROWS[row.name]
        assert set(written.operand_texts) <= {operand.name for operand in row.operands}, row.name
        if row.name not in OF_SEVERAL_ATTRIBUTES | {"mean_std"}:
            assert set(written.attribute_texts) <= {attribute.name for attribute in row.attributes}, row.name


@pytest.fixture(scope="module")
def results():
    """{name: what its example gives}, each computed when it is asked for."""
    class Results(dict):
        def __missing__(self, name):
            self[name] = calls.computed(calls.Example(ROWS[name]))
            return self[name]
    return Results()


def listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize("name", [name for name in EXAMPLES if ROWS[name].formula is not None])
def test_the_formula_is_what_is_computed(name, results):
    found, expected = listed(results[name]), listed(calls.expected(calls.Example(ROWS[name])))
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert a.shape == np.shape(b)
        np.testing.assert_allclose(a if a.dtype == bool else a.astype(float), b, rtol=2e-3, atol=1e-3)


def test_most_operators_have_a_formula():
    assert sum(row.formula is not None for row in ROWS.values()) > 200


# --- Shapes ---


def dims_of(shape):
    """What stands between the commas of a shape that are not inside of parentheses."""
    return [dim.strip() for dim in re.split(r",(?![^(]*\))", shape)] if shape.strip() else []


def bind(pattern, shape, known):
    """Names of a pattern's dims, of a shape; what is known has to agree."""
    dims = dims_of(pattern)
    dims = [d for dim in dims for d in ([str(n) for n in known[dim[1:]]] if dim[0] == "*" else [dim])]
    if "..." in dims:
        at = dims.index("...")
        assert len(shape) >= len(dims) - 1, f"{pattern}: {shape}"
        behind = len(shape) - (len(dims) - 1 - at)
        rest = shape[at:behind]
        if known.get("...", rest) != rest:
            assert known.get("broadcasts"), f"{pattern}: {shape}, and ... is {known['...']}"
        known.setdefault("...", rest)
        dims, shape = dims[:at] + dims[at + 1:], shape[:at] + shape[behind:]
    assert len(dims) == len(shape), f"{pattern}: {shape}"
    later = []
    for dim, size in zip(dims, shape):
        name = dim.replace("'", "_")
        if name.isidentifier():
            assert known.setdefault(name, size) == size, f"{pattern}: {dim} is {size}, and {known[name]}"
        else:
            later.append((name, size))
    for expression, size in later:
        if all(word in known for word in re.findall(r"[A-Za-z_]\w*", expression)):
            assert eval(expression, {}, known) == size, f"{pattern}: {expression} is {size}"


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name != "random.threefry_key"])
def test_shapes_are_as_written(name, results):
    example = calls.Example(ROWS[name])
    call, _ = calls.call_of(name, example.operands, example.attrs)
    call = getattr(call, "tuple_value", call)
    known = dict(getattr(call, "attrs", {}))
    known = {n: v for n, v in known.items() if isinstance(v, (int, tuple, list)) and v not in (None, "")} | example.attrs
    row = ROWS[name]
    broadcasts = any(part.shape == "broadcast" for part in row.results)
    known["broadcasts"] = broadcasts or not all(part.shape is not None for part in row.results) or name == "adv_index" or len(row.operands) > 1
    for part, operand in zip(row.operands, example.operands):
        for field in listed(operand) if isinstance(operand, tuple) else [operand]:
            bind(part.shape, field.shape, known if not part.is_tuple else {**known})
    whole = calls.program_of(name, example.operands, example.attrs)["main"].body
    given = getattr(whole, "tuple_value", whole).checked_type
    for part, result in zip(row.results, measure_operators.fields_of(given)):
        if part.shape == "broadcast":
            assert tuple(result.shape) == np.broadcast_shapes(*(x.shape for x, p in zip(example.operands, row.operands) if p.shape == "..."))
        elif part.shape is not None and all(isinstance(d, int) for d in result.shape):
            bind(part.shape, tuple(result.shape), {**known, "broadcasts": part.shape != "..." or len(row.operands) == 1 and row.operands[0].is_tuple})


def test_measured_ranks_are_those_of_the_shapes():
    for row in rvm.describe_operators():
        for operand in row.operands:
            dims = dims_of(operand.shape[1:-1])
            if not operand.ranks or operand.shape == "[rank]":
                continue
            if "..." in dims:
                assert min(operand.ranks) >= len(dims) - 1, f"{row.name}: {operand}"
            else:
                assert len(dims) in operand.ranks, f"{row.name}: {operand}"


# --- What was measured ---


def test_the_table_has_all_operators_with_an_example():
    assert list(operator_types.TYPES) == [name for name in NAMES if measure_operators.has_example(name)]


SAMPLE = NAMES if "RELAYVM_MEASURE_ALL" in os.environ else ["nn.conv2d", "take", *NAMES[5::40]]


@pytest.mark.parametrize("name", [name for name in SAMPLE if measure_operators.has_example(name)])
def test_measuring_anew_gives_the_table(name):
    assert measure_operators.row_of(name) == operator_types.TYPES[name]


def test_what_is_not_in_the_table_is_refused():
    x, i = relay.var("x", shape=(2, 3), dtype="int32"), relay.var("i", shape=(2,), dtype="float32")
    for call in (lambda: relay.exp(x), lambda: relay.nn.softmax(x), lambda: relay.take(x, i), lambda: relay.nn.conv2d(x, x)):
        with pytest.raises(rvm.Error):
            rvm.Module({"main": relay.Function(relay.analysis.free_vars(call()), call())})
    assert "int32" not in relay.exp.arguments[0].dtypes and "float32" not in relay.take.arguments[1].dtypes
    assert relay.nn.conv2d.arguments[0].ranks == (4,)


# --- Where it is shown ---


def test_rows_have_what_help_shows():
    row = next(row for row in rvm.describe_operators() if row.name == "nn.dense")
    assert not row.is_function and row.formula == "data @ weight.T" and row.signature == inspect.signature(relay.nn.dense)
    data, weight = row.operands
    assert (data.shape, weight.shape, weight.dtype_of, weight.ranks) == ("[..., K]", "[units, K]", "data", (2,))
    assert "float16" in data.dtypes and data.type_text == "Tensor [..., K] of any dtype but string"
    assert [result.shape for result in row.results] == ["[..., units]"] and row.results[0].dtype == "as data | out_dtype"
    units, out_dtype = row.attributes
    assert (units.type, units.default, units.parameter_default, units.is_required) == ("an integer", None, None, False)
    assert out_dtype.type == "the name of a dtype"
    pad = operator_docs.row_of("nn.pad").attributes
    assert [(a.name, a.values) for a in pad if a.values] == [("pad_mode", ("constant", "edge", "reflect"))]


def test_operators_have_description_and_arguments_as_in_tvm():
    op = relay.op.get("nn.conv2d")
    assert op.description.startswith("A convolution over rows and columns")
    assert [(a.name, a.type_info) for a in op.arguments] == [("data", "Tensor"), ("weight", "Tensor")]
    assert [a.type_text.split(" of ")[0] for a in op.arguments] == ["Tensor [N, C, H, W]", "Tensor [O, I, KH, KW]"]
    assert all(a.description for a in op.arguments)
    assert relay.op.get("concatenate").arguments[0].type_info == "Tuple of Tensors"
    assert relay.op.get("zeros").arguments == []


@pytest.mark.parametrize("name", NAMES)
def test_help_has_operands_and_attributes(name):
    row, text = operator_docs.row_of(name), operator_docs.doc_of(name)
    assert text.splitlines()[0] == f"{name}{row.signature}"
    for operand in row.operands:
        assert f"\n    {operand.name}: T" in text
    for attribute in row.attributes:
        assert re.search(rf"\n    {attribute.name}( = |, to be given)", text), attribute
    assert "\nGives" in text and text == text.rstrip()


def test_pydoc_and_jupyter_find_it():
    shown = pydoc.render_doc(relay.nn.conv2d, renderer=pydoc.plaintext)
    for line in ("A convolution over rows and columns", "data: Tensor [N, C, H, W] of any dtype but string", "padding = (0, 0) (a list of integers)"):
        assert line in shown
    assert relay.nn.conv2d.__doc__ == operator_docs.doc_of("nn.conv2d")
    assert inspect.getdoc(relay.std).startswith("std(data, axis=None")
    assert list(inspect.signature(relay.fast_exp).parameters) == ["data"]  # which TVM has no function of


# --- TVM ---

PADDED = {"unique", "vision.all_class_non_max_suppression"}  # what stands behind the number of rows that count


def written_calls(folder):
    """Calls for operator_peer.py: those that TVM has functions for."""
    written = []
    for name in EXAMPLES:
        example, signature = calls.Example(ROWS[name]), operators.signature_of(name)
        arrays = example.arrays()
        if signature is None or any(calls.is_text(a) for a in arrays) or any(isinstance(x, int) for x in example.operands):
            continue
        place = iter(range(len(arrays)))
        parts = [[part.name, [next(place) for _ in x] if isinstance(x, tuple) else next(place)] for part, x in zip(ROWS[name].operands, example.operands)]
        np.savez(folder / f"{name}.in.npz", **{str(i): a for i, a in enumerate(arrays)})
        written.append({"name": name, "operands": parts, "attrs": example.attrs, "by_name": {n for n, _ in parts} <= set(signature.parameters)})
    (folder / "calls.json").write_text(json.dumps(written))
    return [call["name"] for call in written]


@pytest.mark.skipif("TVM_PYTHON" not in os.environ, reason="TVM_PYTHON names a Python that has TVM")
def test_tvm_computes_the_same(tmp_path, results):
    names = written_calls(tmp_path)
    peer = os.path.join(os.path.dirname(__file__), "operator_peer.py")
    subprocess.run([os.environ["TVM_PYTHON"], peer, str(tmp_path)], env={**os.environ, "PYTHONPATH": "", "TVM_NUM_THREADS": "1"}, check=True)
    compared = 0
    for name in names:
        if not (tmp_path / f"{name}.npz").exists() or name in PADDED:
            continue
        stored = np.load(tmp_path / f"{name}.npz")
        compared += 1
        for i, found in enumerate(listed(results[name])):
            assert (found.shape, found.dtype) == (stored[str(i)].shape, stored[str(i)].dtype), name
            np.testing.assert_allclose(found.astype(float), stored[str(i)].astype(float), rtol=2e-3, atol=1e-3, err_msg=name)
    assert compared > 200
