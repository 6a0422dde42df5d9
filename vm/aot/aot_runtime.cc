#include "vm/aot/aot_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bytecode/base/guarded.h"
#include "bytecode/base/shape_rule.h"
#include "bytecode/opcode.h"
#include "bytecode/scalar_ops.h"
#include "vm/aot/native_program.h"
#include "vm/api/c_api_engines.h"
#include "vm/api/c_api_internal.h"
#include "vm/border/border.h"
#include "vm/kernels/kernel_runner.h"
#include "vm/kernels/tensor_ops.h"
#include "vm/memory/allocator.h"
#include "vm/memory/object.h"
#include "vm/memory/stack.h"
#include "vm/platform/clock.h"
#include "vm/platform/fiber.h"
#include "vm/run/places.h"
#include "vm/run/workspace.h"
#include "vm/trace/sampling.h"
#include "vm/trace/trace.h"

namespace relayvm::vm {

namespace {

// Of the native stack, what kernels and the runtime need.
constexpr size_t kStackReserve = 256 << 10;
// The same where engines run regions (oneDNN plans its primitives on it).
constexpr size_t kEngineStackReserve = 1 << 20;

struct AotRun : AotContext, Interrupts {
  explicit AotRun(const KernelResources& given)
      : AotContext{},
        resources(given),
        heap(resources.heap),
        kernels(
            resources, [](void* run, bool) { return Interrupted(*static_cast<AotRun*>(run)); },
            this) {
    kernel_env = kernels.env();
    fuel = kFuel;
  }

  const Program* program = nullptr;
  const KernelResources resources;
  Heap* heap;
  ArenaStack* arena = nullptr;
  size_t stack_bytes = 0;
  const char* stack_advice = nullptr;
  KernelRunner kernels;
  // Of the failure so far.
  Failure failure{};
  std::vector<StatusPlace> places;
  uint64_t more_callers = 0;
  // Not ok: instead of those, what kept them from being written down.
  Status caught;
  const char* deepest = nullptr;  // that the native stack was seen to reach

  // Kernels that the sink of the runtime is told of; null: none.
  TraceSink* trace = nullptr;
  TracedRun traced;
  uint32_t kernel_interval = 0;
  uint64_t sampling = 0, until_sample = 0;  // calls to go

