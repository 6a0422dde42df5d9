// Programs of one product or convolution, for tests of what becomes of its weight.
#pragma once

#include <string>

#include "compiler/transforms/testing.h"

namespace relayvm::ir {

// The only call of `text`, with its weight made a constant.
inline Module WithWeight(const std::string& text, const HostTensor& w) {
  Module m = Typed(text);
  const Function& main = *m.functions.at("main");
  Block body = *main.body;
  OpCall call = *body.bindings.back().value->As<OpCall>();
  call.args[1] = MakeConstant(m, w);
  body.bindings = {{body.bindings.back().var, MakeExpr(m, call, Span{})}};
  Function f = main;
  f.body = m.arena->New<Block>(body);
  m.functions["main"] = m.arena->New<Function>(f);
  return m;
}

inline const OpCall& OnlyCall(const Module& m) {
  return *m.functions.at("main")->body->bindings[0].value->As<OpCall>();
}

}  // namespace relayvm::ir
