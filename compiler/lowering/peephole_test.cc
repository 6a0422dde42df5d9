#include "compiler/lowering/peephole.h"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "bytecode/base/dtype.h"

namespace relayvm::lower {
namespace {

MInst Inst(Opcode op, std::vector<MOperand> operands) {
  MInst inst;
  inst.op = op;
  inst.operands = std::move(operands);
  return inst;
}

MFunction Function(std::vector<MInst> code) {
  MFunction f;
  f.num_scalars = 8;
  f.code = std::move(code);
  return f;
}

constexpr auto kInt32 = static_cast<int64_t>(DType::kInt32);
constexpr auto kInt8 = static_cast<int64_t>(DType::kInt8);

TEST_CASE("arithmetic wrapped to int32 is one instruction") {
  const std::pair<Opcode, Opcode> rows[] = {{Opcode::kAddI, Opcode::kAddI32},
                                            {Opcode::kAddImm, Opcode::kAddImmI32},
                                            {Opcode::kSubI, Opcode::kSubI32},
                                            {Opcode::kMulI, Opcode::kMulI32}};
  for (const auto& [plain, fused] : rows) {
    MFunction f = Function(
        {Inst(plain, {2, 0, 1}), Inst(Opcode::kWrap, {3, 2, kInt32}), Inst(Opcode::kReturnI, {3})});
    FuseArithmeticAndWrap(f);
    REQUIRE(f.code.size() == 2);
    CHECK(f.code[0].op == fused);
    CHECK(f.code[0].operands[0].value == 3);
    CHECK(f.code[0].operands[1].value == 0);
    CHECK(f.code[0].operands[2].value == 1);
  }
}

TEST_CASE("what is not wrapped to int32, or is used unwrapped too, stays") {
  const std::vector<std::vector<MInst>> rows = {
      {Inst(Opcode::kAddI, {2, 0, 1}), Inst(Opcode::kWrap, {3, 2, kInt8})},
      {Inst(Opcode::kFloorDivI, {2, 0, 1}), Inst(Opcode::kWrap, {3, 2, kInt32})},
      {Inst(Opcode::kAddI, {2, 0, 1}), Inst(Opcode::kWrap, {3, 0, kInt32})},
      {Inst(Opcode::kAddI, {2, 0, 1}), Inst(Opcode::kWrap, {3, 2, kInt32}),
       Inst(Opcode::kReturnI, {2})},
  };
  for (const std::vector<MInst>& row : rows) {
    MFunction f = Function(row);
    FuseArithmeticAndWrap(f);
    CHECK(f.code.size() == row.size());
    CHECK(f.code[0].op == row[0].op);
  }
}

TEST_CASE("a result that is moved at once is made where it goes") {
  const auto code = [](uint32_t moved, Opcode move) {
    const Opcode make = move == Opcode::kMoveR ? Opcode::kConstR : Opcode::kAddI;
    MFunction f = Function({Inst(make, {2, 0, 1}), Inst(move, {3, moved})});
    f.num_objects = 8;
    return f;
  };
  for (const Opcode move : {Opcode::kMoveI, Opcode::kMoveR}) {
    MFunction f = code(2, move);
    FuseResultAndMove(f);
    REQUIRE(f.code.size() == 1);
    CHECK(f.code[0].operands[0].value == 3);
    MFunction other = code(1, move);  // moves something else
    FuseResultAndMove(other);
    CHECK(other.code.size() == 2);
    MFunction read = code(2, move);  // is read once more
    read.code.push_back(Inst(move == Opcode::kMoveR ? Opcode::kReturnR : Opcode::kReturnI, {2}));
    FuseResultAndMove(read);
    CHECK(read.code.size() == 3);
  }
  // A loop comes in between.
  MFunction f = code(2, Opcode::kMoveI);
  f.code.insert(f.code.begin() + 1, MInst{.is_label = true});
  FuseResultAndMove(f);
  CHECK(f.code.size() == 3);
}

TEST_CASE("moves of a register to itself and jumps to what comes next go") {
  const auto label = [](Label l) { return MInst{.is_label = true, .label = l}; };
  MFunction f = Function({Inst(Opcode::kMoveR, {1, 1}), Inst(Opcode::kMoveI, {1, 0}),
                          Inst(Opcode::kJump, {1}), Inst(Opcode::kMoveI, {2, 2}), label(0),
                          label(1), Inst(Opcode::kJump, {0}), label(2)});
  DropIdleInstructions(f);
  REQUIRE(f.code.size() == 5);
  CHECK(f.code[0].op == Opcode::kMoveI);
  CHECK(f.code[1].is_label);
  CHECK(f.code[3].op == Opcode::kJump);
}

TEST_CASE("a comparison that a branch alone uses becomes part of it, negated where it must be") {
  for (Opcode branch : {Opcode::kBranchIf, Opcode::kBranchIfNot}) {
    MFunction f =
        Function({Inst(Opcode::kCompareI, {2, static_cast<int64_t>(Comparison::kLt), 0, 1}),
                  Inst(branch, {2, 0})});
    FuseCompareAndBranch(f);
    const MInst& fused = f.code[1];
    REQUIRE(fused.op == Opcode::kBranchCmpI);
    auto expected = branch == Opcode::kBranchIf ? Comparison::kLt : Comparison::kGe;
    CHECK(fused.operands[0].value == static_cast<int64_t>(expected));
    CHECK(fused.operands[1].value == 0);
    CHECK(fused.operands[2].value == 1);
  }
  MFunction shared =
      Function({Inst(Opcode::kCompareI, {2, static_cast<int64_t>(Comparison::kLt), 0, 1}),
                Inst(Opcode::kBranchIf, {2, 0}), Inst(Opcode::kReturnI, {2})});
  FuseCompareAndBranch(shared);
  CHECK(shared.code[1].op == Opcode::kBranchIf);
}

}  // namespace
}  // namespace relayvm::lower
