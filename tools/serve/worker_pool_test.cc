#include "tools/serve/worker_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <future>

namespace relayvm::serve {
namespace {

using Clock = std::chrono::steady_clock;

void SetThread(void* context) {
  static_cast<std::promise<std::thread::id>*>(context)->set_value(std::this_thread::get_id());
}

TEST_CASE("jobs run on the pool's threads, all before it ends") {
  std::atomic<int> count{0};
  {
    WorkerPool pool(2);
    for (int i = 0; i < 1000; ++i)
      pool.Post([](void* context) { ++*static_cast<std::atomic<int>*>(context); }, &count);
    pool.PostAt(
        Clock::now() + std::chrono::hours(1),
        [](void* context) { ++*static_cast<std::atomic<int>*>(context); }, &count);
  }
  CHECK(count == 1001);
}

TEST_CASE("a scope's thread runs the first job itself") {
  WorkerPool pool(1);
  std::promise<std::thread::id> first, second, third;
  {
    WorkerPool::InlineScope scope;
    pool.Post(SetThread, &first);
    pool.Post(SetThread, &second);
  }
  pool.Post(SetThread, &third);
  CHECK(first.get_future().get() == std::this_thread::get_id());
  CHECK(second.get_future().get() != std::this_thread::get_id());
  CHECK(third.get_future().get() != std::this_thread::get_id());
}

TEST_CASE("what is due later runs then, the earliest first") {
  WorkerPool pool(1);
  std::promise<std::thread::id> late, soon;
  const auto begin = Clock::now();
  pool.PostAt(begin + std::chrono::milliseconds(60), SetThread, &late);
  pool.PostAt(begin + std::chrono::milliseconds(20), SetThread, &soon);
  soon.get_future().wait();
  CHECK(Clock::now() - begin >= std::chrono::milliseconds(20));
  late.get_future().wait();
  CHECK(Clock::now() - begin >= std::chrono::milliseconds(60));
}

}  // namespace
}  // namespace relayvm::serve
