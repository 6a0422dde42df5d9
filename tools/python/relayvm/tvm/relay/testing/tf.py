"""tvm.relay.testing.tf: graphs of TensorFlow's for `relay.frontend.from_tensorflow`. The functions that read or write graphs need TensorFlow."""
import re

from ...elsewhere import elsewhere


def convert_to_list(x):
    """A list stays; another thing becomes a list of it."""
    return x if isinstance(x, list) else [x]


def vmobj_to_list(o):
    """Arrays of what a program gave: of an array, of tuples, and of values of tensor_t and lists."""
    fields = o if isinstance(o, (tuple, list)) else getattr(o, "fields", None)
    if fields is None:
        return [o.numpy() if hasattr(o, "numpy") else o]
    name = getattr(o, "constructor", "")
    if str(name).startswith("tensor_nil"):
        return [0]
    return [part for field in fields for part in vmobj_to_list(field)]


def _compat():
    import tensorflow
    return tensorflow.compat.v1


def ProcessGraphDefParam(graph_def):  # noqa: N802 (TVM's name)
    """The graph as this TensorFlow writes it, with the attributes that its operators have by default."""
    tf = _compat()
    if not isinstance(graph_def, tf.GraphDef):
        raise TypeError(f"ProcessGraphDefParam: expected a GraphDef, found {type(graph_def).__name__}")
    new = tf.GraphDef()
    new.CopyFrom(graph_def)
    with tf.Graph().as_default():
        tf.import_graph_def(new, name="")
    return new


def AddShapesToGraphDef(session, out_node):  # noqa: N802 (TVM's name)
    """The graph of a session up to the nodes of these names, with shapes, and constants for its variables."""
    tf = _compat()
    return tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(add_shapes=True), convert_to_list(out_node))


class NodeLookup:
    """Names of ImageNet's classes: of a file of numbers ("target_class: 449", "target_class_string: "n01440764"") and one of names by them."""

    def __init__(self, label_lookup_path=None, uid_lookup_path=None):
        self.node_lookup = self.load(label_lookup_path, uid_lookup_path)

    def load(self, label_lookup_path, uid_lookup_path):
        """{number: name}"""
        with open(uid_lookup_path) as file:
            names = dict(re.findall(r"(n\d+)\s+(\S[^\n]*)", file.read()))
        with open(label_lookup_path) as file:
            pairs = re.findall(r'target_class:\s*(\d+).*?target_class_string:\s*"([^"]*)"', file.read(), re.DOTALL)
        unknown = [uid for _, uid in pairs if uid not in names]
        if unknown:
            raise ValueError(f"NodeLookup: there are no names for {', '.join(unknown)}")
        return {int(number): names[uid] for number, uid in pairs}

    def id_to_string(self, node_id):
        """The name of a number, "" where it has none."""
        return self.node_lookup.get(node_id, "")


def __getattr__(name):
    if name in ("PTBSmallConfig", "do_tf_sample", "get_config", "get_workload", "get_workload_official", "get_workload_ptb", "pick_from_weight"):
        return elsewhere(f"relay.testing.tf.{name}", "contrib.download fetches a graph, relay.frontend.from_tensorflow reads it")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["AddShapesToGraphDef", "NodeLookup", "ProcessGraphDefParam", "convert_to_list", "vmobj_to_list"]
