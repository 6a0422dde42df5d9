#include "kernels/op/weight_forms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <utility>

#include "kernels/op/op_helpers.h"
#include "kernels/runtime/half.h"

namespace relayvm {
namespace {

using te::BinaryOp;
using te::Expr;

constexpr WeightForm kForms[] = {
    {.name = "fp32",
     .option = "precision",
     .help = "as the program says",
     .encode = [](float f) { return std::bit_cast<uint32_t>(f); }},
    {.name = "fp16",
     .stored = DType::kFloat16,
     .encode = [](float f) -> uint32_t { return FloatToHalf(f); },
     .holds = [](float f) { return HalfToFloat(FloatToHalf(f)) == f; }},
    // Data that is multiplied with it is rounded to bfloat16 too.
    {.name = "bf16",
     .option = "precision",
     .help = "constant weights of matrix products take half the memory, and what they are "
             "multiplied with is rounded too; sums stay float32",
     .stored = DType::kBFloat16,
     .packed_bits = 16,
     .encode = [](float f) -> uint32_t { return FloatToBFloat(f); },
     .decode =
         [](const Expr& bits) {
           const Expr high = te::Binary(BinaryOp::kShiftLeft, bits, te::IntImm(16, DType::kUInt32));
           return te::Reinterpret(high, DType::kFloat32);
         }},
    {.name = "int8",
     .given = DType::kInt8,
     .data = DType::kUInt8,
     .sum = DType::kInt32,
     .stored = DType::kInt8,
     .packed_bits = 8,
     .encode = [](float f) -> uint32_t { return static_cast<uint8_t>(static_cast<int8_t>(f)); }},
    {.name = "q8",
     .option = "weights",
     .help = "integers of 8 bits",
     .stored = DType::kInt8,
     .block = 32,
     .furthest = 127},
    // Of fewer bits, the number furthest from 0 has the integer that is, whatever its sign.
    {.name = "q4",
     .option = "weights",
     .help = "integers of 4 bits",
     .stored = DType::kUInt32,
     .packed_bits = 4,
     .block = 32,
     .furthest = -8},
    {.name = "q6",
     .option = "weights",
     .help = "integers of 6 bits",
     .stored = DType::kUInt32,
     .packed_bits = 6,
     .block = 32,
     .furthest = -32},
};

// Of a weight (n, k), or (k, n) when not `transposed`, or of a batch of those.
struct Extents {
  int64_t batch, n, k;

  Extents(const HostTensor& w, bool transposed)
      : batch(w.shape.size() == 3 ? w.shape[0] : 1),
        n(w.shape[w.shape.size() - (transposed ? 2 : 1)]),
        k(w.shape[w.shape.size() - (transposed ? 1 : 2)]) {}
};

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Panels of a weight of float32 or int8: (k, width) of float32 each; columns beyond n are zero.
class Panels {
 public:
  // `w` outlives this.
  Panels(const HostTensor& w, bool transposed, int64_t width)
      : transposed_(transposed),
        is_int8_(w.dtype == DType::kInt8),
        width_(width),
        of_(w, transposed),
        in_(w.data.Loaded()) {}
  // Gives a mapped weight's pages back.
  ~Panels() { in_.DropPages(); }
  Panels(const Panels&) = delete;
  Panels& operator=(const Panels&) = delete;

  int64_t count() const { return of_.batch * CeilDiv(of_.n, width_); }
  int64_t depth() const { return of_.k; }

  // `out` is zeros.
  void Copy(int64_t panel, std::byte* out) const {
    const auto& [batch, n, k] = of_;
    const int64_t panels = CeilDiv(n, width_), matrix = panel / panels * n * k;
    const int64_t first = panel % panels * width_;
    const int64_t columns = std::min(width_, n - first);
    if (!transposed_) {
      for (int64_t i = 0; i < k; ++i) CopyRun(matrix + i * n + first, columns, out, i * width_);
      return;
    }
    // A line of the cache: what is read of a row before the next row's turn.
    constexpr int64_t kLine = 64 / sizeof(float);
    for (int64_t start = 0; start < k; start += kLine) {
      const int64_t end = std::min(k, start + kLine);
      for (int64_t j = 0; j < columns; ++j) {
        const int64_t row = matrix + (first + j) * k;
        for (int64_t i = start; i < end; ++i) CopyRun(row + i, 1, out, i * width_ + j);
      }
    }
  }

 private:
  void CopyRun(int64_t from, int64_t count, std::byte* out, int64_t to) const {
    out += to * int64_t{sizeof(float)};
    if (!is_int8_) {
      std::memcpy(out, in_.data() + from * int64_t{sizeof(float)},
                  static_cast<size_t>(count) * sizeof(float));
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<float>(static_cast<int8_t>(in_.data()[from + i]));
      std::memcpy(out + i * int64_t{sizeof value}, &value, sizeof value);
    }
  }

