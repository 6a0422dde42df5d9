// One entry for each ONNX operator: which numbers of inputs it takes and the function that writes
// it as Relay. Tables stand in op_*.cc by subject; operator_table.cc joins them. A converter reads
// its node through NodeContext and builds with its TypedBuilder; errors stick there, so that a
// converter is straight code.
//
//   std::vector<Value> Gemm(NodeContext& n) {
//     Value a = n.Int("transA", 0) ? n.b().Transpose(n.Input(0), {1, 0}) : n.Input(0);
//     ...
//   }
//
// An operator whose meaning changed has one entry for each version, or one converter that asks
// n.opset(). Tested by the tests of importer and by tests/onnx.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/typed_builder.h"

namespace onnx {
class AttributeProto;
class NodeProto;
class GraphProto;
}  // namespace onnx

namespace relayvm::import {

class GraphImporter;
struct CallAttributes;
struct OperatorDef;

// An attribute, and what those in its graphs that refer to a function's attributes take; null:
// nothing.
struct GivenAttribute {
  const onnx::AttributeProto* proto = nullptr;
  const CallAttributes* call = nullptr;
};
// `attribute` of a node in a function that was called with `call` (null: in none), where it may
// refer to an attribute of the function. No proto where the call does not give that one.
GivenAttribute Resolved(const onnx::AttributeProto& attribute, const CallAttributes* call);

class NodeContext : public NodeErrors<NodeContext> {
 public:
  NodeContext(GraphImporter& importer, const onnx::NodeProto& node, std::vector<Value> inputs,
              int opset, const CallAttributes* call)
      : importer_(importer), node_(node), inputs_(std::move(inputs)), opset_(opset), call_(call) {}

  TypedBuilder& b() const;
  // What formats share (../composite, ../arithmetic.h ...) takes a builder: a node stands for its
  // own.
  operator TypedBuilder&() const { return b(); }  // NOLINT(google-explicit-constructor)
  std::string_view op_type() const;
  int opset() const { return opset_; }  // of the node's domain
  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const;
  bool WantsOutput(size_t i) const;  // it is named
  // An optional input that is left out gives no value. REQUIRES: given, where it is not optional
  // (checked against the table).
  Value Input(size_t i) const { return i < inputs_.size() ? inputs_[i] : Value{}; }
  bool Has(size_t i) const { return static_cast<bool>(Input(i)); }
  const std::vector<Value>& inputs() const { return inputs_; }

  // --- Attributes: a wrong type is an error of the node and gives the fallback. ---
  bool HasAttr(std::string_view name) const;
  int64_t Int(std::string_view name, int64_t fallback);
  // The same, of a number of things: 0 to 2^31 - 1, so that products of two are exact.
  int64_t Count(std::string_view name, int64_t fallback);
  double Float(std::string_view name, double fallback);
  std::string String(std::string_view name, std::string_view fallback);
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> fallback = {});
  std::vector<double> Floats(std::string_view name, std::vector<double> fallback = {});
  std::vector<std::string> Strings(std::string_view name);
  Value Tensor(std::string_view name);  // a constant, or no value
  Value SparseTensor(std::string_view name);
  // A TensorProto::DataType; an error where the IR has none.
  DType Type(std::string_view name, DType fallback);
  // The same, of which integers may have fewer bits than a byte.
  ElementKind Kind(std::string_view name, DType fallback);
  // An axis in 0..rank-1 from one in -rank..rank-1; an error and 0 beyond.
  int Axis(int64_t axis, int rank, std::string_view input = {});
  std::vector<int64_t> Axes(const std::vector<int64_t>& axes, int rank,
                            std::string_view input = {});
  // An input that must be known now: axes, pads, scales. Nullopt and an error where it is not.
  std::optional<std::vector<int64_t>> ConstantInts(size_t i, std::string_view what);
  std::optional<std::vector<double>> ConstantFloats(size_t i, std::string_view what);
  // Whether `v` can be of that shape, of which dims that are no numbers may be anything; an error
  // of the node where it cannot.
  bool FitsShape(const Value& v, const std::vector<Dim>& shape, std::string_view what);
  // Input `i` is a tensor of that shape, Any being anything: an error of the node where it is not,
  // at run time where only running tells. From here on Input(i) has those numbers as dims.
  bool ExpectShape(size_t i, const std::vector<Dim>& shape, std::string_view what);
  // axes as an attribute (older opsets) or as input `i` (newer); nullopt where left out.
  std::optional<std::vector<int64_t>> AxesOf(std::string_view attr, size_t i);

