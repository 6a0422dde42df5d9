// The form that expressions take for code generation: a graph of interned nodes.
//
// Against te::Expr it is inlined (loads of computed tensors are gone, unless the tensor has memory
// of its own), shared (equal expressions are one node), and its int64 arithmetic is in normal form:
// a kLinear node is a sum of coefficient * term plus a constant, with Dims as coefficients. Loads
// address memory by one flat row-major index, so a reshape, whose index arithmetic divides and
// takes remainders, cancels into the plain index where that can be proved. Nodes live as long as
// the graph. Not thread-safe. Tested by graph_test.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/te/te.h"

namespace relayvm::codegen {

enum class NodeKind : uint8_t {
  kInt,
  kFloat,  // constants; small int64 constants are kLinear without terms
  kAxis,
  kLinear,  // int64: sum of coefficients[i] * operands[i], + dim
  kLoad,    // tensor at flat index operands[0]; without operands: the value bound to the tensor
  kLoadAt,  // tensor at indices operands[...]: of a staged tensor, whose place is not decided yet
  kUnary,
  kBinary,
  kCast,
  kReinterpret,
  kSelect,
  kReduce,
  kChecked,  // operands[0], which must be in operands[1]..operands[2]-1, or the kernel fails:
             // check int_value
};

struct Node {
  NodeKind kind;
  DType dtype;
  uint32_t id = 0;  // order of creation
  std::vector<const Node*> operands;
  int64_t int_value = 0;
  double float_value = 0;
  te::UnaryOp unary{};
  te::BinaryOp binary{};
  te::ReduceKind reduce{};
  bool select_last = false;
  bool in_range = false;  // kLoad: inside the tensor whenever the axes are inside their extents
  const te::AxisNode* axis = nullptr;
  std::vector<const te::AxisNode*> axes;  // kReduce
  std::vector<Dim> coefficients;          // kLinear
  Dim dim;                                // kLinear
  const te::TensorNode* tensor = nullptr;

  // --- Facts, computed once ---
  std::vector<const te::AxisNode*> free_axes;  // that the value depends on, without duplicates
  bool safe =
      true;  // may be evaluated where its value is not needed: loads are in range or guarded within
  bool bound = false;  // depends on a bound value (kLoad without operands)
  uint32_t cost = 0;   // rough operations for one evaluation

  bool DependsOn(const te::AxisNode* a) const;
  bool IsConstInt(int64_t v) const;
};

// Bounds of an int64 node while its axes are inside their extents; nullopt: not known.
struct Bounds {
  std::optional<Dim> low, high;
};

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;

  const Node* Int(int64_t value, DType dtype);
  const Node* Float(double value, DType dtype);
  const Node* Axis(const te::AxisNode* axis);
  const Node* DimOf(const Dim& dim);
  const Node* Add(const Node* a, const Node* b);        // int64
  const Node* Scale(const Node* a, const Dim& factor);  // int64
  const Node* FloorDiv(const Node* a,
                       const Dim& divisor);  // int64; divisor > 0 wherever this is evaluated
  const Node* FloorMod(const Node* a, const Dim& divisor);
  const Node* Load(const te::TensorNode* tensor, const std::vector<const Node*>& indices);
  const Node* LoadFlat(const te::TensorNode* tensor, const Node* flat, bool in_range);
  const Node* LoadValue(const te::TensorNode* tensor);
  const Node* LoadAt(const te::TensorNode* tensor, std::vector<const Node*> indices);
  const Node* Unary(te::UnaryOp op, const Node* x);
  const Node* Binary(te::BinaryOp op, const Node* a, const Node* b);
  const Node* Cast(const Node* x, DType dtype);
  const Node* Reinterpret(const Node* x, DType dtype);
  const Node* Select(const Node* condition, const Node* if_true, const Node* if_false);
  const Node* Checked(const Node* value, const Node* least, const Node* end, int64_t number);
  const Node* Reduce(te::ReduceKind kind, const Node* body, std::vector<const te::AxisNode*> axes,
                     DType dtype, bool select_last);

