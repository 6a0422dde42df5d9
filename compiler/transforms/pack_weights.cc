#include "compiler/transforms/pack_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/transforms/builder.h"
#include "compiler/transforms/half_weights.h"
#include "compiler/transforms/rewrite.h"
#include "compiler/transforms/winograd_weights.h"
#include "kernels/codegen/contraction/contraction.h"
#include "kernels/op/qnn.h"
#include "kernels/runtime/half.h"

namespace relayvm::ir {
namespace {

// The extents of a weight (n, k), where k may be several dims, or (k, n) when not `transposed`.
std::pair<int64_t, int64_t> Extents(const HostTensor& w, bool transposed) {
  const int64_t n = w.shape[transposed ? 0 : 1];
  return {n, n == 0 ? 0 : w.size() / n};
}

bool IsInBlocks(WeightFormat format) {
  return format == WeightFormat::kInt8Blocks || format == WeightFormat::kInt4Blocks;
}

// Panels of a weight: (k, width) each; columns beyond n are zero. REQUIRES: float32.
class Panels {
 public:
  // `w` outlives this.
  Panels(const HostTensor& w, bool transposed, int64_t width)
      : transposed_(transposed), width_(width), in_(w.data.Loaded()) {
    std::tie(n_, k_) = Extents(w, transposed);
  }
  // Gives a mapped weight's pages back.
  ~Panels() { in_.DropPages(); }
  Panels(const Panels&) = delete;
  Panels& operator=(const Panels&) = delete;

  int64_t count() const { return (n_ + width_ - 1) / width_; }
  int64_t depth() const { return k_; }

  // `out` is zeros.
  void Copy(int64_t panel, std::byte* out) const {
    const std::byte* data = in_.data();
    auto copy = [&](int64_t to, int64_t from, int64_t count) {
      std::memcpy(out + to * int64_t{sizeof(float)}, data + from * int64_t{sizeof(float)},
                  static_cast<size_t>(count) * sizeof(float));
    };
    const int64_t first = panel * width_;
    const int64_t columns = std::min(width_, n_ - first);
    if (!transposed_) {
      for (int64_t i = 0; i < k_; ++i) copy(i * width_, i * n_ + first, columns);
      return;
    }
    // A line of the cache: what is read of a row before the next row's turn.
    constexpr int64_t kLine = 64 / sizeof(float);
    for (int64_t start = 0; start < k_; start += kLine) {
      const int64_t end = std::min(k_, start + kLine);
      for (int64_t j = 0; j < columns; ++j) {
        for (int64_t i = start; i < end; ++i) copy(i * width_ + j, (first + j) * k_ + i, 1);
      }
    }
  }

