#include "compiler/lowering/group_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <span>

#include "compiler/lowering/allocate.h"

namespace relayvm::lower {
namespace {

// Kernel n reads n buffers and writes one.
std::vector<KernelInfo> Kernels() {
  std::vector<KernelInfo> kernels(4);
  for (size_t n = 0; n < kernels.size(); ++n) {
    kernels[n].buffers.resize(n + 1);
    kernels[n].buffers[n].written = true;
  }
  return kernels;
}

MInst Call(const std::vector<uint32_t>& reads, uint32_t writes, std::optional<double> tasks = 1) {
  std::vector<MBuffer> buffers;
  for (const uint32_t r : reads) buffers.push_back({BufferKind::kSlot, r});
  buffers.push_back({BufferKind::kSlot, writes});
  MInst inst;
  inst.op = Opcode::kKernel1;
  inst.operands = {static_cast<int64_t>(reads.size()), std::vector<uint32_t>{}, buffers};
  inst.tasks = tasks;
  return inst;
}

MFunction Function(uint32_t slots, std::vector<MInst> code) {
  MFunction f;
  f.slots.assign(slots, {1000});
  f.code = std::move(code);
  return f;
}

// The slots that are written, in order, those that run together in brackets.
std::string Order(const MFunction& f) {
  std::string text;
  int64_t left = 0;
  for (const MInst& inst : f.code) {
    if (inst.is_label) {
      text += " L";
    } else if (inst.op == Opcode::kKernels) {
      left = inst.operands[0].value;
      text += " [";
    } else if (inst.op == Opcode::kKernel1) {
      text += " " + std::to_string(inst.operands.back().buffers.back().index);
      if (left == 1) text += " ]";
      left = std::max<int64_t>(left - 1, 0);
    } else {
      text += " -";
    }
  }
  return text;
}

std::string OrderAfter(uint32_t slots, std::vector<MInst> code) {
  MFunction f = Function(slots, std::move(code));
  RunKernelsTogether(f, Kernels());
  return Order(f);
}

TEST_CASE("branches of small kernels run side by side, step by step") {
  CHECK(OrderAfter(6, {Call({0}, 1), Call({1}, 2), Call({0}, 3), Call({3}, 4), Call({2, 4}, 5)}) ==
        " [ 1 3 ] [ 2 4 ] 5");
}

TEST_CASE("what depends on each other stays in order") {
  CHECK(OrderAfter(4, {Call({0}, 1), Call({1}, 2), Call({2}, 3)}) == " 1 2 3");
  CHECK(OrderAfter(3, {Call({0}, 1), Call({2}, 1)}) == " 1 1");
  CHECK(OrderAfter(3, {Call({0, 1}, 2), Call({2}, 0)}) == " 2 0");
}

TEST_CASE("what is too small, or large enough for all threads, stays in its place") {
  CHECK(OrderAfter(4, {Call({0}, 1), Call({0}, 2, 0.01), Call({0}, 3, 0.01)}) == " 1 2 3");
  CHECK(OrderAfter(4, {Call({0}, 1, 50), Call({1}, 2), Call({0}, 3, 50)}) == " 1 [ 2 3 ]");
  CHECK(OrderAfter(4, {Call({0}, 1, 50), Call({0}, 2, 50)}) == " 1 2");
  CHECK(OrderAfter(4, {Call({0}, 1, 50), Call({0}, 2)}) == " [ 1 2 ]");
  // Without inputs it is best made where it is used.
  CHECK(OrderAfter(4, {Call({0}, 1), Call({}, 2)}) == " 1 2");
  // A range whose size is known at run time joins its neighbour, and passes none.
  MInst open = Call({0}, 3, std::nullopt);
  open.op = Opcode::kKernel;
  open.operands.insert(open.operands.begin() + 1, {0, 0, 0});
  const MFunction beside = [&] {
    MFunction f = Function(4, {Call({0}, 1), Call({1}, 2), open});
    f.num_scalars = 1;
    RunKernelsTogether(f, Kernels());
    return f;
  }();
  REQUIRE(beside.code.size() == 4);
  CHECK(beside.code[1].op == Opcode::kKernels);
}

TEST_CASE("subviews of one slot are apart, a subview and the whole are not") {
  MFunction f = Function(5, {Call({0}, 2), Call({0}, 3), Call({4}, 1)});
  f.slots[1].bytes = 2048;
  f.slots[2] = {1024, MSlot::Part{1, 0}};
  f.slots[3] = {1024, MSlot::Part{1, 1024}};
  RunKernelsTogether(f, Kernels());
  CHECK(Order(f) == " [ 2 3 ] 1");
}

TEST_CASE(
    "allocations and sizes move along; a label, a call and what reads a result do not let pass") {
  const auto inst = [](Opcode op, std::vector<MOperand> operands) {
    MInst i;
    i.op = op;
    i.operands = std::move(operands);
    return i;
  };
  MInst scaled = Call({0}, 2);
  scaled.operands[1] = std::vector<uint32_t>{1};
  const auto code = [&](std::vector<MInst> between) {
    std::vector<MInst> all{Call({0}, 1)};
    for (MInst& i : between) all.push_back(std::move(i));
    all.push_back(scaled);
    MFunction f = Function(4, std::move(all));
    f.num_scalars = 4;
    f.num_labels = 1;
    RunKernelsTogether(f, Kernels());
    return Order(f);
  };
  CHECK(code({inst(Opcode::kConstI16, {0, 5}), inst(Opcode::kAddI, {1, 0, 0})}) == " - - [ 1 2 ]");
  CHECK(code({inst(Opcode::kConstI16, {3, 5})}) == " [ 1 2 ] -");
  CHECK(code({inst(Opcode::kSlotItem, {1, 1, static_cast<int64_t>(DType::kInt64)})}) == " 1 - 2");
  CHECK(code({inst(Opcode::kSlotItem, {3, 1, static_cast<int64_t>(DType::kInt64)})}) ==
        " [ 1 2 ] -");
  MInst label;
  label.is_label = true;
  CHECK(code({label}) == " 1 L 2");
  CHECK(code({inst(Opcode::kCallI, {3, 0, std::vector<uint32_t>{}, std::vector<uint32_t>{}})}) ==
        " 1 - 2");
}

// An instruction whose operands are all `number`: a register, an index, an immediate.
MInst WithOperands(Opcode op, int64_t number) {
  MInst inst;
  inst.op = op;
  const OpcodeInfo& info = GetOpcodeInfo(op);
  for (size_t k = 0; k < info.num_operands; ++k) {
    switch (info.operands[k]) {
      case OperandKind::ILIST:
      case OperandKind::OLIST:
      case OperandKind::RLIST:
      case OperandKind::TARGETS:
        inst.operands.emplace_back(std::vector<uint32_t>{static_cast<uint32_t>(number)});
        break;
      case OperandKind::BUFS:
        inst.operands.emplace_back(std::vector<MBuffer>{});
        break;
      default:
        inst.operands.emplace_back(number);
    }
  }
  return inst;
}

TEST_CASE("no call passes a check: the whole table of instructions") {
  size_t checks = 0;
  for (size_t i = 0; i < kNumOpcodes; ++i) {
    const auto op = static_cast<Opcode>(i);
    const OpcodeInfo& info = GetOpcodeInfo(op);
    CAPTURE(info.mnemonic);
    const auto kinds = std::span(info.operands).first(info.num_operands);
    if (std::ranges::find(kinds, OperandKind::MESSAGE) == kinds.end()) continue;
    ++checks;
    // It reads what is there, or what an instruction gives that cannot move.
    for (const bool reads_result : {false, true}) {
      std::vector<MInst> code{Call({0}, 1)};
      if (reads_result) code.push_back(WithOperands(Opcode::kSlotItem, 1));
      code.push_back(WithOperands(op, 1));
      code.push_back(Call({0}, 2));
      const std::string order = OrderAfter(4, std::move(code));
      const bool moved = !reads_result && order == " - [ 1 2 ]";
      const bool stayed = order == (reads_result ? " 1 - - 2" : " 1 - 2");
      CHECK_MESSAGE((moved || stayed), order);
      if (op == Opcode::kDimCheck) CHECK(moved == !reads_result);
    }
  }
  CHECK(checks >= 10);
}

// Memory after a run of the code, whose slots have their places: each kernel reads its inputs and
// fills its output with a number made of theirs. What runs together runs in the given order.
class Machine {
 public:
  Machine(const MFunction& f, const ArenaPlan& plan, bool backwards) : plan_(plan) {
    memory_.assign(plan.bytes / 64 + 1, 0);
    for (size_t i = 0; i < f.code.size(); ++i) {
      if (f.code[i].op != Opcode::kKernels) {
        Step(f.code[i]);
        continue;
      }
      const auto n = static_cast<size_t>(f.code[i].operands[0].value);
      for (size_t k = 0; k < n; ++k) Step(f.code[i + 1 + (backwards ? n - 1 - k : k)]);
      i += n;
    }
  }
  // What each kernel wrote, by its number (a scalar operand).
  const std::map<uint32_t, uint64_t>& results() const { return results_; }

