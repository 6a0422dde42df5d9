// To codes and back, and between dtypes.
#include <algorithm>
#include <cmath>
#include <string>

#include "compiler/import/tflite/quantised.h"

namespace relayvm::import::tflite {

namespace {

Outputs Quantize(NodeContext& n) {
  if (!n.Out().quantisation) return n.Fail("its output has no scale");
  if (IsFloat(n.Input(0).dtype())) return {QuantisedTo(Term(n, 0).As(DType::kFloat32), n.Out())};
  if (!n.In(0).quantisation) return n.Fail("its input has no scale");
  return {Rescaled(n, n.Input(0), n.In(0), n.Out())};
}

Outputs Dequantize(NodeContext& n) { return {RealOf(n, n.Input(0), n.In(0))}; }

Outputs Densify(NodeContext& n) { return {n.Input(0)}; }  // constants are dense already

// Rounded to one of 2^bits numbers, of which 0 is one.
Outputs FakeQuant(NodeContext& n) {
  const auto& o = n.Get<fb::FakeQuantOptions>();
  const int bits = o.num_bits();
  if (bits < 2 || bits > 16 || !(o.min() < o.max()))
    return n.Fail("{} bits for {} to {}", bits, o.min(), o.max());
  const double low = o.narrow_range() ? 1 : 0, high = std::exp2(bits) - 1;
  const float scale = (o.max() - o.min()) / static_cast<float>(high - low);
  const double at = low - static_cast<double>(o.min() / scale);
  const double zero = std::round(std::clamp(at, low, high));
  const double least = (low - zero) * static_cast<double>(scale);
  const double most = (high - zero) * static_cast<double>(scale);
  const Term x = Term(n, 0).Call("clip", {{"a_min", least}, {"a_max", most}});
  const Term steps = Floor((x - least) / static_cast<double>(scale) + 0.5);
  return {steps * static_cast<double>(scale) + least};
}

Outputs CastTo(NodeContext& n) {
  const auto dtype = n.Out().dtype;
  if (!dtype) return n.Unsupported("elements of {}", TypeName(n.Out().type));
  if (n.In(0).is_complex() != n.Out().is_complex()) {
    const Term x(n, 0);
    const int last = x.rank() - 1;
    if (n.In(0).is_complex())
      return {Term(n.b(), n.b().Squeeze(x.Slice(last, 0, 1), {last})).As(*dtype)};
    const Term real = x.As(DType::kFloat32);
    return {n.b().Op("stack", {n.b().Tuple({real, real * 0})}, {{"axis", -1}})};
  }
  const Term x(n, 0);
  // Floats beyond the range of small integers are its ends.
  if (IsFloat(x.dtype()) && IsInt(*dtype) && DTypeBytes(*dtype) <= 2) {
    const CodeLimits limits = LimitsOf(n.Out());
    return {x.Call("clip", {{"a_min", static_cast<double>(limits.low)},
                            {"a_max", static_cast<double>(limits.high)}})
                .As(*dtype)};
  }
  if (!IsFloat(x.dtype()) || !IsInt(*dtype)) return {x.As(*dtype)};
  // NaN is the greatest of larger ones.
  const Term whole = x.As(*dtype);
  const int64_t most = *dtype == DType::kInt64 ? INT64_MAX : INT32_MAX;
  if (IsUnsignedInt(*dtype)) return {whole};
  return {Select(Equal(x, x), whole, Term(n.b(), n.b().Int(most, *dtype)))};
}

DType WholeOfBytes(int bytes) {
  constexpr DType kTypes[] = {DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64};
  return kTypes[bytes == 8 ? 3 : bytes / 2];
}

Term BitsAs(const Term& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return x.Call("reinterpret", {{"dtype", std::string(DTypeName(dtype))}});
}

// The bits as elements of another dtype: the low ones come first along one axis more, or of the
// last axis, which goes.
Outputs Bitcast(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto to = n.Out().dtype;
  const Term x(n, 0);
  if (!to || *to == DType::kBool || x.dtype() == DType::kBool || *to == DType::kString ||
      x.dtype() == DType::kString) {
    return n.Unsupported("{} to {}", TypeName(n.In(0).type), TypeName(n.Out().type));
  }
  const int from = DTypeBytes(x.dtype()), wanted = DTypeBytes(*to);
  if (from == wanted) return {BitsAs(x, *to)};
  const DType wide = WholeOfBytes(std::max(from, wanted)),
              narrow = WholeOfBytes(std::min(from, wanted));
  const int count = std::max(from, wanted) / std::min(from, wanted);
  const auto place = [&](int i) { return b.Int(int64_t{i} * 8 * DTypeBytes(narrow), wide); };
  if (from > wanted) {
    const Term bits = BitsAs(x, wide);
    std::vector<Value> parts;
    for (int i = 0; i < count; ++i)
      parts.push_back(bits.Call("right_shift", place(i)).As(narrow).Expand(x.rank()));
    return {BitsAs(Term(b, b.Concat(parts, x.rank())), *to)};
  }
  const int last = x.rank() - 1;
  if (last < 0 || !x.value().dim(last).is_const(count))
    return n.Fail("expected a last axis of {}", count);
  const Term bits = BitsAs(x, narrow).As(wide);
  std::optional<Term> all;
  for (int i = 0; i < count; ++i) {
    const Term part(b, b.Squeeze(bits.Slice(last, i, i + 1), {last}));
    const Term moved = part.Call("left_shift", place(i));
    all = all ? all->Call("bitwise_or", moved) : moved;
  }
  return {BitsAs(*all, *to)};
}

}  // namespace

std::span<const OperatorDef> QuantOperators() {
  static constexpr OperatorDef kTable[] = {
      {Code::QUANTIZE, 1, 1, Quantize},
      {Code::DEQUANTIZE, 1, 1, Dequantize},
      {Code::DENSIFY, 1, 1, Densify},
      {Code::FAKE_QUANT, 1, 1, FakeQuant, Options::FakeQuantOptions},
      {Code::CAST, 1, 1, CastTo, Options::CastOptions},
      {Code::BITCAST, 1, 1, Bitcast},
  };
  return kTable;
}

}  // namespace relayvm::import::tflite
