#include "compiler/transforms/products/winograd_weights.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "bytecode/program.h"
#include "compiler/ir/problems.h"
#include "compiler/ir/walk.h"
#include "kernels/codegen/contraction/winograd.h"
#include "kernels/op/weight_forms.h"
#include "kernels/op/winograd.h"
#include "kernels/runtime/call_builtin.h"

namespace relayvm::ir {
namespace {

// A convolution that becomes another, and how.
struct Winograd {
  const Constant* kernel = nullptr;
  codegen::WinogradForm form;  // of tile 0: it stays
  std::optional<ConvProblem> problem;
};

Winograd WinogradOf(const Module& m, const OpCall& call, const Machine& machine) {
  const auto p = ConvOf(m, call);
  const auto shape = p && p->is_channels_first() && p->has_usual_kernel()
                         ? codegen::WinogradShapeOf(*p)
                         : std::nullopt;
  const auto* kernel = shape ? std::get_if<const Constant*>(&call.args[1]) : nullptr;
  if (kernel == nullptr || (*kernel)->value.data.empty()) return {};
  const codegen::WinogradForm form = codegen::PreferredWinograd(machine, *shape);
  return {form.tile == 0 ? nullptr : *kernel, form, p};
}

HostTensor TransformLater(const HostTensor& w, const codegen::WinogradForm& form) {
  const int64_t window = WinogradWindow(form.tile), of_group = form.rows * form.blocks;
  HostTensor out{
      DType::kFloat32,
      {(w.shape[0] + of_group - 1) / of_group, window * window, form.blocks, w.shape[1], form.rows},
      {}};
  const auto fill = [w, shape = out.shape, tile = form.tile](std::span<std::byte> bytes) {
    const SharedBytes in = w.data.Loaded();
    const BuiltinTensor tensors[] = {{w.dtype, w.shape, const_cast<std::byte*>(in.data())},
                                     {DType::kFloat32, shape, bytes.data()}};
    const int32_t error = CallBuiltin(*FindBuiltin(WinogradWeightsBuiltin(tile)), tensors, {});
    assert(error == RELAYVM_KERNEL_OK);
    static_cast<void>(error);
    in.DropPages();
  };
  out.data = SharedBytes::Lazy(static_cast<size_t>(out.size()) * sizeof(float), fill);
  return out;
}

std::shared_ptr<const Recipe> RecipeOf(const HostTensor& w, const HostTensor& transformed,
                                       int64_t tile) {
  Recipe recipe{std::string(WinogradWeightsBuiltin(tile)), {}, {}};
  const WeightForm* form = WeightFormThatHolds(w);
  recipe.inputs.push_back(form != nullptr ? EncodeElements(*form, w) : w);
  // So that those of two tiles are within what readers allow.
  constexpr size_t kMost = kMaxRecipeGrowth / 4;
  if (transformed.data.size() / recipe.inputs[0].data.size() >= kMost) return nullptr;
  return std::make_shared<const Recipe>(std::move(recipe));
}

}  // namespace

WinogradWeights::WinogradWeights(const Module& m, const Machine& machine)
    : m_(m), machine_(machine) {
  std::set<const Constant*> constants;
  std::set<std::pair<const Constant*, int64_t>> known;
  double before = 0, growth = 0;
  for (const auto& [name, f] : m.functions) {
    if (f->body == nullptr) continue;
    ForEachBinding(*f->body, [&](const Binding& b) {
      ForEachAtom(*b.value, [&](const Atom& a) {
        const auto* c = std::get_if<const Constant*>(&a);
        if (c != nullptr && constants.insert(*c).second)
          before += static_cast<double>((*c)->value.data.size());
      });
      const auto* call = b.value->As<OpCall>();
      if (call == nullptr) return;
      const auto [kernel, form, problem] = WinogradOf(m, *call, machine_);
      if (form.tile == 0 || !known.emplace(kernel, form.tile).second) return;
      growth += static_cast<double>(TransformLater(kernel->value, form).data.size()) -
                static_cast<double>(kernel->value.data.size());
    });
  }
  when_loaded_ = growth > kMostGrowth * before;
}

std::optional<WinogradWeights::Transformed> WinogradWeights::Of(const OpCall& call) {
  const auto [kernel, form, problem] = WinogradOf(m_, call, machine_);
  if (form.tile == 0) return std::nullopt;
  const Constant*& weight = transformed_[{kernel, form.tile}];
  if (weight == nullptr) {
    HostTensor transformed = TransformLater(kernel->value, form);
    auto recipe = when_loaded_ ? RecipeOf(kernel->value, transformed, form.tile) : nullptr;
    weight = MakeConstant(m_, std::move(transformed), kernel->name, std::move(recipe));
  }
  return Transformed{weight, WinogradConvolution(*problem, form.tile)};
}

}  // namespace relayvm::ir
