// Builds a plan: gives each value of the region a layout and a place, and adds the primitives that
// compute it. A value has the layout that its producer likes best; layouts change where a consumer
// wants another one, and at the outputs, which are row-major. Results of primitives are described
// in the order of the operator's axes, values in that of their Relay shape: `order` says for each
// axis of the former which of the latter it is.
//
// Used by one thread. Tested by dnnl_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "vm/engines/dnnl/constants.h"
#include "vm/engines/dnnl/graph.h"
#include "vm/engines/dnnl/onednn.h"
#include "vm/engines/dnnl/plan.h"

namespace relayvm::onednn {

struct Value {
  MemoryDesc desc;  // axes as in the Relay shape
  Place place;      // kNone: it has no elements
};

// Work upon an operator's result, as a primitive's operation after it or as one of its own.
struct Post {
  PostOp::Kind kind = PostOp::Kind::kEltwise;
  dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;
  float alpha = 0, beta = 0;
  ValueRef operand;  // kBinary, kSum
  Dims dims;         // of the operand, as many as the result has, broadcast
};

// An operand of a primitive: what there is, seen in the order and with the extents of the
// primitive, and the layout that it is wanted in.
struct Source {
  int arg;
  MemoryDesc view;
  Place place;
  MemoryDesc wanted;  // none: what the primitive says to be the query's
  dnnl_query_t query = dnnl_query_undef;
  int index = 0;
  // What has no place yet, and is packed as it is wanted.
  std::optional<Written> written = std::nullopt;
};
// What a primitive gives besides its result: a further output of the node, or nothing that is read.
struct Further {
  int arg;
  std::optional<uint32_t> output;
};

struct Root {
  // With operations after it; what `describe` asks for as Any, the primitive chooses.
  std::function<Result<PrimitiveDesc>(const Attributes&)> describe;
  std::vector<Source> sources;
  std::vector<int> order;           // empty: as they are
  std::optional<float> of_nothing;  // each element, where an operand has none
  std::optional<Post> bias;         // that is among the sources: what those want added
  // Some extents of the result are joined in the primitive (its axes are rows and columns).
  bool is_flat = false;
  bool is_reshaped = false;  // the result has other extents than the primitive's
  std::vector<Further> further;
};

class PlanBuilder {
 public:
  // The graph, constants and dims stay while it is used.
  PlanBuilder(const Graph& graph, Constants& constants, std::vector<int64_t> symbols);

  const Graph& graph() const { return graph_; }
  Result<Dims> DimsOf(ValueRef v) const;
  DType DTypeOf(ValueRef v) const { return graph_.TypeOf(v).dtype; }
  const Value& Get(ValueRef v) const { return values_[v.node][v.output]; }
  // Row-major, and of this rank with leading extents of 1.
  Result<Value> Plain(ValueRef v);
  // The layout that plans before have packed the value in; none where it is no constant.
  MemoryDesc Preferred(ValueRef v, const MemoryDesc& view) const;
  MemoryDesc Preferred(const Written& written, const MemoryDesc& view) const;
  bool IsConstant(ValueRef v) const { return graph_.nodes[v.node].kind == Node::Kind::kConst; }

  // Adds what computes `root` and then `posts`, as output 0 of node `node`.
  Status Emit(uint32_t node, const Root& root, std::span<const Post> posts);
  // `value` in a layout that `posts` may be computed in.
  Result<Value> ForSteps(const Value& value, std::span<const Post> posts);
  // The same of `value` and `posts` alone. REQUIRES: posts are not empty.
  Status EmitPosts(uint32_t node, const Value& value, std::span<const Post> posts);

  // Adds what computes `root` of the node alone, to a value of that type that is not its result.
  Result<Value> EmitScratch(uint32_t node, const Root& root, DType dtype);
  // The value in the layout `wanted`, of the same extents.
  Result<Value> As(ValueRef v, const MemoryDesc& wanted);

  // Values of inputs and constants, and of nodes without elements.
  Status PlaceFixed(uint32_t node);
  // After node: its inputs are used once less.
  void Done(uint32_t node);
  // Heads that are not in their outputs yet; places in the scratch memory.
  Result<std::unique_ptr<Plan>> Finish();

  // A buffer in the scratch memory.
  Place NewBuffer(uint64_t bytes);
  void AddNative(NativeStep step, const std::vector<Value>& places);
  // Where the output of the node is to be in this layout, and its value from now on.
  Value SetResult(uint32_t node, const MemoryDesc& desc, uint32_t output = 0);

 private:
  struct Buffer {
    uint64_t bytes = 0;
    int64_t first = -1, last = -1;  // steps
  };
  struct Conversion {
    MemoryDesc view, wanted;
    Place from, to;
  };
  struct Chosen {
    PrimitiveDesc desc;
    size_t num_posts = 0;
    Attributes attributes;
  };

  uint32_t MemoryOf(const MemoryDesc& desc, const Place& place);
  Status AddPrimitive(const PrimitiveDesc& desc, std::vector<std::pair<int, Value>> args);
  Result<Place> Convert(const MemoryDesc& view, const Place& place, const MemoryDesc& wanted);
  Status PlaceScratch();

  Result<std::vector<std::pair<int, Value>>> SourcesOf(const Root& root, const PrimitiveDesc& desc);
  Result<MemoryDesc> OperandView(const Root& root, const Dims& result, const Post& post);
  bool MayOverwrite(ValueRef v, uint32_t node) const;
  Result<Attributes> AttributesOf(uint32_t node, const Root& root, const Dims& result,
                                  std::span<const Post> posts, bool in_place);
  Result<Chosen> Choose(uint32_t node, const Root& root, const Dims& result,
                        std::span<const Post> posts);
  Status FitOperands(const Root& root, std::span<const Post> posts, Chosen* chosen);
  Result<MemoryDesc> ResultDesc(const Root& root, const Dims& result, const MemoryDesc& dst) const;
  Status AddFurther(uint32_t node, const Root& root, const PrimitiveDesc& desc,
                    std::vector<std::pair<int, Value>>* args);
  Status FinishEmit(uint32_t node, const Root& root, const Chosen& chosen, const Dims& result,
                    std::span<const Post> posts);

  const Graph& graph_;
  Constants& constants_;
  std::unique_ptr<Plan> plan_;
  std::vector<std::vector<Value>> values_;
  std::vector<std::vector<uint32_t>> uses_;  // that are still to come
  std::vector<Buffer> buffers_;
  std::vector<Conversion> conversions_;
};

}  // namespace relayvm::onednn
