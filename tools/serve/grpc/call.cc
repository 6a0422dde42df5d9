#include "tools/serve/grpc/call.h"

#include <fmt/format.h>
#include <grpc/grpc.h>

#include <boost/asio/ip/address.hpp>
#include <string>
#include <utility>

#include "bytecode/base/guarded.h"
#include "tools/serve/grpc/compression.h"
#include "tools/serve/protocol/token.h"
#include "tools/serve/routes.h"

namespace relayvm::serve {
namespace {

// Larger messages are read by a worker: it would take gRPC's thread a millisecond.
constexpr size_t kReadHere = 128 << 10;

std::chrono::steady_clock::time_point AsSteady(std::chrono::system_clock::time_point time) {
  using Steady = std::chrono::steady_clock;
  const auto now = std::chrono::system_clock::now();
  // No deadline is one that lies centuries ahead.
  if (time - now > std::chrono::hours(24 * 365)) return Steady::time_point::max();
  return Steady::now() + (time - now);
}

// Of "ipv4:127.0.0.1:40000" or "ipv6:%5B::1%5D:40000", as gRPC names a peer.
boost::asio::ip::address AddressOf(std::string_view peer) {
  const size_t begin = peer.find(':') + 1, end = peer.rfind(':');
  std::string text(peer.substr(begin, end > begin ? end - begin : 0));
  for (const std::string_view bracket : {"%5B", "%5D", "[", "]"}) {
    if (const size_t at = text.find(bracket); at != std::string::npos)
      text.erase(at, bracket.size());
  }
  boost::system::error_code unknown;
  return boost::asio::ip::make_address(text, unknown);
}

}  // namespace

size_t CallList::Add(Call* call) {
  const std::lock_guard lock(mutex_);
  call->in_list_ = calls_.insert(calls_.end(), call);
  return size_.fetch_add(1, std::memory_order_relaxed) + 1;
}

void CallList::Remove(Call* call) {
  const std::lock_guard lock(mutex_);
  calls_.erase(call->in_list_);
  size_.fetch_sub(1, std::memory_order_relaxed);
}

std::vector<std::shared_ptr<Call>> CallList::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Call>> all;
  all.reserve(calls_.size());
  for (Call* call : calls_) all.push_back(call->shared_from_this());
  return all;
}

Call* Call::Begin(const std::shared_ptr<CallEnvironment>& shared, ServerCall& operations) {
  const auto call = std::make_shared<Call>(shared, operations);
  CallEnvironment& environment = *shared;
  const size_t open = environment.calls.Add(call.get());
  call->self_ = call;
  environment.begun.fetch_add(1, std::memory_order_relaxed);
  call->observed_.Begin(environment.options.observer, call->Metadata("traceparent"));
  if (call->observed_.has_trace()) {
    const Traceparent text = FormatTraceparent(call->observed_.trace());
    call->context_->AddInitialMetadata("traceparent", {text.data(), text.size()});
  }
  if (const auto refused = call->Admit(open)) {
    call->End(*refused);
  } else {
    call->StartReading();
  }
  return call.get();
}

std::string_view Call::Metadata(std::string_view name) const {
  const auto& all = context_->client_metadata();
  const auto found = all.find({name.data(), name.size()});
  return found == all.end() ? std::string_view()
                            : std::string_view(found->second.data(), found->second.size());
}

std::optional<GrpcFailure> Call::Admit(size_t open_calls) {
  const GrpcOptions& options = environment_.options;
  const bool is_probe = method_ == GrpcMethod::kServerLive || method_ == GrpcMethod::kServerReady ||
                        method_ == GrpcMethod::kHealthCheck || is_watch();
  if (!options.token.empty() && !is_probe && !HasToken(Metadata("authorization"), options.token))
    return GrpcFailure::Of(401, "expected metadata authorization: Bearer TOKEN");
  if (!method_) return GrpcFailure::Of(501, "there is no such method");
  const auto too_many = [&](int code, std::string text) {
    environment_.refused.fetch_add(1, std::memory_order_relaxed);
    return GrpcFailure::Of(code, text);
  };
  if (open_calls > options.max_calls)
    return too_many(503, fmt::format("{} calls at a time", options.max_calls));
  if (options.max_client_calls > 0) {
    share_ = environment_.shares.Take(AddressOf(context_->peer()));
    if (!share_.is_taken()) return too_many(429, "too many calls of one client at a time");
  }
  return std::nullopt;
}

