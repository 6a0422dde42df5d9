#include "compiler/transforms/products/pack_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/transforms/builder.h"
#include "compiler/transforms/products/winograd_weights.h"
#include "compiler/transforms/rewrite.h"
#include "kernels/codegen/contraction/contraction.h"
#include "kernels/op/qnn.h"
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
// four input channels in a word at the end: (o / rows, i / 4, taps..., rows, 4), rows left out
// where they are 1, or (taps..., i / 4, o, 4).
HostTensor PackByteKernelLater(const HostTensor& w, bool last, int64_t rows) {
  const size_t rank = w.shape.size();
  const int64_t outs = w.shape[last ? rank - 1 : 0], ins = w.shape[last ? rank - 2 : 1];
  const int64_t taps = outs * ins == 0 ? 0 : w.size() / (outs * ins);
  std::vector<int64_t> shape = w.shape;
  shape[last ? rank - 2 : 1] = ins / kQuad;
  if (rows > 1) {
    shape[0] /= rows;
    shape.push_back(rows);
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
              const int64_t word =
                  last ? (t * (ins / kQuad) + i / kQuad) * outs + o
                       : ((o / rows * (ins / kQuad) + i / kQuad) * taps + t) * rows + o % rows;
              out[static_cast<size_t>(word * kQuad + i % kQuad)] = in.data()[from];
            }
          }
        }
      });
  return packed;
}

// The arguments of the nn.contrib_dense_blocks that an nn.contrib_dense_nbits with constant weights
// becomes; none where tiles cannot read its blocks.
std::optional<std::vector<HostTensor>> PackedNBits(const OpCall& call, int64_t width) {
  std::vector<const HostTensor*> constants;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const Constant* constant = ConstantAt(call, i);
    if (constant == nullptr) return std::nullopt;
    constants.push_back(&constant->value);
  }
  const int64_t bits = call.attrs.Int("bits"), block = constants[0]->shape[2] * 8 / bits;
  const WeightForm* form = WeightFormOfBits(bits);
  if (form == nullptr || !codegen::TakesWeightBlock(block)) return std::nullopt;
  std::vector<HostTensor> packed = {PackModelBlocks(*form, *constants[0], width)};
  packed.push_back(PackModelFloats(*constants[1], width, 0));
  if (constants.size() > 2) {
    const float half = static_cast<float>(int64_t{1} << (bits - 1));
    packed.push_back(PackModelFloats(*constants[2], width, half - form->zero_point()));
  }
  return packed;
}

const Constant* Float32Weight(const OpCall& call, size_t at, const TensorType& result) {
  const Constant* weight = ConstantAt(call, at);
  return weight != nullptr && result.dtype == DType::kFloat32 &&
                 weight->value.dtype == DType::kFloat32
             ? weight
             : nullptr;
}

// The letters of a convolution's space, and where its channels are; only of usual layouts.
struct ConvLayout {
  std::string letters;
  bool channels_last;
  bool is_depthwise;  // channels last and of single channels, taps in front: (taps..., o, 1)
};
std::optional<ConvLayout> ConvLayoutOf(const OpCall& call, const HostTensor& kernel) {
  const std::string& name = call.op->name;
  if (name != "nn.conv1d" && name != "nn.conv2d" && name != "nn.conv3d") return std::nullopt;
  const std::string letters = std::string("DHW").substr(5 - kernel.shape.size());
  const std::string& data = call.attrs.String("data_layout");
  const std::string& out = call.attrs.String("out_layout");
  const bool last = data == "N" + letters + "C";
  const std::string& own = call.attrs.String("kernel_layout");
  const bool is_depthwise = last && own == letters + "OI" && kernel.shape.back() == 1;
  if ((!last && data != "NC" + letters) || (!out.empty() && out != data) ||
      (own != (last ? letters + "IO" : "OI" + letters) && !is_depthwise)) {
    return std::nullopt;
  }
  return ConvLayout{letters, last, is_depthwise};
}

// Windows of one pixel at every pixel, channels last: a product of each pixel's channels.
bool IsPointwise(const OpCall& call, const HostTensor& kernel) {
  const auto all = [&](const char* attribute, int64_t value) {
    return std::ranges::count(call.attrs.Ints(attribute), value) ==
           std::ssize(call.attrs.Ints(attribute));
  };
  const auto layout = ConvLayoutOf(call, kernel);
  return layout && layout->channels_last && !layout->is_depthwise &&
         call.attrs.Int("groups") == 1 && all("strides", 1) && all("padding", 0) &&
         std::all_of(kernel.shape.begin(), kernel.shape.end() - 2,
                     [](int64_t d) { return d == 1; });
}

