// Bytes that processes of one user share: files in a folder of that user, found by what they are
// made of, and mapped.
//
//   $RELAYVM_CACHE                    where that is set; empty: nothing is shared
//   $XDG_CACHE_HOME/relayvm           else
//   $HOME/.cache/relayvm              else
//     HASH.constants                  one file for each key; 64 digits of the hash
//       0      FileHeader of shared_constants.cc: key, sizes, checksum
//       4096   the bytes
//
// What is not safe is not used, and what can't be used is left out; the caller makes the bytes in
// memory of its own then:
//   - the folder is made with mode 0700; it must be this user's, no link, and no other's to write
//     to;
//   - a file must be the same, and its header and size what they should be; any other is replaced;
//   - it is written under a name that nobody can guess, room for it taken first, and appears whole.
//     Of several processes that make it at once, one's is there, and the others take that;
//   - a key holds the machine's start: what a crash left half on disk is never found. (So where
//     /proc does not tell of it, nothing is shared.)
//   - the folder holds at most kMostSharedBytes: what was used longest ago goes, and what was not
//     used for 30 days, and what was never finished. Who has it mapped keeps it. Anybody may delete
//     the folder.
//
// Thread-safe; nothing is held across fork(). Tested by shared_constants_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "bytecode/base/shared_bytes.h"
#include "bytecode/blake2b.h"

namespace relayvm::vm {

inline constexpr uint64_t kMostSharedBytes = uint64_t{4} << 30;

// The bytes of that key and size, 64-byte aligned, that somebody has made. `verify`: compares their
// checksum, too, which reads them.
std::optional<SharedBytes> FindSharedConstants(const ContentHash& key, uint64_t size, bool verify);

class SharedConstantsWriter {
 public:
  // None where there is no place for so much.
  static std::optional<SharedConstantsWriter> Create(const ContentHash& key, uint64_t size);
  SharedConstantsWriter(SharedConstantsWriter&& other) noexcept;
  SharedConstantsWriter& operator=(SharedConstantsWriter&&) = delete;
  ~SharedConstantsWriter();

  // What is never written is zero. False: it failed, and so will Publish.
  bool Write(uint64_t offset, std::span<const std::byte> bytes);
  // Lets others find it. What they share from now on, or none. REQUIRES: called once, last.
  std::optional<SharedBytes> Publish();

 private:
  SharedConstantsWriter(const ContentHash& key, uint64_t size) : key_(key), size_(size) {}

  ContentHash key_;
  uint64_t size_;
  int folder_ = -1, fd_ = -1;
  std::string temporary_;  // its name, while it has that one
  bool failed_ = false;
};

}  // namespace relayvm::vm
