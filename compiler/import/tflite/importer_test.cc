#include "compiler/import/tflite/importer.h"

#include "compiler/import/tflite/testing.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::import::tflite::testing {
namespace {

const ir::Function& Main(const Result<ir::Module>& module) {
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  return *module->functions.at("main");
}

// y = relu(x) under a signature, and -x under another.
std::string TwoEntries() {
  Model m;
  for (const Code code : {Code::RELU, Code::NEG}) {
    m.Add({TensorType::FLOAT32, {-1, 2}}, "x:0");
    m.Add({TensorType::FLOAT32, {-1, 2}}, "y:0");
    m.Op(code, {0}, {1});
    m.Close({0}, {1});
  }
  m.Signature("serve", {{"x", 0}}, {{"y", 1}});
  m.Signature("minus", {{"data", 0}}, {{"result", 1}}, 1);
  return m.Bytes();
}

TEST_CASE("an entry by its signature; the main subgraph's without one") {
  CHECK(Main(Import(TwoEntries())).params[0]->name == "x");
  ImportOptions options;
  options.signature = "minus";
  const auto module = Import(TwoEntries(), options);
  CHECK(Main(module).params[0]->name == "data");
  CHECK(ir::OutputNamesOf(Main(module)) == std::vector<std::string>{"result"});
  CHECK(RunModule(module, {{{1, -2}, {1, 2}}})[0] == std::vector<double>{-1, 2});
  options.signature = "other";
  CHECK(Import(TwoEntries(), options).status().message().find("serve, minus") != std::string::npos);
}

TEST_CASE("dims are open where the file says so, and where a caller does") {
  CHECK(RunModule(Import(TwoEntries()), {{{1, -2, 3, 4}, {2, 2}}})[0] ==
        std::vector<double>{1, 0, 3, 4});
  ImportOptions options;
  options.shapes["0"] = "3x?";
  const auto module = Import(TwoEntries(), options);
  const auto& type = *Main(module).params[0]->type->As<relayvm::TensorType>();
  CHECK(type.shape[0].is_const(3));
  CHECK(type.shape[1].is_const(2));  // the file's signature says so
  options.shapes["0"] = "?x5";
  CHECK(Main(Import(TwoEntries(), options))
            .params[0]
            ->type->As<relayvm::TensorType>()
            ->shape[1]
            .is_const(5));
}

// while (n < 3) { n += 1; x *= 2 }
std::string Loop() {
  Model m;
  const Described number{TensorType::INT32, {}}, data{TensorType::FLOAT32, {2}};
  m.Add(number), m.Add(data), m.Add(number), m.Add(data);
  m.Op(Code::WHILE, {0, 1}, {2, 3}, Options::WhileOptions,
       fb::CreateWhileOptions(m.builder(), 1, 2).Union());
  m.Close({0, 1}, {3});
  m.Add(number), m.Add(data), m.Add({TensorType::INT32, {}, 0, 0, {3}}),
      m.Add({TensorType::BOOL, {}});
  m.Op(Code::LESS, {0, 2}, {3});
  m.Close({0, 1}, {3});
  m.Add(number), m.Add(data), m.Add({TensorType::INT32, {}, 0, 0, {1}});
  m.Add({TensorType::FLOAT32, {}, 0, 0, {2}}), m.Add(number), m.Add(data);
  m.Op(Code::ADD, {0, 2}, {4});
  m.Op(Code::MUL, {1, 3}, {5});
  m.Close({0, 1}, {4, 5});
  return m.Bytes();
}

TEST_CASE("loops run their subgraphs") {
  CHECK(RunModule(Import(Loop()), {{{1}}, {{1, 5}}})[0] == std::vector<double>{4, 20});
}

// v += x, of a variable that begins with 10.
std::string Counter() {
  Model m;
  const auto handle = [&] {
    m.Op(Code::VAR_HANDLE, {}, {1}, Options::VarHandleOptions,
         fb::CreateVarHandleOptionsDirect(m.builder(), "", "v").Union());
  };
  const Described data{TensorType::FLOAT32, {1}}, resource{TensorType::RESOURCE, {}};
  m.Add(data, "x"), m.Add(resource), m.Add(data), m.Add(data, "y");
  m.Op(Code::CALL_ONCE, {}, {}, Options::CallOnceOptions,
       fb::CreateCallOnceOptions(m.builder(), 1).Union());
  handle();
  m.Op(Code::READ_VARIABLE, {1}, {2});
  m.Op(Code::ADD, {0, 2}, {3});
  m.Op(Code::ASSIGN_VARIABLE, {1, 3}, {});
  m.Close({0}, {3});
  m.Add({TensorType::FLOAT32, {1}, 0, 0, {10}}), m.Add(resource);
  handle();
  m.Op(Code::ASSIGN_VARIABLE, {1, 0}, {});
  m.Close({}, {});
  return m.Bytes();
}

TEST_CASE("a variable is an input and an output of one name, which may be left out at first") {
  const auto module = Import(Counter());
  const ir::Function& main = Main(module);
  REQUIRE(main.params.size() == 2);
  CHECK(main.params[1]->name == "v");
  CHECK(main.params[1]->type->As<ir::AdtType>() != nullptr);
  CHECK(ir::OutputNamesOf(main) == std::vector<std::string>{"y", "v"});
  CHECK(ir::StatesOf(main) == std::vector<std::pair<uint32_t, uint32_t>>{{1, 1}});
}

TEST_CASE("what is not known is named, all at once; so is what does not fit") {
  Model m;
  m.Add({TensorType::FLOAT32, {1}}, "a"), m.Add({TensorType::FLOAT32, {1}}, "b");
  m.Op(Code::CUSTOM, {0}, {1}, Options::NONE, 0, "FlexErf");
  m.Op(Code::DELEGATE, {0}, {1});
  m.Close({0}, {1});
  const auto unknown = Import(m.Bytes());
  CHECK(unknown.status().code() == StatusCode::kUnsupported);
  for (const char* word : {"2 operators", "FlexErf", "DELEGATE", "makes 'b'"})
    CHECK(unknown.status().message().find(word) != std::string::npos);

  const auto fails = [](auto build, const char* word) {
    Model model;
    build(model);
    const auto result = Import(model.Bytes());
    REQUIRE(!result.ok());
    CAPTURE(result.status().message());
    CHECK(result.status().message().find(word) != std::string::npos);
  };
  const Described one{TensorType::FLOAT32, {1}};
  fails([&](Model& x) { x.Add(one), x.Add(one), x.Op(Code::RELU, {1}, {1}), x.Close({0}, {1}); },
        "no operator before it makes it");
  fails(
      [&](Model& x) {
        x.Add(one), x.Add(one);
        x.Op(Code::SOFTMAX, {0}, {1}, Options::Conv2DOptions,
             fb::CreateConv2DOptions(x.builder()).Union());
        x.Close({0}, {1});
      },
      "Conv2DOptions");
  fails(
      [&](Model& x) {
        x.Add(one), x.Add(one);
        x.Op(Code::CALL, {0}, {1}, Options::CallOptions,
             fb::CreateCallOptions(x.builder(), 0).Union());
        x.Close({0}, {1});
      },
      "calls itself");
}

}  // namespace
}  // namespace relayvm::import::tflite::testing
