"""Sparse weights of nn.conv2d: convert for parameters, convert2 for constants."""
from ....compiler.passes.sparse_weights import convert_constant_conv2d as convert2
from ....compiler.passes.sparse_weights import convert_conv2d as convert
from ....compiler.passes.sparse_weights import SparseAnalysisResult, process_conv2d_params


def process_params(expr, params, block_size, sparsity_threshold, layout, kernel_size, reg_task_input=True):
    """Makes weights of nn.conv2d sparse in `params`, of those that have that much zero in blocks, and says which."""
    return process_conv2d_params(expr, params, block_size, sparsity_threshold, layout, kernel_size)


__all__ = ["SparseAnalysisResult", "convert", "convert2", "process_params"]
