#include "compiler/transforms/products/flush_weights.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <variant>

#include "compiler/ir/problems.h"
#include "compiler/ir/rewrite.h"

namespace relayvm::ir {
namespace {

constexpr uint32_t kMagnitude = 0x7fffffff, kLeastNormal = 0x00800000;

uint32_t MagnitudeOf(float x) { return std::bit_cast<uint32_t>(x) & kMagnitude; }
bool IsDenormal(float x) { return MagnitudeOf(x) - 1 < kLeastNormal - 1; }

std::span<const float> NumbersOf(const SharedBytes& bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

class Flusher {
 public:
  explicit Flusher(const Module& m) : m_(m) {}

  Module Run() {
    return RewriteModule(m_, [&](const Binding& b, std::vector<Binding>& out) {
      out.push_back(b);
      const auto* call = b.value->As<OpCall>();
      if (call == nullptr || (!ConvOf(m_, *call) && !MatrixProductOf(m_, *call))) return;
      OpCall changed = *call;
      for (const size_t i : {0, 1}) {
        const auto* weight = std::get_if<const Constant*>(&call->args[i]);
        const Constant* flushed = weight == nullptr ? nullptr : Flushed(*weight);
        if (flushed != nullptr) changed.args[i] = flushed;
      }
      if (changed.args != call->args) out.back().value = MakeExpr(m_, changed, b.value->span);
    });
  }

 private:
  // Null: it stays.
  const Constant* Flushed(const Constant* weight) {
    const auto [at, is_new] = flushed_.emplace(weight, nullptr);
    if (!is_new || weight->value.dtype != DType::kFloat32 || weight->recipe != nullptr)
      return at->second;
    const SharedBytes bytes = weight->value.data.Loaded();
    uint32_t largest = 0;
    bool has_denormals = false;
    for (const float x : NumbersOf(bytes)) {
      largest = std::max(largest, MagnitudeOf(x));
      has_denormals |= IsDenormal(x);
    }
    bytes.DropPages();
    if (!has_denormals || largest < MagnitudeOf(kLeastLargestWeight)) return nullptr;
    HostTensor value{weight->value.dtype, weight->value.shape,
                     SharedBytes::Copy({bytes.data(), bytes.size()})};
    auto* numbers = reinterpret_cast<float*>(value.data.Mutable().data());
    std::replace_if(numbers, numbers + value.size(), IsDenormal, 0.0F);
    return at->second = MakeConstant(m_, std::move(value), weight->name);
  }

  const Module& m_;
  std::unordered_map<const Constant*, const Constant*> flushed_;
};

}  // namespace

Module FlushWeights(const Module& m) { return Flusher(m).Run(); }

}  // namespace relayvm::ir
