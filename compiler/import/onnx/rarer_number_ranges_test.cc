// Every operator of ONNX is known to take any number, or has a row that checks what it does with a
// wrong one: those of number_ranges_test.cc, and here those that share what reads the input, and
// rarer ones.
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "compiler/import/onnx/number_ranges.h"
#include "compiler/import/onnx/operator.h"

namespace relayvm {
namespace {

using import::testing::Int;
using import::testing::Node;

std::string Constant(const char* name, int type, const std::vector<int64_t>& dims,
                     const std::string& elements) {
  return fmt::format("initializer {{ name: '{}' data_type: {} dims: [{}] {} }} ", name, type,
                     fmt::join(dims, ", "), elements);
}
std::string Ones(const char* name, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  return Constant(name, 1, dims,
                  fmt::format("float_data: [{}]",
                              fmt::join(std::vector<int>(static_cast<size_t>(count), 1), ", ")));
}
std::string Bytes(const char* name, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  return Constant(name, 2, dims,
                  "raw_data: '" + std::string(static_cast<size_t>(count), 'a') + "'");
}

// Operators that share what reads the input, and rarer ones.
std::vector<Range> OtherRanges() {
  using import::testing::Floats;
  using import::testing::Ints;
  using import::testing::IntScalar;
  const char* const ms = "com.microsoft";
  const std::string cast = Node("Cast", "i", "q", Int("to", 1));
  const std::string reshaped = Node("Reshape", "i k", "j");
  const std::string unsqueezed = Node("Unsqueeze", "i o", "p") + Ints("o", {0});
  const std::string table = Ones("e", {2, 2}) + Ones("g", {2}) + Ints("k", {1, 2}) + reshaped +
                            Constant("t", 6, {1, 2}, "int32_data: [0, 1]");
  const std::string bytes =
      Bytes("w", {1, 2, 4}) + Bytes("r", {1, 1, 4}) + Bytes("z", {1}) + Floats("s", {1});
  const std::string mel = IntScalar("b", 3) + IntScalar("l", 8) + IntScalar("r", 8000) +
                          import::testing::FloatScalar("low", 0) +
                          import::testing::FloatScalar("high", 4000);
  const std::string rotary = Int("num_heads", 1) + Int("kv_num_heads", 1);
  const std::vector<int64_t> steps = {3, 2, 2};
  std::vector<Range> ranges = {
      Range("DynamicSlice", "x s s i", "", {1, 0}, {1, 2}, "axes 'i'", ": 2, expected -2 to 1",
            nullptr, {3, 2}, Ints("s", {0, 0})),
      Range("CumProd", "x i", "", {1}, {2}, "axis 'i'", ": 2, expected -2 to 1",
            "axis 'i': 2, expected -2 to 1", {3, 2}, "", "", 7, true),
      Range("GRU", "x w r - i", "", {1, 2}, {1, 4}, "sequence_lens 'i'", ": 4, expected 0 to 3",
            nullptr, steps, Ones("w", {1, 3, 2}) + Ones("r", {1, 3, 1}), "", 6),
      Range("LSTM", "x w r - i", "", {1, 2}, {1, 4}, "sequence_lens 'i'", ": 4, expected 0 to 3",
            nullptr, steps, Ones("w", {1, 4, 2}) + Ones("r", {1, 4, 1}), "", 6),
      Range("DynamicQuantizeLSTM", "x w r - i - - - s z s z", Int("hidden_size", 1), {1, 2}, {1, 4},
            "sequence_lens 'i'", ": 4, expected 0 to 3", nullptr, steps, bytes, ms, 6),
      Range(
          "MaxUnpool", "x j",
          "attribute { name: 'kernel_shape' type: INTS ints: 2 } attribute { name: 'strides' type: "
          "INTS ints: 2 } ",
          {0, 3}, {0, 4}, "indices 'j'", ": 4, expected 0 to 3", nullptr, {1, 1, 2},
          Ints("k", {1, 1, 2}) + reshaped),
      Range("Scatter", "x i u", "", {0, -5}, {0, 5}, "indices 'i'", ": 5, expected -5 to 4",
            nullptr, {5}, Floats("u", {1, 2})),
      Range("SplitToSequence", "x i", Int("axis", 0), {1, 2}, {-1, 4}, "split 'i'",
            ": -1, expected 0 or more", "split: a size is negative"),
      Range("RotaryEmbedding", "x c c p", "", {0, 1}, {0, 2}, "position_ids 'p'",
            ": 2, expected 0 to 1", nullptr, {1, 2, 2, 2}, unsqueezed + Ones("c", {2, 1})),
      Range("RotaryEmbedding", "x p c c", "", {0, 1}, {0, 2}, "position_ids 'p'",
            ": 2, expected 0 to 1", nullptr, {1, 2, 4}, unsqueezed + Ones("c", {2, 2}), ms),
      Range("Attention", "x x x - - - i", "", {1}, {3}, "nonpad_kv_seqlen 'i'",
            ": 3, expected 0 to 2", nullptr, {1, 1, 2, 2}),
      Range("GroupQueryAttention", "x x x - - i t", rotary, {1}, {5}, "seqlens_k 'i'",
            ": 5, expected 0 to 1", nullptr, {1, 2, 16}, Constant("t", 6, {}, "int32_data: 2"), ms,
            6),
      Range("AffineGrid", "x i", "", {1, 1, 2, 2}, {1, 1, -1, 2}, "size 'i'",
            ": -1, expected 0 or more", nullptr, {1, 2, 3}),
      Range("MelWeightMatrix", "i l r low high", "", {3}, {-3}, "num_mel_bins 'i'",
            ": -3, expected 1 or more", nullptr, {3, 2}, mel, "", 7, true),
      Range("MelWeightMatrix", "b i r low high", "", {8}, {-8}, "dft_length 'i'",
            ": -8, expected 1 or more", nullptr, {3, 2}, mel, "", 7, true),
      Range("Resize", "x - q", "", {1, 2}, {1, -2}, "1 for a positive number, of scales 'q'",
            ": 0, expected 1 to 1", "scales: expected positive numbers", {3, 2}, cast),
      Range("Upsample", "x q", "", {1, 2}, {1, -2}, "1 for a positive number, of scales 'q'",
            ": 0, expected 1 to 1", "scales: expected positive numbers", {3, 2}, cast),
      Range("MaxRoiPool", "x j", "attribute { name: 'pooled_shape' type: INTS ints: [1, 1] } ",
            {0, 0, 0, 1, 1}, {1, 0, 0, 1, 1}, "rois 'j'", ": 1, expected 0 to 0", nullptr,
            {1, 1, 4, 4}, cast + Node("Reshape", "q k", "j") + Ints("k", {1, 5})),
      Range("STFT", "x k - i", "", {4}, {0}, "frame_length 'i'", ": 0, expected 1 or more", nullptr,
            {1, 8, 1}, IntScalar("k", 2), "", 7, true),
      Range("Col2Im", "x i k", "", {2, 2}, {2, -2}, "image_shape 'i'",
            ": -2, expected 2 to 16777215", nullptr, {1, 4, 1}, Ints("k", {2, 2})),
      Range("Col2Im", "x k i", "", {2, 2}, {2, 0}, "block_shape 'i'", ": 0, expected 1 to 16777215",
            nullptr, {1, 4, 1}, Ints("k", {2, 2})),
      Range("GatherND", "x i", "", {2, 1}, {2, 2}, "indices 'i'", ": 2, expected -2 to 1", nullptr,
            {3, 2}, "", ms),
      Range("Pad", "x i", "", {-1, 0, -1, 0}, {-2, 0, -2, 0},
            "what stays of an axis by the negative pads 'i'", ": -1, expected 0 or more",
            "loses more", {3, 2}, "", ms),
      Range("Range", "a b i", "", {1}, {0}, "delta, by its size, 'i'", ": 0, expected 1 or more",
            nullptr, {3, 2}, IntScalar("a", 0) + IntScalar("b", 4), ms, 7, true),
      Range(
          "GatherBlockQuantized", "w i k",
          Int("block_size", 16) + Int("quantize_axis", 1) + Int("gather_axis", 0) + Int("bits", 8),
          {0, 1}, {0, 2}, "indices 'i'", ": 2, expected -2 to 1", nullptr, {3, 2},
          Bytes("w", {2, 16}) + Ones("k", {2, 1}), ms),
      Range("EmbedLayerNormalization", "j - e e - g g", "", {0, 1}, {0, 2}, "input_ids 'j'",
            ": 2, expected 0 to 1", nullptr, {1, 2}, table, ms, 6),
      Range("EmbedLayerNormalization", "t j e e e g g", "", {0, 1}, {0, 2}, "segment_ids 'j'",
            ": 2, expected 0 to 1", nullptr, {1, 2}, table, ms, 6),
      Range("EmbedLayerNormalization", "t - e e - g g - j", "", {0, 1}, {0, 2}, "position_ids 'j'",
            ": 2, expected 0 to 1", nullptr, {1, 2}, table, ms, 6),
  };
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceMax", "ReduceMean",
                         "ReduceMin", "ReduceProd", "ReduceSumSquare"}) {
    ranges.push_back(Range(op, "x i", "", {-1}, {2}, "axes 'i'", ": 2, expected -2 to 1",
                           "axes 'i': 2, expected -2 to 1"));
  }
  for (const char* op : {"HammingWindow", "BlackmanWindow"}) {
    ranges.push_back(Range(op, "i", "", {4}, {-1}, "size 'i'", ": -1, expected 0 or more", nullptr,
                           {3, 2}, "", "", 7, true));
  }
  return ranges;
}

