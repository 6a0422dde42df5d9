#include <doctest/doctest.h>

#include "compiler/import/torch/export_testing.h"

namespace relayvm::import::torch {
namespace {

using exported::Arg;
using exported::Expression;
using exported::Import;
using exported::Node;
using exported::Program;
using exported::Ref;
using exported::Tensor;
using exported::Text;
using exported::TryRun;
using exported::UserInput;

// Negates an input of one dimension, which is `size`.
Result<ir::Module> Guarded(const std::string& size, const std::string& ranges,
                           const ImportOptions& options = {}) {
  const Text t{Ref("x"),
               UserInput("x"),
               Node("torch.ops.aten.neg.default", Arg(Ref("x")), "n"),
               "n",
               fmt::format("'x': {}", Tensor(Expression(size))),
               ranges};
  return Import({{"models/model.json", Program(t)}}, options);
}
bool Takes(const Result<ir::Module>& module, int64_t extent) {
  REQUIRE_MESSAGE(module.ok(), module.status().message());
  const std::vector<float> data(static_cast<size_t>(extent), 1);
  const auto result = TryRun(*module, {exported::Floats(data, {extent})});
  return result.ok();
}

TEST_CASE("sizes in the range that the file says") {
  const auto module = Guarded("s7", "'s7': {'min_val': 4, 'max_val': 6}");
  CHECK_FALSE(Takes(module, 3));
  CHECK(Takes(module, 4));
  CHECK(Takes(module, 6));
  CHECK_FALSE(Takes(module, 7));
  // Sizes of 0 and 1 pass where the range begins at 2, as in PyTorch.
  const auto usual = Guarded("s7", "'s7': {'min_val': 2, 'max_val': null}");
  CHECK(Takes(usual, 1));
  CHECK(Takes(usual, 100));
}

TEST_CASE("sizes that are multiples") {
  const auto module = Guarded("1 + 4*s7", "");
  CHECK(Takes(module, 9));
  CHECK_FALSE(Takes(module, 10));
  CHECK(Takes(Guarded("2*s7", "'2*s7': {'min_val': 4, 'max_val': 8}"), 6));
  CHECK_FALSE(Takes(Guarded("2*s7", "'2*s7': {'min_val': 4, 'max_val': 8}"), 10));
}

TEST_CASE("sizes that are fixed are checked when compiling") {
  const auto fixed = [](const std::string& shape) {
    ImportOptions options;
    options.shapes["x"] = shape;
    return Guarded("2*s7", "'2*s7': {'min_val': 4, 'max_val': 8}", options);
  };
  CHECK(fixed("6").ok());
  CHECK(fixed("10").status().message().find(
            "dimension 0 of input 'x' is 10, the model was exported for 4 to 8") !=
        std::string::npos);
  CHECK(fixed("5").status().message().find(
            "dimension 0 of input 'x' is 5, the model was exported for s7*2") != std::string::npos);
}

TEST_CASE("ranges that are none") {
  CHECK(Guarded("s7", "'s7': {'min_val': 5, 'max_val': 4}").status().message() ==
        "m.pt2: range_constraints: 's7' is at least 5 and at most 4");
  CHECK_FALSE(Guarded("s7", "'s7 +': {}").ok());
}

}  // namespace
}  // namespace relayvm::import::torch
