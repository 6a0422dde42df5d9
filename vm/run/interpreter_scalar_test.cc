// Scalar instructions and jumps: one row an instruction and case.
#include <bit>
#include <cmath>
#include <limits>

#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Evaluate;

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

int64_t F32(float x) { return std::bit_cast<uint32_t>(x); }
int64_t F64(double x) { return std::bit_cast<int64_t>(x); }

struct Row {
  const char* body;  // over i0, i1, i2; result in i15
  std::vector<int64_t> inputs;
  int64_t expected;
};

void CheckRows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    CAPTURE(row.body);
    CAPTURE(row.inputs);
    std::vector<Value> inputs;
    for (int64_t n : row.inputs) inputs.push_back(Value::Int64(n));
    auto executable = testing::LoadText(testing::ScalarProgram(inputs.size(), row.body));
    CHECK(testing::ToInt64(testing::RunOk(executable, inputs)) == row.expected);
  }
}

TEST_CASE("interpreter: moves and constants") {
  CheckRows({
      {"mov.i i15, i0", {kMin}, kMin},
      {"const.i16 i15, -32768", {}, -32768},
      {"const.i64 i15, -9000000000000000001", {}, -9000000000000000001},
      {"mov.i i15, i9", {}, 0},  // registers begin as zero
  });
}

TEST_CASE("interpreter: integer arithmetic wraps, and divides by zero to zero") {
  CheckRows({
      {"add.i i15, i0, i1", {kMax, 1}, kMin},
      {"addimm.i i15, i0, -5", {3}, -2},
      {"sub.i i15, i0, i1", {kMin, 1}, kMax},
      {"mul.i i15, i0, i1", {kMax, 2}, -2},
      {"div.i i15, i0, i1", {-7, 2}, -3},
      {"div.i i15, i0, i1", {-7, 0}, 0},
      {"div.i i15, i0, i1", {kMin, -1}, kMin},
      {"mod.i i15, i0, i1", {-7, 2}, -1},
      {"mod.i i15, i0, i1", {7, -2}, 1},
      {"mod.i i15, i0, i1", {kMin, -1}, 0},
      {"mod.i i15, i0, i1", {5, 0}, 0},
      {"floordiv.i i15, i0, i1", {-7, 2}, -4},
      {"floordiv.i i15, i0, i1", {7, -2}, -4},
      {"floordiv.i i15, i0, i1", {-8, 2}, -4},
      {"floordiv.i i15, i0, i1", {kMin, -1}, kMin},
      {"floordiv.i i15, i0, i1", {1, 0}, 0},
      {"floormod.i i15, i0, i1", {-7, 2}, 1},
      {"floormod.i i15, i0, i1", {7, -2}, -1},
      {"floormod.i i15, i0, i1", {7, 0}, 0},
      {"div.u i15, i0, i1", {-1, 2}, kMax},
      {"div.u i15, i0, i1", {1, 0}, 0},
      {"mod.u i15, i0, i1", {-1, 10}, 5},
      {"mod.u i15, i0, i1", {1, 0}, 0},
      {"min.i i15, i0, i1", {-1, 2}, -1},
      {"max.i i15, i0, i1", {-1, 2}, 2},
      {"min.u i15, i0, i1", {-1, 2}, 2},
      {"max.u i15, i0, i1", {-1, 2}, -1},
  });
}

TEST_CASE("interpreter: bits") {
  CheckRows({
      {"and.i i15, i0, i1", {12, 10}, 8},
      {"or.i i15, i0, i1", {12, 10}, 14},
      {"xor.i i15, i0, i1", {12, 10}, 6},
      {"shl.i i15, i0, i1", {1, 63}, kMin},
      {"shl.i i15, i0, i1", {1, 64}, 0},
      {"shl.i i15, i0, i1", {1, -1}, 0},
      {"shr.i i15, i0, i1", {-8, 1}, -4},
      {"shr.i i15, i0, i1", {-8, 64}, -1},
      {"shr.i i15, i0, i1", {8, 100}, 0},
      {"shr.u i15, i0, i1", {-8, 1}, 0x7FFFFFFFFFFFFFFC},
      {"shr.u i15, i0, i1", {-8, 64}, 0},
      {"wrap i15, i0, int8", {200}, -56},
      {"wrap i15, i0, uint8", {-1}, 255},
      {"wrap i15, i0, int16", {40000}, -25536},
      {"wrap i15, i0, uint16", {-1}, 65535},
      {"wrap i15, i0, int32", {1LL << 31}, -(1LL << 31)},
      {"wrap i15, i0, uint32", {-1}, 4294967295},
      {"wrap i15, i0, int64", {-5}, -5},
      {"wrap i15, i0, uint64", {-5}, -5},
  });
}

