// The emulator of amx_emulator.h, or the hardware, against what the SDM's operations give by hand.
#include "kernels/codegen/contraction/amx_emulator.h"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <thread>

#include "kernels/runtime/half.h"

namespace relayvm {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Tiles 0 (m x n words), 1 (m x k), 2 (k x n).
amx::Config Shape(unsigned m, unsigned n, unsigned k) {
  amx::Config config{};
  config.palette = 1;
  const std::array<std::array<unsigned, 2>, 3> sizes = {{{m, n}, {m, k}, {k, n}}};
  for (size_t t = 0; t < 3; ++t) {
    config.rows[t] = static_cast<uint8_t>(sizes[t][0]);
    config.row_bytes[t] = static_cast<uint16_t>(4 * sizes[t][1]);
  }
  return config;
}

void Configure(const amx::Config& config) { asm volatile("ldtilecfg %0" : : "m"(config)); }
void Release() { asm volatile("tilerelease" : : : "memory"); }

struct Words {
  uint32_t at[16][16] = {};
};
uint32_t Pair(float low, float high) {
  return FloatToBFloat(low) | static_cast<uint32_t>(FloatToBFloat(high)) << 16;
}
uint32_t Quad(int a, int b, int c, int d) {
  return (a & 255) | (b & 255) << 8 | (c & 255) << 16 | static_cast<uint32_t>(d & 255) << 24;
}
uint32_t Bits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}

// sum + a * b by one instruction.
#define RELAYVM_PRODUCT(name, instruction)                               \
  Words name(const Words& sum, const Words& a, const Words& b) {         \
    Words out;                                                           \
    const int64_t stride = 64;                                           \
    asm volatile(                                                        \
        "tileloadd (%0,%4,1), %%tmm0\n\ttileloadd (%1,%4,1), %%tmm1\n\t" \
        "tileloaddt1 (%2,%4,1), %%tmm2\n\t" instruction                  \
        " %%tmm2, %%tmm1, %%tmm0\n\t"                                    \
        "tilestored %%tmm0, (%3,%4,1)"                                   \
        :                                                                \
        : "r"(&sum), "r"(&a), "r"(&b), "r"(&out), "r"(stride)            \
        : "memory");                                                     \
    return out;                                                          \
  }
RELAYVM_PRODUCT(PairProducts, "tdpbf16ps")
RELAYVM_PRODUCT(SignedSigned, "tdpbssd")
RELAYVM_PRODUCT(SignedUnsigned, "tdpbsud")
RELAYVM_PRODUCT(UnsignedSigned, "tdpbusd")
RELAYVM_PRODUCT(UnsignedUnsigned, "tdpbuud")
#undef RELAYVM_PRODUCT

TEST_CASE("AMX: products of bytes, of either sign, that wrap") {
  const amx::Emulator emulator;
  Configure(Shape(2, 1, 2));
  Words sum, a, b;
  a.at[0][0] = Quad(255, 2, -3, 127);  // signed: -1, 2, -3, 127; unsigned: 255, 2, 253, 127
  a.at[0][1] = Quad(1, 0, 0, 0);
  a.at[1][0] = Quad(0, 0, 0, 1);
  b.at[0][0] = Quad(-128, 10, 1, 2);  // signed: -128, 10, 1, 2; unsigned: 128, 10, 1, 2
  b.at[1][0] = Quad(100, 77, 77, 77);
  sum.at[0][0] = 1000;
  sum.at[1][0] = 0x7fffffff;
  // By hand: the last three of the first word give 20 - 3 + 254 = 271 or 20 + 253 + 254 = 527.
  CHECK(SignedSigned(sum, a, b).at[0][0] == 1000 + 128 + 271 + 100);
  CHECK(SignedUnsigned(sum, a, b).at[0][0] == 1000 - 128 + 271 + 100);
  CHECK(static_cast<int32_t>(UnsignedSigned(sum, a, b).at[0][0]) == 1000 - 255 * 128 + 527 + 100);
  CHECK(UnsignedUnsigned(sum, a, b).at[0][0] == 1000 + 255 * 128 + 527 + 100);
  CHECK(SignedSigned(sum, a, b).at[1][0] == 0x80000001);
  CHECK(amx::Fault() == nullptr);
  Release();
}

