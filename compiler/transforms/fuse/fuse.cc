#include "compiler/transforms/fuse/fuse.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/copy.h"
#include "compiler/ir/rewrite.h"
#include "compiler/ir/scalar_call.h"
#include "compiler/transforms/fuse/rematerialise.h"
#include "compiler/transforms/fuse/users.h"
#include "kernels/op/cost.h"
#include "kernels/op/op_helpers.h"
#include "kernels/op/subviews.h"

namespace relayvm::ir {
namespace {

constexpr size_t kNone = SIZE_MAX;
// A group has at most so many operators: kernels stay small enough to optimise quickly.
constexpr size_t kMaxGroup = 64;
// A join of more tensors than that stands alone.
constexpr size_t kMostConcatenated = 16;

// What fusion knows of one binding.
struct Node {
  bool candidate = false;   // an operator that may be in a group
  bool projection = false;  // a TupleGet of a candidate
  bool made = false;        // of sizes and numbers alone (rematerialise.h), or a view of such
  FusionClass kind = FusionClass::kOpaque;
  bool expensive = false;         // its elements are not computed twice
  int operations = 0;             // for an element
  std::vector<InputReads> reads;  // of the tensors that it reads
  bool crosses = false;     // on a group's root: one reads another at places of its own choice
  bool has_anchor = false;  // on a group's root: it holds a contraction, reduction ...
                            // (kOutElementwise, kReduction)
  bool is_closed = false;   // on a group's root: nothing may follow (OpDef::computes_arg)
  bool copies = false;      // a join that lowering could not make in place
  bool has_join = false;    // on a group's root
  size_t joined = kNone;    // of a tuple that such a join alone uses: the join
  size_t group = 0;         // union-find parent
  size_t size = 1;
  std::vector<size_t> users;    // bindings of this block, for their nested blocks too; kNone: the
                                // block's result
  std::vector<size_t> members;  // of a root
};

bool IsLight(FusionClass k) {
  return k == FusionClass::kElementwise || k == FusionClass::kBroadcast ||
         k == FusionClass::kInjective;
}

void AppendTensors(const Type& type, std::vector<TensorType>& out) {
  if (const auto* tensor = type->As<TensorType>()) out.push_back(*tensor);
  if (const auto* tuple = type->As<TupleType>()) {
    for (const Type& f : tuple->fields) AppendTensors(f, out);
  }
}

ElementCost CostOfCall(const OpCall& call, const std::vector<Type>& arg_types, const Type& result) {
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
  for (const Type& t : arg_types) AppendTensors(t, inputs);
  AppendTensors(result, outputs);
  return CostOfElement(*call.op, call.attrs, inputs, outputs);
}

class BlockFuser {
 public:
  BlockFuser(const Module& m, const Block& block, const Users& users)
      : m_(m), users_(users), original_(block), block_(WithProjectionsAtTheirTuple(block)) {}

  const Block* Run() {
    Analyse();
    for (size_t i = 0; i < nodes_.size(); ++i) TryJoin(i);
    return Emit();
  }

 private:
  // Each TupleGet of an operator's result directly behind it, so that a tuple and its projections
  // are used from one place on.
  static Block WithProjectionsAtTheirTuple(const Block& block) {
    std::unordered_map<uint32_t, std::vector<Binding>> projections;
    std::unordered_set<uint32_t> tuples;
    for (const Binding& b : block.bindings) {
      if (b.value->As<OpCall>() != nullptr && b.var->type->As<TupleType>() != nullptr) {
        tuples.insert(b.var->id);
      }
      const auto* get = b.value->As<TupleGet>();
      const Var* tuple = get == nullptr ? nullptr : AsVar(get->tuple);
      if (tuple != nullptr && tuples.contains(tuple->id)) projections[tuple->id].push_back(b);
    }
    Block out;
    out.result = block.result;
    out.bindings.reserve(block.bindings.size());
    for (const Binding& b : block.bindings) {
      const auto* get = b.value->As<TupleGet>();
      const Var* tuple = get == nullptr ? nullptr : AsVar(get->tuple);
      if (tuple != nullptr && tuples.contains(tuple->id)) continue;
      out.bindings.push_back(b);
      auto at = projections.find(b.var->id);
      if (at != projections.end()) {
        out.bindings.insert(out.bindings.end(), at->second.begin(), at->second.end());
      }
    }
    return out;
  }

