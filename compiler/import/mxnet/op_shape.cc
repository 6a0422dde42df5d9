// Other shapes of the same elements, and shapes as numbers.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

std::vector<Value> DimsOf(TypedBuilder& b, const Value& v, int first, int last) {
  std::vector<Value> dims;
  for (int i = first; i < last; ++i) dims.push_back(b.DimOf(v, i));
  return dims;
}

Value BroadcastTo(TypedBuilder& b, const Value& x, const std::vector<Value>& dims) {
  const Value shape = dims.empty() ? b.Ints({}) : b.Concat(dims, 0);
  if (const auto known = b.ConstantInts(shape))
    return b.Op("broadcast_to", {x}, {{"shape", ListOf(*known)}});
  return b.Op("dyn.broadcast_to", {x, shape});
}

namespace {

// --- Reshape ---

// What a number of a new shape stands for.
enum class Code : uint8_t { kExtent, kRest, kSame, kSkipOne, kAllOthers, kMerge, kSplit };

Code CodeOfReshape(int64_t v) {
  constexpr Code kCodes[] = {Code::kSame, Code::kRest, Code::kAllOthers, Code::kMerge,
                             Code::kSplit};
  return v <= 0 && v >= -4 ? kCodes[-v] : Code::kExtent;
}
Code CodeOfNumpyReshape(int64_t v) {
  constexpr Code kCodes[] = {Code::kExtent,    Code::kRest,  Code::kSame, Code::kSkipOne,
                             Code::kAllOthers, Code::kMerge, Code::kSplit};
  return v <= 0 && v >= -6 ? kCodes[-v] : Code::kExtent;
}
Code CodeOfPlainReshape(int64_t v) { return v == -1 ? Code::kRest : Code::kExtent; }

// Extents of `x`, in the order in which a shape is read, as a shape uses them up.
class NewShape {
 public:
  NewShape(Node& n, const Term& x, bool reverse)
      : n_(n), b_(n.b()), old_(DimsOf(b_, x, 0, x.rank())) {
    if (reverse) std::ranges::reverse(old_);
  }

  // `shape` in that order; false with an error.
  bool Read(const std::vector<int64_t>& shape, Code (*code)(int64_t)) {
    for (size_t i = 0; i < shape.size(); ++i) {
      const Code what = code(shape[i]);
      if (what == Code::kSplit) {
        if (i + 2 >= shape.size()) return n_.Fail("a split names two extents"), false;
        if (!Split(shape[i + 1], shape[i + 2])) return false;
        i += 2;
      } else if (!Add(what, shape[i])) {
        return false;
      }
    }
    return true;
  }
  const std::vector<Value>& dims() const { return dims_; }

 private:
  bool Add(Code what, int64_t number) {
    switch (what) {
      case Code::kExtent:
      case Code::kRest:
        if (number < -1) return n_.Fail("extent {} of the new shape", number), false;
        dims_.push_back(b_.Ints({number}));
        ++at_;
        return true;
      case Code::kSame:
        return Has(1) && (dims_.push_back(old_[at_++]), true);
      case Code::kSkipOne:
        return Has(1) && (++at_, true);
      case Code::kAllOthers:
        for (; at_ < old_.size(); ++at_) dims_.push_back(old_[at_]);
        return true;
      case Code::kMerge:
        if (!Has(2)) return false;
        dims_.push_back(b_.Op("multiply", {old_[at_], old_[at_ + 1]}));
        at_ += 2;
        return true;
      case Code::kSplit:
        break;
    }
    return false;
  }
  bool Split(int64_t left, int64_t right) {
    if (!Has(1)) return false;
    if ((left < 1 && left != -1) || (right < 1 && right != -1) || (left == -1 && right == -1))
      return n_.Fail("an extent cannot be split into {} and {}", left, right), false;
    const Term whole(b_, old_[at_++]);
    const auto part = [&](int64_t own, int64_t other) -> Value {
      if (own != -1) return b_.Ints({own});
      return whole.Call("floor_divide", b_.Ints({other}));
    };
    dims_.push_back(part(left, right));
    dims_.push_back(part(right, left));
    return true;
  }
  bool Has(size_t count) {
    if (at_ + count <= old_.size()) return true;
    return n_.Fail("the new shape refers to more than the {} dims that there are", old_.size()),
           false;
  }

