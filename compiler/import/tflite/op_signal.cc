// Complex numbers, which are pairs along a last axis, and Fourier transforms.
#include "compiler/import/composite/padding.h"
#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

namespace {

// The real (0) or imaginary (1) parts.
Term PartOf(NodeContext& n, int64_t which) {
  const Term x(n, 0);
  const int last = x.rank() - 1;
  return {n.b(), n.b().Squeeze(x.Slice(last, which, which + 1), {last})};
}

Outputs Real(NodeContext& n) { return {n.In(0).is_complex() ? PartOf(n, 0) : Term(n, 0)}; }
Outputs Imaginary(NodeContext& n) {
  if (!n.In(0).is_complex()) return {Term(n, 0).Call("zeros_like")};
  return {PartOf(n, 1)};
}

Outputs Magnitude(NodeContext& n) {
  if (!n.In(0).is_complex()) return {Abs(Term(n, 0))};
  const Term re = PartOf(n, 0), im = PartOf(n, 1);
  // Without overflow: by the larger part.
  const Term large = Maximum(Abs(re), Abs(im)), small = Minimum(Abs(re), Abs(im));
  const Term ratio = small / Select(large > 0, large, large.Number(1));
  return {large * Sqrt(ratio * ratio + 1)};
}

struct Parts {
  Term re, im;
};
Parts TransformedRows(const Parts& x) {
  TypedBuilder& b = x.re.b();
  const std::vector<Value> y = b.Ops("dft", {x.re, x.im}, {{"inverse", false}});
  if (y.size() != 2) return x;
  return {{b, y[0]}, {b, y[1]}};
}

// Over the last two axes, of which the second keeps its first half and one more.
Outputs RealTransform2D(NodeContext& n) {
  TypedBuilder& b = n.b();
  Term x(n, 0);
  const auto sizes = n.ConstantInts(1, "fft_length");
  if (!sizes) return {};
  if (sizes->size() != 2 || (*sizes)[0] < 1 || (*sizes)[1] < 1 || x.rank() < 2)
    return n.Fail("expected two lengths, and an input of 2 dims or more");
  for (int i = 0; i < 2; ++i) {  // cut, or zeros behind
    const int axis = x.rank() - 2 + i;
    const int64_t size = (*sizes)[static_cast<size_t>(i)];
    x = x.Slice(axis, 0, size);
    if (x.value().dim(axis).is_const(size)) continue;
    std::vector<Value> after(static_cast<size_t>(x.rank()), b.Ints({0}));
    after[static_cast<size_t>(axis)] = Term(b, b.Ints({size})) - Term(b, b.DimOf(x, axis));
    x = Term(b, PaddedBehind(b, x, Term(b, b.Concat(after, 0))));
  }
  const int last = x.rank() - 1;
  std::vector<int64_t> swapped = Iota(x.rank());
  std::swap(swapped[static_cast<size_t>(last)], swapped[static_cast<size_t>(last - 1)]);
  const auto half = [&](const Term& v) {
    return v.Slice(last, 0, (*sizes)[1] / 2 + 1).Transpose(swapped);
  };
  const Parts rows = TransformedRows({x, x.Call("zeros_like")});
  const Parts both = TransformedRows({half(rows.re), half(rows.im)});
  const Term re = both.re.Transpose(swapped), im = both.im.Transpose(swapped);
  return {b.Concat({re.Expand(re.rank()), im.Expand(re.rank())}, re.rank())};
}

}  // namespace

std::span<const OperatorDef> SignalOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::REAL, 1, 1, Real},
      {Code::IMAG, 1, 1, Imaginary},
      {Code::COMPLEX_ABS, 1, 1, Magnitude},
      {Code::RFFT2D, 2, 2, RealTransform2D},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
