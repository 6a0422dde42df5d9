// TensorArray and TensorList as tensors whose rows are the elements: reading takes a row, writing
// updates one (in place, where nobody else holds the list), stacking is the tensor itself. Lists
// whose elements' dims nothing tells yet are Unmade (graph_importer.h).
#include <algorithm>
#include <functional>

#include "compiler/import/arithmetic.h"
#include "compiler/import/composite/loops.h"
#include "compiler/import/tensorflow/graph_importer.h"

namespace relayvm::import::tensorflow {

namespace {

using Dims = std::vector<Dim>;

// Of a scalar, which is no list, as of an empty one.
Dims ElementOf(const Value& list) {
  return list.rank() == 0 ? Dims() : Dims(list.shape().begin() + 1, list.shape().end());
}

bool IsStatic(const std::optional<Dims>& shape) {
  return shape && std::ranges::all_of(*shape, [](const Dim& d) { return d.is_const(); });
}

// A shape that an input says: -1 is unknown, and so is a scalar's.
std::optional<Dims> ShapeInput(NodeContext& n, size_t i) {
  const Value v = n.Input(i);
  if (!v || !v.is_tensor() || v.rank() != 1) return std::nullopt;
  auto elements = n.b().Elements(v);
  if (!elements) return std::nullopt;
  for (Dim& d : *elements) {
    if (d.is_const() && d.value() < 0) d = Dim::Any();
  }
  return elements;
}

// What is known of both.
std::optional<Dims> Merged(const std::optional<Dims>& x, const std::optional<Dims>& y) {
  if (!x || !y || x->size() != y->size()) return x ? x : y;
  Dims out = *x;
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].ContainsAny()) out[i] = (*y)[i];
  }
  return out;
}

// A list of so many elements, made where their dims are numbers.
Value NewList(NodeContext& n, const Value& count, DType dtype, std::optional<Dims> element) {
  const Value length = n.b().Cast(count, DType::kInt64);
  Unmade list{length, dtype, std::move(element)};
  if (IsStatic(list.element)) return n.importer().Made(list, *list.element, 0);
  return n.importer().NewUnmade(std::move(list));
}

// A list as a tensor; `element`, where it has none of its own, says what is known of it. An error
// where its dims are not known.
Value ListOfRows(NodeContext& n, const Value& list, const std::optional<Dims>& element = {}) {
  if (list.is_tensor() && list.rank() > 0) return list;
  const Unmade* unmade = n.importer().UnmadeOf(list);
  if (unmade == nullptr) {
    n.Fail("an input is no list of tensors");
    return {};
  }
  const auto known = Merged(unmade->element, element);
  if (known) {
    const bool has_open = std::ranges::any_of(*known, [](const Dim& d) { return d.ContainsAny(); });
    // Elements that nobody has put there have no other dims.
    Dims dims = *known;
    for (Dim& d : dims) {
      if (d.ContainsAny()) d = Dim(0);
    }
    const auto count = KnownNumber(n.b(), unmade->count);
    if (!has_open || (count && *count == 0)) {
      if (const Value made = n.importer().Made(*unmade, dims, n.b().num_sized())) return made;
    }
  }
  n.Unsupported("a list that is read before an element is there, whose dims are not known");
  return {};
}

Value CountOf(NodeContext& n, const Value& list) {
  if (const Unmade* unmade = n.importer().UnmadeOf(list)) return unmade->count;
  return Extent(n.b(), list, 0);
}

Value IndexOf(NodeContext& n, size_t i) {
  return n.b().Cast(ScalarOrNone(n.b(), n.Input(i)), DType::kInt64);
}

