// What choose_layouts.cc parts in two: operators, the tensors between them, and what it costs where
// the two of them differ in order. Tested through compiler/end_to_end/layouts_test.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/transforms/layouts/choose_layouts.h"
#include "compiler/transforms/layouts/min_cut.h"

namespace relayvm::ir {

// An operator that may compute in either of two orders.
struct LayoutMember {
  const Binding* binding;
  const OpCall* call;
  std::vector<uint32_t> data, results;  // representatives
  std::optional<Order> turn;            // of a transpose, which is never moved: it connects
  double weight;                        // how often it runs
  bool is_excluded = false;             // its data and results are as written after all
};

// A tensor: a representative of ValueFlow.
struct LayoutTensor {
  const TensorType* type = nullptr;
  std::string letters;      // of its dims as written; empty: nothing is known of them
  uint32_t group = 0;       // union-find over representatives
  bool is_carried = false;  // by loops, branches or calls: kept in one order
  // How often it is made, and read, by what knows no order but the written one.
  double made_as_is = 0, read_as_is = 0;
};

// What is to be parted.
struct LayoutGraph {
  MinCut cut;
  std::string first, second;
  bool is_blocked = false;                                        // the second
  std::unordered_map<uint32_t, MinCut::Node> tensors;             // by representative
  std::unordered_map<const LayoutMember*, MinCut::Node> members;  // but for turns
  double written = 0;                                             // the cost of all as it is

  std::optional<MinCut::Node> Side(const std::string& letters) const {
    if (letters == first) return MinCut::kFirst;
    return letters == second ? std::optional(MinCut::kSecond) : std::nullopt;
  }
  void Pin(MinCut::Node node, MinCut::Node side) {
    if (side == MinCut::kFirst) {
      cut.AddEdge(side, node, MinCut::kNever);
    } else {
      cut.AddEdge(node, side, MinCut::kNever);
    }
  }
};

}  // namespace relayvm::ir
