#include "compiler/transforms/products/space_to_depth_convolutions.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/problems.h"
#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"
#include "kernels/codegen/contraction/estimate.h"
#include "kernels/codegen/contraction/winograd.h"
#include "kernels/op/slicing.h"

namespace relayvm::ir {
namespace {

using Sizes = std::vector<int64_t>;

// Every stride[i]-th position of `source` along each axis i, from first[i] on.
struct Samples {
  Atom source;
  Sizes first, stride;
};

// Data whose channels are blocks of positions of `source`.
struct Blocks {
  Atom source;
  Sizes block;  // of each axis; 1 where none are taken
  // Of each group of channels, in order: the place in the block, as a row-major index.
  Sizes order;
};

class Rewriter {
 public:
  Rewriter(const Module& m, const codegen::ContractionTarget& target) : m_(m), target_(target) {}

  Module Run() {
    for (const auto& [name, f] : m_.functions) {
      ForEachBinding(*f->body, [&](const Binding& b) { values_[b.var->id] = &b; });
    }
    return RewriteModule(m_, [&](const Binding& b, std::vector<Binding>& out) {
      if (!Rewrite(b, out)) out.push_back(b);
    });
  }

 private:
  const Binding* BindingOf(const Atom& a) const {
    const Var* v = AsVar(a);
    const auto at = v == nullptr ? values_.end() : values_.find(v->id);
    return at == values_.end() ? nullptr : at->second;
  }
  const OpCall* CallOf(const Atom& a) const {
    const Binding* b = BindingOf(a);
    return b == nullptr ? nullptr : b->value->As<OpCall>();
  }
  TensorType TypeOf(const Atom& a) const { return *AtomType(m_, a)->As<TensorType>(); }

  // What `a` samples, through slices of slices; of itself where it is no slice.
  Samples SamplesOf(const Atom& a) const {
    const auto rank = static_cast<size_t>(TypeOf(a).rank());
    Samples s{a, Sizes(rank, 0), Sizes(rank, 1)};
    while (const OpCall* call = CallOf(s.source)) {
      if (!call->op->is_slice) break;
      const Atom& data = call->args[0];
      const std::vector<Dim> from = TypeOf(data).shape;
      const std::vector<Dim> to = TypeOf(s.source).shape;
      const auto slice = ReadSlice(call->attrs, from);
      if (!slice.ok()) break;
      Samples outer = s;
      bool samples = true;
      for (size_t i = 0; i < rank; ++i) {
        const Dim& begin = slice->ranges[i].begin;
        const Dim& stride = slice->strides[i];
        if (!begin.is_const() || !stride.is_const() || stride.value() < 1) return s;
        if (stride.is_const(1)) {
          samples = samples && begin.is_const(0) && from[i] == to[i];
          continue;
        }
        samples = samples && s.stride[i] == 1 && begin.value() >= 0 &&
                  begin.value() < stride.value() && Dim::FloorMod(from[i], stride).is_const(0) &&
                  Dim::FloorDiv(from[i], stride) == to[i];
        outer.first[i] = begin.value();
        outer.stride[i] = stride.value();
      }
      if (!samples) break;
      outer.source = data;
      s = std::move(outer);
    }
    return s;
  }

  std::optional<Blocks> BlocksOf(const Atom& data, size_t channel) const {
    const auto rank = static_cast<size_t>(TypeOf(data).rank());
    const OpCall* made = CallOf(data);
    if (made != nullptr && made->op->depth_blocks) {
      const auto [edge, channels] = made->op->depth_blocks(made->attrs);
      if (channels != channel || edge < 2) return std::nullopt;
      Blocks blocks{made->args[0], Sizes(rank, edge), {}};
      blocks.block[0] = blocks.block[channel] = 1;
      for (int64_t i = 0; i < edge * edge; ++i) blocks.order.push_back(i);
      return blocks;
    }
    if (made == nullptr || made->op->along_axis != AlongAxis::kJoins ||
        CanonicalAxis(made->attrs.Int("axis"), static_cast<int>(rank)) != static_cast<int>(channel))
      return std::nullopt;
    const Binding* tuple = BindingOf(made->args[0]);
    const auto* parts = tuple == nullptr ? nullptr : tuple->value->As<MakeTuple>();
    if (parts == nullptr || parts->fields.size() < 2) return std::nullopt;
    Blocks blocks;
    for (const Atom& field : parts->fields) {
      const Samples s = SamplesOf(field);
      if (blocks.order.empty()) {
        blocks.source = s.source;
        blocks.block = s.stride;
      }
      if (s.source != blocks.source || s.stride != blocks.block) return std::nullopt;
      int64_t place = 0;
      for (size_t i = 0; i < rank; ++i) place = place * s.stride[i] + s.first[i];
      if (std::ranges::count(blocks.order, place) > 0) return std::nullopt;
      blocks.order.push_back(place);
    }
    int64_t places = 1;
    for (int64_t n : blocks.block) places *= n;
    const bool is_whole = places == static_cast<int64_t>(blocks.order.size());
    const bool is_spatial = blocks.block[0] == 1 && blocks.block[channel] == 1;
    return is_whole && is_spatial ? std::optional(blocks) : std::nullopt;
  }

