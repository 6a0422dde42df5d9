#include "kernels/codegen/contraction/direct.h"

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

#include "kernels/codegen/contraction/direct_channels.h"
#include "kernels/codegen/contraction/direct_flat.h"
#include "kernels/codegen/contraction/direct_planes.h"
#include "kernels/codegen/contraction/direct_small.h"
#include "kernels/codegen/contraction/direct_weights.h"
#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/plane_tiles.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

class DirectEmitter {
 public:
  explicit DirectEmitter(ContractionContext& c)
      : c_(c),
        b_(c.b),
        d_(c.d),
        p_(c.d.pixels),
        epilogue_(c),
        weights_(c),
        loader_(c, c.d.pixels.channels_last ? 1 : c.d.pixels.stride.back()) {
    for (const Dim& extent : p_.input) input_.push_back(c.emitter.EmitDim(extent));
    for (const Dim& extent : p_.output) output_.push_back(c.emitter.EmitDim(extent));
    if (d_.may_turn) Turn();
  }

  void Emit(Value* begin, Value* end) {
    const int64_t lines = p_.channels_last ? 1 : kDirectLines;
    Value* work = WorkOf(b_, WorkOf(b_, I64(b_, lines), output_.back()), c_.depth);
    if (d_.shares_lines) FillZeros();
    ForPolled(b_, begin, end, 1, work, "unit", [&](Value* unit) {
      // (n, group, line..., block of lines) or (n, line...)
      std::vector<Dim> extents = {1};
      if (!p_.channels_last) extents.push_back(p_.groups);
      extents.insert(extents.end(), p_.output.begin(), p_.output.end() - 1);
      if (!p_.channels_last && p_.spatial() > 1) {
        extents.back() = Dim::CeilDiv(extents.back(), kDirectLines);
      }
      std::vector<Value*> at = EmitUnflatten(c_, unit, extents);
      if (p_.channels_last) {
        EmitLineOfChannels(at[0], std::vector<Value*>(at.begin() + 1, at.end()));
      } else {
        EmitLines(at);
      }
    });
  }

 private:
  // An image of one column becomes one line.
  void Turn() {
    const auto is_one = [&](Value* extent) { return b_.CreateICmpEQ(extent, I64(b_, 1)); };
    is_turned_ = b_.CreateAnd(is_one(input_[1]), is_one(output_[1]));
    for (std::vector<Value*>* extents : {&input_, &output_}) {
      Value* height = (*extents)[0];
      (*extents)[0] = b_.CreateSelect(is_turned_, (*extents)[1], height);
      (*extents)[1] = b_.CreateSelect(is_turned_, height, (*extents)[1]);
    }
    loader_.Turn(is_turned_);
  }

  // What is read in place of lines outside of the input.
  void FillZeros() {
    zeros_ = c_.Scratch(d_.zeros_offset);
    For(b_, I64(b_, 0), input_.back(), d_.lanes, "zero", [&](Value* x) {
      c_.StoreLanes(llvm::Constant::getNullValue(c_.vector), At(b_, c_.element, zeros_, x));
    });
  }

  // The taps of one axis that fall inside the input, for the output position `at`: first and
  // past-the-last.
  std::pair<Value*, Value*> TapRange(size_t axis, Value* at) {
    const int64_t kernel = p_.kernel[axis], dilation = p_.dilation[axis];
    Value* start = Add(b_, Mul(b_, at, p_.stride[axis]), -p_.padding[axis]);
    auto taps_before = [&](Value* distance) {  // ceil(distance / dilation), at least 0
      return CeilDiv(b_, Max(b_, distance, I64(b_, 0)), dilation);
    };
    Value* first = p_.padding[axis] == 0 ? I64(b_, 0) : taps_before(Sub(b_, I64(b_, 0), start));
    Value* last = Min(b_, I64(b_, kernel), taps_before(Sub(b_, input_[axis], start)));
    return {first, last};
  }

