// What oneDNN runs (dnnl.relay): the composites and single operators that programs have.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "compiler/regions/dnnl_patterns_testing.h"
#include "compiler/regions/engine_rules.h"

namespace relayvm::regions {
namespace {

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
          if (is_bf16) {
            // Each operator rounds by itself.
            CHECK((", " + Found(program) + ",").find(", " + root.label + ",") != std::string::npos);
            continue;
          }
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
      {"elu",
       {"where(greater(%y, 0f), %y, subtract(exp(%y), 1f))",
        "where(less_equal(%y, 0f), add(exp(%y), -1f), %y)"}},
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

TEST_CASE("numbers of functions are operands, where they are constants") {
  const struct {
    std::string expected;
    std::vector<std::string> forms;
  } kCases[] = {
      {"dense_swish: swish float32",
       {"multiply(%y, sigmoid(multiply(%y, 1.702f)))", "multiply(sigmoid(multiply(2f, %y)), %y)"}},
      {"dense_elu: elu float32",
       {"where(greater(%y, 0f), %y, multiply(subtract(exp(%y), 1f), 0.5f))",
        "where(greater_equal(%y, 0f), %y, multiply(0.5f, subtract(exp(%y), 1f)))",
        "where(less(%y, 0f), multiply(subtract(exp(%y), 1f), 0.5f), %y)"}},
      {"dense_elu_multiply: elu float32; multiply float32",  // selu
       {"multiply(where(greater(%y, 0f), %y, multiply(subtract(exp(%y), 1f), 1.67326f)), "
        "1.0507f)"}},
      {"dense_elu_of_negated: elu_of_negated float32",  // as TVM's importers write it
       {"add(multiply(-0.5f, nn.relu(subtract(1f, exp(%y)))), nn.relu(%y))"}},
      // Of other values than the condition's, and of a number that the run says.
      {"subtract_multiply, exp, dense: multiply float32",
       {"where(greater(%y, 1f), %y, multiply(subtract(exp(%y), 1f), 0.5f))"}},
      {"multiply_sigmoid_multiply, dense: sigmoid; multiply Tensor[(x.0, 16), float32]",
       {"multiply(%y, sigmoid(multiply(%y, %a)))"}},
  };
  for (const auto& c : kCases) {
    for (const std::string& form : c.forms) {
      CAPTURE(form);
      std::vector<rules::Match> matches;
      ir::Module m;
      const std::string name = AfterDense(form, ", %a: float32", &matches, &m);
      CHECK(name + ": " + Operands(matches.at(0), m) == c.expected);
    }
  }
}

TEST_CASE("a sum has the value's shape; other operands are broadcast to it") {
  const std::string more =
      ", %a: Tensor[(5, 8), float32], %b: Tensor[(16), float32], "
      "%g: Tensor[(1, 8), float32], %r: Tensor[(5, 1), float32], %o: Tensor[(5, 16), float32]";
  const auto after = [&](const std::string& steps) {
    std::vector<rules::Match> matches;
    ir::Module m;
    const std::string name =
        AfterDense("let %y = nn.dense(%a, %w, units=None); " + steps, more, &matches, &m);
    return name + (matches.empty() ? "" : ": " + Operands(matches[0], m));
  };
  CHECK(after("add(nn.bias_add(%y, %b), %o)") ==
        "dense_bias_sum: bias Tensor[(16), float32]; sum Tensor[(5, 16), float32]");
  CHECK(after("nn.relu(add(%o, add(%b, %y)))") ==
        "dense_bias_sum_relu: bias Tensor[(16), float32]; sum Tensor[(5, 16), float32]; relu");
  CHECK(after("nn.leaky_relu(clip(multiply(%r, %y), a_min=-1f, a_max=3f), alpha=0.25f)") ==
        "dense_multiply_clip_leaky_relu: multiply Tensor[(5, 1), float32]; clip max=3 min=-1; "
        "leaky_relu alpha=0.25");
  // A bias is next to the product; what comes later is an addition.
  CHECK(after("add(nn.relu(add(%y, %b)), %b)") ==
        "dense_bias_relu_add: bias Tensor[(16), float32]; relu; add Tensor[(16), float32]");
  CHECK(after("add(%y, %r)") == "dense_add: add Tensor[(5, 1), float32]");
  CHECK(after("maximum(%o, minimum(divide(subtract(%y, %b), %r), %o))") ==
        "dense_subtract_divide_minimum_maximum: subtract Tensor[(16), float32]; divide Tensor[(5, "
        "1), float32]; minimum Tensor[(5, 16), float32]; maximum Tensor[(5, 16), float32]");
  // Not the other way round, nor of a value that grows.
  CHECK(after("subtract(%b, %y)") == "subtract, dense: ");
  CHECK(after("divide(%r, %y)") == "divide, dense: ");
  CHECK(after("add(nn.dense(%g, %w, units=None), %o)") == "add, dense: ");
}

TEST_CASE("of two products that are added, one is the other's sum") {
  const std::string block =
      "def @main(%x: Tensor[(1, 8, 6, 6), float32], %w: Tensor[(8, 8, 1, 1), float32], %b: "
      "Tensor[(8), float32]) { let %c = nn.relu(nn.bias_add(nn.conv2d(%x, %w), %b)); "
      "let %d = nn.bias_add(nn.conv2d(%c, %w), %b); ";
  CHECK(Found(block + "nn.relu(add(%d, %x)) }") == "conv2d_bias_sum_relu, conv2d_bias_relu");
  CHECK(Found(block + "nn.relu(add(%d, nn.conv2d(%x, %w))) }") ==
        "conv2d_bias_sum_relu, conv2d, conv2d_bias_relu");
  CHECK(Found(block + "(nn.relu(%d), %d) }") == "nn.relu, conv2d_bias, conv2d_bias_relu");
}

// --- Single operators ---

std::string OfFour(const std::string& call, const std::string& dtype = "float32") {
  std::string text = call;
  for (size_t at = text.find("DTYPE"); at != std::string::npos; at = text.find("DTYPE"))
    text.replace(at, 5, dtype);
  return Found(
      fmt::format("def @main(%x: Tensor[(2, 6, 9, 9), {0}], %y: Tensor[(6, 1, 9), {0}], "
                  "%v: Tensor[(6), {0}], %l: Tensor[(9), {0}]) {{ {1} }}",
                  dtype, text));
}

TEST_CASE("operators alone, and those near them that do not run there") {
  const struct {
    std::string name;
    std::vector<std::string> runs, others;
    bool has_bf16;
  } kCases[] = {
      {"nn.max_pool2d",
       {"nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], padding=[1, 0, 0, 1])",
        "nn.max_pool2d(%x, pool_size=[2, 2], layout=\"NHWC\", out_layout=\"NHWC\")"},
       {"nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2], ceil_mode=True)",
        "nn.max_pool2d(%x, pool_size=[2, 2], dilation=[2, 2])",
        "nn.max_pool2d(%x, pool_size=[2, 2], padding=[0, 0, 0, 2])",  // nothing but padding
        "nn.max_pool2d(%x, pool_size=[2, 2], out_layout=\"NHWC\")",
        "nn.max_pool2d(%x, pool_size=[2, 2], layout=\"HWCN\")"},
       true},
      {"nn.avg_pool2d",
       {"nn.avg_pool2d(%x, pool_size=[3, 3], count_include_pad=True, padding=[1, 1])",
        "nn.avg_pool2d(%x, pool_size=[3, 3], padding=[1, 1])"},
       {"nn.avg_pool2d(%x, pool_size=[2, 2], strides=[2, 2], ceil_mode=True)"},
       true},
      {"nn.global_avg_pool2d", {"nn.global_avg_pool2d(%x)"}, {}, true},
      {"nn.global_max_pool2d", {"nn.global_max_pool2d(%x, layout=\"NHWC\")"}, {}, true},
      {"nn.softmax", {"nn.softmax(%x, axis=1)", "nn.softmax(%x)"}, {}, true},
      {"nn.log_softmax", {"nn.log_softmax(%x)"}, {}, true},
      {"nn.layer_norm",
       {"nn.layer_norm(%x, %l, %l)", "nn.layer_norm(%x, %l, %l, axis=3, epsilon=0.1f)"},
       {"nn.layer_norm(%x, %v, %v, axis=1)"},
       false},
      {"nn.batch_norm",
       {"nn.batch_norm(%x, %v, %v, %v, %v).0", "nn.batch_norm(%x, %l, %l, %l, %l, axis=-1).0"},
       {"nn.batch_norm(%x, %l, %l, %l, %l, axis=2).0"},
       false},
      {"nn.lrn",
       {"nn.lrn(%x, size=5)"},
       {"nn.lrn(%x, size=5, axis=3)", "nn.lrn(%x, size=4)"},
       false},
      {"nn.prelu", {"nn.prelu(%x, %v)"}, {}, true},
      {"sum",
       {"sum(%x)", "sum(%x, axis=[1, -1])", "sum(%x, axis=2, keepdims=True)"},
       {"sum(%x, axis=[1], exclude=True)"},
       false},
      {"mean", {"mean(%x, axis=[2, 3])"}, {}, false},
      {"max", {"max(%x, axis=1)"}, {}, false},
      {"min", {"min(%x, axis=1)"}, {}, false},
      {"prod", {"prod(%x, axis=1)"}, {}, false},
      {"image.resize2d",
       {"image.resize2d(%x, size=[18, 18])",
        "image.resize2d(%x, size=[18, 27], method=\"nearest_neighbor\")",
        "image.resize2d(%x, size=[18, 18], layout=\"NHWC\", method=\"nearest_neighbor\", "
        "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"floor\")",
        "image.resize2d(%x, size=[18, 18], layout=\"NHWC\")"},
       {"image.resize2d(%x, size=[18, 18], method=\"cubic\")",
        "image.resize2d(%x, size=[12, 18], method=\"nearest_neighbor\")",
        "image.resize2d(%x, size=[18, 18], method=\"nearest_neighbor\", "
        "coordinate_transformation_mode=\"asymmetric\", rounding_method=\"ceil\")",
        "image.resize2d(%x, size=[18, 18], coordinate_transformation_mode=\"align_corners\")"},
       false},
      {"concatenate", {"concatenate((%x, %x), axis=1)"}, {}, true},
      {"add", {"add(%x, %y)", "add(%y, %x)", "add(%x, %x)", "add(%x, %l)"}, {}, true},
      {"subtract", {"subtract(%x, %y)", "subtract(%y, %x)"}, {}, true},
      {"multiply", {"multiply(%x, %y)"}, {}, true},
      {"divide", {"divide(%x, %y)"}, {}, true},
      {"maximum", {"maximum(%x, %y)"}, {}, true},
      {"minimum", {"minimum(%x, %y)"}, {}, true},
      {"abs", {"abs(%x)"}, {}, true},
      {"clip", {"clip(%x, a_min=0f, a_max=6f)"}, {}, true},
      {"exp", {"exp(%x)"}, {}, true},
      {"log", {"log(%x)"}, {}, true},
      {"sqrt", {"sqrt(%x)"}, {}, true},
      {"rsqrt", {"rsqrt(%x)"}, {}, true},
      {"negative", {"negative(%x)"}, {}, true},
      {"round_even", {"round_even(%x)"}, {"round(%x)"}, true},
      {"tanh", {"tanh(%x)"}, {}, true},
      {"sigmoid", {"sigmoid(%x)"}, {}, true},
      {"nn.relu", {"nn.relu(%x)"}, {}, true},
      {"nn.leaky_relu", {"nn.leaky_relu(%x, alpha=0.5f)"}, {}, true},
  };
  for (const auto& c : kCases) {
    for (const std::string& call : c.runs) {
      CAPTURE(call);
      CHECK(OfFour(call) == c.name);
      CHECK(OfFour(call, "bfloat16") == (c.has_bf16 ? c.name : ""));
      CHECK(OfFour(call, "float64").empty());
    }
    for (const std::string& call : c.others) {
      CAPTURE(call);
      CHECK(OfFour(call).empty());
    }
  }
  for (const char* call : {"add(%x, %y)", "max(%x)", "concatenate((%x, %x), axis=1)",
                           "nn.max_pool2d(%x, pool_size=[2, 2])", "clip(%x, a_min=0f, a_max=6f)"}) {
    CAPTURE(std::string(call));
    CHECK(OfFour(call, "int64").empty());
    CHECK(OfFour(call, "int32").empty());
  }
  CHECK(Found("def @main(%x: Tensor[(4, 1), float32], %y: Tensor[(5), float32]) { add(%x, %y) }")
            .empty());  // neither has the result's shape
  CHECK(Found("def @main(%x: float32) { exp(%x) }").empty());
  CHECK(OfFour("nn.relu(nn.max_pool2d(%x, pool_size=[2, 2]))") == "nn.max_pool2d_relu");
  CHECK(OfFour("nn.relu(add(%x, %y))") == "add_relu");
  CHECK(OfFour("tanh(exp(%x))") == "exp_tanh");
}

TEST_CASE("convolutions and products near those that run there") {
  const auto conv = [](const std::string& attrs, const std::string& dtype = "float32",
                       const std::string& out = "") {
    return Found(
        fmt::format("def @main(%x: Tensor[(8, 8, 8, 8), {0}], %w: Tensor[(8, 8, 3, 3), "
                    "{0}]) {{ nn.conv2d(%x, %w, {1}{2}) }}",
                    dtype, attrs, out.empty() ? "" : ", out_dtype=\"" + out + "\""));
  };
  CHECK(conv("padding=[1, 1], dilation=[2, 1]") == "conv2d");
  CHECK(conv("out_layout=\"NCHW\"") == "conv2d");
  CHECK(conv("data_layout=\"NHWC\", out_layout=\"NHWC\"") == "conv2d");
  CHECK(conv("out_layout=\"NHWC\"").empty());
  CHECK(conv("data_layout=\"CHWN\"").empty());
  CHECK(conv("padding=[1]", "float64").empty());
  CHECK(conv("padding=[1]", "int64").empty());
  CHECK(conv("padding=[1]", "int8", "int32").empty());
  CHECK(conv("padding=[1]", "bfloat16") == "conv2d");
  CHECK(conv("padding=[1]", "bfloat16", "float32").empty());
  const auto product = [](const std::string& x, const std::string& w, const std::string& call,
                          const std::string& dtype = "float32") {
    return Found(fmt::format("def @main(%x: Tensor[{0}, {2}], %w: Tensor[{1}, {2}]) {{ {3} }}", x,
                             w, dtype, call));
  };
  CHECK(product("(2, 3, 8)", "(4, 8)", "nn.dense(%x, %w, units=None)") == "dense");
  CHECK(product("(3, 8)", "(4, 8)", "nn.dense(%x, %w, units=None)", "float64").empty());
  CHECK(product("(3, 8)", "(4, 8)", "nn.dense(%x, %w, units=None)", "int32").empty());
  CHECK(product("(8, 3)", "(8, 4)", "nn.matmul(%x, %w, transpose_a=True)") == "matmul");
  CHECK(product("(2, 8, 3)", "(8, 4)", "nn.matmul(%x, %w, transpose_a=True)").empty());
  CHECK(product("(2, 3, 8)", "(2, 8, 4)",
                "nn.batch_matmul(%x, %w, transpose_a=False, transpose_b=False)") == "batch_matmul");
}

TEST_CASE("engines are found by name") {
  CHECK(EngineNames() == std::vector<std::string_view>{"dnnl"});
  REQUIRE(FindEngine("dnnl") != nullptr);
  CHECK(FindEngine("tensorrt") == nullptr);
  const auto one = EnginePatterns("dnnl"), other = EnginePatterns("dnnl");
  REQUIRE(one.ok());
  CHECK(*one == *other);
  CHECK(EnginePatterns("tensorrt").status().message() ==
        "there is no engine tensorrt: expected dnnl");
}

}  // namespace
}  // namespace relayvm::regions
