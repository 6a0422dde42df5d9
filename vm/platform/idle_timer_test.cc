#include "vm/platform/idle_timer.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "vm/platform/clock.h"

namespace relayvm::vm {
namespace {

using std::chrono::milliseconds;

template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(milliseconds(1));
  return condition();
}

struct Looks {
  std::atomic<int> count{0};
  std::atomic<int> more{0};  // looks that are wanted after the next one
  static int64_t Look(void* self, int64_t now) {
    auto* looks = static_cast<Looks*>(self);
    ++looks->count;
    return looks->more-- > 0 ? now + 2'000'000 : INT64_MAX;
  }
};

TEST_CASE("idle timer: looks as often as it is told, and is gone then") {
  Looks looks;
  IdleTimer timer(&Looks::Look, &looks);
  CHECK(!timer.running());
  for (int round = 1; round <= 3; ++round) {
    looks.more = 4;
    timer.Wake();
    CHECK(Eventually([&] { return looks.count == 5 * round && !timer.running(); }));
  }
  timer.Stop();
  timer.Wake();
  CHECK(!timer.running());
  CHECK(looks.count == 15);
}

TEST_CASE("idle timer: no wake is lost, and it ends while it waits") {
  Looks looks;
  IdleTimer timer(&Looks::Look, &looks);
  for (int i = 0; i < 3000; ++i) {
    const int before = looks.count;
    timer.Wake();
    CHECK(Eventually([&] { return looks.count > before; }));
  }
  struct Never {
    static int64_t Look(void*, int64_t now) { return now + 3'600'000'000'000; }
  };
  IdleTimer waits(&Never::Look, nullptr);
  waits.Wake();
  CHECK(waits.running());
}

TEST_CASE("idle timer: many wake it at once") {
  Looks looks;
  {
    IdleTimer timer(&Looks::Look, &looks);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) timer.Wake();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(Eventually([&] { return !timer.running(); }));
  }
  CHECK(looks.count > 0);
}

}  // namespace
}  // namespace relayvm::vm
