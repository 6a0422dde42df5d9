// Ticker: has a pool call its owner's OnTick when something is due there, and no later than a
// second from now, so that times that are far away take no place in the pool. The owner's lock is
// held for all calls. Tested by batcher_test.cc and sequences_test.cc.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "bytecode/base/guarded.h"
#include "tools/serve/worker_pool.h"

namespace relayvm::serve {

class Ticker {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  // `pool` lives as long as the owner.
  explicit Ticker(WorkerPool& pool) : pool_(pool) {}

  // max(): nothing is due. Owner::OnTick calls Fired, and Arm with what is due next.
  template <typename Owner>
  void Arm(TimePoint now, TimePoint time, std::weak_ptr<Owner> owner) {
    if (time == TimePoint::max()) return;
    time = std::min(time, now + std::chrono::seconds(1));
    if (!ticks_.empty() && *ticks_.begin() <= time) return;
    auto context = std::make_unique<std::weak_ptr<Owner>>(std::move(owner));
    const auto at = ticks_.insert(time).first;
    const Status failed = Guarded([&]() -> Status {
      pool_.PostAt(time, &Fire<Owner>, context.get());
      return OkStatus();
    });
    if (failed.ok()) {
      static_cast<void>(context.release());
    } else {
      ticks_.erase(at);
    }
  }
  void Fired(TimePoint now) { ticks_.erase(ticks_.begin(), ticks_.upper_bound(now)); }

 private:
  template <typename Owner>
  static void Fire(void* context) {
    const std::unique_ptr<std::weak_ptr<Owner>> owner(static_cast<std::weak_ptr<Owner>*>(context));
    if (const auto alive = owner->lock(); alive != nullptr) alive->OnTick();
  }

  WorkerPool& pool_;
  std::set<TimePoint> ticks_;  // to come
};

}  // namespace relayvm::serve
