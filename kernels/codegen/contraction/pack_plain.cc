// Packing pixels of memory, as a convolution of 1 x 1 takes them or in windows: as helpers of the
// module, which its kernels share whatever their sizes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "kernels/codegen/contraction/pack.h"
#include "kernels/codegen/contraction/taps.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

// --- Pixels as they are ---

// The helper's parameters, and what it makes of them.
class PlainPacker {
 public:
  enum Parameter : unsigned {
    kDestination,  // of the first panel and channel
    kData,         // the channel's pixels in the first image
    kPixels,       // of an image
    kImageStride,  // elements from image to image
    kImages,
    kChannels,  // to pack
    kColumn,    // the first panel's first pixel, of all images
    kCount,     // panels
    kPanelStride,
    kParameters
  };

  PlainPacker(Builder& b, llvm::Function* function, llvm::FixedVectorType* vector, int64_t panel,
              bool has_masks)
      : b_(b),
        function_(function),
        vector_(vector),
        element_(vector->getElementType()),
        lanes_(vector->getNumElements()),
        panel_(panel),
        align_(static_cast<uint64_t>(element_->getScalarSizeInBits() / 8)),
        has_masks_(has_masks) {}

  void Emit() {
    Value* pixels = Arg(kPixels);
    Value* image = Div(b_, Arg(kColumn), pixels);
    Value* first = Sub(b_, Arg(kColumn), Mul(b_, image, pixels));
    Value* is_last = b_.CreateICmpEQ(Add(b_, image, 1), Arg(kImages));
    Value* ends = b_.CreateICmpSLE(Add(b_, first, Mul(b_, Arg(kCount), panel_)), pixels);
    If(b_, b_.CreateOr(is_last, ends), [&] { PackImage(image, first); }, [&] { PackImages(); });
  }

 private:
  Value* Arg(Parameter i) { return function_->getArg(i); }
  Value* At(Value* base, Value* index) { return codegen::At(b_, element_, base, index); }
  Value* PanelAt(Value* q) { return At(Arg(kDestination), Mul(b_, q, Arg(kPanelStride))); }
  Value* Load(Value* pointer, Value* mask) {
    if (!mask) return b_.CreateAlignedLoad(vector_, pointer, align_);
    return b_.CreateMaskedLoad(vector_, pointer, align_, mask,
                               llvm::Constant::getNullValue(vector_));
  }

  // All panels are of one image: a channel's, of all panels, since memory is best read in long
  // runs.
  void PackImage(Value* image, Value* first) {
    Value* left = Sub(b_, Arg(kPixels), first);
    Value* whole = Min(b_, Div(b_, left, I64(b_, panel_)), Arg(kCount));
    Value* data = At(Arg(kData), Add(b_, Mul(b_, image, Arg(kImageStride)), first));
    For(b_, I64(b_, 0), Arg(kChannels), 1, "pack.channel", [&](Value* channel) {
      Value* from = At(data, Mul(b_, channel, Arg(kPixels)));
      Value* to = At(Arg(kDestination), Mul(b_, channel, panel_));
      const auto panels = [&](Value* begin, Value* end, bool is_whole) {
        For(b_, begin, end, 1, "pack.panel", [&](Value* q) {
          Value* x = Mul(b_, q, panel_);
          Value* panel = At(to, Mul(b_, q, Arg(kPanelStride)));
          Value* source = b_.CreateGEP(element_, from, x);
          for (int64_t v = 0; v < panel_; v += lanes_) {
            Value* mask = is_whole ? nullptr
                                   : MaskBelow(b_, Sub(b_, Sub(b_, left, x), I64(b_, v)),
                                               static_cast<unsigned>(lanes_));
            b_.CreateAlignedStore(Load(b_.CreateGEP(element_, source, I64(b_, v)), mask),
                                  At(panel, I64(b_, v)), align_);
          }
        });
      };
      panels(I64(b_, 0), whole, true);
      panels(whole, Arg(kCount), false);
    });
  }

  // The lanes of one image after those of another.
  void PackImages() {
    Value* columns = Mul(b_, Arg(kPixels), Arg(kImages));
    For(b_, I64(b_, 0), Arg(kCount), 1, "pack", [&](Value* q) {
      For(b_, I64(b_, 0), I64(b_, panel_), lanes_, "pack.vector", [&](Value* v) {
        Value* start = Add(b_, Add(b_, Arg(kColumn), Mul(b_, q, panel_)), v);
        Value* limit = Min(b_, Sub(b_, columns, start), I64(b_, lanes_));
        Value* to = At(PanelAt(q), v);
        ForNext(b_, I64(b_, 0), limit, "run",
                [&](Value* run) { return PackRun(start, run, limit, to); });
      });
    });
  }

