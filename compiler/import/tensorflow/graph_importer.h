// A graph of TensorFlow, node by node, from its outputs back: what no output needs is not looked
// at. Scopes hold what is known of nodes' outputs: the graph's, a function's, those of a turn of a
// loop. Not thread-safe. Tested by importer_test.cc.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/import/tensorflow/bundle.h"
#include "compiler/import/tensorflow/graph_def.h"
#include "compiler/import/tensorflow/operator.h"

namespace relayvm::import::tensorflow {

// What a handle stands for: a variable, a table, the array of a TensorArray. A handle's value is
// node of its own without a tensor's type; how it comes to where it is read does not matter.
struct Resource {
  enum class Kind : uint8_t { kVariable, kTable, kArray };
  Kind kind = Kind::kVariable;
  std::string name;
  DType dtype = DType::kFloat32;          // of a table: of what it gives
  std::optional<std::vector<Dim>> shape;  // of a variable, or of an array's elements
  DType key_dtype = DType::kString;       // of a table
  bool is_reference = false;              // a variable of TensorFlow 1: its readers get its value
  bool grows = false;                     // an array of any length
  Value count;                            // of an array at first, int64 scalar
  Value keys, values;                     // of a table, constants
};

// A list of tensors (TensorList, the flow of a TensorArray) is a tensor that has them as rows.
// Where what they measure is not known before one of them is there, it is a value without a
// tensor's type that stands for so many of them.
struct Unmade {
  Value count;  // int64 scalar
  DType dtype = DType::kFloat32;
  std::optional<std::vector<Dim>> element;  // what is known of it
};

using WantsFn = std::function<bool(size_t)>;

// while (condition(state)) state = body(state)
struct WhileSpec {
  std::vector<Value> initial;
  std::vector<bool> fixed;  // of each: no turn changes it. May be empty
  std::function<Value(const std::vector<Value>&)> condition;
  std::function<std::vector<Value>(const std::vector<Value>&)> body;
};

// Functions and turns of loops around each other, at most.
inline constexpr size_t kMostScopes = 100;
// Nullopt where the text is no number.
std::optional<uint32_t> NumberIn(std::string_view text);

// An output of a node.
struct Edge {
  uint32_t node = 0;
  uint32_t output = 0;
  auto operator<=>(const Edge&) const = default;
};

class GraphImporter {
 public:
  // `file_index` is the model's in the module's source map. `stop` is asked before each node.
  GraphImporter(GraphFile& file, const ir::Module& module, uint32_t file_index,
                std::stop_token stop);

  TypedBuilder& b() { return builder_; }
  GraphFile& file() { return file_; }
  void SetWarn(std::function<void(const std::string&)> warn) { warn_ = std::move(warn); }
  void Warn(std::string_view what);

  // What a tensor of the graph ("x", "x:1") is, whatever its node says.
  void Bind(std::string_view tensor, Value value);
  // The values of tensors: "x", "x:1".
  std::vector<Value> Import(const std::vector<std::string>& tensors);
  // What the node and those before it do to variables and tables: those have it from here on.
  void ImportEffects(std::string_view node) {
    Evaluate({}, {node});
    assigned_.clear();
  }
  // Forgets what is known of the graph's nodes, but for handles and what they hold.
  void StartOver();
  // Whether it failed at an operator that no table has; and all of those that the tensors need, in
  // one error.
  bool is_missing() const { return missing_; }
  Status Unsupported(const std::vector<std::string>& tensors);

  // A function with these inputs, as an operator that has the attribute calls it.
  // Outputs that nobody `wants` (null: all are wanted) are no values.
  std::vector<Value> Call(const FunctionRef& function, const std::vector<Value>& inputs,
                          const WantsFn& wants = nullptr);

  // The last state; the condition is a scalar.
  std::vector<Value> RunWhile(const WhileSpec& spec);
  // What one of the two gives.
  std::vector<Value> RunIf(const Value& condition, const std::function<std::vector<Value>()>& yes,
                           const std::function<std::vector<Value>()>& no);
  // The same of what both are; lists that one side has made too.
  std::vector<Value> Joined(const Value& condition, std::vector<Value> yes, std::vector<Value> no);
  // Of a call of the function: results that are its inputs of the same place.
  std::vector<bool> HandedOn(const FunctionRef& function, int depth = 0);

