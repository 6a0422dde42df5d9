// TensorFlow's checkpoints (a "tensor bundle", what a SavedModel keeps in variables/):
//
//   variables.index                  a table of LevelDB: "" -> BundleHeaderProto, a key ->
//                                    BundleEntryProto {dtype, shape, shard, offset, size, crc32c}
//   variables.data-00000-of-00002    the bytes
//
//   table:  [block]* [block of handles of blocks] [footer: 40 bytes of handles, the magic number]
//   block:  entries, each with its key's difference to the one before; offsets; type 0 (raw) or 1
//           (snappy); its checksum
//
// Checksums are crc32c, masked as LevelDB does. Elements stay in the mapped files. A tensor that
// was saved in slices has an entry for each, under a key that says which. Formats: LevelDB's
// doc/table_format.md, snappy's format_description.txt, tensorflow/core/util/tensor_bundle.
// Not thread-safe. Tested by bundle_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/status.h"
#include "compiler/import/input_files.h"

namespace relayvm::import::tensorflow {

uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);
// As LevelDB stores it: a checksum of data that holds checksums.
constexpr uint32_t MaskedCrc(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

// Snappy's raw format. Errors: damaged, larger than `most`.
Result<std::string> UnpackSnappy(std::string_view packed, size_t most);
// What a table of LevelDB holds, by key.
Result<std::map<std::string, std::string>> ReadTable(std::string_view file);

class Bundle {
 public:
  // `prefix`: the files' path up to ".index".
  static Result<std::unique_ptr<Bundle>> Open(
      const std::string& prefix,
      std::shared_ptr<InputFiles> files = std::make_shared<InputFiles>());

  // A tensor, or the part of it that `slice` names ("8 4 0,4:-": the whole's shape, and of each
  // axis a start and a length, or all); empty: the whole. Strings are packed
  // (bytecode/base/string_table.h).
  Result<HostTensor> Tensor(std::string_view key, std::string_view slice = {});

 private:
  struct Entry;
  Bundle() = default;
  Result<Entry> Find(const std::string& key) const;
  Result<HostTensor> Load(std::string_view key, const Entry& entry);
  Result<SharedBytes> Bytes(const Entry& entry);
  Result<HostTensor> Assembled(std::string_view key, const Entry& entry);

  std::string prefix_;
  int64_t num_shards_ = 1;
  std::map<std::string, std::string> entries_;
  std::map<int64_t, SharedBytes> shards_;
  std::shared_ptr<InputFiles> files_;
};

}  // namespace relayvm::import::tensorflow
