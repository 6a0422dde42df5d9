// Tensors of strings: at the border, in a run, with host functions.
#include <string>
#include <string_view>
#include <vector>

#include "vm/api/c_api.h"
#include "vm/api/dlpack_exchange.h"
#include "vm/border/host_testing.h"
#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::LoadForward;
using testing::LoadText;
using testing::NewInvocation;
using testing::RunFails;
using testing::RunOk;
using Texts = std::vector<std::string>;

Value Strings(std::vector<int64_t> dims, const Texts& texts) {
  auto value = Value::CopyStrings(dims, std::vector<std::string_view>(texts.begin(), texts.end()));
  REQUIRE_MESSAGE(value.ok(), value.status().message());
  return *std::move(value);
}
Texts TextsOf(const Value& v) {
  REQUIRE(v.is_tensor());
  REQUIRE((v.dtype() == DType::kString));
  Texts texts;
  for (int64_t i = 0; i < v.num_elements(); ++i) texts.emplace_back(v.text(i));
  return texts;
}

// main(x) = x, in a program with a few texts of its own.
std::string Identity(const std::string& type) {
  return fmt::format(R"(
.version 1
.string ""
.string "a"
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.export "main" vars 1 f0 ("x": {0}) -> {0}
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)",
                     type);
}

TEST_CASE("strings: values hold texts of UTF-8, and their own bytes") {
  const Value v = Strings({2, 2}, {"a", "", "é\n", std::string("z\0", 2)});
  CHECK(TextsOf(v) == Texts{"a", "", "é\n", std::string("z\0", 2)});
  CHECK(Value(v).mutable_data() == nullptr);
  CHECK(TextsOf(Strings({}, {"one"})) == Texts{"one"});
  CHECK(Strings({0, 3}, {}).num_elements() == 0);
  const std::vector<std::string_view> texts = {"a", "\xFF"};
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{2}, {3}, {-2}, {}})
    CHECK(Value::CopyStrings(dims, texts).status().code() == StatusCode::kInvalidArgument);
  // Numbers make none.
  int64_t data[2] = {0, 1};
  CHECK(!Value::NewTensor(DType::kString, {{2}}).ok());
  CHECK(!Value::CopyTensor(DType::kString, {{2}}, data).ok());
  CHECK(!Value::WrapTensor(DType::kString, {{2}}, data, nullptr, nullptr).ok());
  CHECK(!ToDLPack(v).ok());
}

TEST_CASE("strings: through a run and out again, in trees too") {
  const Texts texts = {"a", "b", "a", "", std::string(100000, 'x')};
  const Value x = Strings({5}, texts);
  auto invocation = NewInvocation(LoadText(Identity("string[?\"n\"]")));
  for (int run = 0; run < 3; ++run) CHECK(TextsOf(RunOk(*invocation, {x})) == texts);
  const Value pair =
      RunOk(LoadText(Identity("(string[5], int64[])")), {Value::Tuple({x, Value::Int64(7)})});
  CHECK(TextsOf(pair.field(0)) == texts);
  const Value list = RunOk(LoadText(Identity("data 0(string[])")),
                           {Value::Adt(1, {Strings({}, {"x"}), Value::Adt(0, {})})});
  CHECK(TextsOf(list.field(0)) == Texts{"x"});
  CHECK(RunFails(LoadText(Identity("var 0")), {x}).message().find("strings cannot be passed in") !=
        std::string::npos);
  CHECK(RunFails(LoadText(Identity("int64[?]")), {x}).message() ==
        "main: parameter %x: expected Tensor[(?), int64], found Tensor[(5), string]");
  // Their size is not known before.
  char buffer[64];
  const int64_t dims[] = {5};
  OutputBuffer output{DType::kString, dims, buffer};
  auto into = (*NewInvocation(LoadText(Identity("string[5]")))).Run("main", {x}, {output});
  CHECK(into.status().message().find("strings have no buffer") != std::string::npos);
}