TEST_CASE("rarer operators: what is out of range names node, input and number") {
  for (const Range& r : OtherRanges()) CheckRange(r);
}

// --- No operator is left out ---

// Inputs whose numbers may be illegal, by operator.
struct Numbered {
  const char* op;
  std::vector<int> inputs;
  const char* domain = "";
};

std::vector<Numbered> NumberedInputs() {
  const char* const ms = "com.microsoft";
  std::vector<Numbered> all = {{"AffineGrid", {1}},
                               {"Attention", {6}},
                               {"BlackmanWindow", {0}},
                               {"CenterCropPad", {1}},
                               {"Col2Im", {1, 2}},
                               {"ConstantOfShape", {0}},
                               {"CumProd", {1}},
                               {"CumSum", {1}},
                               {"DFT", {1}},
                               {"Dropout", {1}},
                               {"DynamicSlice", {3}},
                               {"Expand", {1}},
                               {"GRU", {4}},
                               {"Gather", {1}},
                               {"GatherElements", {1}},
                               {"GatherND", {1}},
                               {"HammingWindow", {0}},
                               {"HannWindow", {0}},
                               {"LSTM", {4}},
                               {"MaxRoiPool", {1}},
                               {"MaxUnpool", {1}},
                               {"MelWeightMatrix", {0, 1}},
                               {"NegativeLogLikelihoodLoss", {1}},
                               {"NonMaxSuppression", {3}},
                               {"OneHot", {1}},
                               {"Pad", {1}},
                               {"RNN", {4}},
                               {"Range", {2}},
                               {"Reshape", {1}},
                               {"Resize", {2, 3}},
                               {"ReverseSequence", {1}},
                               {"RoiAlign", {2}},
                               {"RotaryEmbedding", {3}},
                               {"STFT", {1, 3}},
                               {"Scatter", {1}},
                               {"ScatterElements", {1}},
                               {"ScatterND", {1}},
                               {"SequenceAt", {1}},
                               {"SequenceErase", {1}},
                               {"SequenceInsert", {2}},
                               {"Slice", {3, 4}},
                               {"SoftmaxCrossEntropyLoss", {1}},
                               {"Split", {1}},
                               {"SplitToSequence", {1}},
                               {"Squeeze", {1}},
                               {"TensorScatter", {2}},
                               {"Tile", {1}},
                               {"TopK", {1}},
                               {"Unsqueeze", {1}},
                               {"Upsample", {1}},
                               {"ArrayFeatureExtractor", {1}, "ai.onnx.ml"},
                               {"OneHotEncoder", {0}, "ai.onnx.ml"},
                               {"CropAndResize", {2}, ms},
                               {"DynamicQuantizeLSTM", {4}, ms},
                               {"EmbedLayerNormalization", {0, 1, 8}, ms},
                               {"GatherBlockQuantized", {1}, ms},
                               {"GatherND", {1}, ms},
                               {"GroupQueryAttention", {5}, ms},
                               {"MatMulNBits", {4}, ms},
                               {"Pad", {1}, ms},
                               {"Range", {2}, ms},
                               {"RotaryEmbedding", {1}, ms},
                               {"TorchEmbedding", {1}, ms}};
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                         "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"}) {
    all.push_back({op, {1}});
  }
  return all;
}

