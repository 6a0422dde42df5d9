// What the soak runs: programs with inputs of random shapes, and what each gives.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "vm/api/relayvm.h"

namespace relayvm::soak {

using Random = std::mt19937_64;
inline int64_t Between(Random& random, int64_t first, int64_t last) {
  return std::uniform_int_distribution<int64_t>(first, last)(random);
}

// What the host functions of a run do; its InvocationOptions::host_context. Null: nothing but their
// work.
struct HostPlan {
  enum class Wait : uint8_t { kNot, kForTime, kForWaker };
  Wait wait = Wait::kNot;
  int64_t fails_at = -1;  // the step that fails, with kNotFound
};

struct Case {
  std::string program;
  std::shared_ptr<const Executable> executable;
  std::vector<Value> inputs;
  bool calls_host = false;
  // What the run gives when nothing is in its way: a value, or the failure of the program itself.
  StatusCode code = StatusCode::kOk;
  Value expected;
};

// Wakes what waits for a waker, from a thread of its own.
class Alarm {
 public:
  Alarm();
  ~Alarm();
  void WakeSoon(Waker waker);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// `per_program` cases of each program of the folder tests/programs that is named in cases.cc, and
// of some of its own, in no order. Expected values are what one run alone gives, with nothing in
// its way.
std::vector<Case> MakeCases(const std::string& folder, size_t per_program, Alarm* alarm,
                            Random& random);

}  // namespace relayvm::soak
