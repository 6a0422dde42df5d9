#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/import/onnx/importer.h"
#include "compiler/import/onnx/operator.h"

namespace relayvm::import {

std::span<const OperatorDef> Operators() {
  static const std::vector<OperatorDef>* const kAll = [] {
    auto* all = new std::vector<OperatorDef>;
    for (const auto& table :
         {MathOperators(),         TensorOperators(),        NnOperators(),
          ReduceOperators(),       ControlOperators(),       RecurrentOperators(),
          SequenceOperators(),     IndexOperators(),         LossOperators(),
          SignalOperators(),       StringOperators(),        ResizeOperators(),
          QuantOperators(),        NormOperators(),          PoolOperators(),
          VisionOperators(),       AttentionOperators(),     ContribOperators(),
          ContribQuantOperators(), RandomOperators(),        LearningOperators(),
          TreeOperators(),         VectorMachineOperators(), ExperimentalOperators(),
          SliceOperators()}) {
      all->insert(all->end(), table.begin(), table.end());
    }
    return all;
  }();
  return *kAll;
}

const OperatorDef* FindOperator(std::string_view domain, std::string_view name, int opset) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const auto* const kByName = [] {
    auto* map = new std::map<Key, std::map<int, const OperatorDef*>>;
    for (const OperatorDef& op : Operators()) (*map)[{op.domain, op.name}][op.since] = &op;
    return map;
  }();
  const auto versions = kByName->find({domain, name});
  if (versions == kByName->end()) return nullptr;
  auto newest = versions->second.upper_bound(opset);
  return newest == versions->second.begin() ? nullptr : std::prev(newest)->second;
}

bool Sums(const OperatorDef& op) {
  constexpr std::string_view kNames[] = {"Attention",
                                         "AveragePool",
                                         "BiasSoftmax",
                                         "CDist",
                                         "Conv",
                                         "ConvTranspose",
                                         "CumProd",
                                         "CumSum",
                                         "DeformConv",
                                         "Det",
                                         "Einsum",
                                         "FusedConv",
                                         "FusedGemm",
                                         "FusedMatMul",
                                         "FusedMatMulActivation",
                                         "GRU",
                                         "Gemm",
                                         "GemmFastGelu",
                                         "GlobalAveragePool",
                                         "GlobalLpPool",
                                         "GroupQueryAttention",
                                         "InstanceNormalization",
                                         "Inverse",
                                         "LRN",
                                         "LSTM",
                                         "LogSoftmax",
                                         "LpNormalization",
                                         "LpPool",
                                         "MatMul",
                                         "MatMulBnb4",
                                         "MatMulNBits",
                                         "Mean",
                                         "MeanVarianceNormalization",
                                         "MultiHeadAttention",
                                         "NegativeLogLikelihoodLoss",
                                         "NhwcConv",
                                         "NhwcFusedConv",
                                         "RNN",
                                         "ReduceL1",
                                         "ReduceL2",
                                         "ReduceLogSum",
                                         "ReduceLogSumExp",
                                         "ReduceMean",
                                         "ReduceProd",
                                         "ReduceSum",
                                         "ReduceSumSquare",
                                         "Softmax",
                                         "SoftmaxCrossEntropyLoss",
                                         "Sum",
                                         "TransposeMatMul"};
  static_assert(std::is_sorted(std::begin(kNames), std::end(kNames)));
  return std::binary_search(std::begin(kNames), std::end(kNames), op.name);
}

std::string OnnxOperatorTable() {
  std::map<std::pair<std::string_view, std::string_view>, std::string> rows;
  for (const OperatorDef& op : Operators()) {
    std::string& versions = rows[{op.domain, op.name}];
    versions += fmt::format("{}{}", versions.empty() ? "" : ", ", op.since);
  }
  std::string out =
      "# ONNX operators\n\nMade by `relayc --list-operators onnx`; a test compares it with the "
      "code. An "
      "operator is\nsupported from the opset given on; where there are several, its meaning "
      "changed "
      "there.\n\n| operator | domain | from opset |\n|---|---|---|\n";
  for (const auto& [key, versions] : rows) {
    out += fmt::format("| {} | {} | {} |\n", key.second, key.first.empty() ? "ai.onnx" : key.first,
                       versions);
  }
  return out;
}

}  // namespace relayvm::import
