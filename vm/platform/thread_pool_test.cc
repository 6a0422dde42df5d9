#include "vm/platform/thread_pool.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
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
        CHECK(tasks <= 6 * threads);
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

TEST_CASE("thread pool: a thread's tasks are halves of what is left of its share") {
  const auto first_units = [](int64_t units, int64_t grain, uint32_t threads) {
    std::vector<uint32_t> firsts;
    const uint32_t tasks = CountTasks(units, grain, threads);
    for (uint32_t i = 0; i <= tasks; ++i) firsts.push_back(FirstUnit(units, i, tasks, threads));
    return firsts;
  };
  using Firsts = std::vector<uint32_t>;
  CHECK(first_units(7, 1, 1) == Firsts{0, 7});
  CHECK(first_units(3, 1, 2) == Firsts{0, 1, 3});
  CHECK(first_units(2, 1, 3) == Firsts{0, 1, 2});
  CHECK(first_units(8, 1, 2) == Firsts{0, 2, 3, 4, 6, 7, 8});
  CHECK(first_units(8, 4, 2) == Firsts{0, 4, 8});
  CHECK(first_units(64, 1, 2) == Firsts{0, 16, 24, 28, 30, 31, 32, 48, 56, 60, 62, 63, 64});
  for (uint32_t threads : {1U, 2U, 3U, 17U, 1024U}) {
    for (int64_t units : {int64_t{1}, int64_t{5}, int64_t{1000}, int64_t{UINT32_MAX}}) {
      for (int64_t grain : {1, 3, 700}) {
        CAPTURE(threads);
        CAPTURE(units);
        CAPTURE(grain);
        const Firsts firsts = first_units(units, grain, threads);
        CHECK(firsts.front() == 0);
        CHECK(firsts.back() == units);
        CHECK(std::adjacent_find(firsts.begin(), firsts.end(), std::greater_equal<>()) ==
              firsts.end());
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

// Workers that look, that have gone to sleep, and that have no core: tasks that they have not begun
// are taken back; tasks that take longer than anybody looks have callers asleep.
TEST_CASE(
    "thread pool: tasks of any length, after pauses of any length, on more threads than cores") {
  struct Context {
    Counts counts;
    std::chrono::microseconds length;
  };
  const auto task = [](void* context, uint32_t index, uint32_t worker) {
    auto& c = *static_cast<Context*>(context);
    Counts::Run(&c.counts, index, worker);
    const auto end = std::chrono::steady_clock::now() + c.length;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  for (uint32_t threads : {2u, 3u, 8u, 20u}) {
    ThreadPool pool(threads);
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int t = 0; t < 2; ++t) {
      callers.emplace_back([&] {
        for (const int pause_us : {0, 20, 100, 1000}) {
          for (const int length_us : {0, 1, 10, 200}) {
            for (const uint32_t n : {2u, 3u, 8u, 40u}) {
              std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
              Context context{Counts(n), std::chrono::microseconds(length_us)};
              pool.Run(n, task, &context);
              if (!context.counts.EachOnce() || context.counts.highest_worker >= threads) ++wrong;
            }
          }
        }
      });
    }
    for (std::thread& t : callers) t.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("thread pool: no two tasks of a call on one worker at once") {
  struct Context {
    std::vector<std::atomic<int>> inside = std::vector<std::atomic<int>>(4);
    std::atomic<int> wrong{0};
  };
  ThreadPool pool(4);
  Context context;
  for (int i = 0; i < 2000; ++i) {
    pool.Run(
        2 + static_cast<uint32_t>(i % 15),
        [](void* c, uint32_t /*index*/, uint32_t worker) {
          auto& all = *static_cast<Context*>(c);
          if (++all.inside[worker] != 1) ++all.wrong;
          --all.inside[worker];
        },
        &context);
  }
  CHECK(context.wrong == 0);
}

}  // namespace
}  // namespace relayvm::vm