  Node& n_;
  TypedBuilder& b_;
  std::vector<Value> old_, dims_;
  size_t at_ = 0;
};

Outputs ReshapeBy(Node& n, std::vector<int64_t> shape, Code (*code)(int64_t), bool reverse) {
  const Term x(n, 0);
  NewShape made(n, x, reverse);
  if (reverse) std::ranges::reverse(shape);
  if (!made.Read(shape, code)) return {};
  std::vector<Value> dims = made.dims();
  if (reverse) std::ranges::reverse(dims);
  const Value y = ShapedAs(n, x, dims);
  if (dims.size() == 1) n.NoteOrigins(y, {x});
  return {y};
}

Outputs Reshape(Node& n) {
  const std::vector<int64_t> shape = n.Ints("shape"), target = n.Ints("target_shape");
  if (shape.empty() && !target.empty()) {
    // Of the first versions: 0 is what is left.
    std::vector<int64_t> known = target;
    for (int64_t& d : known) d = d == 0 ? -1 : d;
    if (n.Bool("keep_highest", false)) known[0] = 0;
    return ReshapeBy(n, known, CodeOfReshape, false);
  }
  return ReshapeBy(n, shape, CodeOfReshape, n.Bool("reverse", false));
}
Outputs NumpyReshape(Node& n) {
  if (n.Text("order", "C") != "C") return n.Unsupported("order: only C is supported");
  return ReshapeBy(n, n.Ints("newshape"), CodeOfPlainReshape, false);
}
Outputs CodedReshape(Node& n) {
  return ReshapeBy(n, n.Ints("newshape"), CodeOfNumpyReshape, n.Bool("reverse", false));
}

Outputs ReshapeLike(Node& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), y = n.Input(1);
  const auto place = [&](std::string_view name, int64_t fallback, int rank) {
    const int64_t at = n.MaybeInt(name).value_or(fallback);
    const int64_t front = at < 0 ? at + rank : at;
    if (front >= 0 && front <= rank) return static_cast<int>(front);
    n.Fail("attribute {}: {} is out of range for rank {}", name, at, rank);
    return 0;
  };
  std::vector<Value> dims = DimsOf(b, x, 0, place("lhs_begin", 0, x.rank()));
  const auto add = [&](const std::vector<Value>& more) {
    dims.insert(dims.end(), more.begin(), more.end());
  };
  add(DimsOf(b, y, place("rhs_begin", 0, y.rank()), place("rhs_end", y.rank(), y.rank())));
  add(DimsOf(b, x, place("lhs_end", x.rank(), x.rank()), x.rank()));
  return {ShapedAs(b, x, dims)};
}

Outputs Flatten(Node& n) {
  const Term x(n, 0);
  if (x.rank() == 2) return {x};
  return {x.rank() < 2 ? x.Reshape({0, -1}) : x.Call("nn.batch_flatten")};
}

// --- Order and number of axes ---

