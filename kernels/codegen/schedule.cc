#include "kernels/codegen/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>

#include "kernels/codegen/loop_transforms.h"
#include "kernels/codegen/quick.h"

namespace relayvm::codegen {

namespace {

// Below this many operations a tensor is computed again rather than kept.
constexpr uint32_t kWorthKeeping = 16;
// Operations that are worth a task of their own.
constexpr int64_t kTaskWork = 1 << 16;

struct Stage {
  te::Tensor tensor;
  std::vector<const te::AxisNode*> axes;  // one a dimension
  const Node* value = nullptr;
  std::vector<int> outputs;  // positions among the spec's outputs
};

class Planner {
 public:
  explicit Planner(const KernelSpec& spec) : spec_(spec), plan_(std::make_unique<LoopPlan>()) {}

  // `kept`: what has memory whatever it costs.
  Result<std::unique_ptr<LoopPlan>> Run(bool quick, const std::vector<te::Tensor>& kept) {
    plan_->quick = quick;
    plan_->keep_alive = spec_.outputs;
    for (const te::Tensor& t : kept) staged_.insert(t.get());
    order_ = TensorsInOrder(spec_.outputs);
    for (size_t i = 0; i < spec_.by_value.size(); ++i)
      if (spec_.by_value[i]) values_.insert(spec_.inputs[i].get());
    for (size_t i = 0; i < spec_.outputs.size(); ++i) {
      const te::Tensor& t = spec_.outputs[i];
      plan_->outputs.push_back(te::Placeholder(t->name, t->shape, t->dtype, -1));
    }
    ChooseStages();
    FindSharedAxes();
    ChooseUnitAxes();
    BuildNests();
    if (loops_.nests.size() == 1) {
      LoopNest nest = std::move(loops_.nests[0]);
      nest.axes.insert(nest.axes.begin(), loops_.unit_axes.begin(), loops_.unit_axes.end());
      for (LoopNest& part : PartsOf(plan_->graph, nest, plan_->quick)) {
        LoopSection section;
        section.nests.push_back(std::move(part));
        plan_->sections.push_back(std::move(section));
      }
    } else {
      plan_->sections.push_back(std::move(loops_));
    }
    for (LoopSection& section : plan_->sections) {
      for (LoopNest& nest : section.nests) TransformNest(plan_->graph, nest, plan_->quick);
    }
    ChooseUnits();
    FindInPlace();
    return std::move(plan_);
  }

 private:
  // --- Stages ---
  bool IsStaged(const te::TensorNode* t) const { return staged_.contains(t); }
  Lowering::Place PlaceOf(const te::TensorNode* t) const {
    if (values_.contains(t)) return Lowering::Place::kValue;
    if (t->is_placeholder()) return Lowering::Place::kMemory;
    return IsStaged(t) ? Lowering::Place::kStaged : Lowering::Place::kInline;
  }
  void ChooseStages();
  bool LowerStages(size_t most);
  const te::TensorNode* FindRecomputed(bool is_partial);
  // --- Loops ---
  struct AxisClass {
    std::vector<const te::AxisNode*> axes;  // one a stage, in the order of stages_
  };
  void FindSharedAxes();
  void ChooseUnitAxes();
  void BuildNests();
  const Node* PlaceLoads(const Node* root, const LoopNest& nest, size_t first_in_nest);
  const Node* TargetIndex(const Stage& s, bool is_output);
  bool SameLoops(const Stage& s, const LoopNest& nest, size_t first_in_nest,
                 std::unordered_map<const te::AxisNode*, const Node*>& renamed);
  std::vector<const te::AxisNode*> InnerAxes(const Stage& s) const;
  void ChooseUnits();
  void FindInPlace();