// The list with row `index` (int64 scalar) as `item`; one that `grows` has as many rows as that
// takes.
Value WithRow(NodeContext& n, Value list, const Value& index, const Value& item, bool grows) {
  TypedBuilder& b = n.b();
  if (!b.status().ok()) return {};
  if (!item.is_tensor()) {
    n.Unsupported("a list of what is no tensor");
    return {};
  }
  if (const Unmade* unmade = n.importer().UnmadeOf(list)) {
    list = n.importer().Made(*unmade, item.shape(), b.num_sized());
    if (!list) {
      n.Unsupported("a list of tensors whose dims are not known: {}", ir::TypeToString(item.type));
      return {};
    }
  }
  if (!list.is_tensor() || list.rank() != item.rank() + 1) {
    n.Unsupported("an element {} of a list {}; its elements must be of one rank",
                  ir::TypeToString(item.type), ir::TypeToString(list.type));
    return {};
  }
  if (grows) {
    const Value count = Extent(b, list, 0);
    const Value wanted = b.Op("add", {index, b.Int(1)});
    const auto longer = [&]() -> std::vector<Value> {
      std::vector<Value> dims = {b.Reshape(b.Op("subtract", {wanted, count}), {1})};
      for (int i = 1; i < list.rank(); ++i) dims.push_back(b.DimOf(list, i));
      return {b.Concat({list, Filled(b, 0, list.dtype(), b.Concat(dims, 0))}, 0)};
    };
    const auto same = [&]() -> std::vector<Value> { return {list}; };
    const auto grown = n.importer().RunIf(b.Op("less_equal", {wanted, count}), same, longer);
    if (grown.empty()) return {};
    list = grown[0];
  }
  return b.Op("scatter_nd", {list, b.Reshape(index, {1, 1}), b.ExpandDims(item, 0)});
}

Value RowAt(TypedBuilder& b, const Value& list, const Value& index) {
  return b.Op("take", {list, index}, {{"axis", 0}});
}

// The first `count` rows (int64, rank 1), and more as zeros.
Value Resized(TypedBuilder& b, const Value& list, const Value& count) {
  const Value have = b.DimOf(list, 0);
  std::vector<Value> dims = {b.Op("maximum", {b.Op("subtract", {count, have}), b.Ints({0})})};
  for (int i = 1; i < list.rank(); ++i) dims.push_back(b.DimOf(list, i));
  const Value kept =
      b.Op("dyn.strided_slice", {list, b.Ints({0}), b.Op("minimum", {count, have}), b.Ints({1})});
  return b.Concat({kept, Filled(b, 0, list.dtype(), b.Concat(dims, 0))}, 0);
}

// Zeros like `list`, of so many rows, with `rows` at `indices`.
Value ScatteredRows(NodeContext& n, const Value& count, const Value& indices, const Value& rows) {
  TypedBuilder& b = n.b();
  std::vector<Value> dims = {b.Reshape(count, {1})};
  for (int i = 1; i < rows.rank(); ++i) dims.push_back(b.DimOf(rows, i));
  const Value zeros = Filled(b, 0, rows.dtype(), b.Concat(dims, 0));
  return b.Op("scatter_nd", {zeros, b.Reshape(b.Cast(indices, DType::kInt64), {1, -1}), rows});
}

// Whether an input counts up from 0 by 1: all rows, in order.
bool IsWholeRange(NodeContext& n, size_t i) { return n.importer().IsRangeFromZero(n.node(), i); }

// Rows of equal length one after the other, and their lengths.
Outputs JoinedRows(NodeContext& n, const Value& list) {
  TypedBuilder& b = n.b();
  if (!b.status().ok()) return {};
  if (list.rank() < 2) return n.Fail("scalars are not joined along an axis");
  std::vector<Value> dims = {ProductOfDims(b, list, 0, 2)};
  for (int i = 2; i < list.rank(); ++i) dims.push_back(b.DimOf(list, i));
  const Value lengths = b.Op("dyn.broadcast_to", {b.DimOf(list, 1), b.DimOf(list, 0)});
  return {ShapedAs(b, list, dims), lengths};
}

// A tensor in parts of one length, which `lengths` must say.
Value InParts(NodeContext& n, const Value& x, const Value& lengths) {
  TypedBuilder& b = n.b();
  const auto known = b.ConstantInts(lengths);
  if (known && std::ranges::adjacent_find(*known, std::not_equal_to<>()) != known->end()) {
    n.Unsupported("parts of several lengths");
    return {};
  }
  const Value count = b.DimOf(lengths, 0);
  std::vector<Value> dims = {count, known && !known->empty()
                                        ? b.Ints({(*known)[0]})
                                        : b.Op("floor_divide", {b.DimOf(x, 0), count})};
  for (int i = 1; i < x.rank(); ++i) dims.push_back(b.DimOf(x, i));
  return ShapedAs(b, x, dims);
}

// --- TensorList ---

Outputs EmptyList(NodeContext& n) {
  return {NewList(n, n.b().Int(0), n.Type("element_dtype", DType::kFloat32), ShapeInput(n, 0))};
}

