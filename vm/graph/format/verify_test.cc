#include "vm/graph/format/verify.h"

#include <doctest/doctest.h>

#include <functional>

#include "vm/graph/format/testing.h"

namespace relayvm::graph {
namespace {

std::string Message(const Graph& graph) {
  const Status s = VerifyGraph(graph, testing::AddKernel());
  if (!s.ok()) CHECK(s.code() == StatusCode::kInvalidInput);
  return s.message();
}

TEST_CASE("a graph that is right passes") {
  const Graph g = testing::SmallGraph();
  CHECK(Message(g) == "");
  const std::vector<StorageInfo> storages = StoragesOf(g);
  REQUIRE(storages.size() == 4);
  CHECK(storages[0].input == 0);
  CHECK(storages[3].input == -1);
  CHECK(storages[3].bytes == 16);
}

TEST_CASE("what is wrong is named") {
  struct Case {
    std::function<void(Graph&)> damage;
    const char* message;
  };
  const Case cases[] = {
      {[](Graph& g) {
         g.nodes[2].inputs[0] = {2, 0};
       },
       "node 2 (add): input 0: there is no output"},
      {[](Graph& g) {
         g.nodes[2].inputs[0] = {9, 0};
       },
       "no output 0 of node 9 before"},
      {[](Graph& g) {
         g.nodes[2].inputs[1] = {1, 1};
       },
       "no output 1 of node 1 before"},
      {[](Graph& g) { g.nodes[2].outputs[0].dims = {-4}; }, "node 2 (add): output 0"},
      {[](Graph& g) {
         g.nodes[2].outputs[0].dims = {INT64_MAX, INT64_MAX};
       },
       "output 0"},
      {[](Graph& g) { g.nodes[2].outputs[0].dims.assign(300, 1); }, "output 0"},
      {[](Graph& g) { g.nodes[2].outputs[0].offset = 4; }, "expected a multiple of 64"},
      {[](Graph& g) { g.nodes[2].outputs[0].offset = uint64_t{1} << 60; }, "beyond memory"},
      {[](Graph& g) { g.nodes[2].outputs[0].storage = 99; },
       "storage 99 of a graph with 6 tensors"},
      {[](Graph& g) {
         g.nodes[0].inputs = {{0, 0}};
       },
       "node 0 (x): input 0"},
      {[](Graph& g) { g.nodes[0].outputs[0].offset = 64; }, "an input of the graph has one output"},
      {[](Graph& g) { g.nodes[2].kernel = 1; }, "there is no kernel 1; there are 1"},
      {[](Graph& g) { g.nodes[2].scalars = {}; },
       "expected 1 scalars for kernel test.add, found 0"},
      {[](Graph& g) { g.nodes[2].scalars = {5}; }, "expected at least 5 elements"},
      {[](Graph& g) { g.nodes[2].scalars = {-1}; }, "buffer 0"},
      {[](Graph& g) { g.nodes[2].scalars = {INT64_MAX}; }, "buffer 0"},
      {[](Graph& g) { g.nodes[2].inputs.pop_back(); }, "expected 2 inputs and 1 outputs"},
      {[](Graph& g) {
         g.nodes[2].inputs.push_back({0, 0});
       },
       "expected 2 inputs and 1 outputs"},
      {[](Graph& g) { g.nodes[2].outputs[0].dtype = DType::kFloat64; },
       "expected float32 for buffer 2"},
      {[](Graph& g) { g.nodes[0].outputs[0].dtype = DType::kInt32; },
       "expected float32 for buffer 0"},
      {[](Graph& g) { g.nodes[2].units = 5; }, "expected at most 4 units of work, found 5"},
      {[](Graph& g) { g.nodes[2].units = -1; }, "found -1"},
      {[](Graph& g) { g.nodes[2].grain = -1; }, "a grain of -1"},
      {[](Graph& g) { g.nodes[2].scratch_bytes = -1; }, "bytes of scratch, found -1"},
      {[](Graph& g) { g.nodes[2].scratch_bytes = INT64_MAX; }, "bytes of scratch"},
      {[](Graph& g) { g.inputs = {0}; }, "1 of 2 inputs are listed"},
      {[](Graph& g) {
         g.inputs = {0, 0};
       },
       "node 0 is listed twice"},
      {[](Graph& g) {
         g.inputs = {0, 2};
       },
       "node 2 is listed as an input, and is none"},
      {[](Graph& g) {
         g.inputs = {0, 77};
       },
       "node 77 is listed"},
      {[](Graph& g) { g.nodes[1].name = "x"; }, "two inputs have the name \"x\""},
      {[](Graph& g) { g.heads = {}; }, "no result"},
      {[](Graph& g) {
         g.heads = {{6, 0}};
       },
       "result 0: there is no output"},
      {[](Graph& g) {
         g.nodes[5].outputs[0].dims = {2, 3};
       },
       "node 5 (view): nobody writes"},
      {[](Graph& g) { g.nodes[5].outputs[0].storage = 2; },
       "expected the view's storage 2, found 3"},
      {[](Graph& g) {
         g.nodes[5].inputs.push_back({2, 0});
       },
       "node 5 (view): input 1"},
      {[](Graph& g) { g.nodes[5].inputs = {}; }, "a view has inputs and one output"},
      // Memory: over an input, over what is read later, over what the kernel reads itself.
      {[](Graph& g) { g.nodes[2].outputs[0].storage = 1; }, "it would write over input w"},
      {[](Graph& g) { g.nodes[1].outputs[0].storage = 0; }, "storage 0 is another input's too"},
      {[](Graph& g) {
         g.nodes[3].outputs[0].storage = 2;
         g.nodes[4].outputs[0].storage = 3;
       },
       "node 3 (add): output 0: it would write over output 0 of node 2 (add), which node 4 reads"},
      {[](Graph& g) {
         g.nodes[4].outputs[0].storage = 2;
         g.nodes[5].outputs[0].storage = 2;
       },
       "which node 4 reads"},
      {[](Graph& g) {
         g.nodes[4].inputs[1] = {3, 0};
       },
       "which node 4 reads"},
      {[](Graph& g) {
         g.heads.push_back({3, 0});
       },
       "which node 6 reads"},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    CAPTURE(i);
    Graph g = testing::SmallGraph();
    cases[i].damage(g);
    const std::string message = Message(g);
    CHECK_MESSAGE(message.find(cases[i].message) != std::string::npos, message);
  }
}

TEST_CASE("views keep what they show alive, and may be in parts") {
  // z = y + x would overwrite y, which a view of it reads later.
  Graph g = testing::SmallGraph();
  Node view = g.nodes[5];
  view.inputs = {{2, 0}};
  view.outputs[0] = {DType::kFloat32, {4}, 2, 0};
  g.nodes.push_back(view);                             // node 6, of y
  g.nodes.push_back(testing::Add({6, 0}, {1, 0}, 4));  // node 7
  g.heads.push_back({7, 0});
  CHECK(Message(g) == "");
  g.nodes[3].outputs[0].storage = g.nodes[4].outputs[0].storage = 2;
  g.nodes[5].outputs[0].storage = 2;
  CHECK(Message(g).find("it would write over output 0 of node 2") != std::string::npos);

  // Two results side by side, joined.
  Graph join = testing::SmallGraph();
  join.nodes.resize(4);
  for (uint32_t n : {2u, 3u}) {
    join.nodes[n].inputs = {{0, 0}, {1, 0}};
    join.nodes[n].outputs[0] = {DType::kFloat32, {16}, 2, (n - 2) * 64};
    join.nodes[n].scalars = {4};
  }
  view.inputs = {{2, 0}, {3, 0}};
  view.outputs[0] = {DType::kFloat32, {32}, 2, 0};
  join.nodes.push_back(view);
  join.heads = {{4, 0}};
  CHECK(Message(join) == "");
  std::swap(join.nodes[4].inputs[0], join.nodes[4].inputs[1]);
  CHECK(Message(join).find("in order") != std::string::npos);
  join.nodes[4].inputs = {{2, 0}};
  CHECK(Message(join).find("nobody writes bytes 64 to 128") != std::string::npos);
}

TEST_CASE("a graph that takes long to look at is refused") {
  // A hundred thousand views of one tensor that all live, and kernels beside them in the same
  // storage.
  Graph g = testing::SmallGraph();
  g.nodes.resize(3);
  constexpr uint32_t kMany = 20'000;
  for (uint32_t i = 0; i < kMany; ++i) {
    Node view;
    view.kind = Node::Kind::kView;
    view.inputs = {{2, 0}};
    view.outputs = {{DType::kFloat32, {4}, 2, 0}};
    g.nodes.push_back(view);
    g.heads.push_back({static_cast<uint32_t>(g.nodes.size() - 1), 0});
  }
  for (uint32_t i = 0; i < kMany; ++i) {
    g.nodes.push_back(testing::Add({0, 0}, {1, 0}, 2));
    g.nodes.back().outputs[0].offset = 64;
  }
  CHECK(Message(g).find("too many tensors live together") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::graph
