// Evaluate: each computation becomes straight-line code over slots, and runs on blocks of
// consecutive elements.
//
//   Compiler   expression -> Code (instructions; Select and Reduce hold nested Code). A node
//   without loads is placed in the
//              outermost Code that knows its axes, so index arithmetic does not repeat in reduction
//              loops.
//   Machine    runs Code on up to kBlock lanes at once. A slot is one Scalar a lane. Under a
//   Select, lanes that are off
//              are masked: they compute garbage, but load nothing.
#include "kernels/te/evaluate.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "kernels/te/scalar.h"

namespace relayvm::te {
namespace {

constexpr int kBlock = 256;

struct Code;

struct Instruction {
  ExprKind kind;
  DType dtype;          // of the result
  DType operand_dtype;  // of operands[0]
  UnaryOp unary{};
  BinaryOp binary{};
  ReduceKind reduce{};
  bool select_last = false;
  uint32_t result = 0;
  std::vector<uint32_t> operands;
  Scalar constant{};
  const HostTensor* tensor = nullptr;  // kLoad
  const TensorNode* node = nullptr;    // kLoad, for messages
  std::vector<int64_t> strides;        // kLoad
  // kSelect: one Code a side; kReduce: the first is the body.
  std::unique_ptr<Code> first, second;
  std::vector<uint32_t> axis_slots;  // kReduce
  std::vector<int64_t> extents;      // kReduce
};

struct Code {
  std::vector<Instruction> instructions;
  uint32_t result = 0;
};

// --- Compiling ---

class Compiler {
 public:
  using TensorFn = std::function<const HostTensor*(const TensorNode*)>;
  Compiler(const SymbolFn& symbols, TensorFn tensors)
      : symbols_(symbols), tensors_(std::move(tensors)) {}

  // Slots 0..axes.size()-1 hold the axes.
  Result<std::unique_ptr<Code>> Compile(const Tensor& t) {
    PushScope(/*is_select=*/false);
    for (const Axis& axis : t->axes) BindAxis(axis.get(), next_slot_++);
    auto result = Lower(t->body);
    if (!result.ok()) return result.status();
    auto code = std::move(scopes_.back().code);
    code->result = *result;
    return code;
  }
  uint32_t num_slots() const { return next_slot_; }

 private:
  struct Scope {
    std::unique_ptr<Code> code;
    bool is_select = false;
    std::unordered_map<const ExprNode*, uint32_t> values;
    std::unordered_map<const AxisNode*, uint32_t> axes;
  };
  struct Facts {
    size_t depth = 0;  // the innermost scope whose axes it needs
    bool has_load = false;
  };

  void PushScope(bool is_select) {
    scopes_.emplace_back();
    scopes_.back().code = std::make_unique<Code>();
    scopes_.back().is_select = is_select;
  }
  std::unique_ptr<Code> PopScope(uint32_t result) {
    auto code = std::move(scopes_.back().code);
    code->result = result;
    for (const auto& [axis, slot] : scopes_.back().axes) axis_depth_.erase(axis);
    scopes_.pop_back();
    return code;
  }
  void BindAxis(const AxisNode* axis, uint32_t slot) {
    scopes_.back().axes[axis] = slot;
    axis_depth_[axis] = scopes_.size() - 1;
  }

  Result<int64_t> DimOf(const Dim& dim) {
    auto value = dim.Evaluate(symbols_);
    if (!value)
      return {StatusCode::kInvalidArgument,
              fmt::format("the dimension {} is not known", dim.ToString())};
    return *value;
  }

  // Where the node's operands live decides where it may live.
  Facts FactsOf(const ExprNode* e) {
    auto found = facts_.find(e);
    if (found != facts_.end()) return found->second;
    Facts facts;
    facts.has_load = e->kind == ExprKind::kLoad || e->kind == ExprKind::kReduce;
    if (e->kind == ExprKind::kAxis) {
      auto it = axis_depth_.find(e->axis.get());
      facts.depth = it == axis_depth_.end() ? scopes_.size() - 1 : it->second;
    }
    if (e->kind != ExprKind::kReduce) {
      for (const Expr& operand : e->operands) {
        Facts of_operand = FactsOf(operand.get());
        facts.depth = std::max(facts.depth, of_operand.depth);
        facts.has_load = facts.has_load || of_operand.has_load;
      }
    }
    return facts_[e] = facts;
  }

