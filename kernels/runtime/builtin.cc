#include "kernels/runtime/builtin.h"

#include <algorithm>

#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

// By name. The number is that of the kernel's tensors, inputs and outputs.
constexpr Builtin kBuiltins[] = {
    {"all_class_nms", BuiltinEntry<AllClassNms, 7>},
    {"all_class_nms_tensorflow", BuiltinEntry<AllClassNmsTensorflow, 8>},
    {"argsort", BuiltinEntry<ArgSort, 2>},
    {"argwhere", BuiltinEntry<ArgWhere, 2>},
    {"cumprod", BuiltinEntry<CumProd, 2>},
    {"cumsum", BuiltinEntry<CumSum, 2>},
    {"dyn_topk", BuiltinEntry<DynTopK, 4>},
    {"dyn_topk_indices", BuiltinEntry<DynTopKIndices, 3>},
    {"dyn_topk_values", BuiltinEntry<DynTopKValues, 3>},
    {"get_valid_counts", BuiltinEntry<GetValidCounts, 5>},
    {"multibox_transform_loc", BuiltinEntry<MultiboxTransformLoc, 5>},
    {"non_max_suppression", BuiltinEntry<NonMaxSuppression, 6>},
    {"non_max_suppression_indices", BuiltinEntry<NonMaxSuppression, 7>},
    {"proposal", BuiltinEntry<Proposal, 4>},
    {"random_multinomial", BuiltinEntry<RandomMultinomial, 4>},
    {"random_normal", BuiltinEntry<RandomNormal, 5>},
    {"random_uniform", BuiltinEntry<RandomUniform, 5>},
    {"roi_align", BuiltinEntry<RoiAlign, 3>},
    {"roi_pool", BuiltinEntry<RoiPool, 3>},
    {"scatter_elements", BuiltinEntry<ScatterElements, 4>},
    {"scatter_nd", BuiltinEntry<ScatterNd, 4>},
    {"searchsorted", BuiltinEntry<SearchSorted, 3>},
    {"sort", BuiltinEntry<Sort, 2>},
    {"sparse_add", BuiltinEntry<SparseAdd, 5>},
    {"sparse_conv2d", BuiltinEntry<SparseConv2d, 5>},
    {"sparse_dense", BuiltinEntry<SparseDense, 5>},
    {"sparse_fill_empty_rows", BuiltinEntry<SparseFillEmptyRows, 7>},
    {"sparse_reshape", BuiltinEntry<SparseReshape, 5>},
    {"sparse_transpose", BuiltinEntry<SparseTranspose, 6>},
    {"threefry_generate", BuiltinEntry<ThreefryGenerate, 3>},
    {"threefry_split", BuiltinEntry<ThreefrySplit, 3>},
    {"topk", BuiltinEntry<TopK, 3>},
    {"topk_indices", BuiltinEntry<TopKIndices, 2>},
    {"topk_values", BuiltinEntry<TopKValues, 2>},
    {"unique", BuiltinEntry<Unique, 5>},
    {"unique_counts", BuiltinEntry<UniqueCounts, 6>},
};

constexpr bool NameLess(const Builtin& a, const Builtin& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(kBuiltins), std::end(kBuiltins), NameLess));

}  // namespace

std::span<const Builtin> Builtins() { return kBuiltins; }

RelayvmKernelFn FindBuiltin(std::string_view name) {
  const auto at = std::lower_bound(std::begin(kBuiltins), std::end(kBuiltins),
                                   Builtin{name, nullptr}, NameLess);
  return at != std::end(kBuiltins) && at->name == name ? at->fn : nullptr;
}

}  // namespace relayvm
