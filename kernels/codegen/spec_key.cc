#include "kernels/codegen/spec_key.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "kernels/codegen/schedule.h"
#include "kernels/op/problem.h"
#include "kernels/op/weight_forms.h"

namespace relayvm::codegen {
namespace {

class KeyWriter {
 public:
  explicit KeyWriter(const KernelSpec& spec) : immediates_(spec) {}

  SpecKey Write(const KernelSpec& spec) {
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      tensors_[spec.inputs[i].get()] = next_tensor_++;
      bool by_value = i < spec.by_value.size() && spec.by_value[i];
      Append("in{}{}", by_value ? "v" : "", static_cast<int>(spec.inputs[i]->dtype));
      WriteShape(spec.inputs[i]->shape);
    }
    for (const te::Tensor& t : TensorsInOrder(spec.outputs)) {
      if (!t->is_placeholder()) WriteTensor(*t);
    }
    for (const te::Tensor& t : spec.outputs) Append("out{}", tensors_.at(t.get()));
    if (spec.order.form != SumOrder::Form::kAny)
      Append("order{}.{}", static_cast<int>(spec.order.form), spec.order.sets);
    return std::move(key_);
  }

 private:
  template <typename... Args>
  void Append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(key_.text), format, std::forward<Args>(args)...);
    key_.text += ';';
  }

  void WriteDim(const Dim& d) {
    if (d.is_const()) return Append("{}", d.value());
    d.ForEachSymbol([&](const Dim& symbol) {
      if (numbers_.emplace(symbol.symbol_id(), key_.symbols.size()).second)
        key_.symbols.push_back(symbol);
    });
    Dim numbered = d.Substitute([&](const Dim& symbol) -> std::optional<Dim> {
      size_t n = numbers_.at(symbol.symbol_id());
      bool nonnegative = symbol.symbol_nonnegative();
      return Dim::Symbol(static_cast<uint32_t>(n), fmt::format("{}{}", nonnegative ? "s" : "z", n),
                         nonnegative);
    });
    Append("{}", numbered.ToString());
  }
  void WriteShape(const std::vector<Dim>& shape) {
    Append("[{}", shape.size());
    for (const Dim& d : shape) WriteDim(d);
  }

  void WriteTensor(const te::TensorNode& t) {
    WriteShape(t.shape);
    for (const te::Axis& axis : t.axes) axes_[axis.get()] = axes_.size();
    std::vector<std::pair<const te::ExprNode*, bool>> stack = {{t.body.get(), false}};
    std::unordered_set<const te::ExprNode*> entered;
    while (!stack.empty()) {
      auto [e, expanded] = stack.back();
      stack.pop_back();
      if (exprs_.contains(e)) continue;
      if (expanded) {
        WriteExpr(*e);
        continue;
      }
      if (!entered.insert(e).second) continue;
      for (const te::Axis& axis : e->axes) axes_.emplace(axis.get(), axes_.size());
      stack.push_back({e, true});
      for (size_t i = e->operands.size(); i-- > 0;) stack.push_back({e->operands[i].get(), false});
    }
    Append("t{} {} {}{}", exprs_.at(t.body.get()), static_cast<int>(t.hint), t.transpose_a,
           t.transpose_b);
    if (t.weight_form != nullptr) Append("f{}", t.weight_form->name);
    for (const te::Tensor& input : t.hint_inputs) {
      auto it = tensors_.find(input.get());
      Append("h{}", it == tensors_.end() ? -1 : static_cast<int64_t>(it->second));
    }
    if (t.attention) {
      for (const std::string& layout : t.attention->layouts) Append("{}", layout);
    }
    if (t.conv) {
      Append("c{}{}{}w{}", t.conv->groups, t.conv->data.ToString(), t.conv->kernel.ToString(),
             t.conv->winograd_tile);
      for (const auto* list : {&t.conv->strides, &t.conv->padding.before, &t.conv->dilation}) {
        for (int64_t v : *list) Append("{}", v);
        Append("|");
      }
    }
    tensors_[&t] = next_tensor_++;
  }

  void WriteExpr(const te::ExprNode& e) {
    Append("{}.{}", static_cast<int>(e.kind), static_cast<int>(e.dtype));
    if (const Immediate* immediate = immediates_.Find(e)) {
      Append("i{}", immediate->helpful);
      key_.immediates.push_back(*immediate);
      exprs_[&e] = exprs_.size();
      return;
    }
    switch (e.kind) {
      case te::ExprKind::kIntImm:
        Append("{}", e.int_value);
        break;
      case te::ExprKind::kFloatImm:
        Append("{:x}", std::bit_cast<uint64_t>(e.float_value));
        break;
      case te::ExprKind::kAxis:
        Append("a{}", axes_.at(e.axis.get()));
        break;
      case te::ExprKind::kDim:
        WriteDim(e.dim);
        break;
      case te::ExprKind::kLoad: {
        auto it = tensors_.find(e.tensor.get());
        Append("l{}", it == tensors_.end() ? -1 : static_cast<int64_t>(it->second));
        break;
      }
      case te::ExprKind::kUnary:
        Append("u{}", static_cast<int>(e.unary));
        break;
      case te::ExprKind::kBinary:
        Append("b{}", static_cast<int>(e.binary));
        break;
      case te::ExprKind::kReduce:
        Append("r{}{}", static_cast<int>(e.reduce), e.select_last);
        for (const te::Axis& axis : e.axes) {
          Append("a{}", axes_.at(axis.get()));
          WriteDim(axis->extent);
        }
        break;
      case te::ExprKind::kChecked:
        Append("k{}", e.int_value);
        break;
      default:
        break;
    }
    for (const te::Expr& operand : e.operands) Append("{}", exprs_.at(operand.get()));
    exprs_[&e] = exprs_.size();
  }

  Immediates immediates_;
  SpecKey key_;
  std::unordered_map<uint32_t, size_t> numbers_;
  std::unordered_map<const te::TensorNode*, size_t> tensors_;
  std::unordered_map<const te::AxisNode*, size_t> axes_;
  std::unordered_map<const te::ExprNode*, size_t> exprs_;
  size_t next_tensor_ = 0;
};

}  // namespace

SpecKey KeyOf(const KernelSpec& spec) { return KeyWriter(spec).Write(spec); }

}  // namespace relayvm::codegen