  // Calls body(positions, tap, sums) in loops over the taps of axes first.. that are in range,
  // carrying sums.
  using Sums = std::vector<Value*>;
  using TapBody =
      std::function<Sums(const std::vector<Value*>& positions, Value* tap, const Sums&)>;
  Sums ForTaps(size_t axis, size_t last_axis, const std::vector<Value*>& at,
               const std::vector<Value*>& positions, Value* tap, const Sums& sums,
               const TapBody& body) {
    if (axis == last_axis) return body(positions, tap, sums);
    auto [first, last] = TapRange(axis, at[axis]);
    return ForCarried(b_, first, last, 1, "tap", sums, [&](Value* k, const Sums& carried) {
      std::vector<Value*> next = positions;
      next.push_back(Add(b_, Mul(b_, at[axis], p_.stride[axis]),
                         Add(b_, Mul(b_, k, p_.dilation[axis]), -p_.padding[axis])));
      return ForTaps(axis + 1, last_axis, at, next, Add(b_, Mul(b_, tap, p_.kernel[axis]), k),
                     carried, body);
    });
  }

  // --- Channels first: vectors along the last axis, of several lines that share what they load ---

  // Some lines by some vectors of outputs, whose first pixel is (outer..., line, x).
  struct Block {
    Value *image, *group;
    std::vector<Value*> outer;
    Value *line, *x;
    Value* lines_left;
    int64_t lines, vectors;
    bool masked;  // pixels may be outside of the input or of the output
  };

  bool has_lines() const { return p_.spatial() > 1; }
  // The accumulator of output channel m of the group.
  static size_t SumAt(const Block& block, int64_t m, int64_t line, int64_t v) {
    return (m * block.lines + line) * block.vectors + v;
  }

  // `at`: (n, group, position of the outer axes..., block of lines)
  void EmitLines(const std::vector<Value*>& at) {
    const size_t w = p_.spatial() - 1;
    Block block{at[0], at[1], {at.begin() + 2, at.end()}, nullptr, nullptr, nullptr, 1, 1, true};
    Value* first = I64(b_, 0);
    Value* last = I64(b_, 1);
    if (has_lines()) {
      first = Mul(b_, block.outer.back(), kDirectLines);
      last = Min(b_, Add(b_, first, kDirectLines), output_[w - 1]);
      block.outer.pop_back();
    }
    weights_.Bind(block.group);
    if (!d_.has_dots) return EmitLinesOf(block, first, last);
    If(
        b_, b_.CreateICmpSLE(output_[w], I64(b_, kFewDirectPixels)), [&] { EmitDots(block); },
        [&] { EmitLinesOf(block, first, last); });
  }

  // One output after the other: the taps that are inside follow each other in memory.
  void EmitDots(const Block& block) {
    Value* zero = llvm::Constant::getNullValue(c_.vector);
    std::vector<Value*> outer = {block.image, nullptr};
    for (int64_t m = 0; m < d_.rows.value(); ++m) {
      Value* data = loader_.Line({block.image, block.group});
      Value* row = ForCarried1(output_[0], zero, [&](Value* x, Value* sums) {
        const auto [first, last] = TapRange(0, x);
        Value* from = At(b_, c_.element, data, Add(b_, Mul(b_, x, p_.stride[0]), -p_.padding[0]));
        const llvm::Align align(c_.element_bytes);
        Sums sum = ForCarried(
            b_, first, last, d_.lanes, "tap", {zero}, [&](Value* k, const Sums& carried) -> Sums {
              Value* mask = MaskBelow(b_, Sub(b_, last, k), d_.lanes);
              const auto load = [&](Value* at) {
                return b_.CreateMaskedLoad(c_.vector, At(b_, c_.element, at, k), align, mask, zero);
              };
              return {MultiplyAdd(b_, load(weights_.Row(m)), load(from), carried[0], false)};
            });
        Value* all = b_.CreateFAddReduce(llvm::ConstantFP::getZero(c_.element), sum[0]);
        llvm::cast<llvm::Instruction>(all)->setHasAllowReassoc(true);
        return b_.CreateInsertElement(sums, all, x);
      });
      outer[1] = Add(b_, Mul(b_, block.group, d_.rows.value()), m);
      epilogue_.EmitVector(outer, I64(b_, 0), row, MaskBelow(b_, output_[0], d_.lanes));
    }
  }

