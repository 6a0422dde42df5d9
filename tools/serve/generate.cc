#include "tools/serve/generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/base/printable.h"
#include "tools/serve/protocol/json_reader.h"
#include "tools/serve/protocol/json_writer.h"
#include "tools/serve/protocol/protocol.h"
#include "tools/serve/request_options.h"
#include "tools/serve/routes.h"

namespace relayvm::serve {
namespace {

// A stream that has more than this to send waits for its client.
constexpr size_t kMaxUnsent = 64 << 10;
// What an answer in one piece may have been emitted.
constexpr size_t kMaxEmitted = size_t{64} << 20;

Status BadGenerate(std::string text) { return {StatusCode::kInvalidArgument, std::move(text)}; }

// The dims of nested arrays, by the first of each; of what is no array, none. REQUIRES: JSON.
std::vector<int64_t> DimsOf(std::string_view json) {
  std::vector<int64_t> dims;
  constexpr std::string_view kSpace = " \t\r\n";
  while (json.starts_with('[')) {
    int64_t commas = 0;
    size_t depth = 0, i = 0;
    bool in_text = false;
    do {
      const char c = json[i];
      if (c == '"') in_text = !in_text;
      if (in_text && c == '\\') ++i;
      if (!in_text && (c == '[' || c == '{')) ++depth;
      if (!in_text && (c == ']' || c == '}')) --depth;
      if (!in_text && c == ',' && depth == 1) ++commas;
      ++i;
    } while (depth > 0);
    json = json.substr(1, i - 1);
    json.remove_prefix(std::min(json.find_first_not_of(kSpace), json.size()));
    dims.push_back(json.starts_with(']') ? 0 : commas + 1);
  }
  return dims;
}

// {"name":...,"shape":...,"datatype":...,"data":...}: what the protocol's reader takes.
Status AppendInput(const TensorSpec& spec, std::string_view value, std::string* json) {
  if (!spec.dtype)
    return {StatusCode::kUnsupported, spec.name + ": its dtype is known when it runs"};
  std::vector<int64_t> dims = DimsOf(value);
  const bool is_one = !value.starts_with('[');
  if (is_one) dims.assign(spec.dims.size(), 1);
  if (dims.size() != spec.dims.size()) {
    return BadGenerate(
        fmt::format("{}: expected arrays nested {} deep, as the input has dims, found {}",
                    Printable(spec.name), spec.dims.size(), dims.size()));
  }
  *json += json->ends_with('[') ? "{\"name\":" : ",{\"name\":";
  AppendJsonText(spec.name, json);
  *json += fmt::format(",\"shape\":[{}],\"datatype\":\"{}\",\"data\":", fmt::join(dims, ","),
                       DatatypeName(*spec.dtype));
  *json += is_one ? fmt::format("[{}]}}", value) : fmt::format("{}}}", value);
  return OkStatus();
}

// A tensor's elements; one by itself.
Status AppendValue(const Value& value, std::string* json) {
  if (!value.is_tensor() || value.dtype() == DType::kFloat16 || value.dtype() == DType::kBFloat16)
    return {StatusCode::kUnsupported, "it is no tensor that JSON has numbers for"};
  std::string elements;
  AppendJsonElements(value, &elements);
  const bool is_one = value.num_elements() == 1 && elements.size() > 2;
  *json += is_one ? std::string_view(elements).substr(1, elements.size() - 2)
                  : std::string_view(elements);
  return OkStatus();
}

class GenerateCall : public Emitter, public std::enable_shared_from_this<GenerateCall> {
 public:
  GenerateCall(std::shared_ptr<const ServedModel> model, std::shared_ptr<HttpExchange> exchange,
               bool is_stream)
      : model_(std::move(model)), exchange_(std::move(exchange)), is_stream_(is_stream) {}

  void Start(Dispatcher& dispatcher);
  bool IsReady(const Waker& waker) override;
  Status Emit(std::span<const Value> values) override;

