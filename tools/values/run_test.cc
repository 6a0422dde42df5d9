#include "tools/values/run.h"

#include <doctest/doctest.h>

namespace relayvm::tools {
namespace {

TEST_CASE("sizes") {
  struct Case {
    const char* text;
    size_t bytes;
  };
  for (const Case& c : {Case{"4096", 4096}, Case{"64MiB", 64 << 20}, Case{"1GB", 1'000'000'000},
                        Case{"512k", 512 << 10}, Case{"1.5 GiB", 3ull << 29}, Case{"0", 0}}) {
    CAPTURE(c.text);
    Result<size_t> size = ParseSize(c.text);
    REQUIRE(size.ok());
    CHECK(*size == c.bytes);
  }
  for (const char* text : {"", "MiB", "-1", "1XB", "12 34", "1e30GB"}) {
    CAPTURE(text);
    CHECK(!ParseSize(text).ok());
  }
}

std::string Parse(std::vector<std::string> args, RunFlags* flags) {
  CLI::App app;
  std::string model;
  app.add_option("MODEL", model)->required();
  flags->AddTo(app, true);
  args = NormalizeRunArguments(std::move(args));
  std::reverse(args.begin(), args.end());
  try {
    app.parse(args);
  } catch (const CLI::ParseError& e) {
    return std::string("error ") + e.what();
  }
  return model;
}

TEST_CASE("inputs are taken one for each --input, whatever they look like") {
  RunFlags flags;
  CHECK(Parse({"--input", "[1,2]", "--input", "-3", "--input", "-", "m.vmx", "--input", "(1, 2)",
               "--input=x=3"},
              &flags) == "m.vmx");
  CHECK(flags.inputs == std::vector<std::string>{"[1,2]", "-3", "-", "(1, 2)", "x=3"});
}

TEST_CASE("--profile takes a file only when it is one") {
  for (const auto& [args, file] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--profile", "m.vmx"}, ""},
           {{"--profile", "p.json", "m.vmx"}, "p.json"},
           {{"--profile=trace", "m.vmx"}, "trace"},
           {{"m.vmx", "--profile"}, ""}}) {
    RunFlags flags;
    CHECK(Parse(args, &flags) == "m.vmx");
    CHECK(flags.profile);
    CHECK(flags.profile_file == file);
  }
}

TEST_CASE("malformed options") {
  RunFlags flags;
  flags.outputs = {"x.txt"};
  CHECK(flags.Finish().message() == "--output x.txt: the name must end in .npy or .npz");
  flags.outputs = {};
  flags.memory_limit_text = "much";
  CHECK(flags.Finish().message() ==
        "--memory-limit much: expected a size such as 64MiB, 1GB or 4096");
  CHECK(Parse({"m.vmx", "--repeat", "0"}, &flags).starts_with("error"));
}

}  // namespace
}  // namespace relayvm::tools
