// Packing pixels that a convolution of 1 x 1 takes as they are: as helpers of the module, which
// its kernels share whatever their sizes.
#include <fmt/format.h>

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

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

}  // namespace relayvm::codegen