  // The lanes from `run` on that are pixels of one image. Returns the next run.
  Value* PackRun(Value* start, Value* run, Value* limit, Value* to) {
    Value* at = Add(b_, start, run);
    Value* image = Div(b_, at, Arg(kPixels));
    Value* pixel = Sub(b_, at, Mul(b_, image, Arg(kPixels)));
    Value* next = Add(b_, run, Min(b_, Sub(b_, limit, run), Sub(b_, Arg(kPixels), pixel)));
    const auto lanes = static_cast<unsigned>(lanes_);
    Value* from_run = b_.CreateNot(MaskBelow(b_, run, lanes));
    Value* in_run = b_.CreateAnd(from_run, MaskBelow(b_, next, lanes));
    Value* data = b_.CreateGEP(element_, Arg(kData),
                               Sub(b_, Add(b_, Mul(b_, image, Arg(kImageStride)), pixel), run));
    const auto pack = [&](bool is_whole) {
      For(b_, I64(b_, 0), Arg(kChannels), 1, "pack.channel", [&](Value* channel) {
        Value* source = b_.CreateGEP(element_, data, Mul(b_, channel, Arg(kPixels)));
        Value* values = Load(source, is_whole ? nullptr : in_run);
        StoreLanes(values, At(to, Mul(b_, channel, panel_)), is_whole ? nullptr : from_run);
      });
    };
    If(
        b_, b_.CreateICmpEQ(Sub(b_, next, run), I64(b_, lanes_)), [&] { pack(true); },
        [&] { pack(false); });
    return next;
  }

  // Packed memory may be read and written back.
  void StoreLanes(Value* values, Value* pointer, Value* mask) {
    if (mask && has_masks_) {
      b_.CreateMaskedStore(values, pointer, align_, mask);
      return;
    }
    if (mask)
      values = b_.CreateSelect(mask, values, b_.CreateAlignedLoad(vector_, pointer, align_));
    b_.CreateAlignedStore(values, pointer, align_);
  }

  Builder& b_;
  llvm::Function* function_;
  llvm::FixedVectorType* vector_;
  llvm::Type* element_;
  const int64_t lanes_, panel_;
  const llvm::Align align_;
  const bool has_masks_;
};

// --- Windows ---

// The parameters of the helper; then the sizes of WindowSizes, then, where taps are left out, the
// first of each axis, how many are left of it, and how many of all.
enum WindowParameter : unsigned {
  kDestination,
  kData,  // of the first channel, in the first image
  kColumn,
  kCount,  // panels
  kPanelStride,
  kChannels,  // to pack
  kIsScattered,
  kSizes
};

// The extents that a packer reads.
std::vector<Dim*> WindowSizes(ContractionDetail& d) {
  std::vector<Dim*> sizes = {&d.columns, &d.pixels.channels};
  for (Dim& extent : d.pixels.input) sizes.push_back(&extent);
  for (Dim& extent : d.pixels.output) sizes.push_back(&extent);
  return sizes;
}

std::string NameOfPacker(const ContractionDetail& d, std::optional<int64_t> is_scattered) {
  const PixelOperand& p = d.pixels;
  const std::string form = !is_scattered ? "" : *is_scattered != 0 ? "_scattered" : "_runs";
  return fmt::format("pack_windows_{}_{}x{}_k{}_s{}_p{}_d{}{}{}", DTypeName(d.dtype), d.vectors,
                     d.lanes, fmt::join(p.kernel, "_"), fmt::join(p.stride, "_"),
                     fmt::join(p.padding, "_"), fmt::join(p.dilation, "_"),
                     d.cuts_taps ? "_cut" : "", form);
}

// `d`: with symbols for its sizes, in their order.
void DefinePackWindows(Builder& b, llvm::Function* function, const ContractionDetail& d,
                       size_t num_sizes, std::optional<int64_t> is_scattered) {
  const auto arg = [&](size_t i) -> Value* { return function->getArg(static_cast<unsigned>(i)); };
  function->addParamAttr(kDestination, llvm::Attribute::NoAlias);
  Emitter emitter(b);
  for (size_t i = 0; i < num_sizes; ++i)
    emitter.BindSymbol(static_cast<uint32_t>(i), arg(kSizes + i));
  emitter.BindBuffer(d.pixels.data.get(), arg(kData), /*constant=*/false);
  ContractionContext c(d, emitter, b, nullptr);
  TapBounds bounds{b.getFalse(), {}, {}, I64(b, d.pixels.taps())};
  size_t next = kSizes + num_sizes;
  for (size_t s = 0; s < d.pixels.spatial(); ++s) {
    bounds.first.push_back(d.cuts_taps ? arg(next++) : I64(b, 0));
    bounds.count.push_back(d.cuts_taps ? arg(next++) : I64(b, d.pixels.kernel[s]));
  }
  if (d.cuts_taps) bounds.taps = arg(next);
  Value* scattered = is_scattered ? static_cast<Value*>(b.getInt1(*is_scattered != 0))
                                  : b.CreateICmpNE(arg(kIsScattered), I64(b, 0));
  EmitPackPixels(
      c, bounds,
      {I64(b, 0), arg(kChannels), arg(kColumn), arg(kCount), arg(kDestination), arg(kPanelStride)},
      scattered);
}

}  // namespace

