// Strings that are known.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "compiler/import/torch/script_evaluator.h"

namespace relayvm::import::torch {

namespace {

std::string FloatText(double v) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  if (v == std::floor(v) && std::fabs(v) < 1e16) return fmt::format("{:.1f}", v);
  return fmt::format("{:g}", v);
}

std::string StripOf(const std::string& text, const std::string& letters, bool left, bool right) {
  size_t from = 0, to = text.size();
  while (left && from < to && letters.find(text[from]) != std::string::npos) ++from;
  while (right && to > from && letters.find(text[to - 1]) != std::string::npos) --to;
  return text.substr(from, to - from);
}

std::vector<std::string> SplitWords(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + " ") {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  return words;
}

std::vector<std::string> SplitBy(const std::string& text, const std::string& by, int64_t most) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (int64_t n = 0; most < 0 || n < most; ++n) {
    const size_t at = text.find(by, from);
    if (at == std::string::npos) break;
    parts.push_back(text.substr(from, at - from));
    from = at + by.size();
  }
  parts.push_back(text.substr(from));
  return parts;
}

}  // namespace

std::string Evaluator::TextOf(const Item& item, bool quoted) {
  const auto list = [&](const std::vector<Item>& items, const char* open, const char* close) {
    std::string text = open;
    for (size_t i = 0; i < items.size(); ++i) text += (i > 0 ? ", " : "") + TextOf(items[i], true);
    return text + close;
  };
  switch (item.kind) {
    case Item::Kind::kTuple:
      return list(item.items, "(", item.items.size() == 1 ? ",)" : ")");
    case Item::Kind::kList: {
      const std::vector<Item>* known = KnownItems(item);
      return known == nullptr ? "[...]" : list(*known, "[", "]");
    }
    case Item::Kind::kPlain:
      break;
    default:
      return "<value>";
  }
  const Argument& a = item.plain;
  switch (a.kind) {
    case Argument::Kind::kNone:
      return "None";
    case Argument::Kind::kBool:
      return a.integer != 0 ? "True" : "False";
    case Argument::Kind::kInt:
      return fmt::format("{}", a.integer);
    case Argument::Kind::kFloat:
      return FloatText(a.real);
    case Argument::Kind::kString:
      return quoted ? "'" + a.text + "'" : a.text;
    case Argument::Kind::kDevice:
      return a.text;
    default:
      return "<value>";
  }
}

std::optional<Item> Evaluator::StringOf(Args& a) {
  if (a.size() != 1) return std::nullopt;
  return TextOfNumber(a[0]);
}

// Whether all of its text is known.
bool Evaluator::IsKnownText(const Item& item) {
  switch (item.kind) {
    case Item::Kind::kTuple:
      return std::ranges::all_of(item.items, [&](const Item& i) { return IsKnownText(i); });
    case Item::Kind::kList: {
      const std::vector<Item>* known = KnownItems(item);
      return known != nullptr &&
             std::ranges::all_of(*known, [&](const Item& i) { return IsKnownText(i); });
    }
    case Item::Kind::kPlain:
      return item.is_string() || item.is_known_number() || item.is_none() ||
             item.plain_is(Argument::Kind::kDevice);
    default:
      return false;
  }
}

// "{}".format(...), and "%d" % (...).
std::optional<Item> Evaluator::Format(Args& a) {
  if (a.size() < 1 || !a[0].is_string()) return std::nullopt;
  const std::string& pattern = a[0].plain.text;
  // Pieces, of which some only running tells.
  Item whole = Item::String("");
  std::string text;
  const auto add = [&](const Item& item, bool quoted = false) {
    if (IsKnownText(item)) {
      text += TextOf(item, quoted);
      return;
    }
    whole = ConcatTexts(ConcatTexts(whole, Item::String(std::exchange(text, {}))),
                        quoted ? TextItem({}) : TextOfNumber(item));
  };
  const auto done = [&] { return ConcatTexts(whole, Item::String(text)); };
  if (a.name.ends_with("format")) {
    size_t next = 1;
    for (size_t i = 0; i < pattern.size(); ++i) {
      const size_t close = pattern[i] == '{' ? pattern.find('}', i) : std::string::npos;
      if (close == std::string::npos) {
        text += pattern[i];
        continue;
      }
      if (next < a.size()) add(a[next++]);
      i = close;
    }
    return done();
  }
  std::vector<Item> values;
  if (a.size() > 1)
    values = a[1].is(Item::Kind::kTuple) ? a[1].items
                                         : std::vector<Item>(a.items.begin() + 1, a.items.end());
  size_t next = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 >= pattern.size()) {
      text += pattern[i];
      continue;
    }
    const char kind = pattern[++i];
    if (kind == '%') {
      text += '%';
    } else if (next < values.size()) {
      const Item& v = values[next++];
      if (!v.is_known_number()) {
        const bool plain = kind == 's' || ((kind == 'd' || kind == 'i') && v.is_number());
        add(plain || v.is_string() ? v : TextItem({}), kind == 'r');
      } else {
        text += kind == 'd' || kind == 'i'
                    ? fmt::format("{}", static_cast<int64_t>(v.plain.number()))
                : kind == 'f' ? fmt::format("{:f}", v.plain.number())
                              : TextOf(v, kind == 'r');
      }
    }
  }
  return done();
}

