#include "bytecode/memory_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bytecode/base/dim.h"
#include "bytecode/instruction.h"
#include "bytecode/semantics.h"
#include "bytecode/symbolic_ops.h"

namespace relayvm {
namespace {

// Of functions that are simulated within each other.
constexpr size_t kMaxCallDepth = 200;
// More terms than this make no readable formula.
constexpr size_t kMaxPeaks = 16;
// An expression of more nodes becomes a symbol of its own.
constexpr size_t kMaxFormulaSize = 200;
// Of names as formulas show them.
constexpr size_t kMaxNameLength = 100;
// What a function may cost, in steps of about a nanosecond: a verified program may still be made to
// take time and memory out of all proportion to its size.
constexpr int64_t kMaxWork = 300'000'000;

// What an object register holds: a tensor's memory, or a value that keeps other values alive.
struct Value;
using ValuePtr = const Value*;  // null: nothing
struct Value {
  std::optional<Dim> bytes;              // of memory allocated here; nullopt for anything else
  std::optional<Dim> received;           // of memory that a callee allocated and returned
  std::optional<std::vector<Dim>> dims;  // of a tensor, where known
  std::string name;                      // what its dims are called, when dims is unknown
  std::optional<uint16_t> argument;      // which argument of the function it is
  std::vector<ValuePtr> parts;           // fields, captured values, the tensor that a view shares
};

struct State {
  std::vector<Dim> scalars;
  std::vector<ValuePtr> objects;
};

// What a caller sees of a function: formulas over the symbols of its arguments.
struct Summary {
  // What a symbol stands for: scalar argument `index`, or dim `axis` of object argument `index`.
  struct Part {
    bool is_object;
    uint16_t index;
    uint16_t axis;
  };
  std::map<uint32_t, Part> parts;        // by the symbol's id
  Dim total;                             // held at most, by it and what it calls
  Dim result;                            // held by what it returns
  std::optional<std::vector<Dim>> dims;  // of a tensor that it returns, where known
};

class Simulator;

// What the functions of one report share.
struct Analysis {
  const Program& program;
  std::map<uint32_t, Summary> summaries;
  std::set<uint32_t> active;  // being simulated, because one calls the other
  std::map<std::pair<uint32_t, std::string>, Dim> symbols;  // by function and name
  int64_t work = kMaxWork;                                  // left
  Summary again;                                            // of what is not simulated (again)

  Dim Symbol(uint32_t function, const std::string& name) {
    work -= static_cast<int64_t>(name.size());
    auto [it, inserted] = symbols.try_emplace({function, name}, Dim());
    if (inserted) {
      bool is_long = name.size() > kMaxNameLength;
      it->second = Dim::Symbol(static_cast<uint32_t>(symbols.size()),
                               is_long ? name.substr(0, kMaxNameLength) + "..." : name);
    }
    return it->second;
  }
  // What another call of a function holds, where that is not known: "f()".
  Dim Again(uint32_t function) { return Symbol(function, program.functions[function].name + "()"); }
  const Summary& SummaryOf(uint32_t function);
};

class Simulator {
 public:
  Simulator(Analysis& analysis, uint32_t function)
      : analysis_(analysis),
        work_(analysis.work),
        program_(analysis.program),
        index_(function),
        function_(program_.functions[function]) {
    code_ = program_.code.subspan(function_.code_offset, function_.code_size);
    NameArguments(function);
  }

  MemoryReport Run() {
    FindBackEdges();
    bool falls_through = true;
    for (at_ = 0; at_ < code_.size(); at_ += instruction_.size()) {
      if (!DecodeInstruction(code_, at_, &instruction_).ok()) break;  // excluded by the verifier
      if (work_ <= 0) return TooMuch();
      auto joined = joins_.find(at_);
      if (joined != joins_.end()) {
        if (falls_through) Join(&joined->second);
        state_ = std::move(joined->second);
        joins_.erase(joined);
      }
      auto loop = loops_.find(at_);
      if (loop != loops_.end()) Forget(loop->second);
      Step();
      SaveAtTargets();
      falls_through = !EndsControl(instruction_.opcode);
    }
    report_.arena_bytes = function_.arena_bytes;
    report_.peak_bytes = Text(own_);
    report_.total_bytes = Text(total_);
    return std::move(report_);
  }

