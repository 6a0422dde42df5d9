// What the dispatch loop does seldom: errors, polls, allocation of tensors, kernels over a range,
// traces; and the way into it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "bytecode/base/message.h"
#include "bytecode/base/shape_rule.h"
#include "vm/interpreter_dispatch.h"
#include "vm/interpreter_impl.h"

namespace relayvm::vm {
namespace {

// Polls between two looks at the clock.
constexpr int64_t kFuel = 1024;
// Tasks a thread, so that uneven ones even out.
constexpr int64_t kTasksPerThread = 4;
constexpr int kMaxCallersShown = 8;

const char* InterruptMessage(StatusCode reason) {
  return reason == StatusCode::kCancelled ? "cancelled" : "the deadline has passed";
}

std::string ShapeString(std::span<const int64_t> dims) {
  return fmt::format("({})", fmt::join(dims, ", "));
}

}  // namespace

int64_t NowNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// --- Errors ---

std::string Interpreter::Where(const FunctionCode* function, const uint16_t* pc) const {
  const Program& program = executable_.program();
  const FunctionInfo& info = program.functions[function->index];
  auto at = static_cast<uint32_t>(pc - function->code);
  auto after = std::upper_bound(info.locations.begin(), info.locations.end(), at,
                                [](uint32_t unit, const SourceLocation& l) { return unit < l.pc; });
  if (after == info.locations.begin()) return fmt::format("{}+{:#x}", info.name, at);
  const SourceLocation& location = after[-1];
  std::string_view file = "?";
  if (location.file < program.source_files.size()) file = program.source_files[location.file];
  if (location.line == 0) return fmt::format("{} ({})", info.name, file);  // a model's node
  return fmt::format("{} ({}:{}:{})", info.name, file, location.line, location.column);
}

// A program that fails never gives kInvalidArgument, which is about what the host passed.
bool Interpreter::Fail(Frame* frame, const uint16_t* pc, StatusCode code, std::string message) {
  std::string text = fmt::format("{}: {}", Where(frame->function, pc), message);
  int shown = 0;
  const uint16_t* return_pc = frame->return_pc;
  Frame* caller = frame->caller;
  // return_pc is after the call, so one unit before it is inside.
  for (; caller != nullptr && shown < kMaxCallersShown; ++shown) {
    text += fmt::format("\n  called from {}", Where(caller->function, return_pc - 1));
    return_pc = caller->return_pc;
    caller = caller->caller;
  }
  uint64_t more = 0;
  for (; caller != nullptr; caller = caller->caller) ++more;
  if (more > 0) text += fmt::format("\n  and {} more calls", more);
  error_ = Status(code, std::move(text));
  return false;
}

bool Interpreter::FailKind(Frame* frame, const uint16_t* pc, ObjectKind expected,
                           const Object* found) {
  return Fail(frame, pc, StatusCode::kInvalidInput,
              fmt::format("{} needs {}, found {}", GetOpcodeInfo(static_cast<Opcode>(*pc)).mnemonic,
                          ObjectKindName(expected), ObjectKindName(found->kind)));
}

bool Interpreter::FailGuard(Frame* frame, const uint16_t* pc, uint64_t a, uint64_t b,
                            uint16_t message) {
  return Fail(frame, pc, StatusCode::kFailedPrecondition,
              fmt::format("{} ({} and {})", executable_.program().messages[message],
                          static_cast<int64_t>(a), static_cast<int64_t>(b)));
}

bool Interpreter::FailDim(Frame* frame, const uint16_t* pc, int64_t a, int64_t b) {
  const auto opcode = static_cast<Opcode>(*pc);
  const char* sign = opcode == Opcode::kDimMul   ? "x"
                     : opcode == Opcode::kDimSub ? "-"
                     : opcode == Opcode::kDimAdd || opcode == Opcode::kDimAddImm
                         ? "+"
                         : (opcode == Opcode::kDimFloorDiv ? "floordiv" : "floormod");
  const bool zero = (opcode == Opcode::kDimFloorDiv || opcode == Opcode::kDimFloorMod) && b == 0;
  return Fail(frame, pc, StatusCode::kFailedPrecondition,
              fmt::format("{}: {} {} {} {}", executable_.program().messages[pc[4]], a, sign, b,
                          zero ? "divides by 0" : "is beyond the largest size"));
}

bool Interpreter::FailCheck(Frame* frame, const uint16_t* pc, uint16_t message,
                            const uint16_t* list) {
  const uint64_t* scalars = frame->scalars();
  std::vector<int64_t> values;
  for (uint32_t i = 0; i < list[0]; ++i)
    values.push_back(static_cast<int64_t>(scalars[list[1 + i]]));
  return Fail(frame, pc, StatusCode::kFailedPrecondition,
              FillMessage(executable_.program().messages[message], values));
}

bool Interpreter::FailTrap(Frame* frame, const uint16_t* pc, uint16_t message) {
  return Fail(frame, pc, StatusCode::kFailedPrecondition, executable_.program().messages[message]);
}

bool Interpreter::FailMemory(Frame* frame, const uint16_t* pc, const char* what) {
  HeapStats stats = heap_.stats();
  return Fail(frame, pc, StatusCode::kResourceExhausted,
              fmt::format("no memory for {}: {} bytes are in use of {}; raise the memory limit",
                          what, stats.live_bytes, heap_.limit()));
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
  return Fail(frame, pc, StatusCode::kResourceExhausted,
              fmt::format("stack overflow: {} calls deep at the call of {}, in {} bytes; raise "
                          "the stack limit, or make the recursion a tail call",
                          depth, executable_.program().functions[callee->index].name,
                          context_.stack->reserved_bytes()));
}

bool Interpreter::FailKernel(Frame* frame, const uint16_t* pc, uint32_t kernel, int32_t code) {
  const std::string& name = executable_.program().kernels[kernel].name;
  switch (code) {
    case RELAYVM_KERNEL_INDEX_OUT_OF_RANGE:
      return Fail(frame, pc, StatusCode::kOutOfRange,
                  fmt::format("kernel {}: index out of range", name));
    case RELAYVM_KERNEL_INVALID_ARGUMENT:
      return Fail(frame, pc, StatusCode::kFailedPrecondition,
                  fmt::format("kernel {}: invalid argument", name));
    case RELAYVM_KERNEL_STOPPED: {
      StatusCode reason = Interrupted(/*may_yield=*/false);
      if (reason == StatusCode::kOk) reason = StatusCode::kCancelled;  // its own decision
      return Fail(frame, pc, reason, fmt::format("kernel {}: {}", name, InterruptMessage(reason)));
    }
    case RELAYVM_KERNEL_OUT_OF_MEMORY:
      return FailMemory(frame, pc, fmt::format("the buffers of kernel {}", name).c_str());
    default:
      return Fail(frame, pc, StatusCode::kInternal,
                  fmt::format("kernel {}: failed with code {}", name, code));
  }
}

bool Interpreter::FailField(Frame* frame, const uint16_t* pc, uint64_t field, uint64_t count,
                            const char* what) {
  return Fail(frame, pc, StatusCode::kInvalidInput,
              fmt::format("{}: {} {} of {}", GetOpcodeInfo(static_cast<Opcode>(*pc)).mnemonic, what,
                          field, count));
}

bool Interpreter::FailItem(Frame* frame, const uint16_t* pc, const Tensor* tensor, uint16_t dtype,
                           int64_t position) {
  return Fail(frame, pc, StatusCode::kInvalidInput,
              fmt::format("tensor.item: element {} of {}, tensor is {} of shape {}", position,
                          DTypeName(static_cast<DType>(dtype)), DTypeName(tensor->dtype),
                          ShapeString(tensor->shape())));
}

// --- Polls ---

bool Interpreter::Poll(Frame* frame, const uint16_t* pc) {
  fuel_ = kFuel;
  StatusCode reason = Interrupted(/*may_yield=*/true);
  return reason == StatusCode::kOk || Fail(frame, pc, reason, InterruptMessage(reason));
}

StatusCode Interpreter::Interrupted(bool may_yield) {
  if (context_.stop->load(std::memory_order_acquire) != 0) return StatusCode::kCancelled;
  // Only this thread may look at yield_at: a slice ends and the next one begins on it.
  const bool sliced = may_yield && context_.yield_at != INT64_MAX;
  if (context_.deadline == INT64_MAX && !sliced) return StatusCode::kOk;
  int64_t now = NowNanoseconds();
  if (now >= context_.deadline) return StatusCode::kDeadlineExceeded;
  if (!sliced || now < context_.yield_at) return StatusCode::kOk;
  context_.yield(context_.yield_context);
  return Interrupted(/*may_yield=*/false);
}

int32_t Interpreter::PollKernel(const RelayvmKernelEnv* env) {
  Interpreter* self = static_cast<const KernelEnv*>(env)->interpreter;
  bool own_thread = env == &self->env_;
  return self->Interrupted(own_thread) == StatusCode::kOk ? RELAYVM_KERNEL_OK
                                                          : RELAYVM_KERNEL_STOPPED;
}

void* Interpreter::AllocateForKernel(const RelayvmKernelEnv* env, uint64_t bytes) {
  Heap& heap = static_cast<const KernelEnv*>(env)->interpreter->heap_;
  if (bytes > Heap::kMaxSmall) return heap.AllocateLarge(bytes);
  return heap.AllocateSmall(std::max<uint64_t>(bytes, 1));
}

void Interpreter::ReleaseForKernel(const RelayvmKernelEnv* env, void* memory, uint64_t bytes) {
  Heap& heap = static_cast<const KernelEnv*>(env)->interpreter->heap_;
  if (bytes > Heap::kMaxSmall) return heap.FreeLarge(memory, bytes);
  heap.FreeSmall(memory);
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
                   closure->num_captured, function->num_object_args));
  return nullptr;
}

