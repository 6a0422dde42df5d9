// One row for each operator of TensorFlow Lite: its code, which numbers of inputs it takes, the
// table of its options and the function that writes it as Relay. Tables stand in op_*.cc by
// subject; operator_table.cc joins them. A converter reads its operator through NodeContext and
// builds with its TypedBuilder; errors stick there, so that a converter is straight code.
//
//   std::vector<Value> Relu(NodeContext& n) { return {n.b().Op("nn.relu", {n.Input(0)})}; }
//
// Values are what the file's tensors hold: of a quantised one its codes (quantised.h says what they
// mean), of a complex one pairs of numbers along an axis more. Not thread-safe. Tested by
// operators_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/import/tflite/model_file.h"
#include "compiler/import/typed_builder.h"

namespace relayvm::import::tflite {

class GraphImporter;

using Code = fb::BuiltinOperator;
using Options = fb::BuiltinOptions;
using Options2 = fb::BuiltinOptions2;

class NodeContext : public NodeErrors<NodeContext> {
 public:
  NodeContext(GraphImporter& importer, const Subgraph& graph, const fb::Operator& op,
              std::vector<Value> inputs)
      : importer_(importer), graph_(graph), op_(op), inputs_(std::move(inputs)) {}

  TypedBuilder& b() const;
  // What formats share (../composite, ../arithmetic.h ...) takes a builder: an operator stands for
  // its own.
  operator TypedBuilder&() const { return b(); }  // NOLINT(google-explicit-constructor)
  GraphImporter& importer() const { return importer_; }
  Code code() const;

  size_t num_inputs() const { return inputs_.size(); }
  size_t num_outputs() const;
  // An input that is left out gives no value. REQUIRES: given, where it is not optional (checked
  // against the table).
  Value Input(size_t i) const { return i < inputs_.size() ? inputs_[i] : Value{}; }
  bool Has(size_t i) const { return static_cast<bool>(Input(i)); }
  const std::vector<Value>& inputs() const { return inputs_; }
  // The same with another value of an input.
  NodeContext With(size_t input, Value value) const {
    NodeContext other = *this;
    other.inputs_[input] = std::move(value);
    return other;
  }
  // What the file says of an input, an output or a tensor in between (of LSTMs: only their
  // quantisation counts); one that is left out, or is not there, has no name and no quantisation.
  const Tensor& In(size_t i) const;
  const Tensor& Out(size_t i = 0) const;
  const Tensor& Between(size_t i) const;
  size_t num_between() const { return op_.intermediates() ? op_.intermediates()->size() : 0; }
  // The number of the input's tensor in its subgraph; -1: left out.
  int TensorOf(size_t i) const { return op_.inputs()->Get(static_cast<uint32_t>(i)); }
  int OutputTensor(size_t i) const { return op_.outputs()->Get(static_cast<uint32_t>(i)); }
  const Subgraph& graph() const { return graph_; }

  // The options; defaults where the file has none. REQUIRES: T is the row's.
  template <typename T>
  const T& Get() const {
    const T* options = op_.builtin_options_as<T>();
    return options != nullptr ? *options : *static_cast<const T*>(EmptyTable());
  }
  template <typename T>
  const T& Get2() const {
    const T* options = op_.builtin_options_2_as<T>();
    return options != nullptr ? *options : *static_cast<const T*>(EmptyTable());
  }
  // Bytes of a custom operator's options.
  std::string_view CustomOptions() const;

  // An input that must be known now; nullopt and an error where it is not.
  std::optional<std::vector<int64_t>> ConstantInts(size_t i, std::string_view what) const;
  // An axis in 0..rank-1 from one in -rank..rank-1; an error and 0 beyond.
  int Axis(int64_t axis, int rank) const;

  // What errors call an input: "indices 'ids'"; and its place (checked.h).
  std::string InputText(size_t i, std::string_view what) const;
  ir::Span InputSpan(size_t i, std::string_view what) const;

  // How errors of this node are noted (NodeErrors).
  Failed Note(StatusCode code, std::string_view why) const { return b().Fail(code, why); }

 private:
  static const void* EmptyTable();

  GraphImporter& importer_;
  const Subgraph& graph_;
  const fb::Operator& op_;
  std::vector<Value> inputs_;
};

using Outputs = std::vector<Value>;
using Converter = Outputs (*)(NodeContext&);

struct OperatorDef {
  Code code;
  int min_inputs, max_inputs;  // max -1: any number
  Converter convert;
  Options options = Options::NONE;  // NONE: it reads none
  Options2 options2 = Options2::NONE;
  std::string_view custom;  // the name of a custom operator
};

// Null when there is none.
const OperatorDef* FindOperator(Code code, std::string_view custom);
std::span<const OperatorDef> Operators();

// The tables by subject.
std::span<const OperatorDef> MathOperators();
std::span<const OperatorDef> CompareOperators();
std::span<const OperatorDef> ActivationOperators();
std::span<const OperatorDef> ConvOperators();
std::span<const OperatorDef> MatrixOperators();
std::span<const OperatorDef> PoolOperators();
std::span<const OperatorDef> TensorOperators();
std::span<const OperatorDef> SliceOperators();
std::span<const OperatorDef> IndexOperators();
std::span<const OperatorDef> BoxOperators();
std::span<const OperatorDef> ReduceOperators();
std::span<const OperatorDef> QuantOperators();
std::span<const OperatorDef> ControlOperators();
std::span<const OperatorDef> RecurrentOperators();
std::span<const OperatorDef> SignalOperators();
std::span<const OperatorDef> StablehloOperators();
std::span<const OperatorDef> StablehloIndexOperators();
std::span<const OperatorDef> WindowOperators();
std::span<const OperatorDef> CustomOperators();

}  // namespace relayvm::import::tflite
