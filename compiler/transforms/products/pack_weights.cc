#include "compiler/transforms/products/pack_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/problems.h"
#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"
#include "compiler/transforms/products/winograd_weights.h"
#include "kernels/codegen/contraction/contraction.h"
#include "kernels/op/qnn.h"
#include "kernels/op/step_order.h"
#include "kernels/op/weight_forms.h"

namespace relayvm::ir {
namespace {

using qnn::kQuad;

// Null where the argument is none, or holds nothing.
const Constant* ConstantAt(const OpCall& call, size_t at) {
  const auto* constant = std::get_if<const Constant*>(&call.args[at]);
  return constant == nullptr || (*constant)->value.data.empty() ? nullptr : *constant;
}

// The kernel of a convolution, (o, i, taps...) or, where channels are last, (taps..., i, o), with
// four input channels in a word at the end: (o / block, i / 4, taps..., block, 4), the block left
// out where it is 1, or (taps..., i / 4, o, 4), in blocks (o / block, taps..., i / 4, block, 4).
HostTensor PackByteKernelLater(const HostTensor& w, bool last, int64_t block) {
  const size_t rank = w.shape.size();
  const int64_t outs = w.shape[last ? rank - 1 : 0], ins = w.shape[last ? rank - 2 : 1];
  const int64_t taps = outs * ins == 0 ? 0 : w.size() / (outs * ins);
  std::vector<int64_t> shape = w.shape;
  shape[last ? rank - 2 : 1] = ins / kQuad;
  if (block > 1) {
    shape.erase(last ? shape.end() - 1 : shape.begin());
    shape.insert(shape.begin(), outs / block);
    shape.push_back(block);
  }
  shape.push_back(kQuad);
  HostTensor packed{DType::kInt8, std::move(shape), {}};
  packed.data =
      SharedBytes::Lazy(static_cast<size_t>(packed.size()), [=](std::span<std::byte> out) {
        const SharedBytes in = w.data.Loaded();
        for (int64_t o = 0; o < outs; ++o) {
          for (int64_t i = 0; i < ins; ++i) {
            for (int64_t t = 0; t < taps; ++t) {
              const int64_t from = last ? (t * ins + i) * outs + o : (o * ins + i) * taps + t;
              const int64_t panel = last && block == 1 ? outs : block, words = ins / kQuad;
              const int64_t step = last ? t * words + i / kQuad : i / kQuad * taps + t;
              const int64_t word = (o / panel * taps * words + step) * panel + o % panel;
              out[static_cast<size_t>(word * kQuad + i % kQuad)] = in.data()[from];
            }
          }
        }
      });
  return packed;
}

// Whether a convolution's kernel of float16 is read as it is: not what is a product of whole
// images, nor, channels last, of more than single channels; nor, channels first and summed
// directly, by few pixels, where widening weights takes as long as using them.
bool WidensAsItIs(const ConvProblem& p) {
  constexpr int64_t kMostDirect = 4;    // outputs of a group
  constexpr int64_t kLeastPixels = 80;  // measured: 64 took 1.1 times as long, 81 the same
  int64_t least = 2;
  if (p.is_channels_last()) {
    if (!p.is_depthwise() || p.has_multiplier || !p.kernel_out.is_const(p.groups)) return false;
  } else {
    if (!p.is_channels_first() || !p.has_usual_kernel()) return false;
    if (p.kernel_out.value() / p.groups <= kMostDirect) least = kLeastPixels;
  }
  return !p.pixels().is_const() || p.pixels().value() >= least;
}

// A problem has a constant weight, and forms of it; the first whose packed call there is stands in
// the call's place.
class Packer {
 public:
  Packer(const Module& m, const Machine& machine, const WeightForm* asked, bool exact)
      : m_(m),
        machine_(machine),
        asked_(asked),
        width_(codegen::PreferredPanelWidth(machine)),
        rows_(codegen::PreferredKernelRows(machine)),
        widens_(machine.vector_bytes > 16) {
    if (!exact) winograd_.emplace(m, machine);
  }

