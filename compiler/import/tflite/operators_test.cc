// Operators of one model each, with TensorFlow Lite's numbers, or those of their definitions.
#include "compiler/import/tflite/testing.h"

namespace relayvm::import::tflite::testing {
namespace {

constexpr auto kF = TensorType::FLOAT32;
constexpr auto kI8 = TensorType::INT8;
constexpr auto kU8 = TensorType::UINT8;
constexpr auto kI16 = TensorType::INT16;
constexpr auto kI32 = TensorType::INT32;
constexpr auto kI64 = TensorType::INT64;
constexpr auto kBool = TensorType::BOOL;

struct Row {
  const char* what;
  Code code;
  std::vector<Described> inputs;  // those without data are given
  std::vector<std::vector<double>> given;
  Described output;
  std::vector<double> expected;
  double tolerance = 0;
  Options type = Options::NONE;
  Table (*options)(Builder&) = nullptr;
};

void CheckRow(const Row& row) {
  CAPTURE(std::string(row.what));
  Model m;
  std::vector<int32_t> inputs, open;
  for (const Described& d : row.inputs) {
    inputs.push_back(m.Add(d));
    if (d.data.empty()) open.push_back(inputs.back());
  }
  const int output = m.Add(row.output);
  m.Op(row.code, inputs, {output}, row.type,
       row.options == nullptr ? Table(0) : row.options(m.builder()));
  m.Close(open, {output});
  std::vector<Given> given;
  for (const auto& values : row.given) given.push_back({values});
  const auto results = RunModule(Import(m.Bytes()), given);
  REQUIRE(results.size() == 1);
  REQUIRE(results[0].size() == row.expected.size());
  for (size_t i = 0; i < row.expected.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(results[0][i] - row.expected[i]) <= row.tolerance);
  }
}

TEST_CASE("arithmetic on codes gives TensorFlow Lite's") {
  const Described out{kU8, {6}, 1.1764706373214722F, 128};
  const Described a{kU8, {6}, 0.7843137383460999F, 128}, b{kU8, {6}, 0.3921568691730499F, 128};
  const Described c{kU8, {6}, 1.1764705181121826F, 128};
  for (const Row& row : std::initializer_list<Row>{
           {"add",
            Code::ADD,
            {a, b},
            {{36, 238, 247, 127, 196, 254}, {175, 73, 56, 235, 107, 50}},
            out,
            {82, 183, 183, 163, 166, 186}},
           {"subtract",
            Code::SUB,
            {a, b},
            {{240, 115, 242, 254, 68, 14}, {245, 236, 42, 92, 158, 8}},
            out,
            {164, 83, 233, 224, 78, 92}},
           {"multiply",
            Code::MUL,
            {a, b},
            {{114, 244, 130, 13, 92, 106}, {35, 5, 112, 108, 145, 139}},
            {kU8, {6}, 39.2156867980957F, 127},
            {137, 15, 127, 145, 122, 125}},
           {"small quotients are the ends",
            Code::DIV,
            {c, c},
            {{238, 176, 137, 138, 155, 80}, {110, 95, 67, 181, 145, 115}},
            out,
            {123, 127, 0, 255, 129, 131}},
           {"codes that are nearly equal are not greater",
            Code::GREATER,
            {c, c},
            {{154, 33, 45, 153, 61, 78}, {57, 62, 123, 157, 241, 163}},
            {kBool, {6}},
            {1, 0, 0, 0, 0, 0}},
           {"abs",
            Code::ABS,
            {{kI8, {6}, 0.007838884368538857F, -1}},
            {{1, 41, 81, 121, -95, -55}},
            {kI8, {6}, 0.0039215292781591415F, -128},
            {-124, -44, 36, 116, 60, -20}},
           {"1 / sqrt",
            Code::RSQRT,
            {{kI8, {6}, 0.007833125069737434F, -128}},
            {{1, 41, 81, 121, -95, -55}},
            {kI8, {6}, 0.19024249911308289F, -128},
            {-123, -123, -124, -124, -118, -121}},
           {"negative codes have no scales",
            Code::NEG,
            {{kI8, {3}, 0.5F, 3}},
            {{1, -128, 127}},
            {kI8, {3}, 0.25F, -5},
            {-1, -128, -127}},
           {"leaky relu",
            Code::LEAKY_RELU,
            {{kU8, {6}, 0.019607843831181526F, 153}},
            {{77, 134, 24, 70, 226, 49}},
            {kU8, {6}, 0.019607843831181526F, 153},
            {130, 147, 114, 128, 226, 122},
            0,
            Options::LeakyReluOptions,
            [](Builder& f) { return fb::CreateLeakyReluOptions(f, 0.3F).Union(); }},
       }) {
    CheckRow(row);
  }
}

TEST_CASE("functions of codes are tables") {
  const Described x{kI8, {5}, 0.0625F, 0}, words{kI16, {5}, 1.0F / 4096, 0};
  for (const Row& row : std::initializer_list<Row>{
           // round(256 / (1 + e^-x)) - 128
           {"logistic",
            Code::LOGISTIC,
            {x},
            {{-128, -16, 0, 16, 127}},
            {kI8, {5}, 1.0F / 256, -128},
            {-128, -59, 0, 59, 127}},
           {"tanh",
            Code::TANH,
            {x},
            {{-128, -8, 0, 8, 127}},
            {kI8, {5}, 1.0F / 128, 0},
            {-128, -59, 0, 59, 127}},
           {"logistic of words",
            Code::LOGISTIC,
            {words},
            {{-32768, -4096, 0, 4096, 32767}},
            {kI16, {5}, 1.0F / 32768, 0},
            {11, 8812, 16384, 23955, 32756},
            1},
           {"relu6 in another scale",
            Code::RELU6,
            {{kI8, {5}, 0.1F, 0}},
            {{-50, 0, 10, 60, 100}},
            {kI8, {5}, 0.05F, -60},
            {-60, -60, -40, 60, 60}},
       }) {
    CheckRow(row);
  }
}

TEST_CASE("sums of codes are brought to the result's scale as TensorFlow Lite rounds") {
  // A filter of one, one picture of one by one: sums are products, and 11 * 3 + 5 = 38 of scale
  // 0.25 is 9.5 of scale 1; 5 is 1.25, which by way of 3 / 2 is 2.
  const Described x{kI8, {1, 1, 3, 1}, 0.5F, 1}, out{kI8, {1, 1, 3, 1}, 1.0F, -2};
  const auto same = [](Builder& f) {
    return fb::CreateConv2DOptions(f, fb::Padding::SAME, 1, 1).Union();
  };
  for (const Row& row : std::initializer_list<Row>{
           {"conv",
            Code::CONV_2D,
            {x, {kI8, {1, 1, 1, 1}, 0.5F, 0, {3}}, {kI32, {1}, 0.25F, 0, {5}}},
            {{12, -1, 1}},
            out,
            {8, -2, 0},
            0,
            Options::Conv2DOptions,
            same},
           // Padding is 0, whose code is 1.
           {"conv with padding",
            Code::CONV_2D,
            {x, {kI8, {1, 1, 3, 1}, 0.5F, 0, {1, 2, 3}}, {kI32, {1}, 0.25F, 0, {0}}},
            {{5, 9, 13}},
            {kI8, {1, 1, 3, 1}, 0.25F, 0},
            {32, 56, 32},
            0,
            Options::Conv2DOptions,
            same},
           {"dense",
            Code::FULLY_CONNECTED,
            {{kI8, {1, 2}, 0.5F, 0},
             {kI8, {2, 2}, 0.5F, 0, {1, 2, 3, 4}},
             {kI32, {2}, 0.25F, 0, {1, 1}}},
            {{10, -20}},
            {kI8, {1, 2}, 1.0F, 0},
            {-7, -12}},
           {"mean of raw codes, halves away from zero",
            Code::AVERAGE_POOL_2D,
            {{kI8, {1, 1, 4, 1}, 0.5F, 7}},
            {{-1, -2, 3, 4}},
            {kI8, {1, 1, 2, 1}, 0.5F, 7},
            {-2, 4},
            0,
            Options::Pool2DOptions,
            [](Builder& f) {
              return fb::CreatePool2DOptions(f, fb::Padding::VALID, 2, 1, 2, 1).Union();
            }},
           {"quantise halves to even",
            Code::QUANTIZE,
            {{kF, {4}}},
            {{0.5, 1.5, 2.5, -0.5}},
            {kI8, {4}, 1.0F, 0},
            {0, 2, 2, 0}},
           {"words",
            Code::MUL,
            {{kI16, {2}, 0.001F, 0}, {kI16, {2}, 0.002F, 0}},
            {{-14472, 10532}, {19972, -20155}},
            {kI16, {2}, 0.02F, 0},
            {-28904, -21227},
            1},
       }) {
    CheckRow(row);
  }
}

TEST_CASE("floats, shapes and indices") {
  const Described pair{kF, {2, 3}};
  const std::vector<double> numbers = {1, 2, 3, 4, 5, 6};
  for (const Row& row : std::initializer_list<Row>{
           {"dense with relu",
            Code::FULLY_CONNECTED,
            {pair, {kF, {2, 3}, 0, 0, {1, 0, 0, 0, -1, 0}}, {kF, {2}, 0, 0, {0.5, 0.5}}},
            {numbers},
            {kF, {2, 2}},
            {1.5, 0, 4.5, 0},
            0,
            Options::FullyConnectedOptions,
            [](Builder& f) {
              return fb::CreateFullyConnectedOptions(f, fb::Activation::RELU).Union();
            }},
           // Rows are quantised by 6 / 127; the weights are 2 and -2.
           {"dense with weights of 8 bits",
            Code::FULLY_CONNECTED,
            {{kF, {1, 2}}, {kI8, {1, 2}, 0.5F, 0, {4, -4}}},
            {{6, 3}},
            {kF, {1, 1}},
            {5.95},
            0.01},
           {"mean", Code::MEAN, {pair, {kI32, {1}, 0, 0, {-1}}}, {numbers}, {kF, {2}}, {2, 5}},
           {"strided slice by masks",
            Code::STRIDED_SLICE,
            {pair,
             {kI32, {2}, 0, 0, {1, 2}},
             {kI32, {2}, 0, 0, {9, 0}},
             {kI32, {2}, 0, 0, {1, -1}}},
            {numbers},
            {kF, {2}},
            {6, 5},
            0,
            Options::StridedSliceOptions,
            [](Builder& f) { return fb::CreateStridedSliceOptions(f, 0, 0, 0, 0, 1).Union(); }},
           {"space to batch",
            Code::SPACE_TO_BATCH_ND,
            {{kF, {1, 3, 1}}, {kI32, {1}, 0, 0, {2}}, {kI32, {1, 2}, 0, 0, {0, 1}}},
            {{1, 2, 3}},
            {kF, {2, 2, 1}},
            {1, 3, 2, 0}},
           {"symmetric padding",
            Code::MIRROR_PAD,
            {{kF, {3}}, {kI32, {1, 2}, 0, 0, {1, 2}}},
            {{1, 2, 3}},
            {kF, {6}},
            {1, 1, 2, 3, 3, 2},
            0,
            Options::MirrorPadOptions,
            [](Builder& f) { return fb::CreateMirrorPadOptions(f, 1).Union(); }},
           {"resize of codes",
            Code::RESIZE_BILINEAR,
            {{kI8, {1, 1, 2, 1}, 1.0F, 0}, {kI32, {2}, 0, 0, {1, 4}}},
            {{-1, 2}},
            {kI8, {1, 1, 4, 1}, 1.0F, 0},
            {-1, 1, 2, 2}},
           {"scatter",
            Code::SCATTER_ND,
            {{kI32, {2, 1}, 0, 0, {2, 0}}, {kF, {2}}, {kI32, {1}, 0, 0, {4}}},
            {{7, 8}},
            {kF, {4}},
            {8, 0, 7, 0}},
           {"segments",
            Code::UNSORTED_SEGMENT_MAX,
            {{kF, {3}}, {kI32, {3}, 0, 0, {1, 0, 1}}, {kI32, {}, 0, 0, {2}}},
            {{1, 2, 3}},
            {kF, {2}},
            {2, 3}},
           {"rows of negative ids are left out",
            Code::UNSORTED_SEGMENT_SUM,
            {{kF, {3}}, {kI32, {3}, 0, 0, {1, -1, 1}}, {kI32, {}, 0, 0, {2}}},
            {{1, 2, 3}},
            {kF, {2}},
            {0, 4}},
           {"bits of a number, the low ones first",
            Code::BITCAST,
            {{kI32, {1}}},
            {{0x04030201}},
            {kU8, {1, 4}},
            {1, 2, 3, 4}},
           {"update of a slice",
            Code::DYNAMIC_UPDATE_SLICE,
            {{kF, {4}}, {kF, {2}, 0, 0, {8, 9}}, {kI32, {1}, 0, 0, {3}}},
            {{1, 2, 3, 4}},
            {kF, {4}},
            {1, 2, 8, 9}},
           {"places of the greatest",
            Code::ARG_MAX,
            {pair, {kI32, {1}, 0, 0, {1}}},
            {numbers},
            {kI64, {2}},
            {2, 2},
            0,
            Options::ArgMaxOptions,
            [](Builder& f) { return fb::CreateArgMaxOptions(f, TensorType::INT64).Union(); }},
           {"truth of floats as bytes",
            Code::CAST,
            {{kF, {3}}},
            {{-3.7, 300, 2.9}},
            {kU8, {3}},
            {0, 255, 2}},
           {"arc tangent of all quarters",
            Code::ATAN2,
            {{kF, {4}}, {kF, {4}, 0, 0, {1, -1, -1, 0}}},
            {{1, 1, -1, -1}},
            {kF, {4}},
            {0.7853982, 2.3561945, -2.3561945, -1.5707963},
            1e-6},
       }) {
    CheckRow(row);
  }
}

TEST_CASE("a transform of pairs, and its magnitude") {
  Model m;
  const int x = m.Add({kF, {1, 4}}), size = m.Add({kI32, {2}, 0, 0, {1, 4}});
  const int y = m.Add({TensorType::COMPLEX64, {1, 3}}), z = m.Add({kF, {1, 3}});
  m.Op(Code::RFFT2D, {x, size}, {y});
  m.Op(Code::COMPLEX_ABS, {y}, {z});
  m.Close({x}, {z});
  const auto found = RunModule(Import(m.Bytes()), {{{1, 0, -1, 0}}});
  CHECK(found[0] == std::vector<double>{0, 2, 0});
}

TEST_CASE("overlaps lower scores, or those that are the threshold end a box") {
  const auto run = [](double sigma, double overlap) {
    Model m;
    const int boxes = m.Add({kF, {3, 4}}), scores = m.Add({kF, {3}});
    std::vector<int32_t> inputs = {boxes, scores, m.Add({kI32, {}, 0, 0, {3}})};
    for (const double v : {overlap, 0.0, sigma}) inputs.push_back(m.Add({kF, {}, 0, 0, {v}}));
    const std::vector<int32_t> outputs = {m.Add({kI32, {3}}), m.Add({kF, {3}}), m.Add({kI32, {}})};
    m.Op(Code::NON_MAX_SUPPRESSION_V5, inputs, outputs);
    m.Close({boxes, scores}, outputs);
    // The second is half of the first.
    return RunModule(Import(m.Bytes()),
                     {{{0, 0, 1, 1, 0, 0, 1, 0.5, 0, 10, 1, 11}}, {{0.9, 0.8, 0.7}}});
  };
  const auto hard = run(0, 0.5), soft = run(0.5, 1);
  CHECK(hard[0] == std::vector<double>{0, 2, 0});
  CHECK(hard[2] == std::vector<double>{2});
  CHECK(soft[0] == std::vector<double>{0, 2, 1});
  CHECK(soft[1][2] == doctest::Approx(0.8 * std::exp(-0.25)).epsilon(1e-6));
}

TEST_CASE("scales along an axis, and of blocks, are refused where they do not count") {
  Model m;
  const int x = m.Add({kF, {2}}), y = m.Add({kF, {2}});
  const int codes = m.AddWithScales({kI8, {2}, 0, 0, {1, 2}}, {0.5F, 0.25F});
  m.Op(Code::ADD, {x, codes}, {y});
  m.Close({x}, {y});
  const auto result = Import(m.Bytes());
  CHECK(result.status().code() == StatusCode::kUnsupported);
  CHECK(result.status().message().find("2 scales along dimension 0") != std::string::npos);
}

TEST_CASE("the memory of a recurrent layer lies in its limits, and is kept") {
  Model m;
  std::vector<int32_t> inputs = {m.Add({kF, {1, 2, 1}})};
  for (int i = 0; i < 8; ++i) inputs.push_back(m.Add({kF, {1, 1}, 0, 0, {i < 4 ? 10.0 : 0.0}}));
  inputs.insert(inputs.end(), {-1, -1, -1});
  for (int i = 0; i < 4; ++i) inputs.push_back(m.Add({kF, {1}, 0, 0, {0}}));
  inputs.insert(inputs.end(), {-1, -1});
  for (const char* name : {"h", "c"}) inputs.push_back(m.Add({kF, {1, 1}, 0, 0, {}, true}, name));
  const int y = m.Add({kF, {1, 2, 1}});
  m.Op(
      Code::UNIDIRECTIONAL_SEQUENCE_LSTM, inputs, {y}, Options::UnidirectionalSequenceLSTMOptions,
      fb::CreateUnidirectionalSequenceLSTMOptions(m.builder(), fb::Activation::TANH, 0.5F).Union());
  m.Close({inputs[0]}, {y});
  // Gates are nearly 1: the memory would be 1, then 2.
  const auto found = RunModule(Import(m.Bytes()), {{{1, 1}}, {{0}}, {{0}}});
  REQUIRE(found.size() == 3);
  CHECK(found[0][0] == doctest::Approx(std::tanh(0.5)).epsilon(1e-3));
  CHECK(found[0][1] == doctest::Approx(std::tanh(0.5)).epsilon(1e-3));
  CHECK(found[1][0] == found[0][1]);
  CHECK(found[2][0] == doctest::Approx(0.5).epsilon(1e-3));
}

}  // namespace
}  // namespace relayvm::import::tflite::testing
