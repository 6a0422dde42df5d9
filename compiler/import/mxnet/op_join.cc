// Tensors one behind the other.
#include <algorithm>

#include "compiler/import/mxnet/convert.h"

namespace relayvm::import::mxnet {

namespace {

// All inputs, of the first's dtype.
std::optional<std::vector<Term>> Parts(Node& n) {
  std::vector<Term> parts;
  for (const Value& v : n.inputs()) {
    if (!v.is_tensor()) {
      n.Fail("an input is no tensor");
      return std::nullopt;
    }
    parts.push_back(Term(n.b(), v).As(n.Input(0).dtype()));
  }
  return parts;
}
Outputs Joined(Node& n, const std::vector<Term>& parts, int64_t axis) {
  const int at = n.Axis(axis, parts[0].rank());
  if (!n.b().status().ok()) return {};
  return {n.b().Concat(std::vector<Value>(parts.begin(), parts.end()), at)};
}

Outputs Concat(Node& n) {
  const auto parts = Parts(n);
  return parts ? Joined(n, *parts, n.Int("dim", 1)) : Outputs{};
}
// Vectors of parameters; an empty one adds nothing.
Outputs RnnParamConcat(Node& n) {
  const auto parts = Parts(n);
  Outputs all = parts ? Joined(n, *parts, n.Int("dim", 0)) : Outputs{};
  if (!all.empty()) n.NoteOrigins(all[0], n.inputs());
  return all;
}
Outputs Concatenate(Node& n) {
  auto parts = Parts(n);
  if (!parts) return {};
  if (n.IsNone("axis")) {
    for (Term& part : *parts) part = part.Reshape({-1});
    return Joined(n, *parts, 0);
  }
  return Joined(n, *parts, n.Int("axis", 0));
}
Outputs Stack(Node& n) {
  auto parts = Parts(n);
  if (!parts) return {};
  const int axis = n.Axis(n.Int("axis", 0), (*parts)[0].rank() + 1);
  if (!n.b().status().ok()) return {};
  for (Term& part : *parts) part = part.Expand(axis);
  return Joined(n, *parts, axis);
}
Outputs VerticalStack(Node& n) {
  auto parts = Parts(n);
  if (!parts) return {};
  for (Term& part : *parts) {
    if (part.rank() == 0) part = part.Reshape({1});
    if (part.rank() == 1) part = part.Expand(0);
  }
  return Joined(n, *parts, 0);
}
Outputs HorizontalStack(Node& n) {
  auto parts = Parts(n);
  if (!parts) return {};
  for (Term& part : *parts)
    if (part.rank() == 0) part = part.Reshape({1});
  return Joined(n, *parts, (*parts)[0].rank() == 1 ? 0 : 1);
}
Outputs ColumnStack(Node& n) {
  auto parts = Parts(n);
  if (!parts) return {};
  for (Term& part : *parts) {
    if (part.rank() == 0) part = part.Reshape({1});
    if (part.rank() == 1) part = part.Expand(1);
  }
  return Joined(n, *parts, 1);
}
Outputs DepthStack(Node& n) {
  auto parts = Parts(n);
  if (!parts) return {};
  for (Term& part : *parts) {
    if (part.rank() == 0) part = part.Reshape({1});
    if (part.rank() == 1) part = part.Expand(0);
    if (part.rank() == 2) part = part.Expand(2);
  }
  return Joined(n, *parts, 2);
}

constexpr OperatorDef kJoinOperators[] = {
    {"Concat concat", 1, -1, Concat},
    {"_npi_column_stack", 1, -1, ColumnStack},
    {"_npi_concatenate", 1, -1, Concatenate},
    {"_npi_dstack", 1, -1, DepthStack},
    {"_npi_hstack", 1, -1, HorizontalStack},
    {"_npi_vstack", 1, -1, VerticalStack},
    {"_rnn_param_concat _npi_rnn_param_concat", 1, -1, RnnParamConcat},
    {"stack _npi_stack", 1, -1, Stack},
};

}  // namespace

std::span<const OperatorDef> JoinOperators() { return kJoinOperators; }

}  // namespace relayvm::import::mxnet