// Operators that take any number there is, or whose numbers are known when compiling (Scan of opset
// 8 has lengths: a test of its own in tests/onnx).
constexpr std::string_view kWithout[] = {":Abs",
                                         ":Acos",
                                         ":Acosh",
                                         ":Add",
                                         ":Affine",
                                         ":And",
                                         ":ArgMax",
                                         ":ArgMin",
                                         ":Asin",
                                         ":Asinh",
                                         ":Atan",
                                         ":Atanh",
                                         ":AveragePool",
                                         ":BatchNormalization",
                                         ":Bernoulli",
                                         ":BitCast",
                                         ":BitShift",
                                         ":BitwiseAnd",
                                         ":BitwiseNot",
                                         ":BitwiseOr",
                                         ":BitwiseXor",
                                         ":Cast",
                                         ":CastLike",
                                         ":Ceil",
                                         ":Celu",
                                         ":Clip",
                                         ":Compress",
                                         ":Concat",
                                         ":ConcatFromSequence",
                                         ":Constant",
                                         ":Conv",
                                         ":ConvInteger",
                                         ":ConvTranspose",
                                         ":Cos",
                                         ":Cosh",
                                         ":Crop",
                                         ":DeformConv",
                                         ":DepthToSpace",
                                         ":DequantizeLinear",
                                         ":Det",
                                         ":Div",
                                         ":DynamicQuantizeLinear",
                                         ":Einsum",
                                         ":Elu",
                                         ":Equal",
                                         ":Erf",
                                         ":Exp",
                                         ":EyeLike",
                                         ":Flatten",
                                         ":Floor",
                                         ":Gelu",
                                         ":Gemm",
                                         ":GlobalAveragePool",
                                         ":GlobalLpPool",
                                         ":GlobalMaxPool",
                                         ":Greater",
                                         ":GreaterOrEqual",
                                         ":GridSample",
                                         ":GroupNormalization",
                                         ":HardSigmoid",
                                         ":HardSwish",
                                         ":Hardmax",
                                         ":Identity",
                                         ":If",
                                         ":ImageScaler",
                                         ":InstanceNormalization",
                                         ":IsInf",
                                         ":IsNaN",
                                         ":LRN",
                                         ":LayerNormalization",
                                         ":LeakyRelu",
                                         ":Less",
                                         ":LessOrEqual",
                                         ":Log",
                                         ":LogSoftmax",
                                         ":Loop",
                                         ":LpNormalization",
                                         ":LpPool",
                                         ":MatMul",
                                         ":MatMulInteger",
                                         ":Max",
                                         ":MaxPool",
                                         ":Mean",
                                         ":MeanVarianceNormalization",
                                         ":Min",
                                         ":Mish",
                                         ":Mod",
                                         ":Mul",
                                         ":Multinomial",
                                         ":Neg",
                                         ":NonZero",
                                         ":Not",
                                         ":Optional",
                                         ":OptionalGetElement",
                                         ":OptionalHasElement",
                                         ":Or",
                                         ":PRelu",
                                         ":ParametricSoftplus",
                                         ":Pow",
                                         ":QLinearConv",
                                         ":QLinearMatMul",
                                         ":QuantizeLinear",
                                         ":RMSNormalization",
                                         ":RandomNormal",
                                         ":RandomNormalLike",
                                         ":RandomUniform",
                                         ":RandomUniformLike",
                                         ":Reciprocal",
                                         ":RegexFullMatch",
                                         ":Relu",
                                         ":Round",
                                         ":Scale",
                                         ":ScaledTanh",
                                         ":Scan",
                                         ":Selu",
                                         ":SequenceConstruct",
                                         ":SequenceEmpty",
                                         ":SequenceLength",
                                         ":SequenceMap",
                                         ":Shape",
                                         ":Shrink",
                                         ":Sigmoid",
                                         ":Sign",
                                         ":SimplifiedLayerNormalization",
                                         ":Sin",
                                         ":Sinh",
                                         ":Size",
                                         ":Softmax",
                                         ":Softplus",
                                         ":Softsign",
                                         ":SpaceToDepth",
                                         ":Sqrt",
                                         ":StringConcat",
                                         ":StringNormalizer",
                                         ":StringSplit",
                                         ":Sub",
                                         ":Sum",
                                         ":Swish",
                                         ":Tan",
                                         ":Tanh",
                                         ":TfIdfVectorizer",
                                         ":ThresholdedRelu",
                                         ":Transpose",
                                         ":Trilu",
                                         ":Unique",
                                         ":Where",
                                         ":Xor",
                                         "ai.onnx.ml:Binarizer",
                                         "ai.onnx.ml:CastMap",
                                         "ai.onnx.ml:CategoryMapper",
                                         "ai.onnx.ml:DictVectorizer",
                                         "ai.onnx.ml:FeatureVectorizer",
                                         "ai.onnx.ml:Imputer",
                                         "ai.onnx.ml:LabelEncoder",
                                         "ai.onnx.ml:LinearClassifier",
                                         "ai.onnx.ml:LinearRegressor",
                                         "ai.onnx.ml:Normalizer",
                                         "ai.onnx.ml:SVMClassifier",
                                         "ai.onnx.ml:SVMRegressor",
                                         "ai.onnx.ml:Scaler",
                                         "ai.onnx.ml:TreeEnsemble",
                                         "ai.onnx.ml:TreeEnsembleClassifier",
                                         "ai.onnx.ml:TreeEnsembleRegressor",
                                         "ai.onnx.ml:ZipMap",
                                         "com.microsoft:Attention",
                                         "com.microsoft:BiasAdd",
                                         "com.microsoft:BiasGelu",
                                         "com.microsoft:BiasSoftmax",
                                         "com.microsoft:BiasSplitGelu",
                                         "com.microsoft:CDist",
                                         "com.microsoft:ComplexMul",
                                         "com.microsoft:ComplexMulConj",
                                         "com.microsoft:DequantizeLinear",
                                         "com.microsoft:DynamicQuantizeMatMul",
                                         "com.microsoft:ExpandDims",
                                         "com.microsoft:FastGelu",
                                         "com.microsoft:FusedConv",
                                         "com.microsoft:FusedGemm",
                                         "com.microsoft:FusedMatMul",
                                         "com.microsoft:FusedMatMulActivation",
                                         "com.microsoft:Gelu",
                                         "com.microsoft:GemmFastGelu",
                                         "com.microsoft:GridSample",
                                         "com.microsoft:GroupNorm",
                                         "com.microsoft:Inverse",
                                         "com.microsoft:IsAllFinite",
                                         "com.microsoft:LayerNormalization",
                                         "com.microsoft:MatMulBnb4",
                                         "com.microsoft:MatMulInteger16",
                                         "com.microsoft:MatMulIntegerToFloat",
                                         "com.microsoft:MulInteger",
                                         "com.microsoft:MultiHeadAttention",
                                         "com.microsoft:NhwcConv",
                                         "com.microsoft:NhwcFusedConv",
                                         "com.microsoft:NhwcMaxPool",
                                         "com.microsoft:QAttention",
                                         "com.microsoft:QGemm",
                                         "com.microsoft:QLinearAdd",
                                         "com.microsoft:QLinearAveragePool",
                                         "com.microsoft:QLinearConcat",
                                         "com.microsoft:QLinearConv",
                                         "com.microsoft:QLinearGlobalAveragePool",
                                         "com.microsoft:QLinearLeakyRelu",
                                         "com.microsoft:QLinearMul",
                                         "com.microsoft:QLinearReduceMean",
                                         "com.microsoft:QLinearSigmoid",
                                         "com.microsoft:QLinearSoftmax",
                                         "com.microsoft:QLinearWhere",
                                         "com.microsoft:MurmurHash3",
                                         "com.microsoft:QuantizeLinear",
                                         "com.microsoft:QuickGelu",
                                         "com.microsoft:ReduceSumInteger",
                                         "com.microsoft:SimplifiedLayerNormalization",
                                         "com.microsoft:SkipGroupNorm",
                                         "com.microsoft:SkipLayerNormalization",
                                         "com.microsoft:SkipSimplifiedLayerNormalization",
                                         "com.microsoft:Tokenizer",
                                         "com.microsoft:TransposeMatMul",
                                         "com.microsoft:Trilu",
                                         "com.microsoft:UnfoldTensor",
                                         "com.microsoft:Unique"};

