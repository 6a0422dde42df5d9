// The planner of one contraction: what PlanContraction makes a plan with. Matrices, tiles, scratch
// and AMX are plan.cc's, convolutions plan_conv.cc's. Tested through contraction_test.cc and
// conv_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/codegen/contraction/plan.h"

namespace relayvm::codegen {

class ContractionPlanner {
 public:
  ContractionPlanner(const KernelSpec& spec, const ContractionTarget& target);
  std::optional<ContractionPlan> Plan();

 private:
  // --- Any contraction: plan.cc ---

  // Exactly one contraction, and no other reduction, whose result would be computed again and
  // again.
  bool FindContraction();
  std::optional<int64_t> ConstDepth() const;
  void ChooseTile();
  // Smaller tiles where each has several sets of accumulators.
  void FitSets();
  // Rows of a that are packed at a time: what leaves room in L2 for b, in blocks of equal size
  // where the extent is known.
  void ChooseRowBlock(int64_t depth);
  // Rows of about equal blocks, `most` at most.
  void TakeRowBlock(int64_t most, int64_t depth);
  // Scratch and the parallel range of a product of matrices, blocks of rows and of panels.
  void FinishMatrix();
  Dim ScratchOfPackedA() const;
  bool HasLongEpilogue() const;
  bool TakesRegisters() const;
  // Blocks of rows and scratch for the product by AMX's tiles.
  void PlanAmx();
  // The code has the instruction, if there is one.
  void Need(const DotProduct* form);
  // Scratch and the parallel range.
  void Finish(const Dim& a_elements, const Dim& b_elements);

  // --- Dense and batch_matmul: plan.cc ---

  bool PlanMatrix();
  void TileMatrix();
  // Sets operand.buffer when the expression loads memory as it is. `matrix` is the size of one
  // batch element's matrix.
  void UsePlainMemory(MatrixOperand& operand, const te::Expr& e,
                      const std::vector<te::Axis>& batch_axes, const Dim& matrix,
                      const Dim& stride);
  // Where the panels of a matrix of a batch begin, over d.b.batch.
  te::Expr BaseOfPanels(const std::vector<te::Axis>& batch_axes);
  // The view's coordinates are (panel, k, column in panel).
  void PlanPackedWeight(const std::vector<te::Axis>& batch_axes);

  // --- Convolutions: plan_conv.cc ---

  // What is read of one beside the plan.
  struct Convolution {
    size_t spatial = 0, channel_at = 0;
    te::Axis channel;  // of the sum; null where a group has one
    std::vector<te::Axis> taps;
    int64_t group_outputs = 0;
    bool is_usual = false;  // the kernel's layout
    // P, where that layout is the usual one followed by Po, channels first, or that of panels of
    // so many outputs, channels last (O / P, taps..., I, P); else 0.
    int64_t packed_rows = 0, packed_columns = 0;
    bool halves = false;
    const te::ExprNode* load = nullptr;  // of the kernel as it is
  };

  bool PlanConv();
  bool ReadConvolution(Convolution& c);
  // The extents of the kernel, and what of its layout is packed.
  bool ReadKernel(Convolution& c);
  // The axes of the sum, and sizes of channels.
  bool ReadSum(Convolution& c);
  // The loads of the data.
  bool ReadPixels();
  void SetSizes(const Convolution& c);
  // The weights as a matrix of (channel of the group) x k.
  te::Expr WeightOf(const Convolution& c, const te::Expr& group, const te::Expr& out,
                    const te::Expr& k) const;
  MatrixOperand& Weights() { return detail_->pixels.channels_last ? detail_->b : detail_->a; }
  bool PlanWeights(Convolution& c);
  void PlanPackedPanels(const Convolution& c);
  double PixelCycles(unsigned tile_rows, unsigned vectors) const;
  // So many rows by 3 vectors, where those are no slower.
  void ChoosePixelTile(unsigned tile_rows);
  // Products of pixels that are packed for tiles.
  bool TileConv(const Convolution& c);
  void UsePackedRows(const Convolution& c);
  void PlanPlaneTiles();
  // An axis of one pixel and one tap is none, where another one is left.
  void DropAxes(Convolution& c);
  // Windows of one pixel at every pixel: an image is one line.
  void FlattenPixels();
  // One window for an image: a dense layer.
  bool CoversWholeInput() const;
  void PlanConvAsMatrix(const Convolution& c);
  // Packing pixels pays when several tiles of outputs reuse them. As many outputs as there are
  // sums in registers read each pixel once, in the lines that the image has: if those fill vectors.
  bool DirectIsBetter(int64_t group_outputs) const;
  void PlanDirect(const Convolution& c);

  const KernelSpec& spec_;
  std::shared_ptr<ContractionDetail> detail_;
  ContractionPlan plan_;
  Product product_;
};

}  // namespace relayvm::codegen