Outputs ReserveList(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value count = b.Op("maximum", {IndexOf(n, 1), b.Int(0)});
  return {NewList(n, count, n.Type("element_dtype", DType::kFloat32), ShapeInput(n, 0))};
}

Outputs ListFromTensor(NodeContext& n) { return {n.Input(0)}; }

Outputs StackList(NodeContext& n) { return {ListOfRows(n, n.Input(0), ShapeInput(n, 1))}; }

Outputs ItemOfList(NodeContext& n) {
  const Value list = ListOfRows(n, n.Input(0), ShapeInput(n, 2));
  return list ? Outputs{RowAt(n.b(), list, IndexOf(n, 1))} : Outputs{};
}

Outputs SetListItem(NodeContext& n) {
  return {WithRow(n, n.Input(0), IndexOf(n, 1), n.Input(2),
                  n.Bool("resize_if_index_out_of_bounds", false))};
}

Outputs PushBack(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value item = n.Input(1);
  if (!item.is_tensor()) return n.Unsupported("a list of what is no tensor");
  const Value row = b.ExpandDims(item, 0);
  if (const Unmade* unmade = n.importer().UnmadeOf(n.Input(0))) {
    const auto count = KnownNumber(b, unmade->count);
    if (count && *count == 0) return {row};
    const Value list = n.importer().Made(*unmade, item.shape(), b.num_sized());
    if (!list) return n.Unsupported("a list of tensors whose dims are not known");
    return {b.Concat({list, row}, 0)};
  }
  return {b.Concat({n.Input(0), row}, 0)};
}

Outputs PopBack(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value list = ListOfRows(n, n.Input(0), ShapeInput(n, 1));
  if (!list) return {};
  const Value last = b.Op("subtract", {b.DimOf(list, 0), b.Ints({1})});
  const Value rest = b.Op("dyn.strided_slice", {list, b.Ints({0}), last, b.Ints({1})});
  return {rest, RowAt(b, list, b.Reshape(last, {}))};
}

Outputs LengthOfList(NodeContext& n) { return {n.b().Cast(CountOf(n, n.Input(0)), DType::kInt32)}; }

Outputs ElementShapeOfList(NodeContext& n) {
  TypedBuilder& b = n.b();
  const DType dtype = n.Type("shape_type", DType::kInt32);
  const Value list = n.Input(0);
  if (list.is_tensor()) {
    std::vector<Value> dims;
    for (int i = 1; i < list.rank(); ++i) dims.push_back(b.DimOf(list, i));
    return {b.Cast(dims.empty() ? b.Ints({}) : b.Concat(dims, 0), dtype)};
  }
  const Unmade* unmade = n.importer().UnmadeOf(list);
  if (unmade == nullptr || !unmade->element) return {b.Int(-1, dtype)};
  std::vector<int64_t> dims;
  for (const Dim& d : *unmade->element) dims.push_back(d.is_const() ? d.value() : -1);
  return {b.Ints(dims, dtype)};
}

Outputs ResizeList(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value count = IndexOf(n, 1);
  if (const Unmade* unmade = n.importer().UnmadeOf(n.Input(0)))
    return {NewList(n, count, unmade->dtype, unmade->element)};
  return {Resized(b, n.Input(0), b.Reshape(count, {1}))};
}

Outputs GatherList(NodeContext& n) {
  const Value list = ListOfRows(n, n.Input(0), ShapeInput(n, 2));
  if (!list) return {};
  if (IsWholeRange(n, 1) && n.Input(1).dim(0) == list.dim(0)) return {list};
  return {n.b().Op("take", {list, n.b().Cast(n.Input(1), DType::kInt64)}, {{"axis", 0}})};
}

Outputs ScatterList(NodeContext& n) {
  TypedBuilder& b = n.b();
  if (IsWholeRange(n, 1)) return {n.Input(0)};
  const Term indices = Term(n, 1).As(DType::kInt64);
  Value count = n.Has(3) ? IndexOf(n, 3) : Value{};
  if (!count || KnownNumber(b, count).value_or(0) < 0) count = AsScalar(indices.Call("max")) + 1.0;
  return {ScatteredRows(n, count, indices, n.Input(0))};
}

Outputs ScatterIntoList(NodeContext& n) {
  TypedBuilder& b = n.b();
  const Value rows = n.Input(1);
  const Value list = ListOfRows(n, n.Input(0), ElementOf(rows));
  if (!list) return {};
  const Value indices = b.Reshape(b.Cast(n.Input(2), DType::kInt64), {1, -1});
  return {b.Op("scatter_nd", {list, indices, rows})};
}

