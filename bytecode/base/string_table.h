// StringTable: the texts of a run, each once, by numbers: the ids that elements of strings hold.
//
//   StringTable constants;                       0 is the empty text
//   int64_t a = constants.Intern("cat");         1
//   StringTable run(&constants, charge);         goes on behind the ids of its base
//   run.Intern("cat") == a; run.Text(a) == "cat"
//
// So equal texts have equal ids, and moving strings is moving int64s. Texts stay where they are
// until the table dies. Hashes are keyed (SipHash-1-3, Aumasson and Bernstein 2012) by a number of
// the process, so that nobody can choose texts that collide. Not thread-safe; a base is only read.
//
// Packed strings are the same without a table, as files and hosts have them: n + 1 int64 offsets
// into the bytes behind them; text i is the bytes from offset i to offset i + 1. Tested by
// string_table_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"
#include "bytecode/kernel_abi.h"

namespace relayvm {

// Whether so many bytes more may be had.
struct StringCharge {
  bool (*fn)(void* context, size_t bytes) = nullptr;  // null: always
  void* context = nullptr;
};

class StringTable : public RelayvmStrings {
 public:
  // `base` (borrowed, may be null) no longer grows.
  explicit StringTable(const StringTable* base = nullptr, StringCharge charge = {});
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;

  // -1 without memory.
  int64_t Intern(std::string_view text);
  // -1 where the text is not there.
  int64_t Find(std::string_view text) const;
  // Nullopt where there is none of this id.
  std::optional<std::string_view> Text(int64_t id) const;
  int64_t size() const { return first_ + static_cast<int64_t>(entries_.size()); }
  bool IsEmpty() const { return size() <= 1; }  // but for the empty text
  std::vector<std::string> Texts() const;

 private:
  struct Entry {
    const char* text;
    size_t bytes;
    uint64_t hash;
  };
  static constexpr size_t kChunk = 16 << 10;

  int64_t Find(std::string_view text, uint64_t hash) const;
  int64_t Add(std::string_view text, uint64_t hash);
  bool Pay(size_t bytes);
  bool Grow();
  const char* Store(std::string_view text);

  const StringTable* base_;
  int64_t first_ = 0;  // id of the first entry
  StringCharge charge_;
  size_t paid_ = 0, owed_ = 0;  // bytes
  std::vector<Entry> entries_;
  std::vector<int64_t> slots_;  // of a power of two: an entry + 1, or 0
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* free_ = nullptr;  // in the last chunk
  size_t num_free_ = 0;
};

// --- Packed strings ---

class PackedStrings {
 public:
  // REQUIRES: IsPacked.
  PackedStrings(const void* data, int64_t n) : offsets_(static_cast<const int64_t*>(data)), n_(n) {}

  int64_t size() const { return n_; }
  std::string_view operator[](int64_t i) const {
    return {reinterpret_cast<const char*>(offsets_ + n_ + 1) + offsets_[i],
            static_cast<size_t>(offsets_[i + 1] - offsets_[i])};
  }

 private:
  const int64_t* offsets_;
  int64_t n_;
};

// Bytes of n packed texts that have `text_bytes` together.
constexpr size_t PackedBytes(int64_t n, size_t text_bytes) {
  return 8 * (static_cast<size_t>(n) + 1) + text_bytes;
}
// Whether the bytes are n packed texts, of UTF-8.
bool IsPacked(std::span<const std::byte> bytes, int64_t n);
// Whether each character is one.
bool IsUtf8(std::string_view text);
SharedBytes PackStrings(std::span<const std::string_view> texts);

// A tensor of packed strings as ids of `table`, and back. Errors: no memory, no text of an id.
Result<HostTensor> InternStrings(StringTable& table, const HostTensor& packed);
Result<HostTensor> PackStrings(const StringTable& table, const HostTensor& ids);
// All texts of a table as bytes (uint8, rank 1), and their ids in one that is empty. Error: the
// bytes are no table.
HostTensor StringsOfTable(const StringTable& table);
Status ReadStringsOfTable(const HostTensor& bytes, StringTable& table);

}  // namespace relayvm