Call::Call(std::shared_ptr<CallEnvironment> environment, ServerCall& operations)
    : shared_(std::move(environment)),
      environment_(*shared_),
      operations_(operations),
      context_(&operations.context()),
      method_(FindGrpcMethod(context_->method())),
      call_(context_->c_call()),
      deadline_(AsSteady(context_->deadline())) {
  grpc_call_ref(call_);
}

Call::~Call() {
  ForgetMessage();
  grpc_call_unref(call_);
}

bool Call::Enter(Phase phase) {
  const GrpcOptions& options = environment_.options;
  size_t bytes = 0;
  auto late_at = Clock::time_point::max();
  if (phase == Phase::kReading && is_stream()) {
    late_at = Clock::now() + options.idle_time;
  } else if (phase == Phase::kReading || phase == Phase::kWriting) {
    bytes = phase == Phase::kReading ? options.max_message_bytes : answer_.Length();
    late_at = Clock::now() + options.transfer_time +
              std::chrono::seconds(bytes / options.min_bytes_per_second);
  }
  const std::lock_guard lock(mutex_);
  if (phase_ == Phase::kEnded) return false;
  phase_ = phase;
  late_at_ = late_at;
  return true;
}

void Call::End(const GrpcFailure& failure) {
  if (!Enter(Phase::kEnded)) return;
  end_code_ = failure.http_code;
  share_ = {};  // before the client can ask again
  // REST's Retry-After, as clients of gRPC know it.
  if (failure.is_passing()) context_->AddTrailingMetadata("grpc-retry-pushback-ms", "1000");
  operations_.Finish(failure.status);
}

void Call::StartReading() {
  ForgetMessage();
  request_ = {};
  if (Enter(Phase::kReading)) operations_.StartRead(&received_);
}

void Call::OnReadDone(bool ok) {
  if (!ok) {
    // A stream ends so; of other calls, the client has gone or sent no message.
    return End(is_stream() ? GrpcFailure::Of(OkStatus()) : GrpcFailure::Of(400, "no message came"));
  }
  if (!Enter(Phase::kRunning)) return;
  if (is_stream() && observed_.has_trace()) {
    const Traceparent text = FormatTraceparent(observed_.trace());
    stream_observed_.Begin(environment_.options.observer, {text.data(), text.size()});
  }
  request_.has_begun = true;
  request_.bytes = received_.Length();
  if (!TakeBytes(request_.bytes)) {
    environment_.refused.fetch_add(1, std::memory_order_relaxed);
    return Fail(GrpcFailure::Of(
        503, fmt::format("{} bytes of requests at a time", environment_.options.max_all_messages)));
  }
  request_.was_compressed = IsCompressed(received_);
  HandleSoon();
}

bool Call::TakeBytes(size_t bytes) {
  counted_bytes_ += bytes;
  const size_t all = environment_.message_bytes.fetch_add(bytes) + bytes;
  return all <= environment_.options.max_all_messages || all == counted_bytes_;
}

void Call::HandleSoon() {
  const auto handle = [self = shared_from_this()] {
    const Status failed = Guarded([&]() -> Status {
      if (self->request_.was_compressed) {
        if (const Status unpacked = self->Unpack(); !unpacked.ok()) {
          self->Fail(GrpcFailure::Of(unpacked));
          return OkStatus();
        }
      }
      self->Handle();
      return OkStatus();
    });
    if (!failed.ok()) self->End(GrpcFailure::Of(failed));
  };
  if (!request_.was_compressed && received_.Length() <= kReadHere) return handle();
  environment_.dispatcher.Post(handle);
}

Status Call::Unpack() {
  RELAYVM_ASSIGN_OR_RETURN(received_, Decompress(received_, environment_.options.max_message_bytes,
                                                 [this](size_t more) { return TakeBytes(more); }));
  request_.bytes = received_.Length();
  return OkStatus();
}

