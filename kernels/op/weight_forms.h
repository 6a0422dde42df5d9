// What constant weights of matrix products are packed as: a table. A row says which weights it
// takes, what is stored for them, how they are packed and which numbers kernels read; the operators
// (dense.cc), the kernels (codegen/contraction/widen.h), PackWeights, options and help read the
// rows. A form more is a row of weight_forms.cc, and its test.
//
// A weight of n columns, k deep, is stored in panels of P columns, the padding 0:
//   (ceil(n / P), ceil(k / W), P, W)         W neighbours along k side by side; not that dim for 1
//   (ceil(n / P), ceil(k / block), rows, P)  with float32 scales (ceil(n / P), ceil(k / block), P)
//                                            and, of a model's own blocks, perhaps zero points
//
// Thread-safe. Tested by weight_forms_test.cc and kernels/codegen/contraction/weights_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/dtype.h"
#include "bytecode/base/host_tensor.h"
#include "kernels/te/te.h"

namespace relayvm {

struct WeightForm {
  std::string_view name;    // in options, in attributes and in the names of kernels
  std::string_view option;  // of relayc, that asks for it: "weights", "precision"; or empty
  std::string_view help;    // what the option's help says of it
  DType given = DType::kFloat32, data = DType::kFloat32, sum = DType::kFloat32;  // of the product
  DType stored = DType::kFloat32;
  // So many bits a number, one after the other from the lowest on, in words of 32 of a column's
  // block or panel. 0: numbers are elements.
  int packed_bits = 0;
  // Along k, with one scale for each column, when the compiler packs. 0: no blocks.
  int64_t block = 0;
  // In blocks: what the number furthest from 0 becomes. Negative: whatever that number's sign.
  float furthest = 0;
  // The bits of a number (in blocks: over its scale). Null: the nearest integer from -|furthest|
  // on, unsigned where it is in words.
  uint32_t (*encode)(float number) = nullptr;
  // The number of such bits, float32. Null: the integer as it is, less the zero point.
  te::Expr (*decode)(const te::Expr& bits) = nullptr;
  // Without an option: of a weight all of whose numbers this holds, where machines widen as they
  // read (F16C).
  bool (*holds)(float number) = nullptr;

  bool in_words() const { return packed_bits != 0; }
  int bits() const { return in_words() ? packed_bits : DTypeBits(stored); }
  // W above.
  int64_t side_by_side() const { return in_words() ? 32 / DTypeBits(stored) : 1; }
  // Of words or elements that hold so many of a column.
  int64_t Rows(int64_t numbers) const {
    return in_words() ? (numbers * packed_bits + 31) / 32 : numbers;
  }
  // The fewest neighbours along k that are whole words: blocks are multiples of it.
  int64_t neighbours() const { return in_words() ? 32 / std::gcd(32, packed_bits) : 1; }
  // The block that so many rows are; 0: they are none.
  int64_t NumbersOf(int64_t rows) const {
    if (!in_words()) return rows;
    const int64_t numbers = rows * 32 / packed_bits;
    return rows * 32 % packed_bits == 0 && numbers % neighbours() == 0 ? numbers : 0;
  }
  // Of integers, where a call has none of its own.
  float zero_point() const { return in_words() && decode == nullptr ? -furthest : 0; }
};

std::span<const WeightForm> WeightForms();
// Null where there is none.
const WeightForm* FindWeightForm(std::string_view name);
// Those that an option of relayc asks for, in the table's order.
std::vector<const WeightForm*> WeightFormsOf(std::string_view option);
// Their names: "q8 or q4".
std::string WeightFormNames(std::string_view option);
// Of a panel with neighbours side by side, or of float16 that becomes float32; null: it holds its
// numbers as they are.
const WeightForm* WeightFormOfPanels(DType stored, size_t rank, DType sum);
// Of blocks of such elements: `name`, or, where that is empty, the first. Null where there is none.
const WeightForm* WeightFormOfBlocks(DType stored, std::string_view name);
// Of blocks of integers of so many bits: a model's own.
const WeightForm* WeightFormOfBits(int64_t bits);

// Number k of a column, float32, k counted from the block's or panel's begin; `word` is a row of
// these. `zero_point` null: the form's. REQUIRES: sums of float32.
te::Expr NumberOf(const WeightForm& form, const te::Expr& k,
                  const std::function<te::Expr(const te::Expr& row)>& word,
                  const te::Expr& zero_point);
// The bits of that number, which an integer is made of.
te::Expr BitsOf(const WeightForm& form, const te::Expr& k,
                const std::function<te::Expr(const te::Expr& row)>& word);

// --- Packing: what these return is made when it is read, and costs no memory until then ---

// A weight (n, k), or (k, n) when not `transposed`, of form.given; or a batch of those, whose
// panels are (batch, ceil(n / P), k, P). Forms in blocks take no batch.
HostTensor PackWeight(const WeightForm& form, const HostTensor& w, bool transposed, int64_t width);
HostTensor PackWeightScales(const WeightForm& form, const HostTensor& w, bool transposed,
                            int64_t width);
// The elements where they are. REQUIRES: no blocks, nothing side by side.
HostTensor EncodeElements(const WeightForm& form, const HostTensor& w);
// The first whose `holds` is true of every number of a weight of float32; null where there is none.
const WeightForm* WeightFormThatHolds(const HostTensor& w);
// A model's own integers in blocks, (n, blocks, bytes) of uint8, lowest bits first; and its scales
// or zero points, (n, blocks) of float32, less `shift`.
HostTensor PackModelBlocks(const WeightForm& form, const HostTensor& w, int64_t width);
HostTensor PackModelFloats(const HostTensor& t, int64_t width, float shift);

}  // namespace relayvm
