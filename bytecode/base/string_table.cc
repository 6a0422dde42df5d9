#include "bytecode/base/string_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <random>

#include "bytecode/base/guarded.h"
#include "bytecode/base/utf8.h"

namespace relayvm {
namespace {

struct SipKey {
  uint64_t k0, k1;
};

// Where the system gives no random numbers, of addresses, which it chooses at random: kernels,
// which intern, are no place to fail for that.
SipKey MakeKey() {
  int here = 0;
  SipKey key{reinterpret_cast<uintptr_t>(&here), reinterpret_cast<uintptr_t>(&MakeKey)};
  static_cast<void>(ExceptionOf([&] {
    std::random_device random;
    const auto word = [&] { return uint64_t{random()} << 32 | random(); };
    key = {word(), word()};
  }));
  return key;
}

uint64_t Sip13(std::string_view text) {
  static const SipKey key = MakeKey();
  uint64_t v0 = key.k0 ^ 0x736f6d6570736575, v1 = key.k1 ^ 0x646f72616e646f6d,
           v2 = key.k0 ^ 0x6c7967656e657261, v3 = key.k1 ^ 0x7465646279746573;
  const auto round = [&] {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  };
  size_t at = 0;
  for (; text.size() - at >= 8; at += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, 8);
    v3 ^= word;
    round();
    v0 ^= word;
  }
  uint64_t last = uint64_t{text.size()} << 56;
  for (size_t i = 0; at + i < text.size(); ++i)
    last |= uint64_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
  v3 ^= last;
  round();
  v0 ^= last;
  v2 ^= 0xff;
  for (int i = 0; i < 3; ++i) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace

StringTable::StringTable(const StringTable* base, StringCharge charge)
    : RelayvmStrings{}, base_(base), charge_(charge) {
  RelayvmStrings::text = [](const RelayvmStrings* self, int64_t id,
                            uint64_t* bytes) -> const char* {
    const auto found = static_cast<const StringTable*>(self)->Text(id);
    if (!found) return nullptr;
    *bytes = found->size();
    return found->data();
  };
  RelayvmStrings::intern = [](RelayvmStrings* self, const char* text, uint64_t bytes) {
    return static_cast<StringTable*>(self)->Intern({text, static_cast<size_t>(bytes)});
  };
  if (base_ != nullptr) first_ = base_->size();
  if (base_ == nullptr) Intern("");
}

int64_t StringTable::Find(std::string_view text, uint64_t hash) const {
  if (base_ != nullptr) {
    if (const int64_t id = base_->Find(text, hash); id >= 0) return id;
  }
  if (slots_.empty()) return -1;
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Entry& e = entries_[static_cast<size_t>(slots_[slot] - 1)];
    if (e.hash == hash && std::string_view(e.text, e.bytes) == text)
      return first_ + slots_[slot] - 1;
  }
  return -1;
}

int64_t StringTable::Find(std::string_view text) const { return Find(text, Sip13(text)); }

int64_t StringTable::Intern(std::string_view text) {
  int64_t id = -1;
  const bool has_memory = HasMemoryFor([&] {
    const uint64_t hash = Sip13(text);
    id = Find(text, hash);
    if (id < 0) id = Add(text, hash);
  });
  return has_memory ? id : -1;
}

int64_t StringTable::Add(std::string_view text, uint64_t hash) {
  if (2 * (entries_.size() + 1) > slots_.size() && !Grow()) return -1;
  const char* stored = Store(text);
  if (stored == nullptr) return -1;
  entries_.push_back({stored, text.size(), hash});
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) slot = (slot + 1) & mask;
  slots_[slot] = static_cast<int64_t>(entries_.size());
  return first_ + slots_[slot] - 1;
}

// In steps, so that a text costs no call.
bool StringTable::Pay(size_t bytes) {
  owed_ += bytes;
  if (owed_ <= paid_) return true;
  const size_t step = std::max(owed_ - paid_, kChunk);
  if (charge_.fn != nullptr && !charge_.fn(charge_.context, step)) {
    owed_ -= bytes;
    return false;
  }
  paid_ += step;
  return true;
}

bool StringTable::Grow() {
  const size_t size = std::max<size_t>(16, 2 * slots_.size());
  if (!Pay((size - slots_.size()) * (sizeof(int64_t) + sizeof(Entry) / 2))) return false;
  entries_.reserve(size / 2);
  std::vector<int64_t> slots(size);
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t slot = entries_[i].hash & (size - 1);
    while (slots[slot] != 0) slot = (slot + 1) & (size - 1);
    slots[slot] = static_cast<int64_t>(i) + 1;
  }
  slots_ = std::move(slots);
  return true;
}

const char* StringTable::Store(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() > num_free_) {
    // The first is small: most runs have few texts.
    const size_t bytes = std::max(text.size(), chunks_.empty() ? size_t{512} : kChunk);
    if (!Pay(bytes)) return nullptr;
    chunks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    free_ = chunks_.back().get();
    num_free_ = bytes;
  }
  char* stored = free_;
  std::memcpy(stored, text.data(), text.size());
  free_ += text.size();
  num_free_ -= text.size();
  return stored;
}

