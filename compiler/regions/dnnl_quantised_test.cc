// What oneDNN runs of 8 bits (dnnl.relay): products with what comes after them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/regions/dnnl_patterns_testing.h"

namespace relayvm::regions {
namespace {

TEST_CASE("quantised convolutions and products with what makes them 8 bits again") {
  const std::string params =
      "def @main(%x: Tensor[(1, 8, 6, 6), uint8], %d: Tensor[(?, 8), uint8], %o: Tensor[(1, 16, 6, "
      "6), int8]) { let %w = ones(shape=[16, 8, 1, 1], dtype=\"int8\"); let %k = ones(shape=[4, "
      "8], "
      "dtype=\"int8\"); let %b = ones(shape=[16], dtype=\"int32\"); let %e = ones(shape=[4], "
      "dtype=\"int32\"); let %s = ones(shape=[16], dtype=\"float32\"); "
      "let %c = nn.bias_add(qnn.conv2d(%x, %w, 3, 0, 0.5f, %s, padding=[0], out_dtype=\"int32\", "
      "channels=16, kernel_size=[1, 1]), %b); let %m = qnn.dense(%d, %k, 3, 0, 0.5f, 0.25f, "
      "units=4, out_dtype=\"int32\"); ";
  const auto found = [&](const std::string& result, std::string* operands = nullptr) {
    std::vector<rules::Match> matches;
    ir::Module m;
    const std::string names = Found(params + result + " }", &matches, &m);
    if (operands != nullptr && !matches.empty()) *operands = Operands(matches[0], m);
    return names;
  };
  const std::string rq = "qnn.requantize(%c, %s, 0, 0.1f, 5, axis=1, out_dtype=\"int32\")";
  std::string operands;
  CHECK(found("qnn.requantize(%m, 0.125f, 0, 0.1f, 5, out_dtype=\"int8\")") ==
        "qnn.dense_requantize");
  CHECK(found("qnn.requantize(nn.bias_add(%m, %e), 0.125f, 0, 0.1f, 5, out_dtype=\"int8\")") ==
        "qnn.dense_bias_requantize");
  CHECK(found("qnn.requantize(add(%e, %m), 0.125f, 0, 0.1f, 5, out_dtype=\"uint8\")") ==
        "qnn.dense_bias_requantize");
  CHECK(found("cast(clip(" + rq + ", a_min=-128f, a_max=127f), dtype=\"int8\")", &operands) ==
        "qnn.conv2d_bias_requantize_clip_cast");
  CHECK(operands ==
        "bias Tensor[(16), int32]; requantize Tensor[(16), float32] int32 float32 "
        "int32; clip max=127 min=-128; cast");
  CHECK(found("clip(qnn.add(cast(clip(" + rq +
                  ", a_min=-128f, a_max=127f), dtype=\"int8\"), %o, "
                  "0.1f, 5, 0.2f, 6, 0.3f, 7), a_min=0f, a_max=99f)",
              &operands) == "qnn.conv2d_bias_requantize_clip_cast_sum_clip");
  CHECK(
      operands.ends_with("cast; sum Tensor[(1, 16, 6, 6), int8] float32 int32 float32 int32 "
                         "float32 int32; clip max=99 min=0"));
  std::string swapped;
  found("qnn.add(%o, cast(" + rq + ", dtype=\"int8\"), 0.2f, 6, 0.1f, 5, 0.3f, 7)", &swapped);
  CHECK(
      swapped.ends_with("cast; sum Tensor[(1, 16, 6, 6), int8] float32 int32 float32 int32 "
                        "float32 int32"));
  CHECK(found("qnn.dequantize(%m, 0.125f, 0)") == "qnn.dense_dequantize");
  CHECK(found("nn.relu(qnn.requantize(%m, 0.125f, 0, 0.1f, 5))") == "qnn.dense_requantize_relu");
  // Without its requantisation it is no composite.
  CHECK(found("%c").empty());
  CHECK(found("%m").empty());
}

TEST_CASE("quantised products near those that run there") {
  const auto dense = [](const std::string& result, const std::string& weight_zero = "0",
                        const std::string& units = "4, 8", const std::string& x = "uint8") {
    return Found("def @main(%x: Tensor[(2, 8), " + x +
                 "], %b: Tensor[(4), int32]) { let %m = "
                 "qnn.dense(%x, full(7i8, shape=[" +
                 units + "], dtype=\"int8\"), 3, " + weight_zero +
                 ", 0.5f, 0.25f, units=None, out_dtype=\"int32\"); " + result + " }");
  };
  const std::string rq = "qnn.requantize(%m, 0.125f, 0, 0.1f, 5)";
  CHECK(dense(rq) == "qnn.dense_requantize");
  CHECK(dense(rq, "1").empty());
  CHECK(dense("qnn.requantize(%m, 0.125f, 0, 0.1f, 5, compute_dtype=\"float32\")").empty());
  CHECK(
      dense("qnn.requantize(%m, ones(shape=[2], dtype=\"float32\"), 0, 0.1f, 5, axis=0)").empty());
  CHECK(dense("qnn.requantize(add(%m, %b), 0.125f, 0, 0.1f, 5)").empty());  // no constant
  CHECK(dense("clip(" + rq + ", a_min=-300f, a_max=99f)") == "qnn.dense_requantize");
  CHECK(dense(rq, "0", "4, 8", "int8") == "qnn.dense_requantize");
  // Sums that may leave 24 bits.
  const auto deep = [](int depth) {
    return Found(
        fmt::format("def @main(%x: Tensor[(2, {0}), uint8]) {{ qnn.requantize(qnn.dense(%x, "
                    "full(-100i8, shape=[4, {0}], dtype=\"int8\"), 3, 0, 0.5f, 0.25f, "
                    "units=None, out_dtype=\"int32\"), 0.125f, 0, 0.1f, 5) }}",
                    depth));
  };
  CHECK(deep(657) == "qnn.dense_requantize");
  CHECK(deep(658).empty());
}

TEST_CASE("quantised transposed convolutions, whose kernels have several layouts") {
  const auto found = [](const std::string& data, const std::string& layout,
                        const std::string& kernel, const std::string& shape, int weight = 7) {
    return Found(fmt::format(
        "def @main(%x: Tensor[{0}, uint8]) {{ qnn.requantize(qnn.conv2d_transpose(%x, "
        "full({4}i8, shape={3}, dtype=\"int8\"), 3, 0, 0.5f, 0.25f, strides=[2, 2], channels=16, "
        "kernel_size=[3, 3], data_layout=\"{1}\", kernel_layout=\"{2}\", out_dtype=\"int32\"), "
        "0.125f, 0, 0.1f, 5, axis={5}) }}",
        data, layout, kernel, shape, weight, layout == "NCHW" ? 1 : 3));
  };
  const std::string name = "qnn.conv2d_transpose_requantize";
  CHECK(found("(1, 8, 6, 6)", "NCHW", "IOHW", "[8, 16, 3, 3]") == name);
  CHECK(found("(1, 8, 6, 6)", "NCHW", "OIHW", "[16, 8, 3, 3]") == name);
  CHECK(found("(?, 6, ?, 8)", "NHWC", "HWIO", "[3, 3, 8, 16]") == name);
  CHECK(found("(1, 6, 6, 8)", "NHWC", "HWOI", "[3, 3, 16, 8]") == name);
  CHECK(found("(1, 6, 6, 8)", "NHWC", "OHWI", "[16, 3, 3, 8]") == name);
  // Sums that may leave 24 bits.
  CHECK(found("(1, 80, 6, 6)", "NCHW", "IOHW", "[80, 16, 3, 3]", 90) == name);
  CHECK(found("(1, 80, 6, 6)", "NCHW", "IOHW", "[80, 16, 3, 3]", 100).empty());
}

TEST_CASE("quantised products of two tensors, of so many terms that sums are exact") {
  const auto found = [](const std::string& x, const std::string& y, const std::string& attrs,
                        const std::string& dtype = "int8") {
    return Found(fmt::format(
        "def @main(%x: Tensor[{}, uint8], %y: Tensor[{}, {}]) {{ qnn.requantize(qnn.batch_matmul("
        "%x, %y, 3, 0, 0.5f, 0.25f, {}, out_dtype=\"int32\"), 0.125f, 0, 0.1f, 5) }}",
        x, y, dtype, attrs));
  };
  const std::string name = "qnn.batch_matmul_requantize";
  CHECK(found("(4, ?, 64)", "(4, 9, 64)", "transpose_b=True") == name);
  CHECK(found("(4, 5, 64)", "(4, 64, ?)", "transpose_b=False") == name);
  CHECK(found("(4, 64, 5)", "(1, 64, 9)", "transpose_a=True, transpose_b=False") == name);
  CHECK(found("(4, 5, 514)", "(4, 9, 514)", "transpose_b=True") == name);
  CHECK(found("(4, 5, 515)", "(4, 9, 515)", "transpose_b=True").empty());
  CHECK(found("(4, 5, ?)", "(4, 9, ?)", "transpose_b=True").empty());
  CHECK(found("(4, 5, 64)", "(4, 9, 64)", "transpose_b=True", "uint8").empty());
}

TEST_CASE("products that go on in float32, as TVM legalises them for oneDNN") {
  std::vector<rules::Match> matches;
  ir::Module m;
  const auto found = [&](const std::string& steps) {
    matches.clear();
    const std::string name = Found(
        "def @main(%x: Tensor[(2, 8, 6, 6), uint8], %o: Tensor[(2, 16, 6, 6), uint8]) { "
        "let %w = ones(shape=[16, 8, 1, 1], dtype=\"int8\"); "
        "let %b = full(0.5f, shape=[16, 1, 1], dtype=\"float32\"); "
        "let %v = full(0.5f, shape=[6], dtype=\"float32\"); "
        "let %c = qnn.conv2d(%x, %w, 0, 0, 1f, 1f, padding=[0], out_dtype=\"int32\", channels=16, "
        "kernel_size=[1, 1]); let %f = cast(%c, dtype=\"float32\"); " +
            steps + " }",
        &matches, &m);
    return name + (matches.empty() ? "" : ": " + Operands(matches[0], m));
  };
  CHECK(found("cast(add(clip(multiply(add(%f, %b), 0.25f), a_min=0f, a_max=255f), 3f), "
              "dtype=\"uint8\")") ==
        "qnn.conv2d_cast_add_multiply_clip_add_cast: cast; add Tensor[(16, 1, 1), float32]; "
        "multiply float32; clip max=255 min=0; add float32; cast");
  const std::string chain =
      "multiply(clip(multiply(add(%f, %b), 0.25f), a_min=0f, a_max=255f), 0.5f)";
  CHECK(found("cast(add(add(" + chain +
              ", multiply(0.3f, cast(%o, dtype=\"float32\"))), 1.5f), dtype=\"uint8\")")
            .starts_with("qnn.conv2d_cast_add_multiply_clip_multiply_scaled_sum_add_cast: "));
  CHECK(found("nn.relu(multiply(%f, %b))").starts_with("qnn.conv2d_cast_multiply_relu: "));
  // Along another axis than the channels, and of another tensor in floats.
  CHECK(found("multiply(%f, %v)").starts_with("multiply, qnn.conv2d_cast: "));
  CHECK(found("add(%f, cast(%o, dtype=\"float32\"))").find("scaled_sum") == std::string::npos);
}

}  // namespace
}  // namespace relayvm::regions