// Of a product of uint8 data and int8 weights in int32.
const Constant* ByteWeight(const Module& m, const OpCall& call, size_t at,
                           const TensorType& result) {
  const Constant* weight = ConstantAt(call, at);
  return weight != nullptr && result.dtype == DType::kInt32 &&
                 weight->value.dtype == DType::kInt8 &&
                 AtomType(m, call.args[0])->As<TensorType>()->dtype == DType::kUInt8
             ? weight
             : nullptr;
}

// The layout that the kernel w of a convolution is packed in; empty where it stays. Float32 in
// blocks of `rows` or panels of `width` outputs, (o / rows, i, taps..., rows) or (o / width,
// taps..., i, width), bytes in words; not where one window covers an image, which is a product that
// reads rows.
std::string KernelLayout(const OpCall& call, const HostTensor& w, const TensorType& result,
                         int64_t rows, int64_t width) {
  const auto layout = ConvLayoutOf(call, w);
  if (!layout) return "";
  const auto& [letters, last, is_depthwise] = *layout;
  if (is_depthwise) return "";
  const size_t rank = w.shape.size();
  const int64_t groups = call.attrs.Int("groups");
  const int64_t ins = w.shape[last ? rank - 2 : 1], outs = w.shape[last ? rank - 1 : 0] / groups;
  const bool in_blocks = !last && rows > 1 && outs % rows == 0;
  const std::string blocks = in_blocks ? fmt::format("OI{}{}o", letters, rows) : "";
  if (w.dtype == DType::kInt8) {
    if (ins % kQuad != 0 || !qnn::TakesByteConvolution(ins, outs, groups)) return "";
    return (in_blocks ? blocks : call.attrs.String("kernel_layout")) + "4i";
  }
  const auto space = result.shape.begin() + (last ? 1 : 2);
  if (w.size() == 0 || std::all_of(space, space + static_cast<int64_t>(letters.size()),
                                   [](const Dim& d) { return d.is_const(1); })) {
    return "";
  }
  if (!last) return blocks;
  return groups == 1 && outs % width == 0 ? fmt::format("O{}I{}o", letters, width) : "";
}

// Whether a convolution's kernel of float16 is read as it is: not what is a product of whole
// images, nor, channels last, of more than single channels; nor, channels first and summed
// directly, by few pixels, where widening weights takes as long as using them.
bool WidensAsItIs(const OpCall& call, const HostTensor& w, const TensorType& result) {
  constexpr int64_t kMostDirect = 4;    // outputs of a group
  constexpr int64_t kLeastPixels = 80;  // measured: 64 took 1.1 times as long, 81 the same
  const auto layout = ConvLayoutOf(call, w);
  if (!layout) return false;
  const int64_t groups = call.attrs.Int("groups");
  const bool last = layout->channels_last;
  const int64_t outs = last ? w.shape.back() * w.shape[w.shape.size() - 2] : w.shape[0];
  if (last && (!layout->is_depthwise || outs != groups)) return false;
  const auto space = result.shape.begin() + (last ? 1 : 2);
  const Dim pixels =
      ProductOf(std::vector<Dim>(space, space + static_cast<int64_t>(layout->letters.size())));
  const int64_t least = !last && outs / groups <= kMostDirect ? kLeastPixels : 2;
  return !pixels.is_const() || pixels.value() >= least;
}

// A product with a constant weight, and what it becomes when that is packed.
struct PackedProduct {
  PackedCall call;
  const Constant* weight;
  HostTensor matrix;  // the weight's
  const WeightForm* form;
};

class Packer {
 public:
  Packer(const Module& m, const Machine& machine, const WeightForm* asked, bool exact)
      : m_(m),
        asked_(asked),
        width_(codegen::PreferredPanelWidth(machine)),
        rows_(codegen::PreferredKernelRows(machine)),
        widens_(machine.vector_bytes > 16) {
    if (!exact) winograd_.emplace(m, machine);
  }

