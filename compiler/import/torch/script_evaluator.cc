#include "compiler/import/torch/script_evaluator.h"

#include <fmt/format.h>

#include <algorithm>

namespace relayvm::import::torch {

namespace {

// What a program may take while it is imported.
constexpr uint64_t kMostSteps = 4'000'000;
constexpr size_t kMostProblems = 100;

}  // namespace

Evaluator::Evaluator(Config config)
    : code_(*config.code),
      b_(*config.b),
      sources_(*config.sources),
      model_(config.model),
      stop_(std::move(config.stop)),
      given_(std::move(config.given)),
      user_operators_(*config.user_operators),
      aliases_(b_),
      shapes_(b_, aliases_, heap_) {}

// --- Places and errors ---

std::string Evaluator::Place() const {
  return here_.file == nullptr ? std::string() : code_.PlaceOf(*here_.file, here_.offset);
}

void Evaluator::SetPlace(std::string_view op) {
  std::string& place = places_[{here_.file, here_.offset}];
  if (place.empty()) place = Place();
  b_.SetSpan(sources_.NodeSpan(model_, place, op));
}

Item Evaluator::Fail(StatusCode code, std::string text) {
  const std::string place = Place();
  for (Problem& p : problems_) {
    if (p.place == place && p.text == text) return Item::Unknown();
  }
  for (Problem& p : problems_) {
    if (p.text != text) continue;
    ++p.count;
    return Item::Unknown();
  }
  problems_.push_back({code, place, std::move(text), 1});
  if (problems_.size() >= kMostProblems) fatal_ = Status(code, "too many problems");
  return Item::Unknown();
}

bool Evaluator::TakeError() {
  const Status status = b_.TakeStatus();
  if (status.ok()) return false;
  if (status.code() == StatusCode::kCancelled || status.code() == StatusCode::kResourceExhausted)
    fatal_ = status;
  // The builder's text begins with the place, which is noted anyway.
  std::string text(status.message());
  const size_t at = text.find("): ");
  if (at != std::string::npos && text.starts_with(code_.path())) {
    const size_t open = text.rfind(" (", at);
    text =
        fmt::format("{}: {}", open == std::string::npos ? "" : text.substr(open + 2, at - open - 2),
                    text.substr(at + 3));
  }
  if (alternatives_ > 0 && status.code() == StatusCode::kInvalidInput) {
    Raise(std::move(text));
  } else {
    Fail(status.code(), std::move(text));
  }
  return true;
}

Status Evaluator::Finish() {
  if (!fatal_.ok() && problems_.empty()) return fatal_;
  if (raised_) {
    return {StatusCode::kInvalidInput,
            fmt::format("{}: {}: with these inputs the program always fails: {}", code_.path(),
                        Place(), raised_->message)};
  }
  if (problems_.empty()) return OkStatus();
  // What is not supported says more than what followed from it.
  const bool unsupported = std::ranges::any_of(
      problems_, [](const Problem& p) { return p.code == StatusCode::kUnsupported; });
  std::string text;
  size_t count = 0;
  for (const Problem& p : problems_) {
    if (unsupported && p.code != StatusCode::kUnsupported) continue;
    ++count;
    text += fmt::format("\n  {}: {}", p.place, p.text);
    if (p.count > 1) text += fmt::format(" ({} times)", p.count);
    if (!unsupported) break;
  }
  const StatusCode code = unsupported ? StatusCode::kUnsupported : problems_[0].code;
  if (count == 1) return {code, fmt::format("{}: {}", code_.path(), text.substr(3))};
  return {code, fmt::format("{}: {} things are not supported:{}", code_.path(), count, text)};
}

bool Evaluator::Is(const Status& status) {
  if (status.ok()) return true;
  if (fatal_.ok()) fatal_ = status;
  return false;
}

Item Evaluator::Raise(std::string message) {
  if (!Stopped()) {
    SetPlace("RaiseException");
    raised_ = Raised{std::move(message), b_.span()};
  }
  return Item::Unknown();
}

bool Evaluator::Step() {
  if (Stopped()) return false;
  if (++steps_ > kMostSteps) {
    fatal_ = Status(StatusCode::kResourceExhausted,
                    fmt::format("{}: {}: the program takes more than {} steps while it is imported",
                                code_.path(), Place(), kMostSteps));
  }
  constexpr uint64_t kOften = 256;
  if (steps_ % kOften == 0 && stop_.stop_requested())
    fatal_ = Status(StatusCode::kCancelled, "cancelled");
  return fatal_.ok();
}

Value Evaluator::WithGuards(Value v) {
  for (const Guard& g : guards_) {
    b_.SetSpan(g.span);
    v = InRange(b_, g.holds, v);
  }
  TakeError();
  return v;
}

Value Evaluator::ReadTensor(const Item& tensor) {
  const Argument& a = tensor.plain;
  if (a.alias == nullptr) return a.value;
  const auto tangled = tangles_.find(a.alias->storage().get());
  if (tangled != tangles_.end()) {
    for (const Tangle& t : tangled->second) {
      const auto other = t.other.lock();
      if (other == nullptr || other->value.node == t.value) continue;
      Unsupported(
          "a tensor is read that may share memory with one that was written in place since a "
          "branch chose between them; make it a copy (clone)");
      break;
    }
  }
  const Value v = aliases_.Read(a);
  TakeError();
  return v;
}

// --- Statements ---

void Evaluator::Run(const std::vector<Stmt>& body, Frame& f) {
  for (const Stmt& s : body) {
    if (!Step() || f.returned) return;
    here_ = {f.file, s.offset};
    Execute(s, f);
  }
}

void Evaluator::Execute(const Stmt& s, Frame& f) {
  switch (s.kind) {
    case Stmt::Kind::kPass:
      return;
    case Stmt::Kind::kExpr:
      Evaluate(s.value, f);
      return;
    case Stmt::Kind::kAssign:
      Assign(s, f);
      return;
    case Stmt::Kind::kIf:
      If(s, f);
      return;
    case Stmt::Kind::kWhile:
      While(s, f);
      return;
    case Stmt::Kind::kFor:
      For(s, f);
      return;
    case Stmt::Kind::kReturn: {
      Item result = Evaluate(s.value, f);
      if (Stopped()) return;
      f.result = std::move(result);
      f.returned = true;
      return;
    }
    case Stmt::Kind::kWith: {
      // Profiling, gradients: nothing of a run's results depends on them.
      const Item context = Evaluate(s.value, f);
      if (!s.targets.empty()) AssignTo(s.targets[0], context, f);
      Run(s.body, f);
      return;
    }
    case Stmt::Kind::kDef: {
      Item function;
      function.kind = Item::Kind::kFunction;
      auto closure = std::make_shared<Frame>();
      closure->names = f.names;
      closure->file = f.file;
      closure->outer = f.outer;
      function.callable = {s.function.get(), f.file, std::move(closure)};
      f.names[s.function->name] = std::move(function);
      return;
    }
  }
}

void Evaluator::Assign(const Stmt& s, Frame& f) {
  // a, b = c, d: each by itself.
  if (s.unpacks && s.value.kind == Expr::Kind::kTuple &&
      s.value.children.size() == s.targets.size()) {
    std::vector<Item> values;
    for (const Expr& e : s.value.children) values.push_back(Evaluate(e, f));
    for (size_t i = 0; i < values.size() && !Stopped(); ++i)
      AssignTo(s.targets[i], std::move(values[i]), f);
    return;
  }
  Item value = Evaluate(s.value, f);
  if (Stopped()) return;
  if (s.annotation.kind != Expr::Kind::kNone)
    value = Typed(TypeOfExpr(s.annotation), std::move(value));
  if (!s.unpacks) {
    AssignTo(s.targets[0], std::move(value), f);
    return;
  }
  auto parts = Unpacked(value, s.targets.size());
  for (size_t i = 0; i < s.targets.size(); ++i)
    AssignTo(s.targets[i], parts ? (*parts)[i] : Item::Unknown(), f);
}

void Evaluator::AssignTo(const Expr& target, Item value, Frame& f) {
  if (target.kind == Expr::Kind::kName) {
    f.names[target.text] = std::move(value);
    return;
  }
  if (target.kind == Expr::Kind::kAttribute) {
    const Item object = Evaluate(target.children[0], f);
    if (!Stopped()) SetAttribute(object, target.text, std::move(value));
    return;
  }
  Unsupported("an assignment to what is no name and no attribute");
}

std::optional<std::vector<Item>> Evaluator::Unpacked(const Item& item, size_t count) {
  if (item.is(Item::Kind::kUnknown)) return std::nullopt;
  if (item.is(Item::Kind::kEither)) {
    Item whole = Fork(
        item.condition,
        [&] {
          auto p = Unpacked(item.items[0], count);
          return p ? Item::Tuple(*std::move(p)) : Item::Unknown();
        },
        [&] {
          auto p = Unpacked(item.items[1], count);
          return p ? Item::Tuple(*std::move(p)) : Item::Unknown();
        });
    return whole.is(Item::Kind::kTuple) ? std::optional(whole.items) : std::nullopt;
  }
  std::vector<Item> parts;
  if (item.is(Item::Kind::kTuple)) {
    parts = item.items;
  } else if (item.is(Item::Kind::kList)) {
    if (const std::vector<Item>* known = KnownItems(item)) {
      parts = *known;
    } else {
      for (size_t i = 0; i < count; ++i)
        parts.push_back(ElementAt(item, Item::Int(static_cast<int64_t>(i))));
    }
  } else if (item.is(Item::Kind::kObject)) {
    for (const auto& [name, value] : item.cell->content().attributes) parts.push_back(value);
  }
  if (parts.size() == count) return parts;
  Raise(fmt::format("expected {} values to unpack, found {}", count, parts.size()));
  return std::nullopt;
}

// --- Expressions ---

Item Evaluator::Evaluate(const Expr& e, Frame& f) {
  if (!Step()) return Item::Unknown();
  switch (e.kind) {
    case Expr::Kind::kName:
      return EvaluateName(e, f);
    case Expr::Kind::kNone:
    case Expr::Kind::kEllipsis:
      return Item::None();
    case Expr::Kind::kBool:
      return Item::Bool(e.integer != 0);
    case Expr::Kind::kInt:
      return Item::Int(e.integer);
    case Expr::Kind::kFloat:
      return Item::Float(e.real);
    case Expr::Kind::kComplex:
      return Argument::Complex(e.real, e.imaginary);
    case Expr::Kind::kString:
      return Item::String(e.text);
    case Expr::Kind::kAttribute:
      return EvaluateAttribute(e, f);
    case Expr::Kind::kIndex:
      return EvaluateIndex(e, f);
    case Expr::Kind::kCall:
      return EvaluateCall(e, f);
    case Expr::Kind::kList:
    case Expr::Kind::kTuple: {
      std::vector<Item> items;
      for (const Expr& child : e.children) items.push_back(Evaluate(child, f));
      if (Stopped()) return Item::Unknown();
      return e.kind == Expr::Kind::kTuple ? Item::Tuple(std::move(items))
                                          : NewList(std::move(items));
    }
    case Expr::Kind::kDict: {
      CellContent content;
      Item dict;
      dict.kind = Item::Kind::kDict;
      dict.type = SimpleType(ScriptType::Kind::kDict);
      dict.cell = heap_.New({});
      for (size_t i = 0; i + 1 < e.children.size(); i += 2) {
        Item key = Evaluate(e.children[i], f);
        Item value = Evaluate(e.children[i + 1], f);
        if (Stopped()) return Item::Unknown();
        const auto known = KeyIn(dict, key);
        auto& entries = ChangeCell(dict).entries;
        if (known) {
          entries[*known].second = std::move(value);
        } else {
          entries.emplace_back(std::move(key), std::move(value));
        }
      }
      return dict;
    }
  }
  return Item::Unknown();
}

Item Evaluator::EvaluateName(const Expr& e, Frame& f) {
  for (Frame* frame = &f; frame != nullptr; frame = frame->outer.get()) {
    const auto found = frame->names.find(e.text);
    if (found != frame->names.end()) return found->second;
  }
  if (const ScriptType t = TypeOfExpr(e); t.kind != ScriptType::Kind::kClass) {
    Item type;
    type.kind = Item::Kind::kClass;
    type.type = t;
    return type;
  }
  return Fail("the name '{}' means nothing here", e.text);
}

Item Evaluator::EvaluateAttribute(const Expr& e, Frame& f) {
  const std::string name = DottedName(e);
  if (name.starts_with("CONSTANTS.")) {
    const PickleValue* v = code_.Constant(std::string_view(name).substr(10));
    if (v == nullptr) return Fail("{} is not in the archive (constants.pkl)", name);
    return Load(*v, {}, name);
  }
  if (name.starts_with("__torch__.")) {
    const auto found = FindName(name);
    if (!found) {
      ScriptType t = TypeOfExpr(e);
      Item type;
      type.kind = Item::Kind::kClass;
      type.type = std::move(t);
      return Stopped() ? Item::Unknown() : type;
    }
    if (found->type == nullptr) {
      Item function;
      function.kind = Item::Kind::kFunction;
      function.callable = {found->function, found->file, nullptr};
      return function;
    }
    if (found->rest.empty()) {
      Item type;
      type.kind = Item::Kind::kClass;
      type.type = TypeOfExpr(e);
      return type;
    }
    if (found->type->base == "Enum")
      return EnumMember(*found, name.substr(0, name.rfind('.')), found->rest);
    if (const FunctionDef* method = found->type->FindMethod(found->rest)) {
      Item function;
      function.kind = Item::Kind::kFunction;
      function.callable = {method, found->file, nullptr};
      return function;
    }
    return Fail("'{}' is not in the archive", name);
  }
  if (name == "math.inf") return Item::Float(std::numeric_limits<double>::infinity());
  if (name == "math.nan") return Item::Float(std::numeric_limits<double>::quiet_NaN());
  if (name == "math.pi") return Item::Float(3.14159265358979323846);
  const Item base = Evaluate(e.children[0], f);
  if (Stopped()) return Item::Unknown();
  here_.offset = e.offset;
  return AttributeOf(base, e.text);
}

Item Evaluator::EvaluateIndex(const Expr& e, Frame& f) {
  const Item base = Evaluate(e.children[0], f);
  const Item index = Evaluate(e.children[1], f);
  if (Stopped()) return Item::Unknown();
  here_ = {f.file, e.offset};
  Args a{"aten::__getitem__", {base, index}, {}, &e};
  return CallOperator("aten::__getitem__", std::move(a));
}

}  // namespace relayvm::import::torch
