// The threads of OpenMP, which oneDNN has where Debian builds it: found in the library that is
// opened. Where there are none, all is done by the thread that calls. Tested by dnnl_test.cc.
#pragma once

#include <cstdint>
#include <functional>

namespace relayvm::onednn {

// In what this handle of dlopen has brought. REQUIRED once before all others, on one thread.
void FindOpenMp(void* library);

// The most threads that the library takes on this thread. Restores the former number at its end.
class ThreadLimit {
 public:
  explicit ThreadLimit(int threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  int former_ = 0, threads_;
};
int MaxThreads();
// So many of `wanted` as OpenMP is sure to give this thread: 1 within a parallel region of the
// caller, with OMP_THREAD_LIMIT and with OMP_DYNAMIC. Primitives that were made for more than they
// are given leave a part of their result out.
int GivenThreads(int wanted);

// Calls f(begin, end) for parts of 0 .. count-1, on the threads that there are where count * size
// elements are worth it.
void ForEachPart(int64_t count, int64_t size, const std::function<void(int64_t, int64_t)>& f);

}  // namespace relayvm::onednn
