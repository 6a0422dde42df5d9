// Which instruction set extensions the machine has, by LLVM's names.
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "bytecode/image_loader.h"

namespace relayvm {
namespace {

enum Register : uint8_t { kEax, kEbx, kEcx, kEdx };
// What the operating system must save for the feature to work.
enum VectorState : uint8_t { kNone, kAvx, kAvx512, kAmx };

struct Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  VectorState state;
};

// Intel SDM vol. 2, CPUID; AMD APM vol. 3, appendix E.
constexpr Feature kFeatures[] = {
    {"cx8", 1, 0, kEdx, 8, kNone},
    {"cmov", 1, 0, kEdx, 15, kNone},
    {"mmx", 1, 0, kEdx, 23, kNone},
    {"fxsr", 1, 0, kEdx, 24, kNone},
    {"sse", 1, 0, kEdx, 25, kNone},
    {"sse2", 1, 0, kEdx, 26, kNone},
    {"sse3", 1, 0, kEcx, 0, kNone},
    {"pclmul", 1, 0, kEcx, 1, kNone},
    {"ssse3", 1, 0, kEcx, 9, kNone},
    {"fma", 1, 0, kEcx, 12, kAvx},
    {"cx16", 1, 0, kEcx, 13, kNone},
    {"sse4.1", 1, 0, kEcx, 19, kNone},
    {"sse4.2", 1, 0, kEcx, 20, kNone},
    {"movbe", 1, 0, kEcx, 22, kNone},
    {"popcnt", 1, 0, kEcx, 23, kNone},
    {"aes", 1, 0, kEcx, 25, kNone},
    {"xsave", 1, 0, kEcx, 27, kNone},  // OSXSAVE: enabled by the operating system
    {"avx", 1, 0, kEcx, 28, kAvx},
    {"f16c", 1, 0, kEcx, 29, kAvx},
    {"rdrnd", 1, 0, kEcx, 30, kNone},
    {"fsgsbase", 7, 0, kEbx, 0, kNone},
    {"bmi", 7, 0, kEbx, 3, kNone},
    {"avx2", 7, 0, kEbx, 5, kAvx},
    {"bmi2", 7, 0, kEbx, 8, kNone},
    {"avx512f", 7, 0, kEbx, 16, kAvx512},
    {"avx512dq", 7, 0, kEbx, 17, kAvx512},
    {"rdseed", 7, 0, kEbx, 18, kNone},
    {"adx", 7, 0, kEbx, 19, kNone},
    {"avx512ifma", 7, 0, kEbx, 21, kAvx512},
    {"clflushopt", 7, 0, kEbx, 23, kNone},
    {"clwb", 7, 0, kEbx, 24, kNone},
    {"avx512cd", 7, 0, kEbx, 28, kAvx512},
    {"sha", 7, 0, kEbx, 29, kNone},
    {"avx512bw", 7, 0, kEbx, 30, kAvx512},
    {"avx512vl", 7, 0, kEbx, 31, kAvx512},
    {"avx512vbmi", 7, 0, kEcx, 1, kAvx512},
    {"avx512vbmi2", 7, 0, kEcx, 6, kAvx512},
    {"gfni", 7, 0, kEcx, 8, kNone},
    {"vaes", 7, 0, kEcx, 9, kAvx},
    {"vpclmulqdq", 7, 0, kEcx, 10, kAvx},
    {"avx512vnni", 7, 0, kEcx, 11, kAvx512},
    {"avx512bitalg", 7, 0, kEcx, 12, kAvx512},
    {"avx512vpopcntdq", 7, 0, kEcx, 14, kAvx512},
    {"rdpid", 7, 0, kEcx, 22, kNone},
    {"movdiri", 7, 0, kEcx, 27, kNone},
    {"movdir64b", 7, 0, kEcx, 28, kNone},
    {"avx512vp2intersect", 7, 0, kEdx, 8, kAvx512},
    {"serialize", 7, 0, kEdx, 14, kNone},
    {"amx-bf16", 7, 0, kEdx, 22, kAmx},
    {"avx512fp16", 7, 0, kEdx, 23, kAvx512},
    {"amx-tile", 7, 0, kEdx, 24, kAmx},
    {"amx-int8", 7, 0, kEdx, 25, kAmx},
    {"avxvnni", 7, 1, kEax, 4, kAvx},
    {"avx512bf16", 7, 1, kEax, 5, kAvx512},
    {"amx-fp16", 7, 1, kEax, 21, kAmx},
    {"avxifma", 7, 1, kEax, 23, kAvx},
    {"avxvnniint8", 7, 1, kEdx, 4, kAvx},
    {"avxneconvert", 7, 1, kEdx, 5, kAvx},
    {"xsaveopt", 13, 1, kEax, 0, kNone},
    {"xsavec", 13, 1, kEax, 1, kNone},
    {"xsaves", 13, 1, kEax, 3, kNone},
    {"sahf", 0x80000001, 0, kEcx, 0, kNone},
    {"lzcnt", 0x80000001, 0, kEcx, 5, kNone},
    {"sse4a", 0x80000001, 0, kEcx, 6, kNone},
    {"prfchw", 0x80000001, 0, kEcx, 8, kNone},
    {"64bit", 0x80000001, 0, kEdx, 29, kNone},
    {"clzero", 0x80000008, 0, kEbx, 0, kNone},
};

struct Level {
  std::string_view name;
  std::string_view features;
};
// The x86-64 psABI's micro-architecture levels; each includes the one before.
constexpr Level kLevels[] = {
    {"x86-64", "cmov,cx8,fxsr,mmx,sse,sse2"},
    {"x86-64-v2", "x86-64,cx16,sahf,popcnt,sse3,sse4.1,sse4.2,ssse3"},
    {"x86-64-v3", "x86-64-v2,avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe,xsave"},
    {"x86-64-v4", "x86-64-v3,avx512f,avx512bw,avx512cd,avx512dq,avx512vl"},
};

uint64_t EnabledStates() {
  uint32_t eax, ebx, ecx, edx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx >> 27 & 1) == 0) return 0;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

