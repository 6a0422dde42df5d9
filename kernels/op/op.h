// Operators: one definition each. An OpDef gives the attribute schema, the type relation and the
// meaning of an operator; the type checker, the reference interpreter, constant folding, shape
// evaluation, fusion and code generation all read it. Adding an operator touches its definition and
// its test.
//
// Operators of users' libraries are OpDefs of their own, beside the table (custom_ops.h).
//
// Definitions live in kernels/op/*.cc, grouped by class; each file has a function void
// Define...(OpTable&) that is called by OpTable::Make() in op_table.cc (no registration before
// main). Tested by *_test.cc beside each file.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/op/call_makers.h"
#include "kernels/op/type_context.h"
#include "kernels/te/te.h"

namespace relayvm {

struct Builtin;
struct HostTensor;

// The call that a definition is asked to compute. `inputs` are the argument tensors, tuples
// flattened, in order; placeholders or computations. `outputs` are the result types that the
// relation gave, flattened, without Any.
struct ComputeContext {
  const Attrs& attrs;
  std::span<const te::Tensor> inputs;
  std::span<const TensorType> outputs;
  int64_t check = 1;  // the number of this call's checks among those of its kernel (OpDef::checks)
};

// How an operator may fuse (TVM's TOpPattern).
enum class FusionClass : uint8_t {
  kElementwise,
  kBroadcast,
  kInjective,
  kReduction,
  kOutElementwise,
  kOpaque
};

// A call to a builtin (kernels/runtime/): its name and the int64 numbers it is given
// after the dims of all inputs and outputs. See kernels/runtime/builtin.h.
struct BuiltinCall {
  std::string name;
  std::vector<Dim> params;
};

// Writes the calls that stand for another (OpDef::decompose). Implemented by the compiler.
class CallWriter : public CallMakers<CallWriter, size_t> {
 public:
  using Value = size_t;  // an argument or an earlier result, by an order of the writer's own

  virtual ~CallWriter() = default;
  virtual const Attrs& attrs() const = 0;
  virtual const TensorType& tensor(size_t arg) const = 0;    // REQUIRES: the argument is a tensor
  virtual const HostTensor* constant(size_t arg) const = 0;  // null where it is none
  virtual Value Arg(size_t i) = 0;
  // The fields of an argument that is a tuple of tensors.
  virtual std::vector<TensorType> tensors(size_t arg) const = 0;
  virtual Value Field(size_t arg, size_t field) = 0;
  virtual Value Tuple(const std::vector<Value>& fields) = 0;
  virtual Value Scalar(double value, DType dtype) = 0;
  virtual Value Constant(HostTensor value) = 0;
  // A call with one result; attributes that are not given have their defaults.
  // NOLINTNEXTLINE(google-default-arguments): those who override it give none of their own
  virtual Value Call(std::string_view op, const std::vector<Value>& args, Attrs attrs = {}) = 0;
};

// Which convolution or product of matrices an operator is: argument 0 is the data, 1 the kernel or
// weight. What a call of it computes is read by problem.h.
struct ConvClass {
  int spatial = 2;             // axes
  bool is_transposed = false;  // as nn.conv2d_transpose
  bool is_quantised = false;   // arguments 2 and 3 are zero points
};
struct ProductClass {
  bool is_batched = false;    // of as many matrices
  bool is_quantised = false;  // as above
  bool has_blocks = false;  // the weight is a model's own integers in blocks, with scales behind it
};

// What an operator does with whole slices along its attribute "axis": they are copied, never
// computed on the way.
enum class AlongAxis : uint8_t {
  kNothing,
  kJoins,     // those of a tuple's tensors, one behind the other: concatenate
  kStacks,    // a tuple's tensors themselves, along an axis of the result's own: stack
  kRescales,  // as kJoins, and brings each to a scale: qnn.concatenate
  kSplits,    // runs of its argument's are its results: split
  kTakes      // those of argument 0 that argument 1 numbers; all elements without an axis: take
};

// Square blocks of positions that become channels (nn.space_to_depth), in row-major order.
struct DepthBlocks {
  int64_t edge = 1;
  size_t channels = 1;  // the axis
};

// What becomes of an operator when its data changes its layout, that is the order of its dims
// (TVM's FInferCorrectLayout).
enum class LayoutRule : uint8_t {
  kFixed,     // its meaning is tied to the order of dims: reshape
  kAgnostic,  // it takes any order, the same for all arguments: add
  kFollows,   // it takes any order if its attribute axis or axes is renamed: concatenate, sum
  kChooses    // attributes name its layouts, and it gains by another one: nn.conv2d
};

struct OpDef {
  std::string name;
  int num_args = 1;  // -1: any number
  std::vector<AttrField> attrs;
  // TVM's class of the attributes, without "relay.attrs."; "" where there is none. Text names it
  // (attrs_type_key) where TVM does not find it by the operator's name.
  std::string attrs_class;
  bool print_attrs_class = false;
  // Arguments that are tuples of tensors, one at least. All others are tensors.
  std::vector<int> tuple_args;
  // The result is the argument, of whatever type: a marker for passes. It has no other meaning, and
  // no relation.
  bool is_identity = false;

