// What a compilation asks of the file system: importers ask nobody else, so that a compilation is a
// function of its options and of the answers. Whoever keeps what came of one
// (compiler/compile_cache.h) asks the same again and compares.
//
//   InputFiles files;
//   RELAYVM_ASSIGN_OR_RETURN(auto mapping, files.Open("w.bin"));    // as FileMapping::Open
//
// A file is opened once, and stays mapped: standard input is read once, and what was hashed is what
// is read. Not thread-safe. Tested by input_files_test.cc; tests/check_inputs.py looks for who
// reads files otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/file_mapping.h"
#include "bytecode/base/status.h"
#include "bytecode/blake2b.h"

namespace relayvm::import {

class InputFiles {
 public:
  using HashFn = ContentHash (*)(std::span<const char> content);
  enum class Kind : uint8_t { kContent, kIsFile, kIsFolder, kCanonical, kNames, kLast = kNames };
  struct Question {
    Kind kind;
    std::string about;
    bool operator==(const Question&) const = default;
  };

  // `hash`: of the files' content, when they are opened. Null: nothing is hashed, and nobody will
  // ask for answers.
  explicit InputFiles(HashFn hash = nullptr) : hash_(hash) {}

  Result<std::shared_ptr<const FileMapping>> Open(const std::string& path);
  bool IsFile(const std::string& path);
  bool IsFolder(const std::string& path);
  // Absolute, without symbolic links as far as it is there; empty: that fails.
  std::string Canonical(const std::string& path);
  // Of what is in a folder under a name that ends so, sorted.
  std::vector<std::string> Names(const std::string& folder, const std::string& ending);

  // Those that were asked, each once, in order.
  const std::vector<Question>& asked() const { return asked_; }
  // What is answered now, as bytes: a file's hash in place of its content. Not counted as asked.
  // REQUIRES: there is a hash.
  const std::string& Answer(const Question& question);
  // Whether all files are still what they were when they were hashed, as far as that shows.
  bool AreUnchanged() const;

 private:
  struct File {
    Result<std::shared_ptr<const FileMapping>> opened;
    int64_t opened_at;
  };
  const File& FileOf(const std::string& path);
  const std::string& Ask(Kind kind, const std::string& about);

  const HashFn hash_;
  std::map<std::string, File> files_;
  std::map<std::pair<Kind, std::string>, std::string> answers_;
  std::vector<Question> asked_;
};

}  // namespace relayvm::import
