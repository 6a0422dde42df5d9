// Kernel images in memory: choosing the best one that the machine runs, and mapping it.
//
// Mapping needs no dynamic linker: segments are copied into a sealed file in memory and mapped from
// it, so that code is no one's to change, whatever becomes of the file it comes from, and no page
// was ever writable that is executable. Where the system has no such files, pages are written and
// then protected. Immutable once mapped; thread-safe. Tested by image_loader_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/kernel_abi.h"
#include "bytecode/program.h"

namespace relayvm {

// What the CPU and the operating system offer, by LLVM's names ("avx2", "sse4.2").
//
// Linux lets a process use AMX ("amx-...") when it has asked. That is done once, when something
// needs it first: what is granted is not given back, and makes the signal frames of all threads
// larger.
class CpuFeatures {
 public:
  static CpuFeatures OfProcessor();
  // No more than those of the level that the environment's RELAYVM_MAX_CPU_LEVEL names, where it
  // does: so a machine compiles, tests and runs as an older one would.
  static CpuFeatures OfThisMachine();
  // For tests: a machine with just these, whose system permits AMX or not.
  explicit CpuFeatures(std::vector<std::string> names, bool (*permits_amx)() = nullptr)
      : names_(std::move(names)), permits_amx_(permits_amx) {}

  bool Has(std::string_view feature) const;
  // Whether the processor has what the system keeps from the process.
  bool IsRefused(std::string_view feature) const;
  // What is missing of `required`: a comma-separated list of features and levels ("x86-64-v3"), "+"
  // before a name ignored.
  std::vector<std::string> Missing(std::string_view required) const;

 private:
  bool IsNamed(std::string_view feature) const;

  std::vector<std::string> names_;
  bool (*permits_amx_)();  // null: it does
};

inline constexpr const char* kMaxCpuLevelVariable = "RELAYVM_MAX_CPU_LEVEL";
// "x86-64-v2", "x86-64-v3", "x86-64-v4".
bool IsCpuLevel(std::string_view name);

// The features in a list, its levels replaced by what they stand for; sorted, each once.
std::vector<std::string> ExpandFeatures(std::string_view list);

// The image that asks for most of those that the machine runs. Fails with kUnsupported, naming what
// is missing. REQUIRES: !images.empty().
Result<size_t> ChooseImage(std::span<const ImageInfo> images, const CpuFeatures& cpu);

class MappedImage {
 public:
  enum class Kind : uint8_t {
    kSealed,
    kAnonymous,  // as WritePerfMap needs it: of code in files, perf asks the file
  };
  static Result<std::unique_ptr<MappedImage>> Map(std::span<const uint8_t> elf,
                                                  Kind kind = Kind::kSealed);
  ~MappedImage();
  MappedImage(const MappedImage&) = delete;
  MappedImage& operator=(const MappedImage&) = delete;

  // REQUIRES: `address` is inside an executable segment (bytecode/image.h, IsCode).
  RelayvmKernelFn Entry(uint64_t address) const;
  const char* base() const { return base_; }

 private:
  MappedImage() = default;
  char* base_ = nullptr;
  size_t bytes_ = 0;
};

// Appends the kernels to /tmp/perf-PID.map, where `perf report` looks for code that is in no file
// (MappedImage::Kind::kAnonymous).
void WritePerfMap(const MappedImage& image, std::span<const uint8_t> elf);

}  // namespace relayvm
