// What is asked of tensors, and of anything, that gives no tensor.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

// --- What is asked of tensors ---

std::optional<Item> Evaluator::OfTensor(Args& a) {
  if (a.size() < 1 || !a[0].is_tensor()) return std::nullopt;
  const std::string_view op = OwnScriptName(a.name);
  const Argument& tensor = a[0].plain;
  const Value v = aliases_.ReadShape(tensor);
  const int rank = v.rank() - (tensor.complex ? 1 : 0);
  if (op == "dim" || op == "ndim" || op == "ndimension") return Item::Int(rank);
  if (op == "dtype") {
    constexpr int64_t kQInt8 = 12, kQUInt8 = 13, kQInt32 = 14, kComplexFloat = 9,
                      kComplexDouble = 10;
    if (tensor.complex)
      return Item::Int(v.dtype() == DType::kFloat64 ? kComplexDouble : kComplexFloat);
    if (tensor.quantised != nullptr)
      return Item::Int(tensor.quantised->dtype == DType::kInt8    ? kQInt8
                       : tensor.quantised->dtype == DType::kUInt8 ? kQUInt8
                                                                  : kQInt32);
    return Item::Int(TorchOfDType(v.dtype()));
  }
  if (op == "device") return Argument::Device("cpu");
  if (op == "layout") return Item::Int(0);
  if (op == "is_complex") return Item::Bool(tensor.complex);
  if (op == "is_floating_point")
    return Item::Bool(tensor.quantised == nullptr && !tensor.complex && IsFloat(v.dtype()));
  if (op == "is_quantized") return Item::Bool(tensor.quantised != nullptr);
  if (op == "is_signed") return Item::Bool(v.dtype() != DType::kUInt8 && v.dtype() != DType::kBool);
  const bool dense = tensor.alias == nullptr || tensor.alias->layout() == Layout::kDense;
  if (op == "is_contiguous" && !dense && a.size() > 1)
    return Unsupported("is_contiguous of a view, by a memory format");
  if (op == "is_contiguous") return Item::Bool(dense);
  if (op == "is_cpu") return Item::Bool(true);
  if (op == "element_size" || op == "itemsize")
    return Item::Int(DTypeBytes(v.dtype()) * (tensor.complex ? 2 : 1));
  if (op.starts_with("is_") || op == "requires_grad") return Item::Bool(false);
  const auto extent = [&](int axis) { return Number(Extent(b_, v, axis).value()); };
  if (op == "numel") return Number(b_.Reshape(ProductOfDims(b_, v, 0, rank), {}));
  if (op == "size" || op == "shape" || op == "sym_size" || op == "stride") {
    if (op == "stride") {
      if (!dense)
        return Unsupported(
            "stride of a tensor whose elements do not lie in their order: make it "
            "a copy (contiguous)");
      std::vector<Item> strides(static_cast<size_t>(rank));
      Item stride = Item::Int(1);
      for (int i = rank; i-- > 0;) {
        strides[static_cast<size_t>(i)] = stride;
        stride = CallOperator("aten::mul", {"", {stride, extent(i)}, {}, nullptr});
      }
      const Item all = NewList(std::move(strides), ListOfType(SimpleType(ScriptType::Kind::kInt)));
      return a.size() == 1 ? all : ElementAt(all, a[1]);
    }
    if (a.size() > 1) {
      if (!a[1].is_known_int()) return Unsupported("{} of an axis that only running tells", a.name);
      const int64_t axis = a[1].plain.integer < 0 ? a[1].plain.integer + rank : a[1].plain.integer;
      if (axis < 0 || axis >= rank)
        return Raise(fmt::format(
            "IndexError: Dimension out of range (expected to be in range of [{}, {}], but got {})",
            -rank, rank - 1, a[1].plain.integer));
      return extent(static_cast<int>(axis));
    }
    std::vector<Item> sizes;
    for (int i = 0; i < rank; ++i) sizes.push_back(extent(i));
    return NewList(std::move(sizes), ListOfType(SimpleType(ScriptType::Kind::kInt)));
  }
  return std::nullopt;
}