  bool Rewrite(const Binding& b, std::vector<Binding>& out) const {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr) return false;
    const auto g = ConvOf(m_, *call);
    if (!g || g->kind.is_transposed || g->kind.is_quantised) return false;
    const int spatial = g->spatial();
    if (g->data.rank() != spatial + 2 || g->kernel.rank() != spatial + 2 || g->groups != 1 ||
        !g->kernel_out.is_const() || !g->kernel_in.is_const()) {
      return false;
    }
    const auto channel = static_cast<size_t>(g->data.Position('C'));
    const auto blocks = BlocksOf(call->args[0], channel);
    if (!blocks || g->data.Position('N') != 0) return false;
    const std::string letters(g->letters());
    Sizes block, kernel, strides, before, after;
    for (size_t i = 0; i < letters.size(); ++i) {
      block.push_back(blocks->block[static_cast<size_t>(g->data.Position(letters[i]))]);
      if (!g->kernel_extent[i].is_const() || g->dilation[i] != 1) return false;
      kernel.push_back(g->kernel_extent[i].value());
      strides.push_back(g->strides[i] * block[i]);
      before.push_back(g->padding.before[i] * block[i]);
      after.push_back(g->padding.after[i] * block[i]);
    }
    const bool is_last = channel + 1 == static_cast<size_t>(spatial) + 2;
    Attrs attrs = call->attrs;
    Sizes sizes;
    for (size_t i = 0; i < kernel.size(); ++i) sizes.push_back(kernel[i] * block[i]);
    before.insert(before.end(), after.begin(), after.end());
    attrs.Set("strides", Ints(strides));
    attrs.Set("padding", Ints(before));
    attrs.Set("kernel_size", Ints(sizes));
    attrs.Set("kernel_layout", is_last ? letters + "IO" : "OI" + letters);
    TensorType kernel_type = TypeOf(call->args[1]);
    kernel_type.shape.assign(sizes.begin(), sizes.end());
    const auto places = static_cast<int64_t>(blocks->order.size());
    kernel_type.shape.insert(is_last ? kernel_type.shape.end() : kernel_type.shape.begin(),
                             {g->kernel_out, Dim(g->kernel_in.value() / places)});
    if (is_last) std::iter_swap(kernel_type.shape.end() - 2, kernel_type.shape.end() - 1);
    if (!Pays(*g, call->args[0], *ConvOf(*call->op, attrs, TypeOf(blocks->source), kernel_type)))
      return false;
    // Of what makes the blocks, the guards stay where it stands only while somebody reads it.
    if (const OpCall* made = CallOf(call->args[0]); made->op->depth_blocks)
      KeepGuards(m_, *made, b.value->span, out);
    KeepGuards(m_, *call, b.value->span, out);
    BindingBuilder builder(m_, b.value->span, out);
    const Atom w = Weight(builder, call->args[1], *g, *blocks, block, kernel, is_last);
    builder.BindCall(b.var, call->op->name, {blocks->source, w}, attrs);
    return true;
  }

  // Windows of 3 x 3 may be so much less work by Winograd's transforms that the copy is worth it.
  bool Pays(const ConvProblem& of_blocks, const Atom& blocks, const ConvProblem& of_source) const {
    const auto windows = target_.exact || !of_blocks.is_channels_first()
                             ? std::nullopt
                             : codegen::WinogradShapeOf(of_blocks);
    if (!windows || codegen::PreferredWinograd(target_, *windows).tile == 0) return true;
    const auto kept = codegen::EstimateConv(of_blocks, target_);
    const auto merged = codegen::EstimateConv(of_source, target_);
    if (!kept || !merged) return true;
    const TensorType t = TypeOf(blocks);
    const double bytes = codegen::NominalBytes(t.dtype, t.shape);
    // Processors that make two vectors' sums beside two products take half of what the transforms
    // are estimated as.
    constexpr double kLeastGain = 1.1;
    return merged->cycles * kLeastGain <= kept->cycles + codegen::CyclesOfTransform(target_, bytes);
  }

  // The kernel over the source: O, I and spatial axes, or those and I, O where channels are last.
  static Atom Weight(BindingBuilder& b, const Atom& weight, const ConvProblem& g,
                     const Blocks& blocks, const Sizes& block, const Sizes& kernel, bool is_last) {
    const auto spatial = static_cast<int64_t>(block.size());
    const auto places = static_cast<int64_t>(blocks.order.size());
    const int64_t outputs = g.kernel_out.value();
    const int64_t channels = g.kernel_in.value() / places;
    Sizes order;
    for (char letter : "OI" + std::string(g.letters())) order.push_back(g.kernel.Position(letter));
    Atom w = b.Transpose(weight, order);
    // Groups of channels, by their place in the block.
    std::vector<Atom> groups(blocks.order.size(), w);
    for (int64_t i = 0; i < places; ++i) {
      groups[static_cast<size_t>(blocks.order[static_cast<size_t>(i)])] =
          b.Slice(w, {i * channels}, {(i + 1) * channels}, {1});
    }
    w = b.Concatenate(std::move(groups), 1);
    Sizes shape = {outputs};
    shape.insert(shape.end(), block.begin(), block.end());
    shape.push_back(channels);
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    w = b.Reshape(w, Ints(shape));
    Sizes flat;
    order.clear();
    if (!is_last) {
      order = {0, 1 + spatial};
      flat = {outputs, channels};
    }
    for (int64_t i = 0; i < spatial; ++i) {
      order.insert(order.end(), {2 + spatial + i, 1 + i});
      flat.push_back(kernel[static_cast<size_t>(i)] * block[static_cast<size_t>(i)]);
    }
    if (is_last) {
      order.insert(order.end(), {1 + spatial, 0});
      flat.insert(flat.end(), {channels, outputs});
    }
    return b.Reshape(b.Transpose(w, order), Ints(flat));
  }

  const Module& m_;
  const codegen::ContractionTarget target_;
  std::unordered_map<uint32_t, const Binding*> values_;
};

}  // namespace

Module SpaceToDepthConvolutions(const Module& m, const codegen::ContractionTarget& target) {
  return Rewriter(m, target).Run();
}

}  // namespace relayvm::ir
