// generate and generate_stream: plain JSON in and out, for programs that emit while they run.
//
//   POST /v2/models/M/generate          {"prompt": [1, 410], "steps": 20, "parameters": {...}}
//     {"model_name":"M","model_version":"1","emitted":[5,7,9],"output_0":[1,410,5,7,9]}
//   POST /v2/models/M/generate_stream   the same; the answer is of server-sent events
//     data: {"model_name":"M","model_version":"1","emitted":5}
//     ...
//     data: {"model_name":"M","model_version":"1","output_0":[1,410,5,7,9]}
//
// Members are inputs by name: a number, a text, or an array nested as the input has dims; a number
// where the input has dims is one element of it. What a program emits of several values is an array
// of them. A run that fails before it has emitted anything is answered with its code, later with an
// event {"error": ...}. A client that goes ends its run; one that takes less than the program emits
// makes it wait. Tested by generate_test.cc.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/dispatcher.h"
#include "tools/serve/http_server.h"
#include "tools/serve/protocol/protocol.h"

namespace relayvm::serve {

// The request as its body says it. kInvalidArgument; and as ReadInferRequest.
Result<InferRequest> ReadGenerateRequest(std::string_view body, std::span<const TensorSpec> inputs,
                                         Runtime& runtime, const ReadLimits& limits = {});

void Generate(Dispatcher& dispatcher, std::shared_ptr<const ServedModel> model,
              std::shared_ptr<HttpExchange> exchange, bool is_stream);

}  // namespace relayvm::serve