 private:
  bool transposed_;
  int64_t width_, n_ = 0, k_ = 0;
  SharedBytes in_;
};

// A weight as (ceil(n / width), k, width). `out` is zeros.
void Pack(const HostTensor& w, bool transposed, int64_t width, std::byte* out) {
  const Panels panels(w, transposed, width);
  const int64_t bytes = panels.depth() * width * int64_t{sizeof(float)};
  for (int64_t p = 0; p < panels.count(); ++p) panels.Copy(p, out + p * bytes);
}

// It is packed when it is read: until then it costs no memory.
HostTensor PackLater(const HostTensor& w, bool transposed, int64_t width,
                     std::vector<int64_t> shape) {
  HostTensor packed{w.dtype, std::move(shape), {}};
  packed.data =
      SharedBytes::Lazy(static_cast<size_t>(packed.size()) * sizeof(float),
                        [=](std::span<std::byte> out) { Pack(w, transposed, width, out.data()); });
  return packed;
}

// A weight in another form: encode(panel as floats, the panel's bytes of `out`) is called for each,
// when the weight is read.
template <typename Encode>
HostTensor EncodeLater(const HostTensor& w, bool transposed, int64_t width, DType dtype,
                       std::vector<int64_t> shape, const Encode& encode) {
  HostTensor packed{dtype, std::move(shape), {}};
  const auto bytes = static_cast<size_t>(packed.size() * DTypeBytes(dtype));
  packed.data = SharedBytes::Lazy(bytes, [=](std::span<std::byte> out) {
    const Panels panels(w, transposed, width);
    const size_t of_panel = out.size() / static_cast<size_t>(std::max<int64_t>(panels.count(), 1));
    std::vector<float> panel;
    for (int64_t p = 0; p < panels.count(); ++p) {
      panel.assign(static_cast<size_t>(panels.depth() * width), 0);
      panels.Copy(p, reinterpret_cast<std::byte*>(panel.data()));
      encode(panel, out.data() + static_cast<size_t>(p) * of_panel);
    }
  });
  return packed;
}

// A weight as (ceil(n / width), ceil(k / 2), width, 2) of bfloat16, its last row filled up with 0.
HostTensor PackPairsLater(const HostTensor& w, bool transposed, int64_t width) {
  const auto [n, k] = Extents(w, transposed);
  return EncodeLater(w, transposed, width, DType::kBFloat16,
                     {(n + width - 1) / width, (k + 1) / 2, width, 2},
                     [width, k](const std::vector<float>& panel, std::byte* out) {
                       for (int64_t at = 0; at < k * width; ++at) {
                         const int64_t i = at / width, j = at % width;
                         const uint16_t bits = FloatToBFloat(panel[static_cast<size_t>(at)]);
                         std::memcpy(out + ((i / 2 * width + j) * 2 + i % 2) * 2, &bits, 2);
                       }
                     });
}

// A weight whose numbers float16 holds as (ceil(n / width), k, width) of float16.
HostTensor PackHalvesLater(const HostTensor& w, bool transposed, int64_t width) {
  const auto [n, k] = Extents(w, transposed);
  return EncodeLater(w, transposed, width, DType::kFloat16, {(n + width - 1) / width, k, width},
                     [](const std::vector<float>& panel, std::byte* out) {
                       for (size_t at = 0; at < panel.size(); ++at) {
                         const uint16_t bits = FloatToHalf(panel[at]);
                         std::memcpy(out + at * sizeof bits, &bits, sizeof bits);
                       }
                     });
}

// The bytes that `fill` puts into zeros, when they are read.
template <typename Fill>
HostTensor FillLater(DType dtype, std::vector<int64_t> shape, const Fill& fill) {
  HostTensor t{dtype, std::move(shape), {}};
  t.data = SharedBytes::Lazy(static_cast<size_t>(t.size() * DTypeBytes(dtype)),
                             [fill](std::span<std::byte> out) { fill(out.data()); });
  return t;
}

// --- Words of four bytes ---

using qnn::kQuad;

// A weight as (ceil(n / width), ceil(k / 4), width, 4), its padding along K 0.
HostTensor PackBytesLater(const HostTensor& w, bool transposed, int64_t width) {
  const auto [n, k] = Extents(w, transposed);
  const int64_t words = (k + kQuad - 1) / kQuad;
  return FillLater(DType::kInt8, {(n + width - 1) / width, words, width, kQuad},
                   [=, n = n, k = k](std::byte* out) {
                     const SharedBytes in = w.data.Loaded();
                     for (int64_t j = 0; j < n; ++j) {
                       for (int64_t i = 0; i < k; ++i) {
                         const int64_t word = (j / width * words + i / kQuad) * width + j % width;
                         out[word * kQuad + i % kQuad] =
                             in.data()[transposed ? j * k + i : i * n + j];
                       }
                     }
                   });
}

// The kernel of a convolution, (o, i, taps...) or, where channels are last, (taps..., i, o), with
// four input channels in a word at the end: (o / rows, i / 4, taps..., rows, 4), rows left out where
// they are 1, or (taps..., i / 4, o, 4).
HostTensor PackByteKernelLater(const HostTensor& w, bool last, int64_t rows) {
  const size_t rank = w.shape.size();
  const int64_t outs = w.shape[last ? rank - 1 : 0], ins = w.shape[last ? rank - 2 : 1];
  const int64_t taps = outs * ins == 0 ? 0 : w.size() / (outs * ins);
  std::vector<int64_t> shape = w.shape;
  shape[last ? rank - 2 : 1] = ins / kQuad;
  if (rows > 1) {
    shape[0] /= rows;
    shape.push_back(rows);
  }
  shape.push_back(kQuad);
  return FillLater(DType::kInt8, std::move(shape), [=](std::byte* out) {
    const SharedBytes in = w.data.Loaded();
    for (int64_t o = 0; o < outs; ++o) {
      for (int64_t i = 0; i < ins; ++i) {
        for (int64_t t = 0; t < taps; ++t) {
          const int64_t from = last ? (t * ins + i) * outs + o : (o * ins + i) * taps + t;
          const int64_t word =
              last ? (t * (ins / kQuad) + i / kQuad) * outs + o
                   : ((o / rows * (ins / kQuad) + i / kQuad) * taps + t) * rows + o % rows;
          out[word * kQuad + i % kQuad] = in.data()[from];
        }
      }
    }
  });
}

// --- Blocks ---

// Of k, with one scale for each column.
constexpr int64_t kBlock = 32;

// A block of a column of floats as integers; `at(i)` gives its i-th number, of `count`. Calls
// `put(i, integer)` and returns the scale. A block that holds an infinity or NaN becomes NaN.
template <typename At, typename Put>
float EncodeBlock(WeightFormat format, int64_t count, const At& at, const Put& put) {
  float most = 0;  // the number furthest from 0
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(at(i))) most = std::numeric_limits<float>::quiet_NaN();
    if (std::abs(at(i)) > std::abs(most)) most = at(i);
  }
  const bool is_int8 = format == WeightFormat::kInt8Blocks;
  // Of 4 bits, -8 is the number furthest from 0, and so that has it, whatever its sign.
  const float scale = is_int8 ? std::abs(most) / 127 : most / -8;
  for (int64_t i = 0; i < count; ++i) {
    if (std::isnan(scale)) {
      put(i, 1);
      continue;
    }
    // A scale that is too small for a float32 is 0, and so are the numbers.
    const float quotient = scale == 0 ? 0 : at(i) / scale;
    const float least = is_int8 ? -127 : -8, greatest = is_int8 ? 127 : 7;
    put(i, static_cast<int>(std::nearbyint(std::clamp(quotient, least, greatest))));
  }
  return scale;
}

