#include "kernels/op/subviews.h"

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "kernels/op/op_helpers.h"

namespace relayvm {
namespace {

constexpr uint64_t kSlotAlign = 64;
constexpr uint64_t kLeastBytes = 1024;

PartsCall CallOf(std::string_view name,
                 std::initializer_list<std::pair<const char*, AttrValue>> given) {
  const OpDef& op = *OpTable::Get().Find(name);
  Attrs attrs;
  for (const auto& [key, value] : given) attrs.Set(key, value);
  Result<Attrs> all = CompleteAttrs(op, attrs);
  assert(all.ok());
  return {&op, *std::move(all)};
}

}  // namespace

std::optional<uint64_t> StaticBytesOf(const TensorType& type) {
  const Dim bytes = ProductOf(type.shape) * Dim(DTypeBytes(type.dtype));
  const bool is_static =
      std::all_of(type.shape.begin(), type.shape.end(), [](const Dim& d) { return d.is_const(); });
  if (!is_static || !bytes.is_const() || bytes.value() < 0) return std::nullopt;
  return static_cast<uint64_t>(bytes.value());
}

std::optional<std::vector<uint64_t>> SubviewOffsets(const TensorType& whole, int64_t axis,
                                                    const std::vector<TensorType>& subviews) {
  const auto first = whole.shape.begin() + CanonicalAxis(axis, whole.rank());
  const auto bytes = StaticBytesOf(whole);
  if (!bytes || *bytes < kLeastBytes ||
      !std::all_of(whole.shape.begin(), first, [](const Dim& d) { return d.is_const(1); })) {
    return std::nullopt;
  }
  std::vector<uint64_t> offsets;
  uint64_t at = 0;
  for (const TensorType& subview : subviews) {
    const auto size = StaticBytesOf(subview);
    if (!size || *size == 0 || at % kSlotAlign != 0 || subview.rank() != whole.rank())
      return std::nullopt;
    offsets.push_back(at);
    at += *size;
  }
  return at == *bytes ? std::optional(offsets) : std::nullopt;
}

PartsCall SplitCall(int64_t count, int64_t axis) {
  return CallOf("split", {{"indices_or_sections", count}, {"axis", axis}});
}

PartsCall JoinCall(int64_t axis) { return CallOf("concatenate", {{"axis", axis}}); }

PartsCall SliceCall(int64_t begin, int64_t end, int64_t axis) {
  return CallOf("strided_slice",
                {{"begin", AttrList{begin}}, {"end", AttrList{end}}, {"axes", AttrList{axis}}});
}

PartsCall ReshapeCall(const std::vector<Dim>& shape) {
  return CallOf("reshape", {{"newshape", AttrList(shape.begin(), shape.end())}});
}

}  // namespace relayvm