  void Rewrite(const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<OpCall>();
    const auto* type = b.var->type->As<TensorType>();
    if (call == nullptr || type == nullptr) {
      out.push_back(b);
      return;
    }
    Replacement to;
    const bool is_convolution = call->op->layout == LayoutRule::kChooses && call->args.size() == 2;
    const bool packs = Product(*call, *type, to) || ModelBlocks(*call, to) ||
                       (is_convolution && (Winograd(*call, *type, to) || Kernel(*call, *type, to)));
    if (!packs) {
      out.push_back(b);
      return;
    }
    // Errors are those of the operator that the program has.
    if (to.op != call->op->name) KeepGuards(m_, *call, b.value->span, out);
    BindingBuilder(m_, b.value->span, out).BindCall(b.var, to.op, std::move(to.args), to.attrs);
  }

 private:
  struct Replacement {
    std::string op;
    std::vector<Atom> args;
    Attrs attrs;
  };

  // A constant that several calls may have packed so.
  template <typename Make>
  const Constant* Once(const Constant* weight, const std::string& how, const Make& make,
                       const char* suffix = "") {
    const Constant*& packed = packed_[{weight, how}];
    if (packed == nullptr)
      packed = MakeConstant(m_, make(), weight->name.empty() ? "" : weight->name + suffix);
    return packed;
  }

  // What a weight of float32 is without an option.
  const WeightForm* FormThatHolds(const Constant* weight) {
    constexpr int64_t kLeast = 1 << 12;
    if (!widens_ || weight->value.size() < kLeast) return nullptr;
    const auto [known, is_new] = forms_.try_emplace(weight, nullptr);
    if (is_new) known->second = WeightFormThatHolds(weight->value);
    return known->second;
  }

  // Null where no form takes the weight.
  const WeightForm* FormOf(const Constant* weight, const WeightForm* asked, DType data, DType sum) {
    const auto takes = [&](const WeightForm& form) {
      return form.given == weight->value.dtype && form.data == data && form.sum == sum;
    };
    if (asked != nullptr && takes(*asked)) return asked;
    for (const WeightForm& form : WeightForms()) {
      if (!takes(form)) continue;
      if (weight->value.dtype != DType::kFloat32) return &form;
      const WeightForm* holds = FormThatHolds(weight);
      return holds != nullptr ? holds : &form;
    }
    return nullptr;
  }

  std::optional<PackedProduct> ProductOf(const OpCall& call, const TensorType& result) {
    const auto data = [&] { return AtomType(m_, call.args[0])->As<TensorType>()->dtype; };
    if (auto packed = call.op->pack ? call.op->pack(call.attrs) : std::nullopt) {
      const Constant* weight = ConstantAt(call, packed->weight);
      if (weight == nullptr || weight->value.shape.size() != 2) return std::nullopt;
      const WeightForm* form = FormOf(weight, asked_, data(), result.dtype);
      if (form == nullptr) return std::nullopt;
      return PackedProduct{*std::move(packed), weight, weight->value, form};
    }
    if (call.op->layout != LayoutRule::kChooses || call.args.size() != 2) return std::nullopt;
    const Constant* kernel = Float32Weight(call, 1, result);
    if (kernel == nullptr || !IsPointwise(call, kernel->value)) return std::nullopt;
    // Blocks are for what reads its weights once for few rows.
    const WeightForm* asked = asked_ != nullptr && asked_->block == 0 ? asked_ : nullptr;
    PackedProduct product{{.op = "nn.contrib_dense_pack"},
                          kernel,
                          kernel->value,
                          FormOf(kernel, asked, DType::kFloat32, DType::kFloat32)};
    if (call.attrs.Has("out_dtype"))
      product.call.attrs.Set("out_dtype", *call.attrs.Find("out_dtype"));
    product.matrix.shape.erase(product.matrix.shape.begin(), product.matrix.shape.end() - 2);
    return product;
  }