TEST_CASE("AMX: products of pairs of bfloat16") {
  const amx::Emulator emulator;
  Configure(Shape(3, 2, 2));
  Words sum, a, b;
  // 1.5 * 2 + 3 * 4 + 0.5 * -8 + 5 * 0.25 and, in the second column, half of each but the last.
  a.at[0][0] = Pair(1.5F, 3);
  a.at[0][1] = Pair(0.5F, 5);
  b.at[0][0] = Pair(2, 4), b.at[0][1] = Pair(1, 2);
  b.at[1][0] = Pair(-8, 0.25F), b.at[1][1] = Pair(-4, 0.25F);
  sum.at[0][0] = Bits(100), sum.at[0][1] = Bits(-1);
  // Infinity, and what is no number.
  a.at[1][0] = Pair(kInfinity, 0);
  sum.at[1][0] = Bits(1);
  a.at[2][1] = Pair(std::numeric_limits<float>::quiet_NaN(), 0);
  const Words out = PairProducts(sum, a, b);
  CHECK(out.at[0][0] == Bits(112.25F));
  CHECK(out.at[0][1] == Bits(5.75F));
  CHECK(out.at[1][0] == Bits(kInfinity));
  CHECK(std::isnan(amx::Float(out.at[2][0])));
  Release();
}

TEST_CASE("AMX: sums of pairs are rounded to even, even and odd numbers apart; denormals are 0") {
  const amx::Emulator emulator;
  Configure(Shape(5, 1, 2));
  Words sum, a, b;
  b.at[0][0] = b.at[1][0] = Pair(1, 1);
  // Even: 2^24 + 1 is a tie, which stays 2^24. Odd: 1 + 1. Then 2^24 + 2.
  a.at[0][0] = Pair(0x1p24F, 1);
  a.at[0][1] = Pair(1, 1);
  // Were they summed in order, or with what was there first, 1 would be lost here: 2^24 - 2^24 + 1.
  a.at[1][0] = Pair(0x1p24F, 1);
  a.at[1][1] = Pair(-0x1p24F, 0);
  // Fused: 2^-127 of the product comes to a sum that float32 has.
  a.at[2][0] = Pair(0x1p-126F, 0x1p-130F);
  sum.at[3][0] = Bits(0x1p-130F);  // a denormal sum
  a.at[4][0] = Pair(0x1.8p-126F, 0);
  a.at[4][1] = Pair(-0x1p-126F, 0);  // whose sum is a denormal
  const Words out = PairProducts(sum, a, b);
  CHECK(out.at[0][0] == Bits(0x1p24F + 2));
  CHECK(out.at[1][0] == Bits(1));
  CHECK(out.at[2][0] == Bits(0x1p-126F));  // the odd one is denormal, and so 0
  CHECK(out.at[3][0] == 0);
  CHECK(out.at[4][0] == 0);
  // (2^127 * 2 - 2^127) is within float32, 2^128 is not: a sum that is fused does not see it.
  Words c, d;
  c.at[0][0] = Pair(-0x1p127F, 0), c.at[0][1] = Pair(0x1p127F, 0);
  d.at[0][0] = Pair(1, 0), d.at[1][0] = Pair(2, 0);
  CHECK(PairProducts({}, c, d).at[0][0] == Bits(0x1p127F));
  CHECK(amx::Fault() == nullptr);
  Release();
}