  std::function<Result<OpResult>(TypeContext&)> infer;
  // The meaning, as one tensor expression a result tensor. Null for operators given by `builtin`.
  std::function<std::vector<te::Tensor>(const ComputeContext&)> compute;
  // Its expressions check the data (te::Checked), and its kernel may fail.
  bool checks = false;
  // The meaning, as a builtin (sort, top-k, cumsum ...). Arguments of the builtin:
  // inputs, then outputs, then `num_counts` int64 scalars that it fills.
  std::function<BuiltinCall(const ComputeContext&)> builtin;
  // Its kernel, where the runtime library has none of its name: for who computes without a runtime.
  // It lives as long as the process.
  const Builtin* custom_kernel = nullptr;
  // For operators whose result size only running tells: the relation makes `num_counts` fresh
  // symbols, in order; `upper_bound` gives result shapes that are large enough; the kernel reports
  // the true values.
  int num_counts = 0;
  std::function<std::vector<TensorType>(const ComputeContext&)> upper_bound;
  // True for an operator whose result is its first argument's memory under another shape (reshape,
  // expand_dims, squeeze).
  bool is_view = false;
  // It takes and gives strings too: it moves elements or compares them. Others get numbers only.
  bool takes_strings = false;
  // Arguments that are read only by the type relation (shape operands of dyn.*): their contents
  // never reach the kernel.
  std::vector<int> shape_args;

  // --- What passes know of it ---

  FusionClass fusion = FusionClass::kOpaque;
  // Of an operator whose kernel computes some of its arguments as it reads them, each element a few
  // times at most: whether argument i is such. Nothing follows it in its kernel.
  std::function<bool(size_t i)> computes_arg;
  AlongAxis along_axis = AlongAxis::kNothing;
  // Its result is made of its arguments' elements, side by side.
  bool is_concatenation() const {
    return along_axis >= AlongAxis::kJoins && along_axis <= AlongAxis::kRescales;
  }
  bool is_slice = false;  // ReadSlice (slicing.h) says of what
  // Of an operator that only moves axes: those of its argument in the result's order; nullopt where
  // this call does more (layout_transform to blocks).
  std::function<std::optional<std::vector<int64_t>>(const Attrs&, int rank)> permutation;
  std::function<DepthBlocks(const Attrs&)> depth_blocks;
  // The results in simpler operators; nullopt where this call has none.
  std::function<std::optional<std::vector<CallWriter::Value>>(CallWriter&)> decompose;
  // Types of arguments that the data and the attributes imply: weights whose type a program leaves
  // out. One entry for each of `num_args` arguments.
  std::function<std::vector<std::optional<TensorType>>(const Attrs&, const TensorType& data,
                                                       size_t num_args)>
      implied_args;
  std::optional<ConvClass> conv;
  std::optional<ProductClass> product;
  LayoutRule layout = LayoutRule::kFixed;
};

class OpTable {
 public:
  // All operators but users' own.
  static const OpTable& Get();

  const OpDef* Find(std::string_view name) const;
  void Add(OpDef def);  // REQUIRES: a new name
  std::vector<std::string_view> Names() const;

 private:
  static OpTable Make();
  std::unordered_map<std::string, std::unique_ptr<const OpDef>> defs_;
};

// Its one result as an expression of placeholders, in order of its arguments' tensors; null where a
// builtin computes it.
te::Tensor ExpressionOf(const OpDef& op, const Attrs& attrs, std::span<const TensorType> inputs,
                        const TensorType& result);

// Checks the number of arguments and which of them are tuples. The error leaves out the operator's
// name.
Status CheckArgs(const OpDef& op, std::span<const ArgType> args);
// That argument i is not of this type, in words.
Status WrongArg(const OpDef& op, size_t i, std::string_view found);

// Checks `given` against the schema and fills in defaults. The error names the operator, the
// attribute and what is expected. `may_miss`: those without a default may be left out.
Result<Attrs> CompleteAttrs(const OpDef& op, const Attrs& given, bool may_miss = false);

}  // namespace relayvm
