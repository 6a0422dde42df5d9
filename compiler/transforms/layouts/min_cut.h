// The cheapest way to part the nodes of a graph in two, where edges that lead from one part to the
// other cost what they carry: Boykov and Kolmogorov, "An experimental comparison of
// min-cut/max-flow algorithms" (PAMI 2004), by Boost.Graph. Tested by min_cut_test.cc.
#pragma once

#include <cstdint>
#include <vector>

namespace relayvm::ir {

class MinCut {
 public:
  using Node = uint32_t;
  static constexpr Node kFirst = 0, kSecond = 1;  // stand for the parts themselves
  // REQUIRES: all that may be cut is less, in sum.
  static constexpr int64_t kNever = int64_t{1} << 60;

  Node Add() { return num_nodes_++; }
  // Paid where `from` is in the first part and `to` in the second; 0 or more.
  void AddEdge(Node from, Node to, int64_t cost);
  void AddBoth(Node a, Node b, int64_t cost);
  // The cost of the best parts. Call it once.
  int64_t Solve();
  // After Solve.
  bool IsInFirst(Node node) const { return is_in_first_[node]; }

 private:
  struct Edge {
    Node from, to;
    int64_t cost;
  };
  Node num_nodes_ = 2;
  std::vector<Edge> edges_;
  std::vector<bool> is_in_first_;
};

}  // namespace relayvm::ir
