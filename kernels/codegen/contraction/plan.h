// What EmitContraction works from: a fused group described as batched matrix products with packed
// operands and an epilogue.
//
//   result[batch][row][column] = epilogue(sum over k of A[batch][row][k] * B[batch][k][column])
//
//                  batch            row                column               k
//   dense          - (leading dims) (leading dims)     unit                 in
//   batch_matmul   b                m                  n                    k
//   conv, NC...    group            output channel     (n, output pixel)    (channel, tap)
//   conv, N...C    (n, group)       output pixel       output channel       (tap, channel)
//
// Units of the parallel range are (batch, block of rows, panel of columns), panels fastest; of
// packed pixels (batch, block of rows, group of panels, part of the rows), parts fastest; of direct
// convolutions (n, group, block of output lines) or (n, output line). Symbolic extents stay
// Dims. Immutable once made. Tested through kernels/codegen/contraction/contraction_test.cc.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/codegen/contraction/contraction.h"
#include "kernels/codegen/contraction/tile.h"
#include "kernels/te/te.h"

namespace relayvm::codegen {

// One side of the product.
struct MatrixOperand {
  // (batch, row, k) or (batch, k, column), computed in the accumulator type: what packing emits.
  te::Tensor view;
  bool k_contiguous = true;  // vectors are best loaded along k; otherwise along row or column
  // Set when the matrix is memory of the accumulator type that can be used in place: with j
  // contiguous, element (i, j) is buffer[base + i * stride + j], base an expression over `batch`.
  te::Tensor buffer;
  te::Axis batch;
  te::Expr base;
  Dim stride;
  // The buffer is of float16: tiles read what is made float32 of it, rows at a time.
  bool halves = false;
  // Set in place of `buffer` when the matrix is memory of bytes that packing makes words of
  // (integer.h): base and stride are then bytes. `view` is of bytes too where panels are kQuads.
  te::Tensor bytes;
};

// The data of a convolution: tensor[n][channel][position...] or tensor[n][position...][channel].
// The spatial axes of a plain buffer may be one axis instead.
struct PixelOperand {
  te::Tensor data;
  bool plain = false;  // a buffer of the accumulator type, or `bytes`
  bool bytes = false;  // of unsigned bytes: channels of a group count in words of 4 (integer.h)
  std::vector<DType> casts;  // of an element, from the inside out
  bool channels_last = false;
  Dim channels;                    // of the whole tensor
  std::vector<Dim> input, output;  // spatial extents
  std::vector<int64_t> kernel, stride, padding, dilation;
  int64_t groups = 1;
  int64_t group_channels = 0;  // input channels that one group reads

