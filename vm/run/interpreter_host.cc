// Calls of host functions: objects become values and back, and what comes back is checked.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "bytecode/base/guarded.h"
#include "vm/border/border.h"
#include "vm/run/interpreter_dispatch.h"
#include "vm/run/interpreter_impl.h"
#include "vm/run/linked_program.h"

namespace relayvm::vm {
namespace {

Result<Value> Call(const HostFunction& function, HostCall& call) {
  return Guarded([&] { return function.call(call); });
}

std::shared_ptr<const StatusDetail> Shared(StatusDetail detail) {
  return std::make_shared<StatusDetail>(std::move(detail));
}

// Only bytecode that no compiler emits passes anything else.
[[gnu::noinline]] Status CheckArgument(const Program& program, const Value& value,
                                       const ValueType& type, size_t index, BorderPoll* poll) {
  StatusDetail detail;
  const std::string problem = CheckType(program, value.object(), type, &detail, poll);
  if (problem.empty()) return OkStatus();
  return {StatusCode::kInvalidInput, fmt::format("parameter {}: {}", index, problem),
          Shared(std::move(detail))};
}

[[gnu::noinline]] Status CheckResult(const Program& program, std::span<const Value> args,
                                     const Value& result, const ValueType& type,
                                     const SignatureDims& dims, BorderPoll* poll) {
  StatusDetail detail;
  std::string problem = CheckType(program, result.object(), type, &detail, poll);
  if (!problem.empty()) problem.insert(0, "result: ");
  if (problem.empty() && !poll->stopped() && !dims.empty()) {
    SignatureDims::Mismatch wrong = dims.Check(program, args, result.object(), {}, poll);
    problem = std::move(wrong.text);
    if (!problem.empty()) detail = std::move(wrong.detail);
  }
  if (problem.empty()) return OkStatus();
  return {StatusCode::kFailedPrecondition, problem, Shared(std::move(detail))};
}

}  // namespace

// In three parts, so that a run which waits here keeps little on its native stack.
bool Interpreter::CallHost(Frame* frame, const uint16_t* pc) {
  const HostFunctionInfo& info = executable_.program().host_functions[pc[2]];
  BorderPoll poll(
      [](void* context) {
        return Interrupted(*static_cast<InterpreterContext*>(context), /*may_yield=*/true);
      },
      &context_);
  std::vector<Value> args;
  if (!ExportHostArguments(frame, pc, &args, &poll)) return false;
  ++counters_.host_calls;
  HostCall call(context_, executable_, info.name, args);
  const int64_t begin = context_.trace == nullptr ? 0 : NowNanoseconds();
  const Result<Value> result = Call(linked_.host_functions[pc[2]], call);
  if (context_.trace != nullptr) TraceHostCall(frame, pc, begin);
  fuel_ = 0;  // it may have taken long
  return ImportHostResult(frame, pc, args, result, &poll);
}

[[gnu::noinline]] bool Interpreter::ExportHostArguments(Frame* frame, const uint16_t* pc,
                                                        std::vector<Value>* args,
                                                        BorderPoll* poll) {
  const Program& program = executable_.program();
  const HostFunctionInfo& info = program.host_functions[pc[2]];
  const std::shared_ptr<const Executable> executable = executable_.shared_from_this();
  Object** objects = frame->objects();
  args->reserve(pc[3]);
  for (const uint16_t* operand = pc + 4; operand != pc + 4 + pc[3]; ++operand) {
    Object*& object = objects[*operand & kRegisterMask];
    const bool last_use = (*operand & kTakeBit) != 0;
    Result<Value> value =
        ExportArgument(heap_, executable, object, last_use, poll, context_.strings);
    if (!value.ok()) return FailHost(frame, pc, value.status());
    // The host's value is what keeps it, for as long as the call waits.
    if (last_use) Release(heap_, std::exchange(object, Empty()));
    const ValueType& type = info.params[args->size()];
    if (!IsTensorOf(value->object(), type)) {
      const Status wrong = CheckArgument(program, *value, type, args->size(), poll);
      if (poll->stopped()) return FailHostStopped(frame, pc, *poll);
      if (!wrong.ok()) return FailHost(frame, pc, wrong);
    }
    args->push_back(*std::move(value));
  }
  return true;
}

[[gnu::noinline]] bool Interpreter::ImportHostResult(Frame* frame, const uint16_t* pc,
                                                     std::span<const Value> args,
                                                     const Result<Value>& result,
                                                     BorderPoll* poll) {
  const Program& program = executable_.program();
  const HostFunctionInfo& info = program.host_functions[pc[2]];
  if (!result.ok() && result.status().ok()) {
    return FailHost(frame, pc, {StatusCode::kInternal, "it gave neither a value nor a failure"});
  }
  if (!result.ok()) return FailHost(frame, pc, result.status());
  if (!IsTensorOf(result->object(), info.result) || !linked_.host_dims[pc[2]].empty()) {
    const Status wrong =
        CheckResult(program, args, *result, info.result, linked_.host_dims[pc[2]], poll);
    if (poll->stopped()) return FailHostStopped(frame, pc, *poll);
    if (!wrong.ok()) return FailHost(frame, pc, wrong);
  }
  Object* object = ImportValue(heap_, *result, poll, context_.strings);
  if (poll->stopped()) return FailHostStopped(frame, pc, *poll);
  if (object == nullptr) {
    return FailMemory(frame, pc, fmt::format("the result of host function {}", info.name).c_str(),
                      0, info.name);
  }
  Release(heap_, std::exchange(frame->objects()[pc[1]], object));
  return true;
}

[[gnu::noinline]] void Interpreter::TraceHostCall(Frame* frame, const uint16_t* pc, int64_t begin) {
  context_.trace->OnHostCall({context_.traced_run(executable_), pc[2],
                              executable_.program().host_functions[pc[2]].name, begin,
                              NowNanoseconds(), frame->function->index,
                              static_cast<uint32_t>(pc - frame->function->code)});
}

bool Interpreter::FailHostStopped(Frame* frame, const uint16_t* pc, const BorderPoll& poll) {
  return FailHost(frame, pc, {poll.answer(), InterruptMessage(poll.answer())});
}

bool Interpreter::FailHost(Frame* frame, const uint16_t* pc, const Status& status) {
  const std::string& name = executable_.program().host_functions[pc[2]].name;
  StatusDetail detail = status.detail() == nullptr ? StatusDetail() : *status.detail();
  detail.subject = name;
  return Fail(frame, pc, status.code(), fmt::format("host function {}: {}", name, status.message()),
              std::move(detail));
}

}  // namespace relayvm::vm
