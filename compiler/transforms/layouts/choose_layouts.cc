#include "compiler/transforms/layouts/choose_layouts.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/problems.h"
#include "compiler/ir/walk.h"
#include "compiler/transforms/layouts/layout_graph.h"
#include "kernels/codegen/contraction/estimate.h"
#include "kernels/op/layouts.h"

namespace relayvm::ir {
namespace {

constexpr double kLoopTurns = 16;
constexpr double kLeastSaving = 0.05;

class LayoutPlanner {
  using Member = LayoutMember;
  using Tensor = LayoutTensor;
  using Graph = LayoutGraph;

 public:
  LayoutPlanner(const Module& m, ValueFlow& flow, const LayoutChoices& named,
                const codegen::ContractionTarget* target)
      : m_(m), flow_(flow), named_(named), target_(target) {}

  LayoutPlan Run() {
    if (!HasSeeds()) return {};
    for (const auto& [name, f] : m_.functions) {
      ForEachBinding(*f->body, [&](const Binding& b) {
        if (const auto* tuple = b.value->As<MakeTuple>()) tuples_[b.var->id] = tuple;
      });
    }
    for (const auto& [name, f] : m_.functions) Visit(*f, name == m_.entry ? 1 : kLoopTurns);
    NameDims();
    std::unordered_map<uint32_t, std::vector<Member*>> groups;
    std::vector<uint32_t> order;
    for (Member& member : members_) {
      if (member.is_excluded) continue;
      const uint32_t group = GroupOf(member.data[0]);
      if (groups[group].empty()) order.push_back(group);
      groups[group].push_back(&member);
    }
    for (const uint32_t group : order) Solve(groups[group]);
    return std::move(plan_);
  }

 private:
  // --- What there is ---

  // Whether it chooses for itself where nobody names its operator.
  bool IsChoosing(const OpCall& call) const {
    const auto& kind = call.op->conv;
    return target_ != nullptr && kind && kind->spatial == 2 && !kind->is_transposed &&
           !kind->is_quantised;
  }
  bool IsSeed(const OpCall& call) const {
    return named_.contains(call.op->name) || IsChoosing(call);
  }

  bool HasSeeds() const {
    bool found = false;
    for (const auto& [name, f] : m_.functions) {
      ForEachBinding(*f->body, [&](const Binding& b) {
        const auto* call = b.value->As<OpCall>();
        found = found || (call != nullptr && IsSeed(*call));
      });
    }
    return found;
  }

  void Visit(const Function& f, double weight) {
    const bool is_joined = flow_.ResultOf(&f).has_value();
    for (const Var* p : f.params) {
      if (is_joined) {
        Carry(*p);
      } else {
        MakeAsIs(*p, weight);
      }
    }
    Visit(*f.body, weight);
    if (!is_joined) Read(f.body->result, weight);
  }

  void Visit(const Block& block, double weight) {
    for (const Binding& b : block.bindings) Visit(b, weight);
  }

  void Visit(const Binding& b, double weight) {
    const Expr& e = *b.value;
    if (e.As<AtomExpr>() != nullptr || e.As<MakeTuple>() != nullptr ||
        e.As<TupleGet>() != nullptr || e.As<DimOf>() != nullptr) {
      return;
    }
    if (const auto* call = e.As<OpCall>()) {
      if (AddMember(b, *call, weight)) return;
      MakeAsIs(*b.var, weight);
    } else if (const auto* literal = e.As<FunctionExpr>()) {
      Visit(*literal->function, weight * kLoopTurns);
      return;
    } else if (e.As<IfExpr>() != nullptr || e.As<MatchExpr>() != nullptr ||
               e.As<Stated>() != nullptr) {
      Carry(*b.var);
      if (const auto* match = e.As<MatchExpr>()) {
        for (const MatchClause& clause : match->clauses) Carry(clause.pattern);
      }
      ForEachBlock(e, [&](const Block& inner) { Visit(inner, weight); });
      return;
    } else if (const auto* call = e.As<CallExpr>();
               call != nullptr && flow_.Callee(call->callee) != nullptr) {
      Carry(*b.var);
      return;
    } else {
      MakeAsIs(*b.var, weight);
    }
    ForEachAtom(e, [&](const Atom& a) { Read(a, weight); });
  }

