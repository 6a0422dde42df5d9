#include "compiler/import/mxnet/arrays.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

namespace relayvm::import::mxnet {

namespace {

// A list of arrays as bytes, written as its parts say.
class File {
 public:
  template <typename T>
  File& Put(T v) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&v);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof v);
    return *this;
  }
  File& Head(uint64_t arrays) { return Put<uint64_t>(0x112).Put<uint64_t>(0).Put(arrays); }
  // Device, its number, float32.
  File& Plain() { return Put<int32_t>(1).Put<int32_t>(0).Put<int32_t>(0); }
  File& Name(std::string_view name) {
    Put<uint64_t>(name.size());
    for (const char c : name) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  Result<Arrays> Read() const { return ReadArrays("net.params", SharedBytes::Copy(bytes_)); }
  std::string Error() const {
    const auto arrays = Read();
    return arrays.ok() ? "" : arrays.status().message();
  }
  size_t size() const { return bytes_.size(); }
  File Cut(size_t size) const {
    File out;
    out.bytes_.assign(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(size));
    return out;
  }

 private:
  std::vector<std::byte> bytes_;
};

constexpr uint32_t kV1 = 0xF993FAC8, kV2 = 0xF993FAC9, kV3 = 0xF993FACA;

File All() {
  File f;
  f.Head(4);
  f.Put<uint32_t>(2).Put<uint32_t>(1).Put<uint32_t>(2).Plain().Put(1.0F).Put(2.0F);  // V0
  f.Put(kV1).Put<int32_t>(1).Put<int64_t>(1).Plain().Put(3.0F);
  f.Put(kV2).Put<int32_t>(0).Put<int32_t>(1).Put<int64_t>(1).Plain().Put(4.0F);
  f.Put(kV3).Put<int32_t>(0).Put<int32_t>(0).Plain().Put(5.0F);
  f.Put<uint64_t>(4).Name("arg:a").Name("aux:b").Name("c").Name("d");
  return f;
}

}  // namespace

TEST_CASE("Arrays of all versions") {
  const auto arrays = All().Read();
  REQUIRE_MESSAGE(arrays.ok(), arrays.status().message());
  CHECK(arrays->size() == 4);
  CHECK(arrays->at("a").shape == std::vector<int64_t>{1, 2});
  CHECK(arrays->at("d").shape.empty());
  float last = 0;
  std::memcpy(&last, arrays->at("d").data.data(), sizeof last);
  CHECK(last == 5);
}

TEST_CASE("Arrays that are cut off or lie") {
  const File whole = All();
  for (size_t size = 0; size < whole.size(); ++size) CHECK(!whole.Cut(size).Error().empty());
  CHECK(File().Head(uint64_t{1} << 60).Error().find("arrays in") != std::string::npos);
  const auto shaped = [](int64_t extent, int64_t other) {
    return File().Head(1).Put(kV2).Put<int32_t>(0).Put<int32_t>(2).Put(extent).Put(other).Plain();
  };
  CHECK(shaped(-1, 2).Error().find("an extent of -1") != std::string::npos);
  CHECK(shaped(int64_t{1} << 40, int64_t{1} << 40).Error().find("64 bits") != std::string::npos);
  CHECK(shaped(int64_t{1} << 40, 2).Error().find("the file has 0 bytes more") != std::string::npos);
  CHECK(File().Head(1).Put(kV2).Put<int32_t>(2).Error().find("sparse (csr)") != std::string::npos);
  CHECK(File().Head(1).Put<uint32_t>(1000).Error().find("a rank of 1000") != std::string::npos);
  CHECK(File()
            .Head(0)
            .Put<uint64_t>(1)
            .Put(uint64_t{1} << 40)
            .Error()
            .find("0 arrays have 1 names") != std::string::npos);
}

}  // namespace relayvm::import::mxnet