  // --- Handles and lists ---
  Value NewHandle(std::shared_ptr<Resource> resource);
  std::shared_ptr<Resource> ResourceOf(const Value& handle) const;  // null: it is none
  Value NewUnmade(Unmade list);
  const Unmade* UnmadeOf(const Value& list) const;  // null: it is none
  // A list that has so many of such an element, zeros; none where its dims are not known by then.
  Value Made(const Unmade& list, const std::vector<Dim>& element, size_t values);
  // The graph's own handle of a node, made once.
  std::map<std::string, Value, std::less<>>& handles() { return named_handles_; }
  bool in_function() const { return scopes_.back()->function != nullptr; }
  // Variables that the program changes: what they hold is its state. What was seen to be changed
  // and is not among them makes an import void.
  void SetStates(std::set<std::string> names) { states_ = std::move(names); }
  const std::set<std::string>& assigned() const { return assigned_; }
  // What a variable holds now; no value: nothing yet.
  Value Read(const Resource& variable);
  void Write(const Resource& variable, Value value);
  // What a checkpoint beside the file holds (Bundle::Tensor): a value that stands for it, and the
  // constant, which is read when somebody needs it. An error where there is none.
  Value NewStored(std::string key, std::string slice);
  Value Loaded(const Value& v);  // other values are what they are
  // Variables that nothing has given a value get those of the checkpoint (object_graph.h).
  void RestoreObjects();
  // A file in the SavedModel's assets.
  Result<SharedBytes> Asset(const std::string& name);
  // The elements that input `i` of a node counts: 0, 1, 2 ...
  bool IsRangeFromZero(const NodeDef& node, size_t i);

  ir::Span SpanOf(const NodeDef& node, std::string_view part = "");
  // What the attribute is, in a function that of its caller. No kind where there is none.
  AttrValue AttrOf(const NodeDef& node, std::string_view name) const;
  Value ConstantOf(std::string_view tensor, std::string_view name);
  bool WantsOutput(const NodeDef& node, size_t output) const;
  std::string TextOfInput(const NodeDef& node, size_t i) const;

 private:
  struct Scope {
    const Graph* graph = nullptr;
    const FunctionDef* function = nullptr;  // null: the graph of the file
    const NodeAttrs* attrs = nullptr;       // that the function was called with
    const Scope* caller = nullptr;
    std::map<std::string_view, std::vector<Value>, std::less<>> args;  // of the function, by name
    std::unordered_map<uint32_t, std::vector<Value>> values;           // outputs by node
    std::map<Edge, Value> bound;
    std::set<Edge> wanted;  // what somebody reads
  };

  // What a text refers to: an output of a node, or in a function an argument.
  struct Source {
    bool is_arg = false;
    Edge edge;  // edge.output counts in the argument's list where is_arg
    std::string_view arg;
  };
  std::optional<Source> SourceOf(const Scope& scope, std::string_view text);
  // The first output of the argument of that name; nullopt where the operator has none.
  std::optional<uint32_t> OutputNamed(const NodeDef& node, std::string_view name);
  // --- Branches and loops of graphs (frames.cc) ---

