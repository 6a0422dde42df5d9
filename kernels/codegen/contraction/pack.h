// Packing: brings the operands of a product into the scratch layouts that tile kernels read.
//
//   packed a, rows along k    [tile][k block][row of tile][a_row_stride]        a_k_stride 1
//   packed a, k along rows    [tile][k][tile_rows rounded up to lanes]          a_row_stride 1
//   packed b                  [panel][k of a block, rounded up to lanes][columns of a panel],
//                             columns past the end arbitrary
//
// What is packed is emitted by the Emitter (MatrixOperand::view), so that casts and other prologues
// cost no pass of their own. Tested through kernels/codegen/contraction/contraction_test.cc.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "kernels/codegen/contraction/ir.h"
#include "kernels/codegen/contraction/plan.h"

namespace relayvm::codegen {

// What emitting the code of one contraction shares.
struct ContractionContext {
  ContractionContext(const ContractionDetail& detail, Emitter& emitter, Builder& builder,
                     llvm::Value* scratch);

  const ContractionDetail& d;
  Emitter& emitter;
  Builder& b;
  llvm::Value* scratch;
  llvm::Type* element;            // accumulator type
  llvm::FixedVectorType* vector;  // of d.lanes
  unsigned element_bytes;
  llvm::Value *batch, *rows, *columns, *depth;  // extents
  // Whether tiles read panels of b as they multiply them, from scratch: split (integer.h), or of
  // float32 where weights have another form.
  bool unpacks_b;

  llvm::Value* Scratch(const Dim& byte_offset);
  // The elements of view at (i, j, k + lane) or, with vector_dim 1, (i, j + lane, k): loads of
  // operand views.
  llvm::Value* LoadView(const te::Tensor& view, llvm::Value* i, llvm::Value* j, llvm::Value* k,
                        int vector_dim, llvm::Value* mask = nullptr);
  // What an operand's buffer is of.
  llvm::Type* ElementOf(const MatrixOperand& operand) const;
  // The address of element (row, 0) of an operand that has a buffer.
  llvm::Value* PlainRow(const MatrixOperand& operand, llvm::Value* batch, llvm::Value* row);
  // A vector of the accumulator type, wherever it begins.
  llvm::Value* LoadLanes(llvm::Value* pointer);
  void StoreLanes(llvm::Value* vector_value, llvm::Value* pointer);
  // Keeps an expression alive as long as the emitter may know it by address.
  const te::Expr& Keep(te::Expr e);

 private:
  struct ViewLoad {
    te::Tensor view;
    int vector_dim;
    std::vector<te::Axis> axes;
    te::Expr load;
  };
  std::deque<ViewLoad> view_loads_;
  std::deque<te::Expr> kept_;
};

// Rows row..row+count-1 of a, all of k. For b in pairs, a's values are bfloat16, and
// words of two: strides and blocks of k are then half as many words, the last one filled up with 0.
void EmitPackRows(ContractionContext& c, llvm::Value* batch, llvm::Value* row, llvm::Value* count,
                  llvm::Value* destination);
// Stores the lanes of packed memory that the mask turns on; null: all.
void StoreMasked(ContractionContext& c, llvm::Value* values, llvm::Value* pointer,
                 llvm::Value* mask);
// `count` rows of float16, `extent` elements of each and `stride` from one to the next, as float32
// at `destination`, d.a_row_stride from one to the next. What is `ahead` elements from there is
// fetched.
void EmitWidenRows(ContractionContext& c, llvm::Value* from, llvm::Value* stride,
                   llvm::Value* count, llvm::Value* extent, llvm::Value* destination,
                   llvm::Value* ahead);
// A panel of packed weights as tiles read it in memory, with its columns' scales and zero points.
struct Panel {
  llvm::Value* b;
  llvm::Value *scales = nullptr, *zero_points = nullptr;
  llvm::Value* order = nullptr;  // d.step_order's row
};
// `extent` steps of such a panel from the begin of a block on, unpacked at `destination`. Rows that
// a whole block of weights has more are written too.
void EmitUnpackPanel(ContractionContext& c, const Panel& panel, llvm::Value* extent,
                     llvm::Value* destination);
// A few rows of a for dot kernels: row r at destination + r * stride.
void EmitCopyRows(ContractionContext& c, llvm::Value* batch, llvm::Value* first, llvm::Value* count,
                  llvm::Value* destination, llvm::Value* stride);
// `count` panels of b from `column` on, rows from..to-1 of them, d.panel_pitch from one to the
// next.
// REQUIRES: all rows of one panel where d.panel_form is kQuads.
struct PanelRows {
  llvm::Value *column, *count, *from, *to;
};
void EmitPackPanels(ContractionContext& c, llvm::Value* batch, const PanelRows& rows,
                    llvm::Value* destination);

// --- Convolutions (contraction/pixels.cc, pixel_loader.cc, pack_plain.cc) ---

// Loads vectors of a convolution's data, whose last index runs along the lanes.
class PixelLoader {
 public:
  // `lane_stride`: what the last index advances by from lane to lane.
  PixelLoader(ContractionContext& c, int64_t lane_stride);
  // `indices` are those of lane 0. Lanes that the mask turns off are zero, and may be out of range.
  // A null mask: all are on.
  llvm::Value* Load(const std::vector<llvm::Value*>& indices, llvm::Value* mask);
  // Without a mask, of a plain buffer of the accumulator type and a lane_stride of 2: what Load
  // gives, and each lane's next element.
  std::pair<llvm::Value*, llvm::Value*> LoadNeighbours(const std::vector<llvm::Value*>& indices);
  // A plain buffer's line, by its indices but the last.
  llvm::Value* Line(const std::vector<llvm::Value*>& indices);
  // The data, where it is a plain buffer.
  llvm::Value* base() const { return base_; }
  // From here on the last two indices of a plain buffer count along each other's axes where
  // `is_turned`, whose extents are then 1 and another.
  void Turn(llvm::Value* is_turned);