std::optional<std::string_view> StringTable::Text(int64_t id) const {
  if (id < first_) return base_ == nullptr ? std::nullopt : base_->Text(id);
  if (id >= size()) return std::nullopt;
  const Entry& e = entries_[static_cast<size_t>(id - first_)];
  return std::string_view(e.text, e.bytes);
}

std::vector<std::string> StringTable::Texts() const {
  std::vector<std::string> texts;
  texts.reserve(static_cast<size_t>(size()));
  for (int64_t id = 0; id < size(); ++id) texts.emplace_back(*Text(id));
  return texts;
}

// --- Packed strings ---

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool IsPacked(std::span<const std::byte> bytes, int64_t n) {
  if (n < 0 || static_cast<uint64_t>(n) >= bytes.size() / 8) return false;
  const size_t text_bytes = bytes.size() - PackedBytes(n, 0);
  std::vector<int64_t> offsets(static_cast<size_t>(n) + 1);
  std::memcpy(offsets.data(), bytes.data(), offsets.size() * 8);
  if (offsets.front() != 0 || static_cast<uint64_t>(offsets.back()) != text_bytes) return false;
  if (!std::ranges::is_sorted(offsets)) return false;
  const auto* text = reinterpret_cast<const char*>(bytes.data()) + PackedBytes(n, 0);
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    if (!IsUtf8({text + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])}))
      return false;
  }
  return true;
}

SharedBytes PackStrings(std::span<const std::string_view> texts) {
  size_t text_bytes = 0;
  for (std::string_view t : texts) text_bytes += t.size();
  const auto n = static_cast<int64_t>(texts.size());
  SharedBytes packed = SharedBytes::Zeros(PackedBytes(n, text_bytes));
  std::byte* to = packed.Mutable().data();
  std::byte* characters = to + PackedBytes(n, 0);
  int64_t offset = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::memcpy(to + 8 * i, &offset, 8);
    if (!texts[i].empty()) std::memcpy(characters + offset, texts[i].data(), texts[i].size());
    offset += static_cast<int64_t>(texts[i].size());
  }
  std::memcpy(to + 8 * texts.size(), &offset, 8);
  return packed;
}

Result<HostTensor> InternStrings(StringTable& table, const HostTensor& packed) {
  HostTensor ids{DType::kString, packed.shape, {}};
  const int64_t n = packed.size();
  if (!IsPacked({packed.data.data(), packed.data.size()}, n))
    return InvalidInput("expected texts of UTF-8");
  ids.data = SharedBytes::Zeros(8 * static_cast<size_t>(n));
  std::byte* to = ids.data.Mutable().data();
  const PackedStrings texts(packed.data.data(), n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = table.Intern(texts[i]);
    if (id < 0) return Status::OutOfMemory();
    std::memcpy(to + 8 * i, &id, 8);
  }
  return ids;
}

HostTensor StringsOfTable(const StringTable& table) {
  std::vector<std::string_view> texts(static_cast<size_t>(table.size()));
  for (size_t i = 0; i < texts.size(); ++i) texts[i] = *table.Text(static_cast<int64_t>(i));
  const SharedBytes packed = PackStrings(texts);
  HostTensor bytes{DType::kUInt8, {static_cast<int64_t>(packed.size() + 8)}, {}};
  bytes.data = SharedBytes::Zeros(packed.size() + 8);
  std::byte* to = bytes.data.Mutable().data();
  const int64_t count = table.size();
  std::memcpy(to, &count, 8);
  std::memcpy(to + 8, packed.data(), packed.size());
  return bytes;
}

Status ReadStringsOfTable(const HostTensor& bytes, StringTable& table) {
  int64_t count = -1;
  if (bytes.dtype == DType::kUInt8 && bytes.data.size() >= 8)
    std::memcpy(&count, bytes.data.data(), 8);
  const SharedBytes packed =
      count < 0 ? SharedBytes()
                : SharedBytes::Copy(std::span(bytes.data.data(), bytes.data.size()).subspan(8));
  if (!IsPacked({packed.data(), packed.size()}, count))
    return InvalidInput("the strings of the metadata are no texts of UTF-8");
  const PackedStrings texts(packed.data(), count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t id = table.Intern(texts[i]);
    if (id < 0) return Status::OutOfMemory();
    if (id != i) return InvalidInput("the strings of the metadata hold a text twice");
  }
  return OkStatus();
}

Result<HostTensor> PackStrings(const StringTable& table, const HostTensor& ids) {
  std::vector<std::string_view> texts(static_cast<size_t>(ids.size()));
  for (size_t i = 0; i < texts.size(); ++i) {
    int64_t id = 0;
    std::memcpy(&id, ids.data.data() + 8 * i, 8);
    const auto text = table.Text(id);
    if (!text) return InvalidInput(fmt::format("no text has the id {}", id));
    texts[i] = *text;
  }
  return HostTensor{DType::kString, ids.shape, PackStrings(texts)};
}

}  // namespace relayvm