  Result<uint32_t> Lower(const Expr& e) {
    for (size_t i = scopes_.size(); i-- > 0;) {
      auto found = scopes_[i].values.find(e.get());
      if (found != scopes_[i].values.end()) return found->second;
    }
    if (e->kind == ExprKind::kAxis) {
      auto it = axis_depth_.find(e->axis.get());
      if (it == axis_depth_.end()) {
        return {StatusCode::kInternal,
                fmt::format("axis {} is not bound by its expression", e->axis->name)};
      }
      return scopes_[it->second].axes.at(e->axis.get());
    }
    Facts facts = FactsOf(e.get());
    size_t home = facts.has_load ? scopes_.size() - 1 : facts.depth;
    Instruction in{.kind = e->kind, .dtype = e->dtype, .operand_dtype = e->dtype};
    RELAYVM_RETURN_IF_ERROR(LowerOperands(*e, in));
    in.result = next_slot_++;
    uint32_t slot = in.result;
    scopes_[home].values[e.get()] = slot;
    scopes_[home].code->instructions.push_back(std::move(in));
    return slot;
  }

  Status LowerOperands(const ExprNode& e, Instruction& in) {
    switch (e.kind) {
      case ExprKind::kIntImm:
        in.constant = IntScalar(e.int_value);
        return OkStatus();
      case ExprKind::kFloatImm:
        in.constant = FloatScalar(e.float_value);
        return OkStatus();
      case ExprKind::kDim: {
        RELAYVM_ASSIGN_OR_RETURN(int64_t value, DimOf(e.dim));
        in.kind = ExprKind::kIntImm;
        in.constant = IntScalar(value);
        return OkStatus();
      }
      case ExprKind::kSelect:
        return LowerSelect(e, in);
      case ExprKind::kReduce:
        return LowerReduce(e, in);
      case ExprKind::kLoad: {
        in.tensor = tensors_(e.tensor.get());
        in.node = e.tensor.get();
        int64_t stride = 1;
        in.strides.resize(in.tensor->shape.size());
        for (size_t i = in.strides.size(); i-- > 0;) {
          in.strides[i] = stride;
          stride *= in.tensor->shape[i];
        }
        if (in.strides.size() != e.operands.size()) {
          return Status(StatusCode::kInvalidArgument,
                        fmt::format("{} has rank {}, but is indexed with {} indices",
                                    e.tensor->name, in.strides.size(), e.operands.size()));
        }
        break;
      }
      default:
        break;
    }
    in.unary = e.unary;
    in.binary = e.binary;
    if (!e.operands.empty()) in.operand_dtype = e.operands[0]->dtype;
    for (const Expr& operand : e.operands) {
      RELAYVM_ASSIGN_OR_RETURN(uint32_t slot, Lower(operand));
      in.operands.push_back(slot);
    }
    return OkStatus();
  }

  Status LowerSelect(const ExprNode& e, Instruction& in) {
    RELAYVM_ASSIGN_OR_RETURN(uint32_t condition, Lower(e.operands[0]));
    in.operands = {condition};
    for (int side = 1; side <= 2; ++side) {
      PushScope(/*is_select=*/true);
      RELAYVM_ASSIGN_OR_RETURN(uint32_t slot, Lower(e.operands[static_cast<size_t>(side)]));
      (side == 1 ? in.first : in.second) = PopScope(slot);
    }
    return OkStatus();
  }

  Status LowerReduce(const ExprNode& e, Instruction& in) {
    in.reduce = e.reduce;
    in.select_last = e.select_last;
    in.operand_dtype = e.operands[0]->dtype;
    PushScope(/*is_select=*/false);
    for (const Axis& axis : e.axes) {
      RELAYVM_ASSIGN_OR_RETURN(int64_t extent, DimOf(axis->extent));
      in.extents.push_back(extent);
      in.axis_slots.push_back(next_slot_);
      BindAxis(axis.get(), next_slot_++);
    }
    RELAYVM_ASSIGN_OR_RETURN(uint32_t slot, Lower(e.operands[0]));
    in.first = PopScope(slot);
    return OkStatus();
  }

