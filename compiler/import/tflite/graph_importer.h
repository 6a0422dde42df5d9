// Subgraphs of a TensorFlow Lite model, operator by operator: tensors as values, constants,
// subgraphs that operators call, and what the model keeps between runs. Not thread-safe. Tested by
// importer_test.cc.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "compiler/import/tflite/operator.h"

namespace relayvm::import::tflite {

// What is kept between runs: a variable that operators name, or a tensor that is one.
struct Variable {
  std::string name;
  ir::Type type;             // of what it holds; dims that nothing says are Any
  Value first;               // what it holds at first; none: zeros
  bool is_assigned = false;  // outside of what runs once
  Value current;             // where importing is
};

// A table of keys and values, which what runs once fills.
struct LookupTable {
  Value keys, values;
};

class GraphImporter {
 public:
  // `file_index` is the model's in the module's source map. `stop` is asked before each operator.
  GraphImporter(ModelFile& file, const ir::Module& module, uint32_t file_index,
                std::stop_token stop);

  TypedBuilder& b() { return builder_; }
  const ModelFile& file() const { return file_; }

  // All operators of a subgraph, and of those it calls, that no table has, in one error.
  Status CheckOperators(int subgraph) const;
  // The variables of a subgraph and of those it calls, with their first values: what runs once has
  // run. Before Import.
  Status FindVariables(int subgraph);
  std::vector<Variable>& variables() { return variables_; }

  // The outputs of the subgraph on these inputs; an error of the builder where it calls itself.
  std::vector<Value> Import(int subgraph, const std::vector<Value>& inputs);
  // The same, of other tensors of it than its outputs. `handles`: inputs that are variables.
  std::vector<Value> Import(int subgraph, const std::vector<Value>& inputs,
                            const std::vector<int>& outputs,
                            std::map<int, std::string> handles = {});
  // The variables that a subgraph, or one that it calls, reads or assigns: indices.
  std::set<size_t> VariablesOf(int subgraph) const;
  size_t NumOperators(int subgraph) const;  // with those of subgraphs that it calls
  int NumInputs(int subgraph) const;        // -1: there is no such subgraph
  bool RunsOnce() const { return runs_once_; }

  // The variable of a handle, by its tensor in the subgraph that is being imported.
  void SetHandle(int tensor, std::string name) { scopes_.back().handles[tensor] = std::move(name); }
  std::string HandleOf(int tensor) const;
  Variable* FindVariable(const std::string& name);
  // The variable that a tensor of the subgraph being imported is; null where it is none.
  Variable* VariableOf(int tensor);
  // A constant of the subgraph being imported; nullopt where there is none of that number.
  std::optional<Value> ConstantAt(int tensor);
  LookupTable& TableOf(const std::string& name) { return tables_[name]; }

  ir::Span SpanOf(const Subgraph& graph, const fb::Operator& op, const std::string& part = "");

 private:
  struct Scope {
    int subgraph;
    std::vector<std::optional<Value>> values;  // by tensor
    std::map<int, std::string> handles;
  };

  std::optional<Value> Find(int tensor);
  Value ConstantOf(int subgraph, int tensor);
  void ImportOperator(const fb::Operator& op);
  // An error where an operator does not take the scales of an input.
  void CheckScales(Code code, int input, const Tensor& t);
  // Subgraphs that an operator calls.
  std::vector<int> CalledBy(const fb::Operator& op) const;
  std::vector<int> Reachable(int subgraph, bool with_once) const;
  void AddVariable(std::string name, ir::Type type);
  std::string NameOfVariable(int subgraph, int tensor) const;
  void NoteVariables(int subgraph, bool is_once);

  ModelFile& file_;
  TypedBuilder builder_;
  uint32_t file_index_;
  const std::stop_token stop_;
  std::vector<Scope> scopes_;
  std::map<std::pair<int, int>, Value> constants_;
  std::vector<Variable> variables_;
  std::map<std::string, size_t> variable_index_;
  std::map<std::string, LookupTable> tables_;
  bool runs_once_ = false;
  size_t imported_ = 0, most_operators_ = 0;  // each as often as it is written
};

}  // namespace relayvm::import::tflite
