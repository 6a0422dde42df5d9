"""A misspelt name is said to be one, with the nearest that there is: attributes of operators, options, names of modules. help() knows the right ones."""
import inspect
import pydoc

import pytest

import relayvm as rvm
from relayvm import relay
from relayvm.compiler import _keywords, _native, _pass_options, operator_docs, operators

NAMES = sorted(set(_native.operator_names()) | set(operators._SPECIAL))
IDENTITY = '#[version = "0.0.5"] def @main(%x: float32) { %x }'


def misspelt(name):
    """Two letters in each other's place; in short names the last one twice."""
    if len(name) < 4 or name[2] == name[3]:
        return name + name[-1]
    return name[:2] + name[3] + name[2] + name[4:]


def said(call):
    """What is raised."""
    with pytest.raises((AttributeError, TypeError, ValueError, rvm.InvalidInput)) as raised:
        call()
    return str(raised.value)


def function(name):
    return relay.op.get(name) if _native.operator_arguments(name) is not None else operators.function_of(name)


@pytest.mark.parametrize("name", NAMES)
def test_attributes_of_operators(name):
    params = [p.name for p in operator_docs.signature_of(name).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
    attrs = list(operator_docs.attributes_of(name))
    count = {None: 1, -1: 1}.get(operator_docs._num_operands(name), operator_docs._num_operands(name))
    operands = [relay.var(f"x{i}") for i in range(count)]
    for attr in dict.fromkeys([*attrs, *params]):
        wrong = misspelt(attr)
        if wrong in attrs or wrong in params:
            continue
        text = said(lambda: function(name)(*operands, **{wrong: 1}))
        assert wrong in text and "did you mean " in text and attr in text
        if attr in attrs and isinstance(function(name), relay.Op):
            text = said(lambda: relay.Call(relay.op.get(name), operands, {wrong: 1}))
            assert wrong in text and "did you mean " in text and attr in text


@pytest.mark.parametrize("name", NAMES)
def test_help_says_parameters_attributes_and_defaults(name):
    text = pydoc.plain(pydoc.render_doc(function(name)))
    if name in operators._SPECIAL and not isinstance(function(name), relay.Op):
        assert "several calls" in text and str(inspect.signature(function(name)))[1:-1] in text
        return
    assert f"{name}{inspect.signature(function(name))}" in text
    assert all(f"    {attr}" in text for attr in operator_docs.attributes_of(name))


def test_help_of_a_convolution():
    text = relay.nn.conv2d.__doc__
    assert text.startswith("nn.conv2d(data, weight, strides=(1, 1), padding=(0, 0), ")
    assert "    data: Tensor [N, C, H, W] of " in text and "    groups = 1 (an integer)\n" in text and "    kernel_layout = 'OIHW' (any order of OIHW)\n" in text
    assert "alpha = 1e-05 (a number; in text and in relay.Call: 0.0001)" in relay.nn.lrn.__doc__  # where the two differ
    assert "    newshape, to be given" in relay.reshape.__doc__ and "makes a call of dyn.reshape" in relay.reshape.__doc__
    assert relay.Op.__doc__.startswith("An operator")


@pytest.mark.parametrize("space, names", [
    (rvm, lambda: rvm.__all__), (rvm.analysis, lambda: rvm.analysis.__all__), (rvm.transform, lambda: [n for n in dir(rvm.transform) if not n.startswith("_")]),
    (relay, lambda: [n for n in dir(relay) if not n.startswith("_")]), (relay.nn, lambda: [n for n in dir(relay.nn) if n != "get"]),
], ids=["rvm", "analysis", "transform", "relay", "nn"])
def test_names_of_modules(space, names):
    known = set(names())
    hinted = [("did you mean " in said(lambda: getattr(space, misspelt(name)))) for name in known if len(name) > 4 and misspelt(name) not in known]
    assert all(hinted) and len(hinted) > 15


@pytest.mark.parametrize("option", sorted(_keywords(_pass_options())))
def test_options(option):
    mod, wrong = rvm.parse(IDENTITY), {misspelt(option): 1}
    for take in (lambda: rvm.compile(mod, **wrong), lambda: rvm.build(mod, **wrong), lambda: rvm.PassContext(**wrong),
                 lambda: rvm.transform.FoldConstants(**wrong)(mod), lambda: rvm.create_executor("vm", mod, **wrong)):
        text = said(take)
        assert f"there is no option {misspelt(option)}; did you mean " in text
    if option in _pass_options():
        assert f"did you mean {option}" in said(lambda: rvm.PassContext(config=wrong))


@pytest.mark.parametrize("function", [
    rvm.ChromeTrace, rvm.Profile, rvm.Runtime, rvm.bind_params_by_name, rvm.from_keras, rvm.from_mxnet, rvm.from_onnx, rvm.from_pytorch, rvm.from_tensorflow,
    rvm.from_tflite, rvm.host_function, rvm.load, rvm.load_graph, rvm.load_params, rvm.parse, rvm.region_jsons, rvm.rewrite, rvm.tensor], ids=lambda f: f.__name__)
def test_parameters_of_functions(function):
    for name in inspect.signature(function).parameters:
        wrong = misspelt(name)
        if wrong not in inspect.signature(function).parameters:
            assert f"there is no parameter {wrong}; did you mean " in said(lambda: function(**{wrong: 1}))


def test_names_that_are_elsewhere():
    assert "it is relayvm.onnx.InferenceSession" in said(lambda: rvm.InferenceSession)
    assert "it is relayvm.tvm.nd" in said(lambda: rvm.nd)
    assert "did you mean create_executor?" in said(lambda: relay.create_executer)
    assert "instead: relayvm.tvm.relay.testing" in said(lambda: relay.testing)


@pytest.mark.parametrize("functor", [rvm.ExprFunctor, rvm.ExprVisitor, rvm.ExprMutator])
def test_methods_of_visitors_are_documented(functor):
    names = {name for name in dir(functor) if name.startswith("visit")}
    assert {"visit", "visit_call", "visit_let", "visit_match", "visit_var", "visit_constant"} <= names
    for name in names:
        assert getattr(functor, name).__doc__ and getattr(functor, name).__name__ == name, name
