#include "vm/api/c_api.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bytecode/writer.h"
#include "vm/testing.h"

extern "C" {
const char* RunSwapProgram(const void* bytes, size_t size);
const char* RunBadArguments(void);
const char* RunOtherVersions(void);
const char* RunIntrospection(const void* bytes, size_t size);
const char* RunHostedProgram(const void* bytes, size_t size);
const char* RunWrapped(const void* bytes, size_t size);
const char* RunNamedDims(const void* bytes, size_t size);
}

namespace relayvm {
namespace {

// The bytes of the .vmx file, 64-byte aligned.
struct File {
  explicit File(const char* text) {
    Result<Program> program = Assemble(text);
    REQUIRE_MESSAGE(program.ok(), program.status().message());
    Result<std::vector<uint8_t>> serialized = SerializeProgram(*program);
    REQUIRE(serialized.ok());
    size = serialized->size();
    memory.reset(static_cast<uint8_t*>(std::aligned_alloc(64, (size + 63) / 64 * 64)));
    std::copy(serialized->begin(), serialized->end(), memory.get());
  }
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t, Free> memory;
  size_t size = 0;
};

TEST_CASE("c api: dims of one name are one number in lists and other data, too") {
  File file(R"(
.version 1
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.data "Box" 1
  .constructor "Box" (var 0)
.export "main" f0 ("l": data 0(float32[?"n"]), "b": data 1((float32[?"k", ?"n"], float32[?"k"])), "x": float32[?"n"]) -> float32[?"n"]
.function "main" scalars 0 objects 3 captured 0 registers 0 3 returns object arena 0
  ret.r r2
.end
)");
  const char* failed = RunNamedDims(file.memory.get(), file.size);
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

TEST_CASE("c api: load, run, read results, give back") {
  File file(R"(
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
  const char* failed = RunSwapProgram(file.memory.get(), file.size);
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

TEST_CASE("c api: bad arguments give a status and NULL") {
  const char* failed = RunBadArguments();
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

TEST_CASE("c api: structs and headers of other versions") {
  const char* failed = RunOtherVersions();
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

TEST_CASE("c api: what a program says of itself") {
  File file(R"(
.version 1
.data "List" 1
  .constructor "Nil" ()
  .constructor "Cons" (var 0, data 0(var 0))
.export "same" vars 1 f0 ("x": var 0) -> var 0
.export "main" f1 ("x": float32[?"n", 3, ?"n*2"], "p": (int64[], data 0(bool[]))) -> (float32[?"n"], ref(int64[]), fn) "scores"
.function "same" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
.function "main" scalars 0 objects 2 captured 0 registers 0 2 returns object arena 0
  ret.r r0!
.end
)");
  const char* failed = RunIntrospection(file.memory.get(), file.size);
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

TEST_CASE("c api: kernels, threads, memory and a trace of the host; outputs, limits, places") {
  File file(R"(
.version 1
.source "m.relay"
.kernel "double" scalars 1 buffers (float32[s0], out float32[s0]) builtin
.export "main" f0 ("x": float32[?"n"]) -> float32[?"n"]
.function "main" scalars 0 objects 1 captured 0 registers 3 2 returns object arena 0
  tensor.dim i0, r0, #0
  const.i16 i1, 1
  const.i16 i2, 0
  .at 0 7 3
  tensor.alloc r1, float32, [i0]
  kernel k0, i0, i1, i2, [i0], [r0!, r1]
  ret.r r1!
.end
)");
  const char* failed = RunHostedProgram(file.memory.get(), file.size);
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

TEST_CASE("c api: files in memory, and tensors, that stay the host's") {
  File file(R"(
.version 1
.export "main" vars 1 f0 ("x": var 0) -> var 0
.function "main" scalars 0 objects 1 captured 0 registers 0 1 returns object arena 0
  ret.r r0!
.end
)");
  const char* failed = RunWrapped(file.memory.get(), file.size);
  CHECK_MESSAGE(failed == nullptr, std::string(failed == nullptr ? "" : failed));
}

}  // namespace
}  // namespace relayvm