// Calls encode(block, column, at) for each block and column of a panel of (k, width).
template <typename Encode>
void ForBlocks(const std::vector<float>& panel, int64_t k, int64_t width, const Encode& encode) {
  for (int64_t first = 0; first < k; first += kBlock) {
    for (int64_t j = 0; j < width; ++j) {
      encode(first / kBlock, j, std::min(kBlock, k - first),
             [&, first](int64_t i) { return panel[static_cast<size_t>((first + i) * width + j)]; });
    }
  }
}

// The integers of a weight as (panels, blocks, kBlock, width) of int8, or (panels, blocks,
// kBlock / 8, width) of uint32 that hold eight of 4 bits, each 8 more than it is.
HostTensor PackIntegersLater(const HostTensor& w, bool transposed, int64_t width,
                             WeightFormat format) {
  const auto [n, k] = Extents(w, transposed);
  const bool is_int8 = format == WeightFormat::kInt8Blocks;
  const int64_t in_word = is_int8 ? 1 : 8, words = kBlock / in_word;
  const auto encode = [k = k, width, format, in_word, words](const std::vector<float>& panel,
                                                             std::byte* out) {
    ForBlocks(panel, k, width, [&](int64_t block, int64_t j, int64_t count, const auto& at) {
      EncodeBlock(format, count, at, [&](int64_t i, int integer) {
        const int64_t word = (block * words + i / in_word) * width + j;
        if (in_word == 1) {
          out[word] = static_cast<std::byte>(integer);
        } else {
          // Little end first: numbers 2 i and 2 i + 1 are in byte i.
          out[word * 4 + i % 8 / 2] |= static_cast<std::byte>((integer + 8) << (i % 2 * 4));
        }
      });
    });
  };
  return EncodeLater(w, transposed, width, is_int8 ? DType::kInt8 : DType::kUInt32,
                     {(n + width - 1) / width, (k + kBlock - 1) / kBlock, words, width}, encode);
}

