#include <fstream>
#include <nlohmann/json.hpp>

#include "bytecode/writer.h"
#include "tests/temp_folder.h"
#include "vm/testing.h"

extern "C" const char* RunTraced(const void* bytes, size_t size, const char* path);

namespace relayvm {
namespace {

TEST_CASE("c api: callbacks, a profile and a Chrome trace see kernels, waits and host calls") {
  Result<Program> program = Assemble(R"(
.version 5
.source "m.relay"
.host "sleep" () -> ()
.kernel "double" scalars 1 buffers (float32[s0], out float32[s0]) builtin
.export "main" f0 ("x": float32[?"n"]) -> float32[?"n"]
.function "main" scalars 0 objects 1 captured 0 registers 3 3 returns object arena 0
  call.host r2, h0, []
  tensor.dim i0, r0, #0
  const.i16 i1, 1
  const.i16 i2, 0
  .at 0 7 3
  tensor.alloc r1, float32, [i0]
  kernel k0, i0, i1, i2, [i0], [r0!, r1]
  ret.r r1!
.end
)");
  REQUIRE_MESSAGE(program.ok(), program.status().message());
  Result<std::vector<uint8_t>> bytes = SerializeProgram(*program);
  REQUIRE(bytes.ok());
  testing::TempFolder folder;
  const std::string path = folder / "trace.json";
  const char* failed = RunTraced(bytes->data(), bytes->size(), path.c_str());
  REQUIRE_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file);
  CHECK(json["traceEvents"].size() >= 4);
}

}  // namespace
}  // namespace relayvm
