// One row for each operator of MXNet: its names, how many inputs it takes and the function that
// writes it as Relay. Tables stand in op_*.cc by subject; operator_table.cc joins them. A converter
// reads its node through Node and builds with its TypedBuilder; errors stick there, so that a
// converter is straight code.
//
//   Outputs Square(Node& n) {
//     const Term x(n, 0);
//     return {x * x};
//   }
//
// Attributes that a file leaves out are the operator's defaults, which stand in the converters.
// Families of many small operators share a converter: a template over Relay's name. Tested by
// op_*_test.cc and importer_test.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/arithmetic.h"
#include "compiler/import/mxnet/symbol.h"

namespace relayvm::import::mxnet {

class GraphImporter;

class Node : public NodeErrors<Node> {
 public:
  Node(GraphImporter& importer, const SymbolNode& node, std::vector<Value> inputs)
      : importer_(importer), node_(node), inputs_(std::move(inputs)) {}

  TypedBuilder& b() const;
  operator TypedBuilder&() const { return b(); }  // NOLINT(google-explicit-constructor)
  const std::string& op() const { return node_.op; }
  bool np_shape() const;  // of the file (symbol.h)
  size_t num_inputs() const { return inputs_.size(); }
  // No value where it is left out, which the row allows.
  Value Input(size_t i) const { return i < inputs_.size() ? inputs_[i] : Value{}; }
  bool Has(size_t i) const { return static_cast<bool>(Input(i)); }
  const std::vector<Value>& inputs() const { return inputs_; }

  // --- Attributes: one that is something else is an error of the node and gives the fallback. ---
  bool HasAttr(std::string_view name) const;  // and it is not None
  bool IsNone(std::string_view name) const;   // it is there, and None
  std::string Text(std::string_view name, std::string_view fallback);
  bool Bool(std::string_view name, bool fallback);
  int64_t Int(std::string_view name, int64_t fallback);
  // The same, of a number of things: 0 to 2^31 - 1, so that products of two are exact.
  int64_t Count(std::string_view name, int64_t fallback);
  double Float(std::string_view name, double fallback);
  std::optional<int64_t> MaybeInt(std::string_view name);  // nullopt: None, or left out
  std::optional<double> MaybeFloat(std::string_view name);
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> fallback = {});
  // The same, each -2^31 to 2^31 - 1.
  std::vector<int64_t> Counts(std::string_view name, std::vector<int64_t> fallback = {});
  std::optional<std::vector<int64_t>> MaybeInts(std::string_view name);
  std::vector<std::optional<int64_t>> IntsOrNone(std::string_view name);  // (None, 1)
  std::vector<double> Floats(std::string_view name, std::vector<double> fallback = {});
  DType Type(std::string_view name, DType fallback);
  // One of `choices`; an error names them.
  std::string Choice(std::string_view name, std::string_view fallback,
                     std::initializer_list<std::string_view> choices);
  // An axis in 0..rank-1 from one in -rank..rank-1; an error and 0 beyond.
  int Axis(int64_t axis, int rank);
  std::vector<int64_t> Axes(const std::vector<int64_t>& axes, int rank);

  // --- Subgraphs ---
  size_t NumSubgraphs() const { return node_.subgraphs.size(); }
  size_t NumSubgraphInputs(size_t i) const;
  size_t NumSubgraphNodes(size_t i) const;
  // The heads of a subgraph, whose variables are these in their order. `known`: outputs of nodes,
  // by their numbers, that are not converted.
  std::vector<Value> Subgraph(size_t i, const std::vector<Value>& variables,
                              const std::map<size_t, Value>& known = {});
  const Symbol& SubgraphOf(size_t i) const { return node_.subgraphs[i]; }
  // A node of a subgraph, to read its attributes.
  Node Inner(const SymbolNode& node, std::vector<Value> inputs) {
    return Node(importer_, node, std::move(inputs));
  }

  // The outputs of another operator on these inputs, with this node's attributes.
  std::vector<Value> As(std::string_view op, std::vector<Value> inputs);

  // Whether `v` is a tensor of that rank; an error where it is not.
  bool ExpectRank(const Value& v, int rank, std::string_view what);
  // Whether `v` can be of that shape, of which dims that are no numbers may be anything; an error
  // where it cannot.
  bool FitsShape(const Value& v, const std::vector<Dim>& shape, std::string_view what);

  // What a value was made of, where converters have noted it: vectors of parameters, of matrices.
  void NoteOrigins(const Value& v, std::vector<Value> origins);
  std::vector<Value> OriginsOf(const Value& v) const;
  // What the user should know of this node.
  void Warn(std::string_view what);
  // What errors call an input, and its place (checked.h).
  std::string InputText(size_t i, std::string_view what) const;
  ir::Span InputSpan(size_t i, std::string_view what) const;

  // How errors of this node are noted (NodeErrors).
  Failed Note(StatusCode code, std::string_view why) const { return b().Fail(code, why); }

 private:
  const std::string* Find(std::string_view name) const;  // null: left out
  template <typename T>
  T Read(std::string_view name, T fallback, std::optional<T> (*parse)(std::string_view),
         std::string_view expected);

  GraphImporter& importer_;
  const SymbolNode& node_;
  std::vector<Value> inputs_;
};

using Outputs = std::vector<Value>;
using Converter = Outputs (*)(Node&);

struct OperatorDef {
  std::string_view names;      // its own and others that mean the same: "elemwise_add _plus _Plus"
  int min_inputs, max_inputs;  // max -1: any number
  Converter convert;
  // What its inputs are called, where files may leave some out: before 0.9 they had no auxiliary
  // ones. Such an input is a variable NODE_NAME.
  std::string_view arguments = "";
  // What follows the least inputs is a label: of losses, which need it in training.
  bool has_label = false;
};

// Null: there is none.
const OperatorDef* FindOperator(std::string_view name);
std::span<const OperatorDef> Operators();

// The tables by subject.
std::span<const OperatorDef> MathOperators();
std::span<const OperatorDef> BinaryOperators();
std::span<const OperatorDef> ReduceOperators();
std::span<const OperatorDef> ShapeOperators();
std::span<const OperatorDef> SliceOperators();
std::span<const OperatorDef> JoinOperators();
std::span<const OperatorDef> IndexOperators();
std::span<const OperatorDef> OrderOperators();
std::span<const OperatorDef> CreateOperators();
std::span<const OperatorDef> NnOperators();
std::span<const OperatorDef> NormOperators();
std::span<const OperatorDef> PoolOperators();
std::span<const OperatorDef> ProductOperators();
std::span<const OperatorDef> SequenceOperators();
std::span<const OperatorDef> RecurrentOperators();
std::span<const OperatorDef> ControlOperators();
std::span<const OperatorDef> LossOperators();
std::span<const OperatorDef> BoxOperators();
std::span<const OperatorDef> RegionOperators();
std::span<const OperatorDef> ImageOperators();
std::span<const OperatorDef> LinalgOperators();
std::span<const OperatorDef> QuantOperators();
std::span<const OperatorDef> NumpyOperators();

}  // namespace relayvm::import::mxnet
