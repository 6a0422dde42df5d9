// Runs main of an executable by the minimal runtime, and prints what vmrun would, or what failed.
//
//   run_minimal MODEL.vmx [INPUT...]     a literal for each parameter (tools/values/literal.h)
//
// Status 0: done, 2: a bad input or file, 3: the program failed.
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "tools/values/flat_value.h"
#include "tools/values/literal.h"
#include "tools/values/print.h"
#include "tools/values/types.h"
#include "vm/api/relayvm.h"

namespace relayvm::tools {
namespace {

constexpr int kBad = 2, kFailed = 3;

int Fail(int code, const Status& status) {
  std::printf("%s\n", status.message().c_str());
  return code;
}

int Main(std::span<char*> args) {
  if (args.empty()) return Fail(kBad, {StatusCode::kInvalidArgument, "expected a .vmx file"});
  const Result<std::shared_ptr<const Executable>> executable = Executable::Load(args[0]);
  if (!executable.ok()) return Fail(kBad, executable.status());
  const ExportInfo* function = (*executable)->FindExport("main");
  if (function == nullptr || args.size() - 1 != function->params.size())
    return Fail(kBad, {StatusCode::kInvalidArgument, "expected an input for each parameter"});
  TypeTable types((*executable)->program());
  std::vector<Value> inputs;
  for (const ValueType& type : function->params) {
    const TypeTable::Id id = types.InternOf(*function, type);
    Result<Value> input = ParseLiteral(args[inputs.size() + 1], types, id, inputs.size() + 1);
    if (!input.ok()) return Fail(kBad, input.status());
    inputs.push_back(*std::move(input));
  }
  const auto runtime = Runtime::Create();
  if (!runtime.ok()) return Fail(kBad, runtime.status());
  const auto invocation = Invocation::Create(*runtime, *executable, {.memory_limit = 64 << 20});
  if (!invocation.ok()) return Fail(kBad, invocation.status());
  const auto run = [&]() -> Result<std::string> {
    RELAYVM_ASSIGN_OR_RETURN(const Value result, (*invocation)->Run("main", inputs));
    RELAYVM_ASSIGN_OR_RETURN(const FlatValue flat,
                             Flatten(result, types, types.InternOf(*function, function->result)));
    return PrintRelay(flat);
  };
  // Twice: nothing is left of the first.
  const Result<std::string> first = run(), second = run();
  const std::string text = first.ok() ? *first : first.status().message();
  if (text != (second.ok() ? *second : second.status().message()))
    return Fail(kFailed, {StatusCode::kInternal, "the second run differs"});
  std::printf("%s\n", text.c_str());
  return first.ok() ? 0 : kFailed;
}

}  // namespace
}  // namespace relayvm::tools

int main(int argc, char** argv) {
  return relayvm::tools::Main(std::span(argv, static_cast<size_t>(argc)).subspan(1));
}