// Their scales, (panels, blocks, width).
HostTensor PackScalesLater(const HostTensor& w, bool transposed, int64_t width,
                           WeightFormat format) {
  const auto [n, k] = Extents(w, transposed);
  const auto encode = [k = k, width, format](const std::vector<float>& panel, std::byte* out) {
    ForBlocks(panel, k, width, [&](int64_t block, int64_t j, int64_t count, const auto& at) {
      const float scale = EncodeBlock(format, count, at, [](int64_t, int) {});
      std::memcpy(out + (block * width + j) * int64_t{sizeof scale}, &scale, sizeof scale);
    });
  };
  return EncodeLater(w, transposed, width, DType::kFloat32,
                     {(n + width - 1) / width, (k + kBlock - 1) / kBlock, width}, encode);
}

// The weight of an nn.contrib_dense_nbits, (n, blocks, bytes), as that of an
// nn.contrib_dense_blocks.
HostTensor PackNBitsLater(const HostTensor& w, int64_t bits, int64_t width) {
  const int64_t n = w.shape[0], blocks = w.shape[1], bytes = w.shape[2];
  const bool is_int8 = bits == 8;
  const int64_t words = is_int8 ? bytes : bytes / 4;
  return FillLater(is_int8 ? DType::kInt8 : DType::kUInt32,
                   {(n + width - 1) / width, blocks, words, width}, [=](std::byte* out) {
                     const SharedBytes in = w.data.Loaded();
                     for (int64_t at = 0; at < n * blocks * bytes; ++at) {
                       const int64_t j = at / bytes / blocks, i = at % bytes;
                       const int64_t block = j / width * blocks + at / bytes % blocks;
                       const std::byte byte = in.data()[at];
                       if (is_int8) {  // less 128
                         out[(block * words + i) * width + j % width] = byte ^ std::byte{0x80};
                       } else {
                         out[((block * words + i / 4) * width + j % width) * 4 + i % 4] = byte;
                       }
                     }
                   });
}

// Floats (n, blocks) as (panels, blocks, width), less `shift`.
HostTensor PackOfBlocksLater(const HostTensor& t, int64_t width, float shift) {
  const int64_t n = t.shape[0], blocks = t.shape[1];
  return FillLater(DType::kFloat32, {(n + width - 1) / width, blocks, width}, [=](std::byte* out) {
    const SharedBytes in = t.data.Loaded();
    for (int64_t at = 0; at < n * blocks; ++at) {
      const int64_t j = at / blocks;
      float value = 0;
      std::memcpy(&value, in.data() + at * int64_t{sizeof value}, sizeof value);
      value -= shift;
      const int64_t to = (j / width * blocks + at % blocks) * width + j % width;
      std::memcpy(out + to * int64_t{sizeof value}, &value, sizeof value);
    }
  });
}

// The arguments of the nn.contrib_dense_blocks that an nn.contrib_dense_nbits with constant weights
// becomes; none where tiles cannot read its blocks.
std::optional<std::vector<HostTensor>> PackedNBits(const OpCall& call, int64_t width) {
  std::vector<const HostTensor*> constants;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const auto* constant = std::get_if<const Constant*>(&call.args[i]);
    if (constant == nullptr || (*constant)->value.data.empty()) return std::nullopt;
    constants.push_back(&(*constant)->value);
  }
  const int64_t bits = call.attrs.Int("bits"), block = constants[0]->shape[2] * 8 / bits;
  if (!codegen::TakesWeightBlock(block)) return std::nullopt;
  std::vector<HostTensor> packed = {PackNBitsLater(*constants[0], bits, width)};
  packed.push_back(PackOfBlocksLater(*constants[1], width, 0));
  if (constants.size() > 2) {
    packed.push_back(PackOfBlocksLater(*constants[2], width, bits == 8 ? 128 : 0));
  }
  return packed;
}

