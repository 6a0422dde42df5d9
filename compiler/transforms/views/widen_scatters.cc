#include "compiler/transforms/views/widen_scatters.h"

#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"

namespace relayvm::ir {
namespace {

// Constant indices: `depth` rows of `columns` numbers.
struct Indices {
  std::vector<int64_t> numbers;
  int64_t depth = 0, columns = 0;

  std::span<const int64_t> Row(int64_t m) const {
    return std::span(numbers).subspan(static_cast<size_t>(m * columns),
                                      static_cast<size_t>(columns));
  }
};

// The indices of a scatter_nd, whose tuples stand along the first axis or along the last.
std::optional<Indices> Read(const Atom& a, bool tuples_last) {
  const auto* constant = std::get_if<const Constant*>(&a);
  if (constant == nullptr) return std::nullopt;
  const HostTensor& t = (*constant)->value;
  if (t.shape.size() < 2 || t.size() == 0) return std::nullopt;
  const int64_t depth = tuples_last ? t.shape.back() : t.shape.front();
  if (depth < 2) return std::nullopt;
  Indices out{{}, depth, t.size() / depth};
  const SharedBytes bytes = t.data.Loaded();
  const auto read = [&]<typename T>(T) {
    out.numbers.reserve(static_cast<size_t>(t.size()));
    for (int64_t m = 0; m < out.depth; ++m) {
      for (int64_t c = 0; c < out.columns; ++c) {
        const int64_t at = tuples_last ? c * out.depth + m : m * out.columns + c;
        T number;
        std::memcpy(&number, bytes.data() + static_cast<size_t>(at) * sizeof(T), sizeof(T));
        out.numbers.push_back(number);
      }
    }
  };
  if (t.dtype == DType::kInt64) {
    read(int64_t{});
  } else if (t.dtype == DType::kInt32) {
    read(int32_t{});
  } else {
    return std::nullopt;
  }
  return out;
}

// Whether the last row counts from 0 to extent - 1, over and over, while the others stay as they
// are.
bool CoversLastAxis(const Indices& indices, int64_t extent) {
  if (extent < 1 || indices.columns % extent != 0) return false;
  for (int64_t m = 0; m < indices.depth; ++m) {
    const auto row = indices.Row(m);
    const bool is_last = m + 1 == indices.depth;
    for (int64_t c = 0; c < indices.columns; ++c) {
      const int64_t in_slice = c % extent;
      const int64_t expected = is_last ? in_slice : row[static_cast<size_t>(c - in_slice)];
      if (row[static_cast<size_t>(c)] != expected) return false;
    }
  }
  return true;
}

// Without the last row, and with a column for each slice.
Indices WithoutLastAxis(const Indices& indices, int64_t extent) {
  Indices out{{}, indices.depth - 1, indices.columns / extent};
  for (int64_t m = 0; m < out.depth; ++m) {
    for (int64_t c = 0; c < out.columns; ++c)
      out.numbers.push_back(indices.Row(m)[static_cast<size_t>(c * extent)]);
  }
  return out;
}

class Widener {
 public:
  explicit Widener(const Module& m) : m_(m) {}

  Module Run() {
    return RewriteModule(m_, [&](const Binding& b, std::vector<Binding>& out) {
      if (!Widen(b, out)) out.push_back(b);
    });
  }

 private:
  bool Widen(const Binding& b, std::vector<Binding>& out) const {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || call->op->name != "scatter_nd") return false;
    const bool tuples_last = call->attrs.Bool("tuples_last");
    std::optional<Indices> indices = Read(call->args[1], tuples_last);
    if (!indices) return false;
    const TensorType data = *AtomType(m_, call->args[0])->As<TensorType>();
    if (!HasUpdatePerElement(call->args, data, indices->depth, tuples_last)) return false;
    const int64_t given = indices->depth;
    std::vector<int64_t> slice;  // its dims
    for (int64_t m = given; m-- > 1;) {
      const Dim& extent = data.shape[static_cast<size_t>(m)];
      if (!extent.is_const() || !CoversLastAxis(*indices, extent.value())) break;
      *indices = WithoutLastAxis(*indices, extent.value());
      slice.insert(slice.begin(), extent.value());
    }
    if (indices->depth == given) return false;
    BindingBuilder builder(m_, b.value->span, out);
    AttrList shape = {AttrValue(indices->columns)};
    for (int64_t d : slice) shape.emplace_back(d);
    for (size_t i = static_cast<size_t>(given); i < data.shape.size(); ++i)
      shape.emplace_back(data.shape[i]);
    const Atom updates = builder.Reshape(call->args[2], std::move(shape));
    HostTensor numbers{DType::kInt64,
                       {indices->depth, indices->columns},
                       SharedBytes::Copy(std::as_bytes(std::span(indices->numbers)))};
    builder.BindCall(b.var, call->op->name,
                     {call->args[0], MakeConstant(m_, std::move(numbers)), updates},
                     AttrsOf({{"mode", call->attrs.String("mode")}}));
    return true;
  }

  // Whether the updates have the dims of the indices, but for that of the tuples, and of what of
  // the data no index names.
  bool HasUpdatePerElement(const std::vector<Atom>& args, const TensorType& data, int64_t depth,
                           bool tuples_last) const {
    const TensorType indices = *AtomType(m_, args[1])->As<TensorType>();
    const TensorType updates = *AtomType(m_, args[2])->As<TensorType>();
    if (depth > static_cast<int64_t>(data.shape.size())) return false;
    std::vector<Dim> expected = indices.shape;
    expected.erase(tuples_last ? expected.end() - 1 : expected.begin());
    expected.insert(expected.end(), data.shape.begin() + depth, data.shape.end());
    return updates.shape == expected;
  }

  const Module& m_;
};

}  // namespace

Module WidenScatters(const Module& m) { return Widener(m).Run(); }

}  // namespace relayvm::ir
