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
#include "compiler/ir/walk.h"
#include "kernels/codegen/contraction/winograd.h"
#include "kernels/op/weight_forms.h"
#include "kernels/op/winograd.h"
#include "kernels/runtime/call_builtin.h"

namespace relayvm::ir {
namespace {

// A convolution that becomes another, and how.
struct WinogradConvolution {
  const Constant* kernel = nullptr;
  codegen::WinogradForm form;  // of tile 0: it stays
};

WinogradConvolution WinogradOf(const OpCall& call, const TensorType& result,
                               const Machine& machine) {
  if (call.op->name != "nn.conv2d" || call.args.size() != 2 || result.dtype != DType::kFloat32)
    return {};
  const auto* kernel = std::get_if<const Constant*>(&call.args[1]);
  if (kernel == nullptr) return {};
  const HostTensor& w = (*kernel)->value;
  const std::string& out_layout = call.attrs.String("out_layout");
  if (w.dtype != DType::kFloat32 || w.shape.size() != 4 || w.shape[2] != 3 || w.shape[3] != 3 ||
      w.data.empty() || call.attrs.Int("groups") != 1 ||
      call.attrs.String("data_layout") != "NCHW" || call.attrs.String("kernel_layout") != "OIHW" ||
      (!out_layout.empty() && out_layout != "NCHW")) {
    return {};
  }
  for (const char* name : {"strides", "dilation"}) {
    for (int64_t value : call.attrs.Ints(name)) {
      if (value != 1) return {};
    }
  }
  auto extent = [](const Dim& d) {
    return d.is_const() ? std::optional<int64_t>(d.value()) : std::nullopt;
  };
  return {*kernel,
          codegen::PreferredWinograd(machine, {w.shape[1], w.shape[0], extent(result.shape[0]),
                                               extent(result.shape[2]), extent(result.shape[3])})};
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
      const auto* type = b.var->type == nullptr ? nullptr : b.var->type->As<TensorType>();
      if (call == nullptr || type == nullptr) return;
      const auto [kernel, form] = WinogradOf(*call, *type, machine_);
      if (form.tile == 0 || !known.emplace(kernel, form.tile).second) return;
      growth += static_cast<double>(TransformLater(kernel->value, form).data.size()) -
                static_cast<double>(kernel->value.data.size());
    });
  }
  when_loaded_ = growth > kMostGrowth * before;
}

WinogradWeights::Transformed WinogradWeights::Of(const OpCall& call, const TensorType& result) {
  const auto [kernel, form] = WinogradOf(call, result, machine_);
  if (form.tile == 0) return {};
  const Constant*& weight = transformed_[{kernel, form.tile}];
  if (weight == nullptr) {
    HostTensor transformed = TransformLater(kernel->value, form);
    auto recipe = when_loaded_ ? RecipeOf(kernel->value, transformed, form.tile) : nullptr;
    weight = MakeConstant(m_, std::move(transformed), kernel->name, std::move(recipe));
  }
  return {weight, kernel, form.tile};
}

}  // namespace relayvm::ir
