#include "compiler/transforms/simplify_inference.h"

#include <unordered_map>

#include "compiler/transforms/builder.h"
#include "compiler/transforms/rewrite.h"

namespace relayvm::ir {
namespace {

// Tuples whose field 0 alone is used, by Var::id.
class FirstFieldOnly {
 public:
  explicit FirstFieldOnly(const Block& body) { Walk(body); }
  bool Holds(const Var* v) const { return !other_uses_.contains(v->id); }

 private:
  void Walk(const Block& block) {
    for (const Binding& b : block.bindings) {
      const auto* get = b.value->As<TupleGet>();
      if (get == nullptr || get->index != 0) {
        ForEachAtom(*b.value, [&](const Atom& a) { Note(a); });
      }
      ForEachBlock(*b.value, [&](const Block& inner) { Walk(inner); });
    }
    Note(block.result);
  }
  void Note(const Atom& a) {
    if (const Var* v = AsVar(a)) other_uses_[v->id] = true;
  }
  std::unordered_map<uint32_t, bool> other_uses_;
};

// y = x * s + t with s = gamma / sqrt(var + epsilon) and t = beta - mean * s, both along `axis`.
Atom NormaliseBatch(const Module& m, const OpCall& call, const TensorType& x, Span span,
                    std::vector<Binding>& out) {
  BindingBuilder b(m, span, out);
  int64_t axis = call.attrs.Int("axis");
  if (axis < 0) axis += x.rank();
  Atom epsilon = b.Scalar(call.attrs.Float("epsilon"), x.dtype);
  Atom scale = b.Call("rsqrt", {b.Call("add", {call.args[4], epsilon})});
  if (call.attrs.Bool("scale")) scale = b.Call("multiply", {scale, call.args[1]});
  Atom shift = b.Call("negative", {b.Call("multiply", {call.args[3], scale})});
  if (call.attrs.Bool("center")) shift = b.Call("add", {shift, call.args[2]});
  auto broadcast = [&](Atom v) {
    int64_t trailing = x.rank() - 1 - axis;
    if (trailing == 0) return v;
    Attrs attrs;
    attrs.Set("axis", 1);
    attrs.Set("num_newaxis", static_cast<int>(trailing));
    return b.Call("expand_dims", {v}, attrs);
  };
  return b.Call("add", {b.Call("multiply", {call.args[0], broadcast(scale)}), broadcast(shift)});
}

}  // namespace

Module SimplifyInference(const Module& m) {
  Module out = m;
  for (auto& [name, f] : out.functions) {
    FirstFieldOnly first_only(*f->body);
    // What stands for field 0 of a simplified tuple.
    std::unordered_map<uint32_t, Atom> first;
    const Block* body = RewriteBlock(m, *f->body, [&](const Binding& b, std::vector<Binding>& to) {
      const auto* call = b.value->As<OpCall>();
      if (call != nullptr && first_only.Holds(b.var)) {
        if (call->op->name == "nn.dropout") {
          first[b.var->id] = call->args[0];
          return;
        }
        const auto* type = AtomType(m, call->args[0])->As<TensorType>();
        if (call->op->name == "nn.batch_norm" && type != nullptr && IsFloat(type->dtype)) {
          first[b.var->id] = NormaliseBatch(m, *call, *type, b.value->span, to);
          return;
        }
      }
      if (const auto* get = b.value->As<TupleGet>()) {
        const Var* tuple = AsVar(get->tuple);
        auto at = tuple == nullptr ? first.end() : first.find(tuple->id);
        if (at != first.end()) {
          BindingBuilder(m, b.value->span, to).BindAtom(b.var, at->second);
          return;
        }
      }
      to.push_back(b);
    });
    if (body != f->body) f = WithBody(m, *f, body);
  }
  return out;
}

}  // namespace relayvm::ir