// --- Tensors ---

int64_t Interpreter::GatherDims(Frame* frame, const uint16_t* pc, DType dtype, const uint16_t* regs,
                                uint32_t rank, int64_t* dims) {
  if (rank > kMaxRank) {
    Fail(frame, pc, StatusCode::kUnsupported,
         fmt::format("a tensor of rank {}, above {}", rank, kMaxRank));
    return -1;
  }
  const uint64_t* scalars = frame->scalars();
  for (uint32_t i = 0; i < rank; ++i) dims[i] = static_cast<int64_t>(scalars[regs[i]]);
  int64_t bytes = CheckedTensorBytes(dtype, {dims, rank});
  if (bytes >= 0) return bytes;
  bool negative = std::any_of(dims, dims + rank, [](int64_t d) { return d < 0; });
  Fail(frame, pc, negative ? StatusCode::kFailedPrecondition : StatusCode::kResourceExhausted,
       fmt::format("a tensor of shape {}: {}", ShapeString({dims, rank}),
                   negative ? "a dimension is negative" : "its size overflows"));
  return -1;
}

bool Interpreter::CheckTensorDims(Frame* frame, const uint16_t* pc, const uint16_t* regs,
                                  uint32_t rank, uint16_t message) {
  constexpr int64_t kLimit = int64_t{1} << 60;
  const uint64_t* scalars = frame->scalars();
  int64_t elements = 1;
  bool possible = true;
  for (uint32_t i = 0; i < rank; ++i) {
    const auto dim = static_cast<int64_t>(scalars[regs[i]]);
    if (dim == 0) continue;
    possible = dim > 0 && elements <= kLimit / dim;
    if (!possible) break;
    elements *= dim;
  }
  if (possible) return true;
  std::vector<int64_t> dims;
  for (uint32_t i = 0; i < rank; ++i) dims.push_back(static_cast<int64_t>(scalars[regs[i]]));
  return Fail(frame, pc, StatusCode::kFailedPrecondition,
              fmt::format("{}: no tensor has the shape {}", executable_.program().messages[message],
                          ShapeString(dims)));
}