  // After Run.
  Summary summary() {
    Summary s;
    s.total =
        total_.size() > kMaxPeaks || work_ <= 0 ? analysis_.Again(index_) : Bounded(Max(total_));
    if (returned_ != nullptr) {
      s.result = Held({returned_}).second;
      s.dims = returned_->dims;
    }
    s.parts = std::move(parts_);
    return s;
  }

  // --- Rows OP of opcodes.def (bytecode/semantics.h); of others, StepOther ---

  void kTensorDim(uint16_t, uint16_t from, uint16_t axis) { SetI(DimOf(Read(from), axis)); }
  void kMoveR(uint16_t, uint16_t from) { SetR(Read(from)); }
  void kDrop(uint16_t reg) { state_.objects[reg & kRegisterMask] = nullptr; }
  void kConstR(uint16_t, uint16_t constant) {
    Value* value = NewValue();
    const std::vector<int64_t>& dims = program_.constants[constant].dims;
    value->dims.emplace(dims.begin(), dims.end());
    SetR(value);
  }
  void kAdtNew(uint16_t, uint16_t, OperandUnits fields) { Build(ReadList(fields)); }
  void kClosureNew(uint16_t, uint16_t, OperandUnits captured) { Build(ReadList(captured)); }
  void kRefNew(uint16_t, uint16_t content) { Build({Read(content)}); }
  // Some part of it: all is held, as far as is known.
  void kAdtGet(uint16_t, uint16_t from, uint16_t) { Build({Read(from)}); }
  void kRefGet(uint16_t, uint16_t from) { Build({Read(from)}); }
  void kTensorAlloc(uint16_t, DType dtype, OperandUnits dims) { Allocate(dtype, Dims(dims)); }
  void kTensorStatic(uint16_t, uint16_t index) {
    const TensorTypeInfo& type = program_.tensor_types[index];
    Allocate(type.dtype, {type.dims.begin(), type.dims.end()});
  }
  void kTensorBox(uint16_t, uint16_t, DType dtype) { Allocate(dtype, {}); }
  void kTensorView(uint16_t, uint16_t from, OperandUnits dims) {
    Value* value = NewValue();
    value->dims = Dims(dims);
    value->parts = {Read(from)};
    SetR(value);
  }
  void kTensorReuse(uint16_t, uint16_t from, DType dtype, OperandUnits dims) {
    Read(from);
    Allocate(dtype, Dims(dims));
  }
  void kTensorAppend(uint16_t, uint16_t head, uint16_t tail, DType dtype, OperandUnits dims) {
    // At worst it moves: both are there then.
    Observe(WithRoom(BytesOf(dtype, Dims(dims))));
    Read(head);
    Read(tail);
    Allocate(dtype, Dims(dims), /*has_room=*/true);
  }
  void kKernel(uint16_t, uint16_t, uint16_t, uint16_t scratch, OperandUnits, OperandUnits buffers) {
    Observe(state_.scalars[scratch]);
    ReleaseBuffers(buffers);
  }
  void kKernel1(uint16_t, OperandUnits, OperandUnits buffers) { ReleaseBuffers(buffers); }
  void kCallI(uint16_t, uint16_t callee, OperandUnits scalars, OperandUnits objects) {
    Call(callee, scalars, objects);
  }
  void kCallR(uint16_t, uint16_t callee, OperandUnits scalars, OperandUnits objects) {
    Call(callee, scalars, objects);
  }
  void kTailCall(uint16_t callee, OperandUnits scalars, OperandUnits objects) {
    Call(callee, scalars, objects);
  }
  void kReturnR(uint16_t reg) {
    const ValuePtr value = state_.objects[reg & kRegisterMask];
    returned_ = returned_ == nullptr ? value : JoinValues(returned_, value, 0);
    StepOther();
  }

