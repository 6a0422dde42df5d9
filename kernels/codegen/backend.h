// What makes kernels for a kind of machine, in four steps: a plan for each, the text of several
// plans, the code of each text, an image of all code. KernelCompiler takes them; a backend keeps
// nothing between them.
// Thread-safe. Tested through kernel_compiler_test.cc and machine_test.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/status.h"
#include "kernels/codegen/function_merging.h"
#include "kernels/codegen/kernel_compiler.h"
#include "kernels/codegen/kernel_function.h"

namespace relayvm::codegen {

// A function that kernels call: those of one name and the same features are one function.
struct Helper {
  std::string name, features;
  FunctionForm form;
};

struct LlvmWork;

// What code is made of.
struct KernelText {
  std::vector<char> bitcode;
  // In place of bitcode, for one Translate: of quick kernels, which take hardly longer to translate
  // than to be written and read again.
  std::shared_ptr<LlvmWork> work;
  int opt_level = 3;            // as KernelOptions::opt_level
  std::vector<Helper> helpers;  // that it defines
  // Of these: what another text defines for this one, and what this one defines for others too.
  std::vector<std::string> elsewhere, shared;
  std::vector<FunctionForm> forms;  // of its kernels and helpers, those that may share a body
  std::vector<SharedBody> bodies;   // that they share
  KernelTimes times;
};

struct KernelCode {
  std::vector<char> object;       // what Link takes
  std::string llvm_ir, assembly;  // when KernelOptions asks for them
  KernelTimes times;
};

class KernelBackend {
 public:
  virtual ~KernelBackend() = default;
  // One a target, the lowest first.
  virtual const std::vector<Machine>& machines() const = 0;
  // kUnsupported where the processor of this process is none of them.
  virtual Result<Machine> Host() const = 0;
  // Why no program is made for these machines; empty: programs are.
  virtual std::string_view why_no_programs() const = 0;

  // `target` is of one of the machines.
  virtual Result<KernelPlan> Plan(KernelSpec spec, std::string name, std::vector<Dim> symbols,
                                  const ContractionTarget& target) const = 0;
  // Both fail with kCancelled, soon, where options.stop is asked to.
  virtual Result<KernelText> Emit(std::span<KernelPlan* const> plans,
                                  const KernelOptions& options) const = 0;
  virtual Result<KernelCode> Translate(const KernelText& text,
                                       const KernelOptions& options) const = 0;
  // Sets `elf` and, by `names`, `entry_offsets`.
  virtual Status Link(const std::vector<std::vector<char>>& objects, const std::stop_token& stop,
                      KernelImage* image) const = 0;
};

const KernelBackend& X86Backend();
const KernelBackend& Aarch64Backend();
std::span<const KernelBackend* const> Backends();

}  // namespace relayvm::codegen