  void Leave() {
    const std::lock_guard lock(mutex_);
    has_left_ = true;
    cancel_.Cancel();
  }
  bool is_answered() const { return is_answered_.load(std::memory_order_relaxed); }
  void Fail(const Status& status);

 private:
  Status Run(Dispatcher& dispatcher);
  void OnSent();
  void Finish(Result<InferResponse> result);
  Status AppendOutputs(const InferResponse& response, std::string* json) const;
  std::string Head() const;
  void Send(const std::string& json);

  const std::shared_ptr<const ServedModel> model_;
  std::shared_ptr<HttpExchange> exchange_;  // until it is answered
  const bool is_stream_;
  std::atomic<bool> is_answered_{false};
  InferRequest request_;
  std::string id_;
  // Of the run alone, which is on one thread at a time.
  bool is_begun_ = false;
  std::string emitted_;

  std::mutex mutex_;  // of what follows
  Dispatcher::Cancel cancel_;
  bool has_left_ = false;
  size_t unsent_ = 0;
  Waker waker_;
};

void GenerateCall::Start(Dispatcher& dispatcher) {
  const Status failed = Guarded([&] { return Run(dispatcher); });
  if (!failed.ok() && !is_answered()) Fail(failed);
}

Status GenerateCall::Run(Dispatcher& dispatcher) {
  RELAYVM_ASSIGN_OR_RETURN(
      request_, ReadGenerateRequest(exchange_->body(), model_->inputs(), dispatcher.runtime(),
                                    LimitsOf(dispatcher, *exchange_)));
  InferOptions options;
  RELAYVM_ASSIGN_OR_RETURN(options.deadline,
                           DeadlineOf(*exchange_, request_, dispatcher.default_timeout()));
  options.emitter = shared_from_this();
  id_ = request_.id;  // which the dispatcher takes
  Dispatcher::Cancel cancel;
  RELAYVM_RETURN_IF_ERROR(dispatcher.Infer(
      model_, request_, options,
      [self = shared_from_this()](Result<InferResponse> result) {
        self->Finish(std::move(result));
      },
      &cancel));
  const std::lock_guard lock(mutex_);
  cancel_ = std::move(cancel);
  if (has_left_) cancel_.Cancel();
  return OkStatus();
}

bool GenerateCall::IsReady(const Waker& waker) {
  if (!is_stream_) return true;
  const std::lock_guard lock(mutex_);
  if (unsent_ < kMaxUnsent) return true;
  waker_ = waker;
  return false;
}

void GenerateCall::OnSent() {
  Waker waker;
  {
    const std::lock_guard lock(mutex_);
    unsent_ = 0;
    waker = std::exchange(waker_, Waker());
  }
  waker.Wake();
}

std::string GenerateCall::Head() const {
  std::string json = "{\"model_name\":";
  AppendJsonText(model_->name(), &json);
  json += ",\"model_version\":";
  AppendJsonText(model_->version(), &json);
  if (!id_.empty()) {
    json += ",\"id\":";
    AppendJsonText(id_, &json);
  }
  return json;
}

Status GenerateCall::Emit(std::span<const Value> values) {
  std::string json;
  if (values.size() != 1) json += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) json += ',';
    if (const Status failed = AppendValue(values[i], &json); !failed.ok())
      return failed.WithContext("emit");
  }
  if (values.size() != 1) json += ']';
  if (is_stream_) {
    Send(Head() + ",\"emitted\":" + json + "}");
    return OkStatus();
  }
  if (emitted_.size() + json.size() > kMaxEmitted) {
    return {
        StatusCode::kResourceExhausted,
        fmt::format("more than {} bytes were emitted: generate_stream has no bound", kMaxEmitted)};
  }
  emitted_ += (emitted_.empty() ? "" : ",") + json;
  return OkStatus();
}

