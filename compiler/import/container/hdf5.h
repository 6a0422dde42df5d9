// HDF5 files as Keras writes them: groups, datasets of numbers, attributes of texts. The whole tree
// of names is read when a file is opened; datasets are parts of the file, of which nothing is read
// before somebody does.
//
//   RELAYVM_ASSIGN_OR_RETURN(Hdf5File file, Hdf5File::Open(path, bytes));
//   RELAYVM_ASSIGN_OR_RETURN(HostTensor kernel, file.Dataset("layers/dense/vars/0"));
//
// Of the format ("HDF5 File Format Specification Version 3.0") is read what h5py writes unless it
// is asked for more: superblocks 0 to 3, object headers 1 and 2, groups of symbol tables and of
// links in their header, contiguous and compact datasets. Chunks, filters and links in heaps are
// refused by name. Any bytes are safe: every offset is checked, the tree is bounded in depth and in
// number. Errors are kInvalidInput (kUnsupported for what is refused) and name file and object.
// Immutable; thread-safe. Tested by hdf5_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"

namespace relayvm::import {

class Hdf5File {
 public:
  // `path` is what messages call the file.
  static Result<Hdf5File> Open(std::string path, SharedBytes file);

  // Objects are named by their way from the root, "a/b"; the root is "".
  bool Has(std::string_view object) const { return objects_.contains(object); }
  // The names in a group, in order; none where there is no such group.
  std::vector<std::string> Names(std::string_view group) const;
  // The numbers of a dataset; kNotFound where there is none. Booleans are h5py's.
  Result<HostTensor> Dataset(std::string_view object) const;
  // An attribute of one text or several; nullopt where the object has none of the name.
  Result<std::optional<std::vector<std::string>>> Texts(std::string_view object,
                                                        std::string_view attribute) const;

 private:
  Hdf5File(std::string path, SharedBytes file) : path_(std::move(path)), file_(std::move(file)) {}

  struct Message {
    uint32_t type = 0;
    std::string_view data;
  };
  struct ElementType {
    enum class Kind : uint8_t { kNumber, kText, kTexts, kOther } kind = Kind::kOther;
    DType dtype = DType::kFloat32;
    uint64_t size = 0;    // of an element, in bytes
    uint64_t length = 0;  // of the message
  };

  Status Fail(std::string_view object, std::string_view why,
              StatusCode code = StatusCode::kInvalidInput) const;
  // Bytes of the file; nullopt where they are not all there.
  std::optional<std::string_view> At(uint64_t offset, uint64_t size) const;
  Status ReadSuperblock(uint64_t* root);
  Status ReadTree(uint64_t root);
  // The members of a group: names and addresses.
  Result<std::vector<std::pair<std::string, uint64_t>>> Links(std::string_view object,
                                                              uint64_t header) const;
  Status SymbolTable(std::string_view object, uint64_t tree, uint64_t heap,
                     std::vector<std::pair<std::string, uint64_t>>* links) const;
  Result<std::vector<Message>> Messages(std::string_view object, uint64_t header) const;
  Status OldMessages(std::string_view object, std::string_view prefix, uint64_t header,
                     std::vector<Message>* out) const;
  Status NewMessages(std::string_view object, uint64_t header, std::vector<Message>* out) const;
  Result<std::vector<int64_t>> Shape(std::string_view object, std::string_view message) const;
  Result<ElementType> TypeOf(std::string_view object, std::string_view message) const;
  Result<std::vector<std::string>> TextsOf(std::string_view object, const ElementType& type,
                                           uint64_t count, std::string_view data) const;
  Result<std::string> FromHeap(std::string_view object, uint64_t heap, uint32_t index,
                               uint32_t size) const;

  std::string path_;
  SharedBytes file_;
  uint64_t base_ = 0;
  std::map<std::string, uint64_t, std::less<>> objects_;  // addresses of headers
};

}  // namespace relayvm::import