bool StateEnabled(VectorState state, uint64_t enabled) {
  constexpr uint64_t kMasks[] = {0, 0x6, 0xE6,
                                 0x60000};  // XCR0: SSE+AVX; and opmask, ZMM; TILECFG, TILEDATA
  return (enabled & kMasks[state]) == kMasks[state];
}

// Linux, Documentation/arch/x86/xstate.rst: for all threads of the process.
bool PermitsAmx() {
  constexpr int64_t kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int64_t kTileData = 18;               // XFEATURE_XTILEDATA
  static const bool permitted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return permitted;
}

void Expand(std::string_view list, std::vector<std::string>* out) {
  while (!list.empty()) {
    size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    while (!name.empty() && (name.front() == ' ' || name.front() == '+')) name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (name.empty()) continue;
    auto level = std::find_if(std::begin(kLevels), std::end(kLevels),
                              [&](const Level& l) { return l.name == name; });
    if (level != std::end(kLevels)) {
      Expand(level->features, out);
    } else {
      out->emplace_back(name);
    }
  }
}

}  // namespace

CpuFeatures CpuFeatures::OfProcessor() {
  uint64_t enabled = EnabledStates();
  std::vector<std::string> names;
  // Of the feature before: in a virtual machine each CPUID takes some microseconds.
  const Feature* read = nullptr;
  std::array<uint32_t, 4> regs{};
  for (const Feature& f : kFeatures) {
    if (read == nullptr || f.leaf != read->leaf || f.subleaf != read->subleaf) {
      regs = {};
      __get_cpuid_count(f.leaf, f.subleaf, &regs[kEax], &regs[kEbx], &regs[kEcx], &regs[kEdx]);
      read = &f;
    }
    if ((regs[f.reg] >> f.bit & 1) != 0 && StateEnabled(f.state, enabled))
      names.emplace_back(f.name);
  }
  return CpuFeatures(std::move(names), PermitsAmx);
}

CpuFeatures CpuFeatures::OfThisMachine() {
  CpuFeatures features = OfProcessor();
  // A machine of a lower level, for compiling and for running.
  if (const char* most = std::getenv(kMaxCpuLevelVariable); most != nullptr && IsCpuLevel(most)) {
    const std::vector<std::string> allowed = ExpandFeatures(most);
    std::erase_if(features.names_, [&](const std::string& name) {
      return !std::binary_search(allowed.begin(), allowed.end(), name);
    });
  }
  return features;
}

bool IsCpuLevel(std::string_view name) {
  return std::any_of(std::begin(kLevels), std::end(kLevels),
                     [&](const Level& l) { return l.name == name && name != "x86-64"; });
}

bool CpuFeatures::IsNamed(std::string_view feature) const {
  return std::find(names_.begin(), names_.end(), feature) != names_.end();
}

bool CpuFeatures::IsRefused(std::string_view feature) const {
  return permits_amx_ != nullptr && feature.starts_with("amx-") && IsNamed(feature) &&
         !permits_amx_();
}

bool CpuFeatures::Has(std::string_view feature) const {
  return IsNamed(feature) && !IsRefused(feature);
}

std::vector<std::string> CpuFeatures::Missing(std::string_view required) const {
  std::vector<std::string> missing = ExpandFeatures(required);
  std::erase_if(missing, [this](const std::string& f) { return Has(f); });
  return missing;
}

std::vector<std::string> ExpandFeatures(std::string_view list) {
  std::vector<std::string> features;
  Expand(list, &features);
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

}  // namespace relayvm
