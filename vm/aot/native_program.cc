#include "vm/aot/native_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>

#include "bytecode/base/guarded.h"
#include "bytecode/image_loader.h"
#include "vm/border/border.h"
#include "vm/border/optional_inputs.h"
#include "vm/kernels/failure.h"
#include "vm/memory/object.h"
#include "vm/platform/clock.h"
#include "vm/platform/process_mutex.h"
#include "vm/run/workspace.h"

namespace relayvm::vm {
namespace {

std::vector<std::string> Texts(const NativeArray<const char*>& texts) {
  return {texts.begin(), texts.end()};
}

ValueType TypeOf(const NativeType& native);
std::vector<ValueType> TypesOf(const NativeArray<NativeType>& native) {
  std::vector<ValueType> types;
  for (const NativeType& type : native) types.push_back(TypeOf(type));
  return types;
}
ValueType TypeOf(const NativeType& native) {
  ValueType type;
  type.kind = static_cast<ValueType::Kind>(native.kind);
  type.dtype = static_cast<DType>(native.dtype);
  type.index = static_cast<uint32_t>(native.index);
  type.dims.assign(native.dims.begin(), native.dims.end());
  type.dim_names = Texts(native.dim_names);
  for (const NativeArray<SizeStep>& formula : native.dim_formulas)
    type.dim_formulas.emplace_back(formula.begin(), formula.end());
  type.args = TypesOf(native.args);
  return type;
}

// Regions, what their kernels take and give, and their constants, which have been made.
void AddRegions(const RelayvmAotProgram& native, Program* program) {
  for (const NativeRegion& from : native.regions) {
    const auto index = static_cast<uint32_t>(program->regions.size());
    RegionInfo& region = program->regions.emplace_back();
    region.name = from.name;
    region.engine = from.engine;
    region.json.assign(from.json.begin(), from.json.end());
    region.num_symbols = static_cast<uint32_t>(from.num_symbols);
    for (const NativeRegionConstant& c : from.constants) {
      region.constants.push_back(static_cast<uint32_t>(program->constants.size()));
      const void* data = c.place != nullptr ? *c.place : c.data.data;
      program->constants.push_back(
          {static_cast<DType>(c.dtype),
           {c.dims.begin(), c.dims.end()},
           "",
           SharedBytes({static_cast<const std::byte*>(data), c.data.size}, nullptr),
           nullptr});
    }
    if (from.kernel == NativeRegion::kNoKernel) continue;
    KernelInfo& kernel = program->kernels[from.kernel];
    kernel.builtin = true;
    kernel.region = index;
    kernel.buffers.resize(from.num_inputs + from.num_outputs);
    for (size_t i = from.num_inputs; i < kernel.buffers.size(); ++i)
      kernel.buffers[i].written = true;
  }
}

// What the runtime asks of a program's tables; types of constants and kernels, and code, are
// native.
Program ProgramOf(const RelayvmAotProgram& native) {
  Program program;
  for (const NativeExport& e : native.exports) {
    ExportInfo& info = program.exports.emplace_back();
    info.name = e.name;
    info.num_type_params = static_cast<uint32_t>(e.num_type_params);
    info.param_names = Texts(e.param_names);
    info.params = TypesOf(e.params);
    info.result = TypeOf(*e.result.data);
    info.output_names = Texts(e.output_names);
  }
  for (const NativeAdt& adt : native.adts) {
    AdtInfo& info = program.adts.emplace_back();
    info.name = adt.name;
    info.num_type_params = static_cast<uint32_t>(adt.num_type_params);
    for (const NativeConstructor& c : adt.constructors)
      info.constructors.push_back({c.name, TypesOf(c.fields)});
  }
  for (const NativeFunction& f : native.functions) {
    FunctionInfo& info = program.functions.emplace_back();
    info.name = f.name;
    info.locations.assign(f.locations.begin(), f.locations.end());
  }
  for (const NativeKernel& kernel : native.kernels) {
    program.kernels.emplace_back().name = kernel.name;
    program.kernels.back().builtin = kernel.is_builtin != 0;
  }
  program.messages = Texts(native.messages);
  program.source_files = Texts(native.source_files);
  AddRegions(native, &program);
  return program;
}

// The addresses of a value's tensors, depth first. An empty tensor has some address too.
void AppendAddresses(const ValueType& type, const Value& value, std::vector<void*>* addresses) {
  if (type.kind == ValueType::Kind::kTuple) {
    for (size_t i = 0; i < type.args.size(); ++i)
      AppendAddresses(type.args[i], value.field(i), addresses);
    return;
  }
  static char none[1];
  addresses->push_back(value.bytes() == 0 ? none : const_cast<void*>(value.data()));
}

// A value of the type whose elements are still to be written.
Result<Value> NewValue(const ValueType& type) {
  if (type.kind == ValueType::Kind::kTensor) return Value::NewTensor(type.dtype, type.dims);
  std::vector<Value> fields;
  for (const ValueType& field : type.args) {
    RELAYVM_ASSIGN_OR_RETURN(fields.emplace_back(), NewValue(field));
  }
  return Value::Tuple(std::move(fields));
}

// What a descriptor's constants that are made lie in, while anybody uses them: under
// ProcessMutex().
struct MadeConstants {
  std::vector<ConstantInfo> constants;
  uint64_t users = 0;
};

ConstantInfo ToMake(const NativeMade& native) {
  RecipeInfo recipe{native.builtin, {native.params.begin(), native.params.end()}, {}};
  for (const NativeRecipeInput& input : native.inputs) {
    std::array<uint8_t, 32> hash;
    std::memcpy(hash.data(), input.hash, hash.size());
    recipe.inputs.push_back({static_cast<DType>(input.dtype),
                             {input.dims.begin(), input.dims.end()},
                             SharedBytes({input.data.begin(), input.data.size}, nullptr),
                             hash});
  }
  return {static_cast<DType>(native.dtype),
          {native.dims.begin(), native.dims.end()},
          native.name,
          {},
          std::make_shared<const RecipeInfo>(std::move(recipe))};
}

// A user of them, which is a part of what owns the code.
class ConstantsUser {
 public:
  // Under ProcessMutex(). Null where they are not made yet.
  static std::shared_ptr<const void> Join(RelayvmAotProgram* descriptor,
                                          const std::shared_ptr<const void>& owner) {
    auto* made = static_cast<MadeConstants*>(descriptor->made_state);
    if (made == nullptr) return nullptr;
    auto user = std::make_shared<ConstantsUser>();
    ++made->users;
    user->descriptor_ = descriptor;
    user->owner_ = owner;
    return user;
  }
  ConstantsUser() = default;
  ConstantsUser(const ConstantsUser&) = delete;
  ConstantsUser& operator=(const ConstantsUser&) = delete;
  ~ConstantsUser() {
    if (descriptor_ == nullptr) return;
    std::unique_ptr<MadeConstants> last;
    const std::lock_guard lock(ProcessMutex());
    auto* made = static_cast<MadeConstants*>(descriptor_->made_state);
    if (--made->users > 0) return;
    descriptor_->made_state = nullptr;
    last.reset(made);
  }

