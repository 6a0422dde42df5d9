// For tests: AMX on processors that have none. There each of its instructions raises #UD, of which
// Linux makes SIGILL; the handler decodes the instruction, does its work on tile registers in
// memory, and goes on behind it. So compiled kernels run as they are, on any thread. Where the
// processor has AMX and Linux permits it (IsNative) no signal comes, and the same tests run on the
// hardware, whatever level the environment names.
//
// As the Intel SDM has it, vol. 1, chapter 18 (palette 1: 8 tiles of at most 16 rows of 64 bytes),
// and vol. 2: LDTILECFG, STTILECFG, TILERELEASE, TILEZERO, TILELOADD[T1], TILESTORED, TDPBF16PS,
// TDPB[SU][SU]D, with the conditions of exception classes AMX-E1 to E6 but for those of memory.
// What the SDM answers with an exception is kept for Fault(), and the instruction does nothing.
//
//   C4   R X B mmmmm (inverted; 00010: 0F38)   W vvvv L pp (vvvv inverted)   opcode   ModRM [SIB] [disp]
//
// Not here: prefixes of segments and of addresses, which kernels do not use; restarts after page
// faults. Tested by amx_emulator_test.cc.
#pragma once

#include <doctest/doctest.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cfloat>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "bytecode/image_loader.h"

namespace relayvm::amx {

constexpr unsigned kTiles = 8, kRows = 16, kRowBytes = 64;

// The operand of LDTILECFG and STTILECFG.
struct Config {
  uint8_t palette, start_row;
  uint8_t reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(Config) == 64);

// One thread's registers. Palette 0: not configured.
struct Registers {
  Config config;
  uint8_t tiles[kTiles][kRows][kRowBytes];
};
inline constinit thread_local Registers registers{};
inline constinit thread_local uint64_t instructions = 0;  // that were emulated on this thread
// What the first instruction that was wrong, on any thread, broke; null for none.
inline constinit std::atomic<const char*> fault{nullptr};

// --- Decoding ---

enum Prefix : uint8_t { kNone, k66, kF3, kF2 };  // VEX.pp

struct Instruction {
  uint8_t opcode;
  Prefix prefix;
  unsigned mod, reg, rm, vvvv;  // with the bits of VEX
  bool has_sib;
  uint64_t
      address;      // the base, and of other instructions than tile loads and stores also the index
  uint64_t stride;  // what the index is times the scale
  unsigned length;
};

inline uint64_t Register(const ucontext_t& context, unsigned number) {
  constexpr int kNumbers[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                              REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                              REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(context.uc_mcontext.gregs[kNumbers[number]]);
}

// False where the bytes at RIP are no VEX.128.0F38.W0 instruction.
inline bool Decode(const ucontext_t& context, Instruction* out) {
  const auto* code = reinterpret_cast<const uint8_t*>(context.uc_mcontext.gregs[REG_RIP]);
  if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84) != 0) return false;
  const unsigned r = ~code[1] >> 7 & 1, x = ~code[1] >> 6 & 1, b = ~code[1] >> 5 & 1;
  Instruction& i = *out;
  i = {};
  i.prefix = static_cast<Prefix>(code[2] & 3);
  i.vvvv = ~code[2] >> 3 & 15;
  i.opcode = code[3];
  const uint8_t modrm = code[4];
  i.mod = modrm >> 6;
  i.reg = (modrm >> 3 & 7) | r << 3;
  i.rm = (modrm & 7) | b << 3;
  const uint8_t* next = code + 5;
  if (i.mod == 3) {
    i.length = 5;
    return true;
  }
  i.has_sib = (modrm & 7) == 4;
  bool has_base = true, is_relative = false;
  if (i.has_sib) {
    const uint8_t sib = *next++;
    const unsigned index = (sib >> 3 & 7) | x << 3, base = (sib & 7) | b << 3;
    if (index != 4) i.stride = Register(context, index) << (sib >> 6);
    has_base = (sib & 7) != 5 || i.mod != 0;
    if (has_base) i.address = Register(context, base);
  } else if ((modrm & 7) == 5 && i.mod == 0) {
    is_relative = true;
  } else {
    i.address = Register(context, i.rm);
  }
  int32_t displacement = 0;
  if (i.mod == 1) {
    displacement = static_cast<int8_t>(*next++);
  } else if (i.mod == 2 || is_relative || !has_base) {
    std::memcpy(&displacement, next, 4);
    next += 4;
  }
  i.length = static_cast<unsigned>(next - code);
  if (is_relative) i.address = reinterpret_cast<uint64_t>(next);
  i.address += static_cast<uint64_t>(int64_t{displacement});
  return true;
}

// --- What instructions do. Each returns what it breaks, or null. ---

// Config::rows and row_bytes of a tile.
inline unsigned RowsOf(unsigned tile) { return registers.config.rows[tile]; }
inline unsigned BytesOf(unsigned tile) { return registers.config.row_bytes[tile]; }