  // --- Tensors ---

  template <typename Fn>
  void ForEachLeaf(const Type& type, const Leaves& leaves, const Fn& fn) {
    if (const auto* tuple = type->is_large() ? nullptr : type->As<TupleType>()) {
      for (uint32_t i = 0; i < tuple->fields.size(); ++i)
        ForEachLeaf(tuple->fields[i], FieldLeaves(type, leaves, i), fn);
      return;
    }
    const uint32_t leaf = flow_.Find(leaves.first);
    auto [at, is_new] = tensors_.try_emplace(leaf);
    if (is_new) {
      at->second.group = leaf;
      at->second.type = type->As<TensorType>();
    }
    fn(leaf, at->second);
  }
  template <typename Fn>
  void ForEachLeaf(const Var& var, const Fn& fn) {
    ForEachLeaf(var.type, flow_.Of(&var), fn);
  }

  void MakeAsIs(const Var& var, double weight) {
    ForEachLeaf(var, [&](uint32_t, Tensor& t) { t.made_as_is += weight; });
  }
  void Carry(const Var& var) {
    ForEachLeaf(var, [](uint32_t, Tensor& t) { t.is_carried = true; });
  }
  void Carry(const Pattern& pattern) {
    if (pattern.var != nullptr) Carry(*pattern.var);
    for (const Pattern& field : pattern.fields) Carry(field);
  }
  void Read(const Atom& a, double weight) {
    const Var* var = AsVar(a);
    if (var == nullptr || var->type == nullptr) return;
    ForEachLeaf(*var, [&](uint32_t, Tensor& t) { t.read_as_is += weight; });
  }

  uint32_t GroupOf(uint32_t leaf) {
    for (;;) {
      uint32_t& group = tensors_.at(leaf).group;
      if (group == leaf) return leaf;
      leaf = group = tensors_.at(group).group;
    }
  }

  // --- Operators ---

  // The leaves of tensors of that rank among `atoms`; constants have none.
  std::vector<uint32_t> LeavesOf(const std::vector<Atom>& atoms, size_t rank) {
    std::vector<uint32_t> out;
    for (const Atom& a : atoms) {
      const Var* var = AsVar(a);
      const auto* type = var == nullptr ? nullptr : var->type->As<TensorType>();
      if (type == nullptr || type->shape.size() != rank) continue;
      ForEachLeaf(*var, [&](uint32_t leaf, Tensor&) { out.push_back(leaf); });
    }
    return out;
  }

  bool AddMember(const Binding& b, const OpCall& call, double weight) {
    if (call.args.empty()) return false;
    Member member{&b, &call, {}, {}, std::nullopt, weight};
    const auto* result = b.var->type->As<TensorType>();
    std::vector<Atom> data = call.args;
    size_t rank = result == nullptr ? 0 : result->shape.size();
    const auto* first =
        AsVar(call.args[0]) == nullptr ? nullptr : AsVar(call.args[0])->type->As<TensorType>();
    if (result != nullptr && first != nullptr && first->shape.size() == rank) {
      member.turn = TurnedBy(call, static_cast<int>(rank));
    }
    if (member.turn) {
      // It connects what it reads and what it makes.
    } else if (call.op->layout == LayoutRule::kChooses) {
      if (first == nullptr || !WrittenLayout(call, *first, b.var->type)) return false;
      rank = first->shape.size();
      data.resize(HasAttr(*call.op, "kernel_layout") ? data.size() - 1 : 1);
    } else if (call.op->layout == LayoutRule::kFollows) {
      Attrs attrs = call.attrs;
      std::vector<int64_t> axes;
      if (!FollowedData(call, &data)) return false;
      const Var* var = data.empty() ? nullptr : AsVar(data[0]);
      const auto* type = var == nullptr ? nullptr : var->type->As<TensorType>();
      if (type == nullptr) return false;
      rank = type->shape.size();
      const std::string letters = std::string("ABCDEFGHIJKLMNOP").substr(0, rank);
      if (letters.size() != rank || !MoveAxes(*call.op, {letters, letters}, &attrs, &axes))
        return false;
    } else if (call.op->layout != LayoutRule::kAgnostic || result == nullptr) {
      return false;
    }
    member.data = LeavesOf(data, rank);
    if (member.data.empty()) return false;
    ForEachLeaf(*b.var, [&](uint32_t leaf, Tensor& t) {
      if (t.type != nullptr && t.type->shape.size() == rank) member.results.push_back(leaf);
    });
    // Of what is read beside the data the order is as written: kernels, lower ranks.
    if (rank < 3) return false;
    members_.push_back(std::move(member));
    return true;
  }

