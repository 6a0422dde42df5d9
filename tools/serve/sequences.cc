#include "tools/serve/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bytecode/base/printable.h"

namespace relayvm::serve {
namespace {

// Requests of one sequence that wait for their turn.
constexpr size_t kMaxWaiting = 64;
constexpr size_t kMaxIdBytes = 256;

Result<bool> FlagOf(const InferRequest& request, std::string_view name) {
  const Parameter* parameter = request.FindParameter(name);
  if (parameter == nullptr) return false;
  if (const bool* flag = std::get_if<bool>(parameter)) return *flag;
  return Status(StatusCode::kInvalidArgument,
                fmt::format("parameter {}: expected true or false", name));
}

size_t BytesOf(const Value& value) {
  if (value.is_tensor()) return value.bytes();
  size_t bytes = 0;
  if (value.kind() != Value::Kind::kAdt) return bytes;
  for (size_t i = 0; i < value.num_fields(); ++i) bytes += BytesOf(value.field(i));
  return bytes;
}

size_t BytesOf(const State& state) {
  size_t bytes = 0;
  for (const StatePair& pair : state.function().states) {
    const Result<Value> value = state.Get(state.function().inputs[pair.input].name);
    if (value.ok()) bytes += BytesOf(*value);
  }
  return bytes;
}

Status Conflict(std::string message) {
  auto detail = std::make_shared<StatusDetail>();
  detail->subject = kSequenceConflict;
  return {StatusCode::kFailedPrecondition, std::move(message), std::move(detail)};
}

}  // namespace

struct Sequences::Sequence::Turn {
  Run run;  // none: it was answered
  Clock::time_point deadline;
};

Result<std::optional<SequenceRequest>> SequenceOf(const InferRequest& request) {
  SequenceRequest sequence;
  RELAYVM_ASSIGN_OR_RETURN(sequence.is_start, FlagOf(request, "sequence_start"));
  RELAYVM_ASSIGN_OR_RETURN(sequence.is_end, FlagOf(request, "sequence_end"));
  const auto invalid = [](std::string text) {
    return Status(StatusCode::kInvalidArgument, std::move(text));
  };
  if (const Parameter* id = request.FindParameter("sequence_id")) {
    if (const int64_t* number = std::get_if<int64_t>(id)) {
      if (*number != 0) sequence.id = std::to_string(*number);
    } else if (const auto* text = std::get_if<std::string>(id)) {
      // Apart from numbers.
      if (text->size() > kMaxIdBytes)
        return invalid(fmt::format("sequence_id: more than {} bytes", kMaxIdBytes));
      if (!text->empty()) sequence.id = "'" + *text;
    } else {
      return invalid("parameter sequence_id: expected a number or a text");
    }
  }
  if (!sequence.id.empty()) return std::optional(std::move(sequence));
  if (sequence.is_start || sequence.is_end)
    return invalid("sequence_start and sequence_end need a sequence_id, not 0 and not empty");
  return std::optional<SequenceRequest>();
}

Result<Sequences::SequencePtr> Sequences::Find(OfModel& of_model, const SequenceRequest& request) {
  const ServedModel& model = *of_model.model;
  const auto found = of_model.by_id.find(request.id);
  if (!request.is_start) {
    if (found != of_model.by_id.end()) return found->second;
    return Status(
        StatusCode::kNotFound,
        fmt::format("{} has no sequence {}: it has not begun (sequence_start), has ended, was "
                    "without requests for {} ms, or the model was loaded anew since",
                    model.name(), Printable(request.id),
                    model.config().sequences.time_to_live.count()));
  }
  if (found != of_model.by_id.end()) {
    return Conflict(fmt::format("sequence {} of {} has begun before and has not ended",
                                Printable(request.id), model.name()));
  }
  const SequenceOptions& options = model.config().sequences;
  if (of_model.by_id.size() >= options.max_count || of_model.bytes >= options.max_bytes) {
    return Status(
        StatusCode::kResourceExhausted,
        fmt::format("{} has {} sequences of {} bytes: {} and {} are allowed", model.name(),
                    of_model.by_id.size(), of_model.bytes, options.max_count, options.max_bytes));
  }
  RELAYVM_ASSIGN_OR_RETURN(State state, State::Create(model.executable(), model.function().name));
  auto sequence = std::make_shared<Sequence>(of_model.model, request.id, std::move(state));
  sequence->used = Clock::now();
  of_model.by_id.emplace(request.id, sequence);
  return sequence;
}

Status Sequences::Submit(const std::shared_ptr<const ServedModel>& model,
                         const SequenceRequest& request, Clock::time_point deadline, Run run) {
  if (model->function().states.empty()) {
    return {StatusCode::kInvalidArgument,
            model->name() + " keeps nothing between requests: it takes no sequence_id"};
  }
  SequencePtr sequence;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    Expire(now);
    OfModel& of_model = models_[model.get()];
    if (of_model.model == nullptr) of_model.model = model;
    Result<SequencePtr> found = Find(of_model, request);
    if (!found.ok()) {
      if (of_model.by_id.empty() && of_model.bytes == 0) models_.erase(model.get());
      return found.status();
    }
    sequence = *std::move(found);
    if (sequence->waiting.size() >= kMaxWaiting) {
      return {StatusCode::kResourceExhausted, fmt::format("{} requests of sequence {} are waiting",
                                                          kMaxWaiting, Printable(sequence->id))};
    }
    if (sequence->is_running)
      sequence->waiting.push_back(std::make_shared<Sequence::Turn>(Sequence::Turn{run, deadline}));
    const bool waits = std::exchange(sequence->is_running, true);
    if (request.is_end) {
      sequence->is_ended = true;
      of_model.by_id.erase(sequence->id);
    }
    ticker_.Arm(now, std::min(NextTime(), deadline), weak_from_this());
    if (waits) return OkStatus();
  }
  run(sequence, /*is_first=*/true);
  return OkStatus();
}

