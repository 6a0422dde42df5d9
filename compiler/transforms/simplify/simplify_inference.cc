#include "compiler/transforms/simplify/simplify_inference.h"

#include <map>
#include <unordered_map>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"

namespace relayvm::ir {
namespace {

// Writes the calls that one call becomes.
class Writer final : public CallWriter {
 public:
  Writer(const Module& m, const OpCall& call, Span span, std::vector<Binding>& out)
      : module_(m),
        call_(call),
        span_(span),
        out_(out),
        builder_(m, span, out),
        values_(call.args) {}

  const Attrs& attrs() const override { return call_.attrs; }
  const TensorType& tensor(size_t arg) const override {
    // That of a constant is made for the question.
    auto [type, is_new] = types_.try_emplace(arg);
    if (is_new) type->second = AtomType(module_, call_.args[arg]);
    return *type->second->As<TensorType>();
  }
  std::vector<TensorType> tensors(size_t arg) const override {
    std::vector<TensorType> fields;
    const Type tuple = AtomType(module_, call_.args[arg]);
    for (const Type& t : tuple->As<TupleType>()->fields) fields.push_back(*t->As<TensorType>());
    return fields;
  }
  const HostTensor* constant(size_t arg) const override {
    const auto* constant = std::get_if<const ir::Constant*>(&call_.args[arg]);
    return constant == nullptr ? nullptr : &(*constant)->value;
  }
  Value Arg(size_t i) override { return i; }
  Value Field(size_t arg, size_t field) override {
    const Var* var = MakeVar(module_, "", nullptr, span_);
    const TupleGet get{call_.args[arg], static_cast<uint32_t>(field)};
    out_.push_back({var, MakeExpr(module_, get, span_)});
    return Add(var);
  }
  Value Tuple(const std::vector<Value>& fields) override {
    std::vector<Atom> atoms;
    for (Value v : fields) atoms.push_back(values_[v]);
    return Add(builder_.Tuple(std::move(atoms)));
  }
  Value Scalar(double value, DType dtype) override { return Add(builder_.Scalar(value, dtype)); }
  Value Constant(HostTensor value) override { return Add(MakeConstant(module_, std::move(value))); }
  Value Call(std::string_view op, const std::vector<Value>& args, Attrs attrs) override {
    std::vector<Atom> atoms;
    for (Value v : args) atoms.push_back(values_[v]);
    return Add(builder_.Call(op, std::move(atoms), attrs));
  }
  const Atom& operator[](Value v) const { return values_[v]; }

 private:
  Value Add(Atom atom) {
    values_.push_back(atom);
    return values_.size() - 1;
  }

  const Module& module_;
  const OpCall& call_;
  Span span_;
  std::vector<Binding>& out_;
  BindingBuilder builder_;
  std::vector<Atom> values_;              // the arguments first
  mutable std::map<size_t, Type> types_;  // of arguments
};

class Simplifier {
 public:
  Simplifier(const Module& m, const WantedFn& wanted) : module_(m), wanted_(wanted) {}

  void Rewrite(const Binding& b, std::vector<Binding>& out) {
    if (const auto* call = b.value->As<OpCall>(); call != nullptr && call->op->decompose) {
      const bool is_wanted = !wanted_ || wanted_(*call, b.var->type);
      if (is_wanted && Decompose(b, *call, out)) return;
    }
    // Each use of a field sees what it stands for.
    if (const auto* get = b.value->As<TupleGet>()) {
      const Var* tuple = AsVar(get->tuple);
      auto at = tuple == nullptr ? fields_.end() : fields_.find(tuple->id);
      if (at != fields_.end()) {
        BindingBuilder(module_, b.value->span, out).BindAtom(b.var, at->second[get->index]);
        return;
      }
    }
    out.push_back(b);
  }

 private:
  bool Decompose(const Binding& b, const OpCall& call, std::vector<Binding>& out) {
    const size_t first = out.size();
    KeepGuards(module_, call, b.value->span, out);
    Writer writer(module_, call, b.value->span, out);
    auto results = call.op->decompose(writer);
    if (!results) {
      out.resize(first);
      return false;
    }
    std::vector<Atom> atoms;
    for (CallWriter::Value v : *results) atoms.push_back(writer[v]);
    if (call.op->is_identity || b.var->type->As<TupleType>() == nullptr) {
      BindingBuilder(module_, b.value->span, out).BindAtom(b.var, atoms[0]);
      return true;
    }
    out.push_back({b.var, MakeExpr(module_, MakeTuple{atoms}, b.value->span)});
    fields_[b.var->id] = std::move(atoms);
    return true;
  }

  const Module& module_;
  const WantedFn& wanted_;
  std::unordered_map<uint32_t, std::vector<Atom>> fields_;  // by the tuple's Var::id
};

}  // namespace

Module SimplifyInference(const Module& m, const WantedFn& wanted) {
  Simplifier simplifier(m, wanted);
  return RewriteModule(
      m, [&](const Binding& b, std::vector<Binding>& out) { simplifier.Rewrite(b, out); });
}

}  // namespace relayvm::ir
