// Reads zip archives in place: .npz files, PyTorch's models. An entry that is stored as it is costs
// no memory: it is a part of the mapped file.
//
//   [local header, name, extra, data] ...    one for each entry
//   [central header, name, extra] ...        the same again, with the place of the local one
//   end record                               how many, and where the central headers start
//
// Headers that differ from their copies, entries that overlap and data that do not have their
// checksum are errors. Safe on any bytes. Thread-safe. Tested by zip_reader_test.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"

namespace relayvm {

struct ZipEntry {
  std::string name;
  uint16_t method = 0;
  uint32_t checksum = 0;
  uint64_t size = 0;
  uint64_t offset = 0;  // of the data in the file
  uint64_t stored_size = 0;
};

class ZipReader {
 public:
  static bool IsZip(const SharedBytes& file);
  static Result<ZipReader> Open(SharedBytes file);

  // In the order of the central headers.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  // The content. Pages of a mapped file that were read for the checksum are given back.
  Result<SharedBytes> Read(const ZipEntry& entry) const;

 private:
  ZipReader() = default;
  Result<ZipEntry> ReadHeaders(uint64_t* at, uint64_t end) const;

  SharedBytes file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace relayvm