inline const char* CheckTile(unsigned tile) {
  if (registers.config.palette == 0) return "#UD: tiles are not configured";
  if (tile >= kTiles) return "#UD: no such tile";
  if (RowsOf(tile) == 0) return "#UD: the tile is not configured";
  // Not in the SDM: a Sapphire Rapids raises #UD at tiles of 5 bytes a row.
  if (BytesOf(tile) % 4 != 0) return "#UD: a row of a tile is no whole words";
  return nullptr;
}

inline const char* LoadConfig(const void* from) {
  Config config;
  std::memcpy(&config, from, sizeof(config));
  if (config.palette > 1) return "#GP: no such palette";
  if (config.palette == 0) {
    registers = {};
    return nullptr;
  }
  if (std::any_of(config.reserved, config.reserved + 14, [](uint8_t v) { return v != 0; }))
    return "#GP: reserved bytes of a configuration are not 0";
  if (config.start_row >= kRows) return "#GP: the row to start with is too large";
  for (unsigned t = 0; t < 16; ++t) {
    const bool is_used = config.rows[t] != 0 || config.row_bytes[t] != 0;
    if (is_used && t >= kTiles) return "#GP: reserved bytes of a configuration are not 0";
    if (config.rows[t] > kRows || config.row_bytes[t] > kRowBytes)
      return "#GP: a tile is too large";
    if ((config.rows[t] == 0) != (config.row_bytes[t] == 0))
      return "#GP: a tile has rows without columns, or columns without rows";
  }
  registers = {};
  registers.config = config;
  return nullptr;
}

inline const char* LoadTile(const Instruction& i) {
  if (const char* wrong = CheckTile(i.reg)) return wrong;
  if (!i.has_sib) return "#UD: a tile's address has no SIB";
  auto& tile = registers.tiles[i.reg];
  std::memset(tile, 0, sizeof(tile));
  for (unsigned row = registers.config.start_row; row < RowsOf(i.reg); ++row) {
    std::memcpy(tile[row], reinterpret_cast<const void*>(i.address + row * i.stride),
                BytesOf(i.reg));
  }
  registers.config.start_row = 0;
  return nullptr;
}

inline const char* StoreTile(const Instruction& i) {
  if (const char* wrong = CheckTile(i.reg)) return wrong;
  if (!i.has_sib) return "#UD: a tile's address has no SIB";
  for (unsigned row = registers.config.start_row; row < RowsOf(i.reg); ++row) {
    std::memcpy(reinterpret_cast<void*>(i.address + row * i.stride), registers.tiles[i.reg][row],
                BytesOf(i.reg));
  }
  registers.config.start_row = 0;
  return nullptr;
}

inline const char* CheckProduct(unsigned sum, unsigned a, unsigned b) {
  for (unsigned tile : {sum, a, b}) {
    if (const char* wrong = CheckTile(tile)) return wrong;
  }
  if (sum == a || sum == b || a == b) return "#UD: tiles of a product are the same";
  if (RowsOf(sum) != RowsOf(a) || BytesOf(sum) != BytesOf(b) || BytesOf(a) / 4 != RowsOf(b))
    return "#UD: tiles of a product do not fit each other";
  if (registers.config.start_row != 0)
    return "#UD: a product begins with another row than the first";
  return nullptr;
}

inline uint32_t Word(unsigned tile, unsigned row, unsigned column) {
  uint32_t word;
  std::memcpy(&word, &registers.tiles[tile][row][column * 4], 4);
  return word;
}
// What a product leaves in the rows that it does not have is 0, and they were that already:
// whatever writes a tile sees to it.
inline void SetWord(unsigned tile, unsigned row, unsigned column, uint32_t word) {
  std::memcpy(&registers.tiles[tile][row][column * 4], &word, 4);
}

inline const char* MultiplyBytes(unsigned sum, unsigned a, unsigned b, bool a_is_signed,
                                 bool b_is_signed) {
  if (const char* wrong = CheckProduct(sum, a, b)) return wrong;
  auto number = [](uint32_t word, unsigned i, bool is_signed) {
    const auto byte = static_cast<uint8_t>(word >> (8 * i));
    return is_signed ? int32_t{static_cast<int8_t>(byte)} : int32_t{byte};
  };
  for (unsigned m = 0; m < RowsOf(sum); ++m) {
    for (unsigned k = 0; k < BytesOf(a) / 4; ++k) {
      for (unsigned n = 0; n < BytesOf(sum) / 4; ++n) {
        const uint32_t x = Word(a, m, k), y = Word(b, k, n);
        uint32_t total = Word(sum, m, n);  // wraps
        for (unsigned i = 0; i < 4; ++i) {
          total += static_cast<uint32_t>(number(x, i, a_is_signed) * number(y, i, b_is_signed));
        }
        SetWord(sum, m, n, total);
      }
    }
  }
  return nullptr;
}

inline float Float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
// Denormals count as 0.
inline float Flushed(float x) { return std::fabs(x) < FLT_MIN ? std::copysign(0.0F, x) : x; }