TEST_CASE("interpreter: comparisons and select") {
  struct Case {
    const char* name;
    bool less, equal, greater;
  };
  for (const Case& c : {Case{"eq", false, true, false}, Case{"ne", true, false, true},
                        Case{"lt", true, false, false}, Case{"le", true, true, false},
                        Case{"gt", false, false, true}, Case{"ge", false, true, true}}) {
    CAPTURE(c.name);
    auto body = [&](const char* op) { return fmt::format("{} i15, {}, i0, i1", op, c.name); };
    auto branch =
        fmt::format("const.i16 i15, 1\n br.cmp.i {}, i0, i1, L0\n const.i16 i15, 0\nL0:", c.name);
    CHECK(Evaluate(body("cmp.i"), {-1, 1}) == c.less);
    CHECK(Evaluate(body("cmp.i"), {1, 1}) == c.equal);
    CHECK(Evaluate(body("cmp.i"), {1, -1}) == c.greater);
    CHECK(Evaluate(body("cmp.u"), {-1, 1}) == c.greater);
    CHECK(Evaluate(body("cmp.u"), {1, -1}) == c.less);
    CHECK(Evaluate(body("cmp.f32"), {F32(-1), F32(1)}) == c.less);
    CHECK(Evaluate(body("cmp.f32"), {F32(0.0f), F32(-0.0f)}) == c.equal);
    CHECK(Evaluate(body("cmp.f64"), {F64(2), F64(1)}) == c.greater);
    CHECK(Evaluate(body("cmp.f64"), {F64(NAN), F64(1)}) == (std::string(c.name) == "ne"));
    CHECK(Evaluate(branch, {-1, 1}) == c.less);
    CHECK(Evaluate(branch, {2, 1}) == c.greater);
  }
  CheckRows({
      {"select.i i15, i0, i1, i2", {1, 5, 6}, 5},
      {"select.i i15, i0, i1, i2", {0, 5, 6}, 6},
      {"select.i i15, i0, i1, i2", {-7, 5, 6}, 5},
  });
}

TEST_CASE("interpreter: floating point") {
  CheckRows({
      {"add.f32 i15, i0, i1", {F32(0.5f), F32(0.25f)}, F32(0.75f)},
      {"sub.f32 i15, i0, i1", {F32(0.5f), F32(1)}, F32(-0.5f)},
      {"mul.f32 i15, i0, i1", {F32(3), F32(-2)}, F32(-6)},
      {"div.f32 i15, i0, i1", {F32(1), F32(0)}, F32(INFINITY)},
      {"add.f64 i15, i0, i1", {F64(0.1), F64(0.2)}, F64(0.1 + 0.2)},
      {"sub.f64 i15, i0, i1", {F64(1), F64(3)}, F64(-2)},
      {"mul.f64 i15, i0, i1", {F64(1e200), F64(1e200)}, F64(INFINITY)},
      {"div.f64 i15, i0, i1", {F64(1), F64(3)}, F64(1.0 / 3.0)},
      {"fn.f32 i15, exp, i0", {F32(1)}, F32(std::exp(1.0f))},
      {"fn.f64 i15, sqrt, i0", {F64(2)}, F64(std::sqrt(2.0))},
      {"fn2.f32 i15, power, i0, i1", {F32(2), F32(10)}, F32(1024)},
      {"fn2.f64 i15, atan2, i0, i1", {F64(1), F64(-1)}, F64(std::atan2(1.0, -1.0))},
      {"convert i15, i0, float32, int8", {F32(-300.7f)}, -44},
      {"convert i15, i0, int64, float64", {3}, F64(3)},
  });
}

TEST_CASE("interpreter: jumps") {
  const char* sum = R"(
  const.i16 i15, 0
L0:
  br.cmp.i le, i0, i9, L1
  add.i i15, i15, i0
  addimm.i i0, i0, -1
  jump L0
L1:)";
  const char* branches = R"(
  const.i16 i15, 1
  br.if i0, L0
  const.i16 i15, 2
  br.ifnot i0, L0
  const.i16 i15, 3
L0:)";
  const char* table = R"(
  switch i0, [L0, L1]
  const.i16 i15, 100
  jump L2
L0:
  const.i16 i15, 200
  jump L2
L1:
  const.i16 i15, 300
