// RemoteModel: a model of a server of the Open Inference Protocol, over its REST form with binary
// tensors; another program's server will do. What comes is checked against what its metadata says.
// Not thread-safe. Tested by ../tests/run_client.py.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "tools/serve/client/http_client.h"
#include "tools/serve/protocol/inference.h"
#include "tools/serve/protocol/protocol.h"

namespace relayvm::serve {

// "/v2/models/NAME", or for NAME/VERSION ".../versions/VERSION", percent-encoded.
std::string ModelPath(std::string_view model);

// A server's answer that is not 200, as a Status with its message: with the code that vmserve says
// in X-Relayvm-Status, else the one that HTTP's stands for.
Status StatusOf(const HttpAnswer& answer);

class RemoteModel {
 public:
  // Asks for the model's metadata. `model`: NAME or NAME/VERSION.
  static Result<std::unique_ptr<RemoteModel>> Connect(HttpClientOptions options,
                                                      const std::string& model);

  const std::string& name() const { return name_; }
  const std::vector<TensorSpec>& inputs() const { return inputs_; }
  const std::vector<TensorSpec>& outputs() const { return outputs_; }

  // All outputs, in the metadata's order. Zero: no timeout.
  Result<std::vector<Value>> Infer(std::vector<InferTensor> inputs,
                                   std::chrono::nanoseconds timeout);

 private:
  RemoteModel(HttpClientOptions options, std::string path, std::shared_ptr<Runtime> runtime)
      : client_(std::move(options)), path_(std::move(path)), runtime_(std::move(runtime)) {}
  Status ReadMetadata(std::string_view json);
  Result<Value> TakeOutput(const TensorSpec& spec, std::vector<InferTensor>* outputs) const;

  HttpClient client_;
  std::string path_, name_;
  std::shared_ptr<Runtime> runtime_;
  std::vector<TensorSpec> inputs_, outputs_;
};

}  // namespace relayvm::serve
