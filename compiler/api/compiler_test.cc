#include "compiler/api/compiler.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <thread>

#include "bytecode/base/status_detail.h"
#include "bytecode/io/npz.h"
#include "tests/temp_folder.h"

namespace relayvm {
namespace {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
using testing::TempFolder;

constexpr std::string_view kDense = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, 3), float32], %w: Tensor[(2, 3), float32]) {
  nn.relu(nn.dense(%x, %w, units=2))
}
)";

// Many small kernels at -O1, which fuses nothing: several threads and LLVM modules are at work.
std::string ManyKernels() {
  std::string text = "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(?, 32), float32]) {\n";
  for (const char* op : {"exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "abs", "ceil", "floor",
                         "round", "sign", "negative", "sin", "cos", "nn.relu", "log2", "log10"})
    text += fmt::format("  let %x = {}(%x);\n", op);
  return text + "  %x\n}\n";
}

std::vector<std::byte> BytesOf(const Result<CompiledModel>& model) {
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  auto bytes = model->Bytes();
  REQUIRE_MESSAGE(bytes.ok(), bytes.status().message());
  return {bytes->begin(), bytes->end()};
}

std::vector<float> Run(const std::shared_ptr<const Executable>& executable,
                       std::vector<Value> inputs) {
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, executable);
  REQUIRE(invocation.ok());
  auto result = (*invocation)->Run("main", std::move(inputs));
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  const auto* data = static_cast<const float*>(result->data());
  int64_t size = 1;
  for (int64_t d : result->dims()) size *= d;
  return {data, data + size};
}

Value Tensor(std::vector<int64_t> dims, const std::vector<float>& elements) {
  return *Value::CopyTensor(DType::kFloat32, dims, elements.data());
}

// What the process prints while it lives; and its temporary files are in a folder of their own.
class Watch {
 public:
  Watch() {
    if (const char* old = ::getenv("TMPDIR")) old_folder_ = old;
    ::setenv("TMPDIR", (folder_ / "").c_str(), 1);
    std::fflush(nullptr);
    FILE* file = std::fopen((output_ / "output").c_str(), "w");
    for (int fd : {1, 2}) {
      saved_[fd - 1] = ::dup(fd);
      ::dup2(::fileno(file), fd);
    }
    std::fclose(file);
  }
  ~Watch() {
    if (saved_[0] >= 0) Restore();
  }
  // Empty when nothing was printed, and no file is left.
  std::string Finish() {
    Restore();
    std::ifstream file(output_ / "output");
    std::string found((std::istreambuf_iterator<char>(file)), {});
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / ""))
      found += "left behind: " + entry.path().filename().string();
    return found;
  }

 private:
  void Restore() {
    std::fflush(nullptr);
    for (int fd : {1, 2}) {
      ::dup2(saved_[fd - 1], fd);
      ::close(std::exchange(saved_[fd - 1], -1));
    }
    old_folder_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", old_folder_.c_str(), 1);
  }
  TempFolder folder_, output_;
  std::string old_folder_;
  int saved_[2] = {-1, -1};
};

TEST_CASE("a text is compiled, and runs: at once, from memory, from a file") {
  const auto model = CompileModel(ModelSource::Text(kDense));
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  REQUIRE(model->info().functions.size() == 1);
  const std::vector<NamedType>& params = model->info().functions[0].inputs;
  REQUIRE(params.size() == 2);
  CHECK(params[0].name == "x");
  CHECK(params[1].name == "w");
  CHECK(model->warnings().empty());
  CHECK(model->times().size() > 10);
  CHECK(model->Bytecode().find(".function") != std::string::npos);

  const std::vector<Value> inputs = {Tensor({1, 3}, {1, 2, 3}),
                                     Tensor({2, 3}, {1, 1, 1, -1, 0, 0})};
  const std::vector<float> expected = {6, 0};
  CHECK(Run(*model->Load(), inputs) == expected);

  const Status refused = model->Load({.allow_images = false}).status();
  CHECK(refused.code() == StatusCode::kUnsupported);
  CHECK(refused.message() ==
        "the program has kernels of native code, which it is loaded without "
        "(LoadOptions::allow_images)");

  const SharedBytes bytes = *model->Bytes();
  CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % 64 == 0);
  CHECK(model->Bytes()->data() == bytes.data());  // made once
  auto from_memory =
      Executable::FromMemory({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                             std::make_shared<SharedBytes>(bytes));
  REQUIRE(from_memory.ok());
  CHECK(Run(*from_memory, inputs) == expected);

  TempFolder folder;
  REQUIRE(model->Save(folder / "m.vmx").ok());
  CHECK(std::filesystem::file_size(folder / "m.vmx") == bytes.size());
  CHECK(Run(*Executable::Load(folder / "m.vmx"), inputs) == expected);
  CHECK(model->Save(folder / "none/m.vmx").code() == StatusCode::kInvalidInput);
}