  size_t Root(size_t i) {
    while (nodes_[i].group != i) {
      nodes_[i].group = nodes_[nodes_[i].group].group;
      i = nodes_[i].group;
    }
    return i;
  }

  void Analyse() {
    nodes_.resize(block_.bindings.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Binding& b = block_.bindings[i];
      Node& n = nodes_[i];
      n.group = i;
      n.members = {i};
      index_[b.var->id] = i;
      if (const auto* call = b.value->As<OpCall>()) {
        std::vector<Type> types;
        for (const Atom& a : call->args) types.push_back(AtomType(m_, a));
        const size_t source = call->op->is_view ? Position(call->args[0]) : kNone;
        const bool view = call->op->is_view && (source == kNone || !nodes_[source].made);
        n.candidate = call->op->compute != nullptr && !call->op->builtin && !view &&
                      !IsScalarCall(*call, types, b.var->type) &&
                      call->op->fusion != FusionClass::kOpaque && !call->args.empty();
        n.kind = call->op->fusion;
        if (n.candidate) {
          ElementCost cost = CostOfCall(*call, types, b.var->type);
          n.expensive = cost.expensive;
          n.operations = cost.operations;
          n.reads = std::move(cost.reads);
          n.crosses = std::ranges::any_of(n.reads, &InputReads::crosses);
        }
        n.has_anchor = !IsLight(n.kind);
        n.is_closed = call->op->computes_arg != nullptr;
        n.made = n.candidate && (call->op->is_view || IsMade(m_, b));
      } else if (b.value->As<ShapeValue>() != nullptr && IsMade(m_, b)) {
        n.candidate = true;
        n.made = true;
        n.kind = FusionClass::kInjective;
      } else if (const auto* get = b.value->As<TupleGet>()) {
        size_t tuple = Position(get->tuple);
        n.projection = tuple != kNone && nodes_[tuple].candidate;
        n.kind = FusionClass::kElementwise;
      }
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const Var* user : users_.Of(*block_.bindings[i].var)) {
        nodes_[i].users.push_back(user == nullptr ? kNone : index_.at(user->id));
      }
    }
    for (size_t i = nodes_.size(); i-- > 0;) {  // what reads a join comes before it
      if (!IsCopyingJoin(i)) continue;
      nodes_[i].copies = true;
      nodes_[i].has_join = true;
      const size_t tuple = Position(block_.bindings[i].value->As<OpCall>()->args[0]);
      if (tuple != kNone && nodes_[tuple].users == std::vector<size_t>{i} &&
          block_.bindings[tuple].value->As<MakeTuple>() != nullptr) {
        nodes_[tuple].joined = i;
      }
    }
  }

  // Whether a join costs a pass over memory wherever its parts are made. What may be appended to,
  // or made in its place, is left to lowering (lower_subviews.cc).
  bool IsCopyingJoin(size_t i) const {
    const auto* call = block_.bindings[i].value->As<OpCall>();
    if (call == nullptr || !nodes_[i].candidate || !call->op->is_concatenation() ||
        call->op->tuple_args != std::vector<int>{0} || call->args.size() != 1) {
      return false;
    }
    const auto* fields = AtomType(m_, call->args[0])->As<TupleType>();
    if (fields == nullptr || fields->fields.size() < 2 || fields->fields.size() > kMostConcatenated)
      return false;
    std::vector<TensorType> subviews;
    for (const Type& t : fields->fields) subviews.push_back(*TensorOf(t));
    const TensorType& whole = *TensorOf(block_.bindings[i].var->type);
    const bool is_result = std::ranges::count(nodes_[i].users, kNone) > 0;
    if (whole.rank() != subviews[0].rank()) return true;  // it makes an axis
    const int64_t axis = CanonicalAxis(call->attrs.Int("axis"), whole.rank());
    // Another join that copies reads the parts as well as the whole.
    const bool is_read_by_join = nodes_[i].users.size() == 1 && nodes_[i].users[0] != kNone &&
                                 nodes_[nodes_[i].users[0]].joined != kNone;
    if (StaticBytesOf(whole))
      return is_result || is_read_by_join || !SubviewOffsets(whole, axis, subviews);
    const auto first = whole.shape.begin() + axis;
    return first->is_const() ||
           !std::all_of(whole.shape.begin(), first, [](const Dim& d) { return d.is_const(1); });
  }

