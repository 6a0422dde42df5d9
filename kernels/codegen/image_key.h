// The name of an image in an ObjectCache: all that its bytes come of, told before a line of LLVM's
// IR is written. Where kernels, options and compiler are those of an image that is kept, nothing is
// emitted, translated or linked. Not thread-safe. Tested by image_key_test.cc.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/codegen/kernel_compiler.h"
#include "kernels/codegen/object_cache.h"
#include "kernels/codegen/spec_key.h"

namespace relayvm::codegen {

// All that it is.
std::string MachineText(const Machine& machine);

class ImageKey {
 public:
  // A kernel of this name and key, whose immediates are what `text` says, planned with `schedule`.
  void Add(std::string_view name, const SpecKey& key, std::string_view text,
           const TileSchedule& schedule);
  // With the level of each kernel. None where nothing is kept: text is asked for, or this build
  // does not say which one it is.
  std::optional<ObjectCache::Key> Of(const KernelOptions& options,
                                     std::span<const int> levels) const;

 private:
  std::string kernels_;
};

}  // namespace relayvm::codegen
