"""tvm.relay.analysis.sparse_conv2d: weights of nn.conv2d that are zero for the most part."""
from ....compiler.passes.sparse_weights import SparseAnalysisResult
from ....compiler.passes.sparse_weights import process_conv2d_params as process_params

__all__ = ["SparseAnalysisResult", "process_params"]
