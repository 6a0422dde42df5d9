// FileMapping: a file mapped read-only into memory and shared with all processes that map it; a pipe
// (standard input) is read to its end into memory.
// The file must not be truncated while it is mapped (a read past the new end is a SIGBUS); replace
// files by renaming. Immutable; thread-safe. Tested by file_mapping_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bytecode/base/status.h"

namespace relayvm {

class FileMapping {
 public:
  // Fails with kNotFound when there is no such file, kInvalidInput when it is neither a regular
  // file nor a pipe or can't be read.
  static Result<std::shared_ptr<const FileMapping>> Open(const std::string& path);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  // Page-aligned; empty for an empty file.
  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }
  // Open for reading for as long as this object lives: for mapping parts of the file again, with
  // other protection.
  int fd() const { return fd_; }

 private:
  explicit FileMapping(std::string path) : path_(std::move(path)) {}

  std::string path_;
  int fd_ = -1;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace relayvm
