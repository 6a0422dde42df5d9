// The code of a TorchScript archive as a tree: a small typed language in Python's clothes, of which
// PyTorch writes each statement on a line of its own. Plain data; positions are bytes of the file.
// Any text is safe: what is no such code is an error, and nesting is bounded. Tested by
// script_parser_test.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bytecode/base/status.h"

namespace relayvm::import::torch {

struct Expr {
  enum class Kind : uint8_t {
    kName,  // `text`
    kNone,
    kBool,     // `integer`
    kInt,      // `integer`
    kFloat,    // `real`
    kComplex,  // `real`, `imaginary`
    kString,   // `text`
    kEllipsis,
    kList,       // children
    kTuple,      // children
    kDict,       // children: key, value, key ...
    kAttribute,  // children[0].text
    kIndex,      // children[0][children[1]]
    kCall        // children[0](children[1] ..., keywords)
  };
  Kind kind = Kind::kNone;
  uint32_t offset = 0;
  std::string text;
  int64_t integer = 0;
  double real = 0, imaginary = 0;
  std::vector<Expr> children;
  std::vector<std::pair<std::string, Expr>> keywords;
};

struct FunctionDef;

struct Stmt {
  enum class Kind : uint8_t {
    kExpr,    // value
    kAssign,  // targets = value; `unpacks`: of a tuple or list, one target for each element
    kIf,      // if value: body else: orelse
    kWhile,   // while value: body
    kFor,     // for targets[0] in value: body
    kWith,    // with value as targets[0], if there is one: body
    kReturn,  // value
    kPass,
    kDef  // function
  };
  Kind kind = Kind::kPass;
  uint32_t offset = 0;
  std::vector<Expr> targets;
  bool unpacks = false;
  Expr annotation;  // kNone: none is given
  Expr value;
  std::vector<Stmt> body, orelse;
  std::shared_ptr<const FunctionDef> function;
};

struct Parameter {
  std::string name;
  Expr type;  // kNone: not said
  bool has_default = false;
  Expr fallback;
};

struct FunctionDef {
  std::string name;
  uint32_t offset = 0;
  std::vector<Parameter> parameters;
  Expr result;  // kNone: not said
  std::vector<Stmt> body;
};

struct ClassAttribute {
  std::string name;
  Expr type;
  bool has_value = false;
  Expr value;
};

struct ClassDef {
  std::string name,
      base;  // base: "Module", "NamedTuple", "Enum", "ModuleInterface", "Interface"; or empty
  uint32_t offset = 0;
  std::vector<ClassAttribute> attributes;  // in order
  std::vector<FunctionDef> methods;

  const FunctionDef* FindMethod(std::string_view method) const;  // null: none
};

// A file of the archive's code.
struct SourceUnit {
  std::vector<ClassDef> classes;
  std::vector<FunctionDef> functions;

  const ClassDef* FindClass(std::string_view name) const;
  const FunctionDef* FindFunction(std::string_view name) const;
};
// `path` is what errors call the file.
Result<SourceUnit> ParseSource(const std::string& path, std::string_view text);
// An expression by itself: what tags of pickles say of types.
Result<Expr> ParseExpression(const std::string& path, std::string_view text);

// --- Tokens ---

struct Token {
  enum class Kind : uint8_t {
    kName,
    kInt,
    kFloat,
    kComplex,
    kString,
    kSymbol,
    kNewline,
    kIndent,
    kDedent,
    kEnd
  };
  Kind kind = Kind::kEnd;
  uint32_t offset = 0;
  std::string text;  // a symbol's characters, a string's content
  int64_t integer = 0;
  double real = 0, imaginary = 0;
};
Result<std::vector<Token>> Tokenise(const std::string& path, std::string_view text);
// "line 3" of a byte of the text.
size_t LineOf(std::string_view text, size_t offset);

}  // namespace relayvm::import::torch