std::optional<Item> Evaluator::Identity(Args& a) {
  if (a.size() < 1) return std::nullopt;
  if (a[0].is_string() && OwnScriptName(a.name) == "device")
    return Argument::Device(a[0].plain.text);
  if (a[0].plain_is(Argument::Kind::kDevice) && OwnScriptName(a.name) == "type")
    return Item::String("cpu");
  return a[0];
}

std::optional<Item> Evaluator::IsSameAs(Args& a) {
  if (a.size() != 2) return std::nullopt;
  const bool is = OwnScriptName(a.name) == "__is__";
  const Item& x = a[1].is_none() ? a[0] : a[1];
  if (!a[0].is_none() && !a[1].is_none()) {
    const bool same = Shapes::AreSame(a[0], a[1]);
    return Item::Bool(same == is);
  }
  const std::function<Item(const Item&)> none = [&](const Item& item) -> Item {
    if (item.is(Item::Kind::kUnknown)) return item;
    if (item.is(Item::Kind::kMaybe)) return Negated(item.condition);
    if (item.is(Item::Kind::kEither))
      return Fork(
          item.condition, [&] { return none(item.items[0]); }, [&] { return none(item.items[1]); });
    return Item::Bool(item.is_none());
  };
  const Item result = none(x);
  if (is || result.is(Item::Kind::kUnknown)) return result;
  return CallOperator("aten::__not__", {"", {result}, {}, nullptr});
}

// Nothing is done; what is asserted must hold.
std::optional<Item> Evaluator::Ignored(Args& a) {
  const std::string_view op = OwnScriptName(a.name);
  const bool asserts = op.starts_with("_assert_async") || op.starts_with("_assert_scalar") ||
                       op.starts_with("_functional_assert");
  if (!asserts || a.size() < 1) return Item::None();
  const std::string message =
      a.size() > 1 && a[1].is_string() ? TextOf(a[1]) : "Expected Tensor with single nonzero value";
  const Value holds =
      a[0].is_tensor() ? ReadTensor(a[0]) : ScalarValue(b_, a[0].plain, DType::kBool);
  if (!holds) return Item::None();
  AddGuard(b_.Cast(holds.rank() == 0 ? holds : b_.Reshape(holds, {}), DType::kBool),
           {message, b_.span()});
  return Item::None();
}

// Gradients, autocast, tracing: nothing of it is on.
std::optional<Item> Evaluator::IsOff(Args& /*a*/) { return Item::Bool(false); }

std::optional<Item> Evaluator::RaiseException(Args& a) {
  return Raise(a.size() > 0 ? TextOf(a[0]) : "exception");
}

std::optional<Item> Evaluator::Unwrap(Args& a) {
  if (a.size() < 1) return std::nullopt;
  if (a[0].is_none()) return Raise("Unwrapping null optional");
  if (a[0].is(Item::Kind::kMaybe)) {
    AddGuard(a[0].condition, {"Unwrapping null optional", b_.span()});
    return shapes_.HeldItem(a[0]);
  }
  return a[0];
}

// Of loops over ranges with a start and a step.
std::optional<Item> Evaluator::RangeHelpers(Args& a) {
  const auto call = [&](const char* name, Item x, Item y) {
    return CallOperator(name, {"", {std::move(x), std::move(y)}, {}, nullptr});
  };
  if (a.size() == 3 && OwnScriptName(a.name) == "__derive_index")
    return call("aten::add", a[1], call("aten::mul", a[0], a[2]));
  if (a.size() != 3) return std::nullopt;
  // How many: (first, end, step).
  const Item &first = a[0], &end = a[1], &step = a[2];
  if (!step.is_known_int()) return Unsupported("a range with a step that only running tells");
  if (step.plain.integer == 0) return Raise("range() arg 3 must not be zero");
  const bool up = step.plain.integer > 0;
  const Item span = up ? call("aten::sub", end, first) : call("aten::sub", first, end);
  const Item size = Item::Int(up ? step.plain.integer : -step.plain.integer);
  const Item count =
      call("aten::floordiv", call("aten::add", span, Item::Int(size.plain.integer - 1)), size);
  return CallOperator("prim::max", {"", {count, Item::Int(0)}, {}, nullptr});
}

}  // namespace relayvm::import::torch