  size_t Position(const Atom& a) const {
    const Var* v = AsVar(a);
    auto at = v == nullptr ? index_.end() : index_.find(v->id);
    return at == index_.end() ? kNone : at->second;
  }
  void TryJoin(size_t i) {
    Node& n = nodes_[i];
    const Expr& e = *block_.bindings[i].value;
    if (n.projection) {
      Join(Position(e.As<TupleGet>()->tuple), i);
      return;
    }
    if (!n.candidate || e.As<OpCall>() == nullptr) return;
    const auto& call = *e.As<OpCall>();
    if (n.copies) TakeInParts(i);
    if (call.op->is_concatenation()) return;
    const bool is_left_to_join = IsLastBeforeJoin(i);
    for (const Atom& a : call.args) {
      size_t p = Position(a);
      if (p == kNone || !(nodes_[p].candidate || nodes_[p].projection)) continue;
      if (is_left_to_join && nodes_[Root(p)].has_anchor) continue;
      if (MayJoin(p, i) && !RepeatsWork(p, i)) Join(p, i);
    }
  }

  // What a join alone reads is computed where it is moved.
  void TakeInParts(size_t join) {
    const auto& call = *block_.bindings[join].value->As<OpCall>();
    const size_t tuple = Position(call.args[0]);
    if (tuple == kNone || nodes_[tuple].joined != join) return;
    Join(tuple, join);
    for (const Atom& a : block_.bindings[tuple].value->As<MakeTuple>()->fields) {
      const size_t p = Position(a);
      if (p == kNone || !nodes_[p].candidate || nodes_[p].users != std::vector<size_t>{tuple})
        continue;
      const size_t group = Root(p);
      const Node& g = nodes_[group];
      if (group == Root(join) || g.has_anchor || g.is_closed || !IsLight(nodes_[p].kind) ||
          g.size + nodes_[Root(join)].size > kMaxGroup) {
        continue;
      }
      const auto* producer = block_.bindings[p].value->As<OpCall>();
      if (producer != nullptr && producer->op->is_concatenation() && !nodes_[p].copies) continue;
      if (OutputsAllow(group, join) && !RepeatsWork(p, join)) Join(p, join);
    }
  }

  // An elementwise operator whose result a join alone reads: the join computes it as it moves what
  // a contraction made, so that it does more than to move.
  bool IsLastBeforeJoin(size_t i) const {
    const Node& n = nodes_[i];
    return n.kind == FusionClass::kElementwise && n.users.size() == 1 && n.users[0] != kNone &&
           nodes_[n.users[0]].joined != kNone &&
           block_.bindings[i].value->As<OpCall>()->args.size() == 1;
  }

  bool SameShape(size_t a, size_t b) const {
    const TensorType* x = TensorOf(block_.bindings[a].var->type);
    const TensorType* y = TensorOf(block_.bindings[b].var->type);
    return x != nullptr && y != nullptr && x->shape == y->shape;
  }

  bool MayJoin(size_t p, size_t c) {
    size_t group = Root(p);
    size_t mine = Root(c);
    if (group == mine) return false;
    const Node& g = nodes_[group];
    const Node& n = nodes_[c];
    if (g.size + nodes_[mine].size > kMaxGroup || g.is_closed) return false;
    const auto* producer = block_.bindings[p].value->As<OpCall>();
    if (producer != nullptr && producer->op->is_concatenation() && !nodes_[p].copies) return false;
    // Joins are read by what has as many elements, and by no contraction's end.
    if ((g.has_join && (nodes_[mine].has_anchor || Grows(p, c))) ||
        (g.has_anchor && nodes_[mine].has_join)) {
      return false;
    }
    if (block_.bindings[c].var->type->As<TupleType>() != nullptr && !OnlyProjected(c)) return false;
    if (g.has_anchor && nodes_[mine].has_anchor) return false;
    if (IsLight(n.kind)) {
      // After an anchor only what has its shape and order of elements.
      bool same = SameShape(p, c);
      if (g.has_anchor && !(same && n.kind != FusionClass::kInjective)) return false;
      if (!same && n.kind != FusionClass::kInjective && g.expensive) return false;
      if (n.kind == FusionClass::kInjective && g.expensive && Grows(p, c)) return false;
    } else if (n.kind == FusionClass::kReduction) {
      if (g.has_anchor) return false;
    } else {
      // Contractions and windows read elements many times: their inputs are made first.
      return !g.has_anchor && !g.expensive && MayCompute(group, c);
    }
    return OutputsAllow(group, c);
  }

