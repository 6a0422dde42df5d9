// Regions of other engines on the command line, on an engine for tests (vm/engines/testing).
#include <cstdlib>
#include <string>

#include "tools/shell.h"

namespace relayvm::tools {
namespace {

constexpr const char* kText = R"(
.version 1
.source "net.relay"
.region "net_0" engine "scale" constants () symbols 1 json "{\"factor\": 2}"
.kernel "scale:net_0" scalars 8 s0=0 s1=11 s2=1 s4=11 s5=1 buffers (float32[s3], out float32[s6]) units 1 builtin region 0
.export "main" f0 ("x": float32[?"n"]) -> float32[?"n"]
.function "main" scalars 0 objects 1 captured 0 registers 4 2 returns object arena 0
  const.i16 i0, 0
  const.i16 i1, 11
  const.i16 i2, 1
  tensor.dim i3, r0, #0
  tensor.alloc r1, float32, [i3]
  .at 0 7 3
  kernel.1 k0, [i0, i1, i2, i3, i1, i2, i3, i3], [r0, r1]
  ret.r r1!
.end
)";

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("vmrun and vmdump: a program with regions") {
  const Shell shell;
  shell.Write("net.txt", kText);
  Outcome o = shell.Run("vmasm net.txt -o net.vmx");
  REQUIRE_MESSAGE(o.status == 0, o.err);
  const std::string engine = "--engine scale=" RELAYVM_TEST_ENGINE " ";
  o = shell.Run("vmrun net.vmx --input '[1, 2]' " + engine + "--profile");
  CHECK_MESSAGE(o.status == 0, o.err);
  CHECK(Has(o.out, "[2., 4.]"));
  CHECK(Has(o.err, "scale:net_0"));  // the profile names the engine
  o = shell.Run("vmrun net.vmx --input '[1, 2]'");
  CHECK(o.status == 2);
  CHECK(Has(o.err, "regions for engine scale, which this host does not allow"));
  o = shell.Run("vmrun net.vmx --input '[1, 2]' --no-byoc");
  CHECK(o.status == 2);
  o = shell.Run("vmrun net.vmx --input '[1, 2]' --no-byoc --engine scale");
  CHECK(o.status == 1);
  o = shell.Run("RELAYVM_ENGINES=$PWD vmrun net.vmx --input '[1, 2]' --engine scale");
  CHECK(o.status == 2);
  CHECK(Has(o.err, "there is no librelayvm_scale.so in "));
  o = shell.Run("SCALE_ENGINE='fail run' vmrun net.vmx --input '[1, 2]' " + engine);
  CHECK(o.status == 3);
  CHECK(Has(o.err, "main (net.relay:7:3): region net_0 on engine scale: the primitive failed"));
  o = shell.Run("vmdump net.vmx");
  CHECK(Has(o.out, "1 regions for scale\n"));
  o = shell.Run("vmdump net.vmx --regions");
  CHECK(Has(o.out, "region net_0 for scale, 0 constants, 1 symbols\n{\"factor\": 2}\n"));
  o = shell.Run("vmdump net.vmx --regions --json");
  CHECK(Has(o.out, "\"engines\""));
}

TEST_CASE("relayc --byoc: texts and --check are of the form with regions, and say so") {
  const Shell shell;
  shell.Write("dense.relay",
              "#[version = \"0.0.5\"]\n"
              "def @main(%x: Tensor[(?, 3), float32]) {\n"
              "  let %w = full(0.5f, shape=[4, 3], dtype=\"float32\");\n"
              "  nn.relu(nn.dense(%x, %w, units=4))\n"
              "}\n");
  const std::string head =
      "; the form with regions for dnnl; the file has a native one beside it\n";
  const auto text = [&](const std::string& flags) {
    const Outcome o = shell.Run("relayc dense.relay -q -o - --emit " + flags);
    CHECK_MESSAGE(o.status == 0, o.err);
    return o.out;
  };
  const std::string native = text("bytecode"), both = text("bytecode --byoc dnnl");
  CHECK(!Has(native, ".region"));
  CHECK(both.starts_with(head));
  CHECK(Has(both, ".region"));
  CHECK(text("bytecode --byoc dnnl --byoc-only") == both.substr(head.size()));
  CHECK(Has(text("llvm"), "@fused"));
  CHECK(!Has(text("llvm --byoc dnnl"), "@fused"));
  // What is shown is a program.
  shell.Write("dense.txt", text("bytecode --byoc dnnl --data"));
  Outcome o = shell.Run("vmasm dense.txt -o dense.vmx && vmdump dense.vmx");
  CHECK_MESSAGE(o.status == 0, o.err);
  CHECK(Has(o.out, "1 regions for dnnl\n"));

  const std::string check = "relayc dense.relay -q -o x.vmx --check '[[2,2,2],[0,0,0]]' ";
  o = shell.Run(check);
  CHECK_MESSAGE(o.out.starts_with("against -O0:\n"), o.out);
  CHECK(!Has(o.out, "regions"));
  o = shell.Run(check + "--byoc dnnl");
  CHECK_MESSAGE(o.status == 0, o.err);
  CHECK(o.out.starts_with("natively, against -O0:\n"));
  CHECK(Has(o.out, "\nwith regions for dnnl, "));  // or why it was not run
  // The engine is not here.
  o = shell.Run("RELAYVM_ENGINES=$PWD " + check + "--byoc dnnl");
  CHECK_MESSAGE(o.status == 0, o.err);
  CHECK(Has(o.out, "with regions for dnnl, not run: "));
  o = shell.Run("RELAYVM_ENGINES=$PWD " + check + "--byoc dnnl --byoc-only");
  CHECK(o.status == 2);
  CHECK(Has(o.err, "--check: the compiled program: "));
}

}  // namespace
}  // namespace relayvm::tools
