#include "compiler/transforms/simplify/fold_constants.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/views/rearrange.h"
#include "kernels/codegen/compiled_evaluator.h"
#include "kernels/op/cost.h"

namespace relayvm::ir {
namespace {

// A result may be this large even when its operands are smaller.
constexpr int64_t kSmallBytes = 16 << 10;
// And so large where it holds integers: grids of indices that a program makes of ranges.
constexpr int64_t kIndexBytes = 64 << 10;
// What is made of operands of at least kDataBytes (a table that is repeated, not a number that
// fills a tensor) may be larger than they are by so much, over the whole program.
constexpr double kDataBytes = 512;
constexpr double kMostGrowth = 128 << 20;
// Simple operations: work that is worth a kernel; that all calls may take beyond what is in
// proportion to the size of their data, about a second of it.
constexpr double kWorthCompiling = 1 << 20;
constexpr double kMostWork = 1 << 30;
constexpr double kWorkOfByte = 4;
// A step of a product is a few operations, but register tiles make many at a time.
constexpr double kProductSpeed = 16;
// Bytes of scratch memory that a kernel may have for small data, too.
constexpr int64_t kSmallScratch = 64 << 10;

// What a kernel takes for it.
double KernelWork(const std::vector<te::Tensor>& outputs) {
  bool is_product = outputs.size() == 1 && outputs[0]->dtype == DType::kFloat32 &&
                    (outputs[0]->hint == te::ScheduleHint::kDense ||
                     outputs[0]->hint == te::ScheduleHint::kBatchMatmul ||
                     outputs[0]->hint == te::ScheduleHint::kConv);
  return WorkOf(outputs) / (is_product ? kProductSpeed : 1);
}

class Folder final : public Substitution {
 public:
  Folder(const Module& m, const Machine& machine, const std::stop_token& stop,
         std::shared_ptr<ObjectCache> cache)
      : Substitution(m),
        stop_(stop),
        kernels_({.machine = machine, .stop = stop, .cache = std::move(cache)}) {}

 private:
  bool Consume(const Var* var, const Expr& value, Block& out) override {
    return Fold(var, value) || ChooseBranch(var, value, out);
  }

  // True when the value of `e` is known: uses of `var` become the constant.
  bool Fold(const Var* var, const Expr& e) {
    if (const auto* alias = e.As<AtomExpr>()) {
      const auto* c = std::get_if<const Constant*>(&alias->atom);
      if (c == nullptr) return false;
      Map(var, *c);
      return true;
    }
    if (const auto* get = e.As<TupleGet>()) {
      const Var* tuple = AsVar(get->tuple);
      auto at = tuple == nullptr ? tuples_.end() : tuples_.find(tuple->id);
      if (at == tuples_.end()) return false;
      Map(var, at->second[get->index]);
      return true;
    }
    // A tuple keeps its binding, for uses as a whole; its projections and operators on it see the
    // constants.
    if (const auto* make = e.As<MakeTuple>()) {
      std::vector<const Constant*> fields;
      for (const Atom& a : make->fields) {
        if (const auto* c = std::get_if<const Constant*>(&a)) fields.push_back(*c);
      }
      if (fields.size() == make->fields.size()) tuples_[var->id] = std::move(fields);
      return false;
    }
    const auto* call = e.As<OpCall>();
    if (call == nullptr || !call->op->compute) return false;
    return FoldCall(var, *call);
  }

