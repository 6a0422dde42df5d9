// What loops of ONNX models collect: rows of many forms, of any number of turns, also none.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/import/onnx/testing.h"
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

using namespace import::testing;  // NOLINT(google-build-using-namespace): a test's words

struct Row {
  const char* name;
  std::string nodes;                                   // from i, x and the state s to r
  std::vector<int64_t> (*dims)(int64_t h, int64_t w);  // of r
  std::vector<std::string> like;                       // dims of r that the graph states
};

const Row kRows[] = {
    {"the state",
     Node("Identity", "s", "r"),
     [](int64_t h, int64_t w) { return std::vector<int64_t>{h, w}; },
     {"a", "b"}},
    {"a dim of the state twice",
     Node("Concat", "s s", "r", Int("axis", 1)),
     [](int64_t h, int64_t w) { return std::vector<int64_t>{h, 2 * w}; },
     {"a", "b"}},
    {"half of a dim of what stands outside",
     Node("MaxPool", "image", "p",
          "attribute { name: 'kernel_shape' type: INTS ints: [1, 2] } "
          "attribute { name: 'strides' type: INTS ints: [1, 2] } ") +
         Node("Squeeze", "p ones", "r"),
     [](int64_t h, int64_t w) { return std::vector<int64_t>{h, w / 2}; },
     {"a", "b"}},
    {"one dim for all",
     Node("Reshape", "s all", "r"),
     [](int64_t h, int64_t w) { return std::vector<int64_t>{h * w}; },
     {"a"}},
    {"the sum of two dims",
     Node("Transpose", "s", "t", Perm({1, 0})) +
         Node("ReduceMax", "s", "m0",
              "attribute { name: 'axes' type: INTS "
              "ints: 0 } " +
                  Int("keepdims", 0)) +
         Node("ReduceMax", "t", "m1",
              "attribute { name: 'axes' type: INTS "
              "ints: 0 } " +
                  Int("keepdims", 0)) +
         Node("Concat", "m0 m1", "r", Int("axis", 0)),
     [](int64_t h, int64_t w) { return std::vector<int64_t>{h + w}; },
     {"a"}},
    {"no dim",
     Node("ReduceSum", "s", "r", Int("keepdims", 0)),
     [](int64_t, int64_t) { return std::vector<int64_t>{}; },
     {}},
};

enum class Ends { kByCount, kByBoth, kByCondition };

// As many turns as n says, or none where a condition is wanted and go is false: s grows by 1 in
// each, r is collected.
std::string LoopGraph(const Row& row, Ends ends) {
  const bool counted = ends != Ends::kByCondition;
  const std::string again =
      counted ? Node("Identity", "c", "c_next")
              : Node("Add", "i count_one", "turns") + Node("Less", "turns n", "c_next");
  const std::string body = "attribute { name: 'body' type: GRAPH g { name: 'b' " + row.nodes +
                           Node("Add", "s one", "s_next") + again + Tensor("input", "i", {}, 7) +
                           Tensor("input", "c", {}, 9) + Tensor("input", "s", {"h", "w"}) +
                           Tensor("output", "c_next", {}, 9) +
                           Tensor("output", "s_next", {"h", "w"}) +
                           Tensor("output", "r", row.like) + "} } ";
  const std::string condition = ends == Ends::kByCount ? "-" : counted ? "go" : "some";
  return Ints("ones", {0, 1}) + Ints("all", {-1}) + FloatScalar("one", 1) +
         IntScalar("count_one", 1) + IntScalar("zero", 0) + Node("Greater", "n zero", "more") +
         Node("And", "more go", "some") + Node("Unsqueeze", "x ones", "image") +
         Node("Loop", std::string(counted ? "n " : "- ") + condition + " x", "last z", body) +
         Tensor("input", "x", {"h", "w"}) + Tensor("input", "n", {}, 7) +
         Tensor("input", "go", {}, 9) + "output { name: 'last' } output { name: 'z' } ";
}

TEST_CASE("rows that a loop collects have their dims after no turn as after many") {
  for (const Row& row : kRows) {
    for (const Ends ends : {Ends::kByCount, Ends::kByBoth, Ends::kByCondition}) {
      CAPTURE(std::string(row.name));
      CAPTURE(static_cast<int>(ends));
      const std::unique_ptr<Invocation> invocation =
          Runnable(ImportText(GraphModel(LoopGraph(row, ends))));
      const int64_t h = 3, w = 4;
      std::vector<float> x(static_cast<size_t>(h * w));
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
      const auto run = [&](int64_t turns, uint8_t go) {
        return invocation->Run(
            "main", {*Value::CopyTensor(DType::kFloat32, std::vector<int64_t>{h, w}, x.data()),
                     *Value::CopyTensor(DType::kInt64, {}, &turns),
                     *Value::CopyTensor(DType::kBool, {}, &go)});
      };
      for (const int64_t turns : {0, 1, 2, 11}) {
        for (const uint8_t go : {uint8_t{1}, uint8_t{0}}) {
          const int64_t taken = ends != Ends::kByCount && go == 0 ? 0 : turns;
          CAPTURE(turns);
          const auto out = run(turns, go);
          REQUIRE_MESSAGE(out.ok(), out.status().ToString());
          const Value rows = out->field(1);
          std::vector<int64_t> dims = row.dims(h, w);
          dims.insert(dims.begin(), taken);
          const std::span<const int64_t> shape = rows.dims();
          CHECK(std::vector<int64_t>(shape.begin(), shape.end()) == dims);
          // Each row is the one before and what a turn adds.
          const auto* data = static_cast<const float*>(rows.data());
          const int64_t size = taken == 0 ? 0 : rows.num_elements() / taken;
          const float step = row.like.empty() ? static_cast<float>(h * w)
                             : std::string(row.name).find("outside") != std::string::npos ? 0.0F
                                                                                          : 1.0F;
          for (int64_t k = size; k < taken * size; ++k) CHECK(data[k] == data[k - size] + step);
        }
      }
    }
  }
}

}  // namespace
}  // namespace relayvm