  Value* ForCarried1(Value* count, Value* start,
                     const std::function<Value*(Value*, Value*)>& body) {
    return ForCarried(
        b_, I64(b_, 0), count, 1, "pixel", {start},
        [&](Value* i, const Sums& carried) -> Sums { return {body(i, carried[0])}; })[0];
  }

  void EmitLinesOf(Block block, Value* first, Value* last) {
    const size_t w = p_.spatial() - 1;
    const int64_t outputs = d_.rows.value();
    if (d_.shares_lines) {
      const int64_t most = d_.target.vector_registers == 32 ? 16 : 8;
      block.lines = std::clamp<int64_t>(most / outputs, 1, 4);
      if (p_.output[w - 1].is_const()) {
        block.lines = std::clamp<int64_t>(p_.output[w - 1].value(), 1, block.lines);
      }
    }
    Block wide = block;
    wide.masked = false;
    // Each weight is a load of its own, which several vectors share where registers hold the sums.
    const int64_t sums = !d_.shares_lines && d_.target.vector_registers == 32 ? 16 : 8;
    wide.vectors = std::clamp<int64_t>(sums / (outputs * block.lines), 1, 4);
    if (p_.output[w].is_const()) {
      const int64_t needed = (p_.output[w].value() + d_.lanes - 1) / d_.lanes;
      wide.vectors = std::clamp<int64_t>(needed, 1, wide.vectors);
    }
    if (!d_.shares_lines) block.vectors = wide.vectors;
    MakeRoom(wide);
    const int64_t chunk = wide.vectors * d_.lanes;
    const bool has_wide =
        !MasksAreFree(wide) && (!p_.output[w].is_const() || p_.output[w].value() >= chunk);
    if (is_turned_) weights_.Turn(block.group, is_turned_, b_.CreateICmpSLT(first, last));
    For(b_, first, last, block.lines, "line", [&](Value* line) {
      block.line = wide.line = line;
      block.lines_left = wide.lines_left = Min(b_, Sub(b_, last, line), I64(b_, block.lines));
      ForNext(b_, I64(b_, 0), output_[w], "chunk", [&](Value* x) {
        block.x = wide.x = x;
        if (!has_wide) {
          EmitBlock(block);
          return Add(b_, x, block.vectors * d_.lanes);
        }
        Value* from = Add(b_, Mul(b_, x, p_.stride[w]), -p_.padding[w]);
        Value* reach = Add(b_, from, (p_.kernel[w] - 1) * p_.dilation[w] + chunk * p_.stride[w]);
        Value* inside =
            b_.CreateAnd(b_.CreateICmpSGE(from, I64(b_, 0)), b_.CreateICmpSLE(reach, input_[w]));
        inside = b_.CreateAnd(inside, b_.CreateICmpSLE(Add(b_, x, chunk), output_[w]));
        If(b_, inside, [&] { EmitBlock(wide); }, [&] { EmitBlock(block); });
        Value* vectors = b_.CreateSelect(inside, I64(b_, wide.vectors), I64(b_, block.vectors));
        return Add(b_, x, Mul(b_, vectors, int64_t{d_.lanes}));
      });
    });
  }

  // Whether blocks with masks take no longer than those without: as many vectors, whose masks stay
  // in registers of their own.
  bool MasksAreFree(const Block& wide) const {
    constexpr int64_t kMasks = 6;
    return d_.target.masks && p_.plain && !d_.shares_lines &&
           wide.vectors * p_.kernel.back() <= kMasks;
  }

