// Options of passes, at the doors of C++ and C: those that rows of the compiler's passes declare,
// and one of a library's pass. The command line's: tests/passes/run_passes.py; Python's:
// tools/python/tests/test_passes.py.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/api/c_api_compiler.h"
#include "compiler/api/compiler.h"
#include "compiler/pipeline.h"

namespace relayvm {
namespace {

constexpr std::string_view kText =
    "#[version = \"0.0.5\"]\n"
    "def @main(%x: Tensor[(?), float32]) { add(exp(%x), exp(negative(%x))) }\n";

// A value that the option takes.
std::string ValueFor(const PassOption& option) {
  if (option.form == "N") return option.initial;
  if (option.form == "NAME") return "npu:0";
  if (option.form == "IN=OUT") return "x=output_0";
  if (option.form == "ENGINE") return "dnnl";
  if (option.form == "ENGINE.relay") return "mine.relay";
  return option.form.empty() ? option.values[0] : "nn.conv2d=NHWC:default";
}

struct Said {
  StatusCode code = StatusCode::kOk;
  std::string message, text;
};

// relayvm_compile_memory with those settings.
Said CompileInC(const std::vector<relayvm_compile_setting>& settings) {
  Said said;
  relayvm_compile_options options = {};
  options.struct_size = sizeof(options);
  options.settings = settings.data();
  options.num_settings = settings.size();
  options.user = &said.text;
  options.on_text = [](void* user, const char* text, size_t size) {
    static_cast<std::string*>(user)->append(text, size);
  };
  relayvm_compiled* compiled = nullptr;
  relayvm_status* failed =
      relayvm_compile_memory("model.relay", kText.data(), kText.size(), &options, &compiled);
  if (failed != nullptr)
    said = {static_cast<StatusCode>(relayvm_status_code(failed)), relayvm_status_message(failed)};
  relayvm_status_free(failed);
  relayvm_compiled_free(compiled);
  return said;
}

TEST_CASE("each option that a pass declares is taken, and a wrong value refused, in C++ and C") {
  const std::vector<DeclaredOption> declared = PassOptions();
  CHECK(declared.size() >= 4);
  const std::vector<std::string_view> names = CompilerOptions::Names();
  for (const DeclaredOption& d : declared) {
    const PassOption& option = *d.option;
    CAPTURE(option.name);
    CHECK(!option.help.empty());
    CHECK(!d.passes.empty());
    CHECK((!option.values.empty() || !option.form.empty()));
    CHECK(std::ranges::count(names, option.name) == 1);
    const std::string value = ValueFor(option);
    CompilerOptions options;
    CHECK(options.Set(option.name, value).ok());
    CHECK(options.pass_options.at(option.name) == std::vector{value});
    CHECK(options.Set(option.name, value).ok());
    CHECK(options.pass_options.at(option.name).size() == (option.repeats ? 2 : 1));
    CHECK(CompileModel(ModelSource::Text(kText), options).ok());
    CHECK(CompileInC({{option.name.c_str(), value.c_str()}}).code == StatusCode::kOk);

    const Status wrong = options.Set(option.name, "?!");
    CHECK(wrong.code() == StatusCode::kInvalidArgument);
    const std::string expects = "--" + option.name + " ?!: ";
    CHECK_MESSAGE(wrong.message().starts_with(expects), wrong.message());
    for (const std::string& v : option.values)
      CHECK_MESSAGE(wrong.message().find(v) != std::string::npos, wrong.message());
    CHECK(CompileInC({{option.name.c_str(), "?!"}}).message == wrong.message());
    // Past Set.
    options.pass_options[option.name] = {"?!"};
    CHECK(CompileModel(ModelSource::Text(kText), options).status().message() == wrong.message());
  }
  CompilerOptions misspelt;
  misspelt.pass_options["wieghts"] = {"q8"};
  CHECK(CompileModel(ModelSource::Text(kText), misspelt)
            .status()
            .message()
            .starts_with("no pass has an option wieghts; did you mean weights? there are byoc,"));
}

TEST_CASE("an option of a library's pass is one of the compiler's, once the library is named") {
  CompilerOptions options;
  CHECK(options.Set("least", "2").message().starts_with("there is no option least; there are O,"));
  REQUIRE(options.Set("load-pass", RELAYVM_EXAMPLE_PASSES).ok());
  CHECK(options.Set("lest", "2")
            .message()
            .starts_with("there is no option lest; did you mean least?"));
  CHECK(options.Set("least", "0").message() ==
        "--least 0: expected a whole number from 1 to 1000000");
  REQUIRE(options.Set("least", "2").ok());
  CHECK(CompileModel(ModelSource::Text(kText), options).status().message() ==
        "--least: nothing reads it; run a pass that does: --pass CountOperators@PLACE");
  REQUIRE(options.Set("pass", "CountOperators@start").ok());
  std::string text;
  options.on_text = [&](std::string_view t) { text += t; };
  const auto compiled = CompileModel(ModelSource::Text(kText), options);
  CHECK_MESSAGE(compiled.ok(), compiled.status().message());
  CHECK(text == "exp 2\n");

  const relayvm_compile_setting load = {"load-pass", RELAYVM_EXAMPLE_PASSES};
  const relayvm_compile_setting run = {"pass", "CountOperators@start"};
  CHECK(CompileInC({load, run, {"least", "2"}}).text == "exp 2\n");
  CHECK(CompileInC({load, run}).text == "add 1\nexp 2\nnegative 1\n");
  CHECK(CompileInC({load, run, {"least", "few"}}).message ==
        "--least few: expected a whole number from 1 to 1000000");
}

}  // namespace
}  // namespace relayvm
