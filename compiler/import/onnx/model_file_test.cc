#include "compiler/import/onnx/model_file.h"

#include <cstring>

#include "compiler/import/onnx/testing.h"

namespace relayvm::import {
namespace {

using testing::GraphModel;
using testing::ModelFolder;
using testing::ModelOf;

Result<std::unique_ptr<ModelFile>> Read(const ModelFolder& folder, const std::string& bytes) {
  const std::string path = folder.Write("model.onnx", bytes);
  auto mapping = FileMapping::Open(path);
  if (!mapping.ok()) return mapping.status();
  return ModelFile::Read(path, SharedBytes::OfFile(*mapping));
}

std::vector<float> Floats(const HostTensor& t) {
  std::vector<float> out(static_cast<size_t>(t.size()));
  std::memcpy(out.data(), t.data.data(), t.data.size());
  return out;
}

std::string RawFloats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

TEST_CASE("raw bytes stay where the file has them") {
  onnx::ModelProto model =
      ModelOf(GraphModel("initializer { name: 'w' dims: 2 data_type: 1 } node { op_type: 'If' "
                         "attribute { name: 'then_branch' type: GRAPH "
                         "g { initializer { name: 'inner' dims: 1 data_type: 1 } } } }"));
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(RawFloats({1.5f, -2}));
  model.mutable_graph()
      ->mutable_node(0)
      ->mutable_attribute(0)
      ->mutable_g()
      ->mutable_initializer(0)
      ->set_raw_data(RawFloats({7}));
  ModelFolder folder;
  auto file = Read(folder, model.SerializeAsString());
  REQUIRE_MESSAGE(file.ok(), file.status().ToString());
  const onnx::GraphProto& graph = (*file)->model().graph();
  auto w = (*file)->TensorOf(graph.initializer(0));
  REQUIRE(w.ok());
  CHECK(Floats(*w) == std::vector<float>{1.5f, -2});
  auto inner = (*file)->TensorOf(graph.node(0).attribute(0).g().initializer(0));
  REQUIRE(inner.ok());
  CHECK(Floats(*inner) == std::vector<float>{7});
}

TEST_CASE("so do floats of one packed field; others are read") {
  ModelFolder folder;
  auto file = Read(folder, ModelOf(GraphModel("initializer { name: 'w' dims: 3 data_type: 1 "
                                              "float_data: [1.5, -2, 4] } initializer { name: 'd' "
                                              "dims: 1 data_type: 11 float_data: 1 }"))
                               .SerializeAsString());
  REQUIRE_MESSAGE(file.ok(), file.status().ToString());
  const onnx::GraphProto& graph = (*file)->model().graph();
  CHECK(graph.initializer(0).float_data_size() == 0);
  CHECK(graph.initializer(1).float_data_size() == 1);
  auto w = (*file)->TensorOf(graph.initializer(0));
  REQUIRE(w.ok());
  CHECK(Floats(*w) == std::vector<float>{1.5f, -2, 4});
  // A field in two parts.
  onnx::TensorProto first, second;
  first.add_dims(3);
  first.set_data_type(onnx::TensorProto::FLOAT);
  first.add_float_data(1);
  second.add_float_data(2);
  second.add_float_data(3);
  const std::string path =
      folder.Write("parts.pb", first.SerializeAsString() + second.SerializeAsString());
  auto parts = ReadTensorFile(path);
  REQUIRE_MESSAGE(parts.ok(), parts.status().ToString());
  CHECK(Floats(*parts) == std::vector<float>{1, 2, 3});
}

TEST_CASE("typed fields of each dtype") {
  const struct {
    const char* text;
    DType dtype;
    int64_t first;
  } kCases[] = {
      {"data_type: 2 int32_data: 255 int32_data: 1", DType::kUInt8, 255},
      {"data_type: 3 int32_data: -3 int32_data: 1", DType::kInt8, -3},
      {"data_type: 4 int32_data: 65535 int32_data: 1", DType::kUInt16, 65535},
      {"data_type: 5 int32_data: -5 int32_data: 1", DType::kInt16, -5},
      {"data_type: 6 int32_data: -6 int32_data: 1", DType::kInt32, -6},
      {"data_type: 7 int64_data: -7 int64_data: 1", DType::kInt64, -7},
      {"data_type: 9 int32_data: 5 int32_data: 0", DType::kBool, 1},
      {"data_type: 12 uint64_data: 4294967295 uint64_data: 1", DType::kUInt32, 4294967295},
      {"data_type: 13 uint64_data: 13 uint64_data: 1", DType::kUInt64, 13},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    ModelFolder folder;
    auto file = Read(
        folder, ModelOf(GraphModel(std::string("initializer { name: 't' dims: 2 ") + c.text + "}"))
                    .SerializeAsString());
    REQUIRE(file.ok());
    auto t = (*file)->TensorOf((*file)->model().graph().initializer(0));
    REQUIRE_MESSAGE(t.ok(), t.status().ToString());
    CHECK(t->dtype == c.dtype);
    int64_t first = 0;
    std::memcpy(&first, t->data.data(), static_cast<size_t>(DTypeBytes(c.dtype)));
    const int shift = 64 - DTypeBits(c.dtype);
    if (IsSignedInt(c.dtype) && shift > 0) first = first << shift >> shift;
    CHECK(first == c.first);
  }
}

TEST_CASE("integers of a few bits are held one a byte") {
  const struct {
    const char* text;
    DType dtype;
    std::vector<int> elements;
  } kCases[] = {
      {"dims: 3 data_type: 21 raw_data: '\\xf1\\x08'", DType::kUInt8, {1, 15, 8}},
      {"dims: 3 data_type: 22 raw_data: '\\xf1\\x08'", DType::kInt8, {1, -1, -8}},
      {"dims: 3 data_type: 22 int32_data: 241 int32_data: 8", DType::kInt8, {1, -1, -8}},
      {"dims: 5 data_type: 25 raw_data: '\\x1b\\x02'", DType::kUInt8, {3, 2, 1, 0, 2}},
      {"dims: 5 data_type: 26 raw_data: '\\x1b\\x02'", DType::kInt8, {-1, -2, 1, 0, -2}},
      {"dims: 0 data_type: 22", DType::kInt8, {}},
  };
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    ModelFolder folder;
    auto file =
        Read(folder, ModelOf(GraphModel(std::string("initializer { name: 't' ") + c.text + "}"))
                         .SerializeAsString());
    REQUIRE(file.ok());
    auto t = (*file)->TensorOf((*file)->model().graph().initializer(0));
    REQUIRE_MESSAGE(t.ok(), t.status().ToString());
    CHECK(t->dtype == c.dtype);
    REQUIRE(t->data.size() == c.elements.size());
    for (size_t i = 0; i < c.elements.size(); ++i) {
      const auto byte = static_cast<uint8_t>(t->data[i]);
      CHECK((c.dtype == DType::kInt8 ? static_cast<int8_t>(byte) : byte) == c.elements[i]);
    }
  }
}

// As caches of models do it: files by their content's name, and links that have the model's names.
TEST_CASE("external data lies beside the model, or beside what the model is a link to") {
  ModelFolder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder.path() / "blobs");
  fs::create_directories(folder.path() / "elsewhere");
  fs::create_directories(folder.path() / "snapshots" / "abc" / "onnx");
  const auto model = [](const char* location) {
    return ModelOf(GraphModel(std::string("initializer { name: 't' dims: 2 data_type: 1 "
                                          "data_location: EXTERNAL external_data { key: "
                                          "'location' value: '") +
                              location + "' } }"))
        .SerializeAsString();
  };
  folder.Write("blobs/2222", RawFloats({3, 4}));
  folder.Write("elsewhere/3333", RawFloats({3, 4}));
  const fs::path links = folder.path() / "snapshots" / "abc" / "onnx";
  fs::create_symlink("../../../blobs/1111", links / "model.onnx");
  fs::create_symlink("../../../blobs/2222", links / "model.onnx_data");
  fs::create_symlink("../../../elsewhere/3333", links / "stray");
  const struct {
    const char* location;
    bool fits;
  } kCases[] = {{"model.onnx_data", true}, {"stray", false}, {"../../../blobs/2222", false}};
  for (const auto& c : kCases) {
    CAPTURE(c.location);
    folder.Write("blobs/1111", model(c.location));
    const std::string path = (links / "model.onnx").string();
    auto mapping = FileMapping::Open(path);
    REQUIRE(mapping.ok());
    auto file = ModelFile::Read(path, SharedBytes::OfFile(*mapping));
    REQUIRE(file.ok());
    auto t = (*file)->TensorOf((*file)->model().graph().initializer(0));
    CHECK(t.ok() == c.fits);
    if (c.fits && t.ok()) CHECK(Floats(*t) == std::vector<float>{3, 4});
  }
}