  const SymbolFn& symbols_;
  TensorFn tensors_;
  std::vector<Scope> scopes_;
  std::unordered_map<const AxisNode*, size_t> axis_depth_;
  std::unordered_map<const ExprNode*, Facts> facts_;
  uint32_t next_slot_ = 0;
};

// --- Running ---

using Mask = const uint8_t*;  // one a lane, 0 is off; null: all on

class Machine {
 public:
  explicit Machine(uint32_t num_slots) : memory_(static_cast<size_t>(num_slots) * kBlock) {}

  Scalar* slot(uint32_t i) { return memory_.data() + static_cast<size_t>(i) * kBlock; }

  Status Run(const Code& code, int lanes, Mask mask) {
    for (const Instruction& in : code.instructions) {
      Scalar* out = slot(in.result);
      switch (in.kind) {
        case ExprKind::kIntImm:
        case ExprKind::kFloatImm:
          std::fill(out, out + lanes, in.constant);
          break;
        case ExprKind::kLoad:
          RELAYVM_RETURN_IF_ERROR(RunLoad(in, out, lanes, mask));
          break;
        case ExprKind::kUnary: {
          const Scalar* x = slot(in.operands[0]);
          for (int i = 0; i < lanes; ++i) out[i] = ApplyUnary(in.unary, in.operand_dtype, x[i]);
          break;
        }
        case ExprKind::kBinary:
          RunBinary(in, out, lanes);
          break;
        case ExprKind::kCast: {
          const Scalar* x = slot(in.operands[0]);
          for (int i = 0; i < lanes; ++i) out[i] = ApplyCast(in.operand_dtype, in.dtype, x[i]);
          break;
        }
        case ExprKind::kReinterpret: {
          const Scalar* x = slot(in.operands[0]);
          for (int i = 0; i < lanes; ++i)
            out[i] = ApplyReinterpret(in.operand_dtype, in.dtype, x[i]);
          break;
        }
        case ExprKind::kSelect:
          RELAYVM_RETURN_IF_ERROR(RunSelect(in, out, lanes, mask));
          break;
        case ExprKind::kReduce:
          RELAYVM_RETURN_IF_ERROR(RunReduce(in, out, lanes, mask));
          break;
        default:
          return Status(StatusCode::kInternal, "unexpected instruction in the evaluator");
      }
    }
    return OkStatus();
  }

 private:
  Status RunLoad(const Instruction& in, Scalar* out, int lanes, Mask mask) {
    int64_t flat[kBlock] = {};
    for (size_t d = 0; d < in.strides.size(); ++d) {
      const Scalar* index = slot(in.operands[d]);
      int64_t extent = in.tensor->shape[d];
      int64_t stride = in.strides[d];
      for (int i = 0; i < lanes; ++i) {
        if (mask != nullptr && mask[i] == 0) continue;
        if (index[i].i < 0 || index[i].i >= extent) {
          return Status(StatusCode::kOutOfRange,
                        fmt::format("index {} out of range for dimension {} of {}, which is {}",
                                    index[i].i, d, in.node->name, extent));
        }
        flat[i] += index[i].i * stride;
      }
    }
    const std::byte* data = in.tensor->data.data();
    int bytes = DTypeBytes(in.dtype);
    if (mask == nullptr && in.dtype == DType::kFloat32) {
      const float* values = reinterpret_cast<const float*>(data);
      for (int i = 0; i < lanes; ++i) out[i].f = values[flat[i]];
      return OkStatus();
    }
    for (int i = 0; i < lanes; ++i) {
      bool on = mask == nullptr || mask[i] != 0;
      out[i] = on ? ReadElement(in.dtype, data + flat[i] * bytes) : IntScalar(0);
    }
    return OkStatus();
  }

  template <typename Fn>
  void Lanes(const Instruction& in, Scalar* out, int lanes, Fn fn) {
    const Scalar* a = slot(in.operands[0]);
    const Scalar* b = slot(in.operands[1]);
    for (int i = 0; i < lanes; ++i) out[i] = fn(a[i], b[i]);
  }

