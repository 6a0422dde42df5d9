#include "compiler/import/tflite/model_file.h"

#include "bytecode/base/string_table.h"
#include "compiler/import/tflite/flexbuffer.h"
#include "compiler/import/tflite/testing.h"

namespace relayvm::import::tflite::testing {
namespace {

std::unique_ptr<ModelFile> Read(const std::string& bytes) {
  auto file = ModelFile::Read("m.tflite", SharedBytes::Copy(std::as_bytes(std::span(bytes))));
  REQUIRE_MESSAGE(file.ok(), file.status().ToString());
  return *std::move(file);
}

// The elements of the first tensor.
std::vector<double> Elements(const std::string& bytes) {
  const auto file = Read(bytes);
  StringTable strings;
  auto elements = file->ElementsOf(file->subgraphs()[0].tensors[0], strings);
  REQUIRE_MESSAGE(elements.ok(), elements.status().ToString());
  return NumbersOf(*elements);
}

std::string OneTensor(const Described& d, const std::vector<uint8_t>& bytes) {
  Model m;
  m.AddBytes(d, bytes, "w");
  m.Close({}, {0});
  return m.Bytes();
}

TEST_CASE("integers of few bits stand lowest first") {
  CHECK(Elements(OneTensor({TensorType::INT4, {3}}, {0x8F, 0x07})) ==
        std::vector<double>{-1, -8, 7});
  CHECK(Elements(OneTensor({TensorType::INT2, {5}}, {0b11'10'01'00, 0b01})) ==
        std::vector<double>{0, 1, -2, -1, 1});
}

TEST_CASE("strings have a count and offsets") {
  const std::vector<uint8_t> bytes = {2, 0, 0,  0, 16, 0, 0,   0,   18, 0,
                                      0, 0, 19, 0, 0,  0, 'a', 'b', 'c'};
  const auto file = Read(OneTensor({TensorType::STRING, {2}}, bytes));
  StringTable strings;
  const auto found = file->ElementsOf(file->subgraphs()[0].tensors[0], strings);
  REQUIRE(found.ok());
  CHECK(strings.Find("ab") >= 0);
  CHECK(strings.Find("c") >= 0);
}

// A matrix of 4 by 4 in blocks of 2 by 2, two of which are there.
std::string Sparse(const std::vector<uint8_t>& indices, int32_t block = 2) {
  Model m;
  Builder& b = m.builder();
  const auto dense = [&](int32_t size) {
    return fb::CreateDimensionMetadata(b, fb::DimensionType::DENSE, size);
  };
  const std::vector<uint8_t> segments = {0, 1, 2};
  const std::vector<flatbuffers::Offset<fb::DimensionMetadata>> dims = {
      dense(2),
      fb::CreateDimensionMetadata(
          b, fb::DimensionType::SPARSE_CSR, 0, fb::SparseIndexVector::Uint8Vector,
          fb::CreateUint8VectorDirect(b, &segments).Union(), fb::SparseIndexVector::Uint8Vector,
          fb::CreateUint8VectorDirect(b, &indices).Union()),
      dense(block), dense(2)};
  const std::vector<int32_t> order = {0, 1, 2, 3}, map = {0, 1};
  const auto sparsity = fb::CreateSparsityParametersDirect(b, &order, &map, &dims);
  m.AddBytes({TensorType::INT8, {4, 4}}, {1, 2, 3, 4, 5, 6, 7, 8}, "w", sparsity);
  m.Close({}, {0});
  return m.Bytes();
}

TEST_CASE("sparse tensors get their zeros back; what does not fit is an error") {
  CHECK(Elements(Sparse({1, 0})) ==
        std::vector<double>{0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0});
  for (const std::string& bytes : {Sparse({1, 9}), Sparse({1}), Sparse({0, 1}, 3)})
    CHECK(!Import(bytes).ok());
}

TEST_CASE("bytes of tensors may stand behind the tables") {
  std::string bytes = OneTensor({TensorType::INT8, {4}}, {0, 0, 0, 0});
  Model m;
  Builder& b = m.builder();
  const std::vector<int32_t> shape = {2}, none, first = {0};
  const std::vector<flatbuffers::Offset<fb::Tensor>> tensors = {
      fb::CreateTensorDirect(b, &shape, TensorType::INT8, 1, "w")};
  const std::vector<flatbuffers::Offset<fb::SubGraph>> graphs = {
      fb::CreateSubGraphDirect(b, &tensors, &none, &first)};
  const auto model = [&](uint64_t offset) {
    b.Clear();
    const std::vector<flatbuffers::Offset<fb::Tensor>> own = {
        fb::CreateTensorDirect(b, &shape, TensorType::INT8, 1, "w")};
    const std::vector<flatbuffers::Offset<fb::SubGraph>> graph = {
        fb::CreateSubGraphDirect(b, &own, &none, &first)};
    const std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {
        fb::CreateBuffer(b), fb::CreateBuffer(b, 0, offset, 2)};
    b.Finish(fb::CreateModelDirect(b, 3, nullptr, &graph, "", &buffers), "TFL3");
    return std::string(reinterpret_cast<const char*>(b.GetBufferPointer()), b.GetSize());
  };
  const size_t size = model(1000).size();
  CHECK(Elements(model(size) + "\x05\x06") == std::vector<double>{5, 6});
  CHECK(!Import(model(size) + "\x05").ok());
  CHECK(!Import(model(UINT64_MAX) + "\x05").ok());
}

std::string Dense() {
  Model m;
  m.Add({TensorType::INT8, {1, 2}, 0.5F, 0}, "x");
  m.Add({TensorType::INT8, {2, 2}, 0.5F, 0, {1, 2, 3, 4}}, "w");
  m.Add({TensorType::INT8, {1, 2}, 1.0F, 0}, "y");
  m.Op(Code::FULLY_CONNECTED, {0, 1, -1}, {2}, Options::FullyConnectedOptions,
       fb::CreateFullyConnectedOptions(m.builder()).Union());
  m.Close({0}, {2});
  m.Signature("serve", {{"a", 0}}, {{"b", 2}});
  return m.Bytes();
}

TEST_CASE("any bytes are an answer: cut short, and each byte another") {
  const std::string good = Dense();
  REQUIRE(Import(good).ok());
  for (size_t n = 0; n < good.size(); ++n) CHECK(!Import(good.substr(0, n)).ok());
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      const auto result = Import(bad);
      if (!result.ok()) CHECK(!result.status().message().empty());
    }
  }
}

TEST_CASE("options of custom operators: numbers of all widths; other bytes are no map") {
  const std::string_view good("k\0a\0\x02\x03\x06\x02\x01\x02\x2A\x01\x04\x68\x04\x24\x01", 17);
  const auto map = FlexMap::Read(good);
  REQUIRE_MESSAGE(map.ok(), map.status().message());
  CHECK(map->Int("a", 7) == 42);
  CHECK(map->Bool("k", false));
  CHECK(map->Float("other", 1.5) == 1.5);
  for (size_t n = 1; n < good.size(); ++n) static_cast<void>(FlexMap::Read(good.substr(n)));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad(good);
    bad[i] = static_cast<char>(bad[i] ^ 0x7F);
    static_cast<void>(FlexMap::Read(bad));
  }
  CHECK(!FlexMap::Read("???").ok());
}

}  // namespace
}  // namespace relayvm::import::tflite::testing