TEST_CASE("strings: inputs' texts count toward the limit") {
  auto invocation = Invocation::Create(*Runtime::Create(), LoadText(Identity("string[?]")),
                                       {.memory_limit = 1 << 20});
  Texts many;
  for (int i = 0; i < 20000; ++i) many.push_back("text number " + std::to_string(i));
  const auto failed = (*invocation)->Run("main", {Strings({20000}, many)});
  CHECK(failed.status().code() == StatusCode::kResourceExhausted);
  // The same text again and again takes none.
  const auto same = (*invocation)->Run("main", {Strings({20000}, Texts(20000, "text"))});
  CHECK(same.ok());
}

TEST_CASE("strings: host functions see texts, and give some") {
  const auto program = LoadForward(
      "string[?]", "(string[2], string[])",
      [](HostCall& call) -> Result<Value> {
        const Value x = call.args()[0];
        return Value::Tuple({Strings({2}, {std::string(x.text(0)) + "!", "new"}),
                             Strings({}, {std::string(x.text(1))})});
      },
      ".string \"\"");
  const Value y = RunOk(program, {Strings({2}, {"a", "b"})});
  CHECK(TextsOf(y.field(0)) == Texts{"a!", "new"});
  CHECK(TextsOf(y.field(1)) == Texts{"b"});
}

TEST_CASE("strings: a program's own, and what is none") {
  const auto constant = [](const std::string& strings, int id) {
    return fmt::format(R"(
.version 1
{}
.constant string[1] "c"
  .hex {:02x}00000000000000
.export "main" f0 () -> string[1]
.function "main" scalars 0 objects 0 captured 0 registers 0 1 returns object arena 0
  const.r r0, c0
  ret.r r0!
.end
)",
                       strings, id);
  };
  const std::string two = ".string \"\"\n.string \"text\"";
  CHECK(TextsOf(RunOk(LoadText(constant(two, 1)), {})) == Texts{"text"});
  CHECK(RunFails(LoadText(constant(two, 2)), {}).message() ==
        "main: the result holds a string that has no text");
  CHECK(RunFails(LoadText(constant("", 0)), {}).message() ==
        "main: the result holds a string that has no text");
  for (const char* bad :
       {".string \"a\"", ".string \"\"\n.string \"\"", ".string \"\"\n.string \"\\xff\""}) {
    auto program = Assemble(constant(bad, 0));
    if (!program.ok()) continue;
    CHECK(Executable::FromProgram(*std::move(program)).status().code() ==
          StatusCode::kInvalidInput);
  }
}

TEST_CASE("strings: C") {
  const int64_t dims[] = {2};
  const char* texts[] = {"a", "b\0c"};
  const size_t sizes[] = {1, 3};
  relayvm_value* value = nullptr;
  REQUIRE(relayvm_value_strings(dims, 1, texts, sizes, &value) == nullptr);
  CHECK(relayvm_value_get_dtype(value) == RELAYVM_STRING);
  size_t bytes = 0;
  const char* text = relayvm_value_text(value, 1, &bytes);
  CHECK(std::string(text, bytes) == std::string("b\0c", 3));
  CHECK(relayvm_value_text(value, 2, &bytes) == nullptr);
  CHECK(relayvm_value_text(value, -1, &bytes) == nullptr);
  CHECK(bytes == 0);
  relayvm_value_free(value);
  REQUIRE(relayvm_value_strings(dims, 1, texts, nullptr, &value) == nullptr);
  relayvm_value_text(value, 1, &bytes);
  CHECK(bytes == 1);
  relayvm_value_free(value);
  relayvm_status* status = relayvm_value_tensor(RELAYVM_STRING, dims, 1, nullptr, &value);
  CHECK(relayvm_status_code(status) == RELAYVM_INVALID_ARGUMENT);
  relayvm_status_free(status);
  CHECK(std::string(relayvm_dtype_name(RELAYVM_STRING)) == "string");
}

}  // namespace
}  // namespace relayvm
