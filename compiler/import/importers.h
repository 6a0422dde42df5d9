// The formats of programs that the compiler reads: a row each, with how its files are told
// (bytecode/base/file_kind.h), the function that makes a module of one, and the table of its
// operators. The driver, `relayc --list-operators`, messages and the Python package read the rows:
// a format is its folder, its row here and its row there. Tested by importers_test.cc.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::import {

struct ImportOptions {
  std::map<std::string, int64_t> dims;  // by the names that the model gives to dims ("batch")
  // Of inputs whose rank the model leaves open: "1x?x300".
  std::map<std::string, std::string> shapes;
  // Initializers that a caller may give other values, by name, or "all" (that are inputs too), or
  // "none". Nullopt: all, where they are 1 MiB or less in sum, else none.
  std::optional<std::vector<std::string>> overridable;
  CustomOperators operators;  // besides the compiler's own
  // What is right only perhaps: an opset that is newer than this version. May be empty.
  std::function<void(const std::string&)> warn;
  std::stop_token stop;  // asked to: fails with kCancelled
};

struct Importer {
  const ModelFormat* format;
  // `path` is what messages call the file, and files that it refers to lie in its folder; `content`
  // is what it holds. Not yet typed. Any bytes are safe.
  Result<ir::Module> (*import)(const std::string& path, SharedBytes content,
                               const ImportOptions& options);
  // The operators that are supported, in Markdown.
  std::string (*operators)();
};
std::span<const Importer> Importers();

// By what the file holds, then by its name; Relay text, which may begin with anything, where
// neither tells.
const Importer& ImporterOf(std::string_view path, std::string_view content);
const Importer* FindImporter(std::string_view name);  // null: there is none

}  // namespace relayvm::import