void Call::Handle() {
  if (method_ == GrpcMethod::kModelInfer || is_stream()) return Infer();
  if (is_watch()) return Watch();
  environment_.service.Handle(*method_, received_,
                              [self = shared_from_this()](Result<grpc::ByteBuffer> answer) {
                                // As it is where models are loaded alone.
                                if (answer.status().code() == StatusCode::kFailedPrecondition)
                                  return self->Fail(GrpcFailure::Busy(answer.status().message()));
                                self->FailOrAnswer(std::move(answer));
                              });
}

void Call::Watch() {
  if (const auto asked = environment_.service.Health(received_); !asked.ok())
    return Fail(GrpcFailure::Of(asked.status()));
  {
    const std::lock_guard lock(mutex_);
    is_watching_ = true;
  }
  TellHealth();
}

void Call::TellHealth() {
  const std::lock_guard lock(mutex_);
  if (!is_watching_ || phase_ != Phase::kRunning) return;
  const auto status = environment_.service.Health(received_);
  if (!status.ok() || health_ == *status) return;
  health_ = *status;
  answer_ = WriteHealth(*status);
  phase_ = Phase::kWriting;
  late_at_ = Clock::now() + environment_.options.transfer_time;
  // With the lock: nobody ends the call before the write is on its way.
  operations_.StartWrite(answer_, {});
}

void Call::OnHealthTold(bool ok) {
  bool ends = !ok;
  {
    const std::lock_guard lock(mutex_);
    ends = ends || has_left_ || must_end_;
    late_at_ = Clock::time_point::max();
    if (phase_ == Phase::kWriting) phase_ = Phase::kRunning;
  }
  if (ends) return End(ok ? GrpcFailure::Draining() : GrpcFailure::Of(499, ""));
  TellHealth();  // what has changed meanwhile
}

Result<Call::Clock::time_point> Call::DeadlineOf(const InferRequest& request) const {
  RELAYVM_ASSIGN_OR_RETURN(const auto asked, TimeoutOf(request));
  if (!asked && deadline_ != Clock::time_point::max()) return deadline_;
  const std::chrono::nanoseconds timeout =
      asked && asked->count() > 0 ? *asked : environment_.dispatcher.default_timeout();
  if (timeout.count() == 0) return deadline_;
  return std::min(deadline_, Clock::now() + timeout);
}

Status Call::ReadRequest(InferRequest* request, InferOptions* options) {
  RELAYVM_RETURN_IF_ERROR(message_.Parse(received_));
  received_.Clear();
  RELAYVM_ASSIGN_OR_RETURN(request_.model,
                           environment_.repository.Find(message_.model(), message_.version()));
  RELAYVM_ASSIGN_OR_RETURN(*request, message_.TakeRequest(environment_.dispatcher.runtime()));
  request->model = request_.model->name();
  request->version = request_.model->version();
  options->tag = (is_stream() ? stream_observed_ : observed_).trace().tag();
  RELAYVM_ASSIGN_OR_RETURN(options->deadline, DeadlineOf(*request));
  return OkStatus();
}

void Call::Infer() {
  InferRequest request;
  InferOptions options;
  if (const Status read = ReadRequest(&request, &options); !read.ok()) return AnswerInfer(read);
  uint64_t run = 0;
  {
    const std::lock_guard lock(mutex_);
    run = ++run_;
  }
  Dispatcher::Cancel cancel;
  auto done = [self = shared_from_this()](Result<InferResponse> result) {
    const RunReport& report = Dispatcher::ended_run();
    self->request_.queued_ns = report.invocation != 0 ? report.queued_ns : report.total_ns;
    self->request_.run_ns = report.total_ns - self->request_.queued_ns;
    self->AnswerInfer(std::move(result));
  };
  const Status refused =
      environment_.dispatcher.Infer(request_.model, request, options, std::move(done), &cancel);
  if (refused.ok()) return SetCancel(run, std::move(cancel));
  AnswerInfer(refused);
}

void Call::SetCancel(uint64_t run, Dispatcher::Cancel cancel) {
  bool has_left = false;
  {
    const std::lock_guard lock(mutex_);
    if (run != run_) return;  // it is answered, and the stream's next one has begun
    has_left = has_left_;
    if (!has_left) cancel_ = cancel;
  }
  if (has_left) cancel.Cancel();
}

