// Running a program in the VM.
#include <optional>

#include "bytecode/variables.h"
#include "tools/values/profiler.h"
#include "tools/values/run.h"

namespace relayvm::tools {
namespace {

class VmExecutor : public Executor {
 public:
  VmExecutor(std::shared_ptr<const Executable> executable, std::unique_ptr<Profiler> profiler,
             std::shared_ptr<Runtime> runtime, std::unique_ptr<Invocation> invocation)
      : executable_(std::move(executable)),
        profiler_(std::move(profiler)),
        runtime_(std::move(runtime)),
        invocation_(std::move(invocation)) {}

  const Program& program() const override { return executable_->program(); }
  std::string ProfileTable(int64_t total_ns) const override {
    return profiler_ == nullptr ? "" : profiler_->Table(total_ns);
  }
  std::string ProfileJson() const override {
    if (profiler_ == nullptr) return "";
    return "\"profile\": " + profiler_->Json() + ", \"operators\": " + profiler_->OperatorsJson() +
           ", \"places\": " + profiler_->PlacesJson();
  }
  Status WriteChromeTrace(const std::string& path) const override {
    return profiler_ == nullptr ? OkStatus() : profiler_->WriteChromeTrace(path);
  }

  Result<FlatValue> Run(const ExportInfo& function, const std::vector<Value>& inputs,
                        TypeTable& types) override {
    std::vector<Value> given = inputs;
    if (state_) {
      RELAYVM_RETURN_IF_ERROR(state_->Begin(&given, {}, runtime_.get()));
    }
    Result<Value> value = invocation_->Run(function.name, std::move(given));
    if (state_) {
      RELAYVM_RETURN_IF_ERROR(state_->End(value));
    }
    if (!value.ok()) return value.status();
    return Flatten(WithoutVariables(*value, function), types,
                   types.InternOf(function, WithoutVariables(function).result));
  }

  Result<State*> UseState(const ExportInfo& function) override {
    RELAYVM_ASSIGN_OR_RETURN(state_, State::Create(executable_, function.name));
    state_->set_in_place(true);  // nobody asks for it after a run that failed
    return &*state_;
  }

  RunCounts counts() const override {
    InvocationStats stats = invocation_->stats();
    return {stats.run_ns, stats};
  }

 private:
  std::shared_ptr<const Executable> executable_;
  std::unique_ptr<Profiler> profiler_;  // the runtime borrows it
  std::shared_ptr<Runtime> runtime_;
  std::unique_ptr<Invocation> invocation_;
  std::optional<State> state_;
};

}  // namespace

Result<std::unique_ptr<Executor>> MakeVmExecutor(std::shared_ptr<const Executable> executable,
                                                 const RunFlags& flags) {
  std::unique_ptr<Profiler> profiler;
  const bool events = !flags.profile_file.empty() || !flags.trace_file.empty();
  if (flags.profile || flags.trace || events) {
    profiler =
        std::make_unique<Profiler>(Profiler::Options{.kernels = flags.profile,
                                                     .events = events,
                                                     .instructions = flags.trace,
                                                     .kernel_interval = flags.profile_interval});
    profiler->set_program(&executable->program());
  }
  RELAYVM_ASSIGN_OR_RETURN(
      std::shared_ptr<Runtime> runtime,
      Runtime::Create(
          {.num_threads = flags.threads, .devices = flags.devices, .trace = profiler.get()}));
  InvocationOptions options;
  options.memory_limit = flags.memory_limit;
  options.stack_limit = flags.stack_limit;
  options.timeout = flags.timeout();
  RELAYVM_ASSIGN_OR_RETURN(std::unique_ptr<Invocation> invocation,
                           Invocation::Create(runtime, executable, options));
  return std::unique_ptr<Executor>(new VmExecutor(std::move(executable), std::move(profiler),
                                                  std::move(runtime), std::move(invocation)));
}

}  // namespace relayvm::tools
