// ObjectCache: objects that LLVM made before, and executables (compiler/compile_cache.h), in a
// folder of the user, by all that they were made of.
//
//   RELAYVM_ASSIGN_OR_RETURN(options.cache, ObjectCache::Open(folder));
//
// An object is a file that appears whole or not at all and holds a hash of itself; one that is
// damaged, or cannot be read, is as none. Where the folder grows beyond its bound, those that were
// not asked for the longest go. Thread-safe; processes may share a folder. Tested by
// object_cache_test.cc.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/status.h"

namespace relayvm {

class ObjectCache {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{4} << 30;
  using Key = std::array<uint8_t, 32>;
  static Key KeyOf(std::span<const char> content);

  // The folder is made where there is none. kFailedPrecondition where it is another user's, or
  // others than its owner may write to it: what is in it will run. kInvalidInput where it cannot be
  // made or is none.
  static Result<std::shared_ptr<ObjectCache>> Open(const std::string& folder,
                                                   uint64_t max_bytes = kMaxBytes);
  // Of this user: RELAYVM_CACHE, or relayvm in XDG_CACHE_HOME, or in .cache of HOME. Empty where
  // there is none, and where RELAYVM_CACHE is "off".
  static std::string DefaultFolder();

  std::optional<std::vector<char>> Find(const Key& key) const;
  // What cannot be written is left out.
  void Store(const Key& key, std::span<const char> object);

  // Files that stand there as they are, to be mapped and copied whole. Null: there is none of this
  // content.
  std::shared_ptr<const FileMapping> FindFile(const Key& key, const Key& content) const;
  // `write` writes it, about `size` bytes, to a path: it appears whole or not at all. Gives what
  // was written, and its content's hash; null: it was left out, as it cannot be written or takes
  // more than a quarter of the bound.
  std::shared_ptr<const FileMapping> StoreFile(
      const Key& key, uint64_t size, Key* content,
      const std::function<Status(const std::string& path)>& write);

 private:
  ObjectCache(std::string folder, uint64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}
  std::string PathOf(const Key& key, std::string_view ending) const;
  void KeepBound(uint64_t written);
  void DropOldest() const;

  const std::string folder_;
  const uint64_t max_bytes_;
  std::atomic<uint64_t> unchecked_{UINT64_MAX / 2};  // bytes written since the bound was looked at
};

}  // namespace relayvm