TEST_CASE("AMX: loads and stores touch the rows and columns of the configuration only") {
  const amx::Emulator emulator;
  amx::Config config{};
  config.palette = 1;
  config.rows[7] = 3;
  config.row_bytes[7] = 8;
  Configure(config);
  std::array<uint8_t, 64> from{}, to{};
  for (size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i + 1);
  to.fill(0xaa);
  // Addresses of each form: base + displacement + index * scale, rows backwards.
  asm volatile(
      "movq %0, %%r13\n\tmovq $5, %%r12\n\ttileloadd 3(%%r13,%%r12,2), %%tmm7\n\t"
      "movq %1, %%rbx\n\tmovq $-16, %%r9\n\ttilestored %%tmm7, 0x100(%%rbx,%%r9,1)"
      :
      : "r"(from.data()), "r"(reinterpret_cast<uintptr_t>(to.data()) + 32 - 0x100)
      : "r12", "r13", "r9", "rbx", "memory");
  for (size_t i = 0; i < to.size(); ++i) {
    const size_t row = i < 16 ? 2 : i < 32 ? 1 : 0;
    const size_t column = i % 16;
    const bool is_stored = i < 48 && column < 8;
    CHECK(to[i] == (is_stored ? 3 + 10 * row + column + 1 : 0xaa));
  }
  asm volatile("tilezero %%tmm7\n\ttilestored %%tmm7, (%0)" : : "r"(to.data()) : "memory");
  CHECK(to[0] == 0);  // without an index all rows are in one place
  CHECK(to[8] == 0xaa);
  amx::Config stored;
  asm volatile("sttilecfg %0" : "=m"(stored));
  CHECK(std::memcmp(&stored, &config, sizeof(config)) == 0);
  Release();
  asm volatile("sttilecfg %0" : "=m"(stored));
  const amx::Config none{};
  CHECK(std::memcmp(&stored, &none, sizeof(none)) == 0);
  CHECK(amx::Fault() == nullptr);
}

TEST_CASE("AMX: each thread has tiles of its own") {
  const amx::Emulator emulator;
  const amx::Config one = Shape(1, 1, 1), other = Shape(2, 3, 4);
  const auto holds = [](const amx::Config& config) {
    amx::Config stored;
    asm volatile("sttilecfg %0" : "=m"(stored));
    return std::memcmp(&stored, &config, sizeof(config)) == 0;
  };
  Configure(one);
  // What a thread begins with is the system's: Linux hands on the configuration of the hardware.
  std::thread([&] {
    Configure(other);
    CHECK(holds(other));
    Release();
  }).join();
  CHECK(holds(one));
  Release();
}

TEST_CASE("AMX: what the processor refuses is a fault") {
  if (amx::IsNative()) return;  // a signal that nobody expects
  const amx::Emulator emulator;
  const Words words;
  auto fault = [](const auto& run) {
    run();
    const char* found = amx::Fault();
    return std::string(found == nullptr ? "" : found);
  };
  auto product = [&] { PairProducts(words, words, words); };
  CHECK(fault(product) == "#UD: tiles are not configured");
  auto configure = [&](amx::Config config, const auto& change) {
    change(config);
    return fault([&] { Configure(config); });
  };
  const amx::Config good = Shape(2, 2, 2);
  CHECK(configure(good, [](amx::Config&) {}).empty());
  CHECK(configure(good, [](amx::Config& c) { c.palette = 2; }) == "#GP: no such palette");
  CHECK(configure(good, [](amx::Config& c) { c.rows[1] = 17; }) == "#GP: a tile is too large");
  CHECK(configure(good, [](amx::Config& c) { c.row_bytes[1] = 65; }) == "#GP: a tile is too large");
  CHECK(configure(good, [](amx::Config& c) { c.rows[1] = 0; }) ==
        "#GP: a tile has rows without columns, or columns without rows");
  CHECK(configure(good, [](amx::Config& c) { c.rows[8] = 1; }) ==
        "#GP: reserved bytes of a configuration are not 0");
  CHECK(configure(Shape(2, 2, 3), [](amx::Config& c) { c.rows[2] = 2; }).empty());
  CHECK(fault(product) == "#UD: tiles of a product do not fit each other");
  CHECK(configure(good, [](amx::Config& c) { c.row_bytes[0] = 7; }).empty());
  CHECK(fault(product) == "#UD: a row of a tile is no whole words");
  CHECK(fault([] { asm volatile("tilezero %tmm5"); }) == "#UD: the tile is not configured");
  Release();
}

}  // namespace
}  // namespace relayvm
