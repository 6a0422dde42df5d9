// Operations of Keras 3, which the lines between layers become: x + 1, ops.mean(x), x[:, 0].
#include <algorithm>
#include <cmath>

#include "compiler/import/composite/activations.h"
#include "compiler/import/composite/padding.h"
#include "compiler/import/keras/model_builder.h"

namespace relayvm::import::keras {

// Positional arguments in order: the next tensor, or a number.
std::vector<Term> Operands(LayerContext& n) {
  std::vector<Term> all;
  const Json* given = n.site.positional;
  size_t next = 0;
  if (given != nullptr && given->is_array()) {
    for (const Json& v : *given) {
      const bool number = v.is_number() || v.is_boolean();
      if (number && n.Has(0)) {
        const double value = v.is_boolean() ? static_cast<double>(v.get<bool>()) : v.get<double>();
        all.push_back(Term(n, n.Input(0)).Number(value));
      } else if (v.is_object() && n.Has(next)) {
        all.emplace_back(n, n.Input(next++));
      }
    }
  }
  for (; next < n.num_inputs(); ++next) all.emplace_back(n, n.Input(next));
  return all;
}

namespace {

// Numbers of two dtypes meet as floats, or as the wider ones.
template <OpName kName>
Outputs Pairwise(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.size() != 2) return n.Fail("expected two operands, found {}", all.size());
  Term x = all[0], y = all[1];
  if (x.dtype() != y.dtype()) {
    const bool first =
        IsFloat(x.dtype()) || (!IsFloat(y.dtype()) && DTypeBits(x.dtype()) >= DTypeBits(y.dtype()));
    (first ? y : x) = first ? y.As(x.dtype()) : x.As(y.dtype());
  }
  n.keeps_mask = false;
  return {x.Call(kName.chars, y)};
}
template <OpName kName>
Outputs Each(LayerContext& n) {
  return {n.b().Op(kName.chars, {n.Input(0)})};
}
template <OpName kName>
Outputs Active(LayerContext& n) {
  const ActivationDef& def = *FindActivation(kName.chars);
  return {def.apply(Term(n, n.Input(0)), def.alpha, def.beta)};
}
Outputs Matmul(LayerContext& n) { return {MatMulOf(n, n.Input(0), n.Input(1))}; }
Outputs SquareOf(LayerContext& n) {
  const Term x(n, n.Input(0));
  return {x * x};
}
Outputs Gelu(LayerContext& n) {
  const Term x(n, n.Input(0));
  return {n.Bool("approximate", true) ? TanhGeluOf(x) : GeluOf(x)};
}
Outputs Silu(LayerContext& n) { return {SwishOf(Term(n, n.Input(0)), 1)}; }
Outputs Relu6(LayerContext& n) {
  const Term x(n, n.Input(0));
  return {Clamp(x, x.Number(0), x.Number(6))};
}
Outputs LogSoftmax(LayerContext& n) {
  const int axis = n.Axis(n.Int("axis", -1), n.Input(0).rank());
  return {n.b().Op("nn.log_softmax", {n.Input(0)}, {{"axis", axis}})};
}

// --- Reductions ---

// All axes where none is said.
template <OpName kName>
Outputs Over(LayerContext& n) {
  Term x(n, n.Input(0));
  std::vector<int64_t> axes = n.Ints("axis", Iota(x.rank()));
  for (int64_t& axis : axes) axis = n.Axis(axis, x.rank());
  n.keeps_mask = false;
  return {x.Over(kName.chars, axes, n.Bool("keepdims", false))};
}
template <OpName kName>
Outputs Place(LayerContext& n) {
  Value x = n.Input(0);
  n.keeps_mask = false;
  if (n.IsNull("axis")) x = n.b().Reshape(x, {-1});
  const int axis = n.IsNull("axis") ? 0 : n.Axis(n.Int("axis", -1), x.rank());
  const Value y = n.b().Op(kName.chars, {x},
                           {{"axis", AttrList{axis}}, {"keepdims", n.Bool("keepdims", false)}});
  return {n.b().Cast(y, DType::kInt32)};
}

// --- Shapes ---

Outputs Transpose(LayerContext& n) {
  std::vector<int64_t> axes = n.Ints("axes");
  for (int i = n.Input(0).rank(); n.IsNull("axes") && i-- > 0;) axes.push_back(i);
  n.keeps_mask = false;
  return {n.b().Transpose(n.Input(0), axes)};
}
Outputs ExpandDims(LayerContext& n) {
  Value x = n.Input(0);
  std::vector<int64_t> axes = n.Ints("axis", {0});
  const int rank = x.rank() + static_cast<int>(axes.size());
  for (int64_t& axis : axes) axis = n.Axis(axis, rank);
  std::sort(axes.begin(), axes.end());
  for (const int64_t axis : axes) x = n.b().ExpandDims(x, static_cast<int>(axis));
  n.keeps_mask = false;
  return {x};
}
Outputs Squeeze(LayerContext& n) {
  const Value x = n.Input(0);
  std::vector<int64_t> axes = n.Ints("axis");
  for (int64_t& axis : axes) axis = n.Axis(axis, x.rank());
  for (int i = 0; n.IsNull("axis") && i < x.rank(); ++i) {
    if (x.dim(i).is_const(1)) axes.push_back(i);
  }
  n.keeps_mask = false;
  return {n.b().Squeeze(x, axes)};
}
Outputs Stack(LayerContext& n) {
  const int axis = n.Axis(n.Int("axis", 0), n.Input(0).rank() + 1);
  std::vector<Value> parts;
  for (const Value& v : n.inputs()) parts.push_back(n.b().ExpandDims(v, axis));
  n.keeps_mask = false;
  return {n.b().Concat(parts, axis)};
}
Outputs Split(LayerContext& n) {
  const int axis = n.Axis(n.Int("axis", 0), n.Input(0).rank());
  const std::vector<int64_t> at = n.Ints("indices_or_sections");
  const Json* given = Member(n.config(), "indices_or_sections");
  if (given != nullptr && given->is_number_integer() && at.size() == 1)
    return n.b().Ops("split", {n.Input(0)}, {{"indices_or_sections", at[0]}, {"axis", axis}});
  return n.b().Ops("split", {n.Input(0)}, {{"indices_or_sections", ListOf(at)}, {"axis", axis}});
}
Outputs Pad(LayerContext& n) {
  const std::vector<int64_t> given = n.Ints("pad_width");
  const Value x = n.Input(0);
  std::vector<std::pair<int64_t, int64_t>> widths;
  for (int i = 0; i < x.rank(); ++i) {
    const auto k = static_cast<size_t>(given.size() == 2 ? 0 : 2 * i);
    if (k + 1 >= given.size() && given.size() != 1)
      return n.Fail("pad_width: expected a pair for each axis");
    widths.emplace_back(given.size() == 1 ? given[0] : given[k],
                        given.size() == 1 ? given[0] : given[k + 1]);
  }
  const Json* named = n.site.named;
  const Json* fill = named == nullptr ? nullptr : Member(*named, "constant_values");
  const double value = fill != nullptr && fill->is_number() ? fill->get<double>() : 0;
  const auto y = Padded(n, x, std::move(widths),
                        {.fill = Like(n, x, value), .mode = n.String("mode", "constant")});
  return y ? Outputs{*y} : Outputs{};
}

// x[...]: numbers, slices, new axes and an ellipsis.
Outputs GetItem(LayerContext& n) {
  TypedBuilder& b = n.b();
  const Json* given = n.site.positional;
  if (given == nullptr || !given->is_array() || given->size() < 2) return n.Fail("expected a key");
  const Json key = (*given)[1].is_array() ? (*given)[1] : Json::array({(*given)[1]});
  Term x(n, n.Input(0));
  int64_t named = 0;
  const auto is_ellipsis = [](const Json& k) {
    return TextAt(k, "class_name") == "__ellipsis__" || (k.is_string() && k == "...");
  };
  for (const Json& k : key) named += k.is_null() || is_ellipsis(k) ? 0 : 1;
  int axis = 0;
  n.keeps_mask = false;
  for (const Json& k : key) {
    if (k.is_null()) {
      x = x.Expand(axis++);
    } else if (is_ellipsis(k)) {
      axis += n.Input(0).rank() - static_cast<int>(named);
    } else if (k.is_number_integer()) {
      const auto at = k.get<int64_t>();
      if (axis >= x.rank()) return n.Fail("too many indices");
      x = Term(b, b.Squeeze(x.Slice(axis, at, at == -1 ? INT64_MAX : at + 1), {axis}));
    } else if (const Json* slice = Member(k, "config");
               slice != nullptr && TextAt(k, "class_name") == "__slice__") {
      const auto number = [&](const char* of, int64_t fallback) {
        const Json* v = Member(*slice, of);
        return v != nullptr && v->is_number_integer() ? v->get<int64_t>() : fallback;
      };
      const int64_t step = number("step", 1);
      if (axis >= x.rank() || step == 0) return n.Fail("a slice that cannot be");
      x = x.Slice(axis, number("start", step > 0 ? 0 : INT64_MAX),
                  number("stop", step > 0 ? INT64_MAX : INT64_MIN + 1), step);
      ++axis;
    } else {
      return n.Unsupported("indices that are tensors");
    }
  }
  return {x};
}

// --- Choices and types ---

Outputs Clip(LayerContext& n) {
  const Term x(n, n.Input(0));
  return {Clamp(x, x.Number(n.Float("x_min", -HUGE_VAL)), x.Number(n.Float("x_max", HUGE_VAL)))};
}
Outputs WhereOf(LayerContext& n) {
  const std::vector<Term> all = Operands(n);
  if (all.size() != 3) return n.Unsupported("expected a condition and two choices");
  const Term condition = all[0].As(DType::kBool);
  const bool second = n.num_inputs() > 1;
  const DType dtype = second ? n.Input(1).dtype() : DType::kFloat32;
  return {Select(condition, all[1].As(dtype), all[2].As(dtype))};
}
Outputs CastOf(LayerContext& n) {
  const Json* dtype = Member(n.config(), "dtype");
  std::string name = dtype != nullptr && dtype->is_string() ? dtype->get<std::string>() : "";
  if (dtype != nullptr && dtype->is_object()) {
    if (const Json* config = Member(*dtype, "config")) name = TextAt(*config, "name");
  }
  const auto to = ParseDType(name);
  if (!to) return n.Unsupported("dtype '{}'", name);
  return {n.b().Cast(n.Input(0), *to)};
}

constexpr LayerDef kOperationLayers[] = {
    {"Absolute", 1, 1, Each<"abs">},
    {"All", 1, 1, Over<"all">},
    {"Any", 1, 1, Over<"any">},
    {"Argmax", 1, 1, Place<"argmax">},
    {"Argmin", 1, 1, Place<"argmin">},
    {"Cast", 1, 1, CastOf},
    {"Ceil", 1, 1, Each<"ceil">},
    {"Clip", 1, 1, Clip},
    {"Cos", 1, 1, Each<"cos">},
    {"Divide", 1, 2, Pairwise<"divide">},
    {"Elu", 1, 1, Active<"elu">},
    {"Equal", 1, 2, Pairwise<"equal">},
    {"Erf", 1, 1, Each<"erf">},
    {"Exp", 1, 1, Each<"exp">},
    {"ExpandDims", 1, 1, ExpandDims},
    {"Floor", 1, 1, Each<"floor">},
    {"Gelu", 1, 1, Gelu},
    {"GetItem", 1, 1, GetItem},
    {"Greater", 1, 2, Pairwise<"greater">},
    {"GreaterEqual", 1, 2, Pairwise<"greater_equal">},
    {"HardSwish", 1, 1, Active<"hardswish">},
    {"Less", 1, 2, Pairwise<"less">},
    {"LessEqual", 1, 2, Pairwise<"less_equal">},
    {"Log", 1, 1, Each<"log">},
    {"LogSoftmax", 1, 1, LogSoftmax},
    {"LogicalAnd", 1, 2, Pairwise<"logical_and">},
    {"LogicalNot", 1, 1, Each<"logical_not">},
    {"LogicalOr", 1, 2, Pairwise<"logical_or">},
    {"Matmul", 2, 2, Matmul},
    {"Max", 1, 1, Over<"max">},
    {"Mean", 1, 1, Over<"mean">},
    {"Min", 1, 1, Over<"min">},
    {"Negative", 1, 1, Each<"negative">},
    {"NotEqual", 1, 2, Pairwise<"not_equal">},
    {"Pad", 1, 1, Pad},
    {"Power", 1, 2, Pairwise<"power">},
    {"Prod", 1, 1, Over<"prod">},
    {"Relu", 1, 1, Active<"relu">},
    {"Relu6", 1, 1, Relu6},
    {"Rsqrt", 1, 1, Each<"rsqrt">},
    {"Selu", 1, 1, Active<"selu">},
    {"Sigmoid", 1, 1, Each<"sigmoid">},
    {"Silu", 1, 1, Silu},
    {"Sin", 1, 1, Each<"sin">},
    {"Softplus", 1, 1, Active<"softplus">},
    {"Split", 1, 1, Split},
    {"Sqrt", 1, 1, Each<"sqrt">},
    {"Square", 1, 1, SquareOf},
    {"Squeeze", 1, 1, Squeeze},
    {"Stack", 1, -1, Stack},
    {"Sum", 1, 1, Over<"sum">},
    {"Tanh", 1, 1, Each<"tanh">},
    {"Transpose", 1, 1, Transpose},
    {"TrueDivide", 1, 2, Pairwise<"divide">},
    {"Where", 1, 3, WhereOf},
};

}  // namespace

std::span<const LayerDef> OperationLayers() { return kOperationLayers; }

}  // namespace relayvm::import::keras
