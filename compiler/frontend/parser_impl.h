// The parser's state and its parts, private to the frontend: parser.cc (the file: definitions, in
// which order), parse_types.cc, parse_expr.cc, parse_control.cc, parse_attrs.cc, parse_rules.cc.
//
// A recursive-descent parser that stops at the first error: functions give kNoNode or false when
// `status_` is set. It recurses with the nesting of the text only, and that is limited
// (kMaxNesting); sequences of lets and operators are loops. Tested by parser_test.cc and
// parser_error_test.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/frontend/lexer.h"
#include "compiler/frontend/metadata.h"
#include "compiler/frontend/names.h"
#include "compiler/frontend/parser.h"
#include "compiler/frontend/rules.h"
#include "compiler/ir/graph_builder.h"
#include "compiler/ir/scalar.h"

namespace relayvm::frontend {

using ir::kNoNode;
using ir::NodeId;

// The span from the start of `first` to the end of `last`, or `first` when they are on different
// lines.
inline ir::Span Join(const ir::Span& first, const ir::Span& last) {
  ir::Span span = first;
  if (first.line == last.line && last.column >= first.column)
    span.length = last.column + last.length - first.column;
  return span;
}

// _1, _2 ...: how the printer calls variables without a name.
inline bool IsTemporaryName(std::string_view name) {
  return name.size() > 1 && name[0] == '_' &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// The word that a definition in a rule file starts with.
inline bool StartsRule(const Token& t) {
  return t.IsWord("rule") || t.IsWord("pattern") || t.IsWord("part");
}
// Of a condition on an attribute: == != < <= > >=
bool IsComparison(const Token& t);

class Parser {
 public:
  // Borrows `operators`.
  Parser(std::string name, std::string text, const CustomOperators& operators);
  Result<ir::Module> Run();
  Result<WrittenProgram> RunAsWritten(const WrittenText& text);
  Result<ParsedRules> RunRules();

 private:
  struct Definition {
    size_t begin;  // of `def`, `type` or `extern`
    bool is_function;
  };
  struct GraphBinding {
    NodeId node;
    uint32_t function;  // the function literal that binds it
  };
  // An attribute as written. Expressions (the operands that arange repeats as attributes) have no
  // value; a constant is kept.
  struct ParsedAttr {
    std::string name;
    AttrValue value;
    bool is_expression = false;
    std::string comparison;          // of a condition in a rule; empty: `=`
    std::optional<Formula> formula;  // in a rule, in place of the value
    const ir::Constant* constant = nullptr;
    ir::Span span;
  };
  class Nesting;  // counts depth_ or type_depth_ for the time of a call

  // --- parser.cc: tokens, errors, the file
  const Token& Peek();
  Token Take();
  bool PeekIs(std::string_view punctuation) { return Peek().Is(punctuation); }
  bool PeekIsWord(std::string_view word) { return Peek().IsWord(word); }
  bool Accept(std::string_view punctuation);
  bool AcceptWord(std::string_view word);
  bool Expect(std::string_view punctuation, std::string_view where);
  void MoveTo(size_t position);
  ir::Span SpanOf(const Token& t) const { return SpanOf(t.begin, t.end); }
  ir::Span SpanOf(size_t begin, size_t end) const;
  void Fail(StatusCode code, ir::Span span, const std::string& message);
  void Fail(const Token& at, const std::string& message);
  // "expected WHAT, found TOKEN".
  void FailExpected(std::string_view what);
  bool failed() const { return !status_.ok(); }

  bool ParseFile();
  bool ParseWrittenExpression();
  bool is_written() const { return written_ != nullptr; }
  // Notes that the node stands from `begin` to the last token that was read; gives it.
  NodeId Placed(size_t begin, NodeId node);
  void SetPlace(NodeId node, const WrittenPlace& place);
  WrittenPlace PlaceOf(NodeId node) const;
  WrittenPlace PlaceFrom(size_t begin);
  bool ReadVersion();
  bool FindDefinitions();
  void SkipDefinition(bool is_function);
  bool DeclareType(const Definition& d);
  bool DefineType(const Definition& d);
  bool ReadMetadata();
  bool ParseDefinitions();
  bool ParseExpressionFile();
  bool LowerFunctions();

  // --- parse_types.cc
  bool ParseType(ir::Type* type);
  bool ParseTypeList(std::string_view close, std::vector<ir::Type>* types);
  bool ParseTensorType(ir::Type* type);
  bool ParseFunctionType(ir::Type* type);
  bool ParseNamedType(const Token& name, ir::Type* type);
  bool ParseDim(Dim* dim);
  // "[A, B]": binds them in type_params_. Accepts their absence.
  bool ParseTypeParams(std::vector<ir::Type>* params);
  bool NamesType(std::string_view word) const;

  // --- parse_expr.cc
  // Lets and values, one after the other: the last one is its value. As the value of another let,
  // as in `let %x = let %y = 1; add(%y, %y); ...`, it ends at the first ';' behind a value.
  NodeId ParseExpr(bool is_value = false);
  NodeId ParseValue();
  NodeId ParseOperators();
  NodeId ParsePostfix();
  NodeId ParsePrimary();
  NodeId ParseAtom();
  bool ParseFreeVar();
  NodeId ParseParenthesised();
  NodeId ParseNumber();
  NodeId ParseLocal();
  NodeId ParseGraphVar();
  void DeclareGlobal(const Token& t);
  NodeId ParseGlobal();
  NodeId ParseName();
  NodeId ParseFunctionLiteral();
  NodeId ParseSymbol();
  NodeId ParseConstructor();
  bool PeekIsNumberedConstructor(std::string_view next);
  NodeId ParseMeta();
  Result<const ir::Constant*> MetaConstant(const Token& t);
  void UseExactOperands(const OpDef& op, const std::vector<ParsedAttr>& attrs,
                        std::vector<NodeId>* args);
  bool ParseLet(const ir::Var** var, NodeId* value);
  bool ParseGraphBinding();
  bool StartsGraphBinding();
  // The name of a new local: how far it reaches is decided by what follows.
  bool ParseNewLocal(std::string* name, ir::Span* span);
  // What a variable of that name in the text is called.
  std::string NameOfVar(const std::string& name) const;
  const ir::Var* BindLocal(const std::string& name, ir::Type type, ir::Span span);
  void FailUnknownName(const Token& t, const std::string& name);

  // --- parse_control.cc
  NodeId ParseIf();
  NodeId ParseMatch();
  NodeId ParseRef();
  NodeId ParseCall(NodeId callee);
  NodeId FinishCall(NodeId callee, std::vector<NodeId> args, const std::vector<ParsedAttr>& attrs,
                    const Token* meta);
  NodeId ParseFunction(std::string name, ir::Span span);
  bool ParseBlock(std::string_view where, NodeId* body);
  bool ParseParams(ir::Function* function, std::vector<std::string>* attr_names);
  // The end of the declaration of a function that the host provides, and the body that calls it.
  bool ParseHostBody(const ir::Function& function, NodeId* body);
  const ir::Var* TakeSharedVariable(std::string* name);
  bool ParsePattern(ir::Pattern* pattern);
  NodeId FinishOperator(NodeId node);
  NodeId MakeOpCall(const OpDef* op, std::vector<NodeId> args, Attrs attrs, ir::Span span);

  // --- parse_attrs.cc
  bool StartsAttr();
  bool ParseAttrList(std::vector<ParsedAttr>* attrs);
  bool ParseAttrValue(ParsedAttr* attr);
  bool ParseAttrNumber(ParsedAttr* attr);
  bool ParseAttrMeta(ParsedAttr* attr);
  // Attributes of a call of `op`: those written, or those of a metadata object, completed.
  bool CompleteOpAttrs(const OpDef& op, const std::vector<ParsedAttr>& written, const Token* meta,
                       ir::Span span, Attrs* attrs);

  // --- parse_rules.cc
  bool ParseRule(const Definition& definition, ParsedRules* rules);
  bool ParseLabel(std::string* label);
  std::optional<uint32_t> ParseRuleField();
  NodeId ParsePart();
  void NoteWritten(const std::vector<ParsedAttr>& written, Attrs* attrs);
  // The value of an attribute, which may be a formula.
  bool ParseRuleAttr(ParsedAttr* attr);
  bool StartsCall();  // name (
  bool ParseConditions(std::vector<Formula>* conditions);
  bool ParseFormula(Formula* formula);  // sums of products
  bool ParseProduct(Formula* formula);
  bool ParseFactor(Formula* formula);
  bool FailLong(const Formula& formula);
  bool ParseFormulas(std::string_view close, std::vector<Formula>* formulas);

  std::string text_;
  const CustomOperators& operators_;
  ir::Module module_ = ir::MakeModule();
  uint32_t file_ = 0;
  Lexer lexer_;
  std::optional<Token> peeked_;
  Status status_;
  bool in_rules_ = false;                               // a rule file is read
  std::set<const ir::Var*>* constant_holes_ = nullptr;  // of the rule that is read
  std::vector<Formula>* formulas_ = nullptr;            // the same
  std::set<std::string> parts_;                         // of the rule file so far
  int depth_ = 0;                                       // of expressions
  int type_depth_ = 0;                                  // of types, patterns and attributes

  std::vector<Definition> definitions_;
  std::optional<size_t> metadata_at_;
  Metadata metadata_;
  std::unordered_map<uint32_t, const ir::Constant*> metadata_constants_;

  NameMap<const ir::GlobalVar*> globals_;
  size_t max_global_length_ = 0;
  NameMap<const ir::Constructor*> constructors_;
  ScopedNames<ir::Type> type_params_;
  ScopedNames<const ir::Var*> locals_;
  NameMap<const ir::Var*> params_by_name_;  // of all functions so far
  std::unordered_map<uint64_t, GraphBinding> graph_vars_;
  std::vector<std::pair<uint64_t, GraphBinding>>
      shadowed_graph_vars_;        // by those of an inner function
  uint32_t current_function_ = 0;  // function literals are numbered
  uint32_t num_functions_ = 0;

  // Of a text as it was written.
  std::optional<TokenPlaces> token_places_;
  std::unique_ptr<WrittenProgram> written_;
  bool is_expression_ = false;
  NameMap<const ir::Var*> free_vars_;
  size_t max_free_length_ = 0;

  ir::GraphBuilder graph_{module_};
  std::vector<NodeId> functions_;  // of the definitions, in the file's order
};

class Parser::Nesting {
 public:
  // Limits the depth of calls with the same limit.
  Nesting(Parser* p, int limit);
  ~Nesting() { --depth_; }
  bool ok() const { return ok_; }

 private:
  int& depth_;
  bool ok_;
};

}  // namespace relayvm::frontend
