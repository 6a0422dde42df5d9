#include "compiler/ir/stop_scope.h"

#include <doctest/doctest.h>

#include "compiler/ir/large_stack.h"

namespace relayvm::ir {
namespace {

TEST_CASE("polls end what runs in a scope that is asked to stop") {
  PollStop();  // outside of scopes
  std::stop_source source;
  int polls = 0;
  const auto work = [&] {
    for (;;) {
      PollStop();
      if (++polls == 3) source.request_stop();
    }
    return OkStatus();
  };
  CHECK(Stoppable(source.get_token(), work).code() == StatusCode::kCancelled);
  CHECK(polls == 3);
  PollStop();  // the scope is closed
}

TEST_CASE("a scope reaches to the large stack, and an inner one hides it") {
  std::stop_source source;
  source.request_stop();
  const auto on_large_stack = [] {
    return WithLargeStack([] {
      PollStop();
      return OkStatus();
    });
  };
  CHECK(Stoppable(source.get_token(), on_large_stack).code() == StatusCode::kCancelled);
  CHECK(Stoppable(source.get_token(), [&] { return Stoppable({}, on_large_stack); }).ok());
}

}  // namespace
}  // namespace relayvm::ir
