// Reductions over axes that are an input.
#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "compiler/import/composite/axes.h"
#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

namespace {

// The axes, each once; nullopt where only running tells, or with an error.
std::optional<std::vector<int64_t>> KnownAxes(NodeContext& n, int rank) {
  const auto given = n.b().ConstantInts(n.Input(1));
  if (!given) return std::nullopt;
  std::set<int64_t> axes;
  for (const int64_t a : *given) {
    if (rank > 0) axes.insert(n.Axis(a, rank));
  }
  return std::vector<int64_t>(axes.begin(), axes.end());
}

bool KeepsDims(NodeContext& n) { return n.Get<fb::ReducerOptions>().keep_dims(); }

// By Relay's operator; of codes too, where it only chooses among them.
std::optional<Term> Reduced(NodeContext& n, const Term& x, const char* op) {
  const auto axes = KnownAxes(n, x.rank());
  if (!n.b().status().ok()) return std::nullopt;
  if (axes) return x.Over(op, *axes, KeepsDims(n));
  const auto count = CountOf(n, n.Input(1), "axes");
  if (!count) return std::nullopt;
  const Term checked = CheckedAxes({n, 1, "axes"}, x.rank(), *count);
  return Term(n.b(),
              ReduceBy({n.b(), x, n.InputText(0, "input")}, op, checked, KeepsDims(n), false));
}

// How many elements there are for each of the result; int64 scalar.
Term CountReduced(NodeContext& n, const Term& x, const std::vector<int64_t>& axes) {
  Term count(n.b(), n.b().Int(1));
  for (const int64_t a : axes) count = count * Extent(n.b(), x, static_cast<int>(a));
  return count;
}

// x * factor / count, of which as many bits are kept as the count has.
Term TimesOver(const Term& x, Factor f, const Term& count) {
  const Term one = count.Number(1);
  const Term bits = count.Number(31) - LeadingZeros(count.As(DType::kInt32)).As(DType::kInt64);
  const Term shift =
      Maximum(count.Number(0),
              Minimum(bits, count.Number(static_cast<double>(std::min(32, 31 + f.shift)))));
  const Term whole(x.b(), x.b().Int(f.significand));
  const Term significand =
      whole.Call("left_shift", shift).Call("floor_divide", Maximum(count, one)).As(DType::kInt32);
  return TimesComputed(x, significand, (shift.Number(f.shift) - shift).As(DType::kInt32));
}

Outputs SumOrMean(NodeContext& n, bool is_mean) {
  const Term x(n, 0);
  TypedBuilder& b = n.b();
  if (!IsQuantised(n.In(0)) || !IsQuantised(n.Out())) {
    if (!is_mean || IsFloat(x.dtype())) {
      const auto y = Reduced(n, x, is_mean ? "mean" : "sum");
      return y ? Outputs{*y} : Outputs{};
    }
    const auto axes = KnownAxes(n, x.rank());
    if (!axes) return n.Unsupported("axes must be known when compiling");
    const Term sum = x.Over("sum", *axes, KeepsDims(n));
    return {sum / CountReduced(n, x, *axes).As(x.dtype())};
  }
  const auto axes = KnownAxes(n, x.rank());
  if (!axes) return n.Unsupported("axes must be known when compiling");
  const Tensor &in = n.In(0), &out = n.Out();
  const Term sum = Centred(n, 0).Over("sum", *axes, KeepsDims(n));
  const double ratio = in.quantisation.scale() / out.quantisation.scale();
  if (!is_mean) return {CodesOf(Times(sum, FactorOf(ratio)), out)};
  const Term count = CountReduced(n, x, *axes);
  const auto known = b.ConstantInts(count);
  if (known && (*known)[0] < 1) return {(sum * 0).As(x.dtype())};  // code 0
  // The count goes into the factor, of which as many bits are kept as it has.
  Factor f = FactorOf(ratio);
  if (!known) return {CodesOf(TimesOver(sum, f, count), out)};
  int shift = 63 - std::countl_zero(static_cast<uint64_t>((*known)[0]));
  shift = std::max(0, std::min({shift, 32, 31 + f.shift}));
  f.significand = static_cast<int32_t>((int64_t{f.significand} << shift) / (*known)[0]);
  f.shift -= shift;
  return {CodesOf(Times(sum, f), out)};
}

Outputs Mean(NodeContext& n) { return SumOrMean(n, true); }
Outputs SumOver(NodeContext& n) { return SumOrMean(n, false); }

// The parts of x at each place of its first `count` axes, in order.
void PartsOf(const Term& x, size_t count, std::vector<Term>& parts) {
  if (count == 0) return parts.push_back(x);
  for (int64_t i = 0; i < x.value().dim(0).value(); ++i)
    PartsOf(x.Take(x.b().Int(i), 0), count - 1, parts);
}

// Codes are multiplied one by one, each product by its share of the scales.
Outputs ProductOfCodes(NodeContext& n) {
  constexpr int64_t kMost = 256;
  const Term x = Centred(n, 0);
  const auto axes = KnownAxes(n, x.rank());
  if (!axes) return n.Unsupported("axes must be known when compiling");
  int64_t count = 1;
  std::vector<int64_t> order = *axes;
  for (int64_t a = 0; a < x.rank(); ++a) {
    if (!std::ranges::binary_search(*axes, a)) {
      order.push_back(a);
      continue;
    }
    const Dim extent = x.value().dim(static_cast<int>(a));
    count = extent.is_const() ? count * std::min(extent.value(), kMost + 1) : 0;
    if (count < 1 || count > kMost)
      return n.Unsupported("products of codes over an extent that is open, 0 or beyond {}", kMost);
  }
  std::vector<Term> parts;
  PartsOf(x.Transpose(order), axes->size(), parts);
  const Tensor& out = n.Out();
  const double share = n.In(0).quantisation.scale() /
                       std::pow(out.quantisation.scale(), 1.0 / static_cast<double>(count));
  Term product = parts[0].As(DType::kInt64);
  for (size_t i = 1; i < parts.size(); ++i)
    product = TimesWide(product * parts[i].As(DType::kInt64), {share}).As(DType::kInt64);
  if (KeepsDims(n))
    for (const int64_t a : *axes) product = product.Expand(static_cast<int>(a));
  return {CodesOf(TimesWide(product, {share}), out)};
}

Outputs ProductOver(NodeContext& n) {
  if (IsQuantised(n.In(0)) && IsQuantised(n.Out())) return ProductOfCodes(n);
  const auto y = Reduced(n, Term(n, 0), "prod");
  return y ? Outputs{*y} : Outputs{};
}

Outputs MaxOver(NodeContext& n) {
  const auto y = Reduced(n, Term(n, 0), "max");
  return y ? Outputs{*y} : Outputs{};
}
Outputs MinOver(NodeContext& n) {
  const auto y = Reduced(n, Term(n, 0), "min");
  return y ? Outputs{*y} : Outputs{};
}

// Of truths: by the least or the greatest where axes are computed.
Outputs AllOver(NodeContext& n) {
  const auto y = KnownAxes(n, n.Input(0).rank()) ? Reduced(n, Term(n, 0), "all")
                                                 : Reduced(n, Term(n, 0).As(DType::kInt32), "min");
  return y ? Outputs{y->As(DType::kBool)} : Outputs{};
}
Outputs AnyOver(NodeContext& n) {
  const auto y = KnownAxes(n, n.Input(0).rank()) ? Reduced(n, Term(n, 0), "any")
                                                 : Reduced(n, Term(n, 0).As(DType::kInt32), "max");
  return y ? Outputs{y->As(DType::kBool)} : Outputs{};
}

DType IndexType(fb::TensorType type) {
  return type == fb::TensorType::INT64 ? DType::kInt64 : DType::kInt32;
}

Outputs PlaceOfExtreme(NodeContext& n, const char* op, fb::TensorType type) {
  const Term x(n, 0);
  const auto axis = n.ConstantInts(1, "axis");
  if (!axis || axis->size() != 1)
    return n.b().status().ok() ? n.Fail("expected one axis") : Outputs{};
  const int at = n.Axis((*axis)[0], x.rank());
  return {x.Call(op, {{"axis", AttrList{at}}, {"keepdims", false}}).As(IndexType(type))};
}

Outputs PlaceOfMax(NodeContext& n) {
  return PlaceOfExtreme(n, "argmax", n.Get<fb::ArgMaxOptions>().output_type());
}
Outputs PlaceOfMin(NodeContext& n) {
  return PlaceOfExtreme(n, "argmin", n.Get<fb::ArgMinOptions>().output_type());
}

Outputs CumulativeSum(NodeContext& n) {
  const auto& o = n.Get<fb::CumsumOptions>();
  const Term x(n, 0);
  const auto axis = n.ConstantInts(1, "axis");
  if (!axis || axis->size() != 1)
    return n.b().status().ok() ? n.Fail("expected one axis") : Outputs{};
  return {x.Call("cumsum", {{"axis", n.Axis((*axis)[0], x.rank())},
                            {"exclusive", o.exclusive()},
                            {"reversed", o.reverse()}})};
}

}  // namespace

std::span<const OperatorDef> ReduceOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::MEAN, 2, 2, Mean, Options::ReducerOptions},
      {Code::SUM, 2, 2, SumOver, Options::ReducerOptions},
      {Code::REDUCE_PROD, 2, 2, ProductOver, Options::ReducerOptions},
      {Code::REDUCE_MAX, 2, 2, MaxOver, Options::ReducerOptions},
      {Code::REDUCE_MIN, 2, 2, MinOver, Options::ReducerOptions},
      {Code::REDUCE_ANY, 2, 2, AnyOver, Options::ReducerOptions},
      {Code::REDUCE_ALL, 2, 2, AllOver, Options::ReducerOptions},
      {Code::ARG_MAX, 2, 2, PlaceOfMax, Options::ArgMaxOptions},
      {Code::ARG_MIN, 2, 2, PlaceOfMin, Options::ArgMinOptions},
      {Code::CUMSUM, 2, 2, CumulativeSum, Options::CumsumOptions},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
