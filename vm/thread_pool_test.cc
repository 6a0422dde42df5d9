#include "vm/thread_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
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

TEST_CASE("thread pool: as many tasks for each thread, none below the grain") {
  for (uint32_t threads = 1; threads < 20; ++threads) {
    for (int64_t units : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{100},
                          int64_t{UINT32_MAX}, INT64_MAX}) {
      for (int64_t grain :
           {INT64_MIN, int64_t{0}, int64_t{1}, int64_t{3}, int64_t{40}, INT64_MAX}) {
        CAPTURE(threads);
        CAPTURE(units);
        CAPTURE(grain);
        const int64_t tasks = CountTasks(units, grain, threads);
        const int64_t effective = std::max<int64_t>(grain, 1);
        CHECK(tasks >= 1);
        CHECK(tasks <= 4 * threads);
        CHECK((tasks < threads || tasks % threads == 0));
        // All but the last of that many grains have work of their own.
        CHECK((tasks == 1 || (tasks - 1) <= (units - 1) / effective));
        // Whatever could be begun for each thread is.
        CHECK((threads == 1 || units < 1 ||
               tasks >= std::min<int64_t>(threads, (units - 1) / effective + 1)));
      }
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
