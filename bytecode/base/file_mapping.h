// FileMapping: a file mapped read-only into memory and shared with all processes that map it; a
// pipe (standard input), or a file that is to be read whole, is read to its end into memory.
//
// Who writes into a mapped file changes these bytes, and who truncates it ends whoever reads past
// its new end (SIGBUS); CheckUnchanged() tells of both. Replace files by renaming. Immutable but
// for that; thread-safe. Tested by file_mapping_test.cc.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bytecode/base/status.h"

namespace relayvm {

class FileMapping {
 public:
  enum class Kind : uint8_t { kMap, kRead };
  // Fails with kNotFound when there is no such file, kInvalidInput when it is neither a regular
  // file nor a pipe or can't be read; kRead with kFailedPrecondition when it changes meanwhile.
  static Result<std::shared_ptr<const FileMapping>> Open(const std::string& path,
                                                         Kind kind = Kind::kMap);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  // Page-aligned; empty for an empty file.
  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  int descriptor() const { return fd_; }  // open for reading as long as this object lives
  // kFailedPrecondition when the file has been written to or truncated since it was opened, as its
  // times and its size tell. Always ok when it was read, and when another file has taken its name.
  //
  // `status_time`, or null: when something was last changed about the file, its name or permissions
  // too. Where this alone differs from status_time(), the time of writing may have been set back.
  Status CheckUnchanged(int64_t* status_time = nullptr) const;
  // Gives back the memory of the pages that hold these bytes, part of a mapping: the next read
  // brings them in again.
  static void DropPages(std::span<const std::byte> bytes);
  int64_t status_time() const;  // when it was opened
  // In nanoseconds, when it was last written to before it was opened.
  int64_t write_time() const {
    return opened_.st_mtim.tv_sec * 1'000'000'000 + opened_.st_mtim.tv_nsec;
  }
  // What CheckUnchanged says of a file that has been written to: how that is known.
  Status Changed(const std::string& how) const;

 private:
  explicit FileMapping(std::string path) : path_(std::move(path)) {}

  std::string path_;
  int fd_ = -1;
  struct stat opened_{};
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace relayvm
