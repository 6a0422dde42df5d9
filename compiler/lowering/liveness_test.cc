#include "compiler/lowering/liveness.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "bytecode/base/dtype.h"

namespace relayvm::lower {
namespace {

MInst Inst(Opcode op, std::vector<MOperand> operands) {
  MInst i;
  i.op = op;
  i.operands = std::move(operands);
  return i;
}
MInst LabelAt(Label l) {
  MInst i;
  i.is_label = true;
  i.label = l;
  return i;
}

// Runs every path and checks that each object register is full when used and empty at the end;
// counts drops.
size_t CheckPaths(MFunction f) {
  size_t drops = 0;
  std::map<Label, size_t> labels;
  for (size_t i = 0; i < f.code.size(); ++i) {
    if (f.code[i].is_label) labels[f.code[i].label] = i;
  }
  struct State {
    size_t at;
    std::vector<bool> full;
  };
  std::vector<bool> entry(f.num_objects, false);
  for (uint32_t r = 0; r < f.num_object_args; ++r) entry[r] = true;
  std::vector<State> work{{0, entry}};
  while (!work.empty()) {
    State s = std::move(work.back());
    work.pop_back();
    bool ended = false;
    while (!ended) {
      REQUIRE(s.at < f.code.size());
      MInst& inst = f.code[s.at++];
      if (inst.is_label) continue;
      if (inst.op == Opcode::kDrop) ++drops;
      ForEachUse(inst, [&](Bank bank, uint32_t& r, bool* take) {
        if (bank == Bank::kScalar) return;
        CHECK(s.full[r]);
        if (*take) s.full[r] = false;
      });
      ForEachDef(inst, [&](Bank bank, uint32_t& r) {
        if (bank == Bank::kScalar) return;
        CHECK_FALSE(s.full[r]);
        s.full[r] = true;
      });
      ForEachTarget(inst, [&](Label l) { work.push_back({labels.at(l), s.full}); });
      ended = EndsBlock(inst);
    }
    const MInst& last = f.code[s.at - 1];
    if (last.op == Opcode::kReturnR || last.op == Opcode::kReturnI) {
      for (bool full : s.full) CHECK_FALSE(full);
    }
  }
  return drops;
}

TEST_CASE("the last use takes, an earlier one does not") {
  MFunction f;
  f.num_objects = 3;
  f.num_object_args = 1;
  f.code = {Inst(Opcode::kAdtGet, {1, 0, 0}), Inst(Opcode::kAdtGet, {2, 0, 1}),
            Inst(Opcode::kAdtNew, {0, 7, std::vector<uint32_t>{1, 2}}),
            Inst(Opcode::kReturnR, {0})};
  MarkLastUses(f);
  REQUIRE(f.code.size() == 4);
  CHECK_FALSE(f.code[0].operands[1].take);
  CHECK(f.code[1].operands[1].take);
  CheckPaths(f);
}

TEST_CASE(
    "a tuple that is only unpacked dies at its first read, one that is used otherwise does not") {
  for (const bool is_used : {false, true}) {
    CAPTURE(is_used);
    MFunction f;
    f.num_objects = 5;
    f.num_object_args = 1;
    const uint32_t last = is_used ? 0 : 2;
    f.code = {Inst(Opcode::kAdtGet, {1, 0, 0}),
              Inst(Opcode::kAdtNew, {3, 7, std::vector<uint32_t>{1}}),
              Inst(Opcode::kAdtGet, {2, 0, 1}),
              Inst(Opcode::kAdtNew, {4, 7, std::vector<uint32_t>{2, 3, last}}),
              Inst(Opcode::kReturnR, {4})};
    MarkLastUses(f);
    REQUIRE(f.code.size() == 5);
    const size_t second = is_used ? 2 : 1;
    CHECK(f.code[second].op == Opcode::kAdtGet);
    CHECK_FALSE(f.code[0].operands[1].take);
    CHECK(f.code[second].operands[1].take == !is_used);
    CheckPaths(f);
  }
}

TEST_CASE("a register that one instruction names twice is taken once, at the end") {
  MFunction f;
  f.num_objects = 2;
  f.num_object_args = 1;
  f.code = {Inst(Opcode::kAdtNew, {1, 0, std::vector<uint32_t>{0, 0}}),
            Inst(Opcode::kReturnR, {1})};
  MarkLastUses(f);
  CHECK(f.code[0].operands[2].takes == std::vector<bool>{false, true});
  CheckPaths(f);
}

TEST_CASE("what only one branch uses is dropped in the other") {
  MFunction f;
  f.num_objects = 2;
  f.num_object_args = 2;
  f.num_scalars = 1;
  f.num_scalar_args = 1;
  f.num_labels = 1;
  f.code = {Inst(Opcode::kBranchIfNot, {0, 0}), Inst(Opcode::kReturnR, {0}), LabelAt(0),
            Inst(Opcode::kReturnR, {1})};
  MarkLastUses(f);
  CHECK(CheckPaths(f) == 2);
}

TEST_CASE("pure instructions without a use go, with what only they used") {
  MFunction f;
  f.num_objects = 3;
  f.num_object_args = 1;
  f.code = {Inst(Opcode::kAdtGet, {1, 0, 0}), Inst(Opcode::kAdtGet, {2, 1, 0}),
            Inst(Opcode::kReturnR, {0})};
  MarkLastUses(f);
  CHECK(f.code.size() == 1);
}

TEST_CASE("a result that nothing uses is dropped when making it has an effect") {
  MFunction f;
  f.num_objects = 2;
  f.num_object_args = 1;
  f.code = {Inst(Opcode::kCallR, {1, 0, std::vector<uint32_t>{}, std::vector<uint32_t>{}}),
            Inst(Opcode::kReturnR, {0})};
  MarkLastUses(f);
  CHECK(CheckPaths(f) == 1);
}

TEST_CASE("a block that a switch reaches in two ways drops what dies there once") {
  MFunction f;
  f.num_objects = 2;
  f.num_object_args = 2;
  f.num_labels = 2;
  auto bind = [&](Label label) {
    MInst& inst = f.code.emplace_back();
    inst.is_label = true;
    inst.label = label;
  };
  // Tag 0 and what is out of range go to the first block, tag 1 to the second.
  f.code.push_back(Inst(Opcode::kSwitchTag, {0, std::vector<uint32_t>{0, 1}}));
  bind(0);
  f.code.push_back(Inst(Opcode::kReturnR, {1}));
  bind(1);
  f.code.push_back(Inst(Opcode::kReturnR, {0}));
  MarkLastUses(f);
  CHECK(CheckPaths(f) == 3);
  size_t drops = 0;
  for (const MInst& inst : f.code) drops += !inst.is_label && inst.op == Opcode::kDrop ? 1 : 0;
  CHECK(drops == 2);  // r0 in the first block, r1 in the second
}

TEST_CASE("memory is reused only when the candidate dies at the kernel") {
  for (bool dies : {true, false}) {
    MFunction f;
    f.num_objects = 3;
    f.num_object_args = 1;
    f.num_scalars = 1;
    f.num_scalar_args = 1;
    std::vector<MBuffer> buffers{{BufferKind::kRegister, 0}, {BufferKind::kRegister, 1}};
    f.code = {Inst(Opcode::kTensorReuse,
                   {1, 0, static_cast<int64_t>(DType::kFloat32), std::vector<uint32_t>{0}}),
              Inst(Opcode::kKernel1, {0, std::vector<uint32_t>{}, buffers})};
    if (dies) {
      f.code.push_back(Inst(Opcode::kReturnR, {1}));
    } else {
      f.code.push_back(Inst(Opcode::kAdtNew, {2, 0, std::vector<uint32_t>{0, 1}}));
      f.code.push_back(Inst(Opcode::kReturnR, {2}));
    }
    MarkLastUses(f);
    CHECK(f.code[0].op == (dies ? Opcode::kTensorReuse : Opcode::kTensorAlloc));
    CheckPaths(f);
  }
}

TEST_CASE("random branching code: every register is taken exactly once on every path") {
  std::mt19937 random(7);
  auto pick = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 300; ++round) {
    MFunction f;
    f.num_object_args = 2;
    f.num_objects = 2;
    f.num_scalars = 1;
    f.num_scalar_args = 1;
    std::vector<uint32_t> live{0, 1};
    std::vector<std::pair<Label, std::vector<uint32_t>>> open;  // else branches to come
    for (int step = 0; step < 30; ++step) {
      uint32_t choice = pick(5);
      if (choice == 0 && open.size() < 4) {
        Label l = f.num_labels++;
        f.code.push_back(Inst(Opcode::kBranchIfNot, {0, l}));
        open.emplace_back(l, live);
      } else if (choice == 1 && !open.empty()) {
        f.code.push_back(Inst(Opcode::kReturnR, {live[pick(live.size())]}));
        f.code.push_back(LabelAt(open.back().first));
        live = open.back().second;
        open.pop_back();
      } else {
        uint32_t r = f.num_objects++;
        std::vector<uint32_t> fields;
        for (uint32_t k = pick(4); k > 0; --k) fields.push_back(live[pick(live.size())]);
        f.code.push_back(Inst(Opcode::kAdtNew, {r, 0, fields}));
        live.push_back(r);
      }
    }
    while (!open.empty()) {
      f.code.push_back(Inst(Opcode::kReturnR, {live[pick(live.size())]}));
      f.code.push_back(LabelAt(open.back().first));
      live = open.back().second;
      open.pop_back();
    }
    f.code.push_back(Inst(Opcode::kReturnR, {live[pick(live.size())]}));
    MarkLastUses(f);
    CheckPaths(f);
  }
}

}  // namespace
}  // namespace relayvm::lower
