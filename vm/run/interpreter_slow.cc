// What the dispatch loop does seldom: errors, polls, allocation of tensors, traces; and the way
// into it. Kernels are in interpreter_kernel.cc.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bytecode/base/shape_rule.h"
#include "bytecode/scalar_ops.h"
#include "bytecode/semantics.h"
#include "vm/border/output_places.h"
#include "vm/kernels/failure.h"
#include "vm/kernels/tensor_ops.h"
#include "vm/run/device_run.h"
#include "vm/run/interpreter_dispatch.h"
#include "vm/run/interpreter_impl.h"
#include "vm/run/places.h"
#include "vm/trace/sampling.h"

namespace relayvm::vm {
namespace {

// What an instruction on scalars that has failed fails for: it is run again.
struct FailureFinder : ScalarOps {
  const uint64_t* registers;
  ScalarFailure<uint64_t> failure{};

  explicit FailureFinder(const uint64_t* scalars) : registers(scalars) {}
  uint64_t Scalar(uint16_t reg) const { return registers[reg]; }
  void SetScalar(uint16_t, uint64_t) {}
  template <typename Fn>
  void Require(bool ok, const Fn& fails) {
    if (!ok) failure = fails();
  }
  template <typename Fn>
  void Fail(const Fn& fails) {
    failure = fails();
  }
};

}  // namespace

// --- Errors ---

StatusPlace Interpreter::PlaceOf(const FunctionCode* function, const uint16_t* pc) const {
  return executable_.PlaceOf(function->index, static_cast<uint32_t>(pc - function->code));
}

// A program that fails never gives kInvalidArgument, which is about what the host passed.
bool Interpreter::Fail(Frame* frame, const uint16_t* pc, Failure failure) {
  std::vector<StatusPlace> places = {PlaceIn(executable_.program(), frame->function->index,
                                             static_cast<uint32_t>(pc - frame->function->code),
                                             failure.check)};
  const uint16_t* return_pc = frame->return_pc;
  Frame* caller = frame->caller;
  // return_pc is after the call, so one unit before it is inside.
  for (; caller != nullptr && places.size() <= kMostCallersShown; caller = caller->caller) {
    places.push_back(PlaceOf(caller->function, return_pc - 1));
    return_pc = caller->return_pc;
  }
  uint64_t more = 0;
  for (; caller != nullptr; caller = caller->caller) ++more;
  error_ = MakeStatus(std::move(failure), std::move(places), more);
  return false;
}

bool Interpreter::Fail(Frame* frame, const uint16_t* pc, StatusCode code,
                       const std::string& message, StatusDetail detail) {
  return Fail(frame, pc, Failure{code, message, std::move(detail)});
}

bool Interpreter::FailKind(Frame* frame, const uint16_t* pc, ObjectKind expected,
                           const Object* found) {
  return Fail(frame, pc, StatusCode::kInvalidInput,
              fmt::format("{} needs {}, found {}", GetOpcodeInfo(static_cast<Opcode>(*pc)).mnemonic,
                          ObjectKindName(expected), ObjectKindName(found->kind)),
              {.expected_text = std::string(ObjectKindName(expected)),
               .found_text = std::string(ObjectKindName(found->kind))});
}

bool Interpreter::FailScalar(Frame* frame, const uint16_t* pc) {
  FailureFinder finder(frame->scalars());
  const auto opcode = static_cast<Opcode>(*pc);
  RunFallible(finder, opcode, pc);
  const ScalarFailure<uint64_t>& found = finder.failure;
  return Fail(frame, pc,
              ScalarFailureOf(found.kind, opcode, executable_.program().messages[found.message],
                              {found.shown.begin(), found.shown.end()}));
}

bool Interpreter::FailMemory(Frame* frame, const uint16_t* pc, const char* what, size_t bytes,
                             const std::string& subject) {
  return Fail(frame, pc, MemoryFailure(heap_, what, bytes, subject));
}

bool Interpreter::GrowStack(Frame* frame, const uint16_t* pc, const FunctionCode* callee,
                            const char* end) {
  switch (context_.stack->Grow(heap_, end)) {
    case VmStack::Growth::kDone:
      stack_end_ = context_.stack->end();
      return true;
    case VmStack::Growth::kAtReserve:
      return FailStack(frame, pc, callee);
    case VmStack::Growth::kAtLimit:
      break;
  }
  return FailMemory(frame, pc, "the stack of calls");
}

bool Interpreter::FailStack(Frame* frame, const uint16_t* pc, const FunctionCode* callee) {
  uint64_t depth = 0;
  for (Frame* f = frame; f != nullptr; f = f->caller) ++depth;
  return Fail(
      frame, pc, StatusCode::kResourceExhausted,
      fmt::format("stack overflow: {} calls deep at the call of {}, in {} bytes; {}, or make "
                  "the recursion a tail call",
                  depth, executable_.program().functions[callee->index].name,
                  context_.stack->reserved_bytes(), context_.stack->advice()),
      {.subject = executable_.program().functions[callee->index].name,
       .numbers = {static_cast<int64_t>(depth),
                   static_cast<int64_t>(context_.stack->reserved_bytes())}});
}

bool Interpreter::FailKernel(Frame* frame, const uint16_t* pc, uint32_t kernel, int32_t code,
                             const KernelCall* call) {
  return Fail(frame, pc, runner_.FailureOf(executable_.program().kernels[kernel].name, code, call));
}

bool Interpreter::FailField(Frame* frame, const uint16_t* pc, uint64_t field, uint64_t count,
                            const char* what) {
  return Fail(frame, pc, StatusCode::kInvalidInput,
              fmt::format("{}: {} {} of {}", GetOpcodeInfo(static_cast<Opcode>(*pc)).mnemonic, what,
                          field, count),
              {.numbers = {static_cast<int64_t>(field), static_cast<int64_t>(count)}});
}

bool Interpreter::FailItem(Frame* frame, const uint16_t* pc, const Tensor* tensor, uint16_t dtype,
                           int64_t position) {
  return Fail(frame, pc, ItemFailure(*tensor, static_cast<DType>(dtype), position));
}

// --- Polls ---

bool Interpreter::Poll(Frame* frame, const uint16_t* pc) {
  fuel_ = kFuel;
  const StatusCode reason = Interrupted(context_, /*may_yield=*/true);
  return reason == StatusCode::kOk || Fail(frame, pc, reason, InterruptMessage(reason));
}

StatusCode Interrupted(const InterpreterContext& context, bool may_yield) {
  const StatusCode reason = Interrupted(context);
  // Only this thread may look at yield_at: a slice ends and the next one begins on it.
  if (reason != StatusCode::kOk || !may_yield || context.yield_at == INT64_MAX ||
      NowNanoseconds() < context.yield_at)
    return reason;
  context.yield(context.yield_context);
  return Interrupted(context);
}

// --- Closures ---

const FunctionCode* Interpreter::ClosureFunction(Frame* frame, const uint16_t* pc,
                                                 const Object* callee, uint32_t num_args) {
  if (callee->kind != ObjectKind::kClosure) {
    FailKind(frame, pc, ObjectKind::kClosure, callee);
    return nullptr;
  }
  auto* closure = static_cast<const Closure*>(callee);
  const FunctionCode* function = &linked_.functions[closure->function];
  if (closure->num_captured + num_args == function->num_object_args &&
      function->num_scalar_args == 0 && !function->returns_scalar) {
    return function;
  }
  Fail(frame, pc, StatusCode::kInvalidInput,
       fmt::format("closure of {} is called with {} arguments and {} captured values, takes {}",
                   executable_.program().functions[closure->function].name, num_args,
                   closure->num_captured, function->num_object_args),
       {.subject = executable_.program().functions[closure->function].name,
        .expected = {function->num_object_args},
        .found = {int64_t{num_args} + closure->num_captured}});
  return nullptr;
}

// --- Tensors ---

// Room for so many dims, on the stack of who asks, as far as there are some: 255 would be the first
// thing that makes a run which waits for its host hold another page of native stack.
#define RELAYVM_DIMS_ON_STACK(rank) \
  static_cast<int64_t*>(__builtin_alloca(sizeof(int64_t) * std::min<uint32_t>(rank, kMaxRank)))

// Inlined, as NewTensorOf below: a step of a small program is little more than its dims.
[[gnu::always_inline]] inline int64_t Interpreter::GatherDims(Frame* frame, const uint16_t* pc,
                                                              DType dtype, const uint16_t* regs,
                                                              uint32_t rank, int64_t* dims) {
  if (rank > kMaxRank) [[unlikely]]
    return FailDims(frame, pc, regs, rank);
  const uint64_t* scalars = frame->scalars();
  for (uint32_t i = 0; i < rank; ++i) dims[i] = static_cast<int64_t>(scalars[regs[i]]);
  const int64_t bytes = CheckedTensorBytes(dtype, {dims, rank});
  if (bytes < 0) [[unlikely]]
    return FailDims(frame, pc, regs, rank);
  return bytes;
}

int64_t Interpreter::FailDims(Frame* frame, const uint16_t* pc, const uint16_t* regs,
                              uint32_t rank) {
  if (rank > kMaxRank) {
    Fail(frame, pc, StatusCode::kUnsupported,
         fmt::format("a tensor of rank {}, above {}", rank, kMaxRank),
         {.expected = {kMaxRank}, .found = {rank}});
    return -1;
  }
  std::vector<int64_t> dims(rank);
  for (uint32_t i = 0; i < rank; ++i) dims[i] = static_cast<int64_t>(frame->scalars()[regs[i]]);
  Fail(frame, pc, DimsFailure(dims));
  return -1;
}

bool Interpreter::CheckTensorDims(Frame* frame, const uint16_t* pc, const uint16_t* regs,
                                  uint32_t rank, uint16_t message) {
  int64_t* dims = RELAYVM_DIMS_ON_STACK(rank);
  const uint64_t* scalars = frame->scalars();
  rank = std::min<uint32_t>(rank, kMaxRank);
  for (uint32_t i = 0; i < rank; ++i) dims[i] = static_cast<int64_t>(scalars[regs[i]]);
  if (IsPossibleShape({dims, rank})) return true;
  return Fail(frame, pc, ShapeFailure(executable_.program().messages[message], {dims, rank}));
}

const uint16_t* Interpreter::ApplyRule(Frame* frame, const uint16_t* pc) {
  uint64_t* scalars = frame->scalars();
  const uint16_t* at = pc + 1;
  const uint16_t* results = at;
  at += 1 + *at;
  const auto rule = static_cast<ShapeRule>(*at++);
  const uint64_t zeros = Imm64(at);
  at += 4;
  int64_t numbers[2][kMaxShapeNumbers];
  uint16_t counts[2];
  for (int list = 0; list < 2; ++list) {
    counts[list] = *at++;
    for (int64_t* to = numbers[list]; to != numbers[list] + counts[list]; ++to) {
      *to = static_cast<int64_t>(scalars[*at++]);
    }
  }
  int64_t shape[kMaxShapeNumbers];
  const Status status = ApplyShapeRule(rule, {numbers[0], counts[0]}, {numbers[1], counts[1]},
                                       zeros, {shape, results[0]});
  if (!status.ok()) {
    Fail(frame, pc,
         RuleFailure(executable_.program().messages[*at], status, {numbers[0], counts[0]},
                     {numbers[1], counts[1]}));
    return nullptr;
  }
  for (uint16_t i = 0; i < results[0]; ++i) {
    scalars[results[1 + i]] = static_cast<uint64_t>(shape[i]);
  }
  return at + 1;
}

// Inlined: allocations of open shape are frequent.
[[gnu::always_inline]] inline Tensor* Interpreter::NewTensorOf(Frame* frame, const uint16_t* pc,
                                                               DType dtype,
                                                               std::span<const int64_t> dims,
                                                               int64_t bytes) {
  Tensor* tensor =
      NewTensor(heap_, dtype, static_cast<int>(dims.size()), static_cast<size_t>(bytes));
  if (tensor == nullptr) {
    FailMemory(frame, pc, TensorText(bytes, dims).c_str(), static_cast<size_t>(bytes));
    return nullptr;
  }
  std::copy(dims.begin(), dims.end(), tensor->dims);
  return tensor;
}

Tensor* Interpreter::NewTensorChecked(Frame* frame, const uint16_t* pc, DType dtype,
                                      const uint16_t* regs, uint32_t rank) {
  int64_t* dims = RELAYVM_DIMS_ON_STACK(rank);
  int64_t bytes = GatherDims(frame, pc, dtype, regs, rank, dims);
  if (bytes < 0) return nullptr;
  if (pc[2] > 0xFF) [[unlikely]]
    return NewOnDevice(frame, pc, pc[2] >> 8, dtype, {dims, rank}, bytes);
  if (context_.places != nullptr) [[unlikely]] {
    if (Tensor* output = NewOutput(frame, pc, dtype, {dims, rank}, bytes)) return output;
  }
  return NewTensorOf(frame, pc, dtype, {dims, rank}, bytes);
}

Tensor* Interpreter::NewOutput(Frame* frame, const uint16_t* pc, DType dtype,
                               std::span<const int64_t> dims, int64_t bytes) {
  // Calls of the same function are others' results.
  if (reinterpret_cast<char*>(frame) != context_.stack->begin()) return nullptr;
  char* data = context_.places->Find(pc, bytes);
  if (data == nullptr) return nullptr;
  Tensor* tensor = NewOutputTensor(heap_, dtype, static_cast<int>(dims.size()), data,
                                   static_cast<size_t>(bytes));
  if (tensor != nullptr) std::ranges::copy(dims, tensor->dims);
  return tensor;
}

Tensor* Interpreter::NewStaticTensor(Frame* frame, const uint16_t* pc, uint16_t type) {
  const TensorTypeInfo& info = executable_.program().tensor_types[type];
  int64_t bytes = CheckedTensorBytes(info.dtype, info.dims);
  if (info.dims.size() > kMaxRank || bytes < 0) {
    Fail(frame, pc, StatusCode::kUnsupported, "a tensor of rank above 255, or too large",
         {.found = info.dims});
    return nullptr;
  }
  if (info.device != 0) [[unlikely]]
    return NewOnDevice(frame, pc, info.device, info.dtype, info.dims, bytes);
  if (context_.places != nullptr) [[unlikely]] {
    if (Tensor* output = NewOutput(frame, pc, info.dtype, info.dims, bytes)) return output;
  }
  return NewTensorOf(frame, pc, info.dtype, info.dims, bytes);
}

Tensor* Interpreter::View(Frame* frame, const uint16_t* pc, Object* from, bool take,
                          const uint16_t* regs, uint32_t rank) {
  auto* tensor = static_cast<Tensor*>(from);
  int64_t* dims = RELAYVM_DIMS_ON_STACK(rank);
  int64_t bytes = GatherDims(frame, pc, tensor->dtype, regs, rank, dims);
  if (bytes < 0) return nullptr;
  if (static_cast<size_t>(bytes) > tensor->bytes()) {
    Fail(frame, pc, ViewFailure({dims, rank}, *tensor));
    return nullptr;
  }
  Tensor* view = ViewTensor(heap_, tensor, take, {dims, rank}, bytes);
  if (view == nullptr) FailMemory(frame, pc, "a view of a tensor");
  return view;
}

namespace {

// Without memcmp, whose call costs more than the few dims there are.
bool SameDims(const int64_t* a, const int64_t* b, uint32_t rank) {
  int64_t differs = 0;
  for (uint32_t i = 0; i < rank; ++i) differs |= a[i] ^ b[i];
  return differs == 0;
}

}  // namespace

Tensor* Interpreter::Reuse(Frame* frame, const uint16_t* pc, Object* from, bool take, DType dtype,
                           const uint16_t* regs, uint32_t rank) {
  auto* tensor = static_cast<Tensor*>(from);
  int64_t* dims = RELAYVM_DIMS_ON_STACK(rank);
  int64_t bytes = GatherDims(frame, pc, dtype, regs, rank, dims);
  if (bytes < 0) return nullptr;
  if (context_.places != nullptr) [[unlikely]] {
    if (Tensor* output = NewOutput(frame, pc, dtype, {dims, rank}, bytes)) return output;
  }
  // Only local objects have a count of 1; so must the one that owns the memory.
  bool alone = IsUnique(tensor) && (tensor->storage() != Storage::kView || IsUnique(tensor->owner));
  if (!take) {
    // The kernel that follows reads one register and writes the other: the same tensor in both, or,
    // of another shape, a view of it.
    if (!alone || static_cast<size_t>(bytes) != tensor->bytes())
      return NewTensorOf(frame, pc, dtype, {dims, rank}, bytes);
    if (tensor->dtype == dtype && tensor->rank == rank && SameDims(dims, tensor->dims, rank)) {
      Retain(tensor);
      return tensor;
    }
    Tensor* view =
        NewView(heap_, tensor, static_cast<int>(rank), tensor->data, static_cast<size_t>(bytes));
    if (view == nullptr) {
      FailMemory(frame, pc, "a view of a tensor");
      return nullptr;
    }
    view->dtype = dtype;
    std::copy_n(dims, rank, view->dims);
    return view;
  }
  bool fits = static_cast<int>(rank) <= tensor->room_for_dims() &&
              static_cast<size_t>(bytes) <= tensor->capacity;
  if (!alone || !fits) return NewTensorOf(frame, pc, dtype, {dims, rank}, bytes);
  tensor->dtype = dtype;
  tensor->rank = static_cast<uint8_t>(rank);
  std::copy_n(dims, rank, tensor->dims);
  return tensor;
}

Tensor* Interpreter::Append(Frame* frame, const uint16_t* pc, Object* from, bool take, Object* more,
                            const uint16_t* regs, uint32_t rank) {
  auto* head = static_cast<Tensor*>(from);
  auto* tail = static_cast<Tensor*>(more);
  const auto dtype = static_cast<DType>(pc[4]);
  int64_t* dims = RELAYVM_DIMS_ON_STACK(rank);
  const int64_t bytes = GatherDims(frame, pc, dtype, regs, rank, dims);
  if (bytes < 0) return nullptr;
  if (head->dtype != dtype || tail->dtype != dtype ||
      head->bytes() + tail->bytes() != static_cast<size_t>(bytes)) {
    Fail(frame, pc, AppendFailure(dtype, {dims, rank}, *head, *tail));
    return nullptr;
  }
  Tensor* tensor = AppendTensor(heap_, head, take, tail, dtype, {dims, rank}, bytes);
  if (tensor == nullptr) {
    FailMemory(frame, pc, TensorText(bytes, {dims, rank}).c_str(), static_cast<size_t>(bytes));
  }
  if (tensor != head) fuel_ -= bytes / kBytesPerFuel;
  return tensor;
}

// --- Traces ---

bool Interpreter::TraceKernel(Frame* frame, const uint16_t* pc, const KernelCall& call) {
  until_sample_ = DistanceToSample(kernel_interval_, &context_.sampling);
  KernelEvent event{call.index,
                    executable_.program().kernels[call.index].name,
                    NowNanoseconds(),
                    0,
                    static_cast<uint64_t>(std::max<int64_t>(call.units, 0)),
                    context_.traced_run(executable_),
                    frame->function->index,
                    static_cast<uint32_t>(pc - frame->function->code),
                    1,
                    kernel_interval_,
                    -context_.suspended_ns};
  traced_kernel_ = &event;
  const bool ok = RunKernel(frame, pc, call);
  traced_kernel_ = nullptr;
  if (event.end_ns == 0) event.end_ns = NowNanoseconds();
  event.suspended_ns += context_.suspended_ns;
  context_.trace->OnKernel(event);
  return ok;
}

void Interpreter::TraceInstruction(Frame* frame, const uint16_t* pc) {
  if (!wants_instructions_) return;
  context_.trace->OnInstruction({frame->function->index,
                                 static_cast<uint32_t>(pc - frame->function->code), depth_,
                                 context_.traced_run(executable_)});
}

// --- The way in ---

Status Interpreter::Run(uint32_t function, std::span<Object* const> args, Object** result) {
  const FunctionCode* code = &linked_.functions[function];
  auto* frame = reinterpret_cast<Frame*>(context_.stack->begin());
  const char* end = context_.stack->begin() + code->frame_bytes + code->scratch_bytes;
  if (VmStack::Growth growth = context_.stack->Grow(heap_, end); growth != VmStack::Growth::kDone) {
    if (growth == VmStack::Growth::kAtLimit && heap_.refusal() == Heap::Refusal::kRuntime) {
      return MakeStatus(MemoryFailure(heap_, "the stack of calls"), {PlaceOf(code, code->code)}, 0);
    }
    const size_t limit =
        growth == VmStack::Growth::kAtReserve ? context_.stack->reserved_bytes() : heap_.limit();
    StatusDetail detail{.places = {PlaceOf(code, code->code)},
                        .expected = {static_cast<int64_t>(std::min<uint64_t>(limit, INT64_MAX))},
                        .found = {static_cast<int64_t>(end - context_.stack->begin())}};
    return {
        StatusCode::kResourceExhausted,
        fmt::format("{}: its frame takes {} bytes, the {} is {}; {}",
                    executable_.program().functions[function].name, end - context_.stack->begin(),
                    growth == VmStack::Growth::kAtReserve ? "stack limit" : "memory limit", limit,
                    growth == VmStack::Growth::kAtReserve ? context_.stack->advice() : "raise it"),
        std::make_shared<StatusDetail>(std::move(detail))};
  }
  stack_end_ = context_.stack->end();
  *frame = {code, nullptr, nullptr, nullptr, 0};
  if (code->arena_bytes != 0) {
    frame->arena = context_.arena->Push(code->arena_bytes);
    if (heap_.clears() && frame->arena != nullptr) std::memset(frame->arena, 0, code->arena_bytes);
    if (frame->arena == nullptr) {
      FailMemory(frame, code->code, "the arena of a function", code->arena_bytes);
      return std::move(error_);
    }
  }
  std::fill_n(frame->scalars(), code->num_scalar_registers, 0);
  std::fill_n(frame->objects(), code->num_object_registers, Empty());
  std::copy(args.begin(), args.end(), frame->objects());
  bool ok;
  if (context_.trace == nullptr) {
    ok = Loop<Hooks::kNone>(frame);
  } else {
    wants_instructions_ = context_.trace->wants_instructions();
    kernel_interval_ = context_.trace->kernel_interval();
    until_sample_ = DistanceToSample(kernel_interval_, &context_.sampling);
    ok = wants_instructions_ || kernel_interval_ == 1 ? Loop<Hooks::kAll>(frame)
         : kernel_interval_ != 0                      ? Loop<Hooks::kSampled>(frame)
                                                      : Loop<Hooks::kNone>(frame);
  }
  if (!ok) return std::move(error_);
  *result = result_;
  return OkStatus();
}

Interpreter::Interpreter(const Executable& executable, InterpreterContext& context)
    : executable_(executable),
      linked_(executable.linked()),
      constants_(context.devices == nullptr ? linked_.constants.data()
                                            : context.devices->constants()),
      context_(context),
      heap_(*context.heap),
      counters_(*context.counters),
      parallel_(context.num_threads > 1),
      runner_(
          context,
          [](void* run, bool may_yield) {
            return Interrupted(*static_cast<InterpreterContext*>(run), may_yield);
          },
          &context) {}

Status Interpret(const Executable& executable, InterpreterContext& context, uint32_t function,
                 std::span<Object* const> args, Object** result) {
  return Interpreter(executable, context).Run(function, args, result);
}

}  // namespace relayvm::vm