 private:
  std::shared_ptr<const void> owner_;
  RelayvmAotProgram* descriptor_ = nullptr;
};

// What owns the code and, where the program has constants to make, those. Several threads may make
// them at once, and one's are taken: nobody waits for others, who may be gone in a child of fork().
Result<std::shared_ptr<const void>> WithConstants(RelayvmAotProgram* descriptor,
                                                  std::shared_ptr<const void> owner) {
  if (descriptor->make_constants == nullptr) return owner;
  {
    const std::lock_guard lock(ProcessMutex());
    if (auto user = ConstantsUser::Join(descriptor, owner)) return user;
  }
  Program program;
  for (const NativeMade& native : descriptor->made) program.constants.push_back(ToMake(native));
  Status status;
  descriptor->make_constants(&program, &status);
  RELAYVM_RETURN_IF_ERROR(std::move(status));
  auto made = std::make_unique<MadeConstants>();
  made->constants = std::move(program.constants);
  const std::lock_guard lock(ProcessMutex());
  if (descriptor->made_state == nullptr) {
    const NativeMade* native = descriptor->made.begin();
    for (const ConstantInfo& constant : made->constants) *native++->place = constant.data.data();
    descriptor->made_state = made.release();
  }
  return ConstantsUser::Join(descriptor, owner);
}

}  // namespace

NativeProgram::NativeProgram(const RelayvmAotProgram& descriptor, std::shared_ptr<const void> owner)
    : descriptor_(descriptor),
      owner_(std::move(owner)),
      tables_(Executable::OfTables(ProgramOf(descriptor))) {
  for (const ExportInfo& e : program().exports) dims_.emplace_back(e.params, nullptr);
}

NativeProgram::~NativeProgram() {
  if (latest_ != nullptr) own_runtime_->Release(std::move(latest_), NowNanoseconds());
}

Result<NativeProgram*> NativeProgram::Of(RelayvmAotProgram* descriptor,
                                         const std::vector<EngineLibrary>& engines) {
  using Made = std::shared_ptr<NativeProgram>;
  const std::atomic_ref<void*> state(descriptor->state);
  auto* made = static_cast<Made*>(state.load(std::memory_order_acquire));
  if (made != nullptr) return made->get();
  return Guarded([&]() -> Result<NativeProgram*> {
    RELAYVM_ASSIGN_OR_RETURN(Made program, Make(descriptor, nullptr, engines));
    auto mine = std::make_unique<Made>(std::move(program));
    void* other = nullptr;  // of a thread that came first
    if (!state.compare_exchange_strong(other, mine.get(), std::memory_order_acq_rel))
      return static_cast<Made*>(other)->get();
    return mine.release()->get();
  });
}

Result<std::shared_ptr<NativeProgram>> NativeProgram::Make(
    RelayvmAotProgram* descriptor, std::shared_ptr<const void> owner,
    const std::vector<EngineLibrary>& engines) {
  return Guarded([&] { return MakeOf(descriptor, std::move(owner), engines); });
}

Result<std::shared_ptr<NativeProgram>> NativeProgram::MakeOf(
    RelayvmAotProgram* descriptor, std::shared_ptr<const void> owner,
    const std::vector<EngineLibrary>& engines) {
  if (descriptor->version != RelayvmAotProgram::kVersion) {
    return {
        StatusCode::kUnsupported,
        fmt::format("the native program is of version {}, the runtime takes {}: compile it with "
                    "the relayc of this runtime",
                    descriptor->version, RelayvmAotProgram::kVersion)};
  }
  const std::vector<std::string> missing =
      CpuFeatures::OfThisMachine().Missing(descriptor->cpu_features);
  if (!missing.empty()) {
    return {StatusCode::kUnsupported,
            fmt::format("the program is compiled for a machine with {}, which this one lacks; "
                        "compile it with --target",
                        fmt::join(missing, ", "))};
  }
  RELAYVM_ASSIGN_OR_RETURN(owner, WithConstants(descriptor, std::move(owner)));
  std::shared_ptr<NativeProgram> state(new NativeProgram(*descriptor, std::move(owner)));
  // Without a timer, whose thread a child of fork() would not have.
  RELAYVM_ASSIGN_OR_RETURN(state->own_runtime_,
                           Runtime::Create({.keep_idle = std::chrono::nanoseconds::max()}));
  RELAYVM_RETURN_IF_ERROR(state->Link(engines));
  return state;
}

Status NativeProgram::Link(const std::vector<EngineLibrary>& engines) {
  for (const NativeKernel& kernel : descriptor_.kernels) {
    RelayvmKernelFn fn = nullptr;
    if (kernel.is_builtin != 0) {
      fn = descriptor_.find_builtin(kernel.name);
      if (fn == nullptr) {
        return {
            StatusCode::kUnsupported,
            fmt::format("the program needs kernel '{}', which this runtime has not", kernel.name)};
      }
    }
    builtins_.push_back(fn);
  }
  if (descriptor_.make_regions == nullptr) return OkStatus();
  Status status;
  descriptor_.make_regions(&program(), &engines, &regions_, &status);
  RELAYVM_RETURN_IF_ERROR(std::move(status));
  for (const NativeRegion& region : descriptor_.regions) {
    if (region.kernel != NativeRegion::kNoKernel) builtins_[region.kernel] = regions_.run;
  }
  return OkStatus();
}

Result<Value> NativeProgram::Run(uint32_t index, std::span<const Value> inputs,
                                 const NativeOptions& options, InvocationStats* stats) {
  return Guarded([&] { return RunExport(index, inputs, options, stats); });
}

Result<Value> NativeProgram::RunExport(uint32_t index, std::span<const Value> inputs,
                                       const NativeOptions& options, InvocationStats* stats) {
  const ExportInfo& info = program().exports[index];
  std::vector<Value> complete;
  if (std::ranges::any_of(info.params, [&](const ValueType& p) {
        return OptionalFormOf(program(), p).has_value();
      })) {
    complete.assign(inputs.begin(), inputs.end());
    CompleteInputs(program(), info, &complete);
    inputs = complete;
  }
  RELAYVM_RETURN_IF_ERROR(CheckInputs(program(), info, dims_[index], inputs));
  const NativeExport& function = descriptor_.exports.data[index];
  InvocationStats counted;
  const int64_t start = NowNanoseconds();
  std::unique_ptr<Workspace> workspace = Acquire(options);
  ++workspace->counters.started;
  ++workspace->counters.slices;
  TraceSink* const trace = workspace->trace;
  TracedRun traced{0, tables_.get()};
  if (trace != nullptr) {
    traced.invocation = options.runtime->NextInvocationId();
    trace->OnRunBegin({traced, info.name, start, start, StatusCode::kOk});
  }
  Result<Value> result = Guarded([&] {
    return has_heap() ? RunWithHeap(*workspace, function, inputs, options, traced, &counted)
                      : RunStatic(*workspace, function, info, inputs, options, &counted);
  });
  // What a failure left, and cycles through references.
  workspace->arena.Clear();
  workspace->heap->Reset();
  counted.resident_bytes = workspace->bytes_held();
  const int64_t end = NowNanoseconds();
  counted.run_ns = end - start;
  RunCounters& counters = workspace->counters;
  counters.run_ns += counted.run_ns;
  counters.peak_bytes = std::max<uint64_t>(counters.peak_bytes, counted.peak_bytes);
  ++counters.ended[static_cast<size_t>(result.status().code())];
  if (trace != nullptr) trace->OnRunEnd({traced, info.name, start, end, result.status().code()});
  Release(options, std::move(workspace), end);
  if (stats != nullptr) *stats = counted;
  return result;
}

std::unique_ptr<Workspace> NativeProgram::Acquire(const NativeOptions& options) {
  if (options.runtime != nullptr) return options.runtime->Acquire();
  const std::lock_guard lock(ProcessMutex());
  return latest_ != nullptr ? std::move(latest_) : own_runtime_->Acquire();
}

void NativeProgram::Release(const NativeOptions& options, std::unique_ptr<Workspace> workspace,
                            int64_t now) {
  if (options.runtime != nullptr) return options.runtime->Release(std::move(workspace), now);
  const std::lock_guard lock(ProcessMutex());
  workspace.swap(latest_);
  if (workspace != nullptr) own_runtime_->Release(std::move(workspace), now);
}

Result<Value> NativeProgram::RunStatic(Workspace& workspace, const NativeExport& function,
                                       const ExportInfo& info, std::span<const Value> inputs,
                                       const NativeOptions& options, InvocationStats* stats) {
  if (options.timeout.count() > 0 || options.stop != nullptr) {
    return {StatusCode::kUnsupported,
            fmt::format("{}: native code without a heap runs to its end; it takes no limit of time",
                        info.name)};
  }
  std::vector<void*> addresses;
  for (size_t i = 0; i < inputs.size(); ++i) AppendAddresses(info.params[i], inputs[i], &addresses);
  RELAYVM_ASSIGN_OR_RETURN(Value result, NewValue(info.result));
  AppendAddresses(info.result, result, &addresses);
  const size_t bytes = function.workspace_bytes;
  Heap& heap = *workspace.heap;
  heap.BeginRun(std::min(options.memory_limit, workspace.machine_memory),
                workspace.machine_memory < options.memory_limit);
  if (!heap.Charge(bytes) || !workspace.scratch.Reserve(bytes, 1))
    return ExportStatus(MemoryFailure(heap, fmt::format("a workspace of {} bytes", bytes), bytes),
                        info.name);
  stats->peak_bytes = bytes;
  const int32_t error = reinterpret_cast<AotStaticFunction>(const_cast<void*>(function.entry))(
      addresses.data(), workspace.scratch.of(0));
  if (error != 0) return {StatusCode::kFailedPrecondition, descriptor_.message(error)};
  return result;
}

}  // namespace relayvm::vm