  // The operators that real programs spend their time in get a loop of their own.
  void RunBinary(const Instruction& in, Scalar* out, int lanes) {
    DType t = in.operand_dtype;
    if (t == DType::kInt64) {
      switch (in.binary) {
        case BinaryOp::kAdd:
          return Lanes(in, out, lanes, [](Scalar a, Scalar b) {
            return IntScalar(
                static_cast<int64_t>(static_cast<uint64_t>(a.i) + static_cast<uint64_t>(b.i)));
          });
        case BinaryOp::kMultiply:
          return Lanes(in, out, lanes, [](Scalar a, Scalar b) {
            return IntScalar(
                static_cast<int64_t>(static_cast<uint64_t>(a.i) * static_cast<uint64_t>(b.i)));
          });
        case BinaryOp::kLess:
          return Lanes(in, out, lanes, [](Scalar a, Scalar b) { return IntScalar(a.i < b.i); });
        case BinaryOp::kGreaterEqual:
          return Lanes(in, out, lanes, [](Scalar a, Scalar b) { return IntScalar(a.i >= b.i); });
        default:
          break;
      }
    }
    if (t == DType::kFloat32) {
      auto round = [](double v) { return FloatScalar(static_cast<float>(v)); };
      switch (in.binary) {
        case BinaryOp::kAdd:
          return Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return round(a.f + b.f); });
        case BinaryOp::kSubtract:
          return Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return round(a.f - b.f); });
        case BinaryOp::kMultiply:
          return Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return round(a.f * b.f); });
        case BinaryOp::kDivide:
          return Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return round(a.f / b.f); });
        default:
          break;
      }
    }
    Lanes(in, out, lanes, [&](Scalar a, Scalar b) { return ApplyBinary(in.binary, t, a, b); });
  }

  Status RunSelect(const Instruction& in, Scalar* out, int lanes, Mask mask) {
    const Scalar* condition = slot(in.operands[0]);
    uint8_t on_true[kBlock];
    uint8_t on_false[kBlock];
    bool any_true = false;
    bool any_false = false;
    for (int i = 0; i < lanes; ++i) {
      bool on = mask == nullptr || mask[i] != 0;
      on_true[i] = on && condition[i].i != 0;
      on_false[i] = on && condition[i].i == 0;
      any_true = any_true || on_true[i] != 0;
      any_false = any_false || on_false[i] != 0;
    }
    if (any_true) {
      RELAYVM_RETURN_IF_ERROR(
          Run(*in.first, lanes, any_false || mask != nullptr ? on_true : nullptr));
    }
    if (any_false) {
      RELAYVM_RETURN_IF_ERROR(
          Run(*in.second, lanes, any_true || mask != nullptr ? on_false : nullptr));
    }
    const Scalar* if_true = slot(in.first->result);
    const Scalar* if_false = slot(in.second->result);
    for (int i = 0; i < lanes; ++i)
      out[i] = on_true[i] != 0 ? if_true[i] : (on_false[i] != 0 ? if_false[i] : IntScalar(0));
    return OkStatus();
  }

  Status RunReduce(const Instruction& in, Scalar* out, int lanes, Mask mask) {
    bool is_arg = in.reduce == ReduceKind::kArgMax || in.reduce == ReduceKind::kArgMin;
    std::vector<Scalar> best(static_cast<size_t>(lanes),
                             ReduceIdentity(in.reduce, in.operand_dtype));
    std::vector<int64_t> position(static_cast<size_t>(lanes), -1);
    int64_t total = 1;
    for (int64_t extent : in.extents) total *= extent;
    std::vector<int64_t> index(in.extents.size(), 0);
    for (int64_t step = 0; step < total; ++step) {
      for (size_t d = 0; d < index.size(); ++d) {
        Scalar* axis = slot(in.axis_slots[d]);
        std::fill(axis, axis + lanes, IntScalar(index[d]));
      }
      RELAYVM_RETURN_IF_ERROR(Run(*in.first, lanes, mask));
      const Scalar* x = slot(in.first->result);
      for (int i = 0; i < lanes; ++i) {
        Scalar& acc = best[static_cast<size_t>(i)];
        if (is_arg) {
          TakeArg(in, x[i], step, acc, position[static_cast<size_t>(i)]);
        } else {
          Accumulate(in, x[i], acc);
        }
      }
      for (size_t d = index.size(); d-- > 0;) {
        if (++index[d] < in.extents[d]) break;
        index[d] = 0;
      }
    }
    for (size_t i = 0; i < static_cast<size_t>(lanes); ++i) {
      if (is_arg) {
        int64_t p = std::max<int64_t>(position[i], 0);
        out[i] = ApplyCast(DType::kInt64, in.dtype, IntScalar(p));
      } else {
        out[i] = IsFloat(in.dtype) ? FloatScalar(RoundToDType(best[i].f, in.dtype)) : best[i];
      }
    }
    return OkStatus();
  }

  // Sums and products of floats are kept in double and rounded once, at the end.
  static void Accumulate(const Instruction& in, Scalar x, Scalar& acc) {
    DType t = in.operand_dtype;
    if (IsFloat(t)) {
      switch (in.reduce) {
        case ReduceKind::kSum:
          acc.f += x.f;
          return;
        case ReduceKind::kProd:
          acc.f *= x.f;
          return;
        case ReduceKind::kMax:
          acc.f = x.f > acc.f ? x.f : acc.f;
          return;
        case ReduceKind::kMin:
          acc.f = x.f < acc.f ? x.f : acc.f;
          return;
        case ReduceKind::kAll:
          acc.f = acc.f != 0 && x.f != 0;
          return;
        default:
          acc.f = acc.f != 0 || x.f != 0;
          return;
      }
    }
    switch (in.reduce) {
      case ReduceKind::kSum:
        acc = ApplyBinary(BinaryOp::kAdd, t, acc, x);
        return;
      case ReduceKind::kProd:
        acc = ApplyBinary(BinaryOp::kMultiply, t, acc, x);
        return;
      case ReduceKind::kMax:
        acc = ApplyBinary(BinaryOp::kMax, t, acc, x);
        return;
      case ReduceKind::kMin:
        acc = ApplyBinary(BinaryOp::kMin, t, acc, x);
        return;
      case ReduceKind::kAll:
        acc.i = acc.i != 0 && x.i != 0;
        return;
      default:
        acc.i = acc.i != 0 || x.i != 0;
        return;
    }
  }

  // The first element always counts, so that an all-NaN (or all-lowest) range gives a position in
  // it.
  static void TakeArg(const Instruction& in, Scalar x, int64_t step, Scalar& best,
                      int64_t& position) {
    BinaryOp better = in.reduce == ReduceKind::kArgMax ? BinaryOp::kGreater : BinaryOp::kLess;
    bool wins = ApplyBinary(better, in.operand_dtype, x, best).i != 0;
    bool ties = ApplyBinary(BinaryOp::kEqual, in.operand_dtype, x, best).i != 0;
    if (wins || (ties && (in.select_last || position < 0))) {
      best = x;
      position = step;
    }
  }

  std::vector<Scalar> memory_;
};