  bool transposed_, is_int8_;
  int64_t width_;
  Extents of_;
  SharedBytes in_;
};

HostTensor MakeLater(DType dtype, std::vector<int64_t> shape,
                     std::function<void(std::span<std::byte> zeros)> fill) {
  HostTensor t{dtype, std::move(shape), {}};
  t.data = SharedBytes::Lazy(static_cast<size_t>(t.size() * DTypeBytes(dtype)), std::move(fill));
  return t;
}

// encode(panel as floats, the panel's bytes of zeros) for each panel.
template <typename Encode>
HostTensor EncodeLater(const HostTensor& w, bool transposed, int64_t width, DType dtype,
                       std::vector<int64_t> shape, const Encode& encode) {
  return MakeLater(dtype, std::move(shape), [=](std::span<std::byte> out) {
    const Panels panels(w, transposed, width);
    const size_t of_panel = out.size() / static_cast<size_t>(std::max<int64_t>(panels.count(), 1));
    std::vector<float> panel;
    for (int64_t p = 0; p < panels.count(); ++p) {
      panel.assign(static_cast<size_t>(panels.depth() * width), 0);
      panels.Copy(p, reinterpret_cast<std::byte*>(panel.data()));
      encode(panel, out.data() + static_cast<size_t>(p) * of_panel);
    }
  });
}

// Puts the bits of number k of a column to `column`, its first row of words or elements, `width`
// from row to row.
void Put(const WeightForm& form, uint32_t bits, int64_t k, int64_t width, std::byte* column) {
  if (!form.in_words()) {
    const auto bytes = static_cast<size_t>(DTypeBytes(form.stored));
    std::memcpy(column + k * width * static_cast<int64_t>(bytes), &bits, bytes);
    return;
  }
  const int64_t first = k * form.packed_bits;
  const uint64_t number = bits & ((uint64_t{1} << form.packed_bits) - 1);
  for (int64_t row = first / 32; row * 32 < first + form.packed_bits; ++row) {
    std::byte* at = column + row * width * int64_t{sizeof(uint32_t)};
    uint32_t word;
    std::memcpy(&word, at, sizeof word);
    const int64_t shift = first - row * 32;
    word |= static_cast<uint32_t>(shift < 0 ? number >> -shift : number << shift);
    std::memcpy(at, &word, sizeof word);
  }
}

// What a column's words or elements are apart.
int64_t ColumnBytes(const WeightForm& form) {
  return form.in_words() ? int64_t{sizeof(uint32_t)} : DTypeBytes(form.stored);
}

uint32_t Encode(const WeightForm& form, float number) {
  if (form.encode != nullptr) return form.encode(number);
  const float most = std::abs(form.furthest);
  const float greatest = form.furthest < 0 ? most - 1 : most;
  const float integer = std::nearbyint(std::clamp(number, -most, greatest));
  return static_cast<uint32_t>(static_cast<int32_t>(integer + form.zero_point()));
}

// A block of a column of floats; `at(i)` gives its i-th number, of `count`. Calls put(i, bits) and
// returns the scale. A block that holds an infinity or NaN becomes NaN.
template <typename At, typename PutBits>
float EncodeBlock(const WeightForm& form, int64_t count, const At& at, const PutBits& put) {
  float most = 0;  // the number furthest from 0
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(at(i))) most = std::numeric_limits<float>::quiet_NaN();
    if (std::abs(at(i)) > std::abs(most)) most = at(i);
  }
  const float scale = (form.furthest < 0 ? most : std::abs(most)) / form.furthest;
  for (int64_t i = 0; i < count; ++i) {
    // A scale that is too small for a float32 is 0, and so are the numbers.
    const float number = std::isnan(scale) ? 1 : scale == 0 ? 0 : at(i) / scale;
    put(i, Encode(form, number));
  }
  return scale;
}

// Calls encode(block, column, count, at) for each block and column of a panel of (k, width).
template <typename EncodeOne>
void ForBlocks(const WeightForm& form, const std::vector<float>& panel, int64_t k, int64_t width,
               const EncodeOne& encode) {
  for (int64_t first = 0; first < k; first += form.block) {
    for (int64_t j = 0; j < width; ++j) {
      encode(first / form.block, j, std::min(form.block, k - first),
             [&, first](int64_t i) { return panel[static_cast<size_t>((first + i) * width + j)]; });
    }
  }
}

}  // namespace

std::span<const WeightForm> WeightForms() { return kForms; }

const WeightForm* FindWeightForm(std::string_view name) {
  const auto* found = std::ranges::find(kForms, name, &WeightForm::name);
  return found == std::end(kForms) ? nullptr : found;
}

