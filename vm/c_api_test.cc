#include "vm/c_api.h"

#include "bytecode/writer.h"
#include "vm/testing.h"

extern "C" {
const char* RunSwapProgram(const void* bytes, size_t size);
const char* RunBadArguments(void);
}

namespace relayvm {
namespace {

TEST_CASE("c api: load, run, read results, give back") {
  Result<Program> program = Assemble(R"(
.version 1
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.export "main" f0 ("pair": (int64[], float32[?"n"])) -> (float32[?"n"], int64[])
.export "same" vars 1 f1 ("x": var 0) -> var 0
.function "main" scalars 0 objects 1 captured 0 registers 0 3 returns object arena 0
  adt.get r1, r0, #1
  adt.get r2, r0!, #0
  adt.new r0, #0, [r1!, r2!]
  ret.r r0!
.end
.function "same" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Result<std::vector<uint8_t>> bytes = SerializeProgram(*program);
  REQUIRE(bytes.ok());
  const char* failed = RunSwapProgram(bytes->data(), bytes->size());
  CHECK_MESSAGE(failed == nullptr, failed);
}

TEST_CASE("c api: bad arguments give a status and NULL") {
  const char* failed = RunBadArguments();
  CHECK_MESSAGE(failed == nullptr, failed);
}

}  // namespace
}  // namespace relayvm
