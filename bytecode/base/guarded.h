// Guarded: what stands at each public function, so that no exception leaves it.
//
//   Status Save(const std::string& path) {
//     return Guarded([&]() -> Status { ... });
//   }
//
// The library's own code throws nothing but std::bad_alloc (and std::length_error, of sizes beyond
// any memory); what else comes is a host's. Where there are no exceptions (RELAYVM_MINIMAL), tables
// and texts that find no memory end the process; tensors, stacks and what kernels hold never do.
// Thread-safe. Tested by guarded_test.cc.
#pragma once

#include <cstdlib>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "bytecode/base/status.h"

namespace relayvm {

#if !__cpp_exceptions
[[noreturn]] inline void OutOfMemory() { std::abort(); }
template <typename Body>
bool HasMemoryFor(const Body& body) {
  body();
  return true;
}
template <typename Body>
std::exception_ptr ExceptionOf(const Body& body) {
  body();
  return nullptr;
}
template <typename Body>
auto Guarded(const Body& body) noexcept -> decltype(body()) {
  return body();
}
#else
[[noreturn]] inline void OutOfMemory() { throw std::bad_alloc(); }

// Runs `body`; false where that found no memory.
template <typename Body>
bool HasMemoryFor(const Body& body) {
  try {
    body();
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

// Runs `body`; what it threw, or null.
template <typename Body>
std::exception_ptr ExceptionOf(const Body& body) noexcept {
  try {
    body();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

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
#endif

}  // namespace relayvm