  void Rewrite(const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<OpCall>();
    std::optional<Packed> to = call == nullptr ? std::nullopt : Pack(*call);
    if (!to) {
      out.push_back(b);
      return;
    }
    // Errors are those of the operator that the program has.
    if (to->call.op != call->op->name) KeepGuards(m_, *call, b.value->span, out);
    BindingBuilder(m_, b.value->span, out)
        .BindCall(b.var, to->call.op, std::move(to->args), to->call.attrs);
  }

 private:
  struct Packed {
    NamedCall call;
    std::vector<Atom> args;
  };

  std::optional<Packed> Pack(const OpCall& call) {
    const Constant* weight = call.args.size() > 1 ? ConstantAt(call, 1) : nullptr;
    if (weight == nullptr) return std::nullopt;
    if (const auto product = MatrixProductOf(m_, call)) {
      if (product->kind.has_blocks) return ModelBlocks(call, *product);
      return Product(call, *product, *weight, asked_);
    }
    const auto conv = ConvOf(m_, call);
    if (!conv || conv->kind.is_transposed || conv->kind.is_quantised) return std::nullopt;
    if (const auto product = MatrixProductOf(*conv)) {
      // Blocks are for what reads its weights once for few rows.
      const WeightForm* asked = asked_ != nullptr && asked_->block == 0 ? asked_ : nullptr;
      if (auto packed = Product(call, *product, *weight, asked)) return packed;
    }
    if (auto transformed = winograd_ ? winograd_->Of(call) : std::nullopt)
      return Packed{std::move(transformed->call), {call.args[0], transformed->weight}};
    return Kernel(call, *conv, *weight);
  }

  // A constant that several calls may have packed so.
  template <typename Make>
  const Constant* Once(const Constant* weight, const std::string& how, const Make& make,
                       const char* suffix = "") {
    const Constant*& packed = packed_[{weight, how}];
    if (packed == nullptr)
      packed = MakeConstant(m_, make(), weight->name.empty() ? "" : weight->name + suffix);
    return packed;
  }

  // Of the panels that a weight is packed in.
  const Constant* OrderOf(const Constant* weight, const std::string& how, const Constant* panels) {
    return Once(weight, how + " order", [&] { return StepOrder(panels->value); }, ".order");
  }

  // What a weight of float32 is without an option.
  const WeightForm* FormThatHolds(const Constant* weight) {
    constexpr int64_t kLeast = 1 << 12;
    if (!widens_ || weight->value.size() < kLeast) return nullptr;
    const auto [known, is_new] = forms_.try_emplace(weight, nullptr);
    if (is_new) known->second = WeightFormThatHolds(weight->value);
    return known->second;
  }

  // Those that take the weight of a product of such data and sums, the best first.
  std::vector<const WeightForm*> FormsOf(const Constant* weight, const WeightForm* asked,
                                         DType data, DType sum) {
    std::vector<const WeightForm*> forms;
    const auto takes = [&](const WeightForm& form) {
      return form.given == weight->value.dtype && form.data == data && form.sum == sum;
    };
    if (asked != nullptr && takes(*asked)) forms.push_back(asked);
    const auto all = WeightForms();
    const auto given = std::ranges::find_if(all, takes);
    if (given == all.end()) return forms;
    const bool is_float = weight->value.dtype == DType::kFloat32;
    if (const WeightForm* holds = is_float ? FormThatHolds(weight) : nullptr)
      forms.push_back(holds);
    forms.push_back(&*given);
    return forms;
  }

  std::optional<Packed> Product(const OpCall& call, ProductProblem product, const Constant& weight,
                                const WeightForm* asked) {
    HostTensor matrix = weight.value;
    // One matrix for all of a batch is that of more rows; a kernel's taps are one.
    const bool is_batch = product.kind.is_batched && matrix.shape[0] != 1;
    if (!is_batch) matrix.shape.erase(matrix.shape.begin(), matrix.shape.end() - 2);
    product.kind.is_batched = is_batch;
    for (const WeightForm* form : FormsOf(&weight, asked, product.data_type, product.sum_type)) {
      auto packed_call = PackedProduct(product, *form);
      if (!packed_call) continue;
      const bool transposed = product.transpose_b;
      const bool is_float = form->given == DType::kFloat32 && form->block == 0 && !form->in_words();
      const int64_t columns = *(matrix.shape.end() - (transposed ? 2 : 1));
      const bool is_ordered = form->given == DType::kInt8 && codegen::OrdersSteps(machine_);
      const int64_t width = is_ordered ? kOrderedColumns
                            : is_float ? codegen::PreferredPanelWidthOf(machine_, columns)
                                       : width_;
      const std::string how = fmt::format("{} {}", form->name, transposed);
      Packed packed{*std::move(packed_call), {call.args[0]}};
      const Constant* panels =
          Once(&weight, how, [&] { return PackWeight(*form, matrix, transposed, width); });
      packed.args.emplace_back(panels);
      if (is_ordered) {
        packed.call.op = kOrderedDense;
        packed.args.emplace_back(OrderOf(&weight, how, panels));
      }
      if (form->block == 0) return packed;
      packed.args.emplace_back(Once(
          &weight, how + " scales",
          [&] { return PackWeightScales(*form, matrix, transposed, width_); }, ".scales"));
      return packed;
    }
    return std::nullopt;
  }