  // The lanes of outputs that exist.
  Value* OutputMask(const Block& block, Value* v) {
    if (!block.masked) return nullptr;
    Value* x = Add(b_, block.x, Mul(b_, v, int64_t{d_.lanes}));
    return MaskBelow(b_, Sub(b_, output_.back(), x), d_.lanes);
  }

  // Position of lane 0 of vector v at tap k of the last axis.
  Value* InputX(const Block& block, int64_t v, Value* k) {
    const size_t w = p_.spatial() - 1;
    return Add(b_, Mul(b_, Add(b_, block.x, v * d_.lanes), p_.stride[w]),
               Add(b_, Mul(b_, k, p_.dilation[w]), -p_.padding[w]));
  }

  // The lanes whose output exists and whose input at tap k is inside.
  Value* InputMask(const Block& block, int64_t v, Value* k) {
    if (!block.masked) return nullptr;
    return b_.CreateAnd(
        OutputMask(block, I64(b_, v)),
        MaskInside(b_, InputX(block, v, k), p_.stride.back(), input_.back(), d_.lanes));
  }

  // Adds one tap of the last axis of an input line to the sums of the lines that use it: `uses`
  // holds those lines, and the taps of the axes before that they use it with.
  using Uses = std::vector<std::pair<int64_t, Value*>>;
  void AddTap(const Block& block, Value* channel, const std::vector<Value*>& positions, Value* k,
              const Uses& uses, Sums& sums) {
    std::vector<Value*> data;
    for (int64_t v = 0; v < block.vectors; ++v) {
      std::vector<Value*> index = {block.image,
                                   Add(b_, Mul(b_, block.group, p_.group_channels), channel)};
      index.insert(index.end(), positions.begin(), positions.end());
      index.push_back(InputX(block, v, k));
      data.push_back(loader_.Load(index, InputMask(block, v, k)));
    }
    AddProducts(block, channel, k, data, uses, sums);
  }

  // Adds `data`, the inputs at tap k, to those sums.
  void AddProducts(const Block& block, Value* channel, Value* k, const Sums& data, const Uses& uses,
                   Sums& sums) {
    for (auto [line, outer_tap] : uses) {
      Value* tap = Add(b_, Mul(b_, outer_tap, p_.kernel.back()), k);
      for (int64_t m = 0; m < d_.rows.value(); ++m) {
        Value* weight = b_.CreateVectorSplat(
            d_.lanes, weights_.Load(m, Add(b_, Mul(b_, channel, p_.taps()), tap)));
        for (int64_t v = 0; v < block.vectors; ++v) {
          Value*& sum = sums[SumAt(block, m, line, v)];
          sum = MultiplyAdd(b_, weight, data[v], sum, d_.rounds);
        }
      }
    }
  }

  // What a block's input lines are loaded by, once for all of them: the position of lane 0 at tap
  // 0, and the lanes inside of the line for each vector of contiguous elements from there.
  struct LineMasks {
    Value* x;
    std::map<int64_t, Value*> inside;  // by the vector's distance from x; empty: all are inside
  };
  LineMasks MasksOf(const Block& block) {
    LineMasks masks{InputX(block, 0, I64(b_, 0)), {}};
    if (!block.masked) return masks;
    for (int64_t k = 0; k < p_.kernel.back(); ++k) {
      for (int64_t at : ContiguousLoads(k * p_.dilation.back(), block.vectors)) {
        if (masks.inside.contains(at)) continue;
        masks.inside[at] = MaskInside(b_, Add(b_, masks.x, at), 1, input_.back(), d_.lanes);
      }
    }
    return masks;
  }

