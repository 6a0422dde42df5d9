// Two passes in a shared library: a visitor that counts the operators of a program, with an option,
// and a rewrite.
//
//   relayc model.relay --load-pass libexample_passes.so --pass CountOperators@after:FoldConstants
//       --least 2
//   relayc model.relay --load-pass libexample_passes.so --pass SquarePowers@before:FoldConstants
#include <cstring>
#include <map>
#include <string>

#include "compiler/ir/rewrite.h"
#include "compiler/ir/walk.h"
#include "compiler/pass_plugin.h"
#include "compiler/transforms/builder.h"

namespace {

using relayvm::PassContext;
using relayvm::Result;
namespace ir = relayvm::ir;

// --- A visitor ---

using Counts = std::map<std::string, int>;

void Count(const ir::Block& block, Counts& counts) {
  for (const ir::Binding& b : block.bindings) {
    if (const auto* call = b.value->As<ir::OpCall>()) ++counts[call->op->name];
    // Branches, clauses of a match, bodies of function literals.
    ir::ForEachBlock(*b.value, [&](const ir::Block& inner) { Count(inner, counts); });
  }
}

const relayvm::OptionOf<int64_t>& LeastOption() {
  static const relayvm::OptionOf<int64_t> option = relayvm::NumberOption(
      {.name = "least", .help = "operators that are called less often are not printed"}, 1, 1000000,
      1);
  return option;
}

Result<ir::Module> CountOperators(const ir::Module& m, const PassContext& context) {
  const int64_t least = LeastOption().In(context.options);
  Counts counts;
  for (const auto& [name, function] : m.functions) Count(*function->body, counts);
  std::string report;
  for (const auto& [op, n] : counts) {
    if (n >= least) report += op + " " + std::to_string(n) + "\n";
  }
  if (context.print) context.print(report);
  return m;
}

// --- A rewrite: power(x, 2) becomes multiply(x, x) ---

bool IsTwo(const ir::Atom& a) {
  const auto* constant = std::get_if<const ir::Constant*>(&a);
  if (constant == nullptr) return false;
  const relayvm::HostTensor& value = (*constant)->value;
  float number = 0;
  if (value.dtype != relayvm::DType::kFloat32 || !value.shape.empty()) return false;
  std::memcpy(&number, value.data.data(), sizeof number);
  return number == 2;
}

Result<ir::Module> SquarePowers(const ir::Module& m, const PassContext&) {
  // Each binding becomes a list of bindings; nested blocks are rewritten too.
  return ir::RewriteModule(m, [&](const ir::Binding& b, std::vector<ir::Binding>& out) {
    const auto* call = b.value->As<ir::OpCall>();
    if (call == nullptr || call->op->name != "power" || !IsTwo(call->args[1])) {
      out.push_back(b);
      return;
    }
    ir::BindingBuilder(m, b.value->span, out)
        .BindCall(b.var, "multiply", {call->args[0], call->args[0]}, {});
  });
}

}  // namespace

RELAYVM_PASS_PLUGIN([](std::vector<relayvm::Pass>& passes) {
  passes.push_back({.name = "CountOperators",
                    .run = CountOperators,
                    .drops = {},  // the program stays as it is
                    .description = "prints how often each operator is called",
                    .options = {&LeastOption().row()}});
  passes.push_back({.name = "SquarePowers",
                    .run = SquarePowers,
                    .description = "power(x, 2) becomes multiply(x, x)"});
})
