// The Open Inference Protocol's REST form of requests and answers: JSON, with tensors in it or, by
// the binary tensor extension, behind it:
//
//   {"inputs":[{"name":"x","shape":[2],"datatype":"FP32","parameters":{"binary_data_size":8}}]}   N bytes
//   8 bytes of x                                                             little-endian, in order
//
// where the header Inference-Header-Content-Length says N. BYTES are strings, UTF-8; in binary each
// has its length before it (4 bytes). FP16 and BF16 are binary only.
//
// What is read is a stranger's: sizes are checked before anything is made of them, and no tensor is
// larger than 8 times the bytes that it is read from; strings, of which one may be two bytes of
// JSON, are asked for (ReadLimits). Failures are kInvalidArgument (malformed, or a shape that is
// not what follows), kUnsupported, kResourceExhausted, kOutOfRange. Pure functions; thread-safe.
// Tested by protocol_test.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/protocol/http_message.h"
#include "tools/serve/protocol/inference.h"
#include "vm/api/relayvm.h"

namespace relayvm::serve {

struct ReadLimits {
  // Of one tensor of numbers; of larger ones there could be none: kOutOfRange.
  size_t max_tensor_bytes = SIZE_MAX;
  // Whether a request may have so many bytes more, beside its body, until it is answered. Asked
  // before strings are made; none: it may.
  std::function<bool(size_t bytes)> grant;
};

// The body of POST /v2/models/M/infer; M and its version stand in the path. `json_bytes`: N, or
// none: all of it. Tensors of numbers are memory of `runtime`, which counts it.
Result<InferRequest> ReadInferRequest(std::string_view body, std::optional<size_t> json_bytes,
                                      Runtime& runtime, const ReadLimits& limits = {});

// The answer as `request` asked for it. kUnsupported for an output of FP16 or BF16 that is not
// binary. Large tensors are not copied: the answer holds them.
Result<HttpResponse> WriteInferResponse(const InferRequest& request, InferResponse response);

// --- The client's side: the same forms, and the same care about what a server sends. ---

struct InferBody {
  std::string json;
  std::vector<HttpPiece> pieces;  // binary tensors behind it
  bool is_binary = false;         // json.size() is the header's N
};
// The request, with all its inputs in binary or as JSON. kUnsupported: FP16 or BF16 as JSON.
Result<InferBody> WriteInferRequest(const InferRequest& request, bool is_binary);
// The answer's body, where its status is 200.
Result<InferResponse> ReadInferResponse(std::string_view body, std::optional<size_t> json_bytes,
                                        Runtime& runtime);

// {"model_name": ..., "parameters": {...}}: what POST of the repository's extension has.
Result<Parameters> ReadParameters(std::string_view body);
// {"ready": true}: whether an index is asked for of what is ready alone.
Result<bool> ReadIndexRequest(std::string_view body);

}  // namespace relayvm::serve
