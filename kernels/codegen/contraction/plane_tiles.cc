// A unit is some lines of the output, or as many columns of them as leave planes in a cache, of all
// channels of a group. Its pixels are one line of `pitch` elements for each: output (y, x) is
// sums[(y - first) * pitch + x - left], where what is past a line's end is of no use, and its input
// at a tap is
//
//   plane[channel][ky * dilation % stride][kx * dilation % stride]
//        [y - first + ky * dilation / stride][x - left + kx * dilation / stride]
//
// where plane[channel][py][px][r][c] is
//
//   input[channel][(first + r) * stride + py - padding][(left + c) * stride + px - padding]
#include "kernels/codegen/contraction/plane_tiles.h"

#include <functional>
#include <utility>
#include <vector>

#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/plan.h"
#include "kernels/codegen/contraction/taps.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

class PlaneTileEmitter {
 public:
  explicit PlaneTileEmitter(ContractionContext& c)
      : c_(c),
        b_(c.b),
        d_(c.d),
        p_(c.d.pixels),
        epilogue_(c),
        loader_(c, c.d.pixels.stride[1]),
        taps_(EmitTapBounds(c)),
        rows_(c.emitter.EmitDim(c.d.plane_rows)),
        sums_pitch_(c.emitter.EmitDim(c.d.plane_sums)),
        planes_(c.scratch),
        sums_(c.Scratch(c.d.c_offset)),
        lines_in_(c.emitter.EmitDim(p_.input[0])),
        width_in_(c.emitter.EmitDim(p_.input[1])),
        lines_(c.emitter.EmitDim(p_.output[0])),
        width_(c.emitter.EmitDim(p_.output[1])) {}

  void Emit(Value* begin, Value* end) {
    // In vectors of eight, as few_rows.h has it.
    Value* of_tile = WorkOf(
        b_,
        WorkOf(b_, I64(b_, kPlaneTileLines * d_.tile_rows / 8), c_.emitter.EmitDim(d_.plane_pitch)),
        c_.depth);
    Value* of_unit = WorkOf(b_, of_tile, I64(b_, d_.rows.value() / d_.tile_rows));
    ForPolled(b_, begin, end, 1, of_unit, "unit", [&](Value* index) {
      std::vector<Value*> at =
          EmitUnflatten(c_, index,
                        {1, p_.groups, Dim::CeilDiv(p_.output[1], d_.plane_columns),
                         Dim::CeilDiv(p_.output[0], kPlaneTileLines)});
      Unit unit{};
      unit.image = at[0];
      unit.group = at[1];
      unit.left = Mul(b_, at[2], d_.plane_columns);
      unit.columns = Min(b_, Sub(b_, width_, unit.left), I64(b_, d_.plane_columns));
      unit.first = Mul(b_, at[3], kPlaneTileLines);
      unit.lines = Min(b_, Sub(b_, lines_, unit.first), I64(b_, kPlaneTileLines));
      unit.pitch = Add(b_, unit.columns, p_.reach(1));
      // Opaque: addresses then advance by it, where LLVM else multiplies by what makes it.
      if (!ConstantOf(unit.pitch)) unit.pitch = b_.CreateFreeze(unit.pitch);
      unit.plane = Mul(b_, rows_, unit.pitch);
      unit.of_channel = Mul(b_, unit.plane, p_.phases(0) * p_.phases(1));
      FillPlanes(unit);
      Value* weights = c_.PlainRow(d_.a, unit.group, I64(b_, 0));
      ForPolled(b_, I64(b_, 0), c_.rows, d_.tile_rows, of_tile, "tile", [&](Value* row) {
        SumTiles(unit, At(b_, c_.element, weights, Mul(b_, row, c_.depth)));
        StoreTiles(unit, row);
      });
    });
  }

 private:
  struct Unit {
    Value *image, *group;
    Value *first, *lines, *left, *columns;  // of the output
    Value *pitch, *plane, *of_channel;  // elements of a line, of a plane and of a channel's planes
  };
  using Sums = std::vector<Value*>;

  void FillPlanes(const Unit& unit) {
    For(b_, I64(b_, 0), I64(b_, p_.group_channels), 1, "plane.channel", [&](Value* channel) {
      Value* planes = At(b_, c_.element, planes_, Mul(b_, channel, unit.of_channel));
      Value* of_image = Add(b_, Mul(b_, unit.group, p_.group_channels), channel);
      ForPhases(0, [&](Value* py) {
        ForPhases(1, [&](Value* px) {
          Value* phase = Add(b_, Mul(b_, py, p_.phases(1)), px);
          Value* plane = At(b_, c_.element, planes, Mul(b_, phase, unit.plane));
          FillPlane(unit, of_image, py, px, plane);
        });
      });
    });
    // What the last pixels' tiles read past the last plane: numbers that cost no more than others.
    Value* after = At(b_, c_.element, planes_, Mul(b_, unit.of_channel, p_.group_channels));
    for (int64_t at = 0; at < d_.panel; at += d_.lanes) {
      c_.StoreLanes(llvm::Constant::getNullValue(c_.vector), At(b_, c_.element, after, at));
    }
  }

