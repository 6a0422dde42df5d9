#include "compiler/driver.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "bytecode/io/npz.h"
#include "bytecode/writer.h"
#include "tests/temp_folder.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

// A folder of programs.
class Folder : public testing::TempFolder {
 public:
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name) << "#[version = \"0.0.5\"]\n" << text;
    return *this / name;
  }
};

CompileOptions Level(int level) {
  CompileOptions options;
  options.pipeline.opt_level = level;
  return options;
}

HostTensor Floats(std::vector<int64_t> shape, std::vector<float> values) {
  HostTensor t{DType::kFloat32, std::move(shape), {}};
  t.data = SharedBytes::Zeros(values.size() * sizeof(float));
  std::memcpy(t.data.Mutable().data(), values.data(), t.data.size());
  return t;
}

// What `function` gives for a tensor: the elements of the one, or of each field of the tuple.
std::vector<std::vector<float>> RunAll(Program program, const std::string& function,
                                       std::vector<int64_t> shape, const std::vector<float>& x) {
  auto executable = Executable::FromProgram(std::move(program));
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  Result<Value> input = Value::CopyTensor(DType::kFloat32, shape, x.data());
  Result<Value> y = (*invocation)->Run(function, {*input});
  REQUIRE_MESSAGE(y.ok(), y.status().message());
  std::vector<std::vector<float>> all;
  size_t count = y->is_tensor() ? 1 : y->num_fields();
  for (size_t i = 0; i < count; ++i) {
    Value field = y->is_tensor() ? *y : y->field(i);
    const auto* data = static_cast<const float*>(field.data());
    all.emplace_back(data, data + field.num_elements());
  }
  return all;
}

std::vector<float> Run(Program program, const std::string& function, std::vector<int64_t> shape,
                       const std::vector<float>& x) {
  return RunAll(std::move(program), function, std::move(shape), x)[0];
}

constexpr const char* kScale = R"(
def @main(%x: Tensor[(?, 2), float32], %weight: Tensor[(2, 2), float32], %bias: Tensor[(2), float32]) {
  nn.relu(add(nn.dense(%x, %weight, units=2), %bias))
}
)";
const NamedTensors kWeights = {{"bias", Floats({2}, {10, 20})},
                               {"weight", Floats({2, 2}, {1, 2, 3, 4})}};

TEST_CASE("parameters are bound by name; every level computes the same") {
  Folder folder;
  std::string path = folder.Write("scale.relay", kScale);
  REQUIRE(WriteNpz(folder / "w.npz", kWeights).ok());
  for (int level = 0; level < 4; ++level) {
    CAPTURE(level);
    CompileOptions options = Level(level);
    options.params_file = folder / "w.npz";
    Result<Compiled> compiled = CompileFile(path, options);
    REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
    REQUIRE(compiled->program.exports.size() == 1);
    CHECK(compiled->program.exports[0].param_names == std::vector<std::string>{"x"});
    CHECK(Run(std::move(compiled->program), "main", {2, 2}, {1, 1, 2, 0}) ==
          std::vector<float>{13, 27, 12, 26});
  }
}

TEST_CASE("the same input gives the same bytes") {
  Folder folder;
  std::string path = folder.Write("scale.relay", kScale);
  REQUIRE(WriteNpz(folder / "w.npz", kWeights).ok());
  std::vector<uint8_t> first;
  for (int i = 0; i < 2; ++i) {
    CompileOptions options = Level(3);
    options.params_file = folder / "w.npz";
    Result<Compiled> compiled = CompileFile(path, options);
    REQUIRE(compiled.ok());
    Result<std::vector<uint8_t>> bytes = SerializeProgram(compiled->program);
    REQUIRE(bytes.ok());
    if (i == 0) first = *bytes;
    CHECK(first == *bytes);
  }
}

