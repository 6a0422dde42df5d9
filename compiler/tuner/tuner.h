// Measures other schedules for a program's kernels in this process, and keeps what is faster.
//
//   1 order       kernels by their share of the time times the gain that the cost model expects of
//                 their best alternative (both of the model: contraction/estimate.h)
//   2 candidates  of each kernel's space (schedule_space.h), the most promising first, a few at a
//                 time; each is checked against the result of the compiler's own schedule, then all
//                 are timed in turns, at every sample of sizes
//   3 decision    the best one, compiled once more, against the compiler's own, in many turns
//                 (decision.h)
//
// until the time is over. A schedule with fewer tasks than the compiler's own, and than this
// machine has threads, is no candidate. Not thread-safe. Tested by tuner_test.cc.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "compiler/tuner/samples.h"
#include "compiler/tuner/schedule_log.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::tuner {

struct TuneOptions {
  std::chrono::milliseconds budget{0};
  SampleSizes samples;
  SampleSizes usual;            // in place of the defaults: for names that may be of no dim
  size_t most_candidates = 28;  // of a kernel
  // What it is at.
  std::function<void(const std::string& what)> on_progress;
  // For tests: in place of measuring, the time of a call.
  std::function<double(const TileSchedule& schedule, const Sample& sample)> time_of;
};

struct TuneReport {
  // A record for each kernel that was measured, in that order; the compiler's own schedule where
  // nothing was faster.
  std::vector<ScheduleRecord> measured;
  size_t with_alternatives = 0;  // kernels
  size_t known = 0;              // of those: in the book already
  // Kernels that could not be measured, and why.
  std::vector<std::string> left_out;
};

// Whether this machine runs what is compiled for `options`; kInvalidArgument says what it lacks.
Status CheckMachine(const KernelOptions& options);

// `kernels`: a spec for each call in the program. What is faster goes into `book`; kernels that it
// knows are left alone. kInvalidArgument where a name of TuneOptions::samples is none of a dim.
Result<TuneReport> Tune(const std::vector<KernelSpec>& kernels, const SampleSizes& defaults,
                        const KernelOptions& options, const TuneOptions& tune, ScheduleBook* book);

// How many kernels Tune would pay for: estimated below kPoorShare of what the machine reaches, a
// notable part of the program, with an alternative that is estimated to gain kWorthwhile. At the
// default samples.
inline constexpr double kPoorShare = 0.6;
inline constexpr double kWorthwhile = 0.1;
size_t CountPoorKernels(const std::vector<KernelSpec>& kernels, const SampleSizes& defaults,
                        const KernelOptions& options, const ScheduleBook& book);
// What is told about so many of them, at least one.
std::string TuningAdvice(size_t poor_kernels);

}  // namespace relayvm::tuner
