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

}  // namespace
}  // namespace relayvm
