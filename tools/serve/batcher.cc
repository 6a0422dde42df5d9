#include "tools/serve/batcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "bytecode/base/guarded.h"
#include "tools/serve/batch_rows.h"

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;

// One group in so many begins with the request that has waited longest, whatever its priority.
constexpr uint64_t kOldestInTurn = 8;

int64_t Nanoseconds(Clock::duration time) { return std::chrono::nanoseconds(time).count(); }

}  // namespace

struct Batcher::Member {
  Launch request;
  int64_t rows = 0;
  Clock::time_point arrived;
  Done done;                   // none: it has been answered
  std::weak_ptr<Group> group;  // that runs it
};

// Requests that run together.
struct Batcher::Group {
  std::vector<MemberPtr> members;
  int64_t rows = 0;
  Clock::time_point begun;
  Scheduler::Handle run;
  bool is_launched = false;

  // One that has left, or is late, may be what the run takes long for.
  bool HasLeavers() const {
    return std::ranges::any_of(members, [](const MemberPtr& m) { return m->done == nullptr; });
  }
  bool IsBounded() const {
    return std::ranges::all_of(members, [](const MemberPtr& m) {
      return m->request.deadline != Clock::time_point::max();
    });
  }
};

struct Batcher::Queue {
  std::shared_ptr<const ServedModel> model;
  std::deque<MemberPtr> waiting;  // by age
  std::vector<GroupPtr> running;
  uint64_t turn = 0;
};

void Batcher::Handle::Cancel() const {
  const auto batcher = batcher_.lock();
  const auto member = member_.lock();
  if (batcher != nullptr && member != nullptr) batcher->Cancel(member);
}

Batcher::Batcher(const Options& options, Launcher launch, WorkerPool& pool, Runtime& runtime)
    : options_(options), launch_(std::move(launch)), runtime_(runtime), ticker_(pool) {}

Status Batcher::Submit(Launch request, int64_t rows, Done done, Handle* handle) {
  auto member = std::make_shared<Member>();
  member->request = std::move(request);
  member->rows = rows;
  member->done = std::move(done);
  member->arrived = Clock::now();
  handle->batcher_ = weak_from_this();
  handle->member_ = member;
  const std::shared_ptr<const ServedModel>& model = member->request.model;
  std::vector<GroupPtr> groups;
  {
    const std::lock_guard lock(mutex_);
    if (draining_ || stopped_) return {StatusCode::kFailedPrecondition, "no more runs are taken"};
    std::shared_ptr<Queue>& queue = queues_[model.get()];
    if (queue == nullptr) queue = std::make_shared<Queue>(Queue{model, {}, {}, 0});
    if (queue->waiting.size() >= options_.max_waiting) {
      return {StatusCode::kResourceExhausted,
              fmt::format("{} requests of {} are waiting", queue->waiting.size(), model->name())};
    }
    const auto now = member->arrived, due = now + model->max_delay();
    ticker_.Arm(now, std::min(member->request.deadline, due > now ? due : Clock::time_point::max()),
                weak_from_this());
    queue->waiting.push_back(std::move(member));
    groups = TakeReady(*queue, now);
  }
  for (const GroupPtr& group : groups) Start(group);
  return OkStatus();
}

std::vector<Batcher::GroupPtr> Batcher::TakeReady(Queue& queue, Clock::time_point now) {
  std::vector<GroupPtr> groups;
  while (!stopped_ && !queue.waiting.empty() && queue.running.size() < options_.max_running) {
    const bool is_due =
        draining_ || queue.waiting.front()->arrived + queue.model->max_delay() <= now;
    bool is_full = false;
    GroupPtr group = TakeGroup(queue, &is_full);
    if (!is_due && !is_full) break;
    ++queue.turn;
    for (const MemberPtr& member : group->members) {
      member->group = group;
      std::erase(queue.waiting, member);
    }
    group->begun = now;
    queue.running.push_back(group);
    groups.push_back(std::move(group));
  }
  return groups;
}

// The requests that would go next, which stay in the queue; `is_full`: others wait that would fit
// but for their number, or there can be no more.
Batcher::GroupPtr Batcher::TakeGroup(Queue& queue, bool* is_full) {
  MemberPtr leader = queue.waiting.front();
  if (queue.turn % kOldestInTurn != kOldestInTurn - 1) {
    for (const MemberPtr& member : queue.waiting) {
      if (member->request.priority < leader->request.priority) leader = member;
    }
  }
  auto group = std::make_shared<Group>();
  group->members.push_back(leader);
  group->rows = leader->rows;
  const int64_t max_rows = queue.model->max_batch();
  for (const MemberPtr& member : queue.waiting) {
    if (group->rows >= max_rows) break;
    if (member == leader || !AreJoinable(leader->request.inputs, member->request.inputs)) continue;
    if (group->rows + member->rows > max_rows) {
      *is_full = true;
      continue;
    }
    group->members.push_back(member);
    group->rows += member->rows;
  }
  *is_full = *is_full || group->rows >= max_rows;
  return group;
}

