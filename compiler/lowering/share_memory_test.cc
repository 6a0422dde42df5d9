#include "compiler/lowering/share_memory.h"

#include <doctest/doctest.h>

#include <string>

#include "bytecode/base/dtype.h"
#include "compiler/lowering/liveness.h"

namespace relayvm::lower {
namespace {

constexpr auto kFloat32 = static_cast<int64_t>(DType::kFloat32);

// Builds functions whose tensors have sizes over two symbols.
struct Code {
  MFunction f;
  Dim n = Dim::Symbol(1, "n");
  Dim m = Dim::Symbol(2, "m");

  Code() {
    f.num_scalars = f.num_scalar_args = 2;
    f.num_objects = f.num_object_args = 1;
  }
  MInst& Add(Opcode op, std::vector<MOperand> operands) {
    MInst& inst = f.code.emplace_back();
    inst.op = op;
    inst.operands = std::move(operands);
    return inst;
  }
  // A kernel that reads `from` and writes a new tensor.
  Reg Kernel(Reg from, const Dim& elements) {
    Reg r = f.num_objects++;
    Add(Opcode::kTensorAlloc, {r, kFloat32, std::vector<uint32_t>{0}}).bytes = elements * Dim(4);
    std::vector<MBuffer> buffers{{BufferKind::kRegister, from}, {BufferKind::kRegister, r}};
    Add(Opcode::kKernel1, {0, std::vector<uint32_t>{}, buffers});
    return r;
  }
  void Bind(Label label) {
    MInst& inst = f.code.emplace_back();
    inst.is_label = true;
    inst.label = label;
  }
  size_t Finish() {
    MarkLastUses(f);
    ShareMemory(f);
    size_t reused = 0;
    for (const MInst& inst : f.code) {
      reused += !inst.is_label && inst.op == Opcode::kTensorReuse ? 1 : 0;
    }
    return reused;
  }
};

TEST_CASE("a chain of tensors of one size needs the memory of two") {
  Code c;
  Reg r = 0;
  for (int i = 0; i < 20; ++i) r = c.Kernel(r, c.n * c.m);
  c.Add(Opcode::kReturnR, {r});
  CHECK(c.Finish() == 18);
  // What is reused is taken there, and nowhere before.
  std::vector<int> taken(c.f.num_objects, 0);
  for (MInst& inst : c.f.code) {
    ForEachUse(inst, [&](Bank bank, uint32_t& reg, const bool* take) {
      if (bank == Bank::kObject && *take) ++taken[reg];
    });
  }
  for (int count : taken) CHECK(count == 1);
}

TEST_CASE("equal expressions are equal sizes; other sizes are not shared") {
  Code same;
  same.Add(Opcode::kReturnR,
           {same.Kernel(same.Kernel(same.Kernel(0, same.n * same.m), Dim(7)), same.m * same.n)});
  CHECK(same.Finish() == 1);
  Code other;
  other.Add(Opcode::kReturnR,
            {other.Kernel(other.Kernel(other.Kernel(0, other.n), Dim(7)), other.m)});
  CHECK(other.Finish() == 0);
}

TEST_CASE(
    "what dies in one branch is of no use in the other or behind; before a branch, behind it") {
  Code c;
  Label other = c.f.num_labels++;
  Label done = c.f.num_labels++;
  Reg before = c.Kernel(c.Kernel(0, c.n), c.m);  // the first dies here, before the branch
  c.Add(Opcode::kBranchIf, {0, other});
  Reg left = c.Kernel(before, Dim(3));
  c.Add(Opcode::kDrop, {left});
  c.Add(Opcode::kJump, {done});
  c.Bind(other);
  Reg right = c.Kernel(before, Dim(3));
  c.Add(Opcode::kDrop, {right});
  c.Bind(done);
  c.Add(Opcode::kReturnR, {c.Kernel(c.Kernel(0, Dim(3)), c.n)});
  CHECK(c.Finish() == 1);
  for (const MInst& inst : c.f.code) {
    if (!inst.is_label && inst.op == Opcode::kTensorReuse) CHECK(inst.bytes == c.n * Dim(4));
  }
}

TEST_CASE("what dies at one target of a switch is of no use at the others") {
  Code c;
  Label first = c.f.num_labels++;
  Label second = c.f.num_labels++;
  Reg before = c.Kernel(0, c.n);
  c.Add(Opcode::kSwitchTag, {0, std::vector<uint32_t>{first, second}});
  c.Add(Opcode::kTrap, {0});  // `before` is dropped here
  for (Label l : {first, second}) {
    c.Bind(l);
    Reg r = c.Kernel(c.Kernel(before, c.m), c.n);  // once, in the memory of `before`
    c.Add(Opcode::kReturnR, {r});
  }
  CHECK(c.Finish() == 2);
  for (size_t i = 0; i + 1 < c.f.code.size(); ++i) {
    // No tensor is reused before it is read: `before` is read by the first kernel of each target.
    if (c.f.code[i].is_label) CHECK(c.f.code[i + 1].op == Opcode::kTensorAlloc);
  }
}

TEST_CASE("no memory waits across a call") {
  for (bool calls : {false, true}) {
    Code c;
    Reg r = c.Kernel(c.Kernel(0, c.n), c.m);
    if (calls) {
      Reg result = c.f.num_objects++;
      c.Add(Opcode::kCallR, {result, 0, std::vector<uint32_t>{}, std::vector<uint32_t>{r}});
      r = result;
    }
    c.Add(Opcode::kReturnR, {c.Kernel(r, c.n)});
    CHECK(c.Finish() == (calls ? 0 : 1));
  }
}

}  // namespace
}  // namespace relayvm::lower