  // --- Subgraphs ---
  size_t NumGraphInputs(std::string_view name) const;
  size_t NumGraphNodes(std::string_view name) const;  // without those of graphs inside
  std::string GraphInputName(std::string_view name, size_t i) const;
  // Imports the graph with these inputs; names of the outer graphs are in scope. Its outputs.
  std::vector<Value> Graph(std::string_view name, const std::vector<Value>& inputs);

  // The outputs are `yes` where the condition holds, else `no`; their ranks may differ. Return what
  // it gives.
  std::vector<Value> Fork(const Value& condition, std::vector<Value> yes, std::vector<Value> no);
  // The node and what follows it are imported once more where the dim, whose number is `extent`
  // (int64, rank 1), is 1, and once where it is not: IsOne says which. False: that would be too
  // often.
  bool ForkByOne(const Dim& dim, const Value& extent);
  std::optional<bool> IsOne(const Dim& dim) const;
  // Where its random numbers begin: the attribute seed, or what its first output's name gives.
  uint32_t Seed();
  // What the operator's converter gives. Operators that sum do so in float32, of 16-bit floats too.
  std::vector<Value> Convert(const OperatorDef& op);
  // The node whose first output `v` is, where the graph has it: attributes and inputs as here.
  std::optional<NodeContext> OriginOf(const Value& v) const;
  // The outputs of another operator (of ai.onnx) on these inputs, with this node's attributes.
  std::vector<Value> As(std::string_view op, int opset, std::vector<Value> inputs);

  // What errors call an input: "indices 'ids'"; and its place.
  std::string InputText(size_t i, std::string_view what) const;
  ir::Span InputSpan(size_t i, std::string_view what) const;

  // What the user should know of this node.
  void Warn(std::string_view what);
  // How errors of this node are noted (NodeErrors).
  Failed Note(StatusCode code, std::string_view why) const { return b().Fail(code, why); }

 private:
  GivenAttribute Named(std::string_view name) const;  // no proto where there is none
  const onnx::AttributeProto* Find(std::string_view name, int type);
  const onnx::GraphProto* GraphOf(std::string_view name) const;

  GraphImporter& importer_;
  const onnx::NodeProto& node_;
  std::vector<Value> inputs_;
  int opset_;
  const CallAttributes* call_;  // what its attributes may refer to
};

using Outputs = std::vector<Value>;
using Converter = Outputs (*)(NodeContext&);

struct OperatorDef {
  std::string_view name;
  int min_inputs, max_inputs;  // max -1: any number
  Converter convert;
  int since = 1;            // the first opset that this entry is for
  std::string_view domain;  // "": ai.onnx
};

inline constexpr std::string_view kMicrosoft = "com.microsoft";

// Whether it sums (or multiplies) many elements: a rounding at each would be the result's undoing.
bool Sums(const OperatorDef& op);
// The newest entry for an opset; null when there is none.
const OperatorDef* FindOperator(std::string_view domain, std::string_view name, int opset);
// All entries.
std::span<const OperatorDef> Operators();

// The tables by subject.
std::span<const OperatorDef> MathOperators();
std::span<const OperatorDef> SliceOperators();
std::span<const OperatorDef> TensorOperators();
std::span<const OperatorDef> NnOperators();
std::span<const OperatorDef> ReduceOperators();
std::span<const OperatorDef> ControlOperators();
std::span<const OperatorDef> RecurrentOperators();
std::span<const OperatorDef> SequenceOperators();
std::span<const OperatorDef> IndexOperators();
std::span<const OperatorDef> LossOperators();
std::span<const OperatorDef> SignalOperators();
std::span<const OperatorDef> StringOperators();
std::span<const OperatorDef> ResizeOperators();
std::span<const OperatorDef> QuantOperators();
std::span<const OperatorDef> NormOperators();
std::span<const OperatorDef> PoolOperators();
std::span<const OperatorDef> VisionOperators();
std::span<const OperatorDef> AttentionOperators();
std::span<const OperatorDef> ContribOperators();
std::span<const OperatorDef> ContribQuantOperators();
std::span<const OperatorDef> ExperimentalOperators();
std::span<const OperatorDef> RandomOperators();
std::span<const OperatorDef> LearningOperators();
std::span<const OperatorDef> TreeOperators();
std::span<const OperatorDef> VectorMachineOperators();

}  // namespace relayvm::import