void Batcher::Start(const GroupPtr& group) {
  Launch launch = group->members[0]->request;
  const auto done = [self = shared_from_this(), group](Result<Value> result,
                                                       const RunTimes& times) {
    self->OnEnd(group, std::move(result), times, /*is_final=*/false);
  };
  if (group->members.size() > 1) {
    launch.may_run_here = false;
    std::vector<std::span<const Value>> parts;
    for (const MemberPtr& member : group->members) {
      parts.emplace_back(member->request.inputs);
      launch.deadline = std::max(launch.deadline, member->request.deadline);
      launch.priority = std::min(launch.priority, member->request.priority);
    }
    auto joined = Guarded([&] { return JoinRows(parts, runtime_); });
    if (!joined.ok()) return OnEnd(group, joined.status(), {}, false);
    launch.inputs = *std::move(joined);
  }
  Scheduler::Handle handle;
  const Status refused = launch_(std::move(launch), done, &handle);
  if (!refused.ok()) return OnEnd(group, refused, {}, /*is_final=*/true);
  bool has_leavers = false;
  {
    const std::lock_guard lock(mutex_);
    group->run = handle;
    group->is_launched = true;
    has_leavers = group->HasLeavers();
  }
  if (has_leavers) handle.Cancel();
}

std::vector<Result<Value>> Batcher::Split(const Group& group, const Result<Value>& result) const {
  std::vector<Result<Value>> parts;
  if (group.members.size() == 1) return {result};
  if (!result.ok()) return std::vector<Result<Value>>(group.members.size(), result);
  int64_t first = 0;
  for (const MemberPtr& member : group.members) {
    parts.push_back(
        Guarded([&] { return SliceRows(*result, first, member->rows, group.rows, runtime_); }));
    first += member->rows;
  }
  return parts;
}

void Batcher::OnEnd(const GroupPtr& group, Result<Value> result, const RunTimes& times,
                    bool is_final) {
  std::vector<Result<Value>> parts = Split(*group, result);
  const size_t size = group->members.size();
  if (result.ok()) {
    ModelMetrics& metrics = group->members[0]->request.model->metrics();
    metrics.CountBatch(size);
    metrics.AddBatchTime(size, times.ran_ns);
  }
  std::vector<Answer> answers;
  std::vector<GroupPtr> groups;
  {
    const std::lock_guard lock(mutex_);
    const auto found = queues_.find(group->members[0]->request.model.get());
    Queue& queue = *found->second;
    std::erase(queue.running, group);
    const auto now = Clock::now();
    for (size_t i = 0; i < size; ++i) {
      const MemberPtr& member = group->members[i];
      if (member->done == nullptr) continue;
      const bool is_alone = size == 1 || is_final || stopped_;
      if (!parts[i].ok() && !is_alone) {
        auto single = std::make_shared<Group>();
        single->members.push_back(member);
        single->rows = member->rows;
        single->begun = now;
        member->group = single;
        queue.running.push_back(single);
        groups.push_back(std::move(single));
        continue;
      }
      RunTimes mine{times.queued_ns + Nanoseconds(group->begun - member->arrived), times.ran_ns,
                    size};
      answers.push_back({std::exchange(member->done, nullptr), std::move(parts[i]), mine});
    }
    std::vector<GroupPtr> ready = TakeReady(queue, now);
    groups.insert(groups.end(), ready.begin(), ready.end());
    Forget(found->first);
  }
  for (const GroupPtr& next : groups) Start(next);
  Give(std::move(answers));
}

void Batcher::Forget(const ServedModel* model) {
  const auto found = queues_.find(model);
  if (found->second->waiting.empty() && found->second->running.empty()) queues_.erase(found);
  if (queues_.empty()) idle_.notify_all();
}

void Batcher::Give(std::vector<Answer> answers) {
  for (Answer& answer : answers) answer.done(std::move(answer.result), answer.times);
}