const Constant* Float32Weight(const OpCall& call, size_t at, const TensorType& result) {
  const auto* weight = std::get_if<const Constant*>(&call.args[at]);
  if (weight == nullptr || result.dtype != DType::kFloat32 ||
      (*weight)->value.dtype != DType::kFloat32 || (*weight)->value.data.empty()) {
    return nullptr;
  }
  return *weight;
}

// Whether a convolution's data, kernel and result, of that rank, have the usual layouts.
bool IsChannelsFirst(const OpCall& call, size_t rank) {
  const std::string letters = std::string("DHW").substr(5 - rank);
  const std::string layout = "NC" + letters;
  const std::string& out_layout = call.attrs.String("out_layout");
  return call.attrs.String("data_layout") == layout &&
         call.attrs.String("kernel_layout") == "OI" + letters &&
         (out_layout.empty() || out_layout == layout);
}

// Windows of one pixel at every pixel, channels last: a product of each pixel's channels.
bool IsPointwise(const OpCall& call, const HostTensor& kernel) {
  const std::string& name = call.op->name;
  const size_t rank = kernel.shape.size();
  if (name != "nn.conv1d" && name != "nn.conv2d" && name != "nn.conv3d") return false;
  const std::string letters = std::string("DHW").substr(5 - rank);
  const std::string layout = "N" + letters + "C";
  const std::string& out_layout = call.attrs.String("out_layout");
  const auto all = [&](const char* attribute, int64_t value) {
    return std::ranges::count(call.attrs.Ints(attribute), value) ==
           std::ssize(call.attrs.Ints(attribute));
  };
  return call.attrs.String("data_layout") == layout &&
         call.attrs.String("kernel_layout") == letters + "IO" &&
         (out_layout.empty() || out_layout == layout) && call.attrs.Int("groups") == 1 &&
         all("strides", 1) && all("padding", 0) &&
         std::all_of(kernel.shape.begin(), kernel.shape.end() - 2,
                     [](int64_t d) { return d == 1; });
}

// A product with a constant weight of float32, and what it becomes when that is packed.
struct PackedProduct {
  PackedCall call;
  const Constant* weight;
  HostTensor matrix;  // the weight's
  WeightFormat format;
};
std::optional<PackedProduct> PackedProductOf(const OpCall& call, const TensorType& result,
                                             WeightFormat format) {
  if (auto packed = call.op->pack ? call.op->pack(call.attrs) : std::nullopt) {
    const Constant* weight = Float32Weight(call, packed->weight, result);
    if (weight == nullptr || weight->value.shape.size() != 2) return std::nullopt;
    return PackedProduct{*std::move(packed), weight, weight->value, format};
  }
  if (call.op->layout != LayoutRule::kChooses || call.args.size() != 2) return std::nullopt;
  const Constant* kernel = Float32Weight(call, 1, result);
  if (kernel == nullptr || !IsPointwise(call, kernel->value)) return std::nullopt;
  PackedProduct product{{.op = "nn.contrib_dense_pack"}, kernel, kernel->value, format};
  if (call.attrs.Has("out_dtype"))
    product.call.attrs.Set("out_dtype", *call.attrs.Find("out_dtype"));
  product.matrix.shape.erase(product.matrix.shape.begin(), product.matrix.shape.end() - 2);
  // Blocks of integers are for what reads its weights once for few rows.
  if (IsInBlocks(format)) product.format = WeightFormat::kAsGiven;
  return product;
}

// Of a product of uint8 data and int8 weights in int32.
const Constant* ByteWeight(const Module& m, const OpCall& call, size_t at,
                           const TensorType& result) {
  const auto* weight = std::get_if<const Constant*>(&call.args[at]);
  if (weight == nullptr || result.dtype != DType::kInt32 ||
      (*weight)->value.dtype != DType::kInt8 || (*weight)->value.data.empty() ||
      AtomType(m, call.args[0])->As<TensorType>()->dtype != DType::kUInt8) {
    return nullptr;
  }
  return *weight;
}

