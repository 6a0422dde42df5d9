#include "bytecode/base/shared_bytes.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "bytecode/base/file_mapping.h"
#include "tests/temp_folder.h"

namespace relayvm {
namespace {

std::vector<std::byte> Bytes(std::string_view text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("shared bytes: copies and slices share, until one is written") {
  SharedBytes a = SharedBytes::Copy(Bytes("some bytes"));
  SharedBytes b = a;
  SharedBytes part = a.Slice(5, 5);
  CHECK(b.data() == a.data());
  CHECK(part.data() == a.data() + 5);
  CHECK(part == SharedBytes(Bytes("bytes")));

  part.Mutable()[0] = std::byte{'B'};
  CHECK(part == SharedBytes(Bytes("Bytes")));
  CHECK(a == SharedBytes(Bytes("some bytes")));

  b.Mutable()[0] = std::byte{'S'};
  CHECK(b == SharedBytes(Bytes("Some bytes")));
  CHECK(a == SharedBytes(Bytes("some bytes")));

  // Written in place: nobody else holds them.
  const std::byte* before = b.data();
  b.Mutable()[1] = std::byte{'O'};
  CHECK(b.data() == before);
}

TEST_CASE("shared bytes: what others own is never written") {
  auto owner = std::make_shared<std::vector<std::byte>>(Bytes("owned"));
  SharedBytes bytes(*owner, owner);
  CHECK(bytes.data() == owner->data());
  bytes.Mutable()[0] = std::byte{'X'};
  CHECK(*owner == Bytes("owned"));
  CHECK(bytes == SharedBytes(Bytes("Xwned")));
  CHECK(owner.use_count() == 1);  // the copy let go of it
}

TEST_CASE("shared bytes: empty ones, zeros, alignment") {
  SharedBytes none;
  CHECK(none.empty());
  CHECK(none.Mutable().empty());
  CHECK(none == SharedBytes::Zeros(0));
  CHECK(none == SharedBytes(std::vector<std::byte>{}));
  CHECK_FALSE(none == SharedBytes::Zeros(1));
  for (size_t size : {1, 63, 64, 65, 1 << 20}) {
    SharedBytes zeros = SharedBytes::Zeros(size);
    CHECK(zeros == SharedBytes(std::vector<std::byte>(size)));
    CHECK(reinterpret_cast<uintptr_t>(zeros.data()) % 64 == 0);
  }
}

TEST_CASE("shared bytes: a recipe is run when its bytes are read") {
  int runs = 0;
  SharedBytes lazy = SharedBytes::Lazy(3, [&](std::span<std::byte> out) {
    ++runs;
    out[1] = std::byte{7};
  });
  const std::vector<std::byte> expected = {std::byte{0}, std::byte{7}, std::byte{0}};
  SharedBytes copy = lazy;
  CHECK(copy.size() == 3);
  CHECK(runs == 0);
  CHECK(copy.Loaded() == SharedBytes(expected));
  CHECK(lazy.Loaded() == SharedBytes(expected));
  CHECK(runs == 2);  // nobody kept the bytes
  SharedBytes part = lazy.Slice(1, 1);
  CHECK(part[0] == std::byte{7});
  CHECK(runs == 3);
  SharedBytes changed = lazy;
  changed.Mutable()[0] = std::byte{9};
  CHECK(lazy == SharedBytes(expected));

  runs = 0;
  const std::byte* data = copy.data();  // from here on they stay
  CHECK(std::vector<std::byte>(lazy.begin(), lazy.end()) == expected);
  CHECK(lazy.data() == data);
  CHECK(lazy.Loaded().data() == data);
  lazy.Mutable()[2] = std::byte{1};
  CHECK(copy == SharedBytes(expected));
  CHECK(runs == 1);
  CHECK(SharedBytes::Lazy(0, [](auto) {}).empty());
}

TEST_CASE("shared bytes: a mapped file outlives its mapping's handle, and gives its pages back") {
  testing::TempFolder folder;
  const std::string path = folder / "bytes";
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  std::string text(64 * page, 'a');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 7);
  std::ofstream(path, std::ios::binary) << text;

  SharedBytes part;
  {
    auto mapping = FileMapping::Open(path);
    REQUIRE(mapping.ok());
    SharedBytes file = SharedBytes::OfFile(*mapping);
    CHECK(reinterpret_cast<const uint8_t*>(file.data()) == (*mapping)->bytes().data());
    part = file.Slice(100, text.size() - 200);
  }
  std::string_view expected = std::string_view(text).substr(100, text.size() - 200);
  CHECK(std::memcmp(part.data(), expected.data(), expected.size()) == 0);
  part.DropPages();
  CHECK(std::memcmp(part.data(), expected.data(), expected.size()) == 0);

  SharedBytes changed = part;
  changed.Mutable()[3] = std::byte{'!'};
  changed.DropPages();  // a buffer keeps its bytes
  CHECK(changed[3] == std::byte{'!'});
  CHECK(std::memcmp(part.data(), expected.data(), expected.size()) == 0);
}

}  // namespace
}  // namespace relayvm
