#include "bytecode/io/npz.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "bytecode/io/npy.h"
#include "tests/temp_folder.h"

namespace relayvm {
namespace {

// numpy.savez(f, w=uint8 [1, 2], **{"a.b": float32 0.5})
constexpr const char* kStored =
    "504b0304140000000000000021006202655f820000008200000005001400772e6e7079010010008200000000000000"
    "820000"
    "0000000000934e554d5059010076007b276465736372273a20277c7531272c2027666f727472616e5f6f7264657227"
    "3a2046"
    "616c73652c20277368617065273a2028322c292c207d20202020202020202020202020202020202020202020202020"
    "202020"
    "20202020202020202020202020202020202020202020202020202020202020200a0102504b03041400000000000000"
    "21006b"
    "c41c96840000008400000007001400612e622e6e70790100100084000000000000008400000000000000934e554d50"
    "590100"
    "76007b276465736372273a20273c6634272c2027666f727472616e5f6f72646572273a2046616c73652c2027736861"
    "706527"
    "3a2028292c207d20202020202020202020202020202020202020202020202020202020202020202020202020202020"
    "202020"
    "202020202020202020202020202020202020200a0000003f504b01021403140000000000000021006202655f820000"
    "008200"
    "0000050000000000000000000000800100000000772e6e7079504b01021403140000000000000021006bc41c968400"
    "000084"
    "0000000700000000000000000000008001b9000000612e622e6e7079504b0506000000000200020068000000760100"
    "000000";
// numpy.savez_compressed(f, w=100 zeros of uint8)
constexpr const char* kCompressed =
    "504b03041400000008000000210006e20cd649000000e400000005001400772e6e707901001000e400000000000000"
    "490000"
    "00000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a05e536aa8aea3a09e965f54529498179f5f94920a12"
    "774bcc"
    "294e058a17672416a402f91a8606063a9a3a0ab50a64032e063a0000504b010214031400000008000000210006e20c"
    "d64900"
    "0000e4000000050000000000000000000000800100000000772e6e7079504b05060000000001000100330000008000"
    "000000"
    "00";

std::string FromHex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return out;
}

class TempFile {
 public:
  explicit TempFile(const std::string& bytes = "") : path_(folder_ / "tensors.npz") {
    if (!bytes.empty()) std::ofstream(path_, std::ios::binary) << bytes;
  }
  const std::string& path() const { return path_; }
  std::string Content() const {
    std::stringstream s;
    s << std::ifstream(path_, std::ios::binary).rdbuf();
    return s.str();
  }

 private:
  testing::TempFolder folder_;
  std::string path_;
};

TEST_CASE("reads numpy's archives, in their order") {
  TempFile stored(FromHex(kStored));
  auto t = ReadNpz(stored.path());
  REQUIRE_MESSAGE(t.ok(), t.status().message());
  REQUIRE(t->size() == 2);
  CHECK((*t)[0].first == "w");
  CHECK((*t)[0].second.data == std::vector<std::byte>{std::byte{1}, std::byte{2}});
  CHECK((*t)[1].first == "a.b");
  CHECK((*t)[1].second.dtype == DType::kFloat32);
  CHECK((*t)[1].second.shape.empty());

  TempFile compressed(FromHex(kCompressed));
  auto zeros = ReadNpz(compressed.path());
  REQUIRE(zeros.ok());
  REQUIRE(zeros->size() == 1);
  CHECK((*zeros)[0].second.data == std::vector<std::byte>(100));
}

TEST_CASE("what is written reads back and is the same each time") {
  NamedTensors tensors;
  tensors.emplace_back("onnx::Conv_3/w x",
                       HostTensor{DType::kInt16, {2}, std::vector<std::byte>(4, std::byte{7})});
  tensors.emplace_back("out0", HostTensor{DType::kBool, {}, std::vector<std::byte>{std::byte{1}}});
  TempFile a;
  TempFile b;
  REQUIRE(WriteNpz(a.path(), tensors).ok());
  REQUIRE(WriteNpz(a.path(), tensors).ok());  // replaces
  REQUIRE(WriteNpz(b.path(), tensors).ok());
  CHECK(a.Content() == b.Content());
  auto back = ReadNpz(a.path());
  REQUIRE(back.ok());
  REQUIRE(back->size() == 2);
  for (size_t i = 0; i < 2; ++i) {
    CHECK((*back)[i].first == tensors[i].first);
    CHECK((*back)[i].second.shape == tensors[i].second.shape);
    CHECK((*back)[i].second.data == tensors[i].second.data);
  }
  tensors.emplace_back("b", HostTensor{DType::kBFloat16, {}, std::vector<std::byte>(2)});
  CHECK(WriteNpz(b.path(), tensors).message() ==
        "b: npy: bfloat16 has no .npy form; cast to float32 first");
}

TEST_CASE("damaged archives are errors") {
  CHECK(ReadNpz("/nonexistent.npz").status().code() == StatusCode::kNotFound);
  TempFile text("this is not a zip file");
  CHECK(ReadNpz(text.path()).status().message() == text.path() + ": not a zip archive");

  for (const char* hex : {kStored, kCompressed}) {
    const std::string good = FromHex(hex);
    for (size_t i = 1; i < good.size(); i += 3) {
      TempFile cut(good.substr(0, i));
      CHECK_FALSE(ReadNpz(cut.path()).ok());
      std::string changed = good;
      changed[i] = static_cast<char>(changed[i] ^ (1 << i % 8));
      TempFile damaged(changed);
      auto t = ReadNpz(damaged.path());  // some bytes, such as dates, mean nothing
      CHECK((t.ok() || !t.status().message().empty()));
    }
  }

  // Every single bit: an error, or the same tensors (dates mean nothing). Names stand in the file
  // twice, data under a checksum.
  for (const char* hex : {kStored, kCompressed}) {
    const std::string good = FromHex(hex);
    const NamedTensors tensors = *ReadNpz(TempFile(good).path());
    for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
      CAPTURE(bit / 8);
      CAPTURE(bit % 8);
      std::string changed = good;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      auto read = ReadNpz(TempFile(changed).path());
      if (!read.ok()) continue;
      CHECK(read->size() == tensors.size());
      for (size_t i = 0; i < tensors.size() && i < read->size(); ++i) {
        CHECK((*read)[i].first == tensors[i].first);
        CHECK((*read)[i].second.dtype == tensors[i].second.dtype);
        CHECK((*read)[i].second.shape == tensors[i].second.shape);
        CHECK((*read)[i].second.data == tensors[i].second.data);
      }
    }
  }

  std::string renamed = FromHex(kCompressed);
  for (size_t at = renamed.find(".npy"); at != std::string::npos; at = renamed.find(".npy", at))
    renamed.replace(at, 4, ".txt");
  TempFile other(renamed);
  CHECK(ReadNpz(other.path()).status().message() == other.path() + ": w.txt: not a .npy entry");
}

}  // namespace
}  // namespace relayvm
