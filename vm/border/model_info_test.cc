#include "vm/border/model_info.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::ElementsOf;
using testing::Floats;
using testing::LoadText;
using testing::NewInvocation;

// Gives (x, (list, mask)), or what may be left out instead of the mask.
std::shared_ptr<const Executable> Program() {
  return LoadText(R"(
.version 1
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.data "Maybe" 1
  .constructor "None" ()
  .constructor "Some" (var 0)
.export "main" f0 ("ids": float32[?"n", 2], "mask": float32[?"n"], "bias": data 1(float32[2])) -> (float32[?"n", 2], (data 0(bool[]), float32[?""])) "scores" "rest"
.export "same" vars 1 f1 ("x": var 0) -> var 0
.function "main" scalars 0 objects 3 captured 0 registers 0 5 returns object arena 0
  adt.new r3, #0, []
  switch.tag r2, [L0, L1]
L1:
  adt.get r1, r2!, #0
L0:
  adt.new r4, #0, [r3!, r1!]
  adt.new r4, #0, [r0!, r4!]
  ret.r r4!
.end
.function "same" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)");
}

TEST_CASE("model info: functions, types, dims, data types") {
  const auto executable = Program();
  const ModelInfo& info = executable->info();
  REQUIRE(info.functions.size() == 2);
  const FunctionSignature& main = *info.FindFunction("main").value();
  CHECK(&main == info.functions.data());
  REQUIRE(main.inputs.size() == 3);
  const NamedType& ids = main.inputs[0];
  CHECK(ids.name == "ids");
  CHECK(ids.type.text == "Tensor[(n, 2), float32]");
  CHECK(ids.type.dtype == DType::kFloat32);
  REQUIRE(ids.type.dims.size() == 2);
  CHECK(ids.type.dims[0].size == -1);
  CHECK(ids.type.dims[0].name == "n");
  CHECK(ids.type.dims[1].size == 2);
  CHECK(ids.type.dims[1].name.empty());
  CHECK(!ids.is_optional);
  CHECK(main.inputs[2].is_optional);
  CHECK(main.inputs[2].type.kind == TypeInfo::Kind::kAdt);
  CHECK(main.inputs[2].type.index == 1);
  CHECK(main.inputs[2].type.args.at(0).text == "Tensor[(2), float32]");

  CHECK(main.result.kind == TypeInfo::Kind::kTuple);
  REQUIRE(main.outputs.size() == 3);  // the names are those of the tensors
  CHECK(main.outputs[0].name == "scores");
  CHECK(main.outputs[1].name == "output_1");
  CHECK(main.outputs[1].type.text == "List[bool]");
  CHECK(main.outputs[2].name == "rest");

  const FunctionSignature& same = info.functions[1];
  CHECK(same.num_type_params == 1);
  CHECK(same.inputs[0].type.kind == TypeInfo::Kind::kTypeVar);
  CHECK(same.outputs.at(0).name == "output_0");

  REQUIRE(info.data_types.size() == 2);
  CHECK(info.data_types[0].name == "List");
  CHECK(info.data_types[0].num_type_params == 1);
  CHECK(info.data_types[0].constructors.at(1).name == "Cons");
  CHECK(info.data_types[0].constructors[1].fields.at(1).text == "List[A]");

  CHECK(info.FindFunction("min").status().message() ==
        "the program has no function 'min'; did you mean main?");
  const Status none = info.FindFunction("elsewhere").status();
  CHECK(none.code() == StatusCode::kNotFound);
  CHECK(none.message() == "the program has no function 'elsewhere'; functions: main, same");
  CHECK(none.detail()->subject == "elsewhere");
}

TEST_CASE("runs by names: in any order, without what may be left out") {
  auto invocation = NewInvocation(Program());
  const Value ids = Floats({1, 2}, {1, 2}), mask = Floats({1}, {5}), bias = Floats({2}, {7, 8});
  auto result = invocation->Run({{"mask", mask}, {"ids", ids}});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(ElementsOf<float>(*result->Find("scores")) == std::vector<float>{1, 2});
  CHECK(ElementsOf<float>(*result->Find("rest")) == std::vector<float>{5});
  CHECK(result->Find("output_1")->tag() == 0);
  CHECK(result->result().num_fields() == 2);
  CHECK(result->Find("score").status().message() ==
        "main: there is no output 'score'; did you mean scores?");

  result = invocation->Run({{"bias", bias}, {"ids", ids}, {"mask", mask}});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(ElementsOf<float>(*result->Find("rest")) == std::vector<float>{7, 8});

  // Into buffers, which are counted by tensors.
  std::array<float, 1> rest{};
  result = invocation->Run({{"ids", ids}, {"mask", mask}},
                           {{"rest", {DType::kFloat32, {{1}}, rest.data()}}});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(rest[0] == 5);
  CHECK(!*result->Find("rest"));
  CHECK(ElementsOf<float>(*result->Find("scores")) == std::vector<float>{1, 2});

  result = invocation->Run({{"x", ids}}, {}, "same");
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  CHECK(ElementsOf<float>(*result->Find("output_0")) == std::vector<float>{1, 2});
}

TEST_CASE("runs by names: what is wrong is named") {
  auto invocation = NewInvocation(Program());
  const Value ids = Floats({1, 2}, {1, 2}), mask = Floats({1}, {5});
  float number = 0;
  const int64_t dims[] = {1};
  const OutputBuffer buffer{DType::kFloat32, dims, &number};
  const auto error = [&](const std::vector<NamedValue>& inputs,
                         const std::vector<NamedBuffer>& buffers = {}) {
    const auto result = invocation->Run(inputs, buffers);
    REQUIRE(!result.ok());
    CHECK(result.status().code() == StatusCode::kInvalidArgument);
    return result.status().message();
  };
  CHECK(error({{"ids", ids}, {"maks", mask}}) ==
        "main: there is no input 'maks'; did you mean mask?");
  CHECK(error({{"attention", mask}}) ==
        "main: there is no input 'attention'; inputs: ids, mask, bias");
  CHECK(error({{"ids", ids}}) == "main: input 'mask' (Tensor[(n), float32]) is missing");
  CHECK(error({{"ids", ids}, {"mask", mask}, {"ids", ids}}) == "main: input 'ids' is given twice");
  CHECK(error({{"ids", ids}, {"mask", mask}}, {{"logits", buffer}}) ==
        "main: there is no output 'logits'; outputs: scores, output_1, rest");
  CHECK(error({{"ids", ids}, {"mask", mask}}, {{"rest", buffer}, {"rest", buffer}}) ==
        "main: output 'rest' is given twice");
  CHECK(error({{"ids", ids}, {"mask", mask}}, {{"output_1", buffer}}) ==
        "main: output 'output_1' is List[bool], expected a tensor for a buffer");
  CHECK(error({{"ids", ids}, {"mask", Floats({3}, {1, 2, 3})}}) ==
        "main: ids's dim 0 (n) is 1, mask's dim 0 (n) is 3; where these are two sizes, relayc "
        "--shape "
        "mask='(n_2,)' gives one another name");
  CHECK(invocation->Run({}, {}, "mian").status().message() ==
        "the program has no function 'mian'; did you mean main?");
}

}  // namespace
}  // namespace relayvm
