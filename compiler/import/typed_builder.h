// TypedBuilder: a graph builder that knows the type of each value while the graph is built. What
// all importers build with: an operator of a model is translated by the types of its inputs, and by
// what small integer tensors (shapes) hold.
//
//   TypedBuilder b(module);
//   b.SetSpan(module.sources->NodeSpan(file, "Gemm_3", "Gemm"));
//   Value y = b.Op("nn.dense", {x, w}, {{"units", AttrValue()}});
//   if (y.rank() == 2 && y.dim(0) == 1) ...
//
// Types and contents are those that type inference will find again (typing/op_typing.h); what they
// need to hold at run time is left to it. Errors stick: after one, values are still made, and
// status() gives the first with its place. Not thread-safe. Tested by typed_builder_test.cc.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/graph_builder.h"
#include "compiler/typing/op_typing.h"

namespace relayvm::import {

// A value of the graph under construction.
struct Value {
  ir::NodeId node = ir::kNoNode;  // kNoNode: there is no value (an optional input that is left out)
  ir::Type type;                  // null where there is no value, or after an error
  std::shared_ptr<const HostTensor> constant;  // where it is one
  // Of an integer that has fewer than its dtype; what is computed has all. Less than 0: codes of
  // small floats (onnx/small_floats.h).
  int bits = 0;

  explicit operator bool() const { return node != ir::kNoNode; }
  bool is_tensor() const { return type != nullptr && type->As<TensorType>() != nullptr; }
  // Of a tensor; else a float32 scalar's.
  const TensorType& tensor() const;
  DType dtype() const { return tensor().dtype; }
  int rank() const { return tensor().rank(); }
  const std::vector<Dim>& shape() const { return tensor().shape; }
  // Axis may count from the end. 1 beyond the rank.
  Dim dim(int axis) const;
};

// A dtype, and the bits of an integer that has fewer; 0: all. Codes of small floats: less than 0,
// minus their number (onnx/small_floats.h).
struct ElementKind {
  DType dtype;
  int bits = 0;
};
inline ElementKind KindOf(const Value& v) { return {v.dtype(), v.bits}; }

using AttrInit = std::initializer_list<std::pair<std::string_view, AttrValue>>;

// What a function that has noted an error returns: nothing, of any type.
// NOLINTBEGIN(google-explicit-constructor)
struct Failed {
  template <typename T>
  operator std::vector<T>() const {
    return {};
  }
  // Of what has no elements: an optional vector would else be one that is there, and empty. Those
  // of other elements do not compile; they return std::nullopt.
  template <typename T>
  operator std::optional<T>() && {
    return std::nullopt;
  }
  operator std::optional<std::vector<int64_t>>() && { return std::nullopt; }
  operator std::optional<std::vector<double>>() && { return std::nullopt; }
  operator std::optional<std::vector<std::string>>() && { return std::nullopt; }
  operator std::optional<std::vector<Dim>>() && { return std::nullopt; }
  operator std::optional<std::vector<Value>>() && { return std::nullopt; }
};
// NOLINTEND(google-explicit-constructor)

class TypedBuilder final {
 public:
  explicit TypedBuilder(const ir::Module& module);

  // The place of what is built from here on.
  void SetSpan(ir::Span span) { span_ = span; }
  ir::Span span() const { return span_; }

  // --- Values ---

  Value Use(const ir::Var* var);  // REQUIRES: it has a type
  // A new variable of that type: a parameter, the state of a loop.
  const ir::Var* NewVar(std::string name, ir::Type type);
  Value Constant(HostTensor value, std::string name = "");
  Value Scalar(double value, DType dtype);                // rank 0; integers to 2^53
  Value Int(int64_t value, DType dtype = DType::kInt64);  // rank 0
  Value Ints(const std::vector<int64_t>& values, DType dtype = DType::kInt64);  // rank 1
  Value Full(const std::vector<int64_t>& shape, double value, DType dtype);     // a constant

