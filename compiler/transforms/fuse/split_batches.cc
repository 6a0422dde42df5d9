#include "compiler/transforms/fuse/split_batches.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/primitive.h"
#include "compiler/ir/region.h"
#include "compiler/ir/rewrite.h"
#include "compiler/transforms/fuse/users.h"
#include "kernels/op/op_helpers.h"
#include "kernels/op/problem.h"
#include "kernels/op/subviews.h"
#include "kernels/te/slices.h"

namespace relayvm::ir {
namespace {

// The first dim of all tensors of a value; 0 where there is none, or a size is not a number.
int64_t BatchOf(const Type& type) {
  int64_t batch = 0;
  for (const TensorType& t : FlatTypes(type)) {
    if (t.shape.empty() || !StaticBytesOf(t)) return 0;
    const int64_t first = t.shape[0].value();
    if (batch != 0 && first != batch) return 0;
    batch = first;
  }
  return batch;
}

// REQUIRES: BatchOf(type) > 0.
Type WithBatch(const Type& type, int64_t images) {
  if (const auto* t = type->As<TensorType>()) {
    std::vector<Dim> shape = t->shape;
    shape[0] = Dim(images);
    return MakeTensorType(std::move(shape), t->dtype);
  }
  TupleType tuple;
  for (const Type& f : type->As<TupleType>()->fields) tuple.fields.push_back(WithBatch(f, images));
  return MakeType(std::move(tuple));
}

double BytesOf(const Type& type) {
  double bytes = 0;
  for (const TensorType& t : FlatTypes(type))
    bytes += static_cast<double>(StaticBytesOf(t).value_or(0));
  return bytes;
}

bool MayCheck(const Function& f) {
  return std::ranges::any_of(f.body->bindings, [](const Binding& b) {
    const auto* call = b.value->As<OpCall>();
    return call != nullptr && call->op->checks;
  });
}

// --- What it is worth ---

// A binding that may be split.
struct Step {
  int64_t batch = 0;  // 0: it may not
  bool is_kernel = false;
  bool is_made = false;  // by a kernel, if not in this step
  double sliced = 0;     // bytes of an image that it reads and writes
  double passed = 0;     // of these, what steps before it made
  double shared = 0;     // bytes of its other operands
};

// Cycles, about, for bytes that are passed from kernel to kernel, of `set` bytes that one works on.
class Caches {
 public:
  explicit Caches(const Machine& machine) : second_(static_cast<double>(machine.l2_bytes)) {}

  double CyclesOf(double bytes, double set) const {
    if (set <= second_ * kUsable) return bytes * kSecond;
    return bytes * (set <= kThirdBytes ? kThird : kMemory);
  }
  // Of a kernel for a whole batch, less that of one for each `images` of it. Nothing is passed to
  // one that `begins`: it reads what comes from elsewhere, as it does for the whole batch.
  double Gain(const Step& step, int64_t images, bool begins) const {
    if (!step.is_kernel) return 0;
    const auto batch = static_cast<double>(step.batch), n = static_cast<double>(images);
    const double bytes = begins ? 0 : 2 * batch * step.passed;  // written, and read again
    const double all = CyclesOf(bytes, batch * step.sliced + step.shared);
    const double parts = CyclesOf(bytes, n * step.sliced + step.shared);
    const double again = (batch / n - 1) * (step.shared * kThird + kCall);
    return all - parts - again;
  }

 private:
  static constexpr double kUsable = 0.75;  // of the second cache
  static constexpr double kThirdBytes = 16 << 20;
  static constexpr double kSecond = 1.0 / 32, kThird = 1.0 / 10, kMemory = 1.0 / 4;
  static constexpr double kCall = 6000;

  double second_;
};

// --- Regions ---

struct Region {
  size_t begin = 0, end = 0;  // bindings
  int64_t images = 0;
  double gain = 0;
};

class BlockSplitter {
 public:
  BlockSplitter(const Module& m, const Machine& machine, const Users& users, const Block& block,
                int64_t images)
      : m_(m), users_(users), block_(block), caches_(machine), images_(images) {}

