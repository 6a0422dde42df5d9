// Complex tensors: real and imaginary parts along one dim more, the last. See argument.h.
#pragma once

#include "compiler/import/torch/convert.h"

namespace relayvm::import::torch {

// A part of a complex tensor: pairs along the last axis.
inline Term Part(const Term& x, int64_t i) {
  return Term(x.b(), x.b().Squeeze(x.Slice(x.rank() - 1, i, i + 1), {x.rank() - 1}));
}
inline Argument Complex(const Term& real, const Term& imaginary) {
  TypedBuilder& b = real.b();
  Term re = real, im = imaginary;
  if (re.value().shape() != im.value().shape()) {  // parts that broadcast
    const Value shape = b.ShapeOf(re + im);
    re = Term(b, BroadcastTo(b, real, shape));
    im = Term(b, BroadcastTo(b, imaginary, shape));
  }
  const int rank = std::max(re.rank(), im.rank());
  Argument a = b.Concat({b.ExpandDims(re, rank), b.ExpandDims(im, rank)}, rank);
  a.complex = true;
  return a;
}
struct Parts {
  Term re, im;
};
inline Parts PartsOf(const Call& n, size_t i, DType dtype) {
  const Argument& a = n.Arg(i);
  if (a.complex) {
    const Term x(n, n.b().Cast(a.value, dtype));
    return {Part(x, 0), Part(x, 1)};
  }
  if (a.is(Argument::Kind::kComplex))
    return {{n, n.b().Scalar(a.real, dtype)}, {n, n.b().Scalar(a.imaginary, dtype)}};
  return {Operand(n, i, dtype), {n, n.b().Scalar(0, dtype)}};
}
inline bool IsComplex(const Call& n) {
  for (size_t i = 0; i < 2; ++i) {
    if (n.Arg(i).complex || n.Arg(i).is(Argument::Kind::kComplex)) return true;
  }
  return false;
}

}  // namespace relayvm::import::torch
