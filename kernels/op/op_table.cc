#include <algorithm>
#include <cassert>

#include "kernels/op/define.h"
#include "kernels/op/op.h"

namespace relayvm {

OpTable OpTable::Make() {
  OpTable table;
  DefineUnary(table);
  DefineFixedPoint(table);
  DefineBinary(table);
  DefineCreation(table);
  DefineReshape(table);
  DefineBroadcast(table);
  DefineLayout(table);
  DefineJoin(table);
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
  DefineWinograd(table);
  DefinePool(table);
  DefineNorm(table);
  DefineNn(table);
  DefineVision(table);
  DefineRandom(table);
  DefineQnn(table);
  DefineScatter(table);
  DefineUnique(table);
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
