// WaitState: no wake is lost, none is counted for another call, each wait ends once.
#include "vm/schedule/wait_state.h"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "vm/run/interpreter.h"

namespace relayvm::vm {
namespace {

constexpr int64_t kNever = INT64_MAX;

TEST_CASE("wait state: a wake that comes first is not lost, and several count as one") {
  WaitState state;
  std::atomic<uint32_t> stop{0};
  state.Wake(1);
  state.Wake(1);
  CHECK(!state.Enter(1, kNever, stop));  // need not wait
  CHECK(state.Enter(1, kNever, stop));
  CHECK(state.waiting());
  CHECK(!state.Leave(0));
  state.Wake(1);
  CHECK(!state.waiting());
  CHECK(state.Leave(0));
  CHECK(!state.TakeWake(1));
  state.Wake(1);
  CHECK(state.TakeWake(1));
  CHECK(!state.TakeWake(1));
}

TEST_CASE("wait state: a wake of a call that has ended does nothing, also to a later wake") {
  WaitState state;
  std::atomic<uint32_t> stop{0};
  state.Wake(1);
  CHECK(!state.TakeWake(2));
  CHECK(state.Enter(2, kNever, stop));
  state.Wake(1);
  CHECK(state.waiting());
  state.Wake(2);
  CHECK(!state.waiting());
  state.Wake(3);
  state.Wake(1);
  CHECK(state.TakeWake(3));
}

TEST_CASE("wait state: stopping, expiry and wakes end a wait once, and say so") {
  WaitState state;
  std::atomic<uint32_t> stop{0};
  int ready = 0;
  state.SetOnReady([&] { ++ready; });
  state.Stop();
  CHECK(ready == 0);
  CHECK(state.Enter(1, kNever, stop));
  stop = 1;
  state.Stop();
  state.Stop();
  state.Wake(1);
  CHECK(ready == 1);
  CHECK(!state.Enter(2, kNever, stop));  // stopped: need not wait
  stop = 0;
  CHECK(state.Enter(3, 100, stop));
  CHECK(state.time() == 100);
  CHECK(!state.Expire(99));
  CHECK(state.Expire(100));
  CHECK(!state.Expire(101));
  CHECK(ready == 2);
  CHECK(state.time() == kNever);
  CHECK(state.Enter(4, 100, stop));
  CHECK(state.Leave(100));  // whoever runs it needs no word
  CHECK(ready == 2);
  CHECK(state.Enter(5, kNever, stop));
  state.Close();
  CHECK(!state.waiting());
  CHECK(state.Enter(6, kNever, stop));
  state.Wake(6);
  CHECK(ready == 2);
}

TEST_CASE("wait state: on_ready may end what it belongs to") {
  auto state = std::make_shared<WaitState>();
  std::atomic<uint32_t> stop{0};
  bool called = false;
  state->SetOnReady([&] {
    called = true;
    state->SetOnReady(nullptr);
    state->Close();
  });
  CHECK(state->Enter(1, kNever, stop));
  state->Wake(1);
  CHECK(called);
}

TEST_CASE("wait state: threads hand a run to and fro") {
  constexpr uint64_t kTurns = 20'000;
  WaitState state;
  std::atomic<uint32_t> stop{0};
  std::atomic<uint64_t> call{0};
  std::thread waker([&] {
    for (uint64_t last = 0; last < kTurns;) {
      const uint64_t now = call.load();
      if (now == last) {
        std::this_thread::yield();
        continue;
      }
      last = now;
      state.Wake(now);
      state.Wake(now);
    }
  });
  for (uint64_t turn = 1; turn <= kTurns; ++turn) {
    call = turn;
    while (state.Enter(turn, kNever, stop)) {
      state.Block();
      if (state.Leave(0)) break;
    }
  }
  waker.join();
  CHECK(!state.waiting());
  // Sleeps until its time, though nobody comes.
  const int64_t time = NowNanoseconds() + 2'000'000;
  CHECK(state.Enter(kTurns + 1, time, stop));
  state.Block();
  CHECK(NowNanoseconds() >= time);
}

}  // namespace
}  // namespace relayvm::vm
