// The values that experimental operators give, against those of other systems.
#include "compiler/import/onnx/value_cases.h"

namespace relayvm {
namespace {

// clang-format off
const ValueCase kCases[] = {
    // By ONNX Runtime 1.32, at open dims:
    {"Affine",
     R"(graph { node { input: 'x' output: 'y' op_type: 'Affine' attribute { name: 'alpha' f: 2.0 type: FLOAT } attribute { name: 'beta' f: -0.5 type: FLOAT } } name: 'g'
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 3},
     {100, 1, 1.125, -1.625, 1, -1},
     {199.5, 1.5, 1.75, -3.75, 1.5, -2.5},
     1e-05, 9},
    {"Affine by its defaults",
     R"(graph { node { input: 'x' output: 'y' op_type: 'Affine' } name: 'g'
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 3},
     {100, 1, 1.125, -1.625, 1, -1},
     {100, 1, 1.125, -1.625, 1, -1},
     1e-05, 9},
    {"Scale",
     R"(graph { node { input: 'x' output: 'y' op_type: 'Scale' attribute { name: 'scale' f: 0.25 type: FLOAT } } name: 'g'
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 3},
     {100, 1, 1.125, -1.625, 1, -1},
     {25, 0.25, 0.28125, -0.40625, 0.25, -0.25},
     1e-05, 9},
    {"ScaledTanh",
     R"(graph { node { input: 'x' output: 'y' op_type: 'ScaledTanh' attribute { name: 'alpha' f: 2.0 type: FLOAT } attribute { name: 'beta' f: 0.5 type: FLOAT } } name: 'g'
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 3},
     {100, 1, 1.125, -1.625, 1, -1},
     {2, 0.924234271, 1.01966, -1.3419342, 0.924234271, -0.924234271},
     1e-05, 9},
    {"ParametricSoftplus",
     R"(graph { node { input: 'x' output: 'y' op_type: 'ParametricSoftplus' attribute { name: 'alpha' f: 0.5 type: FLOAT } attribute { name: 'beta' f: 3.0 type: FLOAT } } name: 'g'
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 3},
     {100, 1, 1.125, -1.625, 1, -1},
     {150, 1.52429366, 1.70432281, 0.00380305829, 1.52429366, 0.0242936648},
     1e-05, 9},
    {"ImageScaler",
     R"(graph { node { input: 'x' output: 'y' op_type: 'ImageScaler' attribute { name: 'scale' f: 0.5 type: FLOAT } attribute { name: 'bias' floats: [1.0, -2.0] type: FLOATS } } name: 'g'
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } dim { dim_param: 'd2' } dim { dim_param: 'd3' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 2, 3, 4},
     {-2, 0.625, 1.625, 0.375, -0.75, -0.625, 1.125, -0.875, -0.75, 0.625, 0.875, -1.25, -2, 0.5, -0.5, 1.625, -1.125, -0.25, 1, 1.25, 0.125, 1.25, 0.75, -1.75, -1.75, 1.875, 1.5, -1.875, 0.375, 1.25, -1.375, -1, -0.25, -1.875, 1.625, -0.75, 1, 1.375, 1.75, -1.125, 1, -0.625, -1.875, 1.375, -0.125, 0, -1.375, 0.5},
     {0, 1.3125, 1.8125, 1.1875, 0.625, 0.6875, 1.5625, 0.5625, 0.625, 1.3125, 1.4375, 0.375, -3, -1.75, -2.25, -1.1875, -2.5625, -2.125, -1.5, -1.375, -1.9375, -1.375, -1.625, -2.875, 0.125, 1.9375, 1.75, 0.0625, 1.1875, 1.625, 0.3125, 0.5, 0.875, 0.0625, 1.8125, 0.625, -1.5, -1.3125, -1.125, -2.5625, -1.5, -2.3125, -2.9375, -1.3125, -2.0625, -2, -2.6875, -1.75},
     1e-05, 9},
    {"Crop by a border",
     R"(graph { node { input: 'x' output: 'y' op_type: 'Crop' attribute { name: 'border' ints: [1, 0, 2, 1] type: INTS } } name: 'g'
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } dim { dim_param: 'd2' } dim { dim_param: 'd3' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 2, 3, 4},
     {-2, 0.625, 1.625, 0.375, -0.75, -0.625, 1.125, -0.875, -0.75, 0.625, 0.875, -1.25, -2, 0.5, -0.5, 1.625, -1.125, -0.25, 1, 1.25, 0.125, 1.25, 0.75, -1.75, -1.75, 1.875, 1.5, -1.875, 0.375, 1.25, -1.375, -1, -0.25, -1.875, 1.625, -0.75, 1, 1.375, 1.75, -1.125, 1, -0.625, -1.875, 1.375, -0.125, 0, -1.375, 0.5},
     {0.625, -0.625, 0.5, -0.25, 1.875, 1.25, 1.375, -0.625},
     1e-05, 9},
    {"Crop to a size",
     R"(graph { node { input: 'x' output: 'y' op_type: 'Crop' attribute { name: 'border' ints: [1, 0, 2, 1] type: INTS } attribute { name: 'scale' ints: [2, 3] type: INTS } } name: 'g'
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } dim { dim_param: 'd2' } dim { dim_param: 'd3' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 2, 3, 4},
     {-2, 0.625, 1.625, 0.375, -0.75, -0.625, 1.125, -0.875, -0.75, 0.625, 0.875, -1.25, -2, 0.5, -0.5, 1.625, -1.125, -0.25, 1, 1.25, 0.125, 1.25, 0.75, -1.75, -1.75, 1.875, 1.5, -1.875, 0.375, 1.25, -1.375, -1, -0.25, -1.875, 1.625, -0.75, 1, 1.375, 1.75, -1.125, 1, -0.625, -1.875, 1.375, -0.125, 0, -1.375, 0.5},
     {0.625, 1.625, 0.375, -0.625, 1.125, -0.875, 0.5, -0.5, 1.625, -0.25, 1, 1.25, 1.875, 1.5, -1.875, 1.25, -1.375, -1, 1.375, 1.75, -1.125, -0.625, -1.875, 1.375},
     1e-05, 9},
    {"DynamicSlice",
     R"(graph { node { input: 'x' input: 's' input: 'e' input: 'a' output: 'y' op_type: 'DynamicSlice' } name: 'g' initializer { name: 's' data_type: 7 dims: 2 int64_data: [0, 1] } initializer { name: 'e' data_type: 7 dims: 2 int64_data: [5, -1] } initializer { name: 'a' data_type: 7 dims: 2 int64_data: [2, 3] }
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } dim { dim_param: 'd2' } dim { dim_param: 'd3' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 2, 3, 4},
     {-2, 0.625, 1.625, 0.375, -0.75, -0.625, 1.125, -0.875, -0.75, 0.625, 0.875, -1.25, -2, 0.5, -0.5, 1.625, -1.125, -0.25, 1, 1.25, 0.125, 1.25, 0.75, -1.75, -1.75, 1.875, 1.5, -1.875, 0.375, 1.25, -1.375, -1, -0.25, -1.875, 1.625, -0.75, 1, 1.375, 1.75, -1.125, 1, -0.625, -1.875, 1.375, -0.125, 0, -1.375, 0.5},
     {0.625, 1.625, -0.625, 1.125, 0.625, 0.875, 0.5, -0.5, -0.25, 1, 1.25, 0.75, 1.875, 1.5, 1.25, -1.375, -1.875, 1.625, 1.375, 1.75, -0.625, -1.875, 0, -1.375},
     1e-05, 9},
    {"DynamicSlice of the first axes",
     R"(graph { node { input: 'x' input: 's' input: 'e' output: 'y' op_type: 'DynamicSlice' } name: 'g' initializer { name: 's' data_type: 7 dims: 2 int64_data: [1, 0] } initializer { name: 'e' data_type: 7 dims: 2 int64_data: [2, 2] }
       input { name: 'x' type { tensor_type { elem_type: 1 shape { dim { dim_param: 'd0' } dim { dim_param: 'd1' } dim { dim_param: 'd2' } dim { dim_param: 'd3' } } } } }
       output { name: 'y' } })",
     DType::kFloat32, {2, 2, 3, 4},
     {-2, 0.625, 1.625, 0.375, -0.75, -0.625, 1.125, -0.875, -0.75, 0.625, 0.875, -1.25, -2, 0.5, -0.5, 1.625, -1.125, -0.25, 1, 1.25, 0.125, 1.25, 0.75, -1.75, -1.75, 1.875, 1.5, -1.875, 0.375, 1.25, -1.375, -1, -0.25, -1.875, 1.625, -0.75, 1, 1.375, 1.75, -1.125, 1, -0.625, -1.875, 1.375, -0.125, 0, -1.375, 0.5},
     {-1.75, 1.875, 1.5, -1.875, 0.375, 1.25, -1.375, -1, -0.25, -1.875, 1.625, -0.75, 1, 1.375, 1.75, -1.125, 1, -0.625, -1.875, 1.375, -0.125, 0, -1.375, 0.5},
     1e-05, 9},
};
// clang-format on

