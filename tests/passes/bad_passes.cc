// Passes that do what no pass may, to see what the compiler says.
#include <algorithm>
#include <stdexcept>

#include "compiler/pass_plugin.h"

namespace {

using relayvm::PassContext;
using relayvm::Result;
namespace ir = relayvm::ir;

// The bindings of @main in reverse order: what uses one stands before it.
Result<ir::Module> UseBeforeBinding(const ir::Module& m, const PassContext&) {
  ir::Module out = m;
  ir::Function main = *m.functions.at("main");
  ir::Block body = *main.body;
  std::reverse(body.bindings.begin(), body.bindings.end());
  main.body = m.arena->New<ir::Block>(std::move(body));
  out.functions["main"] = m.arena->New<ir::Function>(std::move(main));
  return out;
}

Result<ir::Module> Throws(const ir::Module&, const PassContext&) {
  throw std::runtime_error("something went wrong");
}

Result<ir::Module> Fails(const ir::Module&, const PassContext&) {
  return relayvm::Status(relayvm::StatusCode::kUnsupported, "this program is too odd");
}

Result<ir::Module> Same(const ir::Module& m, const PassContext&) { return m; }

}  // namespace

RELAYVM_PASS_PLUGIN([](std::vector<relayvm::Pass>& passes) {
  passes.push_back({.name = "UseBeforeBinding", .run = UseBeforeBinding, .description = ""});
  passes.push_back({.name = "Throws", .run = Throws, .description = ""});
  passes.push_back({.name = "Fails", .run = Fails, .description = ""});
  // Says that it leaves variables without types.
  passes.push_back({.name = "DropsTypes", .run = Same, .description = ""});
  passes.push_back(
      {.name = "NeedsFusion", .run = Same, .needs = {relayvm::Fact::kFused}, .drops = {}});
})
