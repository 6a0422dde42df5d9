// The fields of a failed run's Status: places, subjects and numbers, beside the text.
#include "bytecode/base/status_detail.h"

#include "vm/testing.h"

namespace relayvm {
namespace {

using testing::Int64Values;
using testing::LoadText;
using testing::RunFails;
using testing::ScalarProgram;
using Numbers = std::vector<int64_t>;

const StatusDetail& DetailOf(const Status& status) {
  REQUIRE_MESSAGE(status.detail() != nullptr, status.message());
  return *status.detail();
}

TEST_CASE("status detail: a guard's place and its two numbers") {
  const std::string tables = ".source \"model.relay\"\n.message \"n and m differ\"\n";
  const std::string body =
      "  .at 0 3 7\n  cmp.i i15, eq, i0, i1\n  .at 0 4 9\n  guard i15, i0, i1, m0\n";
  Status status = RunFails(LoadText(ScalarProgram(2, body, "", tables)), Int64Values({4, -5}));
  const StatusDetail& detail = DetailOf(status);
  CHECK(detail.numbers == Numbers{4, -5});
  REQUIRE(detail.places.size() == 1);
  CHECK(detail.places[0].function == "main");
  CHECK(detail.places[0].file == "model.relay");
  CHECK(detail.places[0].line == 4);
  CHECK(detail.places[0].column == 9);
  CHECK(detail.places[0].instruction > 0);
}

TEST_CASE("status detail: the calls that led there, the innermost first") {
  const std::string tables = ".source \"model.relay\"\n.message \"no branch matches\"\n";
  const std::string callee = R"(
.function "inner" scalars 0 objects 0 captured 0 registers 1 0 returns scalar arena 0
  trap m0
  ret.i i0
.end
)";
  Status status = RunFails(
      LoadText(ScalarProgram(0, "  .at 0 8 2\n  call.i i15, f1, [], []\n", callee, tables)), {});
  const StatusDetail& detail = DetailOf(status);
  REQUIRE(detail.places.size() == 2);
  CHECK(detail.places[0].function == "inner");
  CHECK(detail.places[0].file.empty());
  CHECK(detail.places[0].line == 0);
  CHECK(detail.places[0].instruction == 0);
  CHECK(detail.places[1].function == "main");
  CHECK(detail.places[1].line == 8);
  CHECK(detail.numbers.empty());
}

TEST_CASE("status detail: sizes that overflow, divisors, shapes") {
  const std::string tables = ".message \"reshape\"\n";
  Status status = RunFails(LoadText(ScalarProgram(2, "  dim.mul i15, i0, i1, m0\n", "", tables)),
                           Int64Values({int64_t{1} << 62, 4}));
  CHECK(DetailOf(status).numbers == Numbers{int64_t{1} << 62, 4});
  status = RunFails(LoadText(ScalarProgram(2, "  tensor.alloc r1, float32, [i0, i1]\n")),
                    Int64Values({3, -7}));
  CHECK(DetailOf(status).found == Numbers{3, -7});
}

int32_t OutOfRange(const RelayvmKernelEnv*, const RelayvmKernelArgs*, uint32_t, uint32_t) {
  return RELAYVM_KERNEL_INDEX_OUT_OF_RANGE;
}

TEST_CASE("status detail: a kernel that fails is the subject") {
  const Builtin kernels[] = {{"host.gather", OutOfRange}};
  auto executable = LoadText(R"(
.version 1
.kernel "host.gather" scalars 0 buffers () builtin
.export "main" f0 ("x": float32[?""]) -> float32[?""]
.function "main" scalars 0 objects 1 captured 0 registers 3 1 returns object arena 0
  const.i16 i0, 1
  const.i16 i1, 1
  const.i16 i2, 0
  kernel k0, i0, i1, i2, [], []
  ret.r r0!
.end
)",
                             kernels);
  Status status = RunFails(executable, {testing::Floats({1}, {1})});
  CHECK(status.code() == StatusCode::kOutOfRange);
  CHECK(DetailOf(status).subject == "host.gather");
}

TEST_CASE("status detail: an input of another shape, of another length, and too many inputs") {
  auto executable = LoadText(R"(
.version 1
.data "Pair" 0
  .constructor "Pair" (int64[], float32[?"", 3])
.export "main" f0 ("%x": float32[?"n", 3], "p": data 0()) -> float32[?"", 3]
.function "main" scalars 0 objects 2 captured 0 registers 0 2 returns object arena 0
  ret.r r0!
.end
)");
  Value good = testing::Floats({1, 3}, {1, 2, 3}), bad = testing::Floats({2, 2}, {1, 2, 3, 4});
  Value pair = Value::Adt(0, {Value::Int64(1), good});
  Status status = RunFails(executable, {bad, pair});
  CHECK(DetailOf(status).subject == "x");
  CHECK(DetailOf(status).expected == Numbers{-1, 3});
  CHECK(DetailOf(status).found == Numbers{2, 2});
  CHECK(DetailOf(status).places.empty());
  status = RunFails(executable, {good, Value::Adt(0, {Value::Int64(1), bad})});
  CHECK(DetailOf(status).subject == "p");
  CHECK(DetailOf(status).found == Numbers{2, 2});
  status = RunFails(executable, {good, Value::Adt(0, {good})});
  CHECK(DetailOf(status).expected == Numbers{2});
  CHECK(DetailOf(status).found == Numbers{1});
  status = RunFails(executable, {good, pair, pair});
  CHECK(DetailOf(status).expected == Numbers{2});
  CHECK(DetailOf(status).found == Numbers{3});
}

