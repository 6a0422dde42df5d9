#include "compiler/lowering/unread_arguments.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/walk.h"

namespace relayvm::lower {
namespace {

using ir::Atom;

class Finder {
 public:
  explicit Finder(const ir::Function& function) : function_(function) {}

  std::set<ArgumentPath> Run() {
    for (uint32_t p = 0; p < function_.params.size(); ++p) {
      part_of_[function_.params[p]->id] = {p};
    }
    // What a tuple holds is looked at where the tuple is.
    for (const ir::Binding& b : function_.body->bindings) Visit(b);
    std::set<ArgumentPath> found;
    for (uint32_t p = 0; p < function_.params.size(); ++p) {
      Collect({p}, function_.params[p]->type, found);
    }
    return found;
  }

 private:
  void Visit(const ir::Binding& b) {
    const ir::Expr& e = *b.value;
    if (const auto* alias = e.As<ir::AtomExpr>()) {
      if (const auto* from = std::get_if<const ir::Var*>(&alias->atom)) Alias(b.var, (*from)->id);
      return;
    }
    if (const auto* tuple = e.As<ir::MakeTuple>()) {
      fields_[b.var->id] = tuple->fields;
      return;
    }
    if (const auto* get = e.As<ir::TupleGet>()) {
      const auto* from = std::get_if<const ir::Var*>(&get->tuple);
      if (from == nullptr) return;
      if (auto part = part_of_.find((*from)->id); part != part_of_.end()) {
        ArgumentPath path = part->second;
        path.push_back(get->index);
        part_of_[b.var->id] = std::move(path);
      } else if (auto made = fields_.find((*from)->id); made != fields_.end()) {
        const auto* field = std::get_if<const ir::Var*>(&made->second[get->index]);
        if (field != nullptr) Alias(b.var, (*field)->id);
      }
      return;
    }
    UseAll(e);
  }

  void Alias(const ir::Var* var, uint32_t of) {
    if (auto part = part_of_.find(of); part != part_of_.end()) {
      part_of_[var->id] = ArgumentPath(part->second);
    } else if (auto made = fields_.find(of); made != fields_.end()) {
      fields_[var->id] = std::vector<Atom>(made->second);
    }
  }

  // Every operand of `e`, of nested blocks too, is looked at.
  void UseAll(const ir::Expr& e) {
    if (e.As<ir::DimOf>() != nullptr) return;  // reads no element
    ForEachAtom(e, [&](const Atom& a) { Use(a); });
    ForEachBlock(e, [&](const ir::Block& block) {
      for (const ir::Binding& b : block.bindings) UseAll(*b.value);
      Use(block.result);
    });
  }

  // Notes the parts that `a` is or holds.
  void Use(const Atom& a) {
    const auto* var = std::get_if<const ir::Var*>(&a);
    if (var == nullptr) return;
    if (auto part = part_of_.find((*var)->id); part != part_of_.end()) used_.insert(part->second);
    if (auto made = fields_.find((*var)->id); made != fields_.end()) {
      for (const Atom& field : made->second) Use(field);
    }
  }

  // Adds the tensors of the part that nothing looks at.
  void Collect(const ArgumentPath& path, const ir::Type& type,
               std::set<ArgumentPath>& found) const {
    if (const auto* tuple = type->As<ir::TupleType>()) {
      for (uint32_t i = 0; i < tuple->fields.size(); ++i) {
        ArgumentPath field = path;
        field.push_back(i);
        Collect(field, tuple->fields[i], found);
      }
      return;
    }
    const auto* tensor = type->As<TensorType>();
    if (tensor == nullptr) return;
    bool is_static = std::all_of(tensor->shape.begin(), tensor->shape.end(),
                                 [](const Dim& d) { return d.is_const(); });
    bool looked_at = std::any_of(used_.begin(), used_.end(), [&](const ArgumentPath& used) {
      return used.size() <= path.size() && std::equal(used.begin(), used.end(), path.begin());
    });
    if (is_static && !looked_at) found.insert(path);
  }

  const ir::Function& function_;
  std::unordered_map<uint32_t, ArgumentPath> part_of_;      // by Var::id: is this part
  std::unordered_map<uint32_t, std::vector<Atom>> fields_;  // by Var::id: a tuple of these
  std::set<ArgumentPath> used_;
};

}  // namespace

std::set<ArgumentPath> UnreadArguments(const ir::Function& function) {
  return Finder(function).Run();
}

}  // namespace relayvm::lower