  // Where the vectors of contiguous elements start that hold a tap `offset` elements in.
  std::vector<int64_t> ContiguousLoads(int64_t offset, int64_t vectors) const {
    const int64_t lanes = d_.lanes, stride = p_.stride.back();
    std::vector<int64_t> result;
    for (int64_t i = 0; i < vectors * stride; ++i) {
      result.push_back(offset / stride * stride + i * lanes);
    }
    return result;
  }

  // The inputs of tap k, a vector for each of the block's: taps that differ by less than the stride
  // share what they load, in `loaded`.
  Sums LoadTap(const Block& block, const LineMasks& masks, Value* line, int64_t k,
               std::map<int64_t, Value*>& loaded) {
    const int64_t offset = k * p_.dilation.back(), stride = p_.stride.back();
    Sums parts;
    for (int64_t at : ContiguousLoads(offset, block.vectors)) {
      Value*& part = loaded[at];
      if (!part) {
        Value* pointer = At(b_, c_.element, line, Add(b_, masks.x, at));
        Value* mask = masks.inside.empty() ? nullptr : masks.inside.at(at);
        const llvm::Align align(c_.element_bytes);
        if (mask) {
          part = b_.CreateMaskedLoad(c_.vector, pointer, align, mask,
                                     llvm::Constant::getNullValue(c_.vector));
        } else {
          part = b_.CreateAlignedLoad(c_.vector, pointer, align);
        }
      }
      parts.push_back(part);
    }
    if (stride == 1) return parts;
    std::vector<int> every_other;
    for (unsigned i = 0; i < d_.lanes; ++i) {
      every_other.push_back(static_cast<int>(2 * i + offset % 2));
    }
    Sums result;
    for (int64_t v = 0; v < block.vectors; ++v) {
      result.push_back(b_.CreateShuffleVector(parts[2 * v], parts[2 * v + 1], every_other));
    }
    return result;
  }

  // All taps of a line of the input, unrolled.
  Sums AddInputLine(const Block& block, const LineMasks& masks, Value* channel,
                    const std::vector<Value*>& positions, const Uses& uses, Sums sums) {
    std::vector<Value*> index = {block.image,
                                 Add(b_, Mul(b_, block.group, p_.group_channels), channel)};
    index.insert(index.end(), positions.begin(), positions.end());
    Value* is_inside = b_.CreateICmpULT(positions.back(), input_[p_.spatial() - 2]);
    Value* line = b_.CreateSelect(is_inside, loader_.Line(index), zeros_);
    std::map<int64_t, Value*> loaded;
    for (int64_t k = 0; k < p_.kernel.back(); ++k) {
      AddProducts(block, channel, I64(b_, k), LoadTap(block, masks, line, k, loaded), uses, sums);
    }
    return sums;
  }

  // All taps of the last two axes, unrolled: each input line is loaded once for all lines of the
  // block.
  Sums AddWindow(const Block& block, const LineMasks& masks, Value* channel,
                 const std::vector<Value*>& outer_positions, Value* outer_tap, Sums sums) {
    const size_t h = p_.spatial() - 2;
    const int64_t inputs =
        (block.lines - 1) * p_.stride[h] + (p_.kernel[h] - 1) * p_.dilation[h] + 1;
    for (int64_t input = 0; input < inputs; ++input) {
      Uses uses;
      for (int64_t line = 0; line < block.lines; ++line) {
        const int64_t distance = input - line * p_.stride[h];
        const int64_t k = distance / p_.dilation[h];
        if (distance < 0 || distance % p_.dilation[h] != 0 || k >= p_.kernel[h]) continue;
        uses.emplace_back(line, Add(b_, Mul(b_, outer_tap, p_.kernel[h]), k));
      }
      if (uses.empty()) continue;
      std::vector<Value*> positions = outer_positions;
      positions.push_back(Add(b_, Mul(b_, block.line, p_.stride[h]), input - p_.padding[h]));
      sums = AddInputLine(block, masks, channel, positions, uses, std::move(sums));
    }
    return sums;
  }