const uint16_t* Interpreter::ApplyRule(Frame* frame, const uint16_t* pc) {
  uint64_t* scalars = frame->scalars();
  const uint16_t* at = pc + 1;
  const uint16_t* results = at;
  at += 1 + *at;
  const auto rule = static_cast<ShapeRule>(*at++);
  const auto zeros = static_cast<uint64_t>(Imm64(at));
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
    Fail(frame, pc, status.code(),
         fmt::format("{}: {}", executable_.program().messages[*at], status.message()));
    return nullptr;
  }
  for (uint16_t i = 0; i < results[0]; ++i) {
    scalars[results[1 + i]] = static_cast<uint64_t>(shape[i]);
  }
  return at + 1;
}

Tensor* Interpreter::NewTensorChecked(Frame* frame, const uint16_t* pc, DType dtype,
                                      const uint16_t* regs, uint32_t rank) {
  int64_t dims[kMaxRank];
  int64_t bytes = GatherDims(frame, pc, dtype, regs, rank, dims);
  if (bytes < 0) return nullptr;
  Tensor* tensor = NewTensor(heap_, dtype, static_cast<int>(rank), static_cast<size_t>(bytes));
  if (tensor == nullptr) {
    FailMemory(
        frame, pc,
        fmt::format("a tensor of {} bytes, shape {}", bytes, ShapeString({dims, rank})).c_str());
    return nullptr;
  }
  std::copy_n(dims, rank, tensor->dims);
  return tensor;
}

