#include "tools/values/graph_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "vm/graph/graph_module.h"

namespace relayvm::tools {
namespace {

class GraphExecutor : public Executor {
 public:
  explicit GraphExecutor(std::unique_ptr<GraphModule> module) : module_(std::move(module)) {}

  const Program& program() const override { return module_->kernels()->program(); }
  RunCounts counts() const override {
    const GraphMemory memory = module_->memory();
    InvocationStats stats;
    stats.peak_bytes = memory.planned_bytes + memory.scratch_bytes;
    stats.resident_bytes = stats.peak_bytes + memory.weight_bytes;
    stats.run_ns = run_ns_;
    return {run_ns_, stats};
  }

  Result<FlatValue> Run(const ExportInfo& function, const std::vector<Value>& inputs,
                        TypeTable& types) override {
    for (size_t i = 0; i < inputs.size(); ++i)
      RELAYVM_RETURN_IF_ERROR(module_->SetInputZeroCopy(i, inputs[i]));
    const auto start = std::chrono::steady_clock::now();
    RELAYVM_RETURN_IF_ERROR(module_->Run());
    run_ns_ = (std::chrono::steady_clock::now() - start).count();
    size_t output = 0;
    RELAYVM_ASSIGN_OR_RETURN(const Value result, ResultOf(function.result, output));
    return Flatten(result, types, types.InternOf(function, function.result));
  }

  std::string ProfileTable(int64_t total_ns) const override {
    std::string out =
        fmt::format("{:>8} {:>12} {:>12} {:>6}  {}\n", "calls", "total us", "mean us", "%", "node");
    std::vector<NodeTime> times = module_->node_times();
    std::ranges::stable_sort(times, std::greater<>(), &NodeTime::total_ns);
    constexpr double kMicro = 1e3;
    for (const NodeTime& t : times) {
      const auto ns = static_cast<double>(t.total_ns);
      const auto calls = static_cast<double>(std::max<uint64_t>(t.calls, 1));
      out += fmt::format("{:>8} {:>12.1f} {:>12.2f} {:>6.1f}  {}{}\n", t.calls, ns / kMicro,
                         ns / calls / kMicro,
                         100 * ns / static_cast<double>(std::max<int64_t>(total_ns, 1)), t.name,
                         t.source.empty() ? "" : fmt::format("  [{}]", t.source));
    }
    return out;
  }
  std::string ProfileJson() const override {
    nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
    for (const NodeTime& t : module_->node_times())
      nodes.push_back(
          {{"node", t.name}, {"source", t.source}, {"calls", t.calls}, {"total_ns", t.total_ns}});
    return fmt::format("\"profile\": {}",
                       nodes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

 private:
  // A value of `type` of the outputs from `output` on.
  Result<Value> ResultOf(const ValueType& type, size_t& output) const {
    if (type.kind != ValueType::Kind::kTuple) return module_->GetOutput(output++);
    std::vector<Value> fields;
    for (const ValueType& field : type.args) {
      RELAYVM_ASSIGN_OR_RETURN(fields.emplace_back(), ResultOf(field, output));
    }
    return Value::Tuple(std::move(fields));
  }

  std::unique_ptr<GraphModule> module_;
  int64_t run_ns_ = 0;
};

}  // namespace

Result<std::unique_ptr<Executor>> MakeGraphExecutor(graph::LoadedGraph graph,
                                                    const RunFlags& flags) {
  if (flags.memory_limit != SIZE_MAX || !flags.stack_limit_text.empty() || flags.trace ||
      !flags.trace_file.empty() || !flags.profile_file.empty() || flags.timeout_seconds > 0) {
    return {StatusCode::kInvalidArgument,
            "--memory-limit, --stack-limit, --timeout, --trace and Chrome traces are not for "
            "graphs"};
  }
  RELAYVM_ASSIGN_OR_RETURN(std::unique_ptr<GraphModule> module,
                           GraphModule::Create(std::move(graph), {.num_threads = flags.threads}));
  module->set_timing(flags.profile);
  return std::unique_ptr<Executor>(new GraphExecutor(std::move(module)));
}

}  // namespace relayvm::tools
