#include "compiler/transforms/layouts/convert_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/problems.h"
#include "compiler/ir/rewrite.h"
#include "compiler/transforms/builder.h"
#include "compiler/transforms/layouts/layout_rules.h"
#include "compiler/transforms/views/reorder_values.h"
#include "kernels/op/layouts.h"

namespace relayvm::ir {
namespace {

class Converter {
 public:
  Converter(const Module& m, const LayoutPlan& plan, const LayoutChoices& named)
      : m_(m), plan_(plan), named_(named) {}

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
    const Atom made = b.ToLayout(value, order.from, order.to);
    Add(value, {order, made});
    return made;
  }

  // Binds `var` to `made`, which has another order.
  void Back(const Var* var, const Order& order, const Atom& made, BindingBuilder& b) {
    b.ToLayout(made, order.to, order.from, var);
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
    const auto order = plan_.calls.find(binding.var->id);
    if (order == plan_.calls.end()) return Turned(binding.var, *call, b);
    switch (call->op->layout) {
      case LayoutRule::kChooses:
        return Choose(binding.var, *call, order->second, b);
      case LayoutRule::kAgnostic:
        return Agnostic(binding.var, *call, order->second, b);
      case LayoutRule::kFollows:
        return Follow(binding.var, *call, order->second, b, out);
      case LayoutRule::kFixed:
        return false;
    }
    return false;
  }

  // Where the program turns a value itself: each is a form of the other.
  bool Turned(const Var* var, const OpCall& call, BindingBuilder& b) {
    const auto* result = var->type->As<TensorType>();
    const std::optional<TensorType> data = TensorOf(call.args[0]);
    if (result == nullptr || !data || data->rank() != result->rank()) return false;
    const auto order = TurnedBy(call, data->rank());
    if (!order) return false;
    const std::vector<Form> forms = FormsOf(call.args[0]);
    const auto same = std::find_if(forms.begin(), forms.end(),
                                   [&](const Form& f) { return f.order.Form() == order->Form(); });
    if (same != forms.end()) b.BindAtom(var, same->atom);
    // What the argument is in other orders, the result is too.
    for (const Form& form : forms) {
      if (form.order.is_blocked()) continue;
      const Order turned{order->to, form.order.Named(order->from)};
      if (turned.from != turned.to) Add(Atom(var), {turned, form.atom});
    }
    Add(Atom(var), {{order->to, order->from}, call.args[0]});
    if (same == forms.end()) Add(call.args[0], {*order, Atom(var)});
    return same != forms.end();
  }

  // Whether the parts of the layout divide the dims of a tensor with these axes.
  static bool HasParts(const Layout& layout, const std::string& axes,
                       const std::vector<Dim>& shape) {
    for (size_t i = 0; i < axes.size(); ++i) {
      const int64_t factor = layout.Factor(axes[i]);
      if (factor != 1 && (!shape[i].is_const() || shape[i].value() % factor != 0)) return false;
    }
    return true;
  }

  bool Choose(const Var* var, const OpCall& call, const Order& order, BindingBuilder& b) {
    const std::optional<TensorType> data = TensorOf(call.args[0]);
    const auto layout = data ? WrittenLayout(call, *data, var->type) : std::nullopt;
    if (!layout || *layout != order.from) return false;
    Attrs attrs = call.attrs;
    attrs.Set(DataLayoutAttr(*call.op), order.to);
    if (HasAttr(*call.op, "out_layout") && !call.attrs.String("out_layout").empty())
      attrs.Set("out_layout", order.to);
    std::vector<Atom> args = call.args;
    if (HasAttr(*call.op, "kernel_layout")) {
      // The kernel is the last argument; what stands between has the data's layout.
      const std::string kernel = call.attrs.String("kernel_layout");
      const std::optional<TensorType> weight = TensorOf(args.back());
      if (args.size() < 2 || !weight || kernel.size() != weight->shape.size()) return false;
      const auto named = named_.find(call.op->name);
      const std::string to =
          named == named_.end() || named->second.kernel.empty() || named->second.kernel == "default"
              ? NaturalKernel(order.to, DefaultLayout(*call.op, "kernel_layout"),
                              IsDepthwise(call, *weight, kernel))
              : named->second.kernel;
      if (to != kernel) {
        const auto layout = Layout::Parse(to, kernel, "--layout");
        if (!layout.ok() || !HasParts(*layout, kernel, weight->shape)) return false;
        args.back() = In(args.back(), {kernel, to}, b);
        attrs.Set("kernel_layout", to);
      }
      for (size_t i = 0; i + 1 < args.size(); ++i) args[i] = In(args[i], order, b);
    } else {
      args[0] = In(args[0], order, b);
    }
    Back(var, order, b.Call(call.op->name, std::move(args), attrs), b);
    return true;
  }

  bool Agnostic(const Var* var, const OpCall& call, const Order& order, BindingBuilder& b) {
    const auto* result = var->type->As<TensorType>();
    std::vector<Atom> args;
    for (const Atom& a : call.args) args.push_back(Aligned(a, result->rank(), order, b));
    Back(var, order, b.Call(call.op->name, std::move(args), call.attrs), b);
    return true;
  }

  // An argument that is broadcast, in that order.
  Atom Aligned(const Atom& a, int rank, const Order& order, BindingBuilder& b) {
    const int own = TensorOf(a)->rank();
    if (own == 0) return a;
    if (own == rank) return In(a, order, b);
    return In(b.ExpandDims(a, 0, rank - own), order, b);
  }

