// Lines y.. of the output are one vector after the other, `pitch` elements a line: output (y, x)
// is sums[(y - first) * pitch + x], where what is past a line's end is of no use. Its input at a
// tap is as far into a plane, from an element of the tap's own on:
//
//   plane[py][px][r][c] = input[(first + r) * stride + py - padding][c * stride + px - padding]
//   tap (ky, kx) starts at plane[ky * dilation % stride][...][ky * dilation / stride][...]
#include "kernels/codegen/contraction/direct_planes.h"

#include <algorithm>
#include <vector>

#include "kernels/codegen/contraction/direct_weights.h"
#include "kernels/codegen/contraction/epilogue.h"
#include "kernels/codegen/contraction/tile.h"

namespace relayvm::codegen {

using llvm::Value;

namespace {

class PlaneEmitter {
 public:
  explicit PlaneEmitter(ContractionContext& c)
      : c_(c),
        b_(c.b),
        d_(c.d),
        p_(c.d.pixels),
        epilogue_(c),
        weights_(c),
        loader_(c, c.d.pixels.stride.back()),
        pitch_(c.emitter.EmitDim(c.d.plane_pitch)) {
    for (const Dim& extent : p_.input) input_.push_back(c.emitter.EmitDim(extent));
    for (const Dim& extent : p_.output) output_.push_back(c.emitter.EmitDim(extent));
  }

  // Several units together, one step of all after the other: what is stored in pieces is not loaded
  // at once.
  void Emit(Value* begin, Value* end) {
    Value* work =
        WorkOf(b_, WorkOf(b_, I64(b_, kDirectLines * d_.plane_units), output_.back()), c_.depth);
    ForPolled(b_, begin, end, d_.plane_units, work, "units", [&](Value* first) {
      Value* count = Min(b_, Sub(b_, end, first), I64(b_, d_.plane_units));
      for (int step = 0; step < 3; ++step) {
        For(b_, I64(b_, 0), count, 1, kPlaneSteps[step], [&](Value* i) {
          std::vector<Value*> at = EmitUnflatten(
              c_, Add(b_, first, i), {1, p_.groups, Dim::CeilDiv(p_.output[0], kDirectLines)});
          Planes unit{at[0],   at[1],  Mul(b_, at[2], kDirectLines), nullptr, nullptr,
                      nullptr, nullptr};
          unit.lines = Min(b_, Sub(b_, output_[0], unit.first), I64(b_, kDirectLines));
          Value* memory =
              At(b_, b_.getInt8Ty(), c_.scratch, Mul(b_, i, c_.emitter.EmitDim(d_.plane_bytes)));
          unit.planes = memory;
          unit.sums = At(b_, b_.getInt8Ty(), memory, c_.emitter.EmitDim(d_.c_offset));
          // Weights are widened long before they are read.
          if (d_.a.halves)
            unit.weights = step == 0
                               ? weights_.Widen(unit.group, memory)
                               : At(b_, b_.getInt8Ty(), memory, c_.emitter.EmitDim(d_.a_offset));
          if (step == 0) FillPlanes(unit);
          if (step == 1) SumPlanes(unit);
          if (step == 2) StorePlanes(unit);
        });
      }
    });
  }

 private:
  // What one unit works with.
  struct Planes {
    Value *image, *group, *first, *lines;
    Value *planes, *sums, *weights;  // memory; weights: null where they are read where they are
  };
  static constexpr const char* kPlaneSteps[] = {"plane.fill", "plane.sum", "plane.out"};

  // Where the sums of output channel m of the group are.
  Value* SumsOf(const Planes& unit, int64_t m) {
    Value* elements = c_.emitter.EmitDim(d_.plane_sums);
    return At(b_, c_.element, unit.sums, Mul(b_, elements, m));
  }

