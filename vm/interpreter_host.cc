// Calls of host functions: objects become values and back, and what comes back is checked.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "bytecode/base/guarded.h"
#include "vm/border.h"
#include "vm/interpreter_dispatch.h"
#include "vm/interpreter_impl.h"
#include "vm/linked_program.h"

namespace relayvm::vm {
namespace {

Result<Value> Call(const HostFunction& function, HostCall& call) {
  return Guarded([&] { return function.call(call); });
}

std::shared_ptr<const StatusDetail> Shared(StatusDetail detail) {
  return std::make_shared<StatusDetail>(std::move(detail));
}

}  // namespace

bool Interpreter::CallHost(Frame* frame, const uint16_t* pc) {
  const Program& program = executable_.program();
  const HostFunctionInfo& info = program.host_functions[pc[2]];
  const std::shared_ptr<const Executable> executable = executable_.shared_from_this();
  Object** objects = frame->objects();
  StatusDetail detail;
  BorderPoll poll(
      [](void* self) { return static_cast<Interpreter*>(self)->Interrupted(/*may_yield=*/true); },
      this);
  const auto fail_stopped = [&] {
    return FailHost(frame, pc, {poll.answer(), InterruptMessage(poll.answer())});
  };
  std::vector<Value> args;
  args.reserve(pc[3]);
  for (const uint16_t* operand = pc + 4; operand != pc + 4 + pc[3]; ++operand) {
    Object*& object = objects[*operand & kRegisterMask];
    const bool last_use = (*operand & kTakeBit) != 0;
    Result<Value> value = ExportArgument(heap_, executable, object, last_use, &poll);
    if (!value.ok()) return FailHost(frame, pc, value.status());
    // The host's value is what keeps it, for as long as the call waits.
    if (last_use) Release(heap_, std::exchange(object, Empty()));
    // Only bytecode that no compiler emits passes anything else.
    const std::string problem =
        CheckType(program, value->object(), info.params[args.size()], &detail, &poll);
    if (poll.stopped()) return fail_stopped();
    if (!problem.empty()) {
      const std::string text = fmt::format("parameter {}: {}", args.size(), problem);
      return FailHost(frame, pc, {StatusCode::kInvalidInput, text, Shared(std::move(detail))});
    }
    args.push_back(*std::move(value));
  }
  ++counters_.host_calls;
  HostCall call(context_, executable_, info.name, args);
  const int64_t begin = context_.trace == nullptr ? 0 : NowNanoseconds();
  const Result<Value> result = Call(linked_.host_functions[pc[2]], call);
  if (context_.trace != nullptr) {
    context_.trace->OnHostCall({context_.traced_run(executable_), pc[2], info.name, begin,
                                NowNanoseconds(), frame->function->index,
                                static_cast<uint32_t>(pc - frame->function->code)});
  }
  fuel_ = 0;  // it may have taken long
  if (!result.ok() && result.status().ok()) {
    return FailHost(frame, pc, {StatusCode::kInternal, "it gave neither a value nor a failure"});
  }
  if (!result.ok()) return FailHost(frame, pc, result.status());
  std::string problem = CheckType(program, result->object(), info.result, &detail, &poll);
  if (!problem.empty()) problem.insert(0, "result: ");
  if (const SignatureDims& dims = linked_.host_dims[pc[2]];
      problem.empty() && !poll.stopped() && !dims.empty()) {
    SignatureDims::Mismatch wrong = dims.Check(program, args, result->object(), {}, &poll);
    problem = std::move(wrong.text);
    if (!problem.empty()) detail = std::move(wrong.detail);
  }
  if (poll.stopped()) return fail_stopped();
  if (!problem.empty()) {
    return FailHost(frame, pc,
                    {StatusCode::kFailedPrecondition, problem, Shared(std::move(detail))});
  }
  Object* object = ImportValue(heap_, *result, &poll);
  if (poll.stopped()) return fail_stopped();
  if (object == nullptr) {
    return FailMemory(frame, pc, fmt::format("the result of host function {}", info.name).c_str(),
                      0, info.name);
  }
  Release(heap_, std::exchange(objects[pc[1]], object));
  return true;
}

bool Interpreter::FailHost(Frame* frame, const uint16_t* pc, const Status& status) {
  const std::string& name = executable_.program().host_functions[pc[2]].name;
  StatusDetail detail = status.detail() == nullptr ? StatusDetail() : *status.detail();
  detail.subject = name;
  return Fail(frame, pc, status.code(), fmt::format("host function {}: {}", name, status.message()),
              std::move(detail));
}

}  // namespace relayvm::vm
