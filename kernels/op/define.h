// The functions that fill the operator table, one for each class of operators. OpTable::Make()
// calls them all.
#pragma once

namespace relayvm {

class OpTable;

void DefineUnary(OpTable& table);          // unary.cc: elementwise functions of one tensor
void DefineFixedPoint(OpTable& table);     // fixed_point.cc: q31 multiplication
void DefineBinary(OpTable& table);         // binary.cc: broadcasting arithmetic, comparison, where
void DefineCreation(OpTable& table);       // creation.cc: zeros, full, arange, shape_of ...
void DefineReshape(OpTable& table);        // reshape.cc: views of the same elements
void DefineBroadcast(OpTable& table);      // broadcast.cc: broadcast_to, collapse_sum, tile, repeat
void DefineLayout(OpTable& table);         // layout.cc: transpose, layout_transform, reverse
void DefineConcatenation(OpTable& table);  // concatenate.cc: concatenate, stack, split, meshgrid
void DefineSlicing(OpTable& table);        // slicing.cc: strided_slice and its kin
void DefineIndexing(OpTable& table);       // indexing.cc: take, gather, one_hot ...
void DefineMatrix(OpTable& table);         // matrix.cc: trilu, matrix_set_diag, sequence masks
void DefineEinsum(OpTable& table);         // einsum.cc
void DefineDynamic(OpTable& table);        // dynamic.cc: the dyn dialect
void DefineImage(OpTable& table);          // image.cc: image.*
void DefineAnnotation(OpTable& table);     // annotation.cc: markers that compute nothing

void DefineReduce(OpTable& table);     // reduce.cc
void DefineScan(OpTable& table);       // scan.cc
void DefineSort(OpTable& table);       // sort.cc
void DefineDense(OpTable& table);      // dense.cc
void DefineAttention(OpTable& table);  // attention.cc
void DefineConv(OpTable& table);       // conv.cc
void DefineBits(OpTable& table);       // bits.cc: words of bits, products of few bits
void DefineWinograd(OpTable& table);   // winograd.cc: convolutions with fewer products
void DefinePool(OpTable& table);       // pool.cc
void DefineNorm(OpTable& table);       // norm.cc
void DefineNn(OpTable& table);         // nn.cc
void DefineVision(OpTable& table);     // vision.cc
void DefineRandom(OpTable& table);     // random.cc
void DefineQnn(OpTable& table);        // qnn.cc
void DefineScatter(OpTable& table);    // scatter.cc
void DefineUnique(OpTable& table);     // unique.cc
void DefineStrings(OpTable& table);    // strings.cc: texts, n-grams

}  // namespace relayvm
