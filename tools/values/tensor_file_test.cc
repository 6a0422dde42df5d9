#include "tools/values/tensor_file.h"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "bytecode/io/npy.h"
#include "tools/values/testing.h"

namespace relayvm::tools {
namespace {

using testing::TempFolder;

TEST_CASE("tensors go to files and come back, read or mapped") {
  TempFolder folder;
  for (DType dtype : {DType::kBool, DType::kInt8, DType::kUInt16, DType::kFloat16, DType::kFloat32, DType::kFloat64}) {
    for (std::vector<int64_t> shape : {std::vector<int64_t>{}, {0, 3}, {5}, {2, 3}, {300, 1001}}) {
      te::HostTensor t{dtype, shape, {}};
      t.data.resize(static_cast<size_t>(t.size() * DTypeBytes(dtype)));
      for (size_t i = 0; i < t.data.size(); ++i) {
        t.data[i] = static_cast<std::byte>(dtype == DType::kBool ? i % 2 : i * 7);
      }
      REQUIRE(WriteNpyFile(folder / "t.npy", t).ok());
      Result<Value> value = LoadNpy(folder / "t.npy");
      REQUIRE(value.ok());
      te::HostTensor back = ToHostTensor(*value);
      CHECK(back.dtype == t.dtype);
      CHECK(back.shape == t.shape);
      CHECK(back.data == t.data);
    }
  }
}

TEST_CASE("a mapped tensor outlives its file's name, and is not read") {
  TempFolder folder;
  te::HostTensor t{DType::kFloat32, {1 << 20}, std::vector<std::byte>(4 << 20)};
  t.data[123] = std::byte{7};
  REQUIRE(WriteNpyFile(folder / "t.npy", t).ok());
  Value value = *LoadNpy(folder / "t.npy");
  std::filesystem::remove(folder / "t.npy");
  CHECK(static_cast<const std::byte*>(value.data())[123] == std::byte{7});
  CHECK(reinterpret_cast<uintptr_t>(value.data()) % 4096 == 128);  // where the file has it, behind the header
}

TEST_CASE("a large file that is cut short") {
  TempFolder folder;
  te::HostTensor t{DType::kFloat32, {1 << 20}, std::vector<std::byte>(4 << 20)};
  REQUIRE(WriteNpyFile(folder / "t.npy", t).ok());
  std::filesystem::resize_file(folder / "t.npy", 1 << 20);
  Result<Value> value = LoadNpy(folder / "t.npy");
  REQUIRE(!value.ok());
  CHECK(value.status().message().find("truncated") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::tools
