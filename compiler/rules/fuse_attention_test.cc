#include "compiler/rules/fuse_attention.h"

#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/testing.h"

namespace relayvm::rules {
namespace {

using ir::Outline, ir::Typed;
using ir::Type, ir::Binding, ir::Module, ir::OpCall;

// The outline of the program, attention fused, and the attributes of its one nn.attention.
std::string Fused(const std::string& text, std::string* attention = nullptr) {
  const Module typed = Typed(text);
  const Type type = typed.functions.at("main")->result_type;
  const Module m = Retyped(EliminateDeadCode(FuseAttention(typed)));
  CHECK(TypeToString(m.functions.at("main")->result_type) == TypeToString(type));
  ForEachBinding(*m.functions.at("main")->body, [&](const Binding& b) {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || call->op->name != "nn.attention" || attention == nullptr) return;
    *attention = call->attrs.String("q_layout") + " " + call->attrs.String("k_layout") + " " +
                 call->attrs.String("v_layout") + " " + call->attrs.String("out_layout") + " " +
                 call->attrs.String("score");
  });
  return Outline(m);
}

constexpr char kInputs[] =
    "%q: Tensor[(6, ?, 8), float32], %k: Tensor[(6, ?, 8), float32], %v: Tensor[(6, ?, 8), "
    "float32]";

TEST_CASE("batches of matrices") {
  std::string attention;
  CHECK(Fused(std::string("def @main(") + kInputs + R"() {
    let %s = multiply(nn.batch_matmul(%q, %k, transpose_b=True), 0.125f);
    nn.batch_matmul(nn.softmax(%s, axis=-1), %v, transpose_b=False)
  })",
              &attention) == "guard reshape reshape reshape nn.attention reshape");
  CHECK(attention == "BHSD BHSD BHSD BHSD multiply");
}

TEST_CASE("batches of transposed matrices") {
  std::string attention;
  CHECK(Fused(R"(def @main(%q: Tensor[(6, ?, 8), float32], %k: Tensor[(?, 6, 8), float32],
                          %v: Tensor[(8, 6, ?), float32]) {
    let %s = nn.batch_matmul(%q, transpose(%k, axes=[1, 0, 2]), transpose_b=True);
    nn.batch_matmul(nn.softmax(%s), transpose(%v, axes=[1, -1, 0]), transpose_b=False)
  })",
              &attention) == "guard reshape reshape reshape nn.attention reshape");
  CHECK(attention == "BHSD HSBD HDBS BHSD ");
}

TEST_CASE("plain matrices") {
  std::string attention;
  CHECK(Fused(R"(def @main(%q: Tensor[(?, 8), float32], %k: Tensor[(?, 8), float32],
                          %v: Tensor[(?, 5), float32]) {
    nn.matmul(nn.softmax(nn.dense(%q, %k, units=None)), %v)
  })",
              &attention) == "guard reshape reshape reshape nn.attention reshape");
  CHECK(attention == "BHSD BHSD BHSD BHSD ");
}

// As exporters write heads: (batch, length, 12 * 64) parted, turned, and joined again.
std::string Heads(const std::string& steps, const std::string& more = "") {
  return "def @main(%q: Tensor[(2, 7, 24), float32], %k: Tensor[(2, 9, 24), float32], %v: "
         "Tensor[(2, 9, 24), float32]" +
         more + R"() {
    let %qh = transpose(reshape(%q, newshape=[2, 7, 3, 8]), axes=[0, 2, 1, 3]);
    let %kh = transpose(reshape(%k, newshape=[2, 9, 3, 8]), axes=[0, 2, 3, 1]);
    let %vh = transpose(reshape(%v, newshape=[2, 9, 3, 8]), axes=[0, 2, 1, 3]);
    let %p = nn.batch_matmul(reshape(%qh, newshape=[-1, 7, 8]), reshape(%kh, newshape=[-1, 8, 9]),
                             transpose_b=False);
    let %x = reshape(%p, newshape=[2, 3, 7, 9]);
    )" + steps +
         R"(
    let %w = reshape(nn.softmax(%s, axis=3), newshape=[6, 7, 9]);
    let %o = nn.batch_matmul(%w, reshape(%vh, newshape=[-1, 9, 8]), transpose_b=False);
    let %oh = transpose(reshape(%o, newshape=[2, 3, 7, 8]), axes=[0, 2, 1, 3]);
    reshape(%oh, newshape=[2, 7, 24])
  })";
}

