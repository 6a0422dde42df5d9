// Kernels run on random data in this process, one thread, to compare schedules of one kernel. Not
// thread-safe. Tested by tuner_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/image_loader.h"
#include "compiler/tuner/samples.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::tuner {

// Floats between -1 and 1 (of 16 bits: from 0.5 to 1), integers from 0 to 7, bools: the same each
// time.
void FillRandom(HostTensor& tensor);

struct CompiledKernel {
  std::shared_ptr<const MappedImage> image;
  RelayvmKernelFn function = nullptr;
  KernelInterface interface;
};
// The kernel with each of the schedules. REQUIRES: they are legal, and this machine runs the
// target.
Result<std::vector<CompiledKernel>> CompileKernels(const KernelSpec& spec,
                                                   const KernelOptions& options,
                                                   std::span<const TileSchedule> schedules);

// Bytes of zeros, with room behind them that takes memory only where it is used.
class Room {
 public:
  // REQUIRES: 0 < bytes <= room. Fails with kResourceExhausted.
  static Result<Room> Make(size_t bytes, size_t room);
  std::span<std::byte> bytes() const { return {room_.get(), bytes_}; }

 private:
  struct Unmap {
    size_t size;
    void operator()(std::byte* memory) const;
  };
  Room(std::byte* memory, size_t bytes, size_t room) : room_(memory, Unmap{room}), bytes_(bytes) {}
  std::unique_ptr<std::byte, Unmap> room_;
  size_t bytes_;
};

// The data of a kernel at one sample of sizes. Kernels rely on what programs check before they call
// them: that dims which have to be equal are. A sample knows nothing of that, so all buffers have
// room for any symbol to have the largest size.
class Bench {
 public:
  // kResourceExhausted where there is more data than `most_bytes`, kInvalidArgument where the sizes
  // are none that the kernel has.
  static Result<Bench> Make(const KernelSpec& spec, const Sample& sample, size_t most_bytes);

  // The outputs of the kernel. Fails where it refuses the data.
  Result<std::vector<HostTensor>> Run(const CompiledKernel& kernel);
  // Nanoseconds of the processor for a call, the mean of `calls`. REQUIRES: it has run.
  double Time(const CompiledKernel& kernel, int calls);
  const Sample& sample() const { return sample_; }

 private:
  Bench() = default;
  struct Prepared;
  Prepared Prepare(const CompiledKernel& kernel) const;
  // Copies of the weights take turns, so that they come from as far as in a program with others,
  // and that no kernel meets those that another has just read.
  int32_t Call(const Prepared& prepared);

  Sample sample_;
  std::vector<std::vector<Room>> inputs_;  // that are buffers: copies of each
  std::vector<int64_t> scalars_;           // of those by value
  struct Output {
    DType dtype;
    std::vector<int64_t> shape;
    Room room;
  };
  std::vector<Output> outputs_;
  std::vector<std::byte> scratch_;
  size_t turn_ = 0;
};

// What is wrong with `found` against `expected`: nothing, but for sums in another order.
Status CompareResults(const std::vector<HostTensor>& found,
                      const std::vector<HostTensor>& expected);

}  // namespace relayvm::tuner
