#include "compiler/import/torch/tensors.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>

#include "bytecode/base/file_mapping.h"
#include "bytecode/io/zip_writer.h"
#include "tests/temp_folder.h"

namespace relayvm::import::torch {
namespace {

using namespace std::string_literals;

std::string Number(int n) {
  return n < 0 ? "J" + std::string(reinterpret_cast<char*>(&n), 4)
               : "K" + std::string(1, static_cast<char>(n));
}
std::string Text(const std::string& s) {
  return "\x8c" + std::string(1, static_cast<char>(s.size())) + s;
}
std::string Tuple(const std::vector<int>& numbers) {
  std::string out = "(";
  for (const int n : numbers) out += Number(n);
  return out + "t";
}
// Storage "k" of that type and so many elements.
std::string Storage(const std::string& type, int elements) {
  return "(" + Text("storage") + "ctorch\n" + type + "\n" + Text("k") + Text("cpu") +
         Number(elements) + "tQ";
}
std::string Tensor(const std::string& storage, int offset, const std::vector<int>& sizes,
                   const std::vector<int>& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + Number(offset) + Tuple(sizes) +
         Tuple(strides) +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}

Result<TorchTensor> Read(const std::string& pickled, const std::string& content) {
  const relayvm::testing::TempFolder folder;
  auto zip = ZipWriter::Create(folder / "m.pt");
  REQUIRE(zip.ok());
  REQUIRE(zip->Add("m/data/k", std::as_bytes(std::span(content))).ok());
  REQUIRE(zip->Finish().ok());
  const auto archive =
      Archive::Open("m.pt", SharedBytes::OfFile(*FileMapping::Open(folder / "m.pt")));
  REQUIRE(archive.ok());
  const std::string bytes = "\x80\2" + pickled + ".";
  const auto pickle =
      Pickle::Read("m.pt: data.pkl", std::as_bytes(std::span(bytes)), IsTorchGlobal);
  REQUIRE_MESSAGE(pickle.ok(), pickle.status().message());
  return TensorReader(*archive, "data/").Read(pickle->root(), "l.w");
}

std::string Bytes(const std::vector<float>& v) {
  return {reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float)};
}
std::vector<float> Elements(const HostTensor& t) {
  std::vector<float> out(static_cast<size_t>(t.size()));
  std::memcpy(out.data(), t.data.data(), out.size() * sizeof(float));
  return out;
}

TEST_CASE("views of a storage") {
  struct Case {
    int offset;
    std::vector<int> sizes, strides;
    std::vector<float> elements;
  };
  const Case cases[] = {
      {0, {2, 3}, {3, 1}, {0, 1, 2, 3, 4, 5}},
      {1, {2, 2}, {3, 1}, {1, 2, 4, 5}},
      {0, {3, 2}, {1, 3}, {0, 3, 1, 4, 2, 5}},
      {2, {2, 2}, {0, 1}, {2, 3, 2, 3}},
      {5, {}, {}, {5}},
      {0, {0, 3}, {3, 1}, {}},
      {1, {2, 1, 2}, {2, 9, 1}, {1, 2, 3, 4}},
  };
  for (const Case& c : cases) {
    const auto t = Read(Tensor(Storage("FloatStorage", 6), c.offset, c.sizes, c.strides),
                        Bytes({0, 1, 2, 3, 4, 5}));
    REQUIRE_MESSAGE(t.ok(), t.status().message());
    CHECK(t->elements.shape == std::vector<int64_t>(c.sizes.begin(), c.sizes.end()));
    CHECK(Elements(t->elements) == c.elements);
    CHECK(t->storage == "data/k");
  }
}

TEST_CASE("complex, boolean and quantised elements; parameters") {
  const auto z = Read(Tensor(Storage("ComplexFloatStorage", 2), 0, {2}, {1}), Bytes({1, 2, 3, 4}));
  REQUIRE(z.ok());
  CHECK(z->type.complex);
  CHECK(z->elements.shape == std::vector<int64_t>{2, 2});
  const auto flags = Read(Tensor(Storage("BoolStorage", 3), 0, {3}, {1}), "\0\1\7"s);
  REQUIRE(flags.ok());
  CHECK(flags->elements.data[2] == std::byte{1});
  const auto p = Read("ctorch._utils\n_rebuild_parameter\n(" +
                          Tensor(Storage("FloatStorage", 1), 0, {1}, {1}) + "\x88NtR",
                      Bytes({1}));
  REQUIRE(p.ok());
  CHECK(p->is_parameter);
  const std::string quantised = "ctorch._utils\n_rebuild_qtensor\n(" + Storage("QInt8Storage", 4) +
                                Number(0) + Tuple({2, 2}) + Tuple({2, 1});
  const auto q = Read(
      quantised + "(ctorch\nper_tensor_affine\nG\x3f\xe0\0\0\0\0\0\0K\3t"s + "\x89NtR", "abcd");
  REQUIRE_MESSAGE(q.ok(), q.status().message());
  CHECK(q->scales == std::vector<double>{0.5});
  CHECK(q->zero_points == std::vector<double>{3});
  const auto c = Read(
      quantised + "(ctorch\nper_channel_affine\n" + Tuple({1, 2}) + Tuple({0, 0}) + "K\1t\x89NtR",
      "abcd");
  REQUIRE_MESSAGE(c.ok(), c.status().message());
  CHECK(c->axis == 1);
  CHECK(c->scales == std::vector<double>{1, 2});
  CHECK(c->type.quantised);
  const auto four =
      Read("ctorch._utils\n_rebuild_qtensor\n(" + Storage("QUInt4x2Storage", 2) + Number(0) +
               Tuple({3}) + Tuple({1}) + "(ctorch\nper_tensor_affine\nK\1K\0t\x89NtR"s,
           "\x21\x43");
  REQUIRE_MESSAGE(four.ok(), four.status().message());
  CHECK(four->elements.data == SharedBytes::Copy(std::as_bytes(std::span("\1\2\3", 3))));
}

TEST_CASE("tensors that do not lie in their storage") {
  const auto refused = [](const std::string& pickled, const std::string& message) {
    const auto t = Read(pickled, "0123456789abcdef");
    REQUIRE_MESSAGE(!t.ok(), message);
    CHECK(t.status().ToString() == "invalid input: m.pt: tensor l.w: " + message);
  };
  const std::string four = Storage("FloatStorage", 4);
  refused(Tensor(four, 1, {4}, {1}),
          "sizes (4), strides (1), offset 1: its storage has 4 elements");
  refused(Tensor(four, -1, {2}, {1}),
          "sizes (2), strides (1), offset -1: expected no negative offset");
  refused(Tensor(four, 0, {-2}, {1}),
          "sizes (-2), strides (1), offset 0: expected no negative number");
  refused(Tensor(four, 0, {2, 2}, {1}),
          "sizes (2, 2), strides (1), offset 0: expected a stride for each size");
  refused(Tensor(Storage("FloatStorage", 5), 0, {1}, {1}),
          "storage k has 5 elements of 4 bytes, its entry has 16 bytes");
  std::vector<int> many(9, 120), still(9, 0);
  refused(Tensor(four, 0, many, still),
          "a view of 5159780352000000000 elements of a storage of 16 bytes is too large");
  refused("ccollections\nOrderedDict\n)R", "expected a tensor, found a collections.OrderedDict");
}

}  // namespace
}  // namespace relayvm::import::torch
