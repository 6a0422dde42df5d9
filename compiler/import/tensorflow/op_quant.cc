// Numbers as few bits hold them: FakeQuant, QuantizeAndDequantize, quantised tensors.
#include <cmath>

#include "compiler/import/composite/quantised.h"
#include "compiler/import/tensorflow/convert.h"

namespace relayvm::import::tensorflow {

namespace {

// --- FakeQuant: the range is moved so that 0 is one of its numbers ---

Outputs FakeQuantised(NodeContext& n, const Term& low, const Term& high) {
  const Term x(n, 0);
  const int64_t bits = n.Int("num_bits", 8);
  if (bits < 2 || bits > 16) return n.Fail("num_bits: expected 2 to 16, found {}", bits);
  const double first = n.Bool("narrow_range", false) ? 1 : 0,
               last = std::ldexp(1, static_cast<int>(bits)) - 1;
  const Term scale = (high - low) / (last - first);
  const Term zero = first - low / scale;
  const Term nudged = Clamp(Floor(zero + 0.5), zero.Number(first), zero.Number(last));
  const Term from = (first - nudged) * scale, to = (last - nudged) * scale;
  const Term steps = Floor((Clamp(x, from, to) - from) * (1.0 / scale) + 0.5);
  const Term none = And(Equal(low, 0), Equal(high, 0));
  return {Select(none, x.Number(0), steps * scale + from)};
}
Outputs FakeQuantArgs(NodeContext& n) {
  const Term x(n, 0);
  return FakeQuantised(n, x.Number(n.Float("min", -6)), x.Number(n.Float("max", 6)));
}
Outputs FakeQuantVars(NodeContext& n) {
  return FakeQuantised(n, AsScalar(Term(n, 1)), AsScalar(Term(n, 2)));
}
Outputs FakeQuantChannels(NodeContext& n) { return FakeQuantised(n, Term(n, 1), Term(n, 2)); }

// --- QuantizeAndDequantize: 0 stays 0 ---

Term RoundedAs(const Term& x, bool to_even) {
  return to_even ? x.Call("round_even") : Floor(x + 0.5);
}

// `bits` is a number or a scalar float.
Outputs Requantised(NodeContext& n, Term low, Term high, const Term& bits, bool given) {
  const Term x(n, 0);
  const bool is_signed = n.Bool("signed_input", true), narrow = n.Bool("narrow_range", false);
  const bool to_even = n.String("round_mode", "HALF_TO_EVEN") == "HALF_TO_EVEN";
  const int64_t axis = n.Int("axis", -1);
  if (!given) {
    std::vector<int64_t> axes;
    for (int i = 0; i < x.rank(); ++i) {
      if (axis == -1 || i != axis) axes.push_back(i);
    }
    low = axes.empty() ? x : x.Over("min", axes);
    high = axes.empty() ? x : x.Over("max", axes);
  } else if (axis != -1 && low.rank() == 1) {
    low = Along(low, static_cast<int>(axis), x.rank());
    high = Along(high, static_cast<int>(axis), x.rank());
  }
  const Term two = bits.Number(2);
  const Term half = two.Call("power", bits - 1);
  const Term least = is_signed ? (narrow ? 1.0 - half : -half) : bits.Number(0);
  const Term most = is_signed ? half - 1 : two.Call("power", bits) - 1;
  const Term infinite = x.Number(3.402823e38);
  const auto factor = [&](const Term& end, const Term& number) {
    return Select(end * number > 0, end / number, infinite);
  };
  const Term by_low = factor(least, low), by_high = factor(most, high);
  const Term low_decides = by_low < by_high;
  const Term scale = Select(low_decides, by_low, by_high);
  const Term safe = Select(Equal(least, 0), least.Number(1), least);
  const Term inverse = Select(low_decides, low / safe, high / most);
  Term data = x;
  if (given) {
    data = Clamp(x, Select(low_decides, low, least * inverse),
                 Select(low_decides, most * inverse, high));
  }
  return {RoundedAs(data * scale, to_even) * inverse};
}
Outputs QuantizeAndDequantizeOld(NodeContext& n) {
  const Term x(n, 0);
  return Requantised(n, x.Number(n.Float("input_min", 0)), x.Number(n.Float("input_max", 0)),
                     x.Number(static_cast<double>(n.Int("num_bits", 8))),
                     n.Bool("range_given", false));
}
Outputs QuantizeAndDequantize(NodeContext& n) {
  const Term x(n, 0);
  return Requantised(n, Term(n, 1), Term(n, 2), x.Number(static_cast<double>(n.Int("num_bits", 8))),
                     n.Bool("range_given", false));
}
Outputs QuantizeAndDequantizeV3(NodeContext& n) {
  return Requantised(n, Term(n, 1), Term(n, 2), AsScalar(Term(n, 3)).As(n.Input(0).dtype()),
                     n.Bool("range_given", true));
}

// --- Quantised tensors, with the numbers that their least and greatest stand for ---

struct IntegerRange {
  double low, high;
};
std::optional<IntegerRange> RangeOfType(NodeContext& n, DType dtype) {
  if (dtype == DType::kInt32) return IntegerRange{-0x1p31, 0x1p31 - 1};
  const auto limits = LimitsOf({dtype});
  if (!limits) return n.Unsupported("quantised numbers of {}", DTypeName(dtype));
  return IntegerRange{limits->low, limits->high};
}
// A limit as it meets data: one number, or one for each place of an axis.
Term LimitOf(NodeContext& n, size_t i) {
  const Term v(n, i);
  const int64_t axis = n.Int("axis", -1);
  if (axis < 0 || v.rank() != 1) return AsScalar(v);
  return Along(v, static_cast<int>(axis), n.Input(0).rank());
}
// What one of the data's steps is in mode SCALED.
Term StepOf(const Term& low, const Term& high, const IntegerRange& range, bool narrow) {
  const Term above = high / range.high;
  return range.low < 0 ? Maximum(low / (range.low + (narrow ? 1 : 0)), above) : above;
}

Outputs Dequantize(NodeContext& n) {
  const auto range = RangeOfType(n, n.Input(0).dtype());
  if (!range) return {};
  const Term x = Term(n, 0).As(DType::kFloat32), low = LimitOf(n, 1), high = LimitOf(n, 2);
  const std::string mode = n.String("mode", "MIN_COMBINED");
  const double steps = range->high - range->low + 1;
  Term y = x;
  if (mode == "SCALED") {
    y = x * StepOf(low, high, *range, n.Bool("narrow_range", false));
  } else if (mode == "MIN_FIRST") {
    const Term step = (high - low) / (steps - 1);
    const Term first = (low / step).Call("round") * step;
    y = Select(Equal(low, high), low, first + (x - range->low) * step);
  } else if (mode == "MIN_COMBINED") {
    y = (x + (range->low < 0 ? steps / 2 : 0)) * ((high - low) / (steps - 1)) + low;
  } else {
    return n.Fail("mode: expected MIN_COMBINED, MIN_FIRST or SCALED, found {}", mode);
  }
  return {y.As(n.Type("dtype", DType::kFloat32))};
}

Outputs Quantize(NodeContext& n) {
  const DType dtype = n.Type("T", DType::kUInt8);
  const auto range = RangeOfType(n, dtype);
  if (!range) return {};
  const std::string mode = n.String("mode", "MIN_COMBINED");
  const bool to_even = n.String("round_mode", "HALF_AWAY_FROM_ZERO") == "HALF_TO_EVEN";
  const Term x(n, 0), given_low = LimitOf(n, 1), given_high = LimitOf(n, 2);
  const Term low = Minimum(given_low, given_low.Number(0));
  const Term size = Maximum(Maximum(Abs(given_low), Abs(given_high)), low.Number(1));
  const Term least_high = low + size * n.Float("ensure_minimum_range", 0.01);
  const Term high = Maximum(Maximum(given_high, least_high), low.Number(0));
  const double steps = range->high - range->low + 1;
  const auto whole = [&](const Term& v) { return v.Call(to_even ? "round_even" : "round"); };
  Term y = x, from = low, to = high;
  if (mode == "SCALED") {
    const bool narrow = n.Bool("narrow_range", false);
    const Term step = StepOf(low, high, *range, narrow);
    from = step * (range->low + (narrow && range->low < 0 ? 1 : 0));
    to = step * range->high;
    y = whole(Clamp(x, from, to) / step);
  } else if (mode == "MIN_FIRST") {
    const Term step = (high - low) / (steps - 1);
    y = (x / step).Call("round") - (low / step).Call("round") + range->low;
  } else if (mode == "MIN_COMBINED") {
    const Term scaled = (Clamp(x, low, high) - low) * ((steps - 1) / (high - low));
    y = whole(range->low < 0 ? scaled - steps / 2 : scaled);
  } else {
    return n.Fail("mode: expected MIN_COMBINED, MIN_FIRST or SCALED, found {}", mode);
  }
  const Term limited = Clamp(y, y.Number(range->low), y.Number(range->high));
  const auto flat = [&](const Term& v, size_t i) {
    return n.Input(i).rank() == 1 ? v.Reshape({-1}) : v;
  };
  return {limited.As(dtype), flat(from, 1), flat(to, 2)};
}

constexpr std::string_view kQuantised = "output output_min output_max";
constexpr OperatorDef kQuantOperators[] = {
    {"Dequantize", 3, 3, Dequantize},
    {"FakeQuantWithMinMaxArgs", 1, 1, FakeQuantArgs},
    {"FakeQuantWithMinMaxVars", 3, 3, FakeQuantVars, {}, "?00"},
    {"FakeQuantWithMinMaxVarsPerChannel", 3, 3, FakeQuantChannels, {}, "?11"},
    {"QuantizeAndDequantize", 1, 1, QuantizeAndDequantizeOld},
    {"QuantizeAndDequantizeV2", 3, 3, QuantizeAndDequantize},
    {"QuantizeAndDequantizeV3", 4, 4, QuantizeAndDequantizeV3},
    {"QuantizeAndDequantizeV4", 3, 3, QuantizeAndDequantize},
    {"QuantizeV2", 3, 3, Quantize, kQuantised},
};

}  // namespace

std::span<const OperatorDef> QuantOperators() { return kQuantOperators; }

}  // namespace relayvm::import::tensorflow
