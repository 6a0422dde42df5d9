// What oneDNN runs (dnnl.relay): the composites and single operators that programs have.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "compiler/regions/engine_rules.h"
#include "compiler/rules/replace.h"
#include "compiler/transforms/simplify/dead_code.h"
#include "compiler/transforms/simplify/fold_constants.h"
#include "compiler/transforms/testing.h"

namespace relayvm::regions {
namespace {

// The pattern's own steps, inner to outer, as a composite is named.
std::string NameOf(const rules::Match& match) {
  std::string name;
  const auto steps = match.OwnSteps();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    name += (name.empty() ? "" : "_") + (*step)->way->label;
  return name;
}

// The names of what matches in the program, the last first. The matches themselves, where wanted:
// they point into the program, which lives as long as `keep`.
std::string Found(const std::string& program, std::vector<rules::Match>* matches = nullptr,
                  ir::Module* keep = nullptr) {
  const auto patterns = EnginePatterns("dnnl");
  REQUIRE_MESSAGE(patterns.ok(), patterns.status().message());
  const ir::Module m = ir::EliminateDeadCode(ir::FoldConstants(ir::Typed(program)));
  std::string found;
  rules::ReplacePatterns(
      m, **patterns, [&](const rules::Place& place, std::vector<ir::Binding>& out, std::string*) {
        found += (found.empty() ? "" : ", ") + NameOf(place.match);
        if (matches != nullptr) matches->push_back(place.match);
        out.push_back({place.root.var, place.root.value});
        return true;
      });
  if (keep != nullptr) *keep = m;
  return found;
}

// --- Composites ---

struct Root {
  std::string label, params, call;
  std::string bias;    // its shape where it is added
  std::string add;     // its nn.bias_add, of %y and %b
  std::string result;  // shape
};
const std::vector<Root>& Roots() {
  static const std::vector<Root> kRoots = {
      {"conv1d", "%x: Tensor[(2, 8, ?), float32], %w: Tensor[(16, 8, 3), float32]",
       "nn.conv1d(%x, %w, padding=[1])", "(16, 1)", "axis=1", "(2, 16, ?)"},
      {"conv2d", "%x: Tensor[(?, 8, 12, 12), float32], %w: Tensor[(16, 4, 3, 3), float32]",
       "nn.conv2d(%x, %w, padding=[1, 0, 2, 1], strides=[2, 1], groups=2)", "(16, 1, 1)", "axis=1",
       ""},
      {"conv2d", "%x: Tensor[(?, 12, 12, 8), float32], %w: Tensor[(3, 3, 8, 16), float32]",
       "nn.conv2d(%x, %w, data_layout=\"NHWC\", kernel_layout=\"HWIO\")", "(16)", "axis=3", ""},
      {"conv2d", "%x: Tensor[(1, 8, 12, 12), bfloat16], %w: Tensor[(16, 8, 3, 3), bfloat16]",
       "nn.conv2d(%x, %w)", "(1, 16, 1, 1)", "axis=1", ""},
      {"conv3d", "%x: Tensor[(1, 8, 5, 5, 5), float32], %w: Tensor[(16, 8, 3, 3, 3), float32]",
       "nn.conv3d(%x, %w)", "(1, 16, 1, 1, 1)", "axis=1", ""},
      {"deconv1d", "%x: Tensor[(1, 8, 12), float32], %w: Tensor[(8, 16, 3), float32]",
       "nn.conv1d_transpose(%x, %w)", "(16, 1)", "axis=1", ""},
      {"deconv2d", "%x: Tensor[(1, 8, 12, 12), float32], %w: Tensor[(8, 16, 3, 3), float32]",
       "nn.conv2d_transpose(%x, %w, strides=[2, 2])", "(16, 1, 1)", "axis=1", ""},
      {"deconv3d", "%x: Tensor[(1, 8, 5, 5, 5), float32], %w: Tensor[(8, 16, 3, 3, 3), float32]",
       "nn.conv3d_transpose(%x, %w)", "(16, 1, 1, 1)", "axis=1", ""},
      {"dense", "%x: Tensor[(?, 8), float32], %w: Tensor[(16, 8), float32]",
       "nn.dense(%x, %w, units=None)", "(16)", "axis=-1", ""},
      {"matmul", "%x: Tensor[(2, ?, 8), float32], %w: Tensor[(8, 16), float32]",
       "nn.matmul(%x, %w)", "(1, 16)", "axis=2", ""},
      {"batch_matmul", "%x: Tensor[(4, ?, 8), float32], %w: Tensor[(4, 16, 8), float32]",
       "nn.batch_matmul(%x, %w, transpose_b=True)", "(16)", "axis=-1", ""},
  };
  return kRoots;
}

struct Activation {
  std::string label;
  std::vector<std::string> forms;  // of %y
};
const std::vector<Activation>& Activations() {
  static const std::vector<Activation> kActivations = {
      {"relu", {"nn.relu(%y)"}},
      {"tanh", {"tanh(%y)"}},
      {"sigmoid", {"sigmoid(%y)"}},
      {"clip", {"clip(%y, a_min=-1f, a_max=2.5f)"}},
      {"swish", {"multiply(%y, sigmoid(%y))", "multiply(sigmoid(%y), %y)"}},
      {"gelu", {"multiply(multiply(%y, add(erf(divide(%y, N1.4142135)), N1)), N0.5)"}},
      {"mish", {"multiply(%y, tanh(log(add(exp(%y), N1))))"}},
      {"", {"%y"}},
  };
  return kActivations;
}

// N1 as a number of the dtype: bfloat16 ones are cast.
std::string WithNumbers(std::string text, bool is_bf16) {
  for (size_t at = text.find('N'); at != std::string::npos; at = text.find('N', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && (std::isdigit(text[end]) != 0 || text[end] == '.')) ++end;
    const std::string number = text.substr(at + 1, end - at - 1) + "f";
    const std::string whole = is_bf16 ? "cast(" + number + ", dtype=\"bfloat16\")" : number;
    text.replace(at, end - at, whole);
    at += whole.size() - 1;
  }
  return text;
}

TEST_CASE("every root, with a bias or without, with every function upon it") {
  size_t num_patterns = 0;
  std::set<std::string> names;
  for (const Root& root : Roots()) {
    const bool is_bf16 = root.params.find("bfloat16") != std::string::npos;
    const std::string dtype = is_bf16 ? "bfloat16" : "float32";
    for (const Activation& act : Activations()) {
      // Numbers of the patterns are float32.
      if (is_bf16 && (act.label == "gelu" || act.label == "mish")) continue;
      for (const std::string& form : act.forms) {
        const struct {
          std::string shape, value;
          bool has_bias;
        } kBiases[] = {{"(16)", "%p", false},
                       {root.bias, "add(%p, %b)", true},
                       {root.bias, "add(%b, %p)", true},
                       {"(16)", "nn.bias_add(%p, %b, " + root.add + ")", true}};
        for (const auto& bias : kBiases) {
          const std::string name = root.label + (bias.has_bias ? "_bias" : "") +
                                   (act.label.empty() ? "" : "_" + act.label);
          const std::string program = fmt::format(
              "def @main({}, %b: Tensor[{}, {}]) {{ let %p = {}; let %y = {}; {} }}", root.params,
              bias.shape, dtype, root.call, bias.value, WithNumbers(form, is_bf16));
          CAPTURE(program);
          CHECK(Found(program) == name);
          names.insert(name);
          ++num_patterns;
        }
      }
    }
  }
  // TVM's patterns, and these of conv1d_transpose, matmul and batch_matmul.
  for (const std::string op : {"conv1d", "conv2d", "conv3d", "deconv2d", "deconv3d", "dense"}) {
    for (const std::string bias : {"", "_bias"}) {
      for (const Activation& act : Activations())
        CHECK(names.contains(op + bias + (act.label.empty() ? "" : "_" + act.label)));
    }
  }
  CHECK(names.size() == 9 * 16);
  CHECK(num_patterns > 300);
}

// --- Steps ---

std::string AfterDense(const std::string& steps, const std::string& more = "",
                       std::vector<rules::Match>* matches = nullptr, ir::Module* keep = nullptr) {
  return Found("def @main(%x: Tensor[(?, 8), float32], %w: Tensor[(16, 8), float32]" + more +
                   ") { let %y = nn.dense(%x, %w, units=None); " + steps + " }",
               matches, keep);
}

TEST_CASE("functions that are spelled out, in every order") {
  const struct {
    std::string label;
    std::vector<std::string> forms;
  } kCases[] = {
      {"gelu",
       {// As composite/activations.h writes it.
        "multiply(multiply(%y, 0.5f), add(erf(multiply(%y, 0.70710678f)), 1f))",
        "multiply(0.5f, multiply(%y, add(1f, erf(divide(%y, 1.41421356f)))))",
        "multiply(%y, multiply(0.5f, add(1f, erf(multiply(0.70710678f, %y)))))",
        "multiply(multiply(add(erf(divide(%y, 1.41421f)), 1f), 0.5f), %y)",
        "multiply(add(erf(multiply(%y, 0.707107f)), 1f), multiply(0.5f, %y))",
        "multiply(%y, add(multiply(erf(divide(%y, 1.41421356f)), 0.5f), 0.5f))",
        "multiply(add(0.5f, multiply(0.5f, erf(divide(%y, 1.41421356f)))), %y)",
        "divide(multiply(%y, add(erf(divide(%y, 1.41421356f)), 1f)), 2f)"}},
      {"gelu_tanh",
       {"multiply(multiply(%y, 0.5f), add(tanh(multiply(add(%y, multiply(multiply(%y, "
        "multiply(%y, %y)), 0.044715f)), 0.7978845608f)), 1f))",
        "multiply(0.5f, multiply(%y, add(1f, tanh(multiply(0.7978845608f, add(%y, "
        "multiply(0.044715f, power(%y, 3f))))))))"}},
      {"swish", {"multiply(%y, sigmoid(%y))", "multiply(sigmoid(%y), %y)"}},
      {"mish",
       {"multiply(%y, tanh(log(add(exp(%y), 1f))))", "multiply(tanh(log(add(1f, exp(%y)))), %y)"}},
      {"hardsigmoid",
       {"divide(minimum(6f, maximum(0f, add(%y, 3f))), 6f)",
        "divide(clip(add(3f, %y), a_min=0f, a_max=6f), 6f)",
        "maximum(0f, minimum(1f, add(multiply(%y, 0.16666667f), 0.5f)))",
        "clip(add(multiply(%y, 0.16666667f), 0.5f), a_min=0f, a_max=1f)"}},
      {"hardswish",
       {"divide(multiply(%y, minimum(6f, maximum(0f, add(%y, 3f)))), 6f)",
        "divide(multiply(%y, clip(add(%y, 3f), a_min=0f, a_max=6f)), 6f)",
        "multiply(%y, divide(clip(add(%y, 3f), a_min=0f, a_max=6f), 6f))",
        "multiply(%y, maximum(0f, minimum(1f, add(multiply(%y, 0.16666667f), 0.5f))))"}},
      {"relu", {"nn.relu(%y)", "maximum(%y, 0f)", "maximum(0f, %y)"}},
      {"square", {"multiply(%y, %y)"}},
      {"leaky_relu", {"nn.leaky_relu(%y, alpha=0.1f)"}},
      {"exp", {"exp(%y)"}},
      {"log", {"log(%y)"}},
      {"sqrt", {"sqrt(%y)"}},
      {"rsqrt", {"rsqrt(%y)"}},
      {"abs", {"abs(%y)"}},
      {"negative", {"negative(%y)"}},
      {"round_even", {"round_even(%y)"}},
  };
  for (const auto& c : kCases) {
    for (const std::string& form : c.forms) {
      CAPTURE(form);
      CHECK(AfterDense(form) == "dense_" + c.label);
    }
  }
  // The logarithm of 1 + m as importers spell it.
  std::string series = "0.06666667f";
  for (const char* term :
       {"0.07692308f", "0.09090909f", "0.11111111f", "0.14285715f", "0.2f", "0.33333334f", "1f"})
    series = fmt::format("add(multiply({}, %q), {})", series, term);
  const std::string softplus =
      "let %m = exp(negative(abs(%y))); let %z = divide(%m, add(%m, 2f)); let %q = multiply(%z, "
      "%z); let %s = add(maximum(%y, 0f), multiply(multiply(%z, " +
      series + "), 2f)); ";
  CHECK(AfterDense(softplus + "multiply(%y, tanh(%s))") == "dense_mish");
}

TEST_CASE("other numbers are other functions") {
  CHECK(AfterDense("multiply(%y, sigmoid(multiply(%y, 1.702f)))") ==
        "multiply_sigmoid_multiply, dense");
}

}  // namespace
}  // namespace relayvm::regions
