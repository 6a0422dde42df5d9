#include "compiler/transforms/pack_weights.h"

#include <cstring>
#include <map>

#include "compiler/transforms/builder.h"
#include "compiler/transforms/rewrite.h"
#include "kernels/codegen/contraction/contraction.h"

namespace relayvm::ir {
namespace {

// Weight (n, k), or (k, n) when not `transposed`, as (ceil(n / width), k, width); columns beyond n
// are zero.
HostTensor Pack(const HostTensor& w, bool transposed, int64_t width) {
  int64_t n = w.shape[transposed ? 0 : 1];
  int64_t k = w.shape[transposed ? 1 : 0];
  auto bytes = static_cast<size_t>(DTypeBytes(w.dtype));
  HostTensor packed;
  packed.dtype = w.dtype;
  packed.shape = {(n + width - 1) / width, k, width};
  packed.data.resize(static_cast<size_t>(packed.shape[0] * k * width) * bytes);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < k; ++i) {
      int64_t from = transposed ? j * k + i : i * n + j;
      int64_t to = ((j / width) * k + i) * width + j % width;
      std::memcpy(packed.data.data() + static_cast<size_t>(to) * bytes,
                  w.data.data() + static_cast<size_t>(from) * bytes, bytes);
    }
  }
  return packed;
}

}  // namespace

Module PackWeights(const Module& m, const std::string& cpu) {
  std::map<std::pair<const Constant*, bool>, const Constant*> packed;
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<OpCall>();
    auto wanted = call != nullptr && call->op->pack ? call->op->pack(call->attrs) : std::nullopt;
    const auto* weight =
        wanted ? std::get_if<const Constant*>(&call->args[wanted->weight]) : nullptr;
    const auto* type = b.var->type->As<TensorType>();
    if (weight == nullptr || type == nullptr || type->dtype != DType::kFloat32 ||
        (*weight)->value.dtype != DType::kFloat32 || (*weight)->value.shape.size() != 2 ||
        (*weight)->value.data.empty()) {
      out.push_back(b);
      return;
    }
    bool transposed = wanted->is_transposed;
    int64_t units = (*weight)->value.shape[transposed ? 0 : 1];
    const Constant*& pack = packed[{*weight, transposed}];
    if (pack == nullptr) {
      int64_t width = codegen::PreferredPanelWidth(cpu);
      pack = MakeConstant(m, Pack((*weight)->value, transposed, width), (*weight)->name);
    }
    std::vector<Atom> args = call->args;
    args[wanted->weight] = pack;
    wanted->attrs.Set("units", units);
    BindingBuilder(m, b.value->span, out)
        .BindCall(b.var, wanted->op, std::move(args), std::move(wanted->attrs));
  });
}

}  // namespace relayvm::ir
