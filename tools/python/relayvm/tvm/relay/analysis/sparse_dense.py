"""tvm.relay.analysis.sparse_dense: weights of nn.dense that are zero for the most part."""
from ....compiler.passes.sparse_weights import SparseAnalysisResult
from ....compiler.passes.sparse_weights import process_dense_params as process_params

__all__ = ["SparseAnalysisResult", "process_params"]
