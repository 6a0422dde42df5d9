#include "tools/values/tensor_file.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "bytecode/io/npy.h"
#include "tools/values/numbers.h"
#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

using testing::TempFolder;

TEST_CASE("tensors go to files and come back, read or mapped") {
  TempFolder folder;
  for (DType dtype : {DType::kBool, DType::kInt8, DType::kUInt16, DType::kFloat16, DType::kFloat32,
                      DType::kFloat64}) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{}, {0, 3}, {5}, {2, 3}, {300, 1001}}) {
      HostTensor t{dtype, shape, {}};
      t.data = SharedBytes::Zeros(static_cast<size_t>(t.size() * DTypeBytes(dtype)));
      for (size_t i = 0; i < t.data.size(); ++i) {
        t.data.Mutable()[i] = static_cast<std::byte>(dtype == DType::kBool ? i % 2 : i * 7);
      }
      REQUIRE(WriteNpyFile(folder / "t.npy", t).ok());
      Result<Value> value = LoadNpy(folder / "t.npy");
      REQUIRE(value.ok());
      HostTensor back = ToHostTensor(*value);
      CHECK(back.dtype == t.dtype);
      CHECK(back.shape == t.shape);
      CHECK(back.data == t.data);
    }
  }
}

TEST_CASE("a mapped tensor outlives its file's name, and is not read") {
  TempFolder folder;
  HostTensor t{DType::kFloat32, {1 << 20}, std::vector<std::byte>(4 << 20)};
  t.data.Mutable()[123] = std::byte{7};
  REQUIRE(WriteNpyFile(folder / "t.npy", t).ok());
  Value value = *LoadNpy(folder / "t.npy");
  std::filesystem::remove(folder / "t.npy");
  CHECK(static_cast<const std::byte*>(value.data())[123] == std::byte{7});
  CHECK(reinterpret_cast<uintptr_t>(value.data()) % 4096 ==
        128);  // where the file has it, behind the header
}

TEST_CASE("a large file that is cut short") {
  TempFolder folder;
  HostTensor t{DType::kFloat32, {1 << 20}, std::vector<std::byte>(4 << 20)};
  REQUIRE(WriteNpyFile(folder / "t.npy", t).ok());
  std::filesystem::resize_file(folder / "t.npy", 1 << 20);
  Result<Value> value = LoadNpy(folder / "t.npy");
  REQUIRE(!value.ok());
  CHECK(value.status().message().find("truncated") != std::string::npos);
}

template <typename T>
Value Tensor(DType dtype, const std::vector<T>& values) {
  return *Value::CopyTensor(dtype, std::vector<int64_t>{static_cast<int64_t>(values.size())},
                            values.data());
}

TEST_CASE("conversions that lose nothing but digits") {
  struct Case {
    Value from;
    DType dtype;
    const char* result;  // the last element, or the error
  };
  const Case cases[] = {
      {Tensor<int64_t>(DType::kInt64, {1, -7}), DType::kInt32, "-7"},
      {Tensor<int64_t>(DType::kInt64, {200}), DType::kUInt8, "200"},
      {Tensor<int64_t>(DType::kInt64, {1, 300}), DType::kUInt8,
       "element 1, 300, is not a value of uint8; the tensor is Tensor[(2), int64]"},
      {Tensor<int64_t>(DType::kInt64, {-1}), DType::kUInt64,
       "element 0, -1, is not a value of uint64; the tensor is Tensor[(1), int64]"},
      {Tensor<uint64_t>(DType::kUInt64, {UINT64_MAX}), DType::kInt64,
       "element 0, 18446744073709551615, is not a value of int64; the tensor is Tensor[(1), "
       "uint64]"},
      {Tensor<double>(DType::kFloat64, {0.1}), DType::kFloat32, "0.1"},
      {Tensor<double>(DType::kFloat64, {3}), DType::kInt32, "3"},
      {Tensor<double>(DType::kFloat64, {2.5}), DType::kInt32,
       "element 0, 2.5, is not a value of int32; the tensor is Tensor[(1), float64]"},
      {Tensor<double>(DType::kFloat64, {1e300}), DType::kInt64,
       "element 0, 1e+300, is not a value of int64; the tensor is Tensor[(1), float64]"},
      {Tensor<int32_t>(DType::kInt32, {1}), DType::kBool, "true"},
      {Tensor<int32_t>(DType::kInt32, {2}), DType::kBool,
       "element 0, 2, is not a value of bool; the tensor is Tensor[(1), int32]"},
      {Tensor<uint16_t>(DType::kUInt16, {0x4048}), DType::kBFloat16, "3.12"},
      {Tensor<int32_t>(DType::kInt32, {3}), DType::kFloat16, "3"},
  };
  for (const Case& c : cases) {
    Result<Value> to = ConvertTensor(c.from, c.dtype);
    if (!to.ok()) {
      CHECK(to.status().message() == c.result);
      continue;
    }
    const char* last = static_cast<const char*>(to->data()) + to->bytes() - DTypeBytes(c.dtype);
    CHECK(ShortestElement(c.dtype, last) == c.result);
  }
}

}  // namespace
}  // namespace relayvm::tools
