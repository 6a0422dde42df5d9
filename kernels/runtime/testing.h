// What the tests of builtins share: tensors on plain vectors and a call that watches the bytes
// around each output. For tests only.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/runtime/builtin.h"
#include "kernels/runtime/call_args.h"

namespace relayvm::builtin_testing {

template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_same_v<T, Bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, int8_t>) return DType::kInt8;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kInt64;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kUInt8;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::kUInt64;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::kUInt32;
  if constexpr (std::is_same_v<T, Float16>) return DType::kFloat16;
  if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
  return DType::kFloat64;
}

struct Array {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  std::vector<std::byte> data;

  template <typename T>
  std::vector<T> as() const {
    REQUIRE(dtype == DTypeOf<T>());
    std::vector<T> values(data.size() / sizeof(T));
    if (!data.empty()) std::memcpy(values.data(), data.data(), data.size());
    return values;
  }
};

template <typename T>
Array Make(std::vector<int64_t> dims, const std::vector<T>& values) {
  Array a{DTypeOf<T>(), std::move(dims), std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(a.data.data(), values.data(), a.data.size());
  return a;
}
template <typename T>
Array Empty(std::vector<int64_t> dims) {
  size_t n = 1;
  for (int64_t d : dims) n *= static_cast<size_t>(d);
  return Array{DTypeOf<T>(), std::move(dims), std::vector<std::byte>(n * sizeof(T))};
}

struct CallResult {
  int32_t error = 0;
  std::vector<Array> outputs;
  std::vector<int64_t> counts;
};

// Calls the kernel `name`; `outputs` give dtype and dims of its results.
inline CallResult Call(const std::string& name, const std::vector<Array>& inputs,
                       std::vector<Array> outputs, const std::vector<int64_t>& params,
                       int num_counts = 0, RelayvmStrings* strings = nullptr,
                       RelayvmKernelFault* fault = nullptr) {
  constexpr size_t kMargin = 64;
  constexpr std::byte kMark{0xA5};
  const Builtin* builtin = FindBuiltin(name);
  REQUIRE_MESSAGE((builtin != nullptr), name);
  const RelayvmKernelFn fn = builtin->fn;
  REQUIRE(builtin->num_inputs == static_cast<int>(inputs.size()));
  REQUIRE(builtin->num_tensors == static_cast<int>(inputs.size() + outputs.size()));
  REQUIRE(builtin->num_counts == num_counts);
  REQUIRE(builtin->num_params <= static_cast<int>(params.size()));
  CallResult result;
  std::vector<void*> buffers;
  std::vector<int64_t> scalars;
  const auto describe = [&](const Array& a) {
    scalars.push_back(static_cast<int64_t>(a.dtype));
    scalars.push_back(static_cast<int64_t>(a.dims.size()));
    scalars.insert(scalars.end(), a.dims.begin(), a.dims.end());
  };
  std::vector<std::vector<std::byte>> copies;
  copies.reserve(inputs.size() + outputs.size());
  for (const Array& a : inputs) {
    describe(a);
    buffers.push_back(copies.emplace_back(a.data).data());
  }
  for (const Array& a : outputs) {
    describe(a);
    copies.emplace_back(a.data.size() + 2 * kMargin, kMark);
    buffers.push_back(copies.back().data() + kMargin);
  }
  scalars.insert(scalars.end(), params.begin(), params.end());
  result.counts.assign(static_cast<size_t>(num_counts), -1);
  for (int64_t& c : result.counts) buffers.push_back(&c);
  const RelayvmKernelEnv env{
      sizeof(RelayvmKernelEnv), 1, nullptr, nullptr, nullptr, fault, strings};
  const RelayvmKernelArgs args{buffers.data(), scalars.data(), nullptr};
  result.error = fn(&env, &args, 0, 1);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::vector<std::byte>& bytes = copies[inputs.size() + i];
    for (size_t m = 0; m < kMargin; ++m) {
      REQUIRE(bytes[m] == kMark);
      REQUIRE(bytes[bytes.size() - 1 - m] == kMark);
    }
    if (outputs[i].data.empty()) continue;
    std::memcpy(outputs[i].data.data(), bytes.data() + kMargin, outputs[i].data.size());
  }
  result.outputs = std::move(outputs);
  return result;
}

}  // namespace relayvm::builtin_testing
