// Products of matrices: nn.dense and nn.matmul with a constant weight are inner products, whose
// weight the primitive lays out; all others are its matmul over what there is.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "vm/engines/dnnl/operators.h"

namespace relayvm::onednn {
namespace {

struct ProductForm {
  bool transpose_a = false, transpose_b = false;
  Steps steps;
};

Result<ProductForm> ReadProductForm(const Graph& graph, uint32_t node, bool transpose_b) {
  const Node& n = graph.nodes[node];
  ProductForm f;
  RELAYVM_RETURN_IF_ERROR(RequireInputs(n, 2));
  RELAYVM_RETURN_IF_ERROR(RequireFloats(graph, n, 2));
  RELAYVM_ASSIGN_OR_RETURN(f.transpose_a, n.Flag("transpose_a", false));
  RELAYVM_ASSIGN_OR_RETURN(f.transpose_b, n.Flag("transpose_b", transpose_b));
  RELAYVM_ASSIGN_OR_RETURN(f.steps, ReadSteps(graph, node, n.outputs[0].rank() - 1, true));
  return f;
}

// With the last two axes exchanged where `transposes`.
Result<MemoryDesc> LastTwo(const MemoryDesc& desc, bool transposes) {
  if (!transposes) return desc;
  std::vector<int> order(static_cast<size_t>(desc.rank()));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return desc.Permuted(order);
}

// Of data of any rank, whose leading extents are rows.
Status BuildDense(PlanBuilder& b, uint32_t node, const ProductForm& f) {
  const Node& n = b.graph().nodes[node];
  const DType dtype = n.outputs[0].dtype;
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  RELAYVM_ASSIGN_OR_RETURN(const Dims data, b.DimsOf(n.inputs[0]));
  RELAYVM_ASSIGN_OR_RETURN(const Value x, b.Plain(n.inputs[0]));
  RELAYVM_ASSIGN_OR_RETURN(const Value w, b.Plain(n.inputs[1]));
  const int64_t rows =
      std::accumulate(result.begin(), result.end() - 1, int64_t{1}, std::multiplies<>());
  const int64_t columns = result.back();
  RELAYVM_ASSIGN_OR_RETURN(MemoryDesc src, LastTwo(x.desc, f.transpose_a));
  const int64_t depth = src.dims().back();
  if (!f.transpose_a) {
    if (!std::equal(result.begin(), result.end() - 1, data.begin(), data.end() - 1)) {
      return InvalidInput("the rows of data and of the result differ");
    }
    RELAYVM_ASSIGN_OR_RETURN(src, src.Reshaped({rows, depth}));
  }
  // [depth, columns]
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc weights, LastTwo(w.desc, f.transpose_b));
  if (weights.dims() != Dims{depth, columns} || src.dims() != Dims{rows, depth}) {
    return InvalidInput("the extents of data, weight and result do not fit");
  }
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, f.steps.Resolve(b, node));
  Root root;
  root.of_nothing = 0;
  root.is_flat = result.size() != 2;
  MemoryDesc dst;
  RELAYVM_ASSIGN_OR_RETURN(dst, MemoryDesc::Plain({rows, columns}, dtype));
  root.sources = {{DNNL_ARG_SRC, src, x.place, {}, dnnl_query_src_md, 0}};
  if (!b.IsConstant(n.inputs[1]) || f.transpose_a) {
    root.sources.push_back({DNNL_ARG_WEIGHTS, weights, w.place, {}, dnnl_query_weights_md, 0});
    MatMul product{.src = src, .weights = weights, .dst = dst};
    RELAYVM_RETURN_IF_ERROR(f.steps.AddBias(b, result, {1, columns}, &root, &product.bias));
    root.describe = [product](const Attributes& a) { return Describe(product, a); };
    return b.Emit(node, root, posts);
  }
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc by_column, weights.Permuted({1, 0}));
  root.sources.push_back({DNNL_ARG_WEIGHTS, by_column, w.place, {}, dnnl_query_weights_md, 0});
  InnerProduct product{.src = src, .dst = dst};
  RELAYVM_ASSIGN_OR_RETURN(product.weights, MemoryDesc::Any({columns, depth}, dtype));
  RELAYVM_RETURN_IF_ERROR(f.steps.AddBias(b, result, {columns}, &root, &product.bias));
  root.describe = WithWeights(product, b.Preferred(n.inputs[1], by_column));
  return b.Emit(node, root, posts);
}