 private:
  llvm::Value* Compute(const std::vector<llvm::Value*>& indices, llvm::Value* mask);

  ContractionContext& c_;
  int64_t stride_;
  // A plain buffer:
  llvm::Value* base_ = nullptr;
  std::vector<llvm::Value*> extents_;
  // Otherwise: `element_` over `axes_`; with a stride, the last index is axes_.back() * stride +
  // first_.
  std::vector<te::Axis> axes_;
  te::Axis first_;
  te::Expr element_;
};

struct TapBounds;  // taps.h

// Channels channel..end-1 (of the group) of `count` panels from `column` on: b of kPixelColumns.
void EmitPackPixelPanels(ContractionContext& c, const TapBounds& bounds, llvm::Value* group,
                         llvm::Value* column, llvm::Value* count, llvm::Value* channel,
                         llvm::Value* end, llvm::Value* destination);
// The same of pixels as they are (pixels_in_place), not of bytes.
void EmitPackPlainPixels(ContractionContext& c, llvm::Value* group, llvm::Value* column,
                         llvm::Value* count, llvm::Value* channel, llvm::Value* end,
                         llvm::Value* destination);
// Some channels of `count` panels from `column` on, `stride` elements from one to the next.
struct PixelPanels {
  llvm::Value *first_channel, *channels, *column, *count, *destination, *stride;
};
// Those of pixels in windows, where they stand. `is_scattered` (i1): each lane of a vector has an
// address of its own.
void EmitPackPixels(ContractionContext& c, const TapBounds& bounds, const PixelPanels& panels,
                    llvm::Value* is_scattered);
llvm::Value* ArePixelsScattered(ContractionContext& c, const TapBounds& bounds);
// The same by a helper of the module, which convolutions of equal windows share whatever their
// sizes. REQUIRES: pixels are plain, and not bytes.
void EmitPackWindows(ContractionContext& c, const TapBounds& bounds, const PixelPanels& panels,
                     llvm::Value* is_scattered);
// How far apart those panels are.
int64_t PixelPanelElements(const ContractionDetail& d);
// Pixels row..row+count-1: a of kPixelRows.
void EmitPackPixelRows(ContractionContext& c, llvm::Value* batch, llvm::Value* row,
                       llvm::Value* count, llvm::Value* destination);
// The coordinates of row-major position `flat` in `extents`.
std::vector<llvm::Value*> EmitUnflatten(ContractionContext& c, llvm::Value* flat,
                                        const std::vector<Dim>& extents);

}  // namespace relayvm::codegen