Outputs ConcatList(NodeContext& n) {
  const Value list =
      ListOfRows(n, n.Input(0), n.Has(1) ? ShapeInput(n, 1) : n.Shape("element_shape"));
  return list ? JoinedRows(n, list) : Outputs{};
}

Outputs SplitList(NodeContext& n) { return {InParts(n, n.Input(0), n.Input(2))}; }

Outputs ConcatLists(NodeContext& n) {
  const Value x = n.Input(0), y = n.Input(1);
  const Unmade* lists[] = {n.importer().UnmadeOf(x), n.importer().UnmadeOf(y)};
  if (lists[0] != nullptr && lists[1] != nullptr) {
    Unmade both = *lists[0];
    both.count = Term(n, both.count) + Term(n, lists[1]->count);
    both.element = Merged(both.element, lists[1]->element);
    return {n.importer().NewUnmade(std::move(both))};
  }
  const Value rows = ListOfRows(n, x, y.is_tensor() ? std::optional(ElementOf(y)) : std::nullopt);
  const Value more = ListOfRows(n, y, x.is_tensor() ? std::optional(ElementOf(x)) : std::nullopt);
  return rows && more ? Outputs{n.b().Concat({rows, more}, 0)} : Outputs{};
}

// --- TensorArray: a handle, and its list as the flow from one operator to the next ---

Outputs NewArray(NodeContext& n) {
  auto array = std::make_shared<Resource>();
  array->kind = Resource::Kind::kArray;
  array->name = n.name();
  array->dtype = n.Type("dtype", DType::kFloat32);
  array->shape = n.Shape("element_shape");
  array->grows = n.Bool("dynamic_size", false);
  array->count = IndexOf(n, 0);
  if (!n.b().status().ok()) return {};
  const Value flow = NewList(n, array->count, array->dtype, array->shape);
  return {n.importer().NewHandle(std::move(array)), flow};
}

// The last input.
Value Flow(NodeContext& n) { return n.Input(n.num_inputs() - 1); }

// An error where the first input is none.
std::shared_ptr<Resource> ArrayOf(NodeContext& n) {
  auto array = n.importer().ResourceOf(n.Input(0));
  if (array != nullptr && array->kind == Resource::Kind::kArray) return array;
  n.Fail("its handle is no TensorArray's");
  return nullptr;
}

Outputs WriteArray(NodeContext& n) {
  const auto array = ArrayOf(n);
  if (array == nullptr) return {};
  return {WithRow(n, Flow(n), IndexOf(n, 1), n.Input(2), array->grows)};
}

Outputs ReadArray(NodeContext& n) {
  const auto array = ArrayOf(n);
  if (array == nullptr) return {};
  const Value list = ListOfRows(n, Flow(n), array->shape);
  return list ? Outputs{RowAt(n.b(), list, IndexOf(n, 1))} : Outputs{};
}

Outputs GatherArray(NodeContext& n) {
  const auto array = ArrayOf(n);
  if (array == nullptr) return {};
  const Value list = ListOfRows(n, Flow(n), Merged(n.Shape("element_shape"), array->shape));
  if (!list) return {};
  if (IsWholeRange(n, 1) && n.Input(1).dim(0) == list.dim(0)) return {list};
  return {n.b().Op("take", {list, n.b().Cast(n.Input(1), DType::kInt64)}, {{"axis", 0}})};
}

Outputs ScatterArray(NodeContext& n) {
  TypedBuilder& b = n.b();
  const auto array = ArrayOf(n);
  if (array == nullptr) return {};
  const Value rows = n.Input(2);
  if (!rows.is_tensor() || rows.rank() == 0) return n.Fail("expected rows to write");
  const Unmade* unmade = n.importer().UnmadeOf(Flow(n));
  if (unmade != nullptr && IsWholeRange(n, 1)) return {rows};
  const Value indices = b.Cast(n.Input(1), DType::kInt64);
  const Value own = unmade != nullptr ? unmade->count : CountOf(n, Flow(n));
  if (array->grows) {
    const Value needed = AsScalar(Term(b, indices).Call("max")) + 1.0;
    const Value count = b.Op("maximum", {own, needed});
    if (unmade != nullptr) return {ScatteredRows(n, count, indices, rows)};
    const Value list = Resized(b, Flow(n), b.Reshape(count, {1}));
    return {b.Op("scatter_nd", {list, b.Reshape(indices, {1, -1}), rows})};
  }
  if (unmade != nullptr) return {ScatteredRows(n, own, indices, rows)};
  if (IsWholeRange(n, 1) && rows.dim(0) == Flow(n).dim(0)) return {rows};
  return {b.Op("scatter_nd", {Flow(n), b.Reshape(indices, {1, -1}), rows})};
}