std::vector<const WeightForm*> WeightFormsOf(std::string_view option) {
  std::vector<const WeightForm*> forms;
  for (const WeightForm& form : kForms) {
    if (form.option == option) forms.push_back(&form);
  }
  return forms;
}

std::string WeightFormNames(std::string_view option) {
  const std::vector<const WeightForm*> forms = WeightFormsOf(option);
  std::string names;
  for (const WeightForm* form : forms) {
    if (!names.empty()) names += form == forms.back() ? " or " : ", ";
    names += form->name;
  }
  return names;
}

const WeightForm* WeightFormOfPanels(DType stored, size_t rank, DType sum) {
  for (const WeightForm& form : kForms) {
    if (form.block != 0 || form.stored != stored || form.stored == form.sum) continue;
    if (form.side_by_side() > 1 ? rank == 4 : rank == 3 && form.sum == sum) return &form;
  }
  return nullptr;
}

const WeightForm* WeightFormOfBlocks(DType stored, std::string_view name) {
  for (const WeightForm& form : kForms) {
    if (form.block != 0 && form.stored == stored && (name.empty() || form.name == name))
      return &form;
  }
  return nullptr;
}

const WeightForm* WeightFormOfBits(int64_t bits) {
  for (const WeightForm& form : kForms) {
    if (form.block != 0 && form.encode == nullptr && form.bits() == bits) return &form;
  }
  return nullptr;
}

Expr BitsOf(const WeightForm& form, const Expr& k,
            const std::function<Expr(const Expr& row)>& word) {
  if (!form.in_words()) return word(k);
  const auto constant = [](int64_t value) { return te::IntImm(value, DType::kUInt32); };
  const auto shift = [](BinaryOp op, const Expr& x, const Expr& by) {
    return te::Binary(op, x, te::Cast(by, DType::kUInt32));
  };
  const Expr first = k * Int(form.packed_bits), at = FloorModExpr(first, Int(32));
  Expr bits = shift(BinaryOp::kShiftRight, word(FloorDivExpr(first, Int(32))), at);
  if (32 % form.packed_bits != 0) {
    // The word of the last bit, perhaps the same, whose bits then come to lie above the number's.
    const Expr rest = word(FloorDivExpr(first + Int(form.packed_bits - 1), Int(32)));
    bits = te::Binary(
        BinaryOp::kOr, bits,
        shift(BinaryOp::kShiftLeft, shift(BinaryOp::kShiftLeft, rest, Int(31) - at), Int(1)));
  }
  return te::Binary(BinaryOp::kAnd, bits, constant((int64_t{1} << form.packed_bits) - 1));
}

Expr NumberOf(const WeightForm& form, const Expr& k,
              const std::function<Expr(const Expr& row)>& word, const Expr& zero_point) {
  Expr bits = BitsOf(form, k, word);
  if (form.decode != nullptr) return form.decode(bits);
  if (form.in_words()) bits = te::Reinterpret(bits, DType::kInt32);
  const Expr number = te::Cast(bits, DType::kFloat32);
  if (zero_point) return number - zero_point;
  return form.zero_point() == 0 ? number
                                : number - te::FloatImm(form.zero_point(), DType::kFloat32);
}

// Of all matrices one after the other.
static HostTensor PackMatrices(const WeightForm& form, const HostTensor& w, bool transposed,
                               int64_t width) {
  const auto [batch, n, k] = Extents(w, transposed);
  const int64_t panels = batch * CeilDiv(n, width);
  if (form.block != 0) {
    const int64_t rows = form.Rows(form.block), bytes = ColumnBytes(form);
    return EncodeLater(
        w, transposed, width, form.stored, {panels, CeilDiv(k, form.block), rows, width},
        [=, k = k, &form](const std::vector<float>& panel, std::byte* out) {
          ForBlocks(
              form, panel, k, width, [&](int64_t block, int64_t j, int64_t count, const auto& at) {
                std::byte* column = out + (block * rows * width + j) * bytes;
                EncodeBlock(form, count, at,
                            [&](int64_t i, uint32_t bits) { Put(form, bits, i, width, column); });
              });
        });
  }
  if (form.stored == DType::kFloat32) {
    return MakeLater(form.stored, {panels, k, width}, [=](std::span<std::byte> out) {
      const Panels of(w, transposed, width);
      const int64_t bytes = of.depth() * width * int64_t{sizeof(float)};
      for (int64_t p = 0; p < of.count(); ++p) of.Copy(p, out.data() + p * bytes);
    });
  }
  std::vector<int64_t> shape = {panels, CeilDiv(k, form.side_by_side()), width};
  if (form.side_by_side() > 1) shape.push_back(form.side_by_side());
  return EncodeLater(w, transposed, width, form.stored, std::move(shape),
                     [=, k = k, &form](const std::vector<float>& panel, std::byte* out) {
                       for (int64_t at = 0; at < k * width; ++at) {
                         Put(form, form.encode(panel[static_cast<size_t>(at)]), at / width, width,
                             out + at % width * ColumnBytes(form));
                       }
                     });
}