 private:
  MemoryReport TooMuch() {
    MemoryReport report;
    report.arena_bytes = function_.arena_bytes;
    report.peak_bytes = report.total_bytes = "unknown (too much code to analyse)";
    return report;
  }

  void Spend(size_t steps) { work_ -= static_cast<int64_t>(steps); }

  // --- Symbols ---

  Dim Symbol(const std::string& name) { return analysis_.Symbol(index_, name); }
  Dim ArgumentSymbol(const std::string& name, Summary::Part part) {
    Dim symbol = Symbol(name);
    parts_.emplace(symbol.symbol_id(), part);
    return symbol;
  }
  // `dim`, unless it is too large to go on with.
  Dim Bounded(const Dim& dim) {
    size_t size = dim.Size();
    Spend(16 * size);
    return size <= kMaxFormulaSize ? dim : Unknown("value");
  }
  Value* NewValue() {
    Spend(64);
    return &values_.emplace_back();
  }
  // A number about which nothing is known, made here.
  Dim Unknown(const char* what) { return Symbol(fmt::format("{}@{:#x}", what, at_)); }

  void NameArguments(uint32_t index) {
    const ExportInfo* exported = nullptr;
    for (const ExportInfo& e : program_.exports) {
      if (e.function == index) exported = &e;
    }
    state_.scalars.assign(function_.num_scalar_registers, Dim());
    state_.objects.assign(function_.num_object_registers, nullptr);
    for (uint16_t i = 0; i < function_.num_scalar_args; ++i)
      state_.scalars[i] = ArgumentSymbol(fmt::format("i{}", i), {false, i, 0});
    for (uint16_t i = 0; i < function_.num_object_args; ++i) {
      Value* value = NewValue();
      value->name = fmt::format("r{}", i);
      value->argument = i;
      if (exported != nullptr) {
        if (!exported->param_names[i].empty()) value->name = exported->param_names[i];
        const ValueType& type = exported->params[i];
        if (type.kind == ValueType::Kind::kTensor) value->dims = ArgumentDims(type, value->name);
      }
      state_.objects[i] = value;
    }
  }

  std::vector<Dim> ArgumentDims(const ValueType& type, const std::string& name) {
    std::vector<Dim> dims;
    for (size_t k = 0; k < type.dims.size(); ++k) {
      bool named = k < type.dim_names.size() && !type.dim_names[k].empty();
      dims.push_back(type.dims[k] >= 0 ? Dim(type.dims[k])
                     : named           ? Symbol(type.dim_names[k])
                                       : Symbol(fmt::format("{}.shape[{}]", name, k)));
    }
    return dims;
  }

  // --- Control ---

  // By target of a jump backwards: the end of the code that may run before it is reached again.
  void FindBackEdges() {
    Instruction instruction;
    for (size_t at = 0; at < code_.size(); at += instruction.size()) {
      if (!DecodeInstruction(code_, at, &instruction).ok()) break;
      ForEachTarget(instruction, [&](int32_t distance) {
        size_t target = at + static_cast<size_t>(static_cast<int64_t>(distance));
        if (distance <= 0) loops_[target] = std::max(loops_[target], at);
      });
    }
  }

  // At the head of a loop: what the loop writes is unknown.
  void Forget(size_t end) {
    Instruction instruction;
    for (size_t at = at_; at <= end && work_ > 0; at += instruction.size()) {
      if (!DecodeInstruction(code_, at, &instruction).ok()) break;
      Spend(16);
      if (instruction.info->operands[0] == OperandKind::IOUT) {
        uint16_t reg = instruction.Unit(0);
        state_.scalars[reg] = Unknown(fmt::format("i{}", reg).c_str());
      } else if (instruction.info->operands[0] == OperandKind::ROUT) {
        state_.objects[instruction.Unit(0)] = nullptr;
      }
    }
  }

