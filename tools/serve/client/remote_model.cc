#include "tools/serve/client/remote_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "bytecode/base/printable.h"
#include "tools/serve/protocol/json_reader.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxTensors = 10'000, kMaxRank = 255, kMaxMessage = 8 << 10;
// Beyond a request's timeout, for the server's answer that it is over.
constexpr std::chrono::seconds kGrace{2};

Status BadAnswer(std::string_view what) {
  return {StatusCode::kInvalidInput, fmt::format("the server's answer: {}", what)};
}

Status BadAnswer(const Status& status) {
  return {StatusCode::kInvalidInput, fmt::format("the server's answer: {}", status.message())};
}

std::string Encoded(std::string_view text) {
  std::string encoded;
  for (const unsigned char c : text) {
    if (std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '~') {
      encoded.push_back(static_cast<char>(c));
    } else {
      encoded += fmt::format("%{:02X}", c);
    }
  }
  return encoded;
}

bool ReadDims(JsonReader& reader, std::vector<int64_t>* dims) {
  if (!reader.BeginArray()) return false;
  while (reader.NextElement()) {
    int64_t dim = 0;
    if (!reader.ReadInt(&dim)) return false;
    if (dim < -1 || dims->size() == kMaxRank) return reader.Fail("a shape that is none");
    dims->push_back(dim);
  }
  return reader.ok();
}

bool ReadSpecs(JsonReader& reader, std::vector<TensorSpec>* specs) {
  if (!reader.BeginArray()) return false;
  while (reader.NextElement()) {
    if (specs->size() == kMaxTensors) return reader.Fail("too many tensors");
    TensorSpec& spec = specs->emplace_back();
    std::string datatype;
    if (!reader.BeginObject()) return false;
    for (std::string key; reader.NextKey(&key);) {
      const bool done = key == "name"       ? reader.ReadString(&spec.name)
                        : key == "datatype" ? reader.ReadString(&datatype)
                        : key == "shape"    ? ReadDims(reader, &spec.dims)
                                            : reader.Skip();
      if (!done) return false;
    }
    spec.dtype = ParseDatatype(datatype);
  }
  return reader.ok();
}

StatusCode CodeOf(int http) {
  switch (http) {
    case 400:
    case 413:
    case 415:
      return StatusCode::kInvalidArgument;
    case 404:
      return StatusCode::kNotFound;
    case 401:
    case 403:
      return StatusCode::kInvalidInput;
    case 429:
    case 503:
      return StatusCode::kResourceExhausted;
    case 499:
      return StatusCode::kCancelled;
    case 504:
      return StatusCode::kDeadlineExceeded;
    default:
      return StatusCode::kInternal;
  }
}

StatusCode CodeOf(const HttpAnswer& answer) {
  const std::string_view name = answer.header("X-Relayvm-Status");
  for (int code = static_cast<int>(StatusCode::kInvalidArgument);
       code <= static_cast<int>(StatusCode::kInternal); ++code) {
    if (StatusCodeName(static_cast<StatusCode>(code)) == name) return static_cast<StatusCode>(code);
  }
  return CodeOf(answer.status);
}

}  // namespace

std::string ModelPath(std::string_view model) {
  const size_t slash = model.find('/');
  std::string path = "/v2/models/" + Encoded(model.substr(0, slash));
  if (slash != std::string_view::npos) path += "/versions/" + Encoded(model.substr(slash + 1));
  return path;
}

Status StatusOf(const HttpAnswer& answer) {
  std::string message;
  JsonReader reader(answer.body);
  if (reader.BeginObject()) {
    for (std::string key; reader.NextKey(&key);) {
      if (!(key == "error" ? reader.ReadString(&message) : reader.Skip())) break;
    }
  }
  if (!reader.ok() || message.empty()) message = fmt::format("HTTP status {}", answer.status);
  if (message.size() > kMaxMessage) message.resize(kMaxMessage);
  return {CodeOf(answer), std::move(message)};
}

