// What every tool's main does around its work: nothing ends in a signal, and output that could not
// be written is an error (exit status 2), as for any other file. Tested by tools_test.cc.
#pragma once

#include <cstdio>
#include <exception>
#include <new>

namespace relayvm::tools {

// `body` gives the exit status.
template <typename Body>
int GuardedMain(const char* tool, const Body& body) {
  constexpr int kBadInput = 2;
  try {
    int status = body();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    std::fprintf(stderr, "%s: standard output cannot be written\n", tool);
    return status == 0 ? kBadInput : status;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: out of memory\n", tool);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", tool, e.what());
  }
  return kBadInput;
}

}  // namespace relayvm::tools
