// Initializers of ONNX models that a caller may override, as ONNX Runtime has them: from IR version
// 4 on those that are inputs too.
#include <span>

#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

using import::testing::Floats;
using import::testing::FloatScalar;
using import::testing::ImportText;
using import::testing::Ints;
using import::testing::Node;
using import::testing::Tensor;

std::string Model(const std::string& graph, int ir_version = 8) {
  return fmt::format(
      "ir_version: {} opset_import {{ version: 17 }} graph {{ name: 'g' {} "
      "output {{ name: 'y' }} }}",
      ir_version, graph);
}
// y = x * k + s; k and s are inputs, x stands between them.
const std::string kAffine = Node("Mul", "x k", "p") + Node("Add", "p s", "y") +
                            Tensor("input", "k", {}) + Tensor("input", "x", {"n"}) +
                            Tensor("input", "s", {"2"}) + FloatScalar("k", 3) +
                            Floats("s", {10, 20});

Value Of(const std::vector<float>& elements) {
  const auto size = static_cast<int64_t>(elements.size());
  return *Value::CopyTensor(DType::kFloat32, std::span(&size, 1), elements.data());
}
std::vector<float> ElementsOf(const Result<Value>& v) {
  REQUIRE_MESSAGE(v.ok(), v.status().ToString());
  const auto* data = static_cast<const float*>(v->data());
  return {data, data + v->num_elements()};
}
std::vector<std::string> Params(const std::string& text,
                                const import::ImportOptions& options = {}) {
  const auto module = ImportText(text, options);
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  std::vector<std::string> names;
  for (const ir::Var* p : module->functions.at("main")->params) names.push_back(p->name);
  return names;
}

TEST_CASE("initializers that are inputs are given or left out, each on its own") {
  const auto invocation = Runnable(ImportText(Model(kAffine)));
  const auto run = [&](std::vector<Value> inputs) {
    return ElementsOf(invocation->Run("main", std::move(inputs)));
  };
  using Elements = std::vector<float>;
  // What has no default comes first.
  CHECK(run({Of({1, 2})}) == Elements{13, 26});
  CHECK(run({Of({1, 2}), Value::Float32(-1)}) == Elements{9, 18});
  CHECK(run({Of({1, 2}), Value(), Of({0, 1})}) == Elements{3, 7});
  CHECK(run({Of({1, 2}), Value::Float32(2), Of({0, 1})}) == Elements{2, 5});
  CHECK(run({Of({1, 2}), Value(), Value()}) == Elements{13, 26});
  const auto wrong = invocation->Run("main", {Of({1, 2}), Value(), Of({1, 2, 3})});
  REQUIRE(!wrong.ok());
  CHECK(wrong.status().message() ==
        "main: parameter %s: expected Tensor[(2), float32], found Tensor[(3), float32]");
}

TEST_CASE("which initializers may be given: by the IR version, or by name") {
  using Names = std::vector<std::string>;
  CHECK(Params(Model(kAffine)) == Names{"x", "k", "s"});
  CHECK(Params(Model(kAffine, 3)) == Names{"x"});
  CHECK(Params(Model(kAffine), {.overridable = Names{}}) == Names{"x"});
  CHECK(Params(Model(kAffine), {.overridable = Names{"none"}}) == Names{"x"});
  CHECK(Params(Model(kAffine), {.overridable = Names{"s"}}) == Names{"x", "s"});
  CHECK(Params(Model(kAffine, 3), {.overridable = Names{"k"}}) == Names{"x", "k"});
  CHECK(Params(Model(kAffine), {.overridable = Names{"all"}}) == Names{"x", "k", "s"});
  // One that is no input has the type that it has.
  const std::string constant =
      Model(Node("Add", "x s", "y") + Tensor("input", "x", {"n"}) + Floats("s", {1}));
  CHECK(Params(constant) == Names{"x"});
  CHECK(Params(constant, {.overridable = Names{"s"}}) == Names{"x", "s"});
  const auto none = ImportText(Model(kAffine), {.overridable = Names{"ss"}});
  REQUIRE(!none.ok());
  CHECK(none.status().message() ==
        "--overridable ss: the model has no initializer of that name; did you mean s?");
}

TEST_CASE("initializers of more than 1 MiB stay constants where nobody says otherwise") {
  const std::string large =
      Model(Node("Add", "x w", "y") + Tensor("input", "x", {"600000"}) +
            Tensor("input", "w", {"600000"}) +
            fmt::format("initializer {{ name: 'w' data_type: 1 dims: 600000 float_data: [{}] }} ",
                        fmt::join(std::vector<int>(600'000, 0), ",")));
  std::vector<std::string> warnings;
  const auto warn = [&](const std::string& text) { warnings.push_back(text); };
  CHECK(Params(large, {.warn = warn}) == std::vector<std::string>{"x"});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "model.onnx: 1 initializers that are inputs too stay constants: they are 2.3 MiB; with "
        "--overridable NAME or all a caller may give others");
  CHECK(Params(large, {.overridable = std::vector<std::string>{"all"}}) ==
        std::vector<std::string>{"x", "w"});
}

TEST_CASE("initializers that must be known when compiling stay constants; others may be given") {
  // The rank of what Reshape gives is the length of its shape, which is declared open.
  const std::string text =
      Model(Node("Mul", "x k", "p") + Node("Reshape", "p s", "y") + Tensor("input", "x", {"6"}) +
            Tensor("input", "k", {}) + Tensor("input", "s", {"r"}, 7) + FloatScalar("k", 3) +
            Ints("s", {2, 3}));
  std::vector<std::string> warnings;
  CHECK(Params(text, {.warn = [&](const std::string& w) { warnings.push_back(w); }}) ==
        std::vector<std::string>{"x", "k"});
  CHECK(warnings.empty());
  const auto invocation = Runnable(ImportText(text));
  const auto y = invocation->Run("main", {Of({1, 2, 3, 4, 5, 6}), Value::Float32(2)});
  CHECK(ElementsOf(y) == std::vector<float>{2, 4, 6, 8, 10, 12});
  const auto named = ImportText(text, {.overridable = std::vector<std::string>{"s"}});
  REQUIRE(!named.ok());
  CHECK(named.status().message().find("Reshape") != std::string::npos);
}

}  // namespace
}  // namespace relayvm