Tensor* Interpreter::NewStaticTensor(Frame* frame, const uint16_t* pc, uint16_t type) {
  const TensorTypeInfo& info = executable_.program().tensor_types[type];
  int64_t bytes = CheckedTensorBytes(info.dtype, info.dims);
  if (info.dims.size() > kMaxRank || bytes < 0) {
    Fail(frame, pc, StatusCode::kUnsupported, "a tensor of rank above 255, or too large");
    return nullptr;
  }
  Tensor* tensor =
      NewTensor(heap_, info.dtype, static_cast<int>(info.dims.size()), static_cast<size_t>(bytes));
  if (tensor == nullptr) {
    FailMemory(
        frame, pc,
        fmt::format("a tensor of {} bytes, shape {}", bytes, ShapeString(info.dims)).c_str());
    return nullptr;
  }
  std::copy(info.dims.begin(), info.dims.end(), tensor->dims);
  return tensor;
}

Tensor* Interpreter::View(Frame* frame, const uint16_t* pc, Object* from, bool take,
                          const uint16_t* regs, uint32_t rank) {
  auto* tensor = static_cast<Tensor*>(from);
  int64_t dims[kMaxRank];
  int64_t bytes = GatherDims(frame, pc, tensor->dtype, regs, rank, dims);
  if (bytes < 0) return nullptr;
  if (static_cast<size_t>(bytes) > tensor->bytes()) {
    Fail(frame, pc, StatusCode::kFailedPrecondition,
         fmt::format("a view of shape {} on a tensor of shape {}", ShapeString({dims, rank}),
                     ShapeString(tensor->shape())));
    return nullptr;
  }
  Tensor* view = tensor;
  bool fits = static_cast<int>(rank) <= tensor->room_for_dims();
  if (take && fits && IsUnique(tensor)) {
    tensor->rank = static_cast<uint8_t>(rank);
  } else {
    view = NewView(heap_, tensor, static_cast<int>(rank), tensor->data, static_cast<size_t>(bytes));
    if (view == nullptr) {
      FailMemory(frame, pc, "a view of a tensor");
      return nullptr;
    }
  }
  std::copy_n(dims, rank, view->dims);
  return view;
}

Tensor* Interpreter::Reuse(Frame* frame, const uint16_t* pc, Object* from, bool take, DType dtype,
                           const uint16_t* regs, uint32_t rank) {
  auto* tensor = static_cast<Tensor*>(from);
  int64_t dims[kMaxRank];
  int64_t bytes = GatherDims(frame, pc, dtype, regs, rank, dims);
  if (bytes < 0) return nullptr;
  // Only local objects have a count of 1; so must the one that owns the memory.
  bool alone = IsUnique(tensor) && (tensor->storage() != Storage::kView || IsUnique(tensor->owner));
  if (!take) {
    // The kernel that follows reads one register and writes the other: the same tensor in both.
    bool same = tensor->dtype == dtype && tensor->rank == rank &&
                std::equal(dims, dims + rank, tensor->dims);
    if (!alone || !same) return NewTensorChecked(frame, pc, dtype, regs, rank);
    Retain(tensor);
    return tensor;
  }
  bool fits = static_cast<int>(rank) <= tensor->room_for_dims() &&
              static_cast<size_t>(bytes) <= tensor->capacity;
  if (!alone || !fits) return NewTensorChecked(frame, pc, dtype, regs, rank);
  tensor->dtype = dtype;
  tensor->rank = static_cast<uint8_t>(rank);
  std::copy_n(dims, rank, tensor->dims);
  return tensor;
}

// --- Kernels over a range ---

ScratchBuffers::~ScratchBuffers() {
  for (Block& b : blocks_) std::free(b.memory);
}

bool ScratchBuffers::Reserve(size_t bytes, uint32_t workers) {
  for (uint32_t i = 0; i < workers; ++i) {
    Block& b = blocks_[i];
    if (b.bytes >= bytes) continue;
    std::free(b.memory);
    size_t rounded = (std::max(bytes, 2 * b.bytes) + 63) & ~size_t{63};
    b.memory = std::aligned_alloc(64, rounded);
    if (b.memory == nullptr && rounded > bytes)
      b.memory = std::aligned_alloc(64, rounded = (bytes + 63) & ~size_t{63});
    b.bytes = b.memory == nullptr ? 0 : rounded;
    if (b.memory == nullptr) return false;
  }
  return true;
}

