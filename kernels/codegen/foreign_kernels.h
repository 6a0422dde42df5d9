// For tests: what they compile and run here, compiled for aarch64 too. LLVM verifies what is
// written, and makes code of it that has no instruction of another processor's. It runs only where
// the environment's RELAYVM_RUN_AARCH64 is a command for that (tests/aarch64/run_kernel.c).
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/host_tensor.h"
#include "bytecode/kernel_abi.h"
#include "kernels/codegen/backend.h"
#include "kernels/codegen/spec_key.h"
#include "kernels/te/evaluate.h"
#include "tests/temp_folder.h"

namespace relayvm {

class ForeignKernels {
 public:
  // Each kernel once in this process, for one of the machines.
  void Add(const KernelSpec& spec) {
    static std::set<std::string> known;
    if (!known.insert(codegen::KeyOf(spec).text).second) return;
    const Machine& machine = MachineOf(spec);
    auto& compiler = compilers_[machine.target];
    if (!compiler) {
      compiler = std::make_unique<KernelCompiler>(
          KernelOptions{.machine = machine, .opt_level = 0, .keep_llvm_ir = true});
    }
    const auto added = compiler->Add(spec);
    REQUIRE_MESSAGE(added.ok(), machine.target, ": ", added.status().ToString());
  }
  void Finish() {
    for (auto& [target, compiler] : compilers_) {
      const auto image = compiler->Finish();
      REQUIRE_MESSAGE(image.ok(), target, ": ", image.status().ToString());
      CHECK_MESSAGE(image->llvm_ir.find("llvm.x86.") == std::string::npos, target);
    }
    compilers_.clear();
  }

  static const char* Command() { return std::getenv("RELAYVM_RUN_AARCH64"); }
  // The outputs, whose memory is `outputs`. `scalars` without the kernel's immediates.
  static void Run(const KernelSpec& spec, const std::vector<HostTensor>& inputs,
                  std::vector<int64_t> scalars, const te::SymbolFn& symbols,
                  std::vector<HostTensor>* outputs) {
    KernelCompiler compiler({.machine = MachineOf(spec)});
    const auto added = compiler.Add(spec);
    REQUIRE_MESSAGE(added.ok(), added.status().ToString());
    const auto image = compiler.Finish();
    REQUIRE_MESSAGE(image.ok(), image.status().ToString());
    const KernelInterface& interface = added->interface;
    scalars.insert(scalars.end(), interface.immediates.begin(), interface.immediates.end());
    const testing::TempFolder folder;
    {
      std::ofstream file(folder / "in", std::ios::binary);
      const auto number = [&](int64_t n) { file.write(reinterpret_cast<const char*>(&n), 8); };
      const auto bytes = [&](const void* data, size_t n) {
        file.write(static_cast<const char*>(data), static_cast<std::streamsize>(n));
      };
      number(sizeof(RelayvmKernelEnv));
      number(static_cast<int64_t>(image->elf.size()));
      bytes(image->elf.data(), image->elf.size());
      number(static_cast<int64_t>(image->entry_offsets[added->id]));
      std::vector<std::pair<const HostTensor*, bool>> buffers;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (i >= spec.by_value.size() || !spec.by_value[i]) buffers.emplace_back(&inputs[i], false);
      }
      for (const HostTensor& out : *outputs) buffers.emplace_back(&out, true);
      number(static_cast<int64_t>(buffers.size()));
      for (const auto& [tensor, is_result] : buffers) {
        number(static_cast<int64_t>(tensor->data.size()));
        number(is_result ? 1 : 0);
        bytes(tensor->data.data(), tensor->data.size());
      }
      number(static_cast<int64_t>(scalars.size()));
      for (const int64_t s : scalars) number(s);
      number(*interface.scratch_bytes.Evaluate(symbols));
      number(*interface.parallel_extent.Evaluate(symbols));
    }
    const std::string run = std::string(Command()) + " < " + std::string(folder / "in") + " > " +
                            std::string(folder / "out");
    REQUIRE_MESSAGE(std::system(run.c_str()) == 0, run);
    std::ifstream file(folder / "out", std::ios::binary);
    int64_t code = -1;
    file.read(reinterpret_cast<char*>(&code), 8);
    CHECK(code == 0);
    for (HostTensor& out : *outputs) {
      file.read(reinterpret_cast<char*>(out.data.Mutable().data()),
                static_cast<std::streamsize>(out.data.size()));
    }
    REQUIRE(file.good());
  }

 private:
  static const Machine& MachineOf(const KernelSpec& spec) {
    const auto& machines = codegen::Aarch64Backend().machines();
    return machines[std::hash<std::string>()(codegen::KeyOf(spec).text) % machines.size()];
  }
  std::map<std::string_view, std::unique_ptr<KernelCompiler>> compilers_;
};

}  // namespace relayvm