void EmitPackPlainPixels(ContractionContext& c, Value* group, Value* column, Value* count,
                         Value* channel, Value* end, Value* destination) {
  Builder& b = c.b;
  const ContractionDetail& d = c.d;
  const PixelOperand& p = d.pixels;
  llvm::Type *pointer = b.getPtrTy(), *i64 = b.getInt64Ty();
  std::vector<llvm::Type*> parameters(PlainPacker::kParameters, i64);
  parameters[PlainPacker::kDestination] = parameters[PlainPacker::kData] = pointer;
  const std::string name =
      fmt::format("pack_pixels_{}_{}x{}", DTypeName(d.dtype), d.vectors, d.lanes);
  llvm::Function* helper =
      GetOrDefineHelper(b, name, parameters, [&](Builder& builder, llvm::Function* function) {
        function->addParamAttr(PlainPacker::kDestination, llvm::Attribute::NoAlias);
        PlainPacker(builder, function, c.vector, d.panel, d.target.masks).Emit();
      });
  Value* pixels = c.emitter.EmitDim(p.input[0]);
  Value* first_channel = Add(b, Mul(b, group, p.group_channels), channel);
  std::vector<Value*> args(PlainPacker::kParameters);
  args[PlainPacker::kDestination] = destination;
  args[PlainPacker::kData] = PixelLoader(c, 1).Line({I64(b, 0), first_channel});
  args[PlainPacker::kPixels] = pixels;
  args[PlainPacker::kImageStride] = Mul(b, c.emitter.EmitDim(p.channels), pixels);
  args[PlainPacker::kImages] = c.emitter.EmitDim(d.images);
  args[PlainPacker::kChannels] = Sub(b, end, channel);
  args[PlainPacker::kColumn] = column;
  args[PlainPacker::kCount] = count;
  args[PlainPacker::kPanelStride] = I64(b, PixelPanelElements(d));
  b.CreateCall(helper, args);
}

void EmitPackWindows(ContractionContext& c, const TapBounds& bounds, const PixelPanels& panels,
                     Value* is_scattered) {
  Builder& b = c.b;
  ContractionDetail d = c.d;
  d.pixels.data = te::Placeholder("data", {1}, d.dtype, 0);
  d.images = d.batch = d.rows = d.depth = 1;
  Value* plane = I64(b, 1);
  for (const Dim& extent : d.pixels.input) plane = Mul(b, plane, c.emitter.EmitDim(extent));
  std::vector<Value*> args(kSizes);
  args[kDestination] = panels.destination;
  args[kData] = At(b, c.element, PixelLoader(c, 1).base(), Mul(b, panels.first_channel, plane));
  args[kColumn] = panels.column;
  args[kCount] = panels.count;
  args[kPanelStride] = panels.stride;
  args[kChannels] = panels.channels;
  args[kIsScattered] = b.CreateZExt(is_scattered, b.getInt64Ty());
  uint32_t symbol = 0;
  const std::vector<Dim*> sizes = WindowSizes(d);
  for (Dim* size : sizes) {
    args.push_back(c.emitter.EmitDim(*size));
    *size = Dim::Symbol(symbol++, "");
  }
  for (size_t s = 0; d.cuts_taps && s < d.pixels.spatial(); ++s) {
    args.push_back(bounds.first[s]);
    args.push_back(bounds.count[s]);
  }
  if (d.cuts_taps) args.push_back(bounds.taps);
  std::vector<llvm::Type*> types;
  for (const Value* argument : args) types.push_back(argument->getType());
  const std::optional<int64_t> known = ConstantOf(args[kIsScattered]);
  llvm::Function* helper = GetOrDefineHelper(
      b, NameOfPacker(d, known), types, [&](Builder& builder, llvm::Function* function) {
        DefinePackWindows(builder, function, d, sizes.size(), known);
      });
  b.CreateCall(helper, args);
}

}  // namespace relayvm::codegen
