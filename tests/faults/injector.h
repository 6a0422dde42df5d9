// Makes allocations fail on purpose, and counts what is live: operator new of the whole process,
// and malloc, its kin and mmap as our own code calls them (the linker wraps them, injector.cc).
// What the C library takes for itself is left alone. Thread-safe: threads share one count.
#pragma once

#include <cstdint>

namespace relayvm::faults {

enum class Failing : uint8_t {
  kOne,   // one allocation, as when memory is short for a moment
  kRest,  // that and all behind it: there is none for an error's message either
};

// From now on, allocation `number` (from 1) fails.
void Arm(int64_t number, Failing failing);
// Allocations succeed again. True when one had failed.
bool Disarm();

struct Live {
  int64_t blocks = 0, mapped_bytes = 0;
  bool operator==(const Live&) const = default;
};
Live LiveNow();

}  // namespace relayvm::faults
