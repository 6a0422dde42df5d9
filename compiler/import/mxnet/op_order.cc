// Elements in order.
#include "compiler/import/mxnet/convert.h"
#include "compiler/import/mxnet/shapes.h"

namespace relayvm::import::mxnet {

namespace {

// The data and the axis to order along; without one it is flat.
struct Ordered {
  Term x;
  int axis;
};
Ordered OrderedBy(Node& n) {
  const Term x(n, 0);
  if (n.IsNone("axis")) return {x.Reshape({-1}), 0};
  return {x, n.Axis(n.Int("axis", -1), x.rank())};
}

Outputs TopK(Node& n) {
  TypedBuilder& b = n.b();
  const Ordered of = OrderedBy(n);
  if (!b.status().ok()) return {};
  const std::string wanted = n.Choice("ret_typ", "indices", {"value", "indices", "mask", "both"});
  const int64_t k = n.Counts("k", {1})[0];
  const bool up = n.Bool("is_ascend", false);
  const Term order = of.x.Call(
      "argsort", {{"axis", of.axis}, {"is_ascend", up}, {"dtype", TypeName(DType::kInt64)}});
  const Term places = k < 1 ? order : order.Slice(of.axis, 0, k);
  const auto indices = [&] { return places.As(n.Type("dtype", DType::kFloat32)).value(); };
  const auto values = [&] { return of.x.Call("gather", places, {{"axis", of.axis}}).value(); };
  if (wanted == "value") return {values()};
  if (wanted == "indices") return {indices()};
  if (wanted == "both") return {values(), indices()};
  // Ones in the places of these.
  const Term ones = places.As(of.x.dtype()) * 0.0 + 1.0;
  const Value mask = b.Op("scatter_elements", {of.x.Call("zeros_like"), places, ones},
                          {{"axis", of.axis}, {"reduction", "update"}});
  return {ShapedAs(b, mask, {b.ShapeOf(n.Input(0))})};
}
Outputs Sort(Node& n) {
  const Ordered of = OrderedBy(n);
  if (!n.b().status().ok()) return {};
  return {of.x.Call("sort", {{"axis", of.axis}, {"is_ascend", n.Bool("is_ascend", true)}})};
}
Outputs ArgSort(Node& n) {
  const Ordered of = OrderedBy(n);
  if (!n.b().status().ok()) return {};
  const Term order = of.x.Call("argsort", {{"axis", of.axis},
                                           {"is_ascend", n.Bool("is_ascend", true)},
                                           {"dtype", TypeName(DType::kInt64)}});
  return {order.As(n.Type("dtype", DType::kFloat32))};
}

constexpr OperatorDef kOrderOperators[] = {
    {"argsort _npi_argsort", 1, 1, ArgSort},
    {"sort _npi_sort", 1, 1, Sort},
    {"topk _npx_topk", 1, 1, TopK},
};

}  // namespace

std::span<const OperatorDef> OrderOperators() { return kOrderOperators; }

}  // namespace relayvm::import::mxnet