  void SaveAtTargets() {
    ForEachTarget(instruction_, [&](int32_t distance) {
      if (distance <= 0 || work_ <= 0) return;
      Spend(32 * (state_.scalars.size() + state_.objects.size()));
      auto [it, inserted] = joins_.try_emplace(at_ + static_cast<size_t>(distance), state_);
      if (!inserted) Join(&it->second);
    });
  }

  // `other` becomes what holds whether control came from there or from the current state.
  void Join(State* other) {
    Spend(8 * (other->scalars.size() + other->objects.size()));
    for (size_t i = 0; i < other->scalars.size(); ++i) {
      if (!(other->scalars[i] == state_.scalars[i])) {
        other->scalars[i] = Unknown(fmt::format("i{}", i).c_str());
      }
    }
    for (size_t i = 0; i < other->objects.size(); ++i) {
      if (other->objects[i] == state_.objects[i]) continue;
      // One of the two is held: the larger, where that is known.
      other->objects[i] = JoinValues(other->objects[i], state_.objects[i], i);
    }
  }

  ValuePtr JoinValues(ValuePtr a, ValuePtr b, size_t reg) {
    auto [own_a, total_a] = Held({a});
    auto [own_b, total_b] = Held({b});
    Value* value = NewValue();
    const Dim own = Larger(own_a, own_b);
    const Dim received = Larger(total_a - own_a, total_b - own_b);
    if (!own.is_const(0)) value->bytes = own;
    if (!received.is_const(0)) value->received = received;
    value->name = fmt::format("r{}@{:#x}", reg, at_);
    if (a && b && a->dims && b->dims && *a->dims == *b->dims) value->dims = a->dims;
    return value;
  }

  // --- Memory ---

  static bool AtMost(const Dim& a, const Dim& b) {
    std::optional<int64_t> bound = (b - a).LowerBound();
    return bound && *bound >= 0;
  }

  Dim Larger(const Dim& a, const Dim& b) {
    return AtMost(a, b) ? b : AtMost(b, a) ? a : Bounded(Dim::Max(a, b));
  }

  // Bytes of the memory that these values keep alive: of what was allocated here, and of that and
  // what callees have returned.
  std::pair<Dim, Dim> Held(const std::vector<ValuePtr>& roots) {
    std::set<const Value*> seen;
    std::vector<const Value*> work;
    auto visit = [&](ValuePtr value) {
      if (value != nullptr && seen.insert(value).second) work.push_back(value);
    };
    Spend(roots.size());
    for (ValuePtr root : roots) visit(root);
    Dim own, received;
    while (!work.empty() && work_ > 0) {
      const Value* value = work.back();
      work.pop_back();
      Spend(32 + value->parts.size());
      if (value->bytes) own = Bounded(own + *value->bytes);
      if (value->received) received = Bounded(received + *value->received);
      for (ValuePtr part : value->parts) visit(part);
    }
    return {own, own + received};
  }

  // Notes what is held now, with `extra` bytes of its own.
  void Observe(const Dim& extra = Dim()) {
    auto [own, total] = Held(state_.objects);
    AddPeak(own + extra + Arena(), &own_);
    AddPeak(total + extra + Arena(), &total_);
  }

  void AddPeak(const Dim& bytes, std::vector<Dim>* peaks) {
    const Dim held = Bounded(bytes);
    Spend(peaks->size() * 16 * held.Size());
    for (const Dim& peak : *peaks) {
      if (AtMost(held, peak)) return;
    }
    std::erase_if(*peaks, [&](const Dim& peak) { return AtMost(peak, held); });
    peaks->push_back(held);
  }

  Dim Arena() const { return Dim(static_cast<int64_t>(function_.arena_bytes)); }
  Dim Max(const std::vector<Dim>& peaks) const {
    Dim max = peaks.empty() ? Arena() : peaks[0];
    for (const Dim& peak : peaks) max = Dim::Max(max, peak);
    return max;
  }
  std::string Text(const std::vector<Dim>& peaks) const {
    if (peaks.size() <= kMaxPeaks) return Max(peaks).ToString();
    return fmt::format("the largest of {} formulas", peaks.size());
  }

