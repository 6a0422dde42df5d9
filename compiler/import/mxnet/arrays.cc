#include "compiler/import/mxnet/arrays.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <vector>

#include "bytecode/base/printable.h"
#include "compiler/import/mxnet/attributes.h"

namespace relayvm::import::mxnet {

namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kV1 = 0xF993FAC8, kV2 = 0xF993FAC9, kV3 = 0xF993FACA;
constexpr uint32_t kMostDims = 64;

class ArrayReader {
 public:
  ArrayReader(const std::string& path, const SharedBytes& file) : path_(path), file_(file) {}

  Result<Arrays> Read() {
    uint64_t magic = 0, reserved = 0, count = 0;
    if (!Take(&magic) || magic != kListMagic || !Take(&reserved))
      return Fail("expected a list of MXNet arrays, which begins with 0x112");
    if (!Take(&count)) return Cut("the number of arrays");
    // The smallest array is one word.
    if (count > Left() / sizeof(uint32_t))
      return Fail(fmt::format("{} arrays in {} bytes", count, Left()));
    std::vector<std::optional<HostTensor>> arrays;
    for (uint64_t i = 0; i < count; ++i) {
      RELAYVM_ASSIGN_OR_RETURN(auto array, Array(i));
      arrays.push_back(std::move(array));
    }
    uint64_t names = 0;
    if (!Take(&names)) return Cut("the number of names");
    if (names != count)
      return Fail(fmt::format("{} arrays have {} names; expected one for each", count, names));
    Arrays out;
    for (auto& array : arrays) {
      uint64_t length = 0;
      if (!Take(&length) || length > Left()) return Cut("a name");
      std::string_view name(reinterpret_cast<const char*>(file_.data()) + at_, length);
      at_ += length;
      if (name.starts_with("arg:") || name.starts_with("aux:")) name.remove_prefix(4);
      if (array && !out.emplace(name, *std::move(array)).second)
        return Fail(fmt::format("two arrays have the name '{}'", Printable(name)));
    }
    return out;
  }

 private:
  size_t Left() const { return file_.size() - at_; }
  template <typename T>
  bool Take(T* value) {
    if (Left() < sizeof(T)) return false;
    std::memcpy(value, file_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return true;
  }
  Status Fail(std::string_view why) const {
    return InvalidInput(fmt::format("{}: byte {}: {}", path_, at_, why));
  }
  Status Cut(std::string_view where) const {
    return Fail(fmt::format("the file ends in {}", where));
  }

  // Nullopt: there is none.
  Result<std::optional<HostTensor>> Array(uint64_t index) {
    const std::string what = fmt::format("array {}", index);
    uint32_t magic = 0;
    if (!Take(&magic)) return Cut(what);
    const bool is_new = magic == kV2 || magic == kV3;
    uint32_t rank = magic;
    if (is_new) {
      int32_t storage = 0;
      if (!Take(&storage)) return Cut(what);
      if (storage != 0) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("{}: {} is sparse ({}); save it dense: "
                                  "array.tostype('default')",
                                  path_, what, storage == 1 ? "row_sparse" : "csr"));
      }
    }
    const bool wide = is_new || magic == kV1;
    if (wide && !Take(&rank)) return Cut(what);
    if (rank > kMostDims)
      return Fail(
          fmt::format("{}: a rank of {} is not one of an array", what, static_cast<int32_t>(rank)));
    if (rank == 0 && magic != kV3) return std::optional<HostTensor>();
    HostTensor tensor;
    int64_t elements = 1;
    for (uint32_t i = 0; i < rank; ++i) {
      int64_t extent = 0;
      uint32_t narrow = 0;
      if (wide ? !Take(&extent) : !Take(&narrow)) return Cut(what);
      if (!wide) extent = narrow;
      if (extent < 0) return Fail(fmt::format("{}: an extent of {}", what, extent));
      if (__builtin_mul_overflow(elements, extent, &elements))
        return Fail(fmt::format("{}: the product of its extents has more than 64 bits", what));
      tensor.shape.push_back(extent);
    }
    int32_t device = 0, number = 0, flag = 0;
    if (!Take(&device) || !Take(&number) || !Take(&flag)) return Cut(what);
    const auto dtype = TypeOfFlag(flag);
    if (!dtype) return Fail(fmt::format("{}: dtype {} is none of MXNet's", what, flag));
    tensor.dtype = *dtype;
    const auto width = static_cast<size_t>(DTypeBytes(*dtype));
    if (static_cast<uint64_t>(elements) > Left() / width) {
      return Fail(fmt::format("{}: {} elements of {} bytes, but the file has {} bytes more", what,
                              elements, width, Left()));
    }
    tensor.data = file_.Slice(at_, static_cast<size_t>(elements) * width);
    at_ += tensor.data.size();
    NormalizeBools(tensor);
    return std::optional(std::move(tensor));
  }

  const std::string& path_;
  const SharedBytes& file_;
  size_t at_ = 0;
};

}  // namespace

bool AreArrays(std::string_view start) {
  uint64_t magic = 0;
  if (start.size() < sizeof magic) return false;
  std::memcpy(&magic, start.data(), sizeof magic);
  return magic == kListMagic;
}

Result<Arrays> ReadArrays(const std::string& path, const SharedBytes& file) {
  return ArrayReader(path, file).Read();
}

}  // namespace relayvm::import::mxnet
