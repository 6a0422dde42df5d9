// Expressions to the evaluator's code.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "kernels/te/evaluate_code.h"

namespace relayvm::te {
namespace {

class Compiler {
 public:
  Compiler(const SymbolFn& symbols, const TensorFn& tensors)
      : symbols_(symbols), tensors_(tensors) {}

  Result<CompiledBody> Compile(const Tensor& t) {
    PushScope(/*is_select=*/false);
    for (const Axis& axis : t->axes) BindAxis(axis.get(), next_slot_++);
    RELAYVM_ASSIGN_OR_RETURN(uint32_t slot, Lower(t->body));
    CompiledBody body;
    body.code = PopScope(slot);
    body.num_slots = next_slot_;
    return body;
  }

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
    // What may fail stays where it is asked for, too.
    facts.has_load =
        e->kind == ExprKind::kLoad || e->kind == ExprKind::kReduce || e->kind == ExprKind::kChecked;
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
  const TensorFn& tensors_;
  std::vector<Scope> scopes_;
  std::unordered_map<const AxisNode*, size_t> axis_depth_;
  std::unordered_map<const ExprNode*, Facts> facts_;
  uint32_t next_slot_ = 0;
};

}  // namespace

Result<CompiledBody> CompileBody(const Tensor& t, const SymbolFn& symbols,
                                 const TensorFn& tensors) {
  return Compiler(symbols, tensors).Compile(t);
}

}  // namespace relayvm::te
