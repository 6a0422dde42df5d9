// Requests and answers of inference as gRPC carries them (inference.proto).
//
// Tensors in raw_input_contents are not parsed with the rest of a message: they are copied once,
// from what came by the network to where the program reads them; and those of answers, but for
// small ones, not at all.
//
// What is read is a stranger's: sizes are checked before anything is made of them, and what is made
// of a message is bounded by its size. Failures are kInvalidArgument (malformed, or a shape that is
// not what comes), kUnsupported, kResourceExhausted. Tested by message_test.cc.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/grpc/inference.pb.h"
#include "tools/serve/protocol/inference.h"
#include "vm/api/relayvm.h"

namespace relayvm::serve {

// A ModelInferRequest. Thread-compatible.
class InferMessage {
 public:
  // Takes the bytes, and shares their memory until it goes or parses the next.
  Status Parse(const grpc::ByteBuffer& bytes);

  // Of the last that was parsed.
  const std::string& model() const { return header_.model_name(); }
  const std::string& version() const { return header_.model_version(); }
  const std::string& id() const { return header_.id(); }
  // Its tensors as memory of `runtime`, which counts it; gives up the message.
  Result<InferRequest> TakeRequest(Runtime& runtime);

 private:
  struct Piece {
    size_t begin, at, bytes;  // of the field, and of its contents
  };
  Status Walk();
  Status ParseHeader();
  Status ReadRaw(Runtime& runtime, InferRequest* request);

  grpc::ByteBuffer bytes_;
  std::vector<Piece> raw_;               // where the raw contents are in it
  inference::ModelInferRequest header_;  // all but these
};

// A ModelInferResponse; kUnsupported above 2 GiB. With `in_stream`, in a ModelStreamInferResponse.
Result<grpc::ByteBuffer> WriteInferAnswer(InferResponse response, bool in_stream);
// A ModelStreamInferResponse that says what failed.
grpc::ByteBuffer WriteStreamError(const std::string& id, std::string_view text);

// Of other messages than these.
Status ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message);
grpc::ByteBuffer WriteMessage(const google::protobuf::MessageLite& message);

}  // namespace relayvm::serve
