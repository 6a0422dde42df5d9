// WithLargeStack(f): runs f() on a thread of its own whose stack is large, and gives its result.
//
// Passes recurse with the nesting of blocks, functions and types in the source: parser, inference,
// transforms, lowering, printer, reference interpreter. The parser bounds that nesting
// (frontend/parser.h, ir/to_anf.h); this gives them room for the bound, wherever the caller's
// own stack stands. A call inside f runs at once, on the same stack. The stack is address space:
// only what is used takes memory. Tested by large_stack_test.cc.
#pragma once

#include <functional>
#include <optional>
#include <utility>

namespace relayvm::ir {

// Room for 10,000 nested blocks at 100 KiB each: several times what the hungriest pass needs, also
// when it is built for debugging or with sanitizers.
inline constexpr size_t kLargeStackBytes = size_t{1} << 30;

// Where the address space is bounded (ulimit -v), the largest half, quarter ... of it that there
// is.
void RunOnLargeStack(const std::function<void()>& run);

template <typename F>
auto WithLargeStack(F&& f) -> decltype(f()) {
  std::optional<decltype(f())> result;
  RunOnLargeStack([&] { result.emplace(std::forward<F>(f)()); });
  return *std::move(result);
}

}  // namespace relayvm::ir
