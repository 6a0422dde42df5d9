"""TVM's public names, parameters and members, as a live TVM has them (tvm_names.json), in relayvm.tvm: what is lacking is listed here, and why."""
import collections
import re

import pytest
import tvm_names

# Names of TVM's that are not here.
_LACKING = {
    "tvm.relay.dataflow_pattern.register_df_node": "TVM's own classes of C++ alone",
    "tvm.relay.testing.py_converter.OUTPUT_VAR_NAME": "of its code", "tvm.relay.testing.py_converter.PROLOGUE": "of its code",
    "tvm.runtime.ndarray.tvm_shape_index_t": "a type of C's",
}
# Functions whose parameters are others.
_PARAMETERS = {
    "tvm.error.InternalError": "errors have a message and where it was",
    "tvm.ir.op.Op": "operators are there already: Op.get",
    "tvm.relay.backend.executor_factory.AOTExecutorFactoryModule": "relay.build makes them",
    "tvm.relay.backend.executor_factory.GraphExecutorFactoryModule": "relay.build makes them",
    "tvm.relay.base.Id": "variables have them: var.vid",
    "tvm.relay.qnn.op.qnn.RequantizeConfig": "with requantize_config(rounding=...)",
    "tvm.relay.qnn.op.qnn.leaky_relu": "the recorded TVM's is a vendor's",
    "tvm.relay.quantize.quantize.QConfig": "with qconfig(...)",
    "tvm.relay.testing.yolo_detection.Box": "all four are needed",
    "tvm.relay.transform.transform.ToANormalFormExpr": "called by position",
    "tvm.runtime.vm.convert": "of the runtime's: convert(value)",
    "tvm.te.max": "of sizes; of expressions relay.max reduces", "tvm.te.min": "of sizes; of expressions relay.min reduces",
    "tvm.tir.max": "of sizes; of expressions relay.max reduces", "tvm.tir.min": "of sizes; of expressions relay.min reduces",
}
# Members that are not here, by patterns.
_MEMBERS = {
    r".*\.(handle|same_as)": "results and configurations are Python's own",
    r"tvm\.ir\.transform\.PassContext\..*": "traces are of TVM's tuning",
    r"tvm\.relay\.prelude\.(Static)?TensorArrayOps\..*": "register() defines them all",
    r"tvm\.relay\.expr\.TupleWrapper\..*": "a Tuple, which has them",
    r".*\.visit_global_id": "of old TVM's",
    r".*\.list_registered_options": "called by position",
    r"tvm\.relay\.quantize\.quantize\.QConfig\..*": "of TVM's steps: quantize does it in one",
    r"tvm\.relay\.transform\.transform\.ChangeBatch\..*": "a function that makes a pass",
    r"tvm\.runtime\.(module\.Module\.export_hhb_library|packed_func\.PackedFunc\.is_global)": "of C++'s objects",
    r"tvm\.runtime\.vm\.Executable\.constants": "of C++'s objects",
    r"tvm\._ffi\.runtime_ctypes\.DataType\.STR2DTYPE": "a table of names in C",
    r"tvm\.relay\.dataflow_pattern\.TuplePattern\.astype": "refuses in TVM",
    r"tvm\.relay\.base\.Id\..*": "what tells variables apart",
}
_ATTRIBUTES = {"tvm.transform.PassContext()": "traces are of TVM's tuning", "tvm.te.var('n')": "sizes have no type of their own"}


@pytest.fixture(scope="module")
def states():
    return tvm_names.states()


def is_told(name, patterns):
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def test_names_are_there_or_say_what_to_use(states):
    lacking = [f"{module}.{name}" for (module, name), (state, _) in states.items() if state == "lacking"]
    own = [name for name in lacking if not str(told(name)).startswith("=")]
    assert set(own) <= set(_LACKING), set(own) - set(_LACKING)  # what a module defines
    assert len(lacking) <= 60, lacking  # with what files import from each other
    counts = collections.Counter(state for state, _ in states.values())
    assert counts["there"] >= 2390, counts


def told(name):
    module, _, last = name.rpartition(".")
    return tvm_names.TABLE[module][last]


def test_what_is_refused_says_what_to_use(states):
    refused = [what for state, what in states.values() if state == "refused"]
    assert refused
    for what in refused:
        with pytest.raises(NotImplementedError, match=r"is not there; instead: \S.{10}"):
            what()


def test_functions_have_tvms_parameters(states):
    differing = {name: reason for name, _, reason in tvm_names.differing_signatures(states)}
    assert set(differing) <= set(_PARAMETERS), {name: differing[name] for name in set(differing) - set(_PARAMETERS)}


def test_classes_have_tvms_members(states):
    lacking = [f"{name}: {reason}" for name, _, reason in tvm_names.lacking_members(states) if not is_told(name, _MEMBERS)]
    assert not lacking, lacking


def test_objects_have_tvms_attributes():
    lacking = [(text, names) for text, names in tvm_names.lacking_attributes() if text not in _ATTRIBUTES]
    assert not lacking, lacking
