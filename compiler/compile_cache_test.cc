#include "compiler/compile_cache.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "bytecode/disassembler.h"
#include "bytecode/writer.h"
#include "compiler/import/onnx/testing.h"
#include "compiler/rules/rule_pass.h"

namespace relayvm {
namespace {

namespace fs = std::filesystem;
using import::testing::GraphModel;
using import::testing::ModelOf;
using import::testing::Node;
using import::testing::Tensor;

std::string Content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A model that reads a second file, of an opset that is warned of, and a cache for it.
class Cached {
 public:
  Cached() {
    const std::string weight =
        "initializer { name: 'w' dims: 4 data_type: 1 data_location: EXTERNAL "
        "external_data { key: 'location' value: 'w.bin' } } ";
    model = folder.Write("model.onnx", ModelOf(GraphModel(Tensor("input", "x", {"n", "4"}) +
                                                              weight + Node("Mul", "x w", "y") +
                                                              Tensor("output", "y", {"n", "4"}),
                                                          1000))
                                           .SerializeAsString());
    WriteWeights(1);
    options.direct = true;
    options.kernels.cache = *ObjectCache::Open(cache());
    options.warn = [this](const std::string& text) { said.push_back(text); };
  }
  std::string cache() const { return folder.path() / "cache"; }
  void WriteWeights(float first) const {
    const float weights[] = {first, 2, 3, 4};
    folder.Write("w.bin", {reinterpret_cast<const char*>(weights), sizeof weights});
  }

  // Whether it was there already.
  bool Compile() { return Compile(options); }
  bool Compile(const CompileOptions& with) {
    said.clear();
    Result<Compiled> compiled = CompileFile(model, with);
    REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
    REQUIRE(compiled->file != nullptr);
    const std::span<const uint8_t> bytes = compiled->file->bytes();
    written.assign(bytes.begin(), bytes.end());
    CHECK(*SerializeProgram(compiled->program, compiled->others) == written);
    text = DisassembleFile(compiled->program, compiled->others);
    counts = {compiled->num_operators, compiled->poor_kernels};
    return compiled->module.functions.empty();
  }
  std::vector<fs::path> Kept(const std::string& ending) const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(cache())) {
      if (entry.path().extension() == ending) files.push_back(entry.path());
    }
    return files;
  }

  import::testing::ModelFolder folder;
  std::string model;
  CompileOptions options;
  // Of the last compilation.
  std::vector<uint8_t> written;
  std::string text;
  std::vector<std::string> said;
  std::vector<uint64_t> counts;
};

TEST_CASE("CompileCache: the second compilation gives and says what the first one did") {
  Cached c;
  for (const auto& more : {std::vector<Machine>{}, {MachineNamed("x86-64-v3")}}) {
    c.options.more_machines = more;
    if (!more.empty())
      c.options.kernels.machine = c.options.pipeline.machine = MachineNamed("x86-64-v2");
    CHECK(!c.Compile());
    const auto written = c.written;
    const auto text = c.text;
    const auto said = c.said;
    const auto counts = c.counts;
    REQUIRE(said.size() == 1);
    CHECK(said[0].find("opset 1000 is newer") != std::string::npos);
    CHECK(counts[0] > 0);
    CHECK(c.Compile());
    CHECK(c.written == written);
    CHECK(c.text == text);
    CHECK(c.said == said);
    CHECK(c.counts == counts);
  }
}

TEST_CASE("CompileCache: whatever a compilation is made of counts") {
  Cached c;
  CHECK(!c.Compile());
  c.WriteWeights(5);
  CHECK(!c.Compile());
  c.WriteWeights(1);
  CHECK(c.Compile());
  std::string bytes = Content(c.model);
  const size_t name = bytes.find("Mul");
  REQUIRE(name != std::string::npos);
  c.folder.Write("model.onnx", std::string(bytes).replace(name, 3, "Add"));
  CHECK(!c.Compile());
  c.folder.Write("model.onnx", bytes);
  CHECK(c.Compile());
  // The same bytes under another name, in messages.
  const std::string model = std::exchange(c.model, c.folder.Write("other.onnx", bytes));
  CHECK(!c.Compile());
  CHECK(c.said.at(0).find("other.onnx") != std::string::npos);
  c.model = model;
  // A link that leads to other weights.
  fs::create_directory(c.folder.path() / "blobs");
  fs::rename(c.folder.path() / "w.bin", c.folder.path() / "blobs" / "one");
  fs::create_symlink("blobs/one", c.folder.path() / "w.bin");
  CHECK(!c.Compile());
  CHECK(c.Compile());

  const std::pair<const char*, std::function<void(CompileOptions*)>> changes[] = {
      {"entry's shape", [](CompileOptions* o) { o->shapes["x"] = "3x4"; }},
      {"dims", [](CompileOptions* o) { o->dims["n"] = 3; }},
      {"overridable", [](CompileOptions* o) { o->overridable.emplace(); }},
      {"input names", [](CompileOptions* o) { o->input_names = {"z"}; }},
      {"level", [](CompileOptions* o) { o->pipeline.opt_level = 1; }},
      {"pass option", [](CompileOptions* o) { o->pipeline.options["exact"] = {"true"}; }},
      {"disabled", [](CompileOptions* o) { o->pipeline.disabled = {"FoldConstants"}; }},
      {"machine",
       [](CompileOptions* o) {
         o->kernels.machine = o->pipeline.machine = MachineNamed("x86-64-v2");
       }},
      {"more machines", [](CompileOptions* o) { o->more_machines = {MachineNamed("x86-64-v3")}; }},
      {"batching", [](CompileOptions* o) { o->kernels.batching = true; }},
      {"quick", [](CompileOptions* o) { o->kernels.quick = true; }},
  };
  for (const auto& [what, change] : changes) {
    CAPTURE(what);
    CompileOptions options = c.options;
    change(&options);
    CHECK(!c.Compile(options));
    CHECK(c.Compile(options));
  }
  // Threads make no difference.
  c.options.kernels.num_threads = 2;
  CHECK(c.Compile());
}

