"""tvm.relay.qnn.op.layout_conversions: what ConvertLayout does with quantised operators; its rules are the compiler's own."""
from ....elsewhere import elsewhere

_INSTEAD = "relay.transform.ConvertLayout has rules of its own; relay.op.register_convert_op_layout adds one"
convert_qnn_avg_pool2d, convert_qnn_conv2d, convert_qnn_conv2d_transpose = (
    elsewhere(f"relay.qnn.op.layout_conversions.{name}", _INSTEAD)
    for name in ("convert_qnn_avg_pool2d", "convert_qnn_conv2d", "convert_qnn_conv2d_transpose"))

__all__ = ["convert_qnn_avg_pool2d", "convert_qnn_conv2d", "convert_qnn_conv2d_transpose"]
