// A pass: a function from a module to a module, and what the pipeline must know to place it. The
// compiler's own passes and yours are the same thing.
//
//   Pass pass;
//   pass.name = "CountOperators";
//   pass.run = [](const ir::Module& m, const PassContext& context) -> Result<ir::Module> {...};
//   options.passes.push_back({pass, "after:FoldConstants"});     // PipelineOptions
//
// The same function in a shared library is loaded by `relayc --load-pass` (pass_plugin.h).
// Examples: tools/examples/passes. What passes are made of: ir/ir.h (nodes, ForEachAtom,
// ForEachBlock), ir/rewrite.h (a function from a binding to bindings),
// transforms/builder.h. Tested by pipeline_test.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "compiler/ir/ir.h"
#include "compiler/transforms/pass_option.h"
#include "kernels/codegen/machine.h"

namespace relayvm {

struct WeightForm;  // kernels/op/weight_forms.h
class ObjectCache;  // kernels/codegen/object_cache.h
namespace regions {
struct RegionMeasure;  // compiler/regions/choose_regions.h
class RuleFiles;       // compiler/regions/region_options.h
}  // namespace regions

// What may hold of a module between two passes.
enum class Fact : uint8_t {
  kChecked,         // the program as written has types: what is wrong with it was said
  kTyped,           // every variable and function has its type
  kShapesResolved,  // no kernel computes a shape
  kFinalTypes,      // operands that only types needed are gone: types cannot be inferred again
  kFused,           // operator calls are grouped to kernels
  kLifted,          // no function literals: closures name global functions
};
inline constexpr int kNumFacts = 6;
std::string_view FactName(Fact fact);

class Facts {
 public:
  constexpr Facts() = default;
  constexpr Facts(std::initializer_list<Fact> facts) {
    for (Fact f : facts) bits_ |= 1U << static_cast<int>(f);
  }
  constexpr bool Has(Fact f) const { return (bits_ >> static_cast<int>(f) & 1) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr Facts operator|(Facts a, Facts b) { return Facts(a.bits_ | b.bits_); }
  friend constexpr Facts operator&(Facts a, Facts b) { return Facts(a.bits_ & b.bits_); }
  friend constexpr Facts operator-(Facts a, Facts b) { return Facts(a.bits_ & ~b.bits_); }
  // "typed, lifted"; "-" for none.
  std::string ToString() const;

 private:
  constexpr explicit Facts(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;
};

// What a pass is told besides the module.
struct PassContext {
  int opt_level = 3;
  Machine machine = Machine::Native();               // that kernels are for
  std::function<void(std::string_view text)> print;  // for reports; may be null
  PassOptionValues options;                          // read by OptionOf::In
  // The compilation is cancelled: a pass that takes long fails with kCancelled.
  std::stop_token stop;
  Facts holds;  // of the module
  // For --byoc auto; null: there is nothing here that runs programs.
  std::shared_ptr<const regions::RegionMeasure> measure = nullptr;
  // Of --byoc-rules, as the compilation has read them; null: none yet.
  std::shared_ptr<regions::RuleFiles> rule_files = nullptr;
  // Of kernels that passes run, as KernelOptions::cache.
  std::shared_ptr<ObjectCache> cache = nullptr;
};

struct Pass {
  std::string name;
  // Changes nothing that others see: modules share their nodes. An error ends the compilation.
  std::function<Result<ir::Module>(const ir::Module& module, const PassContext& context)> run;
  // Types are inferred before the pass when it needs them and they are not there.
  Facts needs = {Fact::kTyped};
  Facts refuses;  // must not hold any more
  Facts gives;
  Facts drops = {Fact::kTyped};  // a pass that gives its new variables types drops nothing
  std::string description;       // one line
  // What it reads of PassContext::options: rows that live as long as the process.
  std::vector<const PassOption*> options;
  // What is wrong with options together, each of which is right alone; also asked where the pass
  // does not run. Null: nothing.
  std::function<Status(const PassContext&)> check;
  // Whether there is anything to do; null: always.
  std::function<bool(const PassContext&)> applies;
  // The pass reads PassContext::machine and writes what only that machine's kernels read: where a
  // program is compiled for several, it and what follows run for each that it changes something
  // for.
  bool is_for_machine = false;
  // The pass makes regions for other engines: it runs for the program that has them, and not for
  // its native twin.
  bool is_for_regions = false;
};

}  // namespace relayvm