  size_t spatial() const { return kernel.size(); }
  int64_t taps() const;
  // How many outputs further along an axis the last tap's input is.
  int64_t reach(size_t axis) const { return (kernel[axis] - 1) * dilation[axis] / stride[axis]; }
  // How many places in a stride along an axis taps have.
  int64_t phases(size_t axis) const {
    return std::min(stride[axis], (kernel[axis] - 1) * dilation[axis] + 1);
  }
};

struct Epilogue {
  te::Tensor accumulator;  // rank 0, accumulator type: the sum of products
  te::Tensor value;  // rank 0: the contraction's element, which is `result` over `accumulator`
  te::Expr result;
  struct Output {
    te::Tensor tensor;
    te::Expr expr;  // over `axes` and `value`
  };
  std::vector<Output> outputs;
  std::vector<te::Axis> axes;  // of the contraction tensor, after flattening
  // Tensors that stand for others of the same memory with fewer dimensions: (flat, original).
  std::vector<std::pair<te::Tensor, te::Tensor>> flattened;
};

enum class ContractionForm {
  kMatrix,        // dense, batch_matmul
  kPixelColumns,  // convolution, channels first: b is packed from pixels
  kPixelRows,     // convolution, channels last: a is packed from pixels
  kDirect,        // convolution with few channels a group: no product of matrices
};

struct ContractionDetail {
  ContractionForm form = ContractionForm::kMatrix;
  ContractionTarget target;
  te::Tensor contraction;
  DType dtype = DType::kFloat32;  // of the accumulators
  // float16: accumulators are float32 registers that are rounded to float16 after each product and
  // each sum, and k runs in the order of the contraction's own axes.
  bool rounds = false;
  Dim batch = 1, rows, columns, depth;
  Dim byte_depth;  // kMatrix with kQuads, where depth is in words
  // Words of packed operands that a step of k is: 2 where quads are split (integer.h).
  int64_t step_words = 1;
  bool sorts_steps = false;  // panels of quads are sorted (sorted_quads.h)
  te::Tensor step_order;     // op/step_order.h: of panels of quads that are constant; null: none
  // kPixelColumns: columns are `images` times so many pixels. Images share panels, so that small
  // ones fill vectors and all of them read the weights once.
  Dim images = 1, image_pixels;
  MatrixOperand a, b;                           // kPixelColumns has no b, kPixelRows no a
  PixelOperand pixels;                          // of convolutions
  int64_t packed_width = 0;                     // b is packed in panels of this width; else 0
  PanelForm panel_form = PanelForm::kElements;  // of b; others than that are packed, and in place
  const WeightForm* widened = nullptr;          // kWidened
  Dim panel_words = 0;                          // of a column of such a panel
  // Of weights in blocks: how much of k one is, how many a column has; zero_points may be null.
  int64_t weight_block = 0;
  Dim weight_blocks = 0;
  te::Tensor scales, zero_points;
  Epilogue epilogue;
  size_t row_axes = 0;  // kMatrix: epilogue axes that make up (batch, row), before the column axis

  // Tiling.
  unsigned lanes = 1, vectors = 1, tile_rows = 1;
  int64_t panel = 1;  // vectors * lanes columns
  bool pack_a = true;
  int64_t row_block =
      0;  // rows of packed a, a multiple of tile_rows; 0: a is used in place, all rows at once
  int64_t k_block = 0;  // 0: k is not blocked
  // Of what tiles read of a. Where a.k_contiguous is false, tiles follow each other, all of their
  // k.
  int64_t a_row_stride = 0, a_k_stride = 1;
  bool pixels_in_place = false;  // kPixelColumns: an image's pixels are those of its channels
  // What is computed of a sum is little, so that it may be written for each register.
  bool epilogue_in_registers = false;
  // More than a few operations for each sum, which are much code where they are written for each
  // register.
  bool has_long_epilogue = false;
  // kMatrix: all panels of b take a tile's rows before the next tile: outputs are written in order.
  bool panels_inside = false;
  // Panels of b that are worked on together: one block of k after the other, whose sums are kept;
  // kPixelColumns: packed together, of so many channels at a time.
  int64_t panel_group = 1, channel_block = 1;
  // kMatrix: from a panel that is packed to the next, in elements; 0: there is one.
  int64_t panel_pitch = 0;
  // kPixelColumns: taps that bring no pixel inside are left out (taps.h), of weights in the scratch
  // of a. Tiles of planes leave them out as they are.
  bool cuts_taps = false;
  // kPixelColumns: up to so many pixels are no lanes (few_pixels.h); 0: never. Bytes into scratch
  // of where they are rows.
  int64_t few_pixels = 0;
  Dim few_offset;
  SumOrder order;  // KernelSpec::order
  // Panels of b that one tile of rows reads in place together (kStreamedRows of each at a time, so
  // that memory is read in runs of many columns); 0: b cannot be read in place.
  int64_t streamed_panels = 0;
  bool amx = false;  // tiles are AMX's (amx.h), tile_rows what a call of theirs takes
  Dim row_blocks = 1, panels = 1;
  // The units of a block of rows: panels. kPixelColumns: groups of panels, all about equal, times
  // row_parts, each of part_rows rows; the last of a group may have fewer.
  Dim block_units = 1;
  int64_t row_parts = 1, part_rows = 0;
  Dim k_blocks = 1;