TEST_CASE("what a tensor says is not believed") {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"dims: 3 data_type: 1 float_data: 1", "its dimensions take 12 bytes, found 4"},
      {"dims: -1 data_type: 1", "a dimension is negative: -1"},
      {"dims: 4611686018427387904 dims: 4 data_type: 1", "its dimensions are too large"},
      {"dims: 4611686018427387904 dims: 0 dims: 4 data_type: 1 float_data: 1",
       "its dimensions take 0 bytes, found 4"},
      {"dims: 2 data_type: 8 string_data: 'a'", "its dimensions take 2 strings, found 1"},
      {"dims: 1 data_type: 8 raw_data: 'a'", "its dimensions take 1 strings, found 0"},
      {"dims: 1 data_type: 8 string_data: '\\377'", "a string is not UTF-8"},
      {"dims: 1 data_type: 14 float_data: 1", "elements of COMPLEX64 are not supported"},
      {"dims: 3 data_type: 17 raw_data: 'ab'", "its dimensions take 3 bytes, found 2"},
      {"dims: 3 data_type: 23 raw_data: 'a'", "its dimensions take 2 bytes, found 1"},
      {"dims: 1 data_type: 24", "elements of FLOAT8E8M0 are not supported"},
      {"dims: 3 data_type: 22 raw_data: 'a'", "its dimensions take 2 bytes, found 1"},
      {"dims: 1 data_type: 99", "elements of type 99 are not supported"},
      {"dims: 1 data_type: 1 data_location: EXTERNAL", "external data: expected a location"},
      {"dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
       "'../secret' }",
       "'../secret' is not in the model's folder"},
      {"dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
       "'/etc/passwd' }",
       "'/etc/passwd' is not in the model's folder"},
      {"dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: 'none' "
       "}",
       "none"},
      {"dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
       "'w.bin' } "
       "external_data { key: 'offset' value: '5' }",
       "'w.bin' has 8 bytes, expected 4 from byte 5 on"},
      {"dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
       "'w.bin' } "
       "external_data { key: 'offset' value: '18446744073709551615' }",
       "expected 4 from byte 18446744073709551615 on"},
      {"dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: "
       "'w.bin' } "
       "external_data { key: 'offset' value: '-4' }",
       "offset: expected a number, found '-4'"},
      {"dims: 1 data_type: 1 data_location: EXTERNAL external_data { key: 'location' value: 'out' "
       "}",
       "'out' is not in the model's folder"},
  };
  ModelFolder folder;
  folder.Write("w.bin", RawFloats({3, 4}));
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "out");
  for (const auto& c : kCases) {
    CAPTURE(c.text);
    auto file =
        Read(folder, ModelOf(GraphModel(std::string("initializer { name: 't' ") + c.text + "}"))
                         .SerializeAsString());
    REQUIRE_MESSAGE(file.ok(), file.status().ToString());
    auto t = (*file)->TensorOf((*file)->model().graph().initializer(0));
    REQUIRE(!t.ok());
    const std::string message(t.status().message());
    CHECK_MESSAGE(message.find(c.message) != std::string::npos, message);
    CHECK(message.find("tensor 't'") != std::string::npos);
  }
}

