#include "compiler/transforms/simplify/compose_slices.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"
#include "kernels/op/slicing.h"

namespace relayvm::ir {
namespace {

// What is taken of an axis: `length` positions from `begin` on, each `stride` from the one before.
struct Positions {
  int64_t begin = 0, stride = 1, length = 0;
};
// Of each axis that is not taken whole.
using Taken = std::map<int64_t, Positions>;

// nullopt: no slice; numbers that are not known; positions that go back, or none.
std::optional<Taken> TakenBy(const Module& m, const OpCall& call) {
  if (!call.op->is_slice) return std::nullopt;
  const std::vector<Dim>& from = TensorOf(AtomType(m, call.args[0]))->shape;
  const auto slice = ReadSlice(call.attrs, from);
  if (!slice.ok()) return std::nullopt;
  Taken taken;
  for (size_t i = 0; i < from.size(); ++i) {
    const auto& [begin, length] = slice->ranges[i];
    const Dim& stride = slice->strides[i];
    if (stride.is_const(1) && begin.is_const(0) && length == from[i]) continue;
    for (const Dim& number : {begin, length, stride}) {
      if (!number.is_const()) return std::nullopt;
    }
    if (stride.value() < 1 || length.value() < 1) return std::nullopt;
    taken[static_cast<int64_t>(i)] = {begin.value(), stride.value(), length.value()};
  }
  return taken;
}

// The positions of `outer` among those that `inner` takes.
Taken Compose(const Taken& inner, const Taken& outer) {
  Taken both = inner;
  for (const auto& [axis, of_outer] : outer) {
    const auto [at, is_new] = both.emplace(axis, of_outer);
    if (is_new) continue;
    // All are positions of one tensor, which is within what int64 counts.
    at->second.begin += of_outer.begin * at->second.stride;
    at->second.stride *= of_outer.stride;
    at->second.length = of_outer.length;
  }
  return both;
}

class SliceComposer {
 public:
  explicit SliceComposer(const Module& m) : m_(m) {}

  Module Run() {
    for (const auto& [name, f] : m_.functions) {
      if (f->body == nullptr) continue;
      ForEachBinding(*f->body, [&](const Binding& b) {
        const auto* call = b.value->As<OpCall>();
        if (call != nullptr && call->op->is_slice) slices_[b.var->id] = call;
      });
    }
    return RewriteModule(m_, [&](const Binding& b, std::vector<Binding>& out) {
      if (!Rewrite(b, out)) out.push_back(b);
    });
  }

 private:
  const OpCall* SliceOf(const Atom& a) const {
    const Var* v = AsVar(a);
    const auto at = v == nullptr ? slices_.end() : slices_.find(v->id);
    return at == slices_.end() ? nullptr : at->second;
  }

  bool Rewrite(const Binding& b, std::vector<Binding>& out) const {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || !call->op->is_slice || SliceOf(call->args[0]) == nullptr) return false;
    std::optional<Taken> taken = TakenBy(m_, *call);
    const auto has_stride = [](const auto& axis) {
      return axis.second.stride > 1 && axis.second.length > 1;
    };
    if (!taken || std::ranges::none_of(*taken, has_stride)) return false;
    Atom source = call->args[0];
    while (const OpCall* inner = SliceOf(source)) {
      const std::optional<Taken> of_source = TakenBy(m_, *inner);
      if (!of_source) break;
      taken = Compose(*of_source, *taken);
      source = inner->args[0];
    }
    if (source == call->args[0]) return false;
    std::vector<int64_t> begin, end, strides, axes;
    for (const auto& [axis, of_axis] : *taken) {
      axes.push_back(axis);
      begin.push_back(of_axis.begin);
      strides.push_back(of_axis.stride);
      end.push_back(of_axis.begin + (of_axis.length - 1) * of_axis.stride + 1);
    }
    Attrs attrs;
    attrs.Set("begin", Ints(begin));
    attrs.Set("end", Ints(end));
    attrs.Set("strides", Ints(strides));
    attrs.Set("axes", Ints(axes));
    BindingBuilder(m_, b.value->span, out).BindCall(b.var, call->op->name, {source}, attrs);
    return true;
  }

  const Module& m_;
  std::unordered_map<uint32_t, const OpCall*> slices_;  // by their variable
};

}  // namespace

Module ComposeSlices(const Module& m) { return SliceComposer(m).Run(); }

}  // namespace relayvm::ir