  // The taps of the last axis, of one line.
  Sums AddLine(const Block& block, Value* channel, const std::vector<Value*>& positions,
               Value* outer_tap, Sums sums) {
    auto add = [&](Value* k, Sums carried) {
      AddTap(block, channel, positions, k, {{0, outer_tap}}, carried);
      return carried;
    };
    // Usual widths are unrolled.
    if (p_.kernel.back() > 7 || !p_.plain) {
      return ForCarried(b_, I64(b_, 0), I64(b_, p_.kernel.back()), 1, "tap", sums, add);
    }
    for (int64_t k = 0; k < p_.kernel.back(); ++k) sums = add(I64(b_, k), std::move(sums));
    return sums;
  }

  Sums SumsOf(const Block& block) {
    const bool shares = d_.shares_lines;
    std::vector<Value*> at = block.outer;
    if (has_lines() && !shares) at.push_back(block.line);
    LineMasks masks;
    if (shares) masks = MasksOf(block);
    auto channel_sums = [&](Value* channel, const Sums& carried) {
      return ForTaps(0, at.size(), at, {}, I64(b_, 0), carried,
                     [&](const std::vector<Value*>& positions, Value* tap, const Sums& inner) {
                       return shares ? AddWindow(block, masks, channel, positions, tap, inner)
                                     : AddLine(block, channel, positions, tap, inner);
                     });
    };
    const Sums zeros(d_.rows.value() * block.lines * block.vectors,
                     llvm::Constant::getNullValue(c_.vector));
    if (p_.group_channels == 1) return channel_sums(I64(b_, 0), zeros);
    return ForCarried(b_, I64(b_, 0), I64(b_, p_.group_channels), 1, "channel", zeros,
                      channel_sums);
  }

  // Sums go through memory where what is computed of them is a loop, over the lines of a block and,
  // if it is long, over its vectors. `most`: the block that has most of them.
  void MakeRoom(const Block& most) {
    room_ = nullptr;
    if (most.lines == 1 && !d_.has_long_epilogue) return;
    const auto sums = static_cast<uint64_t>(d_.rows.value() * most.lines * most.vectors);
    llvm::BasicBlock& entry = b_.GetInsertBlock()->getParent()->getEntryBlock();
    room_ = llvm::IRBuilder<>(&entry, entry.begin())
                .CreateAlloca(llvm::ArrayType::get(c_.vector, sums));
  }

  void EmitBlock(const Block& block) {
    const int64_t outputs = d_.rows.value();
    const Sums sums = SumsOf(block);
    for (size_t i = 0; room_ && i < sums.size(); ++i) {
      b_.CreateStore(sums[i], At(b_, c_.vector, room_, static_cast<int64_t>(i)));
    }
    For(b_, I64(b_, 0), has_lines() ? block.lines_left : I64(b_, 1), 1, "out.line",
        [&](Value* line) {
          for (int64_t m = 0; m < outputs; ++m) {
            std::vector<Value*> outer = {block.image, Add(b_, Mul(b_, block.group, outputs), m)};
            Value* first = block.x;
            if (d_.may_be_flat || d_.may_turn) {  // pixels are one axis
              first = Add(b_, first, Mul(b_, Add(b_, block.line, line), output_.back()));
            } else {
              outer.insert(outer.end(), block.outer.begin(), block.outer.end());
              if (has_lines()) outer.push_back(Add(b_, block.line, line));
            }
            auto store = [&](Value* v) {
              Value* sum = nullptr;
              if (room_) {
                Value* index = Add(b_, Mul(b_, Add(b_, line, m * block.lines), block.vectors), v);
                sum = b_.CreateLoad(c_.vector, At(b_, c_.vector, room_, index));
              } else {
                sum = sums[SumAt(block, m, 0, *ConstantOf(v))];
              }
              epilogue_.EmitVector(outer, Add(b_, first, Mul(b_, v, int64_t{d_.lanes})), sum,
                                   OutputMask(block, v));
            };
            if (d_.has_long_epilogue) {
              For(b_, I64(b_, 0), I64(b_, block.vectors), 1, "out.vector", store);
            } else {
              for (int64_t v = 0; v < block.vectors; ++v) store(I64(b_, v));
            }
          }
        });
  }