  Dim a_offset, b_offset, c_offset, dot_offset, tail_offset;  // bytes into scratch

  // kDirect, channels last: the lines and the pixels of a line that share what they load
  // (direct_channels.cc); 0: one pixel is summed after the other.
  int64_t block_lines = 0, block_pixels = 0;
  // kDirect: an image is a few vectors (direct_small.cc).
  bool is_small = false;
  // kDirect: the output has the lines of its input, so that both may be one line (direct_flat.cc).
  bool may_be_flat = false;
  // kDirect: lines of the input are copied to planes with their padding, so that vectors run from
  // line to line (direct_planes.cc). The rows of such a plane, the elements of a row and of all
  // sums of an output channel; units that are worked on together, of so many bytes of scratch.
  bool has_planes = false;
  // kDirect: tiles of channels by pixels read such planes, of any number of channels
  // (plane_tiles.cc); plane_rows, plane_pitch and plane_sums are those of a channel. A unit has so
  // many columns of the output, or fewer.
  bool has_plane_tiles = false;
  int64_t plane_columns = 0;
  // kDirect: lines of the output share the loads of their inputs (direct.cc), and read zeros, so
  // many bytes into scratch, in place of lines outside.
  bool shares_lines = false;
  Dim zeros_offset;
  // kDirect: outputs of few pixels are dot products along the taps (direct.cc).
  bool has_dots = false;
  // kDirect: an image of one column may be one line (direct.cc): windows are square.
  bool may_turn = false;
  Dim plane_rows, plane_pitch, plane_sums, plane_bytes;
  int64_t plane_vectors = 1;  // that are summed at once
  int64_t plane_units = 1;
};

// The rows that one call of a dot kernel serves (weights not packed, k contiguous).
inline constexpr int64_t kMaxDotRows = 4;
// Dot kernels serve more rows, so many at a time, where packing the weights for tiles would cost
// more than it saves. That is a pass over the weights, for sums over the lanes that tiles do not
// need: for one row of so much depth, up to a number of rows whose operands stay in the caches; and
// whatever the rows are where columns fill less than half of a tile. Measured with 64 to 3,072 deep
// products of 5 to 128 rows, AVX-512 and AVX2: 1.05 to 1.5 times the speed.
inline constexpr int64_t kDotDepthOfRow = 16, kMostDotRows = 48;
inline constexpr int64_t kMostDotColumns = 8, kLeastDotDepth = 64;

// The lines of the output that a unit of a direct convolution makes, channels first.
inline constexpr int64_t kDirectLines = 16;

// And those of a unit whose tiles read planes: several times the lines that units share.
inline constexpr int64_t kPlaneTileLines = 8;

// Of direct convolutions whose images are one line: the widest lines, the most pixels and taps.
inline constexpr int64_t kFlatWidth = 10, kFlatPixels = 1024, kFlatTaps = 9;

// Multiply-adds that are worth a task of their own: some 10 us, a few times what sharing work
// between threads takes. Those of depthwise convolutions, which no tile speeds up, take longer.
inline constexpr int64_t kTaskWork = 1 << 19, kDirectTaskWork = 1 << 17;

// The most rows of a that read pixels where they are: more would read these again and again.
inline constexpr int64_t kMostRowsInPlace = 64;

// The rows of b that are read before the next panel's: as many streams as hardware prefetches.
inline constexpr int64_t kStreamedRows = 16;

// Whether dot kernels serve the product when its rows are few.
inline bool HasDots(const ContractionDetail& d) {
  return d.form == ContractionForm::kMatrix && d.packed_width == 0 && d.b.buffer &&
         d.b.k_contiguous && d.a.k_contiguous;
}

// The same for constant sizes and any rows: whether dot kernels serve them.
bool IsServedByDots(const ContractionDetail& d, int64_t rows);

// kPixelColumns: whether the rows of weights that tiles read are made of those in memory, in
// scratch.
inline bool WidensRows(const ContractionDetail& d) {
  return d.a.halves || (d.step_words > 1 && d.form == ContractionForm::kPixelColumns);
}

inline constexpr unsigned kTileRows = 12, kSmallTileRows = 6;  // with 32 registers
inline constexpr int64_t kFewTiles = 2;

// The most rows whose tiles read packed weights as they are. Splitting both sides in registers
// takes longer than sorting.
inline int64_t MostPackedRows(const ContractionDetail& d) {
  return (d.sorts_steps ? 1 : kFewTiles) * int64_t{d.tile_rows};
}
// Whether more than MostPackedRows rows read panels of packed weights unpacked, in scratch.
inline bool UnpacksPanels(const ContractionDetail& d) {
  // Small tiles are those of words that become numbers in registers.
  if (d.target.vector_registers == 32 && d.tile_rows <= kSmallTileRows) return false;
  return (d.step_words > 1 || d.sorts_steps || d.panel_form == PanelForm::kWidened) && !d.amx &&
         d.form == ContractionForm::kMatrix && d.packed_width > 0 && d.b.buffer != nullptr;
}

// --- Sizes (contraction/fit.cc) ---

inline Dim RoundUp(const Dim& d, int64_t to) { return Dim::CeilDiv(d, to) * to; }
inline int64_t RoundUp(int64_t d, int64_t to) { return (d + to - 1) / to * to; }

// kPixelColumns: sets channel_block and panel_group; returns the elements of such panels.
int64_t FitPixelPanels(ContractionDetail& d);
// From a tile of packed rows whose k runs along rows to the next, in elements: not a power of two.
inline Dim TilePitch(const ContractionDetail& d) { return d.depth * d.a_k_stride + 16; }
// kMatrix: the block of k of tiles that serve so much of it (nullopt: any); 0: it is one at most.
int64_t FitDepth(const ContractionDetail& d, std::optional<int64_t> depth);
// kMatrix: the rows of tiles that take so many rows in the least time; d.tile_rows at most.
unsigned FitTileRows(const ContractionDetail& d, int64_t rows, int64_t depth);
// kMatrix: the most rows that are packed together, and sets panel_group and panel_pitch for as many
// or fewer.
int64_t MostRows(const ContractionDetail& d);
void FitPanelGroup(ContractionDetail& d, bool packs_b);
// kPixelColumns: sets row_parts, part_rows and block_units, once the panels fit.
void FitRowParts(ContractionDetail& d);
// kPixelColumns: whether an image may be smaller than its windows, so that cutting taps pays.
bool MayCutTaps(const ContractionDetail& d);
// kPixelColumns: few_pixels, once channel_block is known, and the distance of their rows.
int64_t FewPixelsOf(const ContractionDetail& d);
int64_t FewPixelStride(const ContractionDetail& d);
// The elements of the sums that a unit keeps.
int64_t SumElements(const ContractionDetail& d);
// kDirect: sets block_lines and block_pixels.
void FitChannelBlocks(ContractionDetail& d);
// kDirect: whether an image is a few vectors, and the lines of the output that one of them holds.
bool IsSmall(const ContractionDetail& d);
int64_t SmallLines(const ContractionDetail& d);
// kDirect: whether the pixels of an image may be one line, and short lines then are.
bool MayBeFlat(const ContractionDetail& d);
// kDirect: whether images of one column, which are no vectors, may be turned.
bool MayTurn(const ContractionDetail& d);
// kDirect: whether lines share the loads of their inputs: their taps are unrolled. It pays where
// masks are cheap: one for each tap of the last axis stays in a register.
bool SharesLines(const ContractionDetail& d);
// kDirect: has_dots, for up to so many pixels.
inline constexpr int64_t kFewDirectPixels = 4;
bool HasDirectDots(const ContractionDetail& d);
// kDirect: whether planes pay, and what they are; returns the bytes of their scratch.
bool PlanesAreBetter(const ContractionDetail& d);
Dim FitPlanes(ContractionDetail& d);
// kPixelColumns, whose tile is chosen: the output channels and vectors of pixels of a tile that
// reads planes, nullopt where none can; whether such tiles pay; the cycles of a vector that is
// copied to planes; REQUIRES a tile: sets what they are and returns the bytes of their scratch.
struct PixelTile {
  unsigned rows, vectors;
};
std::optional<PixelTile> PlaneTileOf(const ContractionDetail& d);
bool PlaneTilesAreBetter(const ContractionDetail& d);
double CyclesOfFilledVector(const PixelOperand& p);
Dim FitPlaneTiles(ContractionDetail& d);

// --- Recognition (contraction/match.cc) ---

// sum over `axes` of data * weight, and what is made of the sum.
struct Product {
  te::Expr reduce;  // the kReduce node in the contraction's body
  te::Expr data, weight;
  DType accumulator;
  bool rounds;  // as ContractionDetail::rounds
};
// nullopt unless the body is the sum of products of expressions that load hint_inputs[0] and
// hint_inputs[1], respectively.
std::optional<Product> MatchProduct(const te::TensorNode& contraction);

// nullopt when an output needs the contraction anywhere but at its own index.
std::optional<Epilogue> MatchEpilogue(const KernelSpec& spec, const te::Tensor& contraction,
                                      const Product& product);
// About how many operations are made of a sum.
int64_t EpilogueCost(const KernelSpec& spec, const te::Tensor& contraction);
// Makes axes first..last-1 one axis; false, and unchanged, when some load does not allow that.
bool FlattenEpilogue(Epilogue& epilogue, size_t first, size_t last);

// Inputs and the outputs that may take their memory: what nothing but the epilogue's own element
// reads (ContractionPlan::in_place).
std::vector<std::pair<int, int>> InPlacePairs(const KernelSpec& spec, const Product& product,
                                              const Epilogue& epilogue);

// The computations that the outputs reach, each once.
std::vector<te::Tensor> ReachedComputations(const std::vector<te::Tensor>& outputs);
// Calls fn for each distinct node of e, without entering the bodies of loaded tensors.
void ForEachNode(const te::Expr& e, const std::function<void(const te::ExprNode&)>& fn);
bool MentionsAxis(const te::Expr& e, const te::Axis& axis);
// Whether a convolution's output has the layout of its data, and each side of the product depends
// on its own axes only.
bool LayoutsAgree(const te::TensorNode& convolution, const Product& product, size_t channel_at);
// Whether the kernel is given the tensor in memory.
bool IsMemory(const KernelSpec& spec, const te::Tensor& t);
// A placeholder in memory of that type, loaded without conversion: its load; else null.
const te::ExprNode* PlainLoad(const te::Expr& e, DType dtype, const KernelSpec& spec);

// --- Weights (contraction/weight_forms.cc) ---

// Whether uint8 data and int8 weights make int32 sums.
bool MultipliesBytes(const Product& product);
// Whether a convolution's kernel is of float16 whose elements are cast and nothing else, and sums
// are float32.
bool IsHalvesWeight(const KernelSpec& spec, const Product& product, const ContractionDetail& d);
// Sets what is packed in the contraction's weight_form; false where the kernel cannot read it.
bool TakeWeightForm(const KernelSpec& spec, const Product& product, ContractionDetail& d);
// Takes the tile that somebody chose, if any; else says why registers or the layout of the weights
// do not allow it.
std::string TakeSchedule(ContractionDetail& d);

// Whether what is known of the extents of `t` and of what it multiplies is small enough for
// products of two of them, and a stride, to stay within int64: what is larger is no program that
// runs.
bool HaveSizesOfMemory(const te::TensorNode& t);

}  // namespace relayvm::codegen
