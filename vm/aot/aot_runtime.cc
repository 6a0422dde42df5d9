#include "vm/aot/aot_runtime.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/message.h"
#include "bytecode/base/shape_rule.h"
#include "bytecode/opcode.h"
#include "vm/allocator.h"
#include "vm/aot/native_program.h"
#include "vm/border.h"
#include "vm/c_api_internal.h"
#include "vm/fiber.h"
#include "vm/object.h"
#include "vm/places.h"
#include "vm/scalar_ops.h"
#include "vm/stack.h"

namespace relayvm::vm {

// The memory of one run; kept for the next ones.
struct NativeProgram::Workspace {
  struct OrphanHeap {
    void operator()(Heap* heap) const { heap->Orphan(); }
  };
  std::unique_ptr<Heap, OrphanHeap> heap{new Heap()};
  StackRegion stacks;
  ArenaStack arena{heap.get()};
};

namespace {

// Of the native stack, what kernels and the runtime need.
constexpr size_t kStackReserve = 256 << 10;

struct AotRun : AotContext {
  const Program* program;
  Heap* heap;
  ArenaStack* arena;
  size_t stack_bytes;
  std::string text;  // of the failure so far
  StatusCode code = StatusCode::kOk;
  StatusDetail detail;
  uint64_t num_callers = 0;
};

AotRun& RunOf(AotContext* context) { return *static_cast<AotRun*>(context); }

std::string PlaceText(const StatusPlace& place) {
  if (place.file.empty()) return fmt::format("{}+{:#x}", place.function, place.instruction);
  if (place.line == 0) return fmt::format("{} ({})", place.function, place.file);
  return fmt::format("{} ({}:{}:{})", place.function, place.file, place.line, place.column);
}

// `site`: the function's index, and the instruction's first unit.
StatusPlace PlaceOf(const AotRun& run, uint64_t site) {
  return PlaceIn(*run.program, static_cast<uint32_t>(site >> 32), static_cast<uint32_t>(site));
}

void Fail(AotRun& run, uint64_t site, StatusCode code, const std::string& message) {
  run.code = code;
  run.detail.places = {PlaceOf(run, site)};
  run.text = fmt::format("{}: {}", PlaceText(run.detail.places[0]), message);
}

void FailMemory(AotRun& run, uint64_t site, const std::string& what) {
  Fail(run, site, StatusCode::kResourceExhausted,
       fmt::format("no memory for {}: {} bytes are in use of {}; raise the memory limit", what,
                   run.heap->stats().live_bytes, run.heap->limit()));
}

Status TakeError(AotRun& run) {
  constexpr uint64_t kMostShown = 8;
  if (run.num_callers > kMostShown)
    run.text += fmt::format("\n  and {} more calls", run.num_callers - kMostShown);
  return {run.code, std::move(run.text), std::make_shared<StatusDetail>(std::move(run.detail))};
}

// The bytes of a tensor of these dims; -1 and a failure where there is none.
int64_t CheckDims(AotRun& run, uint64_t site, DType dtype, std::span<const int64_t> dims) {
  const int64_t bytes = dims.size() > kMaxRank ? -1 : CheckedTensorBytes(dtype, dims);
  if (bytes >= 0) return bytes;
  const bool negative = std::ranges::any_of(dims, [](int64_t d) { return d < 0; });
  Fail(run, site, negative ? StatusCode::kFailedPrecondition : StatusCode::kResourceExhausted,
       fmt::format("a tensor of shape ({}): {}", fmt::join(dims, ", "),
                   negative ? "a dimension is negative" : "its size overflows"));
  return -1;
}

Tensor* MakeTensor(AotRun& run, uint64_t site, DType dtype, std::span<const int64_t> dims,
                   int64_t bytes, int64_t room) {
  Tensor* tensor =
      NewTensor(*run.heap, dtype, static_cast<int>(dims.size()), static_cast<size_t>(room));
  if (tensor == nullptr && room > bytes)
    tensor = NewTensor(*run.heap, dtype, static_cast<int>(dims.size()), static_cast<size_t>(bytes));
  if (tensor == nullptr) {
    FailMemory(run, site,
               fmt::format("a tensor of {} bytes, shape ({})", bytes, fmt::join(dims, ", ")));
    return nullptr;
  }
  std::ranges::copy(dims, tensor->dims);
  return tensor;
}

void SetShape(Tensor* tensor, DType dtype, std::span<const int64_t> dims) {
  tensor->dtype = dtype;
  tensor->rank = static_cast<uint8_t>(dims.size());
  std::ranges::copy(dims, tensor->dims);
}

// No threads, no polls; builtins' buffers are malloc's.
constexpr RelayvmKernelEnv kEnv = {sizeof(RelayvmKernelEnv), 1, nullptr, nullptr, nullptr};

struct Call {
  AotRun* run;
  AotFunction function;
  std::span<Object* const> args;
  Object* result = nullptr;
  int32_t error = 0;
};

}  // namespace

Result<std::shared_ptr<NativeProgram::Workspace>> NativeProgram::Acquire(
    const NativeOptions& options) {
  std::shared_ptr<Workspace> workspace;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      workspace = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (workspace == nullptr) workspace = std::make_shared<Workspace>();
  RELAYVM_RETURN_IF_ERROR(
      workspace->stacks.Reserve(std::max(options.stack_bytes, 2 * kStackReserve), kPageBytes));
  return workspace;
}

Result<Value> NativeProgram::RunWithHeap(const NativeExport& function,
                                         std::span<const Value> inputs,
                                         const NativeOptions& options, InvocationStats* stats) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<Workspace> workspace, Acquire(options));
  std::vector<Object*> args;
  for (const Value& value : inputs) args.push_back(value.object());
  Heap& heap = *workspace->heap;
  AotRun run;
  run.stack_limit = workspace->stacks.native_bottom() + kStackReserve;
  run.stack_bytes = workspace->stacks.native_bytes();
  run.kernel_env = &kEnv;
  run.builtins = builtins_.data();
  run.program = &program_;
  run.heap = &heap;
  run.arena = &workspace->arena;
  heap.BeginRun(options.memory_limit);
  Call call{&run, reinterpret_cast<AotFunction>(const_cast<void*>(function.entry)), args};
  {
    Fiber fiber(
        workspace->stacks,
        [](void* context) {
          auto* c = static_cast<Call*>(context);
          c->error = c->function(c->run, c->args.data(), &c->result);
        },
        &call);
    while (!fiber.done()) fiber.Resume();
  }
  Result<Value> result = call.error == 0
                             ? ExportObject(heap, /*executable=*/nullptr, call.result, nullptr)
                             : Result<Value>(TakeError(run));
  stats->peak_bytes = heap.peak_bytes();
  stats->allocations = heap.allocations();
  workspace->arena.Clear();
  heap.Reset();
  stats->resident_bytes = heap.resident_bytes();
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
  return result;
}

