// What a caller says of a model that is imported: the same for all formats (importers.h).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bytecode/base/shared_bytes.h"
#include "compiler/frontend/params.h"
#include "compiler/import/input_files.h"
#include "compiler/import/user_operators.h"
#include "kernels/op/custom_ops.h"

namespace relayvm::import {

struct ImportOptions {
  std::map<std::string, int64_t> dims;  // by the names that the model gives to dims ("batch")
  // Of inputs, by name or, from 0, by position: "1x?x300", or a whole type (input_types.h).
  std::map<std::string, std::string> shapes;
  // Initializers that a caller may give other values, by name, or "all" (that are inputs too), or
  // "none". Nullopt: all, where they are 1 MiB or less in sum, else none.
  std::optional<std::vector<std::string>> overridable;
  CustomOperators operators;  // besides the compiler's own
  // What is right only perhaps: an opset that is newer than this version. May be empty.
  std::function<void(const std::string&)> warn;
  std::stop_token stop;  // asked to: fails with kCancelled
  // Which of several entries the model has; empty: its only one, or the one that its format calls
  // the default.
  std::string signature;
  // Which values of a graph are its results, by name, in this order; empty: those that its file
  // says, or that nothing reads.
  std::vector<std::string> outputs;
  // Of formats that have their weights in another file (Importer::reads_params): that file, its
  // content where it is in memory, and single arrays by name.
  std::string params_file;
  std::optional<SharedBytes> params_content;
  frontend::Params params;
  UserOperators user_operators;  // of formats that ask for them (PyTorch's)
  // The only way to files. Never null.
  std::shared_ptr<InputFiles> files = std::make_shared<InputFiles>();
};

}  // namespace relayvm::import