TEST_CASE("CompileCache: a compilation with rules is told by their texts") {
  Cached c;
  const auto with_rules = [&](const std::string& text) {
    std::string content;
    auto set = rules::ReadRuleFile(c.folder.Write("r.relay", "#[version = \"0.0.5\"]\n" + text), {},
                                   &content);
    REQUIRE_MESSAGE(set.ok(), set.status().message());
    CompileOptions options = c.options;
    options.pipeline.options["explain-rules"] = {"true"};
    options.pipeline.print = [&](std::string_view printed) { c.said.emplace_back(printed); };
    options.pipeline.passes.push_back(
        {rules::RewritePass(*set), "before:SimplifyInference", std::move(content)});
    return options;
  };
  const CompileOptions first = with_rules("rule @r(%x, %w) { multiply(%x, %w) => add(%x, %w) }\n");
  CHECK(!c.Compile(first));
  const auto said = c.said;
  CHECK(std::ranges::count(said, "rule @r: applied 1 time\n") == 1);
  CHECK(c.Compile(first));
  CHECK(c.said == said);
  CHECK(!c.Compile(with_rules("rule @r(%x, %w) { multiply(%x, %w) => subtract(%x, %w) }\n")));
}

TEST_CASE("CompileCache: what cannot be told, or prints on its way, is not kept") {
  Cached c;
  const Pass pass{"Nothing",
                  [](const ir::Module& m, const PassContext&) { return Result<ir::Module>(m); }};
  const std::function<void(CompileOptions*)> changes[] = {
      [](CompileOptions* o) { o->direct = false; },
      [](CompileOptions* o) { o->kernels.cache = nullptr; },
      [](CompileOptions* o) { o->kernels.keep_assembly = true; },
      [](CompileOptions* o) { o->pipeline.print_ir_after = "FuseOps"; },
      [](CompileOptions* o) { o->pipeline.options["byoc"] = {"dnnl"}; },
      [](CompileOptions* o) { o->for_graph = true; },
      [](CompileOptions* o) { o->tune.budget = std::chrono::milliseconds(1); },
      [&](CompileOptions* o) { o->pipeline.passes = {{pass, "end"}}; },
      [](CompileOptions* o) { o->user_operators["aten::relu"] = nullptr; },
  };
  for (const auto& change : changes) {
    CompileOptions options = c.options;
    change(&options);
    CHECK(!CompileCache::For(c.model, options));
  }
  CHECK(CompileCache::For(c.model, c.options));
}

TEST_CASE("CompileCache: a damaged file is as none, and made anew") {
  Cached c;
  CHECK(!c.Compile());
  const auto written = c.written;
  std::vector<fs::path> files = c.Kept(".kernels");
  std::ranges::move(c.Kept(".executable"), std::back_inserter(files));
  REQUIRE(files.size() >= 3);  // questions, answers, and kernels
  for (const fs::path& file : files) {
    for (const uintmax_t cut : {0, 1}) {
      std::string bytes = Content(file);
      if (cut == 0) bytes[bytes.size() / 2] ^= 1;
      bytes.resize(bytes.size() - cut);
      std::ofstream(file, std::ios::binary) << bytes;
      c.Compile();
      CHECK(c.written == written);
      CHECK(c.Compile());
    }
    fs::remove(file);
    c.Compile();
    CHECK(c.Compile());
    CHECK(c.written == written);
  }
}

TEST_CASE("CompileCache: a folder that cannot be written to, or is too small, changes nothing") {
  Cached c;
  c.options.kernels.cache = *ObjectCache::Open(c.cache(), /*max_bytes=*/1000);
  const Result<Compiled> compiled = CompileFile(c.model, c.options);
  REQUIRE(compiled.ok());
  CHECK(compiled->file == nullptr);
  CHECK(c.Kept(".executable").empty());
  fs::remove_all(c.cache());
  c.folder.Write("cache", "no folder any more");
  CHECK(CompileFile(c.model, c.options).ok());
}

TEST_CASE("CompileCache: several may compile the same at once") {
  const Cached c;
  std::vector<std::string> written(4);
  std::vector<std::thread> threads;
  for (std::string& bytes : written) {
    threads.emplace_back([&] {
      CompileOptions options = c.options;
      options.kernels.cache = *ObjectCache::Open(c.cache());
      options.warn = nullptr;
      for (int i = 0; i < 3; ++i) {
        const Result<Compiled> compiled = CompileFile(c.model, options);
        if (!compiled.ok() || compiled->file == nullptr) return;
        bytes.assign(compiled->file->bytes().begin(), compiled->file->bytes().end());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(!written[0].empty());
  CHECK(std::ranges::count(written, written[0]) == 4);
}

}  // namespace
}  // namespace relayvm
