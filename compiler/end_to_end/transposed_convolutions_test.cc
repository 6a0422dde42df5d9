// Transposed convolutions as plain ones, a phase of the stride each, against their definition by a
// plain scatter: kernels that are and are not multiples of the stride, all paddings, dilations,
// groups, both orders of dims, one to three spatial axes, at open extents.
#include "compiler/transforms/products/transposed_convolutions.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/driver.h"
#include "compiler/frontend/parser.h"
#include "compiler/transforms/testing.h"
#include "vm/api/relayvm.h"

namespace relayvm {
namespace {

using Sizes = std::vector<int64_t>;

struct Case {
  int64_t batch, groups, inputs, outputs;  // channels of a group
  Sizes extent, kernel, stride, dilation, before, after, output_padding;
  bool channels_last = false;
  bool constant = true;  // the weights are
  // Of qnn.conv2d_transpose: the zero points of data and kernel.
  std::optional<std::pair<int, int>> zero_points;

  size_t spatial() const { return extent.size(); }
  int64_t Out(size_t s) const {
    return (extent[s] - 1) * stride[s] + (kernel[s] - 1) * dilation[s] + 1 - before[s] - after[s] +
           output_padding[s];
  }
};

int64_t Product(const Sizes& sizes) {
  int64_t product = 1;
  for (int64_t n : sizes) product *= n;
  return product;
}

// The position of a row-major index.
Sizes PositionOf(int64_t index, const Sizes& dims) {
  Sizes at(dims.size());
  for (size_t i = dims.size(); i-- > 0; index /= dims[i]) at[i] = index % dims[i];
  return at;
}

// In the order that the case's data has, from (batch, channels, extent...).
Sizes Ordered(const Case& c, Sizes dims) {
  if (!c.channels_last) return dims;
  const int64_t channels = dims[1];
  dims.erase(dims.begin() + 1);
  dims.push_back(channels);
  return dims;
}

size_t Offset(const Sizes& at, const Sizes& dims) {
  int64_t offset = 0;
  for (size_t i = 0; i < dims.size(); ++i) offset = offset * dims[i] + at[i];
  return static_cast<size_t>(offset);
}

std::vector<float> Scattered(const Case& c, const std::vector<float>& x,
                             const std::vector<float>& w, const Sizes& out_dims) {
  Sizes in = {c.batch, c.groups * c.inputs}, out = {c.batch, c.groups * c.outputs};
  Sizes weight = {c.groups * c.inputs, c.outputs};
  for (size_t s = 0; s < c.spatial(); ++s) {
    in.push_back(c.extent[s]);
    out.push_back(c.Out(s));
    weight.push_back(c.kernel[s]);
  }
  std::vector<double> sums(static_cast<size_t>(Product(out_dims)));
  for (int64_t i = 0; i < Product(in); ++i) {
    const Sizes from = PositionOf(i, in);
    for (int64_t o = 0; o < c.outputs; ++o) {
      for (int64_t k = 0; k < Product(c.kernel); ++k) {
        const Sizes tap = PositionOf(k, c.kernel);
        Sizes to = {from[0], from[1] / c.inputs * c.outputs + o}, w_at = {from[1], o};
        bool inside = true;
        for (size_t s = 0; s < c.spatial(); ++s) {
          to.push_back(from[s + 2] * c.stride[s] + tap[s] * c.dilation[s] - c.before[s]);
          w_at.push_back(tap[s]);
          inside = inside && to.back() >= 0 && to.back() < out[s + 2];
        }
        if (!inside) continue;
        sums[Offset(Ordered(c, to), out_dims)] +=
            double{x[Offset(Ordered(c, from), Ordered(c, in))]} * w[Offset(w_at, weight)];
      }
    }
  }
  return {sums.begin(), sums.end()};
}

std::string Text(const Case& c, const std::vector<float>& w) {
  const std::string letters = std::string("DHW").substr(3 - c.spatial());
  Sizes weight = {c.groups * c.inputs, c.outputs}, padding = c.before;
  weight.insert(weight.end(), c.kernel.begin(), c.kernel.end());
  padding.insert(padding.end(), c.after.begin(), c.after.end());
  std::string dims = c.channels_last ? "?" : fmt::format("?, {}", c.groups * c.inputs);
  for (size_t s = 0; s < c.spatial(); ++s) dims += ", ?";
  if (c.channels_last) dims += fmt::format(", {}", c.groups * c.inputs);
  const std::string layout = c.channels_last ? "N" + letters + "C" : "NC" + letters;
  std::string kernel = "%w";
  if (c.constant) {
    std::string values;
    for (float v : w) values += fmt::format("{}{}f", values.empty() ? "" : ", ", v);
    kernel =
        fmt::format("reshape(stack(({}), axis=0), newshape=[{}])", values, fmt::join(weight, ", "));
  }
  std::string op = fmt::format("nn.conv{}d_transpose(%x, {}", c.spatial(), kernel);
  if (c.zero_points) {
    op = fmt::format(
        "cast(qnn.conv2d_transpose(cast(%x, dtype=\"uint8\"), cast({}, dtype=\"int8\"), {}, {}, "
        "0.5f, "
        "0.25f",
        kernel, c.zero_points->first, c.zero_points->second);
  }
  return fmt::format(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[({}), float32]{}) {{ {}, strides=[{}], "
      "padding=[{}], dilation=[{}], output_padding=[{}], groups={}, channels={}, kernel_size=[{}], "
      "data_layout=\"{}\", kernel_layout=\"IO{}\"){} }}\n",
      dims, c.constant ? "" : fmt::format(", %w: Tensor[({}), float32]", fmt::join(weight, ", ")),
      op, fmt::join(c.stride, ", "), fmt::join(padding, ", "), fmt::join(c.dilation, ", "),
      fmt::join(c.output_padding, ", "), c.groups, c.groups * c.outputs, fmt::join(c.kernel, ", "),
      layout, letters, c.zero_points ? ", dtype=\"float32\")" : "");
}

void Check(const Case& c, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  const int64_t taps = c.groups * c.inputs * c.outputs * Product(c.kernel);
  std::vector<float> w(static_cast<size_t>(taps));
  for (float& v : w) v = std::round(uniform(random) * 64) / (c.zero_points ? 1.0F : 64.0F);
  const std::string text = Text(c, w);
  INFO(text);
  auto module = frontend::ParseRelay("test.relay", text);
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  CompileOptions options;
  options.pipeline.verify = true;
  auto compiled = CompileModule(*std::move(module), options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  auto executable = Executable::FromProgram(compiled->program);
  REQUIRE_MESSAGE(executable.ok(), executable.status().ToString());
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  Sizes in = {c.batch, c.groups * c.inputs}, out = {c.batch, c.groups * c.outputs};
  in.insert(in.end(), c.extent.begin(), c.extent.end());
  for (size_t s = 0; s < c.spatial(); ++s) out.push_back(c.Out(s));
  in = Ordered(c, in);
  out = Ordered(c, out);
  std::vector<float> x(static_cast<size_t>(Product(in)));
  for (float& v : x) v = c.zero_points ? std::round(uniform(random) * 127 + 128) : uniform(random);
  std::vector<Value> inputs = {*Value::CopyTensor(DType::kFloat32, in, x.data())};
  if (!c.constant) {
    Sizes weight = {c.groups * c.inputs, c.outputs};
    weight.insert(weight.end(), c.kernel.begin(), c.kernel.end());
    inputs.push_back(*Value::CopyTensor(DType::kFloat32, weight, w.data()));
  }
  auto y = (*invocation)->Run("main", inputs);
  REQUIRE_MESSAGE(y.ok(), y.status().ToString());
  REQUIRE(Sizes(y->dims().begin(), y->dims().end()) == out);
  const auto* data = static_cast<const float*>(y->data());
  if (c.zero_points) {
    for (float& v : x) v -= static_cast<float>(c.zero_points->first);
    for (float& v : w) v -= static_cast<float>(c.zero_points->second);
  }
  const std::vector<float> expected = Scattered(c, x, w, out);
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(double{data[i]} - expected[i]));
  CHECK(worst < 1e-4);
}

TEST_CASE("transposed convolutions: strides 1 to 4, kernels 1 to 6, every padding") {
  std::mt19937 random(7);
  for (int64_t stride = 1; stride <= 4; ++stride) {
    for (int64_t kernel = 1; kernel <= 6; ++kernel) {
      const auto pick = [&](int64_t low, int64_t high) {
        return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
      };
      const int64_t before = pick(0, kernel - 1), after = pick(0, kernel - 1);
      const int64_t extra = pick(0, stride - 1);
      Check({pick(1, 2),
             1,
             pick(1, 5),
             pick(1, 5),
             {pick(kernel, 9)},
             {kernel},
             {stride},
             {1},
             {before},
             {after},
             {extra},
             kernel % 2 == 0,
             stride != 3},
            random);
    }
  }
}

TEST_CASE("transposed convolutions: axes of their own, groups, dilation, layouts") {
  std::mt19937 random(11);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  for (int i = 0; i < 16; ++i) {
    const size_t spatial = i % 8 == 7 ? 3 : 2;
    Case c{pick(1, 2), i % 3 == 0 ? pick(2, 4) : 1, pick(1, 4), pick(1, 4)};
    for (size_t s = 0; s < spatial; ++s) {
      c.kernel.push_back(pick(1, spatial == 3 ? 3 : 4));
      c.stride.push_back(pick(1, 3));
      c.dilation.push_back(i % 4 == 1 ? pick(1, 3) : 1);
      const int64_t reach = (c.kernel[s] - 1) * c.dilation[s];
      c.before.push_back(pick(0, reach));
      c.after.push_back(pick(0, reach));
      c.output_padding.push_back(pick(0, c.stride[s] - 1));
      c.extent.push_back(pick(reach + 1, reach + 5));
    }
    c.channels_last = i % 2 == 1;
    c.constant = i % 5 != 4;
    Check(c, random);
  }
}

TEST_CASE("transposed convolutions of bytes") {
  std::mt19937 random(17);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  for (int i = 0; i < 16; ++i) {
    Case c{pick(1, 2), i % 3 == 0 ? 2 : 1, pick(1, 5), pick(1, 5)};
    for (size_t s = 0; s < 2; ++s) {
      c.kernel.push_back(pick(1, 4));
      c.stride.push_back(pick(1, 3));
      c.dilation.push_back(i % 4 == 1 ? pick(1, 3) : 1);
      const int64_t reach = (c.kernel[s] - 1) * c.dilation[s];
      c.before.push_back(pick(0, reach));
      c.after.push_back(pick(0, reach));
      c.output_padding.push_back(pick(0, c.stride[s] - 1));
      c.extent.push_back(pick(reach + 1, reach + 5));
    }
    c.channels_last = i % 2 == 1;
    c.constant = i % 5 != 4;
    c.zero_points = {static_cast<int>(pick(0, 255)),
                     i % 2 == 0 ? 0 : static_cast<int>(pick(-9, 9))};
    Check(c, random);
  }
}

// What a call says to data of these dims, compiled with all passes.
std::string Said(const std::string& call, const std::string& type, const Sizes& dims) {
  const std::string text = fmt::format(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[{}, float32]) {{ {} }}\n", type, call);
  INFO(text);
  auto module = frontend::ParseRelay("test.relay", text);
  REQUIRE_MESSAGE(module.ok(), module.status().ToString());
  CompileOptions options;
  options.pipeline.opt_level = 3;
  options.pipeline.verify = true;
  auto compiled = CompileModule(*std::move(module), options);
  REQUIRE_MESSAGE(compiled.ok(), compiled.status().ToString());
  auto executable = Executable::FromProgram(compiled->program);
  auto runtime = Runtime::Create();
  auto invocation = Invocation::Create(*runtime, *executable);
  REQUIRE(invocation.ok());
  const std::vector<float> x(static_cast<size_t>(Product(dims)), 1.0F);
  auto y = (*invocation)->Run("main", {*Value::CopyTensor(DType::kFloat32, dims, x.data())});
  if (!y.ok()) return std::string(y.status().message());
  return fmt::format("({})", fmt::join(y->dims(), ", "));
}

TEST_CASE("transposed convolutions: refused as the program's own operator") {
  const std::string one =
      "nn.conv2d_transpose(%x, ones(shape=[4, 4, 1, 1], dtype=\"float32\"), padding=[2, 2])";
  CHECK(Said(one, "(1, 4, ?, ?)", {1, 4, 5, 6}) == "(1, 4, 1, 2)");
  CHECK(Said(one, "(1, 4, ?, ?)", {1, 4, 4, 5}) == "(1, 4, 0, 1)");
  CHECK(Said(one, "(1, 4, ?, ?)", {1, 4, 2, 2})
            .find("nn.conv2d_transpose: the output's extent: -2 is negative") != std::string::npos);
  // An empty axis has an empty result, by phases and without them.
  for (const char* strides : {"1, 1", "2, 2"}) {
    const std::string call = fmt::format(
        "nn.conv2d_transpose(%x, ones(shape=[3, 8, 3, 3], dtype=\"float32\"), padding=[1, 1], "
        "strides=[{}], output_padding=[{}])",
        strides, strides[0] == '1' ? "0, 0" : "1, 1");
    INFO(call);
    CHECK(Said(call, "(1, 3, ?, ?)", {1, 3, 0, 5}) ==
          (strides[0] == '1' ? "(1, 8, 0, 5)" : "(1, 8, 0, 10)"));
    CHECK(Said(call, "(1, 3, ?, ?)", {1, 3, 0, 0}) == "(1, 8, 0, 0)");
  }
  const std::string quantised =
      "qnn.conv2d_transpose(cast(%x, dtype=\"uint8\"), ones(shape=[4, 4, 1, 1], "
      "dtype=\"int8\"), 3, 0, 0.5f, 0.25f, padding=[2, 2])";
  CHECK(Said(quantised, "(1, 4, ?, ?)", {1, 4, 4, 5}) == "(1, 4, 0, 1)");
  CHECK(Said(quantised, "(1, 4, ?, ?)", {1, 4, 2, 2})
            .find("qnn.conv2d_transpose: the output's extent: -2 is negative") !=
        std::string::npos);
}

TEST_CASE("operators that take the place of the program's refuse in its name") {
  const auto ones = [](const char* shape, const char* dtype = "float32") {
    return fmt::format("ones(shape={}, dtype=\"{}\")", shape, dtype);
  };
  struct Row {
    std::string call, type;
    Sizes dims;
    std::string error;
  };
  const Row rows[] = {
      {"nn.conv2d(%x, " + ones("[32, 32, 3, 3]") + ")",
       "(1, 32, ?, ?)",
       {1, 32, 1, 40},
       "nn.conv2d: the output's extent: -1 is negative"},
      {"nn.dense(%x, " + ones("[16, 8]") + ")",
       "(4, ?)",
       {4, 7},
       "nn.dense: the reduced dimensions"},
      {"nn.matmul(%x, " + ones("[8, 16]") + ")",
       "(4, ?)",
       {4, 7},
       "nn.matmul: the reduced dimensions"},
      {"qnn.dense(cast(%x, dtype=\"uint8\"), " + ones("[16, 8]", "int8") +
           ", 3, 0, 0.5f, 0.25f, units=16)",
       "(4, ?)",
       {4, 7},
       "qnn.dense: "},
      {"nn.conv2d(nn.space_to_depth(%x, block_size=2), " + ones("[8, 12, 2, 2]") + ")",
       "(1, 3, ?, ?)",
       {1, 3, 9, 8},
       "nn.space_to_depth: "},
      {"nn.batch_norm(%x, " + ones("[8]") + ", " + ones("[8]") + ", " + ones("[8]") + ", " +
           ones("[8]") + ").0",
       "(1, ?, 4)",
       {1, 7, 4},
       "nn.batch_norm: "},
      // Broadcasting would take it.
      {"nn.batch_norm(%x, " + ones("[8]") + ", " + ones("[8]") + ", " + ones("[8]") + ", " +
           ones("[8]") + ").0",
       "(1, ?, 4)",
       {1, 1, 4},
       "nn.batch_norm: "},
      // Reshaped, the parts are alike.
      {"reshape(concatenate((" + ones("[2, 2, 2, 3]") + ", %x), axis=1), newshape=[0, 0, -1])",
       "(2, ?, ?, ?)",
       {2, 1, 3, 2},
       "concatenate: "},
      {"nn.batch_matmul(nn.softmax(nn.batch_matmul(%x, exp(%x))), tanh(reshape(%x, newshape=[4, "
       "-1, "
       "16])))",
       "(4, ?, ?)",
       {4, 32, 8},
       "nn.batch_matmul: the reduced dimensions"},
  };
  for (const Row& row : rows) {
    INFO(row.call);
    const std::string said = Said(row.call, row.type, row.dims);
    CHECK_MESSAGE(said.find(row.error) != std::string::npos, said);
  }
}

TEST_CASE("transposed convolutions: one product for all phases, and what stays as it is") {
  const auto outline = [](const std::string& dims, const std::string& kernel,
                          const std::string& attributes) {
    return ir::Outline(ir::Retyped(ir::TransposedConvolutions(
        ir::Typed(fmt::format("def @main(%x: Tensor[({}), float32], %w: Tensor[({}), float32]) {{ "
                              "nn.conv2d_transpose(%x, %w, channels=4, {}) }}",
                              dims, kernel, attributes)))));
  };
  const auto convolutions = [](const std::string& text) {
    int count = 0;
    for (size_t at = 0; (at = text.find("nn.conv2d", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const std::string even = outline("1, 2, ?, ?", "2, 4, 4, 4",
                                   "kernel_size=[4, 4], strides=[2, 2], padding=[1, 1, 1, 1]");
  CHECK(convolutions(even) == 1);
  CHECK(even.find("nn.conv2d_transpose") == std::string::npos);
  const std::string odd = outline("1, 2, 8, 8", "2, 4, 3, 3", "kernel_size=[3, 3], strides=[2, 2]");
  CHECK(convolutions(odd) == 4);
  CHECK(odd.find("nn.conv2d_transpose") == std::string::npos);
  const std::string stays[] = {
      outline("1, 2, 8, 8", "2, 4, ?, 3", "strides=[2, 2]"),
      outline("1, 2, 8, 8", "2, 4, 3, 3", "kernel_size=[3, 3], out_layout=\"NHWC\"")};
  for (const std::string& text : stays) CHECK(text == "nn.conv2d_transpose");
}

}  // namespace
}  // namespace relayvm