// x * y + z, rounded once. The product of two bfloat16 is exact where float32 has its exponent.
inline float FusedMultiplyAdd(float x, float y, float z) {
  const float product = x * y;
  const float magnitude = std::fabs(product);
  if (magnitude >= FLT_MIN && magnitude <= FLT_MAX) return Flushed(product + z);
  return Flushed(std::fma(x, y, z));
}

// The sums of the even numbers along k, and of the odd ones, then both, then with what was there.
inline const char* MultiplyPairs(unsigned sum, unsigned a, unsigned b) {
  if (const char* wrong = CheckProduct(sum, a, b)) return wrong;
  auto number = [](uint32_t word, unsigned i) {
    return Flushed(Float(i == 0 ? word << 16 : word & 0xffff0000));
  };
  for (unsigned m = 0; m < RowsOf(sum); ++m) {
    float sums[kRowBytes / 4][2] = {};
    for (unsigned k = 0; k < BytesOf(a) / 4; ++k) {
      const uint32_t x = Word(a, m, k);
      for (unsigned n = 0; n < BytesOf(sum) / 4; ++n) {
        const uint32_t y = Word(b, k, n);
        for (unsigned i = 0; i < 2; ++i)
          sums[n][i] = FusedMultiplyAdd(number(x, i), number(y, i), sums[n][i]);
      }
    }
    for (unsigned n = 0; n < BytesOf(sum) / 4; ++n) {
      const float pair = Flushed(sums[n][0] + sums[n][1]);
      const float total = Flushed(Flushed(Float(Word(sum, m, n))) + pair);
      uint32_t bits;
      std::memcpy(&bits, &total, 4);
      SetWord(sum, m, n, bits);
    }
  }
  return nullptr;
}

// False where the instruction is none of AMX.
inline bool Execute(const Instruction& i, const char** wrong) {
  *wrong = nullptr;
  const bool in_memory = i.mod != 3;
  if (i.opcode == 0x49) {
    if (in_memory && i.prefix == kNone && i.reg == 0) {
      *wrong = LoadConfig(reinterpret_cast<const void*>(i.address + i.stride));
    } else if (in_memory && i.prefix == k66 && i.reg == 0) {
      std::memcpy(reinterpret_cast<void*>(i.address + i.stride), &registers.config, sizeof(Config));
    } else if (!in_memory && i.prefix == kNone && i.reg == 0 && i.rm == 0) {
      registers = {};  // TILERELEASE
    } else if (!in_memory && i.prefix == kF2 && i.rm == 0) {
      *wrong = CheckTile(i.reg);
      if (*wrong == nullptr) std::memset(registers.tiles[i.reg], 0, kRows * kRowBytes);
    } else {
      return false;
    }
    return true;
  }
  if (i.opcode == 0x4b && in_memory && i.prefix != kNone) {
    *wrong = i.prefix == kF3 ? StoreTile(i) : LoadTile(i);
    return true;
  }
  if (i.opcode == 0x5c && !in_memory && i.prefix == kF3) {
    *wrong = MultiplyPairs(i.reg, i.rm, i.vvvv);
    return true;
  }
  if (i.opcode == 0x5e && !in_memory) {  // US: 66, SU: F3, SS: F2
    *wrong = MultiplyBytes(i.reg, i.rm, i.vvvv, i.prefix == kF3 || i.prefix == kF2,
                           i.prefix == k66 || i.prefix == kF2);
    return true;
  }
  return false;
}

inline void OnIllegalInstruction(int /*signal*/, siginfo_t* /*info*/, void* raw) {
  auto& context = *static_cast<ucontext_t*>(raw);
  Instruction instruction;
  const char* wrong = nullptr;
  if (!Decode(context, &instruction) || !Execute(instruction, &wrong)) {
    std::signal(SIGILL, SIG_DFL);  // comes again, and ends the process
    return;
  }
  const char* none = nullptr;
  if (wrong != nullptr) fault.compare_exchange_strong(none, wrong);
  ++instructions;
  context.uc_mcontext.gregs[REG_RIP] += instruction.length;
}

// --- For tests ---

// Whether the processor executes AMX's instructions, for all threads of this process, whatever
// level it is to compile and run for: LDTILECFG raises no signal then, and tiles would be of two
// minds.
inline bool IsNative() {
  static const bool is_native =
      CpuFeatures::OfProcessor().Missing("amx-tile,amx-bf16,amx-int8").empty();
  return is_native;
}

// What the first instruction that was wrong broke since the last call; null for none.
inline const char* Fault() { return fault.exchange(nullptr); }

// Emulates AMX on all threads, where there is none, as long as it lives. REQUIRES: one at a time.
class Emulator {
 public:
  Emulator() {
    IsNative();  // asks Linux for what there is
    struct sigaction action{};
    action.sa_sigaction = OnIllegalInstruction;
    action.sa_flags = SA_SIGINFO;
    REQUIRE(sigaction(SIGILL, &action, &before_) == 0);
  }
  ~Emulator() { sigaction(SIGILL, &before_, nullptr); }
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

 private:
  struct sigaction before_{};
};

}  // namespace relayvm::amx
