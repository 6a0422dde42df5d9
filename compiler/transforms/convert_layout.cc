#include "compiler/transforms/convert_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/transforms/builder.h"
#include "compiler/transforms/rewrite.h"
#include "kernels/op/layouts.h"

namespace relayvm::ir {
namespace {

// The attribute that names the layout of an operator's data; null where it has none.
const char* DataLayoutAttr(const OpDef& op) {
  for (const char* name : {"data_layout", "layout"}) {
    for (const AttrField& field : op.attrs) {
      if (field.name == name && field.kind == AttrKind::kString) return name;
    }
  }
  return nullptr;
}

bool HasAttr(const OpDef& op, std::string_view name) {
  return std::any_of(op.attrs.begin(), op.attrs.end(),
                     [&](const AttrField& f) { return f.name == name; });
}

// How a value's dims stand in another variable: the dims as the program has them have the letters of
// `from`, the variable's are in the order of `to`, with blocks maybe (NCHW, NHWC; NCHW, NCHW16c).
struct Order {
  std::string from, to;

  size_t rank() const { return from.size(); }
  bool is_blocked() const { return to.size() != from.size(); }
  // Where axis `i` of the program's dims is. REQUIRES: not blocked.
  int64_t Axis(int64_t i) const {
    return static_cast<int64_t>(to.find(from[static_cast<size_t>(i)]));
  }
  // The same order in letters of its own: two that are equal mean the same.
  std::string Form() const {
    std::string out;
    for (const char c : to) {
      const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      const size_t at = from.find(upper);
      const char letter = static_cast<char>((upper == c ? 'A' : 'a') + static_cast<char>(at));
      out += at == std::string::npos ? c : letter;
    }
    return out;
  }
  // In the letters of `names`, which stand for the program's dims.
  std::string Named(const std::string& names) const {
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
};

// --- Kernels ---

// The layout of a kernel that goes with data of a layout, as TVM has it. `plain` is the one of an
// operator with its channels first.
std::string NaturalKernel(const std::string& data, const std::string& plain, bool is_depthwise) {
  if (data.find('C') == 1) return plain;
  std::string spatial;
  for (const char c : data) {
    if (c == 'D' || c == 'H' || c == 'W') spatial += c;
  }
  return spatial + (is_depthwise ? "OI" : "IO");
}

// The layout that an attribute has where nobody gives one.
std::string DefaultLayout(const OpDef& op, std::string_view attribute) {
  for (const AttrField& f : op.attrs) {
    const auto* text = std::get_if<std::string>(&f.fallback.value);
    if (f.name == attribute && text != nullptr) return *text;
  }
  return "";
}

class Converter {
 public:
  Converter(const Module& m, const LayoutChoices& choices) : m_(m), choices_(choices) {}

  Module Run() {
    Module out = m_;
    for (auto& [name, f] : out.functions) {
      const Block* body = Run(*f->body);
      if (body != f->body) f = WithBody(m_, *f, body);
    }
    return out;
  }

 private:
  // A value in another order.
  struct Form {
    Order order;
    Atom atom;
  };

  const Block* Run(const Block& block) {
    Block out;
    out.result = block.result;
    const size_t outer = added_.size();
    for (const Binding& b : block.bindings) {
      const Expr* e = MapBlocks(m_, b.value, [&](const Block& inner) { return Run(inner); });
      if (!Convert({b.var, e}, out.bindings)) out.bindings.push_back({b.var, e});
    }
    for (; added_.size() > outer; added_.pop_back()) forms_[added_.back()].pop_back();
    return m_.arena->New<Block>(std::move(out));
  }

  void Add(const Atom& value, Form form) {
    const Var* var = AsVar(value);
    if (var == nullptr) return;
    forms_[var->id].push_back(std::move(form));
    added_.push_back(var->id);
  }

  // `var` is `value` by another name.
  void AddForms(const Var* var, const Atom& value) {
    for (const Form& form : FormsOf(value)) Add(Atom(var), form);
  }

  // The forms of a value; none for most.
  std::vector<Form> FormsOf(const Atom& value) const {
    const Var* var = AsVar(value);
    const auto it = var == nullptr ? forms_.end() : forms_.find(var->id);
    return it == forms_.end() ? std::vector<Form>() : it->second;
  }

