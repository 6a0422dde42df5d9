"""What TVM's users know of oneDNN: its table of patterns, and partition_for_dnnl. Regions are what the compiler's own rules say
(compiler/regions/dnnl.relay), of which the table has the well-known part."""
from . import bind_params_by_name
from .dataflow_pattern import is_constant, is_op, wildcard
from .regions import PatternTable

_HEARTS = {"conv1d": "nn.conv1d", "conv2d": "nn.conv2d", "conv3d": "nn.conv3d", "deconv2d": "nn.conv2d_transpose",
           "deconv3d": "nn.conv3d_transpose", "dense": "nn.dense"}


def _gelu(y):
    bell = is_op("erf")(is_op("divide")(y, is_constant()) | is_op("multiply")(y, is_constant()))
    return is_op("multiply")(is_op("multiply")(y, is_op("add")(bell, is_constant())), is_constant())


def _mish(y):
    softplus = is_op("log")(is_op("add")(is_op("exp")(y), is_constant()))
    return is_op("multiply")(y, is_op("tanh")(softplus))


# What comes last, by the ends of composites' names.
_LAST = {"relu": lambda y: is_op("nn.relu")(y), "tanh": lambda y: is_op("tanh")(y), "sigmoid": lambda y: is_op("sigmoid")(y),
         "clip": lambda y: is_op("clip")(y), "gelu": _gelu, "swish": lambda y: is_op("multiply")(y, is_op("sigmoid")(y)), "mish": _mish,
         "": lambda y: y}


def _row(heart, with_bias, last, with_sum=False):
    y = is_op(_HEARTS[heart])(wildcard(), wildcard())
    if with_bias:
        bias = wildcard()
        y = is_op("nn.bias_add")(y, bias) | is_op("add")(y, bias)
    if with_sum:
        y = is_op("add")(y, wildcard())
    parts = ["dnnl." + heart, "bias" * with_bias, "sum" * with_sum, last]
    return "_".join(part for part in parts if part), _LAST[last](y)


def pattern_table():
    """(name, pattern) of what oneDNN runs as one, the longest first: convolutions and products with what follows. `MergeComposite` of the
    whole table applies the compiler's rules, which say this and more: quantised ones, other spellings, chains of steps."""
    rows = [_row(heart, True, last, True) for heart in ("conv2d", "dense") for last in ("relu", "")]
    rows += [_row(heart, with_bias, last) for last in _LAST for with_bias in (True, False) if last or with_bias for heart in _HEARTS]
    return PatternTable(rows, "dnnl")


def partition_for_dnnl(mod, params=None, alter_layout=True, prune_subgraphs=True):
    """The module with regions for oneDNN in it: functions with the attribute Compiler="dnnl".

    params: weights by name, which become constants. alter_layout: as TVM has it; layouts are chosen when a region runs, by oneDNN itself.
    prune_subgraphs: whether regions without convolutions and products are put back.
    """
    from . import transform
    if params:
        mod = bind_params_by_name(mod, params)
    names = ["PrepareRegions", "MergeComposite", "AnnotateTarget", "MergeCompilerRegions", "PartitionGraph"] + ["PruneRegions"] * prune_subgraphs
    return transform.Sequential([transform.Pass(name, byoc="dnnl") for name in names])(mod)



__all__ = ["partition_for_dnnl", "pattern_table"]
