#include "tools/values/graph_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "tools/values/profiler.h"
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
    std::vector<Profile::Row> rows = Rows();
    std::ranges::stable_sort(rows, std::greater<>(), &Profile::Row::total_ns);
    int64_t kernel_ns = 0;
    for (const Profile::Row& row : rows) kernel_ns += row.total_ns;
    return KernelTable("node", rows, kernel_ns, total_ns);
  }
  std::string ProfileJson() const override {
    nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
    for (const NodeTime& t : module_->node_times())
      nodes.push_back(
          {{"node", t.name}, {"source", t.source}, {"calls", t.calls}, {"total_ns", t.total_ns}});
    return fmt::format(R"("profile": {}, "operators": {})",
                       nodes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                       OperatorsJson(Rows()));
  }

 private:
  std::vector<Profile::Row> Rows() const {
    std::vector<Profile::Row> rows;
    for (const NodeTime& t : module_->node_times()) {
      Profile::Row& row = rows.emplace_back();
      row.name = t.name;
      row.place.file = t.source;
      row.calls = t.calls;
      row.total_ns = t.total_ns;
    }
    return rows;
  }
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
  if (!flags.stack_limit_text.empty() || flags.trace || !flags.trace_file.empty() ||
      !flags.profile_file.empty()) {
    return {StatusCode::kInvalidArgument,
            "--stack-limit, --trace and Chrome traces are not for graphs"};
  }
  RELAYVM_ASSIGN_OR_RETURN(
      std::unique_ptr<GraphModule> module,
      GraphModule::Create(std::move(graph),
                          {.num_threads = flags.threads, .memory_limit = flags.memory_limit}));
  module->set_timeout(flags.timeout());
  module->set_timing(flags.profile);
  return std::unique_ptr<Executor>(new GraphExecutor(std::move(module)));
}

}  // namespace relayvm::tools
