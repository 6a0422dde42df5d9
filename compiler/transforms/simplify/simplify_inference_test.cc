#include "compiler/transforms/simplify/simplify_inference.h"

#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/testing.h"

namespace relayvm::ir {
namespace {

constexpr const char* kParams =
    "%x: Tensor[(2, 4, 3, 3), float32], %g: Tensor[(4), float32], %b: Tensor[(4), float32], "
    "%m: Tensor[(4), float32], %v: Tensor[(4), float32]";

TEST_CASE("batch_norm becomes a multiplication and an addition") {
  Module m = SimplifyInference(Typed("def @main(" + std::string(kParams) +
                                     ") { %0 = nn.batch_norm(%x, %g, %b, %m, %v); %0.0 }"));
  std::string outline = Outline(EliminateDeadCode(Retyped(m)));
  CHECK(outline.find("nn.batch_norm") == std::string::npos);
  CHECK(outline.find("rsqrt") != std::string::npos);
  CHECK(TypeToString(Retyped(m).functions.at("main")->result_type) ==
        "Tensor[(2, 4, 3, 3), float32]");
}

TEST_CASE("its statistics are its arguments, and the tuple as a whole is made of what it became") {
  Module m = SimplifyInference(Typed("def @main(" + std::string(kParams) +
                                     ") { %0 = nn.batch_norm(%x, %g, %b, %m, %v); (%0.0, %0.1) }"));
  CHECK(Outline(m).find("nn.batch_norm") == std::string::npos);
  m = SimplifyInference(
      Typed("def @main(" + std::string(kParams) + ") { nn.batch_norm(%x, %g, %b, %m, %v) }"));
  CHECK(Outline(m).find("nn.batch_norm") == std::string::npos);
  CHECK(TypeToString(Retyped(m).functions.at("main")->result_type) ==
        "(Tensor[(2, 4, 3, 3), float32], Tensor[(4), float32], Tensor[(4), float32])");
}

TEST_CASE("markers are what they mark, of any type; a barrier to fusion stays") {
  Module m = SimplifyInference(
      Typed("def @main(%x: Tensor[(4), float32]) { %0 = on_device((%x, (%x, ref(%x)))); %0.1 }"));
  CHECK(Outline(m).find("on_device") == std::string::npos);
  m = SimplifyInference(
      Typed("def @main(%x: Tensor[(4), float32]) { annotation.stop_fusion(exp(%x)) }"));
  CHECK(Outline(m).find("annotation.stop_fusion") != std::string::npos);
}

TEST_CASE("dropout is the identity") {
  Module m = SimplifyInference(
      Typed("def @main(%x: Tensor[(4), float32]) { %0 = nn.dropout(%x, rate=0.5f); %0.0 }"));
  CHECK(Outline(EliminateDeadCode(Retyped(m))) == "=");
}

TEST_CASE("einsum becomes products of matrices, the cheapest pair first") {
  struct Case {
    const char *equation, *a, *b, *c;  // shapes; c: null of two operands
    const char* outline;
    const char* result;
  };
  const Case cases[] = {
      {"ij,jk,kl->il", "8, 4", "4, 6", "6, 9",
       "tuple .0 .1 .2 nn.matmul nn.matmul =", "Tensor[(8, 9), float32]"},
      // The last two first: 2 * 3 * 4 steps, not 50 * 3 * 2.
      {"ij,jk,kl->il", "50, 2", "2, 3", "3, 4",
       "tuple .0 .1 .2 nn.matmul nn.matmul =", "Tensor[(50, 4), float32]"},
      {"bhqd,bhkd->bhqk", "2, 3, 5, 8", "2, 3, 7, 8", nullptr,
       "tuple .0 .1 reshape reshape nn.batch_matmul reshape =", "Tensor[(2, 3, 5, 7), float32]"},
      {"bij,bjk->bki", "?, 4, 5", "?, 5, 6", nullptr,
       "tuple guard guard .0 broadcast_to .1 broadcast_to nn.batch_matmul transpose =",
       "Tensor[(?, 6, 4), float32]"},
      {"nij,njk->nki", "3, 4, 5", "3, 5, 6", nullptr,
       "tuple .0 .1 nn.batch_matmul transpose =", "Tensor[(3, 6, 4), float32]"},
      // What is multiplied first lies as the product reads it: nothing is transposed.
      {"abc,cd,bd->ad", "6, 4, 8", "8, 5", "4, 5",
       "tuple .0 .1 .2 reshape nn.matmul reshape tuple einsum =", "Tensor[(6, 5), float32]"},
      {"abc,cd,bd->ad", "64, 4, 8", "8, 5", "4, 5",
       "tuple .0 .1 .2 tuple einsum reshape reshape nn.matmul =", "Tensor[(64, 5), float32]"},
      {"bi,ijk,bk->bj", "6, 4", "4, 5, 8", "6, 8",
       "tuple .0 .1 .2 reshape nn.matmul reshape tuple einsum =", "Tensor[(6, 5), float32]"},
      // No product of matrices: a row for each, or a diagonal, or dims to broadcast.
      {"ij,ij->i", "4, 5", "4, 5", nullptr, "tuple einsum", "Tensor[(4), float32]"},
      {"ii,ij->j", "4, 4", "4, 5", nullptr, "tuple einsum", "Tensor[(5), float32]"},
      {"ij,jk->ik", "4, 1", "5, 6", nullptr, "tuple einsum", "Tensor[(4, 6), float32]"},
      {"i,i,i->", "4", "4", "4", "tuple .0 .1 .2 tuple einsum tuple einsum =", "float32"},
      {"a,b,c->abc", "2", "3", "4",
       "tuple .0 .1 .2 tuple einsum tuple einsum =", "Tensor[(2, 3, 4), float32]"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.equation);
    std::string text = "def @main(%a: Tensor[(" + std::string(c.a) + "), float32], %b: Tensor[(" +
                       c.b + "), float32]";
    if (c.c != nullptr) text += ", %c: Tensor[(" + std::string(c.c) + "), float32]";
    text += ") { einsum((%a, %b" + std::string(c.c == nullptr ? "" : ", %c") + "), equation=\"" +
            c.equation + "\") }";
    const Module m = SimplifyInference(Typed(text));
    CHECK(Outline(m) == c.outline);
    CHECK(TypeToString(Retyped(m).functions.at("main")->result_type, false) == c.result);
  }
}

}  // namespace
}  // namespace relayvm::ir
