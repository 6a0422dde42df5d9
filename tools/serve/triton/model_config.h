// A model's configuration (config.pbtxt, which the server hands over as JSON) and what the file
// says of itself: one is filled in from the other, and must not contradict it.
//
// max_batch_size is the user's word that rows (the first dim of all inputs and outputs) are
// independent, which no file says; 0, the default, leaves each request by itself. Where it is set,
// the configuration's dims are without the first one. Tested by backend_test.cc.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "vm/border/model_info.h"

namespace relayvm::triton {

struct ModelOptions {
  std::string file;  // default_model_filename; "": model.relayvm, or model.vmx
  int64_t max_batch_size = 0;
  // From the configuration's parameters, by these names.
  std::string function = "main";
  uint32_t threads = 1;       // of one kernel call, of all instances; 0: as many as there are
  uint64_t memory_limit = 0;  // bytes of one run; 0: none
  std::vector<std::string> engines;
};
// kInvalidArgument for a parameter's value that is none of its own.
Result<ModelOptions> ReadOptions(const nlohmann::json& config);

// Whether the server can serve it: tensors in and out. Else kUnsupported names what is none.
Status CheckServable(const FunctionSignature& function);

// Whether requests can be joined by rows: the first dim of all inputs and outputs is the same one,
// of any size, and nothing else depends on it. Else kInvalidArgument says what is otherwise.
Status CheckRows(const FunctionSignature& function);

// Inputs, outputs and their dims and types where the configuration leaves them out; a dynamic
// batcher where it says max_batch_size and no scheduler. True when anything changed.
bool CompleteConfig(const FunctionSignature& function, nlohmann::json* config);

// Names, types and dims of the configuration beside the file's: kInvalidArgument names what
// differs, and both.
Status CheckConfig(const FunctionSignature& function, const nlohmann::json& config);

}  // namespace relayvm::triton