  // By value: the type of a constant is made for the question.
  std::optional<TensorType> TensorOf(const Atom& a) const {
    const Type type = AtomType(m_, a);
    const auto* tensor = type->As<TensorType>();
    return tensor == nullptr ? std::nullopt : std::optional(*tensor);
  }

  // The value in that order.
  Atom In(const Atom& value, const Order& order, BindingBuilder& b) {
    for (const Form& form : FormsOf(value)) {
      if (form.order.Form() == order.Form()) return form.atom;
    }
    if (order.from == order.to) return value;
    Attrs attrs;
    attrs.Set("src_layout", order.from);
    attrs.Set("dst_layout", order.to);
    const Atom made = b.Call("layout_transform", {value}, attrs);
    Add(value, {order, made});
    return made;
  }

  // Binds `var` to `made`, which has another order.
  void Back(const Var* var, const Order& order, const Atom& made, BindingBuilder& b) {
    Attrs attrs;
    attrs.Set("src_layout", order.to);
    attrs.Set("dst_layout", order.from);
    b.BindCall(var, "layout_transform", {made}, attrs);
    Add(Atom(var), {order, made});
  }

  bool Convert(const Binding& binding, std::vector<Binding>& out) {
    BindingBuilder b(m_, binding.value->span, out);
    if (const auto* get = binding.value->As<TupleGet>()) {
      // Of what an operator gave beside its results as the program has them.
      for (const Form& form : FormsOf(get->tuple)) {
        const Var* field = MakeVar(m_, "", nullptr, binding.value->span);
        out.push_back({field, MakeExpr(m_, TupleGet{form.atom, get->index}, binding.value->span)});
        Back(binding.var, form.order, Atom(field), b);
        return true;
      }
      const Var* tuple = AsVar(get->tuple);
      const auto made = tuple == nullptr ? tuples_.end() : tuples_.find(tuple->id);
      if (made != tuples_.end()) AddForms(binding.var, made->second->fields[get->index]);
      return false;
    }
    if (const auto* same = binding.value->As<AtomExpr>()) {
      AddForms(binding.var, same->atom);
      return false;
    }
    if (const auto* tuple = binding.value->As<MakeTuple>()) {
      tuples_[binding.var->id] = tuple;
      return false;
    }
    const auto* call = binding.value->As<OpCall>();
    if (call == nullptr || call->args.empty()) return false;
    switch (call->op->layout) {
      case LayoutRule::kChooses:
        return Choose(binding.var, *call, b);
      case LayoutRule::kAgnostic:
        return Agnostic(binding.var, *call, b);
      case LayoutRule::kFollows:
        return Follow(binding.var, *call, b, out);
      case LayoutRule::kFixed:
        return false;
    }
    return false;
  }

  // The order that an operator with layouts computes in.
  std::optional<Order> Wanted(const OpCall& call, const std::string& layout) const {
    const auto choice = choices_.find(call.op->name);
    if (choice != choices_.end()) {
      auto wanted = Layout::Parse(choice->second.data, layout, "--layout");
      if (!wanted.ok()) return std::nullopt;
      return Order{layout, choice->second.data};
    }
    // A pool takes what is there.
    if (HasAttr(*call.op, "kernel_layout")) return std::nullopt;
    for (const Form& form : FormsOf(call.args[0])) {
      if (form.order.rank() == layout.size() && !form.order.is_blocked())
        return Order{layout, form.order.Named(layout)};
    }
    return std::nullopt;
  }

