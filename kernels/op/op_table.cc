#include <algorithm>
#include <cassert>
#include <string_view>

#include "kernels/op/define.h"
#include "kernels/op/op.h"

namespace relayvm {

namespace {
// Operators that move elements or compare them for equality, whatever they are.
constexpr std::string_view kMoveElements[] = {"adv_index",
                                              "annotation.stop_fusion",
                                              "broadcast_to",
                                              "broadcast_to_like",
                                              "concatenate",
                                              "copy",
                                              "dyn.broadcast_to",
                                              "dyn.expand_dims",
                                              "dyn.full",
                                              "dyn.nn.pad",
                                              "dyn.one_hot",
                                              "dyn.reshape",
                                              "dyn.squeeze",
                                              "dyn.strided_slice",
                                              "dyn.tile",
                                              "dyn.zeros",
                                              "equal",
                                              "expand_dims",
                                              "full",
                                              "full_like",
                                              "gather",
                                              "gather_nd",
                                              "meshgrid",
                                              "ndarray_size",
                                              "nn.batch_flatten",
                                              "nn.depth_to_space",
                                              "nn.mirror_pad",
                                              "nn.pad",
                                              "nn.space_to_depth",
                                              "not_equal",
                                              "one_hot",
                                              "repeat",
                                              "reshape",
                                              "reshape_like",
                                              "reverse",
                                              "reverse_sequence",
                                              "scatter_elements",
                                              "scatter_nd",
                                              "shape_of",
                                              "slice_like",
                                              "sliding_window",
                                              "split",
                                              "squeeze",
                                              "stack",
                                              "strided_set",
                                              "strided_slice",
                                              "take",
                                              "tile",
                                              "transpose",
                                              "trilu",
                                              "unique",
                                              "vm.shape_of",
                                              "where",
                                              "zeros",
                                              "zeros_like"};
static_assert(std::ranges::is_sorted(kMoveElements));
}  // namespace

OpTable OpTable::Make() {
  OpTable table;
  DefineUnary(table);
  DefineFixedPoint(table);
  DefineBinary(table);
  DefineCreation(table);
  DefineReshape(table);
  DefineBroadcast(table);
  DefineLayout(table);
  DefineConcatenation(table);
  DefineSlicing(table);
  DefineIndexing(table);
  DefineMatrix(table);
  DefineEinsum(table);
  DefineDynamic(table);
  DefineImage(table);
  DefineAnnotation(table);
  DefineReduce(table);
  DefineScan(table);
  DefineSort(table);
  DefineDense(table);
  DefineAttention(table);
  DefineConv(table);
  DefineBits(table);
  DefineWinograd(table);
  DefinePool(table);
  DefineNorm(table);
  DefineNn(table);
  DefineVision(table);
  DefineRandom(table);
  DefineQnn(table);
  DefineScatter(table);
  DefineUnique(table);
  DefineStrings(table);
  return table;
}

const OpTable& OpTable::Get() {
  static const OpTable table = Make();
  return table;
}

const OpDef* OpTable::Find(std::string_view name) const {
  auto it = defs_.find(std::string(name));
  return it == defs_.end() ? nullptr : it->second.get();
}

void OpTable::Add(OpDef def) {
  assert(!defs_.contains(def.name));
  def.takes_strings |= std::ranges::binary_search(kMoveElements, def.name);
  std::string name = def.name;
  defs_.emplace(std::move(name), std::make_unique<const OpDef>(std::move(def)));
}

std::vector<std::string_view> OpTable::Names() const {
  std::vector<std::string_view> names;
  names.reserve(defs_.size());
  for (const auto& [name, def] : defs_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace relayvm