TEST_CASE("heads are read and written where they are") {
  const struct {
    const char *steps, *inputs, *score;
  } kCases[] = {
      {"let %s = reshape(%x, newshape=[2, 3, 7, 9]);", "", ""},
      {"let %s = divide(%x, 8f);", "", "divide"},
      {"let %s = add(divide(%x, 8f), %m);", ", %m: Tensor[(2, 1, 1, 9), float32]", "divide add"},
      {"let %s = add(%m, %x);", ", %m: Tensor[(7, 9), float32]", "add"},
      {"let %s = where(%m, %x, -1e9f);", ", %m: Tensor[(1, 1, 7, 9), bool]", "where"},
      {"let %s = where(%m, full(-inff, shape=[7, 9], dtype=\"float32\"), %x);",
       ", %m: Tensor[(7, 9), bool]", "where_not"},
      {"let %s = subtract(multiply(tanh(%x), 30f), %m);", ", %m: Tensor[(3, 1, 1), float32]",
       "tanh multiply subtract"},
      {"let %s = reshape(add(reshape(%x, newshape=[6, 7, 9]), %m), newshape=[2, 3, 7, 9]);",
       ", %m: Tensor[(1, 7, 9), float32]", "add"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.steps);
    std::string attention;
    const std::string outline = Fused(Heads(c.steps, c.inputs), &attention);
    CHECK(outline.find("batch_matmul") == std::string::npos);
    CHECK(outline.find("transpose") == std::string::npos);
    CHECK(attention == std::string("BSHD BSHD BSHD BSHD ") + c.score);
  }
}

TEST_CASE("keys and values that are repeated for groups of heads") {
  std::string attention;
  const std::string outline = Fused(R"(def @main(%q: Tensor[(1, 4, ?, 8), float32],
                 %k: Tensor[(1, 2, ?, 8), float32], %v: Tensor[(1, 2, ?, 8), float32]) {
    let %kr = repeat(%k, repeats=2, axis=1);
    let %vr = repeat(%v, repeats=2, axis=1);
    let %p = nn.batch_matmul(squeeze(%q, axis=[0]), squeeze(%kr, axis=[0]), transpose_b=True);
    let %s = expand_dims(%p, axis=0);
    nn.batch_matmul(squeeze(nn.softmax(%s), axis=[0]), squeeze(%vr, axis=[0]), transpose_b=False)
  })",
                                    &attention);
  CHECK(outline == "guard nn.attention reshape");
}

TEST_CASE("weights are no keys") {
  const Module m = FoldConstants(Typed(R"(def @main(%x: Tensor[(?, 8), float32]) {
    nn.dense(nn.softmax(nn.dense(%x, ones(shape=[5, 8], dtype="float32"), units=5)),
             ones(shape=[6, 5], dtype="float32"), units=6)
  })"));
  CHECK(Outline(FuseAttention(m)).find("nn.attention") == std::string::npos);
}

