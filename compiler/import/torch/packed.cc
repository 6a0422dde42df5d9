#include "compiler/import/torch/packed.h"

#include "compiler/import/composite/from_windows.h"

namespace relayvm::import::torch {

namespace {

using Kind = Argument::Kind;

constexpr int64_t kOwnVersion = 3;  // of what MakePackedConv makes, and PyTorch may write

const Argument& StateOf(const Argument& a) {
  static const Argument kNone;
  return a.is(Kind::kObject) && a.object != nullptr ? a.object->state : kNone;
}

// Integers of a list, or of a tensor that is known.
std::optional<std::vector<int64_t>> KnownInts(TypedBuilder& b, const Argument& a) {
  if (a.is_tensor()) {
    if (a.value.constant == nullptr || !IsInt(a.value.dtype())) return b.ConstantInts(a.value);
    return typing::IntegerElements(*a.value.constant);
  }
  if (a.is(Kind::kInt)) return std::vector<int64_t>{a.integer};
  std::vector<int64_t> out;
  for (const Argument& item : a.items) {
    const auto one = KnownInts(b, item);
    if (!one || one->size() != 1) return std::nullopt;
    out.push_back((*one)[0]);
  }
  return a.is_list() ? std::optional(out) : std::nullopt;
}

// A zero point of a dtype, a constant where it is known; rank 0 where it is one number.
Value ZeroConstant(TypedBuilder& b, const Quantisation& q, DType dtype) {
  auto known = b.ConstantInts(q.zero_point);
  if (!known && q.zero_point.constant != nullptr && IsInt(q.zero_point.dtype()))
    known = typing::IntegerElements(*q.zero_point.constant);
  if (!known || known->empty()) return b.Cast(q.zero_point, dtype);
  if (std::ranges::all_of(*known, [&](int64_t z) { return z == (*known)[0]; }))
    return b.Scalar(static_cast<double>((*known)[0]), dtype);
  return b.Ints(*known, dtype);
}

// Of a linear or convolution's version 2 and 3: the number of spatial dims, strides, padding,
// dilations, output padding, groups, whether it is transposed.
bool ReadConfiguration(const std::vector<int64_t>& c, PackedConv* conv) {
  if (c.empty() || c[0] < 1 || c[0] > 3) return false;
  const auto spatial = static_cast<size_t>(c[0]);
  if (c.size() != 4 * spatial + 3) return false;
  const auto part = [&](size_t i) {
    const auto from = c.begin() + static_cast<int64_t>(1 + i * spatial);
    return std::vector<int64_t>(from, from + static_cast<int64_t>(spatial));
  };
  conv->window.strides = part(0);
  conv->window.pads = part(1);
  conv->window.dilations = part(2);
  conv->output_padding = part(3);
  conv->groups = c[4 * spatial + 1];
  conv->transposed = c[4 * spatial + 2] != 0;
  return true;
}

}  // namespace

std::optional<PackedLinear> PackedLinearOf(const Call& n, const Argument& object) {
  const Argument& state = StateOf(object);
  if (!state.is_list() || state.items.empty() || !state.items[0].is_tensor())
    return n.Fail("expected packed weights, found {}", KindText(object));
  PackedLinear p{.weight = state.items[0], .bias = {}};
  if (state.items.size() > 1 && state.items[1].is_tensor()) p.bias = state.items[1].value;
  if (p.weight.value.rank() != 2) return n.Fail("packed weights: expected rank 2");
  return p;
}
std::optional<PackedLinear> ReadPackedLinear(const Call& n, std::string_view name) {
  return PackedLinearOf(n, n.Arg(name));
}

std::optional<PackedConv> ReadPackedConv(const Call& n, std::string_view name) {
  TypedBuilder& b = n.b();
  const Argument& state = StateOf(n.Arg(name));
  PackedConv conv;
  bool right = state.is_list() && state.items.size() >= 2;
  const Argument* bias = nullptr;
  if (right && state.items[0].is(Kind::kString) && state.items.size() == 3) {
    // "2", [configuration, weight], [bias]
    const auto& tensors = state.items[1].items;
    const auto c = tensors.size() == 2 ? KnownInts(b, tensors[0]) : std::nullopt;
    right = c && ReadConfiguration(*c, &conv);
    if (right) conv.weight = tensors[1];
    if (!state.items[2].items.empty()) bias = &state.items[2].items[0];
  } else if (right && state.items[0].is(Kind::kInt) && state.items.size() == 3) {
    // 3, configuration, [None, weight, bias]
    const auto c = KnownInts(b, state.items[1]);
    const auto& tensors = state.items[2].items;
    right = c && ReadConfiguration(*c, &conv) && tensors.size() == 3;
    if (right) {
      conv.weight = tensors[1];
      bias = &tensors[2];
    }
  } else if (right && state.items[0].is_tensor() && state.items.size() >= 6) {
    // weight, bias, strides, padding, dilations, groups
    conv.weight = state.items[0];
    bias = &state.items[1];
    const auto strides = KnownInts(b, state.items[2]), pads = KnownInts(b, state.items[3]),
               dilations = KnownInts(b, state.items[4]), groups = KnownInts(b, state.items[5]);
    right = strides && pads && dilations && groups && groups->size() == 1;
    if (right) {
      conv.window = {.kernel = {}, .strides = *strides, .dilations = *dilations, .pads = *pads};
      conv.output_padding.assign(strides->size(), 0);
      conv.groups = (*groups)[0];
    }
  } else {
    right = false;
  }
  if (!right || !conv.weight.is_tensor() ||
      conv.weight.value.rank() != static_cast<int>(conv.window.strides.size()) + 2)
    return n.Fail("expected a packed convolution, found {}", KindText(n.Arg(name)));
  if (bias != nullptr && bias->is_tensor()) conv.bias = bias->value;
  for (int i = 2; i < conv.weight.value.rank(); ++i) {
    const Dim d = conv.weight.value.dim(i);
    conv.window.kernel.push_back(d.is_const() ? d.value() : 0);
  }
  const size_t spatial = conv.window.pads.size();
  for (size_t i = 0; i < spatial; ++i) conv.window.pads.push_back(conv.window.pads[i]);
  return conv;
}

Argument MakePackedLinear(Argument weight, Argument bias) {
  auto object = std::make_shared<Object>();
  object->type = "__torch__.torch.classes.quantized.LinearPackedParamsBase";
  object->state = Argument::Tuple({std::move(weight), std::move(bias)});
  return Argument::OfObject(std::move(object));
}

Argument MakePackedConv(Argument weight, Argument bias, const std::vector<int64_t>& strides,
                        const std::vector<int64_t>& padding, const std::vector<int64_t>& dilations,
                        const std::vector<int64_t>& output_padding, int64_t groups,
                        bool transposed) {
  std::vector<int64_t> c = {static_cast<int64_t>(strides.size())};
  for (const auto* part : {&strides, &padding, &dilations, &output_padding})
    c.insert(c.end(), part->begin(), part->end());
  c.push_back(groups);
  c.push_back(transposed ? 1 : 0);
  auto object = std::make_shared<Object>();
  object->type = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase";
  object->state =
      Argument::Tuple({Argument::Int(kOwnVersion), Argument::Ints(c),
                       Argument::List({Argument(), std::move(weight), std::move(bias)})});
  return Argument::OfObject(std::move(object));
}

// --- Products ---

namespace {

Term FactorOf(TypedBuilder& b, const Quantisation& qx, const Quantisation& qw) {
  const Term x = AsScalar(Term(b, qx.scale)).As(DType::kFloat32),
             w = Term(b, qw.scale).As(DType::kFloat32);
  return (qw.axis < 0 ? AsScalar(w) : w) * x;
}
Term Spread(const Term& v, int axis, int rank) { return v.rank() == 0 ? v : Along(v, axis, rank); }

}  // namespace

Term NumbersOfSum(const QuantisedSum& s, const Value& bias) {
  const int rank = s.sum.rank();
  Term y = s.sum.As(DType::kFloat32) * Spread(s.factor, s.axis, rank);
  if (bias) y = y + Along(Term(y.b(), bias).As(DType::kFloat32), s.axis, rank);
  return y;
}

Argument QuantisedOutput(const QuantisedSum& s, const Value& bias, const Quantisation& out,
                         bool relu) {
  TypedBuilder& b = s.sum.b();
  const int rank = s.sum.rank();
  Term sum = s.sum;
  if (bias) {
    const Term steps =
        (Term(b, bias).As(DType::kFloat32) / s.factor).Call("round_even").As(DType::kInt32);
    sum = sum + Along(steps, s.axis, rank);
  }
  const Term factor = s.factor / AsScalar(Term(b, out.scale));
  const Term zero = AsScalar(Term(b, out.zero_point)).As(DType::kFloat32);
  const Term steps = (sum.As(DType::kFloat32) * Spread(factor, s.axis, rank)).Call("round_even");
  const auto [low, high] = RangeOfIntegers(out.dtype);
  Term y = steps + zero;
  y = Clamp(y, relu ? Maximum(zero, zero.Number(low)) : y.Number(low), y.Number(high));
  return WithMeaning(y.As(out.dtype), out);
}

QuantisedSum QuantisedLinear(TypedBuilder& b, const Value& x, const Quantisation& qx,
                             const Argument& weight) {
  const Quantisation& qw = *weight.quantised;
  const Term sum =
      IntegerProduct(b, x, ZeroConstant(b, qx, x.dtype()), b.Transpose(weight.value, {1, 0}),
                     ZeroConstant(b, qw, weight.value.dtype()));
  return {sum, FactorOf(b, qx, qw), sum.rank() - 1};
}

std::optional<QuantisedSum> QuantisedConv(TypedBuilder& b, const Value& x, const Quantisation& qx,
                                          const PackedConv& conv) {
  const Quantisation& qw = *conv.weight.quantised;
  const Value& w = conv.weight.value;
  const Value x_zero = ZeroConstant(b, qx, x.dtype()), w_zero = ZeroConstant(b, qw, w.dtype());
  std::optional<Value> sum;
  if (conv.transposed) {
    const Term left = ShiftedBy(b, x, x_zero, 1);
    const Term right = ShiftedBy(b, w, w_zero, 1);
    sum = TransposedConv(b, left, right,
                         {.window = conv.window,
                          .extra = conv.output_padding,
                          .shape = {},
                          .groups = conv.groups,
                          .kernel_layout = ""});
  } else {
    sum = IntegerConv(b, x, x_zero, w, w_zero,
                      {.window = conv.window, .groups = conv.groups, .kernel_layout = ""});
  }
  if (!sum) return std::nullopt;
  return QuantisedSum{Term(b, *sum), FactorOf(b, qx, qw), 1};
}

}  // namespace relayvm::import::torch
