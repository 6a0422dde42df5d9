#include "kernels/op/problem.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "kernels/op/weight_forms.h"

namespace relayvm {
namespace {

TensorType F32(std::vector<Dim> shape) { return {std::move(shape), DType::kFloat32}; }

std::optional<ConvProblem> Conv(std::string_view name, const TensorType& data,
                                const TensorType& kernel, Attrs given = {}) {
  const OpDef& op = *OpTable::Get().Find(name);
  auto attrs = CompleteAttrs(op, given);
  REQUIRE_MESSAGE(attrs.ok(), attrs.status().ToString());
  return ConvOf(op, *attrs, data, kernel);
}

std::optional<ProductProblem> Product(std::string_view name, const TensorType& data,
                                      const TensorType& weight, Attrs given = {}) {
  const OpDef& op = *OpTable::Get().Find(name);
  return MatrixProductOf(op, *CompleteAttrs(op, given), data, weight);
}

Attrs With(std::initializer_list<std::pair<const char*, AttrValue>> values) {
  Attrs attrs;
  for (const auto& [name, value] : values) attrs.Set(name, value);
  return attrs;
}

TEST_CASE("operators say which convolution or product they are, and have its name") {
  size_t convolutions = 0, products = 0;
  for (std::string_view name : OpTable::Get().Names()) {
    const OpDef& op = *OpTable::Get().Find(name);
    if (op.conv) {
      ++convolutions;
      const OpDef* same = OpTable::Get().Find(OperatorOf(*op.conv));
      REQUIRE(same != nullptr);
      CHECK(same->conv->spatial == op.conv->spatial);
      CHECK(same->conv->is_transposed == op.conv->is_transposed);
      CHECK(same->conv->is_quantised == op.conv->is_quantised);
      for (const AttrField& field : op.attrs) {
        CAPTURE(name);
        CHECK(std::ranges::any_of(same->attrs,
                                  [&](const AttrField& f) { return f.name == field.name; }));
      }
    }
    if (op.product) {
      ++products;
      const OpDef* same = OpTable::Get().Find(OperatorOf(*op.product));
      REQUIRE(same != nullptr);
      CHECK(same->product->is_batched == op.product->is_batched);
      CHECK(same->product->is_quantised == op.product->is_quantised);
    }
  }
  CHECK(convolutions == 12);
  CHECK(products == 6);
}

TEST_CASE("a convolution's numbers, whatever its layouts") {
  const Dim n = Dim::Symbol(1, "n");
  const auto first =
      Conv("nn.conv2d", F32({n, 8, 20, 30}), F32({16, 4, 3, 5}),
           With({{"groups", 2}, {"strides", AttrList{2, 1}}, {"padding", AttrList{1, 2}}}));
  REQUIRE(first);
  CHECK(first->is_channels_first());
  CHECK_FALSE(first->is_channels_last());
  CHECK(first->has_usual_kernel());
  CHECK(first->batch == n);
  CHECK(first->out_channels.is_const(16));
  CHECK(first->kernel_in.is_const(4));
  CHECK(first->out_extent == std::vector<Dim>{10, 30});
  CHECK(first->pixels().is_const(300));
  CHECK(first->is_padded());
  CHECK_FALSE(first->is_dense());
  CHECK_FALSE(MatrixProductOf(*first));

  const auto last = Conv("nn.conv2d", F32({n, 20, 30, 8}), F32({3, 5, 4, 16}),
                         With({{"groups", 2},
                               {"strides", AttrList{2, 1}},
                               {"padding", AttrList{1, 2}},
                               {"data_layout", "NHWC"},
                               {"kernel_layout", "HWIO"}}));
  REQUIRE(last);
  CHECK(last->is_channels_last());
  CHECK(last->has_usual_kernel());
  CHECK(last->out_extent == first->out_extent);
  CHECK(last->kernel_extent == first->kernel_extent);

  const auto blocked =
      Conv("nn.contrib_conv2d_NCHWc", F32({1, 2, 9, 9, 4}), F32({2, 2, 1, 1, 4, 8}),
           With({{"data_layout", "NCHW4c"}, {"kernel_layout", "OIHW4i8o"}}));
  REQUIRE(blocked);
  CHECK(blocked->in_channels.is_const(8));
  CHECK(blocked->out_channels.is_const(16));
  CHECK_FALSE(blocked->is_channels_first());
  CHECK(blocked->kernel.ToString() == "OIHW4i8o");
}

TEST_CASE("depthwise convolutions, with a multiplier and without") {
  const auto plain = Conv("nn.conv1d", F32({1, 6, 9}), F32({12, 1, 3}), With({{"groups", 6}}));
  REQUIRE(plain);
  CHECK(plain->is_depthwise());
  CHECK_FALSE(plain->has_multiplier);
  CHECK(plain->out_channels.is_const(12));
  const auto multiplied =
      Conv("nn.conv2d", F32({1, 9, 9, 6}), F32({3, 3, 6, 2}),
           With({{"groups", 6}, {"data_layout", "NHWC"}, {"kernel_layout", "HWOI"}}));
  REQUIRE(multiplied);
  CHECK(multiplied->is_depthwise());
  CHECK(multiplied->has_multiplier);
  CHECK(multiplied->out_channels.is_const(12));
  CHECK_FALSE(multiplied->has_usual_kernel());
}

TEST_CASE("transposed and quantised convolutions") {
  const auto transposed =
      Conv("nn.conv2d_transpose", F32({1, 8, 5, 5}), F32({8, 3, 4, 4}),
           With({{"strides", AttrList{2}}, {"groups", 2}, {"output_padding", AttrList{1, 0, 0}}}));
  REQUIRE(transposed);
  CHECK(transposed->kind.is_transposed);
  CHECK(transposed->out_channels.is_const(6));
  CHECK(transposed->output_padding == std::vector<int64_t>{1, 0});
  CHECK(transposed->out_extent == std::vector<Dim>{13, 12});
  const auto quantised =
      Conv("qnn.conv3d", {{1, 8, 5, 5, 5}, DType::kUInt8}, {{4, 8, 3, 3, 3}, DType::kInt8});
  REQUIRE(quantised);
  CHECK(quantised->kind.is_quantised);
  CHECK(quantised->sum_type == DType::kInt32);
  CHECK(quantised->out_extent == std::vector<Dim>{3, 3, 3});
}

TEST_CASE("windows of one pixel, channels last, are products") {
  const auto last = [](AttrValue strides, int64_t groups, std::vector<Dim> kernel) {
    const auto conv = Conv("nn.conv2d", F32({1, 9, 9, 8}), F32(std::move(kernel)),
                           With({{"strides", std::move(strides)},
                                 {"groups", groups},
                                 {"data_layout", "NHWC"},
                                 {"kernel_layout", "HWIO"}}));
    REQUIRE(conv);
    return MatrixProductOf(*conv);
  };
  const auto product = last(AttrList{1, 1}, 1, {1, 1, 8, 20});
  REQUIRE(product);
  CHECK(product->depth.is_const(8));
  CHECK(product->units.is_const(20));
  CHECK_FALSE(product->transpose_b);
  CHECK_FALSE(last(AttrList{2, 1}, 1, {1, 1, 8, 20}));
  CHECK_FALSE(last(AttrList{1, 1}, 2, {1, 1, 4, 20}));
  CHECK_FALSE(last(AttrList{1, 1}, 1, {3, 3, 8, 20}));
}

TEST_CASE("products of matrices, and what packed weights of theirs are for") {
  const auto dense = Product("nn.dense", F32({2, 3, 5}), F32({7, 5}));
  REQUIRE(dense);
  CHECK(dense->transpose_b);
  CHECK(dense->depth.is_const(5));
  CHECK(dense->units.is_const(7));
  const auto matmul = Product("nn.matmul", F32({3, 5}), F32({5, 7}), With({{"transpose_a", true}}));
  REQUIRE(matmul);
  CHECK(matmul->transpose_a);
  CHECK_FALSE(matmul->transpose_b);
  const auto batched = Product("nn.batch_matmul", F32({4, 3, 5}), F32({4, 5, 7}));
  REQUIRE(batched);
  CHECK(batched->kind.is_batched);
  CHECK(batched->units.is_const(7));
  const auto blocks = Product("nn.contrib_dense_nbits", F32({3, 64}), {{9, 2, 16}, DType::kUInt8},
                              With({{"bits", 4}, {"in_units", 64}}));
  REQUIRE(blocks);
  CHECK(blocks->bits == 4);
  CHECK(blocks->block == 32);
  CHECK_FALSE(Product("nn.conv2d", F32({1, 1, 1, 1}), F32({1, 1, 1, 1})));

  for (const WeightForm& form : WeightForms()) {
    CAPTURE(form.name);
    const auto packed = PackedProduct(*dense, form);
    REQUIRE(packed);
    const OpDef* op = OpTable::Get().Find(packed->op);
    REQUIRE(op != nullptr);
    CHECK(CompleteAttrs(*op, packed->attrs).ok());
    CHECK_FALSE(PackedProduct(*matmul, form));
    const bool has_elements = form.block == 0 && form.side_by_side() == 1;
    CHECK(PackedProduct(*batched, form).has_value() == has_elements);
  }
}

}  // namespace
}  // namespace relayvm
