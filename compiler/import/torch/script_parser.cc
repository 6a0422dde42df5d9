#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/import/torch/script_syntax.h"

namespace relayvm::import::torch {

const FunctionDef* ClassDef::FindMethod(std::string_view method) const {
  const auto found = std::ranges::find(methods, method, &FunctionDef::name);
  return found == methods.end() ? nullptr : &*found;
}

const ClassDef* SourceUnit::FindClass(std::string_view name) const {
  const auto found = std::ranges::find(classes, name, &ClassDef::name);
  return found == classes.end() ? nullptr : &*found;
}

const FunctionDef* SourceUnit::FindFunction(std::string_view name) const {
  const auto found = std::ranges::find(functions, name, &FunctionDef::name);
  return found == functions.end() ? nullptr : &*found;
}

namespace {

// Recursive descent. Errors stick: after one, every token is the end.
class ScriptParser {
  using Kind = Token::Kind;

 public:
  ScriptParser(const std::string& path, std::string_view text, std::vector<Token> tokens)
      : path_(path), text_(text), tokens_(std::move(tokens)) {}

  Result<SourceUnit> File() {
    SourceUnit unit;
    while (ok() && !Is(Kind::kEnd)) {
      if (IsName("class")) {
        unit.classes.push_back(Class());
      } else if (IsName("def")) {
        unit.functions.push_back(Function());
      } else if (IsName("import") || IsName("from")) {
        while (ok() && !Is(Kind::kNewline) && !Is(Kind::kEnd)) Advance();
        Accept(Kind::kNewline);
      } else if (Is(Kind::kName)) {  // op_version_set = 1
        Statement();
      } else {
        Expected("a class or a function");
      }
    }
    if (!ok()) return status_;
    return unit;
  }

  Result<Expr> Alone() {
    Expr e = ExpressionList();
    Accept(Kind::kNewline);
    if (ok() && !Is(Kind::kEnd)) Expected("the end");
    if (!ok()) return status_;
    return e;
  }

 private:
  bool ok() const { return status_.ok(); }

  // --- Tokens ---

  const Token& Peek() const { return tokens_[ok() ? at_ : tokens_.size() - 1]; }
  bool Is(Kind kind) const { return Peek().kind == kind; }
  bool IsName(std::string_view name) const { return Is(Kind::kName) && Peek().text == name; }
  bool IsSymbol(std::string_view symbol) const {
    return Is(Kind::kSymbol) && Peek().text == symbol;
  }
  void Advance() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  bool Accept(Kind kind) {
    if (!Is(kind)) return false;
    Advance();
    return true;
  }
  bool AcceptName(std::string_view name) {
    if (!IsName(name)) return false;
    Advance();
    return true;
  }
  bool AcceptSymbol(std::string_view symbol) {
    if (!IsSymbol(symbol)) return false;
    Advance();
    return true;
  }
  void Symbol(std::string_view symbol) {
    if (!AcceptSymbol(symbol)) Expected(fmt::format("'{}'", symbol));
  }
  std::string Name() {
    std::string name = Peek().text;
    if (!Accept(Kind::kName)) Expected("a name");
    return name;
  }
  void Newline() {
    if (!Accept(Kind::kNewline)) Expected("the end of the line");
  }
  void Expected(std::string_view what) {
    if (!ok()) return;
    const Token& t = Peek();
    std::string found = t.text.empty() ? t.kind == Kind::kEnd       ? "the end"
                                         : t.kind == Kind::kNewline ? "the end of the line"
                                                                    : "another token"
                                       : fmt::format("'{}'", t.text.substr(0, 40));
    status_ =
        Status(StatusCode::kInvalidInput, fmt::format("{}: line {}: expected {}, found {}", path_,
                                                      LineOf(text_, t.offset), what, found));
  }
  // Whether one may go one level deeper; the error says no.
  bool Deeper() {
    if (depth_ < kMostNested) return true;
    if (ok()) {
      status_ = Status(StatusCode::kInvalidInput, fmt::format("{}: line {}: nested too deep", path_,
                                                              LineOf(text_, Peek().offset)));
    }
    return false;
  }
  static constexpr int kMostNested = 200;
  struct Level {
    explicit Level(int& depth) : depth(++depth) {}
    ~Level() { --depth; }
    int& depth;
  };

  // --- Expressions ---

  Expr Make(Expr::Kind kind) const {
    Expr e;
    e.kind = kind;
    e.offset = Peek().offset;
    return e;
  }

  // a, b, c
  Expr ExpressionList() {
    Expr first = Expression();
    if (!IsSymbol(",")) return first;
    Expr tuple = Make(Expr::Kind::kTuple);
    tuple.offset = first.offset;
    tuple.children.push_back(std::move(first));
    while (ok() && AcceptSymbol(",")) {
      if (Is(Kind::kNewline) || IsSymbol("]") || IsSymbol(")") || IsSymbol("=") || Is(Kind::kEnd))
        break;
      tuple.children.push_back(Expression());
    }
    return tuple;
  }

