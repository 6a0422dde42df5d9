// Arithmetic on dims in int32, at extents that an int32 just holds and just does not, of tensors
// that have an extent of 0 too: generated programs against plain integer arithmetic, at every
// level.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "bytecode/writer.h"
#include "compiler/driver.h"
#include "compiler/end_to_end/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

using Shape = std::vector<int64_t>;

constexpr int kLevels = 4;
constexpr int kDims = 3;  // of %x0, %x1, ...: (first, 0)

// What it computes in one dtype, as Relay text and as integers.
struct Number {
  std::string text;
  std::function<int64_t(const Shape&)> value;
  bool wide = false;  // int64, else int32
};

bool has_wrapped = false;  // since a test last cleared it

int64_t Held(__int128 v, bool wide) {
  int64_t held = wide ? static_cast<int64_t>(v) : static_cast<int32_t>(v);
  has_wrapped = has_wrapped || held != v;
  return held;
}

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  Number Make(int depth) {
    if (depth == 0) return Leaf();
    switch (Pick(9)) {
      case 0:
        return Cast(Make(depth - 1));
      case 1:
      case 2: {
        static constexpr const char* kNames[] = {"divide", "floor_divide", "mod", "floor_mod"};
        return DivideBy(Make(depth - 1), kNames[Pick(4)], int64_t{1} + Pick(7));
      }
      case 3:
        return Unary(Make(depth - 1), Pick(2) == 0 ? "negative" : "abs");
      default:
        return Binary(depth);
    }
  }

 private:
  int Pick(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }

  Number Leaf() {
    if (Pick(5) == 0) {
      int64_t c =
          std::vector<int64_t>{0, 1, 2, 3, -1, 7, 65536, 1 << 30, INT32_MAX}[size_t(Pick(9))];
      return {fmt::format("{}", c), [c](const Shape&) { return c; }};
    }
    int axis = Pick(kDims);
    return {fmt::format("take(%s{}, 0, axis=0, mode=\"clip\")", axis),
            [axis](const Shape& s) { return Held(s[size_t(axis)], false); }};
  }
  static Number Cast(const Number& a) {
    bool wide = !a.wide;
    return {fmt::format("cast({}, dtype=\"{}\")", a.text, wide ? "int64" : "int32"),
            [f = a.value, wide](const Shape& s) { return Held(f(s), wide); }, wide};
  }
  static Number DivideBy(const Number& a, const std::string& name, int64_t c) {
    return {fmt::format("{}({}, {}{})", name, a.text, c, a.wide ? "i64" : ""),
            [f = a.value, name, c](const Shape& s) {
              int64_t x = f(s);
              int64_t low = x % c < 0 ? 1 : 0;
              if (name == "divide") return x / c;
              if (name == "mod") return x % c;
              return name == "floor_divide" ? x / c - low : x % c + c * low;
            },
            a.wide};
  }
  static Number Unary(const Number& a, const std::string& name) {
    return {fmt::format("{}({})", name, a.text),
            [f = a.value, name, wide = a.wide](const Shape& s) {
              __int128 x = f(s);
              return Held(name == "abs" && x >= 0 ? x : -x, wide);
            },
            a.wide};
  }
  Number Binary(int depth) {
    static constexpr const char* kNames[] = {"add", "subtract", "minimum", "maximum", "multiply"};
    Number a = Make(depth - 1);
    Number b = Make(Pick(depth));
    int op = Pick(a.wide ? 4 : 5);  // sizes are int64: their products are not to leave it
    if (a.wide != b.wide) b = Cast(b);
    return {fmt::format("{}({}, {})", kNames[op], a.text, b.text),
            [f = a.value, g = b.value, op, wide = a.wide](const Shape& s) {
              __int128 x = f(s);
              __int128 y = g(s);
              const __int128 values[] = {x + y, x - y, std::min(x, y), std::max(x, y), x * y};
              return Held(values[op], wide);
            },
            a.wide};
  }

  std::mt19937 random_;
};

Result<Value> RunAt(int level, const std::string& program, const Shape& shape) {
  RELAYVM_ASSIGN_OR_RETURN(Compiled compiled, TryCompile(program, level));
  auto executable = Executable::FromProgram(std::move(compiled.program));
  REQUIRE_MESSAGE(executable.ok(), executable.status().message());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  std::vector<Value> inputs;
  for (int64_t extent : shape) {
    Result<Value> input = Value::CopyTensor(DType::kInt8, std::vector<int64_t>{extent, 0}, nullptr);
    REQUIRE_MESSAGE(input.ok(), input.status().message());
    inputs.push_back(*std::move(input));
  }
  return (*invocation)->Run("main", std::move(inputs));
}

