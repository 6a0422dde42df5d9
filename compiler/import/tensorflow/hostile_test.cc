// The whole table with nodes that nobody should write: each is refused with a message, or imported.
#include <algorithm>

#include "compiler/import/tensorflow/operator.h"
#include "compiler/import/tensorflow/testing.h"

namespace relayvm::import::tensorflow::testing {
namespace {

constexpr const char* kNumbers[] = {"alignment",
                                    "axis",
                                    "batch_dim",
                                    "batch_dims",
                                    "block_size",
                                    "blank_index",
                                    "dct_coefficient_count",
                                    "depth_radius",
                                    "filterbank_channel_count",
                                    "index_offset",
                                    "k",
                                    "max_element_size",
                                    "num",
                                    "num_args",
                                    "num_bits",
                                    "num_partitions",
                                    "num_split",
                                    "N",
                                    "seq_dim",
                                    "size",
                                    "stride",
                                    "vocab_size",
                                    "window_size",
                                    "begin_mask",
                                    "end_mask",
                                    "ellipsis_mask",
                                    "new_axis_mask",
                                    "shrink_axis_mask",
                                    "OUTPUT_RAGGED_RANK",
                                    "PARAMS_RAGGED_RANK",
                                    "concat_dim",
                                    "num_buckets",
                                    "merge_repeated",
                                    "offset",
                                    "key_index",
                                    "value_index",
                                    "seed",
                                    "seed2",
                                    "top_paths",
                                    "beam_width",
                                    "max_splits",
                                    "width"};
constexpr const char* kLists[] = {"strides",   "dilations", "ksize",        "ksizes",
                                  "rates",     "axis",      "squeeze_dims", "explicit_paddings",
                                  "boundaries"};
constexpr const char* kTypes[] = {
    "T",       "dtype",     "DstT",        "type",        "SrcT",         "out_type",
    "Tidx",    "Tout",      "Toutput",     "output_type", "output_dtype", "element_dtype",
    "Tsplits", "key_dtype", "value_dtype", "Treal",       "Tcomplex",     "out_idx"};
constexpr const char* kTexts[] = {"data_format", "padding",   "mode",        "equation",
                                  "round_mode",  "direction", "kernel_type", "interpolation",
                                  "fill_mode",   "align",     "shared_name", "reduce_type",
                                  "delimiter",   "pattern",   "encoding",    "loss_reduction"};

std::string All(std::span<const char* const> names, const std::string& value) {
  std::string text;
  for (const char* name : names) text += Attr(name, value);
  return text;
}

// Attributes of the operator: none, and ever stranger ones.
std::vector<std::string> Attributes() {
  const std::string least = "i: -9223372036854775808", most = "i: 9223372036854775807";
  const auto ints = [](const std::string& values) { return "list { i: [" + values + "] }"; };
  return {
      "",
      All(kNumbers, "i: 2") + All(kLists, ints("1, 2, 2, 1")) + All(kTypes, "type: DT_INT32") +
          All(kTexts, "s: 'SAME'") + Attr("shape", Shape("2 -1")),
      All(kNumbers, least) + All(kLists, ints("0, -1, 0, 0")) + All(kTypes, "type: DT_RESOURCE") +
          All(kTexts, "s: ''") + Attr("shape", "shape { unknown_rank: true }"),
      All(kNumbers, most) + All(kLists, "list { }") + All(kTypes, "type: DT_COMPLEX128") +
          All(kTexts, "s: 'VALID'") + Attr("shape", Shape("9223372036854775807 2")),
      All(kNumbers, "i: -1") +
          All(kLists, ints("9223372036854775807, -9223372036854775808, 3, 4, 5, 6, 7, 8")) +
          All(kTypes, "type: 77") + All(kTexts, "s: 'NCHW'") + Attr("shape", Shape("")),
      All(kNumbers, "f: 1.5") + All(kLists, "s: 'x'") + All(kTypes, "i: 3") + All(kTexts, "i: 7") +
          Attr("shape", "i: 1"),
      All(kNumbers, "i: 0") + All(kLists, ints("1, 1, 1, 1, 1")) + All(kTypes, "type: DT_STRING") +
          All(kTexts, "s: 'EXPLICIT'") + Attr("f", "func { name: 'none' }") +
          Attr("branches", "list { func { name: 'none' } }") +
          Attr("row_partition_types", "list { s: 'ROW_SPLITS' }") +
          Attr("fused_ops", "list { s: ['BiasAdd', 'Relu'] }"),
  };
}

// An input of a rank, a dtype; a constant or not.
std::string Given(const std::string& name, int rank, const char* type, int extent, bool constant) {
  std::string extents;
  int count = 1;
  for (int i = 0; i < rank; ++i) {
    extents += std::to_string(extent) + " ";
    count *= std::max(extent, 1);
  }
  if (!constant) return Input(name, type, extents);
  const bool real = std::string_view(type) == "DT_FLOAT";
  std::vector<int> values(static_cast<size_t>(count), extent == 2 ? 1 : -7);
  return Const(name, type, extents, real ? "float_val" : "int_val", values);
}

TEST_CASE("the table: hostile nodes") {
  struct Inputs {
    const char* type;
    int extent;
    bool constant;
  };
  // Of the first input, and of those behind it.
  constexpr std::pair<Inputs, Inputs> kKinds[] = {
      {{"DT_FLOAT", 2, false}, {"DT_FLOAT", 2, false}},
      {{"DT_FLOAT", 2, false}, {"DT_INT32", 2, true}},
      {{"DT_FLOAT", -1, false}, {"DT_INT32", 1, true}},
      {{"DT_INT32", 1, true}, {"DT_FLOAT", 3, false}},
      {{"DT_STRING", 2, false}, {"DT_BOOL", 2, false}},
  };
  const std::vector<std::string> attributes = Attributes();
  int ranks[] = {0, 1, 2, 3, 4, 6};
  for (const OperatorDef& op : Operators()) {
    CAPTURE(op.name);
    const int least = op.min_inputs, most = op.max_inputs < 0 ? op.min_inputs + 2 : op.max_inputs;
    size_t turn = 0;
    for (const auto& [first, others] : kKinds) {
      for (const int rank : ranks) {
        // Combinations of ranks and kinds meet the attributes in turn.
        const size_t a = turn++ % attributes.size();
        const int count = a % 4 < 2 ? least : most;
        std::string text, names;
        for (int i = 0; i < count; ++i) {
          const std::string name = "x" + std::to_string(i);
          const Inputs& of = i == 0 ? first : others;
          const int own = i == 0 ? rank : static_cast<int>(turn + static_cast<size_t>(i)) % 4;
          text += Given(name, own, of.type, of.extent, of.constant);
          names += name + " ";
        }
        text += Node("y", std::string(op.name), names, attributes[a]);
        const auto module = ImportText(text, {.signature = "y"});
        if (module.ok()) continue;
        CHECK(!module.status().message().empty());
        CHECK_MESSAGE(module.status().code() != StatusCode::kInternal, module.status().ToString());
      }
    }
    // Another number of inputs.
    std::string text = Float("x", "2 2"), names;
    for (int i = 0; i < most + 1 && op.max_inputs >= 0; ++i) names += "x ";
    // Switch leaves it to Merge what its second input is.
    if ((op.max_inputs < 0 && least == 0) || op.name.find("Switch") != op.name.npos) continue;
    text += Node("y", std::string(op.name), op.max_inputs < 0 ? "" : names);
    CHECK(!ImportText(text, {.signature = "y"}).ok());
  }
}

}  // namespace
}  // namespace relayvm::import::tensorflow::testing
