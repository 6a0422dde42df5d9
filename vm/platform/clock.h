// The steady clock, in nanoseconds: what deadlines, time slices and traces are told by.
// Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace relayvm::vm {

inline int64_t NowNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// When a run that starts `now` has to end; INT64_MAX: never, which a timeout of 0 stands for.
inline int64_t DeadlineOf(int64_t now, std::chrono::nanoseconds timeout) {
  const int64_t ns = timeout.count();
  return ns <= 0 || ns > INT64_MAX - now ? INT64_MAX : now + ns;
}

// Of the steady clock. INT64_MAX is time_point::max(): never.
inline int64_t ToNanoseconds(std::chrono::steady_clock::time_point time) {
  return time.time_since_epoch().count();
}
inline std::chrono::steady_clock::time_point ToTimePoint(int64_t nanoseconds) {
  static_assert(std::is_same_v<std::chrono::steady_clock::duration, std::chrono::nanoseconds>);
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(nanoseconds));
}

}  // namespace relayvm::vm