  // Whether the operator's kernel may compute each of its arguments that the group makes, and
  // nothing else needs these.
  bool MayCompute(size_t group, size_t c) {
    const auto& call = *block_.bindings[c].value->As<OpCall>();
    if (!call.op->computes_arg) return false;
    for (size_t i = 0; i < call.args.size(); ++i) {
      const size_t p = Position(call.args[i]);
      if (p != kNone && Root(p) == group && !call.op->computes_arg(i)) return false;
    }
    return std::ranges::all_of(nodes_[group].members, [&](size_t m) {
      return std::ranges::all_of(nodes_[m].users, [&](size_t u) {
        return u == c || (u != kNone && (Root(u) == group || nodes_[u].projection));
      });
    });
  }

  bool OnlyProjected(size_t tuple) const {
    return std::all_of(nodes_[tuple].users.begin(), nodes_[tuple].users.end(),
                       [&](size_t u) { return u != kNone && nodes_[u].projection; });
  }

  // True unless both have provably as many elements.
  bool Grows(size_t p, size_t c) const {
    // The parts of a tensor have its elements.
    if (block_.bindings[c].var->type->As<TupleType>() != nullptr) return false;
    const TensorType* x = TensorOf(block_.bindings[p].var->type);
    const TensorType* y = TensorOf(block_.bindings[c].var->type);
    return x == nullptr || y == nullptr || !(ProductOf(x->shape) == ProductOf(y->shape));
  }

  // Uses of members outside the joint group must come after `c`, and such members must be tensors
  // of c's shape.
  bool OutputsAllow(size_t group, size_t c) {
    size_t mine = Root(c);
    for (size_t root : {group, mine}) {
      for (size_t m : nodes_[root].members) {
        if (m == c) continue;
        bool output = false;
        for (size_t u : nodes_[m].users) {
          if (u == c) continue;
          if (u != kNone && (Root(u) == group || Root(u) == mine)) continue;
          if (u != kNone && nodes_[u].projection) continue;  // stands directly behind its tuple
          if (u != kNone && u < c) return false;
          output = true;
        }
        if (output && !SameShape(m, c)) return false;
      }
    }
    return true;
  }

  // Calls fn with each producer of what `i` reads, and how it is read.
  void ForEachRead(size_t i, const std::function<void(size_t, const InputReads&)>& fn) const {
    const Expr& e = *block_.bindings[i].value;
    const auto* call = e.As<OpCall>();
    constexpr InputReads kOwn{1, true, false};
    size_t input = 0;
    const auto read = [&](const Atom& a) {
      const size_t p = Position(a);
      const size_t at = input++;
      if (p == kNone) return;
      // The results of an operator that has several are parts, each read for itself.
      const bool several = block_.bindings[i].var->type->As<TupleType>() != nullptr;
      fn(p,
         call == nullptr || several || at >= nodes_[i].reads.size() ? kOwn : nodes_[i].reads[at]);
    };
    if (call == nullptr) {
      if (e.As<MakeTuple>() == nullptr) ForEachAtom(e, read);
      return;
    }
    for (const Atom& a : call->args) {
      const size_t p = Position(a);
      const auto* tuple = p == kNone ? nullptr : block_.bindings[p].value->As<MakeTuple>();
      if (tuple != nullptr) {
        for (const Atom& field : tuple->fields) read(field);
        continue;
      }
      std::vector<TensorType> tensors;
      AppendTensors(AtomType(m_, a), tensors);
      read(a);
      input += tensors.empty() ? 0 : tensors.size() - 1;
    }
  }

