#include "compiler/import/input_types.h"

#include <doctest/doctest.h>

#include "compiler/import/control_flow.h"

namespace relayvm::import {
namespace {

std::string TextOf(const Result<ir::Type>& type) {
  if (!type.ok()) return type.status().message();
  return *type == nullptr ? "nothing" : ir::TypeToString(*type);
}

TEST_CASE("what is said of an input, as a type") {
  const ir::Module module = PreludeModule();
  ImportOptions options;
  options.dims = {{"h", 7}};
  const struct {
    const char *said, *type;
  } kCases[] = {
      {"1x3", "Tensor[(1, 3), float32]"},
      {"(2, 3):int64", "Tensor[(2, 3), int64]"},
      {"(2,):bool", "Tensor[(2), bool]"},
      {"():f64", "float64"},
      {"(n, ?, h):u8", "Tensor[(n, d, 7), uint8]"},
      {"(2):bfloat16 as uint16 bits", "Tensor[(2), bfloat16]"},
      {"Tensor[(4, n), bfloat16]", "Tensor[(4, n), bfloat16]"},
      {"List[Tensor[(3, 2), float32]]", "List[Tensor[(3, 2), float32]]"},
      {"(Tensor[(1), int32], List[Tensor[(), bool]],)", "(Tensor[(1), int32], List[bool])"},
      {"((1, 2):f32, None)", "(Tensor[(1, 2), float32], None[])"},
      {"Optional[1x2]", "Optional[Tensor[(1, 2), float32]]"},
      {"1y2", "--shape x=1y2: \"1y2\" is not a size"},
      {"(1, 2):fluff", "--shape x=(1, 2):fluff: \"fluff\" is not a dtype"},
      {"Tensor[(1, 2)]", "--shape x=Tensor[(1, 2)]: \"Tensor[(1, 2)]\": write dims as"},
  };
  for (const auto& c : kCases) {
    CAPTURE(std::string(c.said));
    options.shapes = {{"x", c.said}};
    InputTypes types(module, options);
    const std::string found = TextOf(types.Of("x", 0));
    CHECK_MESSAGE(found.starts_with(c.type), found);
  }
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "List[";
  options.shapes = {{"x", deep + std::string(100, ']')}};
  CHECK(TextOf(InputTypes(module, options).Of("x", 0)).ends_with("nested too deeply"));
}

TEST_CASE("names, positions, and what is declared") {
  const ir::Module module = PreludeModule();
  ImportOptions options;
  options.shapes = {{"x", "(n, ?, 5)"}, {"1", "(n, ?)"}, {"y", "1x2"}};
  InputTypes types(module, options);
  const ir::Type declared = ir::MakeTensorType({Dim::Any(), Dim(3), Dim::Any()}, DType::kInt8);
  const auto x = types.Of("x", 0, declared);
  CHECK(TextOf(x) == "Tensor[(n, 3, 5), int8]");
  const auto second = types.Of("z", 1);
  CHECK((*second)->As<TensorType>()->shape[0] == (*x)->As<TensorType>()->shape[0]);
  CHECK(TextOf(types.Of("q", 2, declared)) == "Tensor[(d, 3, d), int8]");
  CHECK(TextOf(types.Of("q", 2)) == "nothing");
  CHECK(types.CheckUsed().message() ==
        "--shape y=1x2: there is no such input; the model has: q, x, z");
  CHECK(TextOf(types.Of("y", 3, declared)) == "--shape y=1x2: the input has 3 dimensions");
  CHECK(types.CheckUsed().ok());
  options.shapes = {{"x", "(1, 4, 5):int64"}};
  CHECK(TextOf(InputTypes(module, options).Of("x", 0, declared)).ends_with("the input is int8"));
  options.shapes = {{"x", "(1, 4, 5)"}};
  CHECK(TextOf(InputTypes(module, options).Of("x", 0, declared))
            .ends_with("dimension 1 is declared as 3"));
  options.shapes.clear();
  options.dims = {{"m", 2}};
  CHECK(InputTypes(module, options).CheckUsed().message().starts_with("--dim m=2: no dimension"));
}

}  // namespace
}  // namespace relayvm::import
