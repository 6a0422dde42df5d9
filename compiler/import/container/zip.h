// A zip archive as frameworks write their models (PyTorch, Keras), by names of entries:
//
//   RELAYVM_ASSIGN_OR_RETURN(Archive archive, Archive::Open(path, file));
//   RELAYVM_ASSIGN_OR_RETURN(std::string version, archive.Text("version"));
//   RELAYVM_ASSIGN_OR_RETURN(SharedBytes weights, archive.View("data/0"));   // mapped, if stored
//
// PyTorch puts all entries into one folder, named as the file was when it was written: names here
// are without it. What the directory says is checked by bytecode/io/zip_reader.h; here names that
// stand twice, and what would be inflated, are. Errors are kInvalidInput, name file and entry.
// Immutable but for the count of what was inflated; not thread-safe. Tested by zip_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"
#include "bytecode/io/zip_reader.h"

namespace relayvm::import {

class Archive {
 public:
  // `path` is what messages call the file.
  static Result<Archive> Open(std::string path, SharedBytes file);

  const std::string& path() const { return path_; }
  // The folder that all entries lie in, "model/"; empty: there is none.
  const std::string& folder() const { return folder_; }
  // Those that begin so, without folders, in the order of the directory. They are as long-lived as
  // this object.
  std::vector<std::string_view> Names(std::string_view prefix = {}) const;
  bool Has(std::string_view name) const { return by_name_.contains(name); }
  // Of the content; 0 where there is none.
  uint64_t SizeOf(std::string_view name) const;

  // Any of these: kNotFound where there is no such entry; an error where it is larger than `most`
  // bytes, or than what is left of what the archive may inflate.
  //
  // Its checksum is compared.
  Result<SharedBytes> Read(std::string_view name, uint64_t most = kMost) const;
  Result<std::string> Text(std::string_view name, uint64_t most = kMost) const;
  // Raw elements: a stored entry is a part of the file, of which nothing is read now.
  Result<SharedBytes> View(std::string_view name) const;

  // Of texts and pickles.
  static constexpr uint64_t kMost = uint64_t{256} << 20;

 private:
  Archive(std::string path, ZipReader zip, SharedBytes file)
      : path_(std::move(path)), zip_(std::move(zip)), file_(std::move(file)) {}
  Result<const ZipEntry*> Find(std::string_view name, uint64_t most) const;

  std::string path_, folder_;
  ZipReader zip_;
  SharedBytes file_;
  std::map<std::string, size_t, std::less<>> by_name_;  // places among the entries
  mutable uint64_t inflated_ = 0;
};

}  // namespace relayvm::import
