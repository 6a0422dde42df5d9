#include "compiler/import/torch/layout.h"

namespace relayvm::import::torch {

AxisSteps DenseSteps(const std::vector<Dim>& shape) {
  AxisSteps steps(shape.size(), Dim(1));
  for (size_t i = shape.size(); i-- > 1;) steps[i - 1] = steps[i] * shape[i];
  return steps;
}

bool IsDense(const std::vector<Dim>& shape, const AxisSteps& steps) {
  Dim step(1);
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i].is_const(1)) continue;
    if (steps[i].ContainsAny() || step.ContainsAny() || !(steps[i] == step)) return false;
    step = step * shape[i];
  }
  return true;
}

bool InOrder(const AxisSteps& steps) {
  const Dim* before = nullptr;
  for (const Dim& step : steps) {
    if (step.is_const(0)) continue;
    if (before != nullptr) {
      const auto spare = (*before - step).LowerBound();
      if (!spare || *spare < 0) return false;
    }
    before = &step;
  }
  return true;
}

Fit FitOf(const std::vector<Dim>& shape, const AxisSteps& steps, const std::vector<Dim>& to,
          AxisSteps* view) {
  *view = AxisSteps(to.size(), Dim(1));
  if (shape.empty()) return Fit::kView;
  size_t left = to.size();  // of `to`
  Dim step = steps.back(), count(1), seen(1);
  for (size_t i = shape.size(); i-- > 0;) {
    count = count * shape[i];
    if (i > 0) {
      if (shape[i - 1].is_const(1)) continue;
      const Dim joined = count * step;
      if (steps[i - 1].ContainsAny() || joined.ContainsAny()) return Fit::kUnknown;
      if (steps[i - 1] == joined) continue;
    }
    // Axes up to here lie one behind another: of `to` some give as many elements.
    while (left > 0 && (!(seen == count) || to[left - 1].is_const(1))) {
      if (seen.is_const() && count.is_const() && seen.value() > count.value()) break;
      (*view)[left - 1] = seen * step;
      seen = seen * to[left - 1];
      --left;
    }
    if (!(seen == count) || seen.ContainsAny())
      return seen.is_const() && count.is_const() ? Fit::kCopy : Fit::kUnknown;
    if (i == 0) break;
    step = steps[i - 1];
    count = seen = Dim(1);
  }
  return left == 0 ? Fit::kView : Fit::kUnknown;
}

}  // namespace relayvm::import::torch
