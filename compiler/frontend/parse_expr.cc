// Expressions, from the loosest binding (a sequence of lets) to the tightest (a name).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/frontend/parser_impl.h"
#include "kernels/op/op.h"

namespace relayvm::frontend {
namespace {

struct Infix {
  std::string_view token;
  int precedence;
  std::string_view op;
};
constexpr Infix kInfix[] = {
    {"*", 12, "multiply"}, {"/", 12, "divide"},     {"+", 10, "add"},    {"-", 10, "subtract"},
    {"<", 8, "less"},      {"<=", 8, "less_equal"}, {">", 8, "greater"}, {">=", 8, "greater_equal"},
    {"==", 7, "equal"},    {"!=", 7, "not_equal"},
};

}  // namespace

// --- Sequences ---

NodeId Parser::ParseExpr(bool is_value) {
  const ir::Span span = SpanOf(Peek());
  const size_t begin = Peek().begin;
  const size_t mark = locals_.Mark();
  std::vector<const ir::Var*> vars;
  std::vector<NodeId> values;
  std::vector<WrittenPlace> places;  // of the words `let`, or of the values of e1; e2
  for (;;) {
    if (is_written() && PeekIsWord("free_var")) {
      if (!ParseFreeVar()) return kNoNode;
      continue;
    }
    if (PeekIsWord("let")) {
      if (is_written()) places.push_back(token_places_->Of(Peek().begin, Peek().end));
      const ir::Var* var = nullptr;
      NodeId value = kNoNode;
      if (!ParseLet(&var, &value)) return kNoNode;
      vars.push_back(var);
      values.push_back(value);
      continue;
    }
    if (StartsGraphBinding()) {
      if (!ParseGraphBinding()) return kNoNode;
      continue;
    }
    NodeId value = ParseValue();
    if (value == kNoNode) return kNoNode;
    values.push_back(value);
    if (is_value || !Accept(";")) break;
    vars.push_back(ir::MakeVar(module_, "", nullptr, graph_.span(value)));  // e1; e2
    if (is_written()) places.push_back(PlaceOf(value));
  }
  locals_.Release(mark);
  const NodeId result = values.back();
  values.pop_back();
  if (vars.empty()) return Placed(begin, result);
  const NodeId let = graph_.Let(std::move(vars), std::move(values), result, span);
  if (!is_written()) return let;
  WrittenPlace inner = PlaceOf(result);  // each let reaches to the end
  for (size_t i = places.size(); i-- > 1;) places[i] = inner = Merge(inner, places[i]);
  places[0] = PlaceFrom(begin);
  written_->let_places[let] = std::move(places);
  return Placed(begin, let);
}

// What nothing binds, for all that follows; the first of a name stays.
bool Parser::ParseFreeVar() {
  Take();
  std::string name;
  ir::Span span;
  ir::Type type;
  if (!ParseNewLocal(&name, &span) || (Accept(":") && !ParseType(&type)) ||
      !Expect(";", "after free_var"))
    return false;
  free_vars_.emplace(name, ir::MakeVar(module_, NameOfVar(name), std::move(type), span));
  max_free_length_ = std::max(max_free_length_, name.size());
  return true;
}

bool Parser::ParseLet(const ir::Var** var, NodeId* value) {
  Take();
  std::string name;
  ir::Span span;
  ir::Type type;
  if (!ParseNewLocal(&name, &span)) return false;
  if (Accept(":") && !ParseType(&type)) return false;
  if (!Expect("=", "in a let")) return false;
  // Only a function is in scope of itself, so that `let %x = add(%x, 1)` shadows.
  Peek();
  Lexer ahead = lexer_;
  ahead.set_position(Peek().begin);
  Token first = ahead.Next();
  while (first.Is("(")) first = ahead.Next();
  if (first.IsWord("fn")) {
    *var = BindLocal(name, std::move(type), span);
    *value = ParseValue();
  } else {
    *value = ParseValue();
    *var = BindLocal(name, std::move(type), span);
  }
  return *value != kNoNode && Expect(";", "after the value of a let");
}

bool Parser::StartsGraphBinding() {
  if (Peek().kind != TokenKind::kGraph) return false;
  Lexer ahead = lexer_;
  return ahead.Next().Is("=");
}

bool Parser::ParseGraphBinding() {
  const Token name = Take();
  Take();  // =
  NodeId value = PeekIsNumberedConstructor(";") ? ParseConstructor() : ParseValue();
  if (value == kNoNode || !Expect(";", "after the value of a graph variable")) return false;
  GraphBinding binding{value, current_function_};
  auto [it, inserted] = graph_vars_.try_emplace(name.index, binding);
  if (inserted) return true;
  if (it->second.function == current_function_) {
    Fail(name, fmt::format("graph variable %{} is bound twice", name.index));
    return false;
  }
  shadowed_graph_vars_.emplace_back(name.index, it->second);
  it->second = binding;
  return true;
}

bool Parser::ParseNewLocal(std::string* name, ir::Span* span) {
  const Token t = Peek();
  if (t.kind != TokenKind::kLocal) {
    FailExpected("a variable such as %x");
    return false;
  }
  Take();
  *name = t.text;
  *span = SpanOf(t);
  if (t.quoted) return true;
  // "%x:int32" is x with its type, "%aten::relu" and "%x:0" are names.
  const size_t colon = name->rfind(':');
  if (colon == std::string::npos || (*name)[colon - 1] == ':' || PeekIs(":")) return true;
  std::string_view suffix = std::string_view{*name}.substr(colon + 1);
  if (!NamesType(suffix)) return true;
  MoveTo(t.begin + 1 + colon);
  *span = SpanOf(t.begin, t.begin + 1 + colon);
  name->resize(colon);
  return true;
}

std::string Parser::NameOfVar(const std::string& name) const {
  return !is_written() && IsTemporaryName(name) ? "" : name;
}

const ir::Var* Parser::BindLocal(const std::string& name, ir::Type type, ir::Span span) {
  const ir::Var* var = ir::MakeVar(module_, NameOfVar(name), std::move(type), span);
  locals_.Bind(name, var);
  return var;
}

// --- Values ---

NodeId Parser::ParseValue() {
  Nesting nesting(this, kMaxNesting);
  if (!nesting.ok()) return kNoNode;
  if (PeekIsWord("let") || StartsGraphBinding()) return ParseExpr(/*is_value=*/true);
  if (PeekIs("{")) {
    const size_t begin = Peek().begin;
    NodeId body = kNoNode;
    return ParseBlock("of a block", &body) ? Placed(begin, body) : kNoNode;
  }
  if (PeekIsWord("free_var")) {
    Fail(Peek(), "free_var stands only at the start of a file that is one expression");
    return kNoNode;
  }
  return ParseOperators();
}

// Operators of one text level are a loop over two stacks (shunting yard).
NodeId Parser::ParseOperators() {
  const size_t begin = Peek().begin;
  NodeId first = ParsePostfix();
  if (first == kNoNode) return kNoNode;
  std::vector<NodeId> operands = {first};
  std::vector<std::pair<const Infix*, Token>> pending;
  auto reduce = [&] {
    auto [infix, token] = std::move(pending.back());
    pending.pop_back();
    NodeId right = operands.back();
    operands.pop_back();
    const OpDef* op = OpTable::Get().Find(infix->op);
    if (op == nullptr) {
      Fail(StatusCode::kUnsupported, SpanOf(token),
           fmt::format("unsupported operator \"{}\"", infix->op));
      return false;
    }
    const NodeId left = operands.back();
    ir::Span span = Join(graph_.span(left), graph_.span(right));
    operands.back() = MakeOpCall(op, {left, right}, Attrs(), span);
    if (operands.back() == kNoNode) return false;
    if (is_written()) SetPlace(operands.back(), Merge(PlaceOf(left), PlaceOf(right)));
    return true;
  };
  for (;;) {
    const Token& t = Peek();
    const Infix* infix = nullptr;
    if (t.kind == TokenKind::kPunctuation) {
      for (const Infix& candidate : kInfix) {
        if (candidate.token == t.text) infix = &candidate;
      }
    }
    std::optional<Token> token;
    NodeId operand = kNoNode;
    if (infix != nullptr) {
      token = Take();
      operand = ParsePostfix();
      if (operand == kNoNode) return kNoNode;
    }
    while (!pending.empty() &&
           (infix == nullptr || pending.back().first->precedence >= infix->precedence)) {
      if (!reduce()) return kNoNode;
    }
    if (infix == nullptr) return Placed(begin, operands[0]);
    pending.emplace_back(infix, *std::move(token));
    operands.push_back(operand);
  }
}

NodeId Parser::ParsePostfix() {
  const size_t begin = Peek().begin;
  NodeId node = ParsePrimary();
  while (node != kNoNode) {
    if (PeekIs("(")) {
      node = ParseCall(node);
    } else if (PeekIs(".")) {
      const Token dot = Take();
      const auto index = in_rules_ ? ParseRuleField() : lexer_.ProjectionIndex();
      if (!index) {
        Fail(dot, in_rules_ ? "expected the number of a tuple's field or its $name after '.'"
                            : "expected the number of a tuple's field after '.'");
        return kNoNode;
      }
      node = FinishOperator(node);
      if (node == kNoNode) return kNoNode;
      ir::Span span = Join(graph_.span(node), SpanOf(dot.begin, lexer_.position()));
      node = Placed(begin, graph_.Field(node, *index, span));
    } else {
      return Placed(begin, FinishOperator(node));
    }
  }
  return kNoNode;
}

NodeId Parser::ParsePrimary() {
  const size_t begin = Peek().begin;
  return Placed(begin, ParseAtom());
}

NodeId Parser::ParseAtom() {
  const Token& t = Peek();
  switch (t.kind) {
    case TokenKind::kLocal:
      return ParseLocal();
    case TokenKind::kGraph:
      return ParseGraphVar();
    case TokenKind::kGlobal:
      return in_rules_ ? ParsePart() : ParseGlobal();
    case TokenKind::kMeta:
      return ParseMeta();
    case TokenKind::kInteger:
      if (PeekIsNumberedConstructor("(")) return ParseConstructor();
      return ParseNumber();
    case TokenKind::kFloat:
      return ParseNumber();
    case TokenKind::kIdentifier:
      return ParseName();
    case TokenKind::kPunctuation:
      if (t.text == "(") return ParseParenthesised();
      if (t.text == "-") return ParseNumber();
      break;
    default:
      break;
  }
  FailExpected("an expression");
  return kNoNode;
}

// (), (e), (e,), (e, f)
NodeId Parser::ParseParenthesised() {
  const ir::Span span = SpanOf(Take());
  std::vector<NodeId> fields;
  bool tuple = PeekIs(")");
  while (!PeekIs(")")) {
    NodeId field = ParseExpr();
    if (field == kNoNode) return kNoNode;
    fields.push_back(field);
    const bool comma = Accept(",");
    tuple = tuple || comma;
    if (!comma && !PeekIs(")")) {
      FailExpected("',' or ')'");
      return kNoNode;
    }
  }
  const Token close = Take();
  if (!tuple) return fields[0];
  return graph_.Tuple(std::move(fields), Join(span, SpanOf(close)));
}

// --- Names ---

// The longest prefix of the token that is bound, ending before punctuation; the rest is read again.
template <typename Find>
static auto FindLongest(const Token& t, size_t max_length, const Find& find, size_t* length)
    -> decltype(find(t.text)) {
  for (size_t end = t.text.size(); end != std::string::npos && end > 0;
       end = t.quoted ? std::string::npos : t.text.find_last_of("./:-", end - 1)) {
    if (end > max_length) continue;
    if (auto* found = find(std::string_view{t.text}.substr(0, end))) {
      *length = end;
      return found;
    }
  }
  return nullptr;
}

NodeId Parser::ParseLocal() {
  const Token t = Take();
  size_t length = 0;
  auto* var = FindLongest(
      t, std::max(locals_.max_length(), max_free_length_),
      [&](std::string_view name) -> const ir::Var* const* {
        if (const auto* local = locals_.Find(name)) return local;
        const auto free = free_vars_.find(name);
        return free == free_vars_.end() ? nullptr : &free->second;
      },
      &length);
  if (var == nullptr) {
    Suggestion suggestion(t.text);
    locals_.ForEachName([&](const std::string& n) { suggestion.Consider(n); });
    Fail(t, fmt::format("unknown variable %{}{}", t.text, suggestion.Text("%")));
    return kNoNode;
  }
  if (t.quoted) return graph_.Use(*var, SpanOf(t));
  const size_t end = t.begin + 1 + length;
  if (end != t.end) MoveTo(end);
  return graph_.Use(*var, SpanOf(t.begin, end));
}

NodeId Parser::ParseGraphVar() {
  const Token t = Take();
  auto it = graph_vars_.find(t.index);
  if (it == graph_vars_.end()) {
    Fail(t, fmt::format("unknown graph variable %{}; it is used before it is bound", t.index));
    return kNoNode;
  }
  return it->second.node;
}

// A function that may be elsewhere, unless a part of the name is known.
void Parser::DeclareGlobal(const Token& t) {
  const size_t end =
      t.quoted ? t.text.size() : std::min(t.text.find_first_of(".:-"), t.text.size());
  const std::string name = t.text.substr(0, end);
  for (size_t i = t.text.size(); i > end; --i) {
    if (globals_.contains(std::string_view(t.text).substr(0, i))) return;
  }
  globals_.emplace(name, module_.arena->New(ir::GlobalVar{name}));
  max_global_length_ = std::max(max_global_length_, name.size());
}

NodeId Parser::ParseGlobal() {
  const Token t = Take();
  size_t length = 0;
  if (is_written()) DeclareGlobal(t);
  auto* global = FindLongest(
      t, max_global_length_,
      [&](std::string_view name) {
        auto it = globals_.find(name);
        return it == globals_.end() ? nullptr : &it->second;
      },
      &length);
  if (global == nullptr) {
    Suggestion suggestion(t.text);
    for (const auto& [name, value] : globals_) suggestion.Consider(name);
    Fail(t, fmt::format("unknown function @{}{}", t.text, suggestion.Text("@")));
    return kNoNode;
  }
  if (t.quoted) return graph_.Use(*global, SpanOf(t));
  const size_t end = t.begin + 1 + length;
  if (end != t.end) MoveTo(end);
  return graph_.Use(*global, SpanOf(t.begin, end));
}

NodeId Parser::ParseName() {
  const std::string& word = Peek().text;
  if (word == "if") return ParseIf();
  if (word == "match" || word == "match?") return ParseMatch();
  if (word == "ref" || word == "ref_read" || word == "ref_write") return ParseRef();
  if (word == "fn") return ParseFunctionLiteral();
  return ParseSymbol();
}

NodeId Parser::ParseFunctionLiteral() { return ParseFunction("", SpanOf(Take())); }

// True, False, constructors, operators.
NodeId Parser::ParseSymbol() {
  const Token t = Take();
  if (t.text == "True" || t.text == "False") {
    return graph_.Use(ir::MakeConstant(module_, ir::IntScalar(DType::kBool, t.text == "True")),
                      SpanOf(t));
  }
  if (constructors_.contains(t.text)) {
    MoveTo(t.begin);
    return ParseConstructor();
  }
  std::string name = t.text;
  size_t end = t.end;
  while (PeekIs(".")) {
    const Token dot = Take();
    const Token part = Peek();
    if (part.kind != TokenKind::kIdentifier) {
      MoveTo(dot.begin);
      break;
    }
    Take();
    name += "." + part.text;
    end = part.end;
  }
  Token whole = t;
  whole.end = end;
  const OpDef* op = OpTable::Get().Find(name);
  if (op == nullptr) op = operators_.Find(name);
  if (op == nullptr) {
    FailUnknownName(whole, name);
    return kNoNode;
  }
  return graph_.BareOperator(*op, SpanOf(whole));
}

// Without fields and arguments it is a call at once.
NodeId Parser::ParseConstructor() {
  const Token t = Take();
  const ir::Constructor* constructor =
      constructors_.find(std::string_view{text_}.substr(t.begin, t.end - t.begin))->second;
  NodeId node = graph_.Use(constructor, SpanOf(t));
  if (!constructor->fields.empty() || PeekIs("(")) return node;
  return graph_.Call(node, {}, SpanOf(t));
}

// TVM's defunctionalisation makes constructors named 0, 1, ... A number is one only where TVM
// prints no number: alone as the value of a graph variable (constants are never bound), and called.
bool Parser::PeekIsNumberedConstructor(std::string_view next) {
  if (Peek().kind != TokenKind::kInteger || !constructors_.contains(Peek().number)) return false;
  Lexer ahead = lexer_;
  return ahead.Next().Is(next);
}

void Parser::FailUnknownName(const Token& t, const std::string& name) {
  Suggestion suggestion(name);
  for (const auto& [known, constructor] : constructors_) suggestion.Consider(known);
  for (std::string_view known : OpTable::Get().Names()) suggestion.Consider(known);
  for (std::string_view known : operators_.Names()) suggestion.Consider(known);
  Fail(StatusCode::kUnsupported, SpanOf(t),
       fmt::format("unsupported operator \"{}\"{}", name, suggestion.Text("")));
}

Result<const ir::Constant*> Parser::MetaConstant(const Token& t) {
  RELAYVM_ASSIGN_OR_RETURN(auto node, metadata_.Find(t.text, t.index));
  auto [it, inserted] = metadata_constants_.try_emplace(node, nullptr);
  if (inserted) {
    RELAYVM_ASSIGN_OR_RETURN(HostTensor value, metadata_.ConstantValue(node));
    it->second = ir::MakeConstant(module_, std::move(value));
  }
  return it->second;
}

NodeId Parser::ParseMeta() {
  const Token t = Take();
  if (t.text != "relay.Constant") {
    Fail(StatusCode::kUnsupported, SpanOf(t),
         fmt::format("metadata of type {} is not supported as an expression", t.text));
    return kNoNode;
  }
  auto constant = MetaConstant(t);
  if (!constant.ok()) {
    Fail(t, constant.status().message());
    return kNoNode;
  }
  return graph_.Use(*constant, SpanOf(t));
}

}  // namespace relayvm::frontend