  // The tensors of a join; the data of others.
  bool FollowedData(const OpCall& call, std::vector<Atom>* data) const {
    if (call.op->along_axis != AlongAxis::kJoins) {
      data->resize(1);
      return true;
    }
    const Var* tuple = AsVar(call.args[0]);
    const auto made = tuple == nullptr ? tuples_.end() : tuples_.find(tuple->id);
    if (made == tuples_.end()) return false;
    *data = made->second->fields;
    return true;
  }

  // --- Letters ---

  // Letters go from operators with layouts to all that they meet.
  void NameDims() {
    std::unordered_map<uint32_t, std::vector<Member*>> users;
    std::vector<uint32_t> fresh;
    for (Member& member : members_) {
      for (const uint32_t leaf : member.data) users[leaf].push_back(&member);
      for (const uint32_t leaf : member.results) users[leaf].push_back(&member);
    }
    for (Member& member : members_) {
      if (member.call->op->layout != LayoutRule::kChooses || member.turn || !IsSeed(*member.call))
        continue;
      Name(member, WrittenOf(member), &fresh);
      while (!fresh.empty()) {
        const uint32_t leaf = fresh.back();
        fresh.pop_back();
        for (Member* user : users[leaf]) Spread(*user, leaf, &fresh);
      }
    }
    for (Member& member : members_) Settle(member);
  }

  std::string WrittenOf(const Member& member) const {
    return member.call->attrs.String(DataLayoutAttr(*member.call->op));
  }

  void Name(const Member& member, const std::string& letters, std::vector<uint32_t>* fresh) {
    for (const auto* leaves : {&member.data, &member.results}) {
      for (const uint32_t leaf : *leaves) NameLeaf(leaf, letters, fresh);
    }
  }
  void NameLeaf(uint32_t leaf, const std::string& letters, std::vector<uint32_t>* fresh) {
    Tensor& t = tensors_.at(leaf);
    if (!t.letters.empty() || t.type == nullptr || t.type->shape.size() != letters.size()) return;
    t.letters = letters;
    fresh->push_back(leaf);
  }

  void Spread(const Member& member, uint32_t from, std::vector<uint32_t>* fresh) {
    const std::string letters = tensors_.at(from).letters;
    if (!member.turn) {
      const bool chooses = member.call->op->layout == LayoutRule::kChooses;
      if (!chooses || WrittenOf(member) == letters) Name(member, letters, fresh);
      return;
    }
    const auto turned = [&](const std::string& of, const std::string& a, const std::string& b) {
      std::string out;
      for (const char c : b) out += of[a.find(c)];
      return out;
    };
    const Order& turn = *member.turn;
    if (from == member.data[0] && !member.results.empty())
      NameLeaf(member.results[0], turned(letters, turn.from, turn.to), fresh);
    if (!member.results.empty() && from == member.results[0])
      NameLeaf(member.data[0], turned(letters, turn.to, turn.from), fresh);
  }

