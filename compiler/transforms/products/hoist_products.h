// Products of a sequence's rows leave the loop that walks over the sequence: one product of many
// rows, which reads its weights once, takes the place of one for each row.
//
//   def @loop(%i, %n, %xs, %h, %w) {
//     if (%i < %n) {
//       let %x = take(%xs, %i, axis=0);        // the row of this turn
//       ... nn.dense(%x, %w) ...               // let %p = take(%table, %i, axis=0)
//       @loop(%i + 1, %n, %xs, ..., %w)        // @loop(..., %table)
//
// and who starts the loop computes %table = nn.dense(%xs, %w), if that is known to be small. Of
// other sequences the loop carries the products of a chunk, 8 to 64 rows in at most 256 KiB where
// that suffices for 8, and the number of its first row: a turn whose row is not there makes the
// next chunk. So memory does not grow with the sequence.
//
// Done where every row is walked over once: the row's number counts up by one, the loop ends at the
// sequence's length, every path behind the product comes to the next turn (a decoder that may stop
// keeps its products), and sequence and weights, of known sizes, are the same in every turn.
//
// Before: typed. After: what changed has no types. Tested by hoist_products_test.cc.
#pragma once

#include "compiler/ir/ir.h"

namespace relayvm::ir {

Module HoistProducts(const Module& m);

}  // namespace relayvm::ir
