#include "compiler/transforms/layouts/min_cut.h"

// GCC takes an iterator of Boost.Graph, which stands in a boost::optional, for uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace relayvm::ir {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Graph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS,
    boost::property<boost::vertex_index_t, std::size_t,
                    boost::property<boost::vertex_color_t, boost::default_color_type,
                                    boost::property<boost::vertex_distance_t, std::size_t,
                                                    boost::property<boost::vertex_predecessor_t,
                                                                    Traits::edge_descriptor>>>>,
    boost::property<
        boost::edge_capacity_t, int64_t,
        boost::property<boost::edge_residual_capacity_t, int64_t,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

}  // namespace

void MinCut::AddEdge(Node from, Node to, int64_t cost) {
  if (cost > 0 && from != to) edges_.push_back({from, to, std::min(cost, kNever)});
}

void MinCut::AddBoth(Node a, Node b, int64_t cost) {
  AddEdge(a, b, cost);
  AddEdge(b, a, cost);
}

int64_t MinCut::Solve() {
  Graph graph(num_nodes_);
  auto capacity = boost::get(boost::edge_capacity, graph);
  auto reverse = boost::get(boost::edge_reverse, graph);
  for (const Edge& e : edges_) {
    const auto there = boost::add_edge(e.from, e.to, graph).first;
    const auto back = boost::add_edge(e.to, e.from, graph).first;
    capacity[there] = e.cost;
    capacity[back] = 0;
    reverse[there] = back;
    reverse[back] = there;
  }
  const int64_t cost = boost::boykov_kolmogorov_max_flow(graph, kFirst, kSecond);
  // The first part is what it still reaches.
  const auto residual = boost::get(boost::edge_residual_capacity, graph);
  is_in_first_.assign(num_nodes_, false);
  is_in_first_[kFirst] = true;
  std::vector<Node> reached = {kFirst};
  while (!reached.empty()) {
    const auto [begin, end] = boost::out_edges(reached.back(), graph);
    reached.pop_back();
    for (auto edge = begin; edge != end; ++edge) {
      const auto to = static_cast<Node>(boost::target(*edge, graph));
      if (residual[*edge] == 0 || is_in_first_[to]) continue;
      is_in_first_[to] = true;
      reached.push_back(to);
    }
  }
  return cost;
}

}  // namespace relayvm::ir
