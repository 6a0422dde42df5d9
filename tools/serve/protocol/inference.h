// What is asked of a model and what it answers, whatever protocol carries it: REST here, gRPC
// beside. Tensors are the runtime's own values from the moment that they are read. Plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/status.h"
#include "vm/border/value.h"

namespace relayvm::serve {

using Parameter = std::variant<bool, int64_t, double, std::string>;
using Parameters = std::vector<std::pair<std::string, Parameter>>;

struct InferTensor {
  std::string name;
  Value value;  // a tensor on the host
};

// What a model says of an input or output.
struct TensorSpec {
  std::string name;
  std::optional<DType> dtype;  // none: known when it runs
  std::vector<int64_t> dims;   // -1: any
  bool is_optional = false;
};

struct RequestedOutput {
  std::string name;
  // In binary, or as JSON; not said: as InferRequest::binary_output says. For REST alone.
  std::optional<bool> binary;
};

struct InferRequest {
  std::string model;
  std::string version;  // empty: the newest
  std::string id;       // echoed
  Parameters parameters;
  std::vector<InferTensor> inputs;
  std::vector<RequestedOutput> outputs;  // none: all
  bool binary_output = false;

  // Null where there is none of that name.
  const Parameter* FindParameter(std::string_view name) const {
    for (const auto& [key, value] : parameters) {
      if (key == name) return &value;
    }
    return nullptr;
  }
};

// The request's parameter `timeout`, in microseconds, as Triton's clients set it; a day at most.
// None: it has no such parameter; 0: it leaves the time to the server. kInvalidArgument.
Result<std::optional<std::chrono::nanoseconds>> TimeoutOf(const InferRequest& request);

struct InferResponse {
  std::string model, version, id;
  std::vector<InferTensor> outputs;  // in the order of the request's, or the model's
};

// The protocol's name of a dtype: "FP32"; and the reverse.
std::string_view DatatypeName(DType dtype);
std::optional<DType> ParseDatatype(std::string_view name);

}  // namespace relayvm::serve
