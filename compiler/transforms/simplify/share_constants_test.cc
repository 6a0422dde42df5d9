#include "compiler/transforms/simplify/share_constants.h"

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/products/pack_weights.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

HostTensor Filled(std::vector<int64_t> shape, const std::string& letters) {
  HostTensor t{DType::kFloat32, std::move(shape), {}};
  std::vector<std::byte> bytes(static_cast<size_t>(t.size()) * sizeof(float));
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(letters[i * letters.size() / bytes.size()]);
  t.data = SharedBytes(std::move(bytes));
  return t;
}

// Each use of a variable whose name begins with w is one constant more, of those letters.
Module WithConstants(const std::string& text, const std::vector<int64_t>& shape = {5, 4}) {
  const Module m = Typed(text);
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    const auto constant = [&](const Atom& atom) -> Atom {
      const auto* var = std::get_if<const Var*>(&atom);
      if (var == nullptr || !(*var)->name.starts_with('w')) return atom;
      return MakeConstant(m, Filled(shape, (*var)->name.substr(1)));
    };
    out.push_back({b.var, MapAtoms(m, b.value, constant)});
  });
}

// The constants that are read, in order of occurrence, each by a letter of its own.
std::string ConstantsOf(const Module& m) {
  std::map<const Constant*, char> names;
  std::string text;
  const std::function<const Block*(const Block&)> visit = [&](const Block& block) {
    for (const Binding& b : block.bindings) {
      MapBlocks(m, b.value, visit);
      if (const auto* call = b.value->As<OpCall>()) {
        for (const Atom& arg : call->args) {
          const auto* c = std::get_if<const Constant*>(&arg);
          if (c != nullptr)
            text += names.emplace(*c, static_cast<char>('a' + names.size())).first->second;
        }
      }
    }
    return &block;
  };
  for (const auto& [name, function] : m.functions) visit(*function->body);
  return text;
}

constexpr const char* kParams =
    "(%x: Tensor[(2, 4), float32], %wA: Tensor[(5, 4), float32], %wB: Tensor[(5, 4), float32], "
    "%wAAAB: Tensor[(5, 4), float32])";

TEST_CASE("constants of equal bytes are one, in all functions and branches") {
  const auto dense = [](const char* weight) {
    return std::string("nn.dense(%x, %") + weight + ", units=5)";
  };
  const Module m = WithConstants(std::string("def @f") + kParams + " { add(" + dense("wA") + ", " +
                                 dense("wB") + ") }\n" + "def @main" + kParams +
                                 " { if (True) { add(" + dense("wB") + ", " + dense("wAAAB") +
                                 ") } else { add(" + dense("wA") + ", " + dense("wA") + ") } }");
  CHECK(ConstantsOf(m) == "abcdef");
  const Module shared = ShareConstants(m);
  CHECK(ConstantsOf(shared) == "abbcaa");
  // And they are packed once.
  CHECK(ConstantsOf(PackWeights(shared, MachineNamed("x86-64-v3"))) == "abbcaa");
  CHECK(ShareConstants(shared).functions.at("f") == shared.functions.at("f"));
}

TEST_CASE("shapes tell constants apart, and small ones are left alone") {
  const std::string text =
      "def @main(%x: Tensor[(4), float32], %wA: Tensor[(4), float32]) { add(add(%x, %wA), %wA) }";
  CHECK(ConstantsOf(ShareConstants(WithConstants(text, {4}))) == "ab");
}

}  // namespace
}  // namespace relayvm::ir
