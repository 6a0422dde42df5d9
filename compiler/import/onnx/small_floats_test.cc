// Floats of 8 and 4 bits of ONNX: codes and numbers of both ways, by ONNX's reference and
// ml_dtypes; what moves them, quantises by them, and their tensors at the border, where they are
// bytes. And integers of 4 bits there.
#include <cmath>
#include <limits>

#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

using import::testing::GraphModel;
using import::testing::ImportText;
using import::testing::Int;
using import::testing::Node;
using import::testing::Tensor;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// clang-format off
constexpr float kNumbers[] = {
    0, -0.0F, 1, -1, 0.1F, -0.3F, 0.26F, 0.25F, 0.75F, 2.5F, 5, 5.5F, 240, 300, 448, 464, 465, -500, 57344, 61439, 61440, 1e6F, -1e6F, kInf, -kInf, kNan, 0x1p-9F, 0x1p-10F, 0x1.8p-10F, 0x1p-16F, 0x1.8p-17F, 0x1p-17F, 0.0019F};
struct Codes {
  int type;  // TensorProto::DataType
  bool saturate;
  std::vector<int> codes;  // of kNumbers
};
const Codes kCodes[] = {
    {17, true, {0x00, 0x80, 0x38, 0xb8, 0x1d, 0xaa, 0x28, 0x28, 0x34, 0x42, 0x4a, 0x4b, 0x77, 0x79, 0x7e, 0x7e, 0x7e, 0xfe, 0x7e, 0x7e, 0x7e, 0x7e, 0xfe, 0x7e, 0xfe, 0x7f, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01}},
    {17, false, {0x00, 0x80, 0x38, 0xb8, 0x1d, 0xaa, 0x28, 0x28, 0x34, 0x42, 0x4a, 0x4b, 0x77, 0x79, 0x7e, 0x7e, 0x7f, 0xff, 0x7f, 0x7f, 0x7f, 0x7f, 0xff, 0x7f, 0xff, 0x7f, 0x01, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01}},
    {18, true, {0x00, 0x00, 0x40, 0xc0, 0x25, 0xb2, 0x30, 0x30, 0x3c, 0x4a, 0x52, 0x53, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0xff, 0x7f, 0x7f, 0x7f, 0x7f, 0xff, 0x7f, 0xff, 0x80, 0x02, 0x01, 0x02, 0x00, 0x00, 0x00, 0x02}},
    {18, false, {0x00, 0x00, 0x40, 0xc0, 0x25, 0xb2, 0x30, 0x30, 0x3c, 0x4a, 0x52, 0x53, 0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02, 0x01, 0x02, 0x00, 0x00, 0x00, 0x02}},
    {19, true, {0x00, 0x80, 0x3c, 0xbc, 0x2e, 0xb5, 0x34, 0x34, 0x3a, 0x41, 0x45, 0x46, 0x5c, 0x5d, 0x5f, 0x5f, 0x5f, 0xe0, 0x7b, 0x7b, 0x7b, 0x7b, 0xfb, 0x7b, 0xfb, 0x7e, 0x18, 0x14, 0x16, 0x01, 0x01, 0x00, 0x18}},
    {19, false, {0x00, 0x80, 0x3c, 0xbc, 0x2e, 0xb5, 0x34, 0x34, 0x3a, 0x41, 0x45, 0x46, 0x5c, 0x5d, 0x5f, 0x5f, 0x5f, 0xe0, 0x7b, 0x7b, 0x7c, 0x7c, 0xfc, 0x7c, 0xfc, 0x7e, 0x18, 0x14, 0x16, 0x01, 0x01, 0x00, 0x18}},
    {20, true, {0x00, 0x00, 0x40, 0xc0, 0x32, 0xb9, 0x38, 0x38, 0x3e, 0x45, 0x49, 0x4a, 0x60, 0x61, 0x63, 0x63, 0x63, 0xe4, 0x7f, 0x7f, 0x7f, 0x7f, 0xff, 0x7f, 0xff, 0x80, 0x1c, 0x18, 0x1a, 0x02, 0x02, 0x01, 0x1c}},
    {20, false, {0x00, 0x00, 0x40, 0xc0, 0x32, 0xb9, 0x38, 0x38, 0x3e, 0x45, 0x49, 0x4a, 0x60, 0x61, 0x63, 0x63, 0x63, 0xe4, 0x7f, 0x7f, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x1c, 0x18, 0x1a, 0x02, 0x02, 0x01, 0x1c}},
    {23, true, {0x00, 0x08, 0x02, 0x0a, 0x00, 0x09, 0x01, 0x00, 0x02, 0x04, 0x06, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07, 0x0f, 0x07, 0x07, 0x07, 0x07, 0x0f, 0x07, 0x0f, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00}},
};
// clang-format on

