#include "compiler/import/torch/schema.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>

namespace relayvm::import::torch {

namespace {

using Base = SchemaType::Base;

class SchemaParser {
 public:
  explicit SchemaParser(std::string_view text) : text_(text) {}

  Result<Schema> Run() {
    Schema s;
    s.name = Word("(. ");
    if (Take('.')) s.overload = Word("( ");
    if (!Take('(')) return Wrong("(");
    bool keyword_only = false;
    while (!Take(')')) {
      if (at_ >= text_.size()) return Wrong(")");
      if (text_.substr(at_).starts_with("...")) {
        at_ += 3;
        s.variadic = true;
      } else if (Take('*')) {
        keyword_only = true;
      } else {
        SchemaArgument a;
        a.type = Type(&a.alias, &a.written);
        Blank();
        a.name = Word(",=) ");
        if (a.name.empty()) return Wrong("the name of an argument");
        if (Take('=')) {
          a.has_default = true;
          a.fallback = Default();
        }
        a.keyword_only = keyword_only;
        a.is_out = keyword_only && a.written;
        s.arguments.push_back(std::move(a));
      }
      Take(',');
      Blank();
    }
    Blank();
    if (!Take('-') || !Take('>')) return Wrong("->");
    Blank();
    if (!Take('(')) {
      s.results.push_back(OneResult());
      return s;
    }
    while (!Take(')')) {
      if (at_ >= text_.size()) return Wrong(")");
      s.results.push_back(OneResult());
      Take(',');
      Blank();
    }
    return s;
  }

 private:
  Status Wrong(std::string_view expected) const {
    return {StatusCode::kInternal, fmt::format("schema {}: expected {} at {}", text_, expected,
                                               text_.substr(std::min(at_, text_.size())))};
  }
  bool Take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Blank() {
    while (Take(' ')) continue;
  }
  std::string Word(std::string_view ends) {
    const size_t from = at_;
    while (at_ < text_.size() && ends.find(text_[at_]) == std::string_view::npos) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  SchemaResult OneResult() {
    SchemaResult r;
    bool written = false;
    r.type = Type(&r.alias, &written);
    Blank();
    Word(",) ");  // a name
    return r;
  }

  static Base BaseOf(std::string_view name) {
    if (name == "Tensor") return Base::kTensor;
    if (name == "int" || name == "SymInt" || name == "ScalarType" || name == "Layout" ||
        name == "MemoryFormat")
      return Base::kInt;
    if (name == "float" || name == "SymFloat") return Base::kFloat;
    if (name == "bool" || name == "SymBool") return Base::kBool;
    if (name == "Scalar" || name == "number") return Base::kScalar;
    if (name == "complex") return Base::kComplex;
    if (name == "str" || name == "Dimname") return Base::kString;
    if (name == "Device") return Base::kDevice;
    if (name == "Generator") return Base::kGenerator;
    return Base::kAny;
  }

  SchemaType Type(char* alias, bool* written) {
    SchemaType t;
    const std::string name = Word("( ?[,)");
    t.base = BaseOf(name);
    bool element_optional = false;
    for (;;) {
      if (Take('(')) {
        // What shares memory, or the types that a dictionary holds.
        int depth = 1;
        if (t.base == Base::kTensor && at_ < text_.size()) *alias = text_[at_];
        while (at_ < text_.size() && depth > 0) {
          if (text_[at_] == '!') *written = true;
          depth += text_[at_] == '(' ? 1 : text_[at_] == ')' ? -1 : 0;
          ++at_;
        }
      } else if (Take('?')) {
        element_optional = true;
      } else if (Take('[')) {
        if (t.list) t.base = Base::kAny;
        t.list = true;
        t.element_optional = element_optional;
        element_optional = false;
        const std::string length = Word("]");
        if (!length.empty())
          std::from_chars(length.data(), length.data() + length.size(), t.length);
        Take(']');
      } else {
        break;
      }
    }
    t.optional = element_optional;
    return t;
  }

  Argument Default() {
    if (Take('[')) {
      std::vector<Argument> items;
      while (at_ < text_.size() && !Take(']')) {
        items.push_back(Default());
        Take(',');
        Blank();
      }
      return Argument::List(std::move(items));
    }
    if (Take('"')) {
      Argument a = Argument::String(Word("\""));
      Take('"');
      return a;
    }
    const std::string word = Word(",)]");
    if (word == "True" || word == "False") return Argument::Bool(word == "True");
    if (word == "None") return {};
    if (word == "inf") return Argument::Float(HUGE_VAL);
    if (word == "contiguous_format") return Argument::Int(0);
    int64_t integer = 0;
    const char* end = word.data() + word.size();
    if (auto [p, e] = std::from_chars(word.data(), end, integer); e == std::errc() && p == end)
      return Argument::Int(integer);
    double real = 0;
    std::from_chars(word.data(), end, real);
    return Argument::Float(real);
  }

  std::string_view text_;
  size_t at_ = 0;
};

// --- Binding ---

bool FitsElement(const Argument& a, Base base, bool convert) {
  switch (base) {
    case Base::kTensor:
      return a.is_tensor() || (convert && a.is_number());
    case Base::kInt:
      return a.is_int() || (convert && (a.is_bool() || a.is_tensor()));
    case Base::kFloat:
      return a.is_float() || (convert && (a.is_number() || a.is_tensor()));
    case Base::kBool:
      return a.is_bool() || (convert && (a.is_int() || a.is_tensor()));
    case Base::kScalar:
      return a.is_number() || (convert && a.is_tensor());
    case Base::kComplex:
      return a.is(Argument::Kind::kComplex) || (convert && a.is_number());
    case Base::kString:
      return a.is(Argument::Kind::kString);
    case Base::kDevice:
      return a.is(Argument::Kind::kDevice) || (convert && a.is(Argument::Kind::kString));
    case Base::kGenerator:
    case Base::kAny:
      return true;
  }
  return false;
}

bool Fits(const Argument& a, const SchemaType& t, bool convert) {
  if (a.is_none()) return t.optional || t.base == Base::kAny || t.base == Base::kGenerator;
  if (!t.list) return FitsElement(a, t.base, convert);
  if (a.is(Argument::Kind::kSequence)) return t.base == Base::kTensor || t.base == Base::kAny;
  if (!a.is_list()) return t.length > 0 && FitsElement(a, t.base, convert);
  for (const Argument& item : a.items) {
    if (item.is_none() && t.element_optional) continue;
    if (!FitsElement(item, t.base, convert || t.base == Base::kFloat)) return false;
  }
  return true;
}

Status Misfit(const Schema& s, std::string_view why) {
  return {StatusCode::kInvalidInput, fmt::format("{}: {}", s.full_name(), why)};
}

}  // namespace

int Schema::Find(std::string_view argument) const {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument) return static_cast<int>(i);
  }
  return -1;
}

