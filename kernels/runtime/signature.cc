#include "kernels/runtime/signature.h"

#include <algorithm>
#include <array>
#include <span>

namespace relayvm {
namespace {

// All dims are sizes, and the bytes fit int64 even with the dims of 0 left out.
bool HasSize(const TensorView& t) {
  int64_t bytes = DTypeBytes(t.dtype);
  for (int d = 0; d < t.rank; ++d) {
    if (t.dims[d] < 0) return false;
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(t.dims[d], 1), &bytes)) return false;
  }
  return true;
}

// What the variables stand for, as far as it was seen.
class Variables {
 public:
  bool SameDType(char name, DType dtype) {
    int& seen = dtypes_[Index(name, 'A')];
    if (seen < 0) seen = static_cast<int>(dtype);
    return seen == static_cast<int>(dtype);
  }
  bool SameDim(char name, int64_t dim) {
    int64_t& seen = dims_[Index(name, 'a')];
    if (seen < 0) seen = dim;
    return seen == dim;
  }
  bool SameRest(char name, std::span<const int64_t> dims) {
    Rest& seen = rests_[Index(name, 'a')];
    if (!seen.known) seen = {true, dims};
    return std::equal(seen.dims.begin(), seen.dims.end(), dims.begin(), dims.end());
  }

 private:
  static size_t Index(char name, char first) { return static_cast<size_t>(name - first); }

  struct Rest {
    bool known = false;
    std::span<const int64_t> dims;
  };
  template <typename T>
  static std::array<T, 26> Unseen() {
    std::array<T, 26> none;
    none.fill(-1);
    return none;
  }
  std::array<int, 26> dtypes_ = Unseen<int>();
  std::array<int64_t, 26> dims_ = Unseen<int64_t>();
  std::array<Rest, 26> rests_{};
};

bool CheckDims(const TensorSpec& spec, const TensorView& t, Variables& variables) {
  const bool open = spec.is_open();
  const int fixed = spec.num_dims - (open ? 1 : 0);
  const int rest = t.rank - fixed;
  if (open ? rest < 0 : rest != 0) return false;
  for (int k = 0, d = 0; k < spec.num_dims; ++k) {
    const DimSpec& dim = spec.dims[static_cast<size_t>(k)];
    switch (dim.kind) {
      case DimSpec::Kind::kRest:
        if (dim.variable != 0 &&
            !variables.SameRest(dim.variable, {t.dims, static_cast<size_t>(rest)}))
          return false;
        d += rest;
        continue;
      case DimSpec::Kind::kNonEmpty:
        if (t.size() < 1) return false;
        d += rest;
        continue;
      case DimSpec::Kind::kExact:
        if (t.dims[d] != dim.exact) return false;
        break;
      case DimSpec::Kind::kVariable:
        if (!variables.SameDim(dim.variable, t.dims[d])) return false;
        break;
      case DimSpec::Kind::kAny:
      case DimSpec::Kind::kCounted:
        break;
    }
    ++d;
  }
  return true;
}

bool CheckParam(const ParamSpec& spec, int64_t value, const TensorView& first) {
  switch (spec.kind) {
    case ParamSpec::Kind::kAxis:
      return value >= 0 && value < first.rank;
    case ParamSpec::Kind::kOptionalAxis:
      return value >= -1 && value < first.rank;
    case ParamSpec::Kind::kRange:
      return value >= spec.low && value <= spec.high;
    case ParamSpec::Kind::kInt:
    case ParamSpec::Kind::kReal:
    case ParamSpec::Kind::kReals:
      return true;
  }
  return false;
}

}  // namespace

bool Accepts(const DTypeSpec& spec, DType t) {
  switch (spec.kind) {
    case DTypeSpec::Kind::kAny:
      return true;
    case DTypeSpec::Kind::kInteger:
      return IsInt(t);
    case DTypeSpec::Kind::kFloat:
      return IsFloat(t);
    case DTypeSpec::Kind::kExact:
      return t == spec.exact;
  }
  return false;
}

int32_t CheckCall(const Signature& signature, const CallArgs& args) {
  Variables variables;
  for (int i = 0; i < signature.num_tensors; ++i) {
    const TensorSpec& spec = signature.tensors[static_cast<size_t>(i)];
    const TensorView& t = args[i];
    if (!IsValidDType(static_cast<uint8_t>(t.dtype)) || !Accepts(spec.dtype, t.dtype) ||
        !HasSize(t) || !CheckDims(spec, t, variables) ||
        (spec.dtype.variable != 0 && !variables.SameDType(spec.dtype.variable, t.dtype))) {
      return RELAYVM_KERNEL_INVALID_ARGUMENT;
    }
  }
  for (int i = 0; i < signature.num_params; ++i) {
    if (!CheckParam(signature.params[static_cast<size_t>(i)], args.param(i), args[0])) {
      return RELAYVM_KERNEL_INVALID_ARGUMENT;
    }
  }
  return RELAYVM_KERNEL_OK;
}

}  // namespace relayvm