TEST_CASE("weights come from tensors, and from the bytes of a file") {
  CompilerOptions options;
  options.params.emplace("w", Tensor({2, 3}, {1, 1, 1, -1, 0, 0}));
  auto model = CompileModel(ModelSource::Text(kDense), options);
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  CHECK(Run(*model->Load(), {Tensor({1, 3}, {1, 2, 3})}) == std::vector<float>{6, 0});

  TempFolder folder;
  HostTensor weight{DType::kFloat32, {2, 3}, SharedBytes::Zeros(24)};
  reinterpret_cast<float*>(weight.data.Mutable().data())[1] = 4;
  REQUIRE(WriteNpz(folder / "w.npz", {{"w", weight}}).ok());
  std::ifstream file(folder / "w.npz", std::ios::binary);
  const std::string archive((std::istreambuf_iterator<char>(file)), {});
  CompilerOptions packed;
  packed.params_content = SharedBytes::Copy(std::as_bytes(std::span(archive)));
  model = CompileModel(ModelSource::Text(kDense), packed);
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  CHECK(Run(*model->Load(), {Tensor({1, 3}, {1, 2, 3})}) == std::vector<float>{8, 0});

  packed.params = options.params;
  CHECK(CompileModel(ModelSource::Text(kDense), packed).status().message() ==
        "parameter w is given twice");
  options.params.emplace("v", Tensor({1}, {1}));
  CHECK(CompileModel(ModelSource::Text(kDense), options).status().message() ==
        "parameter \"v\" matches no parameter of @main; it has %x, %w");
  CompilerOptions nested;
  nested.params.emplace("w", Value::Tuple({}));
  CHECK(CompileModel(ModelSource::Text(kDense), nested).status().message() ==
        "parameter w: expected a tensor");
}

TEST_CASE("denormal weights are zero, on either side of a product, unless it is to be exact") {
  for (const char* product : {"nn.dense(%x, %w)", "nn.dense(%w, %x)"}) {
    for (const bool exact : {false, true}) {
      CAPTURE(product);
      CAPTURE(exact);
      CompilerOptions options;
      REQUIRE(options.Set("exact", exact ? "true" : "false").ok());
      options.params.emplace("w", Tensor({1, 3}, {1e-40F, 1, 0}));
      const auto model = CompileModel(
          ModelSource::Text(std::string("#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(1, 3), "
                                        "float32], %w: Tensor[(1, 3), float32]) { ") +
                            product + " }"),
          options);
      REQUIRE_MESSAGE(model.ok(), model.status().message());
      const std::vector<float> y = Run(*model->Load(), {Tensor({1, 3}, {1e38F, 0, 0})});
      CHECK(y == std::vector<float>{exact ? 1e-40F * 1e38F : 0});
    }
  }
}