  // Members whose tensors have the letters that they should are of one group; others are as
  // written.
  void Settle(Member& member) {
    const std::string letters = tensors_.at(member.data[0]).letters;
    bool fits = !letters.empty();
    if (member.call->op->layout == LayoutRule::kChooses && !member.turn)
      fits = fits && WrittenOf(member) == letters;
    if (member.turn) {
      std::string turned;
      for (const char c : member.turn->to)
        turned += fits ? letters[member.turn->from.find(c)] : '?';
      fits = fits && member.results.size() == 1 && tensors_.at(member.results[0]).letters == turned;
    } else {
      for (const uint32_t leaf : member.data) fits = fits && tensors_.at(leaf).letters == letters;
      for (const uint32_t leaf : member.results)
        fits = fits && tensors_.at(leaf).letters == letters;
    }
    if (!fits) {
      Exclude(member);
      return;
    }
    for (const auto* leaves : {&member.data, &member.results}) {
      for (const uint32_t leaf : *leaves)
        tensors_.at(GroupOf(leaf)).group = GroupOf(member.data[0]);
    }
  }

  // Computes as written.
  void Exclude(Member& member) {
    member.is_excluded = true;
    for (const uint32_t leaf : member.data) tensors_.at(leaf).read_as_is += member.weight;
    for (const uint32_t leaf : member.results) tensors_.at(leaf).made_as_is += member.weight;
  }

  // --- The choice ---

  // The two orders of a group; empty where there is but one.
  std::pair<std::string, std::string> OrdersOf(const std::vector<Member*>& group) {
    std::string second;
    for (const Member* member : group) {
      const auto named = named_.find(member->call->op->name);
      if (member->turn || named == named_.end()) continue;
      second = named->second.data;
      break;
    }
    const bool is_named = !second.empty();
    for (const Member* member : group) {
      const std::string& letters = tensors_.at(member->data[0]).letters;
      if (!is_named && IsChoosing(*member->call)) {
        if (letters == "NCHW" || letters == "NHWC") return {"NCHW", "NHWC"};
      }
      if (!is_named || letters == second) continue;
      if (Layout::Parse(second, letters, "--layout").ok()) return {letters, second};
    }
    return {};
  }

  // Costs in a cut are in thousandths of cycles.
  static int64_t Whole(double cycles) {
    constexpr double kMost = static_cast<double>(MinCut::kNever >> 15);  // 35 s
    return static_cast<int64_t>(std::min(std::ceil(cycles * 1e3), kMost));
  }
  // Of operators that the user names, whatever the machine, what counts are bytes.
  double TransformCost(const TensorType& t) const {
    return target_ == nullptr
               ? codegen::NominalBytes(t.dtype, t.shape)
               : codegen::CyclesOfTransform(*target_, codegen::NominalBytes(t.dtype, t.shape));
  }
  int64_t MoveCost(uint32_t leaf, double weight) const {
    return Whole(TransformCost(*tensors_.at(leaf).type) * weight);
  }

  // Whether the extents of the member's tensors are known to be made of whole blocks.
  bool HasBlocks(const Member& member, const std::string& blocked) const {
    const auto layout = Layout::Parse(blocked);
    if (!layout.ok()) return false;
    for (const auto* leaves : {&member.data, &member.results}) {
      for (const uint32_t leaf : *leaves) {
        const Tensor& t = tensors_.at(leaf);
        for (size_t i = 0; i < t.letters.size(); ++i) {
          const int64_t factor = layout->Factor(t.letters[i]);
          const Dim& d = t.type->shape[i];
          if (factor != 1 && (!d.is_const() || d.value() % factor != 0)) return false;
        }
      }
    }
    return true;
  }

  // Whether the member can be in either order.
  bool CanMove(const Member& member, const Graph& graph) const {
    const std::string& letters = tensors_.at(member.data[0]).letters;
    if (!graph.Side(letters)) return false;
    if (member.turn)
      return !graph.is_blocked && graph.Side(tensors_.at(member.results[0]).letters).has_value();
    const auto named = named_.find(member.call->op->name);
    if (graph.is_blocked && !HasBlocks(member, graph.second)) return false;
    if (named != named_.end()) return graph.Side(named->second.data).has_value();
    if (!graph.is_blocked) return true;
    // Of blocks, dims that are broadcast have no part.
    if (member.call->op->layout != LayoutRule::kAgnostic) return false;
    const auto& shape = member.binding->var->type->As<TensorType>()->shape;
    return std::all_of(member.call->args.begin(), member.call->args.end(), [&](const Atom& a) {
      const Type type = AtomType(m_, a);
      const auto* t = type->As<TensorType>();
      return t != nullptr && (t->shape.empty() || t->shape == shape);
    });
  }