  // A loop that Enter, Merge, Switch, NextIteration and Exit make.
  struct Loop {
    std::vector<uint32_t> merges;      // a variable each: its Merge
    std::vector<uint32_t> enters;      // and the Enter, ...
    std::vector<uint32_t> nexts;       // the NextIteration that it merges
    std::vector<uint32_t> fixed;       // Enters of what no turn changes
    uint32_t condition = 0;            // LoopCond
    std::map<uint32_t, size_t> exits;  // the variables that they give
  };
  // Of an Exit; null with an error.
  const Loop* LoopOf(const Scope& scope, uint32_t exit);
  void RunFrame(const Loop& loop);
  // What must be for a node to be alive: of a Switch the predicate, true where `side` is 1; of a
  // _SwitchN of so many `sides` the number.
  struct Guard {
    Edge decides;
    uint32_t side = 0, sides = 0;
    auto operator<=>(const Guard&) const = default;
  };
  using Guards = std::set<Guard>;
  // Of a Switch's output.
  std::optional<Guard> GuardAt(const Scope& scope, const Edge& edge) const;
  // Whether it is so, by the value of what decides: a scalar.
  Value Holds(const Guard& guard, const Value& decides);
  // Where the guard holds, a Merge takes one of the inputs `yes`, else one of `no`.
  struct Decision {
    Guard guard;
    std::vector<size_t> yes, no;
  };
  static std::optional<Decision> DecisionAmong(const std::vector<Guards>& of,
                                               const std::vector<size_t>& inputs);
  // Those of a Merge, each before those that decide between what it leaves.
  std::optional<std::vector<Decision>> DecisionsOf(const Scope& scope, uint32_t merge);
  // What must hold, beside what is known to, where a node changes variables: it stands in a branch.
  Guards GuardsOfEffects(const Scope& scope, uint32_t place);
  // From here on that holds; how much was added to held_.
  size_t HoldGuards(const Scope& scope, uint32_t place);
  const std::vector<Guards>& GuardsOf(const Scope& scope);
  // What a text refers to, where only a Switch's outputs are told apart. Arguments of a function
  // are behind its nodes.
  std::optional<Edge> EdgeOf(const Scope& scope, std::string_view text) const;
  static Source SourceOfEdge(const Scope& scope, const Edge& edge);
  // What decides at a Switch of a branch; nullopt for other nodes.
  std::optional<Edge> PredicateOf(const Scope& scope, uint32_t place) const;
  void ImportMerge(uint32_t place);
  // What a node needs before it.
  std::optional<std::vector<Source>> NeedsOf(const Scope& scope, uint32_t place);

  std::optional<Value> Known(const Scope& scope, const Source& source) const;
  // The nodes that these need and that are not known yet, each behind those that it needs; and
  // those before them that change or read variables, by control inputs. Of `effects` (names of
  // nodes) only such. False with an error.
  bool Order(const std::vector<Source>& roots, const std::vector<std::string_view>& effects,
             std::vector<uint32_t>* order);
  // Whether a node changes or reads variables or tables.
  bool TouchesState(const NodeDef& node);
  bool TouchesState(const Graph& graph);
  // The values of what the texts refer to, in the innermost scope.
  std::vector<Value> Evaluate(const std::vector<std::string_view>& texts,
                              const std::vector<std::string_view>& effects = {});
  void ImportNode(uint32_t node);
  std::vector<Value> Convert(const NodeDef& node, std::vector<Value> inputs);
  std::vector<Value> RunLoopOver(const WhileSpec& spec);
  // Whether two handles, or lists without elements, are one; an error where they are two, or only
  // one of them is such a thing.
  bool AreSame(const Value& yes, const Value& no);
  void FailGraph(StatusCode code, std::string_view message);

  GraphFile& file_;
  TypedBuilder builder_;
  uint32_t file_index_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  const std::stop_token stop_;
  std::function<void(const std::string&)> warn_;
  std::unordered_map<ir::NodeId, std::shared_ptr<Resource>> resources_;  // by their handles
  std::unordered_map<ir::NodeId, Unmade> unmade_;
  std::map<std::string, Value, std::less<>> named_handles_;
  std::map<std::string, Value, std::less<>> variables_;  // what they hold now
  std::set<std::string> states_;    // variables that the program changes: state
  std::set<std::string> assigned_;  // those that it was seen to change
  std::map<std::pair<const Graph*, std::string_view>, std::unique_ptr<Loop>> loops_;  // by frame
  std::map<const Graph*, std::vector<Guards>> guards_;
  std::set<const Graph*> too_deep_;  // some of those are left out
  // What holds where variables are changed now: elsewhere they stay as they are.
  struct Held {
    const Graph* graph;
    Guard guard;
    Value holds;  // scalar
  };
  std::vector<Held> held_;
  std::map<const Graph*, bool> touches_;
  std::unique_ptr<Bundle> bundle_;
  Bundle* OpenBundle();  // null with an error
  struct Stored {
    std::string key, slice;
    Value value;  // none: not read yet
  };
  std::unordered_map<ir::NodeId, Stored> stored_;
  std::unordered_map<const char*, HostTensor> tensors_;  // that have been read
  std::vector<const FunctionDef*> calls_;                // functions being imported
  bool missing_ = false;
  size_t imported_ = 0, most_nodes_ = 0;  // nodes, each as often as it is written
};

}  // namespace relayvm::import::tensorflow
