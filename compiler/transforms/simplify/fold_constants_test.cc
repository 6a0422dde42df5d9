#include "compiler/transforms/simplify/fold_constants.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"
#include "kernels/codegen/object_cache.h"

namespace relayvm::ir {
namespace {

std::string Folded(const std::string& body) {
  return Outline(EliminateDeadCode(
      FoldConstants(Typed("def @main(%x: Tensor[(4), float32]) { " + body + " }"))));
}

TEST_CASE("operators on constants are evaluated, through tuples and branches") {
  CHECK(Folded("add(%x, multiply(2f, 3f))") == "add");
  CHECK(Folded("add(%x, exp(negative(1f)))") == "add");
  CHECK(Folded("let %t = (1f, 2f); add(%x, %t.1)") == "add");
  CHECK(Folded("add(%x, concatenate((zeros(shape=[2], dtype=\"float32\"), ones(shape=[2], "
               "dtype=\"float32\")), axis=0))") == "add");
  CHECK(Folded("if (less(1, 2)) { add(%x, 1f) } else { multiply(%x, 2f) }") == "add =");
}

TEST_CASE("the value is right") {
  Module m = FoldConstants(Typed("def @main() { add(multiply(2f, 3f), 0.5f) }"));
  const auto* c = std::get_if<const Constant*>(&m.functions.at("main")->body->result);
  REQUIRE(c != nullptr);
  float value = 0;
  std::memcpy(&value, (*c)->value.data.data(), sizeof value);
  CHECK(value == 6.5F);
}

TEST_CASE("large constants are not made out of nothing") {
  CHECK(Folded("zeros(shape=[100000], dtype=\"float32\")") == "zeros");
}

TEST_CASE("a table that is repeated is made, up to a limit of the program") {
  const std::string table = "let %t = full(0.5f, shape=[1024], dtype=\"float32\"); ";
  CHECK(Folded(table + "max(tile(%t, reps=[1000]))").empty());
  CHECK(Folded(table + "tile(%t, reps=[100000])") == "tile");  // 400 MB
  CHECK(Folded(table + "(tile(%t, reps=[20000]), tile(%t, reps=[20001]))") == "tile tuple");
  CHECK(Folded("tile(full(0.5f, shape=[4], dtype=\"float32\"), reps=[100000])") == "tile");
}

// %NAMEn: a constant of 64 x 64 elements that was doubled n times, along each axis in turn.
std::string Matrix(const std::string& name, int doublings) {
  std::string text = "let %" + name + "0 = full(0.5f, shape=[64, 64], dtype=\"float32\"); ";
  for (int i = 0; i < doublings; ++i) {
    std::string a = "%" + name + std::to_string(i);
    text += "let %" + name + std::to_string(i + 1) + " = concatenate((" + a + ", " + a +
            "), axis=" + std::to_string(i % 2) + "); ";
  }
  return text;
}

TEST_CASE("heavy operators are computed by kernels") {
  // 512 x 256 times its transpose; then a reduction of the elements.
  std::string product = Matrix("a", 5) + "let %p = nn.dense(%a5, %a5, units=None); ";
  CHECK(Folded(product + "add(%x, sum(%p))") == "add");
  Module m = FoldConstants(Typed("def @main() { " + product + "sum(%p) }"));
  const auto* c = std::get_if<const Constant*>(&m.functions.at("main")->body->result);
  REQUIRE(c != nullptr);
  float value = 0;
  std::memcpy(&value, (*c)->value.data.data(), sizeof value);
  CHECK(value == 512.0F * 512 * 256 / 4);
  // What this machine cannot run is left.
  Module other =
      FoldConstants(Typed("def @main() { " + product + "sum(%p) }"), MachineNamed("aarch64"));
  CHECK(!std::holds_alternative<const Constant*>(other.functions.at("main")->body->result));
}

TEST_CASE("kernels that computed constants are kept, and found again") {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "fold_constants.XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  auto cache = ObjectCache::Open(folder);
  REQUIRE(cache.ok());
  const auto fold = [&] {
    const std::string product = Matrix("a", 5) + "let %p = nn.dense(%a5, %a5, units=None); ";
    const Module m = FoldConstants(Typed("def @main() { " + product + "sum(%p) }"),
                                   Machine::Native(), {}, *cache);
    const auto* c = std::get_if<const Constant*>(&m.functions.at("main")->body->result);
    REQUIRE(c != nullptr);
    float value = 0;
    std::memcpy(&value, (*c)->value.data.data(), sizeof value);
    CHECK(value == 512.0F * 512 * 256 / 4);
  };
  const auto files = [&] {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  fold();
  const auto kept = files();
  CHECK(kept > 0);
  fold();
  CHECK(files() == kept);
  fs::remove_all(folder);
}

TEST_CASE("what takes too long, or too much memory, is left to the program") {
  const std::string image = "let %i = ones(shape=[1, 1, 1, 1], dtype=\"float32\"); ";
  // 2^40 steps for one element.
  CHECK(Folded(image + "nn.avg_pool2d(%i, pool_size=[1048576, 1048576], strides=[1, 1], "
                       "padding=[524288, 524288, 524287, 524287])") == "nn.avg_pool2d");
  // Many elements out of few.
  const std::string row =
      "let %r = reshape(ones(shape=[1024], dtype=\"float32\"), newshape=[1024, "
      "1]); ";
  CHECK(Folded(row + "let %t = tile(%r, reps=[1048576, 1]); sum(%t)") == "tile sum");
  CHECK(Folded("sum(broadcast_to(1f, shape=[1048576, 1048576]))") == "broadcast_to sum");
  CHECK(Folded("max(repeat(ones(shape=[4], dtype=\"float32\"), repeats=2147483647))") ==
        "repeat max");
  CHECK(Folded("sum(arange(0i64, 1099511627776i64, 1i64, start=0, stop=1099511627776, step=1, "
               "dtype=\"int64\"))") == "arange sum");
  // Several products, each of which alone is computed: the first three are.
  std::string products = Matrix("a", 8);
  std::string sums = "%x";
  for (int i = 1; i <= 5; ++i) {
    std::string n = std::to_string(i);
    products += "let %p" + n + " = nn.dense(%a8, multiply(%a8, " + n + "f), units=None); ";
    sums = "add(" + sums + ", sum(%p" + n + "))";
  }
  CHECK(Folded(products + sums) == "nn.dense nn.dense add add add sum add sum add");
}

}  // namespace
}  // namespace relayvm::ir