Outputs Transpose(Node& n) {
  const Term x(n, 0);
  std::vector<int64_t> axes = n.Axes(n.Ints("axes"), x.rank());
  if (axes.empty()) {
    axes = Iota(x.rank());
    std::ranges::reverse(axes);
  }
  if (!n.b().status().ok()) return {};
  return {x.Transpose(axes)};
}
Outputs SwapAxis(Node& n) {
  const Term x(n, 0);
  const bool numbered = n.HasAttr("dim1") || n.HasAttr("dim2") || !n.HasAttr("axis1");
  const int first = n.Axis(n.Int(numbered ? "dim1" : "axis1", 0), x.rank()),
            second = n.Axis(n.Int(numbered ? "dim2" : "axis2", 0), x.rank());
  std::vector<int64_t> axes = Iota(x.rank());
  if (!n.b().status().ok() || axes.empty()) return {x};
  std::swap(axes[static_cast<size_t>(first)], axes[static_cast<size_t>(second)]);
  return {x.Transpose(axes)};
}
Outputs MoveAxis(Node& n) {
  const Term x(n, 0);
  const std::vector<int64_t> from = n.Axes(n.Ints("source"), x.rank()),
                             to = n.Axes(n.Ints("destination"), x.rank());
  if (!n.b().status().ok()) return {};
  if (from.size() != to.size()) return n.Fail("expected as many destinations as sources");
  std::vector<int64_t> axes(static_cast<size_t>(x.rank()), -1), rest;
  for (size_t i = 0; i < to.size(); ++i) axes[static_cast<size_t>(to[i])] = from[i];
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (std::ranges::find(from, i) == from.end()) rest.push_back(i);
  }
  size_t next = 0;
  for (int64_t& axis : axes) {
    if (axis < 0 && next < rest.size()) axis = rest[next++];
  }
  if (next != rest.size()) return n.Fail("an axis is named twice");
  return {x.Transpose(axes)};
}

Outputs ExpandDims(Node& n) {
  const Term x(n, 0);
  return {x.Expand(n.Axis(n.Int("axis", 0), x.rank() + 1))};
}

// Without axes: all dims that are known to be 1. One dim stays where the file's shapes have one.
Outputs SqueezeDims(Node& n, bool keeps_one) {
  const Term x(n, 0);
  std::vector<int64_t> axes;
  if (const auto given = n.MaybeInts("axis")) {
    axes = n.Axes(*given, x.rank());
  } else {
    for (int i = 0; i < x.rank(); ++i) {
      if (x.value().dim(i).is_const(1)) axes.push_back(i);
      if (!x.value().dim(i).is_const())
        n.Warn(
            fmt::format("dim {} stays, as if it were not 1; give axis, or fix it with --shape", i));
    }
  }
  if (keeps_one && !axes.empty() && static_cast<int>(axes.size()) == x.rank())
    axes.erase(axes.begin());
  if (axes.empty() || !n.b().status().ok()) return {x};
  return {n.b().Squeeze(x, axes)};
}
Outputs Squeeze(Node& n) { return SqueezeDims(n, !n.np_shape()); }
Outputs NumpySqueeze(Node& n) { return SqueezeDims(n, false); }

template <int kRank>
Outputs AtLeast(Node& n) {
  Outputs out;
  for (const Value& v : n.inputs()) {
    Term x(n.b(), v);
    // (n) becomes (1, n), and then (1, n, 1).
    if (x.rank() == 0) x = x.Reshape({1});
    if (kRank >= 2 && x.rank() == 1) x = x.Expand(0);
    if (kRank >= 3 && x.rank() == 2) x = x.Expand(2);
    out.push_back(x);
  }
  return out;
}

template <OpName kName>
Outputs Blocks(Node& n) {
  if (!n.ExpectRank(n.Input(0), 4, "data")) return {};
  return {Term(n, 0).Call(
      kName.chars,
      {{"block_size", n.Count("block_size", 1)}, {"layout", "NCHW"}, {"mode", "DCR"}})};
}

// --- Broadcasts ---

// `same` stands for the extent that there is.
Outputs BroadcastToShape(Node& n, int64_t same) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const std::vector<int64_t> shape = n.Ints("shape");
  const int more = static_cast<int>(shape.size()) - x.rank();
  if (more < 0) return n.Fail("the new shape has fewer dims than the {} of the data", x.rank());
  std::vector<Value> dims;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    const int64_t extent = shape[static_cast<size_t>(i)];
    if (extent == same && i < more) return n.Fail("the data has no dim {}", i - more);
    dims.push_back(extent == same ? b.DimOf(x, i - more) : b.Ints({extent}));
  }
  return {BroadcastTo(b, x, dims)};
}
Outputs Broadcast(Node& n) { return BroadcastToShape(n, 0); }
Outputs NumpyBroadcast(Node& n) { return BroadcastToShape(n, -2); }