namespace {

// What is asked of, or done to, the letters of a text; nullopt: it is another method.
std::optional<Item> LettersMethod(std::string_view op, const std::string& s) {
  const auto mapped = [&](int (*function)(int)) {
    std::string out = s;
    for (char& c : out) c = static_cast<char>(function(static_cast<unsigned char>(c)));
    return Item::String(std::move(out));
  };
  const auto all = [&](int (*is)(int)) {
    return Item::Bool(!s.empty() && std::ranges::all_of(s, [&](char c) {
      return is(static_cast<unsigned char>(c)) != 0;
    }));
  };
  if (op == "upper") return mapped(std::toupper);
  if (op == "lower") return mapped(std::tolower);
  if (op == "isdigit" || op == "isdecimal" || op == "isnumeric") return all(std::isdigit);
  if (op == "isalpha") return all(std::isalpha);
  if (op == "isalnum") return all(std::isalnum);
  if (op == "isspace") return all(std::isspace);
  if (op == "isupper" || op == "islower") {
    const bool any = std::ranges::any_of(
        s, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
    int (*const wrong)(int) = op == "isupper" ? static_cast<int (*)(int)>(std::islower)
                                              : static_cast<int (*)(int)>(std::isupper);
    return Item::Bool(any && std::ranges::none_of(s, [&](char c) {
                        return wrong(static_cast<unsigned char>(c)) != 0;
                      }));
  }
  if (op == "capitalize" || op == "title") {
    std::string out = s;
    bool first = true;
    for (char& c : out) {
      const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
      c = static_cast<char>(first && letter ? std::toupper(c) : std::tolower(c));
      first = op == "title" ? !letter : false;
    }
    return Item::String(std::move(out));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Item> Evaluator::StringMethod(Args& a) {
  const auto is_known = [&](const Item& item) { return IsKnownText(item) || !item.is_text(); };
  const bool joins =
      a.name == "aten::join" && a.size() == 2 && a[1].is(Item::Kind::kList) && !IsKnownText(a[1]);
  if (joins || !std::ranges::all_of(a.items, is_known)) return TextMethod(a);
  if (a.size() < 1 || !a[0].is_string()) return std::nullopt;
  const std::string_view op = a.name.substr(a.name.find("::") + 2);
  const std::string& s = a[0].plain.text;
  const auto text = [&](size_t i, std::string fallback = {}) {
    return a.size() > i && a[i].is_string() ? a[i].plain.text : fallback;
  };
  const auto number = [&](size_t i, int64_t fallback) {
    return a.size() > i && a[i].is_known_int() ? a[i].plain.integer : fallback;
  };
  const auto list = [&](const std::vector<std::string>& parts) {
    std::vector<Item> items;
    for (const std::string& part : parts) items.push_back(Item::String(part));
    return NewList(std::move(items), ListOfType(SimpleType(ScriptType::Kind::kString)));
  };
  if (auto done = LettersMethod(op, s)) return done;
  if (op == "startswith") return Item::Bool(s.starts_with(text(1)));
  if (op == "endswith") return Item::Bool(s.ends_with(text(1)));
  if (op == "strip" || op == "lstrip" || op == "rstrip")
    return Item::String(StripOf(s, text(1, " \t\n\r\f\v"), op != "rstrip", op != "lstrip"));
  if (op == "split")
    return list(a.size() > 1 && a[1].is_string() ? SplitBy(s, a[1].plain.text, number(2, -1))
                                                 : SplitWords(s));
  if (op == "splitlines") {
    std::vector<std::string> lines = SplitBy(s, "\n", -1);
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    return list(lines);
  }
  if (op == "join") {
    const std::vector<Item>* known = a.size() > 1 ? KnownItems(a[1]) : nullptr;
    if (known == nullptr) return Unsupported("join of strings that only running tells");
    std::string out;
    for (size_t i = 0; i < known->size(); ++i) out += (i > 0 ? s : "") + TextOf((*known)[i]);
    return Item::String(std::move(out));
  }
  if (op == "replace") {
    std::string out;
    const std::string from = text(1), to = text(2);
    if (from.empty()) return Item::String(s);
    const auto parts = SplitBy(s, from, number(3, -1));
    for (size_t i = 0; i < parts.size(); ++i) out += (i > 0 ? to : "") + parts[i];
    return Item::String(std::move(out));
  }
  const auto count = static_cast<int64_t>(s.size());
  const auto place = [&](int64_t i) {
    return static_cast<size_t>(std::clamp<int64_t>(i < 0 ? i + count : i, 0, count));
  };
  if (op == "find" || op == "rfind" || op == "index" || op == "rindex") {
    const size_t from = place(number(2, 0)), to = place(number(3, count));
    const std::string part = s.substr(from, to > from ? to - from : 0);
    const size_t at = op.starts_with("r") ? part.rfind(text(1)) : part.find(text(1));
    if (at == std::string::npos)
      return op.ends_with("index") ? Raise("ValueError: substring not found") : Item::Int(-1);
    return Item::Int(static_cast<int64_t>(at + from));
  }
  if (op == "count") return Item::Int(static_cast<int64_t>(SplitBy(s, text(1), -1).size()) - 1);
  if (op == "ord") return Item::Int(s.empty() ? 0 : static_cast<unsigned char>(s[0]));
  const auto fill = [&](bool left, bool right) {
    const int64_t width = std::min<int64_t>(number(1, 0), 1 << 16);
    const std::string letter = text(2, op == "zfill" ? "0" : " ");
    std::string out = s;
    while (static_cast<int64_t>(out.size()) < width) {
      const bool to_left = left && (!right || out.size() % 2 == 1);
      out = to_left ? letter + out : out + letter;
    }
    return Item::String(std::move(out));
  };
  if (op == "zfill" || op == "rjust") return fill(true, false);
  if (op == "ljust") return fill(false, true);
  if (op == "center") return fill(true, true);
  return std::nullopt;
}

}  // namespace relayvm::import::torch
