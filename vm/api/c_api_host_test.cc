#include "vm/api/c_api_host.h"

#include "bytecode/writer.h"
#include "vm/testing.h"

extern "C" {
const char* RunHostProgram(const void* bytes, size_t size);
const char* RunBadHostArguments(const void* bytes, size_t size);
}

namespace relayvm {
namespace {

std::vector<uint8_t> HostProgram() {
  Result<Program> program = Assemble(R"(
.version 5
.host "emit" (int64[]) -> ()
.host "limit" () -> int64[]
.host "sleep" () -> ()
.export "main" f0 () -> int64[]
.function "main" scalars 0 objects 0 captured 0 registers 2 2 returns object arena 0
  call.host r0, h2, []
  call.host r0, h1, []
  tensor.item i0, r0!, int64, 0
L0:
  tensor.box r0, i0, int64
  call.host r1, h0, [r0!]
  addimm.i i0, i0, -1
  br.if i0, L0
  const.i16 i1, 7
  tensor.box r0, i1, int64
  ret.r r0!
.end
)");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Result<std::vector<uint8_t>> bytes = SerializeProgram(*program);
  REQUIRE(bytes.ok());
  return *bytes;
}

TEST_CASE("c api: host functions stream, suspend, fail and are given back") {
  const std::vector<uint8_t> bytes = HostProgram();
  const char* failed = RunHostProgram(bytes.data(), bytes.size());
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

TEST_CASE("c api: bad arguments of host functions give a status") {
  const std::vector<uint8_t> bytes = HostProgram();
  const char* failed = RunBadHostArguments(bytes.data(), bytes.size());
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

}  // namespace
}  // namespace relayvm