Status BuildBatched(PlanBuilder& b, uint32_t node, const ProductForm& f) {
  const Node& n = b.graph().nodes[node];
  const DType dtype = n.outputs[0].dtype;
  RELAYVM_ASSIGN_OR_RETURN(const Dims result, b.DimsOf({node, 0}));
  RELAYVM_ASSIGN_OR_RETURN(const Value x, b.Plain(n.inputs[0]));
  RELAYVM_ASSIGN_OR_RETURN(const Value w, b.Plain(n.inputs[1]));
  MatMul product;
  RELAYVM_ASSIGN_OR_RETURN(product.src, LastTwo(x.desc, f.transpose_a));
  RELAYVM_ASSIGN_OR_RETURN(const MemoryDesc weights, LastTwo(w.desc, f.transpose_b));
  product.weights = weights;
  RELAYVM_ASSIGN_OR_RETURN(product.dst, MemoryDesc::Plain(result, dtype));
  if (b.IsConstant(n.inputs[1])) {
    RELAYVM_ASSIGN_OR_RETURN(product.weights, MemoryDesc::Any(weights.dims(), dtype));
  }
  const Dims a = product.src.dims(), k = weights.dims();
  const auto fits = [&](int64_t batch) { return batch == result[0] || batch == 1; };
  if (!fits(a[0]) || !fits(k[0]) || a[1] != result[1] || k[2] != result[2] || a[2] != k[1]) {
    return InvalidInput("the extents of the matrices and of the result do not fit");
  }
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<Post> posts, f.steps.Resolve(b, node));
  Root root;
  root.of_nothing = 0;
  root.sources = {{DNNL_ARG_SRC, product.src, x.place, {}, dnnl_query_src_md, 0},
                  {DNNL_ARG_WEIGHTS, weights, w.place, {}, dnnl_query_weights_md, 0}};
  RELAYVM_RETURN_IF_ERROR(f.steps.AddBias(b, result, {1, 1, result[2]}, &root, &product.bias));
  root.describe = WithWeights(product, b.Preferred(n.inputs[1], weights));
  return b.Emit(node, root, posts);
}

Result<BuildFn> MakeDense(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_ASSIGN_OR_RETURN(const ProductForm form,
                           ReadProductForm(graph, node, /*transpose_b=*/n.op == "nn.dense"));
  const int rank = graph.TypeOf(n.inputs[0]).rank();
  if (rank < 1 || rank != n.outputs[0].rank() || graph.TypeOf(n.inputs[1]).rank() != 2) {
    return InvalidInput("the ranks of data, weight and result do not fit");
  }
  if (form.transpose_a && rank != 2) {
    return Status(StatusCode::kUnsupported, fmt::format("transposed data of rank {}", rank));
  }
  return BuildFn([node, form](PlanBuilder& b) { return BuildDense(b, node, form); });
}

Result<BuildFn> MakeBatched(const Graph& graph, uint32_t node) {
  const Node& n = graph.nodes[node];
  RELAYVM_ASSIGN_OR_RETURN(const ProductForm form,
                           ReadProductForm(graph, node, /*transpose_b=*/true));
  for (const TensorType& t : {graph.TypeOf(n.inputs[0]), graph.TypeOf(n.inputs[1]), n.outputs[0]}) {
    if (t.rank() != 3) return InvalidInput("an operand or the result is not of rank 3");
  }
  return BuildFn([node, form](PlanBuilder& b) { return BuildBatched(b, node, form); });
}

}  // namespace

MakeFn FindProduct(std::string_view op) {
  if (op == "nn.dense" || op == "nn.matmul") return MakeDense;
  return op == "nn.batch_matmul" ? MakeBatched : nullptr;
}

}  // namespace relayvm::onednn
