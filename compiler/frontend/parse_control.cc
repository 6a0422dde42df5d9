// Control flow, patterns, functions and calls.
#include <fmt/format.h>

#include <unordered_set>

#include "compiler/frontend/parser_impl.h"
#include "kernels/op/op.h"

namespace relayvm::frontend {

// --- Control ---

bool Parser::ParseBlock(std::string_view where, NodeId* body) {
  if (!Expect("{", fmt::format("at the start {}", where))) return false;
  *body = ParseExpr();
  return *body != kNoNode && Expect("}", fmt::format("at the end {}", where));
}

// `if (a) { x } else if (b) { y } else { z }`: a chain is a loop here, and an if in each else block
// of the graph.
NodeId Parser::ParseIf() {
  struct Link {
    ir::Span span;
    NodeId condition, then_value;
  };
  std::vector<Link> links;
  do {
    Link link{SpanOf(Take()), kNoNode, kNoNode};
    const size_t begin = Peek().begin;
    if (!Expect("(", "after if")) return kNoNode;
    link.condition = ParseExpr();
    if (link.condition == kNoNode || !Expect(")", "after the condition")) return kNoNode;
    Placed(begin, link.condition);
    if (!ParseBlock("of a branch", &link.then_value)) return kNoNode;
    links.push_back(link);
    if (!AcceptWord("else")) {
      FailExpected("else");
      return kNoNode;
    }
  } while (PeekIsWord("if"));
  NodeId value = kNoNode;
  if (!ParseBlock("of a branch", &value)) return kNoNode;
  for (; !links.empty(); links.pop_back()) {
    const Link& link = links.back();
    value = graph_.If(link.condition, link.then_value, value, link.span);
  }
  return value;
}

NodeId Parser::ParseMatch() {
  const Token keyword = Take();
  NodeId data = ParsePostfix();
  if (data == kNoNode || !Expect("{", "before the clauses of a match")) return kNoNode;
  std::vector<ir::Pattern> patterns;
  std::vector<NodeId> bodies;
  while (!Accept("}")) {
    const size_t mark = locals_.Mark();
    ir::Pattern pattern;
    if (!ParsePattern(&pattern) || !Expect("=>", "after a pattern")) return kNoNode;
    NodeId body = ParseValue();
    if (body == kNoNode) return kNoNode;
    locals_.Release(mark);
    patterns.push_back(std::move(pattern));
    bodies.push_back(body);
    if (!Accept(",") && !PeekIs("}")) {
      FailExpected("',' or '}' after a clause");
      return kNoNode;
    }
  }
  return graph_.Match(data, std::move(patterns), std::move(bodies), keyword.text == "match",
                      SpanOf(keyword));
}

bool Parser::ParsePattern(ir::Pattern* pattern) {
  Nesting nesting(this, kMaxTypeNesting);
  if (!nesting.ok()) return false;
  const Token t = Peek();
  pattern->span = SpanOf(t);
  if (t.kind == TokenKind::kLocal) {
    std::string name;
    ir::Type type;
    if (!ParseNewLocal(&name, &pattern->span) || (Accept(":") && !ParseType(&type))) return false;
    pattern->kind = ir::Pattern::Kind::kVar;
    pattern->var = BindLocal(name, std::move(type), pattern->span);
    return true;
  }
  if (AcceptWord("_")) return true;
  bool has_fields = t.Is("(");
  if (has_fields) {
    pattern->kind = ir::Pattern::Kind::kTuple;
  } else if (t.kind == TokenKind::kIdentifier || t.kind == TokenKind::kInteger) {
    const std::string written = text_.substr(t.begin, t.end - t.begin);
    auto it = constructors_.find(written);
    if (it == constructors_.end()) {
      Suggestion suggestion(written);
      for (const auto& [name, constructor] : constructors_) suggestion.Consider(name);
      Fail(t, fmt::format("unknown constructor {}{}", written, suggestion.Text("")));
      return false;
    }
    pattern->kind = ir::Pattern::Kind::kConstructor;
    pattern->constructor = it->second;
    Take();
    has_fields = PeekIs("(");
  } else {
    FailExpected("a pattern");
    return false;
  }
  if (has_fields) {
    Take();
    while (!Accept(")")) {
      ir::Pattern field;
      if (!ParsePattern(&field)) return false;
      pattern->fields.push_back(std::move(field));
      if (!Accept(",") && !PeekIs(")")) {
        FailExpected("',' or ')' in a pattern");
        return false;
      }
    }
  }
  if (pattern->constructor != nullptr &&
      pattern->fields.size() != pattern->constructor->fields.size()) {
    const size_t wanted = pattern->constructor->fields.size();
    Fail(t, fmt::format("constructor {} has {} field{}, the pattern {}", pattern->constructor->name,
                        wanted, wanted == 1 ? "" : "s", pattern->fields.size()));
    return false;
  }
  return true;
}

NodeId Parser::ParseRef() {
  const Token keyword = Take();
  if (!Expect("(", fmt::format("after {}", keyword.text))) return kNoNode;
  NodeId first = ParseExpr();
  NodeId second = kNoNode;
  if (first == kNoNode) return kNoNode;
  if (keyword.text == "ref_write") {
    if (!Expect(",", "between the operands of ref_write")) return kNoNode;
    second = ParseExpr();
    if (second == kNoNode) return kNoNode;
  }
  const Token close = Peek();
  if (!Expect(")", fmt::format("to close {}", keyword.text))) return kNoNode;
  const ir::Span span = Join(SpanOf(keyword), SpanOf(close));
  if (second != kNoNode) return graph_.RefWrite(first, second, span);
  return keyword.text == "ref" ? graph_.RefCreate(first, span) : graph_.RefRead(first, span);
}

// --- Functions and calls ---

NodeId Parser::ParseFunction(std::string name, ir::Span span) {
  ir::Function function;
  function.name = std::move(name);
  function.span = span;
  const size_t locals_mark = locals_.Mark();
  const size_t types_mark = type_params_.Mark();
  const size_t graph_mark = shadowed_graph_vars_.size();
  const uint32_t outer = current_function_;
  current_function_ = ++num_functions_;
  NodeId body = kNoNode;
  std::vector<std::string> attr_names;
  if (!ParseTypeParams(&function.type_params) || !ParseParams(&function, &attr_names))
    return kNoNode;
  if (Accept("->") && !ParseType(&function.result_type)) return kNoNode;
  const bool is_host = ir::IsHostFunction(function);
  if (is_host ? !ParseHostBody(function, &body) : !ParseBlock("of a function", &body))
    return kNoNode;
  locals_.Release(locals_mark);
  type_params_.Release(types_mark);
  // What an enclosing function bound is seen again; other graph variables stay, because TVM prints
  // a shared expression where it meets it first.
  for (; shadowed_graph_vars_.size() > graph_mark; shadowed_graph_vars_.pop_back()) {
    auto& [number, binding] = shadowed_graph_vars_.back();
    graph_vars_[number] = binding;
  }
  current_function_ = outer;
  const NodeId literal = graph_.MakeFunction(std::move(function), body);
  if (is_written()) written_->attr_orders[literal] = std::move(attr_names);
  return literal;
}

bool Parser::ParseHostBody(const ir::Function& function, NodeId* body) {
  const std::string who = fmt::format("host function @{}", function.name);
  const auto fail = [&](ir::Span span, const std::string& message) {
    Fail(StatusCode::kInvalidInput, span, message);
    return false;
  };
  if (function.name.empty())
    return fail(function.span, "a function of the host has a name: def @name(...) -> ...;");
  if (!function.type_params.empty())
    return fail(function.span, who + " has type parameters: only functions with a body may");
  ir::FunctionType type;
  std::vector<NodeId> args;
  for (const ir::Var* p : function.params) {
    if (p->type == nullptr)
      return fail(p->span, fmt::format("parameter %{} of {} needs a type", p->name, who));
    type.params.push_back(p->type);
    args.push_back(graph_.Use(p, p->span));
  }
  if (function.result_type == nullptr) return fail(function.span, who + " needs a result type");
  type.result = function.result_type;
  if (PeekIs("{")) {
    return fail(SpanOf(Peek()), who + " has a body: expected ';', or no attribute host");
  }
  if (!Expect(";", fmt::format("after the type of {}", who))) return false;
  const auto* name = std::get_if<std::string>(&function.attrs.at(ir::kHostAttr).value);
  *body = graph_.HostCall(name == nullptr ? function.name : *name, ir::MakeType(std::move(type)),
                          std::move(args), function.span);
  return true;
}

bool Parser::ParseParams(ir::Function* function, std::vector<std::string>* attr_names) {
  if (!Expect("(", "before the parameters")) return false;
  std::unordered_set<std::string> names;
  while (!Accept(")")) {
    std::vector<ParsedAttr> attrs;
    if (StartsAttr()) {
      if (!ParseAttrList(&attrs)) return false;
      for (ParsedAttr& a : attrs) {
        if (a.is_expression) continue;
        const auto* truth = std::get_if<bool>(&a.value.value);
        if (is_written() && truth != nullptr) a.value = AttrValue(int64_t{*truth});
        function->attrs[a.name] = std::move(a.value);
        attr_names->push_back(a.name);
      }
    } else {
      std::string name;
      ir::Span span;
      ir::Type type;
      const bool is_constant = in_rules_ && AcceptWord("const");
      const bool quoted = Peek().quoted;
      if (!ParseNewLocal(&name, &span)) return false;
      const ir::Var* shared = quoted ? nullptr : TakeSharedVariable(&name);
      if (Accept("{")) {  // virtual_device_=...: there is one device
        if (!ParseAttrList(&attrs) || !Expect("}", "after a parameter's attributes")) return false;
      }
      if (Accept(":") && !ParseType(&type)) return false;
      if (!names.insert(name).second) {
        Fail(StatusCode::kInvalidInput, span, fmt::format("parameter %{} is declared twice", name));
        return false;
      }
      if (shared == nullptr) shared = ir::MakeVar(module_, NameOfVar(name), std::move(type), span);
      locals_.Bind(name, shared);
      params_by_name_[name] = shared;
      function->params.push_back(shared);
      if (is_constant) constant_holes_->insert(shared);
    }
    if (!Accept(",") && !PeekIs(")")) {
      FailExpected("',' or ')' after a parameter");
      return false;
    }
  }
  return true;
}

// "x-malformed-ir" is how TVM prints a parameter that is also the parameter %x of an earlier
// function, when both share (parts of) their bodies.
const ir::Var* Parser::TakeSharedVariable(std::string* name) {
  constexpr std::string_view kSuffix = "-malformed-ir";
  if (name->size() <= kSuffix.size() || !name->ends_with(kSuffix)) return nullptr;
  auto it = params_by_name_.find(name->substr(0, name->size() - kSuffix.size()));
  if (it == params_by_name_.end()) return nullptr;
  name->resize(name->size() - kSuffix.size());
  return it->second;
}

NodeId Parser::MakeOpCall(const OpDef* op, std::vector<NodeId> args, Attrs attrs, ir::Span span) {
  NodeId call = graph_.OpCall(*op, std::move(args), std::move(attrs), span);
  if (status_ = graph_.status(); failed()) return kNoNode;
  return call;
}

// A bare operator is the function that calls it.
NodeId Parser::FinishOperator(NodeId id) {
  const OpDef* op = graph_.AsBareOperator(id);
  if (op == nullptr || is_written()) return id;
  const ir::Span span = graph_.span(id);
  Attrs attrs;
  if (op->num_args < 0) {
    Fail(StatusCode::kUnsupported, span,
         fmt::format("operator {} takes any number of arguments and cannot be a value; wrap it in "
                     "fn (...) {{ ... }}",
                     op->name));
    return kNoNode;
  }
  if (!CompleteOpAttrs(*op, {}, nullptr, span, &attrs)) return kNoNode;
  ir::Function function;
  function.span = span;
  std::vector<NodeId> args;
  for (int i = 0; i < op->num_args; ++i) {
    function.params.push_back(ir::MakeVar(module_, fmt::format("a{}", i), nullptr, span));
    args.push_back(graph_.Use(function.params.back(), span));
  }
  NodeId body = MakeOpCall(op, std::move(args), std::move(attrs), span);
  return graph_.MakeFunction(std::move(function), body);
}

NodeId Parser::ParseCall(NodeId callee) {
  const Token open = Take();
  std::vector<NodeId> args;
  std::vector<ParsedAttr> attrs;
  std::optional<Token> meta;
  while (!PeekIs(")")) {
    if (StartsAttr()) {
      if (!ParseAttrList(&attrs)) return kNoNode;
    } else if (Peek().kind == TokenKind::kMeta && Metadata::IsAttrs(Peek().text)) {
      meta = Take();
    } else {
      NodeId arg = ParseExpr();
      if (arg == kNoNode) return kNoNode;
      args.push_back(arg);
    }
    const bool last = !attrs.empty() || meta.has_value();
    if ((last || !Accept(",")) && !PeekIs(")")) {
      FailExpected(last ? "')' after the attributes" : "',' or ')' after an argument");
      return kNoNode;
    }
  }
  return FinishCall(callee, std::move(args), attrs, meta ? &*meta : nullptr);
}

// Operands that stand once more as attributes are exact there, in the metadata section; as literals
// they have six digits.
void Parser::UseExactOperands(const OpDef& op, const std::vector<ParsedAttr>& attrs,
                              std::vector<NodeId>* args) {
  size_t position = 0;
  for (const AttrField& field : op.attrs) {
    if (field.kind != AttrKind::kAny) continue;
    for (const ParsedAttr& a : attrs) {
      if (a.name == field.name && a.constant != nullptr && position < args->size()) {
        const NodeId exact = graph_.Use(a.constant, a.span);
        if (is_written()) SetPlace(exact, PlaceOf((*args)[position]));
        (*args)[position] = exact;
      }
    }
    ++position;
  }
}

NodeId Parser::FinishCall(NodeId callee, std::vector<NodeId> args,
                          const std::vector<ParsedAttr>& attrs, const Token* meta) {
  const Token close = Take();
  const ir::Node& head = graph_.node(callee);
  const ir::Span span = Join(head.span, SpanOf(close));
  if (const OpDef* op = graph_.AsBareOperator(callee)) {
    Attrs complete;
    if (!CompleteOpAttrs(*op, attrs, meta, span, &complete)) return kNoNode;
    UseExactOperands(*op, attrs, &args);
    return MakeOpCall(op, std::move(args), std::move(complete), span);
  }
  for (const ParsedAttr& a : attrs) {
    if (a.name == "attrs_type_key" || is_written()) continue;
    Fail(StatusCode::kInvalidInput, a.span,
         fmt::format("attribute {}: only calls of operators have attributes", a.name));
    return kNoNode;
  }
  auto* constructor =
      head.kind == ir::NodeKind::kAtom ? std::get_if<const ir::Constructor*>(&head.atom) : nullptr;
  if (constructor != nullptr && args.size() != (*constructor)->fields.size()) {
    const size_t wanted = (*constructor)->fields.size();
    Fail(StatusCode::kInvalidInput, span,
         fmt::format("constructor {} takes {} argument{}, {} given", (*constructor)->name, wanted,
                     wanted == 1 ? "" : "s", args.size()));
    return kNoNode;
  }
  const NodeId call = graph_.Call(callee, std::move(args), span);
  if (!is_written()) return call;
  for (const ParsedAttr& a : attrs) {
    if (!a.is_expression) written_->call_attrs[call].emplace_back(a.name, a.value);
  }
  return call;
}

}  // namespace relayvm::frontend
