#include "tests/fuzz/rules_target.h"

#include "compiler/frontend/parser.h"
#include "compiler/pipeline.h"
#include "compiler/rules/rule_pass.h"
#include "compiler/rules/rules.h"

namespace relayvm::fuzz {
namespace {

constexpr size_t kLargest = 4000;  // bytes of rules

const char* const kPrograms[] = {
    R"(#[version = "0.0.5"]
def @main(%x: Tensor[(?, 4), float32], %w: Tensor[(4, 4), float32]) {
  let %a = nn.relu(nn.relu(%x));
  let %b = add(multiply(tanh(%a), %w), 0f);
  let %c = nn.softmax(nn.dense(%b, %w), axis=1);
  (transpose(transpose(%c, axes=[1, 0]), axes=[1, 0]), add(0f, negative(negative(%a))))
}
)",
    R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 8, 6, 6), float32], %n: int32) {
  let %k = ones(shape=[8, 8, 3, 3], dtype="float32");
  let %f = fn (%y: Tensor[(1, 8, 6, 6), float32]) { nn.relu(nn.relu(nn.conv2d(%y, %k, padding=[1, 1], channels=8, kernel_size=[3, 3]))) };
  if (equal(%n, 2)) { %f(nn.relu(nn.relu(%x))) } else { multiply(clip(%x, a_min=0f, a_max=6f), 1f) }
}
)",
    R"(#[version = "0.0.5"]
def @main(%x: Tensor[(3, ?), int64]) {
  let %p = split(%x, indices_or_sections=3, axis=0);
  concatenate((%p.2, add(%p.0, 0i64), multiply(%p.1, 1i64)), axis=0)
}
)"};

}  // namespace

std::vector<std::string> RuleSeeds() {
  return {
      "rule @twice(%x) { nn.relu(nn.relu(%x)) => nn.relu(%x) }",
      "rule @zero(%x) { add(%x, 0f) or add(0f, %x) => %x }\nrule @n(%x) { negative(negative(%x)) "
      "=> %x }",
      "rule @softmax(%x: Tensor[(?, ?), float32], benefit=2) { nn.softmax(%x, axis > 0) => "
      "nn.softmax(%x, axis=-1) }",
      "rule @shared(%x, const %w) { %0 = tanh(%x); add(multiply(%0, %w), multiply(%w, %0)) => "
      "multiply(multiply(%0, %w), 2f) }",
      "rule @turn(%x: Tensor[(?, ?), float32]) { transpose(transpose(%x, axes=[1, 0]), axes=[1, "
      "0]) => %x }",
      "rule @int(%x: Tensor[(1, ?), int64]) { add(%x, 0i64) => %x }",
      "rule @parts(%x: Tensor[(3, ?), int64]) { %0 = split(%x, indices_or_sections=3, axis=0); "
      "concatenate((%0.2, %0.0), axis=0) => concatenate((%0.0, %0.2), axis=0) }",
      "rule @conv(%x, const %w) { nn.relu(nn.conv2d(%x, %w, padding >= 0, groups == 1)) => "
      "nn.relu(nn.relu(nn.conv2d(%x, %w, padding=[1, 1], channels=8, kernel_size=[3, 3]))) }",
      "rule @orders(%x) { transpose(transpose(%x, axes=$p), axes=$q) => transpose(%x, "
      "axes=order($p, %x)[order($q, %x)]) }",
      "rule @lists(%x) { nn.relu(reverse(%x, axis=$a)) if rank(%x) + 2 * size([$a, 1]) >= 4 and "
      "dtype(%x) == \"float32\" and dim(%x, -1) != $a => reverse(nn.relu(%x), axis=$a - 1) }",
      "rule @swap(%x, %y) { multiply(%x, %y) => multiply(%y, %x) }",
      "part @steps(%s, %o) { add(%s, %o) or multiply(%o, %s) as scale or tanh(%s) } if rank(%s) == "
      "rank(@steps)\npart @more(%s) { @steps(%s) or nn.relu(%s) }\nrule @chain(%x, %w) { "
      "@more?(nn.dense(@steps+(%x), %w)) => nn.dense(%x, %w, units=4) }",
  };
}

Status ApplyDamagedRules(const std::string& input) {
  if (input.size() > kLargest) return {StatusCode::kInvalidArgument, "too long"};
  RELAYVM_ASSIGN_OR_RETURN(auto rules, rules::ReadRules("fuzz.rules", input));
  PipelineOptions options;
  options.opt_level = 0;
  options.machine = MachineNamed("x86-64-v2");
  options.verify = true;
  options.passes.push_back({rules::RewritePass(rules), "before:SimplifyInference"});
  for (const char* text : kPrograms) {
    RELAYVM_ASSIGN_OR_RETURN(ir::Module module, frontend::ParseRelay("fuzz.relay", text));
    RELAYVM_RETURN_IF_ERROR(RunPipeline(std::move(module), options).status());
  }
  return OkStatus();
}

}  // namespace relayvm::fuzz