class Shapes {
 public:
  explicit Shapes(uint32_t seed) : random_(seed) {}
  Shape Make() {
    static constexpr int64_t kExtents[] = {0,       1,       3,        1 << 16, (1 << 30) - 1,
                                           1 << 30, 1 << 30, INT32_MAX};
    Shape shape;
    for (int i = 0; i < kDims; ++i) shape.push_back(kExtents[random_() % std::size(kExtents)]);
    return shape;
  }
  // The head of a program: some dims are known.
  std::string Head(const Shape& shape) {
    std::string params, lets;
    for (int i = 0; i < kDims; ++i) {
      const bool known = random_() % 4 == 0;
      params += fmt::format("{}%x{}: Tensor[({}, 0), int8]", i == 0 ? "" : ", ", i,
                            known ? fmt::format("{}", shape[size_t(i)]) : "?");
      lets += fmt::format("  let %s{0} = shape_of(%x{0}, dtype=\"int32\");\n", i);
    }
    return fmt::format("def @main({}) {{\n{}", params, lets);
  }

 private:
  std::mt19937 random_;
};

TEST_CASE("numbers made of dims in int32 wrap as int32 does") {
  constexpr int kPrograms = 25;
  constexpr int kNumbers = 8;
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    Generator generator(seed);
    Shapes shapes(seed + 1000);
    const Shape shape = shapes.Make();
    std::vector<Number> numbers;
    std::string fields;
    for (int i = 0; i < kNumbers; ++i) {
      numbers.push_back(generator.Make(1 + i % 4));
      fields += numbers.back().text + ",\n  ";
    }
    const std::string program = shapes.Head(shape) + fmt::format("  ({})\n}}\n", fields);
    INFO(program, "\n", ShapeToString(std::vector<Dim>(shape.begin(), shape.end())));
    for (int level = 0; level < kLevels; ++level) {
      auto result = RunAt(level, program, shape);
      REQUIRE_MESSAGE(result.ok(), result.status().message());
      for (int i = 0; i < kNumbers; ++i) {
        INFO(numbers[size_t(i)].text, " at -O", level);
        CHECK(static_cast<int64_t>(result->field(size_t(i)).element(0)) ==
              numbers[size_t(i)].value(shape));
      }
    }
  }
}

TEST_CASE("a dim that int32 does not hold is refused") {
  constexpr int64_t kExtents[] = {1LL << 31, (1LL << 31) + 7, (1LL << 32) - 1, 1LL << 32,
                                  1LL << 33};
  for (uint32_t seed = 0; seed < 10; ++seed) {
    Shapes shapes(seed + 3000);
    Shape shape = shapes.Make();
    shape[seed % kDims] = kExtents[seed % std::size(kExtents)];
    std::string program = shapes.Head(shape) + "  (";
    for (int i = 0; i < kDims; ++i) program += fmt::format("%s{}, ", i);
    program += ")\n}\n";
    INFO(program, "\n", ShapeToString(std::vector<Dim>(shape.begin(), shape.end())));
    for (int level = 0; level < kLevels; ++level) {
      const auto result = RunAt(level, program, shape);
      REQUIRE_FALSE(result.ok());
      CHECK_MESSAGE(result.status().message().find("a size as int32") != std::string::npos,
                    result.status().message());
    }
  }
}

// A size is the number, or the program says that it can't be computed in int32.
TEST_CASE("sizes made of dims in int32 are never taken for what they are not") {
  constexpr int kPrograms = 60;
  int made = 0;
  int refused = 0;
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    Generator generator(seed + 500);
    Shapes shapes(seed + 2000);
    const Shape shape = shapes.Make();
    const Number size = generator.Make(1 + static_cast<int>(seed % 3));
    const std::string program =
        shapes.Head(shape) +
        fmt::format("  dyn.full(1f, stack(({}, {}), axis=0), shape=[], dtype=\"float32\")\n}}\n",
                    size.text, size.wide ? "0i64" : "0");
    INFO(program, "\n", ShapeToString(std::vector<Dim>(shape.begin(), shape.end())));
    has_wrapped = false;
    const int64_t value = size.value(shape);
    const bool wrapped = has_wrapped;
    for (int level = 0; level < kLevels; ++level) {
      INFO("at -O", level);
      auto result = RunAt(level, program, shape);
      if (result.ok()) {
        CHECK(result->dims()[0] == value);
        ++made;
        continue;
      }
      const std::string message = result.status().message();
      CHECK_MESSAGE((wrapped || value < 0), message);
      CHECK_MESSAGE(message.find("dyn.full: ") != std::string::npos, message);
      ++refused;
    }
  }
  CHECK(made > kPrograms);
  CHECK(refused > kPrograms / 2);
}

}  // namespace
}  // namespace relayvm