  // --- Channels last: one channel a group, vectors along the groups ---

  void EmitLineOfChannels(Value* image, const std::vector<Value*>& line) {
    const size_t w = p_.spatial() - 1;
    const int64_t whole = p_.groups / d_.lanes * d_.lanes;
    For(b_, I64(b_, 0), output_[w], 1, "pixel", [&](Value* x) {
      std::vector<Value*> at = line;
      at.push_back(x);
      auto channels_from = [&](Value* channel, int64_t vectors, Value* mask) {
        Sums sums(vectors, llvm::Constant::getNullValue(c_.vector));
        auto one_tap = [&](const std::vector<Value*>& positions, Value* tap, const Sums& carried) {
          Sums next;
          for (int64_t v = 0; v < vectors; ++v) {
            Value* at_channel = Add(b_, channel, v * d_.lanes);
            std::vector<Value*> index = {image};
            index.insert(index.end(), positions.begin(), positions.end());
            index.push_back(at_channel);
            Value* data = loader_.Load(index, mask);
            Value* weights = c_.LoadView(d_.a.view, at_channel, I64(b_, 0), tap, 0, mask);
            next.push_back(MultiplyAdd(b_, weights, data, carried[v], d_.rounds));
          }
          return next;
        };
        sums = ForTaps(0, p_.spatial(), at, {}, I64(b_, 0), sums, one_tap);
        std::vector<Value*> outer = {image};
        outer.insert(outer.end(), at.begin(), at.end());
        for (int64_t v = 0; v < vectors; ++v) {
          epilogue_.EmitVector(outer, Add(b_, channel, v * d_.lanes), sums[v], mask);
        }
      };
      // Several vectors hide the latency of a chain of FMAs over few taps.
      constexpr int64_t kVectors = 4;
      const int64_t lanes = d_.lanes;
      const int64_t blocks = p_.groups / (kVectors * lanes) * kVectors * lanes;
      For(b_, I64(b_, 0), I64(b_, blocks), kVectors * lanes, "channel",
          [&](Value* channel) { channels_from(channel, kVectors, nullptr); });
      For(b_, I64(b_, blocks), I64(b_, whole), lanes, "channel",
          [&](Value* channel) { channels_from(channel, 1, nullptr); });
      if (whole < p_.groups) {
        channels_from(I64(b_, whole), 1, MaskBelow(b_, I64(b_, p_.groups - whole), d_.lanes));
      }
    });
  }

  ContractionContext& c_;
  Builder& b_;
  const ContractionDetail& d_;
  const PixelOperand& p_;
  EpilogueEmitter epilogue_;
  DirectWeights weights_;
  PixelLoader loader_;
  std::vector<Value*> input_, output_;
  Value* is_turned_ = nullptr;  // null: never
  Value* zeros_ = nullptr;      // a line of the input
  Value* room_ = nullptr;       // see MakeRoom
};

}  // namespace

void EmitDirectConvolution(ContractionContext& c, Value* begin, Value* end) {
  if (c.d.block_pixels > 0) return EmitChannelBlocks(c, begin, end);
  if (c.d.is_small) return EmitSmall(c, begin, end);
  if (c.d.has_planes) return EmitPlanes(c, begin, end);
  if (c.d.has_plane_tiles) return EmitPlaneTiles(c, begin, end);
  auto lines = [&] { DirectEmitter(c).Emit(begin, end); };
  if (!c.d.may_be_flat) return lines();
  If(c.b, TakesFlat(c), [&] { EmitFlat(c, begin, end); }, lines);
}

}  // namespace relayvm::codegen
