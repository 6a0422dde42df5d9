// The parts of a program that its functions share: function numbers and calling conventions,
// constants, kernels, messages. Used by FunctionLowering; owned by LowerModule (lower.h). Not
// thread-safe. Tested by lower_test.cc.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "bytecode/program.h"
#include "compiler/ir/ir.h"
#include "compiler/lowering/mir.h"
#include "compiler/lowering/place.h"
#include "kernels/codegen/kernel_compiler.h"

namespace relayvm::ir {
struct Region;
}

namespace relayvm::lower {

// How a function is called: the bank of each parameter, and of the result.
struct Convention {
  std::vector<Bank> params;
  Bank result = Bank::kObject;
};

// A function of the program that is yet to be lowered, or a small adapter that no IR stands behind.
struct FunctionTask {
  enum class Kind : uint8_t {
    kFunction,     // a global function, by its own convention
    kClosureCode,  // a lifted function: objects in, object out; captured values first
    kAdapter,      // objects in, object out, around a global function: used as a value, or exported
    kConstructor,  // objects in, a constructor's value out: a constructor used as a function
  };
  Kind kind;
  const ir::Function* function = nullptr;
  const ir::Constructor* constructor = nullptr;
  std::string name;
};

// The greatest values of dims of the entry function, by symbol: what has a bounded size has its
// place in memory when the program is compiled.
using SymbolBounds = std::map<uint32_t, int64_t>;

struct LowerOptions {
  SymbolBounds bounds;
  // Rank-0 values that depend on data live in memory and are computed by kernels, never in
  // registers, and the export has all sizes that are known: for graphs (compiler/graph).
  bool scalars_in_memory = false;
  Placement placement;
};

class ModuleLowering {
 public:
  ModuleLowering(const ir::Module& module, KernelOptions kernels, LowerOptions options = {});

  const ir::Module& module() const { return module_; }
  const SymbolBounds& bounds() const { return options_.bounds; }
  // Whether a value of the type is a scalar register's.
  bool IsScalar(const ir::Type& type) const {
    return !options_.scalars_in_memory && ir::IsScalarType(type);
  }
  KernelCompiler& kernels() { return kernels_; }

  Convention ConventionOf(const ir::Function& f) const;
  // Numbers of functions; asking for one schedules its lowering.
  uint32_t FunctionIndex(const std::string& global);
  uint32_t ClosureCodeIndex(const std::string& global);
  uint32_t AdapterIndex(const std::string& global);
  uint32_t ConstructorIndex(const ir::Constructor& constructor);
  uint32_t HostIndex(const ir::HostCall& call);
  const std::vector<const ir::HostCall*>& hosts() const { return hosts_; }
  const std::deque<FunctionTask>& tasks() const { return tasks_; }

  uint32_t ConstantIndex(const ir::Constant& constant);
  uint32_t MessageIndex(const std::string& message);
  uint32_t TensorTypeIndex(DType dtype, const std::vector<int64_t>& dims, uint8_t device = 0);
  // The program's number of a kernel: of a compiled one, or of a builtin with these fixed scalars.
  uint32_t KernelIndex(uint32_t compiled_id, KernelInfo info);
  // Says which kernel runs many calls of that one.
  void SetBatched(uint32_t kernel, BatchedKernelInfo batched);
  bool batching() const { return batching_; }
  // Whether tensors lie on several devices.
  bool places() const { return !options_.placement.device.empty(); }
  // The same constant, or type, there.
  uint32_t ConstantOnDevice(uint32_t constant, uint8_t device);
  uint32_t TypeOnDevice(uint32_t type, uint8_t device);
  uint32_t BuiltinIndex(KernelInfo info);
  // Of another engine's region with these constants of the program.
  uint32_t RegionIndex(const ir::Region& region, std::vector<uint32_t> constants);
  const std::vector<KernelInfo>& kernel_infos() const { return program_.kernels; }

  // Moves tables into the program; `image` gives the entries of compiled kernels.
  void Finish(Program& program, KernelImage image);

 private:
  uint32_t AddTask(FunctionTask task, const std::string& key);
  uint32_t AddKernel(const std::string& key, uint32_t compiled_id, KernelInfo info);

  const ir::Module& module_;
  LowerOptions options_;
  const bool batching_;
  KernelCompiler kernels_;
  std::deque<FunctionTask> tasks_;
  std::unordered_map<std::string, uint32_t> task_index_;
  std::vector<const ir::HostCall*> hosts_;
  std::map<const ir::Constant*, uint32_t> constant_index_;
  std::unordered_map<std::string, uint32_t> small_constant_index_;
  std::vector<const ir::Constant*> constants_;
  // Of those on a device, from when all others are known on: by number and device.
  std::map<std::pair<uint32_t, uint8_t>, uint32_t> placed_constants_;
  std::unordered_map<std::string, uint32_t> message_index_;
  std::map<std::tuple<DType, std::vector<int64_t>, uint8_t>, uint32_t> tensor_type_index_;
  std::map<std::string, uint32_t> kernel_index_;
  std::map<std::tuple<std::string, std::string, std::vector<uint32_t>>, uint32_t> region_index_;
  std::vector<uint32_t> compiled_ids_;  // parallel to program_.kernels
  Program program_;
};

}  // namespace relayvm::lower
