#include "kernels/codegen/machine.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "bytecode/image_loader.h"
#include "kernels/codegen/contraction/harness.h"

namespace relayvm {
namespace {

TEST_CASE("each target is a machine, and says what it has") {
  struct Row {
    const char *target, *features;
    unsigned vector_bytes, registers;
  };
  for (const Row& row : {
           Row{"x86-64-v2", "x86-64-v2", 16, 16},
           Row{"x86-64-v3", "x86-64-v3", 32, 16},
           Row{"x86-64-v4", "x86-64-v4", 64, 32},
           Row{"sapphirerapids",
               "x86-64-v4,avx512vbmi,avx512bf16,avx512vnni,amx-tile,amx-bf16,amx-int8", 64, 32},
           Row{"aarch64", "aarch64", 16, 32},
           Row{"aarch64-v8.2", "aarch64-v8.2,dotprod", 16, 32},
           Row{"aarch64-v8.6", "aarch64-v8.6,i8mm", 16, 32},
       }) {
    CAPTURE(row.target);
    const auto machine = MachineFor(row.target);
    REQUIRE_MESSAGE(machine.ok(), machine.status().ToString());
    CHECK(machine->target == row.target);
    CHECK(FeaturesOf(*machine) == row.features);
    CHECK(machine->vector_bytes == row.vector_bytes);
    CHECK(machine->vector_registers == row.registers);
    CHECK_FALSE(machine->is_native());
  }
  CHECK(TargetNames().size() == 8);
}

TEST_CASE("this machine is a level, with what it has besides") {
  const Machine native = MachineNamed("native");
  CHECK(native.is_native());
  CHECK(CpuFeatures::OfThisMachine().Missing(FeaturesOf(native)).empty());
  CHECK(MachineNamed(native.level).vector_bytes == native.vector_bytes);
  // Its own caches.
  if (const int64_t l2 = ::sysconf(_SC_LEVEL2_CACHE_SIZE); l2 >= 256 << 10 && l2 <= 4 << 20)
    CHECK(native.l2_bytes == l2);
  CHECK(native.l1_bytes >= 16 << 10);
  CHECK(Machine::Native().level == native.level);
}

TEST_CASE("a target that there is not") {
  CHECK(MachineFor("pentium").status().message() ==
        "target pentium: expected one of native, x86-64-v2, x86-64-v3, x86-64-v4, sapphirerapids, "
        "aarch64, aarch64-v8.2, aarch64-v8.6");
  // Names that some compilers know.
  for (const char* name : {"", "haswell", "znver4", "skylake-avx512", "X86-64-v3", "v3"})
    CHECK(MachineFor(name).status().code() == StatusCode::kInvalidArgument);
}

TEST_CASE("bytes are multiplied by the instruction that a machine has") {
  const te::Tensor data = Input({7, 64}, 0, DType::kUInt8);
  const te::Tensor weight = Input({32, 64}, 1, DType::kInt8);
  Attrs in_int32;
  in_int32.Set("out_dtype", "int32");
  const te::Tensor product = Apply("nn.dense", in_int32, {data, weight}, {7, 32}, DType::kInt32);
  for (const auto& [target, instruction] :
       {std::pair("x86-64-v3", "vpmaddwd"), std::pair("sapphirerapids", "vpdpbusd"),
        std::pair("aarch64", "mull"), std::pair("aarch64-v8.2", "\tsdot"),
        std::pair("aarch64-v8.6", "\tusdot")}) {
    KernelCompiler compiler({.machine = MachineNamed(target), .keep_assembly = true});
    REQUIRE(compiler.Add(Spec("dense", {data, weight}, {product})).ok());
    const auto image = compiler.Finish();
    REQUIRE_MESSAGE(image.ok(), image.status().ToString());
    CHECK_MESSAGE(image->assembly.find(instruction) != std::string::npos, target);
  }
}

}  // namespace
}  // namespace relayvm