  // The flat row-major index of `indices` into a tensor of `shape`.
  const Node* Flatten(const std::vector<Dim>& shape, const std::vector<const Node*>& indices);
  Bounds BoundsOf(const Node* n);
  // Whether n is max(min(x, high), low), perhaps rounded, float32 of which the integer dtype holds
  // all that is whole: never NaN.
  static bool IsLimitedTo(const Node* n, DType dtype);
  // A new axis, owned by the graph.
  const te::AxisNode* NewAxis(std::string name, Dim extent);
  // Rebuilds `root` with `fn` applied to each node whose operands are done (null: keep); simplifies
  // again.
  using RewriteFn = std::function<const Node*(const Node*)>;
  const Node* Rewrite(const Node* root, const RewriteFn& fn);
  // Replaces axes by nodes.
  const Node* Substitute(const Node* root,
                         const std::unordered_map<const te::AxisNode*, const Node*>& axes);

 private:
  struct Term {
    const Node* node;
    Dim coefficient;
  };
  struct Sum {
    std::vector<Term> terms;  // ordered by node id
    Dim constant;
  };
  const Node* Intern(Node node);
  void ComputeFacts(Node& node);
  static Sum ToSum(const Node* n);
  static void AddTerm(Sum& sum, const Node* n, const Dim& coefficient);
  const Node* FromSum(Sum sum);
  bool MergeDivMod(Sum& sum);
  std::optional<Bounds> BoundsOfWrapped(const Node* select);
  Bounds BoundsOfLinear(const Node* n);
  bool Within(const Node* n, const Dim& extent);  // 0 <= n < extent, proved
  // Whether `other` is true where `condition` is, as far as can be proved.
  static bool Implies(const Node* condition, const Node* other);
  struct Split;
  Split SplitBy(const Node* a, const Dim& divisor);
  const Node* CompareInts(te::BinaryOp op, const Node* a, const Node* b);
  const Node* SimplifyPower(const Node* x, double exponent);
  const Node* SimplifyBinary(te::BinaryOp op, const Node* a, const Node* b);
  const Node* Rebuild(const Node* n, std::vector<const Node*> operands);

  std::deque<Node> nodes_;
  std::unordered_multimap<size_t, const Node*> interned_;
  std::unordered_map<const Node*, Bounds> bounds_;
  std::deque<te::AxisNode> axes_;
};

// Calls fn for each node reachable from the roots once, operands first.
void ForEachNode(const std::vector<const Node*>& roots, const std::function<void(const Node*)>& fn);

// About how many operations of `root` are done again for each step along `axis`.
uint64_t CostAlong(const Node* root, const te::AxisNode* axis);

// Appends the conditions that `condition` is the conjunction of.
void AppendConjuncts(const Node* condition, std::vector<const Node*>& result);

// Turns te expressions into nodes.
class Lowering {
 public:
  // How a load of `tensor` is lowered.
  enum class Place : uint8_t { kInline, kMemory, kValue, kStaged };
  using PlaceFn = std::function<Place(const te::TensorNode*)>;
  // At most `most` tensors are inlined: a chain whose links read the one before at several places
  // has two to the power of its length.
  Lowering(Graph& graph, PlaceFn place, size_t most = SIZE_MAX)
      : graph_(graph), place_(std::move(place)), most_(most) {}

  const Node* Lower(const te::Expr& e);
  // Whether more would have been inlined: then what Lower gave has no meaning, inlined() has.
  bool is_exhausted() const { return is_exhausted_; }

  // Where a computed tensor was inlined: at these indices.
  struct Inlined {
    const te::TensorNode* tensor;
    std::vector<const Node*> indices;
    const Node* value;
  };
  const std::vector<Inlined>& inlined() const { return inlined_; }

 private:
  struct Environment {
    std::unordered_map<const te::AxisNode*, const Node*> axes;
    std::unordered_map<const te::ExprNode*, const Node*> done;
  };
  const Node* LowerIn(const te::ExprNode& e, Environment& env);
  const Node* LowerNew(const te::ExprNode& e, Environment& env);
  const Node* LowerLoad(const te::ExprNode& e, Environment& env);
  const Node* LowerReduce(const te::ExprNode& e, Environment& env);

  Graph& graph_;
  PlaceFn place_;
  size_t most_;
  size_t open_ = 0;  // that are being inlined
  bool is_exhausted_ = false;
  Environment top_;
  std::unordered_map<const te::TensorNode*, std::vector<size_t>>
      inlined_of_;  // indices into inlined_
  std::vector<Inlined> inlined_;
  std::unordered_map<const te::AxisNode*, int> reduce_axis_uses_;
};

}  // namespace relayvm::codegen