extern "C" {

// --- What native functions call. Those that give a pointer or a truth value fail the run with null and 0. ---

void relayvm_aot_destroy(AotContext* context, Object* object) {
  Destroy(*RunOf(context).heap, object);
}

void relayvm_aot_fail_stack(AotContext* context, uint64_t site) {
  Fail(RunOf(context), site, StatusCode::kResourceExhausted,
       fmt::format(
           "stack overflow: the calls need more than {} bytes; make the recursion a tail call",
           RunOf(context).stack_bytes));
}

void* relayvm_aot_push_arena(AotContext* context, uint64_t site, uint64_t bytes) {
  char* arena = RunOf(context).arena->Push((bytes + 63) & ~uint64_t{63});
  if (arena == nullptr) FailMemory(RunOf(context), site, "the arena of a function");
  return arena;
}
void relayvm_aot_pop_arena(AotContext* context, char* arena) { RunOf(context).arena->Pop(arena); }

// A caller of what failed.
void relayvm_aot_called_from(AotContext* context, uint64_t site) {
  constexpr size_t kMostShown = 8;
  AotRun& run = RunOf(context);
  if (run.num_callers++ >= kMostShown) return;
  run.detail.places.push_back(PlaceOf(run, site));
  run.text += fmt::format("\n  called from {}", PlaceText(run.detail.places.back()));
}

// `kind`: an AotFailure.
void relayvm_aot_fail(AotContext* context, uint64_t site, uint32_t kind, uint32_t opcode,
                      uint32_t message, const int64_t* numbers, uint32_t num_numbers) {
  AotRun& run = RunOf(context);
  const std::string& text = run.program->messages[message];
  const std::vector<int64_t> shown(numbers, numbers + num_numbers);
  run.detail.numbers = shown;
  std::string filled = text;
  const auto failure = static_cast<AotFailure>(kind);
  if (failure == AotFailure::kGuard)
    filled = fmt::format("{} ({} and {})", text, shown[0], shown[1]);
  if (failure == AotFailure::kCheck) filled = FillMessage(text, shown);
  if (failure == AotFailure::kDim) {
    const auto op = static_cast<Opcode>(opcode);
    const bool divides = op == Opcode::kDimFloorDiv || op == Opcode::kDimFloorMod;
    const char* sign = op == Opcode::kDimMul        ? "x"
                       : op == Opcode::kDimSub      ? "-"
                       : op == Opcode::kDimFloorDiv ? "floordiv"
                       : divides                    ? "floormod"
                                                    : "+";
    filled = fmt::format("{}: {} {} {} {}", text, shown[0], sign, shown[1],
                         divides && shown[1] == 0 ? "divides by 0" : "is beyond the largest size");
  }
  Fail(run, site, StatusCode::kFailedPrecondition, filled);
}

void relayvm_aot_fail_kernel(AotContext* context, uint64_t site, uint32_t kernel, int32_t code) {
  AotRun& run = RunOf(context);
  const std::string& name = run.program->kernels[kernel].name;
  run.detail.subject = name;
  switch (code) {
    case RELAYVM_KERNEL_INDEX_OUT_OF_RANGE:
      return Fail(run, site, StatusCode::kOutOfRange,
                  fmt::format("kernel {}: index out of range", name));
    case RELAYVM_KERNEL_INVALID_ARGUMENT:
      return Fail(run, site, StatusCode::kFailedPrecondition,
                  fmt::format("kernel {}: invalid argument", name));
    case RELAYVM_KERNEL_OUT_OF_MEMORY:
      return FailMemory(run, site, fmt::format("the buffers of kernel {}", name));
    default:
      return Fail(run, site, StatusCode::kInternal,
                  fmt::format("kernel {}: failed with code {}", name, code));
  }
}

int32_t relayvm_aot_run_kernel(AotContext* context, uint64_t site, uint32_t kernel,
                               RelayvmKernelFn fn, RelayvmKernelArgs* args, int64_t units,
                               int64_t scratch_bytes) {
  AotRun& run = RunOf(context);
  if (units == 0) return 1;
  if (units < 0 || units > UINT32_MAX) {
    Fail(run, site, StatusCode::kOutOfRange,
         fmt::format("kernel {}: {} units of work", run.program->kernels[kernel].name, units));
    return 0;
  }
  args->scratch = nullptr;
  const auto bytes = (static_cast<size_t>(std::max<int64_t>(scratch_bytes, 0)) + 63) & ~size_t{63};
  if (bytes > 0) {
    args->scratch =
        bytes <= Heap::kMaxSmall ? run.heap->AllocateSmall(bytes) : run.heap->AllocateLarge(bytes);
    if (args->scratch == nullptr) {
      FailMemory(run, site, fmt::format("{} bytes of a kernel's scratch", scratch_bytes));
      return 0;
    }
  }
  const int32_t code = fn(context->kernel_env, args, 0, static_cast<uint32_t>(units));
  if (bytes > Heap::kMaxSmall)
    run.heap->FreeLarge(args->scratch, bytes);
  else if (bytes > 0)
    run.heap->FreeSmall(args->scratch);
  if (code != 0) relayvm_aot_fail_kernel(context, site, kernel, code);
  return code == 0 ? 1 : 0;
}

// --- Objects; fields are the caller's to fill ---

Object* relayvm_aot_adt_new(AotContext* context, uint64_t site, uint32_t tag, uint32_t num_fields) {
  Adt* adt = NewAdt(*RunOf(context).heap, tag, num_fields);
  if (adt == nullptr) FailMemory(RunOf(context), site, "a constructor or tuple");
  return adt;
}
Object* relayvm_aot_closure_new(AotContext* context, uint64_t site, uint32_t function,
                                uint32_t num_captured) {
  Closure* closure = NewClosure(*RunOf(context).heap, function, num_captured);
  if (closure == nullptr) FailMemory(RunOf(context), site, "a closure");
  return closure;
}
Object* relayvm_aot_ref_new(AotContext* context, uint64_t site) {
  Ref* ref = NewRef(*RunOf(context).heap);
  if (ref == nullptr) FailMemory(RunOf(context), site, "a reference");
  return ref;
}

Tensor* relayvm_aot_tensor_alloc(AotContext* context, uint64_t site, uint32_t dtype,
                                 const int64_t* dims, uint32_t rank) {
  AotRun& run = RunOf(context);
  const auto type = static_cast<DType>(dtype);
  const int64_t bytes = CheckDims(run, site, type, {dims, rank});
  return bytes < 0 ? nullptr : MakeTensor(run, site, type, {dims, rank}, bytes, bytes);
}

// The semantics of tensor.view, tensor.reuse and tensor.append (bytecode/opcodes.def); a taken operand is
// the runtime's.
Tensor* relayvm_aot_tensor_view(AotContext* context, uint64_t site, Tensor* from, uint32_t takes,
                                const int64_t* dims, uint32_t rank) {
  AotRun& run = RunOf(context);
  const int64_t bytes = CheckDims(run, site, from->dtype, {dims, rank});
  if (bytes < 0) return nullptr;
  if (static_cast<size_t>(bytes) > from->bytes()) {
    Fail(run, site, StatusCode::kFailedPrecondition,
         fmt::format("a view of shape ({}) on a tensor of shape ({})",
                     fmt::join(std::span(dims, rank), ", "), fmt::join(from->shape(), ", ")));
    return nullptr;
  }
  if (takes != 0 && IsUnique(from) && static_cast<int>(rank) <= from->room_for_dims()) {
    SetShape(from, from->dtype, {dims, rank});
    return from;
  }
  Tensor* view =
      NewView(*run.heap, from, static_cast<int>(rank), from->data, static_cast<size_t>(bytes));
  if (view == nullptr) {
    FailMemory(run, site, "a view of a tensor");
    return nullptr;
  }
  std::copy_n(dims, rank, view->dims);
  if (takes != 0) Release(*run.heap, from);
  return view;
}

// Where the operand is not taken there is always new memory: the kernel writes all of it.
Tensor* relayvm_aot_tensor_reuse(AotContext* context, uint64_t site, Tensor* from, uint32_t takes,
                                 const int64_t* dims, uint32_t rank, uint32_t dtype) {
  AotRun& run = RunOf(context);
  const auto type = static_cast<DType>(dtype);
  const int64_t bytes = CheckDims(run, site, type, {dims, rank});
  if (bytes < 0) return nullptr;
  if (takes != 0 && IsUnique(from) && from->storage() != Storage::kView &&
      from->storage() != Storage::kExternal && static_cast<int>(rank) <= from->room_for_dims() &&
      static_cast<size_t>(bytes) <= from->capacity) {
    SetShape(from, type, {dims, rank});
    return from;
  }
  Tensor* tensor = MakeTensor(run, site, type, {dims, rank}, bytes, bytes);
  if (tensor != nullptr && takes != 0) Release(*run.heap, from);
  return tensor;
}

Tensor* relayvm_aot_tensor_append(AotContext* context, uint64_t site, Tensor* head, uint32_t takes,
                                  Tensor* tail, uint32_t dtype, const int64_t* dims,
                                  uint32_t rank) {
  AotRun& run = RunOf(context);
  const auto type = static_cast<DType>(dtype);
  const int64_t bytes = CheckDims(run, site, type, {dims, rank});
  if (bytes < 0) return nullptr;
  const size_t head_bytes = head->bytes(), tail_bytes = tail->bytes();
  if (head->dtype != type || tail->dtype != type ||
      head_bytes + tail_bytes != static_cast<size_t>(bytes)) {
    Fail(run, site, StatusCode::kFailedPrecondition,
         fmt::format(
             "a tensor of {}, shape ({}), from one of {}, shape ({}), and one of {}, shape ({})",
             DTypeName(type), fmt::join(std::span(dims, rank), ", "), DTypeName(head->dtype),
             fmt::join(head->shape(), ", "), DTypeName(tail->dtype),
             fmt::join(tail->shape(), ", ")));
    return nullptr;
  }
  const bool alone =
      takes != 0 && head != tail && IsUnique(head) && head->storage() != Storage::kView;
  Tensor* tensor = head;
  if (!alone || static_cast<size_t>(bytes) > head->capacity ||
      static_cast<int>(rank) > head->room_for_dims()) {
    tensor = MakeTensor(run, site, type, {dims, rank}, bytes, alone ? bytes + bytes / 2 : bytes);
    if (tensor == nullptr) return nullptr;
    std::copy_n(head->data, head_bytes, tensor->data);
  }
  SetShape(tensor, type, {dims, rank});
  std::copy_n(tail->data, tail_bytes, tensor->data + head_bytes);
  if (takes != 0 && tensor != head) Release(*run.heap, head);
  return tensor;
}

int32_t relayvm_aot_check_item(AotContext* context, uint64_t site, const Tensor* tensor,
                               uint32_t dtype, int64_t position) {
  if (tensor->dtype == static_cast<DType>(dtype) && position >= 0 &&
      position < tensor->num_elements())
    return 1;
  Fail(RunOf(context), site, StatusCode::kInvalidInput,
       fmt::format("tensor.item: element {} of {}, tensor is {} of shape ({})", position,
                   DTypeName(static_cast<DType>(dtype)), DTypeName(tensor->dtype),
                   fmt::join(tensor->shape(), ", ")));
  return 0;
}

// --- Sizes ---

int32_t relayvm_aot_check_dims(AotContext* context, uint64_t site, const int64_t* dims,
                               uint32_t rank, uint32_t message) {
  constexpr int64_t kLimit = int64_t{1} << 60;
  int64_t elements = 1;
  bool possible = true;
  for (const int64_t dim : std::span(dims, rank)) {
    if (dim == 0) continue;
    possible = dim > 0 && elements <= kLimit / dim;
    if (!possible) break;
    elements *= dim;
  }
  if (possible) return 1;
  AotRun& run = RunOf(context);
  Fail(run, site, StatusCode::kFailedPrecondition,
       fmt::format("{}: no tensor has the shape ({})", run.program->messages[message],
                   fmt::join(std::span(dims, rank), ", ")));
  return 0;
}

int32_t relayvm_aot_shape_rule(AotContext* context, uint64_t site, uint32_t rule, uint64_t zeros,
                               const int64_t* data, uint32_t num_data, const int64_t* numbers,
                               uint32_t num_numbers, int64_t* shape, uint32_t rank,
                               uint32_t message) {
  AotRun& run = RunOf(context);
  const Status status = ApplyShapeRule(static_cast<ShapeRule>(rule), {data, num_data},
                                       {numbers, num_numbers}, zeros, {shape, rank});
  if (status.ok()) return 1;
  Fail(run, site, status.code(),
       fmt::format("{}: {}", run.program->messages[message], status.message()));
  return 0;
}

// --- Scalars ---

uint64_t relayvm_aot_call_f32(uint32_t fn, uint64_t x) {
  return CallF32(static_cast<uint16_t>(fn), x);
}
uint64_t relayvm_aot_call_f64(uint32_t fn, uint64_t x) {
  return CallF64(static_cast<uint16_t>(fn), x);
}
uint64_t relayvm_aot_call2_f32(uint32_t fn, uint64_t x, uint64_t y) {
  return Call2F32(static_cast<uint16_t>(fn), x, y);
}
uint64_t relayvm_aot_call2_f64(uint32_t fn, uint64_t x, uint64_t y) {
  return Call2F64(static_cast<uint16_t>(fn), x, y);
}
uint64_t relayvm_aot_convert(uint64_t value, uint32_t from, uint32_t to) {
  return ConvertScalar(value, static_cast<DType>(from), static_cast<DType>(to));
}
uint64_t relayvm_aot_power(uint64_t base, uint64_t exponent, uint32_t is_signed) {
  return static_cast<uint64_t>(
      IntegerPower(static_cast<int64_t>(base), static_cast<int64_t>(exponent), is_signed != 0));
}

}  // extern "C"

}  // namespace relayvm::vm

relayvm_status* relayvm_aot_run(RelayvmAotProgram* program, uint32_t function,
                                relayvm_value* const* inputs, size_t num_inputs,
                                relayvm_value** result) {
  RELAYVM_REQUIRE(result);
  if (num_inputs > 0) RELAYVM_REQUIRE(inputs);
  for (size_t i = 0; i < num_inputs; ++i) RELAYVM_REQUIRE(inputs[i]);
  return relayvm::c_api::Guarded([&]() -> relayvm_status* {
    std::vector<relayvm::Value> values;
    for (size_t i = 0; i < num_inputs; ++i) values.push_back(inputs[i]->value);
    const auto native = relayvm::vm::NativeProgram::Of(program);
    if (!native.ok()) return relayvm::c_api::Fail(native.status());
    return relayvm::c_api::GiveValue((*native)->Run(function, values, {}, nullptr), result);
  });
}
