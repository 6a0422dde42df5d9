#include "tools/values/graph_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/values/profiler.h"
#include "vm/graph/graph_module.h"

namespace relayvm::tools {
namespace {

class GraphExecutor : public Executor {
 public:
  GraphExecutor(std::unique_ptr<Profiler> profiler, std::unique_ptr<GraphModule> module)
      : profiler_(std::move(profiler)), module_(std::move(module)) {}

  const Program& program() const override { return module_->kernels()->program(); }
  RunCounts counts() const override {
    const InvocationStats stats = module_->stats();
    return {stats.run_ns, stats};
  }
  Status WriteChromeTrace(const std::string& path) const override {
    return profiler_ == nullptr ? OkStatus() : profiler_->WriteChromeTrace(path);
  }

  Result<FlatValue> Run(const ExportInfo& function, const std::vector<Value>& inputs,
                        TypeTable& types) override {
    for (size_t i = 0; i < inputs.size(); ++i)
      RELAYVM_RETURN_IF_ERROR(module_->SetInputZeroCopy(i, inputs[i]));
    RELAYVM_RETURN_IF_ERROR(module_->Run());
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

  std::unique_ptr<Profiler> profiler_;  // the module's runtime borrows it
  std::unique_ptr<GraphModule> module_;
};

}  // namespace

Result<std::unique_ptr<Executor>> MakeGraphExecutor(graph::LoadedGraph graph,
                                                    const RunFlags& flags) {
  if (!flags.stack_limit_text.empty() || flags.trace) {
    return {
        StatusCode::kInvalidArgument,
        "--stack-limit and --trace without a file, which prints instructions, are not for graphs"};
  }
  std::unique_ptr<Profiler> profiler;
  if (!flags.profile_file.empty() || !flags.trace_file.empty())
    profiler = std::make_unique<Profiler>(
        Profiler::Options{.events = true, .kernel_interval = flags.profile_interval});
  RELAYVM_ASSIGN_OR_RETURN(
      const std::shared_ptr<Runtime> runtime,
      Runtime::Create({.num_threads = flags.threads, .trace = profiler.get()}));
  RELAYVM_ASSIGN_OR_RETURN(
      std::unique_ptr<GraphModule> module,
      GraphModule::Create(std::move(graph),
                          {.runtime = runtime, .memory_limit = flags.memory_limit}));
  module->set_timeout(flags.timeout());
  module->set_timing(flags.profile);
  return std::unique_ptr<Executor>(new GraphExecutor(std::move(profiler), std::move(module)));
}

}  // namespace relayvm::tools