  bool Choose(const Var* var, const OpCall& call, BindingBuilder& b) {
    const char* attr = DataLayoutAttr(*call.op);
    const std::optional<TensorType> data = TensorOf(call.args[0]);
    const bool one_result = var->type->As<TensorType>() != nullptr;
    if (attr == nullptr || !data || !one_result) return false;
    const std::string layout = call.attrs.String(attr);
    const bool has_out = HasAttr(*call.op, "out_layout");
    const std::string out_layout = has_out ? call.attrs.String("out_layout") : "";
    if (layout.size() != data->shape.size() || (!out_layout.empty() && out_layout != layout))
      return false;
    const auto order = Wanted(call, layout);
    if (!order || order->to == layout) return false;
    Attrs attrs = call.attrs;
    attrs.Set(attr, order->to);
    if (!out_layout.empty()) attrs.Set("out_layout", order->to);
    std::vector<Atom> args = call.args;
    if (HasAttr(*call.op, "kernel_layout")) {
      // The kernel is the last argument; what stands between has the data's layout.
      const std::string kernel = call.attrs.String("kernel_layout");
      const std::optional<TensorType> weight = TensorOf(args.back());
      if (args.size() < 2 || !weight || kernel.size() != weight->shape.size()) return false;
      const LayoutChoice& choice = choices_.at(call.op->name);
      const std::string to =
          choice.kernel.empty() || choice.kernel == "default"
              ? NaturalKernel(order->to, DefaultLayout(*call.op, "kernel_layout"),
                              IsDepthwise(call, *weight, kernel))
              : choice.kernel;
      if (to != kernel) {
        if (!Layout::Parse(to, kernel, "--layout").ok()) return false;
        args.back() = In(args.back(), {kernel, to}, b);
        attrs.Set("kernel_layout", to);
      }
      for (size_t i = 0; i + 1 < args.size(); ++i) args[i] = In(args[i], *order, b);
    } else {
      args[0] = In(args[0], *order, b);
    }
    Back(var, *order, b.Call(call.op->name, std::move(args), attrs), b);
    return true;
  }

  static bool IsDepthwise(const OpCall& call, const TensorType& weight, const std::string& layout) {
    const size_t i = layout.find('I');
    return HasAttr(*call.op, "groups") && call.attrs.Int("groups") > 1 && i != std::string::npos &&
           weight.shape[i].is_const(1);
  }

  // An order that one of the arguments has, where all can take it.
  bool Agnostic(const Var* var, const OpCall& call, BindingBuilder& b) {
    const auto* result = var->type->As<TensorType>();
    if (result == nullptr) return false;
    std::optional<Order> order;
    for (const Atom& a : call.args) {
      const std::optional<TensorType> t = TensorOf(a);
      if (!t) return false;
      if (order || t->rank() != result->rank()) continue;
      for (const Form& form : FormsOf(a)) {
        order = form.order;
        break;
      }
    }
    if (!order) return false;
    if (order->is_blocked()) {
      // Parts of a dim of 1 there are none.
      for (const Atom& a : call.args) {
        const std::optional<TensorType> t = TensorOf(a);
        const bool same = t->rank() == 0 || t->shape == result->shape;
        if (!same) return false;
      }
    }
    std::vector<Atom> args;
    for (const Atom& a : call.args) args.push_back(Aligned(a, result->rank(), *order, b));
    Back(var, *order, b.Call(call.op->name, std::move(args), call.attrs), b);
    return true;
  }

  // An argument that is broadcast, in that order.
  Atom Aligned(const Atom& a, int rank, const Order& order, BindingBuilder& b) {
    const int own = TensorOf(a)->rank();
    if (own == 0) return a;
    if (own == rank) return In(a, order, b);
    Attrs attrs;
    attrs.Set("axis", int64_t{0});
    attrs.Set("num_newaxis", int64_t{rank - own});
    return In(b.Call("expand_dims", {a}, attrs), order, b);
  }

  // An operator whose attributes count axes.
  bool Follow(const Var* var, const OpCall& call, BindingBuilder& b, std::vector<Binding>& out) {
    const bool joins = call.op->tuple_args == std::vector<int>{0};
    std::vector<Atom> data = {call.args[0]};
    if (joins) {
      const Var* tuple = AsVar(call.args[0]);
      const auto made = tuple == nullptr ? tuples_.end() : tuples_.find(tuple->id);
      if (made == tuples_.end()) return false;
      data = made->second->fields;
    }
    std::optional<Order> order;
    for (const Atom& a : data) {
      for (const Form& form : FormsOf(a)) {
        if (!order && !form.order.is_blocked()) order = form.order;
      }
    }
    if (!order) return false;
    const auto rank = static_cast<int64_t>(order->rank());
    if (const auto* parts = var->type->As<TupleType>()) {
      // All of them are of the data, not means or variances beside it.
      const bool alike =
          std::all_of(parts->fields.begin(), parts->fields.end(), [&](const auto& t) {
            const auto* part = t->template As<TensorType>();
            return part != nullptr && part->rank() == rank;
          });
      if (!alike) return false;
    }
    Attrs attrs = call.attrs;
    std::vector<int64_t> axes;
    if (!MoveAxes(*call.op, *order, &attrs, &axes)) return false;
    // Without the axes that go.
    Order result = *order;
    if (const auto* t = var->type->As<TensorType>(); t != nullptr && t->rank() != rank) {
      const bool excluded = HasAttr(*call.op, "exclude") && call.attrs.Bool("exclude");
      std::string from, to;
      for (int64_t i = 0; i < rank; ++i) {
        const bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
        if (named == excluded) from += order->from[static_cast<size_t>(i)];
      }
      if (static_cast<int>(from.size()) != t->rank()) return false;
      for (const char c : order->to) {
        if (from.find(c) != std::string::npos) to += c;
      }
      result = {from, to};
    }
    std::vector<Atom> args = call.args;
    for (Atom& a : data) a = In(a, *order, b);
    args[0] = joins ? b.Tuple(data) : data[0];
    const Atom made = b.Call(call.op->name, std::move(args), attrs);
    if (var->type->As<TensorType>() == nullptr) {
      // The parts of a split: those that somebody reads as they are come from the original.
      out.push_back({var, MakeExpr(m_, call, out.back().value->span)});
      Add(Atom(var), {result, made});
      return true;
    }
    if (result.from == result.to) {
      b.BindAtom(var, made);
    } else {
      Back(var, result, made, b);
    }
    return true;
  }

