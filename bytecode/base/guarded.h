// Guarded: what stands at each public function, so that no exception leaves it.
//
//   Status Save(const std::string& path) {
//     return Guarded([&]() -> Status { ... });
//   }
//
// The library's own code throws nothing but std::bad_alloc (and std::length_error, of sizes beyond
// any memory); what else comes is a host's. Thread-safe. Tested by guarded_test.cc.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "bytecode/base/status.h"

namespace relayvm {

// What is being handled by `catch (...)`, as a Status: kResourceExhausted when memory was short,
// kInternal for other exceptions.
inline Status CaughtException() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return Status::OutOfMemory();
    } catch (const std::length_error&) {
      return Status::OutOfMemory();
    } catch (const std::exception& e) {
      return {StatusCode::kInternal, std::string("exception: ") + e.what()};
    } catch (...) {
      return {StatusCode::kInternal, "exception of an unknown type"};
    }
  } catch (const std::bad_alloc&) {  // no memory for the text
    return Status::OutOfMemory();
  }
}

// Runs `body`, which gives a Status or a Result.
template <typename Body>
auto Guarded(const Body& body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return CaughtException();
  }
}

}  // namespace relayvm