void ScratchBuffers::Trim(size_t bytes) {
  for (Block& b : blocks_) {
    if (b.bytes <= bytes) continue;
    std::free(b.memory);
    b = {};
  }
}

namespace {

// Units begin..end-1 in one call; those of a kernel that does not poll in chunks, with polls between.
int32_t RunUnits(const KernelEnv& env, const KernelCall& call, const RelayvmKernelArgs& args,
                 uint32_t begin, uint32_t end) {
  constexpr int64_t kGrainsPerChunk = 64;
  if (call.kernel->polls) return call.kernel->fn(&env, &args, begin, end);
  const int64_t chunk = std::clamp<int64_t>(call.grain, 1, UINT32_MAX) * kGrainsPerChunk;
  for (;;) {
    auto next = static_cast<uint32_t>(std::min<int64_t>(begin + chunk, end));
    int32_t code = call.kernel->fn(&env, &args, begin, next);
    if (code != RELAYVM_KERNEL_OK || next == end) return code;
    begin = next;
    code = env.poll(&env);
    if (code != RELAYVM_KERNEL_OK) return code;
  }
}

struct ParallelRange {
  const KernelCall* call;
  const KernelEnv *env, *worker_env;
  const ScratchBuffers* scratch;
  uint64_t units;
  uint32_t num_tasks;
  // The error of the task with the lowest index: task index + 1 (high half) and code; 0 when all
  // went well.
  std::atomic<uint64_t> error{0};
  std::atomic<bool> stopped{false};
};

void RunTask(void* context, uint32_t index, uint32_t worker) {
  auto& range = *static_cast<ParallelRange*>(context);
  if (range.stopped.load(std::memory_order_relaxed)) return;
  RelayvmKernelArgs args = range.call->args;
  args.scratch = range.scratch->of(worker);
  auto begin = static_cast<uint32_t>(range.units * index / range.num_tasks);
  auto end = static_cast<uint32_t>(range.units * (index + 1) / range.num_tasks);
  const KernelEnv& env = worker == 0 ? *range.env : *range.worker_env;
  int32_t code = RunUnits(env, *range.call, args, begin, end);
  if (code == RELAYVM_KERNEL_OK) return;
  if (code == RELAYVM_KERNEL_STOPPED) range.stopped.store(true, std::memory_order_relaxed);
  uint64_t error = uint64_t{index + 1} << 32 | static_cast<uint32_t>(code);
  uint64_t seen = range.error.load(std::memory_order_relaxed);
  while ((seen == 0 || error < seen) && !range.error.compare_exchange_weak(seen, error)) {
  }
}

}  // namespace

int32_t Interpreter::RunRange(const KernelCall& call) {
  // REQUIRES: 0 < units <= UINT32_MAX.
  const uint32_t threads = context_.pool->num_threads();
  const int64_t grain = std::max<int64_t>(call.grain, 1);
  int64_t tasks = 1;
  if (threads > 1)
    tasks = std::min(call.units / grain + (call.units % grain != 0), kTasksPerThread * threads);
  RelayvmKernelArgs args = call.args;
  args.scratch = context_.scratch->of(0);
  if (tasks <= 1) {
#ifndef NDEBUG
    // The last piece first: shows kernels that depend on the order of units.
    constexpr int64_t kPieces = 3;
    for (int64_t piece = kPieces; piece-- > 0;) {
      auto begin = static_cast<uint32_t>(call.units * piece / kPieces);
      auto end = static_cast<uint32_t>(call.units * (piece + 1) / kPieces);
      if (begin == end) continue;
      int32_t code = RunUnits(env_, call, args, begin, end);
      if (code != RELAYVM_KERNEL_OK) return code;
    }
    return RELAYVM_KERNEL_OK;
#else
    return RunUnits(env_, call, args, 0, static_cast<uint32_t>(call.units));
#endif
  }
  ParallelRange range{&call,
                      &env_,
                      &worker_env_,
                      context_.scratch,
                      static_cast<uint64_t>(call.units),
                      static_cast<uint32_t>(tasks)};
  context_.pool->Run(range.num_tasks, RunTask, &range);
  return static_cast<int32_t>(range.error.load(std::memory_order_relaxed));
}