L2:)";
  CheckRows({
      {sum, {100}, 5050},
      {sum, {0}, 0},
      {branches, {1}, 1},
      {branches, {0}, 2},
      {table, {0}, 200},
      {table, {1}, 300},
      {table, {2}, 100},
      {table, {-1}, 100},
      {"switch i0, []\n const.i16 i15, 7", {0}, 7},
  });
}

TEST_CASE("interpreter: arithmetic on sizes is exact or fails with the numbers") {
  struct Case {
    const char* op;
    int64_t a, b;
    std::string expected;  // of the message, or the result
  };
  constexpr const char* kBeyond = " is beyond the largest size";
  for (const Case& c : {
           Case{"dim.add i15, i0, i1, m0", INT64_MAX, 0, std::to_string(INT64_MAX)},
           {"dim.add i15, i0, i1, m0", INT64_MAX, 1,
            "tile: 9223372036854775807 + 1" + std::string(kBeyond)},
           {"dim.addimm i15, i0, -1, m0", INT64_MIN, 0,
            "tile: -9223372036854775808 + -1" + std::string(kBeyond)},
           {"dim.addimm i15, i0, -1, m0", 5, 0, "4"},
           {"dim.sub i15, i0, i1, m0", 0, INT64_MIN,
            "tile: 0 - -9223372036854775808" + std::string(kBeyond)},
           {"dim.sub i15, i0, i1, m0", -1, INT64_MIN, std::to_string(INT64_MAX)},
           {"dim.mul i15, i0, i1, m0", 3, 6148914691236517216,
            "tile: 3 x 6148914691236517216" + std::string(kBeyond)},
           {"dim.mul i15, i0, i1, m0", 0, INT64_MIN, "0"},
           {"dim.floordiv i15, i0, i1, m0", -7, 2, "-4"},
           {"dim.floordiv i15, i0, i1, m0", 7, 0, "tile: 7 floordiv 0 divides by 0"},
           {"dim.floordiv i15, i0, i1, m0", INT64_MIN, -1,
            "tile: -9223372036854775808 floordiv -1" + std::string(kBeyond)},
           {"dim.floormod i15, i0, i1, m0", -7, 4, "1"},
           {"dim.floormod i15, i0, i1, m0", INT64_MIN, -1, "0"},
           {"dim.floormod i15, i0, i1, m0", 1, 0, "tile: 1 floormod 0 divides by 0"},
           {"dim.check eq, i0, i1, m1, [i1, i0]\n mov.i i15, i0", 4, 4, "4"},
           {"dim.check eq, i0, i1, m1, [i1, i0]", 4, 5, "tile: 5 is not 4, {2}"},
           {"dim.check ge, i0, i1, m1, [i1, i0]", INT64_MIN, 0,
            "tile: 0 is not -9223372036854775808, {2}"},
           {"dim.broadcast i0, i1, m0, []\n mov.i i15, i0", 1, 5, "1"},
           {"dim.broadcast i0, i1, m0, []", 0, 5, "tile"},
           {"dim.tensor [i0, i1], m0\n mov.i i15, i0", 1LL << 30, 1LL << 30, "1073741824"},
           {"dim.tensor [i0, i1], m0\n mov.i i15, i0", 0, 1LL << 60, "0"},
           {"dim.tensor [i0, i1], m0", 0, 1LL << 62,
            "tile: no tensor has the shape (0, 4611686018427387904)"},
           {"dim.tensor [i0, i1], m0", 1LL << 31, 1LL << 31,
            "tile: no tensor has the shape (2147483648, 2147483648)"},
           {"dim.tensor [i0, i1], m0", -1, 0, "tile: no tensor has the shape (-1, 0)"},
           {"const.i16 i2, -1\n dim.shape [i3, i15], reshape, 0, [i0], [i1, i2], m0", 24, 8, "3"},
           {"const.i16 i2, -1\n dim.shape [i3, i15], reshape, 0, [i0], [i1, i2], m0", 24, 7,
            "tile: the number of elements: 24 is no multiple of 7"},
           {"dim.shape [i1, i15], reshape, 0, [i0, i1], [i1, i0], m0", 4, 6, "4"},
           {"dim.shape [i15], reshape, 0, [i0], [i1], m0", 5, 0, "5"},
           {"dim.shape [i15], reshape, 1, [i0], [i1], m0", 5, 0,
            "tile: the number of elements: 0 does not equal 5"},
           {"dim.shape [i15], reshape, 0, [i0], [i1], m0", 5, INT64_MIN,
            "tile: newshape: -9223372036854775808 is no size and no code"},
           {"dim.shape [], reshape, 0, [], [], m0\n mov.i i15, i0", 5, 0, "5"},
           {"dim.shape [i15], squeeze, 0, [i0, i1], [i3], m0", 1, 7, "7"},
           {"dim.shape [i15], squeeze, 0, [i0, i0], [i1], m0", 1, 2,
            "tile: axis: expected at most 1, found 2"},
           {"dim.shape [i15, i3], expand_dims, 0, [i0], [i1], m0", 7, 1, "7"},
       }) {
    CAPTURE(c.op);
    const std::string tables = ".message \"tile\"\n.message \"tile: {0} is not {1}, {2}\"\n";
    auto program = testing::LoadText(testing::ScalarProgram(2, c.op, "", tables));
    auto runtime = *Runtime::Create();
    auto result =
        (*Invocation::Create(runtime, program))->Run("main", testing::Int64Values({c.a, c.b}));
    if (result.ok()) {
      CHECK(std::to_string(static_cast<int64_t>(result->element(0))) == c.expected);
    } else {
      CHECK(result.status().code() == StatusCode::kFailedPrecondition);
      CHECK(result.status().message().ends_with(": " + c.expected));
    }
  }
}