  // An operator whose attributes count axes.
  bool Follow(const Var* var, const OpCall& call, const Order& order, BindingBuilder& b,
              std::vector<Binding>& out) {
    const bool joins = call.op->along_axis == AlongAxis::kJoins;
    std::vector<Atom> data = {call.args[0]};
    if (joins) data = tuples_.at(AsVar(call.args[0])->id)->fields;
    const auto rank = static_cast<int64_t>(order.rank());
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
    if (!MoveAxes(*call.op, order, &attrs, &axes)) return false;
    // Without the axes that go.
    Order result = order;
    if (const auto* t = var->type->As<TensorType>(); t != nullptr && t->rank() != rank) {
      const bool excluded = HasAttr(*call.op, "exclude") && call.attrs.Bool("exclude");
      std::string from, to;
      for (int64_t i = 0; i < rank; ++i) {
        const bool named = std::find(axes.begin(), axes.end(), i) != axes.end();
        if (named == excluded) from += order.from[static_cast<size_t>(i)];
      }
      if (static_cast<int>(from.size()) != t->rank()) return false;
      for (const char c : order.to) {
        if (from.find(c) != std::string::npos) to += c;
      }
      result = {from, to};
    }
    std::vector<Atom> args = call.args;
    for (Atom& a : data) a = In(a, order, b);
    args[0] = joins ? b.Tuple(data) : data[0];
    // What has the data's axes beside them: the mean of a variance.
    for (size_t i = 1; i < args.size(); ++i) {
      const std::optional<TensorType> type = TensorOf(args[i]);
      if (type && type->rank() == rank) args[i] = In(args[i], order, b);
    }
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

  const Module& m_;
  const LayoutPlan& plan_;
  const LayoutChoices& named_;
  std::unordered_map<uint32_t, std::vector<Form>> forms_;  // by Var::id
  std::vector<uint32_t> added_;  // the variables of forms_ in order of their forms
  std::unordered_map<uint32_t, const MakeTuple*> tuples_;
};

Status ReadLayoutChoice(std::string_view text, LayoutChoices* choices) {
  const auto fail = [&](const std::string& why) {
    return Status(StatusCode::kInvalidArgument, why);
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return fail("write OPERATOR=DATA:KERNEL, as nn.conv2d=NHWC:default");
  const std::string name(text.substr(0, equals)), layouts(text.substr(equals + 1));
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

// An error where there are calls of an operator that the user named, and none computes as asked.
Status CheckNamed(const Module& m, const LayoutChoices& named) {
  for (const auto& [name, choice] : named) {
    const char* attr = DataLayoutAttr(*OpTable::Get().Find(name));
    bool is_done = false;
    const Binding* first = nullptr;
    for (const auto& [function, f] : m.functions) {
      ForEachBinding(*f->body, [&](const Binding& b) {
        const auto* call = b.value->As<OpCall>();
        if (call == nullptr || call->op->name != name) return;
        if (first == nullptr) first = &b;
        is_done = is_done || call->attrs.String(attr) == choice.data;
      });
    }
    if (first == nullptr || is_done) continue;
    std::string of;
    for (const Atom& a : first->value->As<OpCall>()->args)
      of += (of.empty() ? "" : ", ") + TypeToString(AtomType(m, a));
    return m.sources->Error(
        StatusCode::kInvalidArgument, first->value->span,
        fmt::format(
            "--layout {}={}{}{}: no call of {} can compute in that layout; this one is of {}", name,
            choice.data, choice.kernel.empty() ? "" : ":", choice.kernel, name, of));
  }
  return OkStatus();
}

Module Convert(const Module& m, const LayoutChoices& named,
               const codegen::ContractionTarget* target) {
  ValueFlow flow(m);
  LayoutPlan plan = ChooseLayouts(m, flow, named, target);
  if (plan.carried.empty()) return plan.calls.empty() ? m : Converter(m, plan, named).Run();
  const Module kept =
      ReorderValues(m, flow, plan.carried, Turning::kLayoutTransform,
                    [](const Binding&, KeptValues&, std::vector<Binding>&) { return false; });
  // What is carried is as it should be; the operators follow.
  ValueFlow kept_flow(kept);
  plan = ChooseLayouts(kept, kept_flow, named, target);
  return Converter(kept, plan, named).Run();
}

}  // namespace

const OptionOf<LayoutChoices>& LayoutOption() {
  static const OptionOf<LayoutChoices> option(
      {.name = "layout",
       .help = "nn.conv2d=NHWC:default: the layouts of an operator's data and kernel that it "
               "computes in, whatever the program says",
       .keyword = "layouts",
       .form = "OPERATOR=DATA:KERNEL",
       .repeats = true},
      ReadLayoutChoice);
  return option;
}

Result<Module> ConvertLayout(const Module& m, const LayoutChoices& named,
                             const codegen::ContractionTarget* target) {
  Module converted = Convert(m, named, target);
  RELAYVM_RETURN_IF_ERROR(CheckNamed(converted, named));
  return converted;
}

Module ConvertByteLayouts(const Module& m, const LayoutChoices& named,
                          const codegen::ContractionTarget& target) {
  bool has_bytes = false;
  for (const auto& [name, f] : m.functions) {
    ForEachBinding(*f->body, [&](const Binding& b) {
      const auto* call = b.value->As<OpCall>();
      if (has_bytes || call == nullptr || !call->op->conv) return;
      const auto conv = ConvOf(m, *call);
      has_bytes = conv && MultipliesBytes(*conv);
    });
  }
  return has_bytes ? Convert(m, named, &target) : m;
}

LayoutTransforms CountLayoutTransforms(const Module& m) {
  LayoutTransforms found;
  const auto count = [&](const Block& block) {
    ForEachBinding(block, [&](const Binding& b) {
      const auto* call = b.value->As<OpCall>();
      const auto* type = b.var->type == nullptr ? nullptr : b.var->type->As<TensorType>();
      if (call == nullptr || !HasAttr(*call->op, "dst_layout") || type == nullptr) return;
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
