#include "tools/python/src/interruptible.h"

#include <list>

namespace relayvm::python {

namespace {

// Never destroyed: threads may work while the process ends.
struct Works {
  std::mutex mutex;
  std::condition_variable changed;
  std::list<std::stop_source> running;
  bool are_ending = false;
};
Works& All() {
  static auto* const all = new Works();
  return *all;
}

}  // namespace

Work::Work(std::stop_source stop) {
  Works& all = All();
  const std::lock_guard lock(all.mutex);
  if (all.are_ending && !IsMainThread()) stop.request_stop();
  at_ = all.running.insert(all.running.end(), std::move(stop));
}

Work::~Work() {
  Works& all = All();
  const std::lock_guard lock(all.mutex);
  all.running.erase(at_);
  all.changed.notify_all();
}

void StopWork() {
  constexpr std::chrono::seconds kMost(10);
  Works& all = All();
  const GilRelease no_gil;  // who has ended takes it
  std::unique_lock lock(all.mutex);
  all.are_ending = true;
  for (std::stop_source& stop : all.running) stop.request_stop();
  all.changed.wait_for(lock, kMost, [&] { return all.running.empty(); });
}

}  // namespace relayvm::python
