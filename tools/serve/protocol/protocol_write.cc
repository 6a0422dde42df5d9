#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <memory>
#include <utility>

#include "tools/serve/protocol/json_writer.h"
#include "tools/serve/protocol/protocol.h"
#include "tools/serve/protocol/tensor_bytes.h"

namespace relayvm::serve {
namespace {

// Below this, a copy costs less than one more piece to send.
constexpr size_t kCopied = 4096;

bool IsBinary(const InferRequest& request, std::string_view name) {
  for (const RequestedOutput& output : request.outputs) {
    if (output.name == name && output.binary) return *output.binary;
  }
  return request.binary_output;
}

// The tensors behind the JSON: small ones together, large ones where they are.
class BinaryPieces {
 public:
  void Add(std::string bytes) { copied_ += bytes; }
  void Add(const Value& tensor) {
    const auto* bytes = static_cast<const std::byte*>(tensor.data());
    if (tensor.bytes() < kCopied) {
      copied_.append(reinterpret_cast<const char*>(bytes), tensor.bytes());
      return;
    }
    Flush();
    pieces_.push_back({{bytes, tensor.bytes()}, std::make_shared<Value>(tensor)});
  }
  // What comes first goes behind `body` itself.
  void Finish(HttpResponse* response) {
    if (pieces_.empty()) {
      response->body += copied_;
      return;
    }
    response->pieces = Take();
  }
  std::vector<HttpPiece> Take() {
    Flush();
    return std::move(pieces_);
  }

 private:
  void Flush() {
    if (copied_.empty()) return;
    auto owner = std::make_shared<std::string>(std::exchange(copied_, {}));
    pieces_.push_back({std::as_bytes(std::span(*owner)), owner});
  }

  std::string copied_;
  std::vector<HttpPiece> pieces_;
};

void AppendShape(const Value& tensor, std::string* json) {
  json->push_back('[');
  const char* separator = "";
  for (const int64_t dim : tensor.dims()) {
    fmt::format_to(std::back_inserter(*json), "{}{}", separator, dim);
    separator = ",";
  }
  json->push_back(']');
}

Status AppendTensor(const InferTensor& output, bool is_binary, std::string* json,
                    BinaryPieces* pieces) {
  const DType dtype = output.value.dtype();
  *json += "{\"name\":";
  AppendJsonText(output.name, json);
  fmt::format_to(std::back_inserter(*json), ",\"datatype\":\"{}\",\"shape\":", DatatypeName(dtype));
  AppendShape(output.value, json);
  if (is_binary) {
    size_t bytes = 0;
    if (dtype == DType::kString) {
      RELAYVM_ASSIGN_OR_RETURN(std::string packed, PackTexts(output));
      bytes = packed.size();
      pieces->Add(std::move(packed));
    } else {
      bytes = output.value.bytes();
      if (bytes > 0) pieces->Add(output.value);
    }
    fmt::format_to(std::back_inserter(*json), ",\"parameters\":{{\"binary_data_size\":{}}}}}",
                   bytes);
    return OkStatus();
  }
  if (dtype == DType::kFloat16 || dtype == DType::kBFloat16) {
    return {StatusCode::kUnsupported,
            fmt::format("output {}: {} has no JSON form: ask for binary_data", output.name,
                        DatatypeName(dtype))};
  }
  *json += ",\"data\":";
  AppendJsonElements(output.value, json);
  json->push_back('}');
  return OkStatus();
}

}  // namespace

Result<HttpResponse> WriteInferResponse(const InferRequest& request, InferResponse response) {
  HttpResponse http;
  std::string& json = http.body;
  json += "{\"model_name\":";
  AppendJsonText(response.model, &json);
  json += ",\"model_version\":";
  AppendJsonText(response.version, &json);
  if (!response.id.empty()) {
    json += ",\"id\":";
    AppendJsonText(response.id, &json);
  }
  json += ",\"outputs\":[";
  BinaryPieces pieces;
  bool any_binary = false;
  for (size_t i = 0; i < response.outputs.size(); ++i) {
    if (i > 0) json.push_back(',');
    const bool is_binary = IsBinary(request, response.outputs[i].name);
    any_binary = any_binary || is_binary;
    RELAYVM_RETURN_IF_ERROR(AppendTensor(response.outputs[i], is_binary, &json, &pieces));
  }
  json += "]}";
  if (any_binary) {
    http.content_type = "application/octet-stream";
    http.headers.emplace_back("Inference-Header-Content-Length", std::to_string(json.size()));
    pieces.Finish(&http);
  }
  return http;
}

Result<InferBody> WriteInferRequest(const InferRequest& request, bool is_binary) {
  InferBody body;
  std::string& json = body.json;
  json = "{";
  if (!request.id.empty()) {
    json += "\"id\":";
    AppendJsonText(request.id, &json);
    json.push_back(',');
  }
  json += "\"inputs\":[";
  BinaryPieces pieces;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    if (i > 0) json.push_back(',');
    const DType dtype = request.inputs[i].value.dtype();
    if (!is_binary && (dtype == DType::kFloat16 || dtype == DType::kBFloat16)) {
      return Status(StatusCode::kUnsupported,
                    fmt::format("input {}: {} has no JSON form", request.inputs[i].name,
                                DatatypeName(dtype)));
    }
    RELAYVM_RETURN_IF_ERROR(AppendTensor(request.inputs[i], is_binary, &json, &pieces));
  }
  json.push_back(']');
  if (request.binary_output) json += ",\"parameters\":{\"binary_data_output\":true}";
  json.push_back('}');
  body.is_binary = is_binary;
  body.pieces = pieces.Take();
  return body;
}

}  // namespace relayvm::serve