void Batcher::Cancel(const MemberPtr& member) {
  std::vector<Answer> answers;
  Scheduler::Handle run;
  {
    const std::lock_guard lock(mutex_);
    if (member->done == nullptr) return;
    answers.push_back({std::exchange(member->done, nullptr),
                       Status(StatusCode::kCancelled, "the request was cancelled"),
                       {}});
    if (const GroupPtr group = member->group.lock(); group != nullptr) {
      if (group->is_launched) run = group->run;
    } else if (const auto found = queues_.find(member->request.model.get());
               found != queues_.end()) {
      std::erase(found->second->waiting, member);
      Forget(found->first);
    }
  }
  run.Cancel();
  Give(std::move(answers));
}

void Batcher::TakeLate(Clock::time_point now, std::vector<Answer>* answers,
                       std::vector<Scheduler::Handle>* runs) {
  const auto take = [&](const MemberPtr& member) {
    if (member->done == nullptr || member->request.deadline > now) return;
    const int64_t waited = Nanoseconds(now - member->arrived);
    answers->push_back(
        {std::exchange(member->done, nullptr),
         Status(StatusCode::kDeadlineExceeded, fmt::format("not run in {} us", waited / 1000)),
         {waited, 0, 1}});
  };
  for (auto& [model, queue] : queues_) {
    std::ranges::for_each(queue->waiting, take);
    std::erase_if(queue->waiting, [](const MemberPtr& m) { return m->done == nullptr; });
    for (const GroupPtr& group : queue->running) {
      // A request that runs alone ends as its run does, with the same deadline.
      if (group->members.size() == 1) continue;
      std::ranges::for_each(group->members, take);
      if (group->is_launched && group->HasLeavers() && !group->IsBounded())
        runs->push_back(group->run);
    }
  }
}

Clock::time_point Batcher::NextTime(Clock::time_point now) const {
  auto next = Clock::time_point::max();
  for (const auto& [model, queue] : queues_) {
    for (const MemberPtr& member : queue->waiting) {
      const auto due = member->arrived + queue->model->max_delay();
      next = std::min(next, member->request.deadline);
      if (due > now) next = std::min(next, due);
    }
    for (const GroupPtr& group : queue->running) {
      if (group->members.size() == 1) continue;
      for (const MemberPtr& member : group->members) {
        if (member->done != nullptr && member->request.deadline > now)
          next = std::min(next, member->request.deadline);
      }
    }
  }
  return next;
}

void Batcher::OnTick() {
  std::vector<Answer> answers;
  std::vector<GroupPtr> groups;
  std::vector<Scheduler::Handle> runs;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    ticker_.Fired(now);
    TakeLate(now, &answers, &runs);
    std::vector<const ServedModel*> idle;
    for (auto& [model, queue] : queues_) {
      std::vector<GroupPtr> ready = TakeReady(*queue, now);
      groups.insert(groups.end(), ready.begin(), ready.end());
      idle.push_back(model);
    }
    for (const ServedModel* model : idle) Forget(model);
    if (!stopped_) ticker_.Arm(now, NextTime(now), weak_from_this());
  }
  for (const Scheduler::Handle& run : runs) run.Cancel();
  for (const GroupPtr& group : groups) Start(group);
  Give(std::move(answers));
}

size_t Batcher::num_waiting(const ServedModel& model) const {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(&model);
  return found == queues_.end() ? 0 : found->second->waiting.size();
}

Status Batcher::Drain(Clock::time_point deadline) {
  std::vector<GroupPtr> groups;
  std::unique_lock lock(mutex_);
  draining_ = true;
  for (auto& [model, queue] : queues_) {
    std::vector<GroupPtr> ready = TakeReady(*queue, Clock::now());
    groups.insert(groups.end(), ready.begin(), ready.end());
  }
  lock.unlock();
  for (const GroupPtr& group : groups) Start(group);
  lock.lock();
  const auto is_idle = [this] { return queues_.empty(); };
  if (deadline == Clock::time_point::max()) {
    idle_.wait(lock, is_idle);
    return OkStatus();
  }
  if (idle_.wait_until(lock, deadline, is_idle)) return OkStatus();
  return {StatusCode::kDeadlineExceeded, "requests are not answered yet"};
}

void Batcher::Stop() {
  std::vector<Answer> answers;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (auto& [model, queue] : queues_) {
      for (const MemberPtr& member : queue->waiting) {
        if (member->done == nullptr) continue;
        answers.push_back({std::exchange(member->done, nullptr),
                           Status(StatusCode::kCancelled, "the server ends"),
                           {}});
      }
      queue->waiting.clear();
    }
    std::erase_if(queues_, [](const auto& entry) { return entry.second->running.empty(); });
  }
  Give(std::move(answers));
}

}  // namespace relayvm::serve
