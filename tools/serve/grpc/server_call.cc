#include "tools/serve/grpc/server_call.h"

#include <utility>

namespace relayvm::serve {
namespace {

// Of each queue. Above that, a call goes to another queue's thread, or waits in gRPC for this one.
constexpr int kAwaited = 4;

}  // namespace

ServerCall::ServerCall(CallQueues& queues, grpc::ServerCompletionQueue& queue)
    : queues_(queues), queue_(queue) {
  queues_.num_calls_.fetch_add(1);
  context_.AsyncNotifyWhenDone(&ended_);
}

ServerCall::~ServerCall() {
  if (queues_.num_calls_.fetch_sub(1) == 1) queues_.num_calls_.notify_all();
}

void ServerCall::StartRead(grpc::ByteBuffer* message) {
  Expect();
  stream_.Read(message, &read_);
}

void ServerCall::StartWrite(const grpc::ByteBuffer& message, grpc::WriteOptions options) {
  Expect();
  stream_.Write(message, options, &written_);
}

void ServerCall::StartWriteAndFinish(const grpc::ByteBuffer& message, grpc::WriteOptions options) {
  Expect();
  stream_.WriteAndFinish(message, options, grpc::Status::OK, &finished_);
}

void ServerCall::Finish(const grpc::Status& status) {
  Expect();
  stream_.Finish(status, &finished_);
}

void ServerCall::OnBegun(bool ok) {
  if (!ok) {  // the server shuts down, and nothing else comes
    delete this;
    return;
  }
  // Before this one is gone: Stop waits until there is none.
  queues_.Await(queue_);
  handler_ = queues_.begin_(*this);
}

void ServerCall::OnReadDone(bool ok) {
  handler_->OnReadDone(ok);
  Release();
}

void ServerCall::OnWriteDone(bool ok) {
  handler_->OnWriteDone(ok);
  Release();
}

void ServerCall::OnFinished(bool /*ok*/) { Release(2); }  // and nothing more is started

void ServerCall::OnEnded(bool /*ok*/) {
  if (context_.IsCancelled()) handler_->OnCancel();
  Release();
}

void ServerCall::Expect() { pending_.fetch_add(1, std::memory_order_release); }

void ServerCall::Release(int events) {
  if (pending_.fetch_sub(events, std::memory_order_acq_rel) != events) return;
  handler_->OnDone();
  delete this;
}

CallQueues::~CallQueues() { Stop(); }

void CallQueues::Register(grpc::ServerBuilder& builder, uint32_t num_threads) {
  builder.RegisterAsyncGenericService(&service_);
  for (uint32_t i = 0; i < num_threads; ++i) queues_.push_back(builder.AddCompletionQueue());
}

void CallQueues::Start() {
  for (const auto& queue : queues_) {
    for (int i = 0; i < kAwaited; ++i) Await(*queue);
    threads_.emplace_back([this, &queue] { Work(*queue); });
  }
}

void CallQueues::Stop() {
  for (size_t left = num_calls_; left > 0; left = num_calls_) num_calls_.wait(left);
  for (const auto& queue : queues_) queue->Shutdown();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  queues_.clear();
}

void CallQueues::Await(grpc::ServerCompletionQueue& queue) {
  auto* const call = new ServerCall(*this, queue);  // goes with its last event
  service_.RequestCall(&call->context_, &call->stream_, &queue, &queue, &call->begun_);
}

void CallQueues::Work(grpc::ServerCompletionQueue& queue) {
  void* event = nullptr;
  for (bool ok = false; queue.Next(&event, &ok);) static_cast<ServerCall::Event*>(event)->Tell(ok);
}

}  // namespace relayvm::serve
