// The formats of programs that the compiler reads: a row each, with how its files are told
// (bytecode/base/file_kind.h), the function that makes a module of one, and the table of its
// operators. The driver, `relayc --list-operators`, messages and the Python package read the rows:
// a format is its folder, its row here and its row there. Tested by importers_test.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bytecode/base/file_kind.h"
#include "bytecode/base/shared_bytes.h"
#include "bytecode/base/status.h"
#include "compiler/import/import_options.h"
#include "compiler/ir/ir.h"

namespace relayvm::import {

struct Importer {
  const ModelFormat* format;
  // `path` is what messages call the file, and files that it refers to lie in its folder; `content`
  // is what it holds. Not yet typed. Any bytes are safe.
  Result<ir::Module> (*import)(const std::string& path, SharedBytes content,
                               const ImportOptions& options);
  // The operators that are supported, in Markdown.
  std::string (*operators)();
  // It reads ImportOptions::params_file, params_content and params itself; else the compiler binds
  // them to parameters of the module.
  bool reads_params = false;
  // It takes ImportOptions::shapes itself (input_types.h).
  bool takes_shapes = false;
};
std::span<const Importer> Importers();

// By what the file holds, then by its name; Relay text, which may begin with anything, where
// neither tells.
const Importer& ImporterOf(std::string_view path, std::string_view content);
// `path`, or the model's file where it is a folder, which has to hold one (saved_model.pb ...).
Result<std::string> ModelFileOf(const std::string& path, InputFiles& files);
const Importer* FindImporter(std::string_view name);  // null: there is none

}  // namespace relayvm::import
