#include "compiler/transforms/layouts/layout_rules.h"

#include <algorithm>
#include <utility>

namespace relayvm::ir {

std::string Order::Form() const {
  std::string out;
  for (const char c : to) {
    const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const size_t at = from.find(upper);
    const char letter = static_cast<char>((upper == c ? 'A' : 'a') + static_cast<char>(at));
    out += at == std::string::npos ? c : letter;
  }
  return out;
}

std::string Order::Named(const std::string& names) const {
  std::string out;
  for (const char c : to) {
    const bool lower = c >= 'a' && c <= 'z';
    const size_t at = from.find(lower ? static_cast<char>(c - 'a' + 'A') : c);
    if (at == std::string::npos) {
      out += c;
    } else {
      out += lower ? static_cast<char>(names[at] - 'A' + 'a') : names[at];
    }
  }
  return out;
}

bool HasAttr(const OpDef& op, std::string_view name) {
  return std::any_of(op.attrs.begin(), op.attrs.end(),
                     [&](const AttrField& f) { return f.name == name; });
}

const char* DataLayoutAttr(const OpDef& op) {
  for (const char* name : {"data_layout", "layout"}) {
    for (const AttrField& field : op.attrs) {
      if (field.name == name && field.kind == AttrKind::kString) return name;
    }
  }
  return nullptr;
}

std::string DefaultLayout(const OpDef& op, std::string_view attribute) {
  for (const AttrField& f : op.attrs) {
    const auto* text = std::get_if<std::string>(&f.fallback.value);
    if (f.name == attribute && text != nullptr) return *text;
  }
  return "";
}

std::string NaturalKernel(const std::string& data, const std::string& plain, bool is_depthwise) {
  if (data.find('C') == 1) return plain;
  std::string spatial;
  for (const char c : data) {
    if (c == 'D' || c == 'H' || c == 'W') spatial += c;
  }
  return spatial + (is_depthwise ? "OI" : "IO");
}

bool IsDepthwise(const OpCall& call, const TensorType& weight, const std::string& layout) {
  const size_t i = layout.find('I');
  return HasAttr(*call.op, "groups") && call.attrs.Int("groups") > 1 && i != std::string::npos &&
         weight.shape[i].is_const(1);
}

std::optional<std::string> WrittenLayout(const OpCall& call, const TensorType& data,
                                         const Type& result) {
  const char* attr = DataLayoutAttr(*call.op);
  if (attr == nullptr || result->As<TensorType>() == nullptr) return std::nullopt;
  std::string layout = call.attrs.String(attr);
  const std::string out = HasAttr(*call.op, "out_layout") ? call.attrs.String("out_layout") : "";
  if (layout.size() != data.shape.size() || (!out.empty() && out != layout)) return std::nullopt;
  return layout;
}

std::optional<Order> TurnedBy(const OpCall& call, int rank) {
  const auto axes = call.op->permutation ? call.op->permutation(call.attrs, rank) : std::nullopt;
  if (!axes) return std::nullopt;
  Order order;
  for (int i = 0; i < rank; ++i) order.from += static_cast<char>('A' + i);
  for (const int64_t axis : *axes) order.to += order.from[static_cast<size_t>(axis)];
  return order;
}

bool MoveAxes(const OpDef& op, const Order& order, Attrs* attrs, std::vector<int64_t>* axes) {
  const auto rank = static_cast<int64_t>(order.rank());
  if (const AttrValue* widths = HasAttr(op, "pad_width") ? attrs->Find("pad_width") : nullptr) {
    const auto* dims = std::get_if<AttrList>(&widths->value);
    if (dims == nullptr || static_cast<int64_t>(dims->size()) != rank) return false;
    AttrList moved(dims->size());
    for (int64_t i = 0; i < rank; ++i)
      moved[static_cast<size_t>(order.Axis(i))] = (*dims)[static_cast<size_t>(i)];
    attrs->Set("pad_width", std::move(moved));
    return true;
  }
  for (const char* name : {"axis", "axes"}) {
    if (!HasAttr(op, name)) continue;
    auto found = attrs->OptionalInts(name);
    if (!found) return false;
    for (int64_t& axis : *found) {
      if (axis < 0) axis += rank;
      if (axis < 0 || axis >= rank) return false;
    }
    *axes = *std::move(found);
    AttrList moved;
    for (const int64_t axis : *axes) moved.emplace_back(order.Axis(axis));
    if (std::holds_alternative<AttrList>(attrs->Find(name)->value)) {
      attrs->Set(name, std::move(moved));
    } else {
      attrs->Set(name, moved.at(0));
    }
    return true;
  }
  return false;
}

}  // namespace relayvm::ir
