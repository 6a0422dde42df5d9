#include "compiler/import/tensorflow/graph_def.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

#include "compiler/import/container/protobuf_wire.h"

namespace relayvm::import::tensorflow {
namespace {

Result<std::unique_ptr<GraphFile>> Read(const std::string& bytes) {
  return GraphFile::Read("m.pb", SharedBytes::Copy(std::as_bytes(std::span(bytes))));
}

// The tensor of a constant that this text makes.
Result<std::vector<double>> Elements(const std::string& tensor) {
  auto file = Read("node { name: 'c' op: 'Other' attr { key: 'value' value { tensor { " + tensor +
                   " } } } }");
  if (!file.ok()) return file.status();
  auto t = (*file)->TensorOf(ReadAttr((*file)->graph().nodes[0].Attr("value")).bytes);
  if (!t.ok()) return t.status();
  std::vector<double> out;
  for (int64_t i = 0; i < t->size(); ++i) {
    const std::byte* at = t->data.data() + static_cast<size_t>(i * DTypeBytes(t->dtype));
    if (t->dtype == DType::kFloat32) {
      float value = 0;
      std::memcpy(&value, at, sizeof value);
      out.push_back(value);
    } else {
      int64_t value = 0;
      std::memcpy(&value, at, static_cast<size_t>(DTypeBytes(t->dtype)));
      out.push_back(static_cast<double>(value));
    }
  }
  return out;
}

std::string Message(const std::string& tensor) {
  const auto elements = Elements(tensor);
  return elements.ok() ? "" : elements.status().message();
}

const std::string kShape = "tensor_shape { dim { size: 4 } } ";

TEST_CASE("elements: bytes, lists whose last one counts for the rest, none") {
  CHECK(*Elements("dtype: DT_FLOAT " + kShape + "float_val: [1, 2.5]") ==
        std::vector<double>{1, 2.5, 2.5, 2.5});
  CHECK(*Elements("dtype: DT_INT32 " + kShape) == std::vector<double>{0, 0, 0, 0});
  CHECK(*Elements("dtype: DT_UINT8 " + kShape + "tensor_content: '\\001\\002\\003\\004'") ==
        std::vector<double>{1, 2, 3, 4});
  CHECK(*Elements("dtype: DT_HALF " + kShape + "half_val: [15360, 0]") ==
        std::vector<double>{15360, 0, 0, 0});
  CHECK(*Elements("dtype: DT_BOOL " + kShape + "bool_val: [true, false]") ==
        std::vector<double>{1, 0, 0, 0});
  CHECK(*Elements("dtype: DT_INT64 tensor_shape { } int64_val: 3000000000") ==
        std::vector<double>{3e9});
  CHECK(Elements("dtype: DT_FLOAT tensor_shape { dim { size: 0 } }")->empty());
}

TEST_CASE("tensors that do not hold what they say") {
  CHECK(Message("dtype: DT_FLOAT " + kShape + "tensor_content: 'abc'") ==
        "tensor_content: its shape takes 16 bytes, found 3");
  CHECK(Message("dtype: DT_FLOAT " + kShape + "float_val: [1, 2, 3, 4, 5]") ==
        "its shape takes 4 elements, found 5");
  CHECK(Message("dtype: DT_FLOAT tensor_shape { dim { size: 1099511627776 } } float_val: 1")
            .find("too large") != std::string::npos);
  CHECK(
      Message("dtype: DT_FLOAT tensor_shape { dim { size: 4294967296 } dim { size: 4294967296 } }")
          .find("too large") != std::string::npos);
  CHECK(Message("dtype: DT_FLOAT tensor_shape { dim { size: -2 } }").find("less than 0") !=
        std::string::npos);
  CHECK(Message("dtype: DT_RESOURCE " + kShape).find("DT_RESOURCE") != std::string::npos);
  CHECK(Message("dtype: DT_STRING " + kShape + "string_val: 'a'").empty());
}

TEST_CASE("shapes of which something is not known") {
  std::string dims, dim, rank;
  AppendNumber(1, static_cast<uint64_t>(-1), &dim);
  AppendBytes(2, dim, &dims);
  const auto shape = ReadShape(dims);
  REQUIRE(shape);
  CHECK((*shape)[0].ContainsAny());
  AppendNumber(3, 1, &rank);
  CHECK(!ReadShape(rank));
}

TEST_CASE("functions are read when somebody asks") {
  auto file = Read(
      "node { name: 'x' op: 'Placeholder' } library { function { signature { name: 'f' input_arg { "
      "name: 'a' type: DT_FLOAT } output_arg { name: 'b' } } node_def { name: 'n' op: 'Neg' input: "
      "'a' "
      "} ret { key: 'b' value: 'n:y:0' } control_ret { key: 'c' value: 'n' } } }");
  REQUIRE_MESSAGE(file.ok(), file.status().message());
  const auto f = (*file)->FindFunction("f");
  REQUIRE(f.ok());
  REQUIRE(*f != nullptr);
  CHECK((*f)->inputs[0].name == "a");
  CHECK((*f)->results.at("b") == "n:y:0");
  CHECK((*f)->control_results[0] == "n");
  CHECK((*f)->body.nodes[0].inputs[0] == "a");
  CHECK(*(*file)->FindFunction("g") == nullptr);
}

TEST_CASE("files that are cut, or have a byte that is another") {
  std::string node, graph;
  AppendBytes(1, "x", &node);
  AppendBytes(2, "Const", &node);
  std::string attr, value, tensor;
  AppendNumber(1, 1, &tensor);
  AppendBytes(4, "abcd", &tensor);
  AppendBytes(8, tensor, &value);
  AppendBytes(1, "value", &attr);
  AppendBytes(2, value, &attr);
  AppendBytes(5, attr, &node);
  AppendBytes(1, node, &graph);
  CHECK(Read(graph).ok());
  for (size_t i = 0; i < graph.size(); ++i) {
    CHECK(!Read(graph.substr(0, i)).ok());
    std::string other = graph;
    other[i] = static_cast<char>(other[i] ^ 0x83);
    static_cast<void>(Read(other));
  }
}

}  // namespace
}  // namespace relayvm::import::tensorflow