TEST_CASE("options are relayc's, by name") {
  CompilerOptions options;
  for (auto [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"O", "1"},
                                                                  {"target", "x86-64-v2,x86-64-v3"},
                                                                  {"shape", "x=5x?"},
                                                                  {"exact", "true"},
                                                                  {"disable-pass", "FoldConstants"},
                                                                  {"threads", "1"}}) {
    const Status set = options.Set(name, value);
    CHECK_MESSAGE(set.ok(), set.message());
  }
  auto model = CompileModel(ModelSource::Text(kDense), options);
  REQUIRE_MESSAGE(model.ok(), model.status().message());
  CHECK(model->info().functions[0].inputs[0].type.text == "Tensor[(5, 3), float32]");
  auto loaded = model->Load({.target = "x86-64-v2"});
  CHECK_MESSAGE(loaded.ok(), loaded.status().message());

  const struct {
    const char *name, *value, *message;
  } kWrong[] = {
      {"Target", "native",
       "there is no option Target; did you mean target? there are O, batching, byoc,"},
      {"O", "4", "-O 4: expected 0 to 3"},
      {"shape", "x", "--shape x: write NAME=1x?x300"},
      {"dim", "n=-1", "--dim n=-1: write NAME=8"},
      {"exact", "yes", "--exact yes: expected true or false"},
      {"threads", "many", "threads many: expected 0 to 1024"},
      {"precision", "fp8", "--precision fp8: expected fp32 or bf16"},
      {"weights", "q2", "--weights q2: expected q8, "},
  };
  for (const auto& c : kWrong) {
    CompilerOptions wrong;
    const Status set = wrong.Set(c.name, c.value);
    CHECK(set.code() == StatusCode::kInvalidArgument);
    CHECK_MESSAGE(set.message().starts_with(c.message), set.message());
  }
  const struct {
    const char *name, *value;
    StatusCode code;
    const char* message;
  } kWrongThen[] = {
      {"target", "z80", StatusCode::kInvalidArgument, "--target z80: expected one of native,"},
      {"entry", "other", StatusCode::kNotFound, "<text>: there is no function @other"},
      {"shape", "y=3", StatusCode::kInvalidArgument, "--shape y=3: @main has no parameter"},
      {"pass", "P@end", StatusCode::kInvalidArgument, "--pass P@end: no loaded library has"},
      {"plugin", "./none.so", StatusCode::kInvalidInput, "--plugin: "},
      {"params", "./none.npz", StatusCode::kNotFound, "cannot open './none.npz'"},
      {"schedules", "./none.log", StatusCode::kNotFound, "cannot open './none.log'"},
      {"disable-pass", "P", StatusCode::kInvalidArgument, "--disable-pass: there is no pass P"},
  };
  for (const auto& c : kWrongThen) {
    CompilerOptions wrong;
    REQUIRE(wrong.Set(c.name, c.value).ok());
    const Status status = CompileModel(ModelSource::Text(kDense), wrong).status();
    CHECK_MESSAGE(status.code() == c.code, c.name);
    CHECK_MESSAGE(status.message().starts_with(c.message), status.message());
  }
}

TEST_CASE("a failure has its place and what was expected as fields") {
  const auto failure = [](std::string_view text) {
    return CompileModel(ModelSource::Text(text, "bad.relay")).status();
  };
  const Status syntax = failure("#[version = \"0.0.5\"]\ndef @main(%x: int64) {\n  add(%x 1)\n}\n");
  CHECK(syntax.code() == StatusCode::kInvalidInput);
  REQUIRE(syntax.detail() != nullptr);
  REQUIRE(syntax.detail()->places.size() == 1);
  StatusPlace place = syntax.detail()->places[0];
  CHECK(place.file == "bad.relay");
  CHECK(place.line == 3);
  CHECK(place.column == 10);
  CHECK(place.length == 1);
  CHECK(place.source_line == "  add(%x 1)");
  CHECK(syntax.detail()->found_text == "'1'");

  const Status types = failure(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(2), float32]) -> Tensor[(3), float32] {\n"
      "  %x\n}\n");
  CHECK(types.code() == StatusCode::kInvalidInput);
  REQUIRE(types.detail() != nullptr);
  REQUIRE(types.detail()->places.size() == 1);
  CHECK(types.detail()->places[0].line > 1);
  CHECK(types.detail()->expected_text == "Tensor[(3), float32]");
  CHECK(types.detail()->found_text == "Tensor[(2), float32] (dimension 0: 3 and 2 differ)");

  CHECK(CompileModel({"./none.onnx", std::nullopt}).status().code() == StatusCode::kNotFound);
  CHECK(failure(std::string_view("\0\1\2", 3)).code() == StatusCode::kInvalidInput);
}

TEST_CASE("compilations on several threads give the bytes of one, print nothing, leave no file") {
  const std::string text = ManyKernels();
  CompilerOptions options;
  options.opt_level = 1;
  options.num_threads = 1;
  const std::vector<std::byte> alone = BytesOf(CompileModel(ModelSource::Text(text), options));
  options.num_threads = 3;
  Watch watch;
  std::vector<Result<CompiledModel>> models(3, Status(StatusCode::kInternal, "not compiled"));
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (auto& model : models)
      threads.emplace_back([&] { model = CompileModel(ModelSource::Text(text), options); });
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i)
        failures += !CompileModel(ModelSource::Text("def @main() { nope(1) }")).ok();
    });
  }
  CHECK(watch.Finish() == "");
  CHECK(failures == 20);
  for (const auto& model : models) CHECK(BytesOf(model) == alone);
}