TEST_CASE("weights in a file of their own are mapped") {
  ModelFolder folder;
  folder.Write("w.bin", RawFloats({3, 4, 5}));
  auto file = Read(
      folder,
      ModelOf(GraphModel("initializer { name: 't' dims: 2 data_type: 1 data_location: EXTERNAL "
                         "external_data { key: 'location' value: 'w.bin' } "
                         "external_data { key: 'offset' value: '4' } }"))
          .SerializeAsString());
  REQUIRE(file.ok());
  auto t = (*file)->TensorOf((*file)->model().graph().initializer(0));
  REQUIRE_MESSAGE(t.ok(), t.status().ToString());
  CHECK(Floats(*t) == std::vector<float>{4, 5});
}

TEST_CASE("weights of 5 GiB cost no memory until they are read") {
  ModelFolder folder;
  const std::string path = folder.Write("w.bin", "");
  constexpr int64_t kElements = (int64_t{5} << 30) / 4;
  std::filesystem::resize_file(path, kElements * 4);
  auto file =
      Read(folder, ModelOf(GraphModel("initializer { name: 't' dims: " + std::to_string(kElements) +
                                      " data_type: 1 data_location: EXTERNAL "
                                      "external_data { key: 'location' value: 'w.bin' } }"))
                       .SerializeAsString());
  REQUIRE(file.ok());
  auto t = (*file)->TensorOf((*file)->model().graph().initializer(0));
  REQUIRE_MESSAGE(t.ok(), t.status().ToString());
  CHECK(t->data.size() == size_t{5} << 30);
}