  // A model's own integers in blocks, where tiles can read such blocks.
  std::optional<Packed> ModelBlocks(const OpCall& call, const ProductProblem& product) {
    const WeightForm* form = WeightFormOfBits(product.bits);
    if (form == nullptr || !codegen::TakesWeightBlock(product.block)) return std::nullopt;
    Packed packed{*PackedProduct(product, *form), {call.args[0]}};
    for (size_t i = 1; i < call.args.size(); ++i) {
      const Constant* constant = ConstantAt(call, i);
      if (constant == nullptr) return std::nullopt;
      const float half = static_cast<float>(int64_t{1} << (product.bits - 1));
      packed.args.emplace_back(MakeConstant(
          m_,
          i == 1 ? PackModelBlocks(*form, constant->value, width_)
                 : PackModelFloats(constant->value, width_, i == 3 ? half - form->zero_point() : 0),
          i == 1 ? constant->name : ""));
    }
    return packed;
  }

  bool TakesOrder(const ConvProblem& p, const WeightForm& form) const {
    return form.side_by_side() > 1 && codegen::OrdersSteps(machine_) && p.spatial() == 2 &&
           p.is_channels_last() && p.has_usual_kernel() && p.groups == 1 &&
           p.kernel_in.value() % kQuad == 0 && p.kernel_out.value() % kOrderedColumns == 0;
  }

  // A convolution's, in its own layout or another one.
  std::optional<Packed> Kernel(const OpCall& call, const ConvProblem& p, const Constant& kernel) {
    const HostTensor& w = kernel.value;
    const auto forms = FormsOf(&kernel, /*asked=*/nullptr, p.data_type, p.sum_type);
    if (forms.empty()) return std::nullopt;
    const WeightForm& form = *forms[0];
    std::string layout = codegen::PreferredKernelLayout(p, machine_);
    const bool is_ordered = TakesOrder(p, form);
    if (is_ordered) layout = fmt::format("O{}I{}o{}i", p.letters(), kOrderedColumns, kQuad);
    const bool stays = layout.empty();
    if (stays && (form.side_by_side() > 1 || form.stored == w.dtype || !WidensAsItIs(p)))
      return std::nullopt;
    if (stays) layout = p.kernel.ToString();
    const int64_t of_block = is_ordered ? kOrderedColumns : layout.ends_with("o4i") ? rows_ : 1;
    const Constant* packed = Once(&kernel, layout, [&] {
      if (form.side_by_side() > 1) return PackByteKernelLater(w, p.is_channels_last(), of_block);
      if (stays) return EncodeElements(form, w);
      const bool is_first = p.is_channels_first();
      const int64_t outs = p.kernel_out.value(), width = is_first ? rows_ : width_;
      HostTensor matrix = w;
      matrix.shape =
          is_first ? std::vector{outs, w.size() / outs} : std::vector{w.size() / outs, outs};
      HostTensor panels = PackWeight(form, matrix, is_first, width);
      // (o / width, the rest, width)
      panels.shape = {outs / width};
      panels.shape.insert(panels.shape.end(), w.shape.begin() + (is_first ? 1 : 0),
                          w.shape.end() - (is_first ? 0 : 1));
      panels.shape.push_back(width);
      return panels;
    });
    Packed to{{call.op->name, call.attrs}, {call.args[0], packed}};
    to.call.attrs.Set("kernel_layout", layout);
    if (is_ordered) {
      to.call.op = kOrderedConv2d;
      to.args.emplace_back(OrderOf(&kernel, layout, packed));
    }
    return to;
  }