  void SumPlanes(const Planes& unit) {
    const int64_t outputs = d_.rows.value(), lanes = d_.lanes;
    weights_.Bind(unit.group, unit.weights);
    Value* end = Add(b_, Mul(b_, Add(b_, unit.lines, -1), pitch_), output_[1]);
    For(b_, I64(b_, 0), end, d_.plane_vectors * lanes, "flat", [&](Value* flat) {
      std::vector<Value*> values(outputs * d_.plane_vectors,
                                 llvm::Constant::getNullValue(c_.vector));
      for (int64_t ky = 0; ky < p_.kernel[0]; ++ky) {
        for (int64_t kx = 0; kx < p_.kernel[1]; ++kx) {
          const int64_t y = ky * p_.dilation[0], x = kx * p_.dilation[1];
          Value* from = Add(b_, PlaneAt(y % p_.stride[0], x % p_.stride[1]),
                            Add(b_, Mul(b_, pitch_, y / p_.stride[0]), x / p_.stride[1]));
          Value* start = At(b_, c_.element, unit.planes, Add(b_, from, flat));
          std::vector<Value*> data;
          for (int64_t v = 0; v < d_.plane_vectors; ++v) {
            data.push_back(c_.LoadLanes(At(b_, c_.element, start, v * lanes)));
          }
          for (int64_t m = 0; m < outputs; ++m) {
            Value* weight =
                b_.CreateVectorSplat(d_.lanes, weights_.Load(m, I64(b_, ky * p_.kernel[1] + kx)));
            for (int64_t v = 0; v < d_.plane_vectors; ++v) {
              Value*& sum = values[m * d_.plane_vectors + v];
              sum = MultiplyAdd(b_, weight, data[v], sum, d_.rounds);
            }
          }
        }
      }
      for (int64_t m = 0; m < outputs; ++m) {
        Value* to = At(b_, c_.element, SumsOf(unit, m), flat);
        for (int64_t v = 0; v < d_.plane_vectors; ++v) {
          c_.StoreLanes(values[m * d_.plane_vectors + v], At(b_, c_.element, to, v * lanes));
        }
      }
    });
  }

  void StorePlanes(const Planes& unit) {
    const int64_t outputs = d_.rows.value();
    for (int64_t m = 0; m < outputs; ++m) {
      Value* sums = SumsOf(unit, m);
      For(b_, I64(b_, 0), output_[1], d_.lanes, "out.vector", [&](Value* x) {
        Value* mask = MaskBelow(b_, Sub(b_, output_[1], x), d_.lanes);
        For(b_, I64(b_, 0), unit.lines, 1, "out.line", [&](Value* line) {
          Value* sum = c_.LoadLanes(At(b_, c_.element, sums, Add(b_, Mul(b_, line, pitch_), x)));
          epilogue_.EmitVector(
              {unit.image, Add(b_, Mul(b_, unit.group, outputs), m), Add(b_, unit.first, line)}, x,
              sum, mask);
        });
      });
    }
  }

  // Where plane (py, px) starts.
  Value* PlaneAt(int64_t py, int64_t px) {
    Value* rows = c_.emitter.EmitDim(d_.plane_rows);
    return Mul(b_, Mul(b_, rows, pitch_), py * p_.stride[1] + px);
  }

  // A vector may reach past its row, into what is filled after it.
  void FillPlanes(const Planes& unit) {
    const int64_t lanes = d_.lanes;
    Value* vectors = CeilDiv(b_, pitch_, lanes);
    Value* zero = llvm::Constant::getNullValue(c_.vector);
    for (int64_t py = 0; py < std::min(p_.stride[0], (p_.kernel[0] - 1) * p_.dilation[0] + 1);
         ++py) {
      for (int64_t px = 0; px < std::min(p_.stride[1], (p_.kernel[1] - 1) * p_.dilation[1] + 1);
           ++px) {
        Value* plane = At(b_, c_.element, unit.planes, PlaneAt(py, px));
        For(b_, I64(b_, 0), vectors, 1, "plane.vector", [&](Value* i) {
          Value* column = Mul(b_, Sub(b_, Add(b_, vectors, -1), i), lanes);
          Value* x = Add(b_, Mul(b_, column, p_.stride[1]), px - p_.padding[1]);
          Value* mask = MaskInside(b_, x, p_.stride[1], input_[1], d_.lanes);
          For(b_, I64(b_, 0), Add(b_, unit.lines, p_.reach(0)), 1, "plane.row", [&](Value* row) {
            Value* y = Add(b_, Mul(b_, Add(b_, unit.first, row), p_.stride[0]), py - p_.padding[0]);
            Value* to = At(b_, c_.element, plane, Add(b_, Mul(b_, row, pitch_), column));
            If(
                b_, b_.CreateICmpULT(y, input_[0]),
                [&] { c_.StoreLanes(loader_.Load({unit.image, unit.group, y, x}, mask), to); },
                [&] { c_.StoreLanes(zero, to); });
          });
        });
      }
    }
  }

  ContractionContext& c_;
  Builder& b_;
  const ContractionDetail& d_;
  const PixelOperand& p_;
  EpilogueEmitter epilogue_;
  DirectWeights weights_;
  PixelLoader loader_;
  Value* pitch_;
  std::vector<Value*> input_, output_;
};

}  // namespace

void EmitPlanes(ContractionContext& c, Value* begin, Value* end) {
  PlaneEmitter(c).Emit(begin, end);
}

}  // namespace relayvm::codegen