 private:
  void Step(const MInst& call) {
    const std::vector<MBuffer>& buffers = call.operands.back().buffers;
    const uint32_t number = call.operands[1].regs[0];
    uint64_t value = number + 1;
    for (size_t b = 0; b + 1 < buffers.size(); ++b) {
      const ArenaSlot& slot = plan_.slots[buffers[b].index];
      for (uint64_t at = slot.offset / 64; at * 64 < slot.offset + slot.bytes; ++at)
        value = (value * 6364136223846793005u + memory_[at]) ^ value >> 29;
    }
    const ArenaSlot& slot = plan_.slots[buffers.back().index];
    for (uint64_t at = slot.offset / 64; at * 64 < slot.offset + slot.bytes; ++at)
      memory_[at] = value;
    results_[number] = value;
  }

  const ArenaPlan& plan_;
  std::vector<uint64_t> memory_;
  std::map<uint32_t, uint64_t> results_;
};

TEST_CASE("random graphs with kernels in place: every order of what runs together gives the same") {
  std::mt19937 random(11);
  const auto below = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
  size_t groups = 0;
  for (int round = 0; round < 400; ++round) {
    MFunction f;
    const uint32_t length = 4 + below(40);
    f.num_scalars = length;
    const uint32_t first_subviews = below(length);
    for (uint32_t i = 0; i < length; ++i) {
      f.slots.push_back({64 * uint64_t{1 + below(4)}});
      std::vector<uint32_t> reads;
      for (uint32_t k = i == 0 ? 0 : 1 + below(2); k-- > 0;)
        reads.push_back(i - 1 - below(std::min(i, 6u)));
      if (reads.size() == 2 && reads[0] == reads[1]) reads.pop_back();
      if (!reads.empty() && below(2) == 0) {
        f.slots[i].bytes = f.slots[reads[0]].bytes;
        f.in_place.emplace_back(reads[0], i);
      }
      MInst call = Call(reads, i, below(5) == 0 ? 40 : 0.05 + below(10));
      call.operands[1] = std::vector<uint32_t>{i};
      f.code.push_back(std::move(call));
    }
    // Two results are subviews of a slot that nothing else uses.
    if (first_subviews + 1 < length) {
      const auto whole = static_cast<uint32_t>(f.slots.size());
      MSlot &a = f.slots[first_subviews], &b = f.slots[first_subviews + 1];
      a.part = {whole, 0};
      b.part = {whole, a.bytes};
      const uint64_t bytes = a.bytes + b.bytes;
      f.slots.push_back({bytes});
    }
    MFunction plain = f;
    const ArenaPlan plain_plan = PlanArena(plain);
    RunKernelsTogether(f, Kernels());
    const ArenaPlan plan = PlanArena(f);
    groups += static_cast<size_t>(std::ranges::count(f.code, Opcode::kKernels, &MInst::op));
    const auto expected = Machine(plain, plain_plan, false).results();
    CHECK(Machine(f, plan, false).results() == expected);
    CHECK(Machine(f, plan, true).results() == expected);
  }
  CHECK(groups > 400);
}

}  // namespace
}  // namespace relayvm::lower