void Call::OnCancel() {
  Dispatcher::Cancel cancel;
  bool ends = false;
  {
    const std::lock_guard lock(mutex_);
    has_left_ = true;
    cancel = std::move(cancel_);
    ends = is_watching_ && phase_ == Phase::kRunning;
  }
  if (ends) return End(GrpcFailure::Of(499, ""));
  cancel.Cancel();  // may answer here
}

void Call::AnswerInfer(Result<InferResponse> result) {
  Result<grpc::ByteBuffer> answer = result.ok() ? WriteInferAnswer(*std::move(result), is_stream())
                                                : Result<grpc::ByteBuffer>(result.status());
  const bool is_drained =
      answer.status().code() == StatusCode::kFailedPrecondition && environment_.service.draining();
  if (request_.model != nullptr)
    request_.model->metrics().CountAnswer(is_drained ? 503 : HttpCodeOf(answer.status()));
  if (!is_drained) return FailOrAnswer(std::move(answer));
  request_.code = 503;
  End(GrpcFailure::Draining());
}

void Call::FailOrAnswer(Result<grpc::ByteBuffer> answer) {
  answer.ok() ? Answer(*std::move(answer)) : Fail(GrpcFailure::Of(answer.status()));
}

void Call::Fail(const GrpcFailure& failure) {
  request_.code = failure.http_code;
  if (!is_stream()) return End(failure);
  Answer(WriteStreamError(message_.id(), failure.status.error_message()));
}

void Call::Answer(grpc::ByteBuffer answer) {
  answer_ = std::move(answer);
  const bool compressed = request_.was_compressed && PaysToCompress(answer_);
  if (!Enter(Phase::kWriting)) return;
  grpc::WriteOptions how;
  if (compressed) {
    context_->set_compression_level(GRPC_COMPRESS_LEVEL_LOW);  // by what the client accepts
  } else {
    how.set_no_compression();
  }
  if (is_stream()) return operations_.StartWrite(answer_, how);
  share_ = {};  // before the client can ask again
  operations_.StartWriteAndFinish(answer_, how);
}

void Call::OnWriteDone(bool ok) {
  if (is_watch()) return OnHealthTold(ok);
  Tell(stream_observed_, ok ? request_.code : 499);
  request_ = {};
  answer_.Clear();
  if (!ok) return End(GrpcFailure::Of(499, ""));
  if (environment_.service.draining()) return End(GrpcFailure::Draining());
  StartReading();
}

void Call::Tell(ObservedRequest& observed, int code) {
  if (!observed.has_trace()) return;
  const ServedModel* model = request_.model.get();
  observed.End({.method = "gRPC",
                .path = context_->method(),
                .model = model != nullptr ? std::string_view(model->name()) : "",
                .version = model != nullptr ? std::string_view(model->version()) : "",
                .code = code,
                .bytes_in = request_.bytes,
                .bytes_out = code == 499 ? 0 : answer_.Length(),
                .queued_ns = request_.queued_ns,
                .run_ns = request_.run_ns});
}

int Call::CodeAtEnd() {
  const std::lock_guard lock(mutex_);
  if (!has_left_) return end_code_;
  return Clock::now() < deadline_ ? 499 : 504;
}

void Call::ForgetMessage() {
  received_.Clear();
  environment_.message_bytes.fetch_sub(std::exchange(counted_bytes_, 0));
}

void Call::OnDone() {
  const int code = CodeAtEnd();
  if (is_stream()) {
    if (request_.has_begun) Tell(stream_observed_, code);
    request_ = {};
  }
  Tell(observed_, code);
  environment_.calls.Remove(this);
  const std::shared_ptr<Call> self = std::move(self_);  // may be the last
}

void Call::EndIfLate(Clock::time_point now) {
  {
    const std::lock_guard lock(mutex_);
    if (now < late_at_) return;
    late_at_ = Clock::time_point::max();
  }
  environment_.timeouts.fetch_add(1, std::memory_order_relaxed);
  grpc_call_cancel(call_, nullptr);
}

void Call::EndIfIdle() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
    const bool is_idle =
        is_watching_ ? phase_ == Phase::kRunning : is_stream() && phase_ == Phase::kReading;
    if (!is_idle) return;
    phase_ = Phase::kEnded;
  }
  const GrpcFailure ends = GrpcFailure::Draining();
  end_code_ = ends.http_code;
  operations_.Finish(ends.status);
}

}  // namespace relayvm::serve
