// The regions of a loaded program, and the kernel that runs them: what the interpreter, graphs and
// native code call where the program calls a region.
//
// Immutable once made; used by any number of threads. Tested by engine_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/kernel_abi.h"
#include "bytecode/program.h"
#include "bytecode/region_abi.h"

namespace relayvm {

struct LoadOptions;

namespace vm {

struct LinkedRegion {
  const RelayvmRegionProvider* provider = nullptr;  // null: of no kernel, and never run
  RelayvmRegion* region = nullptr;                  // owned
  const RegionInfo* info = nullptr;                 // of the program
  uint32_t num_inputs = 0, num_outputs = 0;
};

// By Program::regions.
class LinkedRegions {
 public:
  LinkedRegions() = default;
  ~LinkedRegions() {
    for (const LinkedRegion& r : regions_) {
      if (r.region != nullptr) r.provider->destroy(r.region);
    }
  }
  LinkedRegions(const LinkedRegions&) = delete;
  LinkedRegions& operator=(const LinkedRegions&) = delete;

  // Opens the engines that its regions are for, as far as the options allow them, and makes the
  // regions; of a program with none does nothing. Constants and regions of the program stay where
  // they are. Where an engine or a region cannot be had: kUnsupported, and `lacking` is the engine.
  // Once.
  Status Create(const Program& program, const LoadOptions& options, std::string* lacking);

  const LinkedRegion& operator[](size_t index) const { return regions_[index]; }

 private:
  std::vector<LinkedRegion> regions_;
};

// The kernel (KernelInfo::region). REQUIRES: the env is a KernelRunner's whose resources have the
// program's regions.
int32_t RunRegion(const RelayvmKernelEnv* env, const RelayvmKernelArgs* args, uint32_t begin,
                  uint32_t end);

}  // namespace vm
}  // namespace relayvm