bool Schema::IsView(size_t i) const {
  if (i >= results.size() || results[i].alias == 0) return false;
  for (const SchemaArgument& a : arguments) {
    if (a.alias == results[i].alias) return !a.written;
  }
  return false;
}

Result<Schema> ParseSchema(std::string_view text) { return SchemaParser(text).Run(); }

Result<std::vector<Argument>> Bind(const Schema& schema, std::span<const Argument> positional,
                                   std::span<const KeywordArgument> keywords, bool convert) {
  const size_t count = schema.arguments.size();
  std::vector<Argument> bound(count);
  std::vector<bool> given(count, false);
  size_t most = 0;
  while (most < count && !schema.arguments[most].keyword_only) ++most;
  if (positional.size() > most && !schema.variadic)
    return Misfit(schema, fmt::format("{} arguments, at most {}", positional.size(), most));
  const auto set = [&](size_t i, const Argument& a) {
    if (!Fits(a, schema.arguments[i].type, convert)) return false;
    bound[i] = a;
    given[i] = true;
    return true;
  };
  const auto misfit = [&](size_t i, const Argument& a) {
    return Misfit(schema,
                  fmt::format("argument {} cannot be {}", schema.arguments[i].name, KindText(a)));
  };
  for (size_t i = 0; i < positional.size(); ++i) {
    if (i >= most) {
      bound.push_back(positional[i]);
    } else if (!set(i, positional[i])) {
      return misfit(i, positional[i]);
    }
  }
  for (const KeywordArgument& k : keywords) {
    const int i = schema.Find(k.name);
    if (i < 0) {
      if (k.name == "out") continue;
      return Misfit(schema, fmt::format("there is no argument {}", k.name));
    }
    const auto at = static_cast<size_t>(i);
    if (given[at]) return Misfit(schema, fmt::format("argument {} is given twice", k.name));
    if (!set(at, k.value)) return misfit(at, k.value);
  }
  for (size_t i = 0; i < count; ++i) {
    const SchemaArgument& a = schema.arguments[i];
    if (given[i] || a.is_out) continue;
    if (!a.has_default && !a.type.optional)
      return Misfit(schema, fmt::format("argument {} is missing", a.name));
    bound[i] = a.fallback;
  }
  return bound;
}

}  // namespace relayvm::import::torch