Status Sequences::Check(const SequencePtr& sequence) {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(sequence->model.get());
  if (found == models_.end()) return OkStatus();
  const size_t bytes = BytesOf(sequence->state);
  found->second.bytes += bytes - sequence->bytes;
  sequence->bytes = bytes;
  const size_t allowed = sequence->model->config().sequences.max_bytes;
  if (found->second.bytes <= allowed) return OkStatus();
  const size_t all = found->second.bytes;
  sequence->state.Reset();
  found->second.bytes -= std::exchange(sequence->bytes, 0);
  Forget(sequence);
  return {StatusCode::kResourceExhausted,
          fmt::format("sequence {} was ended: the states of all sequences of {} take {} bytes, {} "
                      "are allowed",
                      Printable(sequence->id), sequence->model->name(), all, allowed)};
}

// It is found no more; those that wait still have their turns.
void Sequences::Forget(const SequencePtr& sequence) {
  if (std::exchange(sequence->is_ended, true)) return;
  models_.find(sequence->model.get())->second.by_id.erase(sequence->id);
}

void Sequences::End(const SequencePtr& sequence) {
  std::shared_ptr<Sequence::Turn> next;
  Run run;
  bool is_late = false;
  {
    const std::lock_guard lock(mutex_);
    sequence->used = Clock::now();
    while (!sequence->waiting.empty() && run == nullptr) {
      next = std::move(sequence->waiting.front());
      sequence->waiting.pop_front();
      run = std::move(next->run);
    }
    if (run == nullptr) {
      sequence->is_running = false;
      const auto found = models_.find(sequence->model.get());
      if (sequence->is_ended && found != models_.end()) {
        found->second.bytes -= std::exchange(sequence->bytes, 0);
        if (found->second.by_id.empty() && found->second.bytes == 0) models_.erase(found);
      }
    } else {
      is_late = next->deadline <= sequence->used;
    }
    ticker_.Arm(sequence->used, NextTime(), weak_from_this());
  }
  if (run == nullptr) return;
  if (!is_late) return run(sequence, /*is_first=*/false);
  run(Status(StatusCode::kDeadlineExceeded, "its turn in the sequence has not come in time"),
      false);
  End(sequence);
}

void Sequences::Expire(Clock::time_point now) {
  for (auto of_model = models_.begin(); of_model != models_.end();) {
    const auto time = of_model->second.model->config().sequences.time_to_live;
    std::erase_if(of_model->second.by_id, [&](const auto& entry) {
      Sequence& sequence = *entry.second;
      if (sequence.is_running || sequence.used + time > now) return false;
      of_model->second.bytes -= std::exchange(sequence.bytes, 0);
      return true;
    });
    const bool is_empty = of_model->second.by_id.empty() && of_model->second.bytes == 0;
    of_model = is_empty ? models_.erase(of_model) : std::next(of_model);
  }
}

Sequences::Clock::time_point Sequences::NextTime() const {
  auto next = Clock::time_point::max();
  for (const auto& [model, of_model] : models_) {
    if (!of_model.by_id.empty())
      next = std::min(next, Clock::now() + of_model.model->config().sequences.time_to_live / 4);
  }
  return next;
}

void Sequences::OnTick() {
  std::vector<Run> late;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    ticker_.Fired(now);
    Expire(now);
    auto next = NextTime();
    for (auto& [model, of_model] : models_) {
      for (auto& [id, sequence] : of_model.by_id) {
        for (const auto& turn : sequence->waiting) {
          if (turn->run == nullptr) continue;
          if (turn->deadline <= now) {
            late.push_back(std::exchange(turn->run, nullptr));
          } else {
            next = std::min(next, turn->deadline);
          }
        }
      }
    }
    ticker_.Arm(now, next, weak_from_this());
  }
  for (const Run& run : late) {
    run(Status(StatusCode::kDeadlineExceeded, "its turn in the sequence has not come in time"),
        false);
  }
}

size_t Sequences::count() const {
  const std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [model, of_model] : models_) count += of_model.by_id.size();
  return count;
}

size_t Sequences::bytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& [model, of_model] : models_) bytes += of_model.bytes;
  return bytes;
}

}  // namespace relayvm::serve
