#include "compiler/aot/header.h"

#include <doctest/doctest.h>

#include "compiler/aot/aot.h"

namespace relayvm::aot {
namespace {

ValueType Vector(std::string dim = "") {
  ValueType type;
  type.kind = ValueType::Kind::kTensor;
  type.dtype = DType::kFloat32;
  type.dims = {dim.empty() ? 2 : -1};
  type.dim_names = {std::move(dim)};
  return type;
}

ExportInfo Function(std::string name, const std::vector<std::string>& params) {
  ExportInfo e;
  e.name = std::move(name);
  e.param_names = params;
  e.params.assign(params.size(), Vector());
  e.result = Vector();
  return e;
}

TEST_CASE("parameters of C functions are no keywords, types or macros, and differ") {
  struct Case {
    const char* name;
    const char* parameter;
  };
  const Case cases[] = {
      {"input.1", "input_1"},
      {"1", "_1"},
      {"", "_"},
      {"default", "default_"},
      {"int", "int_"},
      {"class", "class_"},
      {"co_await", "co_await_"},
      {"int64_t", "int64_t_"},
      {"NULL", "NULL_"},
      {"workspace", "workspace_"},
      {"result", "result_"},
      {"INT64_MAX", "INT64_MAX_"},
      {"linux", "linux_"},
      {"__LINE__", "x__LINE__"},
      {"_Bool", "x_Bool"},
      {"_x", "_x"},
      {"relayvm_aot_tensor", "relayvm_aot_tensor_"},
      {"größe", "gr____e"},
      {"MAX", "MAX"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const std::vector<Leaf> leaves = InputLeaves(Function("main", {c.name}));
    REQUIRE(leaves.size() == 1);
    CHECK(leaves[0].name == c.parameter);
  }
  const std::vector<Leaf> same =
      InputLeaves(Function("main", {"int", "int_", "int", "a b", "a_b"}));
  REQUIRE(same.size() == 5);
  CHECK(same[1].name == "int__");
  CHECK(same[2].name == "int___");
  CHECK(same[4].name == "a_b_");
  CHECK(OutputLeaves(Function("main", {"x"}))[0].name == "result");
}

TEST_CASE("names of a program end no comment of the header, and its macros differ") {
  Program program;
  program.exports = {Function("main", {"*/ int evil; /*\n#error evil"}), Function("Main", {"x"})};
  program.exports[0].params[0] = Vector("*/ #error dim\n");
  program.adts = {{}};
  program.adts[0].name = "Pair";
  program.adts[0].constructors = {{}, {}};
  program.adts[0].constructors[0].name = "Make";
  program.adts[0].constructors[1].name = "make";
  const std::string heap = RuntimeHeader(program, "x");
  const auto has = [&](const char* text) { return heap.find(text) != std::string::npos; };
  CHECK(has(" *   in  * / int evil; / *?#error evil: Tensor[(* / #error dim?), float32]\n"));
  CHECK(has("#define X_PAIR_MAKE_TAG 0\n#define X_PAIR_MAKE__TAG 1\n"));
  CHECK(has("enum { X_MAIN_INPUTS = 1 };"));
  CHECK(has("enum { X_MAIN__INPUTS = 1 };"));
  program.exports[0].params[0] = Vector();
  const std::string plain = StaticHeader(program, "x", {64, 128});
  CHECK(plain.find("#define X_MAIN_WORKSPACE_BYTES 64\n") != std::string::npos);
  CHECK(plain.find("#define X_MAIN__WORKSPACE_BYTES 128\n") != std::string::npos);
}

TEST_CASE("functions that have one name in C are refused") {
  const auto error = [](std::vector<ExportInfo> exports) {
    Program program;
    program.exports = std::move(exports);
    const auto object = CompileAhead(program, {});
    return std::string(object.status().message());
  };
  CHECK(error({Function("a.b", {}), Function("a_b", {})}) ==
        "--executor aot: @a.b and @a_b are both called a_b in C; rename one");
  CHECK(error({Function("message", {})}).find("rename @message") != std::string::npos);
  CHECK(error({Function("f", {}), Function("f_checked", {})}) ==
        "--executor aot: the object has f_checked for @f; rename @f_checked");
}

}  // namespace
}  // namespace relayvm::aot
