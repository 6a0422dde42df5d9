// What the first opsets had as experimental operators and dropped: exporters of CoreML and Caffe2
// wrote them, and ONNX Runtime runs them still, whose results these are.
#include <fmt/format.h>

#include "compiler/import/onnx/arithmetic.h"
#include "compiler/import/onnx/checked.h"

namespace relayvm::import {

namespace {

// An attribute that has no default.
double Given(NodeContext& n, std::string_view name) {
  if (!n.HasAttr(name)) n.Fail("attribute {} is missing", name);
  return n.Float(name, 0);
}

Outputs Affine(NodeContext& n) { return {Term(n, 0) * n.Float("alpha", 1) + n.Float("beta", 0)}; }
Outputs Scale(NodeContext& n) { return {Term(n, 0) * n.Float("scale", 1)}; }
Outputs ScaledTanh(NodeContext& n) {
  return {(Term(n, 0) * Given(n, "beta")).Call("tanh") * Given(n, "alpha")};
}
Outputs ParametricSoftplus(NodeContext& n) {
  return {Softplus(Term(n, 0) * Given(n, "beta")) * Given(n, "alpha")};
}

// An image (batch, channels, height, width).
bool ExpectImage(NodeContext& n, const Dim& channels) {
  return n.ExpectShape(0, {Dim::Any(), channels, Dim::Any(), Dim::Any()}, "input");
}

Outputs ImageScaler(NodeContext& n) {
  const std::vector<double> bias = n.Floats("bias");
  const auto channels = static_cast<int64_t>(bias.size());
  if (bias.empty()) return n.Fail("attribute bias is missing");
  if (!ExpectImage(n, Dim(channels))) return {};
  const Term x(n, 0);
  std::vector<Value> numbers;
  for (const double b : bias) numbers.push_back(x.Number(b).Reshape({1, 1, 1}));
  return {x * n.Float("scale", 1) + Term(n.b(), n.b().Concat(numbers, 0))};
}

// Without a border of left, top, right, bottom; or (height, width) elements from left, top on.
Outputs Crop(NodeContext& n) {
  TypedBuilder& b = n.b();
  const std::vector<int64_t> border = n.Ints("border"), size = n.Ints("scale");
  if (border.size() != 4)
    return n.Fail("attribute border: expected 4 numbers, found {}", border.size());
  if (n.HasAttr("scale") && size.size() != 2)
    return n.Fail("attribute scale: expected 2 numbers, found {}", size.size());
  for (const std::vector<int64_t>* numbers : {&border, &size}) {
    for (const int64_t number : *numbers) {
      if (number < 0 || number > INT32_MAX)
        return n.Fail("expected a border and a scale of 0 to {}, found {}", INT32_MAX, number);
    }
  }
  if (!ExpectImage(n, Dim::Any())) return {};
  const Value x = n.Input(0);
  std::vector<Value> ends = {b.DimOf(x, 0), b.DimOf(x, 1)};
  for (const size_t i : {1, 0}) {  // the height, then the width
    const int64_t first = border[i], last = border[i + 2];
    const InputName name(n, 0, i == 1 ? "height of input" : "width of input");
    const Term extent = AtLeast(name, b.DimOf(x, i == 1 ? 2 : 3),
                                first + (size.empty() ? last : size[i == 1 ? 0 : 1]));
    ends.push_back(size.empty() ? extent - static_cast<double>(last)
                                : Minimum(extent, Term(b, b.Ints({first + size[i == 1 ? 0 : 1]}))));
  }
  return {b.Op("dyn.strided_slice",
               {x, b.Ints({0, 0, border[1], border[0]}), b.Concat(ends, 0), b.Ints({1, 1, 1, 1})})};
}

constexpr OperatorDef kExperimentalOperators[] = {
    {"Affine", 1, 1, Affine},
    {"Crop", 1, 1, Crop},
    {"DynamicSlice", 3, 4, SameAs<"Slice", 10>},
    {"ImageScaler", 1, 1, ImageScaler},
    {"ParametricSoftplus", 1, 1, ParametricSoftplus},
    {"Scale", 1, 1, Scale},
    {"ScaledTanh", 1, 1, ScaledTanh},
};

}  // namespace

std::span<const OperatorDef> ExperimentalOperators() { return kExperimentalOperators; }

}  // namespace relayvm::import
