// One entry for each TensorFlow operator: how many inputs it takes, what its outputs are called,
// and the function that writes it as Relay. Tables stand in op_*.cc by subject; operator_table.cc
// joins them. A converter reads its node through NodeContext and builds with its TypedBuilder;
// errors stick there, so that a converter is straight code.
//
//   Outputs MatMul(NodeContext& n) {
//     const Value x = n.Bool("transpose_a", false) ? n.b().Transpose(n.Input(0), {1, 0}) : ...
//     return {n.b().Op("nn.matmul", {x, y})};
//   }
//
// Files leave out attributes that have their operators' defaults: each is read with its default.
//
// What a value is: a tensor; of complex64 and complex128 a tuple of two tensors, the real and the
// imaginary part (IsComplex); strings are tensors of DType::kString. Handles of variables, tables
// and arrays, and lists of tensors that have no element yet, are values without a tensor's type:
// those that know them read them (resource.h), others hand them on.
// Tested by importer_test.cc and the op_*_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/import/tensorflow/graph_def.h"
#include "compiler/import/typed_builder.h"

namespace relayvm::import::tensorflow {

class GraphImporter;
struct OperatorDef;

class NodeContext : public NodeErrors<NodeContext> {
 public:
  NodeContext(GraphImporter& importer, const NodeDef& node, std::vector<Value> inputs)
      : importer_(importer), node_(node), inputs_(std::move(inputs)) {}

  TypedBuilder& b() const;
  // What formats share (../composite, ../arithmetic.h ...) takes a builder: a node stands for its
  // own.
  operator TypedBuilder&() const { return b(); }  // NOLINT(google-explicit-constructor)
  GraphImporter& importer() { return importer_; }
  const NodeDef& node() const { return node_; }
  std::string_view op() const;
  std::string_view name() const;
  // Without control inputs. REQUIRES of Input: given, where the table says that it is.
  size_t num_inputs() const { return inputs_.size(); }
  Value Input(size_t i) const { return i < inputs_.size() ? inputs_[i] : Value{}; }
  bool Has(size_t i) const { return static_cast<bool>(Input(i)); }
  const std::vector<Value>& inputs() const { return inputs_; }

  // --- Attributes: a wrong type is an error of the node and gives the fallback. ---
  bool HasAttr(std::string_view name) const;
  bool Bool(std::string_view name, bool fallback);
  int64_t Int(std::string_view name, int64_t fallback);
  // The same, of a number of things: 0 to 2^31 - 1, so that products of two are exact.
  int64_t Count(std::string_view name, int64_t fallback);
  double Float(std::string_view name, double fallback);
  std::string String(std::string_view name, std::string_view fallback);
  std::vector<int64_t> Ints(std::string_view name, std::vector<int64_t> fallback = {});
  std::vector<double> Floats(std::string_view name, std::vector<double> fallback = {});
  std::vector<std::string> Strings(std::string_view name);
  // An error where the IR has no such dtype (but for complex ones: that of their parts). Quantised
  // dtypes are the integers that they are stored as.
  DType Type(std::string_view name, DType fallback);
  int64_t RawType(std::string_view name);     // DataType's number; 0: there is none
  bool IsComplexType(std::string_view name);  // the attribute is complex64 or complex128
  // Unknown extents are Any. Nullopt where the rank is unknown or the attribute is left out.
  std::optional<std::vector<Dim>> Shape(std::string_view name);
  std::vector<std::optional<std::vector<Dim>>> Shapes(std::string_view name);
  Value Tensor(std::string_view name);  // a constant, or no value

  // --- Inputs that say how, not what ---

  // An axis in 0..rank-1 from one in -rank..rank-1; an error and 0 beyond.
  int Axis(int64_t axis, int rank, std::string_view input = {});
  std::vector<int64_t> Axes(const std::vector<int64_t>& axes, int rank,
                            std::string_view input = {});
  // An input that must be known now: axes, paddings. Nullopt and an error where it is not.
  std::optional<std::vector<int64_t>> ConstantInts(size_t i, std::string_view what);
  std::optional<int64_t> ConstantInt(size_t i, std::string_view what);
  std::optional<std::vector<double>> ConstantFloats(size_t i, std::string_view what);
  // Of a constant: its texts. Nullopt where it is no constant of strings; no error.
  std::optional<std::vector<std::string>> ConstantStrings(size_t i);
  // Whether the input can be of that shape, Any being anything; an error of the node where not.
  bool FitsShape(const Value& v, const std::vector<Dim>& shape, std::string_view what);