  // --- Instructions ---

  void SetI(const std::optional<Dim>& value) {
    const uint16_t reg = instruction_.Unit(0);
    state_.scalars[reg] = value ? Bounded(*value) : Unknown(fmt::format("i{}", reg).c_str());
  }

  // Reads an object register's unit; taken, it is empty afterwards.
  ValuePtr Read(uint16_t unit) {
    ValuePtr& reg = state_.objects[unit & kRegisterMask];
    return (unit & kTakeBit) != 0 ? std::exchange(reg, nullptr) : reg;
  }
  std::vector<ValuePtr> ReadList(OperandUnits units) {
    std::vector<ValuePtr> values;
    for (uint16_t unit : units) values.push_back(Read(unit));
    return values;
  }
  void SetR(ValuePtr value) {
    state_.objects[instruction_.Unit(0)] = value;
    Observe();
  }
  // A value made elsewhere: what it holds is not ours.
  void SetForeign() {
    Value* value = NewValue();
    value->name = fmt::format("r{}@{:#x}", instruction_.Unit(0), at_);
    SetR(value);
  }

  std::vector<Dim> Dims(OperandUnits regs) const {
    std::vector<Dim> dims;
    for (uint16_t reg : regs) dims.push_back(state_.scalars[reg]);
    return dims;
  }

  Dim BytesOf(DType dtype, const std::vector<Dim>& dims) {
    Dim bytes(DTypeBytes(dtype));
    for (const Dim& dim : dims) bytes = Bounded(bytes * dim);
    return bytes;
  }
  // What tensor.append makes of so many bytes, at most.
  Dim WithRoom(const Dim& bytes) { return Bounded(bytes + Dim::FloorDiv(bytes, 2)); }

  void Allocate(DType dtype, std::vector<Dim> dims, bool has_room = false) {
    Value* value = NewValue();
    Dim bytes = BytesOf(dtype, dims);
    if (has_room) bytes = WithRoom(bytes);
    value->bytes = bytes;
    value->dims = std::move(dims);
    std::string text = bytes.ToString();
    Spend(text.size());
    report_.allocations.push_back(
        {static_cast<uint32_t>(at_), std::string(instruction_.info->mnemonic), std::move(text)});
    SetR(value);
  }

  void Build(std::vector<ValuePtr> parts) {
    Value* value = NewValue();
    value->parts = std::move(parts);
    value->name = fmt::format("r{}@{:#x}", instruction_.Unit(0), at_);
    SetR(value);
  }

  Dim DimOf(ValuePtr value, uint16_t axis) {
    if (!value) return Unknown("dim");
    if (value->dims && axis < value->dims->size()) return (*value->dims)[axis];
    const std::string name = fmt::format("{}.shape[{}]", value->name, axis);
    return value->argument ? ArgumentSymbol(name, {true, *value->argument, axis}) : Symbol(name);
  }

  struct ScalarMachine : SymbolicOps {
    Simulator& simulator;

    explicit ScalarMachine(Simulator& s) : SymbolicOps(Wrapping::kTakenAsExact), simulator(s) {}
    Int Scalar(uint16_t reg) const { return simulator.state_.scalars[reg]; }
    void SetScalar(uint16_t, const Int& value) { simulator.SetI(value); }
  };

  void Step() {
    ScalarMachine machine(*this);
    if (RunScalar(machine, instruction_)) return;
    const auto run = ObjectRowOf<Simulator>(instruction_.opcode);
    if (run == nullptr) return StepOther();
    (void)run(*this, instruction_);
  }

  void ReleaseBuffers(OperandUnits units) {
    for (size_t k = 0; k < units.size(); k += 2) {
      if ((units[k] & kTakeBit) != 0) state_.objects[units[k + 1]] = nullptr;
    }
  }

