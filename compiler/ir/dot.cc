#include "compiler/ir/dot.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_map>

#include "compiler/ir/printer.h"
#include "compiler/ir/walk.h"

namespace relayvm::ir {
namespace {

// A DOT string: quotes and backslashes of the text do not end it.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      out += c;
    }
  }
  return out + "\"";
}

// What a box says.
std::string LabelOf(const Module& m, const Expr& e) {
  if (const auto* call = e.As<OpCall>()) return call->op->name;
  if (const auto* call = e.As<CallExpr>()) {
    if (const auto* g = std::get_if<const GlobalVar*>(&call->callee)) return "@" + (*g)->name;
    if (const auto* c = std::get_if<const Constructor*>(&call->callee)) return (*c)->name;
    return "call";
  }
  if (e.As<PrimitiveCall>() != nullptr) return "kernel";
  if (e.As<MakeTuple>() != nullptr) return "tuple";
  if (const auto* get = e.As<TupleGet>()) return fmt::format(".{}", get->index);
  if (e.As<FunctionExpr>() != nullptr) return "fn";
  if (const auto* closure = e.As<MakeClosure>()) return "closure @" + closure->function->name;
  if (e.As<IfExpr>() != nullptr) return "if";
  if (e.As<MatchExpr>() != nullptr) return "match";
  if (const auto* call = e.As<HostCall>()) return "host " + call->name;
  if (e.As<RefCreate>() != nullptr) return "ref";
  if (e.As<RefRead>() != nullptr) return "read";
  if (e.As<RefWrite>() != nullptr) return "write";
  if (e.As<Guard>() != nullptr) return "guard";
  if (e.As<ShapeValue>() != nullptr || e.As<ShapeByRule>() != nullptr) return "shape";
  // The rest is short: it says itself what it is.
  constexpr size_t kMost = 60;
  return PrintExpr(m, e).substr(0, kMost);
}

class DotWriter {
 public:
  explicit DotWriter(const Module& m) : m_(m) {}

  std::string Write(const Function& f) {
    out_ = fmt::format(
        "digraph {} {{\n  node [shape=box, fontname=\"sans-serif\", fontsize=10]\n"
        "  edge [fontname=\"sans-serif\", fontsize=8]\n",
        Quoted(f.name));
    for (const Var* v : f.params) {
      Line(fmt::format("{} [shape=ellipse, label={}]", Node(v),
                       Quoted(v->name.empty() ? "parameter" : v->name)));
    }
    Add(*f.body);
    Line("result [shape=ellipse]");
    Edge(f.body->result, "result");
    return out_ + "}\n";
  }

 private:
  void Line(const std::string& text) {
    out_.append(size_t{2} * depth_, ' ');
    out_ += text + "\n";
  }

  // A variable's node; that of what it stands for.
  std::string Node(const Var* v) {
    auto [at, is_new] = nodes_.try_emplace(v->id);
    if (is_new) at->second = fmt::format("v{}", v->id);
    return at->second;
  }

  void Edge(const Atom& from, const std::string& to) {
    if (const auto* v = std::get_if<const Var*>(&from)) {
      const std::string type = (*v)->type == nullptr ? "" : TypeToString((*v)->type);
      return Line(fmt::format("{} -> {} [label={}]", Node(*v), to, Quoted(type)));
    }
    // Others have a node of their own at each use.
    std::string label = "?";
    if (const auto* c = std::get_if<const Constant*>(&from)) {
      label = (*c)->name.empty() ? TypeToString(AtomType(m_, from)) : (*c)->name;
      if ((*c)->value.shape.empty()) label = PrintExpr(m_, *MakeExpr(m_, AtomExpr{from}, Span{}));
    } else if (const auto* g = std::get_if<const GlobalVar*>(&from)) {
      label = "@" + (*g)->name;
    } else if (const auto* k = std::get_if<const Constructor*>(&from)) {
      label = (*k)->name;
    }
    const std::string node = fmt::format("c{}", ++others_);
    Line(fmt::format("{} [shape=plaintext, label={}]", node, Quoted(label)));
    Line(fmt::format("{} -> {}", node, to));
  }

  void Add(const Block& block) {
    for (const Binding& b : block.bindings) {
      const Expr& e = *b.value;
      if (const auto* atom = e.As<AtomExpr>()) {
        if (const auto* v = std::get_if<const Var*>(&atom->atom)) {
          nodes_[b.var->id] = Node(*v);  // another name
          continue;
        }
      }
      const std::string node = Node(b.var);
      Line(fmt::format("{} [label={}]", node, Quoted(LabelOf(m_, e))));
      ForEachAtom(e, [&](const Atom& a) {
        const auto* call = e.As<CallExpr>();
        if (call != nullptr && &a == &call->callee && !std::holds_alternative<const Var*>(a))
          return;
        Edge(a, node);
      });
      ForEachBlock(e, [&](const Block& inner) { Frame(inner, node); });
    }
  }

  // The values of a block inside, whose result goes to `node`.
  void Frame(const Block& inner, const std::string& node) {
    Line(fmt::format("subgraph cluster_{} {{", ++frames_));
    ++depth_;
    Line("color=gray");
    Add(inner);
    Edge(inner.result, node);
    --depth_;
    Line("}");
  }

  const Module& m_;
  std::string out_;
  std::unordered_map<uint32_t, std::string> nodes_;  // by Var::id
  size_t others_ = 0, frames_ = 0, depth_ = 1;
};

}  // namespace

std::string FunctionDot(const Module& m, const Function& f) { return DotWriter(m).Write(f); }

}  // namespace relayvm::ir
