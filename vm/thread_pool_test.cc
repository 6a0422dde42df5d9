#include "vm/thread_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace relayvm::vm {
namespace {

struct Counts {
  std::vector<std::atomic<int>> tasks;
  std::atomic<uint32_t> highest_worker{0};
  explicit Counts(size_t n) : tasks(n) {}
  static void Run(void* context, uint32_t index, uint32_t worker) {
    auto& counts = *static_cast<Counts*>(context);
    ++counts.tasks[index];
    uint32_t seen = counts.highest_worker;
    while (worker > seen && !counts.highest_worker.compare_exchange_weak(seen, worker)) {
    }
  }
  bool EachOnce() const {
    for (const auto& n : tasks) {
      if (n != 1) return false;
    }
    return true;
  }
};

TEST_CASE("thread pool: every task once, on workers in range") {
  for (uint32_t threads : {1u, 2u, 4u}) {
    ThreadPool pool(threads);
    CHECK(pool.num_threads() == threads);
    for (uint32_t n : {0u, 1u, 2u, 3u, 100u, 1000u}) {
      Counts counts(n);
      pool.Run(n, Counts::Run, &counts);
      CHECK(counts.EachOnce());
      CHECK(counts.highest_worker < threads);
    }
  }
}

TEST_CASE("thread pool: calls from several threads, again and again") {
  ThreadPool pool(3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (uint32_t i = 0; i < 200; ++i) {
        Counts counts(i % 17);
        pool.Run(i % 17, Counts::Run, &counts);
        if (!counts.EachOnce()) ++wrong;
      }
    });
  }
  for (std::thread& t : callers) t.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace relayvm::vm