TEST_CASE("a compilation is cancelled at each of its steps, and the next one is whole") {
  const std::string text = ManyKernels();
  CompilerOptions options;
  options.opt_level = 1;
  std::atomic<int> steps = 0;
  options.on_progress = [&](std::string_view, size_t, size_t) { ++steps; };
  const std::vector<std::byte> whole = BytesOf(CompileModel(ModelSource::Text(text), options));
  const int count = steps;
  REQUIRE(count > 15);
  Watch watch;
  std::stop_source before;
  before.request_stop();
  CHECK(CompileModel(ModelSource::Text(text), options, before.get_token()).status().code() ==
        StatusCode::kCancelled);
  for (int at = 1; at < count; at += 5) {
    std::stop_source stop;
    std::chrono::steady_clock::time_point asked;
    steps = 0;
    options.on_progress = [&](std::string_view, size_t, size_t) {
      if (++steps != at) return;
      asked = std::chrono::steady_clock::now();
      stop.request_stop();
    };
    const auto model = CompileModel(ModelSource::Text(text), options, stop.get_token());
    CHECK(model.status().code() == StatusCode::kCancelled);
    CHECK(std::chrono::steady_clock::now() - asked < 5s);  // of a busy machine
  }
  options.on_progress = nullptr;
  CHECK(BytesOf(CompileModel(ModelSource::Text(text), options)) == whole);
  CHECK(watch.Finish() == "");
}

TEST_CASE("operators of a library are those of the compilation that names it") {
  const ModelSource source = ModelSource::Text(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(?, 4), float32]) {\n"
      "  example.hardswish(%x)\n}\n");
  CompilerOptions fast;
  fast.opt_level = 0;
  CompilerOptions with = fast;
  with.plugins = {RELAYVM_EXAMPLE_OPERATORS};
  for (int i = 0; i < 2; ++i) {
    const Status without = CompileModel(source, fast).status();
    CHECK(without.code() == StatusCode::kUnsupported);
    CHECK_MESSAGE(without.message().find("unsupported operator") != std::string::npos,
                  without.message());
    const auto model = CompileModel(source, with);
    REQUIRE_MESSAGE(model.ok(), model.status().message());
    CHECK(model->Load().ok());  // its kernel is found
  }
}

TEST_CASE("a model that was compiled before is taken from the cache whole") {
  const TempFolder folder;
  const std::string model = folder / "model.relay", saved = folder / "saved.vmx";
  std::ofstream(model) << kDense;
  CompilerOptions options;
  options.cache = folder / "cache";
  const auto is_new = [&](const ModelSource& source) {
    auto compiled = CompileModel(source, options);
    REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
    return !compiled->times().empty();
  };
  std::vector<std::byte> first;
  for (const bool is_first : {true, false}) {
    const auto compiled = CompileModel({model, std::nullopt}, options);
    REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
    CHECK(compiled->times().empty() == !is_first);
    if (is_first) first = BytesOf(compiled);
    CHECK(BytesOf(compiled) == first);
    REQUIRE(compiled->Save(saved).ok());
    std::ifstream in(saved, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(in), {}};
    CHECK(std::ranges::equal(std::as_bytes(std::span(file)), first));
    CHECK(compiled->info().functions.size() == 1);
    const auto executable = compiled->Load();
    REQUIRE_MESSAGE(executable.ok(), executable.status().message());
    CHECK(Run(*executable, {Tensor({1, 3}, {1, 2, 3}), Tensor({2, 3}, {1, 1, 1, 0, 0, -1})}) ==
          std::vector<float>{6, 0});
  }
  options.direct = false;
  CHECK(is_new({model, std::nullopt}));
  options.direct = true;
  // In memory.
  CHECK(is_new(ModelSource::Text(kDense)));
  CHECK(!is_new(ModelSource::Text(kDense)));
  CHECK(is_new(ModelSource::Text(std::string(kDense) + "\n")));
  options.params.emplace("w", Tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(is_new({model, std::nullopt}));
  CHECK(!is_new({model, std::nullopt}));
  options.params.at("w") = Tensor({2, 3}, {1, 2, 3, 4, 5, 7});
  CHECK(is_new({model, std::nullopt}));
  options.cache = "off";
  CHECK(is_new({model, std::nullopt}));
}

}  // namespace
}  // namespace relayvm