// --- Tensors ---

void CollectLoads(const ExprNode* root, std::vector<const ExprNode*>& loads) {
  std::vector<const ExprNode*> stack = {root};
  std::unordered_set<const ExprNode*> seen;
  while (!stack.empty()) {
    const ExprNode* e = stack.back();
    stack.pop_back();
    if (!seen.insert(e).second) continue;
    if (e->kind == ExprKind::kLoad) loads.push_back(e);
    for (const Expr& operand : e->operands) stack.push_back(operand.get());
  }
}

Result<std::vector<int64_t>> ShapeOf(const TensorNode& t, const SymbolFn& symbols) {
  std::vector<int64_t> shape;
  for (const Dim& d : t.shape) {
    auto value = d.Evaluate(symbols);
    if (!value || *value < 0) {
      return {StatusCode::kInvalidArgument, fmt::format("dimension {} of {} is {}", shape.size(),
                                                        t.name, value ? "negative" : "not known")};
    }
    shape.push_back(*value);
  }
  return shape;
}

// The value of one computation whose loads are all available.
Result<HostTensor> EvaluateOne(const Tensor& t, const SymbolFn& symbols,
                               const Compiler::TensorFn& tensors) {
  HostTensor out;
  out.dtype = t->dtype;
  RELAYVM_ASSIGN_OR_RETURN(out.shape, ShapeOf(*t, symbols));
  int64_t size = out.size();
  int bytes = DTypeBytes(out.dtype);
  out.data.resize(static_cast<size_t>(size) * static_cast<size_t>(bytes));
  if (size == 0) return out;
  Compiler compiler(symbols, tensors);
  RELAYVM_ASSIGN_OR_RETURN(std::unique_ptr<Code> code, compiler.Compile(t));
  Machine machine(compiler.num_slots());
  size_t rank = out.shape.size();
  std::vector<int64_t> index(rank, 0);
  for (int64_t start = 0; start < size; start += kBlock) {
    int lanes = static_cast<int>(std::min<int64_t>(kBlock, size - start));
    for (int i = 0; i < lanes; ++i) {
      for (size_t d = 0; d < rank; ++d) machine.slot(static_cast<uint32_t>(d))[i].i = index[d];
      for (size_t d = rank; d-- > 0;) {
        if (++index[d] < out.shape[d]) break;
        index[d] = 0;
      }
    }
    RELAYVM_RETURN_IF_ERROR(machine.Run(*code, lanes, nullptr));
    const Scalar* result = machine.slot(code->result);
    std::byte* data = out.data.data() + start * bytes;
    for (int i = 0; i < lanes; ++i) WriteElement(out.dtype, result[i], data + i * bytes);
  }
  return out;
}

}  // namespace

