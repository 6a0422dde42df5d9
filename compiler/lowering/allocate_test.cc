#include "compiler/lowering/allocate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "compiler/lowering/liveness.h"

namespace relayvm::lower {
namespace {

MInst Inst(Opcode op, std::vector<MOperand> operands) {
  MInst i;
  i.op = op;
  i.operands = std::move(operands);
  return i;
}

TEST_CASE("registers are reused after the last use; arguments keep their places") {
  MFunction f;
  f.num_scalars = 2;
  f.num_scalar_args = 2;
  uint32_t last = 0;
  // A chain of a hundred additions needs no more registers than its arguments.
  for (int i = 0; i < 100; ++i) {
    uint32_t r = f.num_scalars++;
    f.code.push_back(Inst(Opcode::kAddI, {r, last, i == 0 ? 1 : last}));
    last = r;
  }
  f.code.push_back(Inst(Opcode::kReturnI, {last}));
  auto counts = AllocateRegisters(f);
  REQUIRE(counts.ok());
  CHECK(counts->scalars == 2);
  CHECK(f.code[0].operands[1].value == 0);
  CHECK(f.code[0].operands[2].value == 1);
}

TEST_CASE("values alive at the same time are apart") {
  MFunction f;
  f.num_scalars = 1;
  f.num_scalar_args = 1;
  std::vector<uint32_t> kept;
  for (int i = 0; i < 10; ++i) {
    uint32_t r = f.num_scalars++;
    f.code.push_back(Inst(Opcode::kAddImm, {r, 0, i}));
    kept.push_back(r);
  }
  uint32_t r = f.num_objects++;
  f.code.push_back(Inst(Opcode::kTensorAlloc, {r, static_cast<int64_t>(DType::kInt8), kept}));
  f.code.push_back(Inst(Opcode::kReturnR, {r}));
  auto counts = AllocateRegisters(f);
  REQUIRE(counts.ok());
  std::vector<uint32_t> places = f.code[10].operands[2].regs;
  std::sort(places.begin(), places.end());
  CHECK(std::unique(places.begin(), places.end()) == places.end());
}

TEST_CASE("too many registers are an error that says so") {
  MFunction f;
  std::vector<uint32_t> kept;
  for (int i = 0; i < 40000; ++i) {
    uint32_t r = f.num_scalars++;
    f.code.push_back(Inst(Opcode::kConstI16, {r, 1}));
    kept.push_back(r);
  }
  f.code.push_back(Inst(Opcode::kTensorAlloc, {f.num_objects++, 0, kept}));
  auto counts = AllocateRegisters(f);
  REQUIRE_FALSE(counts.ok());
  CHECK(counts.status().message().find("40000 scalar registers") != std::string::npos);
}

TEST_CASE("a chain of equal tensors needs two slots of memory, whatever its length") {
  MFunction f;
  for (int i = 0; i < 50; ++i) {
    f.slots.push_back({1000});
    std::vector<MBuffer> buffers;
    if (i > 0) buffers.push_back({BufferKind::kSlot, static_cast<uint32_t>(i - 1)});
    buffers.push_back({BufferKind::kSlot, static_cast<uint32_t>(i)});
    f.code.push_back(Inst(Opcode::kKernel1, {0, std::vector<uint32_t>{}, buffers}));
  }
  ArenaPlan plan = PlanArena(f);
  CHECK(plan.slots.size() == 50);
  CHECK(plan.bytes == 2 * 1024);
}

TEST_CASE("kernels that work in place need one slot, unless what they read lives on") {
  for (bool lives_on : {false, true}) {
    MFunction f;
    for (uint32_t i = 0; i < 50; ++i) {
      f.slots.push_back({1000});
      std::vector<MBuffer> buffers{{BufferKind::kSlot, i}};
      if (i > 0) {
        buffers.push_back({BufferKind::kSlot, lives_on ? 0 : i - 1});
        f.in_place.emplace_back(lives_on ? 0 : i - 1, i);
      }
      f.code.push_back(Inst(Opcode::kKernel1, {0, std::vector<uint32_t>{}, buffers}));
    }
    ArenaPlan plan = PlanArena(f);
    // Slot 0 is read last by the last kernel, which may overwrite it.
    CHECK(plan.bytes == (lives_on ? 2 : 1) * 1024);
    CHECK(plan.slots.size() == (lives_on ? 49 : 1));
  }
}

TEST_CASE("random lifetimes: no two slots that live together overlap; all lie in the arena") {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    MFunction f;
    size_t length = 40;
    std::vector<std::pair<size_t, size_t>> lifetimes;
    std::vector<std::vector<MBuffer>> at(length);
    for (uint32_t s = 0; s < 30; ++s) {
      f.slots.push_back({1 + random() % 5000});
      size_t first = random() % length;
      size_t last = first + random() % (length - first);
      lifetimes.emplace_back(first, last);
      at[first].push_back({BufferKind::kSlot, s});
      at[last].push_back({BufferKind::kSlot, s});
    }
    for (size_t i = 0; i < length; ++i) {
      f.code.push_back(Inst(Opcode::kKernel1, {0, std::vector<uint32_t>{}, at[i]}));
    }
    MFunction before = f;
    ArenaPlan plan = PlanArena(f);
    // Slots are numbered anew; read the new number where the old one stood.
    std::vector<uint32_t> now(30);
    for (size_t i = 0; i < length; ++i) {
      for (size_t k = 0; k < at[i].size(); ++k) {
        now[at[i][k].index] = f.code[i].operands[2].buffers[k].index;
      }
    }
    for (uint32_t a = 0; a < 30; ++a) {
      const ArenaSlot& x = plan.slots[now[a]];
      CHECK(x.offset % 64 == 0);
      CHECK(x.bytes == before.slots[a].bytes);
      CHECK(x.offset + x.bytes <= plan.bytes);
      for (uint32_t b = 0; b < a; ++b) {
        bool together =
            lifetimes[a].first <= lifetimes[b].second && lifetimes[b].first <= lifetimes[a].second;
        const ArenaSlot& y = plan.slots[now[b]];
        bool overlap = x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
        CHECK_FALSE((together && overlap));
      }
    }
  }
}

}  // namespace
}  // namespace relayvm::lower
