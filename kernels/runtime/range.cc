// Numbers that must lie in a range: indices, lengths, counts. What is outside is an error that
// names the number, before anything is computed with it. Tested by range_test.cc.
#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

// Bounds of the numbers at k, k + step, k + 2 step .. of `count`.
struct Bounds {
  int64_t least, end;
};

// Block by block without a branch, so that it takes vectors; where a block has one outside, it is
// looked for. A number is inside when neither difference is negative: where one of them wraps, the
// other one is negative.
template <typename Load>
int32_t CheckEach(const CallArgs& args, const Load& load, int64_t first, int64_t count,
                  int64_t step, Bounds bounds) {
  constexpr int64_t kAtOnce = 64;
  const auto least = static_cast<uint64_t>(bounds.least);
  const auto last = static_cast<uint64_t>(bounds.end) - 1;
  const auto beyond = [&](int64_t at) {
    const auto value = static_cast<uint64_t>(load(at));
    return (value - least) | (last - value);
  };
  int32_t status = RELAYVM_KERNEL_OK;
  args.InBlocks(count, [&](int64_t begin, int64_t end) {
    if (status != RELAYVM_KERNEL_OK) return;
    uint64_t any = 0;
    int64_t i = begin;
    if (step == 1) {
      for (; i + kAtOnce <= end; i += kAtOnce) {
        for (int64_t k = 0; k < kAtOnce; ++k) any |= beyond(first + i + k);
      }
    }
    for (; i < end; ++i) any |= beyond(first + i * step);
    if (static_cast<int64_t>(any) >= 0) return;
    for (i = begin; i < end && status == RELAYVM_KERNEL_OK; ++i) {
      const int64_t at = first + i * step;
      if (static_cast<int64_t>(beyond(at)) < 0) {
        status = args.OutOfRange(load(at), bounds.least, bounds.end - 1);
      }
    }
  });
  return status;
}

int32_t CheckAll(const CallArgs& args) {
  const TensorView& values = args[0];
  if (!IsInt(values.dtype)) return RELAYVM_KERNEL_INVALID_ARGUMENT;
  const int64_t k = args[1].dims[0], count = values.size();
  if (k != 1 && (values.rank < 1 || values.dims[values.rank - 1] != k)) {
    return RELAYVM_KERNEL_INVALID_ARGUMENT;
  }
  for (int64_t i = 0; i < k; ++i) {
    const Bounds bounds{args[1].as<const int64_t>()[i], args[2].as<const int64_t>()[i]};
    if (bounds.end == INT64_MIN) return RELAYVM_KERNEL_INVALID_ARGUMENT;
    const auto check = [&](const auto& load) {
      return CheckEach(args, load, i, count / k, k, bounds);
    };
    int32_t status = RELAYVM_KERNEL_OK;
    if (values.dtype == DType::kInt64) {
      status = check([from = values.as<const int64_t>()](int64_t at) { return from[at]; });
    } else if (values.dtype == DType::kInt32) {
      status = check([from = values.as<const int32_t>()](int64_t at) {
        return static_cast<int64_t>(from[at]);
      });
    } else {
      status = check([&](int64_t at) { return LoadIndex(values, at); });
    }
    if (status != RELAYVM_KERNEL_OK) return status;
  }
  return RELAYVM_KERNEL_OK;
}

}  // namespace

int32_t CheckRange(const CallArgs& args) {
  if (const int32_t error = CheckAll(args); error != RELAYVM_KERNEL_OK) return error;
  args.Copy(args[3].data, args[2].data, args[2].size() * DTypeBytes(DType::kInt64));
  return RELAYVM_KERNEL_OK;
}

}  // namespace relayvm