HostTensor PackWeight(const WeightForm& form, const HostTensor& w, bool transposed, int64_t width) {
  HostTensor packed = PackMatrices(form, w, transposed, width);
  if (w.shape.size() < 3) return packed;
  packed.shape[0] = w.shape[0] == 0 ? 0 : packed.shape[0] / w.shape[0];
  packed.shape.insert(packed.shape.begin(), w.shape[0]);
  return packed;
}

HostTensor PackWeightScales(const WeightForm& form, const HostTensor& w, bool transposed,
                            int64_t width) {
  const auto [batch, n, k] = Extents(w, transposed);
  return EncodeLater(
      w, transposed, width, DType::kFloat32, {CeilDiv(n, width), CeilDiv(k, form.block), width},
      [=, k = k, &form](const std::vector<float>& panel, std::byte* out) {
        ForBlocks(
            form, panel, k, width, [&](int64_t block, int64_t j, int64_t count, const auto& at) {
              const float scale = EncodeBlock(form, count, at, [](int64_t, uint32_t) {});
              std::memcpy(out + (block * width + j) * int64_t{sizeof scale}, &scale, sizeof scale);
            });
      });
}

HostTensor EncodeElements(const WeightForm& form, const HostTensor& w) {
  return MakeLater(form.stored, w.shape, [w, &form](std::span<std::byte> out) {
    const SharedBytes in = w.data.Loaded();
    for (int64_t i = 0; i < w.size(); ++i) {
      float value;
      std::memcpy(&value, in.data() + i * int64_t{sizeof value}, sizeof value);
      Put(form, form.encode(value), i, 1, out.data());
    }
    in.DropPages();
  });
}

const WeightForm* WeightFormThatHolds(const HostTensor& w) {
  const SharedBytes in = w.data.Loaded();
  const auto holds_all = [&](const WeightForm& form) {
    for (int64_t i = 0; i < w.size(); ++i) {
      float value;
      std::memcpy(&value, in.data() + i * int64_t{sizeof value}, sizeof value);
      if (!form.holds(value)) return false;
    }
    return true;
  };
  const auto* found = std::ranges::find_if(
      kForms, [&](const WeightForm& form) { return form.holds != nullptr && holds_all(form); });
  in.DropPages();
  return found == std::end(kForms) ? nullptr : found;
}

HostTensor PackModelBlocks(const WeightForm& form, const HostTensor& w, int64_t width) {
  const int64_t n = w.shape[0], blocks = w.shape[1], bytes = w.shape[2];
  const int bits = form.bits();
  const int64_t block = bytes * 8 / bits, rows = form.Rows(block);
  // Theirs are unsigned.
  const auto shift =
      static_cast<uint32_t>(static_cast<int32_t>(form.zero_point()) - (1 << (bits - 1)));
  return MakeLater(
      form.stored, {CeilDiv(n, width), blocks, rows, width}, [=, &form](std::span<std::byte> out) {
        const SharedBytes in = w.data.Loaded();
        for (int64_t at = 0; at < n * blocks; ++at) {
          const int64_t j = at / blocks, of = j / width * blocks + at % blocks;
          std::byte* column = out.data() + (of * rows * width + j % width) * ColumnBytes(form);
          for (int64_t i = 0; i < block; ++i) {
            const auto byte = static_cast<uint32_t>(in.data()[at * bytes + i * bits / 8]);
            const uint32_t number = byte >> (i * bits % 8) & ((1U << bits) - 1);
            Put(form, number + shift, i, width, column);
          }
        }
      });
}

HostTensor PackModelFloats(const HostTensor& t, int64_t width, float shift) {
  const int64_t n = t.shape[0], blocks = t.shape[1];
  return MakeLater(DType::kFloat32, {CeilDiv(n, width), blocks, width},
                   [=](std::span<std::byte> out) {
                     const SharedBytes in = t.data.Loaded();
                     for (int64_t at = 0; at < n * blocks; ++at) {
                       const int64_t j = at / blocks;
                       float value = 0;
                       std::memcpy(&value, in.data() + at * int64_t{sizeof value}, sizeof value);
                       value -= shift;
                       const int64_t to = (j / width * blocks + at % blocks) * width + j % width;
                       std::memcpy(out.data() + to * int64_t{sizeof value}, &value, sizeof value);
                     }
                   });
}

}  // namespace relayvm