  bool Product(const OpCall& call, const TensorType& result, Replacement& to) {
    const std::optional<PackedProduct> product = ProductOf(call, result);
    if (!product) return false;
    const auto& [wanted, weight, matrix, form_of] = *product;
    const WeightForm& form = *form_of;
    const bool transposed = wanted.is_transposed;
    const std::string how = fmt::format("{} {}", form.name, transposed);
    const int64_t n = matrix.shape[transposed ? 0 : 1];
    to = {wanted.op, call.args, wanted.attrs};
    to.args[wanted.weight] =
        Once(weight, how, [&] { return PackWeight(form, matrix, transposed, width_); });
    to.attrs.Set("units", n);
    if (form.block != 0 || form.side_by_side() > 1)
      to.attrs.Set("in_units", matrix.shape[transposed ? 1 : 0]);
    if (form.block == 0) return true;
    to.args.push_back(Once(
        weight, how + " scales", [&] { return PackWeightScales(form, matrix, transposed, width_); },
        ".scales"));
    to.op = "nn.contrib_dense_blocks";
    to.attrs = AttrsOf({{"units", n},
                        {"in_units", matrix.shape[transposed ? 1 : 0]},
                        {"form", std::string(form.name)}});
    return true;
  }

  bool ModelBlocks(const OpCall& call, Replacement& to) {
    if (call.op->name != "nn.contrib_dense_nbits") return false;
    auto constants = PackedNBits(call, width_);
    if (!constants) return false;
    const auto& weight = std::get<const Constant*>(call.args[1]);
    to = {"nn.contrib_dense_blocks", {call.args[0]}, {}};
    for (HostTensor& t : *constants) {
      to.args.push_back(MakeConstant(m_, std::move(t), to.args.size() == 1 ? weight->name : ""));
    }
    to.attrs.Set("units", weight->value.shape[0]);
    to.attrs.Set("in_units", call.attrs.Int("in_units"));
    to.attrs.Set("form", std::string(WeightFormOfBits(call.attrs.Int("bits"))->name));
    return true;
  }

  bool Winograd(const OpCall& call, const TensorType& result, Replacement& to) {
    const auto transformed =
        winograd_ ? winograd_->Of(call, result) : WinogradWeights::Transformed();
    if (transformed.weight == nullptr) return false;
    to = {"nn.contrib_conv2d_winograd", {call.args[0], transformed.weight}, {}};
    to.attrs.Set("tile_size", transformed.tile);
    to.attrs.Set("channels", transformed.kernel->value.shape[0]);
    to.attrs.Set("padding", *call.attrs.Find("padding"));
    return true;
  }

  // A convolution's, in its own layout or another one.
  bool Kernel(const OpCall& call, const TensorType& result, Replacement& to) {
    const Constant* floats = Float32Weight(call, 1, result);
    const Constant* bytes = ByteWeight(m_, call, 1, result);
    const Constant* kernel = floats != nullptr ? floats : bytes;
    const size_t rank = kernel == nullptr ? 0 : kernel->value.shape.size();
    if (rank < 3 || rank > 5) return false;
    const HostTensor& w = kernel->value;
    std::string layout = KernelLayout(call, w, result, rows_, width_);
    const bool stays = layout.empty();
    if (stays) layout = call.attrs.String("kernel_layout");
    const auto pack = [&](const auto& make) {
      to = {call.op->name, {call.args[0], Once(kernel, layout, make)}, call.attrs};
      to.attrs.Set("kernel_layout", layout);
      return true;
    };
    if (bytes != nullptr) {
      if (stays) return false;
      return pack([&] {
        const int64_t in_block = layout.ends_with("o4i") ? rows_ : 1;
        return PackByteKernelLater(w, layout.ends_with("IO4i"), in_block);
      });
    }
    const WeightForm& form = *FormOf(kernel, /*asked=*/nullptr, DType::kFloat32, DType::kFloat32);
    if (stays) {
      if (form.stored == w.dtype || !WidensAsItIs(call, w, result)) return false;
      return pack([&] { return EncodeElements(form, w); });
    }
    return pack([&] {
      const bool is_first = call.attrs.String("kernel_layout").starts_with("OI");
      const int64_t outs = is_first ? w.shape[0] : w.shape.back();
      const int64_t width = is_first ? rows_ : width_;
      HostTensor matrix = w;
      matrix.shape =
          is_first ? std::vector{outs, w.size() / outs} : std::vector{w.size() / outs, outs};
      HostTensor packed = PackWeight(form, matrix, is_first, width);
      // (o / width, the rest, width)
      packed.shape = {outs / width};
      packed.shape.insert(packed.shape.end(), w.shape.begin() + (is_first ? 1 : 0),
                          w.shape.end() - (is_first ? 0 : 1));
      packed.shape.push_back(width);
      return packed;
    });
  }

  const Module& m_;
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
               "3x3 convolutions do without Winograd's transforms"});
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