Outputs SizeOfArray(NodeContext& n) { return {n.b().Cast(CountOf(n, Flow(n)), DType::kInt32)}; }

Outputs ConcatArray(NodeContext& n) {
  const auto array = ArrayOf(n);
  if (array == nullptr) return {};
  const Value list = ListOfRows(n, Flow(n), array->shape);
  return list ? JoinedRows(n, list) : Outputs{};
}

Outputs SplitArray(NodeContext& n) { return {InParts(n, n.Input(1), n.Input(2))}; }

Outputs CloseArray(NodeContext& /*n*/) { return {}; }

// --- Values that may be there: those of a branch's other side ---

Outputs OptionalOf(NodeContext& n) { return {n.b().Tuple(n.inputs())}; }
Outputs OptionalNothing(NodeContext& n) { return {n.b().Tuple({})}; }
Outputs OptionalValue(NodeContext& n) {
  if (n.Input(0).type->As<ir::TupleType>() == nullptr) return n.Fail("an input is no optional");
  Outputs out = n.b().Fields(n.Input(0));
  return out.empty() ? n.Unsupported("a value that only one of two branches gives")
                     : std::move(out);
}
Outputs HasOptional(NodeContext& n) {
  const auto* tuple = n.Input(0).type->As<ir::TupleType>();
  if (tuple == nullptr) return n.Fail("an input is no optional");
  return {n.b().Full({}, tuple->fields.empty() ? 0 : 1, DType::kBool)};
}

constexpr OperatorDef kListOperators[] = {
    {"EmptyTensorList", 2, 2, EmptyList},
    {"OptionalFromValue", 0, -1, OptionalOf},
    {"OptionalGetValue", 1, 1, OptionalValue},
    {"OptionalHasValue", 1, 1, HasOptional},
    {"OptionalNone", 0, 0, OptionalNothing},
    {"TensorArrayCloseV3", 1, 1, CloseArray},
    {"TensorArrayConcatV3", 2, 2, ConcatArray, "value lengths"},
    {"TensorArrayGatherV3", 3, 3, GatherArray},
    {"TensorArrayReadV3", 3, 3, ReadArray},
    {"TensorArrayScatterV3", 4, 4, ScatterArray},
    {"TensorArraySizeV3", 2, 2, SizeOfArray},
    {"TensorArraySplitV3", 4, 4, SplitArray},
    {"TensorArrayV3", 1, 1, NewArray, "handle flow"},
    {"TensorArrayWriteV3", 4, 4, WriteArray},
    {"TensorListConcat", 1, 1, ConcatList, "tensor lengths"},
    {"TensorListConcatLists", 2, 2, ConcatLists},
    {"TensorListConcatV2", 3, 3, ConcatList, "tensor lengths"},
    {"TensorListElementShape", 1, 1, ElementShapeOfList},
    {"TensorListFromTensor", 2, 2, ListFromTensor},
    {"TensorListGather", 3, 3, GatherList},
    {"TensorListGetItem", 3, 3, ItemOfList},
    {"TensorListLength", 1, 1, LengthOfList},
    {"TensorListPopBack", 2, 2, PopBack, "output_handle tensor"},
    {"TensorListPushBack", 2, 2, PushBack},
    {"TensorListReserve", 2, 2, ReserveList},
    {"TensorListResize", 2, 2, ResizeList},
    {"TensorListScatter", 3, 3, ScatterList},
    {"TensorListScatterIntoExistingList", 3, 3, ScatterIntoList},
    {"TensorListScatterV2", 4, 4, ScatterList},
    {"TensorListSetItem", 3, 3, SetListItem},
    {"TensorListSplit", 3, 3, SplitList},
    {"TensorListStack", 2, 2, StackList},
};

}  // namespace

std::span<const OperatorDef> ListOperators() { return kListOperators; }

}  // namespace relayvm::import::tensorflow
