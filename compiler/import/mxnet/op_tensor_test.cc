// Values of operators on shapes, indices, orders, sums; numpy's and MXNet's.
#include <cmath>

#include "compiler/import/mxnet/testing.h"

namespace relayvm::import::mxnet::testing {

namespace {

const Input kSix{{2, 3}, {1, 2, 3, 4, 5, 6}};
const Input kRow{{3}, {1, 2, 3}};

}  // namespace

TEST_CASE("MXNet shapes") {
  // Only the order of elements tells what became of the axes; shape_array tells the extents.
  const ValueCase rows[] = {
      {"transpose", "", {kSix}, {{1, 4, 2, 5, 3, 6}}},
      {"SwapAxis", "dim1=0|dim2=1", {kSix}, {{1, 4, 2, 5, 3, 6}}},
      {"_np_moveaxis", "source=0|destination=-1", {kSix}, {{1, 4, 2, 5, 3, 6}}},
      {"shape_array", "", {kSix}, {{2, 3}}},
      {"size_array", "", {kSix}, {{6}}},
      {"broadcast_to", "shape=(2, 0)", {{{1, 2}, {1, 2}}}, {{1, 2, 1, 2}}, false},
      {"broadcast_axis", "axis=0|size=2", {{{1, 2}, {1, 2}}}, {{1, 2, 1, 2}}, false},
      {"broadcast_like",
       "lhs_axes=(0,)|rhs_axes=(1,)",
       {{{1, 2}, {1, 2}}, kSix},
       {{1, 2, 1, 2, 1, 2}},
       false},
      {"depth_to_space",
       "block_size=2",
       {{{1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}}},
       {{1, 3, 2, 4, 5, 7, 6, 8}}},
      {"space_to_depth",
       "block_size=2",
       {{{1, 1, 2, 4}, {1, 3, 2, 4, 5, 7, 6, 8}}},
       {{1, 2, 3, 4, 5, 6, 7, 8}}},
  };
  for (const ValueCase& row : rows) CheckValues(row);
}

TEST_CASE("MXNet's codes of reshapes") {
  struct Row {
    const char *op, *attrs;
    std::vector<int64_t> expected;
  };
  // Of (2, 3, 4).
  const Row rows[] = {
      {"Reshape", "shape=(0, -1)", {2, 12}},
      {"Reshape", "shape=(-2,)", {2, 3, 4}},
      {"Reshape", "shape=(-3, -2)", {6, 4}},
      {"Reshape", "shape=(0, 0, -4, 2, -1)", {2, 3, 2, 2}},
      {"Reshape", "shape=(-4, 1, 2, -2)", {1, 2, 3, 4}},
      {"Reshape", "shape=(-1, 0)|reverse=True", {6, 4}},
      {"Reshape", "target_shape=(0, 6)", {4, 6}},
      {"_npx_reshape", "newshape=(-2, -5)", {2, 12}},
      {"_npx_reshape", "newshape=(-6, 1, -1, -4)", {1, 2, 3, 4}},
      {"_np_reshape", "newshape=(4, -1)", {4, 6}},
      {"squeeze", "", {2, 3, 4}},
      {"expand_dims", "axis=-1", {2, 3, 4, 1}},
      {"Flatten", "", {2, 12}},
      {"reshape_like", "", {2, 3, 4}},
  };
  const Input x{{2, 3, 4}, std::vector<double>(24, 1)};
  for (const Row& row : rows) {
    for (const bool open : {false, true}) {
      CAPTURE(std::string(row.attrs));
      const bool two = std::string_view(row.op) == "reshape_like";
      ImportOptions options;
      options.shapes["x0"] = options.shapes["x1"] = ShapeText(x, open);
      if (!two) options.shapes.erase("x1");
      const std::vector<Input> inputs(two ? 2 : 1, x);
      const auto found = Run(
          ImportMxnet("one", BytesOf(SymbolOf(row.op, row.attrs, inputs.size())), options), inputs);
      REQUIRE(found.size() == 1);
      CHECK(found[0].shape == row.expected);
    }
  }
}

TEST_CASE("MXNet slices, joins and paddings") {
  const Input x{{2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const ValueCase rows[] = {
      {"slice", "begin=(None, 1)|end=(None, -1)", {x}, {{2, 3, 6, 7}}},
      {"slice", "begin=(1, None)|end=(None, None)|step=(-1, -2)", {x}, {{8, 6, 4, 2}}},
      {"slice_axis", "axis=1|begin=-3|end=None", {x}, {{2, 3, 4, 6, 7, 8}}},
      {"slice_like", "axes=(1,)", {x, kSix}, {{1, 2, 3, 5, 6, 7}}},
      {"SliceChannel", "num_outputs=2|axis=1", {x}, {{1, 2, 5, 6}, {3, 4, 7, 8}}, false},
      {"_split_v2", "axis=1|indices=(0, 1)|sections=0", {x}, {{1, 5}, {2, 3, 4, 6, 7, 8}}},
      {"_split_v2", "axis=1|indices=()|sections=3", {x}, {{1, 2, 5, 6}, {3, 7}, {4, 8}}, false},
      {"reverse", "axis=1", {x}, {{4, 3, 2, 1, 8, 7, 6, 5}}},
      {"_np_roll", "shift=1|axis=1", {x}, {{4, 1, 2, 3, 8, 5, 6, 7}}},
      {"_npi_rot90", "k=1", {kSix}, {{3, 6, 2, 5, 1, 4}}},
      {"tile", "reps=(2, 1)", {kSix}, {{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}}},
      {"repeat", "repeats=2", {kRow}, {{1, 1, 2, 2, 3, 3}}},
      {"Pad", "mode=edge|pad_width=(0, 0, 1, 1)", {kSix}, {{1, 1, 2, 3, 3, 4, 4, 5, 6, 6}}},
      {"_npi_pad", "mode=maximum|pad_width=((0, 0), (1, 0))", {kSix}, {{3, 1, 2, 3, 6, 4, 5, 6}}},
      {"diag", "k=1", {kSix}, {{2, 6}}},
      {"diag", "k=-1", {{{2}, {1, 2}}}, {{0, 0, 0, 1, 0, 0, 0, 2, 0}}},
      {"_np_trace", "", {kSix}, {{6}}, true, true},
      {"_npi_tril", "k=0", {kSix}, {{1, 0, 0, 4, 5, 0}}},
      {"Concat", "dim=1|num_args=2", {kSix, kSix}, {{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6}}},
      {"stack", "axis=1|num_args=2", {kRow, kRow}, {{1, 1, 2, 2, 3, 3}}},
      {"_npi_column_stack", "num_args=2", {kRow, kRow}, {{1, 1, 2, 2, 3, 3}}},
      {"_npi_concatenate", "axis=None|num_args=2", {kSix, kRow}, {{1, 2, 3, 4, 5, 6, 1, 2, 3}}},
      {"_slice_assign_scalar",
       "begin=(0, 1)|end=(None, None)|scalar=9",
       {kSix},
       {{1, 9, 9, 4, 9, 9}}},
      {"_slice_assign", "begin=(1,)|end=(2,)", {kSix, {{1, 3}, {7, 8, 9}}}, {{1, 2, 3, 7, 8, 9}}},
      {"_npi_insert_scalar", "int_ind=1|axis=1|val=9", {kSix}, {{1, 9, 2, 3, 4, 9, 5, 6}}},
      {"_npi_delete", "int_ind=-1|axis=1", {kSix}, {{1, 2, 4, 5}}},
      {"Crop",
       "num_args=1|h_w=(1, 2)|offset=(1, 0)",
       {{{1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}}},
       {{4, 5}}},
  };
  for (const ValueCase& row : rows) CheckValues(row);
}

TEST_CASE("MXNet indices and orders") {
  const Input at{{2}, {0, 5}};
  const ValueCase rows[] = {
      {"take", "axis=1", {kSix, at}, {{1, 3, 4, 6}}},
      {"take", "axis=1|mode=wrap", {kSix, {{2}, {-1, 4}}}, {{3, 2, 6, 5}}},
      {"Embedding", "input_dim=2|output_dim=3", {at, kSix}, {{1, 2, 3, 4, 5, 6}}},
      {"pick", "axis=1", {kSix, {{2}, {2, 9}}}, {{3, 6}}},
      {"pick", "axis=1|mode=wrap|keepdims=True", {kSix, {{2}, {-1, 4}}}, {{3, 5}}},
      {"gather_nd", "", {kSix, {{2, 2}, {0, 1, 2, -1}}}, {{3, 6}}, false},
      {"scatter_nd", "shape=(2, 3)", {{{2}, {7, 8}}, {{2, 2}, {0, 1, 2, 0}}}, {{0, 0, 7, 8, 0, 0}}},
      {"one_hot",
       "depth=3|on_value=2|off_value=-1",
       {{{3}, {0, 2, 5}}},
       {{2, -1, -1, -1, -1, 2, -1, -1, -1}}},
      {"where", "", {{{2}, {0, 1}}, kSix, {{2, 3}, {9, 9, 9, 9, 9, 9}}}, {{9, 9, 9, 4, 5, 6}}},
      {"_contrib_boolean_mask", "", {kSix, {{2}, {0, 1}}}, {{4, 5, 6}}},
      {"_contrib_index_copy",
       "",
       {kSix, {{1}, {1}, DType::kInt64}, {{1, 3}, {7, 8, 9}}},
       {{1, 2, 3, 7, 8, 9}}},
      {"_contrib_index_array", "", {{{2, 1}, {0, 0}}}, {{0, 0, 1, 0}}},
      {"_npi_boolean_mask_assign_tensor",
       "",
       {kRow, {{3}, {1, 0, 1}, DType::kBool}, {{2}, {8, 9}}},
       {{8, 2, 9}}},
      {"_ravel_multi_index", "shape=(3, 4)", {{{2, 2}, {0, 2, 3, 1}}}, {{3, 9}}},

      {"_unravel_index", "shape=(3, 4)", {{{2}, {3, 9}}}, {{0, 2, 3, 1}}},
      {"_npx_nonzero", "", {{{2, 2}, {1, 0, 0, 2}}}, {{0, 0, 1, 1}}, true, true},
      {"topk", "k=2|ret_typ=both", {{{4}, {3, 1, 4, 1}}}, {{4, 3}, {2, 0}}},
      {"topk", "k=1|ret_typ=mask|is_ascend=True", {{{4}, {3, 1, 4, 1}}}, {{0, 1, 0, 0}}},
      {"argsort", "is_ascend=False", {{{4}, {3, 1, 4, 1}}}, {{2, 0, 1, 3}}},
      {"sort", "", {{{4}, {3, 1, 4, 1}}}, {{1, 1, 3, 4}}},
      {"_npi_unique", "return_counts=True", {{{4}, {3, 1, 4, 1}}}, {{1, 3, 4}, {2, 1, 1}}},
      {"_npi_bincount", "minlength=5", {{{3}, {2, 0, 2}, DType::kInt32}}, {{1, 0, 2, 0, 0}}},
  };
  for (const ValueCase& row : rows) CheckValues(row);
}

TEST_CASE("MXNet reductions and tensors from nothing") {
  const Input nan{{2}, {NAN, 3}};
  const ValueCase rows[] = {
      {"sum", "", {kSix}, {{21}}},
      {"sum", "axis=1|exclude=True", {kSix}, {{5, 7, 9}}},
      {"mean", "axis=(0,)|keepdims=True", {kSix}, {{2.5, 3.5, 4.5}}},
      {"nansum", "", {nan}, {{3}}},
      {"nanprod", "", {nan}, {{3}}},
      {"norm", "ord=1|axis=1", {kSix}, {{6, 15}}},
      {"argmax", "axis=1", {kSix}, {{2, 2}}},
      {"_npi_argmin", "axis=None", {kSix}, {{0}}},
      {"moments", "axes=(1,)", {kSix}, {{2, 5}, {2.0 / 3, 2.0 / 3}}},
      {"_npi_var", "axis=1|ddof=1", {kSix}, {{1, 1}}},
      {"_npi_average",
       "axis=0|weighted=True",
       {kSix, {{2}, {3, 1}}},
       {{1.75, 2.75, 3.75}, {4, 4, 4}}},
      {"_np_cumsum", "axis=1", {kSix}, {{1, 3, 6, 4, 9, 15}}},
      {"_npi_norm", "ord=inf|axis=(0, 1)|flag=-1", {kSix}, {{15}}},
      {"_npi_percentile", "q_scalar=25|axis=1", {kSix}, {{1.5, 4.5}}},
      {"_npi_diff", "", {kSix}, {{1, 1, 1, 1}}},
      {"_npi_ediff1d", "to_begin_scalar=0", {kRow}, {{0, 1, 1}}},
      {"_npi_polyval", "", {{{3}, {1, 2, 3}}, {{2}, {0, 2}}}, {{3, 11}}, false},
      {"_histogram", "bin_cnt=2|range=(0, 4)", {{{4}, {0, 1, 2, 4}}}, {{2, 2}, {0, 2, 4}}},
      {"_arange", "start=1|stop=8|step=3|repeat=2", {}, {{1, 1, 4, 4, 7, 7}}},
      {"_arange", "start=3", {}, {{0, 1, 2}}},
      {"_linspace", "start=0|stop=1|num=3", {}, {{0, 0.5, 1}}},
      {"_eye", "N=2|M=3|k=1", {}, {{0, 1, 0, 0, 0, 1}}},
      {"_full", "shape=(2,)|value=1.5", {}, {{1.5, 1.5}}},
      {"_npi_hanning", "M=3", {}, {{0, 1, 0}}},
      {"_npi_indices", "dimensions=(2, 2)", {}, {{0, 0, 1, 1, 0, 1, 0, 1}}},
      {"_contrib_arange_like", "axis=1|start=2|step=0.5", {kSix}, {{2, 2.5, 3}}},
      {"_contrib_arange_like", "repeat=2", {kRow}, {{0, 0, 1}}},
  };
  for (const ValueCase& row : rows) CheckValues(row);
}

}  // namespace relayvm::import::mxnet::testing
