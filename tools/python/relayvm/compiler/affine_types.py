"""What integers stand for: real = (integer - zero_point) * scale. As TVM's tvm.ir.TensorAffineType and TupleAffineType."""
from .objects import Node
from .structural import structural_equal


class AffineType(Node):
    """An affine type."""

    def __hash__(self):
        return id(self)


class TensorAffineType(AffineType):
    """Of tensors of a dtype: scale and zero_point are expressions, numbers or one for each place of `axis`."""

    def __init__(self, scale, zero_point, dtype, axis=-1):
        self.scale, self.zero_point, self.dtype, self.axis = scale, zero_point, str(dtype), int(axis)

    def __eq__(self, other):
        if not isinstance(other, TensorAffineType):
            return NotImplemented
        return (self.dtype, self.axis) == (other.dtype, other.axis) and structural_equal([self.scale, self.zero_point],
                                                                                        [other.scale, other.zero_point])

    __hash__ = AffineType.__hash__

    def __repr__(self):
        return f"TensorAffineType({self.scale!r}, {self.zero_point!r}, {self.dtype}, {self.axis})"


class TupleAffineType(AffineType):
    """Of tuples."""

    def __init__(self, types):
        self.types = list(types)

    def __eq__(self, other):
        return self.types == other.types if isinstance(other, TupleAffineType) else NotImplemented

    __hash__ = AffineType.__hash__

    def __repr__(self):
        return f"TupleAffineType({self.types})"