  const Block* Run() {
    FindSteps();
    const std::vector<Region> regions = FindRegions();
    Block out;
    out.result = block_.result;
    bool is_changed = !regions.empty();
    auto region = regions.begin();
    for (size_t i = 0; i < block_.bindings.size(); ++i) {
      if (region != regions.end() && region->begin == i) {
        Emit(*region, out.bindings);
        i = region->end - 1;
        ++region;
        continue;
      }
      out.bindings.push_back(block_.bindings[i]);
    }
    return is_changed ? m_.arena->New<Block>(std::move(out)) : &block_;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  static constexpr int64_t kMostParts = 64;

  size_t Position(const Var& v) const {
    const auto at = index_.find(v.id);
    return at == index_.end() ? kNone : at->second;
  }

  void FindSteps() {
    steps_.resize(block_.bindings.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      index_[block_.bindings[i].var->id] = i;
      steps_[i] = StepOf(block_.bindings[i]);
    }
    for (size_t i = steps_.size(); i-- > 0;) FindEscapes(i);
  }

  Step StepOf(const Binding& b) const {
    Step step;
    const int64_t batch = BatchOf(b.var->type);
    if (batch < 2) return step;
    bool may = b.value->As<MakeTuple>() != nullptr || b.value->As<TupleGet>() != nullptr;
    if (const auto* call = b.value->As<OpCall>()) {
      step.is_kernel = !call->op->is_view;
      may = call->op->compute != nullptr && !call->op->builtin && !call->op->checks &&
            !call->op->is_identity;
    } else if (const auto* group = b.value->As<PrimitiveCall>()) {
      step.is_kernel = true;
      may = !IsRegion(*group->function) && !MayCheck(*group->function);
    }
    if (!may) return step;
    const auto n = static_cast<double>(batch);
    bool is_sliced = false;
    step.is_made = step.is_kernel;
    ForEachAtom(*b.value, [&](const Atom& a) {
      const Type type = AtomType(m_, a);
      if (IsSliced(a, batch)) {
        is_sliced = true;
        step.sliced += BytesOf(type) / n;
        const size_t maker = Position(*AsVar(a));
        if (maker == kNone || steps_[maker].batch != batch || !steps_[maker].is_made) return;
        step.is_made = true;
        step.passed += BytesOf(type) / n;
      } else {
        step.shared += BytesOf(type);
      }
    });
    if (!is_sliced) return step;
    step.sliced += BytesOf(b.var->type) / n;
    step.batch = batch;
    return step;
  }

  static bool IsSliced(const Atom& a, int64_t batch) {
    const Var* v = AsVar(a);
    return v != nullptr && BatchOf(v->type) == batch;
  }

  // Values that are objects of their own: what lies in a frame's arena has subviews.
  void FindEscapes(size_t i) {
    const Binding& b = block_.bindings[i];
    const auto* call = b.value->As<OpCall>();
    const bool is_kernel = call != nullptr || b.value->As<PrimitiveCall>() != nullptr;
    const bool is_alias = b.value->As<TupleGet>() != nullptr ||
                          b.value->As<MakeTuple>() != nullptr ||
                          (call != nullptr && call->op->is_view);
    const std::vector<const Var*>& users = users_.Of(*b.var);
    if (std::ranges::count(users, nullptr) > 0) escapes_.insert(b.var->id);
    const bool passes_on = is_alias ? escapes_.contains(b.var->id) : !is_kernel;
    if (!passes_on) return;
    ForEachAtom(*b.value, [&](const Atom& a) {
      if (const Var* v = AsVar(a)) escapes_.insert(v->id);
    });
  }

  std::vector<Region> FindRegions() {
    std::vector<Region> regions;
    for (size_t begin = 0; begin < steps_.size();) {
      size_t end = begin;
      while (end < steps_.size() && steps_[end].batch != 0 &&
             steps_[end].batch == steps_[begin].batch)
        ++end;
      if (end > begin) FindRegionsIn(begin, end, regions);
      begin = std::max(end, begin + 1);
    }
    std::ranges::sort(regions, {}, &Region::begin);
    return regions;
  }

  // The best of a run of bindings, and of what is before and behind it.
  void FindRegionsIn(size_t begin, size_t end, std::vector<Region>& regions) {
    while (begin < end) {
      Region best;
      const int64_t batch = steps_[begin].batch;
      for (int64_t parts = 2; parts <= std::min(batch, kMostParts); ++parts) {
        if (batch % parts != 0 || (images_ > 0 && batch / parts != images_)) continue;
        const Region region = BestOf(begin, end, batch / parts);
        if (region.gain > best.gain) best = region;
      }
      if (best.gain <= 0) return;
      if (const size_t bad = FirstThatDiffers(best); bad != kNone) {
        // It may be none, and parts the run.
        steps_[bad].batch = 0;
        FindRegionsIn(begin, bad, regions);
        begin = bad + 1;
        continue;
      }
      regions.push_back(best);
      FindRegionsIn(begin, best.begin, regions);
      begin = best.end;
    }
  }

  // The stretch of the largest sum of gains.
  Region BestOf(size_t begin, size_t end, int64_t images) const {
    Region best{begin, begin, images, 0};
    Region open = best;
    for (size_t i = begin; i < end; ++i) {
      const auto gain = [&](bool begins) {
        if (images_ > 0) return steps_[i].is_kernel ? 1.0 : 0.0;
        return caches_.Gain(steps_[i], images, begins);
      };
      open = {open.begin, i + 1, images, open.gain + gain(i == open.begin)};
      const double alone = gain(/*begins=*/true);
      if (open.gain < alone) open = {i, i + 1, images, alone};
      if (open.gain > best.gain) best = open;
    }
    Trim(best);
    return best;
  }

  // No tuple crosses its borders.
  void Trim(Region& region) const {
    const auto is_inside = [&](size_t i) { return i >= region.begin && i < region.end; };
    for (bool again = true; again && region.begin < region.end;) {
      again = false;
      for (size_t i = region.begin; i < region.end && !again; ++i) {
        const Binding& b = block_.bindings[i];
        ForEachAtom(*b.value, [&](const Atom& a) {
          const Var* v = AsVar(a);
          if (again || v == nullptr || v->type->As<TupleType>() == nullptr ||
              is_inside(Position(*v)))
            return;
          region.begin = i + 1;
          again = true;
        });
        if (again || b.var->type->As<TupleType>() == nullptr) continue;
        for (const Var* user : users_.Of(*b.var)) {
          if (user != nullptr && is_inside(Position(*user))) continue;
          region.end = i;
          again = true;
          break;
        }
      }
    }
    if (region.begin >= region.end) region = {region.begin, region.begin, region.images, 0};
  }

  // --- Whether images are independent ---

  // The first binding of which a slice is not what it is of the whole.
  size_t FirstThatDiffers(const Region& region) {
    for (size_t i = region.begin; i < region.end; ++i) {
      if (!IsSplittable(block_.bindings[i], region.images)) return i;
    }
    return kNone;
  }

  bool IsSplittable(const Binding& b, int64_t images) {
    const auto* call = b.value->As<OpCall>();
    const auto* group = b.value->As<PrimitiveCall>();
    if (call != nullptr && call->op->is_view) return true;  // an image's elements are a run
    if (call == nullptr && group == nullptr) return true;
    const int64_t batch = BatchOf(b.var->type);
    std::vector<te::Tensor> whole_inputs, slice_inputs;
    std::vector<bool> expected;
    ForEachAtom(*b.value, [&](const Atom& a) {
      const Type type = AtomType(m_, a);
      const bool is_sliced = IsSliced(a, batch);
      const Type part = is_sliced ? WithBatch(type, images) : type;
      for (const TensorType& t : FlatTypes(type)) AddPlaceholder(t, whole_inputs);
      for (const TensorType& t : FlatTypes(part)) AddPlaceholder(t, slice_inputs);
      expected.resize(whole_inputs.size(), is_sliced);
    });
    std::vector<te::Tensor> whole, slice;
    if (call != nullptr) {
      const auto compute = [&](const std::vector<te::Tensor>& inputs, const Type& result) {
        const std::vector<TensorType> outputs = FlatTypes(result);
        return call->op->compute({call->attrs, inputs, outputs});
      };
      whole = compute(whole_inputs, b.var->type);
      slice = compute(slice_inputs, WithBatch(b.var->type, images));
    } else {
      const Function* part = SlicedFunction(*group, batch, images);
      if (part == nullptr) return false;
      auto of_whole = ComputePrimitive(*group->function, whole_inputs);
      auto of_slice = ComputePrimitive(*part, slice_inputs);
      if (!of_whole.ok() || !of_slice.ok()) return false;
      whole = *std::move(of_whole);
      slice = *std::move(of_slice);
    }
    if (std::ranges::any_of(whole, SumsBySize)) return false;
    const auto sliced = te::SlicedInputs(whole, slice, whole_inputs.size());
    if (!sliced) return false;
    for (size_t i = 0; i < expected.size(); ++i) {
      if ((*sliced)[i] && !expected[i]) return false;
    }
    return true;
  }

  // Whether how a kernel sums may depend on how many rows or pixels there are: products of matrices
  // do, and convolutions of very few pixels (codegen's FewPixelsOf).
  static bool SumsBySize(const te::Tensor& root) {
    std::vector<te::Tensor> work{root};
    std::unordered_set<const te::TensorNode*> seen;
    while (!work.empty()) {
      const te::Tensor t = std::move(work.back());
      work.pop_back();
      if (t->is_placeholder() || !seen.insert(t.get()).second) continue;
      using enum te::ScheduleHint;
      if (t->hint == kDense || t->hint == kBatchMatmul || t->hint == kAttention) return true;
      if (t->hint == kConv && !HasPixels(*t)) return true;
      te::CollectLoads(t->body, work);
    }
    return false;
  }

  static bool HasPixels(const te::TensorNode& t) {
    constexpr int64_t kLeast = 16;
    if (t.conv == nullptr || t.rank() < 3) return false;
    const bool is_first = t.conv->is_channels_first();
    if (!is_first && !t.conv->is_channels_last()) return false;
    const auto begin = t.shape.begin() + (is_first ? 2 : 1);
    const Dim pixels = ProductOf({begin, t.shape.end() - (is_first ? 0 : 1)});
    return pixels.is_const() && pixels.value() >= kLeast;
  }

  static void AddPlaceholder(const TensorType& t, std::vector<te::Tensor>& inputs) {
    inputs.push_back(te::Placeholder("", t.shape, t.dtype, static_cast<int>(inputs.size())));
  }

  // A group for fewer images, with variables of its own; null where something in it is made of
  // images and has no batch.
  const Function* SlicedFunction(const PrimitiveCall& call, int64_t batch, int64_t images) const {
    const Function& f = *call.function;
    Function sliced = f;
    AtomMap map;
    std::unordered_set<uint32_t> with_batch;
    const auto copy = [&](const Var& v, bool is_sliced) {
      const Var* image =
          MakeVar(m_, v.name, is_sliced ? WithBatch(v.type, images) : v.type, v.span);
      map[v.id] = image;
      if (is_sliced) with_batch.insert(v.id);
      return image;
    };
    for (size_t i = 0; i < f.params.size(); ++i)
      sliced.params[i] = copy(*f.params[i], IsSliced(call.args[i], batch));
    Block body;
    for (const Binding& b : f.body->bindings) {
      bool is_sliced = false;
      ForEachAtom(*b.value, [&](const Atom& a) {
        const Var* v = AsVar(a);
        is_sliced = is_sliced || (v != nullptr && with_batch.contains(v->id));
      });
      if (is_sliced && BatchOf(b.var->type) != batch) return nullptr;
      const Expr* e = MapAtoms(m_, b.value, [&](const Atom& a) { return Image(map, a); });
      body.bindings.push_back({copy(*b.var, is_sliced), e});
    }
    const Var* result = AsVar(f.body->result);
    if (result == nullptr || !with_batch.contains(result->id)) return nullptr;
    body.result = Image(map, result);
    sliced.result_type = AsVar(body.result)->type;
    sliced.body = m_.arena->New<Block>(std::move(body));
    return m_.arena->New<Function>(std::move(sliced));
  }

  // --- The program that has it ---

  const Var* Bind(Type type, const Expr* value, std::vector<Binding>& out) const {
    const Var* v = MakeVar(m_, "", std::move(type), value->span);
    out.push_back({v, value});
    return v;
  }

  void BindCall(const Var* var, PartsCall call, const Atom& arg, std::vector<Binding>& out) const {
    OpCall e{call.op, {arg}, std::move(call.attrs)};
    out.push_back({var, MakeExpr(m_, std::move(e), var->span)});
  }

  // A value that comes from outside, for those images. What is no object of a frame's arena has no
  // subviews, and is copied there once: a copy for each part would be a kernel for each offset.
  Atom SliceOf(const Var& v, int64_t first, int64_t images, std::vector<Binding>& out) {
    const int64_t batch = BatchOf(v.type);
    const Type type = WithBatch(v.type, images);
    const Var*& tuple = splits_[v.id];
    if (tuple == nullptr) {
      const size_t made = Position(v);
      const bool is_local = made != kNone && !escapes_.contains(v.id) &&
                            (steps_[made].is_kernel || steps_[made].batch != 0);
      const Var* whole = &v;
      if (!is_local) {
        whole = MakeVar(m_, "", v.type, v.span);
        BindCall(whole, SliceCall(0, batch, 0), &v, out);
      }
      TupleType parts;
      parts.fields.assign(static_cast<size_t>(batch / images), type);
      tuple = MakeVar(m_, "", MakeType(std::move(parts)), v.span);
      BindCall(tuple, SplitCall(batch / images, 0), whole, out);
    }
    const auto part = static_cast<uint32_t>(first / images);
    return Bind(type, MakeExpr(m_, TupleGet{tuple, part}, v.span), out);
  }

  void Emit(const Region& region, std::vector<Binding>& out) {
    const auto is_inside = [&](const Var* v) {
      const size_t at = v == nullptr ? kNone : Position(*v);
      return at >= region.begin && at < region.end;
    };
    const int64_t batch = steps_[region.begin].batch;
    splits_.clear();
    std::unordered_map<uint32_t, std::vector<Atom>> parts;  // of what is read outside
    for (int64_t first = 0; first < batch; first += region.images) {
      AtomMap map;
      for (size_t i = region.begin; i < region.end; ++i) {
        const Binding& b = block_.bindings[i];
        const auto image = [&](const Atom& a) -> Atom {
          const Var* v = AsVar(a);
          if (v == nullptr || map.contains(v->id) || !IsSliced(a, batch)) return Image(map, a);
          return map[v->id] = SliceOf(*v, first, region.images, out);
        };
        ForEachAtom(*b.value, image);
        const Var* var =
            MakeVar(m_, b.var->name, WithBatch(b.var->type, region.images), b.var->span);
        EmitSlice(b, MapAtoms(m_, b.value, image), var, region.images, out);
        map[b.var->id] = var;
        if (!std::ranges::all_of(users_.Of(*b.var), is_inside)) parts[b.var->id].push_back(var);
      }
    }
    for (size_t i = region.begin; i < region.end; ++i) {
      const Var* var = block_.bindings[i].var;
      const auto at = parts.find(var->id);
      if (at == parts.end()) continue;
      TupleType type;
      for (const Atom& a : at->second) type.fields.push_back(AsVar(a)->type);
      const Var* tuple =
          Bind(MakeType(std::move(type)), MakeExpr(m_, MakeTuple{at->second}, var->span), out);
      BindCall(var, JoinCall(0), tuple, out);
    }
  }

  void EmitSlice(const Binding& whole, const Expr* e, const Var* var, int64_t images,
                 std::vector<Binding>& out) {
    const auto* call = e->As<OpCall>();
    if (call != nullptr && call->op->is_view) {
      BindCall(var, ReshapeCall(var->type->As<TensorType>()->shape), call->args[0], out);
      return;
    }
    if (const auto* group = e->As<PrimitiveCall>()) {
      const Function* f =
          SlicedFunction(*whole.value->As<PrimitiveCall>(), BatchOf(whole.var->type), images);
      e = MakeExpr(m_, PrimitiveCall{f, group->args}, e->span);
    }
    out.push_back({var, e});
  }

  const Module& m_;
  const Users& users_;
  const Block& block_;
  const Caches caches_;
  const int64_t images_;
  std::vector<Step> steps_;
  std::unordered_map<uint32_t, size_t> index_;       // Var::id
  std::unordered_set<uint32_t> escapes_;             // Var::id
  std::unordered_map<uint32_t, const Var*> splits_;  // Var::id of what a region reads
};

}  // namespace

const OptionOf<int64_t>& SubBatchOption() {
  static const OptionOf<int64_t> option = NumberOption(
      {.name = "sub-batch",
       .help = "images that layers compute at a time where the batch is a number that it divides; "
               "0: as many as an estimate of the caches says"},
      0, INT32_MAX, 0);
  return option;
}

Module SplitBatches(const Module& m, const Machine& machine, int64_t images) {
  Module out = m;
  for (auto& [name, f] : out.functions) {
    const Users users(m, *f->body);
    const Block* body = BlockSplitter(m, machine, users, *f->body, images).Run();
    if (body != f->body) f = WithBody(m, *f, body);
  }
  return out;
}

}  // namespace relayvm::ir
