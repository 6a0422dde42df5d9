// Writes zip archives of entries that are stored as they are: .npz files. The layout is that of
// zip_reader.h; sizes, places and counts that 32 or 16 bits do not hold are written as zip64. The
// same entries make the same bytes. Not thread-safe. Tested by zip_writer_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/file_replacement.h"
#include "bytecode/base/status.h"

namespace relayvm {

class ZipWriter {
 public:
  // The file appears with Finish. Errors, here and below, are kInvalidInput and name the file.
  static Result<ZipWriter> Create(const std::string& path);
  // `name` is UTF-8, below 64 KiB.
  Status Add(const std::string& name, std::span<const std::byte> content);
  // REQUIRES: called once, and nothing is added afterwards.
  Status Finish();

 private:
  explicit ZipWriter(FileReplacement file) : file_(std::move(file)) {}
  Status Write(const std::string& bytes);

  FileReplacement file_;
  uint64_t written_ = 0;
  uint64_t count_ = 0;
  std::string central_;  // the headers that stand behind the entries
};

}  // namespace relayvm