  Expr Expression() {
    if (!Deeper()) return {};
    const Level level(depth_);
    Expr e = Atom();
    while (ok()) {
      if (AcceptSymbol(".")) {
        Expr attribute = Make(Expr::Kind::kAttribute);
        attribute.text = Name();
        attribute.children.push_back(std::move(e));
        e = std::move(attribute);
      } else if (IsSymbol("(")) {
        e = Call(std::move(e));
      } else if (IsSymbol("[")) {
        Expr index = Make(Expr::Kind::kIndex);
        index.offset = e.offset;
        Advance();
        index.children.push_back(std::move(e));
        index.children.push_back(ExpressionList());
        Symbol("]");
        e = std::move(index);
      } else {
        break;
      }
    }
    return e;
  }

  Expr Call(Expr callee) {
    Expr call = Make(Expr::Kind::kCall);
    call.offset = callee.offset;
    call.children.push_back(std::move(callee));
    Symbol("(");
    while (ok() && !IsSymbol(")")) {
      if (Is(Kind::kName) && tokens_[at_ + 1].kind == Kind::kSymbol &&
          tokens_[at_ + 1].text == "=") {
        std::string name = Name();
        Advance();
        call.keywords.emplace_back(std::move(name), Expression());
      } else {
        call.children.push_back(Expression());
      }
      if (!AcceptSymbol(",")) break;
    }
    Symbol(")");
    return call;
  }

  std::vector<Expr> Elements(std::string_view close) {
    std::vector<Expr> elements;
    while (ok() && !IsSymbol(close)) {
      elements.push_back(Expression());
      if (!AcceptSymbol(",")) break;
    }
    Symbol(close);
    return elements;
  }

  Expr Atom() {
    const Token& t = Peek();
    switch (t.kind) {
      case Kind::kName:
        return NameOrWord();
      case Kind::kInt: {
        Expr e = Make(Expr::Kind::kInt);
        e.integer = t.integer;
        if (t.integer == std::numeric_limits<int64_t>::min()) Expected("an integer of 64 bits");
        Advance();
        return e;
      }
      case Kind::kFloat:
      case Kind::kComplex: {
        Expr e = Make(t.kind == Kind::kFloat ? Expr::Kind::kFloat : Expr::Kind::kComplex);
        e.real = t.real;
        e.imaginary = t.imaginary;
        Advance();
        return e;
      }
      case Kind::kString: {
        Expr e = Make(Expr::Kind::kString);
        e.text = t.text;
        Advance();
        while (Is(Kind::kString)) {
          e.text += Peek().text;
          Advance();
        }
        return e;
      }
      case Kind::kSymbol:
        return Bracketed();
      default:
        Expected("an expression");
        return {};
    }
  }

  Expr NameOrWord() {
    const std::string& name = Peek().text;
    Expr e = Make(Expr::Kind::kName);
    if (name == "None") e.kind = Expr::Kind::kNone;
    if (name == "True" || name == "False") {
      e.kind = Expr::Kind::kBool;
      e.integer = name == "True" ? 1 : 0;
    }
    if (name == "inf" || name == "nan" || name == "infj" || name == "nanj") {
      const double real = name.starts_with("inf") ? std::numeric_limits<double>::infinity()
                                                  : std::numeric_limits<double>::quiet_NaN();
      e.kind = name.ends_with("j") ? Expr::Kind::kComplex : Expr::Kind::kFloat;
      (name.ends_with("j") ? e.imaginary : e.real) = real;
    }
    if (e.kind == Expr::Kind::kName) e.text = name;
    Advance();
    return e;
  }

  Expr Bracketed() {
    if (IsSymbol("-")) return Negative();
    if (IsSymbol("...")) {
      Expr e = Make(Expr::Kind::kEllipsis);
      Advance();
      return e;
    }
    if (IsSymbol("[")) {
      Expr e = Make(Expr::Kind::kList);
      Advance();
      e.children = Elements("]");
      return e;
    }
    if (IsSymbol("(")) {
      Expr e = Make(Expr::Kind::kTuple);
      Advance();
      if (AcceptSymbol(")")) return e;
      Expr first = Expression();
      if (AcceptSymbol(")")) return first;
      e.children.push_back(std::move(first));
      Symbol(",");
      for (Expr& element : Elements(")")) e.children.push_back(std::move(element));
      return e;
    }
    if (IsSymbol("{")) {
      Expr e = Make(Expr::Kind::kDict);
      Advance();
      while (ok() && !IsSymbol("}")) {
        e.children.push_back(Expression());
        Symbol(":");
        e.children.push_back(Expression());
        if (!AcceptSymbol(",")) break;
      }
      Symbol("}");
      return e;
    }
    Expected("an expression");
    return {};
  }

  // Of a number only: there are no operators.
  Expr Negative() {
    const uint32_t offset = Peek().offset;
    Advance();
    if (Is(Kind::kInt)) {
      Expr e = Make(Expr::Kind::kInt);
      e.offset = offset;
      e.integer = static_cast<int64_t>(-static_cast<uint64_t>(Peek().integer));
      Advance();
      return e;
    }
    Expr e = Atom();
    e.offset = offset;
    e.real = -e.real;
    if (e.real == 0 && e.kind == Expr::Kind::kComplex) e.imaginary = -e.imaginary;
    if (ok() && e.kind != Expr::Kind::kFloat && e.kind != Expr::Kind::kComplex)
      Expected("a number behind '-'");
    return e;
  }