  // What the callee holds comes on top of what is held here during the call (its arguments, taken
  // or not) or, in a tail call, of its arguments alone.
  void Call(uint32_t callee, OperandUnits scalars, OperandUnits passed) {
    const bool is_tail = instruction_.opcode == Opcode::kTailCall;
    std::vector<ValuePtr> objects;
    for (uint16_t unit : passed) objects.push_back(state_.objects[unit & kRegisterMask]);
    const Summary& summary = analysis_.SummaryOf(callee);
    auto at_call = [&](const Dim& formula) {
      return Bounded(formula.Substitute([&](const Dim& symbol) -> std::optional<Dim> {
        auto part = summary.parts.find(symbol.symbol_id());
        if (part == summary.parts.end()) return std::nullopt;
        const auto& [is_object, index, axis] = part->second;
        return is_object ? DimOf(objects[index], axis) : state_.scalars[scalars[index]];
      }));
    };
    if (is_tail) Observe();
    const Dim inside = at_call(summary.total);
    const Dim held = is_tail ? Held(objects).second : Held(state_.objects).second + Arena();
    AddPeak(held + inside, &total_);
    const Dim received = at_call(summary.result);
    std::optional<std::vector<Dim>> dims;
    if (summary.dims) {
      dims.emplace();
      for (const Dim& dim : *summary.dims) dims->push_back(at_call(dim));
    }
    StepOther();
    if (instruction_.opcode == Opcode::kCallI || is_tail) return;
    Value* value = NewValue();
    value->name = fmt::format("r{}@{:#x}", instruction_.Unit(0), at_);
    if (!received.is_const(0)) value->received = received;
    value->dims = std::move(dims);
    SetR(value);
  }

  // Calls of closures and the rest: what is taken is given away, and results are unknown.
  void StepOther() {
    for (int i = 0; i < instruction_.info->num_operands; ++i) {
      OperandKind kind = instruction_.info->operands[static_cast<size_t>(i)];
      if (kind == OperandKind::RIN) Read(instruction_.Unit(i));
      if (kind == OperandKind::RLIST) ReadList(instruction_.List(i));
    }
    OperandKind first = instruction_.info->operands[0];
    if (first == OperandKind::IOUT) SetI(std::nullopt);
    if (first == OperandKind::ROUT) SetForeign();
    if (first != OperandKind::OLIST) return;
    for (uint16_t reg : instruction_.List(0)) {
      state_.scalars[reg] = Unknown(fmt::format("i{}", reg).c_str());
    }
  }

  Analysis& analysis_;
  int64_t& work_;
  const Program& program_;
  uint32_t index_;
  const FunctionInfo& function_;
  std::span<const uint16_t> code_;
  std::map<uint32_t, Summary::Part> parts_;
  std::deque<Value> values_;  // all that were made; they refer to each other
  State state_;
  std::map<size_t, State> joins_;  // by target of jumps forwards, not reached yet
  std::map<size_t, size_t> loops_;
  size_t at_ = 0;
  Instruction instruction_{};
  ValuePtr returned_ = nullptr;  // by what was met so far
  // Peaks, with the arena; none of them is known to be at most another.
  std::vector<Dim> own_, total_;
  MemoryReport report_;
};

const Summary& Analysis::SummaryOf(uint32_t function) {
  auto known = summaries.find(function);
  if (known != summaries.end()) return known->second;
  if (active.size() > kMaxCallDepth || !active.insert(function).second) {
    again.total = Again(function);
    return again;
  }
  Simulator simulator(*this, function);
  simulator.Run();
  active.erase(function);
  return summaries[function] = simulator.summary();
}

}  // namespace

MemoryReport ReportMemory(const Program& program, uint32_t function) {
  Analysis analysis{program};
  analysis.active.insert(function);
  return Simulator(analysis, function).Run();
}

std::vector<MemoryReport> ReportMemory(const Program& program) {
  Analysis analysis{program};
  std::vector<MemoryReport> reports;
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    analysis.work = kMaxWork;
    analysis.active = {i};
    reports.push_back(Simulator(analysis, i).Run());
  }
  return reports;
}

}  // namespace relayvm