  void ForPhases(size_t axis, const std::function<void(Value*)>& body) {
    const int64_t phases = p_.phases(axis);
    if (phases == 1) return body(I64(b_, 0));
    For(b_, I64(b_, 0), I64(b_, phases), 1, "plane.phase", body);
  }

  // A vector may reach past its row, into what is filled after it.
  void FillPlane(const Unit& unit, Value* channel, Value* py, Value* px, Value* plane) {
    Value* vectors = CeilDiv(b_, unit.pitch, d_.lanes);
    For(b_, I64(b_, 0), vectors, 1, "plane.vector", [&](Value* i) {
      Value* column = Mul(b_, Sub(b_, Add(b_, vectors, -1), i), int64_t{d_.lanes});
      Value* x = Mul(b_, Add(b_, unit.left, column), p_.stride[1]);
      x = Add(b_, Add(b_, x, px), -p_.padding[1]);
      Value* mask = MaskInside(b_, x, p_.stride[1], width_in_, d_.lanes);
      For(b_, I64(b_, 0), Add(b_, unit.lines, p_.reach(0)), 1, "plane.row", [&](Value* row) {
        Value* y = Mul(b_, Add(b_, unit.first, row), p_.stride[0]);
        y = Add(b_, Add(b_, y, py), -p_.padding[0]);
        Value* to = At(b_, c_.element, plane, Add(b_, Mul(b_, row, unit.pitch), column));
        If(
            b_, b_.CreateICmpULT(y, lines_in_),
            [&] { c_.StoreLanes(loader_.Load({unit.image, channel, y, x}, mask), to); },
            [&] { c_.StoreLanes(llvm::Constant::getNullValue(c_.vector), to); });
      });
    });
  }

  // All pixels of the unit, of the tile's output channels, whose weights are at `weights`.
  void SumTiles(const Unit& unit, Value* weights) {
    Value* end = Add(b_, Mul(b_, Add(b_, unit.lines, -1), unit.pitch), unit.columns);
    Value* work = WorkOf(b_, I64(b_, d_.panel * d_.tile_rows / 8), c_.depth);
    ForPolled(b_, I64(b_, 0), end, d_.panel, work, "flat", [&](Value* flat) {
      if (!d_.cuts_taps) return SumTile(unit, weights, flat, false);
      If(
          b_, taps_.is_cut, [&] { SumTile(unit, weights, flat, true); },
          [&] { SumTile(unit, weights, flat, false); });
    });
  }

  // Of the pixels from `flat` on; `is_cut`: of the taps that are not left out.
  void SumTile(const Unit& unit, Value* weights, Value* flat, bool is_cut) {
    Sums sums(size_t{d_.tile_rows} * d_.vectors, llvm::Constant::getNullValue(c_.vector));
    Value* first = At(b_, c_.element, planes_, flat);
    sums = ForCarried(
        b_, I64(b_, 0), I64(b_, p_.group_channels), 1, "channel", std::move(sums),
        [&](Value* channel, const Sums& of_channels) {
          Value* planes = At(b_, c_.element, first, Mul(b_, channel, unit.of_channel));
          Value* k = Mul(b_, channel, p_.kernel[0]);
          return ForLines(unit, is_cut, of_channels,
                          [&](Value* ky, Value* line, const Sums& of_lines) {
                            return AddLine(unit, At(b_, c_.element, planes, line),
                                           WeightAt(weights, Mul(b_, Add(b_, k, ky), p_.kernel[1])),
                                           of_lines, is_cut);
                          });
        });
    for (int64_t row = 0; row < d_.tile_rows; ++row) {
      Value* to = At(b_, c_.element, sums_, Add(b_, Mul(b_, sums_pitch_, row), flat));
      for (int64_t v = 0; v < d_.vectors; ++v) {
        c_.StoreLanes(sums[row * d_.vectors + v], At(b_, c_.element, to, v * d_.lanes));
      }
    }
  }

  // The lines of a window, those of a phase after each other: addresses advance evenly.
  Sums ForLines(const Unit& unit, bool is_cut, const Sums& sums,
                const std::function<Sums(Value*, Value*, const Sums&)>& body) {
    const int64_t stride = p_.stride[0];
    Value* of_phase = Mul(b_, unit.plane, p_.phases(1));
    if (is_cut || p_.phases(0) == 1) {
      return ForTaps(0, is_cut, sums, [&](Value* ky, const Sums& of_lines) {
        Value* y = Mul(b_, ky, p_.dilation[0]);
        Value* phase = Mul(b_, of_phase, Phase(y, 0));
        Value* line = Mul(b_, Div(b_, y, I64(b_, stride)), unit.pitch);
        return body(ky, Add(b_, phase, line), of_lines);
      });
    }
    return ForCarried(
        b_, I64(b_, 0), I64(b_, p_.phases(0)), 1, "phase", sums,
        [&](Value* py, const Sums& of_phases) {
          Value* phase = Mul(b_, py, of_phase);
          Value* lines = Div(b_, Sub(b_, I64(b_, p_.kernel[0] + stride - 1), py), I64(b_, stride));
          return ForCarried(
              b_, I64(b_, 0), lines, 1, "tap", of_phases, [&](Value* i, const Sums& of_lines) {
                Value* line = Mul(b_, i, unit.pitch);
                return body(Add(b_, Mul(b_, i, stride), py), Add(b_, phase, line), of_lines);
              });
        });
  }