  // --- Statements ---

  std::vector<Stmt> Block() {
    std::vector<Stmt> body;
    Symbol(":");
    Newline();
    if (!Accept(Kind::kIndent))
      return body;  // PyTorch writes empty blocks for what has no statement
    while (ok() && !Is(Kind::kDedent) && !Is(Kind::kEnd)) body.push_back(Statement());
    Accept(Kind::kDedent);
    return body;
  }

  Stmt Statement() {
    if (!Deeper()) return {};
    const Level level(depth_);
    Stmt s;
    s.offset = Peek().offset;
    if (AcceptName("pass")) {
      Newline();
    } else if (AcceptName("return")) {
      s.kind = Stmt::Kind::kReturn;
      if (!Is(Kind::kNewline)) s.value = ExpressionList();
      Newline();
    } else if (AcceptName("if")) {
      s.kind = Stmt::Kind::kIf;
      s.value = Expression();
      s.body = Block();
      if (AcceptName("else")) s.orelse = Block();
    } else if (AcceptName("while")) {
      s.kind = Stmt::Kind::kWhile;
      s.value = Expression();
      s.body = Block();
    } else if (AcceptName("for")) {
      s.kind = Stmt::Kind::kFor;
      s.targets.push_back(ExpressionList());
      if (!AcceptName("in")) Expected("'in'");
      s.value = Expression();
      s.body = Block();
    } else if (AcceptName("with")) {
      s.kind = Stmt::Kind::kWith;
      s.value = Expression();
      if (AcceptName("as")) s.targets.push_back(Expression());
      s.body = Block();
    } else if (IsName("def")) {
      s.kind = Stmt::Kind::kDef;
      s.function = std::make_shared<const FunctionDef>(Function());
    } else {
      Assignment(&s);
    }
    return s;
  }

  void Assignment(Stmt* s) {
    Expr first = ExpressionList();
    // One target with a comma behind it takes a tuple of one apart.
    const bool is_tuple = first.kind == Expr::Kind::kTuple;
    if (AcceptSymbol(":")) s->annotation = Expression();
    if (!AcceptSymbol("=")) {
      s->kind = Stmt::Kind::kExpr;
      s->value = std::move(first);
      Newline();
      return;
    }
    s->kind = Stmt::Kind::kAssign;
    s->unpacks = is_tuple;
    if (is_tuple) {
      s->targets = std::move(first.children);
    } else {
      s->targets.push_back(std::move(first));
    }
    s->value = ExpressionList();
    Newline();
  }

  FunctionDef Function() {
    FunctionDef f;
    f.offset = Peek().offset;
    Advance();
    f.name = Name();
    Symbol("(");
    while (ok() && !IsSymbol(")")) {
      Parameter p;
      p.name = Name();
      if (AcceptSymbol(":")) p.type = Expression();
      if (AcceptSymbol("=")) {
        p.has_default = true;
        p.fallback = Expression();
      }
      f.parameters.push_back(std::move(p));
      if (!AcceptSymbol(",")) break;
    }
    Symbol(")");
    if (AcceptSymbol("->")) f.result = Expression();
    f.body = Block();
    return f;
  }

  ClassDef Class() {
    ClassDef c;
    Advance();
    c.offset = Peek().offset;
    c.name = Name();
    if (AcceptSymbol("(")) {
      if (!IsSymbol(")")) c.base = Name();
      Symbol(")");
    }
    Symbol(":");
    Newline();
    if (!Accept(Kind::kIndent)) return c;
    while (ok() && !Is(Kind::kDedent) && !Is(Kind::kEnd)) {
      if (IsName("def")) {
        c.methods.push_back(Function());
      } else if (AcceptName("pass")) {
        Newline();
      } else {
        Attribute(&c);
      }
    }
    Accept(Kind::kDedent);
    return c;
  }

  // name : Type, name : Type = value, NAME = value, __annotations__["name"] = Type.
  void Attribute(ClassDef* c) {
    ClassAttribute a;
    a.name = Name();
    if (a.name == "__annotations__" && AcceptSymbol("[")) {
      a.name = Peek().text;
      if (!Accept(Kind::kString)) Expected("a string");
      Symbol("]");
      Symbol("=");
      a.type = Expression();
    } else {
      if (AcceptSymbol(":")) a.type = Expression();
      if (AcceptSymbol("=")) {
        a.has_value = true;
        a.value = ExpressionList();
      }
    }
    Newline();
    c->attributes.push_back(std::move(a));
  }

  const std::string& path_;
  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  Status status_;
};

}  // namespace

Result<SourceUnit> ParseSource(const std::string& path, std::string_view text) {
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenise(path, text));
  return ScriptParser(path, text, std::move(tokens)).File();
}

Result<Expr> ParseExpression(const std::string& path, std::string_view text) {
  RELAYVM_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenise(path, text));
  return ScriptParser(path, text, std::move(tokens)).Alone();
}

}  // namespace relayvm::import::torch