// The layout that the kernel w of a convolution of bytes is packed in; empty where it stays.
std::string ByteKernelLayout(const OpCall& call, const HostTensor& w, int64_t rows) {
  const std::string& name = call.op->name;
  if (name != "nn.conv1d" && name != "nn.conv2d" && name != "nn.conv3d") return "";
  const std::string letters = std::string("DHW").substr(5 - w.shape.size());
  const std::string& data_layout = call.attrs.String("data_layout");
  const std::string& out_layout = call.attrs.String("out_layout");
  const std::string& layout = call.attrs.String("kernel_layout");
  const bool last = data_layout == "N" + letters + "C";
  if ((!last && data_layout != "NC" + letters) ||
      layout != (last ? letters + "IO" : "OI" + letters) ||
      (!out_layout.empty() && out_layout != data_layout)) {
    return "";
  }
  const size_t rank = w.shape.size();
  const int64_t groups = call.attrs.Int("groups");
  const int64_t ins = w.shape[last ? rank - 2 : 1], outs = w.shape[last ? rank - 1 : 0] / groups;
  if (ins % kQuad != 0 || !qnn::TakesByteConvolution(ins, outs, groups)) return "";
  return layout + (!last && rows > 1 && outs % rows == 0 ? std::to_string(rows) + "o" : "") + "4i";
}

// Whether the kernel w of a convolution is best read in blocks of `width` output channels: not
// where it is depthwise or nearly so, nor where one window covers an image, which is a product that
// reads rows.
bool TakesBlocks(const OpCall& call, const HostTensor& w, const TensorType& result, int64_t width) {
  const std::string& name = call.op->name;
  if (width == 0 || (name != "nn.conv1d" && name != "nn.conv2d" && name != "nn.conv3d") ||
      !IsChannelsFirst(call, w.shape.size())) {
    return false;
  }
  if (w.shape[0] / call.attrs.Int("groups") % width != 0 || w.shape[0] == 0) return false;
  return !std::all_of(result.shape.begin() + 2, result.shape.end(),
                      [](const Dim& d) { return d.is_const(1); });
}

// Whether a convolution's kernel is read row by row, as tiles of output channels: channels first, no
// direct convolution (few outputs a group), no product of whole images.
bool TakesRows(const OpCall& call, const HostTensor& w, const TensorType& result) {
  constexpr int64_t kMostDirect = 4;  // outputs of a group
  const std::string& name = call.op->name;
  if ((name != "nn.conv1d" && name != "nn.conv2d" && name != "nn.conv3d") ||
      !IsChannelsFirst(call, w.shape.size()) ||
      w.shape[0] / call.attrs.Int("groups") <= kMostDirect) {
    return false;
  }
  return !std::all_of(result.shape.begin() + 2, result.shape.end(),
                      [](const Dim& d) { return d.is_const(1); });
}

// The same where channels are last, in panels of `width` outputs: (o / width, taps..., i, width).
bool TakesPanels(const OpCall& call, const HostTensor& w, const TensorType& result, int64_t width) {
  const std::string& name = call.op->name;
  if (width == 0 || (name != "nn.conv1d" && name != "nn.conv2d" && name != "nn.conv3d"))
    return false;
  const std::string letters = std::string("DHW").substr(5 - w.shape.size());
  const std::string layout = "N" + letters + "C";
  const std::string& out_layout = call.attrs.String("out_layout");
  if (call.attrs.String("data_layout") != layout ||
      call.attrs.String("kernel_layout") != letters + "IO" || call.attrs.Int("groups") != 1 ||
      (!out_layout.empty() && out_layout != layout)) {
    return false;
  }
  if (w.size() == 0 || w.shape.back() % width != 0) return false;
  return !std::all_of(result.shape.begin() + 1, result.shape.end() - 1,
                      [](const Dim& d) { return d.is_const(1); });
}

}  // namespace