Result<std::unique_ptr<RemoteModel>> RemoteModel::Connect(HttpClientOptions options,
                                                          const std::string& model) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<Runtime> runtime, Runtime::Create({}));
  std::unique_ptr<RemoteModel> made(
      new RemoteModel(std::move(options), ModelPath(model), std::move(runtime)));
  HttpRequest request;
  request.path = made->path_;
  request.deadline = Clock::now() + std::chrono::seconds(30);
  RELAYVM_ASSIGN_OR_RETURN(const HttpAnswer answer, made->client_.Send(request));
  if (answer.status != 200) return StatusOf(answer);
  if (const Status s = made->ReadMetadata(answer.body); !s.ok()) return BadAnswer(s);
  return made;
}

Status RemoteModel::ReadMetadata(std::string_view json) {
  JsonReader reader(json);
  if (reader.BeginObject()) {
    for (std::string key; reader.NextKey(&key);) {
      const bool done = key == "name"      ? reader.ReadString(&name_)
                        : key == "inputs"  ? ReadSpecs(reader, &inputs_)
                        : key == "outputs" ? ReadSpecs(reader, &outputs_)
                                           : reader.Skip();
      if (!done) break;
    }
  }
  reader.ExpectEnd();
  RELAYVM_RETURN_IF_ERROR(reader.status());
  for (const TensorSpec& input : inputs_) {
    if (!input.dtype) return BadAnswer("no datatype that is known here of input " + input.name);
  }
  if (outputs_.empty()) return BadAnswer("a model without outputs");
  return OkStatus();
}

Result<Value> RemoteModel::TakeOutput(const TensorSpec& spec,
                                      std::vector<InferTensor>* outputs) const {
  const auto found = std::ranges::find_if(
      *outputs, [&](const InferTensor& output) { return output.name == spec.name; });
  if (found == outputs->end() || !found->value)
    return BadAnswer("it has no output " + Printable(spec.name));
  const Value value = std::exchange(found->value, Value());
  bool fits = !spec.dtype || value.dtype() == *spec.dtype;
  if (spec.dtype) {
    fits = fits && value.dims().size() == spec.dims.size();
    for (size_t i = 0; fits && i < spec.dims.size(); ++i)
      fits = spec.dims[i] == -1 || spec.dims[i] == value.dims()[i];
  }
  if (!fits) return BadAnswer(fmt::format("output {} is not of its type", Printable(spec.name)));
  return value;
}

Result<std::vector<Value>> RemoteModel::Infer(std::vector<InferTensor> inputs,
                                              std::chrono::nanoseconds timeout) {
  InferRequest infer;
  infer.inputs = std::move(inputs);
  infer.binary_output = true;
  RELAYVM_ASSIGN_OR_RETURN(const InferBody body, WriteInferRequest(infer, /*is_binary=*/true));
  const std::string path = path_ + "/infer";
  HttpRequest request;
  request.method = "POST";
  request.path = path;
  request.headers = {{"Content-Type", "application/octet-stream"},
                     {"Inference-Header-Content-Length", std::to_string(body.json.size())}};
  request.body.push_back(std::as_bytes(std::span(body.json)));
  for (const HttpPiece& piece : body.pieces) request.body.push_back(piece.bytes);
  if (timeout.count() > 0) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    request.headers.emplace_back("X-Request-Timeout-Ms", std::to_string(ms));
    request.deadline = Clock::now() + timeout + kGrace;
  }
  RELAYVM_ASSIGN_OR_RETURN(const HttpAnswer answer, client_.Send(request));
  if (answer.status != 200) return StatusOf(answer);
  std::optional<size_t> json_bytes;
  if (const std::string_view text = answer.header("Inference-Header-Content-Length");
      !text.empty()) {
    size_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc() || end != text.data() + text.size())
      return BadAnswer("no Inference-Header-Content-Length");
    json_bytes = bytes;
  }
  auto response = ReadInferResponse(answer.body, json_bytes, *runtime_);
  if (!response.ok()) return BadAnswer(response.status());
  std::vector<Value> values;
  for (const TensorSpec& spec : outputs_) {
    RELAYVM_ASSIGN_OR_RETURN(values.emplace_back(), TakeOutput(spec, &response->outputs));
  }
  return values;
}

}  // namespace relayvm::serve