  void TraceTo(TraceSink* sink, const TracedRun& run) {
    kernel_interval = sink == nullptr ? 0 : sink->kernel_interval();
    if (kernel_interval == 0) return;
    trace = sink;
    traced = run;
    sampling = run.invocation;
    until_sample = DistanceToSample(kernel_interval, &sampling);
    traces = 1;
  }
  // Calls `kernel`, which gives its code, and tells of it.
  template <typename Fn>
  int32_t CallTraced(uint64_t site, uint32_t index, int64_t units, const Fn& kernel) {
    if (trace == nullptr || --until_sample > 0) return kernel();
    until_sample = DistanceToSample(kernel_interval, &sampling);
    const int64_t begin = NowNanoseconds();
    const int32_t code = kernel();
    trace->OnKernel({index, program->kernels[index].name, begin, NowNanoseconds(),
                     static_cast<uint64_t>(std::max<int64_t>(units, 0)), traced,
                     static_cast<uint32_t>(site >> 32), static_cast<uint32_t>(site), 1,
                     kernel_interval});
    return code;
  }
};

AotRun& RunOf(AotContext* context) { return *static_cast<AotRun*>(context); }

// `site`: the function's index, and the instruction's first unit.
StatusPlace PlaceOf(const AotRun& run, uint64_t site) {
  return PlaceIn(*run.program, static_cast<uint32_t>(site >> 32), static_cast<uint32_t>(site));
}

// Native frames cannot be unwound: what they call lets nothing out. The run fails with what is
// caught.
#define RELAYVM_CATCH(context, failed)         \
  catch (...) {                                \
    RunOf(context).caught = CaughtException(); \
    return failed;                             \
  }

// How deep the stack is, told by the address of any frame.
void LookAtStack(AotRun& run) {
  run.deepest = std::min(run.deepest, static_cast<const char*>(__builtin_frame_address(0)));
}

void Fail(AotRun& run, uint64_t site, Failure failure) {
  run.places = {PlaceIn(*run.program, static_cast<uint32_t>(site >> 32),
                        static_cast<uint32_t>(site), failure.check)};
  run.failure = std::move(failure);
}

const std::string& MessageOf(const AotRun& run, uint32_t message) {
  return run.program->messages[message];
}

// The bytes of a tensor of these dims; -1 and a failure where there is none.
int64_t CheckDims(AotRun& run, uint64_t site, DType dtype, std::span<const int64_t> dims) {
  const int64_t bytes = dims.size() > kMaxRank ? -1 : CheckedTensorBytes(dtype, dims);
  if (bytes < 0) Fail(run, site, DimsFailure(dims));
  return bytes;
}

Tensor* MakeTensor(AotRun& run, uint64_t site, DType dtype, std::span<const int64_t> dims,
                   int64_t bytes) {
  Tensor* tensor =
      NewTensor(*run.heap, dtype, static_cast<int>(dims.size()), static_cast<size_t>(bytes));
  if (tensor == nullptr) {
    Fail(run, site, MemoryFailure(*run.heap, TensorText(bytes, dims), static_cast<size_t>(bytes)));
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

struct Call {
  AotRun* run;
  AotFunction function;
  std::span<Object* const> args;
  Object* result = nullptr;
  int32_t error = 0;
};

}  // namespace

Result<Value> NativeProgram::RunWithHeap(Workspace& workspace, const NativeExport& function,
                                         std::span<const Value> inputs,
                                         const NativeOptions& options, const TracedRun& traced,
                                         InvocationStats* stats) {
  const size_t reserve = regions_.linked == nullptr ? kStackReserve : kEngineStackReserve;
  RELAYVM_RETURN_IF_ERROR(workspace.stacks.Reserve(std::max(options.stack_bytes, 2 * reserve),
                                                   kPageBytes, /*least_native=*/2 * reserve));
  std::vector<Object*> args;
  for (const Value& value : inputs) args.push_back(value.object());
  Heap& heap = *workspace.heap;
  TaskPool* const pool = workspace.pool;
  AotRun run({&heap, &workspace.scratch, pool, pool->num_threads(), workspace.injected_pool,
              /*strings=*/nullptr, regions_.linked.get()});
  run.stack_limit = workspace.stacks.native_bottom() + reserve;
  run.stack_bytes = workspace.stacks.native_bytes();
  run.stack_advice = workspace.stacks.advice();
  run.deepest = workspace.stacks.split();
  // The host's number is one that threads share.
  run.stop =
      reinterpret_cast<const std::atomic<uint32_t>*>(const_cast<const uint32_t*>(options.stop));
  run.deadline = DeadlineOf(NowNanoseconds(), options.timeout);
  run.builtins = builtins_.data();
  run.program = &program();
  run.TraceTo(workspace.trace, traced);
  run.arena = &workspace.arena;
  heap.BeginRun(std::min(options.memory_limit, workspace.machine_memory),
                workspace.machine_memory < options.memory_limit);
  Call call{&run, reinterpret_cast<AotFunction>(const_cast<void*>(function.entry)), args};
  {
    Fiber fiber(
        workspace.stacks,
        [](void* context) {
          auto* c = static_cast<Call*>(context);
          c->error = c->function(c->run, c->args.data(), &c->result);
        },
        &call);
    while (!fiber.done()) fiber.Resume();
  }
  workspace.NativeStackUsed(static_cast<size_t>(workspace.stacks.split() - run.deepest));
  // What results need of the program is its constants.
  const std::shared_ptr<const Executable> owner(owner_, nullptr);
  const auto index = static_cast<size_t>(&function - descriptor_.exports.data);
  const std::string& name = program().exports[index].name;
  BorderPoll poll([](void* self) { return Interrupted(*static_cast<AotRun*>(self)); }, &run);
  if (!run.caught.ok()) return std::move(run.caught);
  Result<Value> result = call.error == 0
                             ? ExportObject(heap, owner, name, call.result, &poll, nullptr)
                             : Result<Value>(MakeStatus(std::move(run.failure),
                                                        std::move(run.places), run.more_callers));
  // A run that does not end in time, or was cancelled, gives no result, wherever it was.
  if (const StatusCode late = Interrupted(run); result.ok() && late != StatusCode::kOk)
    result = ExportStatus({late, InterruptMessage(late)}, name);
  stats->peak_bytes = heap.peak_bytes();
  stats->allocations = heap.allocations();
  return result;
}

extern "C" {

// --- What native functions call. Those that give a pointer or a truth value fail the run with null
// and 0. ---

void relayvm_aot_destroy(AotContext* context, Object* object) {
  Destroy(*RunOf(context).heap, object);
}

void relayvm_aot_fail_stack(AotContext* context, uint64_t site) try {
  AotRun& run = RunOf(context);
  LookAtStack(run);
  Fail(
      run, site,
      {StatusCode::kResourceExhausted,
       fmt::format("stack overflow: the calls need more than {} bytes; {}, or make the recursion a "
                   "tail call",
                   run.stack_bytes, run.stack_advice),
       {.numbers = {static_cast<int64_t>(run.stack_bytes)}}});
}
RELAYVM_CATCH(context, /*nothing*/)

// Fills context->fuel. 0: the run is to end.
int32_t relayvm_aot_poll(AotContext* context, uint64_t site) try {
  AotRun& run = RunOf(context);
  run.fuel = kFuel;
  LookAtStack(run);
  const StatusCode reason = Interrupted(run);
  if (reason == StatusCode::kOk) return 1;
  Fail(run, site, {reason, InterruptMessage(reason)});
  return 0;
}
RELAYVM_CATCH(context, 0)

void* relayvm_aot_push_arena(AotContext* context, uint64_t site, uint64_t bytes) try {
  char* arena = RunOf(context).arena->Push((bytes + 63) & ~uint64_t{63});
  if (arena == nullptr)
    Fail(RunOf(context), site,
         MemoryFailure(*RunOf(context).heap, "the arena of a function", bytes));
  return arena;
}
RELAYVM_CATCH(context, nullptr)
void relayvm_aot_pop_arena(AotContext* context, char* arena) { RunOf(context).arena->Pop(arena); }

// A caller of what failed.
void relayvm_aot_called_from(AotContext* context, uint64_t site) try {
  AotRun& run = RunOf(context);
  if (run.places.size() > kMostCallersShown)
    ++run.more_callers;
  else
    run.places.push_back(PlaceOf(run, site));
}
RELAYVM_CATCH(context, /*nothing*/)

// `kind`: a FailureKind.
void relayvm_aot_fail(AotContext* context, uint64_t site, uint32_t kind, uint32_t opcode,
                      uint32_t message, const int64_t* numbers, uint32_t num_numbers) try {
  AotRun& run = RunOf(context);
  Fail(run, site,
       ScalarFailureOf(static_cast<FailureKind>(kind), static_cast<Opcode>(opcode),
                       MessageOf(run, message), {numbers, numbers + num_numbers}));
}
RELAYVM_CATCH(context, /*nothing*/)

void relayvm_aot_fail_kernel(AotContext* context, uint64_t site, uint32_t kernel,
                             int32_t code) try {
  AotRun& run = RunOf(context);
  Fail(run, site, run.kernels.FailureOf(run.program->kernels[kernel].name, code));
}
RELAYVM_CATCH(context, /*nothing*/)

int32_t relayvm_aot_trace_kernel(AotContext* context, uint64_t site, uint32_t kernel,
                                 RelayvmKernelFn fn, const RelayvmKernelArgs* args) try {
  return RunOf(context).CallTraced(site, kernel, 1,
                                   [&] { return fn(context->kernel_env, args, 0, 1); });
}
RELAYVM_CATCH(context, RELAYVM_KERNEL_OUT_OF_MEMORY)

int32_t relayvm_aot_run_kernel(AotContext* context, uint64_t site, uint32_t kernel,
                               RelayvmKernelFn fn, RelayvmKernelArgs* args, int64_t units,
                               int64_t scratch_bytes) try {
  AotRun& run = RunOf(context);
  LookAtStack(run);
  // It takes longer than a call, so the clock is looked at sooner.
  run.fuel -= kKernelFuel;
  const KernelCode code{fn, /*polls=*/true};
  const KernelCall call{kernel, &code, *args, units, /*grain=*/1, scratch_bytes};
  const int32_t result =
      run.CallTraced(site, kernel, units, [&] { return run.kernels.Call(call); });
  if (result == RELAYVM_KERNEL_OK) return 1;
  Fail(run, site, run.kernels.FailureOf(run.program->kernels[kernel].name, result, &call));
  return 0;
}
RELAYVM_CATCH(context, 0)

// --- Objects; fields are the caller's to fill ---

Object* relayvm_aot_adt_new(AotContext* context, uint64_t site, uint32_t tag,
                            uint32_t num_fields) try {
  LookAtStack(RunOf(context));
  Adt* adt = NewAdt(*RunOf(context).heap, tag, num_fields);
  if (adt == nullptr)
    Fail(RunOf(context), site, MemoryFailure(*RunOf(context).heap, "a constructor or tuple"));
  return adt;
}
RELAYVM_CATCH(context, nullptr)
Object* relayvm_aot_closure_new(AotContext* context, uint64_t site, uint32_t function,
                                uint32_t num_captured) try {
  Closure* closure = NewClosure(*RunOf(context).heap, function, num_captured);
  if (closure == nullptr)
    Fail(RunOf(context), site, MemoryFailure(*RunOf(context).heap, "a closure"));
  return closure;
}
RELAYVM_CATCH(context, nullptr)
Object* relayvm_aot_ref_new(AotContext* context, uint64_t site) try {
  Ref* ref = NewRef(*RunOf(context).heap);
  if (ref == nullptr)
    Fail(RunOf(context), site, MemoryFailure(*RunOf(context).heap, "a reference"));
  return ref;
}
RELAYVM_CATCH(context, nullptr)

Tensor* relayvm_aot_tensor_alloc(AotContext* context, uint64_t site, uint32_t dtype,
                                 const int64_t* dims, uint32_t rank) try {
  AotRun& run = RunOf(context);
  LookAtStack(run);
  const auto type = static_cast<DType>(dtype);
  const int64_t bytes = CheckDims(run, site, type, {dims, rank});
  return bytes < 0 ? nullptr : MakeTensor(run, site, type, {dims, rank}, bytes);
}
RELAYVM_CATCH(context, nullptr)

// The semantics of tensor.view, tensor.reuse and tensor.append (bytecode/opcodes.def); a taken
// operand is the runtime's.
Tensor* relayvm_aot_tensor_view(AotContext* context, uint64_t site, Tensor* from, uint32_t takes,
                                const int64_t* dims, uint32_t rank) try {
  AotRun& run = RunOf(context);
  const int64_t bytes = CheckDims(run, site, from->dtype, {dims, rank});
  if (bytes < 0) return nullptr;
  if (static_cast<size_t>(bytes) > from->bytes()) {
    Fail(run, site, ViewFailure({dims, rank}, *from));
    return nullptr;
  }
  Tensor* view = ViewTensor(*run.heap, from, takes != 0, {dims, rank}, bytes);
  if (view == nullptr) Fail(run, site, MemoryFailure(*run.heap, "a view of a tensor"));
  if (view != nullptr && view != from && takes != 0) Release(*run.heap, from);
  return view;
}
RELAYVM_CATCH(context, nullptr)

// Where the operand is not taken there is always new memory: the kernel writes all of it.
Tensor* relayvm_aot_tensor_reuse(AotContext* context, uint64_t site, Tensor* from, uint32_t takes,
                                 const int64_t* dims, uint32_t rank, uint32_t dtype) try {
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
  Tensor* tensor = MakeTensor(run, site, type, {dims, rank}, bytes);
  if (tensor != nullptr && takes != 0) Release(*run.heap, from);
  return tensor;
}
RELAYVM_CATCH(context, nullptr)

Tensor* relayvm_aot_tensor_append(AotContext* context, uint64_t site, Tensor* head, uint32_t takes,
                                  Tensor* tail, uint32_t dtype, const int64_t* dims,
                                  uint32_t rank) try {
  AotRun& run = RunOf(context);
  const auto type = static_cast<DType>(dtype);
  const int64_t bytes = CheckDims(run, site, type, {dims, rank});
  if (bytes < 0) return nullptr;
  if (head->dtype != type || tail->dtype != type ||
      head->bytes() + tail->bytes() != static_cast<size_t>(bytes)) {
    Fail(run, site, AppendFailure(type, {dims, rank}, *head, *tail));
    return nullptr;
  }
  Tensor* tensor = AppendTensor(*run.heap, head, takes != 0, tail, type, {dims, rank}, bytes);
  if (tensor == nullptr) {
    Fail(run, site,
         MemoryFailure(*run.heap, TensorText(bytes, {dims, rank}), static_cast<size_t>(bytes)));
  }
  if (tensor != nullptr && tensor != head && takes != 0) Release(*run.heap, head);
  return tensor;
}
RELAYVM_CATCH(context, nullptr)

int32_t relayvm_aot_check_item(AotContext* context, uint64_t site, const Tensor* tensor,
                               uint32_t dtype, int64_t position) try {
  if (tensor->dtype == static_cast<DType>(dtype) && position >= 0 &&
      position < tensor->num_elements())
    return 1;
  Fail(RunOf(context), site, ItemFailure(*tensor, static_cast<DType>(dtype), position));
  return 0;
}
RELAYVM_CATCH(context, 0)

// --- Sizes ---

int32_t relayvm_aot_check_dims(AotContext* context, uint64_t site, const int64_t* dims,
                               uint32_t rank, uint32_t message) try {
  if (IsPossibleShape({dims, rank})) return 1;
  AotRun& run = RunOf(context);
  Fail(run, site, ShapeFailure(MessageOf(run, message), {dims, rank}));
  return 0;
}
RELAYVM_CATCH(context, 0)

int32_t relayvm_aot_shape_rule(AotContext* context, uint64_t site, uint32_t rule, uint64_t zeros,
                               const int64_t* data, uint32_t num_data, const int64_t* numbers,
                               uint32_t num_numbers, int64_t* shape, uint32_t rank,
                               uint32_t message) try {
  AotRun& run = RunOf(context);
  const Status status = ApplyShapeRule(static_cast<ShapeRule>(rule), {data, num_data},
                                       {numbers, num_numbers}, zeros, {shape, rank});
  if (status.ok()) return 1;
  Fail(run, site,
       RuleFailure(MessageOf(run, message), status, {data, num_data}, {numbers, num_numbers}));
  return 0;
}
RELAYVM_CATCH(context, 0)

// --- Scalars ---

uint64_t relayvm_aot_call_f32(uint32_t fn, uint64_t x) {
  return CallF32(static_cast<ScalarFunction>(fn), x);
}
uint64_t relayvm_aot_call_f64(uint32_t fn, uint64_t x) {
  return CallF64(static_cast<ScalarFunction>(fn), x);
}
uint64_t relayvm_aot_call2_f32(uint32_t fn, uint64_t x, uint64_t y) {
  return Call2F32(static_cast<ScalarFunction>(fn), x, y);
}
uint64_t relayvm_aot_call2_f64(uint32_t fn, uint64_t x, uint64_t y) {
  return Call2F64(static_cast<ScalarFunction>(fn), x, y);
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
                                const RelayvmAotOptions* options, relayvm_value* const* inputs,
                                size_t num_inputs, relayvm_value** result) {
  RELAYVM_REQUIRE(result);
  if (num_inputs > 0) RELAYVM_REQUIRE(inputs);
  for (size_t i = 0; i < num_inputs; ++i) RELAYVM_REQUIRE(inputs[i]);
  return relayvm::c_api::Guarded([&]() -> relayvm_status* {
    std::vector<relayvm::Value> values;
    for (size_t i = 0; i < num_inputs; ++i) values.push_back(*relayvm::c_api::ValueOf(inputs[i]));
    const auto read = relayvm::c_api::ReadOptions<RelayvmAotOptions>(
        options, offsetof(RelayvmAotOptions, runtime), "relayvm_aot_options");
    if (!read.ok()) return relayvm::c_api::Fail(read.status());
    std::vector<relayvm::EngineLibrary> engines;
    if (read->engines != nullptr) {
      const auto given = relayvm::c_api::ReadEngines(*read->engines, &engines);
      if (!given.ok()) return relayvm::c_api::Fail(given.status());
    }
    const auto native = relayvm::vm::NativeProgram::Of(program, engines);
    if (!native.ok()) return relayvm::c_api::Fail(native.status());
    relayvm::vm::NativeOptions native_options;
    if (read->memory_limit != 0) native_options.memory_limit = read->memory_limit;
    if (read->stack_bytes != 0) native_options.stack_bytes = read->stack_bytes;
    native_options.timeout = std::chrono::nanoseconds(read->timeout_ns);
    native_options.stop = read->cancel;
    if (read->runtime != nullptr) native_options.runtime = read->runtime->runtime;
    return relayvm::c_api::GiveValue((*native)->Run(function, values, native_options, nullptr),
                                     result);
  });
}