  Sums ForTaps(size_t axis, bool is_cut, const Sums& sums,
               const std::function<Sums(Value*, const Sums&)>& body) {
    Value* first = is_cut ? taps_.first[axis] : I64(b_, 0);
    Value* count = is_cut ? taps_.count[axis] : I64(b_, p_.kernel[axis]);
    return ForCarried(b_, first, Add(b_, first, count), 1, "tap", sums, body);
  }

  // Of a tap's distance from the first one: where in its stride it is.
  Value* Phase(Value* distance, size_t axis) { return Rem(b_, distance, I64(b_, p_.stride[axis])); }

  // Of the tile's first channel.
  Value* WeightAt(Value* weights, Value* k) {
    return At(b_, c_.element, weights, Mul(b_, k, d_.a_k_stride));
  }

  // The taps of a line of the window.
  Sums AddLine(const Unit& unit, Value* line, Value* weights, Sums sums, bool is_cut) {
    const auto add = [&](Value* kx, Sums of_taps) {
      Value* x = Mul(b_, kx, p_.dilation[1]);
      Value* phase = Mul(b_, Phase(x, 1), unit.plane);
      Value* from = At(b_, c_.element, line, Add(b_, phase, Div(b_, x, I64(b_, p_.stride[1]))));
      Value* weight = WeightAt(weights, kx);
      Sums data;
      for (int64_t v = 0; v < d_.vectors; ++v) {
        data.push_back(c_.LoadLanes(At(b_, c_.element, from, v * d_.lanes)));
      }
      for (int64_t row = 0; row < d_.tile_rows; ++row) {
        const int64_t at = d_.a_k_stride == 1 ? row * d_.depth.value() : row;
        Value* factor = b_.CreateVectorSplat(
            d_.lanes, b_.CreateLoad(c_.element, At(b_, c_.element, weight, at)));
        for (int64_t v = 0; v < d_.vectors; ++v) {
          Value*& sum = of_taps[row * d_.vectors + v];
          sum = MultiplyAdd(b_, factor, data[v], sum, d_.rounds);
        }
      }
      return of_taps;
    };
    constexpr int64_t kUnrolled = 7;
    if (p_.kernel[1] > kUnrolled || is_cut) return ForTaps(1, is_cut, sums, add);
    for (int64_t kx = 0; kx < p_.kernel[1]; ++kx) sums = add(I64(b_, kx), std::move(sums));
    return sums;
  }

  void StoreTiles(const Unit& unit, Value* row) {
    Value* whole = Mul(b_, Div(b_, unit.columns, I64(b_, d_.lanes)), int64_t{d_.lanes});
    For(b_, I64(b_, 0), I64(b_, d_.tile_rows), 1, "out.row", [&](Value* of_tile) {
      Value* channel = Add(b_, Add(b_, Mul(b_, unit.group, c_.rows), row), of_tile);
      Value* of_row = At(b_, c_.element, sums_, Mul(b_, sums_pitch_, of_tile));
      For(b_, I64(b_, 0), unit.lines, 1, "out.line", [&](Value* line) {
        Value* of_line = At(b_, c_.element, of_row, Mul(b_, line, unit.pitch));
        const auto store = [&](Value* x, Value* mask) {
          epilogue_.EmitVector({unit.image, channel, Add(b_, unit.first, line)},
                               Add(b_, unit.left, x), c_.LoadLanes(At(b_, c_.element, of_line, x)),
                               mask);
        };
        For(b_, I64(b_, 0), whole, d_.lanes, "out.vector", [&](Value* x) { store(x, nullptr); });
        If(b_, b_.CreateICmpSLT(whole, unit.columns),
           [&] { store(whole, MaskBelow(b_, Sub(b_, unit.columns, whole), d_.lanes)); });
      });
    });
  }

  ContractionContext& c_;
  Builder& b_;
  const ContractionDetail& d_;
  const PixelOperand& p_;
  EpilogueEmitter epilogue_;
  PixelLoader loader_;
  TapBounds taps_;
  // Lines of a plane; elements of a channel's sums; memory; extents.
  Value *rows_, *sums_pitch_, *planes_, *sums_;
  Value *lines_in_, *width_in_, *lines_, *width_;
};

}  // namespace

void EmitPlaneTiles(ContractionContext& c, Value* begin, Value* end) {
  PlaneTileEmitter(c).Emit(begin, end);
}

}  // namespace relayvm::codegen
