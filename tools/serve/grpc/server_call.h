// ServerCall: a call as grpc++'s completion queues have it: what is started on it, and whom the end
// of each is told. It does what a reactor of the callback API does at two thirds of the cost: that
// API takes each event through more locks, and many through one more thread.
//
//   Await ─→ (a client calls) ─→ Begin gives a CallHandler ─→ its events ─→ OnDone, and it is gone
//
// CallQueues: the queues, with a thread each, and the calls that are awaited there. The events of a
// call come one after another, on its queue's thread. Tested by grpc_server_test.cc.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace relayvm::serve {

class CallHandler {
 public:
  virtual void OnReadDone(bool ok) = 0;
  virtual void OnWriteDone(bool ok) = 0;
  // The client has gone, or the deadline has passed. Comes once, before OnDone.
  virtual void OnCancel() = 0;
  // Comes once, after the end of all that was started. The call is gone when it returns.
  virtual void OnDone() = 0;

 protected:
  ~CallHandler() = default;
};

class CallQueues;

// What is started may be so by any thread, until OnDone.
class ServerCall {
 public:
  ServerCall(const ServerCall&) = delete;
  ServerCall& operator=(const ServerCall&) = delete;

  grpc::GenericServerContext& context() { return context_; }
  // REQUIRES: no read is going on; `message` lives until its end.
  void StartRead(grpc::ByteBuffer* message);
  // REQUIRES: no write is going on.
  void StartWrite(const grpc::ByteBuffer& message, grpc::WriteOptions options);
  // One of the two is called once, last of all.
  void StartWriteAndFinish(const grpc::ByteBuffer& message, grpc::WriteOptions options);
  void Finish(const grpc::Status& status);

 private:
  friend class CallQueues;
  // What a queue gives back: an event of a call.
  struct Event {
    void Tell(bool ok) {
      static_cast<void>(call->pending_.load(std::memory_order_acquire));
      (call->*handle)(ok);
    }
    ServerCall* call;
    void (ServerCall::*handle)(bool ok);
  };

  ServerCall(CallQueues& queues, grpc::ServerCompletionQueue& queue);
  ~ServerCall();
  void OnBegun(bool ok);
  void OnReadDone(bool ok);
  void OnWriteDone(bool ok);
  void OnFinished(bool ok);
  void OnEnded(bool ok);
  void Expect();
  void Release(int events = 1);

  CallQueues& queues_;
  grpc::ServerCompletionQueue& queue_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  CallHandler* handler_ = nullptr;
  Event begun_{this, &ServerCall::OnBegun};
  Event read_{this, &ServerCall::OnReadDone};
  Event written_{this, &ServerCall::OnWriteDone};
  Event finished_{this, &ServerCall::OnFinished};
  Event ended_{this, &ServerCall::OnEnded};
  // Events that are to come: its end, those of what was started, and one until it is finished. What
  // was done before one was started, its handler sees: gRPC sees to it, and so does this.
  std::atomic<int> pending_{2};
};

class CallQueues {
 public:
  using Begin = std::function<CallHandler*(ServerCall&)>;

  explicit CallQueues(Begin begin) : begin_(std::move(begin)) {}
  ~CallQueues();
  CallQueues(const CallQueues&) = delete;
  CallQueues& operator=(const CallQueues&) = delete;

  // REQUIRES: called once, before `builder` starts its server.
  void Register(grpc::ServerBuilder& builder, uint32_t num_threads);
  // REQUIRES: the server has started.
  void Start();
  // Waits for the end of all calls. REQUIRES: the server has shut down.
  void Stop();

 private:
  friend class ServerCall;
  void Await(grpc::ServerCompletionQueue& queue);
  void Work(grpc::ServerCompletionQueue& queue);

  const Begin begin_;
  grpc::AsyncGenericService service_;
  std::vector<std::unique_ptr<grpc::ServerCompletionQueue>> queues_;
  std::vector<std::thread> threads_;
  std::atomic<size_t> num_calls_{0};  // with those that are awaited
};

}  // namespace relayvm::serve
