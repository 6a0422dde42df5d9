#include "compiler/transforms/pack_weights.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/transforms/builder.h"
#include "compiler/transforms/rewrite.h"
#include "kernels/codegen/contraction/contraction.h"

namespace relayvm::ir {
namespace {

// The extents of a weight (n, k), where k may be several dims, or (k, n) when not `transposed`.
std::pair<int64_t, int64_t> Extents(const HostTensor& w, bool transposed) {
  const int64_t n = w.shape[transposed ? 0 : 1];
  return {n, n == 0 ? 0 : w.size() / n};
}

// A weight as (ceil(n / width), k, width); columns beyond n are zero. `out` is zeros. REQUIRES:
// float32. Gives a mapped weight's pages back.
void Pack(const HostTensor& w, bool transposed, int64_t width, std::byte* out) {
  const auto [n, k] = Extents(w, transposed);
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
HostTensor PackLater(const HostTensor& w, bool transposed, int64_t width,
                     std::vector<int64_t> shape) {
  HostTensor packed{w.dtype, std::move(shape), {}};
  packed.data =
      SharedBytes::Lazy(static_cast<size_t>(packed.size()) * sizeof(float),
                        [=](std::span<std::byte> out) { Pack(w, transposed, width, out.data()); });
  return packed;
}

const Constant* Float32Weight(const OpCall& call, size_t at, const TensorType& result) {
  const auto* weight = std::get_if<const Constant*>(&call.args[at]);
  if (weight == nullptr || result.dtype != DType::kFloat32 ||
      (*weight)->value.dtype != DType::kFloat32 || (*weight)->value.data.empty()) {
    return nullptr;
  }
  return *weight;
}

// Whether the kernel w of a convolution is best read in blocks of `width` output channels: not
// where it is depthwise or nearly so, nor where one window covers an image, which is a product that
// reads rows.
bool TakesBlocks(const OpCall& call, const HostTensor& w, const TensorType& result, int64_t width) {
  const std::string& name = call.op->name;
  if (width == 0 || (name != "nn.conv1d" && name != "nn.conv2d" && name != "nn.conv3d")) {
    return false;
  }
  const std::string letters = std::string("DHW").substr(5 - w.shape.size());
  const std::string layout = "NC" + letters;
  const std::string& out_layout = call.attrs.String("out_layout");
  if (call.attrs.String("data_layout") != layout ||
      call.attrs.String("kernel_layout") != "OI" + letters ||
      (!out_layout.empty() && out_layout != layout)) {
    return false;
  }
  if (w.shape[0] / call.attrs.Int("groups") % width != 0 || w.shape[0] == 0) return false;
  return !std::all_of(result.shape.begin() + 2, result.shape.end(),
                      [](const Dim& d) { return d.is_const(1); });
}

}  // namespace

Module PackWeights(const Module& m, const std::string& cpu) {
  const int64_t width = codegen::PreferredPanelWidth(cpu);
  const int64_t rows = codegen::PreferredKernelRows(cpu);
  std::map<std::pair<const Constant*, bool>, const Constant*> packed;
  auto pack = [&](const Constant* weight, bool transposed, int64_t block,
                  std::vector<int64_t> shape) {
    const Constant*& pack = packed[{weight, transposed}];
    if (pack == nullptr) {
      pack = MakeConstant(m, PackLater(weight->value, transposed, block, std::move(shape)),
                          weight->name);
    }
    return pack;
  };
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<OpCall>();
    const auto* type = b.var->type->As<TensorType>();
    if (call == nullptr || type == nullptr) {
      out.push_back(b);
      return;
    }
    std::vector<Atom> args = call->args;
    BindingBuilder builder(m, b.value->span, out);
    if (auto wanted = call->op->pack ? call->op->pack(call->attrs) : std::nullopt) {
      const Constant* weight = Float32Weight(*call, wanted->weight, *type);
      if (weight != nullptr && weight->value.shape.size() == 2) {
        const auto [n, k] = Extents(weight->value, wanted->is_transposed);
        args[wanted->weight] =
            pack(weight, wanted->is_transposed, width, {(n + width - 1) / width, k, width});
        wanted->attrs.Set("units", n);
        builder.BindCall(b.var, wanted->op, std::move(args), wanted->attrs);
        return;
      }
    }
    if (call->op->layout == LayoutRule::kChooses && call->args.size() == 2) {
      const Constant* kernel = Float32Weight(*call, 1, *type);
      const size_t rank = kernel == nullptr ? 0 : kernel->value.shape.size();
      if (rank >= 3 && rank <= 5 && TakesBlocks(*call, kernel->value, *type, rows)) {
        std::vector<int64_t> shape = kernel->value.shape;
        shape[0] /= rows;
        shape.push_back(rows);
        args[1] = pack(kernel, true, rows, std::move(shape));
        Attrs attrs = call->attrs;
        attrs.Set("kernel_layout", attrs.String("kernel_layout") + std::to_string(rows) + "o");
        builder.BindCall(b.var, call->op->name, std::move(args), attrs);
        return;
      }
    }
    out.push_back(b);
  });
}

}  // namespace relayvm::ir
