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
    bool dense = call != nullptr && call->op->name == "nn.dense";
    bool matmul =
        call != nullptr && call->op->name == "nn.matmul" && !call->attrs.Bool("transpose_a");
    const auto* weight = dense || matmul ? std::get_if<const Constant*>(&call->args[1]) : nullptr;
    const auto* type = b.var->type->As<TensorType>();
    if (weight == nullptr || type == nullptr || type->dtype != DType::kFloat32 ||
        (*weight)->value.dtype != DType::kFloat32 || (*weight)->value.shape.size() != 2 ||
        (*weight)->value.data.empty()) {
      out.push_back(b);
      return;
    }
    bool transposed = dense || call->attrs.Bool("transpose_b");
    int64_t units = (*weight)->value.shape[transposed ? 0 : 1];
    const Constant*& pack = packed[{*weight, transposed}];
    if (pack == nullptr) {
      int64_t width = codegen::PreferredPanelWidth(cpu);
      pack = MakeConstant(m, Pack((*weight)->value, transposed, width), (*weight)->name);
    }
    Attrs attrs;
    attrs.Set("units", units);
    if (call->attrs.Has("out_dtype")) attrs.Set("out_dtype", *call->attrs.Find("out_dtype"));
    BindingBuilder(m, b.value->span, out)
        .BindCall(b.var, "nn.contrib_dense_pack", {call->args[0], pack}, attrs);
  });
}

}  // namespace relayvm::ir
