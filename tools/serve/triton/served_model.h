// A model of the server's, loaded once, and its instances, which share it: the mapped file, the
// runtime and its threads. A model is immutable; an instance is used by one call at a time.
// Tested by backend_test.cc.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bytecode/base/status.h"
#include "tools/serve/triton/model_config.h"
#include "tools/serve/triton/triton_abi.h"
#include "vm/api/relayvm.h"

namespace relayvm::triton {

class ServedModel {
 public:
  // Reads the configuration, loads the file of the version, fills in what the configuration leaves
  // out, where the server wants that, and compares both.
  static Result<std::unique_ptr<ServedModel>> Load(TRITONBACKEND_Model* model);

  const ModelOptions& options() const { return options_; }
  const FunctionSignature& function() const { return *function_; }
  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  const std::shared_ptr<const Executable>& executable() const { return executable_; }

 private:
  ServedModel() = default;
  Status Open(const std::string& version_folder);
  Status Agree(TRITONBACKEND_Model* model, nlohmann::json config);

  ModelOptions options_;
  std::shared_ptr<Runtime> runtime_;
  std::shared_ptr<const Executable> executable_;
  const FunctionSignature* function_ = nullptr;  // of executable_
};

struct ServedInstance {
  const ServedModel* model;
  std::unique_ptr<Invocation> invocation;
  // kUnsupported where the configuration asks for a GPU.
  static Result<std::unique_ptr<ServedInstance>> Create(TRITONBACKEND_ModelInstance* instance,
                                                        const ServedModel* model);
  // Whether its file is still what was loaded.
  Status CheckReady() const;
};

}  // namespace relayvm::triton