  // Whether a kernel of both groups would compute something costly more than once for an element:
  // its members read it at several places, of which each is computed for itself. Where these are of
  // one row, the kernel keeps the row.
  bool RepeatsWork(size_t p, size_t c) {
    const size_t roots[] = {Root(p), Root(c)};
    if (!nodes_[roots[0]].crosses && !nodes_[roots[1]].crosses) return false;
    std::vector<size_t> members;
    for (const size_t root : roots) {
      members.insert(members.end(), nodes_[root].members.begin(), nodes_[root].members.end());
    }
    std::ranges::sort(members);
    std::unordered_map<size_t, size_t> index;
    for (size_t k = 0; k < members.size(); ++k) index[members[k]] = k;
    // What an element costs with all that the kernel would compute for it.
    constexpr int64_t kMuch = 1 << 20;
    std::vector<int64_t> cost(members.size(), 0);
    for (size_t k = 0; k < members.size(); ++k) {
      cost[k] = nodes_[members[k]].operations;
      ForEachRead(members[k], [&](size_t read, const InputReads& how) {
        const auto at = index.find(read);
        const int64_t element = (at == index.end() ? 0 : cost[at->second]) + (how.own ? 1 : 2);
        cost[k] = std::min(kMuch, cost[k] + how.places * element);
      });
    }
    // The places, of which two are as bad as many, backwards from what the kernel stores.
    struct Places {
      size_t ids[2] = {};
      size_t count = 0;
      bool crosses = false;
      void Add(size_t id) {
        if (count == 2 || (count == 1 && ids[0] == id)) return;
        ids[count++] = id;
      }
    };
    size_t next_id = 1;
    std::vector<Places> places(members.size());
    for (size_t k = members.size(); k-- > 0;) {
      const std::vector<size_t>& users = nodes_[members[k]].users;
      const bool is_stored =
          std::ranges::any_of(users, [&](size_t u) { return u == kNone || !index.contains(u); });
      if (is_stored || places[k].count == 0) places[k].Add(0);
      const Places from = places[k];
      if (from.count > 1 && from.crosses && cost[k] >= kExpensiveElement) return true;
      ForEachRead(members[k], [&](size_t read, const InputReads& how) {
        const auto at = index.find(read);
        if (at == index.end()) return;
        Places& to = places[at->second];
        for (size_t q = 0; q < from.count; ++q) {
          if (how.own) to.Add(from.ids[q]);
          for (int64_t n = how.own ? 1 : 0; n < std::min<int64_t>(how.places, 3); ++n)
            to.Add(next_id++);
        }
        to.crosses = to.crosses || from.crosses || how.crosses;
      });
    }
    return false;
  }

  void Join(size_t p, size_t c) {
    size_t a = Root(p);
    size_t b = Root(c);
    if (a == b) return;
    if (nodes_[a].size < nodes_[b].size) std::swap(a, b);
    Node& into = nodes_[a];
    Node& from = nodes_[b];
    from.group = a;
    into.size += from.size;
    into.has_anchor = into.has_anchor || from.has_anchor;
    into.expensive = into.expensive || from.expensive;
    into.is_closed = into.is_closed || from.is_closed;
    into.has_join = into.has_join || from.has_join;
    into.crosses = into.crosses || from.crosses;
    into.members.insert(into.members.end(), from.members.begin(), from.members.end());
    from.members.clear();
  }