  bool FoldCall(const Var* var, const OpCall& call) {
    if (stop_.stop_requested()) return false;
    std::vector<const HostTensor*> inputs;
    for (const Atom& a : call.args) {
      const auto* c = std::get_if<const Constant*>(&a);
      if (c != nullptr) {
        inputs.push_back(&(*c)->value);
        continue;
      }
      const Var* v = AsVar(a);
      auto tuple = v == nullptr ? tuples_.end() : tuples_.find(v->id);
      if (tuple == tuples_.end()) return false;
      for (const Constant* field : tuple->second) inputs.push_back(&field->value);
    }
    std::vector<TensorType> outputs;
    if (const auto* t = var->type->As<TensorType>()) {
      outputs.push_back(*t);
    } else if (const auto* tuple = var->type->As<TupleType>()) {
      for (const Type& f : tuple->fields) {
        const auto* t2 = f->As<TensorType>();
        if (t2 == nullptr) return false;
        outputs.push_back(*t2);
      }
    }
    double input_bytes = 0;
    std::vector<te::Tensor> placeholders;
    for (size_t i = 0; i < inputs.size(); ++i) {
      input_bytes += static_cast<double>(inputs[i]->data.size());
      std::vector<Dim> shape(inputs[i]->shape.begin(), inputs[i]->shape.end());
      placeholders.push_back(te::Placeholder("in", shape, inputs[i]->dtype, static_cast<int>(i)));
    }
    // In floating point no size overflows.
    double output_bytes = 0;
    double small_bytes = kIndexBytes;
    for (const TensorType& t : outputs) {
      if (t.dtype != DType::kInt64 && t.dtype != DType::kInt32) small_bytes = kSmallBytes;
      double bytes = DTypeBytes(t.dtype);
      for (const Dim& d : t.shape) {
        if (!d.is_const()) return false;
        bytes *= static_cast<double>(d.value());
      }
      output_bytes += bytes;
    }
    double growth = 0;
    if (output_bytes > small_bytes && output_bytes > 4.0 * input_bytes) {
      growth = output_bytes - input_bytes;
      if (input_bytes < kDataBytes || growth_ + growth > kMostGrowth) return false;
    }
    KernelSpec spec{call.op->name, placeholders, {}, {}};
    spec.outputs = call.op->compute({call.attrs, placeholders, outputs});
    if (inputs.size() == 1 && outputs.size() == 1) {
      std::optional<HostTensor> moved = call.op->is_view ? Viewed(*inputs[0], outputs[0])
                                                         : Rearranged(spec.outputs[0], *inputs[0]);
      if (moved) {
        Map(var, MakeConstant(m_, *std::move(moved)));
        growth_ += growth;
        return true;
      }
    }
    auto values = Evaluate(spec, inputs, input_bytes + output_bytes);
    if (!values) return false;
    growth_ += growth;
    std::vector<const Constant*> results;
    for (HostTensor& value : *values) results.push_back(MakeConstant(m_, std::move(value)));
    for (const HostTensor* input : inputs) input->data.DropPages();
    if (var->type->As<TensorType>() == nullptr) {
      tuples_[var->id] = std::move(results);
      return false;
    }
    Map(var, results[0]);
    return true;
  }

  // The outputs of `spec`, unless they take too much work, or the program is to report what is
  // wrong when it runs.
  std::optional<std::vector<HostTensor>> Evaluate(const KernelSpec& spec,
                                                  const std::vector<const HostTensor*>& inputs,
                                                  double bytes) {
    if (WorkOf(spec.outputs) >= kWorthCompiling) {
      double work = work_ + std::max(0.0, KernelWork(spec.outputs) - kWorkOfByte * bytes);
      if (!(work <= kMostWork)) return std::nullopt;
      auto scratch = static_cast<int64_t>(4 * bytes) + kSmallScratch;
      auto values = kernels_.Run(spec, inputs, scratch);
      if (!values.ok()) return std::nullopt;
      work_ = work;
      return *std::move(values);
    }
    std::vector<HostTensor> values;
    for (const te::Tensor& t : spec.outputs) {
      auto value = te::Evaluate(t, inputs, [](uint32_t) { return std::nullopt; });
      if (!value.ok()) return std::nullopt;
      values.push_back(*std::move(value));
    }
    return values;
  }

  // The elements of `input` under another shape.
  static std::optional<HostTensor> Viewed(const HostTensor& input, const TensorType& type) {
    if (type.dtype != input.dtype) return std::nullopt;
    HostTensor view{input.dtype, {}, input.data};
    for (const Dim& d : type.shape) view.shape.push_back(d.value());
    return view;
  }

  // An `if` on a constant is the block that it chooses.
  bool ChooseBranch(const Var* var, const Expr& e, Block& out) {
    const auto* x = e.As<IfExpr>();
    const auto* c = x == nullptr ? nullptr : std::get_if<const Constant*>(&x->condition);
    if (c == nullptr) return false;
    const HostTensor& value = (*c)->value;
    bool taken = std::any_of(value.data.begin(), value.data.end(),
                             [](std::byte v) { return v != std::byte{0}; });
    const Block& chosen = taken ? *x->then_block : *x->else_block;
    out.bindings.insert(out.bindings.end(), chosen.bindings.begin(), chosen.bindings.end());
    out.bindings.push_back({var, MakeExpr(m_, AtomExpr{chosen.result}, e.span)});
    return true;
  }

  std::unordered_map<uint32_t, std::vector<const Constant*>> tuples_;
  const std::stop_token stop_;
  CompiledEvaluator kernels_;
  double work_ = 0;    // beyond what is in proportion to the data
  double growth_ = 0;  // of results that are far larger than their operands
};

}  // namespace

Module FoldConstants(const Module& m, const Machine& machine, const std::stop_token& stop,
                     std::shared_ptr<ObjectCache> cache) {
  return Folder(m, machine, stop, std::move(cache)).Run();
}

}  // namespace relayvm::ir