void GenerateCall::Send(const std::string& json) {
  if (!std::exchange(is_begun_, true)) {
    HttpResponse head;
    head.content_type = "text/event-stream";
    head.headers.emplace_back("Cache-Control", "no-cache");
    exchange_->BeginStream(std::move(head), [self = weak_from_this()] {
      if (const auto call = self.lock(); call != nullptr) call->OnSent();
    });
  }
  std::string event = "data: " + json + "\n\n";
  {
    const std::lock_guard lock(mutex_);
    unsent_ += event.size();
  }
  exchange_->WriteStream(std::move(event));
}

Status GenerateCall::AppendOutputs(const InferResponse& response, std::string* json) const {
  for (const InferTensor& output : response.outputs) {
    *json += ',';
    AppendJsonText(output.name, json);
    *json += ':';
    if (const Status failed = AppendValue(output.value, json); !failed.ok())
      return failed.WithContext(output.name);
  }
  return OkStatus();
}

void GenerateCall::Finish(Result<InferResponse> result) {
  std::string json = Head();
  if (!emitted_.empty()) json += ",\"emitted\":[" + emitted_ + "]";
  const Status failed = result.ok() ? AppendOutputs(*result, &json) : result.status();
  if (!failed.ok()) return Fail(failed);
  json += '}';
  is_answered_ = true;
  model_->metrics().CountAnswer(200);
  if (is_stream_) {
    Send(json);
    std::exchange(exchange_, nullptr)->EndStream();
    return;
  }
  HttpResponse response;
  response.body = std::move(json);
  std::exchange(exchange_, nullptr)->Respond(std::move(response));
}

void GenerateCall::Fail(const Status& status) {
  is_answered_ = true;
  HttpResponse response = ErrorResponse(status);
  model_->metrics().CountAnswer(response.status);
  if (is_begun_) {
    Send(response.body);
    std::exchange(exchange_, nullptr)->EndStream();
    return;
  }
  std::exchange(exchange_, nullptr)->Respond(std::move(response));
}

}  // namespace

Result<InferRequest> ReadGenerateRequest(std::string_view body, std::span<const TensorSpec> inputs,
                                         Runtime& runtime, const ReadLimits& limits) {
  JsonReader reader(body);
  std::string json = "{\"inputs\":[", rest;
  if (reader.BeginObject()) {
    for (std::string key; reader.NextKey(&key);) {
      const JsonReader::Kind kind = reader.Peek();
      const size_t begin = reader.position();
      if (!reader.Skip()) break;
      std::string_view value = body.substr(begin, reader.position() - begin);
      value.remove_prefix(std::min(value.find_first_not_of(" \t\r\n"), value.size()));
      const auto spec = std::ranges::find(inputs, key, &TensorSpec::name);
      if (spec != inputs.end()) {
        RELAYVM_RETURN_IF_ERROR(AppendInput(*spec, value, &json));
      } else if ((key == "parameters" && kind == JsonReader::Kind::kObject) ||
                 (key == "id" && kind == JsonReader::Kind::kString)) {
        rest += fmt::format(",\"{}\":{}", key, value);
      } else {
        return BadGenerate(fmt::format("there is no input {}", Printable(key)));
      }
    }
  }
  reader.ExpectEnd();
  RELAYVM_RETURN_IF_ERROR(reader.status());
  json += "]" + rest + "}";
  return ReadInferRequest(json, std::nullopt, runtime, limits);
}

void Generate(Dispatcher& dispatcher, std::shared_ptr<const ServedModel> model,
              std::shared_ptr<HttpExchange> exchange, bool is_stream) {
  const bool is_large = exchange->body().size() > kReadHere;
  const auto call = std::make_shared<GenerateCall>(std::move(model), exchange, is_stream);
  if (const std::string_view coding = exchange->header("Content-Encoding");
      !coding.empty() && coding != "identity")
    return call->Fail({StatusCode::kUnsupported, "expected a body without a Content-Encoding"});
  exchange->set_on_disconnect([call] { call->Leave(); });
  if (!is_large) return call->Start(dispatcher);
  dispatcher.Post([&dispatcher, call] { call->Start(dispatcher); });
}

}  // namespace relayvm::serve
