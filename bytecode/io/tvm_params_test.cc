#include "bytecode/io/tvm_params.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "bytecode/base/file_mapping.h"
#include "tests/temp_folder.h"

namespace relayvm {
namespace {

// relay.save_param_dict({"w": float32 [1, 2, 3]})
constexpr unsigned char kFile[] = {
    0xb7, 0x9c, 0x04, 0x05, 0x4f, 0x8d, 0xe5, 0xf7, 0, 0,    0,    0,    0,    0,    0,
    0,    1,    0,    0,    0,    0,    0,    0,    0, 1,    0,    0,    0,    0,    0,
    0,    0,    'w',  1,    0,    0,    0,    0,    0, 0,    0,    0x3f, 0xa1, 0xb4, 0x96,
    0xf0, 0x40, 0x5e, 0xdd, 0,    0,    0,    0,    0, 0,    0,    0,    1,    0,    0,
    0,    0,    0,    0,    0,    1,    0,    0,    0, 2,    0x20, 1,    0,    3,    0,
    0,    0,    0,    0,    0,    0,    0x0c, 0,    0, 0,    0,    0,    0,    0,    0,
    0,    0x80, 0x3f, 0,    0,    0,    0x40, 0,    0, 0x40, 0x40};
const std::span<const std::byte> kBytes = std::as_bytes(std::span(kFile));

std::vector<std::byte> Changed(size_t at, int byte) {
  std::vector<std::byte> bytes(kBytes.begin(), kBytes.end());
  bytes[at] = static_cast<std::byte>(byte);
  return bytes;
}

TEST_CASE("reads TVM's parameter files") {
  auto params = ParseTvmParams(SharedBytes::Copy(kBytes));
  REQUIRE(params.ok());
  REQUIRE(params->size() == 1);
  const HostTensor& w = params->at("w");
  CHECK(w.shape == std::vector<int64_t>{3});
  float values[3];
  std::memcpy(values, w.data.data(), 12);
  CHECK(values[2] == 3);
}

TEST_CASE("damaged parameter files are errors") {
  const struct {
    std::vector<std::byte> bytes;
    const char* message;
  } kCases[] = {
      {Changed(0, 0), "parameter file: wrong magic number"},
      {Changed(16, 2), "parameter file: 2 names, but 62309602860381345 tensors"},
      {Changed(23, 0xFF), "parameter file: truncated, or a wrong number of names"},
      {Changed(24, 200), "parameter file: truncated at name 1 of 1"},
      {Changed(33, 2), "parameter file: 1 names, but 2 tensors"},
      {Changed(41, 0), "parameter file: \"w\": tensor blob: wrong magic number"},
  };
  for (const auto& c : kCases) {
    auto params = ParseTvmParams(c.bytes);
    REQUIRE_FALSE(params.ok());
    CHECK(params.status().message() == c.message);
  }
  for (size_t i = 0; i < kBytes.size(); ++i) {
    CHECK_FALSE(ParseTvmParams(SharedBytes::Copy(kBytes.first(i))).ok());
    for (int b = 0; b < 256; b += 5) {
      auto params = ParseTvmParams(Changed(i, b));
      CHECK((params.ok() || !params.status().message().empty()));
    }
  }
  std::vector<std::byte> longer(kBytes.begin(), kBytes.end());
  longer.push_back(std::byte{0});
  CHECK(ParseTvmParams(longer).status().message() ==
        "parameter file: 1 bytes after the last tensor");
  // The same name twice.
  std::vector<std::byte> twice(kBytes.begin(), kBytes.begin() + 33);
  twice[16] = std::byte{2};
  twice.insert(twice.end(), kBytes.begin() + 24, kBytes.begin() + 33);
  twice.insert(twice.end(), kBytes.begin() + 33, kBytes.end());
  twice[42] = std::byte{2};
  twice.insert(twice.end(), kBytes.begin() + 41, kBytes.end());
  CHECK(ParseTvmParams(twice).status().message() == "parameter file: \"w\" occurs twice");
}

TEST_CASE("what is written reads back, and is TVM's bytes") {
  const testing::TempFolder folder;
  const std::string path = folder / "w.params";
  auto read = [&] { return SharedBytes::OfFile(*FileMapping::Open(path)); };
  const auto tvm = ParseTvmParams(SharedBytes::Copy(kBytes));
  REQUIRE(tvm.ok());
  REQUIRE(WriteTvmParams(path, *tvm).ok());
  CHECK(read() == SharedBytes::Copy(kBytes));
  CHECK(IsTvmParams(read()));
  const uint8_t ones[] = {1, 0, 1};
  TensorsByName tensors = *tvm;
  tensors["layers.0/mask"] = {DType::kBool, {3}, SharedBytes::Copy(std::as_bytes(std::span(ones)))};
  tensors[""] = {DType::kBFloat16, {0, 4}, {}};
  REQUIRE(WriteTvmParams(path, tensors).ok());
  const auto again = ParseTvmParams(read());
  REQUIRE_MESSAGE(again.ok(), again.status().message());
  CHECK(again->size() == 3);
  CHECK(again->at("layers.0/mask").data == tensors.at("layers.0/mask").data);
  CHECK(again->at("").dtype == DType::kBFloat16);
  CHECK(again->at("").shape == std::vector<int64_t>{0, 4});
  CHECK(WriteTvmParams(folder / "no/folder", tensors).code() == StatusCode::kInvalidInput);
}

TEST_CASE("large tensors are aligned in the file, by tensors that reading leaves out") {
  const testing::TempFolder folder;
  const std::string path = folder / "params";
  TensorsByName tensors;
  for (size_t i = 0; i < 70; ++i) {
    const size_t bytes = i % 3 == 0 ? i : 4096 + i;
    std::vector<std::byte> data(bytes, static_cast<std::byte>(i));
    tensors.emplace("w" + std::to_string(i),
                    HostTensor{DType::kUInt8, {1, static_cast<int64_t>(bytes)}, data});
  }
  REQUIRE(WriteTvmParams(path, tensors).ok());
  auto mapping = FileMapping::Open(path);
  REQUIRE(mapping.ok());
  auto read = ParseTvmParams(SharedBytes::OfFile(*mapping));
  REQUIRE_MESSAGE(read.ok(), read.status().message());
  REQUIRE(read->size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    CAPTURE(name);
    const HostTensor& found = read->at(name);
    CHECK(found.shape == tensor.shape);
    CHECK(found.data == tensor.data);
    if (tensor.data.size() >= 4096) CHECK(reinterpret_cast<uintptr_t>(found.data.data()) % 64 == 0);
  }
  tensors.emplace(std::string(kAlignmentName) + "x", HostTensor{DType::kUInt8, {0}, {}});
  CHECK(WriteTvmParams(path, tensors).code() == StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace relayvm
