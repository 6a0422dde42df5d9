# Made by tools/python/tests/test_stubs.py, of the table of operators.
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from . import relay as _relay

_Operand = _relay.Expr | np.ndarray[Any, Any] | np.generic | complex | Sequence[Any]
_Numbers = int | Sequence[Any] | np.ndarray[Any, Any] | np.generic
_Text = str | type[Any] | np.dtype[Any]

class _op_abs(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The absolute value of each element.

        In NumPy: np.abs(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_acos(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The inverse cosine of each element, in radians; NaN outside [-1, 1].

        In NumPy: np.arccos(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_acosh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The inverse hyperbolic cosine of each element; NaN below 1.

        In NumPy: np.arccosh(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_add(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sum of two tensors, element by element.

        In NumPy: lhs + rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any number
                the left operand
            rhs: Tensor [...] of lhs's dtype (any number)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_adv_index(_relay.Op):
    def __call__(self, inputs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Elements or slices, chosen by tensors of numbers, one for each of the first axes.

        In NumPy: inputs[0][tuple(inputs[1:])]

        Operands (numbers and arrays become constants):
            inputs: Tuple of tensors [...] (rank 2 or more) of any dtype
                the data, then the tensors of numbers

        Gives:
            dims of the indices, broadcast, then dims of data behind the indexed ones; inputs's dtype

        In kernels it moves elements.
        """
class _op_all(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether all elements along axes are true.

        In NumPy: np.all(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of bool
                the input

        Gives:
            as data without axis; with keepdims, 1 there; bool

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                along which axes, one or several; None: all elements
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes

        In kernels it reduces.
        """
class _op_annotation_bitpack_end(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker for TVM's passes: the operand itself.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        In kernels it has a kernel of its own.
        """
class _op_annotation_bitpack_start(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker for TVM's passes: the operand itself.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        In kernels it has a kernel of its own.
        """
class _op_annotation_cast_hint(_relay.Op):
    def __call__(self, data: _Operand, /, dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker for TVM's passes: the operand itself.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            dtype = '' (the name of a dtype)
                of TVM's text

        In kernels it has a kernel of its own.
        """
class _op_annotation_checkpoint(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker for TVM's passes: the operand itself.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        In kernels it has a kernel of its own.
        """
class _op_annotation_compiler_begin(_relay.Op):
    def __call__(self, data: _Operand, compiler: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker: the operand itself; between begin and end a part of a program goes to a library.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            compiler, to be given (a string)
                the name of the library that takes the part

        In kernels it has a kernel of its own.
        """
class _op_annotation_compiler_end(_relay.Op):
    def __call__(self, data: _Operand, compiler: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker: the operand itself; between begin and end a part of a program goes to a library.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            compiler, to be given (a string)
                the name of the library that takes the part

        In kernels it has a kernel of its own.
        """
class _op_annotation_function_on_device(_relay.Op):
    def __call__(self, function: Any, param_devices: Any, result_device: Any, *, span: Any = None) -> Any:  # type: ignore[override]
        """A marker: the function itself; there is one device.

        Operands (numbers and arrays become constants):
            function: Tensor [...]
                the function

        Gives:
            the function

        Parameters:
            param_devices, to be given
                where TVM would have its parameters
            result_device, to be given
                where TVM would have its result

        A function that makes several calls, as TVM's of that name.
        """
class _op_annotation_on_device(_relay.Op):
    def __call__(self, body: Any, device: Any, constrain_result: bool = False, constrain_body: bool = True, *, span: Any = None) -> Any:  # type: ignore[override]
        """A marker: the operand itself; there is one device.

        Operands (numbers and arrays become constants):
            body: Tensor [...] of any dtype
                the expression

        Gives:
            [...]; body's dtype

        Parameters:
            device, to be given
                which device TVM would compute it on
            constrain_result = False
                of TVM's text: there is one device
            constrain_body = True
                of TVM's text: there is one device

        A function that makes several calls, as TVM's of that name.
        """
class _op_annotation_stop_fusion(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker: the operand itself; no kernel reaches across it.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        In kernels it has a kernel of its own.
        """
class _op_annotation_with_funcid(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker for TVM's passes: the operand itself.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype
        """
class _op_any(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether one element along axes is true, or more.

        In NumPy: np.any(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of bool
                the input

        Gives:
            as data without axis; with keepdims, 1 there; bool

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                along which axes, one or several; None: all elements
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes

        In kernels it reduces.
        """
class _op_arange(_relay.Op):
    def __call__(self, start: Any, stop: Any = None, step: Any = None, dtype: _Text = 'float32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Numbers from start on, step apart, as far as they lie before stop.

        In NumPy: np.arange(start, stop, step)

        Operands (numbers and arrays become constants):
            start: Tensor [] of any number
                the first number
            stop: Tensor [] of start's dtype (any number)
                the end, which is left out
            step: Tensor [] of start's dtype (any number)
                how far numbers are apart

        Gives:
            [n]; float32, or dtype

        Attributes, call.attrs.NAME:
            start, to be given
                what TVM's text has of the operand
            stop = None
                what TVM's text has of the operand
            step = None
                what TVM's text has of the operand
            dtype = 'float32' (the name of a dtype; in text and in relay.Call: '')
                the dtype of the result; "": as without it

        In kernels it has a kernel of its own.
        """
class _op_argmax(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, select_last_index: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Where along an axis the largest element stands, the first of equal ones; with no axis, its place among all.

        In NumPy: np.argmax(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data without axis; with keepdims, 1 there; int32

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                which axis; None: all elements
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes
            select_last_index = False (True or False)
                whether it is the last one of equal elements

        In kernels it reduces.
        """
class _op_argmin(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, select_last_index: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Where along an axis the smallest element stands, the first of equal ones; with no axis, its place among all.

        In NumPy: np.argmin(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data without axis; with keepdims, 1 there; int32

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                which axis; None: all elements
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes
            select_last_index = False (True or False)
                whether it is the last one of equal elements

        In kernels it reduces.
        """
class _op_argsort(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, is_ascend: _Numbers | _relay.Expr | None = 1, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The places of elements along an axis, in order of the elements.

        In NumPy: np.argsort(data, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data; int32, or dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end
            is_ascend = 1 (True or False)
                whether the smallest comes first
            dtype = 'int32' (the name of a dtype; in text and in relay.Call: '')
                the dtype of the result; "": as without it

        In kernels it has a kernel of its own.
        """
class _op_argwhere(_relay.Op):
    def __call__(self, condition: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The places of all elements that are not 0, in row-major order.

        In NumPy: np.argwhere(condition)

        Operands (numbers and arrays become constants):
            condition: Tensor [...] of any dtype but string
                what is looked at

        Gives:
            [n, rank]; int32

        In kernels it has a kernel of its own.
        """
class _op_asin(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The inverse sine of each element, in radians; NaN outside [-1, 1].

        In NumPy: np.arcsin(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_asinh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The inverse hyperbolic sine of each element.

        In NumPy: np.arcsinh(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_atan(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The inverse tangent of each element, in radians.

        In NumPy: np.arctan(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_atanh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The inverse hyperbolic tangent of each element.

        In NumPy: np.arctanh(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_bitwise_and(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The bits that are set in both elements.

        In NumPy: np.bitwise_and(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any integer or bool
                the left operand
            rhs: Tensor [...] of lhs's dtype (any integer or bool)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_bitwise_not(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element with all bits changed.

        In NumPy: np.invert(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any integer or bool
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_bitwise_or(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The bits that are set in one of two elements, or in both.

        In NumPy: np.bitwise_or(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any integer or bool
                the left operand
            rhs: Tensor [...] of lhs's dtype (any integer or bool)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_bitwise_xor(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The bits that are set in one of two elements and not in the other.

        In NumPy: np.bitwise_xor(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any integer or bool
                the left operand
            rhs: Tensor [...] of lhs's dtype (any integer or bool)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_broadcast_to(_relay.Op):
    def __call__(self, data: _Operand, shape: Any, *, dtype: _Text = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor repeated along dims of 1 and dims in front, up to a shape.

        In NumPy: np.broadcast_to(data, shape)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [*shape]; data's dtype

        Attributes, call.attrs.NAME:
            shape, to be given (a list of integers or ?)
                the sizes of the result
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        An expression for shape makes a call of dyn.broadcast_to. In kernels it makes one element of one after broadcasting.
        """
class _op_broadcast_to_like(_relay.Op):
    def __call__(self, data: _Operand, broadcast_type: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor repeated along dims of 1 and dims in front, up to the shape of another.

        In NumPy: np.broadcast_to(data, broadcast_type.shape)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input
            broadcast_type: Tensor [...] of any dtype
                a tensor of the wanted shape; its elements do not matter

        Gives:
            as broadcast_type; data's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_cast(_relay.Op):
    def __call__(self, data: _Operand, dtype: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element as another dtype: floats become integers without their fraction, and bool says whether an element is not 0.

        In NumPy: data.astype(dtype)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; the dtype dtype

        Attributes, call.attrs.NAME:
            dtype, to be given (the name of a dtype)
                the dtype of the result

        In kernels it makes one element of one.
        """
class _op_cast_like(_relay.Op):
    def __call__(self, data: _Operand, dtype_like: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element as the dtype of another tensor.

        In NumPy: data.astype(dtype_like.dtype)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input
            dtype_like: Tensor [...] of any dtype but string
                a tensor of the wanted dtype; its elements and its shape do not matter

        Gives:
            as data; dtype_like's dtype

        In kernels it makes one element of one.
        """
class _op_ceil(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The smallest whole number that is not below each element.

        In NumPy: np.ceil(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any number
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_check_range(_relay.Op):
    def __call__(self, values: _Operand, begin: _Operand, end: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The ends as they are, after a check that all values lie between their bounds: at or above begin, below end. A value that
        does not is an error.

        In NumPy: end

        Operands (numbers and arrays become constants):
            values: Tensor [...] of any integer
                what is checked
            begin: Tensor [n] of int64
                the least values: one, or one for each place along the last axis
            end: Tensor [n] of int64
                what values must be below

        Gives:
            [n]; int64
        """
class _op_clip(_relay.Op):
    def __call__(self, a: _Operand, a_min: Any, a_max: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element, but at least a_min and at most a_max; NaN becomes a_max.

        In NumPy: np.clip(a, a_min, a_max)

        Operands (numbers and arrays become constants):
            a: Tensor [...] of any number
                the input

        Gives:
            [...]; a's dtype

        Attributes, call.attrs.NAME:
            a_min, to be given (a number)
                the least value of the result
            a_max, to be given (a number)
                the largest value of the result

        In kernels it makes one element of one.
        """
class _op_collapse_sum_like(_relay.Op):
    def __call__(self, data: _Operand, collapse_type: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """What undoes a broadcast: elements are summed along the axes that the shape of another tensor does not have, or has as 1.

        In NumPy: data.sum(0)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any number
                the input
            collapse_type: Tensor [...] of any dtype but string
                a tensor of the wanted shape; its elements do not matter

        Gives:
            as collapse_type; data's dtype

        In kernels it reduces.
        """
class _op_collapse_sum_to(_relay.Op):
    def __call__(self, data: _Operand, shape: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """What undoes a broadcast: elements are summed along the axes that a shape does not have, or has as 1.

        In NumPy: data.sum(0)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any number
                the input
            shape: Tensor [rank] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64 or bool
                the sizes of the result

        Gives:
            shape; data's dtype

        In kernels it reduces.
        """
class _op_concatenate(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Tensors one behind the other along an axis.

        In NumPy: np.concatenate(data, axis)

        Operands (numbers and arrays become constants):
            data: Tuple of tensors [...] (rank 1 or more) of any dtype
                tensors that agree in all other dims

        Gives:
            as data, with the sum of their sizes along axis; data's dtype

        Attributes, call.attrs.NAME:
            axis, to be given (an integer)
                along which axis; below 0 from the end

        In kernels it moves elements.
        """
class _op_contrib_byte_table(_relay.Op):
    def __call__(self, data: _Operand, table: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each byte, replaced by what a table has at its place. The compiler writes it where operators of int8 or uint8 follow
        each other.

        In NumPy: table[data]

        Operands (numbers and arrays become constants):
            data: Tensor [...] of int8 or uint8
                the input
            table: Tensor [256] of int8 or uint8
                the bytes that stand for 0, 1 ... 255

        Gives:
            [...]; table's dtype
        """
class _op_contrib_reverse_reshape(_relay.Op):
    def __call__(self, data: _Operand, newshape: Any, *, allowzero: bool = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As reshape, with the codes read from the last dim to the first.

        In NumPy: data.reshape(10, 7)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            newshape, its codes replaced; data's dtype

        Attributes, call.attrs.NAME:
            newshape, to be given (a list of integers or ?)
                sizes and codes as of reshape, from right to left
            allowzero = False (True or False)
                whether 0 is a size of 0

        In kernels it moves elements.
        """
class _op_copy(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The operand itself.

        In NumPy: data

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_cos(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The cosine of each element, which is in radians.

        In NumPy: np.cos(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_cosh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The hyperbolic cosine of each element.

        In NumPy: np.cosh(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_count_grams(_relay.Op):
    def __call__(self, data: _Operand, grams: _Operand, columns: _Operand, /, width: Any, skips: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """How often each of some sequences of numbers stands in a row.

        Operands (numbers and arrays become constants):
            data: Tensor [rows, n] of int64
                the input
            grams: Tensor [k, length] of int64
                the sequences, in order
            columns: Tensor [k] of int64
                for each the column of the result that counts it

        Gives:
            [rows, width]; int64

        Attributes, call.attrs.NAME:
            width, to be given (an integer)
                how many columns the result has
            skips = 0 (an integer)
                how many numbers may be left out between two of a sequence
        """
class _op_cumprod(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, dtype: Any = None, exclusive: Any = None, *, reversed: bool = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of all elements up to each one along an axis.

        In NumPy: np.cumprod(data, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data; one vector where axis is None; data's dtype, or dtype

        Attributes, call.attrs.NAME:
            axis = None (an integer)
                along which axis; None: all elements in row-major order
            dtype = None (the name of a dtype)
                the dtype of the result; "": as without it
            exclusive = None (True or False)
                whether an element's own is left out
            reversed = False (True or False)
                whether products run from the end on

        In kernels it has a kernel of its own.
        """
class _op_cumsum(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, dtype: Any = None, exclusive: Any = None, *, reversed: bool = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sum of all elements up to each one along an axis.

        In NumPy: np.cumsum(data, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data; one vector where axis is None; data's dtype, or dtype

        Attributes, call.attrs.NAME:
            axis = None (an integer)
                along which axis; None: all elements in row-major order
            dtype = None (the name of a dtype)
                the dtype of the result; "": as without it
            exclusive = None (True or False)
                whether an element's own is left out
            reversed = False (True or False)
                whether sums run from the end on

        In kernels it has a kernel of its own.
        """
class _op_device_copy(_relay.Op):
    def __call__(self, data: _Operand, src_device: _Operand, dst_device: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker: the operand itself; there is one device.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            src_virtual_device = None
                of TVM's text: there is one device
            dst_virtual_device = None
                of TVM's text: there is one device

        In kernels it has a kernel of its own.
        """
class _op_dft(_relay.Op):
    def __call__(self, re_data: _Operand, im_data: _Operand, inverse: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The discrete Fourier transform along the last axis.

        In NumPy with inverse=False: (np.fft.fft(re_data + 1j * im_data).real, np.fft.fft(re_data + 1j * im_data).imag)

        Operands (numbers and arrays become constants):
            re_data: Tensor [..., n] of any float
                real parts
            im_data: Tensor [..., n] of re_data's dtype (any float)
                imaginary parts

        Gives a tuple, call[0], call[1] ...:
            real: [..., n]; re_data's dtype
            imaginary: [..., n]; re_data's dtype

        Attributes, call.attrs.NAME:
            inverse = False (True or False)
                whether it is the inverse transform, divided by n

        In kernels it has a kernel of its own.
        """
class _op_divide(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The quotient of two tensors, element by element; of integers, without its fraction (towards 0).

        In NumPy: lhs / rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any number
                the left operand
            rhs: Tensor [...] of lhs's dtype (any number)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_dyn_broadcast_to(_relay.Op):
    def __call__(self, data: _Operand, shape_operand: _Operand, /, shape: Any = None, dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As broadcast_to, of a shape that the program computes.

        In NumPy: np.broadcast_to(data, shape)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input
            shape: Tensor [rank] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or string
                the sizes of the result

        Gives:
            shape; data's dtype

        Attributes, call.attrs.NAME:
            shape = None
                what TVM's text has of the operand
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it makes one element of one after broadcasting.
        """
class _op_dyn_expand_dims(_relay.Op):
    def __call__(self, data: _Operand, axis_operand: _Operand, /, num_newaxis: _Numbers | _relay.Expr | None = 1, axis: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As expand_dims, of an axis that the program computes.

        In NumPy: np.expand_dims(data, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input
            axis: Tensor [] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or string
                where the dims begin

        Gives:
            as data, with num_newaxis dims of 1 in front of axis; data's dtype

        Attributes, call.attrs.NAME:
            num_newaxis = 1 (an integer)
                how many
            axis = None
                what TVM's text has of the operand

        In kernels it moves elements.
        """
class _op_dyn_full(_relay.Op):
    def __call__(self, fill_value: _Operand, shape_operand: _Operand, /, shape: Any = None, dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As full, of a shape that the program computes.

        In NumPy: np.full(shape, fill_value)

        Operands (numbers and arrays become constants):
            fill_value: Tensor [] of any dtype
                the number
            shape: Tensor [rank] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or string
                the sizes of the result

        Gives:
            shape; fill_value's dtype, or dtype

        Attributes, call.attrs.NAME:
            shape = None
                what TVM's text has of the operand
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it makes one element of one.
        """
class _op_dyn_image_resize2d(_relay.Op):
    def __call__(self, data: _Operand, size_operand: _Operand, roi_operand: _Operand, /, size: Any = None, roi: Any = None, layout: _Text = 'NCHW', method: Literal['cubic', 'linear', 'nearest_neighbor'] = 'linear', coordinate_transformation_mode: Literal['align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize', 'tf_half_pixel_for_nn'] = 'half_pixel', rounding_method: _Text = 'round', cubic_alpha: _Operand = -0.5, cubic_exclude: _Numbers | _relay.Expr | None = 0, extrapolation_value: _Operand = 0.0, out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As image.resize2d, of a size that the program computes.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any number
                the input
            size: Tensor [2] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64 or bool
                the rows and columns of the result
            roi: Tensor [...] of any dtype but string
                the part that is taken, for "tf_crop_and_resize": where each axis begins, then where each ends, from 0 to 1

        Gives:
            [N, C, H', W']; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            size = None
                what TVM's text has of the operand
            roi = None
                what TVM's text has of the operand
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            method = 'linear' (one of cubic, linear, nearest_neighbor)
                "nearest_neighbor", "linear" or "cubic"
            coordinate_transformation_mode = 'half_pixel' (one of align_corners, asymmetric, half_pixel, pytorch_half_pixel,
            tf_crop_and_resize, tf_half_pixel_for_nn)
                where elements of the result lie among those of the data
            rounding_method = 'round' (a string)
                how "nearest_neighbor" finds its element
            cubic_alpha = -0.5 (a number)
                the coefficient of cubic interpolation
            cubic_exclude = 0 (an integer)
                whether weights outside the data are left out, and the others made to sum to 1
            extrapolation_value = 0.0 (a number)
                what stands outside the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it moves elements.
        """
class _op_dyn_nn_pad(_relay.Op):
    def __call__(self, data: _Operand, pad_width_operand: _Operand, pad_value: _Operand, /, pad_width: Any = None, pad_mode: Literal['constant', 'edge', 'reflect'] = 'constant', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As nn.pad, of widths that the program computes.

        In NumPy with pad_mode="constant": np.pad(data, pad_width, constant_values=pad_value)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 2) of any dtype
                the input
            pad_width: Tensor [rank, 2] of any integer
                for each axis how many elements are put before and behind
            pad_value: Tensor [] of any dtype
                what is put there, in mode "constant"

        Gives:
            as data, with pad_width more along each axis; data's dtype

        Attributes, call.attrs.NAME:
            pad_width = None
                what TVM's text has of the operand
            pad_mode = 'constant' (one of constant, edge, reflect)
                what is put around: "constant": pad_value; "edge": the outermost element; "reflect": elements mirrored at it

        In kernels it moves elements.
        """
class _op_dyn_nn_upsampling(_relay.Op):
    def __call__(self, data: _Operand, scale_h_operand: _Operand, scale_w_operand: _Operand, /, layout: _Text = 'NCHW', method: Literal['bicubic', 'bilinear', 'cubic', 'linear', 'nearest_neighbor'] = 'nearest_neighbor', scale_h: Any = None, scale_w: Any = None, align_corners: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As nn.upsampling, of scales that the program computes.

        In NumPy with scales of 2 and 3: data.repeat(2, 2).repeat(3, 3)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any number
                the input
            scale_h: Tensor [] of any number
                how many times the rows
            scale_w: Tensor [] of any number
                how many times the columns

        Gives:
            [N, C, H', W']; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            method = 'nearest_neighbor' (one of bicubic, bilinear, cubic, linear, nearest_neighbor)
                "nearest_neighbor", "bilinear" or "bicubic"
            scale_h = None
                what TVM's text has of the operand
            scale_w = None
                what TVM's text has of the operand
            align_corners = False (True or False)
                whether the middles of the outermost elements stay where they are, rather than their edges

        In kernels it moves elements.
        """
class _op_dyn_nn_upsampling3d(_relay.Op):
    def __call__(self, data: _Operand, scale_d_operand: _Operand, scale_h_operand: _Operand, scale_w_operand: _Operand, /, layout: _Text = 'NCDHW', method: Literal['cubic', 'linear', 'nearest_neighbor'] = 'nearest_neighbor', scale_h: Any = None, scale_w: Any = None, scale_d: Any = None, coordinate_transformation_mode: Literal['align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize', 'tf_half_pixel_for_nn'] = 'half_pixel', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As nn.upsampling3d, of scales that the program computes.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any number
                the input
            scale_d: Tensor [] of any number
                how many times the layers
            scale_h: Tensor [] of any number
                how many times the rows
            scale_w: Tensor [] of any number
                how many times the columns

        Gives:
            [N, C, D', H', W']; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            method = 'nearest_neighbor' (one of cubic, linear, nearest_neighbor)
                "nearest_neighbor" or "trilinear"
            scale_h = None
                what TVM's text has of the operand
            scale_w = None
                what TVM's text has of the operand
            scale_d = None
                what TVM's text has of the operand
            coordinate_transformation_mode = 'half_pixel' (one of align_corners, asymmetric, half_pixel, pytorch_half_pixel,
            tf_crop_and_resize, tf_half_pixel_for_nn)
                where elements of the result lie among those of the data

        In kernels it moves elements.
        """
class _op_dyn_one_hot(_relay.Op):
    def __call__(self, indices: _Operand, on_value: _Operand, off_value: _Operand, depth_operand: _Operand, /, depth: Any = None, axis: _Numbers | _relay.Expr | None = -1, dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As one_hot, of a depth that the program computes.

        In NumPy: np.where(indices[..., None] == np.arange(depth), on_value, off_value)

        Operands (numbers and arrays become constants):
            indices: Tensor [...] of any integer
                the places
            on_value: Tensor [] of any dtype
                what stands there
            off_value: Tensor [] of any dtype
                what stands elsewhere
            depth: Tensor [] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or string
                how long rows are

        Gives:
            dims of indices, with depth at axis; on_value's dtype, or dtype

        Attributes, call.attrs.NAME:
            depth = None
                what TVM's text has of the operand
            axis = -1 (an integer)
                where in the result they lie; -1: behind the last axis
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_dyn_ones(_relay.Op):
    def __call__(self, shape_operand: _Operand, /, shape: Any = None, dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As ones and zeros, of a shape that the program computes.

        Operands (numbers and arrays become constants):
            shape: Tensor [rank] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64 or bool
                the sizes of the result

        Gives:
            shape; float32, or dtype

        Attributes, call.attrs.NAME:
            shape = None
                what TVM's text has of the operand
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it makes one element of one.
        """
class _op_dyn_reshape(_relay.Op):
    def __call__(self, data: _Operand, newshape_operand: _Operand, /, newshape: Any = None, allowzero: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As reshape, of sizes that the program computes.

        In NumPy: data.reshape(newshape)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input
            newshape: Tensor [rank] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or
            string
                sizes; 0: the size of data at this place; -1: what is left over, once

        Gives:
            newshape, its codes replaced; data's dtype

        Attributes, call.attrs.NAME:
            newshape = None
                what TVM's text has of the operand
            allowzero = False (True or False)
                whether 0 is a size of 0

        In kernels it moves elements.
        """
class _op_dyn_sparse_to_dense(_relay.Op):
    def __call__(self, sparse_indices: _Operand, sparse_values: _Operand, default_value: _Operand, output_shape: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As sparse_to_dense, of a shape that the program computes.

        Operands (numbers and arrays become constants):
            sparse_indices: Tensor [...] (rank 1 or 2) of any integer
                the places: a row for each value, or a number for each
            sparse_values: Tensor [...] of any dtype but string
                what stands there
            default_value: Tensor [] of any dtype but string
                what stands elsewhere
            output_shape: Tensor [rank] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64 or bool
                the sizes of the result

        Gives:
            output_shape; sparse_values's dtype

        In kernels it has a kernel of its own.
        """
class _op_dyn_squeeze(_relay.Op):
    def __call__(self, data: _Operand, axis_operand: _Operand, /, axis: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As squeeze, of axes that the program computes.

        In NumPy: np.squeeze(data, tuple(axis))

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input
            axis: Tensor [n] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or string
                which dims of 1 are taken out

        Gives:
            as data, without those dims; data's dtype

        Attributes, call.attrs.NAME:
            axis = None
                what TVM's text has of the operand

        In kernels it moves elements.
        """
class _op_dyn_strided_slice(_relay.Op):
    def __call__(self, data: _Operand, begin_operand: _Operand, end_operand: _Operand, strides_operand: _Operand, /, begin: Any = None, end: Any = None, strides: Any = None, slice_mode: Literal['end', 'size'] = 'end', axes: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As strided_slice, of places that the program computes.

        In NumPy: data[0:2, 1:4:2]

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input
            begin: Tensor [n] of any integer
                the first place along each axis; below 0 from the end
            end: Tensor [n] of any integer
                the place behind the last one; below 0 from the end
            strides: Tensor [n] of any integer
                how far places are apart; below 0 backwards

        Gives:
            as data, with the sizes of the slices; data's dtype

        Attributes, call.attrs.NAME:
            begin = None
                what TVM's text has of the operand
            end = None
                what TVM's text has of the operand
            strides = None
                what TVM's text has of the operand
            slice_mode = 'end' (one of end, size)
                "end": end is a place; "size": end is how many, -1 all that follow, and strides are 1
            axes = None
                none: the first axes are meant

        In kernels it moves elements.
        """
class _op_dyn_tile(_relay.Op):
    def __call__(self, data: _Operand, reps_operand: _Operand, /, reps: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As tile, of numbers that the program computes.

        In NumPy: np.tile(data, reps)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input
            reps: Tensor [n] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or string
                how often, for each axis

        Gives:
            each dim times reps; data's dtype

        Attributes, call.attrs.NAME:
            reps = None
                what TVM's text has of the operand

        In kernels it moves elements.
        """
class _op_dyn_topk(_relay.Op):
    def __call__(self, data: _Operand, k_operand: _Operand, /, axis: _Numbers | _relay.Expr | None = -1, ret_type: Literal['both', 'indices', 'values'] = 'both', is_ascend: bool = False, dtype: _Text = '', k: Any = None, below_one_is_none: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As topk, of a number that the program computes.

        In NumPy: (-np.sort(-data, axis)[..., :k], np.argsort(-data, axis)[..., :k])

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input
            k: Tensor [] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64 or bool
                how many; below 1: all

        Gives a tuple, call[0], call[1] ...:
            values: as data, with k along axis; data's dtype
            indices: as data, with k along axis; int32, or dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end
            ret_type = 'both' (one of both, indices, values)
                "both": a tuple of values and places; "values" or "indices": one of them
            is_ascend = False (True or False)
                whether the smallest elements are meant, the smallest first
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
            k = None
                what TVM's text has of the operand
            below_one_is_none = False (True or False)
                whether a k below 1 gives no elements, rather than all

        In kernels it has a kernel of its own.
        """
class _op_dyn_zeros(_relay.Op):
    def __call__(self, shape_operand: _Operand, /, shape: Any = None, dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As ones and zeros, of a shape that the program computes.

        Operands (numbers and arrays become constants):
            shape: Tensor [rank] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or string
                the sizes of the result

        Gives:
            shape; float32, or dtype

        Attributes, call.attrs.NAME:
            shape = None
                what TVM's text has of the operand
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it makes one element of one.
        """
class _op_einsum(_relay.Op):
    def __call__(self, data: _Operand, equation: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Sums of products, by Einstein's notation.

        In NumPy: np.einsum(equation, *data)

        Operands (numbers and arrays become constants):
            data: Tuple of tensors [...] of any number
                the tensors

        Gives:
            by the equation; data's dtype

        Attributes, call.attrs.NAME:
            equation, to be given (a string)
                letters for the axes of each tensor, and of the result: "ij,jk->ik"

        In kernels it moves elements.
        """
class _op_equal(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether two elements are the same.

        In NumPy: lhs == rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any dtype
                the left operand
            rhs: Tensor [...] of lhs's dtype (any dtype)
                the right operand

        Gives:
            the operands' shape, broadcast; bool

        In kernels it makes one element of one after broadcasting.
        """
class _op_erf(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The error function of each element.

        In NumPy: np.vectorize(math.erf)(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_exp(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """e to the power of each element.

        In NumPy: np.exp(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_expand_dims(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, num_newaxis: _Numbers | _relay.Expr | None = 1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Dims of 1 are put in.

        In NumPy: np.expand_dims(data, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            as data, with num_newaxis dims of 1 in front of axis; data's dtype

        Attributes, call.attrs.NAME:
            axis, to be given (an integer)
                where they begin; below 0 counted from the end of the result
            num_newaxis = 1 (an integer)
                how many

        An expression for axis makes a call of dyn.expand_dims. In kernels it makes one element of one after broadcasting.
        """
class _op_fast_erf(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The error function of each element, by a quicker approximation.

        In NumPy: np.vectorize(math.erf)(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_fast_exp(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """e to the power of each element, by a quicker approximation.

        In NumPy: np.exp(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_fast_tanh(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The hyperbolic tangent of each element, by a quicker approximation.

        In NumPy: np.tanh(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_fixed_point_multiply(_relay.Op):
    def __call__(self, data: _Operand, multiplier: Any, shift: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element times multiplier / 2**31 times 2**shift, rounded, halves up.

        In NumPy: np.floor(data * (multiplier / 2**31) * 2.0**shift + 0.5)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of int32
                the input

        Gives:
            [...]; int32

        Attributes, call.attrs.NAME:
            multiplier, to be given (an integer)
                a fraction in units of 2**-31
            shift, to be given (an integer)
                powers of two, to the left; below 0 to the right

        In kernels it makes one element of one.
        """
class _op_fixed_point_multiply_per_axis(_relay.Op):
    def __call__(self, data: _Operand, multiplier: _Operand, left_shift: _Operand, right_shift: _Operand, /, *, is_lshift_required: bool = False, is_rshift_required: bool = False, axes: Any, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element times a fraction that its place along `axes` chooses, shifted before and behind.

        In NumPy: np.floor(data * (multiplier / 2.0**31).reshape(-1, 1) + 0.5)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of int32
                the input
            multiplier: Tensor [C] of any integer
                fractions in units of 2**-31
            left_shift: Tensor [C] of any dtype but string
                how many bits up before the product
            right_shift: Tensor [C] of any dtype but string
                how many bits down behind it

        Gives:
            [...]; int32

        Attributes, call.attrs.NAME:
            is_lshift_required = False (True or False)
                whether there is a shift before the product
            is_rshift_required = False (True or False)
                whether there is a shift behind it
            axes, to be given (a list of integers)
                the axis along which the fractions lie

        In kernels it makes one element of one after broadcasting.
        """
class _op_floor(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest whole number that is not above each element.

        In NumPy: np.floor(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any number
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_floor_divide(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The quotient of two tensors, rounded down.

        In NumPy: np.floor_divide(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any number
                the left operand
            rhs: Tensor [...] of lhs's dtype (any number)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_floor_mod(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The remainder of a division that rounds down: it has the sign of rhs.

        In NumPy: np.mod(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any number
                the left operand
            rhs: Tensor [...] of lhs's dtype (any number)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_full(_relay.Op):
    def __call__(self, fill_value: _Operand, shape: _Numbers | _relay.Expr | None = (), dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor whose elements are all one number.

        In NumPy: np.full(shape, fill_value)

        Operands (numbers and arrays become constants):
            fill_value: Tensor [] of any dtype
                the number

        Gives:
            [*shape]; fill_value's dtype, or dtype

        Attributes, call.attrs.NAME:
            shape = () (a list of integers or ?)
                the sizes of the result
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        An expression for shape makes a call of dyn.full. In kernels it makes one element of one.
        """
class _op_full_like(_relay.Op):
    def __call__(self, data: _Operand, fill_value: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor of another one's shape and dtype, whose elements are all one number.

        In NumPy: np.full_like(data, fill_value)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                a tensor of the wanted shape
            fill_value: Tensor [] of any dtype
                the number

        Gives:
            as data; data's dtype

        In kernels it makes one element of one.
        """
class _op_gather(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, indices: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Elements whose place along one axis is chosen by number, and along the others is that of the result.

        In NumPy: np.take_along_axis(data, indices, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input
            indices: Tensor [...] (rank 1 or more) of any integer
                places along the axis, of as many axes as data

        Gives:
            as indices; data's dtype

        Attributes, call.attrs.NAME:
            axis, to be given (an integer)
                along which axis; below 0 from the end

        In kernels it moves elements.
        """
class _op_gather_nd(_relay.Op):
    def __call__(self, data: _Operand, indices: _Operand, batch_dims: _Numbers | _relay.Expr | None = 0, index_rank: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Elements or slices, chosen by m numbers each: their first axis has the places along the first m axes of data.

        In NumPy: data[tuple(indices)]

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input
            indices: Tensor [m, ...] of any number
                a first axis of numbers, then the shape of the choice

        Gives:
            dims of indices behind the first, then dims of data behind the first m; data's dtype

        Attributes, call.attrs.NAME:
            batch_dims = 0 (an integer)
                how many first axes of both go together
            index_rank = None (an integer)
                how many numbers there are where the program's types do not tell

        In kernels it moves elements.
        """
class _op_greater(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether lhs is above rhs.

        In NumPy: lhs > rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any dtype but string
                the left operand
            rhs: Tensor [...] of lhs's dtype (any dtype but string)
                the right operand

        Gives:
            the operands' shape, broadcast; bool

        In kernels it makes one element of one after broadcasting.
        """
class _op_greater_equal(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether lhs is above rhs, or the same.

        In NumPy: lhs >= rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any dtype but string
                the left operand
            rhs: Tensor [...] of lhs's dtype (any dtype but string)
                the right operand

        Gives:
            the operands' shape, broadcast; bool

        In kernels it makes one element of one after broadcasting.
        """
class _op_image_affine_grid(_relay.Op):
    def __call__(self, data: _Operand, target_shape: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A grid of points between -1 and 1, moved by a matrix for each picture: where image.grid_sample reads it.

        In NumPy: np.einsum("nij,jyx->niyx", data, np.stack([*np.meshgrid(np.linspace(-1, 1, target_shape[1]), np.linspace(-1, 1, target_shape[0])), np.ones(target_shape)]))

        Operands (numbers and arrays become constants):
            data: Tensor [N, 2, 3] of any float
                matrices of 2 x 3

        Gives:
            [N, 2, *target_shape]; data's dtype

        Attributes, call.attrs.NAME:
            target_shape = None (a list of integers)
                the rows and columns of the grid

        In kernels it moves elements.
        """
class _op_image_crop_and_resize(_relay.Op):
    def __call__(self, data: _Operand, boxes: _Operand, box_indices: _Operand, crop_size: Any, layout: Any, method: Literal['bilinear', 'cubic', 'linear', 'nearest_neighbor'] = 'bilinear', extrapolation_value: _Numbers | _relay.Expr | None = 0, out_dtype: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Parts of pictures, brought to one size.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any number
                the input
            boxes: Tensor [R, 4] of any float
                top, left, bottom and right of each, from 0 to 1
            box_indices: Tensor [R] of any integer
                which picture of the batch each is of

        Gives:
            [R, C, *crop_size]; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            crop_size, to be given (a list of integers or ?)
                the sizes of the result
            layout, to be given (any order of NCHW)
                the order of the data's dims, a letter for each
            method = 'bilinear' (one of bilinear, cubic, linear, nearest_neighbor)
                "bilinear" or "nearest_neighbor"
            extrapolation_value = 0 (a number)
                what stands outside the data
            out_dtype = None (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it moves elements.
        """
class _op_image_dilation2d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilations: _Numbers | _relay.Expr | None = (1, 1), data_layout: Literal['NCHW'] = 'NCHW', kernel_layout: Literal['IHW'] = 'IHW', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Greyscale dilation: the largest sum of a window of the data and of the weight.

        In NumPy with default attributes: (np.lib.stride_tricks.sliding_window_view(data, weight.shape[1:], (2, 3)) + weight[:, None, None]).max((-2, -1))

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any number
                the input
            weight: Tensor [C, KH, KW] of data's dtype (any number)
                what is added to the window of each channel

        Gives:
            [N, C, H', W']; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilations = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis
            data_layout = 'NCHW' (NCHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'IHW' (IHW)
                the order of the weight's dims, a letter for each
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_image_grid_sample(_relay.Op):
    def __call__(self, data: _Operand, grid: _Operand, method: Literal['bicubic', 'bilinear', 'nearest'] = 'bilinear', layout: Literal['NCHW'] = 'NCHW', padding_mode: Literal['border', 'reflection', 'zeros'] = 'zeros', align_corners: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Pictures read where a grid says, between elements by interpolation.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, ...] (rank 4) of any float
                the input
            grid: Tensor [N, 2, ...] (rank 4) of any float
                for each element of the result a column and a row (and a layer, of volumes), between -1 and 1

        Gives:
            N, C, then the dims of grid behind the second; data's dtype

        Attributes, call.attrs.NAME:
            method = 'bilinear' (one of bicubic, bilinear, nearest)
                "nearest", "bilinear" or, of pictures, "bicubic"
            layout = 'NCHW' (NCHW)
                the order of the data's dims, a letter for each
            padding_mode = 'zeros' (one of border, reflection, zeros)
                what stands outside the data: "zeros", "border": the outermost element, "reflection": elements mirrored there
            align_corners = True (True or False)
                whether the middles of the outermost elements stay where they are, rather than their edges

        In kernels it moves elements.
        """
class _op_image_resize1d(_relay.Op):
    def __call__(self, data: _Operand, size: Any, roi: Any = None, layout: _Text = 'NCW', method: Literal['cubic', 'linear', 'nearest_neighbor'] = 'linear', coordinate_transformation_mode: Literal['align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize', 'tf_half_pixel_for_nn'] = 'half_pixel', rounding_method: Literal['ceil', 'floor', 'round', 'round_prefer_ceil', 'round_prefer_floor', ''] = '', cubic_alpha: _Operand = -0.5, cubic_exclude: _Numbers | _relay.Expr | None = 0, extrapolation_value: _Operand = 0.0, out_dtype: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Pictures of another size over one axis.

        In NumPy with method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor" and twice the size: data.repeat(2, 2)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any number
                the input

        Gives:
            [N, C, *size]; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            size, to be given (a list of integers or ?)
                the sizes of the result's axes
            roi = None (a list of numbers)
                the part that is taken, for "tf_crop_and_resize": where each axis begins, then where each ends, from 0 to 1
            layout = 'NCW' (any order of NCW)
                the order of the data's dims, a letter for each
            method = 'linear' (one of cubic, linear, nearest_neighbor)
                "nearest_neighbor", "linear" or "cubic"
            coordinate_transformation_mode = 'half_pixel' (one of align_corners, asymmetric, half_pixel, pytorch_half_pixel,
            tf_crop_and_resize, tf_half_pixel_for_nn)
                where elements of the result lie among those of the data
            rounding_method = '' (one of ceil, floor, round, round_prefer_ceil, round_prefer_floor; in text and in relay.Call:
            'round')
                how "nearest_neighbor" finds its element
            cubic_alpha = -0.5 (a number)
                the coefficient of cubic interpolation
            cubic_exclude = 0 (an integer)
                whether weights outside the data are left out, and the others made to sum to 1
            extrapolation_value = 0.0 (a number)
                what stands outside the data
            out_dtype = None (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it moves elements.
        """
class _op_image_resize2d(_relay.Op):
    def __call__(self, data: _Operand, size: Any, roi: Any = None, layout: _Text = 'NCHW', method: Literal['cubic', 'linear', 'nearest_neighbor'] = 'linear', coordinate_transformation_mode: Literal['align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize', 'tf_half_pixel_for_nn'] = 'half_pixel', rounding_method: Literal['ceil', 'floor', 'round', 'round_prefer_ceil', 'round_prefer_floor', ''] = '', cubic_alpha: _Operand = -0.5, cubic_exclude: _Numbers | _relay.Expr | None = 0, extrapolation_value: _Operand = 0.0, out_dtype: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Pictures of another size over rows and columns.

        In NumPy with method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor" and twice the size: data.repeat(2, 2).repeat(2, 3)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any number
                the input

        Gives:
            [N, C, *size]; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            size, to be given (a list of integers or ?)
                the sizes of the result's axes
            roi = None (a list of numbers)
                the part that is taken, for "tf_crop_and_resize": where each axis begins, then where each ends, from 0 to 1
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            method = 'linear' (one of cubic, linear, nearest_neighbor)
                "nearest_neighbor", "linear" or "cubic"
            coordinate_transformation_mode = 'half_pixel' (one of align_corners, asymmetric, half_pixel, pytorch_half_pixel,
            tf_crop_and_resize, tf_half_pixel_for_nn)
                where elements of the result lie among those of the data
            rounding_method = '' (one of ceil, floor, round, round_prefer_ceil, round_prefer_floor; in text and in relay.Call:
            'round')
                how "nearest_neighbor" finds its element
            cubic_alpha = -0.5 (a number)
                the coefficient of cubic interpolation
            cubic_exclude = 0 (an integer)
                whether weights outside the data are left out, and the others made to sum to 1
            extrapolation_value = 0.0 (a number)
                what stands outside the data
            out_dtype = None (the name of a dtype)
                the dtype of the result; "": as without it

        An expression for size, roi makes a call of dyn.image.resize2d. In kernels it moves elements.
        """
class _op_image_resize3d(_relay.Op):
    def __call__(self, data: _Operand, size: Any, roi: Any = None, layout: _Text = 'NCDHW', method: Literal['cubic', 'linear', 'nearest_neighbor'] = 'linear', coordinate_transformation_mode: Literal['align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize', 'tf_half_pixel_for_nn'] = 'half_pixel', rounding_method: Literal['ceil', 'floor', 'round', 'round_prefer_ceil', 'round_prefer_floor', ''] = '', cubic_alpha: _Operand = -0.5, cubic_exclude: _Numbers | _relay.Expr | None = 0, extrapolation_value: _Operand = 0.0, out_dtype: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Pictures of another size over layers, rows and columns.

        In NumPy with method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor" and twice the size: data.repeat(2, 2).repeat(2, 3).repeat(2, 4)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any number
                the input

        Gives:
            [N, C, *size]; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            size, to be given (a list of integers or ?)
                the sizes of the result's axes
            roi = None (a list of numbers)
                the part that is taken, for "tf_crop_and_resize": where each axis begins, then where each ends, from 0 to 1
            layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            method = 'linear' (one of cubic, linear, nearest_neighbor)
                "nearest_neighbor", "linear" or "cubic"
            coordinate_transformation_mode = 'half_pixel' (one of align_corners, asymmetric, half_pixel, pytorch_half_pixel,
            tf_crop_and_resize, tf_half_pixel_for_nn)
                where elements of the result lie among those of the data
            rounding_method = '' (one of ceil, floor, round, round_prefer_ceil, round_prefer_floor; in text and in relay.Call:
            'round')
                how "nearest_neighbor" finds its element
            cubic_alpha = -0.5 (a number)
                the coefficient of cubic interpolation
            cubic_exclude = 0 (an integer)
                whether weights outside the data are left out, and the others made to sum to 1
            extrapolation_value = 0.0 (a number)
                what stands outside the data
            out_dtype = None (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it moves elements.
        """
class _op_invert_permutation(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The permutation that undoes another one.

        In NumPy: np.argsort(data)

        Operands (numbers and arrays become constants):
            data: Tensor [n] of any integer
                the numbers 0 to n - 1, in any order

        Gives:
            [n]; data's dtype

        In kernels it moves elements.
        """
class _op_isfinite(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether each element is neither infinite nor NaN.

        In NumPy: np.isfinite(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; bool

        In kernels it makes one element of one.
        """
class _op_isinf(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether each element is infinite.

        In NumPy: np.isinf(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; bool

        In kernels it makes one element of one.
        """
class _op_isnan(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether each element is NaN.

        In NumPy: np.isnan(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; bool

        In kernels it makes one element of one.
        """
class _op_layout_transform(_relay.Op):
    def __call__(self, data: _Operand, src_layout: Any, dst_layout: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Dims in the order of another layout; lower-case letters are parts of a dim, their size in front (NCHW4c).

        In NumPy: np.transpose(data, (0, 2, 3, 1))

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 4) of any dtype but string
                the input

        Gives:
            dims in the order of dst_layout; data's dtype

        Attributes, call.attrs.NAME:
            src_layout, to be given (any order of NCHW)
                the layout of data, a letter for each dim
            dst_layout, to be given (any order of NHWC)
                the layout of the result, of the same letters

        In kernels it moves elements.
        """
class _op_left_shift(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The bits of lhs, rhs places further up.

        In NumPy: np.left_shift(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any integer
                the left operand
            rhs: Tensor [...] of lhs's dtype (any integer)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_less(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether lhs is below rhs.

        In NumPy: lhs < rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any dtype but string
                the left operand
            rhs: Tensor [...] of lhs's dtype (any dtype but string)
                the right operand

        Gives:
            the operands' shape, broadcast; bool

        In kernels it makes one element of one after broadcasting.
        """
class _op_less_equal(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether lhs is below rhs, or the same.

        In NumPy: lhs <= rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any dtype but string
                the left operand
            rhs: Tensor [...] of lhs's dtype (any dtype but string)
                the right operand

        Gives:
            the operands' shape, broadcast; bool

        In kernels it makes one element of one after broadcasting.
        """
class _op_log(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The natural logarithm of each element.

        In NumPy: np.log(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_log10(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The logarithm of each element to the base 10.

        In NumPy: np.log10(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_log2(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The logarithm of each element to the base 2.

        In NumPy: np.log2(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_logical_and(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether both elements are true.

        In NumPy: np.logical_and(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of bool
                the left operand
            rhs: Tensor [...] of bool
                the right operand

        Gives:
            the operands' shape, broadcast; bool

        In kernels it makes one element of one after broadcasting.
        """
class _op_logical_not(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether each element is false.

        In NumPy: np.logical_not(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of bool
                the input

        Gives:
            [...]; bool

        In kernels it makes one element of one.
        """
class _op_logical_or(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether one of two elements is true, or both.

        In NumPy: np.logical_or(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of bool
                the left operand
            rhs: Tensor [...] of bool
                the right operand

        Gives:
            the operands' shape, broadcast; bool

        In kernels it makes one element of one after broadcasting.
        """
class _op_logical_xor(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether one of two elements is true, and the other is not.

        In NumPy: np.logical_xor(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of bool
                the left operand
            rhs: Tensor [...] of bool
                the right operand

        Gives:
            the operands' shape, broadcast; bool

        In kernels it makes one element of one after broadcasting.
        """
class _op_logsumexp(_relay.Op):
    def __call__(self, data: Any, axis: Any = None, keepdims: bool = False, *, span: Any = None) -> Any:  # type: ignore[override]
        """The logarithm of the sum of e to the power of the elements along axes, without overflow.

        In NumPy: np.log(np.exp(data).sum(axis, keepdims=keepdims))

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any float
                the input

        Gives:
            as data without axis; with keepdims, 1 there; data's dtype

        Parameters:
            axis = None
                along which axis; below 0 from the end
            keepdims = False
                whether those axes stay, with a size of 1

        A function that makes several calls, as TVM's of that name.
        """
class _op_matrix_set_diag(_relay.Op):
    def __call__(self, data: _Operand, diagonal: _Operand, k: _Operand | None = 0, align: _Operand | None = 'RIGHT_LEFT', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Matrices with other numbers on their diagonals.

        In NumPy: np.where(np.eye(data.shape[-1]) == 1, diagonal[..., None], data)

        Operands (numbers and arrays become constants):
            data: Tensor [..., m, n] of any dtype but string
                the input
            diagonal: Tensor [...] (rank 1) of data's dtype (any dtype but string)
                the numbers; a dim of diagonals in front of the last one where there are several

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            k1 = 0 (an integer)
                the lowest diagonal; below 0 under the main one
            k2 = 0 (an integer)
                the highest
            super_diag_right_align = True (True or False)
                whether diagonals above the main one lie at the right end of their row
            sub_diag_right_align = False (True or False)
                whether those below do

        In kernels it moves elements.
        """
class _op_max(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest element along axes.

        In NumPy: np.max(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data without axis; with keepdims, 1 there; data's dtype

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                along which axes, one or several; None: all elements
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes

        In kernels it reduces.
        """
class _op_maximum(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The larger of two elements.

        In NumPy: np.maximum(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any dtype but string
                the left operand
            rhs: Tensor [...] of lhs's dtype (any dtype but string)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_mean(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean of the elements along axes, in the operand's dtype.

        In NumPy: np.mean(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data without axis; with keepdims, 1 there; data's dtype

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                along which axes, one or several; None: all elements
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes

        In kernels it reduces.
        """
class _op_mean_std(_relay.Op):
    def __call__(self, data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> Any:  # type: ignore[override]
        """The mean of the elements along axes, and their variance (mean_std: their standard deviation), as a tuple.

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any float
                the input

        Gives a tuple, call[0], call[1] ...:
            mean: as data without axis; data's dtype
            spread: as data without axis; data's dtype

        Parameters:
            axis = None
                along which axis; below 0 from the end
            keepdims = False
                whether those axes stay, with a size of 1
            exclude = False
                whether it is all other axes

        A function that makes several calls, as TVM's of that name.
        """
class _op_mean_variance(_relay.Op):
    def __call__(self, data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False, *, span: Any = None) -> Any:  # type: ignore[override]
        """The mean of the elements along axes, and their variance (mean_std: their standard deviation), as a tuple.

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives a tuple, call[0], call[1] ...:
            mean: as data without axis; data's dtype
            spread: as data without axis; data's dtype

        Parameters:
            axis = None
                along which axis; below 0 from the end
            keepdims = False
                whether those axes stay, with a size of 1
            exclude = False
                whether it is all other axes
            unbiased = False
                whether the sum is divided by one less than the number of elements

        A function that makes several calls, as TVM's of that name.
        """
class _op_meshgrid(_relay.Op):
    def __call__(self, data: _Operand, indexing: _Text = 'ij', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Of vectors, the grid of their elements: as many tensors.

        In NumPy: tuple(np.meshgrid(*data, indexing=indexing))

        Operands (numbers and arrays become constants):
            data: Tuple of tensors [n] of any dtype
                vectors or scalars

        Gives a tuple, call[0], call[1] ...:
            fields: a dim for each tensor of data; data's dtype

        Attributes, call.attrs.NAME:
            indexing = 'ij' (a string)
                "xy": the first two dims are swapped; any other, "ij": dims in the vectors' order

        In kernels it moves elements.
        """
class _op_min(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The smallest element along axes.

        In NumPy: np.min(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data without axis; with keepdims, 1 there; data's dtype

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                along which axes, one or several; None: all elements
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes

        In kernels it reduces.
        """
class _op_minimum(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The smaller of two elements.

        In NumPy: np.minimum(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any dtype but string
                the left operand
            rhs: Tensor [...] of lhs's dtype (any dtype but string)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_mod(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The remainder of a division that rounds towards 0: it has the sign of lhs.

        In NumPy: np.fmod(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any number
                the left operand
            rhs: Tensor [...] of lhs's dtype (any number)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_multiply(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of two tensors, element by element.

        In NumPy: lhs * rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any number
                the left operand
            rhs: Tensor [...] of lhs's dtype (any number)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_murmur3(_relay.Op):
    def __call__(self, data: _Operand, /, *, seed: _Numbers | _relay.Expr | None = 0, dtype: Any, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The hash MurmurHash3 of 32 bits of each number's bytes, or of each text's.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                numbers or texts

        Gives:
            [...]; the dtype dtype

        Attributes, call.attrs.NAME:
            seed = 0 (an integer)
                what the hash begins with
            dtype, to be given (the name of a dtype)
                uint32 or int32
        """
class _op_ndarray_size(_relay.Op):
    def __call__(self, data: _Operand, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """How many elements a tensor has.

        In NumPy: np.array(data.size)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            one number; int32, or dtype

        Attributes, call.attrs.NAME:
            dtype = 'int32' (the name of a dtype; in text and in relay.Call: '')
                the dtype of the result; "": as without it

        In kernels it moves elements.
        """
class _op_negative(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element with its sign changed.

        In NumPy: -data

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any number
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_nn_adaptive_avg_pool1d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean of each of as many windows as the result shall have elements; they overlap where sizes do not divide.

        In NumPy with output_size=1: data.mean((2,), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any dtype but string
                the input

        Gives:
            [N, C, W']; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCW' (any order of NCW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            output_size = None (a list of integers)
                the sizes of the result's axes; () is those of the data, one number for all

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_adaptive_avg_pool2d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean of each of as many windows as the result shall have elements; they overlap where sizes do not divide.

        In NumPy with output_size=1: data.mean((2, 3), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input

        Gives:
            [N, C, H', W']; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            output_size = None (a list of integers)
                the sizes of the result's axes; () is those of the data, one number for all

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_adaptive_avg_pool3d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCDHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean of each of as many windows as the result shall have elements; they overlap where sizes do not divide.

        In NumPy with output_size=1: data.mean((2, 3, 4), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any dtype but string
                the input

        Gives:
            [N, C, D', H', W']; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            output_size = None (a list of integers)
                the sizes of the result's axes; () is those of the data, one number for all

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_adaptive_max_pool1d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest element of each of as many windows as the result shall have elements; they overlap where sizes do not
        divide.

        In NumPy with output_size=1: data.max((2,), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any dtype but string
                the input

        Gives:
            [N, C, W']; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCW' (any order of NCW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            output_size = None (a list of integers)
                the sizes of the result's axes; () is those of the data, one number for all

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_adaptive_max_pool2d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest element of each of as many windows as the result shall have elements; they overlap where sizes do not
        divide.

        In NumPy with output_size=1: data.max((2, 3), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input

        Gives:
            [N, C, H', W']; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            output_size = None (a list of integers)
                the sizes of the result's axes; () is those of the data, one number for all

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_adaptive_max_pool3d(_relay.Op):
    def __call__(self, data: _Operand, output_size: Any = None, layout: _Text = 'NCDHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest element of each of as many windows as the result shall have elements; they overlap where sizes do not
        divide.

        In NumPy with output_size=1: data.max((2, 3, 4), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any dtype but string
                the input

        Gives:
            [N, C, D', H', W']; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            output_size = None (a list of integers)
                the sizes of the result's axes; () is those of the data, one number for all

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_attention(_relay.Op):
    def __call__(self, *operands: _Operand, q_layout: _Text = 'BHSD', k_layout: _Text = 'BHSD', v_layout: _Text = 'BHSD', out_layout: _Text = 'BHSD', score: Literal['tanh', ''] = '', span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Attention: softmax of a score of q @ k.T, times v. The compiler writes it where a program spells attention out.

        In NumPy with default attributes: (lambda e: e / e.sum(-1, keepdims=True) @ v)(np.exp(q @ k.swapaxes(2, 3)))

        Operands (numbers and arrays become constants):
            q: Tensor [B, H, S, D] of any float
                queries
            k: Tensor [B, H, T, D] of q's dtype (any float)
                keys
            v: Tensor [B, H, T, E] of q's dtype (any float)
                values
            steps: Tensor [], may be left out
                what the steps of the score read, in order, any number of them

        Gives:
            [B, H, S, E]; q's dtype

        Attributes, call.attrs.NAME:
            q_layout = 'BHSD' (any order of BHSD)
                the order of the dims of q: batch, heads, positions, elements
            k_layout = 'BHSD' (any order of BHSD)
                the order of the dims of k
            v_layout = 'BHSD' (any order of BHSD)
                the order of the dims of v
            out_layout = 'BHSD' (any order of BHSD)
                the order of the result's dims
            score = '' (tanh)
                steps from a product to its score: add, subtract, multiply, divide, where, where_not, tanh
        """
class _op_nn_avg_pool1d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1,), strides: _Numbers | _relay.Expr | None = (1,), dilation: _Numbers | _relay.Expr | None = (1,), padding: _Numbers | _relay.Expr | None = (0,), layout: _Text = 'NCW', out_layout: _Text = '', ceil_mode: bool = False, count_include_pad: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean of each window over one axis. Each axis of the result has (size + padding - dilation * (window - 1) - 1) //
        stride + 1 elements.

        In NumPy with default strides, dilation and padding: np.lib.stride_tricks.sliding_window_view(data, pool_size, (2,)).mean((-1,))

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any dtype but string
                the input

        Gives:
            [N, C, W']; data's dtype

        Attributes, call.attrs.NAME:
            pool_size = (1,) (a list of integers; in text and in relay.Call: None)
                the sizes of the window, for each axis; one number for all
            strides = (1,) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            dilation = (1,) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            padding = (0,) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            layout = 'NCW' (any order of NCW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            ceil_mode = False (True or False)
                whether a last window that is not whole counts
            count_include_pad = False (True or False)
                whether padding counts among the elements of a mean

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_avg_pool2d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1), strides: _Numbers | _relay.Expr | None = (1, 1), dilation: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), layout: _Text = 'NCHW', out_layout: _Text = '', ceil_mode: bool = False, count_include_pad: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean of each window over rows and columns. Each axis of the result has (size + padding - dilation * (window - 1) -
        1) // stride + 1 elements.

        In NumPy with default strides, dilation and padding: np.lib.stride_tricks.sliding_window_view(data, pool_size, (2, 3)).mean((-2, -1))

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input

        Gives:
            [N, C, H', W']; data's dtype

        Attributes, call.attrs.NAME:
            pool_size = (1, 1) (a list of integers; in text and in relay.Call: None)
                the sizes of the window, for each axis; one number for all
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            ceil_mode = False (True or False)
                whether a last window that is not whole counts
            count_include_pad = False (True or False)
                whether padding counts among the elements of a mean

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_avg_pool2d_grad(_relay.Op):
    def __call__(self, out_grad: _Operand, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1), strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), layout: _Text = 'NCHW', out_layout: _Text = '', ceil_mode: bool = False, count_include_pad: bool = False, *, dilation: _Numbers | _relay.Expr | None = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The gradient of nn.avg_pool2d: each element of the result's gradient, spread over its window.

        In NumPy with pool_size=(2, 2), strides=(2, 2): out_grad.repeat(2, 2).repeat(2, 3) / 4

        Operands (numbers and arrays become constants):
            out_grad: Tensor [N, C, H', W'] of any dtype but string
                the gradient of the result
            data: Tensor [N, C, H, W] of out_grad's dtype (any dtype but string)
                the input

        Gives:
            [N, C, H, W]; out_grad's dtype

        Attributes, call.attrs.NAME:
            pool_size = (1, 1) (a list of integers; in text and in relay.Call: None)
                the sizes of the window, for each axis; one number for all
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            ceil_mode = False (True or False)
                whether a last window that is not whole counts
            count_include_pad = False (True or False)
                whether padding counts among the elements of a mean

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_avg_pool3d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1, 1), strides: _Numbers | _relay.Expr | None = (1, 1, 1), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), layout: _Text = 'NCDHW', out_layout: _Text = '', ceil_mode: bool = False, count_include_pad: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean of each window over layers, rows and columns. Each axis of the result has (size + padding - dilation * (window
        - 1) - 1) // stride + 1 elements.

        In NumPy with default strides, dilation and padding: np.lib.stride_tricks.sliding_window_view(data, pool_size, (2, 3, 4)).mean((-3, -2, -1))

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any dtype but string
                the input

        Gives:
            [N, C, D', H', W']; data's dtype

        Attributes, call.attrs.NAME:
            pool_size = (1, 1, 1) (a list of integers; in text and in relay.Call: None)
                the sizes of the window, for each axis; one number for all
            strides = (1, 1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            dilation = (1, 1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            padding = (0, 0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            ceil_mode = False (True or False)
                whether a last window that is not whole counts
            count_include_pad = False (True or False)
                whether padding counts among the elements of a mean

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_batch_flatten(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """All dims but the first become one.

        In NumPy: data.reshape(data.shape[0], -1)

        Operands (numbers and arrays become constants):
            data: Tensor [N, ...] of any dtype
                the input

        Gives:
            [N, size]; data's dtype

        In kernels it moves elements.
        """
class _op_nn_batch_matmul(_relay.Op):
    def __call__(self, tensor_a: _Operand, tensor_b: _Operand, out_dtype: _Text = '', transpose_a: bool = False, transpose_b: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The products of as many pairs of matrices; one of either side goes with all of the other. In Python, the right ones are
        transposed unless transpose_b is False.

        In NumPy: (tensor_a.swapaxes(1, 2) if transpose_a else tensor_a) @ (tensor_b.swapaxes(1, 2) if transpose_b else tensor_b)

        Operands (numbers and arrays become constants):
            tensor_a: Tensor [B, M, K] of any dtype but string
                the left matrices
            tensor_b: Tensor [B, N, K] of tensor_a's dtype (any dtype but string); of any integer also any integer
                the right matrices

        Gives:
            [B, M, N]; tensor_a's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            transpose_a = False (True or False)
                whether the first operand's last two dims are swapped
            transpose_b = True (True or False; in text and in relay.Call: False)
                whether the second operand's last two dims are swapped
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_batch_norm(_relay.Op):
    def __call__(self, data: _Operand, gamma: _Operand, beta: _Operand, moving_mean: _Operand, moving_var: _Operand, axis: _Numbers | _relay.Expr | None = 1, epsilon: _Operand = 1e-05, center: bool = True, scale: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each channel, with its mean and its variance from training brought to 0 and 1, then scaled and moved. The two go through
        as they are.

        In NumPy: ((data - moving_mean.reshape(-1, 1)) / np.sqrt(moving_var.reshape(-1, 1) + epsilon) * gamma.reshape(-1, 1) + beta.reshape(-1, 1), moving_mean, moving_var)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 2 or more) of any float
                the input
            gamma: Tensor [C] of data's dtype (any float)
                what each channel is scaled by
            beta: Tensor [C] of data's dtype (any float)
                what is added to each channel
            moving_mean: Tensor [C] of data's dtype (any float)
                the mean of each channel
            moving_var: Tensor [C] of data's dtype (any float)
                the variance of each channel

        Gives a tuple, call[0], call[1] ...:
            data: as data; data's dtype
            moving_mean: [C]; data's dtype
            moving_var: [C]; data's dtype

        Attributes, call.attrs.NAME:
            axis = 1 (an integer)
                the axis of the channels
            epsilon = 1e-05 (a number)
                what is added to the variance
            center = True (True or False)
                whether beta is added
            scale = True (True or False)
                whether gamma is multiplied by

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_batch_to_space_nd(_relay.Op):
    def __call__(self, data: _Operand, block_shape: Any, crops: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Entries of the batch become blocks of positions; then edges are cut off.

        Operands (numbers and arrays become constants):
            data: Tensor [N, ...] (rank 3 or more) of any dtype but string
                the input

        Gives:
            N divided by the product of block_shape; then the sizes times block_shape, less crops; data's dtype

        Attributes, call.attrs.NAME:
            block_shape, to be given (a list of integers)
                the sizes of a block, for the axes behind the first
            crops, to be given (a list of lists of integers)
                how many rows are cut off before and behind each of these axes

        In kernels it moves elements.
        """
class _op_nn_bias_add(_relay.Op):
    def __call__(self, data: _Operand, bias: _Operand, axis: _Numbers | _relay.Expr | None = 1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A vector added along an axis.

        In NumPy: data + bias.reshape(-1, 1)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input
            bias: Tensor [C] of data's dtype (any dtype but string)
                what is added, one number for each place along axis

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            axis = 1 (an integer)
                along which axis; below 0 from the end

        In kernels it makes one element of one after broadcasting.
        """
class _op_nn_bitpack(_relay.Op):
    def __call__(self, data: _Operand, bits: _Numbers | _relay.Expr | None = 1, pack_axis: _Numbers | _relay.Expr | None = 1, bit_axis: _Numbers | _relay.Expr | None = 2, pack_type: _Text = 'uint32', name: _Text = 'BitPack', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The lowest bits of integers, each bit in a place of its own, as many elements to a word as it has bits.

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 2 or more) of any integer
                the input

        Gives:
            as data, with bits in front of bit_axis, and pack_axis divided by the bits of a word; uint32, or pack_type

        Attributes, call.attrs.NAME:
            bits = 1 (an integer)
                how many bits of an element are kept
            pack_axis = 1 (an integer)
                the axis along which elements go to a word
            bit_axis = 2 (an integer; in text and in relay.Call: -1)
                where in the result the axis of the bits is
            pack_type = 'uint32' (the name of a dtype; in text and in relay.Call: '')
                the dtype of the words, an unsigned integer
            name = 'BitPack' (a string)
                of TVM's text
        """
class _op_nn_bitserial_conv2d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), channels: Any = None, kernel_size: _Numbers | _relay.Expr | None = (3, 3), activation_bits: _Numbers | _relay.Expr | None = 1, weight_bits: _Numbers | _relay.Expr | None = 1, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', pack_dtype: _Text = 'uint32', out_dtype: _Text = 'int16', unipolar: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """nn.conv2d of integers of a few bits. Where unipolar, a bit of the weight stands for 1 or -1; else for 1 or 0.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any integer
                the input
            weight: Tensor [O, C, KH, KW] of any integer
                the kernels

        Gives:
            [N, O, H', W']; int16, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            kernel_size = (3, 3) (a list of integers)
                the sizes of the kernel; None: as the weight says
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            activation_bits = 1 (an integer)
                how many bits of the data count
            weight_bits = 1 (an integer)
                how many bits of the weight count
            data_layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'OIHW' (any order of OIHW)
                the order of the weight's dims, a letter for each
            pack_dtype = 'uint32' (the name of a dtype; in text and in relay.Call: '')
                of TVM's text: words that its kernels pack bits in
            out_dtype = 'int16' (the name of a dtype; in text and in relay.Call: '')
                the dtype of the result; "": as without it
            unipolar = True (True or False)
                whether a bit of the weight is 1 or -1, rather than 1 or 0
        """
class _op_nn_bitserial_dense(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, units: Any = None, data_bits: _Numbers | _relay.Expr | None = 1, weight_bits: _Numbers | _relay.Expr | None = 1, pack_dtype: _Text = 'uint32', out_dtype: _Text = 'int16', unipolar: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """nn.dense of integers of a few bits. Where unipolar, a bit of the weight stands for 1 or -1; else for 1 or 0.

        In NumPy with unipolar=False: data @ weight.T

        Operands (numbers and arrays become constants):
            data: Tensor [..., K] of any integer
                the input
            weight: Tensor [units, K] of any integer
                a row for each column of the result

        Gives:
            [..., units]; int16, or out_dtype

        Attributes, call.attrs.NAME:
            units = None (an integer)
                how many columns the result has; None: as the weight says
            data_bits = 1 (an integer)
                how many bits of the data count
            weight_bits = 1 (an integer)
                how many bits of the weight count
            pack_dtype = 'uint32' (the name of a dtype; in text and in relay.Call: '')
                of TVM's text: words that its kernels pack bits in
            out_dtype = 'int16' (the name of a dtype; in text and in relay.Call: '')
                the dtype of the result; "": as without it
            unipolar = True (True or False)
                whether a bit of the weight is 1 or -1, rather than 1 or 0
        """
class _op_nn_contrib_conv2d_NCHWc(_relay.Op):
    def __call__(self, data: _Operand, kernel: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW8c', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The convolution of nn.conv2d, of channels in blocks of c.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C / c, H, W, c] of any dtype but string
                the input
            kernel: Tensor [O / o, I / i, KH, KW, i, o] of data's dtype (any dtype but string); of float32 also float16 or
            float32; of any integer also any integer
                the kernels, their channels in blocks of i and o

        Gives:
            [N, O / o, H', W', o]; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW8c' (a string; in text and in relay.Call: 'NCHW')
                the order of the data's dims with the size of its blocks, NCHW4c
            kernel_layout = 'OIHW' (a string)
                the order of the kernel's dims with the sizes of its blocks, OIHW4i4o
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_contrib_conv2d_nchwc(_relay.Op):
    def __call__(self, data: Any, kernel: Any, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW8c', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> Any:  # type: ignore[override]
        """The convolution of nn.conv2d, of channels in blocks of c.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C / c, H, W, c] of any dtype but string
                the input
            kernel: Tensor [O / o, I / i, KH, KW, i, o] of data's dtype (any dtype but string); of float32 also float16 or
            float32; of any integer also any integer
                the kernels, their channels in blocks of i and o

        Gives:
            [N, O / o, H', W', o]; data's dtype

        Parameters:
            strides = (1, 1)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1
                in how many groups channels are divided, each with a kernel of its own
            channels = None
                how many channels the result has; None: as the weight says
            kernel_size = None
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW8c'
                the order of the data's dims with the size of its blocks, NCHW4c
            kernel_layout = 'OIHW'
                the order of the kernel's dims with the sizes of its blocks, OIHW4i4o
            out_layout = ''
                the order of the result's dims; "" is that of the data
            out_dtype = ''
                the dtype of the result; "": as without it

        A function that makes several calls, as TVM's of that name.
        """
class _op_nn_contrib_conv2d_ordered(_relay.Op):
    def __call__(self, data: _Operand, kernel: _Operand, order: _Operand, /, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The convolution of nn.conv2d, of integers of 8 bits with kernels in panels of 8 results, four channels side by side. The
        compiler writes it for machines whose kernels go by the order.

        Operands (numbers and arrays become constants):
            data: Tensor [N, H, W, C] of any integer
                the input
            kernel: Tensor [panels, KH, KW, words, 8, 4] of int8
                the kernels, in panels
            order: Tensor [panels, row] of int32
                in which order kernels may take the steps of each panel; the result is the same

        Gives:
            [N, H', W', O]; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW' (a string)
                the order of the data's dims, a letter for each
            kernel_layout = 'OIHW' (a string)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
        """
class _op_nn_contrib_conv2d_winograd(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, /, tile_size: Any, channels: Any, padding: _Numbers | _relay.Expr | None = (0, 0), *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A convolution by kernels of 3 x 3 with strides of 1, of kernels that were transformed before (Winograd's minimal
        filtering). The compiler writes it.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of float32
                the input
            weight: Tensor [panels, window, blocks, C, P] of float32
                the kernels, transformed, in panels

        Gives:
            [N, channels, H', W']; float32

        Attributes, call.attrs.NAME:
            tile_size, to be given (an integer)
                the edge of the results that are computed together, 2 or 4
            channels, to be given (an integer)
                how many channels the result has
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
        """
class _op_nn_contrib_dense_blocks(_relay.Op):
    def __call__(self, *operands: _Operand, units: Any, in_units: Any, form: _Text = '', out_dtype: _Text = '', span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of nn.dense, of a weight whose integers lie in blocks, each with a scale. The compiler writes it where
        weights are packed.

        Operands (numbers and arrays become constants):
            data: Tensor [..., K] of float32
                the input
            weight: Tensor [panels, blocks, rows, n] of int8
                integers, in panels of n rows of the weight
            scales: Tensor [panels, blocks, n] of float32
                how much a step of each block is
            zero_points: Tensor [panels, blocks, n], may be left out
                which integer stands for 0 in each block

        Gives:
            [..., units]; float32

        Attributes, call.attrs.NAME:
            units, to be given (an integer)
                how many columns the result has; None: as the weight says
            in_units, to be given (an integer)
                how many columns the data has
            form = '' (a string)
                the name of the way in which integers lie; "": the first of the weight's dtype
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
        """
class _op_nn_contrib_dense_nbits(_relay.Op):
    def __call__(self, *operands: _Operand, bits: Any, in_units: Any, out_dtype: _Text = '', span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of nn.dense, of a weight whose integers of 4 or 8 bits lie in blocks, each with a scale (ONNX: MatMulNBits).

        Operands (numbers and arrays become constants):
            data: Tensor [..., K] of float32
                the input
            weight: Tensor [units, blocks, bytes] of uint8
                integers, the lowest bits of a byte first
            scales: Tensor [units, blocks] of float32
                how much a step of each block is
            zero_points: Tensor [units, blocks], may be left out
                which integer stands for 0 in each block; left out: half of their range

        Gives:
            [..., units]; float32

        Attributes, call.attrs.NAME:
            bits, to be given (an integer)
                how many bits an integer has, 4 or 8
            in_units, to be given (an integer)
                how many columns the data has
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
        """
class _op_nn_contrib_dense_ordered(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, order: _Operand, /, units: Any = None, out_dtype: _Text = '', weight_layout: _Text = 'NC', in_units: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of nn.dense, of integers of 8 bits in panels of 8 rows, four columns side by side. The compiler writes it
        for machines whose kernels go by the order.

        Operands (numbers and arrays become constants):
            data: Tensor [M, K] of uint8
                the input
            weight: Tensor [panels, steps, 8, 4] of int8
                panels of 8 rows, those of a panel side by side
            order: Tensor [panels, row] of int32
                in which order kernels may take the steps of each panel; the result is the same

        Gives:
            [M, units]; int32

        Attributes, call.attrs.NAME:
            units = None (an integer)
                how many columns the result has; None: as the weight says
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
            weight_layout = 'NC' (a string)
                is not used
            in_units = None (an integer)
                how many columns of the data count
        """
class _op_nn_contrib_dense_pack(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, weight_layout: _Text = 'NC', units: Any = None, out_dtype: _Text = '', *, in_units: Any = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of nn.dense, of a weight whose rows lie in panels of n.

        In NumPy: data @ weight.transpose(1, 0, 2).reshape(weight.shape[1], -1)

        Operands (numbers and arrays become constants):
            data: Tensor [M, K] of any dtype but string
                the input
            weight: Tensor [units / n, K, n] of data's dtype (any dtype but string); of float32 also float16 or float32; of any
            integer also any integer
                panels of n rows, those of a panel side by side

        Gives:
            [M, units]; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            units = None (an integer)
                how many columns the result has; None: as the weight says
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
            weight_layout = 'NC' (a string)
                "NC" or, with panels of 8 rows, "NC8n"
            in_units = None (an integer)
                how many columns of the data count; None: all

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_contrib_depthwise_conv2d_NCHWc(_relay.Op):
    def __call__(self, data: _Operand, kernel: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW8c', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The convolution of nn.conv2d, of channels in blocks of c.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C / c, H, W, c] of any dtype but string
                the input
            kernel: Tensor [O / o, I / i, KH, KW, i, o] of data's dtype (any dtype but string); of float32 also float16 or
            float32; of any integer also any integer
                the kernels, their channels in blocks of i and o

        Gives:
            [N, O / o, H', W', o]; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW8c' (a string; in text and in relay.Call: 'NCHW')
                the order of the data's dims with the size of its blocks, NCHW4c
            kernel_layout = 'OIHW' (a string)
                the order of the kernel's dims with the sizes of its blocks, OIHW4i4o
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_contrib_depthwise_conv2d_nchwc(_relay.Op):
    def __call__(self, data: Any, kernel: Any, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW8c', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> Any:  # type: ignore[override]
        """The convolution of nn.conv2d, of channels in blocks of c.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C / c, H, W, c] of any dtype but string
                the input
            kernel: Tensor [O / o, I / i, KH, KW, i, o] of data's dtype (any dtype but string); of float32 also float16 or
            float32; of any integer also any integer
                the kernels, their channels in blocks of i and o

        Gives:
            [N, O / o, H', W', o]; data's dtype

        Parameters:
            strides = (1, 1)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1
                in how many groups channels are divided, each with a kernel of its own
            channels = None
                how many channels the result has; None: as the weight says
            kernel_size = None
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW8c'
                the order of the data's dims with the size of its blocks, NCHW4c
            kernel_layout = 'OIHW'
                the order of the kernel's dims with the sizes of its blocks, OIHW4i4o
            out_layout = ''
                the order of the result's dims; "" is that of the data
            out_dtype = ''
                the dtype of the result; "": as without it

        A function that makes several calls, as TVM's of that name.
        """
class _op_nn_conv1d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = 1, padding: _Numbers | _relay.Expr | None = 0, dilation: _Numbers | _relay.Expr | None = 1, groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCW', kernel_layout: _Text = 'OIW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A convolution over one axis: each result is the sum of the products of a window of the data, over all channels of its
        group, and of a kernel. Each axis of the result has (size + padding - dilation * (kernel - 1) - 1) // stride + 1
        elements.

        In NumPy with default attributes: np.einsum("niwX,oiX->now", np.lib.stride_tricks.sliding_window_view(data, weight.shape[2:], (2,)), weight)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any dtype but string
                the input
            weight: Tensor [O, I, KW] of data's dtype (any dtype but string); of float32 also float16 or float32; of any integer
            also any integer
                the kernels; O is the result's channels, I is C / groups. Where groups, C and O are the same and I is larger, O
                * I channels come out

        Gives:
            [N, O, W']; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = 1 (a list of integers; in text and in relay.Call: (1,))
                how far places of the window are apart, for each axis; one number for all
            padding = 0 (a list of integers; in text and in relay.Call: (0, 0))
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = 1 (a list of integers; in text and in relay.Call: (1,))
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCW' (any order of NCW)
                the order of the data's dims, a letter for each
            kernel_layout = 'OIW' (any order of OIW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_conv1d_transpose(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1,), padding: _Numbers | _relay.Expr | None = (0,), dilation: _Numbers | _relay.Expr | None = (1,), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCW', kernel_layout: _Text = 'IOW', out_layout: _Text = '', output_padding: _Numbers | _relay.Expr | None = (0,), out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A transposed convolution over one axis: each element of the data adds its product with the kernel to a window of the
        result. Each axis of the result has (size - 1) * stride - padding + dilation * (kernel - 1) + 1 + output_padding
        elements.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any dtype but string
                the input
            weight: Tensor [C, O, KW] of data's dtype (any dtype but string); of any integer also any integer
                the kernels; C is the data's channels, O is those of the result divided by groups

        Gives:
            [N, O * groups, W']; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1,) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0,) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1,) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCW' (any order of NCW)
                the order of the data's dims, a letter for each
            kernel_layout = 'IOW' (any order of IOW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
            output_padding = (0,) (a list of integers)
                how many rows the result has more behind each axis

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_conv2d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A convolution over rows and columns: each result is the sum of the products of a window of the data, over all channels
        of its group, and of a kernel. Each axis of the result has (size + padding - dilation * (kernel - 1) - 1) // stride + 1
        elements.

        In NumPy with default attributes: np.einsum("nihwYX,oiYX->nohw", np.lib.stride_tricks.sliding_window_view(data, weight.shape[2:], (2, 3)), weight)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input
            weight: Tensor [O, I, KH, KW] of data's dtype (any dtype but string); of float32 also float16 or float32; of any
            integer also any integer
                the kernels; O is the result's channels, I is C / groups. Where groups, C and O are the same and I is larger, O
                * I channels come out

        Gives:
            [N, O, H', W']; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'OIHW' (any order of OIHW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_conv2d_backward_weight(_relay.Op):
    def __call__(self, grad: _Operand, data: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, grad_layout: _Text = 'NCHW', data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The gradient of the weight of nn.conv2d: for each element of the kernel the sum of the products of the result's gradient
        and of the data.

        In NumPy with default strides, padding, dilation and groups: np.einsum("nohw,nchwyx->ocyx", grad, np.lib.stride_tricks.sliding_window_view(data, grad.shape[2:], (2, 3)).transpose(0, 1, 4, 5, 2, 3))

        Operands (numbers and arrays become constants):
            grad: Tensor [N, O, H', W'] of any dtype but string
                the gradient of the result
            data: Tensor [N, C, H, W] of grad's dtype (any dtype but string)
                the input

        Gives:
            [O, C / groups, KH, KW]; grad's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW' (any order of NCHW; the parameter grad_layout)
                the order of grad's dims (the parameter grad_layout)
            kernel_layout = 'NCHW' (a string; the parameter data_layout; in text and in relay.Call: 'OIHW')
                the order of data's dims (the parameter data_layout)
            out_layout = 'OIHW' (a string; the parameter kernel_layout; in text and in relay.Call: '')
                the order of the result's dims (the parameter kernel_layout)
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
        """
class _op_nn_conv2d_transpose(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'IOHW', out_layout: _Text = '', output_padding: _Numbers | _relay.Expr | None = (0, 0), out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A transposed convolution over rows and columns: each element of the data adds its product with the kernel to a window of
        the result. Each axis of the result has (size - 1) * stride - padding + dilation * (kernel - 1) + 1 + output_padding
        elements.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input
            weight: Tensor [C, O, KH, KW] of data's dtype (any dtype but string); of any integer also any integer
                the kernels; C is the data's channels, O is those of the result divided by groups

        Gives:
            [N, O * groups, H', W']; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'IOHW' (any order of IOHW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
            output_padding = (0, 0) (a list of integers)
                how many rows the result has more behind each axis

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_conv3d(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCDHW', kernel_layout: _Text = 'OIDHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A convolution over layers, rows and columns: each result is the sum of the products of a window of the data, over all
        channels of its group, and of a kernel. Each axis of the result has (size + padding - dilation * (kernel - 1) - 1) //
        stride + 1 elements.

        In NumPy with default attributes: np.einsum("nidhwZYX,oiZYX->nodhw", np.lib.stride_tricks.sliding_window_view(data, weight.shape[2:], (2, 3, 4)), weight)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any dtype but string
                the input
            weight: Tensor [O, I, KD, KH, KW] of data's dtype (any dtype but string); of float32 also float16 or float32; of any
            integer also any integer
                the kernels; O is the result's channels, I is C / groups. Where groups, C and O are the same and I is larger, O
                * I channels come out

        Gives:
            [N, O, D', H', W']; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'OIDHW' (any order of OIDHW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_conv3d_transpose(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCDHW', kernel_layout: _Text = 'IODHW', out_layout: _Text = '', output_padding: _Numbers | _relay.Expr | None = (0, 0, 0), out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A transposed convolution over layers, rows and columns: each element of the data adds its product with the kernel to a
        window of the result. Each axis of the result has (size - 1) * stride - padding + dilation * (kernel - 1) + 1 +
        output_padding elements.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any dtype but string
                the input
            weight: Tensor [C, O, KD, KH, KW] of data's dtype (any dtype but string); of any integer also any integer
                the kernels; C is the data's channels, O is those of the result divided by groups

        Gives:
            [N, O * groups, D', H', W']; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'IODHW' (any order of IODHW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
            output_padding = (0, 0, 0) (a list of integers)
                how many rows the result has more behind each axis

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_correlation(_relay.Op):
    def __call__(self, data1: _Operand, data2: _Operand, kernel_size: Any, max_displacement: Any, stride1: Any, stride2: Any, padding: Any, is_multiply: Any, layout: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """How much a window of one picture is like those around it in another: for each displacement the mean of the products.

        Operands (numbers and arrays become constants):
            data1: Tensor [N, C, H, W] of any float
                the one
            data2: Tensor [N, C, H, W] of data1's dtype (any float)
                the other

        Gives:
            [N, (2 * max_displacement // stride2 + 1) ** 2, H', W']; data1's dtype

        Attributes, call.attrs.NAME:
            kernel_size, to be given (an integer)
                the edge of the windows
            max_displacement, to be given (an integer)
                how far windows of data2 are away at most
            stride1, to be given (an integer)
                how far windows of data1 are apart
            stride2, to be given (an integer)
                how far displacements are apart
            padding, to be given (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            is_multiply, to be given (True or False)
                whether it is the mean of the products; else of the distances
            layout, to be given (NCHW)
                the order of the data's dims, a letter for each

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_cross_entropy(_relay.Op):
    def __call__(self, predictions: _Operand, targets: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean over rows of -sum(targets * log(predictions)).

        In NumPy: -(targets * np.log(predictions)).sum() / len(targets)

        Operands (numbers and arrays become constants):
            predictions: Tensor [N, C] of any float
                probabilities of classes
            targets: Tensor [N, C] of predictions's dtype (any float)
                those that are right

        Gives:
            one number; predictions's dtype

        In kernels it has a kernel of its own.
        """
class _op_nn_cross_entropy_with_logits(_relay.Op):
    def __call__(self, predictions: _Operand, targets: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean over rows of -sum(targets * predictions), of predictions that are logarithms.

        In NumPy: -(targets * predictions).sum() / len(targets)

        Operands (numbers and arrays become constants):
            predictions: Tensor [N, C] of any float
                logarithms of the probabilities of classes
            targets: Tensor [N, C] of predictions's dtype (any float)
                the probabilities that are right

        Gives:
            one number; predictions's dtype

        In kernels it has a kernel of its own.
        """
class _op_nn_deformable_conv2d(_relay.Op):
    def __call__(self, data: _Operand, offset: _Operand, weight: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), deformable_groups: _Numbers | _relay.Expr | None = 1, groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A convolution whose windows read the data where an offset moves each of their elements to, between elements by bilinear
        interpolation.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any float
                the input
            offset: Tensor [N, G * KH * KW * 2, H', W'] of data's dtype (any float)
                rows, then columns, for each element of the window, for each group of channels
            weight: Tensor [O, I, KH, KW] of data's dtype (any float)
                the kernels; O is the result's channels, I is C / groups

        Gives:
            [N, O, H', W']; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'OIHW' (any order of OIHW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it
            deformable_groups = 1 (an integer)
                in how many groups channels are divided, each with offsets of its own

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_dense(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, units: Any = None, out_dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of a matrix and of another one's transpose: each row of the weight makes a column of the result.

        In NumPy: data @ weight.T

        Operands (numbers and arrays become constants):
            data: Tensor [..., K] of any dtype but string
                the input
            weight: Tensor [units, K] of data's dtype (any dtype but string); of any integer also any integer
                a row for each column of the result

        Gives:
            [..., units]; data's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            units = None (an integer)
                how many columns the result has; None: as the weight says
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_depth_to_space(_relay.Op):
    def __call__(self, data: _Operand, block_size: Any, layout: Literal['NCHW', 'NHWC'] = 'NCHW', mode: _Text = 'DCR', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Channels become square blocks of positions.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype
                the input

        Gives:
            [N, C // block_size ** 2, H * block_size, W * block_size]; data's dtype

        Attributes, call.attrs.NAME:
            block_size, to be given (an integer)
                the edge of a block
            layout = 'NCHW' (one of NCHW, NHWC)
                the order of the data's dims, a letter for each
            mode = 'DCR' (a string)
                the order of a block's elements among channels: "DCR": position first; any other, "CRD": channel first

        In kernels it moves elements.
        """
class _op_nn_dilate(_relay.Op):
    def __call__(self, data: _Operand, strides: Any, dilation_value: _Operand = 0.0, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Elements put apart, with a number between them.

        In NumPy: (lambda out: (out.__setitem__((slice(None, None, 2), slice(None, None, 3)), data), out)[1])(np.full((3, 7), dilation_value, data.dtype))

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            (size - 1) * stride + 1 along each axis; data's dtype

        Attributes, call.attrs.NAME:
            strides, to be given (a list of integers)
                how far apart, for each axis
            dilation_value = 0.0 (a number)
                what stands between them

        In kernels it moves elements.
        """
class _op_nn_dropout(_relay.Op):
    def __call__(self, data: _Operand, rate: _Operand = 0.5, *, span: Any = None) -> Any:  # type: ignore[override]
        """The data as it is: elements are left out in training only. The mask is of ones.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            rate = 0.5 (a number)
                how many would be left out, from 0 to 1

        In kernels it has a kernel of its own.
        """
class _op_nn_dropout_raw(_relay.Op):
    def __call__(self, data: Any, rate: _Operand = 0.5, *, span: Any = None) -> Any:  # type: ignore[override]
        """What nn.dropout's operator gives: the data as it is, and a mask of ones.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives a tuple, call[0], call[1] ...:
            data: [...]; data's dtype
            mask: [...]; data's dtype

        Parameters:
            rate = 0.5
                how many would be left out, from 0 to 1

        A function that makes several calls, as TVM's of that name.
        """
class _op_nn_fast_softmax(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """As nn.softmax, with a quicker approximation of e to the power.

        In NumPy: np.exp(data) / np.exp(data).sum(axis, keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any float
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_fifo_buffer(_relay.Op):
    def __call__(self, data: _Operand, buffer: _Operand, axis: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A queue of a fixed length along an axis: new data comes in behind, the oldest goes.

        In NumPy with axis=0: np.concatenate([buffer, data])[data.shape[0]:]

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                what is new
            buffer: Tensor [...] (rank 1 or more) of data's dtype (any dtype but string)
                the queue as it was

        Gives:
            as buffer; data's dtype

        Attributes, call.attrs.NAME:
            axis, to be given (an integer)
                along which axis; below 0 from the end

        In kernels it has a kernel of its own.
        """
class _op_nn_global_avg_pool1d(_relay.Op):
    def __call__(self, data: Any, layout: _Text = 'NCW', out_layout: _Text = '', *, span: Any = None) -> Any:  # type: ignore[override]
        """The mean of each channel.

        In NumPy: data.mean((2,), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any dtype but string
                the input

        Gives:
            [N, C, 1]; data's dtype

        Parameters:
            layout = 'NCW'
                the order of the data's dims, a letter for each
            out_layout = ''
                the order of the result's dims; "" is that of the data

        A function that makes several calls, as TVM's of that name.
        """
class _op_nn_global_avg_pool2d(_relay.Op):
    def __call__(self, data: _Operand, layout: _Text = 'NCHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean of each channel.

        In NumPy: data.mean((2, 3), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input

        Gives:
            [N, C, 1, 1]; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_global_avg_pool3d(_relay.Op):
    def __call__(self, data: Any, layout: _Text = 'NCDHW', out_layout: _Text = '', *, span: Any = None) -> Any:  # type: ignore[override]
        """The mean of each channel.

        In NumPy: data.mean((2, 3, 4), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any dtype but string
                the input

        Gives:
            [N, C, 1, 1, 1]; data's dtype

        Parameters:
            layout = 'NCDHW'
                the order of the data's dims, a letter for each
            out_layout = ''
                the order of the result's dims; "" is that of the data

        A function that makes several calls, as TVM's of that name.
        """
class _op_nn_global_max_pool1d(_relay.Op):
    def __call__(self, data: Any, layout: _Text = 'NCW', out_layout: _Text = '', *, span: Any = None) -> Any:  # type: ignore[override]
        """The largest element of each channel.

        In NumPy: data.max((2,), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any dtype but string
                the input

        Gives:
            [N, C, 1]; data's dtype

        Parameters:
            layout = 'NCW'
                the order of the data's dims, a letter for each
            out_layout = ''
                the order of the result's dims; "" is that of the data

        A function that makes several calls, as TVM's of that name.
        """
class _op_nn_global_max_pool2d(_relay.Op):
    def __call__(self, data: _Operand, layout: _Text = 'NCHW', out_layout: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest element of each channel.

        In NumPy: data.max((2, 3), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input

        Gives:
            [N, C, 1, 1]; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_global_max_pool3d(_relay.Op):
    def __call__(self, data: Any, layout: _Text = 'NCDHW', out_layout: _Text = '', *, span: Any = None) -> Any:  # type: ignore[override]
        """The largest element of each channel.

        In NumPy: data.max((2, 3, 4), keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any dtype but string
                the input

        Gives:
            [N, C, 1, 1, 1]; data's dtype

        Parameters:
            layout = 'NCDHW'
                the order of the data's dims, a letter for each
            out_layout = ''
                the order of the result's dims; "" is that of the data

        A function that makes several calls, as TVM's of that name.
        """
class _op_nn_group_norm(_relay.Op):
    def __call__(self, data: _Operand, gamma: _Operand, beta: _Operand, num_groups: Any, axis: _Numbers | _relay.Expr | None = 1, epsilon: _Operand = 1e-05, center: bool = True, scale: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each group of channels of each picture, brought to a mean of 0 and a variance of 1; then each channel scaled and moved.

        In NumPy with num_groups=1: (data - data.mean((1, 2), keepdims=True)) / np.sqrt(data.var((1, 2), keepdims=True) + epsilon) * gamma.reshape(-1, 1) + beta.reshape(-1, 1)

        Operands (numbers and arrays become constants):
            data: Tensor [N, ...] (rank 2 or more) of any float
                the input
            gamma: Tensor [C] of data's dtype (any float)
                what each channel is scaled by
            beta: Tensor [C] of data's dtype (any float)
                what is added to each channel

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            axis = 1 (an integer)
                the axis of the channels
            epsilon = 1e-05 (a number)
                what is added to the variance
            center = True (True or False)
                whether beta is added
            scale = True (True or False)
                whether gamma is multiplied by
            num_groups, to be given (an integer)
                how many groups there are
        """
class _op_nn_instance_norm(_relay.Op):
    def __call__(self, data: _Operand, gamma: _Operand, beta: _Operand, axis: _Numbers | _relay.Expr | None = 1, epsilon: _Operand = 1e-05, center: bool = True, scale: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each channel of each picture, brought to a mean of 0 and a variance of 1, then scaled and moved.

        In NumPy with axis=1: (data - data.mean(2, keepdims=True)) / np.sqrt(data.var(2, keepdims=True) + epsilon) * gamma.reshape(-1, 1) + beta.reshape(-1, 1)

        Operands (numbers and arrays become constants):
            data: Tensor [N, ...] (rank 2 or more) of any float
                the input
            gamma: Tensor [C] of data's dtype (any float)
                what each channel is scaled by
            beta: Tensor [C] of data's dtype (any float)
                what is added to each channel

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            axis = 1 (an integer)
                the axis of the channels
            epsilon = 1e-05 (a number)
                what is added to the variance
            center = True (True or False)
                whether beta is added
            scale = True (True or False)
                whether gamma is multiplied by
        """
class _op_nn_l2_normalize(_relay.Op):
    def __call__(self, data: _Operand, eps: Any, axis: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element, divided by the root of the sum of the squares along axes.

        In NumPy: data / np.sqrt(np.maximum((data * data).sum(axis, keepdims=True), eps))

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any float
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            eps, to be given (a number)
                what the sum is at least
            axis = None (a list of integers)
                along which axes; None: each element by itself
        """
class _op_nn_layer_norm(_relay.Op):
    def __call__(self, data: _Operand, gamma: _Operand, beta: _Operand, axis: _Numbers | _relay.Expr | None = -1, epsilon: _Operand = 1e-05, center: bool = True, scale: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Elements along an axis, brought to a mean of 0 and a variance of 1, then scaled and moved.

        In NumPy with axis=-1: (data - data.mean(-1, keepdims=True)) / np.sqrt(data.var(-1, keepdims=True) + epsilon) * gamma + beta

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any float
                the input
            gamma: Tensor [C] of data's dtype (any float)
                what is multiplied by, for each place along axis
            beta: Tensor [C] of data's dtype (any float)
                what is added, for each place along axis

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end
            epsilon = 1e-05 (a number)
                what is added to the variance
            center = True (True or False)
                whether beta is added
            scale = True (True or False)
                whether gamma is multiplied by
        """
class _op_nn_leaky_relu(_relay.Op):
    def __call__(self, data: _Operand, alpha: _Operand = 0.01, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element where it is above 0, else alpha times it.

        In NumPy: np.where(data > 0, data, data * alpha)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            alpha = 0.01 (a number; in text and in relay.Call: 0.25)
                the slope below 0

        In kernels it makes one element of one.
        """
class _op_nn_log_softmax(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The logarithm of nn.softmax.

        In NumPy: data - np.log(np.exp(data).sum(axis, keepdims=True))

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any float
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_lrn(_relay.Op):
    def __call__(self, data: _Operand, size: _Numbers | _relay.Expr | None = 5, axis: _Numbers | _relay.Expr | None = 1, bias: _Numbers | _relay.Expr | None = 2, alpha: _Operand = 1e-05, beta: _Operand = 0.75, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element, divided by (bias + alpha / size * the sum of the squares of its neighbours along an axis) ** beta.

        In NumPy with size=1: data / (bias + alpha * data * data) ** beta

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any float
                the input

        Gives:
            [N, C, H, W]; data's dtype

        Attributes, call.attrs.NAME:
            size = 5 (an integer)
                how many neighbours, itself among them
            axis = 1 (an integer)
                the axis of the channels
            bias = 2 (a number)
                what is added to the sum
            alpha = 1e-05 (a number; in text and in relay.Call: 0.0001)
                what the sum is multiplied by, divided by size
            beta = 0.75 (a number)
                the exponent

        In kernels it has a kernel of its own.
        """
class _op_nn_matmul(_relay.Op):
    def __call__(self, tensor_a: _Operand, tensor_b: _Operand, units: Any = None, out_dtype: _Text = '', transpose_a: bool = False, transpose_b: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of two matrices.

        In NumPy: (tensor_a.T if transpose_a else tensor_a) @ (tensor_b.T if transpose_b else tensor_b)

        Operands (numbers and arrays become constants):
            tensor_a: Tensor [..., K] of any dtype but string
                the left matrix
            tensor_b: Tensor [K, units] of tensor_a's dtype (any dtype but string); of any integer also any integer
                the right matrix

        Gives:
            [..., units]; tensor_a's dtype, or out_dtype

        Attributes, call.attrs.NAME:
            units = None (an integer)
                how many columns the result has; None: as the weight says
            transpose_a = False (True or False)
                whether the first operand's last two dims are swapped
            transpose_b = False (True or False)
                whether the second operand's last two dims are swapped
            out_dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_max_pool1d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1,), strides: _Numbers | _relay.Expr | None = (1,), dilation: _Numbers | _relay.Expr | None = (1,), padding: _Numbers | _relay.Expr | None = (0,), layout: _Text = 'NCW', out_layout: _Text = '', ceil_mode: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest element of each window over one axis. Each axis of the result has (size + padding - dilation * (window - 1)
        - 1) // stride + 1 elements.

        In NumPy with default strides, dilation and padding: np.lib.stride_tricks.sliding_window_view(data, pool_size, (2,)).max((-1,))

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any dtype but string
                the input

        Gives:
            [N, C, W']; data's dtype

        Attributes, call.attrs.NAME:
            pool_size = (1,) (a list of integers; in text and in relay.Call: None)
                the sizes of the window, for each axis; one number for all
            strides = (1,) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            dilation = (1,) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            padding = (0,) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            layout = 'NCW' (any order of NCW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            ceil_mode = False (True or False)
                whether a last window that is not whole counts

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_max_pool2d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1), strides: _Numbers | _relay.Expr | None = (1, 1), dilation: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), layout: _Text = 'NCHW', out_layout: _Text = '', ceil_mode: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest element of each window over rows and columns. Each axis of the result has (size + padding - dilation *
        (window - 1) - 1) // stride + 1 elements.

        In NumPy with default strides, dilation and padding: np.lib.stride_tricks.sliding_window_view(data, pool_size, (2, 3)).max((-2, -1))

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input

        Gives:
            [N, C, H', W']; data's dtype

        Attributes, call.attrs.NAME:
            pool_size = (1, 1) (a list of integers; in text and in relay.Call: None)
                the sizes of the window, for each axis; one number for all
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            ceil_mode = False (True or False)
                whether a last window that is not whole counts

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_max_pool2d_grad(_relay.Op):
    def __call__(self, out_grad: _Operand, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1), strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), layout: _Text = 'NCHW', out_layout: _Text = '', ceil_mode: bool = False, *, dilation: _Numbers | _relay.Expr | None = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The gradient of nn.max_pool2d: each element of the result's gradient, added where its window has its largest element.

        Operands (numbers and arrays become constants):
            out_grad: Tensor [N, C, H', W'] of any dtype but string
                the gradient of the result
            data: Tensor [N, C, H, W] of out_grad's dtype (any dtype but string)
                the input

        Gives:
            [N, C, H, W]; out_grad's dtype

        Attributes, call.attrs.NAME:
            pool_size = (1, 1) (a list of integers; in text and in relay.Call: None)
                the sizes of the window, for each axis; one number for all
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            ceil_mode = False (True or False)
                whether a last window that is not whole counts

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_max_pool3d(_relay.Op):
    def __call__(self, data: _Operand, pool_size: _Numbers | _relay.Expr | None = (1, 1, 1), strides: _Numbers | _relay.Expr | None = (1, 1, 1), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), layout: _Text = 'NCDHW', out_layout: _Text = '', ceil_mode: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest element of each window over layers, rows and columns. Each axis of the result has (size + padding - dilation
        * (window - 1) - 1) // stride + 1 elements.

        In NumPy with default strides, dilation and padding: np.lib.stride_tricks.sliding_window_view(data, pool_size, (2, 3, 4)).max((-3, -2, -1))

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any dtype but string
                the input

        Gives:
            [N, C, D', H', W']; data's dtype

        Attributes, call.attrs.NAME:
            pool_size = (1, 1, 1) (a list of integers; in text and in relay.Call: None)
                the sizes of the window, for each axis; one number for all
            strides = (1, 1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            dilation = (1, 1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            padding = (0, 0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            ceil_mode = False (True or False)
                whether a last window that is not whole counts

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_mirror_pad(_relay.Op):
    def __call__(self, data: _Operand, pad_width: Any, mode: _Text = 'SYMMETRIC', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The data mirrored at its edges.

        In NumPy with mode="SYMMETRIC": np.pad(data, pad_width, "symmetric")

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            as data, with pad_width more along each axis; data's dtype

        Attributes, call.attrs.NAME:
            mode = 'SYMMETRIC' (a string)
                "SYMMETRIC": with the outermost element; any other, "REFLECT": without it
            pad_width, to be given (a list of lists of integers)
                for each axis how many elements are put before and behind; below 0 are taken away

        In kernels it moves elements.
        """
class _op_nn_nll_loss(_relay.Op):
    def __call__(self, predictions: _Operand, targets: _Operand, weights: _Operand, reduction: Literal['mean', 'none', 'sum'] = 'mean', ignore_index: _Numbers | _relay.Expr | None = -100, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The negated logarithm of the right class's probability, times its weight. Targets of ignore_index have none.

        In NumPy with reduction="mean": -(predictions[np.arange(len(targets)), targets] * weights[targets]).sum() / weights[targets].sum()

        Operands (numbers and arrays become constants):
            predictions: Tensor [N, C, ...] of any float
                logarithms of the probabilities of classes
            targets: Tensor [N, ...] of any integer
                the number of the right class
            weights: Tensor [C] of predictions's dtype (any float)
                a weight for each class

        Gives a tuple, call[0], call[1] ...:
            one number; as targets with reduction=\\; predictions's dtype

        Attributes, call.attrs.NAME:
            reduction = 'mean' (one of mean, none, sum)
                "mean" (by the weights), "sum" or "none"
            ignore_index = -100 (an integer; in text and in relay.Call: None)
                the number that targets without a class have

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_pad(_relay.Op):
    def __call__(self, data: _Operand, pad_width: Any, pad_value: _Operand | None = 0, pad_mode: Literal['constant', 'edge', 'reflect'] = 'constant', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Elements put around the data.

        In NumPy with pad_mode="constant": np.pad(data, pad_width, constant_values=pad_value)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input
            pad_value: Tensor [] of any dtype
                what is put there, in mode "constant"

        Gives:
            as data, with pad_width more along each axis; data's dtype

        Attributes, call.attrs.NAME:
            pad_width, to be given (a list of lists of integers)
                for each axis how many elements are put before and behind; below 0 are taken away
            pad_mode = 'constant' (one of constant, edge, reflect)
                what is put around: "constant": pad_value; "edge": the outermost element; "reflect": elements mirrored at it

        An expression for pad_width makes a call of dyn.nn.pad. In kernels it moves elements.
        """
class _op_nn_prelu(_relay.Op):
    def __call__(self, data: _Operand, alpha: _Operand, axis: _Numbers | _relay.Expr | None = 1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element where it is above 0, else alpha times it, where each channel has an alpha of its own.

        In NumPy: np.where(data > 0, data, data * alpha.reshape(-1, 1))

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input
            alpha: Tensor [C] of data's dtype (any dtype but string)
                the slopes below 0, one for each place along axis

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            axis = 1 (an integer)
                along which axis; below 0 from the end

        In kernels it makes one element of one after broadcasting.
        """
class _op_nn_relu(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element where it is above 0, else 0; 0 for NaN.

        In NumPy: np.maximum(data, 0)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_nn_softmax(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """e to the power of each element, divided by the sum of these along an axis.

        In NumPy: np.exp(data) / np.exp(data).sum(axis, keepdims=True)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any float
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_space_to_batch_nd(_relay.Op):
    def __call__(self, data: _Operand, block_shape: Any, paddings: Any, pad_value: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Blocks of positions become entries of the batch, after padding.

        Operands (numbers and arrays become constants):
            data: Tensor [N, ...] (rank 3 or more) of any dtype but string
                the input

        Gives:
            N times the product of block_shape; then the padded sizes divided by block_shape; data's dtype

        Attributes, call.attrs.NAME:
            block_shape, to be given (a list of integers)
                the sizes of a block, for the axes behind the first
            paddings, to be given (a list of lists of integers)
                how many rows are put before and behind each of these axes
            pad_value = 0 (a number)
                what is put there

        In kernels it moves elements.
        """
class _op_nn_space_to_depth(_relay.Op):
    def __call__(self, data: _Operand, block_size: Any, layout: Literal['NCHW', 'NHWC'] = 'NCHW', *, mode: _Text = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Square blocks of positions become channels, position first.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype
                the input

        Gives:
            [N, C * block_size ** 2, H // block_size, W // block_size]; data's dtype

        Attributes, call.attrs.NAME:
            block_size, to be given (an integer)
                the edge of a block
            layout = 'NCHW' (one of NCHW, NHWC)
                the order of the data's dims, a letter for each
            mode = 'DCR' (a string)
                not read: it is "DCR", position first

        In kernels it moves elements.
        """
class _op_nn_sparse_add(_relay.Op):
    def __call__(self, dense_mat: _Operand, sparse_mat: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sum of a dense matrix and of a sparse one (CSR). The function takes its three parts as sparse_mat.

        Operands (numbers and arrays become constants):
            dense_mat: Tensor [M, N] of any dtype but string
                the dense matrix
            data: Tensor [nnz] of dense_mat's dtype (any dtype but string)
                the elements of the sparse one
            indices: Tensor [nnz] of any integer
                the column of each
            indptr: Tensor [M + 1] of any integer
                where each row begins among them

        Gives:
            [M, N]; dense_mat's dtype

        In kernels it has a kernel of its own.
        """
class _op_nn_sparse_conv2d(_relay.Op):
    def __call__(self, data: _Operand, kernel_data: _Operand, kernel_indices: _Operand, kernel_indptr: _Operand, /, layout: Literal['NCHW', 'NHWC'] = 'NHWC', kernel_size: _Numbers | _relay.Expr | None = (1, 1), *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A convolution by a sparse kernel (CSR or BSR) of 1 x 1 elements.

        Operands (numbers and arrays become constants):
            data: Tensor [N, H, W, C] of any dtype but string
                the input
            kernel_data: Tensor [...] (rank 1 or 3) of data's dtype (any dtype but string)
                the elements of the kernel: numbers, or blocks of them
            kernel_indices: Tensor [nnz] of any integer
                the column of each
            kernel_indptr: Tensor [rows] of any integer
                where each row begins among them

        Gives:
            [N, H', W', O]; data's dtype

        Attributes, call.attrs.NAME:
            layout = 'NHWC' (one of NCHW, NHWC)
                the order of the data's dims, a letter for each
            kernel_size = (1, 1) (a list of integers)
                the sizes of the kernel

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_sparse_dense(_relay.Op):
    def __call__(self, dense_mat: _Operand, sparse_mat: _Operand, sparse_lhs: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of a dense matrix and of the transpose of a sparse one (CSR or BSR). The function takes its three parts as
        sparse_mat.

        Operands (numbers and arrays become constants):
            dense_mat: Tensor [M, K] of any dtype but string
                the dense matrix
            data: Tensor [...] (rank 1 or 3) of dense_mat's dtype (any dtype but string)
                the elements of the sparse one: numbers, or blocks of them
            indices: Tensor [nnz] of any integer
                the column of each
            indptr: Tensor [N + 1] of any integer
                where each row begins among them

        Gives:
            [M, N]; dense_mat's dtype

        Attributes, call.attrs.NAME:
            sparse_lhs = False (True or False)
                whether it is the sparse matrix times the dense one's transpose

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_sparse_transpose(_relay.Op):
    def __call__(self, x: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The transpose of a square sparse matrix (CSR), as its three parts. The function takes them as x.

        Operands (numbers and arrays become constants):
            data: Tensor [nnz] of any dtype but string
                the elements
            indices: Tensor [nnz] of any integer
                the column of each
            indptr: Tensor [N + 1] of any integer
                where each row begins among them

        Gives a tuple, call[0], call[1] ...:
            data: [nnz]; data's dtype
            indices: [nnz]; indices's dtype
            indptr: [N + 1]; indptr's dtype

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_nn_upsampling(_relay.Op):
    def __call__(self, data: _Operand, scale_h: _Numbers | _relay.Expr | None = 1, scale_w: _Numbers | _relay.Expr | None = 1, layout: _Text = 'NCHW', method: Literal['bicubic', 'bilinear', 'cubic', 'linear', 'nearest_neighbor'] = 'nearest_neighbor', align_corners: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Pictures, some times as large.

        In NumPy with scale_h=2, scale_w=3: data.repeat(2, 2).repeat(3, 3)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input

        Gives:
            [N, C, H', W']; data's dtype

        Attributes, call.attrs.NAME:
            scale_h = 1 (a number)
                how many times the rows
            scale_w = 1 (a number)
                how many times the columns
            layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            method = 'nearest_neighbor' (one of bicubic, bilinear, cubic, linear, nearest_neighbor)
                "nearest_neighbor", "bilinear" or "bicubic"
            align_corners = False (True or False)
                whether the middles of the outermost elements stay where they are, rather than their edges

        An expression for scale_h, scale_w makes a call of dyn.nn.upsampling. In kernels it moves elements.
        """
class _op_nn_upsampling3d(_relay.Op):
    def __call__(self, data: _Operand, scale_d: _Numbers | _relay.Expr | None = 1, scale_h: _Numbers | _relay.Expr | None = 1, scale_w: _Numbers | _relay.Expr | None = 1, layout: _Text = 'NCDHW', method: Literal['cubic', 'linear', 'nearest_neighbor'] = 'nearest_neighbor', coordinate_transformation_mode: Literal['align_corners', 'asymmetric', 'half_pixel', 'pytorch_half_pixel', 'tf_crop_and_resize', 'tf_half_pixel_for_nn'] = 'half_pixel', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Volumes, some times as large.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any dtype but string
                the input

        Gives:
            [N, C, D', H', W']; data's dtype

        Attributes, call.attrs.NAME:
            scale_h = 1 (a number)
                how many times the rows
            scale_w = 1 (a number)
                how many times the columns
            layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            method = 'nearest_neighbor' (one of cubic, linear, nearest_neighbor)
                "nearest_neighbor" or "trilinear"
            scale_d = 1 (a number)
                how many times the layers
            coordinate_transformation_mode = 'half_pixel' (one of align_corners, asymmetric, half_pixel, pytorch_half_pixel,
            tf_crop_and_resize, tf_half_pixel_for_nn)
                where elements of the result lie among those of the data

        An expression for scale_d, scale_h, scale_w makes a call of dyn.nn.upsampling3d. In kernels it moves elements.
        """
class _op_not_equal(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether two elements differ.

        In NumPy: lhs != rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any dtype
                the left operand
            rhs: Tensor [...] of lhs's dtype (any dtype)
                the right operand

        Gives:
            the operands' shape, broadcast; bool

        In kernels it makes one element of one after broadcasting.
        """
class _op_on_device(_relay.Op):
    def __call__(self, data: _Operand, /, virtual_device: Any = None, constrain_result: bool = False, constrain_body: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A marker of TVM's text: the operand itself; there is one device.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            virtual_device = None
                of TVM's text: there is one device
            constrain_result = False (True or False)
                of TVM's text: there is one device
            constrain_body = True (True or False)
                of TVM's text: there is one device

        In kernels it has a kernel of its own.
        """
class _op_one_hot(_relay.Op):
    def __call__(self, indices: _Operand, on_value: _Operand, off_value: _Operand, depth: Any, axis: Any, dtype: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """For each number a row that has one value at that place, and another value elsewhere.

        In NumPy: np.where(indices[..., None] == np.arange(depth), on_value, off_value)

        Operands (numbers and arrays become constants):
            indices: Tensor [...] of any integer
                the places
            on_value: Tensor [] of any dtype
                what stands there
            off_value: Tensor [] of any dtype
                what stands elsewhere

        Gives:
            dims of indices, with depth at axis; float32, or dtype

        Attributes, call.attrs.NAME:
            depth, to be given (an integer)
                how long rows are
            axis, to be given (an integer)
                where in the result they lie; -1: behind the last axis
            dtype, to be given (the name of a dtype)
                the dtype of the result; "": as without it

        An expression for depth makes a call of dyn.one_hot. In kernels it sums products and the like, and takes what makes one
        element of one into its kernel.
        """
class _op_ones(_relay.Op):
    def __call__(self, shape: Any, dtype: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor of ones.

        In NumPy: np.ones(shape, dtype)

        It has no operands.

        Gives:
            [*shape]; float32, or dtype

        Attributes, call.attrs.NAME:
            shape, to be given (a list of integers or ?)
                the sizes of the result
            dtype, to be given (the name of a dtype)
                the dtype of the result; "": as without it

        An expression for shape makes a call of dyn.ones. In kernels it makes one element of one.
        """
class _op_ones_like(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Ones, of the operand's shape and dtype.

        In NumPy: np.ones_like(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_power(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """lhs to the power of rhs, element by element.

        In NumPy: np.power(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any float
                the left operand
            rhs: Tensor [...] of lhs's dtype (any float)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_prod(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The product of the elements along axes, in the operand's dtype.

        In NumPy: np.prod(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data without axis; with keepdims, 1 there; data's dtype

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                along which axes, one or several; None: all elements
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes

        In kernels it reduces.
        """
class _op_qnn_abs(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype
        """
class _op_qnn_add(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, lhs_scale: _Operand, lhs_zero_point: _Operand, rhs_scale: _Operand, rhs_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, lhs_axis: _Numbers | _relay.Expr | None = -1, rhs_axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sum (difference, product) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of int8, int16, int32, uint8 or uint16
                the left operand
            rhs: Tensor [...] of lhs's dtype (int8, int16, int32, uint8 or uint16)
                the right operand
            lhs_scale: Tensor [] of any dtype but string
                how much a step of lhs is
            lhs_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in lhs
            rhs_scale: Tensor [] of any dtype but string
                how much a step of rhs is
            rhs_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in rhs
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            the operands' shape, broadcast; lhs's dtype

        Attributes, call.attrs.NAME:
            lhs_axis = -1 (an integer)
                the axis of lhs along which its scales lie
            rhs_axis = -1 (an integer)
                the axis of rhs along which its scales lie

        In kernels it makes one element of one after broadcasting.
        """
class _op_qnn_avg_pool2d(_relay.Op):
    def __call__(self, data: _Operand, input_scale: _Operand, input_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, pool_size: Any, strides: Any, padding: Any, dilation: Any, ceil_mode: bool = False, count_include_pad: bool = True, layout: _Text = 'NHWC', out_layout: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """nn.avg_pool2d of quantised numbers, which are brought to the result's scale first.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any integer
                the input
            input_scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            input_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the data
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [N, C, H', W']; data's dtype

        Attributes, call.attrs.NAME:
            pool_size, to be given (a list of integers)
                the sizes of the window, for each axis; one number for all
            strides, to be given (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            dilation, to be given (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            padding, to be given (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            layout = 'NHWC' (any order of NCHW; in text and in relay.Call: 'NCHW')
                the order of the data's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            ceil_mode = False (True or False)
                whether a last window that is not whole counts
            count_include_pad = True (True or False; in text and in relay.Call: False)
                whether padding counts among the elements of a mean

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_qnn_batch_matmul(_relay.Op):
    def __call__(self, x: _Operand, y: _Operand, x_zero_point: _Operand, y_zero_point: _Operand, x_scale: _Operand, y_scale: _Operand, out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """nn.batch_matmul of quantised numbers: their zero points are taken away first. The result is in steps of x_scale *
        y_scale.

        In NumPy with transpose_b=True: (x.astype("int32") - x_zero_point) @ (y.astype("int32") - y_zero_point).swapaxes(1, 2)

        Operands (numbers and arrays become constants):
            x: Tensor [B, M, K] of any integer
                the left matrices
            y: Tensor [B, N, K] of any integer
                the right matrices
            x_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in x
            y_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in y
            x_scale: Tensor [] of any dtype but string
                how much a step of x is
            y_scale: Tensor [] of any dtype but string
                how much a step of y is

        Gives:
            [B, M, N]; int32, or out_dtype

        Attributes, call.attrs.NAME:
            out_dtype = 'int32' (the name of a dtype)
                the dtype of the result; "": as without it
            transpose_a = False (True or False)
                whether the first operand's last two dims are swapped
            transpose_b = False (True or False)
                whether the second operand's last two dims are swapped

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_qnn_concatenate(_relay.Op):
    def __call__(self, data: _Operand, input_scales: _Operand, input_zero_points: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Quantised tensors one behind the other, each brought to the result's scale and zero point.

        In NumPy of one scale: np.concatenate(data, axis)

        Operands (numbers and arrays become constants):
            data: Tuple of tensors [...] (rank 1 or more) of int8, int16, int32, uint8 or uint16
                tensors that agree in all other dims
            input_scales: Tuple of tensors [] of any dtype but string
                how much a step is, for each tensor
            input_zero_points: Tuple of tensors [] of any dtype but string
                which number stands for 0, for each tensor
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            as data, with the sum of their sizes along axis; data's dtype

        Attributes, call.attrs.NAME:
            axis, to be given (an integer)
                along which axis; below 0 from the end

        In kernels it moves elements.
        """
class _op_qnn_conv1d(_relay.Op):
    def __call__(self, data: _Operand, kernel: _Operand, input_zero_point: _Operand, kernel_zero_point: _Operand, input_scale: _Operand, kernel_scale: _Operand, /, strides: _Numbers | _relay.Expr | None = (1,), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1,), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCW', kernel_layout: _Text = 'OIW', out_layout: _Text = '', out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A convolution of quantised numbers over one axis, as nn.conv1d: their zero points are taken away first. The result is in
        steps of input_scale * kernel_scale.

        In NumPy with default attributes: np.einsum("niwX,oiX->now", np.lib.stride_tricks.sliding_window_view(data.astype("int32") - input_zero_point, kernel.shape[2:], (2,)), kernel.astype("int32") - kernel_zero_point)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, W] of any integer
                the input
            kernel: Tensor [O, I, KW] of any integer
                the weights
            input_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the data
            kernel_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in the weights; one, or one for each channel of the result
            input_scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            kernel_scale: Tensor [] of any dtype but string
                how much a step of the weights is; one, or one for each channel of the result

        Gives:
            [N, O, W']; int32, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1,) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1,) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCW' (any order of NCW)
                the order of the data's dims, a letter for each
            kernel_layout = 'OIW' (any order of OIW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = 'int32' (the name of a dtype)
                the dtype of the result; "": as without it
        """
class _op_qnn_conv2d(_relay.Op):
    def __call__(self, data: _Operand, kernel: _Operand, input_zero_point: _Operand, kernel_zero_point: _Operand, input_scale: _Operand, kernel_scale: _Operand, kernel_size: Any, channels: Any, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'OIHW', out_layout: _Text = '', out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A convolution of quantised numbers over rows and columns, as nn.conv2d: their zero points are taken away first. The
        result is in steps of input_scale * kernel_scale.

        In NumPy with default attributes: np.einsum("nihwYX,oiYX->nohw", np.lib.stride_tricks.sliding_window_view(data.astype("int32") - input_zero_point, kernel.shape[2:], (2, 3)), kernel.astype("int32") - kernel_zero_point)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any integer
                the input
            kernel: Tensor [O, I, KH, KW] of any integer
                the weights
            input_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the data
            kernel_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in the weights; one, or one for each channel of the result
            input_scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            kernel_scale: Tensor [] of any dtype but string
                how much a step of the weights is; one, or one for each channel of the result

        Gives:
            [N, O, H', W']; int32, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels, to be given (an integer)
                how many channels the result has; None: as the weight says
            kernel_size, to be given (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'OIHW' (any order of OIHW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = 'int32' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_qnn_conv2d_transpose(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, input_zero_point: _Operand, kernel_zero_point: _Operand, input_scale: _Operand, kernel_scale: _Operand, strides: _Numbers | _relay.Expr | None = (1, 1), padding: _Numbers | _relay.Expr | None = (0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCHW', kernel_layout: _Text = 'IOHW', out_layout: _Text = '', output_padding: _Numbers | _relay.Expr | None = (0, 0), out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """nn.conv2d_transpose of quantised numbers: their zero points are taken away first. The result is in steps of input_scale
        * kernel_scale.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any integer
                the input
            weight: Tensor [C, O, KH, KW] of any integer
                the weights
            input_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the data
            kernel_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the weights
            input_scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            kernel_scale: Tensor [] of any dtype but string
                how much a step of the quantised weights is

        Gives:
            [N, O * groups, H', W']; int32, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCHW' (any order of NCHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'IOHW' (any order of IOHW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = 'int32' (the name of a dtype)
                the dtype of the result; "": as without it
            output_padding = (0, 0) (a list of integers)
                how many rows the result has more behind each axis
        """
class _op_qnn_conv3d(_relay.Op):
    def __call__(self, data: _Operand, kernel: _Operand, input_zero_point: _Operand, kernel_zero_point: _Operand, input_scale: _Operand, kernel_scale: _Operand, /, strides: _Numbers | _relay.Expr | None = (1, 1, 1), padding: _Numbers | _relay.Expr | None = (0, 0, 0), dilation: _Numbers | _relay.Expr | None = (1, 1, 1), groups: _Numbers | _relay.Expr | None = 1, channels: Any = None, kernel_size: Any = None, data_layout: _Text = 'NCDHW', kernel_layout: _Text = 'OIDHW', out_layout: _Text = '', out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A convolution of quantised numbers over layers, rows and columns, as nn.conv3d: their zero points are taken away first.
        The result is in steps of input_scale * kernel_scale.

        In NumPy with default attributes: np.einsum("nidhwZYX,oiZYX->nodhw", np.lib.stride_tricks.sliding_window_view(data.astype("int32") - input_zero_point, kernel.shape[2:], (2, 3, 4)), kernel.astype("int32") - kernel_zero_point)

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, D, H, W] of any integer
                the input
            kernel: Tensor [O, I, KD, KH, KW] of any integer
                the weights
            input_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the data
            kernel_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in the weights; one, or one for each channel of the result
            input_scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            kernel_scale: Tensor [] of any dtype but string
                how much a step of the weights is; one, or one for each channel of the result

        Gives:
            [N, O, D', H', W']; int32, or out_dtype

        Attributes, call.attrs.NAME:
            strides = (1, 1, 1) (a list of integers)
                how far places of the window are apart, for each axis; one number for all
            padding = (0, 0, 0) (a list of integers)
                how many rows are put around the data: one number, one for each axis, or those before each axis and then those
                behind
            dilation = (1, 1, 1) (a list of integers)
                how far the window's elements are apart, for each axis; one number for all
            groups = 1 (an integer)
                in how many groups channels are divided, each with a kernel of its own
            channels = None (an integer)
                how many channels the result has; None: as the weight says
            kernel_size = None (a list of integers)
                the sizes of the kernel; None: as the weight says
            data_layout = 'NCDHW' (any order of NCDHW)
                the order of the data's dims, a letter for each
            kernel_layout = 'OIDHW' (any order of OIDHW)
                the order of the weight's dims, a letter for each
            out_layout = '' (a string)
                the order of the result's dims; "" is that of the data
            out_dtype = 'int32' (the name of a dtype)
                the dtype of the result; "": as without it
        """
class _op_qnn_dense(_relay.Op):
    def __call__(self, data: _Operand, weight: _Operand, input_zero_point: _Operand, kernel_zero_point: _Operand, input_scale: _Operand, kernel_scale: _Operand, units: Any, out_dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """nn.dense of quantised numbers: their zero points are taken away first. The result is in steps of input_scale *
        kernel_scale.

        In NumPy: (data.astype("int32") - input_zero_point) @ (weight.astype("int32") - kernel_zero_point).T

        Operands (numbers and arrays become constants):
            data: Tensor [M, K] of any integer
                the input
            weight: Tensor [units, K] of any integer
                the weights
            input_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the data
            kernel_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in the weights; one, or one for each row of the weight
            input_scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            kernel_scale: Tensor [] of any dtype but string
                how much a step of the weights is; one, or one for each row of the weight

        Gives:
            [M, units]; int32, or out_dtype

        Attributes, call.attrs.NAME:
            units, to be given (an integer)
                how many columns the result has; None: as the weight says
            out_dtype = 'int32' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_qnn_dequantize(_relay.Op):
    def __call__(self, data: _Operand, input_scale: _Operand, input_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, out_dtype: _Text = 'float32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Integers as real numbers: the zero point taken away, times the scale.

        In NumPy: (data.astype("float32") - input_zero_point) * input_scale

        Operands (numbers and arrays become constants):
            data: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            input_scale: Tensor [] of any dtype but string
                how much a step is; one, or one for each place along axis
            input_zero_point: Tensor [] of any dtype but string
                which integer stands for 0; one, or one for each place along axis

        Gives:
            [...]; float32, or out_dtype

        Attributes, call.attrs.NAME:
            out_dtype = 'float32' (the name of a dtype)
                the dtype of the result; "": as without it
            axis = -1 (an integer)
                along which axis; below 0 from the end

        In kernels it makes one element of one.
        """
class _op_qnn_erf(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype
        """
class _op_qnn_exp(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype
        """
class _op_qnn_hardswish(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype
        """
class _op_qnn_leaky_relu(_relay.Op):
    def __call__(self, x: _Operand, alpha: Any, input_scale: _Operand, input_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """nn.leaky_relu of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            input_scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            input_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the data
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype

        Attributes, call.attrs.NAME:
            alpha, to be given (a number)
                the slope below 0
        """
class _op_qnn_log(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype
        """
class _op_qnn_mul(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, lhs_scale: _Operand, lhs_zero_point: _Operand, rhs_scale: _Operand, rhs_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, lhs_axis: _Numbers | _relay.Expr | None = -1, rhs_axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sum (difference, product) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of int8, int16, int32, uint8 or uint16
                the left operand
            rhs: Tensor [...] of lhs's dtype (int8, int16, int32, uint8 or uint16)
                the right operand
            lhs_scale: Tensor [] of any dtype but string
                how much a step of lhs is
            lhs_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in lhs
            rhs_scale: Tensor [] of any dtype but string
                how much a step of rhs is
            rhs_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in rhs
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            the operands' shape, broadcast; lhs's dtype

        Attributes, call.attrs.NAME:
            lhs_axis = -1 (an integer)
                the axis of lhs along which its scales lie
            rhs_axis = -1 (an integer)
                the axis of rhs along which its scales lie

        In kernels it makes one element of one after broadcasting.
        """
class _op_qnn_quantize(_relay.Op):
    def __call__(self, data: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, out_dtype: _Text = 'int8', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Real numbers as integers: divided by the scale and rounded, halves away from 0, plus the zero point, and kept within the
        result's dtype.

        In NumPy: np.clip(np.round(data / output_scale) + output_zero_point, -128, 127)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input
            output_scale: Tensor [] of any dtype but string
                how much a step is; one, or one for each place along axis
            output_zero_point: Tensor [] of any dtype but string
                which integer stands for 0; one, or one for each place along axis

        Gives:
            [...]; the dtype out_dtype

        Attributes, call.attrs.NAME:
            out_dtype = 'int8' (the name of a dtype; in text and in relay.Call: None)
                the dtype of the result; "": as without it
            axis = -1 (an integer)
                along which axis; below 0 from the end

        In kernels it makes one element of one.
        """
class _op_qnn_requantize(_relay.Op):
    def __call__(self, data: _Operand, input_scale: _Operand, input_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, rounding: Literal['None', 'TONEAREST', 'UPWARD'] = 'None', compute_dtype: Literal['None'] = 'None', out_dtype: _Text = 'int8', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Integers of one scale and zero point as integers of another.

        In NumPy: np.clip(np.floor((data - input_zero_point) * (input_scale / output_scale) + 0.5) + output_zero_point, -128, 127)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            input_scale: Tensor [] of any dtype but string
                how much a step of the data is; one, or one for each place along axis
            input_zero_point: Tensor [] of any dtype but string
                which integer stands for 0 in the data; one, or one for each place along axis
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; int8, or out_dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end
            rounding = 'None' (one of None, TONEAREST, UPWARD)
                "UPWARD": halves go up; "TONEAREST": away from 0; "None": as the program's target says, which is UPWARD
            compute_dtype = 'None' (None)
                what numbers are computed as: "int64", "float32", "float64"; "None": int64
            out_dtype = 'int8' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it makes one element of one.
        """
class _op_qnn_rsqrt(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype
        """
class _op_qnn_sigmoid(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype
        """
class _op_qnn_simulated_dequantize(_relay.Op):
    def __call__(self, data: _Operand, input_scale: _Operand, input_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, in_dtype: _Operand | None = 'int8', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """What qnn.dequantize makes, of qnn.simulated_quantize's numbers.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input
            in_dtype: Tensor [] of any number
                a code: 0 leaves the data as it is, 1: int8, 2: uint8, 3: int32. The function takes a name and puts it last
            input_scale: Tensor [] of any dtype but string
                how much a step is; one, or one for each place along axis
            input_zero_point: Tensor [] of any dtype but string
                which integer stands for 0; one, or one for each place along axis

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            out_dtype = None
                of TVM's text: the result is of the data's dtype
            axis = -1 (an integer)
                along which axis; below 0 from the end

        In kernels it makes one element of one.
        """
class _op_qnn_simulated_quantize(_relay.Op):
    def __call__(self, data: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, out_dtype: _Operand | None = 'int8', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """What qnn.quantize makes, as real numbers, so that a program can be calibrated.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input
            out_dtype: Tensor [] of any number
                a code: 0 leaves the data as it is, 1: int8, 2: uint8, 3: int32. The function takes a name and puts it last
            output_scale: Tensor [] of any dtype but string
                how much a step is; one, or one for each place along axis
            output_zero_point: Tensor [] of any dtype but string
                which integer stands for 0; one, or one for each place along axis

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end

        In kernels it makes one element of one.
        """
class _op_qnn_softmax(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """nn.softmax of quantised numbers, by integers only, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] (rank 1 or more) of any integer
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end
        """
class _op_qnn_sqrt(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype
        """
class _op_qnn_subtract(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, lhs_scale: _Operand, lhs_zero_point: _Operand, rhs_scale: _Operand, rhs_zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, lhs_axis: _Numbers | _relay.Expr | None = -1, rhs_axis: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sum (difference, product) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of int8, int16, int32, uint8 or uint16
                the left operand
            rhs: Tensor [...] of lhs's dtype (int8, int16, int32, uint8 or uint16)
                the right operand
            lhs_scale: Tensor [] of any dtype but string
                how much a step of lhs is
            lhs_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in lhs
            rhs_scale: Tensor [] of any dtype but string
                how much a step of rhs is
            rhs_zero_point: Tensor [] of any dtype but string
                which number stands for 0 in rhs
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            the operands' shape, broadcast; lhs's dtype

        Attributes, call.attrs.NAME:
            lhs_axis = -1 (an integer)
                the axis of lhs along which its scales lie
            rhs_axis = -1 (an integer)
                the axis of rhs along which its scales lie

        In kernels it makes one element of one after broadcasting.
        """
class _op_qnn_tanh(_relay.Op):
    def __call__(self, x: _Operand, scale: _Operand, zero_point: _Operand, output_scale: _Operand, output_zero_point: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The function of that name (hardswish: x * min(max(x + 3, 0), 6) / 6) of quantised numbers, quantised anew.

        Operands (numbers and arrays become constants):
            x: Tensor [...] of int8, int16, int32, uint8 or uint16
                the input
            scale: Tensor [] of any dtype but string
                how much a step of the quantised data is
            zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0
            output_scale: Tensor [] of any dtype but string
                how much a step of the quantised result is
            output_zero_point: Tensor [] of any dtype but string
                which quantised number stands for 0 in the result

        Gives:
            [...]; x's dtype

        In kernels it makes one element of one.
        """
class _op_random_multinomial(_relay.Op):
    def __call__(self, key: _Operand, probs: _Operand, num_samples: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Random numbers of classes, by their probabilities, and the generator's next state.

        Operands (numbers and arrays become constants):
            key: Tensor [10] of uint64
                the state of a generator: random.threefry_key, or what another call gave
            probs: Tensor [..., classes] of any float
                a weight for each class

        Gives a tuple, call[0], call[1] ...:
            key: [10]; uint64
            indices: [..., num_samples]; int32

        Attributes, call.attrs.NAME:
            num_samples, to be given (an integer)
                how many

        In kernels it has a kernel of its own.
        """
class _op_random_normal(_relay.Op):
    def __call__(self, key: _Operand, shape: Any, dtype: _Text = 'float32', mean: _Operand | None = 0.0, scale: _Operand | None = 1.0, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Random numbers of the normal distribution, and the generator's next state.

        Operands (numbers and arrays become constants):
            key: Tensor [10] of uint64
                the state of a generator: random.threefry_key, or what another call gave
            mean: Tensor [] of any dtype but string
                their mean
            scale: Tensor [] of any dtype but string
                their standard deviation

        Gives a tuple, call[0], call[1] ...:
            key: [10]; uint64
            numbers: [*out_shape]; float32, or out_dtype

        Attributes, call.attrs.NAME:
            out_shape, to be given (a list of integers or ?; the parameter shape)
                the sizes of the result
            out_dtype = 'float32' (the name of a dtype; the parameter dtype)
                the dtype of the result; "": as without it

        In kernels it has a kernel of its own.
        """
class _op_random_threefry_generate(_relay.Op):
    def __call__(self, key: _Operand, shape: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Random numbers of 64 bits (Threefry), and the generator's next state.

        Operands (numbers and arrays become constants):
            key: Tensor [10] of uint64
                the state of a generator: random.threefry_key, or what another call gave

        Gives a tuple, call[0], call[1] ...:
            key: [10]; uint64
            numbers: [*out_shape]; uint64

        Attributes, call.attrs.NAME:
            out_shape, to be given (a list of integers or ?; the parameter shape)
                the sizes of the result

        In kernels it has a kernel of its own.
        """
class _op_random_threefry_key(_relay.Op):
    def __call__(self, seed: Any, *, span: Any = None) -> Any:  # type: ignore[override]
        """The state of a generator, of a number: a constant.

        Operands (numbers and arrays become constants):
            seed: Tensor []
                an int

        Gives:
            [10]

        A function that makes several calls, as TVM's of that name.
        """
class _op_random_threefry_split(_relay.Op):
    def __call__(self, key: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Two generators of one, which are independent of each other.

        Operands (numbers and arrays become constants):
            key: Tensor [10] of uint64
                the state of a generator: random.threefry_key, or what another call gave

        Gives a tuple, call[0], call[1] ...:
            key: [10]; uint64
            key: [10]; uint64

        In kernels it has a kernel of its own.
        """
class _op_random_uniform(_relay.Op):
    def __call__(self, key: _Operand, shape: Any, dtype: _Text = 'float32', low: _Operand | None = 0.0, high: _Operand | None = 1.0, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Random numbers between two bounds, all as likely, and the generator's next state.

        Operands (numbers and arrays become constants):
            key: Tensor [10] of uint64
                the state of a generator: random.threefry_key, or what another call gave
            low: Tensor [] of any dtype but string
                the lower bound
            high: Tensor [] of any dtype but string
                the upper bound, which is left out

        Gives a tuple, call[0], call[1] ...:
            key: [10]; uint64
            numbers: [*out_shape]; float32, or out_dtype

        Attributes, call.attrs.NAME:
            out_shape, to be given (a list of integers or ?; the parameter shape)
                the sizes of the result
            out_dtype = 'float32' (the name of a dtype; the parameter dtype)
                the dtype of the result; "": as without it

        In kernels it has a kernel of its own.
        """
class _op_range_checked(_relay.Op):
    def __call__(self, values: _Operand, begin: _Operand, end: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The values as they are, after a check that they lie between their bounds: at or above begin, below end. A value that
        does not is an error.

        In NumPy: values

        Operands (numbers and arrays become constants):
            values: Tensor [...] of any integer
                what is checked
            begin: Tensor [...] of int64
                the least values: one, or one for each place along the last axis
            end: Tensor [...] of int64
                what values must be below

        Gives:
            as values; values's dtype
        """
class _op_reinterpret(_relay.Op):
    def __call__(self, data: _Operand, dtype: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The bits of each element as another dtype of the same width.

        In NumPy: data.view(dtype)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            [...]; the dtype dtype

        Attributes, call.attrs.NAME:
            dtype, to be given (the name of a dtype)
                the dtype of the result

        In kernels it makes one element of one.
        """
class _op_relay_op_annotation_simulated_quantize(_relay.Op):
    def __call__(self, data: _Operand, dom_scale: _Operand, clip_min: _Operand, clip_max: _Operand, /, kind: Any, sign: bool = True, rounding: Literal['round'] = 'round', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """What TVM's quantisation pass writes: real numbers divided by a scale, rounded and clipped, times the scale.

        In NumPy: np.clip(np.round(data / dom_scale), clip_min, clip_max) * dom_scale

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input
            dom_scale: Tensor [] of data's dtype (any float)
                how much a step is
            clip_min: Tensor [] of data's dtype (any float)
                the least step
            clip_max: Tensor [] of data's dtype (any float)
                the largest step

        Gives:
            [...]; data's dtype

        Attributes, call.attrs.NAME:
            kind, to be given (an integer)
                what the numbers are, by TVM's codes: 0 leaves them as they are
            sign = True (True or False)
                of TVM's text
            rounding = 'round' (round)
                of TVM's text: "round"
        """
class _op_repeat(_relay.Op):
    def __call__(self, data: _Operand, repeats: Any, axis: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element repeated on the spot along an axis.

        In NumPy: np.repeat(data, repeats, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input

        Gives:
            as data, with repeats times its size along axis; data's dtype

        Attributes, call.attrs.NAME:
            repeats, to be given (an integer)
                how often
            axis, to be given (an integer)
                along which axis; None: along all elements as one vector

        In kernels it makes one element of one after broadcasting.
        """
class _op_reshape(_relay.Op):
    def __call__(self, data: _Operand, newshape: Any, allowzero: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The same elements in row-major order, with other dims.

        In NumPy: data.reshape(3, 4)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            newshape, its codes replaced; data's dtype

        Attributes, call.attrs.NAME:
            newshape, to be given (a list of integers or ?)
                sizes, or 0: the size of data at this place; -1: what is left over, once; -2: all other dims of data; -3: the
                product of the next two dims of data; -4: the next dim of data in two, whose sizes follow
            allowzero = False (True or False)
                whether 0 is a size of 0

        An expression for newshape makes a call of dyn.reshape. In kernels it moves elements.
        """
class _op_reshape_like(_relay.Op):
    def __call__(self, data: _Operand, shape_like: _Operand, lhs_begin: _Numbers | _relay.Expr | None = 0, lhs_end: Any = None, rhs_begin: _Numbers | _relay.Expr | None = 0, rhs_end: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The same elements in row-major order, with the dims of another tensor.

        In NumPy with default attributes: data.reshape(shape_like.shape)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input
            shape_like: Tensor [...] of any dtype
                a tensor of the wanted shape; its elements do not matter

        Gives:
            dims lhs_begin to lhs_end of data replaced by rhs_begin to rhs_end of shape_like; data's dtype

        Attributes, call.attrs.NAME:
            lhs_begin = 0 (an integer)
                the first dim of data that is replaced
            lhs_end = None (an integer)
                the dim behind the last one; None: all that follow
            rhs_begin = 0 (an integer)
                the first dim of shape_like that is taken
            rhs_end = None (an integer)
                the dim behind the last one; None: all that follow

        In kernels it moves elements.
        """
class _op_reverse(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Elements along an axis the other way round.

        In NumPy: np.flip(data, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            axis, to be given (an integer)
                along which axis; below 0 from the end

        In kernels it moves elements.
        """
class _op_reverse_reshape(_relay.Op):
    def __call__(self, data: Any, newshape: Any, *, span: Any = None) -> Any:  # type: ignore[override]
        """As reshape, with the codes read from the last dim to the first: a call of contrib_reverse_reshape.

        In NumPy: data.reshape(10, 7)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                the input

        Gives:
            newshape, its codes replaced; data's dtype

        Parameters:
            newshape, to be given
                sizes and codes as of reshape, from right to left

        A function that makes several calls, as TVM's of that name.
        """
class _op_reverse_sequence(_relay.Op):
    def __call__(self, data: _Operand, seq_lengths: _Operand, seq_axis: _Numbers | _relay.Expr | None = 1, batch_axis: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """For each entry of a batch, the first elements of its sequence the other way round.

        In NumPy: np.stack([np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(data, seq_lengths)])

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 2 or more) of any dtype
                the input
            seq_lengths: Tensor [batch] of any integer
                how many elements, for each entry

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            seq_axis = 1 (an integer)
                the axis of the sequences
            batch_axis = 0 (an integer)
                the axis of the batch

        In kernels it moves elements.
        """
class _op_right_shift(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The bits of lhs, rhs places further down; signed numbers keep their sign.

        In NumPy: np.right_shift(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any integer
                the left operand
            rhs: Tensor [...] of lhs's dtype (any integer)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_round(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The nearest whole number of each element; halves go away from 0.

        In NumPy: np.copysign(np.floor(np.abs(data) + 0.5), data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any number
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_round_even(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The nearest whole number of each element; halves go to the even one.

        In NumPy: np.round(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any number
                the input

        Gives:
            [...]; data's dtype
        """
class _op_rsqrt(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """One over the square root of each element.

        In NumPy: 1 / np.sqrt(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_scatter_elements(_relay.Op):
    def __call__(self, data: _Operand, indices: _Operand, updates: _Operand, axis: _Numbers | _relay.Expr | None = 0, reduction: Literal['add', 'max', 'mean', 'min', 'mul', 'update'] = 'update', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor with updates put in, whose place along one axis is chosen by number and along the others is their own. A number
        out of range is an error.

        In NumPy: (lambda out: (np.put_along_axis(out, indices, updates, axis), out)[1])(data.copy())

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input
            indices: Tensor [...] (rank 1 or more) of any integer
                places along the axis, of the shape of updates; below 0 from the end
            updates: Tensor [...] (rank 1 or more) of data's dtype (any dtype)
                what is put there

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            axis = 0 (an integer)
                along which axis; below 0 from the end
            reduction = 'update' (one of add, max, mean, min, mul, update)
                what becomes of what is there: "update" replaces it; "add", "mul", "mean", "min" and "max" combine

        In kernels it has a kernel of its own.
        """
class _op_scatter_nd(_relay.Op):
    def __call__(self, data: _Operand, indices: _Operand, updates: _Operand, mode: Literal['add', 'max', 'mean', 'min', 'mul', 'update'] = 'update', *, tuples_last: bool = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor with updates put in, each at a place that m numbers choose. A place out of range is an error.

        In NumPy: (lambda out: (out.__setitem__(tuple(indices), updates), out)[1])(data.copy())

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or 2) of any dtype
                the input
            indices: Tensor [m, ...] of any integer
                a first axis of numbers, then the shape of the choice
            updates: Tensor [...] (rank 1 or more) of data's dtype (any dtype)
                what is put there: the shape of the choice, then dims of data behind the first m

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            mode = 'update' (one of add, max, mean, min, mul, update)
                what becomes of what is there: "update" replaces it; "add", "mul", "min" and "max" combine
            tuples_last = False (True or False)
                whether the numbers stand along the last axis of indices, as in ONNX

        In kernels it has a kernel of its own.
        """
class _op_searchsorted(_relay.Op):
    def __call__(self, sorted_sequence: _Operand, values: _Operand, right: bool = False, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Where values would have to be put into an ordered sequence for it to stay ordered.

        In NumPy: np.searchsorted(sorted_sequence, values, side="right" if right else "left")

        Operands (numbers and arrays become constants):
            sorted_sequence: Tensor [..., n] of any dtype but string
                elements in order; one sequence, or one for each row of values
            values: Tensor [...] of sorted_sequence's dtype (any dtype but string)
                what is looked for

        Gives:
            as values; int32, or dtype

        Attributes, call.attrs.NAME:
            right = False (True or False)
                whether the place behind equal elements is meant
            dtype = 'int32' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it has a kernel of its own.
        """
class _op_segment_sum(_relay.Op):
    def __call__(self, data: Any, segment_ids: Any, num_segments: Any = None, *, span: Any = None) -> Any:  # type: ignore[override]
        """Sums of the slices that have the same number.

        Operands (numbers and arrays become constants):
            data: Tensor [n, ...] of any dtype but string
                the input
            segment_ids: Tensor [n] of any integer
                the number of each slice's sum

        Gives:
            [segments, ...]; data's dtype

        Parameters:
            num_segments = None
                how many sums there are; None: one more than the largest number

        A function that makes several calls, as TVM's of that name.
        """
class _op_sequence_mask(_relay.Op):
    def __call__(self, data: _Operand, valid_length: _Operand, mask_value: _Numbers | _relay.Expr | None = 0, axis: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A batch of sequences, with a number in place of what lies behind each one's length.

        In NumPy: np.where(np.arange(data.shape[0])[:, None] < valid_length, data, mask_value)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 2 or more) of any dtype but string
                the input
            valid_length: Tensor [batch] of any number
                how long each sequence is

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            mask_value = 0 (a number)
                what stands behind
            axis = 0 (an integer)
                the axis of the sequences, 0 or 1; the batch is the other one

        In kernels it moves elements.
        """
class _op_shape_of(_relay.Op):
    def __call__(self, data: _Operand, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sizes of a tensor.

        In NumPy: np.array(data.shape)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [rank]; int32, or dtype

        Attributes, call.attrs.NAME:
            dtype = 'int32' (the name of a dtype; in text and in relay.Call: '')
                the dtype of the result; "": as without it

        In kernels it has a kernel of its own.
        """
class _op_sigmoid(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The logistic function of each element.

        In NumPy: 1 / (1 + np.exp(-data))

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_sign(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """-1, 0 or 1 as each element is below, at or above 0.

        In NumPy: np.sign(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any number
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_sin(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sine of each element, which is in radians.

        In NumPy: np.sin(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_sinh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The hyperbolic sine of each element.

        In NumPy: np.sinh(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_slice_like(_relay.Op):
    def __call__(self, data: _Operand, shape_like: _Operand, axes: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The first elements along axes: as many as another tensor has.

        In NumPy with axes=None: data[tuple(slice(n) for n in shape_like.shape)]

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input
            shape_like: Tensor [...] of any dtype
                a tensor of the wanted sizes; its elements do not matter

        Gives:
            as data, with the sizes of shape_like along axes; data's dtype

        Attributes, call.attrs.NAME:
            axes = None (a list of integers)
                along which axes; None or []: all

        In kernels it moves elements.
        """
class _op_sliding_window(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, window_shape: Any, strides: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """All places of a window that slides over the last axes.

        In NumPy: np.lib.stride_tricks.sliding_window_view(data, window_shape, (0, 1))

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or 2 or 3) of any dtype
                the input

        Gives:
            the axes in front of axis, places of the window, then window_shape; data's dtype

        Attributes, call.attrs.NAME:
            axis, to be given (an integer)
                the first axis that it slides along, up to the last one
            window_shape, to be given (a list of integers)
                the sizes of the window
            strides, to be given (a list of integers)
                how far places are apart

        In kernels it has a kernel of its own.
        """
class _op_sort(_relay.Op):
    def __call__(self, data: _Operand, axis: _Numbers | _relay.Expr | None = -1, is_ascend: _Numbers | _relay.Expr | None = 1, *, dtype: _Text = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Elements along an axis in order.

        In NumPy: np.sort(data, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end
            is_ascend = 1 (True or False)
                whether the smallest comes first
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it has a kernel of its own.
        """
class _op_sparse_fill_empty_rows(_relay.Op):
    def __call__(self, sparse_indices: _Operand, sparse_values: _Operand, dense_shape: _Operand, default_value: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A sparse tensor with a value put into each row that has none; and which rows those were.

        Operands (numbers and arrays become constants):
            sparse_indices: Tensor [n, rank] of any integer
                places, in order
            sparse_values: Tensor [n] of any dtype but string
                what stands there
            dense_shape: Tensor [rank] of float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64 or bool
                the sizes of the tensor
            default_value: Tensor [] of sparse_values's dtype (any dtype but string)
                what is put into empty rows

        Gives a tuple, call[0], call[1] ...:
            indices: [m, rank]; sparse_indices's dtype
            values: [m]; sparse_values's dtype
            empty_rows: [rows]; bool

        In kernels it has a kernel of its own.
        """
class _op_sparse_reshape(_relay.Op):
    def __call__(self, sparse_indices: _Operand, prev_shape: _Operand, new_shape: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The places of a sparse tensor's values under another shape.

        Operands (numbers and arrays become constants):
            sparse_indices: Tensor [n, rank] of any integer
                places
            prev_shape: Tensor [rank] of any dtype but string
                the sizes as they were
            new_shape: Tensor [new_rank] of any integer
                the sizes as they shall be; -1, once: what is left over

        Gives a tuple, call[0], call[1] ...:
            indices: [n, new_rank]; sparse_indices's dtype
            shape: [new_rank]; new_shape's dtype

        In kernels it moves elements.
        """
class _op_sparse_to_dense(_relay.Op):
    def __call__(self, sparse_indices: _Operand, output_shape: Any, sparse_values: _Operand, default_value: _Operand | None = 0, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor with values at some places, and another value elsewhere.

        Operands (numbers and arrays become constants):
            sparse_indices: Tensor [...] (rank 1 or 2) of any integer
                the places: a row for each value, or a number for each
            sparse_values: Tensor [...] of any dtype but string
                what stands there
            default_value: Tensor [] of any dtype but string, may be left out
                what stands elsewhere; 0 where it is left out

        Gives:
            [*output_shape]; sparse_values's dtype

        Attributes, call.attrs.NAME:
            output_shape, to be given (a list of integers or ?)
                the sizes of the result

        An expression for output_shape makes a call of dyn.sparse_to_dense. In kernels it has a kernel of its own.
        """
class _op_split(_relay.Op):
    def __call__(self, data: _Operand, indices_or_sections: Any, axis: _Numbers | _relay.Expr | None = 0, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Parts of a tensor along an axis, as a tuple.

        In NumPy: tuple(np.split(data, indices_or_sections, axis))

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input

        Gives a tuple, call[0], call[1] ...:
            fields: as data, with a part of its size along axis; data's dtype

        Attributes, call.attrs.NAME:
            indices_or_sections, to be given (an integer or a list of integers)
                how many parts of one size; or where each part but the first begins
            axis = 0 (an integer)
                along which axis; below 0 from the end

        In kernels it moves elements.
        """
class _op_sqrt(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The square root of each element.

        In NumPy: np.sqrt(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_squeeze(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Dims of 1 are taken out.

        In NumPy: np.squeeze(data, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input

        Gives:
            as data, without those dims; data's dtype

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                which; None: all dims that are 1

        An expression for axis makes a call of dyn.squeeze. In kernels it moves elements.
        """
class _op_stack(_relay.Op):
    def __call__(self, data: _Operand, axis: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Tensors one behind the other along an axis of their own.

        In NumPy: np.stack(data, axis)

        Operands (numbers and arrays become constants):
            data: Tuple of tensors [...] of any dtype
                tensors of one shape

        Gives:
            as data, with a new dim at axis; data's dtype

        Attributes, call.attrs.NAME:
            axis, to be given (an integer)
                where the new axis is in the result

        In kernels it moves elements.
        """
class _op_std(_relay.Op):
    def __call__(self, data: Any, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False, *, span: Any = None) -> Any:  # type: ignore[override]
        """The standard deviation of the elements along axes: the root of variance.

        In NumPy: np.std(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any float
                the input

        Gives:
            as data without axis; with keepdims, 1 there; data's dtype

        Parameters:
            axis = None
                along which axis; below 0 from the end
            keepdims = False
                whether those axes stay, with a size of 1
            exclude = False
                whether it is all other axes
            unbiased = False
                whether the sum is divided by one less than the number of elements

        A function that makes several calls, as TVM's of that name.
        """
class _op_stft(_relay.Op):
    def __call__(self, data: _Operand, n_fft: Any, hop_length: Any = None, win_length: Any = None, window: _Operand | None = None, normalized: bool = False, onesided: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Fourier transforms of a window that moves over a signal: real and imaginary part of each frequency, for each place.

        Operands (numbers and arrays become constants):
            data: Tensor [..., n] of any float
                the signal, or a batch of signals
            window: Tensor [win_length] of any dtype but string
                what a piece of the signal is multiplied by

        Gives:
            ... , n_fft // 2 + 1 (onesided) or n_fft, frames, 2; data's dtype

        Attributes, call.attrs.NAME:
            n_fft, to be given (an integer)
                how long a piece is
            hop_length = None (an integer)
                how far places are apart
            win_length = None (an integer)
                how long the window is
            normalized = False (True or False)
                whether results are divided by the root of n_fft
            onesided = True (True or False)
                whether frequencies above the middle are left out, which repeat the others

        In kernels it has a kernel of its own.
        """
class _op_strided_set(_relay.Op):
    def __call__(self, data: _Operand, v: _Operand, begin: _Operand, end: _Operand, strides: _Operand | None = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor with another one in place of a part of it.

        In NumPy: (lambda out: (out.__setitem__((slice(0, 2), slice(1, 4, 2)), v), out)[1])(data.copy())

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input
            v: Tensor [...] (rank 1 or more) of data's dtype (any dtype)
                what is put there
            begin: Tensor [rank] of any integer
                the first place along each axis
            end: Tensor [rank] of any integer
                the place behind the last one
            strides: Tensor [rank] of any integer
                how far places are apart

        Gives:
            as data; data's dtype

        In kernels it moves elements.
        """
class _op_strided_slice(_relay.Op):
    def __call__(self, data: _Operand, begin: Any, end: Any, strides: Any = None, axes: Any = None, slice_mode: Literal['end', 'size'] = 'end', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A part of a tensor: from begin, to end without it, in steps.

        In NumPy: data[0:2, 1:4:2]

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            as data, with the sizes of the slices; data's dtype

        Attributes, call.attrs.NAME:
            begin, to be given (a list of integers)
                the first place along each axis; below 0 from the end
            end, to be given (a list of integers)
                the place behind the last one; below 0 from the end
            strides = None (a list of integers)
                how far places are apart; below 0 backwards
            slice_mode = 'end' (one of end, size)
                "end": end is a place; "size": end is how many, -1 all that follow, and strides are 1
            axes = None (a list of integers)
                which axes begin, end and strides are of; None: the first ones

        An expression for begin, end, strides makes a call of dyn.strided_slice. In kernels it moves elements.
        """
class _op_string_concat(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Texts, one behind the other.

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of string
                the left operand
            rhs: Tensor [...] of string
                the right operand

        Gives:
            the operands' shape, broadcast; string
        """
class _op_string_count_tokens(_relay.Op):
    def __call__(self, data: _Operand, programs: _Operand, starts: _Operand, /, are_matches: bool = False, least: _Numbers | _relay.Expr | None = 1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """How many tokens each text has: what matches a regular expression, or what is left between the matches of each of several
        in turn.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of string
                texts
            programs: Tensor [n, 3] of int64
                the expressions, compiled, one behind the other: importers write them
            starts: Tensor [k] of int64
                the row at which each expression begins

        Gives:
            [...]; int64

        Attributes, call.attrs.NAME:
            are_matches = False (True or False)
                whether tokens are what matches
            least = 1 (an integer)
                how many characters a token has at least
        """
class _op_string_from_number(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each number as text.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype but string
                numbers

        Gives:
            [...]; string
        """
class _op_string_full_match(_relay.Op):
    def __call__(self, data: _Operand, program: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Whether each text matches a regular expression as a whole.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of string
                texts
            program: Tensor [n, 3] of int64
                the expression, compiled: importers write it

        Gives:
            [...]; bool
        """
class _op_string_id(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A number for each text: the same for the same text in a run, and that of a constant is its own.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of string
                texts

        Gives:
            [...]; int64
        """
class _op_string_normalize(_relay.Op):
    def __call__(self, data: _Operand, stop_words: _Operand, /, change_case: _Numbers | _relay.Expr | None = 0, case_sensitive: bool = False, ascii: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Texts in upper or lower case without some of them; one empty text where nothing is left.

        Operands (numbers and arrays become constants):
            data: Tensor [n] of string
                texts
            stop_words: Tensor [m] of string
                texts that are left out

        Gives:
            [words]; string

        Attributes, call.attrs.NAME:
            change_case = 0 (an integer)
                1: to lower case, 2: to upper case, 0: as they are
            case_sensitive = False (True or False)
                whether a stop word is left out only in its own case
            ascii = False (True or False)
                whether the letters of other alphabets stay as they are
        """
class _op_string_rank(_relay.Op):
    def __call__(self, data: _Operand, /, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The place of each text in the order of the characters, the same for the same text.

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1) of string
                texts

        Gives:
            [...]; int64
        """
class _op_string_split(_relay.Op):
    def __call__(self, data: _Operand, delimiter: _Operand, count: _Operand, /, maxsplit: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The parts of each text; texts with fewer parts than there is room for end in empty ones.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of string
                texts
            delimiter: Tensor [1] of string
                what stands between parts; "": white space
            count: Tensor [1] of int64
                how many parts there is room for

        Gives:
            [..., parts]; string

        Attributes, call.attrs.NAME:
            maxsplit = -1 (an integer)
                how many times a text is split at most; -1: as often as it can be
        """
class _op_string_split_count(_relay.Op):
    def __call__(self, data: _Operand, delimiter: _Operand, /, maxsplit: _Numbers | _relay.Expr | None = -1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """How many parts each text has.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of string
                texts
            delimiter: Tensor [1] of string
                what stands between parts; "": white space

        Gives:
            [...]; int64

        Attributes, call.attrs.NAME:
            maxsplit = -1 (an integer)
                how many times a text is split at most; -1: as often as it can be
        """
class _op_string_to_number(_relay.Op):
    def __call__(self, data: _Operand, /, dtype: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The number that each text is.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of string
                texts

        Gives:
            [...]; the dtype dtype

        Attributes, call.attrs.NAME:
            dtype, to be given (the name of a dtype)
                the dtype of the result
        """
class _op_string_tokens(_relay.Op):
    def __call__(self, data: _Operand, programs: _Operand, starts: _Operand, around: _Operand, count: _Operand, /, are_matches: bool = False, least: _Numbers | _relay.Expr | None = 1, mark: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The tokens of each text, as string.count_tokens counts them.

        Operands (numbers and arrays become constants):
            data: Tensor [...] of string
                texts
            programs: Tensor [n, 3] of int64
                the expressions, compiled, one behind the other: importers write them
            starts: Tensor [k] of int64
                the row at which each expression begins
            around: Tensor [3] of string
                texts before the tokens, after them, and in the places of those that a text has fewer than there is room for
            count: Tensor [1] of int64
                how many tokens there is room for, those before and after with them

        Gives:
            [..., tokens]; string

        Attributes, call.attrs.NAME:
            are_matches = False (True or False)
                whether tokens are what matches
            least = 1 (an integer)
                how many characters a token has at least
            mark = False (True or False)
                whether the texts before and after are written
        """
class _op_subtract(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The difference of two tensors, element by element.

        In NumPy: lhs - rhs

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any number
                the left operand
            rhs: Tensor [...] of lhs's dtype (any number)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_sum(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sum of the elements along axes, in the operand's dtype.

        In NumPy: np.sum(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives:
            as data without axis; with keepdims, 1 there; data's dtype

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                along which axes, one or several; None: all elements
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes

        In kernels it reduces.
        """
class _op_take(_relay.Op):
    def __call__(self, data: _Operand, indices: _Operand, axis: Any = None, batch_dims: _Numbers | _relay.Expr | None = 0, mode: _Text = 'clip', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Slices along an axis, chosen by number.

        In NumPy: np.take(data, indices, axis)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype
                the input
            indices: Tensor [...] of any integer
                their numbers

        Gives:
            data's dims, with those of indices in place of axis; data's dtype

        Attributes, call.attrs.NAME:
            batch_dims = 0 (an integer)
                how many first axes of both go together
            axis = None (an integer)
                along which axis; None: elements of data as one vector
            mode = 'clip' (a string)
                of an index out of range: "clip" and "fast": the nearest one, so that -1 is the first; any other, "wrap":
                counted from the other end

        In kernels it moves elements.
        """
class _op_tan(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The tangent of each element, which is in radians.

        In NumPy: np.tan(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_tanh(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The hyperbolic tangent of each element.

        In NumPy: np.tanh(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any float
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_tile(_relay.Op):
    def __call__(self, data: _Operand, reps: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor repeated as a whole along its axes.

        In NumPy: np.tile(data, reps)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            each dim times reps; data's dtype

        Attributes, call.attrs.NAME:
            reps, to be given (a list of integers)
                how often, for each axis; axes in front are added where there are more

        An expression for reps makes a call of dyn.tile. In kernels it makes one element of one after broadcasting.
        """
class _op_topk(_relay.Op):
    def __call__(self, data: _Operand, k: _Numbers | _relay.Expr | None = 1, axis: _Numbers | _relay.Expr | None = -1, ret_type: Literal['both', 'indices', 'values'] = 'both', is_ascend: bool = False, dtype: _Text = 'int32', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The largest elements along an axis, in order, and their places.

        In NumPy: (-np.sort(-data, axis)[..., :k], np.argsort(-data, axis)[..., :k])

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input

        Gives a tuple, call[0], call[1] ...:
            values: as data, with k along axis; data's dtype
            indices: as data, with k along axis; int32, or dtype

        Attributes, call.attrs.NAME:
            axis = -1 (an integer)
                along which axis; below 0 from the end
            ret_type = 'both' (one of both, indices, values)
                "both": a tuple of values and places; "values" or "indices": one of them
            is_ascend = False (True or False)
                whether the smallest elements are meant, the smallest first
            dtype = 'int32' (the name of a dtype; in text and in relay.Call: '')
                the dtype of the result; "": as without it
            k = 1 (a list of integers or ?)
                how many; below 1: all

        An expression for k makes a call of dyn.topk. In kernels it has a kernel of its own.
        """
class _op_transpose(_relay.Op):
    def __call__(self, data: _Operand, axes: Any = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Axes in another order.

        In NumPy: np.transpose(data, axes)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            dims of data in the order of axes; data's dtype

        Attributes, call.attrs.NAME:
            axes = None (a list of integers)
                for each axis of the result, which of the operand's it is; None: the other way round

        In kernels it moves elements.
        """
class _op_trilu(_relay.Op):
    def __call__(self, data: _Operand, k: _Operand, upper: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Matrices with 0 below a diagonal (upper), or above it.

        In NumPy: np.triu(data, k) if upper else np.tril(data, k)

        Operands (numbers and arrays become constants):
            data: Tensor [..., m, n] of any dtype
                the input
            k: Tensor [] of any integer
                which diagonal: 0 the main one, above 0 over it

        Gives:
            as data; data's dtype

        Attributes, call.attrs.NAME:
            upper = True (True or False)
                whether the upper part stays

        In kernels it makes one element of one.
        """
class _op_trunc(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Each element without what stands behind its decimal point.

        In NumPy: np.trunc(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any number
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """
class _op_trunc_divide(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The quotient of two tensors, rounded towards 0.

        In NumPy: np.trunc(lhs / rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any number
                the left operand
            rhs: Tensor [...] of lhs's dtype (any number)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_trunc_mod(_relay.Op):
    def __call__(self, lhs: _Operand, rhs: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The remainder of a division that rounds towards 0: it has the sign of lhs.

        In NumPy: np.fmod(lhs, rhs)

        Operands (numbers and arrays become constants):
            lhs: Tensor [...] of any number
                the left operand
            rhs: Tensor [...] of lhs's dtype (any number)
                the right operand

        Gives:
            the operands' shape, broadcast; lhs's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_unique(_relay.Op):
    def __call__(self, data: _Operand, is_sorted: bool = True, return_counts: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The different elements, where each stands first, and for each element of data the number of its value. Behind `num`
        values follows padding. With counts, one field more: how often each value stands there.

        Operands (numbers and arrays become constants):
            data: Tensor [n] of any dtype
                the input

        Gives a tuple, call[0], call[1] ...:
            values: [n]; data's dtype
            indices: [n]; int32
            inverse_indices: [n]; int32
            num: [1]; int32

        Attributes, call.attrs.NAME:
            sorted = True (True or False; the parameter is_sorted)
                whether values are in order; else as they come
            return_counts = False (True or False)
                whether the counts are given too

        In kernels it has a kernel of its own.
        """
class _op_unique_rows(_relay.Op):
    def __call__(self, data: _Operand, /, sorted: bool = True, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Where each of the different slices along the first axis stands first, for each slice of data the number of its value,
        how many there are, and how often each stands there. Behind `num` entries follows padding.

        Operands (numbers and arrays become constants):
            data: Tensor [n, ...] of any dtype but string
                the input

        Gives a tuple, call[0], call[1] ...:
            indices: [n]; int32
            inverse_indices: [n]; int32
            num: [1]; int32
            counts: [n]; int32

        Attributes, call.attrs.NAME:
            sorted = True (True or False)
                whether slices are in order; else as they come
        """
class _op_unravel_index(_relay.Op):
    def __call__(self, indices: _Operand, shape: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Of places in row-major order, the place along each axis.

        In NumPy: np.array(np.unravel_index(indices, shape))

        Operands (numbers and arrays become constants):
            indices: Tensor [...] of any integer
                places in a tensor of that shape
            shape: Tensor [rank] of any integer
                its sizes

        Gives:
            rank, then the dims of indices; indices's dtype

        In kernels it moves elements.
        """
class _op_variance(_relay.Op):
    def __call__(self, data: _Operand, axis: Any = None, keepdims: bool = False, exclude: bool = False, unbiased: bool = False, with_mean: _Operand | None = None, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The mean square of elements' distances from their mean, along axes.

        In NumPy: np.var(data, axis, keepdims=keepdims)

        Operands (numbers and arrays become constants):
            data: Tensor [...] (rank 1 or more) of any dtype but string
                the input
            with_mean: Tensor [...]
                their mean, with dims of 1

        Gives:
            as data without axis; with keepdims, 1 there; data's dtype

        Attributes, call.attrs.NAME:
            axis = None (a list of integers)
                along which axis; below 0 from the end
            keepdims = False (True or False)
                whether those axes stay, with a size of 1
            exclude = False (True or False)
                whether it is all other axes
            unbiased = False (True or False)
                whether the sum is divided by one less than the number of elements

        In kernels it reduces.
        """
class _op_vision_all_class_non_max_suppression(_relay.Op):
    def __call__(self, boxes: _Operand, scores: _Operand, max_output_boxes_per_class: _Operand | None = -1, iou_threshold: _Operand | None = -1.0, score_threshold: _Operand | None = -1.0, output_format: _Text = 'onnx', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Boxes that overlap none of their class and of a higher score too much: rows of picture, class and box, and how many are
        meant. With output_format="tensorflow" a third field has scores.

        Operands (numbers and arrays become constants):
            boxes: Tensor [N, boxes, 4] of any float
                two corners
            scores: Tensor [N, classes, boxes] of boxes's dtype (any float)
                a score for each class and box
            max_output_boxes_per_class: Tensor [] of any dtype but string
                how many are kept of each class at most
            iou_threshold: Tensor [] of any dtype but string
                how far boxes may overlap: the common part by the whole
            score_threshold: Tensor [] of any dtype but string
                what scores must be above

        Gives a tuple, call[0], call[1] ...:
            selected: [n, 3]; int64
            counts: [1]; int64

        Attributes, call.attrs.NAME:
            output_format = 'onnx' (a string)
                "onnx"; any other: "tensorflow"

        In kernels it has a kernel of its own.
        """
class _op_vision_get_valid_counts(_relay.Op):
    def __call__(self, data: _Operand, score_threshold: Any, id_index: _Numbers | _relay.Expr | None = 0, score_index: _Numbers | _relay.Expr | None = 1, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The boxes whose score is above a threshold, moved to the front: how many, the boxes, and where they stood. The rest is
        -1.

        Operands (numbers and arrays become constants):
            data: Tensor [N, boxes, width] of any float
                rows of a class, a score and a box
            score_threshold: Tensor [] of any dtype but string
                what scores must be above

        Gives a tuple, call[0], call[1] ...:
            counts: [N]; int32
            data: [N, boxes, width]; data's dtype
            indices: [N, boxes]; int32

        Attributes, call.attrs.NAME:
            score_threshold, to be given
                what TVM's text has of the operand
            id_index = 0 (an integer)
                where in a box its class stands; below 0: there are no classes
            score_index = 1 (an integer)
                where in a box its score stands

        In kernels it has a kernel of its own.
        """
class _op_vision_multibox_prior(_relay.Op):
    def __call__(self, data: _Operand, sizes: _Numbers | _relay.Expr | None = (1.0,), ratios: _Numbers | _relay.Expr | None = (1.0,), steps: _Numbers | _relay.Expr | None = (-1.0, -1.0), offsets: _Numbers | _relay.Expr | None = (0.5, 0.5), clip: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Boxes around each position of a feature map, as left, top, right and bottom from 0 to 1.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any float
                the feature map; its elements do not matter

        Gives:
            [1, boxes, 4]; data's dtype

        Attributes, call.attrs.NAME:
            sizes = (1.0,) (a list of numbers)
                edges of boxes, as parts of the picture
            ratios = (1.0,) (a list of numbers)
                widths by heights
            steps = (-1.0, -1.0) (a list of numbers)
                how far positions are apart, as parts of the picture; -1: as the feature map's size says
            offsets = (0.5, 0.5) (a list of numbers)
                where in its cell a position is
            clip = False (True or False)
                whether boxes are cut off at the picture's edges

        In kernels it has a kernel of its own.
        """
class _op_vision_multibox_transform_loc(_relay.Op):
    def __call__(self, cls_prob: _Operand, loc_pred: _Operand, anchor: _Operand, clip: bool = True, threshold: _Operand = 0.01, variances: _Numbers | _relay.Expr | None = (0.1, 0.1, 0.2, 0.2), keep_background: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Boxes of a detector: predictions applied to anchors, as class, score, left, top, right and bottom; and how many there
        are.

        Operands (numbers and arrays become constants):
            cls_prob: Tensor [N, classes, boxes] of any float
                probabilities of classes, the background first
            loc_pred: Tensor [N, boxes * 4] of cls_prob's dtype (any float)
                how boxes differ from their anchors
            anchor: Tensor [1, boxes, 4] of cls_prob's dtype (any float)
                the boxes of vision.multibox_prior

        Gives a tuple, call[0], call[1] ...:
            boxes: [N, boxes, 6]; cls_prob's dtype
            valid_count: [N]; int32

        Attributes, call.attrs.NAME:
            clip = True (True or False)
                whether boxes are cut off at the picture's edges
            threshold = 0.01 (a number)
                the least score of boxes that count
            variances = (0.1, 0.1, 0.2, 0.2) (a list of numbers)
                what the four parts of a prediction are multiplied by
            keep_background = False (True or False)
                whether boxes of the background are kept

        In kernels it has a kernel of its own.
        """
class _op_vision_non_max_suppression(_relay.Op):
    def __call__(self, data: _Operand, valid_count: _Operand, indices: _Operand, max_output_size: _Operand | None = -1, iou_threshold: _Operand | None = 0.5, force_suppress: bool = False, top_k: _Numbers | _relay.Expr | None = -1, coord_start: _Numbers | _relay.Expr | None = 2, score_index: _Numbers | _relay.Expr | None = 1, id_index: _Numbers | _relay.Expr | None = 0, return_indices: bool = True, invalid_to_bottom: bool = False, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Boxes that overlap none of a higher score too much: their numbers in order of score, and how many. Without
        return_indices, the boxes.

        Operands (numbers and arrays become constants):
            data: Tensor [N, boxes, width] of any float
                rows of a class, a score and a box
            valid_count: Tensor [N] of any integer
                how many rows count
            indices: Tensor [N, boxes] of any integer
                the numbers that rows had (vision.get_valid_counts)
            max_output_size: Tensor [] of any dtype but string
                how many are kept at most; -1: all
            iou_threshold: Tensor [] of any dtype but string
                how far boxes may overlap: the common part by the whole

        Gives a tuple, call[0], call[1] ...:
            indices: [N, boxes]; int32
            counts: [N, 1]; int32

        Attributes, call.attrs.NAME:
            force_suppress = False (True or False)
                whether boxes of different classes are compared too
            top_k = -1 (an integer)
                how many rows of the highest scores are looked at; -1: all
            coord_start = 2 (an integer)
                where in a row the box begins
            score_index = 1 (an integer)
                where in a box its score stands
            id_index = 0 (an integer)
                where in a box its class stands; below 0: there are no classes
            return_indices = True (True or False)
                whether numbers are given, rather than boxes
            invalid_to_bottom = False (True or False)
                whether rows that stay come first

        In kernels it has a kernel of its own.
        """
class _op_vision_proposal(_relay.Op):
    def __call__(self, cls_prob: _Operand, bbox_pred: _Operand, im_info: _Operand, scales: Any, ratios: Any, feature_stride: Any, threshold: Any, rpn_pre_nms_top_n: Any, rpn_post_nms_top_n: Any, rpn_min_size: Any, iou_loss: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Proposals of a region proposal network: the best of its boxes, as the picture's number, left, top, right and bottom.

        Operands (numbers and arrays become constants):
            cls_prob: Tensor [N, A * 2, H, W] of float32
                scores of the background, then of objects, for each anchor
            bbox_pred: Tensor [N, A * 4, H, W] of float32
                how boxes differ from their anchors
            im_info: Tensor [N, 3] of float32
                height, width and scale of each picture

        Gives:
            [N * rpn_post_nms_top_n, 5]; float32

        Attributes, call.attrs.NAME:
            scales, to be given (a list of numbers)
                edges of anchors
            ratios, to be given (a list of numbers)
                heights by widths of anchors
            feature_stride, to be given (an integer)
                how many pixels a position is
            threshold, to be given (a number)
                how far boxes may overlap: the common part by the whole
            rpn_pre_nms_top_n, to be given (an integer)
                how many of the highest scores are looked at; -1: all
            rpn_post_nms_top_n, to be given (an integer)
                how many are given for each picture
            rpn_min_size, to be given (an integer)
                the least edge of a box
            iou_loss, to be given (True or False)
                whether predictions are distances from the anchor's edges

        In kernels it has a kernel of its own.
        """
class _op_vision_regular_non_max_suppression(_relay.Op):
    def __call__(self, boxes: _Operand, scores: _Operand, max_detections_per_class: Any, max_detections: Any, num_classes: Any, iou_threshold: Any, score_threshold: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The detections of TensorFlow Lite: for each class, boxes that overlap none of a higher score too much, and of all
        classes the best ones.

        Operands (numbers and arrays become constants):
            boxes: Tensor [N, boxes, 4] of any float
                top, left, bottom and right
            scores: Tensor [N, boxes, classes] of boxes's dtype (any float)
                a score for each box and class, the background's in front

        Gives a tuple, call[0], call[1] ...:
            boxes: [N, max_detections, 4]; boxes's dtype
            classes: [N, max_detections]; float32
            scores: [N, max_detections]; boxes's dtype
            counts: [N]; int32

        Attributes, call.attrs.NAME:
            max_detections_per_class, to be given (an integer)
                how many are kept of each class at most
            max_detections, to be given (an integer)
                how many are kept in all
            num_classes, to be given (an integer)
                how many classes there are
            iou_threshold, to be given (a number)
                how far boxes may overlap: the common part by the whole
            score_threshold, to be given (a number)
                the least score of boxes that count

        In kernels it has a kernel of its own.
        """
class _op_vision_roi_align(_relay.Op):
    def __call__(self, data: _Operand, rois: _Operand, pooled_size: Any, spatial_scale: Any, sample_ratio: _Numbers | _relay.Expr | None = -1, layout: Literal['NCHW', 'NHWC'] = 'NCHW', mode: Literal['avg', 'max', 'max_corner'] = 'avg', *, aligned: bool = ..., span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Parts of feature maps, in a grid of bins: each is the mean (or the largest) of samples between elements.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any float
                the input
            rois: Tensor [R, 5] of any float
                the picture's number, then left, top, right and bottom

        Gives:
            [R, C, *pooled_size]; data's dtype

        Attributes, call.attrs.NAME:
            pooled_size, to be given (a list of integers)
                the sizes of the result of each box
            spatial_scale, to be given (a number)
                how many elements of the data a unit of the boxes is
            sample_ratio = -1 (an integer)
                how many samples a bin has along each axis; below 1: as its size says
            layout = 'NCHW' (one of NCHW, NHWC)
                the order of the data's dims, a letter for each
            mode = 'avg' (one of avg, max, max_corner)
                "avg", "max", or "max_of_corners" (ONNX's max)
            aligned = False (True or False)
                whether boxes are moved by half an element first

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_vision_roi_pool(_relay.Op):
    def __call__(self, data: _Operand, rois: _Operand, pooled_size: Any, spatial_scale: Any, layout: Literal['NCHW', 'NHWC'] = 'NCHW', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Parts of feature maps, in a grid of bins: each is its largest element.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any float
                the input
            rois: Tensor [R, 5] of any float
                the picture's number, then left, top, right and bottom

        Gives:
            [R, C, *pooled_size]; data's dtype

        Attributes, call.attrs.NAME:
            pooled_size, to be given (a list of integers)
                the sizes of the result of each box
            spatial_scale, to be given (a number)
                how many elements of the data a unit of the boxes is
            layout = 'NCHW' (one of NCHW, NHWC)
                the order of the data's dims, a letter for each

        In kernels it sums products and the like, and takes what makes one element of one into its kernel.
        """
class _op_vision_yolo_reorg(_relay.Op):
    def __call__(self, data: _Operand, stride: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Darknet's reorg: positions become channels, in the order that Darknet has.

        Operands (numbers and arrays become constants):
            data: Tensor [N, C, H, W] of any dtype but string
                the input

        Gives:
            [N, C * stride ** 2, H // stride, W // stride]; data's dtype

        Attributes, call.attrs.NAME:
            stride, to be given (an integer)
                the edge of a block

        In kernels it moves elements.
        """
class _op_vm_shape_of(_relay.Op):
    def __call__(self, data: _Operand, /, dtype: _Text = '', *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """The sizes of a tensor, as TVM's passes write it.

        In NumPy: np.array(data.shape)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [rank]; int64, or dtype

        Attributes, call.attrs.NAME:
            dtype = '' (the name of a dtype)
                the dtype of the result; "": as without it

        In kernels it has a kernel of its own.
        """
class _op_where(_relay.Op):
    def __call__(self, condition: _Operand, x: _Operand, y: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Elements of x where the condition is true, else of y.

        In NumPy: np.where(condition, x, y)

        Operands (numbers and arrays become constants):
            condition: Tensor [...] of any dtype
                what chooses: true is what is not 0
            x: Tensor [...] of any dtype
                elements where the condition holds
            y: Tensor [...] of x's dtype (any dtype)
                elements where it does not

        Gives:
            the operands' shape, broadcast; x's dtype

        In kernels it makes one element of one after broadcasting.
        """
class _op_zeros(_relay.Op):
    def __call__(self, shape: Any, dtype: Any, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """A tensor of zeros.

        In NumPy: np.zeros(shape, dtype)

        It has no operands.

        Gives:
            [*shape]; float32, or dtype

        Attributes, call.attrs.NAME:
            shape, to be given (a list of integers or ?)
                the sizes of the result
            dtype, to be given (the name of a dtype)
                the dtype of the result; "": as without it

        An expression for shape makes a call of dyn.zeros. In kernels it makes one element of one.
        """
class _op_zeros_like(_relay.Op):
    def __call__(self, data: _Operand, *, span: Any = None) -> _relay.Call:  # type: ignore[override]
        """Zeros, of the operand's shape and dtype.

        In NumPy: np.zeros_like(data)

        Operands (numbers and arrays become constants):
            data: Tensor [...] of any dtype
                the input

        Gives:
            [...]; data's dtype

        In kernels it makes one element of one.
        """

class _in_vm:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    shape_of: _op_vm_shape_of

class _in_vision:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    all_class_non_max_suppression: _op_vision_all_class_non_max_suppression
    get_valid_counts: _op_vision_get_valid_counts
    multibox_prior: _op_vision_multibox_prior
    multibox_transform_loc: _op_vision_multibox_transform_loc
    non_max_suppression: _op_vision_non_max_suppression
    proposal: _op_vision_proposal
    regular_non_max_suppression: _op_vision_regular_non_max_suppression
    roi_align: _op_vision_roi_align
    roi_pool: _op_vision_roi_pool
    yolo_reorg: _op_vision_yolo_reorg

class _in_string:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    concat: _op_string_concat
    count_tokens: _op_string_count_tokens
    from_number: _op_string_from_number
    full_match: _op_string_full_match
    id: _op_string_id
    normalize: _op_string_normalize
    rank: _op_string_rank
    split: _op_string_split
    split_count: _op_string_split_count
    to_number: _op_string_to_number
    tokens: _op_string_tokens

class _in_relay_op_annotation:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    simulated_quantize: _op_relay_op_annotation_simulated_quantize

class _in_relay_op:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    annotation: _in_relay_op_annotation

class _in_relay:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    op: _in_relay_op

class _in_random:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    multinomial: _op_random_multinomial
    normal: _op_random_normal
    threefry_generate: _op_random_threefry_generate
    threefry_key: _op_random_threefry_key
    threefry_split: _op_random_threefry_split
    uniform: _op_random_uniform

class _in_qnn:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    abs: _op_qnn_abs
    add: _op_qnn_add
    avg_pool2d: _op_qnn_avg_pool2d
    batch_matmul: _op_qnn_batch_matmul
    concatenate: _op_qnn_concatenate
    conv1d: _op_qnn_conv1d
    conv2d: _op_qnn_conv2d
    conv2d_transpose: _op_qnn_conv2d_transpose
    conv3d: _op_qnn_conv3d
    dense: _op_qnn_dense
    dequantize: _op_qnn_dequantize
    erf: _op_qnn_erf
    exp: _op_qnn_exp
    hardswish: _op_qnn_hardswish
    leaky_relu: _op_qnn_leaky_relu
    log: _op_qnn_log
    mul: _op_qnn_mul
    op: _in_qnn
    quantize: _op_qnn_quantize
    requantize: _op_qnn_requantize
    rsqrt: _op_qnn_rsqrt
    sigmoid: _op_qnn_sigmoid
    simulated_dequantize: _op_qnn_simulated_dequantize
    simulated_quantize: _op_qnn_simulated_quantize
    softmax: _op_qnn_softmax
    sqrt: _op_qnn_sqrt
    subtract: _op_qnn_subtract
    tanh: _op_qnn_tanh

class _in_nn:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    adaptive_avg_pool1d: _op_nn_adaptive_avg_pool1d
    adaptive_avg_pool2d: _op_nn_adaptive_avg_pool2d
    adaptive_avg_pool3d: _op_nn_adaptive_avg_pool3d
    adaptive_max_pool1d: _op_nn_adaptive_max_pool1d
    adaptive_max_pool2d: _op_nn_adaptive_max_pool2d
    adaptive_max_pool3d: _op_nn_adaptive_max_pool3d
    attention: _op_nn_attention
    avg_pool1d: _op_nn_avg_pool1d
    avg_pool2d: _op_nn_avg_pool2d
    avg_pool2d_grad: _op_nn_avg_pool2d_grad
    avg_pool3d: _op_nn_avg_pool3d
    batch_flatten: _op_nn_batch_flatten
    batch_matmul: _op_nn_batch_matmul
    batch_norm: _op_nn_batch_norm
    batch_to_space_nd: _op_nn_batch_to_space_nd
    bias_add: _op_nn_bias_add
    bitpack: _op_nn_bitpack
    bitserial_conv2d: _op_nn_bitserial_conv2d
    bitserial_dense: _op_nn_bitserial_dense
    contrib_conv2d_NCHWc: _op_nn_contrib_conv2d_NCHWc
    contrib_conv2d_nchwc: _op_nn_contrib_conv2d_nchwc
    contrib_conv2d_ordered: _op_nn_contrib_conv2d_ordered
    contrib_conv2d_winograd: _op_nn_contrib_conv2d_winograd
    contrib_dense_blocks: _op_nn_contrib_dense_blocks
    contrib_dense_nbits: _op_nn_contrib_dense_nbits
    contrib_dense_ordered: _op_nn_contrib_dense_ordered
    contrib_dense_pack: _op_nn_contrib_dense_pack
    contrib_depthwise_conv2d_NCHWc: _op_nn_contrib_depthwise_conv2d_NCHWc
    contrib_depthwise_conv2d_nchwc: _op_nn_contrib_depthwise_conv2d_nchwc
    conv1d: _op_nn_conv1d
    conv1d_transpose: _op_nn_conv1d_transpose
    conv2d: _op_nn_conv2d
    conv2d_backward_weight: _op_nn_conv2d_backward_weight
    conv2d_transpose: _op_nn_conv2d_transpose
    conv3d: _op_nn_conv3d
    conv3d_transpose: _op_nn_conv3d_transpose
    correlation: _op_nn_correlation
    cross_entropy: _op_nn_cross_entropy
    cross_entropy_with_logits: _op_nn_cross_entropy_with_logits
    deformable_conv2d: _op_nn_deformable_conv2d
    dense: _op_nn_dense
    depth_to_space: _op_nn_depth_to_space
    dilate: _op_nn_dilate
    dropout: _op_nn_dropout
    dropout_raw: _op_nn_dropout_raw
    fast_softmax: _op_nn_fast_softmax
    fifo_buffer: _op_nn_fifo_buffer
    global_avg_pool1d: _op_nn_global_avg_pool1d
    global_avg_pool2d: _op_nn_global_avg_pool2d
    global_avg_pool3d: _op_nn_global_avg_pool3d
    global_max_pool1d: _op_nn_global_max_pool1d
    global_max_pool2d: _op_nn_global_max_pool2d
    global_max_pool3d: _op_nn_global_max_pool3d
    group_norm: _op_nn_group_norm
    instance_norm: _op_nn_instance_norm
    l2_normalize: _op_nn_l2_normalize
    layer_norm: _op_nn_layer_norm
    leaky_relu: _op_nn_leaky_relu
    log_softmax: _op_nn_log_softmax
    lrn: _op_nn_lrn
    matmul: _op_nn_matmul
    max_pool1d: _op_nn_max_pool1d
    max_pool2d: _op_nn_max_pool2d
    max_pool2d_grad: _op_nn_max_pool2d_grad
    max_pool3d: _op_nn_max_pool3d
    mirror_pad: _op_nn_mirror_pad
    nll_loss: _op_nn_nll_loss
    pad: _op_nn_pad
    prelu: _op_nn_prelu
    relu: _op_nn_relu
    softmax: _op_nn_softmax
    space_to_batch_nd: _op_nn_space_to_batch_nd
    space_to_depth: _op_nn_space_to_depth
    sparse_add: _op_nn_sparse_add
    sparse_conv2d: _op_nn_sparse_conv2d
    sparse_dense: _op_nn_sparse_dense
    sparse_transpose: _op_nn_sparse_transpose
    upsampling: _op_nn_upsampling
    upsampling3d: _op_nn_upsampling3d

class _in_image:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    affine_grid: _op_image_affine_grid
    crop_and_resize: _op_image_crop_and_resize
    dilation2d: _op_image_dilation2d
    grid_sample: _op_image_grid_sample
    resize1d: _op_image_resize1d
    resize2d: _op_image_resize2d
    resize3d: _op_image_resize3d

class _in_dyn_nn:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    pad: _op_dyn_nn_pad
    upsampling: _op_dyn_nn_upsampling
    upsampling3d: _op_dyn_nn_upsampling3d

class _in_dyn_image:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    resize2d: _op_dyn_image_resize2d

class _in_dyn:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    broadcast_to: _op_dyn_broadcast_to
    expand_dims: _op_dyn_expand_dims
    full: _op_dyn_full
    image: _in_dyn_image
    nn: _in_dyn_nn
    one_hot: _op_dyn_one_hot
    ones: _op_dyn_ones
    reshape: _op_dyn_reshape
    sparse_to_dense: _op_dyn_sparse_to_dense
    squeeze: _op_dyn_squeeze
    strided_slice: _op_dyn_strided_slice
    tile: _op_dyn_tile
    topk: _op_dyn_topk
    zeros: _op_dyn_zeros

class _in_annotation:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    bitpack_end: _op_annotation_bitpack_end
    bitpack_start: _op_annotation_bitpack_start
    cast_hint: _op_annotation_cast_hint
    checkpoint: _op_annotation_checkpoint
    compiler_begin: _op_annotation_compiler_begin
    compiler_end: _op_annotation_compiler_end
    function_on_device: _op_annotation_function_on_device
    on_device: _op_annotation_on_device
    stop_fusion: _op_annotation_stop_fusion
    with_funcid: _op_annotation_with_funcid

class _in_:
    def get(self, name: str) -> _relay.Op: ...
    def __call__(self, name: str) -> _relay.Op: ...
    abs: _op_abs
    acos: _op_acos
    acosh: _op_acosh
    add: _op_add
    adv_index: _op_adv_index
    all: _op_all
    annotation: _in_annotation
    any: _op_any
    arange: _op_arange
    argmax: _op_argmax
    argmin: _op_argmin
    argsort: _op_argsort
    argwhere: _op_argwhere
    asin: _op_asin
    asinh: _op_asinh
    atan: _op_atan
    atanh: _op_atanh
    bitwise_and: _op_bitwise_and
    bitwise_not: _op_bitwise_not
    bitwise_or: _op_bitwise_or
    bitwise_xor: _op_bitwise_xor
    broadcast_to: _op_broadcast_to
    broadcast_to_like: _op_broadcast_to_like
    cast: _op_cast
    cast_like: _op_cast_like
    ceil: _op_ceil
    check_range: _op_check_range
    clip: _op_clip
    collapse_sum_like: _op_collapse_sum_like
    collapse_sum_to: _op_collapse_sum_to
    concatenate: _op_concatenate
    contrib_byte_table: _op_contrib_byte_table
    contrib_reverse_reshape: _op_contrib_reverse_reshape
    copy: _op_copy
    cos: _op_cos
    cosh: _op_cosh
    count_grams: _op_count_grams
    cumprod: _op_cumprod
    cumsum: _op_cumsum
    device_copy: _op_device_copy
    dft: _op_dft
    divide: _op_divide
    dyn: _in_dyn
    einsum: _op_einsum
    equal: _op_equal
    erf: _op_erf
    exp: _op_exp
    expand_dims: _op_expand_dims
    fast_erf: _op_fast_erf
    fast_exp: _op_fast_exp
    fast_tanh: _op_fast_tanh
    fixed_point_multiply: _op_fixed_point_multiply
    fixed_point_multiply_per_axis: _op_fixed_point_multiply_per_axis
    floor: _op_floor
    floor_divide: _op_floor_divide
    floor_mod: _op_floor_mod
    full: _op_full
    full_like: _op_full_like
    gather: _op_gather
    gather_nd: _op_gather_nd
    greater: _op_greater
    greater_equal: _op_greater_equal
    image: _in_image
    invert_permutation: _op_invert_permutation
    isfinite: _op_isfinite
    isinf: _op_isinf
    isnan: _op_isnan
    layout_transform: _op_layout_transform
    left_shift: _op_left_shift
    less: _op_less
    less_equal: _op_less_equal
    log: _op_log
    log10: _op_log10
    log2: _op_log2
    logical_and: _op_logical_and
    logical_not: _op_logical_not
    logical_or: _op_logical_or
    logical_xor: _op_logical_xor
    logsumexp: _op_logsumexp
    matrix_set_diag: _op_matrix_set_diag
    max: _op_max
    maximum: _op_maximum
    mean: _op_mean
    mean_std: _op_mean_std
    mean_variance: _op_mean_variance
    meshgrid: _op_meshgrid
    min: _op_min
    minimum: _op_minimum
    mod: _op_mod
    multiply: _op_multiply
    murmur3: _op_murmur3
    ndarray_size: _op_ndarray_size
    negative: _op_negative
    nn: _in_nn
    not_equal: _op_not_equal
    on_device: _op_on_device
    one_hot: _op_one_hot
    ones: _op_ones
    ones_like: _op_ones_like
    power: _op_power
    prod: _op_prod
    qnn: _in_qnn
    random: _in_random
    range_checked: _op_range_checked
    reinterpret: _op_reinterpret
    relay: _in_relay
    repeat: _op_repeat
    reshape: _op_reshape
    reshape_like: _op_reshape_like
    reverse: _op_reverse
    reverse_reshape: _op_reverse_reshape
    reverse_sequence: _op_reverse_sequence
    right_shift: _op_right_shift
    round: _op_round
    round_even: _op_round_even
    rsqrt: _op_rsqrt
    scatter_elements: _op_scatter_elements
    scatter_nd: _op_scatter_nd
    searchsorted: _op_searchsorted
    segment_sum: _op_segment_sum
    sequence_mask: _op_sequence_mask
    shape_of: _op_shape_of
    sigmoid: _op_sigmoid
    sign: _op_sign
    sin: _op_sin
    sinh: _op_sinh
    slice_like: _op_slice_like
    sliding_window: _op_sliding_window
    sort: _op_sort
    sparse_fill_empty_rows: _op_sparse_fill_empty_rows
    sparse_reshape: _op_sparse_reshape
    sparse_to_dense: _op_sparse_to_dense
    split: _op_split
    sqrt: _op_sqrt
    squeeze: _op_squeeze
    stack: _op_stack
    std: _op_std
    stft: _op_stft
    strided_set: _op_strided_set
    strided_slice: _op_strided_slice
    string: _in_string
    subtract: _op_subtract
    sum: _op_sum
    take: _op_take
    tan: _op_tan
    tanh: _op_tanh
    tile: _op_tile
    topk: _op_topk
    transpose: _op_transpose
    trilu: _op_trilu
    trunc: _op_trunc
    trunc_divide: _op_trunc_divide
    trunc_mod: _op_trunc_mod
    unique: _op_unique
    unique_rows: _op_unique_rows
    unravel_index: _op_unravel_index
    variance: _op_variance
    vision: _in_vision
    vm: _in_vm
    where: _op_where
    zeros: _op_zeros
    zeros_like: _op_zeros_like

__all__ = ["op", "abs", "acos", "acosh", "add", "adv_index", "all", "annotation", "any", "arange", "argmax", "argmin", "argsort", "argwhere", "asin", "asinh", "atan", "atanh", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "broadcast_to", "broadcast_to_like", "cast", "cast_like", "ceil", "check_range", "clip", "collapse_sum_like", "collapse_sum_to", "concatenate", "contrib_byte_table", "contrib_reverse_reshape", "copy", "cos", "cosh", "count_grams", "cumprod", "cumsum", "device_copy", "dft", "divide", "dyn", "einsum", "equal", "erf", "exp", "expand_dims", "fast_erf", "fast_exp", "fast_tanh", "fixed_point_multiply", "fixed_point_multiply_per_axis", "floor", "floor_divide", "floor_mod", "full", "full_like", "gather", "gather_nd", "greater", "greater_equal", "image", "invert_permutation", "isfinite", "isinf", "isnan", "layout_transform", "left_shift", "less", "less_equal", "log", "log10", "log2", "logical_and", "logical_not", "logical_or", "logical_xor", "logsumexp", "matrix_set_diag", "max", "maximum", "mean", "mean_std", "mean_variance", "meshgrid", "min", "minimum", "mod", "multiply", "murmur3", "ndarray_size", "negative", "nn", "not_equal", "on_device", "one_hot", "ones", "ones_like", "power", "prod", "qnn", "random", "range_checked", "reinterpret", "relay", "repeat", "reshape", "reshape_like", "reverse", "reverse_reshape", "reverse_sequence", "right_shift", "round", "round_even", "rsqrt", "scatter_elements", "scatter_nd", "searchsorted", "segment_sum", "sequence_mask", "shape_of", "sigmoid", "sign", "sin", "sinh", "slice_like", "sliding_window", "sort", "sparse_fill_empty_rows", "sparse_reshape", "sparse_to_dense", "split", "sqrt", "squeeze", "stack", "std", "stft", "strided_set", "strided_slice", "string", "subtract", "sum", "take", "tan", "tanh", "tile", "topk", "transpose", "trilu", "trunc", "trunc_divide", "trunc_mod", "unique", "unique_rows", "unravel_index", "variance", "vision", "where", "zeros", "zeros_like"]

op: _in_
abs: _op_abs
acos: _op_acos
acosh: _op_acosh
add: _op_add
adv_index: _op_adv_index
all: _op_all
annotation: _in_annotation
any: _op_any
arange: _op_arange
argmax: _op_argmax
argmin: _op_argmin
argsort: _op_argsort
argwhere: _op_argwhere
asin: _op_asin
asinh: _op_asinh
atan: _op_atan
atanh: _op_atanh
bitwise_and: _op_bitwise_and
bitwise_not: _op_bitwise_not
bitwise_or: _op_bitwise_or
bitwise_xor: _op_bitwise_xor
broadcast_to: _op_broadcast_to
broadcast_to_like: _op_broadcast_to_like
cast: _op_cast
cast_like: _op_cast_like
ceil: _op_ceil
check_range: _op_check_range
clip: _op_clip
collapse_sum_like: _op_collapse_sum_like
collapse_sum_to: _op_collapse_sum_to
concatenate: _op_concatenate
contrib_byte_table: _op_contrib_byte_table
contrib_reverse_reshape: _op_contrib_reverse_reshape
copy: _op_copy
cos: _op_cos
cosh: _op_cosh
count_grams: _op_count_grams
cumprod: _op_cumprod
cumsum: _op_cumsum
device_copy: _op_device_copy
dft: _op_dft
divide: _op_divide
dyn: _in_dyn
einsum: _op_einsum
equal: _op_equal
erf: _op_erf
exp: _op_exp
expand_dims: _op_expand_dims
fast_erf: _op_fast_erf
fast_exp: _op_fast_exp
fast_tanh: _op_fast_tanh
fixed_point_multiply: _op_fixed_point_multiply
fixed_point_multiply_per_axis: _op_fixed_point_multiply_per_axis
floor: _op_floor
floor_divide: _op_floor_divide
floor_mod: _op_floor_mod
full: _op_full
full_like: _op_full_like
gather: _op_gather
gather_nd: _op_gather_nd
greater: _op_greater
greater_equal: _op_greater_equal
image: _in_image
invert_permutation: _op_invert_permutation
isfinite: _op_isfinite
isinf: _op_isinf
isnan: _op_isnan
layout_transform: _op_layout_transform
left_shift: _op_left_shift
less: _op_less
less_equal: _op_less_equal
log: _op_log
log10: _op_log10
log2: _op_log2
logical_and: _op_logical_and
logical_not: _op_logical_not
logical_or: _op_logical_or
logical_xor: _op_logical_xor
logsumexp: _op_logsumexp
matrix_set_diag: _op_matrix_set_diag
max: _op_max
maximum: _op_maximum
mean: _op_mean
mean_std: _op_mean_std
mean_variance: _op_mean_variance
meshgrid: _op_meshgrid
min: _op_min
minimum: _op_minimum
mod: _op_mod
multiply: _op_multiply
murmur3: _op_murmur3
ndarray_size: _op_ndarray_size
negative: _op_negative
nn: _in_nn
not_equal: _op_not_equal
on_device: _op_on_device
one_hot: _op_one_hot
ones: _op_ones
ones_like: _op_ones_like
power: _op_power
prod: _op_prod
qnn: _in_qnn
random: _in_random
range_checked: _op_range_checked
reinterpret: _op_reinterpret
relay: _in_relay
repeat: _op_repeat
reshape: _op_reshape
reshape_like: _op_reshape_like
reverse: _op_reverse
reverse_reshape: _op_reverse_reshape
reverse_sequence: _op_reverse_sequence
right_shift: _op_right_shift
round: _op_round
round_even: _op_round_even
rsqrt: _op_rsqrt
scatter_elements: _op_scatter_elements
scatter_nd: _op_scatter_nd
searchsorted: _op_searchsorted
segment_sum: _op_segment_sum
sequence_mask: _op_sequence_mask
shape_of: _op_shape_of
sigmoid: _op_sigmoid
sign: _op_sign
sin: _op_sin
sinh: _op_sinh
slice_like: _op_slice_like
sliding_window: _op_sliding_window
sort: _op_sort
sparse_fill_empty_rows: _op_sparse_fill_empty_rows
sparse_reshape: _op_sparse_reshape
sparse_to_dense: _op_sparse_to_dense
split: _op_split
sqrt: _op_sqrt
squeeze: _op_squeeze
stack: _op_stack
std: _op_std
stft: _op_stft
strided_set: _op_strided_set
strided_slice: _op_strided_slice
string: _in_string
subtract: _op_subtract
sum: _op_sum
take: _op_take
tan: _op_tan
tanh: _op_tanh
tile: _op_tile
topk: _op_topk
transpose: _op_transpose
trilu: _op_trilu
trunc: _op_trunc
trunc_divide: _op_trunc_divide
trunc_mod: _op_trunc_mod
unique: _op_unique
unique_rows: _op_unique_rows
unravel_index: _op_unravel_index
variance: _op_variance
vision: _in_vision
where: _op_where
zeros: _op_zeros
zeros_like: _op_zeros_like