  // A call with one result.
  Value Op(std::string_view name, const std::vector<Value>& args, AttrInit attrs = {});
  Value Op(std::string_view name, const std::vector<Value>& args, const Attrs& attrs);
  // An operator that may be a user's own. It lives as long as the process.
  Value Op(const OpDef& op, const std::vector<Value>& args, const Attrs& attrs);
  // A call whose result is a tuple: its fields.
  std::vector<Value> Ops(std::string_view name, const std::vector<Value>& args,
                         AttrInit attrs = {});
  Value Tuple(const std::vector<Value>& fields);
  Value Field(const Value& tuple, size_t index);
  std::vector<Value> Fields(const Value& tuple);

  // --- What is known of contents ---

  // The elements of a small integer tensor as dims, where they are known or follow from shapes.
  std::optional<std::vector<Dim>> Elements(const Value& v);
  // The same where all are numbers now.
  std::optional<std::vector<int64_t>> ConstantInts(const Value& v);
  // The elements of a small tensor of any type that is made of sizes and constants, rank 0 each.
  std::optional<std::vector<Value>> ScalarsOf(const Value& v);
  // The number that fills a tensor, where one operator made it so.
  std::optional<double> FilledWith(const Value& v) const;

  // --- Shorthands ---

  Value Cast(const Value& v, DType dtype);  // `v` itself where it has the dtype
  Value Reshape(const Value& v, const std::vector<int64_t>& shape);  // 0: the same, -1: the rest
  Value Transpose(const Value& v, const std::vector<int64_t>& axes);
  Value ExpandDims(const Value& v, int axis, int count = 1);
  Value Squeeze(const Value& v, const std::vector<int64_t>& axes);
  Value Concat(const std::vector<Value>& parts, int axis);  // one: itself
  // One dim of `v`, or all, as int64 tensors of rank 1: constants where they are numbers.
  Value DimOf(const Value& v, int axis);
  Value ShapeOf(const Value& v);
  // A dim, made of those of values that were there when there were `values` of them (num_sized());
  // an int64 tensor of rank 1. None where it depends on what came later.
  std::optional<Value> ValueOfDim(const Dim& d, size_t values);
  // How many values have given a symbol its meaning.
  size_t num_sized() const { return sized_.size(); }
  // To a shape of rank-1 int64 tensor `shape`, whose length is static: a constant reshape where its
  // elements are numbers. Codes as of `reshape`.
  Value ReshapeTo(const Value& v, const Value& shape);

  // --- Control flow ---

  using State = std::vector<Value>;
  // New variables for the state of a loop, of types like `types`: numbers stay, equal dims get the
  // same symbol.
  std::vector<const ir::Var*> StateVars(const std::vector<ir::Type>& types);
  // while (condition(state)) state = body(state). The state keeps the types that it has at first.
  State While(const State& initial, const std::function<Value(const State&)>& condition,
              const std::function<State(const State&)>& body);
  // The same from its parts: `condition` and `next` are made of uses of `vars`.
  State Loop(const std::vector<const ir::Var*>& vars, const State& initial, const Value& condition,
             const State& next);
  // `type` is that of the value, which both branches' fit.
  Value If(const Value& condition, const Value& yes, const Value& no, ir::Type type);
  // `v` whose first dims are dims first... of `like`, `count` of them: loops forget symbols.
  Value WithDimsOf(const Value& v, const Value& like, int first, int count);

  // `v`, of which `type` is stated, together with those of `others`: a symbol that occurs several
  // times in the types stands for dims that are equal, or the program fails. `what` is `v` in
  // errors.
  struct Statement {
    Value value;
    ir::Type type;
  };
  Value Stated(const Statement& v, const std::vector<Statement>& others, std::string what);

  // `type` is that of the result.
  Value Wrap(ir::NodeId node, ir::Type type);
  ir::GraphBuilder& graph() { return graph_; }
  const ir::Module& module() const { return module_; }
  // Each Any of a tensor, also in tuples, becomes a fresh symbol, as of a variable's.
  ir::Type Open(const ir::Type& type);