TEST_CASE("status detail: memory in use and the limit") {
  Status status = RunFails(LoadText(ScalarProgram(1, "  tensor.alloc r1, float32, [i0]\n")),
                           Int64Values({1 << 20}), {.memory_limit = 1 << 20});
  CHECK(status.code() == StatusCode::kResourceExhausted);
  REQUIRE(DetailOf(status).numbers.size() == 2);
  CHECK(DetailOf(status).numbers[0] < 1 << 20);
  CHECK(DetailOf(status).numbers[1] == 1 << 20);
}

TEST_CASE("status detail: bytes asked for and bytes left") {
  Status status = RunFails(LoadText(ScalarProgram(1, "  tensor.alloc r1, float32, [i0]\n")),
                           Int64Values({1 << 20}), {.memory_limit = 1 << 20});
  REQUIRE(DetailOf(status).expected.size() == 1);
  CHECK(DetailOf(status).expected[0] == (1 << 20) - DetailOf(status).numbers[0]);
  CHECK(DetailOf(status).found == Numbers{4 << 20});
}

// Every way in which an instruction of well-formed bytecode fails: each says where, and what it
// found.
TEST_CASE("status detail: each failure of an instruction") {
  const Builtin kernels[] = {{"host.gather", OutOfRange}};
  const std::string tables = R"(.source "model.relay"
.message "no"
.kernel "host.gather" scalars 1 buffers (float32[s0]) builtin
)";
  const std::string callee = R"(
.function "closed" scalars 0 objects 1 captured 1 registers 0 1 returns object arena 0
  ret.r r0!
.end
)";
  struct Case {
    const char* body;
    const char* subject;
    Numbers expected, found, numbers;
    const char *expected_text, *found_text;
  };
  const Case kCases[] = {
      {"  guard i5, i1, i1, m0\n", "", {}, {}, {3, 3}, "", ""},
      {"  dim.floordiv i2, i1, i5, m0\n", "", {}, {}, {3, 0}, "", ""},
      {"  tensor.alloc r1, float32, [i2]\n", "", {}, {-1}, {}, "", ""},
      {"  tensor.box r1, i1, int64\n  tensor.item i2, r1, float32, 0\n",
       "",
       {},
       {},
       {0, 1},
       "float32",
       "int64"},
      {"  tensor.box r1, i1, int64\n  tensor.dim i2, r1, #3\n", "", {}, {}, {3, 0}, "", ""},
      {"  tensor.dim i2, r1, #0\n", "", {}, {}, {}, "a tensor", "an empty register"},
      {"  closure.new r1, f1, [r2]\n  call.closure r3, r1, [r2]\n", "closed", {1}, {2}, {}, "", ""},
      {"  tensor.alloc r1, float32, [i1]\n  kernel k0, i2, i1, i5, [i1], [r1]\n",
       "host.gather",
       {UINT32_MAX},
       {-1},
       {},
       "",
       ""},
      {"  tensor.alloc r1, float32, [i1]\n  kernel k0, i1, i1, i5, [i1], [r1]\n",
       "host.gather",
       {},
       {},
       {},
       "",
       ""},
      {"  tensor.alloc r1, float32, [i1]\n  kernel k0, i1, i1, i5, [i0], [r1]\n",
       "host.gather",
       {1000},
       {16},  // with padding
       {},
       "",
       ""},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.body);
    const std::string body =
        "  .at 0 4 9\n  const.i16 i5, 0\n  const.i16 i1, 3\n  const.i16 i2, -1\n";
    Status status = RunFails(LoadText(ScalarProgram(1, body + c.body, callee, tables), kernels),
                             Int64Values({1000}));
    CAPTURE(status.message());
    const StatusDetail& detail = DetailOf(status);
    REQUIRE(!detail.places.empty());
    CHECK(detail.places[0].function == "main");
    CHECK(detail.places[0].file == "model.relay");
    CHECK(detail.places[0].line == 4);
    CHECK(detail.places[0].column == 9);
    CHECK(detail.subject == c.subject);
    CHECK(detail.expected == c.expected);
    CHECK(detail.found == c.found);
    CHECK(detail.numbers == c.numbers);
    CHECK(detail.expected_text == c.expected_text);
    CHECK(detail.found_text == c.found_text);
  }
}

TEST_CASE("status detail: what is refused before a run, and bytecode that is malformed") {
  auto executable = LoadText(ScalarProgram(0, "  const.i16 i15, 1\n"));
  Status status = testing::NewInvocation(executable)->Run("other", {}).status();
  CHECK(status.code() == StatusCode::kNotFound);
  CHECK(DetailOf(status).subject == "other");
  const std::string kernel = ".kernel \"host.gather\" scalars 1 buffers (float32[s0]) builtin\n";
  for (const char* body :
       {"  mov.i i99, i0\n",
        "  const.i16 i1, 3\n  const.i16 i2, 4\n"
        "  tensor.alloc r1, float32, [i1]\n  kernel k0, i1, i1, i0, [i2], [r1]\n"}) {
    CAPTURE(body);
    Result<Program> program = Assemble(ScalarProgram(0, body, "", kernel));
    REQUIRE(program.ok());
    status = Executable::FromProgram(*std::move(program)).status();
    CHECK(status.code() == StatusCode::kInvalidInput);
    REQUIRE(DetailOf(status).places.size() == 1);
    CHECK(DetailOf(status).places[0].function == "main");
  }
  CHECK(DetailOf(status).subject == "host.gather");
}

}  // namespace
}  // namespace relayvm
