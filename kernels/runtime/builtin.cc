#include "kernels/runtime/builtin.h"

#include <algorithm>

#include "kernels/runtime/kernels.h"

namespace relayvm {
namespace {

template <int32_t (*kFn)(const CallArgs&), int kNumTensors>
constexpr Builtin Make(std::string_view name, int num_counts, int num_params) {
  return {name, BuiltinEntry<kFn, kNumTensors>, kNumTensors, num_counts, num_params};
}

// By name: the function and its number of tensors; counts, parameters.
constexpr Builtin kBuiltins[] = {
    Make<AllClassNms, 7>("all_class_nms", 0, 0),
    Make<AllClassNmsTensorflow, 8>("all_class_nms_tensorflow", 0, 0),
    Make<ArgSort, 2>("argsort", 0, 2),
    Make<ArgWhere, 2>("argwhere", 1, 0),
    Make<CumProd, 2>("cumprod", 0, 2),
    Make<CumSum, 2>("cumsum", 0, 2),
    Make<DynTopK, 4>("dyn_topk", 0, 2),
    Make<DynTopKIndices, 3>("dyn_topk_indices", 0, 2),
    Make<DynTopKValues, 3>("dyn_topk_values", 0, 2),
    Make<GetValidCounts, 5>("get_valid_counts", 0, 2),
    Make<MultiboxTransformLoc, 5>("multibox_transform_loc", 0, 7),
    Make<NonMaxSuppression, 6>("non_max_suppression", 0, 7),
    Make<NonMaxSuppression, 7>("non_max_suppression_indices", 0, 7),
    Make<Proposal, 4>("proposal", 0, 8),
    Make<RandomMultinomial, 4>("random_multinomial", 0, 0),
    Make<RandomNormal, 5>("random_normal", 0, 0),
    Make<RandomUniform, 5>("random_uniform", 0, 0),
    Make<RegularNms, 6>("regular_nms", 0, 4),
    Make<RoiAlign, 3>("roi_align", 0, 4),
    Make<RoiPool, 3>("roi_pool", 0, 2),
    Make<ScatterElements, 4>("scatter_elements", 0, 2),
    Make<ScatterNd, 4>("scatter_nd", 0, 1),
    Make<SearchSorted, 3>("searchsorted", 0, 1),
    Make<Sort, 2>("sort", 0, 2),
    Make<SparseAdd, 5>("sparse_add", 0, 0),
    Make<SparseConv2d, 5>("sparse_conv2d", 0, 1),
    Make<SparseDense, 5>("sparse_dense", 0, 1),
    Make<SparseFillEmptyRows, 7>("sparse_fill_empty_rows", 1, 0),
    Make<SparseReshape, 5>("sparse_reshape", 0, 0),
    Make<SparseTranspose, 6>("sparse_transpose", 0, 0),
    Make<ThreefryGenerate, 3>("threefry_generate", 0, 0),
    Make<ThreefrySplit, 3>("threefry_split", 0, 0),
    Make<TopK, 3>("topk", 0, 2),
    Make<TopKIndices, 2>("topk_indices", 0, 2),
    Make<TopKValues, 2>("topk_values", 0, 2),
    Make<Unique, 5>("unique", 0, 1),
    Make<UniqueCounts, 6>("unique_counts", 0, 1),
};

constexpr bool NameLess(const Builtin& a, const Builtin& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(kBuiltins), std::end(kBuiltins), NameLess));

}  // namespace

std::span<const Builtin> Builtins() { return kBuiltins; }

RelayvmKernelFn FindBuiltin(std::string_view name) {
  const auto at = std::lower_bound(std::begin(kBuiltins), std::end(kBuiltins),
                                   Builtin{name, nullptr, 0, 0, 0}, NameLess);
  return at != std::end(kBuiltins) && at->name == name ? at->fn : nullptr;
}

}  // namespace relayvm