  const Module& m_;
  const Machine& machine_;
  const WeightForm* asked_;
  int64_t width_, rows_;
  bool widens_;  // float16, as it is read (AVX2)
  std::map<std::pair<const Constant*, std::string>, const Constant*> packed_;
  std::map<const Constant*, const WeightForm*> forms_;
  std::optional<WinogradWeights> winograd_;
};

// Says where else what was meant may be.
std::string HintOfPrecision(std::string_view found) {
  for (const WeightForm* form : WeightFormsOf("weights")) {
    const bool is_integer = form->encode == nullptr && found == fmt::format("int{}", form->bits());
    if (found != form->name && !is_integer) continue;
    return fmt::format(
        "; --weights {} makes weights {}, and a model that is quantised already keeps its own",
        form->name, form->help);
  }
  if (found == "fp16" || found == "float16" || found == "half")
    return "; a model whose tensors are float16 is computed so as it is";
  if (found == "bfloat16" || found == "float32")
    return found[0] == 'b' ? "; did you mean bf16?" : "; did you mean fp32?";
  return "";
}

// An option whose values are the forms that name it; `row` has what its help says before theirs.
OptionOf<const WeightForm*> FormOption(PassOption row,
                                       std::string (*hint)(std::string_view found)) {
  const std::string name = row.name;
  for (const WeightForm* form : WeightFormsOf(name)) {
    row.help += fmt::format("{}{}: {}", row.values.empty() ? "" : "; ", form->name, form->help);
    row.values.emplace_back(form->name);
  }
  return {std::move(row), [name, hint](std::string_view text, const WeightForm** form) {
            *form = FindWeightForm(text);
            if (*form != nullptr && (*form)->option == name) return OkStatus();
            return Status(StatusCode::kInvalidArgument,
                          fmt::format("expected {}{}", WeightFormNames(name),
                                      hint == nullptr ? "" : hint(text)));
          }};
}

// float32 is what weights are.
bool IsAsGiven(const WeightForm* form) { return form == nullptr || form->stored == form->given; }

}  // namespace

const OptionOf<const WeightForm*>& WeightsOption() {
  static const OptionOf<const WeightForm*> option =
      FormOption({.name = "weights",
                  .help = "constant weights of matrix products in blocks of 32 with a scale each, "
                          "which become float32 in registers; "},
                 nullptr);
  return option;
}

const OptionOf<const WeightForm*>& PrecisionOption() {
  static const OptionOf<const WeightForm*> option =
      FormOption({.name = "precision", .help = "", .initial = "fp32"}, HintOfPrecision);
  return option;
}

const OptionOf<bool>& ExactOption() {
  static const OptionOf<bool> option = FlagOption(
      {.name = "exact",
       .help = "no faster way to compute that loses more precision than a sum in another order: "
               "3x3 convolutions do without Winograd's transforms, denormal weights stay"});
  return option;
}

const WeightForm* AskedWeightForm(const PassOptionValues& options) {
  const WeightForm* precision = PrecisionOption().In(options);
  return IsAsGiven(precision) ? WeightsOption().In(options) : precision;
}

Status CheckWeightOptions(const PassOptionValues& options, int opt_level) {
  const WeightForm *weights = WeightsOption().In(options), *form = AskedWeightForm(options);
  if (weights != nullptr && form != weights) {
    return {StatusCode::kInvalidArgument,
            fmt::format("--weights {} with --precision {}: weights have one form; give one of them",
                        weights->name, form->name)};
  }
  if (form != nullptr && opt_level < 1) {
    return {StatusCode::kInvalidArgument,
            fmt::format("--{} {} packs weights: it needs -O1 or more", form->option, form->name)};
  }
  return OkStatus();
}

Module PackWeights(const Module& m, const Machine& machine, const WeightForm* asked, bool exact) {
  Packer packer(m, machine, asked, exact);
  return RewriteModule(
      m, [&](const Binding& b, std::vector<Binding>& out) { packer.Rewrite(b, out); });
}

}  // namespace relayvm::ir
