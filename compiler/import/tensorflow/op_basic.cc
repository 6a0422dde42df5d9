// Constants, inputs, and what only hands a value on.
#include "compiler/import/tensorflow/graph_importer.h"

namespace relayvm::import::tensorflow {

namespace {

Outputs Const(NodeContext& n) {
  const AttrValue value = n.importer().AttrOf(n.node(), "value");
  if (value.kind != AttrValue::Kind::kTensor) return n.Fail("attribute value: expected a tensor");
  if (!n.IsComplexType("dtype")) return {n.importer().ConstantOf(value.bytes, n.name())};
  std::vector<Value> parts;
  for (const bool imaginary : {false, true}) {
    auto part = n.importer().file().PartOf(value.bytes, imaginary);
    if (!part.ok()) return n.Fail(part.status().message());
    parts.push_back(n.b().Constant(*std::move(part)));
  }
  return {n.b().Tuple(parts)};
}

Outputs Placeholder(NodeContext& n) {
  return n.Fail("it is no input of what is compiled: what it needs is not given");
}

Outputs HandOn(NodeContext& n) { return n.inputs(); }
Outputs HandOnFirst(NodeContext& n) { return {n.Input(0)}; }
Outputs NoOutputs(NodeContext& /*n*/) { return {}; }

constexpr OperatorDef kBasicOperators[] = {
    {"Assert", 1, -1, NoOutputs},
    {"CheckNumerics", 1, 1, HandOnFirst},
    {"CheckNumericsV2", 1, 1, HandOnFirst},
    {"Const", 0, 0, Const},
    {"HostConst", 0, 0, Const},
    {"Identity", 1, 1, HandOnFirst},
    {"IdentityN", 1, -1, HandOn},
    {"NoOp", 0, 0, NoOutputs},
    {"Placeholder", 0, 0, Placeholder},
    {"PlaceholderV2", 0, 0, Placeholder},
    {"PlaceholderWithDefault", 1, 1, HandOnFirst},
    {"PreventGradient", 1, 1, HandOnFirst},
    {"Snapshot", 1, 1, HandOnFirst},
    {"StopGradient", 1, 1, HandOnFirst},
};

}  // namespace

std::span<const OperatorDef> BasicOperators() { return kBasicOperators; }

}  // namespace relayvm::import::tensorflow