template <typename T>
Value Of(DType dtype, const std::vector<T>& elements) {
  return *Value::CopyTensor(dtype, std::vector<int64_t>{static_cast<int64_t>(elements.size())},
                            elements.data());
}
template <typename T>
std::vector<T> ElementsOf(const Result<Value>& v) {
  REQUIRE_MESSAGE(v.ok(), v.status().ToString());
  const auto* data = static_cast<const T*>(v->data());
  return {data, data + v->num_elements()};
}
std::string ErrorOf(const std::string& graph) {
  const auto module = ImportText(GraphModel(graph, 23));
  return module.ok() ? "" : module.status().message();
}
const std::string kOutput = "output { name: 'y' } ";

TEST_CASE("numbers as codes of small floats") {
  const std::vector<float> numbers(std::begin(kNumbers), std::end(kNumbers));
  for (const Codes& c : kCodes) {
    CAPTURE(c.type);
    CAPTURE(c.saturate);
    const auto run = Runnable(ImportText(
        GraphModel(Node("Cast", "x", "y", Int("to", c.type) + Int("saturate", c.saturate ? 1 : 0)) +
                       Tensor("input", "x", {"n"}) + kOutput,
                   23)));
    const auto found = ElementsOf<uint8_t>(run->Run("main", {Of(DType::kFloat32, numbers)}));
    for (size_t i = 0; i < found.size(); ++i) {
      CAPTURE(numbers[i]);
      CHECK(found[i] == c.codes[i]);
    }
  }
}

TEST_CASE("codes of small floats as numbers, and back: each is its own nearest") {
  for (const int type : {17, 18, 19, 20, 23}) {
    CAPTURE(type);
    const int count = type == 23 ? 16 : 256;
    std::vector<uint8_t> codes;
    for (int i = 0; i < count; ++i) codes.push_back(static_cast<uint8_t>(i));
    const std::string x = Tensor("input", "x", {"n"}, type);
    const auto decode =
        Runnable(ImportText(GraphModel(Node("Cast", "x", "y", Int("to", 1)) + x + kOutput, 23)));
    const auto numbers = ElementsOf<float>(decode->Run("main", {Of(DType::kUInt8, codes)}));
    const auto both = Runnable(ImportText(
        GraphModel(Node("Cast", "x", "t", Int("to", 1)) +
                       Node("Cast", "t", "y", Int("to", type) + Int("saturate", 0)) + x + kOutput,
                   23)));
    const auto again = ElementsOf<uint8_t>(both->Run("main", {Of(DType::kUInt8, codes)}));
    for (size_t i = 0; i < codes.size(); ++i) {
      CAPTURE(i);
      if (!std::isnan(numbers[i])) CHECK(again[i] == codes[i]);
    }
  }
}

TEST_CASE("small floats are moved as they are, quantised by, and read from weights") {
  const auto moved = Runnable(ImportText(
      GraphModel(Node("Reshape", "x s", "r") + Node("Transpose", "r", "y") +
                     Tensor("input", "x", {"6"}, 17) + import::testing::Ints("s", {2, 3}) + kOutput,
                 23)));
  CHECK(ElementsOf<uint8_t>(moved->Run("main", {Of<uint8_t>(DType::kUInt8, {1, 2, 3, 4, 5, 6})})) ==
        std::vector<uint8_t>{1, 4, 2, 5, 3, 6});
  // 0x38 is 1, 0x40 is 2.
  const std::string scale = import::testing::FloatScalar("k", 0.5F);
  const std::string weights = "initializer { name: 'w' data_type: 17 dims: 2 raw_data: '8@' } ";
  const auto dequantised = Runnable(
      ImportText(GraphModel(Node("DequantizeLinear", "w k", "d") + Node("Add", "x d", "y") +
                                Tensor("input", "x", {"n"}) + scale + weights + kOutput,
                            23)));
  CHECK(ElementsOf<float>(dequantised->Run("main", {Of<float>(DType::kFloat32, {10, 20})})) ==
        std::vector<float>{10.5F, 21});
  const auto quantised = Runnable(ImportText(
      GraphModel(Node("QuantizeLinear", "x k z", "y") + Tensor("input", "x", {"n"}) + scale +
                     "initializer { name: 'z' data_type: 17 raw_data: '\\000' } " + kOutput,
                 23)));
  CHECK(
      ElementsOf<uint8_t>(quantised->Run("main", {Of<float>(DType::kFloat32, {0.5F, 1, 1000})})) ==
      std::vector<uint8_t>{0x38, 0x40, 0x7e});
}