  const KernelSpec& spec_;
  std::unique_ptr<LoopPlan> plan_;
  LoopSection loops_;  // all, before a join's parts are taken apart
  std::vector<te::Tensor> order_;
  std::unordered_set<const te::TensorNode*> values_, staged_;
  std::vector<Stage> stages_;
  std::unordered_map<const te::TensorNode*, int> stage_index_;
  std::vector<Lowering::Inlined> inlined_;
  std::vector<size_t> inlined_in_;  // parallel to inlined_: the stage
  std::vector<AxisClass> shared_;
  std::unordered_set<const te::AxisNode*> unit_members_;  // axes of stages that are unit axes
  std::unordered_map<const te::AxisNode*, const Node*> to_unit_axis_;
};

// --- Which tensors have memory ---

// False if more than `most` tensors would be inlined; then those up to there are.
bool Planner::LowerStages(size_t most) {
  stages_.clear();
  stage_index_.clear();
  inlined_.clear();
  inlined_in_.clear();
  Graph& graph = plan_->graph;
  auto add_output = [&](Stage& s) {
    for (size_t i = 0; i < spec_.outputs.size(); ++i) {
      if (spec_.outputs[i] == s.tensor) s.outputs.push_back(static_cast<int>(i));
    }
  };
  for (const te::Tensor& t : order_) {
    bool is_output = std::ranges::count(spec_.outputs, t) > 0;
    if (!is_output && !IsStaged(t.get())) continue;
    Stage s;
    s.tensor = t;
    add_output(s);
    if (t->is_placeholder()) {  // an output that is an input: a copy
      std::vector<const Node*> indices;
      for (size_t d = 0; d < t->shape.size(); ++d) {
        s.axes.push_back(graph.NewAxis(fmt::format("i{}", d), t->shape[d]));
        indices.push_back(graph.Axis(s.axes.back()));
      }
      s.value = values_.contains(t.get()) ? graph.LoadValue(t.get()) : graph.Load(t.get(), indices);
    } else {
      for (const te::Axis& axis : t->axes) s.axes.push_back(axis.get());
      Lowering lowering(
          graph, [this](const te::TensorNode* x) { return PlaceOf(x); }, most - inlined_.size());
      s.value = lowering.Lower(t->body);
      for (const Lowering::Inlined& record : lowering.inlined()) {
        inlined_.push_back(record);
        inlined_in_.push_back(stages_.size());
      }
      if (lowering.is_exhausted()) return false;
      stage_index_[t.get()] = static_cast<int>(stages_.size());
    }
    stages_.push_back(std::move(s));
  }
  return true;
}

// What a value costs: of an index, whose parts are read often, each of them once.
uint32_t CostOfKeeping(const Node* value) {
  if (value->dtype != DType::kInt64) return value->cost;
  bool reduces = false;
  uint32_t cost = 0;
  ForEachNode({value}, [&](const Node* n) {
    reduces = reduces || n->kind == NodeKind::kReduce;
    uint32_t own = n->cost;
    for (const Node* operand : n->operands) own -= std::min(own, operand->cost);
    cost += own;
  });
  return reduces ? value->cost : cost;
}

// A costly tensor, the last one in order, that would be computed more than once an element; null
// when there is none. While only a part is lowered, only what that part shows twice counts.
const te::TensorNode* Planner::FindRecomputed(bool is_partial) {
  for (size_t i = order_.size(); i-- > 0;) {
    const te::TensorNode* t = order_[i].get();
    if (t->is_placeholder() || IsStaged(t)) continue;
    std::vector<size_t> records;
    uint32_t cost = 0;
    for (size_t r = 0; r < inlined_.size(); ++r) {
      if (inlined_[r].tensor != t) continue;
      records.push_back(r);
      cost = std::max(cost, CostOfKeeping(inlined_[r].value));
    }
    if (cost < kWorthKeeping) continue;
    if (records.size() > 1) return t;
    if (is_partial) continue;
    // Once: but in loops that it does not depend on?
    const Node* value = inlined_[records[0]].value;
    const Stage& s = stages_[inlined_in_[records[0]]];
    std::vector<const te::AxisNode*> loops(s.axes);
    std::unordered_set<const Node*> contains = {value};
    ForEachNode({s.value}, [&](const Node* n) {
      bool reaches = n == value;
      for (const Node* operand : n->operands) reaches = reaches || contains.contains(operand);
      if (!reaches) return;
      contains.insert(n);
      if (n->kind == NodeKind::kReduce && n != value)
        loops.insert(loops.end(), n->axes.begin(), n->axes.end());
    });
    for (const te::AxisNode* axis : loops) {
      if (axis->extent.is_const(1) || value->DependsOn(axis)) continue;
      if (!IsAskedOnce(s.value, value, axis)) return t;
    }
    if (value->kind == NodeKind::kReduce && IsReadByWindows(*t, loops)) return t;
  }
  return nullptr;
}

void Planner::ChooseStages() {
  for (const te::Tensor& t : spec_.outputs) {
    if (!t->is_placeholder()) staged_.insert(t.get());
  }
  constexpr size_t kMostInlinedEach = 16;
  size_t most = kMostInlinedEach * (order_.size() + kMostInlinedEach);
  while (true) {
    const bool is_whole = LowerStages(most);
    const te::TensorNode* t = FindRecomputed(!is_whole);
    if (t != nullptr) {
      staged_.insert(t);
    } else if (is_whole) {
      return;
    } else {
      most *= 2;  // many, and each of them is cheap
    }
  }
}

// --- Axes that all stages share ---

// Two axes belong together when one stage reads the other with them at the same place. A class of
// such axes is shared when it has one axis of each stage and no read crosses it.
void Planner::FindSharedAxes() {
  struct Read {
    size_t reader, read;
    const Node* load;
  };
  std::vector<Read> reads;
  std::map<const te::AxisNode*, const te::AxisNode*> parent;
  std::function<const te::AxisNode*(const te::AxisNode*)> find = [&](const te::AxisNode* a) {
    auto it = parent.find(a);
    return it == parent.end() || it->second == a ? a : find(it->second);
  };
  auto unite = [&](const te::AxisNode* a, const te::AxisNode* b) {
    a = find(a);
    b = find(b);
    if (a != b) parent[a] = b;
  };
  std::vector<size_t> component(stages_.size());
  std::iota(component.begin(), component.end(), size_t{0});
  for (size_t s = 0; s < stages_.size(); ++s) {
    ForEachNode({stages_[s].value}, [&](const Node* n) {
      if (n->kind != NodeKind::kLoadAt) return;
      size_t t = static_cast<size_t>(stage_index_.at(n->tensor));
      reads.push_back({s, t, n});
      const size_t from = component[t], to = component[s];
      for (size_t& c : component) c = c == from ? to : c;
      for (size_t p = 0; p < n->operands.size(); ++p) {
        const Node* index = n->operands[p];
        if (index->kind != NodeKind::kAxis) continue;
        const bool is_own = std::ranges::count(stages_[s].axes, index->axis) > 0;
        if (is_own && index->axis->extent == stages_[t].axes[p]->extent)
          unite(stages_[t].axes[p], index->axis);
      }
    });
  }
  // Stages that do not read each other go together by position.
  const Stage& anchor = stages_.back();
  std::unordered_set<size_t> aligned = {component.back()};
  for (size_t s = stages_.size(); s-- > 0;) {
    if (!aligned.insert(component[s]).second) continue;
    for (size_t p = 0; p < std::min(anchor.axes.size(), stages_[s].axes.size()); ++p) {
      if (anchor.axes[p]->extent == stages_[s].axes[p]->extent)
        unite(stages_[s].axes[p], anchor.axes[p]);
    }
  }
  for (const te::AxisNode* axis : anchor.axes) {
    if (axis->extent.is_const(1)) continue;
    AxisClass c;
    bool valid = true;
    for (const Stage& s : stages_) {
      const te::AxisNode* member = nullptr;
      int count = 0;
      for (const te::AxisNode* own : s.axes) {
        if (find(own) != find(axis)) continue;
        member = own;
        ++count;
      }
      valid = valid && count == 1;
      c.axes.push_back(member);
    }
    for (const Read& read : reads) {
      if (!valid) break;
      const Stage& t = stages_[read.read];
      size_t p = static_cast<size_t>(std::find(t.axes.begin(), t.axes.end(), c.axes[read.read]) -
                                     t.axes.begin());
      const Node* index = read.load->operands[p];
      valid = index->kind == NodeKind::kAxis && index->axis == c.axes[read.reader];
    }
    if (valid) shared_.push_back(std::move(c));
  }
}

std::vector<const te::AxisNode*> Planner::InnerAxes(const Stage& s) const {
  std::vector<const te::AxisNode*> inner;
  for (const te::AxisNode* axis : s.axes) {
    if (!unit_members_.contains(axis) && !axis->extent.is_const(1)) inner.push_back(axis);
  }
  return inner;
}

// All shared axes, except that the innermost of them is left to the nests when loads run along it
// rather than along what the nests have of their own.
void Planner::ChooseUnitAxes() {
  auto is_stage_axis = [](const Stage& s, const te::AxisNode* axis) {
    return std::find(s.axes.begin(), s.axes.end(), axis) != s.axes.end();
  };
  bool all_shared = true;  // then the one nest that results chooses its own vector axis
  for (const Stage& s : stages_) {
    size_t own = 0;
    for (const te::AxisNode* axis : s.axes) own += axis->extent.is_const(1) ? 0 : 1;
    all_shared = all_shared && own == shared_.size();
  }
  if (!all_shared && !shared_.empty()) {
    int along_shared = 0, along_inner = 0;
    for (size_t i = 0; i < stages_.size(); ++i) {
      const Stage& s = stages_[i];
      const te::AxisNode* last = shared_.back().axes[i];
      ForEachNode({s.value}, [&](const Node* n) {
        if (n->kind != NodeKind::kLoad || n->operands.empty()) return;
        for (const te::AxisNode* axis : n->free_axes) {
          if (!IsContiguous(n->operands[0], axis)) continue;
          bool shared_axis = axis == last;
          bool other_shared =
              is_stage_axis(s, axis) && !shared_axis &&
              std::ranges::any_of(shared_, [&](const AxisClass& c) { return c.axes[i] == axis; });
          if (shared_axis) ++along_shared;
          if (!shared_axis && !other_shared) ++along_inner;
        }
      });
    }
    // Where nothing is read in runs, what is written is.
    if (along_shared == 0 && along_inner == 0) {
      const bool is_last = std::ranges::any_of(stages_, [&](const Stage& s) {
        const auto& members = shared_.back().axes;
        return !s.outputs.empty() && !s.axes.empty() &&
               std::ranges::count(members, s.axes.back()) > 0;
      });
      along_shared = is_last ? 1 : 0;
    }
    if (along_shared > along_inner) shared_.pop_back();
  }
  for (const AxisClass& c : shared_) {
    const te::AxisNode* unit = c.axes.back();
    loops_.unit_axes.push_back(unit);
    for (const te::AxisNode* axis : c.axes) {
      unit_members_.insert(axis);
      to_unit_axis_[axis] = plan_->graph.Axis(unit);
    }
  }
}

// --- Nests ---

// Where stage s is stored: in its output, by its whole shape; in scratch, by the axes that are not
// unit axes.
const Node* Planner::TargetIndex(const Stage& s, bool is_output) {
  std::vector<Dim> shape;
  std::vector<const Node*> indices;
  for (const te::AxisNode* axis : s.axes) {
    if (!is_output && unit_members_.contains(axis)) continue;
    shape.push_back(axis->extent);
    indices.push_back(plan_->graph.Axis(axis));
  }
  return plan_->graph.Flatten(shape, indices);
}

// Replaces reads of staged tensors: of one in the same nest (stages from first_in_nest on) by its
// value, of others by memory.
const Node* Planner::PlaceLoads(const Node* root, const LoopNest& nest, size_t first_in_nest) {
  return plan_->graph.Rewrite(root, [&](const Node* n) -> const Node* {
    if (n->kind != NodeKind::kLoadAt) return nullptr;
    size_t t = static_cast<size_t>(stage_index_.at(n->tensor));
    const Stage& s = stages_[t];
    if (t >= first_in_nest) {
      for (const LoopStore& store : nest.stores) {
        if (store.target == s.tensor.get()) return store.value;
      }
    }
    bool is_output = !s.outputs.empty();
    std::vector<Dim> shape;
    std::vector<const Node*> indices;
    for (size_t d = 0; d < s.axes.size(); ++d) {
      if (!is_output && unit_members_.contains(s.axes[d])) continue;
      shape.push_back(s.axes[d]->extent);
      indices.push_back(n->operands[d]);
    }
    const te::TensorNode* target =
        is_output ? plan_->outputs[static_cast<size_t>(s.outputs[0])].get() : s.tensor.get();
    return plan_->graph.LoadFlat(target, plan_->graph.Flatten(shape, indices), n->in_range);
  });
}

// Whether s can be computed in the body of `nest`: its inner axes are the nest's, and what it reads
// of the stages there is at its own index. Fills in how its axes are called there.
bool Planner::SameLoops(const Stage& s, const LoopNest& nest, size_t first_in_nest,
                        std::unordered_map<const te::AxisNode*, const Node*>& renamed) {
  std::vector<const te::AxisNode*> inner = InnerAxes(s);
  if (inner.size() != nest.axes.size()) return false;
  for (size_t i = 0; i < inner.size(); ++i) {
    if (!(inner[i]->extent == nest.axes[i]->extent)) return false;
    renamed[inner[i]] = plan_->graph.Axis(nest.axes[i]);
  }
  bool same = true;
  ForEachNode({s.value}, [&](const Node* n) {
    if (n->kind != NodeKind::kLoadAt) return;
    size_t t = static_cast<size_t>(stage_index_.at(n->tensor));
    if (t < first_in_nest) return;
    const Stage& read = stages_[t];
    size_t next = 0;
    for (size_t d = 0; d < read.axes.size(); ++d) {
      if (unit_members_.contains(read.axes[d]) || read.axes[d]->extent.is_const(1)) continue;
      const Node* index = n->operands[d];
      same = same && next < inner.size() && index->kind == NodeKind::kAxis &&
             index->axis == inner[next];
      ++next;
    }
  });
  return same;
}

void Planner::BuildNests() {
  Graph& graph = plan_->graph;
  size_t first_in_nest = 0;
  // While nests are built, stores name the stage's tensor; the buffers come after.
  for (size_t i = 0; i < stages_.size(); ++i) {
    const Stage& s = stages_[i];
    std::unordered_map<const te::AxisNode*, const Node*> renamed(to_unit_axis_);
    bool join = !loops_.nests.empty() && SameLoops(s, loops_.nests.back(), first_in_nest, renamed);
    if (!join) {
      renamed = to_unit_axis_;
      loops_.nests.emplace_back();
      loops_.nests.back().axes = InnerAxes(s);
      first_in_nest = i;
    }
    LoopNest& nest = loops_.nests.back();
    const Node* value = PlaceLoads(graph.Substitute(s.value, renamed), nest, first_in_nest);
    nest.stores.push_back(
        {s.tensor.get(), value, graph.Substitute(TargetIndex(s, !s.outputs.empty()), renamed)});
  }
  Dim offset(0);
  size_t next_stage = 0;
  for (LoopNest& nest : loops_.nests) {
    std::vector<LoopStore> stores;
    for (const LoopStore& store : nest.stores) {
      const Stage& s = stages_[next_stage++];
      for (int output : s.outputs) {
        stores.push_back(
            {plan_->outputs[static_cast<size_t>(output)].get(), store.value, store.index});
      }
      if (!s.outputs.empty()) continue;
      // A stage that only its own nest reads needs no memory.
      bool is_read = false;
      for (const LoopNest& other : loops_.nests) {
        for (const LoopStore& reader : other.stores) {
          ForEachNode({reader.value}, [&](const Node* n) {
            is_read = is_read || (n->kind == NodeKind::kLoad && n->tensor == s.tensor.get());
          });
        }
      }
      if (!is_read) continue;
      stores.push_back(store);
      Dim elements(1);
      for (const te::AxisNode* axis : s.axes) {
        if (!unit_members_.contains(axis)) elements = elements * axis->extent;
      }
      const bool is_number = elements.is_const(1);
      plan_->scratch.push_back({s.tensor.get(), offset, is_number});
      plan_->keep_alive.push_back(s.tensor);
      if (is_number) continue;
      const Dim bytes = elements * DTypeBytes(s.tensor->dtype);
      offset = offset + Dim::CeilDiv(bytes, Dim(64)) * Dim(64);
    }
    nest.stores = std::move(stores);
  }
  plan_->scratch_bytes = offset;
}

// --- Units ---

namespace {

// Rough operations for one element.
int64_t WorkOf(const LoopNest& nest) {
  uint64_t cost = 0;
  for (const LoopStore& store : nest.stores) cost += store.value->cost + 2;
  return static_cast<int64_t>(std::min<uint64_t>(std::max<uint64_t>(cost / 4, 1), 1 << 20));
}

// Fills in a section's units; gives the work of one.
Dim ChooseSectionUnits(LoopSection& section) {
  if (section.nests.size() == 1) {
    LoopNest& nest = section.nests[0];
    size_t inner = nest.InnerAxes();
    Dim outer_extent(1);
    while (nest.axes.size() > inner) {
      section.unit_axes.push_back(nest.axes.front());
      outer_extent = outer_extent * nest.axes.front()->extent;
      nest.axes.erase(nest.axes.begin());
    }
    bool few_units = outer_extent.is_const() && outer_extent.value() < 16;
    section.units = outer_extent;
    bool tiled = !nest.transposed.empty();
    if (inner != 0 && (few_units || tiled)) {
      const Dim& extent = nest.axes[0]->extent;
      int64_t block = std::max<int64_t>(kTaskWork / 4 / WorkOf(nest), 256);
      block = int64_t{1} << (63 - __builtin_clzll(static_cast<uint64_t>(block)));
      if (tiled) block = 32;
      if (!extent.is_const() || extent.value() > block) {
        section.block = block;
        section.units = outer_extent * Dim::CeilDiv(extent, Dim(block));
      }
    }
  } else {
    for (const te::AxisNode* axis : section.unit_axes) section.units = section.units * axis->extent;
  }
  Dim work(0);
  for (const LoopNest& nest : section.nests) {
    Dim elements(section.block != 0 ? section.block : 1);
    for (size_t i = section.block != 0 ? 1 : 0; i < nest.axes.size(); ++i)
      elements = elements * nest.axes[i]->extent;
    work = work + elements * Dim(WorkOf(nest));
  }
  return work;
}

}  // namespace

void Planner::ChooseUnits() {
  Dim units(0), work(0), total(0);
  for (LoopSection& section : plan_->sections) {
    const Dim of_unit = ChooseSectionUnits(section);
    units = units + section.units;
    work = work + of_unit;
    total = total + section.units * of_unit;
  }
  plan_->parallel_extent = units;
  if (work.is_const()) {
    // Of sections whose units differ, the mean.
    int64_t mean = work.value();
    if (plan_->sections.size() > 1 && units.is_const() && total.is_const())
      mean = total.value() / std::max<int64_t>(1, units.value());
    plan_->grain = Dim(std::max<int64_t>(1, kTaskWork / std::max<int64_t>(1, mean)));
  } else {
    plan_->grain = Dim::FloorDiv(Dim(kTaskWork), work + Dim(1)) + Dim(1);
  }
}

// An output may take an input's memory when, in each unit, all that is read of the input is read
// before the output is written at that place, and nothing of it by other units: it is read only in
// the output's nest, at the index of the store.
void Planner::FindInPlace() {
  if (plan_->sections.size() > 1) return;
  const LoopSection& section = plan_->sections[0];
  for (size_t i = 0; i < spec_.inputs.size(); ++i) {
    const te::TensorNode* input = spec_.inputs[i].get();
    if (values_.contains(input)) continue;
    for (size_t o = 0; o < plan_->outputs.size(); ++o) {
      const te::TensorNode* output = plan_->outputs[o].get();
      if (output->dtype != input->dtype || output->shape != input->shape) continue;
      size_t home = section.nests.size();
      const Node* index = nullptr;
      for (size_t k = 0; k < section.nests.size(); ++k) {
        for (const LoopStore& store : section.nests[k].stores) {
          if (store.target != output) continue;
          home = k;
          index = store.index;
        }
      }
      bool fits = true;
      for (size_t k = 0; k < section.nests.size(); ++k) {
        for (const LoopStore& store : section.nests[k].stores) {
          ForEachNode({store.value}, [&](const Node* n) {
            if (n->kind != NodeKind::kLoad || n->tensor != input) return;
            bool in_home = k == home && n->operands[0] == index;
            bool before =
                k < home && (section.unit_axes.empty() ||
                             ReadsOwnUnit(plan_->graph, n->operands[0], index, section.unit_axes));
            fits = fits && (in_home || before);
          });
        }
      }
      if (fits) plan_->in_place.emplace_back(static_cast<int>(i), static_cast<int>(o));
    }
  }
}

}  // namespace

Result<std::unique_ptr<LoopPlan>> PlanLoops(const KernelSpec& spec, bool quick) {
  if (!quick) return Planner(spec).Run(false, {});
  const OverPaddedImages over = PutOverPaddedImages(spec);
  return Planner(over.spec).Run(true, over.images);
}

}  // namespace relayvm::codegen
