// A scheduler's runs and the queues that they stand in. Internal to scheduler.cc; all under its
// mutex but where it says otherwise.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "vm/schedule/scheduler.h"

namespace relayvm {

struct Scheduler::Handle::Task {
  using TimePoint = std::chrono::steady_clock::time_point;
  using Timers = std::multimap<TimePoint, Task*>;

  // Runs in the order of their coming.
  class Queue {
   public:
    bool empty() const { return first_ == nullptr; }
    const Task& first() const { return *first_; }
    void Push(std::shared_ptr<Task>&& task);
    void PushFirst(std::shared_ptr<Task>&& task);
    std::shared_ptr<Task> Pop() { return Remove(*first_); }
    std::shared_ptr<Task> Remove(Task& task);

   private:
    std::shared_ptr<Task> first_;
    Task* last_ = nullptr;
  };
  using ByPriority = std::array<Queue, kNumPriorities>;

  uint64_t id = 0;
  Priority priority = Priority::kNormal;
  TimePoint deadline;
  TimePoint accepted_at;
  RunReport report;                  // what is known of it
  RunRequest request;                // until it begins
  std::vector<int64_t> output_dims;  // of its buffers
  Completion completion;
  // Its place in a queue, in the list of those that the end cancels, and among the timers. They are
  // made with the run, so that nothing that happens to it later takes memory.
  std::shared_ptr<Task> next_in_queue, next_to_cancel;
  Task* previous_in_queue = nullptr;
  bool is_queued = false;        // has not begun: it is in Impl::queued, or waits for a group
  Timers::node_type timer;       // while it is not set
  Timers::iterator timer_place;  // while it is
  // The first made first, so that runs of several that wait for each other do not wait in a ring.
  // It has a place in `num_places` of them, and waits for the next one.
  std::array<std::shared_ptr<RunGroup::State>, 2> groups;
  size_t num_places = 0;
  // Of its quantum, what is left; whether it counts as ready in the groups where it has a place.
  std::chrono::nanoseconds quantum{0};
  bool is_counted = false;
  // Comes before Impl::mutex where both are held. While it is held the invocation stays; the thread
  // that runs it needs no lock.
  std::mutex mutex;
  Impl* scheduler = nullptr;               // until its end
  std::unique_ptr<Invocation> invocation;  // from its beginning to its end
  std::atomic<bool> is_cancelled{false};
  // Of the thread that has it: what is left of its slice, while a kernel runs it with others.
  std::chrono::nanoseconds slice{0};
};

struct RunGroup::State {
  std::atomic<Scheduler::Impl*> scheduler{nullptr};  // null once it is gone; without the mutex
  uint64_t id = 0;
  RunGroupOptions options;
  RunGroupStats stats;
  size_t num_places = 0;                           // that runs have
  uint64_t num_admitted = 1;                       // so far, of those that waited, and 1
  std::array<size_t, kNumPriorities> num_ready{};  // of these, those that max_ready is of
  Scheduler::Handle::Task::ByPriority waiting;     // for a place
};

}  // namespace relayvm
