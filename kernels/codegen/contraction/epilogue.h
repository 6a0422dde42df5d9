// From sums to outputs: binds the axes of an element or of a vector of elements, emits the
// epilogue's expressions, stores. Tested through kernels/codegen/contraction/contraction_test.cc.
#pragma once

#include <vector>

#include "kernels/codegen/contraction/pack.h"

namespace relayvm::codegen {

class EpilogueEmitter {
 public:
  explicit EpilogueEmitter(ContractionContext& c);

  // What is known of a panel: whether all of its columns are there, those of one image.
  enum class Columns { kAny, kAll, kPart };
  // Rows row..row+count-1 of the panel at `column`, whose sums are at `tile`, panel elements a row.
  void EmitTile(llvm::Value* batch, llvm::Value* row, llvm::Value* count, llvm::Value* column,
                llvm::Value* tile, Columns columns = Columns::kAny);
  // Whether EmitRegisters serves the panel at `column`, an i1; null: it never does.
  llvm::Value* TakesRegisters(llvm::Value* column);
  // Rows from `row` on of such a panel, whose sums are in registers, of each row the vectors.
  void EmitRegisters(llvm::Value* batch, llvm::Value* row, llvm::Value* column,
                     const std::vector<llvm::Value*>& sums);
  // A vector of sums along the last axis of the outputs, from `position`; the other axes are at
  // `outer`.
  void EmitVector(const std::vector<llvm::Value*>& outer, llvm::Value* position, llvm::Value* sums,
                  llvm::Value* mask);

 private:
  // What follows each other in memory: all columns or the pixels of an image.
  const Dim& LineExtent() const;
  // The batch that BindRow and Offset take.
  llvm::Value* BatchOf(llvm::Value* image, llvm::Value* group);
  // As EmitTile; columns count from the line's first. Those past its end are left out.
  void EmitTileOfLine(llvm::Value* batch, llvm::Value* row, llvm::Value* count, llvm::Value* column,
                      llvm::Value* tile, Columns columns);
  // As EmitTile, where the panel holds pixels of several images.
  void EmitTileOfImages(llvm::Value* group, llvm::Value* row, llvm::Value* count,
                        llvm::Value* column, llvm::Value* tile);
  llvm::Value* LoadSums(llvm::Value* sums, llvm::Value* column);
  llvm::Value* BufferOf(const te::TensorNode& tensor);
  void Bind(size_t axis, llvm::Value* value);
  // Binds axes first..first+count-1 to the coordinates of row-major position `flat`.
  void BindFlat(size_t first, size_t count, llvm::Value* flat);
  // Binds all axes but that of the columns. False when columns are not one axis.
  bool BindRow(llvm::Value* batch, llvm::Value* row);
  // The row-major position of an element in the outputs.
  llvm::Value* Offset(llvm::Value* batch, llvm::Value* row, llvm::Value* column);
  void StoreLanes(llvm::Value* base, llvm::Value* offset, llvm::Value* sums, llvm::Value* mask);
  // Columns that are pixels of several axes.
  void StoreScalars(llvm::Value* column, llvm::Value* offset, llvm::Value* sums,
                    llvm::Value* count);
  void StoreScalar(llvm::Value* column, llvm::Value* offset, llvm::Value* sum);

  ContractionContext& c_;
  Builder& b_;
  const Epilogue& epilogue_;
  std::vector<llvm::Value*> outputs_;
  llvm::Value* line_ = nullptr;         // LineExtent()
  llvm::Value* column_base_ = nullptr;  // what a column's index adds to, on the axis of the columns
};

}  // namespace relayvm::codegen
