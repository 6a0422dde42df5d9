// FileReplacement: writes a file that appears whole or not at all.
//
//   RELAYVM_ASSIGN_OR_RETURN(FileReplacement file, FileReplacement::Create(path));
//   RELAYVM_RETURN_IF_ERROR(file.Write(data, size));
//   return file.Commit();
//
// It is written under a temporary name beside `path`, which nobody has made or can guess, and
// renamed by Commit, so that who has the old file open or mapped keeps it. Without a Commit, the
// old file stays. A pipe or a device, which can't be replaced by renaming, is written in place. Not
// thread-safe, but several may write the same path: one of them is there in the end, whole. Tested
// by file_replacement_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/status.h"

namespace relayvm {

class FileReplacement {
 public:
  // Errors, here and below, are kInvalidInput and name the file.
  static Result<FileReplacement> Create(const std::string& path);
  FileReplacement(FileReplacement&& other) noexcept;
  FileReplacement& operator=(FileReplacement&&) = delete;
  ~FileReplacement();

  // False for a pipe or a device, which takes bytes in order only.
  bool has_offsets() const { return !temporary_.empty(); }
  Status Write(const void* data, size_t size);
  // All of a file: where the file system can, the two share their blocks.
  Status WriteFile(const FileMapping& file);
  // What is never written is zero. REQUIRES: has_offsets(), and Write is not called.
  Status WriteAt(uint64_t offset, const void* data, size_t size);
  // With `lasting`, what is there after a loss of power is the old file or the new one, whole.
  // REQUIRES: called at most once, and nothing is written afterwards.
  Status Commit(bool lasting = false);

 private:
  FileReplacement(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}
  Status Failed(const char* what) const;

  std::string path_;
  std::string temporary_;  // empty: written in place
  int fd_;                 // -1: closed
};

// The same for content at hand.
Status WriteFile(const std::string& path, std::string_view content, bool lasting = false);
Status CopyFile(const FileMapping& file, const std::string& path);

}  // namespace relayvm