  void Solve(const std::vector<Member*>& all) {
    Graph graph;
    std::tie(graph.first, graph.second) = OrdersOf(all);
    if (graph.first.empty()) return;
    graph.is_blocked = graph.first.size() != graph.second.size();
    std::vector<Member*> group;
    bool is_named = false;
    for (Member* member : all) {
      const auto named = named_.find(member->call->op->name);
      is_named = is_named || (named != named_.end() && !member->turn);
      if (CanMove(*member, graph)) {
        group.push_back(member);
        continue;
      }
      Exclude(*member);
      // In an order of its own, if it can be.
      const std::string& letters = tensors_.at(member->data[0]).letters;
      if (named == named_.end() || member->turn || letters == named->second.data) continue;
      const bool is_blocked = named->second.data.size() != letters.size();
      if (!is_blocked || HasBlocks(*member, named->second.data))
        plan_.calls[member->binding->var->id] = {letters, named->second.data};
    }
    for (const Member* member : group) AddMemberTo(graph, *member);
    AddTensorsTo(graph, group);
    const auto cost = static_cast<double>(graph.cut.Solve()) / 1e3;
    if (!is_named && cost > graph.written * (1 - kLeastSaving)) return;
    for (const auto& [member, node] : graph.members) {
      const std::string& letters = tensors_.at(member->data[0]).letters;
      const std::string& to = graph.cut.IsInFirst(node) ? graph.first : graph.second;
      if (to != letters) plan_.calls[member->binding->var->id] = {letters, to};
    }
    for (const auto& [leaf, node] : graph.tensors) {
      const Tensor& t = tensors_.at(leaf);
      const Order order{t.letters, graph.cut.IsInFirst(node) ? graph.first : graph.second};
      if (!t.is_carried || order.to == order.from) continue;
      Axes& axes = plan_.carried[leaf];
      for (const char c : order.to) axes.push_back(order.from.find(c));
    }
  }

  // The cycles of a convolution with its data in that order.
  std::optional<double> CostIn(ConvProblem conv, const std::string& order) const {
    conv.kernel = *Layout::Parse(NaturalKernel(order, "OIHW", conv.is_depthwise()));
    conv.data = conv.out = *Layout::Parse(order);
    const auto estimate = codegen::EstimateConv(conv, *target_);
    return estimate ? std::optional(estimate->cycles) : std::nullopt;
  }

  // The operator itself.
  void AddMemberTo(Graph& graph, const Member& member) {
    const std::string& letters = tensors_.at(member.data[0]).letters;
    if (member.turn) {
      if (letters != tensors_.at(member.results[0]).letters)
        graph.written += static_cast<double>(MoveCost(member.data[0], member.weight)) / 1e3;
      return;
    }
    const MinCut::Node node = graph.members[&member] = graph.cut.Add();
    const OpCall& call = *member.call;
    const MinCut::Node written = *graph.Side(letters);
    const auto named = named_.find(call.op->name);
    if (named != named_.end()) {
      graph.Pin(node, *graph.Side(named->second.data));
      return;
    }
    if (!HasAttr(*call.op, "kernel_layout")) return;
    const auto conv = IsChoosing(call) ? ConvOf(m_, call) : std::nullopt;
    const bool is_float =
        conv && conv->sum_type == DType::kFloat32 && conv->kernel_type == DType::kFloat32;
    const bool is_plain = conv && conv->kernel.rank() == 4 && (is_float || MultipliesBytes(*conv));
    const auto first = is_plain ? CostIn(*conv, graph.first) : std::nullopt;
    const auto second = is_plain ? CostIn(*conv, graph.second) : std::nullopt;
    if (!first || !second || graph.is_blocked) {
      graph.Pin(node, written);
      return;
    }
    // A kernel that is no constant is transformed in each run.
    const double turned = AsVar(call.args.back()) == nullptr
                              ? 0
                              : TransformCost(*AtomType(m_, call.args.back())->As<TensorType>());
    for (const MinCut::Node side : {MinCut::kFirst, MinCut::kSecond}) {
      double cost = side == MinCut::kFirst ? *first : *second;
      if (side == written) {
        graph.written += cost * member.weight;
      } else {
        cost += turned;
      }
      const int64_t whole = Whole(cost * member.weight);
      if (side == MinCut::kFirst) {
        graph.cut.AddEdge(node, MinCut::kSecond, whole);
      } else {
        graph.cut.AddEdge(MinCut::kFirst, node, whole);
      }
    }
  }

