// Sequences: requests that go on from each other's state, by their parameters, as Triton's clients
// set them: sequence_id (a number above 0, or a text), sequence_start, sequence_end. What is kept
// is what the model's file says (relayc --state IN=OUT, vm/border/state.h). The requests of one
// sequence run one after the other, as they came. A failed run leaves the state as it was.
//
// Sequences that no request came for in a while end, as those of a version that is served no more
// do; counts and bytes have bounds (SequenceOptions). Thread-safe. Tested by sequences_test.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "bytecode/base/status.h"
#include "tools/serve/model.h"
#include "tools/serve/protocol/inference.h"
#include "tools/serve/ticker.h"

namespace relayvm::serve {

struct SequenceRequest {
  std::string id;
  bool is_start = false, is_end = false;
};
// None where the request belongs to no sequence.
Result<std::optional<SequenceRequest>> SequenceOf(const InferRequest& request);

// StatusDetail::subject of a request that is at odds with where its sequence is.
inline constexpr std::string_view kSequenceConflict = "sequence";

class Sequences : public std::enable_shared_from_this<Sequences> {
 public:
  using Clock = std::chrono::steady_clock;

  struct Sequence {
    Sequence(std::shared_ptr<const ServedModel> m, std::string i, State s)
        : model(std::move(m)), id(std::move(i)), state(std::move(s)) {}
    const std::shared_ptr<const ServedModel> model;
    const std::string id;
    State state;  // of the request whose turn it is

   private:
    friend class Sequences;
    struct Turn;
    std::deque<std::shared_ptr<Turn>> waiting;
    Clock::time_point used;
    size_t bytes = 0;
    bool is_running = false, is_ended = false;  // ended: found no more
  };
  using SequencePtr = std::shared_ptr<Sequence>;
  // Its turn has come, or it ends without (the status). `is_first`: it did not have to wait.
  using Run = std::function<void(const Result<SequencePtr>& sequence, bool is_first)>;

  explicit Sequences(WorkerPool& pool) : ticker_(pool) {}

  // `run` is called once, here or by the thread that ends the request before. Fails, and does not
  // call it, with kNotFound (no such sequence), kFailedPrecondition (a conflict: it has begun;
  // or a model that keeps nothing: kInvalidArgument), kResourceExhausted.
  Status Submit(const std::shared_ptr<const ServedModel>& model, const SequenceRequest& request,
                Clock::time_point deadline, Run run);
  // The run of a sequence's request has ended, and its state is that after it. kResourceExhausted
  // where all states take too much memory now: the sequence has ended then.
  Status Check(const SequencePtr& sequence);
  // The next one's turn.
  void End(const SequencePtr& sequence);

  size_t count() const;
  size_t bytes() const;

 private:
  friend class Ticker;
  struct OfModel {
    std::shared_ptr<const ServedModel> model;
    std::map<std::string, SequencePtr, std::less<>> by_id;
    size_t bytes = 0;
  };
  Result<SequencePtr> Find(OfModel& of_model, const SequenceRequest& request);
  void Forget(const SequencePtr& sequence);
  void Expire(Clock::time_point now);
  Clock::time_point NextTime() const;
  void OnTick();

  mutable std::mutex mutex_;
  std::unordered_map<const ServedModel*, OfModel> models_;
  Ticker ticker_;
};

}  // namespace relayvm::serve
