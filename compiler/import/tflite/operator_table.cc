#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/tflite/importer.h"
#include "compiler/import/tflite/operator.h"

namespace relayvm::import {

namespace tflite {

std::span<const OperatorDef> Operators() {
  static const std::vector<OperatorDef>* const kAll = [] {
    auto* all = new std::vector<OperatorDef>;
    for (const auto table :
         {MathOperators(), CompareOperators(), ActivationOperators(), ConvOperators(),
          MatrixOperators(), PoolOperators(), TensorOperators(), SliceOperators(), IndexOperators(),
          BoxOperators(), ReduceOperators(), QuantOperators(), ControlOperators(),
          RecurrentOperators(), SignalOperators(), StablehloOperators(), StablehloIndexOperators(),
          WindowOperators(), CustomOperators()}) {
      all->insert(all->end(), table.begin(), table.end());
    }
    return all;
  }();
  return *kAll;
}

const OperatorDef* FindOperator(Code code, std::string_view custom) {
  const auto all = Operators();
  const auto found = std::ranges::find_if(all, [&](const OperatorDef& row) {
    return row.code == code && (code != Code::CUSTOM || row.custom == custom);
  });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace tflite

std::string TfLiteOperatorTable() {
  std::vector<std::string> names;
  for (const tflite::OperatorDef& row : tflite::Operators()) {
    names.push_back(row.code == tflite::Code::CUSTOM
                        ? fmt::format("| {} | custom |\n", row.custom)
                        : fmt::format("| {} | {} |\n",
                                      tflite_file::EnumNameBuiltinOperator(row.code),
                                      static_cast<int>(row.code)));
  }
  std::ranges::sort(names);
  std::string out =
      "# TensorFlow Lite operators\n\nMade by `relayc --list-operators tflite`.\n\n| operator | "
      "code |\n|---|---|\n";
  for (const std::string& name : names) out += name;
  return out;
}

}  // namespace relayvm::import