  // What moving tensors between operators costs.
  void AddTensorsTo(Graph& graph, const std::vector<Member*>& group) {
    struct Users {
      std::vector<MinCut::Node> makers, readers;
      double weight = 0;
      bool is_turned = false;  // made by a turn
    };
    std::unordered_map<uint32_t, Users> users;
    for (const Member* member : group) {
      for (const uint32_t leaf : member->data) {
        Users& u = users[leaf];
        if (member->turn) continue;
        u.readers.push_back(graph.members.at(member));
        u.weight = std::max(u.weight, member->weight);
      }
      for (const uint32_t leaf : member->results) {
        Users& u = users[leaf];
        u.is_turned = u.is_turned || member->turn.has_value();
        if (!member->turn) u.makers.push_back(graph.members.at(member));
      }
    }
    for (auto& [leaf, u] : users) {
      const Tensor& t = tensors_.at(leaf);
      const MinCut::Node node = graph.tensors[leaf] = graph.cut.Add();
      const MinCut::Node written = *graph.Side(t.letters);
      if (t.is_carried) {
        if (graph.is_blocked || !flow_.IsFree(leaf)) graph.Pin(node, written);
        for (const MinCut::Node maker : u.makers)
          graph.cut.AddBoth(maker, node, MoveCost(leaf, std::max(u.weight, 1.0)));
        if (t.made_as_is > 0) graph.cut.AddBoth(written, node, MoveCost(leaf, t.made_as_is));
      } else if (!u.makers.empty()) {
        for (const MinCut::Node maker : u.makers) graph.cut.AddBoth(maker, node, MinCut::kNever);
      } else if (!u.is_turned) {
        graph.Pin(node, written);
      }
      if (t.read_as_is > 0 || !flow_.IsFree(leaf)) {
        u.readers.push_back(written);
        u.weight = std::max(u.weight, t.read_as_is);
      }
      // Moved once for all that read it in the other order.
      const int64_t cost = MoveCost(leaf, std::max(u.weight, 1.0));
      const MinCut::Node to_second = graph.cut.Add(), to_first = graph.cut.Add();
      graph.cut.AddEdge(node, to_second, cost);
      graph.cut.AddEdge(to_first, node, cost);
      for (const MinCut::Node reader : u.readers) {
        graph.cut.AddEdge(to_second, reader, MinCut::kNever);
        graph.cut.AddEdge(reader, to_first, MinCut::kNever);
      }
    }
    for (const Member* member : group) {
      if (!member->turn) continue;
      graph.cut.AddBoth(graph.tensors.at(member->data[0]), graph.tensors.at(member->results[0]),
                        MoveCost(member->data[0], member->weight));
    }
  }

  const Module& m_;
  ValueFlow& flow_;
  const LayoutChoices& named_;
  const codegen::ContractionTarget* target_;
  std::unordered_map<uint32_t, const MakeTuple*> tuples_;
  std::unordered_map<uint32_t, Tensor> tensors_;  // by representative
  std::vector<Member> members_;
  LayoutPlan plan_;
};

}  // namespace

bool MultipliesBytes(const ConvProblem& conv) {
  return conv.data_type == DType::kUInt8 && conv.kernel_type == DType::kInt8 &&
         conv.sum_type == DType::kInt32 && !conv.kind.is_quantised;
}

LayoutPlan ChooseLayouts(const Module& m, ValueFlow& flow, const LayoutChoices& named,
                         const codegen::ContractionTarget* target) {
  return LayoutPlanner(m, flow, named, target).Run();
}

}  // namespace relayvm::ir
