#include "bytecode/base/shared_bytes.h"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>

#include "bytecode/base/file_mapping.h"
#include "tests/temp_folder.h"

namespace relayvm {
namespace {

std::vector<std::byte> Bytes(std::string_view text) {
  auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("buffers of all sizes are aligned zeros that can be written") {
  for (const size_t size : {size_t{1}, size_t{63}, size_t{64}, size_t{65}, size_t{1} << 20,
                            (size_t{4} << 20) - 1, size_t{4} << 20, (size_t{9} << 20) + 3}) {
    CAPTURE(size);
    SharedBytes bytes = SharedBytes::Zeros(size);
    CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % 64 == 0);
    CHECK(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; }));
    bytes.Mutable()[0] = bytes.Mutable()[size - 1] = std::byte{7};
    const SharedBytes copy = SharedBytes::Copy({bytes.data(), bytes.size()});
    bytes = {};
    CHECK(copy.data()[0] == std::byte{7});
    CHECK(copy.data()[size - 1] == std::byte{7});
  }
  CHECK_THROWS_AS(SharedBytes::Zeros(SIZE_MAX - 1), std::bad_alloc);
  CHECK_THROWS_AS(SharedBytes::Zeros(size_t{1} << 60), std::bad_alloc);
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
