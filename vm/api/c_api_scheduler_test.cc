#include "vm/api/c_api_scheduler.h"

#include "bytecode/writer.h"
#include "vm/testing.h"

extern "C" const char* RunSchedulerProgram(const void* bytes, size_t size);

namespace relayvm {
namespace {

TEST_CASE("c api: a scheduler runs, cancels, times out and counts") {
  Result<Program> program = Assemble(testing::ScalarProgram(1, R"(
L0:
  addimm.i i15, i15, 1
  addimm.i i0, i0, -1
  br.if i0, L0)"));
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Result<std::vector<uint8_t>> bytes = SerializeProgram(*program);
  REQUIRE(bytes.ok());
  const char* failed = RunSchedulerProgram(bytes->data(), bytes->size());
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

}  // namespace
}  // namespace relayvm
