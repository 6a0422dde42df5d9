#include "tools/serve/grpc/call.h"

#include <fmt/format.h>
#include <grpc/grpc.h>

#include <string>
#include <utility>

#include "bytecode/base/guarded.h"
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

Call* Call::Begin(CallEnvironment& environment, grpc::GenericCallbackServerContext* context) {
  const auto call = std::make_shared<Call>(environment, context);
  const size_t open = environment.calls.Add(call.get());
  call->self_ = call;
  environment.begun.fetch_add(1, std::memory_order_relaxed);
  if (!call->method_) {
    call->End({grpc::StatusCode::UNIMPLEMENTED, "there is no such method"});
  } else if (open > environment.options.max_calls) {
    environment.refused.fetch_add(1, std::memory_order_relaxed);
    call->End({grpc::StatusCode::RESOURCE_EXHAUSTED,
               fmt::format("{} calls at a time", environment.options.max_calls)});
  } else {
    call->StartReading();
  }
  return call.get();
}

Call::Call(CallEnvironment& environment, grpc::GenericCallbackServerContext* context)
    : environment_(environment),
      method_(FindGrpcMethod(context->method())),
      call_(context->c_call()),
      deadline_(AsSteady(context->deadline())) {
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

void Call::End(const grpc::Status& status) {
  if (Enter(Phase::kEnded)) Finish(status);
}

void Call::StartReading() {
  ForgetMessage();
  if (Enter(Phase::kReading)) StartRead(&received_);
}

void Call::OnReadDone(bool ok) {
  if (!ok) {
    // A stream ends so; of other calls, the client has gone or sent no message.
    return End(is_stream() ? grpc::Status::OK
                           : grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no message came"));
  }
  if (!Enter(Phase::kRunning)) return;
  counted_bytes_ = received_.Length();
  const size_t all = environment_.message_bytes.fetch_add(counted_bytes_) + counted_bytes_;
  if (all > environment_.options.max_all_messages && all > counted_bytes_) {
    environment_.refused.fetch_add(1, std::memory_order_relaxed);
    return Answer(Status(
        StatusCode::kResourceExhausted,
        fmt::format("{} bytes of requests at a time", environment_.options.max_all_messages)));
  }
  const auto handle = [self = shared_from_this()] {
    const Status failed = Guarded([&]() -> Status {
      self->Handle();
      return OkStatus();
    });
    if (!failed.ok()) self->End(GrpcStatusOf(failed));
  };
  if (received_.Length() <= kReadHere) return handle();
  environment_.dispatcher.Post(handle);
}

void Call::Handle() {
  if (method_ == GrpcMethod::kModelInfer || is_stream()) return Infer();
  environment_.service.Handle(*method_, received_,
                              [self = shared_from_this()](Result<grpc::ByteBuffer> answer) {
                                self->Answer(std::move(answer));
                              });
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
  RELAYVM_ASSIGN_OR_RETURN(model_,
                           environment_.repository.Find(message_.model(), message_.version()));
  RELAYVM_ASSIGN_OR_RETURN(*request, message_.TakeRequest(environment_.dispatcher.runtime()));
  request->model = model_->name();
  request->version = model_->version();
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
    self->AnswerInfer(std::move(result));
  };
  const Status refused =
      environment_.dispatcher.Infer(model_, request, options, std::move(done), &cancel);
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
  {
    const std::lock_guard lock(mutex_);
    has_left_ = true;
    cancel = std::move(cancel_);
  }
  cancel.Cancel();  // may answer here
}

void Call::AnswerInfer(Result<InferResponse> result) {
  Result<grpc::ByteBuffer> answer = result.ok() ? WriteInferAnswer(*std::move(result), is_stream())
                                                : Result<grpc::ByteBuffer>(result.status());
  const auto model = std::exchange(model_, nullptr);
  const bool is_drained =
      answer.status().code() == StatusCode::kFailedPrecondition && environment_.service.draining();
  if (model != nullptr) {
    model->metrics().CountAnswer(is_drained ? 503 : HttpCodeOf(answer.status()));
  }
  if (is_drained) return End({grpc::StatusCode::UNAVAILABLE, "the server ends"});
  Answer(std::move(answer));
}

void Call::Answer(Result<grpc::ByteBuffer> answer) {
  if (!answer.ok() && !is_stream()) return End(GrpcStatusOf(answer.status()));
  answer_ = answer.ok()
                ? *std::move(answer)
                : WriteStreamError(message_.id(), GrpcStatusOf(answer.status()).error_message());
  if (!Enter(Phase::kWriting)) return;
  if (is_stream()) return StartWrite(&answer_);
  StartWriteAndFinish(&answer_, {}, grpc::Status::OK);
}

void Call::OnWriteDone(bool ok) {
  answer_.Clear();
  if (!ok) return End(grpc::Status::CANCELLED);
  if (environment_.service.draining())
    return End({grpc::StatusCode::UNAVAILABLE, "the server ends"});
  StartReading();
}

void Call::ForgetMessage() {
  received_.Clear();
  environment_.message_bytes.fetch_sub(std::exchange(counted_bytes_, 0));
}

void Call::OnDone() {
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
    if (phase_ != Phase::kReading || !is_stream()) return;
    phase_ = Phase::kEnded;
  }
  Finish({grpc::StatusCode::UNAVAILABLE, "the server ends"});
}

}  // namespace relayvm::serve