Outputs BroadcastLike(Node& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0), y = n.Input(1);
  const auto left = n.MaybeInts("lhs_axes"), right = n.MaybeInts("rhs_axes");
  if (!left || !right) return {BroadcastTo(b, x, DimsOf(b, y, 0, y.rank()))};
  if (left->size() != right->size()) return n.Fail("expected as many rhs_axes as lhs_axes");
  std::vector<Value> dims = DimsOf(b, x, 0, x.rank());
  for (size_t i = 0; i < left->size(); ++i) {
    const int to = n.Axis((*left)[i], x.rank()), from = n.Axis((*right)[i], y.rank());
    if (!b.status().ok()) return {};
    dims[static_cast<size_t>(to)] = b.DimOf(y, from);
  }
  return {BroadcastTo(b, x, dims)};
}
Outputs BroadcastAxis(Node& n) {
  TypedBuilder& b = n.b();
  const Value x = n.Input(0);
  const std::vector<int64_t> axes = n.Axes(n.Ints("axis"), x.rank()), sizes = n.Ints("size");
  if (axes.size() != sizes.size()) return n.Fail("expected as many sizes as axes");
  std::vector<Value> dims = DimsOf(b, x, 0, x.rank());
  if (!b.status().ok()) return {};
  for (size_t i = 0; i < axes.size(); ++i) dims[static_cast<size_t>(axes[i])] = b.Ints({sizes[i]});
  return {BroadcastTo(b, x, dims)};
}

// --- Shapes as numbers ---

Outputs ShapeArray(Node& n) { return {n.b().ShapeOf(n.Input(0))}; }
Outputs SizeArray(Node& n) { return {ProductOfDims(n, n.Input(0), 0, n.Input(0).rank())}; }

constexpr OperatorDef kShapeOperators[] = {
    {"Flatten flatten _npx_batch_flatten", 1, 1, Flatten},
    {"Reshape reshape", 1, 1, Reshape},
    {"SwapAxis swapaxes _npi_swapaxes", 1, 1, SwapAxis},
    {"_np_atleast_1d", 1, -1, AtLeast<1>},
    {"_np_atleast_2d", 1, -1, AtLeast<2>},
    {"_np_atleast_3d", 1, -1, AtLeast<3>},
    {"_np_moveaxis", 1, 1, MoveAxis},
    {"_np_reshape _npi_reshape", 1, 1, NumpyReshape},
    {"_np_squeeze _npi_squeeze", 1, 1, NumpySqueeze},
    {"_npi_broadcast_to", 1, 1, NumpyBroadcast},
    {"_npx_reshape", 1, 1, CodedReshape},
    {"broadcast_axis broadcast_axes", 1, 1, BroadcastAxis},
    {"broadcast_like", 2, 2, BroadcastLike},
    {"broadcast_to", 1, 1, Broadcast},
    {"depth_to_space", 1, 1, Blocks<"nn.depth_to_space">},
    {"expand_dims _npi_expand_dims", 1, 1, ExpandDims},
    {"reshape_like _npx_reshape_like", 2, 2, ReshapeLike},
    {"shape_array _npx_shape_array", 1, 1, ShapeArray},
    {"size_array", 1, 1, SizeArray},
    {"space_to_depth", 1, 1, Blocks<"nn.space_to_depth">},
    {"squeeze", 1, 1, Squeeze},
    {"transpose _np_transpose _npi_transpose", 1, 1, Transpose},
};

}  // namespace

std::span<const OperatorDef> ShapeOperators() { return kShapeOperators; }

}  // namespace relayvm::import::mxnet
