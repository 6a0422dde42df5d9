#include "vm/engines/dnnl/threads.h"

#include <dlfcn.h>

#include <algorithm>
#include <climits>

namespace relayvm::onednn {
namespace {

struct OpenMp {
  void (*set_num_threads)(int) = nullptr;
  int (*max_threads)() = nullptr;
  int (*thread_num)() = nullptr;
  int (*num_threads)() = nullptr;
  int (*thread_limit)() = nullptr;
  int (*dynamic)() = nullptr;
  int (*in_parallel)() = nullptr;
  void (*parallel)(void (*)(void*), void*, unsigned, unsigned) = nullptr;  // of GCC's
};
OpenMp open_mp;

template <typename Function>
void Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

void FindOpenMp(void* library) {
  Find(library, "omp_set_num_threads", &open_mp.set_num_threads);
  Find(library, "omp_get_max_threads", &open_mp.max_threads);
  Find(library, "omp_get_thread_num", &open_mp.thread_num);
  Find(library, "omp_get_num_threads", &open_mp.num_threads);
  Find(library, "omp_get_thread_limit", &open_mp.thread_limit);
  Find(library, "omp_get_dynamic", &open_mp.dynamic);
  Find(library, "omp_in_parallel", &open_mp.in_parallel);
  Find(library, "GOMP_parallel", &open_mp.parallel);
}

ThreadLimit::ThreadLimit(int threads) : threads_(threads) {
  if (open_mp.max_threads == nullptr || open_mp.set_num_threads == nullptr) return;
  former_ = open_mp.max_threads();
  if (former_ != threads_) open_mp.set_num_threads(threads_);
}
ThreadLimit::~ThreadLimit() {
  if (former_ != 0 && former_ != threads_) open_mp.set_num_threads(former_);
}
int GivenThreads(int wanted) {
  const OpenMp& mp = open_mp;
  const bool is_limited = mp.thread_limit != nullptr && mp.thread_limit() != INT_MAX;
  const bool is_nested = mp.in_parallel != nullptr && mp.in_parallel() != 0;
  const bool is_dynamic = mp.dynamic != nullptr && mp.dynamic() != 0;
  return is_limited || is_dynamic || is_nested ? 1 : wanted;
}
int MaxThreads() { return open_mp.max_threads == nullptr ? 1 : std::max(open_mp.max_threads(), 1); }

void ForEachPart(int64_t count, int64_t size, const std::function<void(int64_t, int64_t)>& f) {
  struct Parts {
    int64_t count;
    const std::function<void(int64_t, int64_t)>* f;
  };
  constexpr int64_t kWorth = 16384;  // elements of a thread
  const bool has_threads = open_mp.parallel != nullptr && open_mp.thread_num != nullptr &&
                           open_mp.num_threads != nullptr;
  const int64_t threads =
      has_threads ? std::min<int64_t>(MaxThreads(), count * std::max<int64_t>(size, 1) / kWorth)
                  : 1;
  if (threads <= 1) {
    f(0, count);
    return;
  }
  Parts parts{count, &f};
  open_mp.parallel(
      [](void* data) {
        const Parts& p = *static_cast<const Parts*>(data);
        const int64_t n = open_mp.num_threads(), at = open_mp.thread_num();
        (*p.f)(p.count* at / n, p.count * (at + 1) / n);
      },
      &parts, static_cast<unsigned>(threads), 0);
}

}  // namespace relayvm::onednn
