#include "compiler/transforms/pack_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

#include "compiler/transforms/builder.h"
#include "compiler/transforms/rewrite.h"
#include "kernels/codegen/contraction/contraction.h"

namespace relayvm::ir {
namespace {

// Weight (n, k), or (k, n) when not `transposed`, as (ceil(n / width), k, width); columns beyond n
// are zero. `out` is zeros. REQUIRES: float32. Gives a mapped weight's pages back.
void Pack(const HostTensor& w, bool transposed, int64_t width, std::byte* out) {
  const int64_t n = w.shape[transposed ? 0 : 1];
  const int64_t k = w.shape[transposed ? 1 : 0];
  const SharedBytes in = w.data.Loaded();
  const std::byte* data = in.data();
  auto copy = [&](int64_t to, int64_t from, int64_t count) {
    std::memcpy(out + to * int64_t{sizeof(float)}, data + from * int64_t{sizeof(float)},
                static_cast<size_t>(count) * sizeof(float));
  };
  // A line of the cache: what is read of a row before the next row's turn.
  constexpr int64_t kLine = 64 / sizeof(float);
  for (int64_t first = 0; first < n; first += width) {
    const int64_t panel = first * k;
    const int64_t columns = std::min(width, n - first);
    if (!transposed) {
      for (int64_t i = 0; i < k; ++i) copy(panel + i * width, i * n + first, columns);
      continue;
    }
    for (int64_t start = 0; start < k; start += kLine) {
      const int64_t end = std::min(k, start + kLine);
      for (int64_t j = 0; j < columns; ++j) {
        for (int64_t i = start; i < end; ++i) copy(panel + i * width + j, (first + j) * k + i, 1);
      }
    }
  }
  in.DropPages();
}

// It is packed when it is read: until then it costs no memory.
HostTensor PackLater(const HostTensor& w, bool transposed, int64_t width) {
  const int64_t n = w.shape[transposed ? 0 : 1];
  const int64_t k = w.shape[transposed ? 1 : 0];
  HostTensor packed{w.dtype, {(n + width - 1) / width, k, width}, {}};
  packed.data =
      SharedBytes::Lazy(static_cast<size_t>(packed.size()) * sizeof(float),
                        [=](std::span<std::byte> out) { Pack(w, transposed, width, out.data()); });
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
      pack = MakeConstant(m, PackLater((*weight)->value, transposed, width), (*weight)->name);
    }
    std::vector<Atom> args = call->args;
    args[wanted->weight] = pack;
    wanted->attrs.Set("units", units);
    BindingBuilder(m, b.value->span, out)
        .BindCall(b.var, wanted->op, std::move(args), std::move(wanted->attrs));
  });
}

}  // namespace relayvm::ir
