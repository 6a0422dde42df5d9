#include "compiler/frontend/parser.h"

#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"
#include "compiler/ir/large_stack.h"
#include "compiler/ir/stop_scope.h"

namespace relayvm::frontend {
namespace {
constexpr std::string_view kVersion = "0.0.5";
}  // namespace

Result<ir::Module> ParseRelay(std::string name, std::string text,
                              const CustomOperators& operators) {
  return ir::WithLargeStack(
      [&] { return Parser(std::move(name), std::move(text), operators).Run(); });
}

Result<WrittenProgram> ParseRelayAsWritten(WrittenText text, const CustomOperators& operators) {
  return ir::WithLargeStack(
      [&] { return Parser(text.name, std::move(text.text), operators).RunAsWritten(text); });
}

Parser::Parser(std::string name, std::string text, const CustomOperators& operators)
    : text_(std::move(text)), operators_(operators), lexer_(text_) {
  file_ = module_.sources->AddFile(std::move(name), text_);
}

Parser::Nesting::Nesting(Parser* p, int limit)
    : depth_(limit == kMaxTypeNesting ? p->type_depth_ : p->depth_), ok_(++depth_ <= limit) {
  if (ok_) return;
  Token t = p->Peek();
  p->Fail(StatusCode::kOutOfRange, p->SpanOf(t), fmt::format("nested deeper than {}", limit));
}

// --- Tokens ---

const Token& Parser::Peek() {
  if (peeked_) return *peeked_;
  ir::PollStop();
  peeked_ = lexer_.Next();
  return *peeked_;
}

Token Parser::Take() {
  Peek();
  Token t = std::move(*peeked_);
  peeked_.reset();
  return t;
}

void Parser::MoveTo(size_t position) {
  peeked_.reset();
  lexer_.set_position(position);
}

bool Parser::Accept(std::string_view punctuation) {
  if (!PeekIs(punctuation)) return false;
  peeked_.reset();
  return true;
}

bool Parser::AcceptWord(std::string_view word) {
  if (!PeekIsWord(word)) return false;
  peeked_.reset();
  return true;
}

bool Parser::Expect(std::string_view punctuation, std::string_view where) {
  if (Accept(punctuation)) return true;
  FailExpected(fmt::format("'{}' {}", punctuation, where));
  return false;
}

ir::Span Parser::SpanOf(size_t begin, size_t end) const {
  return module_.sources->SpanAt(file_, begin, end - begin);
}

void Parser::Fail(StatusCode code, ir::Span span, const std::string& message) {
  if (status_.ok()) status_ = module_.sources->Error(code, span, message);
}

void Parser::Fail(const Token& at, const std::string& message) {
  Fail(StatusCode::kInvalidInput, SpanOf(at), message);
}

void Parser::FailExpected(std::string_view what) {
  const Token t = Peek();
  if (t.kind == TokenKind::kError) return Fail(t, t.text);
  if (t.kind == TokenKind::kEnd)
    return Fail(t, fmt::format("expected {}, found the end of the file", what));
  std::string_view found = std::string_view{text_}.substr(t.begin, t.end - t.begin);
  if (found.size() > 40) found = found.substr(0, 40);
  Fail(t,
       fmt::format("expected {}, found {}", what,
                   t.kind == TokenKind::kString ? std::string(found) : fmt::format("'{}'", found)));
}

// --- The file ---

Result<ir::Module> Parser::Run() {
  if (ParseFile()) LowerFunctions();
  if (failed()) return status_;
  return std::move(module_);
}

Result<WrittenProgram> Parser::RunAsWritten(const WrittenText& text) {
  written_ = std::make_unique<WrittenProgram>();
  token_places_.emplace(text_, text.skipped);
  is_expression_ = text.is_expression;
  if (!(is_expression_ ? ParseWrittenExpression() : ParseFile())) return status_;
  if (!graph_.status().ok()) return graph_.status();
  for (const NodeId f : functions_)
    written_->functions.emplace_back(is_expression_ ? "" : graph_.function(f).name, f);
  written_->graph = graph_.graph();
  written_->places.resize(written_->graph.nodes.size());
  written_->module = std::move(module_);
  return std::move(*written_);
}

bool Parser::ParseWrittenExpression() {
  if (!ReadVersion() || !FindDefinitions() || !ReadMetadata()) return false;
  if (!definitions_.empty()) {
    FailExpected("an expression");
    return false;
  }
  const NodeId node = ParseExpr();
  if (node == kNoNode) return false;
  if (!PeekIs("#[") && Peek().kind != TokenKind::kEnd) FailExpected("the end of the expression");
  functions_.push_back(node);
  return !failed();
}

// --- Places ---

NodeId Parser::Placed(size_t begin, NodeId node) {
  if (is_written() && node != kNoNode) SetPlace(node, PlaceFrom(begin));
  return node;
}

WrittenPlace Parser::PlaceFrom(size_t begin) { return token_places_->Of(begin, Peek().begin); }

void Parser::SetPlace(NodeId node, const WrittenPlace& place) {
  const ir::Node& n = graph_.node(node);
  if (n.kind == ir::NodeKind::kAtom) {
    written_->atom_places[KeyOf(n.atom)] = place;
    return;
  }
  if (written_->places.size() <= node) written_->places.resize(node + 1);
  written_->places[node] = place;
}

WrittenPlace Parser::PlaceOf(NodeId node) const {
  const ir::Node& n = graph_.node(node);
  if (n.kind != ir::NodeKind::kAtom)
    return node < written_->places.size() ? written_->places[node] : WrittenPlace();
  const auto at = written_->atom_places.find(KeyOf(n.atom));
  return at == written_->atom_places.end() ? WrittenPlace() : at->second;
}

bool Parser::ParseFile() {
  const bool versioned = PeekIs("#[");
  bool ok = ReadVersion() && FindDefinitions() && ReadMetadata();
  if (ok && definitions_.empty() && !PeekIs("#[") && Peek().kind != TokenKind::kEnd) {
    if (is_written()) FailExpected("a definition (def, type, extern type)");
    ok = !failed() && ParseExpressionFile();
  } else if (ok) {
    if (!versioned) {
      MoveTo(0);
      Fail(Peek(), fmt::format("a module starts with its version: #[version = \"{}\"]", kVersion));
    }
    ok = !failed() && ParseDefinitions();
  }
  return ok && !failed();
}

bool Parser::ReadVersion() {
  if (!PeekIs("#[")) return true;
  const Token open = Take();
  if (PeekIsWord("metadata")) {
    MoveTo(open.begin);
    return true;
  }
  if (!AcceptWord("version")) {
    FailExpected("version or metadata");
    return false;
  }
  if (!Expect("=", "after version")) return false;
  const Token version = Peek();
  if (version.kind != TokenKind::kString) {
    FailExpected("the version as a string");
    return false;
  }
  Take();
  if (version.text != kVersion) {
    Fail(StatusCode::kUnsupported, SpanOf(version),
         fmt::format("version \"{}\" of the text format is not supported, only \"{}\" is",
                     version.text, kVersion));
    return false;
  }
  return Expect("]", "after the version");
}

// Finds all definitions before any is parsed, because each may mention all others: the names of
// functions and types, and where the metadata starts. Leaves the position at the first definition
// or expression.
bool Parser::FindDefinitions() {
  const size_t start = Peek().begin;
  const bool expression =
      !in_rules_ && !PeekIsWord("def") && !PeekIsWord("type") && !PeekIsWord("extern");
  while (!failed() && Peek().kind != TokenKind::kEnd) {
    const Token t = Take();
    if (t.kind == TokenKind::kError) {
      Fail(t, t.text);
    } else if (t.Is("#[")) {
      if (!AcceptWord("metadata") || !PeekIs("]")) {
        FailExpected("metadata]");
        break;
      }
      metadata_at_ = Take().end;
      break;
    } else if (expression) {
      continue;
    } else if (in_rules_ ? StartsRule(t) : t.IsWord("def")) {
      const Token name = Peek();
      if (name.kind != TokenKind::kGlobal) {
        FailExpected(in_rules_ ? "a rule's name such as @fold" : "a function's name such as @main");
        break;
      }
      auto* global = module_.arena->New(ir::GlobalVar{name.text});
      if (!globals_.emplace(name.text, global).second) {
        Fail(name,
             fmt::format("{} @{} is defined twice", in_rules_ ? "rule" : "function", name.text));
      }
      max_global_length_ = std::max(max_global_length_, name.text.size());
      definitions_.push_back({t.begin, true});
      SkipDefinition(true);
      if (in_rules_ && PeekIsWord("if")) {  // conditions of all its patterns
        while (Peek().kind != TokenKind::kEnd && !StartsRule(Peek())) Take();
      }
    } else if (!in_rules_ && (t.IsWord("type") || t.IsWord("extern"))) {
      if (t.IsWord("extern") && !AcceptWord("type")) {
        FailExpected("'type' after extern");
        break;
      }
      definitions_.push_back({t.begin, false});
      SkipDefinition(false);
    } else {
      MoveTo(t.begin);
      FailExpected(in_rules_
                       ? "a rule: rule @name(%x) { pattern => replacement }, or part, or pattern"
                       : "a definition (def, type, extern type)");
    }
  }
  MoveTo(start);
  return !failed();
}

void Parser::SkipDefinition(bool is_function) {
  std::vector<Token> open;
  for (;;) {
    const Token& next = Peek();
    const bool at_end = next.kind == TokenKind::kEnd || next.Is("#[");
    if (at_end && !open.empty())
      return Fail(open.back(), fmt::format("'{}' is never closed", open.back().text));
    if (at_end ||
        (open.empty() && (next.IsWord("def") || next.IsWord("type") || next.IsWord("extern"))))
      return;
    Token t = Take();
    if (t.kind == TokenKind::kError) return Fail(t, t.text);
    if (t.Is("(") || t.Is("[") || t.Is("{")) {
      open.push_back(std::move(t));
    } else if (t.Is(")") || t.Is("]") || t.Is("}")) {
      const std::string_view opener = t.Is(")") ? "(" : t.Is("]") ? "[" : "{";
      if (open.empty()) return Fail(t, fmt::format("unexpected '{}'", t.text));
      if (!open.back().Is(opener)) {
        ir::Span span = SpanOf(open.back());
        return Fail(t, fmt::format("unexpected '{}': the '{}' of line {}, column {} is not closed",
                                   t.text, open.back().text, span.line, span.column));
      }
      open.pop_back();
      if (open.empty() && t.Is("}") && is_function) return;
    }
  }
}

bool Parser::ReadMetadata() {
  if (!metadata_at_) return true;
  size_t offset = 0;
  auto metadata = Metadata::Parse(std::string_view{text_}.substr(*metadata_at_), &offset);
  if (!metadata.ok()) {
    offset = std::min(offset + *metadata_at_, text_.size());
    Fail(metadata.status().code(), SpanOf(offset, offset + 1), metadata.status().message());
    return false;
  }
  metadata_ = *std::move(metadata);
  const auto strings = metadata_.Find("Strings", 0);
  if (!strings.ok()) return true;
  const auto table = metadata_.ConstantValue(*strings);
  const Status read = table.ok() ? ReadStringsOfTable(*table, *module_.strings) : table.status();
  if (read.ok()) return true;
  Fail(read.code(), SpanOf(*metadata_at_, *metadata_at_ + 1), read.message());
  return false;
}

bool Parser::DeclareType(const Definition& d) {
  MoveTo(d.begin);
  AcceptWord("extern");
  AcceptWord("type");
  const Token name = Peek();
  if (name.kind != TokenKind::kIdentifier) {
    FailExpected("a type's name");
    return false;
  }
  Take();
  if (NamesType(name.text)) {
    Fail(name, module_.types.contains(name.text)
                   ? fmt::format("type {} is defined twice", name.text)
                   : fmt::format("{} is a built-in type", name.text));
    return false;
  }
  ir::TypeDef& type = module_.types[name.text];
  type.name = name.text;
  type.span = SpanOf(name);
  const size_t mark = type_params_.Mark();
  bool ok = ParseTypeParams(&type.params);
  type_params_.Release(mark);
  return ok;
}

bool Parser::DefineType(const Definition& d) {
  MoveTo(d.begin);
  const bool is_extern = AcceptWord("extern");
  AcceptWord("type");
  ir::TypeDef& type = module_.types[Take().text];
  if (Accept("[")) {  // bound by DeclareType
    while (!Accept("]")) Take();
  }
  if (!PeekIs("{")) return true;
  if (is_extern) {
    Fail(Peek(), fmt::format("extern type {} has no constructors", type.name));
    return false;
  }
  Take();
  const size_t mark = type_params_.Mark();
  for (const ir::Type& p : type.params) type_params_.Bind(p->As<ir::TypeVar>()->name, p);
  while (!failed() && !PeekIs("}")) {
    const Token name = Peek();
    if (name.kind != TokenKind::kIdentifier && name.kind != TokenKind::kInteger) {
      FailExpected("a constructor");
      break;
    }
    Take();
    const std::string written = text_.substr(name.begin, name.end - name.begin);
    ir::Constructor constructor{
        written, type.name, static_cast<uint32_t>(type.constructors.size()), {}};
    if (Accept("(") && !ParseTypeList(")", &constructor.fields)) break;
    auto* added = module_.arena->New(std::move(constructor));
    if (!constructors_.emplace(written, added).second) {
      Fail(name, fmt::format("constructor {} is defined twice", written));
      break;
    }
    type.constructors.push_back(added);
    if (!Accept(",") && !PeekIs("}")) FailExpected("',' or '}' after a constructor");
  }
  type_params_.Release(mark);
  if (!failed()) Take();
  return !failed();
}

bool Parser::ParseDefinitions() {
  for (const Definition& d : definitions_) {
    if (!d.is_function && !DeclareType(d)) return false;
  }
  for (const Definition& d : definitions_) {
    if (!d.is_function && !DefineType(d)) return false;
  }
  for (const Definition& d : definitions_) {
    if (!d.is_function) continue;
    MoveTo(d.begin);
    Take();
    const Token name = Take();
    const size_t begin = Peek().begin;
    NodeId function = Placed(begin, ParseFunction(name.text, SpanOf(name)));
    if (function == kNoNode) return false;
    functions_.push_back(function);
  }
  return true;
}

bool Parser::ParseExpressionFile() {
  ir::Function main;
  main.name = module_.entry;
  main.span = SpanOf(Peek());
  while (AcceptWord("free_var")) {
    std::string name;
    ir::Span span;
    ir::Type type;
    if (!ParseNewLocal(&name, &span) || (Accept(":") && !ParseType(&type)) ||
        !Expect(";", "after free_var"))
      return false;
    main.params.push_back(BindLocal(name, type, span));
  }
  NodeId body = ParseExpr();
  if (body == kNoNode) return false;
  if (!PeekIs("#[") && Peek().kind != TokenKind::kEnd) {
    FailExpected("the end of the expression");
    return false;
  }
  if (graph_.node(body).kind == ir::NodeKind::kFunction &&
      main.params.empty()) {  // a function literal is @main itself
    graph_.SetName(body, module_.entry);
    functions_.push_back(body);
    return true;
  }
  functions_.push_back(graph_.MakeFunction(std::move(main), body));
  return true;
}

bool Parser::LowerFunctions() {
  for (NodeId f : functions_) {
    ir::PollStop();
    if (status_ = graph_.Define(module_, f); !status_.ok()) return false;
  }
  return true;
}

}  // namespace relayvm::frontend
