// Models on strings: imported, compiled, run; what ONNX Runtime 1.32 gives for them. Tensors are
// written as Python writes them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/frontend/parser.h"
#include "compiler/import/onnx/value_cases.h"
#include "compiler/ir/printer.h"
#include "compiler/pipeline.h"
#include "compiler/reference/interpreter.h"

namespace relayvm {
namespace {

using import::testing::Node;
using import::testing::Tensor;
using Texts = std::vector<std::string>;

constexpr int kStrings = 8, kInts = 7, kFloats = 1;  // TensorProto::DataType

Value StringsOf(const std::vector<int64_t>& dims, const Texts& texts) {
  auto value = Value::CopyStrings(dims, std::vector<std::string_view>(texts.begin(), texts.end()));
  REQUIRE_MESSAGE(value.ok(), value.status().ToString());
  return *std::move(value);
}
Value IntsOf(const std::vector<int64_t>& values) {
  return *Value::CopyTensor(DType::kInt64, {{static_cast<int64_t>(values.size())}}, values.data());
}

// "(2, 2) a|b|c|d"
std::string TextOf(const Value& v) {
  if (!v.is_tensor()) return "no tensor";
  Texts items;
  for (int64_t i = 0; i < v.num_elements(); ++i) {
    switch (v.dtype()) {
      case DType::kString:
        items.emplace_back(v.text(i));
        break;
      case DType::kInt64:
        items.push_back(std::to_string(static_cast<const int64_t*>(v.data())[i]));
        break;
      case DType::kBool:
        items.emplace_back(static_cast<const uint8_t*>(v.data())[i] != 0 ? "1" : "0");
        break;
      default:
        items.push_back(fmt::format("{}", static_cast<const float*>(v.data())[i]));
    }
  }
  return fmt::format("({}) {}", fmt::join(v.dims(), ", "), fmt::join(items, "|"));
}

std::string ModelOf(const std::string& graph, int learning = 2) {
  return fmt::format(
      "ir_version: 9 opset_import {{ version: 20 }} opset_import {{ domain: 'ai.onnx.ml' version: "
      "{} "
      "}} graph {{ name: 'g' {} }}",
      learning, graph);
}

// What the reference interpreter gives, as Outputs has it.
Result<Texts> Referred(const ir::Module& module, const std::vector<Value>& inputs) {
  RELAYVM_ASSIGN_OR_RETURN(const ir::Module typed, RunFrontendPipeline(module));
  StringTable strings(typed.strings.get());
  std::vector<reference::Value> args;
  for (const Value& v : inputs) {
    HostTensor t{v.dtype(), {v.dims().begin(), v.dims().end()}, {}};
    if (v.dtype() == DType::kString) {
      std::vector<std::string_view> texts;
      for (int64_t i = 0; i < v.num_elements(); ++i) texts.push_back(v.text(i));
      t.data = PackStrings(texts);
      RELAYVM_ASSIGN_OR_RETURN(t, InternStrings(strings, t));
    } else {
      t.data = SharedBytes::Copy({static_cast<const std::byte*>(v.data()), v.bytes()});
    }
    args.push_back(reference::MakeTensor(std::move(t)));
  }
  RELAYVM_ASSIGN_OR_RETURN(const reference::Value result,
                           reference::Run(typed, "main", args, {.strings = &strings}));
  const auto text = [&](const reference::Value& value) {
    const HostTensor& t = *reference::TensorOf(value);
    if (t.dtype != DType::kString)
      return TextOf(*Value::CopyTensor(t.dtype, t.shape, t.data.data()));
    const auto packed = PackStrings(strings, t);
    REQUIRE(packed.ok());
    const PackedStrings all(packed->data.data(), t.size());
    Texts texts;
    for (int64_t i = 0; i < all.size(); ++i) texts.emplace_back(all[i]);
    return TextOf(StringsOf(t.shape, texts));
  };
  if (reference::TensorOf(result) != nullptr) return Texts{text(result)};
  Texts texts;
  for (const reference::Value& field : result->As<reference::Data>()->fields)
    texts.push_back(text(field));
  return texts;
}

// The outputs of a model, in the VM and the reference interpreter alike.
Result<Texts> Outputs(const std::string& graph, const std::vector<Value>& inputs,
                      int learning = 2) {
  auto module = import::testing::ImportText(ModelOf(graph, learning));
  if (!module.ok()) return module.status();
  const auto expected = Referred(*module, inputs);
  auto compiled = CompileModule(*module, {});
  if (!compiled.ok()) return compiled.status();
  auto executable = Executable::FromProgram(std::move(compiled->program));
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  auto result = (*invocation)->Run("main", inputs);
  CHECK(result.ok() == expected.ok());
  if (!result.ok()) return result.status();
  const auto list = [](const Value& v) {
    Texts texts;
    if (v.is_tensor()) return Texts{TextOf(v)};
    for (size_t i = 0; i < v.num_fields(); ++i) texts.push_back(TextOf(v.field(i)));
    return texts;
  };
  const Texts found = list(*result);
  if (expected.ok()) CHECK(found == *expected);
  return found;
}

std::string StringAttr(const char* name, const Texts& texts) {
  std::string quoted;
  for (const std::string& t : texts) quoted += (quoted.empty() ? "'" : ", '") + t + "'";
  return fmt::format("attribute {{ name: '{}' type: STRINGS strings: [{}] }} ", name, quoted);
}
std::string IntAttr(const char* name, const std::vector<int64_t>& values) {
  return fmt::format("attribute {{ name: '{}' type: INTS ints: [{}] }} ", name,
                     fmt::join(values, ", "));
}
std::string Learning(const char* op, const std::string& attributes) {
  return fmt::format("node {{ op_type: '{}' domain: 'ai.onnx.ml' input: 'x' output: 'y' {} }} ", op,
                     attributes);
}
std::string Constant(const char* name, const Texts& texts) {
  std::string data;
  for (const std::string& t : texts) data += "string_data: '" + t + "' ";
  return fmt::format("initializer {{ name: '{}' data_type: 8 dims: {} {} }} ", name, texts.size(),
                     data);
}
const std::string kX = Tensor("input", "x", {"n"}, kStrings);
const std::string kMatrix = Tensor("input", "x", {"n", "m"}, kStrings);
const std::string kY = "output { name: 'y' } ";
const std::string kTwo = kY + "output { name: 'z' } ";

TEST_CASE("strings move as other elements do") {
  const Value x = StringsOf({2, 3}, {"a", "b", "", "é", "a", "漢"});
  const struct {
    std::string graph;
    const char* y;
  } kCases[] = {
      {Node("Identity", "x", "y"), "(2, 3) a|b||é|a|漢"},
      {Node("Transpose", "x", "y"), "(3, 2) a|é|b|a||漢"},
      {Node("Concat", "x x", "y", import::testing::Int("axis", 0)),
       "(4, 3) a|b||é|a|漢|a|b||é|a|漢"},
      {import::testing::Ints("i", {1, -1, 0}) +
           Node("Gather", "x i", "y", import::testing::Int("axis", 1)),
       "(2, 3) b||a|a|漢|é"},
      {import::testing::Ints("s", {-1}) + Node("Reshape", "x s", "y"), "(6) a|b||é|a|漢"},
      {import::testing::Ints("r", {1, 2}) + Node("Tile", "x r", "y"),
       "(2, 6) a|b||a|b||é|a|漢|é|a|漢"},
      {Constant("c", {"new", "a", "b"}) + import::testing::Ints("r", {0}) +
           Node("Unsqueeze", "c r", "d") +
           Node("Concat", "d x", "y", import::testing::Int("axis", 0)),
       "(3, 3) new|a|b|a|b||é|a|漢"},
      {Constant("c", {"a"}) + Node("Equal", "x c", "e") + Constant("w", {"A"}) +
           Node("Where", "e w x", "y"),
       "(2, 3) A|b||é|A|漢"},
      {Constant("c", {"a"}) + Node("Equal", "x c", "y"), "(2, 3) 1|0|0|0|1|0"},
      {import::testing::Ints("p", {0, 1, 0, 0}) + Node("Pad", "x p", "y"), "(2, 4) |a|b|||é|a|漢"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.graph);
    const auto y = Outputs(c.graph + kMatrix + kY, {x});
    REQUIRE_MESSAGE(y.ok(), y.status().ToString());
    CHECK((*y)[0] == c.y);
  }
}

TEST_CASE("unique strings, in their order or the data's") {
  const Value x = StringsOf({5}, {"b", "a", "b", "", "a"});
  const std::string outputs = kTwo + "output { name: 'i' } output { name: 'c' } ";
  CHECK(*Outputs(Node("Unique", "x", "y z i c") + kX + outputs, {x}) ==
        Texts{"(3) |a|b", "(3) 3|1|0", "(5) 2|1|2|0|1", "(3) 1|2|2"});
  CHECK(*Outputs(Node("Unique", "x", "y z i c", import::testing::Int("sorted", 0)) + kX + outputs,
                 {x}) == Texts{"(3) b|a|", "(3) 0|1|3", "(5) 0|1|0|2|1", "(3) 2|2|1"});
  const Value rows = StringsOf({3, 2}, {"b", "a", "a", "z", "b", "a"});
  CHECK(*Outputs(Node("Unique", "x", "y", import::testing::Int("axis", 0)) + kMatrix + kY,
                 {rows}) == Texts{"(2, 2) a|z|b|a"});
}

TEST_CASE("casts to strings and back; a text that is no number is named") {
  const auto cast = [](int to) { return Node("Cast", "x", "y", import::testing::Int("to", to)); };
  CHECK(*Outputs(cast(kInts) + kX + kY, {StringsOf({2}, {"-7", " 12 "})}) == Texts{"(2) -7|12"});
  CHECK(*Outputs(cast(kFloats) + kX + kY, {StringsOf({2}, {"1e3", "-.5"})}) ==
        Texts{"(2) 1000|-0.5"});
  CHECK(*Outputs(cast(kStrings) + Tensor("input", "x", {"n"}, kInts) + kY, {IntsOf({3, -4})}) ==
        Texts{"(2) 3|-4"});
  const auto wrong = Outputs(cast(kFloats) + kX + kY, {StringsOf({2}, {"1", "abc"})});
  REQUIRE(!wrong.ok());
  CHECK(wrong.status().message().find("expected a number, found the text 'abc'") !=
        std::string::npos);
}

TEST_CASE("joined, split, normalised, matched") {
  const Value x = StringsOf({3}, {"a,b", "Cat", ""});
  CHECK(*Outputs(Constant("c", {"!"}) + Node("StringConcat", "x c", "y") + kX + kY, {x}) ==
        Texts{"(3) a,b!|Cat!|!"});
  CHECK(
      *Outputs(Node("StringSplit", "x", "y z", import::testing::Text("delimiter", ",")) + kX + kTwo,
               {x}) == Texts{"(3, 2) a|b|Cat|||", "(3) 2|1|0"});
  CHECK(*Outputs(Node("StringSplit", "x", "y z") + kX + kTwo, {StringsOf({0}, {})}) ==
        Texts{"(0, 0) ", "(0) "});
  CHECK(*Outputs(Node("RegexFullMatch", "x", "y", import::testing::Text("pattern", "[A-Z][a-z]+")) +
                     kX + kY,
                 {x}) == Texts{"(3) 0|1|0"});
  CHECK(*Outputs(Node("StringNormalizer", "x", "y",
                      import::testing::Text("case_change_action", "UPPER") +
                          StringAttr("stopwords", {"cat"})) +
                     kX + kY,
                 {x}) == Texts{"(2) A,B|"});
  const auto wrong = Outputs(
      Node("RegexFullMatch", "x", "y", import::testing::Text("pattern", "(a")) + kX + kY, {x});
  REQUIRE(!wrong.ok());
  CHECK(wrong.status().message().find("pattern '(a': at byte 2 of the pattern: expected )") !=
        std::string::npos);
}

std::string Tokens(const std::string& attributes, int mark = 0, int least = 1) {
  return fmt::format(
      "node {{ op_type: 'Tokenizer' domain: 'com.microsoft' input: 'x' output: 'y' "
      "{} {} {} {} }} ",
      import::testing::Int("mark", mark), import::testing::Int("mincharnum", least),
      import::testing::Text("pad_value", "#"), attributes);
}

TEST_CASE("tokens: between separators, what matches, characters") {
  const auto tokens = [](const Texts& texts, const std::string& node) {
    auto y = Outputs(node + kX + kY, {StringsOf({static_cast<int64_t>(texts.size())}, texts)});
    REQUIRE_MESSAGE(y.ok(), y.status().ToString());
    return (*y)[0];
  };
  const auto by = [](const Texts& separators) { return StringAttr("separators", separators); };
  const auto expression = [](const char* text) { return import::testing::Text("tokenexp", text); };
  const Texts x = {"ab cd,e", "x", ""};
  CHECK(tokens(x, Tokens(by({" "}))) == "(3, 2) ab|cd,e|x|#|#|#");
  CHECK(tokens(x, Tokens(by({" ", ","}))) == "(3, 3) ab|cd|e|x|#|#|#|#|#");
  CHECK(tokens(x, Tokens(by({" "}), 1)) == "(3, 4) \x02|ab|cd,e|\x03|\x02|x|\x03|#|\x02|\x03|#|#");
  CHECK(tokens({"", ""}, Tokens(by({" "}), 1)) == "(2, 0) ");
  CHECK(tokens({"日本 語"}, Tokens(by({""}))) == "(1, 4) 日|本| |語");
  CHECK(tokens({"a\nb"}, Tokens(expression("."))) == "(1, 3) a|\n|b");
  CHECK(tokens(x, Tokens(expression("[a-z]+"))) == "(3, 3) ab|cd|e|x|#|#|#|#|#");
  CHECK(tokens(x, Tokens(expression("a|ab"), 0, 2)) == "(3, 1) ab|#|#");
  CHECK(tokens({"aéb c"}, Tokens(expression("[^ ]+"), 0, 3)) == "(1, 1) aéb");
  CHECK(tokens({"ab ba"}, Tokens(expression("\\\\ba"))) == "(1, 1) a");
  CHECK(tokens({"aé b"}, Tokens(by({"\\\\b"}))) == "(1, 1)  ");
  CHECK(tokens({"b,b;c"}, Tokens(by({";", ",", "^b"}))) == "(1, 1) c");
  CHECK(tokens(x, Tokens(by({"", " "}))) == "(3, 0) ");
  // Two dims; separators count where both are given.
  CHECK(*Outputs(Tokens(by({" "}) + expression("a")) + kMatrix + kY,
                 {StringsOf({1, 2}, {"a b", "c"})}) == Texts{"(1, 2, 2) a|b|c|#"});
  const auto error = [](const std::string& node) {
    const auto y = Outputs(node + kX + kY, {StringsOf({1}, {"a"})});
    return y.ok() ? "" : y.status().message();
  };
  CHECK(error(Tokens("")).find("expected separators, or tokenexp") != std::string::npos);
  CHECK(error(Tokens(by({" "}), 0, 0)).find("mincharnum: expected 1 or more") != std::string::npos);
  CHECK(error(Tokens(by({""}), 0, 2)).find("one character have no 2") != std::string::npos);
  CHECK(error(Tokens(by(Texts(101, ",")))).find("separators: more than 100") != std::string::npos);
  CHECK(error(Tokens(expression("("))).find("tokenexp '(': at byte 1") != std::string::npos);
}

TEST_CASE("categories that are the same: the last counts; cases of a locale") {
  const Value x = StringsOf({3}, {"a", "b", "c"});
  CHECK(*Outputs(Learning("OneHotEncoder", StringAttr("cats_strings", {"a", "b", "a"})) + kX + kY,
                 {x}) == Texts{"(3, 3) 0|0|1|0|1|0|0|0|0"});
  CHECK(*Outputs(Learning("CategoryMapper", StringAttr("cats_strings", {"a", "b", "a"}) +
                                                IntAttr("cats_int64s", {1, 2, 7})) +
                     kX + kY,
                 {x}) == Texts{"(3) 7|2|-1"});
  const auto upper = [](const char* locale) {
    const std::string node = Node("StringNormalizer", "x", "y",
                                  import::testing::Text("case_change_action", "UPPER") +
                                      import::testing::Text("locale", locale));
    return (*Outputs(node + kX + kY, {StringsOf({1}, {"aé"})}))[0];
  };
  CHECK(upper("C") == "(1) Aé");
  CHECK(upper("en_US.UTF-8") == "(1) AÉ");
}

TEST_CASE("keys that are NaN count from version 4 on") {
  const std::string graph =
      Learning("LabelEncoder", "attribute { name: 'keys_floats' type: FLOATS floats: [1, nan] } " +
                                   IntAttr("values_int64s", {7, 8})) +
      Tensor("input", "x", {"n"}, kFloats) + kY;
  const float numbers[] = {NAN, 1};
  const Value x = *Value::CopyTensor(DType::kFloat32, {{2}}, numbers);
  CHECK(*Outputs(graph, {x}, 3) == Texts{"(2) -1|7"});
  CHECK(*Outputs(graph, {x}, 4) == Texts{"(2) 8|7"});
}

TEST_CASE("hashes of strings, without and with a sign") {
  const auto hashes = [](int positive, int type, const char* name) {
    const std::string node = fmt::format(
        "node {{ op_type: 'MurmurHash3' domain: 'com.microsoft' input: 'x' output: 'h' "
        "{} {} }} ",
        import::testing::Int("positive", positive), import::testing::Int("seed", 42));
    CAPTURE(name);
    const auto y =
        Outputs(node + Node("Cast", "h", "y", import::testing::Int("to", type)) + kX + kY,
                {StringsOf({1}, {"foo"})});
    REQUIRE_MESSAGE(y.ok(), y.status().ToString());
    return (*y)[0];
  };
  CHECK(hashes(1, kInts, "uint32") == "(1) 2972666014");
  CHECK(hashes(0, kInts, "int32") == "(1) -1322301282");
}

TEST_CASE("labels from strings, to strings, and of classes") {
  const Value x = StringsOf({4}, {"cat", "", "dog", "fox"});
  CHECK(*Outputs(Learning("LabelEncoder", StringAttr("keys_strings", {"dog", "cat", "dog"}) +
                                              IntAttr("values_int64s", {5, 6, 7})) +
                     kX + kY,
                 {x}) == Texts{"(4) 6|-1|5|-1"});
  CHECK(*Outputs(Learning("LabelEncoder", StringAttr("keys_strings", {"dog", ""}) +
                                              StringAttr("values_strings", {"Hund", "nichts"})) +
                     kX + kY,
                 {x}) == Texts{"(4) _Unused|nichts|Hund|_Unused"});
  CHECK(*Outputs(Learning("LabelEncoder", IntAttr("keys_int64s", {1, 1000000000000}) +
                                              StringAttr("values_strings", {"one", "many"})) +
                     Tensor("input", "x", {"n"}, kInts) + kY,
                 {IntsOf({1000000000000, 2, 1, INT64_MIN})}) ==
        Texts{"(4) many|_Unused|one|_Unused"});
  CHECK(*Outputs(Learning("LabelEncoder", StringAttr("classes_strings", {"dog", "cat"})) + kX + kY,
                 {x}, 1) == Texts{"(4) 1|-1|0|-1"});
  CHECK(*Outputs(Learning("OneHotEncoder", StringAttr("cats_strings", {"cat", "dog"})) + kX + kY,
                 {x}) == Texts{"(4, 2) 1|0|0|0|0|1|0|0"});
  const std::string classifier =
      Learning("LinearClassifier",
               "attribute { name: 'coefficients' type: FLOATS floats: [1, 0, 0, 1] } "
               "attribute { name: 'intercepts' type: FLOATS floats: [0, 0] } " +
                   StringAttr("classlabels_strings", {"no", "yes"}));
  const float rows[] = {2, 1, 1, 2};
  CHECK((*Outputs(classifier + Tensor("input", "x", {"n", "2"}) + kY,
                  {*Value::CopyTensor(DType::kFloat32, {{2, 2}}, rows)}))[0] == "(2) no|yes");
}

TEST_CASE("n-grams of strings") {
  const std::string grams = Node(
      "TfIdfVectorizer", "x", "y",
      import::testing::Text("mode", "TF") + import::testing::Int("min_gram_length", 1) +
          import::testing::Int("max_gram_length", 2) + import::testing::Int("max_skip_count", 1) +
          IntAttr("ngram_counts", {0, 2}) + IntAttr("ngram_indexes", {0, 1, 3}) +
          StringAttr("pool_strings", {"a", "b", "a", "b"}));
  CHECK(*Outputs(grams + kMatrix + kY, {StringsOf({2, 3}, {"a", "b", "b", "?", "", "a"})}) ==
        Texts{"(2, 4) 1|2|0|2|1|0|0|0"});
}

TEST_CASE("strings in branches and loops; what a loop makes is bounded by the run's limit") {
  const std::string body =
      "attribute { name: 'body' type: GRAPH g { name: 'b' " + Node("StringConcat", "s s", "s2") +
      Node("Identity", "c", "c2") + Tensor("input", "i", {}, kInts) + Tensor("input", "c", {}, 9) +
      Tensor("input", "s", {"n"}, kStrings) + "output { name: 'c2' } output { name: 's2' } } } ";
  const std::string graph =
      Node("Loop", "k - x", "y", body) + Tensor("input", "k", {}, kInts) + kX + kY;
  CHECK(*Outputs(graph, {Value::Int64(3), StringsOf({2}, {"ab", ""})}) ==
        Texts{"(2) abababababababab|"});
  auto module = import::testing::ImportText(ModelOf(graph));
  REQUIRE(module.ok());
  auto compiled = CompileModule(*module, {});
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  auto executable = Executable::FromProgram(std::move(compiled->program));
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable, {.memory_limit = 1 << 20});
  auto result = (*invocation)->Run("main", {Value::Int64(60), StringsOf({2}, {"ab", ""})});
  REQUIRE(!result.ok());
  CHECK(result.status().code() == StatusCode::kResourceExhausted);
  result = (*invocation)->Run("main", {Value::Int64(2), StringsOf({1}, {"x"})});
  REQUIRE(result.ok());
  CHECK(TextOf(*result) == "(1) xxxx");
}

TEST_CASE("what computes with strings is refused by name; so are executors without them") {
  const auto error = [](const std::string& graph) {
    const auto y = Outputs(graph + kX + kY, {StringsOf({1}, {"a"})});
    return y.ok() ? "" : y.status().message();
  };
  CHECK(error(Node("Add", "x x", "y")).find("add: expected numbers, found strings") !=
        std::string::npos);
  CHECK(error(Node("Relu", "x", "y")).find("expected numbers, found strings") != std::string::npos);
  CHECK(error(Node("ReduceMax", "x", "y")).find("expected numbers, found strings") !=
        std::string::npos);
}

TEST_CASE("a module with strings is the same from its text") {
  const std::string graph = Constant("c", {"zz", "new"}) +
                            Learning("LabelEncoder", StringAttr("keys_strings", {"b", "zz"}) +
                                                         StringAttr("values_strings", {"B", "Z"})) +
                            kX + kY;
  auto module = import::testing::ImportText(ModelOf(graph));
  REQUIRE(module.ok());
  const std::string text = ir::PrintModule(*module, {});
  auto again = frontend::ParseRelay("again", text);
  REQUIRE_MESSAGE(again.ok(), again.status().ToString());
  CHECK(again->strings->Texts() == module->strings->Texts());
  const std::unique_ptr<Invocation> invocation = Runnable(std::move(again));
  const auto y = invocation->Run("main", {StringsOf({3}, {"zz", "b", "c"})});
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  CHECK(TextOf(*y) == "(3) Z|B|_Unused");
}

}  // namespace
}  // namespace relayvm
