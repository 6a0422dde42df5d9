// Which convolutions read the positions themselves; what they compute is shown by
// compiler/end_to_end/copies_test.cc.
#include "compiler/transforms/products/space_to_depth_convolutions.h"

#include <fmt/format.h>

#include <string>

#include "compiler/transforms/testing.h"
#include "kernels/codegen/machine.h"

namespace relayvm::ir {
namespace {

bool ReadsPositions(int window, int stride, const char* target, bool exact) {
  const Module m = Typed(fmt::format(
      "def @main(%x: Tensor[(1, 3, 416, 416), float32]) {{ let %b = nn.space_to_depth(%x, "
      "block_size=2); nn.conv2d(%b, ones(shape=[16, 12, {0}, {0}], dtype=\"float32\"), "
      "padding=[1, 1], strides=[{1}, {1}]) }}",
      window, stride));
  const Module converted = SpaceToDepthConvolutions(m, {MachineNamed(target), exact});
  bool reads = false;
  ForEachBinding(*converted.functions.at("main")->body, [&](const Binding& b) {
    const auto* call = b.value->As<OpCall>();
    const Var* data = call == nullptr || call->args.empty() ? nullptr : AsVar(call->args[0]);
    reads = reads || (data != nullptr && data->name == "x" && call->attrs.Has("kernel_size"));
  });
  return reads;
}

TEST_CASE("blocks stay where Winograd's transforms make more of them than a copy costs") {
  CHECK_FALSE(ReadsPositions(3, 1, "x86-64-v3", false));
  CHECK(ReadsPositions(3, 1, "x86-64-v3", true));   // no such transforms
  CHECK(ReadsPositions(3, 1, "x86-64-v2", false));  // likewise
  CHECK(ReadsPositions(3, 2, "x86-64-v3", false));
  CHECK(ReadsPositions(5, 1, "x86-64-v3", false));
}

}  // namespace
}  // namespace relayvm::ir