TEST_CASE("small floats come out of branches and loops") {
  // Codes of E4M3FN: of x, or of twice x; then as numbers.
  const std::string to = Int("to", 17), number = Node("Cast", "c", "y", Int("to", 1));
  const auto branch = [&](const std::string& name, const std::string& nodes) {
    return "attribute { name: '" + name + "' type: GRAPH g { name: '" + name + "' " + nodes +
           " output { name: 'r' } } } ";
  };
  const std::string x = Tensor("input", "x", {"n"}) +
                        "input { name: 'b' type { tensor_type { "
                        "elem_type: 9 shape { } } } } " +
                        kOutput;
  const auto chosen = Runnable(ImportText(GraphModel(
      Node("If", "b", "c",
           branch("then_branch", Node("Cast", "x", "r", to)) +
               branch("else_branch", Node("Add", "x x", "d") + Node("Cast", "d", "r", to))) +
          number + x,
      23)));
  for (const bool b : {true, false}) {
    const auto y =
        chosen->Run("main", {Of<float>(DType::kFloat32, {1.1F, -3, 1000}), Value::Bool(b)});
    CHECK(ElementsOf<float>(y) ==
          (b ? std::vector<float>{1.125F, -3, 448} : std::vector<float>{2.25F, -6, 448}));
  }
  // One way of codes, the other of bytes.
  CHECK(ErrorOf(Node("If", "b", "c",
                     branch("then_branch", Node("Cast", "x", "r", to)) +
                         branch("else_branch", Node("Cast", "x", "r", Int("to", 2)))) +
                number + x)
            .find("floats of 8 or 4 bits on one way") != std::string::npos);
  // A loop: its state in codes, and those of each turn.
  const std::string loop =
      "attribute { name: 'body' type: GRAPH g { name: 'body' input { name: 'i' } input { name: 'k' "
      "} "
      "input { name: 's' } " +
      Node("Identity", "k", "again") + Node("Cast", "s", "f", Int("to", 1)) +
      Node("Add", "f f", "d") + Node("Cast", "d", "next", to) + Node("Identity", "s", "row") +
      " output { name: 'again' } output { name: 'next' } output { name: 'row' } } } ";
  for (const char* turns : {"t", "u"}) {  // known, which is unrolled, or an input
    CAPTURE(std::string(turns));
    const auto looped = Runnable(ImportText(GraphModel(
        Node("Cast", "x", "s0", to) + "node { op_type: 'Loop' input: '" + turns +
            "' input: '' input: 's0' output: 'c' output: 'rows' " + loop + "} " +
            Node("Cast", "rows", "z", Int("to", 1)) + number + Tensor("input", "x", {"n"}) +
            "input { name: 'u' type { tensor_type { elem_type: 7 shape { } } } } "
            "initializer { name: 't' data_type: 7 int64_data: 3 } " +
            kOutput + "output { name: 'z' } ",
        23)));
    const auto out =
        looped->Run("main", {Of<float>(DType::kFloat32, {1.1F, 100}), Value::Int64(3)});
    REQUIRE_MESSAGE(out.ok(), out.status().ToString());
    CHECK(ElementsOf<float>(Result<Value>(out->field(0))) == std::vector<float>{9, 448});
    CHECK(ElementsOf<float>(Result<Value>(out->field(1))) ==
          std::vector<float>{1.125F, 96, 2.25F, 192, 4.5F, 384});
  }
}

TEST_CASE("what computes with small floats is an error: ONNX has them cast") {
  const std::string x = Tensor("input", "x", {"n"}, 19);
  CHECK(ErrorOf(Node("Add", "x x", "y") + x + kOutput)
            .find("node 'y' (Add): an input is of floats of 8 or 4 bits") != std::string::npos);
}

TEST_CASE("integers of 4 bits at the border: one a byte, whose other bits do not count") {
  const auto signed_sum = Runnable(ImportText(GraphModel(
      Node("Cast", "x", "y", Int("to", 1)) + Tensor("input", "x", {"n"}, 22) + kOutput, 23)));
  CHECK(
      ElementsOf<float>(signed_sum->Run("main", {Of<int8_t>(DType::kInt8, {-8, 7, -1, 15, 16})})) ==
      std::vector<float>{-8, 7, -1, -1, 0});
  const auto unsigned_out = Runnable(ImportText(GraphModel(
      Node("Cast", "x", "y", Int("to", 21)) + Tensor("input", "x", {"n"}) + kOutput, 23)));
  const auto y = unsigned_out->Run("main", {Of<float>(DType::kFloat32, {-1, 3.5F, 20})});
  REQUIRE(y.ok());
  CHECK(y->dtype() == DType::kUInt8);
  CHECK(ElementsOf<uint8_t>(y) == std::vector<uint8_t>{0, 4, 15});
}

}  // namespace
}  // namespace relayvm