int64_t HostTensor::size() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

Result<HostTensor> Evaluate(const Tensor& output, std::span<const HostTensor* const> inputs,
                            const SymbolFn& symbols) {
  std::unordered_map<const TensorNode*, HostTensor> computed;
  std::unordered_map<const TensorNode*, int> uses;  // consumers that have not run yet
  std::unordered_map<const TensorNode*, std::vector<Tensor>> loads_of;
  std::vector<std::pair<Tensor, bool>> stack = {{output, false}};
  std::vector<Tensor> order;
  while (!stack.empty()) {
    auto [t, expanded] = std::move(stack.back());
    stack.pop_back();
    if (expanded) {
      order.push_back(std::move(t));
      continue;
    }
    if (loads_of.contains(t.get())) continue;
    std::vector<Tensor>& loads = loads_of[t.get()];
    if (!t->is_placeholder()) {
      std::vector<const ExprNode*> nodes;
      CollectLoads(t->body.get(), nodes);
      std::unordered_set<const TensorNode*> distinct;
      for (const ExprNode* e : nodes) {
        if (distinct.insert(e->tensor.get()).second) loads.push_back(e->tensor);
      }
    }
    stack.push_back({t, true});
    for (const Tensor& load : loads) {
      ++uses[load.get()];
      stack.push_back({load, false});
    }
  }

  auto find = [&](const TensorNode* t) -> const HostTensor* {
    if (t->is_placeholder()) return inputs[static_cast<size_t>(t->input_index)];
    return &computed.at(t);
  };
  for (const Tensor& t : order) {
    if (t->is_placeholder()) {
      size_t i = static_cast<size_t>(t->input_index);
      if (t->input_index < 0 || i >= inputs.size() || inputs[i] == nullptr) {
        return {StatusCode::kInvalidArgument,
                fmt::format("no value for input {} ({})", t->input_index, t->name)};
      }
      RELAYVM_ASSIGN_OR_RETURN(std::vector<int64_t> shape, ShapeOf(*t, symbols));
      if (inputs[i]->dtype != t->dtype || inputs[i]->shape != shape) {
        return {StatusCode::kInvalidArgument,
                fmt::format("input {} ({}) is not a {} tensor of shape {}", t->input_index, t->name,
                            DTypeName(t->dtype), ShapeToString(t->shape))};
      }
      continue;
    }
    RELAYVM_ASSIGN_OR_RETURN(computed[t.get()], EvaluateOne(t, symbols, find));
    for (const Tensor& load : loads_of.at(t.get())) {
      if (--uses[load.get()] == 0) computed.erase(load.get());
    }
  }
  if (output->is_placeholder()) return *find(output.get());
  return std::move(computed.at(output.get()));
}

}  // namespace relayvm::te
