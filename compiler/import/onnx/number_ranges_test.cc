// What an imported model asks of its inputs' numbers is checked when it runs, and the error names
// the node: places in sequences, blocks of weights, categories.
#include "compiler/import/onnx/number_ranges.h"

namespace relayvm {
namespace {

using import::testing::ImportText;
using import::testing::Int;
using import::testing::Node;
using import::testing::Tensor;

struct Check {
  const char* node;  // the name that the error must say
  std::string graph;
  DType dtype;  // of the input that is checked: int64 or int32
  std::vector<int64_t> fine, wrong;
  std::vector<int64_t> dims = {3, 2};  // of x
  const char* said = "expected InRange";
};

std::vector<Check> Checks() {
  // A sequence of three rows.
  const std::string rows = Tensor("input", "x", {"n", "2"}) + Tensor("input", "i", {}, 7) +
                           Node("SplitToSequence", "x", "s", Int("axis", 0));
  const std::string joined = Node("ConcatFromSequence", "q", "y", Int("axis", 0));
  const std::string out = "output { name: 'y' }";
  const std::string codes = "initializer { name: 'w' data_type: 2 dims: [1, 2, 8] raw_data: '" +
                            std::string(16, 'a') + "' } initializer { name: 'k' data_type: 1 " +
                            "dims: 2 float_data: [1, 2] } ";
  const std::string blocks =
      InDomain(Node("MatMulNBits", "x w k - i", "y",
                    Int("K", 32) + Int("N", 1) + Int("bits", 4) + Int("block_size", 16)),
               "com.microsoft");
  const std::string kept =
      InDomain(Node("OneHotEncoder", "i", "y",
                    "attribute { name: 'cats_int64s' type: INTS ints: [1, 5] } " + Int("zeros", 0)),
               "ai.onnx.ml");
  return {
      {"y",
       rows + Node("SequenceAt", "s i", "y") + out,
       DType::kInt64,
       {2},
       {3},
       {3, 2},
       "position 'i'): range_checked: index out of range: 3, expected -3 to 2"},
      {"y",
       rows + Node("SequenceAt", "s i", "y") + out,
       DType::kInt64,
       {-3},
       {-4},
       {3, 2},
       ": -4, expected -3 to 2"},
      {"q",
       rows + Node("SequenceErase", "s i", "q") + joined + out,
       DType::kInt64,
       {-3},
       {3},
       {3, 2},
       ": 3, expected -3 to 2"},
      {"q",
       rows + Node("SequenceErase", "s i", "q") + joined + out,
       DType::kInt64,
       {2},
       {-4},
       {3, 2},
       ": -4, expected -3 to 2"},
      {"q",
       rows + Node("SequenceInsert", "s x i", "q") + joined + out,
       DType::kInt64,
       {3},
       {4},
       {3, 2},
       ": 4, expected -3 to 3"},
      {"q",
       rows + Node("SequenceInsert", "s x i", "q") + joined + out,
       DType::kInt64,
       {-3},
       {-4},
       {3, 2},
       ": -4, expected -3 to 3"},
      {"y",
       Tensor("input", "x", {"n", "32"}) + Tensor("input", "i", {"32"}, 6) + codes + blocks + out,
       DType::kInt32,
       std::vector<int64_t>(32, 1),
       std::vector<int64_t>(32, 2),
       {3, 32}},
      {"y",
       Tensor("input", "x", {"n", "32"}) + Tensor("input", "i", {"32"}, 6) + codes + blocks + out,
       DType::kInt32,
       std::vector<int64_t>(32, 0),
       std::vector<int64_t>(32, -1),
       {3, 32}},
      {"y",
       Tensor("input", "x", {"n"}) + Tensor("input", "i", {"m"}, 7) + kept + out,
       DType::kInt64,
       {5, 1},
       {1, 3},
       {5},
       "place among the categories 'i')"},
  };
}

Value Whole(const Check& c, const std::vector<int64_t>& numbers, bool scalar) {
  const std::vector<int64_t> dims =
      scalar ? std::vector<int64_t>() : std::vector<int64_t>{static_cast<int64_t>(numbers.size())};
  const std::vector<int32_t> narrow(numbers.begin(), numbers.end());
  const bool wide = c.dtype == DType::kInt64;
  return *Value::CopyTensor(c.dtype, dims,
                            wide ? static_cast<const void*>(numbers.data()) : narrow.data());
}

TEST_CASE("numbers that a node can't take stop the program at the node") {
  for (const Check& c : Checks()) {
    CAPTURE(c.graph);
    const std::unique_ptr<Invocation> run = Runnable(ImportText(
        "ir_version: 8 opset_import { domain: 'com.microsoft' version: 1 } opset_import { domain: "
        "'ai.onnx.ml' version: 3 } opset_import { version: 17 } graph { name: 'g' " +
        c.graph + " }"));
    const bool scalar = c.fine.size() == 1;
    const std::vector<float> data(96, 0.5F);
    const Value x = *Value::CopyTensor(DType::kFloat32, c.dims, data.data());
    const auto fine = run->Run("main", {x, Whole(c, c.fine, scalar)});
    CHECK_MESSAGE(fine.ok(), fine.status().ToString());
    const auto wrong = run->Run("main", {x, Whole(c, c.wrong, scalar)});
    REQUIRE(!wrong.ok());
    CAPTURE(wrong.status().ToString());
    CHECK(wrong.status().ToString().find("node '" + std::string(c.node) + "'") !=
          std::string::npos);
    CHECK(wrong.status().ToString().find(c.said) != std::string::npos);
  }
}

TEST_CASE("one index is checked by an instruction: the kernel that reads it is the only one") {
  for (const std::vector<std::string>& dims :
       std::vector<std::vector<std::string>>{{}, {"1"}, {"1", "1"}}) {
    CAPTURE(dims.size());
    auto module = ImportText("ir_version: 8 opset_import { version: 17 } graph { name: 'g' " +
                             Tensor("input", "x", {"3", "2"}, 7) + Tensor("input", "i", dims, 7) +
                             Node("Gather", "x i", "y") + "output { name: 'y' } }");
    const std::unique_ptr<Invocation> run = Runnable(std::move(module));
    CHECK(run->executable().program().kernels.size() == 1);
    const std::vector<int64_t> data = {1, 2, 3, 4, 5, 6};
    const std::vector<int64_t> rows = {3, 2}, ones(dims.size(), 1);
    const Value x = *Value::CopyTensor(DType::kInt64, rows, data.data());
    for (const int64_t index : {-4, -3, 0, 2, 3}) {
      const auto y = run->Run("main", {x, *Value::CopyTensor(DType::kInt64, ones, &index)});
      REQUIRE(y.ok() == (index >= -3 && index < 3));
      const auto text = fmt::format(
          "node 'y' (Gather): indices 'i'): range_checked: index out of range: {}, expected -3 to "
          "2",
          index);
      if (!y.ok()) CHECK(y.status().message().ends_with(text));
      if (!y.ok()) CHECK(y.status().code() == StatusCode::kOutOfRange);
      if (y.ok())
        CHECK(static_cast<int64_t>(y->element(0)) ==
              data[static_cast<size_t>(2 * ((index + 3) % 3))]);
    }
  }
}

// Both rows are taken, and added, by one kernel: it says which of its checks has failed.
TEST_CASE("checks of one kernel are told apart") {
  const std::unique_ptr<Invocation> run = Runnable(
      ImportText("ir_version: 8 opset_import { version: 17 } graph { name: 'g' " +
                 Tensor("input", "x", {"n", "2"}) + Tensor("input", "i", {"m"}, 7) +
                 Tensor("input", "j", {"m"}, 7) + Node("Gather", "x i", "a") +
                 Node("Gather", "x j", "b") + Node("Add", "a b", "y") + "output { name: 'y' } }"));
  const std::vector<float> data(6, 0.5F);
  const std::vector<int64_t> rows = {3, 2}, two = {2};
  const Value x = *Value::CopyTensor(DType::kFloat32, rows, data.data());
  const auto indices = [&](const std::vector<int64_t>& numbers) {
    return *Value::CopyTensor(DType::kInt64, two, numbers.data());
  };
  CHECK(run->Run("main", {x, indices({-3, 2}), indices({0, 1})}).ok());
  for (const bool first : {true, false}) {
    const auto wrong =
        run->Run("main", {x, indices({0, first ? 3 : 1}), indices({first ? 1 : -4, 0})});
    REQUIRE(!wrong.ok());
    const std::string text = wrong.status().ToString();
    CAPTURE(text);
    CHECK(text.find(first ? "node 'a' (Gather): indices 'i'" : "node 'b' (Gather): indices 'j'") !=
          std::string::npos);
    CHECK(text.find(first ? ": 3, expected -3 to 2" : ": -4, expected -3 to 2") !=
          std::string::npos);
  }
}

// --- Every operator with an input whose numbers must lie in a range ---

}  // namespace

std::vector<Range> Ranges() {
  using import::testing::Floats;
  using import::testing::Ints;
  using import::testing::IntScalar;
  const std::string rnn =
      "initializer { name: 'w' data_type: 1 dims: [1, 1, 2] float_data: [1, 2] } initializer { "
      "name: 'r' data_type: 1 dims: [1, 1, 1] float_data: [1] } ";
  const std::string lines = Ints("k", {2, 1});
  const std::string pictures =
      "initializer { name: 'b' data_type: 1 dims: [2, 4] float_data: [0, 0, 1, 1, 0, 0, 1, 1] } ";
  return {
      Range("Gather", "x i", "", {2}, {3}, "indices 'i'", ": 3, expected -3 to 2", nullptr, {3, 2},
            "", "", 7, true),
      Range("Gather", "x i", "", {0, -3, 2}, {0, -4, 2}, "indices 'i'", ": -4, expected -3 to 2"),
      Range("Gather", "x i", Int("axis", 1), {0, 1}, {0, 2}, "indices 'i'",
            ": 2, expected -2 to 1"),
      Range("GatherElements", "x i", "", {4, -5}, {4, 5}, "indices 'i'", ": 5, expected -5 to 4",
            nullptr, {5}),
      Range("GatherND", "x i", "", {2, 1}, {2, 2}, "indices 'i'", ": 2, expected -2 to 1"),
      Range("ScatterElements", "x i u", "", {0, -5}, {0, 5}, "indices 'i'", ": 5, expected -5 to 4",
            nullptr, {5}, Floats("u", {1, 2})),
      Range("ScatterND", "x j u", "", {0, 4}, {0, 5}, "indices 'j'", ": 5, expected -5 to 4",
            nullptr, {5}, Floats("u", {1, 2}) + lines + Node("Reshape", "i k", "j")),
      Range("OneHot", "h i v", "", {3}, {-3}, "depth 'i'", ": -3, expected 1 or more", nullptr,
            {3, 2}, Ints("h", {0, 1}) + Floats("v", {0, 1}), "", 7, true),
      Range("Slice", "x s e a i", "", {1, -1}, {1, 0}, "steps, by their sizes, 'i'",
            ": 0, expected 1 or more", "steps 'i': 0, expected another number", {3, 2},
            Ints("s", {0, 0}) + Ints("e", {9, 9}) + Ints("a", {0, 1})),
      Range("Slice", "x s s i", "", {1, 0}, {1, 2}, "axes 'i'", ": 2, expected -2 to 1",
            "axes 'i': 2, expected -2 to 1", {3, 2}, Ints("s", {0, 0})),
      Range("Split", "x i", "", {1, 2}, {-1, 4}, "split 'i'", ": -1, expected 0 or more"),
      Range("Split", "x i", "", {1, 2}, {1, 3}, "the sum of split 'i'", ": 4, expected 3 to 3",
            "the sum of split 'i': 4, expected 3, the extent of axis 0"),
      Range("Split", "x i", "", {1, 2}, {int64_t{1} << 62, 3}, "the sum of split 'i'",
            ", expected 3 to 3", "the sum of split 'i': 4611686018427387907, expected 3"),
      Range("Squeeze", "x i", "", {0, 1}, {0, 2}, "an extent that axes take away, of data 'x'",
            ": 4, expected 1 to 1", "data 'x': the extent of axis 2 is 4, expected 1", {1, 1, 4}),
      Range("Squeeze", "x i", "", {0, 1}, {0, 3}, "axes 'i'", ": 3, expected -3 to 2",
            "axes 'i': 3, expected -3 to 2", {1, 1, 4}),
      Range("Squeeze", "x i", "", {0, 1}, {0, -3}, "times that an axis stands in axes 'i'",
            ": 2, expected 1 to 1", "twice", {1, 1, 4}),
      Range("Unsqueeze", "x i", "", {0, 3}, {0, 4}, "axes 'i'", ": 4, expected -4 to 3",
            "axes 'i': 4, expected -4 to 3"),
      Range("Unsqueeze", "x i", "", {0, 3}, {1, 1}, "times that an axis stands in axes 'i'",
            ": 2, expected 1 to 1", "twice"),
      Range("ReduceSum", "x i", "", {0, 1}, {0, 2}, "axes 'i'", ": 2, expected -2 to 1",
            "axes 'i': 2, expected -2 to 1"),
      Range("ReduceLogSumExp", "x i", "", {0, 1}, {0, -3}, "axes 'i'", ": -3, expected -2 to 1",
            "axes 'i': -3, expected -2 to 1"),
      Range("Range", "s e i", "", {2}, {0}, "delta, by its size, 'i'", ": 0, expected 1 or more",
            nullptr, {3, 2}, IntScalar("s", 0) + IntScalar("e", 6), "", 7, true),
      Range("Tile", "x i", "", {2, 1}, {2, -1}, "repeats 'i'", ": -1, expected 0 or more"),
      Range("CumSum", "x i", "", {-2}, {2}, "axis 'i'", ": 2, expected -2 to 1",
            "axis 'i': 2, expected -2 to 1", {3, 2}, "", "", 7, true),
      Range("TopK", "x i", Int("axis", 0), {3}, {4}, "K 'i'", ": 4, expected 0 to 3",
            "expected at least 4, found 3", {3, 2}, "", "", 7, true),
      Range("TopK", "x i", Int("axis", 0), {0}, {-1}, "K 'i'", ": -1, expected 0 to 3", "K", {3, 2},
            "", "", 7, true),
      Range("ReverseSequence", "x i", "", {3, 0}, {4, 0}, "sequence_lens 'i'",
            ": 4, expected 0 to 3"),
      Range("Resize", "x - - i", "", {6, 4}, {-6, 4}, "sizes 'i'", ": -6, expected 0 or more"),
      Range("CenterCropPad", "x i", "", {2, 4}, {2, -4}, "shape 'i'", ": -4, expected 0 or more"),
      Range("NegativeLogLikelihoodLoss", "x i", "", {0, 1, 1}, {0, 1, 2}, "target 'i'",
            ": 2, expected 0 to 1"),
      Range("SoftmaxCrossEntropyLoss", "x i", "", {0, 1, 1}, {0, 1, -1}, "target 'i'",
            ": -1, expected 0 to 1"),
      Range("RoiAlign", "x b i", "", {0, 0}, {0, 1}, "batch_indices 'i'", ": 1, expected 0 to 0",
            nullptr, {1, 1, 4, 4}, pictures),
      Range("RNN", "x w r - i", Int("hidden_size", 1), {3, 1}, {4, 1}, "sequence_lens 'i'",
            ": 4, expected 0 to 3", nullptr, {3, 2, 2}, rnn, "", 6),
      Range("HannWindow", "i", "", {4}, {-1}, "size 'i'", ": -1, expected 0 or more", nullptr,
            {3, 2}, "", "", 7, true),
      Range("DFT", "x i", "", {4}, {0}, "dft_length 'i'", ": 0, expected 1 or more", nullptr,
            {1, 4, 1}, "", "", 7, true),
      Range("STFT", "x i - l", "", {1}, {0}, "frame_step 'i'", ": 0, expected 1 or more", nullptr,
            {1, 4, 1}, IntScalar("l", 2), "", 7, true),
      Range("TensorScatter", "x u i", "", {1, 0}, {2, 0}, "write_indices 'i'",
            ": 2, expected 0 to 1", nullptr, {2, 3, 2},
            "initializer { name: 'u' data_type: 1 dims: [2, 2, 2] float_data: [1, 2, 3, 4, 5, 6, "
            "7, 8] "
            "} "),
      Range("TorchEmbedding", "x i", "", {0, 2}, {0, 3}, "indices 'i'", ": 3, expected 0 to 2",
            nullptr, {3, 2}, "", "com.microsoft"),
      Range("CropAndResize", "x b i c", "", {0, 0}, {0, 1}, "batch_indices 'i'",
            ": 1, expected 0 to 0", nullptr, {1, 1, 4, 4}, pictures + Ints("c", {2, 2}),
            "com.microsoft", 6),
      Range("ArrayFeatureExtractor", "x i", "", {0, 1}, {0, 2}, "places 'i'",
            ": 2, expected 0 to 1", nullptr, {3, 2}, "", "ai.onnx.ml"),
      // What shapes say themselves.
      Range("Expand", "x i", "", {3, 2}, {2, 2}, "", "3 and 2 do not broadcast"),
      Range("Expand", "x i", "", {1, 3, 2}, {-1, 3, 2}, "", "-1 is negative"),
      Range("ConstantOfShape", "i", "", {2, 0}, {2, -2}, "", "-2", "negative"),
      Range("Reshape", "x i", "", {2, 3}, {2, 4}, "", "6", "8"),
      Range("Pad", "x i", "", {-1, 0, -1, 0}, {-2, 0, -2, 0},
            "what stays of an axis by the negative pads 'i'", ": -1, expected 0 or more",
            "loses more"),
  };
}

namespace {

TEST_CASE("what is out of range names node, input and number, when compiling or when it runs") {
  for (const Range& r : Ranges()) CheckRange(r);
}

// The same of parts of one: when it runs, thousandths of them are told.
TEST_CASE("fractions below 0 or above 1, as ONNX Runtime's") {
  using import::testing::FloatScalar;
  const struct {
    const char* op;
    const char* in;
    std::string inputs, more;
    std::vector<std::vector<int64_t>> dims;
    std::vector<float> fine, wrong;
    const char* said;
  } kCases[] = {
      {"NonMaxSuppression",
       "b s m i",
       Tensor("input", "b", {"1", "n", "4"}) + Tensor("input", "s", {"1", "1", "n"}),
       import::testing::Ints("m", {2}),
       {{1, 3, 4}, {1, 1, 3}},
       {0, 0.5F, 1},
       {-1e-7F, 1.0000001F, 3, NAN},
       "thousandths of iou_threshold 'i'"},
      {"Dropout",
       "x i t",
       Tensor("input", "x", {"n"}),
       "initializer { name: 't' data_type: 9 int32_data: 1 } ",
       {{4}},
       {0, 0.5F, 0.99999F},
       {-1e-7F, 1, 3, NAN},
       "thousandths of ratio 'i'"},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.op);
    const auto model = [&](const std::string& i) {
      return ImportText("ir_version: 8 opset_import { version: 17 } graph { name: 'g' " + c.inputs +
                        i + c.more + Node(c.op, c.in, "y") + "output { name: 'y' } }");
    };
    const std::unique_ptr<Invocation> run = Runnable(model(Tensor("input", "i", {})));
    const std::vector<float> data(12, 0.5F);
    const auto call = [&](float number) {
      std::vector<Value> args;
      for (const std::vector<int64_t>& dims : c.dims)
        args.push_back(*Value::CopyTensor(DType::kFloat32, dims, data.data()));
      args.push_back(*Value::CopyTensor(DType::kFloat32, {}, &number));
      return run->Run("main", args).status().ToString();
    };
    for (const float number : c.fine) {
      CHECK(call(number) == "ok");
      CHECK(model(FloatScalar("i", number)).ok());
    }
    for (const float number : c.wrong) {
      CAPTURE(number);
      const std::string said = call(number);
      CHECK_MESSAGE(said.find(c.said) != std::string::npos, said);
      CHECK_MESSAGE(said.find("node 'y'") != std::string::npos, said);
      if (std::isnan(number)) continue;  // no text of a protobuf
      const auto known = model(FloatScalar("i", number));
      REQUIRE(!known.ok());
      CHECK(known.status().ToString().find(" 'i': ") != std::string::npos);
      CHECK(known.status().ToString().find(", expected 0 to ") != std::string::npos);
    }
  }
}

TEST_CASE("a constant ratio is checked where nothing uses it") {
  const auto said = [](const char* in, const std::string& more) {
    const auto module = ImportText("ir_version: 8 opset_import { version: 17 } graph { name: 'g' " +
                                   Tensor("input", "x", {"n"}) + more + Node("Dropout", in, "y") +
                                   "output { name: 'y' } }");
    return module.ok() ? "" : module.status().ToString();
  };
  const std::string off = "initializer { name: 't' data_type: 9 int32_data: 0 } ";
  CHECK(said("x i", import::testing::FloatScalar("i", 0.5F)).empty());
  for (const float ratio : {-0.5F, 1.0F, 3.0F}) {
    for (const bool has_training : {false, true}) {
      const std::string found =
          said(has_training ? "x i t" : "x i", import::testing::FloatScalar("i", ratio) + off);
      CHECK_MESSAGE(found.find(fmt::format("node 'y' (Dropout): ratio 'i': {}, expected", ratio)) !=
                        std::string::npos,
                    found);
    }
  }
}

TEST_CASE("parts of a split are as many as the node's outputs") {
  const auto said = [](const std::string& in, const std::string& more,
                       const std::string& attributes) {
    const auto module =
        ImportText("ir_version: 8 opset_import { version: 18 } graph { name: 'g' " +
                   Tensor("input", "x", {"n"}) + more + Node("Split", in, "y z", attributes) +
                   "output { name: 'y' } output { name: 'z' } }");
    return module.ok() ? "" : module.status().ToString();
  };
  CHECK(said("x", "", Int("num_outputs", 2)).empty());
  for (const int64_t count : {-1, 0, 1, 3}) {
    CHECK(said("x", "", Int("num_outputs", count))
              .find(fmt::format("num_outputs: {}, expected 2", count)) != std::string::npos);
  }
  CHECK(said("x i", import::testing::Ints("i", {1, 2, 3}), "")
            .find("split 'i': 3 sizes, expected 2") != std::string::npos);
  CHECK(said("x i", Tensor("input", "i", {"1"}, 7), "").find("split 'i': 1 sizes, expected 2") !=
        std::string::npos);
}

}  // namespace
}  // namespace relayvm