  // Notes the first error, at the place of SetSpan. Texts as fmt::format takes them.
  Failed Fail(StatusCode code, std::string_view message);
  Failed Fail(std::string_view message) { return Fail(StatusCode::kInvalidInput, message); }
  template <typename... Args>
  Failed Fail(StatusCode code, fmt::format_string<Args...> text, Args&&... args) {
    return Fail(code, fmt::format(text, std::forward<Args>(args)...));
  }
  template <typename... Args>
  Failed Fail(fmt::format_string<Args...> text, Args&&... args) {
    return Fail(StatusCode::kInvalidInput, text, std::forward<Args>(args)...);
  }
  // Takes the error away: what was tried is not used.
  Status TakeStatus() { return std::exchange(status_, OkStatus()); }
  // The types and functions of control_flow.h's prelude are used.
  void UsePrelude() { uses_prelude_ = true; }
  bool uses_prelude() const { return uses_prelude_; }
  Status status() const { return status_.ok() ? graph_.status() : status_; }

 private:
  class Host;

  // Whether so many bytes more may be made of constants and of the fields of tuples: false with an
  // error. Converters write indices and sequences as long as numbers of the model say.
  bool MayMake(size_t bytes);
  std::optional<Value> WithScalars(const OpDef& op, const Attrs& attrs,
                                   const std::vector<Value>& args, int rank);
  std::optional<Value> ElementByElement(const OpDef& op, const Attrs& attrs,
                                        const std::vector<Value>& args, bool always);
  std::optional<std::vector<Dim>> ElementsOrSymbol(const Value& v);
  Value OfScalars(const std::vector<Value>& scalars, const std::vector<int64_t>& shape);
  void NoteDims(const Value& v);
  void TrackMoved(const OpDef& op, const Attrs& attrs, const std::vector<Value>& args,
                  const Value& result);
  std::optional<HostTensor> KnownTensor(const Value& v);
  std::optional<HostTensor> Fold(const OpDef& op, const Attrs& attrs,
                                 const std::vector<Value>& args, const Value& result);
  std::optional<ir::Type> TypeCall(const OpDef& op, const Attrs& attrs,
                                   const std::vector<Value>& args, ir::NodeId node);

  const ir::Module& module_;
  ir::GraphBuilder graph_;
  ir::Span span_;
  Status status_;
  bool uses_prelude_ = false;
  size_t made_ = 0;
  typing::Broadcasts broadcasts_;
  // Shapes that only running tells: those of the same numbers are the same.
  std::vector<std::pair<RuledShape, std::vector<Dim>>> ruled_shapes_;
  std::unordered_map<ir::NodeId, std::vector<Dim>> elements_;
  // The first value that a symbol is a dim of, and their order.
  struct Sized {
    Value value;
    int axis;
    size_t order;
  };
  std::unordered_map<uint32_t, Sized> sized_;
  // Scalars that small tensors were made of, by the tensor's node.
  std::unordered_map<ir::NodeId, std::vector<Value>> scalars_;
  // Of the fields of tuples, by the tuple's node.
  std::unordered_map<ir::NodeId, std::vector<Value>> fields_;
};

// What converters say of the node at hand: errors of its builder. A node says how in
// Note(code, text).
template <typename Node>
class NodeErrors {
 public:
  Failed Fail(std::string_view why) const { return Said(StatusCode::kInvalidInput, why); }
  Failed Unsupported(std::string_view why) const { return Said(StatusCode::kUnsupported, why); }
  template <typename... Args>
  Failed Fail(fmt::format_string<Args...> why, Args&&... args) const {
    return Said(StatusCode::kInvalidInput, fmt::format(why, std::forward<Args>(args)...));
  }
  template <typename... Args>
  Failed Unsupported(fmt::format_string<Args...> why, Args&&... args) const {
    return Said(StatusCode::kUnsupported, fmt::format(why, std::forward<Args>(args)...));
  }

 private:
  Failed Said(StatusCode code, std::string_view why) const {
    return static_cast<const Node&>(*this).Note(code, why);
  }
};

}  // namespace relayvm::import