TEST_CASE("every truncation and every flipped bit gives a model or an error") {
  onnx::ModelProto model = ModelOf(
      GraphModel("node { op_type: 'Relu' input: 'x' output: 'y' } initializer { name: 'w' dims: 2 "
                 "data_type: 1 } " +
                 testing::Tensor("input", "x", {"n"}) + testing::Tensor("output", "y", {"n"})));
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(RawFloats({1, 2}));
  const std::string bytes = model.SerializeAsString();
  ModelFolder folder;
  size_t errors = 0;
  const auto use = [&](const std::string& damaged) {
    auto file = Read(folder, damaged);
    if (!file.ok()) {
      ++errors;
      CHECK(!file.status().message().empty());
      return;
    }
    for (const auto& t : (*file)->model().graph().initializer()) {
      auto tensor = (*file)->TensorOf(t);
      if (tensor.ok())
        CHECK(tensor->data.size() ==
              static_cast<size_t>(tensor->size()) * DTypeBytes(tensor->dtype));
    }
  };
  for (size_t size = 0; size < bytes.size(); ++size) use(bytes.substr(0, size));
  CHECK(errors > bytes.size() / 2);
  for (size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string damaged = bytes;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    use(damaged);
  }
}

TEST_CASE("graphs in graphs have an end") {
  onnx::ModelProto model = ModelOf(GraphModel(""));
  onnx::GraphProto* graph = model.mutable_graph();
  for (int i = 0; i < 400; ++i) {
    onnx::AttributeProto* a = graph->add_node()->add_attribute();
    a->set_name("body");
    a->set_type(onnx::AttributeProto::GRAPH);
    graph = a->mutable_g();
  }
  ModelFolder folder;
  auto file = Read(folder, model.SerializeAsString());
  REQUIRE(!file.ok());
  CHECK(file.status().message().find("deeper than 200 levels") != std::string::npos);
}

}  // namespace
}  // namespace relayvm::import