TEST_CASE("interpreter: indices are in their range, or the message says whose is not") {
  const std::string tables = ".message \"take\"\n";
  const auto check = [](int64_t end) {
    return fmt::format("const.i64 i2, {}\n range.check i0, i1, i2, m0\n mov.i i15, i0", end);
  };
  CHECK(Evaluate(check(3), {2, -3}, "", tables) == 2);
  CHECK(Evaluate(check(3), {-3, -3}, "", tables) == -3);
  CHECK(Evaluate(check(INT64_MAX), {INT64_MAX - 1, INT64_MIN}, "", tables) == INT64_MAX - 1);
  struct Case {
    int64_t index, least, end;
    std::string text;
    int64_t most;
  };
  for (const Case& c :
       {Case{3, -3, 3, "3, expected -3 to 2", 2}, Case{-4, -3, 3, "-4, expected -3 to 2", 2},
        Case{-1, 0, INT64_MAX, "-1, expected 0 or more", INT64_MAX - 1},
        Case{0, 1, 1, "0, where there is no number that fits", 0},
        Case{0, 0, INT64_MIN, "0, where there is no number that fits", INT64_MIN}}) {
    const Status status =
        testing::RunFails(testing::LoadText(testing::ScalarProgram(2, check(c.end), "", tables)),
                          testing::Int64Values({c.index, c.least}));
    CHECK(status.code() == StatusCode::kOutOfRange);
    CHECK(status.message() == "main+0x12: take: index out of range: " + c.text);
    CHECK(status.detail()->numbers == std::vector<int64_t>{c.index, c.least, c.most});
  }
}

TEST_CASE("interpreter: powers of integers") {
  CHECK(Evaluate("pow.i i15, i0, i1", {-2, 63}) == INT64_MIN);
  CHECK(Evaluate("pow.i i15, i0, i1", {2, -1}) == 0);
  CHECK(Evaluate("pow.u i15, i0, i1", {3, -1}) == -6148914691236517205);
}

TEST_CASE("interpreter: guards and traps name the place, the message and the numbers") {
  const std::string tables = R"(
.source "model.relay"
.message "add: dims n and m differ"
.message "no branch matches"
)";
  const std::string body =
      "  .at 0 3 7\n  cmp.i i15, eq, i0, i1\n  .at 0 4 9\n  guard i15, i0, i1, m0\n";
  CHECK(Evaluate(body, {4, 4}, "", tables) == 1);
  Status status = testing::RunFails(testing::LoadText(testing::ScalarProgram(2, body, "", tables)),
                                    testing::Int64Values({4, 5}));
  CHECK(status.code() == StatusCode::kFailedPrecondition);
  CHECK(status.message() == "main (model.relay:4:9): add: dims n and m differ (4 and 5)");

  const std::string call = "  .at 0 8 2\n  call.i i15, f1, [], []\n";
  const std::string callee = R"(
.function "inner" scalars 0 objects 0 captured 0 registers 1 0 returns scalar arena 0
  trap m1
  ret.i i0
.end
)";
  status =
      testing::RunFails(testing::LoadText(testing::ScalarProgram(0, call, callee, tables)), {});
  CHECK(status.message() == "inner+0x0: no branch matches\n  called from main (model.relay:8:2)");
}

}  // namespace
}  // namespace relayvm