TEST_CASE("experimental operators: the values of other systems") {
  for (const ValueCase& c : kCases) CheckValues(c);
}

TEST_CASE("experimental operators: attributes that are missing, and images that are too small") {
  using import::testing::GraphModel;
  using import::testing::ImportText;
  using import::testing::Node;
  using import::testing::Tensor;
  const auto ints = [](const char* name, const std::vector<int>& values) {
    return fmt::format("attribute {{ name: '{}' type: INTS ints: [{}] }} ", name,
                       fmt::join(values, ", "));
  };
  const auto error = [](const std::string& node, const std::vector<std::string>& dims) {
    const auto module =
        ImportText(GraphModel(node + Tensor("input", "x", dims) + "output { name: 'y' } ", 9));
    return module.ok() ? std::string("none") : module.status().message();
  };
  const auto contains = [](const std::string& text, const std::string& part) {
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  };
  const std::vector<std::string> image = {"1", "2", "3", "4"};
  contains(error(Node("ScaledTanh", "x", "y"), image), "attribute alpha is missing");
  contains(error(Node("ImageScaler", "x", "y"), image), "attribute bias is missing");
  contains(error(Node("ImageScaler", "x", "y",
                      "attribute { name: 'bias' type: FLOATS floats: [1, 2, 3] } "),
                 image),
           "(1, 2, 3, 4)");
  contains(error(Node("Crop", "x", "y", ints("border", {1, 1})), image),
           "attribute border: expected 4 numbers, found 2");
  contains(error(Node("Crop", "x", "y", ints("border", {0, -1, 0, 0})), image), "found -1");
  contains(error(Node("Crop", "x", "y", ints("border", {3, 0, 2, 0})), image),
           "width of input 'x'");
  const auto run = Runnable(ImportText(
      GraphModel(Node("Crop", "x", "y", ints("border", {0, 2, 0, 0}) + ints("scale", {2, 2})) +
                     Tensor("input", "x", {"n", "c", "h", "w"}) + "output { name: 'y' } ",
                 9)));
  const std::vector<float> data(16, 1);
  CHECK(run->Run("main", {*Value::CopyTensor(DType::kFloat32, {{1, 1, 4, 2}}, data.data())}).ok());
  const auto small =
      run->Run("main", {*Value::CopyTensor(DType::kFloat32, {{1, 1, 3, 2}}, data.data())});
  REQUIRE(!small.ok());
  contains(small.status().ToString(), "height of input 'x'");
  contains(small.status().ToString(), ": 3, expected 4 or more");
}

}  // namespace
}  // namespace relayvm
