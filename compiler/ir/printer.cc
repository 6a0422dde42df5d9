#include "compiler/ir/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/large_stack.h"
#include "compiler/ir/metadata_writer.h"
#include "compiler/ir/scalar.h"
#include "compiler/ir/walk.h"

namespace relayvm::ir {
namespace {

bool IsIdentifier(std::string_view name) {
  auto start = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && start(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return start(c) || (c >= '0' && c <= '9');
  });
}

bool IsTemporary(std::string_view name) {
  if (name.empty()) return true;
  return name.size() > 1 && name[0] == '_' &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

std::string Quote(std::string_view text) { return Escaped(text, "\\x"); }

std::string AsName(char sigil, std::string_view name) {
  return sigil + (IsIdentifier(name) ? std::string(name) : Quote(name));
}

// Gives each variable of a function its own name.
class Names {
 public:
  std::string Unique(const std::string& wanted) {
    std::string name = wanted;
    for (int& counter = counters_[wanted]; !used_.insert(name).second;)
      name = wanted + std::to_string(++counter);
    return name;
  }
  int NextTemporary() { return ++temporaries_; }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> counters_;
  int temporaries_ = 0;
};

class Printer {
 public:
  Printer(const Module& m, const PrintOptions& options) : module_(m), options_(options) {}

  std::string PrintModule();
  void PrintGlobal(const std::string& name, const Function& f);
  void PrintExpr(const Expr& e, bool is_value);
  std::string Take() { return std::move(out_); }

 private:
  void PrintTypeDef(const TypeDef& def);
  void PrintFunction(const Function& f);
  void PrintBody(const Block& b);  // { ... } over several lines
  void PrintBlock(const Block& b);
  void PrintMatch(const MatchExpr& e, bool is_value);
  void PrintCall(const Atom& callee, const std::vector<Atom>& args);
  void PrintOpCall(const OpCall& e);
  void PrintAtoms(const std::string& before, const std::vector<Atom>& atoms,
                  std::string_view behind = ")");

  std::string TypeText(const Type& t);
  std::string DimText(const Dim& d);
  std::string AtomText(const Atom& a);
  std::string ConstantText(const Constant* c);
  std::string ConstructorText(const Constructor& c, bool is_call);
  std::string AttrText(const AttrValue& v);
  std::string PatternText(const Pattern& p);
  // "%x: T" of a variable that is bound here.
  std::string BindingText(const Var* v);
  std::string NameOf(const Var* v);
  std::string TypeParamsText(const std::vector<Type>& params);
  void NewLine() { out_ += "\n" + std::string(static_cast<size_t>(indent_) * 2, ' '); }

  const Module& module_;
  PrintOptions options_;
  MetadataWriter metadata_;
  std::string out_;
  int indent_ = 0;

  // Of the function that is being printed.
  Names names_;
  Names type_names_;
  std::unordered_map<const Var*, std::string> var_names_;  // with % and quotes
  std::unordered_map<uint32_t, std::string> type_var_names_;
  std::unordered_set<std::string> dotted_;  // x where a variable is called x.0
};

// --- Names and types ---

std::string Printer::NameOf(const Var* v) {
  auto [it, is_new] = var_names_.try_emplace(v);
  if (!is_new) return it->second;
  if (IsTemporary(v->name)) return it->second = fmt::format("%_{}", names_.NextTemporary());
  std::string name = names_.Unique(v->name);
  for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    dotted_.insert("%" + name.substr(0, dot));
  }
  return it->second = AsName('%', name);
}

std::string Printer::DimText(const Dim& d) {
  if (options_.for_people || d.is_const() || d.is_any()) return d.ToString();
  return metadata_.Reference(d);
}

std::string Printer::TypeText(const Type& t) {
  return TypeToString(t, TypeSpelling{[this](const Dim& d) { return DimText(d); },
                                      [this](const TypeVar& v) {
                                        std::string& name = type_var_names_[v.id];
                                        if (name.empty()) name = type_names_.Unique(v.name);
                                        return name;
                                      }});
}

std::string Printer::TypeParamsText(const std::vector<Type>& params) {
  if (params.empty()) return "";
  std::string out = "[";
  for (size_t i = 0; i < params.size(); ++i) out += (i > 0 ? ", " : "") + TypeText(params[i]);
  return out + "]";
}

std::string Printer::BindingText(const Var* v) {
  std::string text = NameOf(v);
  return v->type == nullptr ? text : text + ": " + TypeText(v->type);
}

// --- Atoms and attributes ---

std::string Printer::ConstantText(const Constant* c) {
  if (auto literal = ScalarLiteral(c->value)) return *literal;
  std::string text = metadata_.Reference(c);
  if (!options_.for_people) return text;
  return fmt::format("{} /* {}{}{} */", text, c->name, c->name.empty() ? "" : ": ",
                     TypeText(ConstantType(*c)));
}

std::string Printer::ConstructorText(const Constructor& c, bool is_call) {
  // A name such as 0 is a constructor's only where it is called.
  return !is_call && !IsIdentifier(c.name) ? c.name + "()" : c.name;
}

std::string Printer::AtomText(const Atom& a) {
  if (auto* var = std::get_if<const Var*>(&a)) return NameOf(*var);
  if (auto* constant = std::get_if<const Constant*>(&a)) return ConstantText(*constant);
  if (auto* global = std::get_if<const GlobalVar*>(&a)) return AsName('@', (*global)->name);
  return ConstructorText(*std::get<const Constructor*>(a), false);
}

void Printer::PrintAtoms(const std::string& before, const std::vector<Atom>& atoms,
                         std::string_view behind) {
  out_ += before;
  for (size_t i = 0; i < atoms.size(); ++i) {
    if (i > 0) out_ += ", ";
    out_ += AtomText(atoms[i]);
  }
  out_ += behind;
}

std::string Printer::AttrText(const AttrValue& v) {
  if (v.is_none()) return "None";
  if (auto* b = std::get_if<bool>(&v.value)) return *b ? "True" : "False";
  if (auto* d = std::get_if<Dim>(&v.value)) return DimText(*d);
  if (auto* f = std::get_if<double>(&v.value)) {
    if (std::isnan(*f)) return "nanf";
    if (std::isinf(*f)) return *f > 0 ? "inff" : "-inff";
    return ShortestDouble(*f) + "f";
  }
  if (auto* s = std::get_if<std::string>(&v.value)) return Quote(*s);
  std::string out = "[";
  for (const AttrValue& x : std::get<AttrList>(v.value)) {
    if (out.size() > 1) out += ", ";
    out += AttrText(x);
  }
  return out + "]";
}

// --- Expressions ---

void Printer::PrintOpCall(const OpCall& e) {
  PrintAtoms(e.op->name + "(", e.args, "");
  bool first = e.args.empty();
  auto attribute = [&](std::string_view name, const std::string& text) {
    out_ += fmt::format("{}{}={}", first ? "" : ", ", name, text);
    first = false;
  };
  for (const AttrField& field : e.op->attrs) {
    const AttrValue* value = e.attrs.Find(field.name);
    if (value != nullptr && (field.required || !(*value == field.fallback)))
      attribute(field.name, AttrText(*value));
  }
  if (!options_.for_people && e.op->print_attrs_class) {
    attribute("attrs_type_key", fmt::format("\"relay.attrs.{}\"", e.op->attrs_class));
  }
  out_ += ")";
}

void Printer::PrintCall(const Atom& callee, const std::vector<Atom>& args) {
  if (auto* constructor = std::get_if<const Constructor*>(&callee)) {
    const bool bare = (*constructor)->fields.empty() && args.empty();
    out_ += ConstructorText(**constructor, !bare);
    if (bare) return;
  } else {
    out_ += AtomText(callee);
  }
  PrintAtoms("(", args);
}

void Printer::PrintExpr(const Expr& e, bool is_value) {
  std::visit(
      Overloaded{
          [&](const AtomExpr& atom) { out_ += AtomText(atom.atom); },
          [&](const OpCall& op_call) { PrintOpCall(op_call); },
          [&](const CallExpr& call) { PrintCall(call.callee, call.args); },
          [&](const PrimitiveCall& primitive) {
            out_ += "(";
            PrintFunction(*primitive.function);
            PrintAtoms(")(", primitive.args);
          },
          [&](const ShapeValue& shape) {
            out_ += "shape[";
            for (size_t i = 0; i < shape.elements.size(); ++i)
              out_ += (i > 0 ? ", " : "") + shape.elements[i].ToString();
            out_ += "]";
          },
          [&](const ShapeByRule& ruled) {
            out_ +=
                fmt::format("{}_shape({}, {}", ShapeRuleName(ruled.shape.rule),
                            ShapeToString(ruled.shape.data), ShapeToString(ruled.shape.numbers));
            if (ruled.shape.zeros != 0) out_ += fmt::format(", zeros={:#x}", ruled.shape.zeros);
            out_ += ")";
          },
          [&](const MakeTuple& tuple) {
            PrintAtoms("(", tuple.fields, tuple.fields.size() == 1 ? ",)" : ")");
          },
          [&](const TupleGet& get) {
            std::string text = AtomText(get.tuple);
            if (dotted_.contains(text)) text = "(" + text + ")";
            out_ += fmt::format("{}.{}", text, get.index);
          },
          [&](const FunctionExpr& function) { PrintFunction(*function.function); },
          [&](const MakeClosure& closure) {
            PrintAtoms("closure " + AsName('@', closure.function->name) + "(", closure.captured);
          },
          [&](const IfExpr& branch) {
            out_ += fmt::format("if ({}) ", AtomText(branch.condition));
            PrintBody(*branch.then_block);
            out_ += " else ";
            PrintBody(*branch.else_block);
          },
          [&](const MatchExpr& match) { PrintMatch(match, is_value); },
          [&](const HostCall& call) {
            PrintAtoms(fmt::format("host({})(", Quote(call.name)), call.args);
          },
          [&](const RefCreate& create) { out_ += fmt::format("ref({})", AtomText(create.value)); },
          [&](const RefRead& read) { out_ += fmt::format("ref_read({})", AtomText(read.ref)); },
          [&](const RefWrite& write) {
            const std::string ref = AtomText(write.ref);
            out_ += fmt::format("ref_write({}, {})", ref, AtomText(write.value));
          },
          [&](const Stated& stated) {
            // The type is that of the binding: read back, it is stated again.
            out_ += AtomText(stated.value);
            if (options_.for_people)
              out_ += fmt::format(" /* stated: {} */", TypeText(stated.type));
          },
          [&](const Trap& trap) { out_ += fmt::format("trap({})", Quote(trap.message)); },
          [&](const Guard& guard) {
            const char* relation = guard.kind == Guard::Kind::kEqual     ? "=="
                                   : guard.kind == Guard::Kind::kAtLeast ? ">="
                                                                         : "broadcasts to";
            out_ += fmt::format("guard({} {} {}, {})", guard.left.ToString(), relation,
                                guard.right.ToString(), Quote(guard.message));
          },
          [&](const DimOf& dim) {
            out_ += fmt::format("dim({}", AtomText(dim.value));
            for (uint32_t field : dim.path) out_ += fmt::format(".{}", field);
            out_ += fmt::format(", {})", dim.axis);
          },
          [&](const ElementOf& element) {
            out_ += fmt::format("element({}, {})", AtomText(element.tensor), element.index);
          }},
      e.node);
}

std::string Printer::PatternText(const Pattern& p) {
  if (p.kind == Pattern::Kind::kWildcard) return "_";
  if (p.kind == Pattern::Kind::kVar) return BindingText(p.var);
  std::string out = p.kind == Pattern::Kind::kConstructor ? p.constructor->name : "";
  if (p.kind == Pattern::Kind::kConstructor && p.fields.empty()) return out;
  out += "(";
  for (size_t i = 0; i < p.fields.size(); ++i)
    out += (i > 0 ? ", " : "") + PatternText(p.fields[i]);
  return out + ")";
}

// As a value it stands in parentheses, which TVM needs.
void Printer::PrintMatch(const MatchExpr& e, bool is_value) {
  out_ += fmt::format("{}{} ({}) {{", is_value ? "(" : "", e.complete ? "match" : "match?",
                      AtomText(e.data));
  ++indent_;
  for (const MatchClause& clause : e.clauses) {
    NewLine();
    out_ += PatternText(clause.pattern) + " => ";
    PrintBody(*clause.body);
    out_ += ",";
  }
  --indent_;
  NewLine();
  out_ += is_value ? "})" : "}";
}

void Printer::PrintBlock(const Block& b) {
  for (size_t i = 0; i < b.bindings.size(); ++i) {
    const Binding& binding = b.bindings[i];
    auto* result = std::get_if<const Var*>(&b.result);
    // What is only the block's result needs no name. An alias does: read back, it would be gone.
    if (i + 1 == b.bindings.size() && result != nullptr && *result == binding.var &&
        IsTemporary(binding.var->name) && binding.var->type == nullptr &&
        binding.value->As<AtomExpr>() == nullptr) {
      NewLine();
      PrintExpr(*binding.value, false);
      return;
    }
    NewLine();
    out_ += "let " + BindingText(binding.var) + " = ";
    PrintExpr(*binding.value, true);
    out_ += ";";
  }
  NewLine();
  out_ += AtomText(b.result);
}

void Printer::PrintBody(const Block& b) {
  out_ += "{";
  ++indent_;
  PrintBlock(b);
  --indent_;
  NewLine();
  out_ += "}";
}

// --- Functions, types, the module ---

void Printer::PrintFunction(const Function& f) {
  out_ += "fn ";
  PrintGlobal("", f);
}

// "[A](%x: A) -> A { ... }", after "fn " or "def @name".
void Printer::PrintGlobal(const std::string& name, const Function& f) {
  if (!name.empty()) {
    names_ = Names();
    type_names_ = Names();
    var_names_.clear();
    type_var_names_.clear();
    dotted_.clear();
    for (const auto& [type_name, def] : module_.types) type_names_.Unique(type_name);
    out_ += "def " + AsName('@', name);
  }
  out_ += TypeParamsText(f.type_params) + "(";
  bool first = true;
  for (const Var* p : f.params) {
    out_ += (first ? "" : ", ") + BindingText(p);
    first = false;
  }
  for (const auto& [key, value] : f.attrs) {
    out_ += fmt::format("{}{}={}", first ? "" : ", ", key, AttrText(value));
    first = false;
  }
  out_ += ") ";
  if (f.result_type != nullptr) out_ += fmt::format("-> {} ", TypeText(f.result_type));
  if (IsHostFunction(f)) {
    out_.back() = ';';
    return;
  }
  PrintBody(*f.body);
}

void Printer::PrintTypeDef(const TypeDef& def) {
  type_var_names_.clear();
  type_names_ = Names();
  out_ += "type " + def.name + TypeParamsText(def.params);
  if (def.constructors.empty()) {
    out_ += "\n";
    return;
  }
  out_ += " {\n";
  for (const Constructor* c : def.constructors) {
    out_ += "  " + c->name;
    for (size_t i = 0; i < c->fields.size(); ++i)
      out_ += (i > 0 ? ", " : "(") + TypeText(c->fields[i]);
    out_ += c->fields.empty() ? ",\n" : "),\n";
  }
  out_ += "}\n";
}

std::string Printer::PrintModule() {
  out_ = "#[version = \"0.0.5\"]\n";
  bool first = true;
  auto separate = [&] {
    if (!first) out_ += "\n";
    first = false;
  };
  for (const auto& [name, def] : module_.types) {
    separate();
    PrintTypeDef(def);
  }
  for (const auto& [name, function] : module_.functions) {
    separate();
    PrintGlobal(name, *function);
    out_ += "\n";
  }
  if (!module_.strings->IsEmpty() && !options_.for_people)
    metadata_.AddStrings(MakeConstant(module_, StringsOfTable(*module_.strings)));
  if (!options_.for_people && !metadata_.empty()) out_ += "\n#[metadata]\n" + metadata_.Write();
  return Take();
}

}  // namespace

std::string PrintModule(const Module& m, const PrintOptions& options) {
  return WithLargeStack([&] { return Printer(m, options).PrintModule(); });
}

std::string PrintFunction(const Module& m, const Function& f) {
  return WithLargeStack([&] {
    Printer printer(m, PrintOptions{true});
    printer.PrintGlobal(f.name.empty() ? "_" : f.name, f);
    return printer.Take() + "\n";
  });
}

std::string PrintExpr(const Module& m, const Expr& e) {
  Printer printer(m, PrintOptions{true});
  printer.PrintExpr(e, false);
  return printer.Take();
}

}  // namespace relayvm::ir