  // Groups of one operator stay calls; others become a primitive function at their last member.
  const Block* Emit() {
    std::unordered_map<size_t, size_t> last;  // root -> position of the last member
    std::vector<bool> grouped(nodes_.size(), false);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      std::vector<size_t>& members = nodes_[i].members;
      if (nodes_[i].group != i) continue;
      size_t operators = 0;
      for (size_t m : members) operators += nodes_[m].candidate ? 1 : 0;
      if (operators < 2) continue;
      std::sort(members.begin(), members.end());
      last[i] = members.back();
      for (size_t m : members) grouped[m] = true;
    }
    Block out;
    out.result = block_.result;
    bool changed = !last.empty();
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Binding& b = block_.bindings[i];
      if (!grouped[i]) {
        const Expr* e = MapBlocks(
            m_, b.value, [&](const Block& inner) { return BlockFuser(m_, inner, users_).Run(); });
        changed = changed || e != b.value;
        out.bindings.push_back({b.var, e});
        continue;
      }
      size_t root = Root(i);
      if (last.at(root) == i) EmitGroup(nodes_[root].members, out);
    }
    return changed ? m_.arena->New<Block>(std::move(out)) : &original_;
  }

  void EmitGroup(const std::vector<size_t>& members, Block& out) {
    std::unordered_set<size_t> inside(members.begin(), members.end());
    std::vector<Atom> args;
    Function f;
    f.attrs["Primitive"] = Dim(1);
    AtomMap map;
    auto import = [&](const Atom& a) {
      const Var* v = AsVar(a);
      if (v != nullptr && map.contains(v->id)) return;
      if (v == nullptr) {
        // Scalars stay in the body, as numbers; other constants are passed.
        const auto* c = std::get_if<const Constant*>(&a);
        if (c != nullptr && (*c)->value.shape.empty()) return;
      }
      args.push_back(a);
      const Var* p = MakeVar(m_, "", AtomType(m_, a), Span{});
      f.params.push_back(p);
      if (v != nullptr) {
        map[v->id] = p;
      } else {
        constants_[std::get<const Constant*>(a)] = p;
      }
    };
    constants_.clear();
    Block body;
    std::vector<size_t> outputs;
    for (size_t i : members) {
      const Binding& b = block_.bindings[i];
      ForEachAtom(*b.value, [&](const Atom& a) {
        const auto* c = std::get_if<const Constant*>(&a);
        if (c == nullptr || !constants_.contains(*c)) import(a);
      });
      const Expr* e = MapAtoms(m_, b.value, [&](const Atom& a) -> Atom {
        if (const Var* v = AsVar(a)) return map.at(v->id);
        const auto* c = std::get_if<const Constant*>(&a);
        auto at = c == nullptr ? constants_.end() : constants_.find(*c);
        return at == constants_.end() ? a : Atom(at->second);
      });
      const Var* copy = MakeVar(m_, b.var->name, b.var->type, b.var->span);
      map[b.var->id] = copy;
      body.bindings.push_back({copy, e});
      bool output = std::any_of(nodes_[i].users.begin(), nodes_[i].users.end(),
                                [&](size_t u) { return u == kNone || !inside.contains(u); });
      if (output) outputs.push_back(i);
    }
    if (outputs.empty()) return;  // nothing needs the group
    Span span = block_.bindings[members.back()].value->span;
    if (outputs.size() == 1) {
      const Var* var = block_.bindings[outputs[0]].var;
      body.result = map.at(var->id);
      f.result_type = var->type;
      Finish(std::move(f), std::move(body), std::move(args), var, span, out);
      return;
    }
    TupleType tuple;
    MakeTuple make;
    for (size_t o : outputs) {
      const Var* var = block_.bindings[o].var;
      tuple.fields.push_back(var->type);
      make.fields.push_back(map.at(var->id));
    }
    Type type = MakeType(std::move(tuple));
    const Var* inner = MakeVar(m_, "", type, span);
    body.bindings.push_back({inner, MakeExpr(m_, std::move(make), span)});
    body.result = inner;
    f.result_type = type;
    const Var* result = MakeVar(m_, "", type, span);
    Finish(std::move(f), std::move(body), std::move(args), result, span, out);
    for (uint32_t k = 0; k < outputs.size(); ++k) {
      out.bindings.push_back(
          {block_.bindings[outputs[k]].var, MakeExpr(m_, TupleGet{result, k}, span)});
    }
  }

  void Finish(Function f, Block body, std::vector<Atom> args, const Var* var, Span span,
              Block& out) {
    f.body = m_.arena->New<Block>(std::move(body));
    f.span = span;
    const Function* primitive = m_.arena->New<Function>(std::move(f));
    out.bindings.push_back({var, MakeExpr(m_, PrimitiveCall{primitive, std::move(args)}, span)});
  }

  const Module& m_;
  const Users& users_;
  const Block& original_;
  const Block block_;
  std::vector<Node> nodes_;
  std::unordered_map<uint32_t, size_t> index_;
  std::unordered_map<const Constant*, const Var*> constants_;
};

}  // namespace

Module FuseOps(const Module& m) {
  Module out = m;
  for (auto& [name, f] : out.functions) {
    const Block* body = BlockFuser(m, *f->body, Users(m, *f->body)).Run();
    if (body != f->body) f = WithBody(m, *f, body);
  }
  return out;
}

}  // namespace relayvm::ir