TEST_CASE("what is left as it is") {
  const std::string inputs = kInputs;
  const std::string kLeft[] = {
      // The scores, and the weights, are a result too.
      "def @main(" + inputs + R"() {
        let %s = nn.batch_matmul(%q, %k, transpose_b=True);
        (nn.batch_matmul(nn.softmax(%s), %v, transpose_b=False), %s)
      })",
      "def @main(" + inputs + R"() {
        let %w = nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True));
        (nn.batch_matmul(%w, %v, transpose_b=False), %w)
      })",
      // Another axis.
      "def @main(" + inputs + R"() {
        let %w = nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True), axis=1);
        nn.batch_matmul(%w, %v, transpose_b=False)
      })",
      // A step that is none.
      "def @main(" + inputs + R"() {
        let %w = nn.softmax(exp(nn.batch_matmul(%q, %k, transpose_b=True)));
        nn.batch_matmul(%w, %v, transpose_b=False)
      })",
      // Other precisions round where they are told to.
      R"(def @main(%q: Tensor[(6, 3, 8), float16]) {
        let %w = nn.softmax(nn.batch_matmul(%q, %q, transpose_b=True));
        nn.batch_matmul(%w, %q, transpose_b=False)
      })",
      // One unit of work.
      R"(def @main(%q: Tensor[(3, 8), float32], %k: Tensor[(?, 8), float32]) {
        nn.matmul(nn.softmax(nn.dense(%q, %k, units=None)), %k)
      })",
      // Perhaps one batch of keys for several of queries.
      R"(def @main(%q: Tensor[(?, 3, 8), float32], %k: Tensor[(?, 4, 8), float32]) {
        let %w = nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True));
        nn.batch_matmul(%w, %k, transpose_b=False)
      })",
      // One batch of keys for several of queries.
      R"(def @main(%q: Tensor[(6, 3, 8), float32], %k: Tensor[(1, 4, 8), float32]) {
        let %w = nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True));
        nn.batch_matmul(%w, %k, transpose_b=False)
      })",
  };
  for (const std::string& text : kLeft) {
    CAPTURE(text);
    CHECK(Fused(text).find("nn.attention") == std::string::npos);
  }
}

TEST_CASE("why an attention stays is explained") {
  const auto why = [](const std::string& params, const std::string& body) {
    Report report;
    FuseAttention(ir::FoldConstants(Typed("def @main(" + params + ") {" + body + "}")), &report);
    CHECK(report.applied.empty());
    CHECK(report.misses.size() <= 1);
    if (report.misses.empty()) return std::string();
    const std::string& miss = report.misses[0];
    return miss.substr(miss.find("is not applied: ") + 16);
  };
  const std::string half = "%q: Tensor[(6, 3, 8), float16]", weights = R"(
    let %w = nn.softmax(%s);
    nn.batch_matmul(%w, %q, transpose_b=False))";
  CHECK(why(half, "let %s = nn.batch_matmul(%q, %q, transpose_b=True);" + weights) ==
        "dtype(%queries) == \"float32\" does not hold: dtype(%queries) is \"float16\"");
  const std::string q = "%q: Tensor[(6, 64, 8), float32]";
  CHECK(why(q, "let %s = exp(nn.batch_matmul(%q, %q, transpose_b=True));" + weights)
            .starts_with("%s: expected add or contrib_reverse_reshape or divide or "));
  CHECK(why(q,
            "let %s = nn.batch_matmul(%q, %q, transpose_b=True); let %w = nn.softmax(%s, axis=1);"
            "nn.batch_matmul(%w, %q, transpose_b=False)") ==
        "%w (@softmax): axis($axis, %s) == rank(%s) - 1 does not hold: axis($axis, %s) is 1, "
        "rank(%s) - 1 is 2");
  CHECK(why(q,
            "let %s = nn.batch_matmul(%q, %q, transpose_b=True); let %w = nn.softmax(%s);"
            "(nn.batch_matmul(%w, %q, transpose_b=False), %s)") ==
        "%s (nn.batch_matmul) has 1 other use");
  CHECK(why("%q: Tensor[(1, 3, 8), float32]",
            "let %s = nn.batch_matmul(%q, %q, transpose_b=True);" + weights) ==
        "there are too few queries for more than one thread");
  CHECK(why("%q: Tensor[(6, 64, 8), float32], %k: Tensor[(1, 64, 8), float32]",
            "let %s = nn.batch_matmul(%q, %k, transpose_b=True);" + weights) ==
        "operands are not proved to be (batch * heads, positions, elements)");
  // A product that no softmax stands before says nothing.
  CHECK(
      why(q,
          "nn.batch_matmul(tanh(nn.batch_matmul(%q, %q, transpose_b=True)), %q, transpose_b=False)")
          .empty());
}

}  // namespace
}  // namespace relayvm::rules