Module PackWeights(const Module& m, const std::string& cpu, WeightFormat format, bool exact) {
  const int64_t width = codegen::PreferredPanelWidth(cpu);
  const int64_t rows = codegen::PreferredKernelRows(cpu);
  std::map<std::pair<const Constant*, bool>, const Constant*> packed, scales;
  std::optional<WinogradWeights> winograd;
  if (!exact) winograd.emplace(m, cpu);
  std::map<std::pair<const Constant*, std::string>, const Constant*> kernels;
  // Machines with AVX2 make float32 of float16 as they read it.
  constexpr int64_t kLeastHalves = 1 << 12;
  const bool has_halves = codegen::ContractionTargetFor(cpu).vector_bytes > 16;
  std::map<const Constant*, bool> halves;
  auto is_half = [&](const Constant* weight) {
    if (!has_halves || weight->value.size() < kLeastHalves) return false;
    const auto [known, is_new] = halves.try_emplace(weight);
    if (is_new) known->second = FitsFloat16(weight->value);
    return known->second;
  };
  auto once = [&](const Constant* weight, bool transposed, const auto& make) {
    const Constant*& pack = packed[{weight, transposed}];
    if (pack == nullptr) pack = MakeConstant(m, make(), weight->name);
    return pack;
  };
  return RewriteModule(m, [&](const Binding& b, std::vector<Binding>& out) {
    const auto* call = b.value->As<OpCall>();
    const auto* type = b.var->type->As<TensorType>();
    if (call == nullptr || type == nullptr) {
      out.push_back(b);
      return;
    }
    std::vector<Atom> args = call->args;
    BindingBuilder builder(m, b.value->span, out);
    // Errors are those of the operator that the program has.
    const auto replace = [&](const std::string& op, std::vector<Atom> operands,
                             const Attrs& attrs) {
      if (op != call->op->name) KeepGuards(m, *call, b.value->span, out);
      builder.BindCall(b.var, op, std::move(operands), attrs);
    };
    if (auto product = PackedProductOf(*call, *type, format)) {
      const auto& [wanted, weight, matrix, form] = *product;
      const bool transposed = wanted.is_transposed;
      const auto [n, k] = Extents(matrix, transposed);
      if (IsInBlocks(form)) {
        args[wanted.weight] = once(
            weight, transposed, [&] { return PackIntegersLater(matrix, transposed, width, form); });
        const Constant*& scale = scales[{weight, transposed}];
        if (scale == nullptr) {
          scale = MakeConstant(m, PackScalesLater(matrix, transposed, width, form),
                               weight->name.empty() ? "" : weight->name + ".scales");
        }
        args.push_back(scale);
        Attrs attrs;
        attrs.Set("units", n);
        attrs.Set("in_units", k);
        replace("nn.contrib_dense_blocks", std::move(args), attrs);
        return;
      }
      args[wanted.weight] = once(weight, transposed, [&, n = n, k = k] {
        if (form == WeightFormat::kBFloat16) return PackPairsLater(matrix, transposed, width);
        if (is_half(weight)) return PackHalvesLater(matrix, transposed, width);
        return PackLater(matrix, transposed, width, {(n + width - 1) / width, k, width});
      });
      Attrs attrs = wanted.attrs;
      attrs.Set("units", n);
      if (form == WeightFormat::kBFloat16) attrs.Set("in_units", k);
      replace(wanted.op, std::move(args), attrs);
      return;
    }
    if (auto wanted = call->op->pack ? call->op->pack(call->attrs) : std::nullopt) {
      const Constant* weight = ByteWeight(m, *call, wanted->weight, *type);
      if (weight != nullptr && weight->value.shape.size() == 2) {
        const std::vector<int64_t>& shape = weight->value.shape;
        args[wanted->weight] = once(weight, wanted->is_transposed, [&] {
          return PackBytesLater(weight->value, wanted->is_transposed, width);
        });
        wanted->attrs.Set("units", shape[wanted->is_transposed ? 0 : 1]);
        wanted->attrs.Set("in_units", shape[wanted->is_transposed ? 1 : 0]);
        replace(wanted->op, std::move(args), wanted->attrs);
        return;
      }
    }
    if (call->op->name == "nn.contrib_dense_nbits") {
      if (auto constants = PackedNBits(*call, width)) {
        const auto& weight = std::get<const Constant*>(call->args[1]);
        args.resize(1);
        for (HostTensor& t : *constants) {
          args.push_back(MakeConstant(m, std::move(t), args.size() == 1 ? weight->name : ""));
        }
        Attrs attrs;
        attrs.Set("units", weight->value.shape[0]);
        attrs.Set("in_units", call->attrs.Int("in_units"));
        replace("nn.contrib_dense_blocks", std::move(args), attrs);
        return;
      }
    }
    if (call->op->layout == LayoutRule::kChooses && call->args.size() == 2) {
      const Constant* kernel = Float32Weight(*call, 1, *type);
      const size_t rank = kernel == nullptr ? 0 : kernel->value.shape.size();
      const auto transformed =
          winograd ? winograd->Of(*call, *type) : WinogradWeights::Transformed();
      if (transformed.weight != nullptr) {
        args[1] = transformed.weight;
        Attrs attrs;
        attrs.Set("tile_size", transformed.tile);
        attrs.Set("channels", transformed.kernel->value.shape[0]);
        attrs.Set("padding", *call->attrs.Find("padding"));
        replace("nn.contrib_conv2d_winograd", std::move(args), attrs);
        return;
      }
      if (rank >= 3 && rank <= 5 && TakesBlocks(*call, kernel->value, *type, rows)) {
        std::vector<int64_t> shape = kernel->value.shape;
        shape[0] /= rows;
        shape.push_back(rows);
        args[1] = once(kernel, true,
                       [&] { return PackLater(kernel->value, true, rows, std::move(shape)); });
        Attrs attrs = call->attrs;
        attrs.Set("kernel_layout", attrs.String("kernel_layout") + std::to_string(rows) + "o");
        replace(call->op->name, std::move(args), attrs);
        return;
      }
    }
    if (call->op->layout == LayoutRule::kChooses && call->args.size() == 2) {
      const Constant* kernel = Float32Weight(*call, 1, *type);
      const size_t rank = kernel == nullptr ? 0 : kernel->value.shape.size();
      // Blocks of outputs, on machines with more registers, stay float32.
      if (rows == 0 && rank >= 3 && rank <= 5 && TakesRows(*call, kernel->value, *type) &&
          is_half(kernel)) {
        const Constant*& weight = kernels[{kernel, "halves"}];
        if (weight == nullptr)
          weight = MakeConstant(m, AsFloat16Later(kernel->value), kernel->name);
        args[1] = weight;
        replace(call->op->name, std::move(args), call->attrs);
        return;
      }
      if (rank >= 3 && rank <= 5 && TakesPanels(*call, kernel->value, *type, width)) {
        const std::string layout =
            fmt::format("O{}I{}o", std::string("DHW").substr(5 - rank), width);
        const Constant*& pack = kernels[{kernel, layout}];
        if (pack == nullptr) {
          HostTensor matrix = kernel->value;
          std::vector<int64_t> shape = matrix.shape;
          const int64_t outputs = shape.back();
          shape.back() = width;
          shape.insert(shape.begin(), outputs / width);
          matrix.shape = {matrix.size() / outputs, outputs};
          pack = MakeConstant(m, PackLater(matrix, false, width, std::move(shape)), kernel->name);
        }
        args[1] = pack;
        Attrs attrs = call->attrs;
        attrs.Set("kernel_layout", layout);
        replace(call->op->name, std::move(args), attrs);
        return;
      }
    }
    if (call->op->layout == LayoutRule::kChooses && call->args.size() == 2) {
      const Constant* kernel = ByteWeight(m, *call, 1, *type);
      const size_t rank = kernel == nullptr ? 0 : kernel->value.shape.size();
      const std::string layout =
          rank >= 3 && rank <= 5 ? ByteKernelLayout(*call, kernel->value, rows) : "";
      if (!layout.empty()) {
        const Constant*& pack = kernels[{kernel, layout}];
        if (pack == nullptr) {
          const int64_t in_block = layout.ends_with("o4i") ? rows : 1;
          pack = MakeConstant(
              m, PackByteKernelLater(kernel->value, layout.ends_with("IO4i"), in_block),
              kernel->name);
        }
        args[1] = pack;
        Attrs attrs = call->attrs;
        attrs.Set("kernel_layout", layout);
        replace(call->op->name, std::move(args), attrs);
        return;
      }
    }
    out.push_back(b);
  });
}

}  // namespace relayvm::ir
