// Graphs of a torch.export program: names of values in scope, nodes in order, subgraphs of
// higher-order operators (export_control.cc). Not thread-safe. Tested by export_importer_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/import_options.h"
#include "compiler/import/torch/aliases.h"
#include "compiler/import/torch/export_json.h"

namespace relayvm::import::torch {

// What a node calls: "torch.ops.aten.add.Tensor" is {"aten::add", "Tensor"}; "_operator.add" is the
// scalar row; of "torch.ops.higher_order.cond" `higher_order` is "cond".
struct Target {
  std::string name, overload, higher_order;
};
Target TargetOf(std::string_view text);
// "model.py:53 (encoder.layers.0)": the user's line, and the module; empty where the file has
// neither.
std::string UserPlace(const Json& node);

// Which operators of a graph and its subgraphs are not supported: how often, and where first.
struct Missing {
  int64_t count = 0;
  std::string place;
};
// `options`: operators of the user's own.
void FindMissing(const Json& graph, const ImportOptions& options,
                 std::map<std::string, Missing>* missing);

class ExportGraph {
 public:
  // `file`: the model's index in the module's sources.
  ExportGraph(TypedBuilder& b, Aliases& aliases, const ir::Module& module, uint32_t file,
              const ImportOptions& options)
      : b_(b), aliases_(aliases), module_(module), file_(file), options_(options) {}

  using Names = std::map<std::string, Argument, std::less<>>;

  // The outputs of the graph, tensors as they are when it ends. Errors are the builder's. `values`,
  // where it is not null, gets all that have names.
  std::vector<Argument> Run(const Json& graph, std::vector<Argument> inputs,
                            Names* values = nullptr);

 private:
  // Nodes `from`..`to`-1 of the graph.
  void RunNodes(const Json& graph, size_t from, size_t to, Names& names);
  void RunNode(const Json& graph, const Json& node, Names& names);
  void Assert(const Json& node, const Names& names);
  std::vector<Argument> WithAssertions(std::vector<Argument> outputs);
  // The nodes of a vmap that begins at `from`; gives the node behind it (export_vmap.cc).
  void Show(const Json& graph, const Json& node, int64_t to, const Value& v, Names& names);
  size_t RunVmap(const Json& graph, size_t from, size_t to, Names& names);
  void CallRow(const Json& graph, const Json& node, const Target& target, Names& names);
  std::vector<Argument> CallCustom(const OpDef& op, const Json& node, const Names& names);
  void CallUserConverter(const Json& graph, const Json& node, const Target& target, Names& names);
  std::vector<Argument> HigherOrder(std::string_view name, const Json& node, const Names& names);
  std::vector<Argument> Cond(const std::vector<Argument>& arguments,
                             const std::vector<const Json*>& graphs);
  std::vector<Argument> WhileLoop(const std::vector<Argument>& arguments,
                                  const std::vector<const Json*>& graphs);
  std::vector<Argument> Scan(std::string_view name, const std::vector<Argument>& arguments,
                             const Json& graph);
  // Runs a subgraph whose storages of outer scopes are not written.
  std::vector<Argument> RunPure(const Json& graph, std::vector<Argument> inputs);
  void Assign(const Json& graph, const Json& node, std::vector<Argument> results, Names& names);
  void Name(const Json& graph, const Json& output, Argument value, Names& names);
  void WithSizesOf(const Json& meta, const std::string& name, Argument* value);
  bool FitsFile(const Json& graph, const Json& output, const Argument& value) const;
  Argument AsFileSays(const Json& graph, const std::string& name, Argument value);
  Argument Read(const Json& argument, const Names& names);
  Argument Named(const Json& name, const Names& names);
  Argument SymbolicOf(const Json& v, const Names& names);

  TypedBuilder& b_;
  Aliases& aliases_;
  const ir::Module& module_;
  uint32_t file_;
  const ImportOptions& options_;
  // What the graph at hand asserts, and where.
  struct Assertion {
    Value holds;
    ir::Span span;
  };
  std::vector<Assertion> assertions_;
  int depth_ = 0;
  bool batched_ = false;  // tensors have one dim more than the file says, the first
};

// What torch.export writes for vmap as exported: "add_batch_dim" of
// "torch._functorch.predispatch._add_batch_dim"; empty for other targets.
std::string_view VmapTarget(std::string_view target);

// A float, of which those that are not finite are texts.
Argument FloatArgument(const Json& v);

// Tensors and numbers as values, and back: what branches and loops carry.
std::vector<Value> ValuesOf(TypedBuilder& b, Aliases& aliases, const std::vector<Argument>& all);

}  // namespace relayvm::import::torch
