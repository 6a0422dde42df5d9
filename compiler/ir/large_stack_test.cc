#include "compiler/ir/large_stack.h"

#include <doctest/doctest.h>
#include <pthread.h>

#include <stdexcept>

namespace relayvm::ir {
namespace {

// Uses at least a KiB of stack a level.
int Sum(int n) {
  volatile char room[1024];
  room[0] = static_cast<char>(n);
  return n == 0 ? 0 : Sum(n - 1) + (room[0] == static_cast<char>(n) ? 1 : 0);
}

TEST_CASE("recursion far beyond a usual stack") {
  CHECK(WithLargeStack([] { return Sum(500'000); }) == 500'000);
}

TEST_CASE("a call within a call stays on the same thread") {
  CHECK(WithLargeStack([] {
    const pthread_t outer = pthread_self();
    return WithLargeStack([&] { return pthread_equal(outer, pthread_self()) != 0; });
  }));
}

TEST_CASE("exceptions come back to the caller") {
  CHECK_THROWS_AS(WithLargeStack([]() -> int { throw std::runtime_error("x"); }),
                  std::runtime_error);
}

}  // namespace
}  // namespace relayvm::ir
