// For the tests of host functions: programs that call one.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "vm/testing.h"

namespace relayvm::testing {

using Body = std::function<Result<Value>(HostCall&)>;

inline std::shared_ptr<const Executable> LoadHost(const std::string& text,
                                                  std::vector<HostFunction> functions,
                                                  std::span<const Builtin> kernels = {}) {
  Result<Program> program = Assemble(text);
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  auto executable = Executable::FromProgram(*std::move(program),
                                            {.kernels = kernels, .host_functions = functions});
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  return *executable;
}

// main(x) = h0(x), of these types.
inline std::string Forward(const std::string& param, const std::string& result,
                           const std::string& tables = "") {
  return fmt::format(R"(
.version 5
{2}
.host "f" ({0}) -> {1}
.export "main" f0 ("x": {0}) -> {1}
.function "main" scalars 0 objects 1 captured 0 registers 0 2 returns object arena 0
  call.host r1, h0, [r0]
  ret.r r1!
.end
)",
                     param, result, tables);
}
inline std::shared_ptr<const Executable> LoadForward(const std::string& param,
                                                     const std::string& result, Body body,
                                                     const std::string& tables = "") {
  return LoadHost(Forward(param, result, tables), {{"f", "", std::move(body)}});
}
inline std::shared_ptr<const Executable> OnInt64(Body body) {
  return LoadForward("int64[]", "int64[]", std::move(body));
}

// main(n): calls h0(i) for i = n .. 1, and gives the sum of what it gives.
inline std::shared_ptr<const Executable> Loop(Body body) {
  return LoadHost(".host \"f\" (int64[]) -> int64[]\n" + ScalarProgram(1, R"(
L0:
  tensor.box r1, i0, int64
  call.host r2, h0, [r1!]
  tensor.item i1, r2!, int64, 0
  add.i i15, i15, i1
  addimm.i i0, i0, -1
  br.if i0, L0)"),
                  {{"f", "fn (int64) -> int64", std::move(body)}});
}

inline Result<Value> Identity(HostCall& call) { return call.args()[0]; }
inline Result<Value> SuspendForever(HostCall& call) {
  RELAYVM_RETURN_IF_ERROR(call.Suspend());
  return Status(StatusCode::kInternal, "nobody woke it");
}

}  // namespace relayvm::testing
