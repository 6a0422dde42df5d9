#include "vm/engines/dnnl/constants.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace relayvm::onednn {

namespace {

Result<std::shared_ptr<const Packed>> PackNow(const void* data, const MemoryDesc& view,
                                              const MemoryDesc& wanted) {
  auto packed = std::make_shared<Packed>();
  RELAYVM_ASSIGN_OR_RETURN(packed->bytes, AlignedBytes::Make(wanted.bytes()));
  RELAYVM_ASSIGN_OR_RETURN(packed->memory, Memory::Over(wanted, packed->bytes.data()));
  // The library only reads what is a source.
  RELAYVM_ASSIGN_OR_RETURN(const Memory from, Memory::Over(view, const_cast<void*>(data)));
  RELAYVM_ASSIGN_OR_RETURN(const PrimitiveDesc desc, Describe(Reorder{view, wanted}, {}));
  RELAYVM_ASSIGN_OR_RETURN(const Primitive reorder, desc.Create());
  RELAYVM_ASSIGN_OR_RETURN(const AlignedBytes scratch,
                           AlignedBytes::Make(desc.scratchpad().bytes()));
  RELAYVM_ASSIGN_OR_RETURN(const Memory scratchpad,
                           Memory::Over(desc.scratchpad(), scratch.data()));
  RELAYVM_ASSIGN_OR_RETURN(const Stream stream, Stream::Create());
  const std::array<dnnl_exec_arg_t, 3> args = {{{DNNL_ARG_FROM, from.get()},
                                                {DNNL_ARG_TO, packed->memory.get()},
                                                {DNNL_ARG_SCRATCHPAD, scratchpad.get()}}};
  RELAYVM_RETURN_IF_ERROR(stream.Execute(reorder, args));
  return std::shared_ptr<const Packed>(std::move(packed));
}

}  // namespace

void AlignedBytes::Free::operator()(void* data) const { std::free(data); }

Result<AlignedBytes> AlignedBytes::Make(uint64_t bytes) {
  constexpr uint64_t kAlignment = 64;
  const uint64_t rounded =
      (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  AlignedBytes result;
  result.data_.reset(std::aligned_alloc(kAlignment, rounded));
  if (result.data_ == nullptr) return Status::OutOfMemory();
  return result;
}

namespace {
constexpr uint64_t kWritten = uint64_t{1} << 63U;
}  // namespace

std::optional<MemoryDesc> Constants::PreferredOf(uint64_t index, const MemoryDesc& view) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& e : entries_) {
    if (e.kept != nullptr && e.index == index && e.view.SameLayout(view)) return e.layout;
  }
  return std::nullopt;
}

std::optional<MemoryDesc> Constants::Preferred(uint32_t index, const MemoryDesc& view) const {
  return PreferredOf(index, view);
}

std::optional<MemoryDesc> Constants::Preferred(const Written& written,
                                               const MemoryDesc& view) const {
  return PreferredOf(kWritten | written.key, view);
}

Result<std::shared_ptr<const Packed>> Constants::Pack(uint32_t index, const MemoryDesc& view,
                                                      const MemoryDesc& wanted) {
  return Find(index, view, wanted, [&] { return PackNow(data_[index], view, wanted); });
}

Result<std::shared_ptr<const Packed>> Constants::Pack(const Written& written,
                                                      const MemoryDesc& view,
                                                      const MemoryDesc& wanted) {
  return Find(kWritten | written.key, view, wanted, [&]() -> Result<std::shared_ptr<const Packed>> {
    RELAYVM_ASSIGN_OR_RETURN(const AlignedBytes bytes, AlignedBytes::Make(view.bytes()));
    written.write(bytes.data());
    return PackNow(bytes.data(), view, wanted);
  });
}

Result<std::shared_ptr<const Packed>> Constants::Find(uint64_t index, const MemoryDesc& view,
                                                      const MemoryDesc& wanted,
                                                      const MakeFn& make) {
  const auto find = [&]() -> std::shared_ptr<const Packed> {
    for (const Entry& e : entries_) {
      if (e.index != index || !e.view.SameLayout(view) || !e.layout.SameLayout(wanted)) continue;
      if (auto packed = e.packed.lock()) return packed;
    }
    return nullptr;
  };
  {
    const std::lock_guard lock(mutex_);
    if (auto packed = find()) return packed;
  }
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const Packed> packed, make());
  const std::lock_guard lock(mutex_);
  if (auto other = find()) return other;  // another thread was faster
  entries_.remove_if([](const Entry& e) { return e.packed.expired(); });
  const bool is_first = std::none_of(entries_.begin(), entries_.end(), [&](const Entry& e) {
    return e.kept != nullptr && e.index == index && e.view.SameLayout(view);
  });
  entries_.push_back({index, view, wanted, is_first ? packed : nullptr, packed});
  return packed;
}

}  // namespace relayvm::onednn
