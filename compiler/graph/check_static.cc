#include "compiler/graph/check_static.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/large_stack.h"
#include "compiler/ir/walk.h"

namespace relayvm::graph {
namespace {

class Checker {
 public:
  explicit Checker(const ir::Module& module) : module_(module) {}

  Status Run() {
    const ir::Function& entry = *module_.functions.at(module_.entry);
    for (const ir::Var* p : entry.params) CheckParameter(*p);
    CheckFunction(entry);
    if (!first_) return OkStatus();
    std::string text = "the graph executor runs static programs without control flow; " + what_;
    if (count_ > 1) text += fmt::format(" (and {} more)", count_ - 1);
    text += ". The executor vm runs this program";
    return module_.sources->Error(StatusCode::kUnsupported, *first_, text);
  }

 private:
  void Report(ir::Span span, const std::string& what) {
    if (++count_ > 1) return;
    first_ = span;
    what_ = what;
  }

  void CheckParameter(const ir::Var& p) {
    const auto* tensor = p.type->As<TensorType>();
    if (tensor == nullptr) {
      Report(p.span, fmt::format("parameter %{} is no tensor, but of type {}", p.name,
                                 ir::TypeToString(p.type)));
      return;
    }
    for (size_t axis = 0; axis < tensor->shape.size(); ++axis) {
      if (tensor->shape[axis].is_const()) continue;
      std::string shape;
      for (const Dim& d : tensor->shape)
        shape += (shape.empty() ? "" : "x") + (d.is_const() ? d.ToString() : std::string("N"));
      Report(p.span, fmt::format("dimension {} of parameter %{}: {} is open; give its size, as "
                                 "--shape {}={}",
                                 axis, p.name, ir::TypeToString(p.type, false), p.name, shape));
      is_open_ = true;
      return;
    }
  }

  static std::string NameOf(const ir::Var& v, std::string_view op) {
    return v.name.empty() ? fmt::format("the result of {}", op) : "%" + v.name;
  }

  void CheckFunction(const ir::Function& f) {
    if (!done_.insert(&f).second) return;
    active_.insert(&f);
    CheckBlock(*f.body, f.name == module_.entry || active_.size() == 1);
    active_.erase(&f);
  }

  // `is_entry`: dims are those of the program. Other functions' are open, and known where they are
  // called.
  void CheckBlock(const ir::Block& block, bool is_entry) {
    for (const ir::Binding& b : block.bindings) {
      const ir::Span span = b.value->span;
      if (b.value->As<ir::IfExpr>() != nullptr) {
        Report(span, "this if depends on data");
      } else if (b.value->As<ir::MatchExpr>() != nullptr) {
        Report(span, "this match depends on data");
      } else if (b.value->As<ir::FunctionExpr>() != nullptr ||
                 b.value->As<ir::MakeClosure>() != nullptr) {
        Report(span, "this makes a closure");
      } else if (b.value->As<ir::RefCreate>() != nullptr || b.value->As<ir::RefRead>() != nullptr ||
                 b.value->As<ir::RefWrite>() != nullptr) {
        Report(span, "this uses a reference");
      } else if (const auto* host = b.value->As<ir::HostCall>()) {
        Report(span, fmt::format("this calls the host's function {}", host->name));
      } else if (const auto* call = b.value->As<ir::CallExpr>()) {
        CheckCall(*call, span);
      } else if (const auto* trap = b.value->As<ir::Trap>()) {
        Report(span, fmt::format("this fails in every run: {}", trap->message));
      }
      if (is_entry) CheckSize(b);
      ir::ForEachBlock(*b.value, [&](const ir::Block& inner) { CheckBlock(inner, false); });
    }
  }

  void CheckCall(const ir::CallExpr& call, ir::Span span) {
    if (const auto* global = std::get_if<const ir::GlobalVar*>(&call.callee)) {
      const ir::Function& callee = *module_.functions.at((*global)->name);
      if (active_.contains(&callee)) {
        Report(span, fmt::format("@{} calls itself: this is recursion", callee.name));
      } else {
        CheckFunction(callee);
      }
    } else if (std::get_if<const ir::Constructor*>(&call.callee) == nullptr) {
      Report(span, "this calls a closure");
    }
  }

  void CheckSize(const ir::Binding& b) {
    const auto* tensor = b.var->type == nullptr ? nullptr : b.var->type->As<TensorType>();
    if (tensor == nullptr || is_open_) return;  // what follows from a parameter is said of that
    for (size_t axis = 0; axis < tensor->shape.size(); ++axis) {
      if (tensor->shape[axis].is_const()) continue;
      const auto* op = b.value->As<ir::OpCall>();
      Report(b.value->span, fmt::format("dimension {} of {}: {} depends on data", axis,
                                        NameOf(*b.var, op != nullptr ? op->op->name : "this"),
                                        ir::TypeToString(b.var->type, false)));
      return;
    }
  }

  const ir::Module& module_;
  std::set<const ir::Function*> done_, active_;
  std::optional<ir::Span> first_;
  std::string what_;
  size_t count_ = 0;
  bool is_open_ = false;  // a parameter has an open dimension
};

}  // namespace

Status CheckStatic(const ir::Module& module) {
  return ir::WithLargeStack([&] { return Checker(module).Run(); });
}

}  // namespace relayvm::graph
