"""Weights that are mostly zero as sparse matrices in blocks (BSR): nn.dense and nn.conv2d become nn.sparse_dense and nn.sparse_conv2d.

A weight NAME becomes three parameters: NAME.data (blocks, rows, columns), NAME.indices (the column of each block), NAME.indptr (where the
blocks of each row start).
"""
from typing import NamedTuple

import numpy

from .. import relay
from .rewriter import PostOrderRewriter, function_pass, is_call

__all__ = ["Conv2dToSparse", "Conv2dToSparse2", "DenseToSparse"]


class SparseAnalysisResult(NamedTuple):
    """Names of weights, and the shapes of the three arrays of each, in one list."""

    weight_name: list
    weight_shape: list


def to_blocks(matrix, block):
    """(data, indices, indptr) of a matrix in blocks of (rows, columns), without those that are zero."""
    rows, columns = block
    if matrix.shape[0] % rows or matrix.shape[1] % columns:
        raise ValueError(f"a matrix of {matrix.shape} is not made of blocks of {tuple(block)}")
    blocks = matrix.reshape(matrix.shape[0] // rows, rows, matrix.shape[1] // columns, columns).transpose(0, 2, 1, 3)
    there = blocks.any(axis=(2, 3))
    indptr = numpy.concatenate([[0], numpy.cumsum(there.sum(axis=1))])
    return numpy.ascontiguousarray(blocks[there]), numpy.nonzero(there)[1].astype("int32"), indptr.astype("int32")


def _array(value):
    return value.numpy() if hasattr(value, "numpy") else numpy.asarray(value)


def _as_matrix(weight, layout):
    """A kernel as a matrix with a row for each output channel."""
    return weight.reshape(-1, weight.shape[-1]).T if layout == "NHWC" else weight.reshape(weight.shape[0], -1)


def _can_be_sparse(call, layout, size):
    """Whether nn.sparse_conv2d computes the same: windows that stay within data that are padded with zeros."""
    attrs = call.attrs
    kernel = attrs["kernel_layout"] == ("HWIO" if layout == "NHWC" else "OIHW")
    usual = all(x == 1 for x in (*attrs["strides"], *attrs["dilation"], attrs["groups"])) and all(p == size // 2 for p in attrs["padding"])
    shape = call.args[1].checked_type.shape
    return usual and kernel and attrs["data_layout"] == layout and shape[:2 if layout == "NHWC" else None][-2:] == (size, size)


def _search(expr, is_one):
    """Names of variables that are weights of calls."""
    found = {}

    def see(node):
        if isinstance(node, relay.Call) and is_one(node) and isinstance(node.args[1], relay.Var):
            found[node.args[1].name_hint] = None
    relay.post_order_visit(expr, see)
    return list(found)


def _sparse_params(names, params, block, threshold, as_matrix):
    """Takes weights that are sparse enough out of `params` and puts their blocks in."""
    result = SparseAnalysisResult([], [])
    for name in names:
        if name not in params:
            continue
        matrix = as_matrix(_array(params[name]))
        parts = to_blocks(matrix, block)
        if 1 - parts[0].size / matrix.size < threshold and 1 - numpy.count_nonzero(matrix) / matrix.size < threshold:
            continue
        del params[name]
        params.update(zip((f"{name}.data", f"{name}.indices", f"{name}.indptr"), parts))
        result.weight_name.append(name)
        result.weight_shape.append([dim for part in parts for dim in part.shape])
    return result


def process_dense_params(expr, params, block_size, sparsity_threshold):
    """Makes weights of nn.dense sparse in `params`, of those that have that much zero, and says which."""
    return _sparse_params(_search(expr, lambda c: is_call(c, "nn.dense")), params, block_size, sparsity_threshold, lambda w: w)


def process_conv2d_params(expr, params, block_size, sparsity_threshold, layout, kernel_size):
    """The same of nn.conv2d of a layout and a size of kernels, which must be typed."""
    names = _search(expr, lambda c: is_call(c, "nn.conv2d") and _can_be_sparse(c, layout, kernel_size))
    return _sparse_params(names, params, block_size, sparsity_threshold, lambda w: _as_matrix(w, layout))


def _with_parts(function, names, shapes, rewrite):
    """A function with three parameters in place of each weight; rewrite(call, parts): the call with them, None where it stays."""
    shapes = dict(zip(map(str, names), shapes))
    parts = {}

    def of(variable):
        if variable not in parts:
            *data, indices, indptr = shapes[variable.name_hint]
            kinds = {"data": relay.TensorType(data, variable.checked_type.dtype), "indices": relay.TensorType([indices], "int32"),
                     "indptr": relay.TensorType([indptr], "int32")}
            parts[variable] = [relay.Var(f"{variable.name_hint}.{part}", kind) for part, kind in kinds.items()]
        return parts[variable]

    def change(call, new):
        weight = call.args[1] if len(call.args) > 1 else None
        if not isinstance(weight, relay.Var) or weight.name_hint not in shapes:
            return new
        return rewrite(call, new, lambda: of(weight)) or new
    body = PostOrderRewriter(change).visit(function.body)
    if not parts:
        return function
    left = set(relay._all_vars(body))
    params = [q for p in function.params for q in ([p] if p in left or p not in parts else []) + parts.get(p, [])]
    return relay.Function(params, body, None, function.type_params, function.attrs, name=function.name)


def DenseToSparse(weight_name, weight_shape):  # noqa: N802 (TVM's name)
    """A pass that makes nn.sparse_dense of each nn.dense of these weights. weight_shape: of data, indices and indptr, in one list."""
    def rewrite(call, new, parts):
        return is_call(call, "nn.dense") and relay.Call("nn.sparse_dense", [new.args[0], *parts()], {})
    return function_pass("DenseToSparse", lambda f: _with_parts(f, weight_name, weight_shape, rewrite), opt_level=4)


def Conv2dToSparse(weight_name, weight_shape, layout, kernel_size):  # noqa: N802 (TVM's name)
    """A pass that makes nn.sparse_conv2d of each nn.conv2d of these weights."""
    def rewrite(call, new, parts):
        if not is_call(call, "nn.conv2d") or not _can_be_sparse(call, layout, kernel_size):
            return None
        return relay.Call("nn.sparse_conv2d", [new.args[0], *parts()], {"layout": layout, "kernel_size": [kernel_size] * 2})
    return function_pass("Conv2dToSparse", lambda f: _with_parts(f, weight_name, weight_shape, rewrite), opt_level=4)


def Conv2dToSparse2(layout, kernel_size, blocksize, sparsity_threshold):  # noqa: N802 (TVM's name)
    """A pass that makes nn.sparse_conv2d of each nn.conv2d whose kernel is constant and has that much zero in blocks."""
    def rewrite(call, new):
        if not is_call(call, "nn.conv2d") or not isinstance(call.args[1], relay.Constant) or not _can_be_sparse(call, layout, kernel_size):
            return new
        matrix = _as_matrix(call.args[1].data, layout)
        data, indices, indptr = to_blocks(matrix, blocksize)
        if 1 - data.size / matrix.size < sparsity_threshold:
            return new
        parts = [relay.const(data, call.args[1].checked_type.dtype), relay.const(indices, "int32"), relay.const(indptr, "int32")]
        return relay.Call("nn.sparse_conv2d", [new.args[0], *parts], {"layout": layout, "kernel_size": [kernel_size] * 2})
    return function_pass("Conv2dToSparse2", lambda f: PostOrderRewriter(rewrite).visit(f), opt_level=5)


# --- A function and its parameters ---

def _of_module(func):
    from .. import Module
    return Module.from_expr(func)._inferred()


def convert_dense(func, params, blocksize, sparsity_threshold):
    """(the function, its parameters) with sparse weights of nn.dense."""
    mod = _of_module(func)
    found = process_dense_params(mod["main"], params, blocksize, sparsity_threshold)
    return DenseToSparse(*found)(mod)["main"], params


def convert_conv2d(func, params, blocksize, sparsity_threshold, layout="NHWC", kernel_size=1):
    """(the function, its parameters) with sparse weights of nn.conv2d."""
    mod = _of_module(func)
    found = process_conv2d_params(mod["main"], params, blocksize, sparsity_threshold, layout, kernel_size)
    return Conv2dToSparse(*found, layout, kernel_size)(mod)["main"], params


def convert_constant_conv2d(func, params, blocksize, sparsity_threshold, layout, kernel_size):
    """(the function, its parameters) with sparse constant kernels of nn.conv2d."""
    return Conv2dToSparse2(layout, kernel_size, blocksize, sparsity_threshold)(_of_module(func))["main"], params