  // The attributes for data in that order; false where they say nothing of axes. `axes` are those of
  // the program.
  static bool MoveAxes(const OpDef& op, const Order& order, Attrs* attrs,
                       std::vector<int64_t>* axes) {
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

  const Module& m_;
  const LayoutChoices& choices_;
  std::unordered_map<uint32_t, std::vector<Form>> forms_;  // by Var::id
  std::vector<uint32_t> added_;  // the variables of forms_ in order of their forms
  std::unordered_map<uint32_t, const MakeTuple*> tuples_;
};

}  // namespace

Status ParseLayoutChoice(const std::string& text, LayoutChoices* choices) {
  const auto fail = [&](const std::string& why) {
    return Status(StatusCode::kInvalidArgument, fmt::format("--layout {}: {}", text, why));
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail("write OPERATOR=DATA:KERNEL, as nn.conv2d=NHWC:default");
  const std::string name = text.substr(0, equals), layouts = text.substr(equals + 1);
  const OpDef* op = OpTable::Get().Find(name);
  if (op == nullptr) return fail("there is no operator " + name);
  const char* attr = DataLayoutAttr(*op);
  if (op->layout != LayoutRule::kChooses || attr == nullptr)
    return fail(name + " computes in one layout alone");
  const size_t colon = layouts.find(':');
  LayoutChoice choice{layouts.substr(0, colon),
                      colon == std::string::npos ? "default" : layouts.substr(colon + 1)};
  auto data = Layout::Parse(choice.data, DefaultLayout(*op, attr), "the data's layout");
  if (!data.ok()) return fail(data.status().message());
  const std::string kernel_axes = DefaultLayout(*op, "kernel_layout");
  if (choice.kernel != "default" && !choice.kernel.empty()) {
    if (kernel_axes.empty()) return fail(name + " has no kernel");
    auto kernel = Layout::Parse(choice.kernel, kernel_axes, "the kernel's layout");
    if (!kernel.ok()) return fail(kernel.status().message());
  }
  (*choices)[name] = std::move(choice);
  return OkStatus();
}

Module ConvertLayout(const Module& m, const LayoutChoices& choices) {
  return choices.empty() ? m : Converter(m, choices).Run();
}

LayoutTransforms CountLayoutTransforms(const Module& m) {
  LayoutTransforms found;
  const auto count = [&](const Block& block) {
    ForEachBinding(block, [&](const Binding& b) {
      const auto* call = b.value->As<OpCall>();
      const auto* type = b.var->type == nullptr ? nullptr : b.var->type->As<TensorType>();
      if (call == nullptr || call->op->name != "layout_transform" || type == nullptr) return;
      ++found.count;
      const Dim size = ProductOf(type->shape);
      if (size.is_const()) {
        found.bytes += static_cast<uint64_t>(size.value()) * DTypeBytes(type->dtype);
      } else {
        ++found.open;
      }
    });
  };
  for (const auto& [name, f] : m.functions) {
    count(*f->body);
    ForEachBinding(*f->body, [&](const Binding& b) {
      if (const auto* p = b.value->As<PrimitiveCall>()) count(*p->function->body);
    });
  }
  return found;
}

}  // namespace relayvm::ir
