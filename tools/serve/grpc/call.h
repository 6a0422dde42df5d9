// Call: one call of a method, from its headers to its status; and CallList, all that are open.
//
//   kReading ─→ kRunning ─→ kWriting ─→ kEnded       ModelStreamInfer: back to kReading
//                                                    Watch of health: back to kRunning
//
// Whoever takes a call into kEnded, and nobody else, finishes it. Tested by grpc_server_test.cc.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tools/serve/client_shares.h"
#include "tools/serve/dispatcher.h"
#include "tools/serve/grpc/grpc_server.h"
#include "tools/serve/grpc/message.h"
#include "tools/serve/grpc/server_call.h"
#include "tools/serve/grpc/service.h"
#include "tools/serve/repository.h"
#include "tools/serve/telemetry.h"

namespace relayvm::serve {

class Call;

// Thread-safe.
class CallList {
 public:
  // How many there are with it.
  size_t Add(Call* call);
  void Remove(Call* call);
  std::vector<std::shared_ptr<Call>> All() const;
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  mutable std::mutex mutex_;
  std::list<Call*> calls_;
  std::atomic<size_t> size_{0};
};

// What calls share.
struct CallEnvironment {
  CallEnvironment(const GrpcOptions& o, Repository& r, Dispatcher& d)
      : options(o), repository(r), dispatcher(d), service(r), shares(o.max_client_calls) {}

  const GrpcOptions options;
  Repository& repository;
  Dispatcher& dispatcher;
  GrpcService service;
  ClientShares shares;
  CallList calls;
  std::atomic<size_t> message_bytes{0};
  std::atomic<uint64_t> begun{0}, refused{0}, timeouts{0};
};

class Call final : public CallHandler, public std::enable_shared_from_this<Call> {
 public:
  using Clock = std::chrono::steady_clock;

  // Lives until gRPC is done with it, and its run has ended.
  static Call* Begin(const std::shared_ptr<CallEnvironment>& shared, ServerCall& operations);
  Call(std::shared_ptr<CallEnvironment> environment, ServerCall& operations);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

  // Ends it where the client has taken too long.
  void EndIfLate(Clock::time_point now);
  // Ends a stream that waits for a request, and one of health.
  void EndIfIdle();
  // One that watches health is told of a change.
  void TellHealth();

 private:
  friend class CallList;
  enum class Phase : uint8_t { kReading, kRunning, kWriting, kEnded };

  bool is_watch() const { return method_ == GrpcMethod::kHealthWatch; }
  bool is_stream() const { return method_ == GrpcMethod::kModelStreamInfer; }
  // Whether it may go on; else why not.
  std::optional<GrpcFailure> Admit(size_t open_calls);
  std::string_view Metadata(std::string_view name) const;
  void StartReading();
  bool TakeBytes(size_t bytes);
  // On a worker, where it takes time.
  void HandleSoon();
  Status Unpack();
  void Handle();
  void Watch();
  void OnHealthTold(bool ok);
  void Infer();
  Status ReadRequest(InferRequest* request, InferOptions* options);
  Result<Clock::time_point> DeadlineOf(const InferRequest& request) const;
  void SetCancel(uint64_t run, Dispatcher::Cancel cancel);
  // Of an inference, which is counted as REST counts it.
  void AnswerInfer(Result<InferResponse> result);
  void Answer(grpc::ByteBuffer answer);
  void Fail(const GrpcFailure& failure);
  void FailOrAnswer(Result<grpc::ByteBuffer> answer);
  void ForgetMessage();
  bool Enter(Phase phase);  // false: it has ended
  void End(const GrpcFailure& failure);
  // What the observer is told at the end of a request, or of a stream.
  void Tell(ObservedRequest& observed, int code);
  int CodeAtEnd();

  const std::shared_ptr<CallEnvironment> shared_;  // a run may hold the call after its server's end
  CallEnvironment& environment_;
  ServerCall& operations_;                     // until OnDone returns
  grpc::GenericServerContext* const context_;  // its
  const std::optional<GrpcMethod> method_;
  grpc_call* const call_;  // counted
  ClientShares::Share share_;
  ObservedRequest observed_, stream_observed_;  // the latter of a stream's requests
  int end_code_ = 200;                          // of HTTP
  Clock::time_point deadline_ = Clock::time_point::max();
  std::shared_ptr<Call> self_;  // until gRPC is done
  std::list<Call*>::iterator in_list_;

  // Of the request that it is at.
  grpc::ByteBuffer received_, answer_;
  size_t counted_bytes_ = 0;
  InferMessage message_;
  struct Request {
    bool has_begun = false, was_compressed = false;
    int code = 200;  // of HTTP
    size_t bytes = 0;
    int64_t queued_ns = -1, run_ns = -1;
    std::shared_ptr<const ServedModel> model;
  };
  Request request_;

  std::mutex mutex_;  // of what follows
  Phase phase_ = Phase::kRunning;
  Clock::time_point late_at_ = Clock::time_point::max();
  Dispatcher::Cancel cancel_;
  uint64_t run_ = 0;
  bool has_left_ = false;
  bool is_watching_ = false;
  bool must_end_ = false;               // a watch, behind what is written
  std::optional<HealthStatus> health_;  // of a watch: what it was told last
};

}  // namespace relayvm::serve