TEST_CASE("every operator is known to take any number, or has a row for each input that does not") {
  using Key = std::pair<std::string, std::string>;  // domain, operator
  std::map<Key, std::set<int>> numbered, tested;
  for (const Numbered& n : NumberedInputs())
    numbered[{n.domain, n.op}].insert(n.inputs.begin(), n.inputs.end());
  std::vector<Range> rows = Ranges();
  const std::vector<Range> others = OtherRanges();
  rows.insert(rows.end(), others.begin(), others.end());
  for (const Range& r : rows) {
    // The name that the error quotes.
    const std::string_view said = r.said;
    const size_t from = said.find('\''), to = said.rfind('\'');
    const std::string name(from == to ? std::string_view("i")
                                      : said.substr(from + 1, to - from - 1));
    std::istringstream names(r.in);
    std::string input;
    for (int i = 0; names >> input; ++i) {
      if (input == name) tested[{r.domain, r.op}].insert(i);
    }
  }
  // Those of sequences, of blocks of weights and of categories: Checks().
  for (const char* op : {"SequenceAt", "SequenceErase"}) tested[{"", op}].insert(1);
  tested[{"", "SequenceInsert"}].insert(2);
  // Fractions.
  tested[{"", "NonMaxSuppression"}].insert(3);
  tested[{"", "Dropout"}].insert(1);
  tested[{"com.microsoft", "MatMulNBits"}].insert(4);
  tested[{"ai.onnx.ml", "OneHotEncoder"}].insert(0);
  std::set<Key> without;
  for (const std::string_view name : kWithout) {
    const size_t colon = name.find(':');
    without.emplace(name.substr(0, colon), name.substr(colon + 1));
  }
  for (const import::OperatorDef& op : import::Operators()) {
    const Key key(op.domain, op.name);
    CAPTURE(key.first);
    CAPTURE(key.second);
    CHECK_MESSAGE(numbered.contains(key) != without.contains(key),
                  "is it in NumberedInputs, or in kWithout?");
    if (!numbered.contains(key)) continue;
    for (const int input : numbered.at(key)) {
      CAPTURE(input);
      CHECK_MESSAGE(tested[key].contains(input), "no row of Ranges checks the input");
    }
  }
}

}  // namespace
}  // namespace relayvm