TEST_CASE("--entry and --shape choose the function and its sizes") {
  Folder folder;
  std::string path = folder.Write("two.relay",
                                  "def @main(%x: Tensor[(?), float32]) { negative(%x) }\n"
                                  "def @other(%x: Tensor[(?, 2), float32]) { add(%x, %x) }\n");
  CompileOptions options;
  options.entry = "other";
  options.shapes["x"] = "3x?";
  Result<Compiled> compiled = CompileFile(path, options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
  const ExportInfo& other = compiled->program.exports.at(0);
  CHECK(other.name == "other");
  CHECK(other.params.at(0).dims == std::vector<int64_t>{3, 2});
  CHECK(Run(compiled->program, "other", {3, 2}, {1, 2, 3, 4, 5, 6}) ==
        std::vector<float>{2, 4, 6, 8, 10, 12});
}

// Two inputs of a program, with what --shape says of them, at sizes of their first dims.
std::string RunShapes(const std::string& path, const char* x, const char* y, int64_t x_rows,
                      int64_t y_rows) {
  CompileOptions options;
  if (x != nullptr) options.shapes["x"] = x;
  if (y != nullptr) options.shapes["y"] = y;
  Result<Compiled> compiled = CompileFile(path, options);
  if (!compiled.ok()) return compiled.status().message();
  auto executable = Executable::FromProgram(std::move(compiled->program));
  REQUIRE(executable.ok());
  auto invocation = Invocation::Create(*Runtime::Create(), *executable);
  const auto input = [](int64_t rows) {
    const std::vector<int64_t> dims = {rows, 2};
    return *Value::CopyTensor(DType::kFloat32, dims, std::vector<float>(2 * size_t(rows)).data());
  };
  const Result<Value> result = (*invocation)->Run("main", {input(x_rows), input(y_rows)});
  if (!result.ok()) return result.status().message();
  std::string shapes;
  for (size_t i = 0; i < result->num_fields(); ++i)
    shapes += fmt::format("{} ", result->field(i).dims()[0]);
  return shapes;
}

TEST_CASE("--shape gives dims names, which are one size wherever they stand") {
  Folder folder;
  const std::string path = folder.Write("p.relay",
                                        "def @main(%x: Tensor[(?, 2), float32], %y: Tensor[(?, 2), "
                                        "float32]) { (negative(%x), exp(%y)) }\n");
  CHECK(RunShapes(path, nullptr, nullptr, 2, 3) == "2 3 ");
  CHECK(RunShapes(path, "(n, 2)", "(m, ?)", 2, 3) == "2 3 ");
  CHECK(RunShapes(path, "(n, 2)", "(n, ?)", 3, 3) == "3 3 ");
  CHECK(RunShapes(path, "(n, 2)", "(n, ?)", 2, 3) ==
        "main: x's dim 0 (n) is 2, y's dim 0 (n) is 3; where these are two sizes, relayc --shape "
        "y='(n_2, 2)' gives one another name");
  // What the message says helps.
  CHECK(RunShapes(path, "(n, 2)", "(n_2, 2)", 2, 3) == "2 3 ");
  CHECK(RunShapes(path, "(n<=4, ?)", "(n, ?)", 3, 3) == "3 3 ");
  CHECK(RunShapes(path, "3x?", "(n, ?)", 3, 1) == "3 1 ");
  CHECK(RunShapes(path, "(?, n)", nullptr, 1, 1).ends_with("dimension 1 is declared as 2"));
}

TEST_CASE("other forms of a program on request") {
  Folder folder;
  std::string path = folder.Write("f.relay", "def @main(%x: Tensor[(?), float32]) { exp(%x) }\n");
  CompileOptions options;
  options.kernels.keep_llvm_ir = options.kernels.keep_assembly = true;
  Result<Compiled> compiled = CompileFile(path, options);
  REQUIRE(compiled.ok());
  CHECK(compiled->llvm_ir.find("define") != std::string::npos);
  CHECK(compiled->assembly.find("ret") != std::string::npos);
  CHECK(CompileFile(path, {})->llvm_ir.empty());
}

// Lines that differ in constants: {f} is a fraction, {k} an integer.
std::string Lines(const char* line, int first, int last) {
  std::string text = "def @main(%x: Tensor[(2, 3), float32]) {\n";
  std::string all;
  for (int i = first; i < last; ++i) {
    text +=
        fmt::format("  let %y{} = ", i) +
        fmt::format(fmt::runtime(line), fmt::arg("f", 1.0123 + i / 64.0), fmt::arg("k", i + 3)) +
        ";\n";
    all += fmt::format("%y{}, ", i);
  }
  return text + "  (" + all + ")\n}\n";
}

TEST_CASE("operators that differ in constants share kernels") {
  struct Family {
    const char* line;
    size_t others;  // kernels that do not differ
  };
  const Family families[] = {
      {"add(%x, {f}f)", 0},
      {"clip(%x, a_min={f}, a_max=100.5)", 0},
      {"nn.leaky_relu(%x, alpha={f})", 0},
      {"nn.pad(%x, {f}f, pad_width=[[0, 0], [1, 1]])", 0},
      {"nn.l2_normalize(%x, eps={f}, axis=[1])", 0},
      {"where(greater(%x, {f}f), %x, full({f}f, shape=[2, 3], dtype=\"float32\"))", 0},
      {"cast(add(cast(%x, dtype=\"float16\"), cast({f}f, dtype=\"float16\")), "
       "dtype=\"float32\")",
       0},
      {"cast(one_hot(cast(%x, dtype=\"int32\"), {k}, -1, depth=3, axis=-1, dtype=\"int32\"), "
       "dtype=\"float32\")",
       1},
      {"cumsum(multiply(%x, {f}f), axis=1)", 1},
      {"nn.softmax(multiply(%x, {f}f))", 1},
  };
  constexpr int kLines = 20;
  Folder folder;
  const std::vector<float> x = {0.3f, -1.25f, 2, 1, 0, 1e5f};
  for (const Family& family : families) {
    CAPTURE(family.line);
    auto compile = [&](int first, int last) {
      auto compiled =
          CompileFile(folder.Write("p.relay", Lines(family.line, first, last)), Level(3));
      REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
      return std::move(compiled->program);
    };
    Program together = compile(0, kLines);
    CHECK(together.kernels.size() <= 9 + family.others);
    auto all = RunAll(std::move(together), "main", {2, 3}, x);
    REQUIRE(all.size() == kLines);
    for (int i : {0, 9, kLines - 1}) {
      CHECK(RunAll(compile(i, i + 1), "main", {2, 3}, x)[0] == all[static_cast<size_t>(i)]);
    }
  }
}

TEST_CASE("joins of many tensors and splits into many are several kernels") {
  constexpr int kParts = 300;
  Folder folder;
  std::string lines = "def @main(%x: Tensor[(2, 3), float32]) {\n";
  std::string parts;
  for (int i = 0; i < kParts; ++i) {
    lines += fmt::format("  let %y{0} = add(%x, {0}f);\n", i);
    parts += fmt::format("%y{}, ", i);
  }
  auto program = [&](const std::string& result, int level) {
    auto compiled =
        CompileFile(folder.Write("p.relay", lines + "  " + result + "\n}\n"), Level(level));
    REQUIRE_MESSAGE(compiled.ok(), compiled.status().message());
    return std::move(compiled->program);
  };
  const std::vector<float> x = {0, 1000, 2000, 3000, 4000, 5000};
  for (int level : {0, 3}) {
    CAPTURE(level);
    // Columns: part i holds x + i. Few kernels: parts that are alike share theirs.
    Program joined = program("concatenate((" + parts + "), axis=-1)", level);
    CHECK(joined.kernels.size() <= 16);
    std::vector<float> wide = Run(std::move(joined), "main", {2, 3}, x);
    std::vector<float> stacked =
        Run(program("stack((" + parts + "), axis=1)", level), "main", {2, 3}, x);
    auto split = RunAll(program("split(concatenate((" + parts + "), axis=0), indices_or_sections=" +
                                    std::to_string(kParts) + ")",
                                level),
                        "main", {2, 3}, x);
    REQUIRE(wide.size() == 6 * kParts);
    REQUIRE(stacked.size() == 6 * kParts);
    REQUIRE(split.size() == kParts);
    bool right = true;
    for (size_t i = 0; i < kParts; ++i) {
      for (size_t e = 0; e < 6; ++e) {
        float want = x[e] + static_cast<float>(i);
        size_t at = e / 3 * 3 * kParts + i * 3 + e % 3;
        right = right && wide[at] == want && stacked[at] == want && split[i][e] == want;
      }
    }
    CHECK(right);
  }
}

TEST_CASE("what is wrong is named, with its place") {
  Folder folder;
  REQUIRE(WriteNpz(folder / "w.npz", kWeights).ok());
  REQUIRE(WriteNpz(folder / "wide.npz", {{"bias", Floats({3}, {1, 2, 3})}}).ok());
  const char* one = "def @main(%x: Tensor[(?, 2), float32]) {\n  negative(%x)\n}\n";
  struct Case {
    const char* name;
    const char* text;
    std::function<void(CompileOptions&)> set;
    StatusCode code;
    const char* message;
  };
  auto shape = [](const char* text) { return [text](CompileOptions& o) { o.shapes["x"] = text; }; };
  const Case cases[] = {
      {"text",
       "def @main(%x: int32) {\n  add(%x,\n}\n",
       {},
       StatusCode::kInvalidInput,
       "p.relay:4:1"},
      {"type",
       "def @main(%x: int32) {\n  add(%x, 1f)\n}\n",
       {},
       StatusCode::kInvalidInput,
       "p.relay:3:3"},
      {"operator",
       "def @main(%x: int32) {\n  no.such(%x)\n}\n",
       {},
       StatusCode::kUnsupported,
       "p.relay:3:3"},
      {"entry", one, [](CompileOptions& o) { o.entry = "f"; }, StatusCode::kNotFound,
       "there is no function @f"},
      {"no number", one, shape("axb"), StatusCode::kInvalidArgument, "\"a\" is not a size"},
      {"rank", one, shape("1x2x3"), StatusCode::kInvalidArgument, "has 2 dimensions"},
      {"declared", one, shape("1x3"), StatusCode::kInvalidArgument, "dimension 1 is declared as 2"},
      {"parameter", one, [](CompileOptions& o) { o.shapes["z"] = "1"; },
       StatusCode::kInvalidArgument, "@main has no parameter of that name"},
      {"no file", one, [&](CompileOptions& o) { o.params_file = folder / "no.npz"; },
       StatusCode::kNotFound, "no.npz"},
      {"stranger", one, [&](CompileOptions& o) { o.params_file = folder / "w.npz"; },
       StatusCode::kInvalidInput, "bias"},
      {"shape of a weight", kScale, [&](CompileOptions& o) { o.params_file = folder / "wide.npz"; },
       StatusCode::kInvalidInput, "bias"},
  };
  for (const Case& c : cases) {
    INFO(std::string(c.name));
    CompileOptions options;
    if (c.set) c.set(options);
    Result<Compiled> compiled = CompileFile(folder.Write("p.relay", c.text), options);
    REQUIRE(!compiled.ok());
    CHECK(StatusCodeName(compiled.status().code()) == StatusCodeName(c.code));
    CAPTURE(compiled.status().message());
    CHECK(compiled.status().message().find(c.message) != std::string::npos);
  }
  Result<Compiled> none = CompileFile(folder / "none.relay", {});
  CHECK(none.status().message() ==
        "cannot open '" + (folder / "none.relay") + "': No such file or directory");
}

}  // namespace
}  // namespace relayvm