// What a run has used of the scratch buffers stays charged to it.
bool Interpreter::ReserveScratch(size_t bytes, uint32_t workers) {
  if (bytes > SIZE_MAX / workers) return false;
  const size_t total = bytes * workers;
  if (total > charged_scratch_) {
    if (!heap_.Charge(total - charged_scratch_)) return false;
    charged_scratch_ = total;
  }
  return context_.scratch->Reserve(bytes, workers);
}

bool Interpreter::RunKernel(Frame* frame, const uint16_t* pc, const KernelCall& call) {
  if (call.units == 0) return true;
  if (call.units < 0 || call.units > UINT32_MAX) {
    return Fail(frame, pc, StatusCode::kOutOfRange,
                fmt::format("kernel {}: {} units of work",
                            executable_.program().kernels[call.index].name, call.units));
  }
  if (call.scratch_bytes > 0) {
    const uint32_t workers = call.units > 1 ? context_.pool->num_threads() : 1;
    if (!ReserveScratch(static_cast<size_t>(call.scratch_bytes), workers)) {
      return FailMemory(frame, pc,
                        fmt::format("{} bytes of a kernel's scratch, for each of {} threads",
                                    call.scratch_bytes, workers)
                            .c_str());
    }
  }
  int32_t code = RunRange(call);
  if (code != RELAYVM_KERNEL_OK) return FailKernel(frame, pc, call.index, code);
  return true;
}

// --- Traces ---

bool Interpreter::TraceKernel(Frame* frame, const uint16_t* pc, const KernelCall& call) {
  int64_t begin = NowNanoseconds();
  bool ok = RunKernel(frame, pc, call);
  context_.trace->OnKernel({call.index, executable_.program().kernels[call.index].name, begin,
                            NowNanoseconds(),
                            static_cast<uint64_t>(std::max<int64_t>(call.units, 0))});
  return ok;
}

void Interpreter::TraceInstruction(Frame* frame, const uint16_t* pc) {
  if (!context_.trace->wants_instructions()) return;
  context_.trace->OnInstruction(
      {frame->function->index, static_cast<uint32_t>(pc - frame->function->code), depth_});
}

// --- The way in ---

Status Interpreter::Run(uint32_t function, std::span<Object* const> args, Object** result) {
  const FunctionCode* code = &linked_.functions[function];
  auto* frame = reinterpret_cast<Frame*>(context_.stack->begin());
  const char* end = context_.stack->begin() + code->frame_bytes + code->scratch_bytes;
  if (VmStack::Growth growth = context_.stack->Grow(heap_, end); growth != VmStack::Growth::kDone) {
    return {StatusCode::kResourceExhausted,
            fmt::format("{}: its frame is larger than the {}",
                        executable_.program().functions[function].name,
                        growth == VmStack::Growth::kAtReserve
                            ? "stack; raise the stack limit"
                            : "memory limit; raise the memory limit")};
  }
  stack_end_ = context_.stack->end();
  *frame = {code, nullptr, nullptr, nullptr, 0};
  if (code->arena_bytes != 0) {
    frame->arena = context_.arena->Push(code->arena_bytes);
    if (frame->arena == nullptr) {
      FailMemory(frame, code->code, "the arena of a function");
      return std::move(error_);
    }
  }
  std::fill_n(frame->scalars(), code->num_scalar_registers, 0);
  std::fill_n(frame->objects(), code->num_object_registers, Empty());
  std::copy(args.begin(), args.end(), frame->objects());
  bool ok = context_.trace != nullptr ? Loop<true>(frame) : Loop<false>(frame);
  if (!ok) return std::move(error_);
  *result = result_;
  return OkStatus();
}

Interpreter::Interpreter(const Executable& executable, InterpreterContext& context)
    : executable_(executable),
      linked_(executable.linked()),
      context_(context),
      heap_(*context.heap),
      env_{},
      worker_env_{} {
  env_.struct_size = sizeof(RelayvmKernelEnv);
  env_.num_threads = context.pool->num_threads();
  env_.poll = PollKernel;
  env_.interpreter = this;
  worker_env_ = env_;
  // The heap is this thread's; kernels on the pool's threads take malloc's memory.
  env_.allocate = AllocateForKernel;
  env_.release = ReleaseForKernel;
}

Status Interpret(const Executable& executable, InterpreterContext& context, uint32_t function,
                 std::span<Object* const> args, Object** result) {
  return Interpreter(executable, context).Run(function, args, result);
}

}  // namespace relayvm::vm
