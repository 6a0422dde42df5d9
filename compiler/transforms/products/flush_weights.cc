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

// Whether there are denormals among numbers of which one is as large as weights are. Sign bits say
// so: each processor's vectors can do that.
bool HasDenormalsBesideLarge(std::span<const float> numbers) {
  using Vector [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = uint32_t;
  constexpr size_t kLanes = sizeof(Vector) / sizeof(uint32_t);
  Vector denormal = {}, large = {};
  const auto note = [&](const Vector& bits) {
    const Vector magnitude = bits & kMagnitude;
    denormal |= (magnitude - kLeastNormal) & ~(magnitude - 1);
    large |= MagnitudeOf(kLeastLargestWeight) - 1 - magnitude;
  };
  size_t i = 0;
  for (; i + kLanes <= numbers.size(); i += kLanes)
    note(*reinterpret_cast<const Vector*>(&numbers[i]));
  Vector rest = {};  // zeros are neither
  std::ranges::copy(numbers.subspan(i), reinterpret_cast<float*>(&rest));
  note(rest);
  uint32_t has_denormal = 0, has_large = 0;
  for (size_t lane = 0; lane < kLanes; ++lane) {
    has_denormal |= denormal[lane];
    has_large |= large[lane];
  }
  return (has_denormal & has_large & ~kMagnitude) != 0;
}

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
    const bool is_changed = HasDenormalsBesideLarge(NumbersOf(bytes));
    bytes.DropPages();
    if (!is_changed) return nullptr;
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