  // Outputs that nobody reads need not be made: an empty Value stands for one.
  bool WantsOutput(size_t i) const;

  // What errors call an input: "indices 'ids:0'"; and its place.
  std::string InputText(size_t i, std::string_view what) const;
  ir::Span InputSpan(size_t i, std::string_view what) const;

  // The outputs of another operator on these inputs, with this node's attributes.
  std::vector<Value> As(std::string_view op, std::vector<Value> inputs);

  // What the user should know of this node.
  void Warn(std::string_view what);
  // How errors of this node are noted (NodeErrors).
  Failed Note(StatusCode code, std::string_view why) const { return b().Fail(code, why); }

 private:
  // No kind where there is none of that kind.
  AttrValue Find(std::string_view name, AttrValue::Kind kind);
  std::vector<AttrValue> List(std::string_view name, AttrValue::Kind kind);

  GraphImporter& importer_;
  const NodeDef& node_;
  std::vector<Value> inputs_;
};

using Outputs = std::vector<Value>;
using Converter = Outputs (*)(NodeContext&);

struct OperatorDef {
  std::string_view name;
  int min_inputs, max_inputs;  // without control inputs; max -1: any number
  Converter convert;
  // Of an operator with several output arguments their names, in order: "values indices". One that
  // is a list has the attribute that says how many it holds (a number, or a list as long):
  // "handles*num other*Tlist". Empty: one argument, which may be a list.
  std::string_view outputs = {};
  // What the ranks of the inputs are, a digit each, '?' any; what is left out is any: "?1". Inputs
  // of the model whose rank nothing else tells have that one.
  std::string_view ranks = {};
  bool touches_state = false;  // it reads or changes variables or tables
};

inline bool IsComplex(const Value& v) {
  const auto* tuple = v.type == nullptr ? nullptr : v.type->As<ir::TupleType>();
  return tuple != nullptr && tuple->fields.size() == 2;
}

// The elements of a constant of integers, or the numbers of one of strings.
std::vector<int64_t> KeysOf(const HostTensor& t);

// Null when there is none.
const OperatorDef* FindOperator(std::string_view name);
// All entries.
std::span<const OperatorDef> Operators();

// The tables by subject.
std::span<const OperatorDef> ControlOperators();  // op_control.cc: functions, branches, loops
std::span<const OperatorDef> ListOperators();     // op_list.cc: TensorArray and TensorList
std::span<const OperatorDef> StateOperators();    // op_state.cc: variables, tables
std::span<const OperatorDef> BasicOperators();    // op_basic.cc: Const, Identity, Placeholder ...
std::span<const OperatorDef> MathOperators();     // op_math.cc: what is elementwise
std::span<const OperatorDef> SpecialOperators();  // op_special.cc: functions by series, gradients
std::span<const OperatorDef> ShapeOperators();    // op_shape.cc
std::span<const OperatorDef> SliceOperators();    // op_slice.cc
std::span<const OperatorDef> ReduceOperators();   // op_reduce.cc
std::span<const OperatorDef> IndexOperators();    // op_index.cc: gathers, scatters, sorts
std::span<const OperatorDef> SegmentOperators();  // op_segment.cc: segments of rows, ragged tensors
std::span<const OperatorDef> SparseOperators();   // op_sparse.cc
std::span<const OperatorDef> NnOperators();       // op_nn.cc: products, convolutions, softmax
std::span<const OperatorDef> PoolOperators();     // op_pool.cc: pools, patches, blocks of space
std::span<const OperatorDef> NormOperators();     // op_norm.cc: normalisation, losses
std::span<const OperatorDef> ResizeOperators();   // op_resize.cc
std::span<const OperatorDef> ImageOperators();    // op_image.cc: colours, crops, boxes
std::span<const OperatorDef> RecurrentOperators();  // op_rnn.cc
std::span<const OperatorDef> QuantOperators();      // op_quant.cc
std::span<const OperatorDef> QuantisedOperators();  // op_quant_products.cc
std::span<const OperatorDef> LinalgOperators();     // op_linalg.cc: matrices
std::span<const OperatorDef> FactorOperators();     // op_factors.cc
std::span<const OperatorDef> StringOperators();     // op_string.cc
std::span<const OperatorDef> SignalOperators();     // op_signal.cc: Fourier transforms
std::span<const OperatorDef> RandomOperators();     // op_random.cc

}  // namespace relayvm::import::tensorflow
