// From tensor expressions to a loadable kernel image, through LLVM.
//
//   KernelCompiler compiler(options);
//   id = compiler.Add(spec);      // for each fused primitive function; equal specs share a kernel,
//                                 // and many that differ in constants alone share one too
//   image = compiler.Finish();    // LLVM O3, one object, LLD: a shared ELF without relocations or
//                                 // undefined symbols
//
// The generated functions have the ABI of bytecode/kernel_abi.h. Not thread-safe; compiles in
// parallel inside Finish(). Tested by kernel_compiler_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "bytecode/base/dim.h"
#include "bytecode/base/status.h"
#include "kernels/codegen/machine.h"
#include "kernels/codegen/object_cache.h"
#include "kernels/codegen/tile_schedule.h"
#include "kernels/te/te.h"

namespace relayvm {

struct KernelSpec;
namespace codegen {
struct BatchedKernel;
}

struct KernelOptions {
  Machine machine = Machine::Native();
  int opt_level = 3;   // 0: quick; 2: without loop strength reduction
  bool quick = false;  // kernels of little code (codegen/quick.h), 8 to 40 times slower to run
  // Kernels that take little of a program's time get less of LLVM's: see codegen/effort.h.
  bool by_share = false;
  bool time_kernels = false;  // KernelTimes::kernels
  bool exact = true;          // sums of products as they are: see PassContext::exact
  // With kernels that run many calls of another one at once (codegen/batching.h). Whoever adds
  // specs asks for them.
  bool batching = false;
  bool keep_llvm_ir = false;  // KernelImage::llvm_ir
  bool keep_assembly = false;
  // An error where a kernel that is named cannot be tiled so.
  TileSchedules schedules;
  // Asked for each kernel that Add takes and `schedules` does not name. An error where it cannot be
  // tiled so: see WhyNoSchedule of schedule_space.h.
  std::function<TileSchedule(const KernelSpec& spec)> schedule_for;
  // Called in Finish(), from any of its threads: how many kernels are compiled, of how many.
  std::function<void(size_t done, size_t total)> on_kernels;
  // Threads of Finish(), the calling one included; 0: as many as the machine has.
  uint32_t num_threads = 0;
  // Asked to: Add() and Finish() fail with kCancelled, soon.
  std::stop_token stop;
  // What was compiled before is taken from it, except where text is kept; null: nothing is.
  std::shared_ptr<ObjectCache> cache;
};

// The order in which a contraction sums products: how a kernel gives the bits of another one.
struct SumOrder {
  enum class Form : uint8_t { kAny, kTiles, kDots };
  Form form = Form::kAny;  // as is best for the number of rows
  unsigned sets = 1;       // of accumulators (codegen/contraction/tile.h)
};

// A fused group: outputs computed from placeholders. Every placeholder's input_index is its
// position in `inputs`. An input of rank 0 whose `by_value` is set is passed as a scalar, not as a
// buffer.
struct KernelSpec {
  std::string name;  // for people (perf, vmdump): "fused_nn_dense_add"; made unique by the compiler
  std::vector<te::Tensor> inputs;
  std::vector<bool> by_value;  // one an input
  std::vector<te::Tensor> outputs;
  // In one run of the program, about: more than 1 in what may be a loop.
  double runs = 1;
  SumOrder order;  // others than kAny: of contractions that BatchKernel (codegen/batching.h) makes
};

// How to call the compiled kernel: see bytecode/kernel_abi.h. buffers = inputs not by value, in
// order, then outputs. scalars = `symbols` (their values), then the by-value inputs as canonical
// 64-bit scalars, then `immediates`. Dims are over the symbols of the spec that was added.
struct KernelInterface {
  std::string name;
  std::vector<Dim> symbols;  // in argument order
  // Constants of the spec that its kernel takes as scalars, as others share it.
  std::vector<int64_t> immediates;
  Dim parallel_extent = 1;  // the range that begin..end may be split over; units are independent
  Dim grain = 1;            // units worth one task; VM runs ceil(extent / grain) tasks at most
  Dim scratch_bytes = 0;    // private memory of one call, 64-byte aligned
  // Pairs (input, output): the output may overwrite that input's buffer, if shapes and dtypes are
  // equal.
  std::vector<std::pair<int, int>> in_place;
};

// What LLVM took for a kernel, or for a function that kernels share.
struct KernelTime {
  std::string name;
  double milliseconds = 0;
  size_t lines = 0;  // LLVM's instructions, before they are optimised
  int opt_level = 0;
};

// Where Finish() spends its time: milliseconds, summed over its threads.
struct KernelTimes {
  double emission = 0;              // ours: loops to LLVM's IR
  double optimisation = 0;          // LLVM's passes
  double code_generation = 0;       // LLVM's back end
  double linking = 0;               // LLD
  size_t objects = 0, found = 0;    // of these, in KernelOptions::cache
  std::vector<KernelTime> kernels;  // of those that were compiled, when asked for
};

struct KernelImage {
  std::string
      cpu_features;  // what the machine must have: "x86-64-v4" or a list "x86-64-v4,avx512bf16"
  std::vector<uint8_t> elf;             // for a page-aligned segment of the .vmx
  std::vector<uint64_t> entry_offsets;  // virtual address of each kernel by kernel id
  std::vector<std::string> names;
  std::string llvm_ir, assembly;  // when asked for
  KernelTimes times;
};

class KernelCompiler {
 public:
  explicit KernelCompiler(KernelOptions options);
  ~KernelCompiler();

  struct Added {
    uint32_t id;  // index into KernelImage::entry_offsets
    KernelInterface interface;
  };
  Result<Added> Add(const KernelSpec& spec);
  // The kernel of many calls of this one: see codegen/batching.h. Null where there is none, or
  // where it pays too little.
  std::unique_ptr<codegen::BatchedKernel> Batched(const KernelSpec& spec, const Dim& b) const;
  // REQUIRES: called once.
  Result<KernelImage> Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relayvm
