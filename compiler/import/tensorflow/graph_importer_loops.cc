// Loops and branches over values, whoever they are made of; handles and lists that come through
// them.
#include <fmt/format.h>

#include <algorithm>

#include "bytecode/base/printable.h"
#include "compiler/import/arithmetic.h"
#include "compiler/import/composite/loops.h"
#include "compiler/import/tensorflow/graph_importer.h"

namespace relayvm::import::tensorflow {

namespace {

constexpr std::string_view kHandle = "Handle", kUnmade = "List";

// A node of its own, of a type that no tensor has.
Value Token(TypedBuilder& b, std::string_view type) {
  return b.Wrap(b.graph().Tuple({}, b.span()), ir::MakeType(ir::AdtType{std::string(type), {}}));
}

}  // namespace

// --- Handles and lists ---

Value GraphImporter::NewHandle(std::shared_ptr<Resource> resource) {
  const Value handle = Token(builder_, kHandle);
  resources_[handle.node] = std::move(resource);
  return handle;
}

std::shared_ptr<Resource> GraphImporter::ResourceOf(const Value& handle) const {
  const auto known = resources_.find(handle.node);
  return known == resources_.end() ? nullptr : known->second;
}

Value GraphImporter::NewUnmade(Unmade list) {
  const Value value = Token(builder_, kUnmade);
  unmade_[value.node] = std::move(list);
  return value;
}

const Unmade* GraphImporter::UnmadeOf(const Value& list) const {
  const auto known = unmade_.find(list.node);
  return known == unmade_.end() ? nullptr : &known->second;
}

Value GraphImporter::Made(const Unmade& list, const std::vector<Dim>& element, size_t values) {
  std::vector<Value> dims = {builder_.Reshape(builder_.Cast(list.count, DType::kInt64), {1})};
  for (const Dim& d : element) {
    auto known = builder_.ValueOfDim(d, values);
    if (!known) return {};
    dims.push_back(*std::move(known));
  }
  return Filled(builder_, 0, list.dtype, builder_.Concat(dims, 0));
}

Value GraphImporter::Read(const Resource& variable) {
  const auto known = variables_.find(variable.name);
  return known == variables_.end() ? Value{} : Loaded(known->second);
}

void GraphImporter::Write(const Resource& variable, Value value) {
  for (size_t i = held_.size(); i-- > 0 && builder_.status().ok();) {
    if (const auto known = KnownNumber(builder_, held_[i].holds)) {
      if (*known == 0) return;
      continue;
    }
    assigned_.insert(variable.name);
    const Value old = Read(variable);
    if (!old) {
      builder_.Fail(StatusCode::kUnsupported, "a branch gives variable '{}' its first value",
                    Printable(variable.name));
      return;
    }
    const std::vector<Value> joined = Joined(held_[i].holds, {value}, {old});
    if (joined.empty()) return;
    value = joined[0];
  }
  variables_[variable.name] = std::move(value);
  assigned_.insert(variable.name);
}

// --- Branches ---

bool GraphImporter::AreSame(const Value& yes, const Value& no) {
  const Unmade* lists[] = {UnmadeOf(yes), UnmadeOf(no)};
  const std::shared_ptr<Resource> handles[] = {ResourceOf(yes), ResourceOf(no)};
  if (lists[0] != nullptr && lists[1] != nullptr) {
    const Value& count = lists[0]->count;
    const auto known = builder_.Elements(count), other = builder_.Elements(lists[1]->count);
    if (count.node == lists[1]->count.node || (known && other && *known == *other)) return true;
    builder_.Fail(StatusCode::kUnsupported,
                  "the branches give lists of several lengths that have no element yet");
  } else if (handles[0] != nullptr && handles[1] != nullptr) {
    if (handles[0] == handles[1]) return true;
    builder_.Fail(StatusCode::kUnsupported, "the branches give handles of '{}' and of '{}'",
                  Printable(handles[0]->name), Printable(handles[1]->name));
  } else if (lists[0] != nullptr || lists[1] != nullptr) {
    builder_.Fail(StatusCode::kUnsupported,
                  "one branch gives a list that has no element yet, whose dims nothing tells");
  } else if (handles[0] != nullptr || handles[1] != nullptr) {
    const auto& handle = handles[0] != nullptr ? handles[0] : handles[1];
    builder_.Fail(StatusCode::kUnsupported, "one branch gives the handle of '{}', one does not",
                  Printable(handle->name));
  }
  return false;
}

std::vector<Value> GraphImporter::Joined(const Value& condition, std::vector<Value> yes,
                                         std::vector<Value> no) {
  if (!builder_.status().ok()) return {};
  if (yes.size() != no.size()) {
    builder_.Fail("the branches give {} and {} values", yes.size(), no.size());
    return {};
  }
  std::vector<Value> out(yes.size()), given_yes, given_no;
  std::vector<size_t> places;
  for (size_t i = 0; i < yes.size(); ++i) {
    // A list that one side has made.
    for (auto [made, unmade] : {std::pair(&yes[i], &no[i]), {&no[i], &yes[i]}}) {
      const Unmade* list = UnmadeOf(*unmade);
      if (list == nullptr || !made->is_tensor() || made->rank() == 0) continue;
      const std::vector<Dim> element(made->shape().begin() + 1, made->shape().end());
      if (const Value value = Made(*list, element, builder_.num_sized())) *unmade = value;
    }
    // Variables of TensorFlow 1 that one side gives in place of their values.
    for (Value* side : {&yes[i], &no[i]}) {
      const auto variable = yes[i].node == no[i].node ? nullptr : ResourceOf(*side);
      if (variable == nullptr || !variable->is_reference) continue;
      if (const Value held = Read(*variable)) *side = held;
    }
    if (yes[i].node == no[i].node || AreSame(yes[i], no[i])) {
      out[i] = yes[i];
      continue;
    }
    if (!builder_.status().ok()) return {};
    given_yes.push_back(yes[i]);
    given_no.push_back(no[i]);
    places.push_back(i);
  }
  if (places.empty()) return out;
  const auto joined = Branches(builder_, condition, given_yes, given_no);
  if (!joined) {
    for (size_t k = 0; k < places.size(); ++k) {
      if (JoinTypes(given_yes[k].type, given_no[k].type) != nullptr) continue;
      builder_.Fail(StatusCode::kUnsupported, "the branches give {} and {}",
                    ir::TypeToString(given_yes[k].type), ir::TypeToString(given_no[k].type));
    }
    return {};
  }
  for (size_t k = 0; k < places.size() && k < joined->size(); ++k) out[places[k]] = (*joined)[k];
  return out;
}

std::vector<Value> GraphImporter::RunIf(const Value& condition,
                                        const std::function<std::vector<Value>()>& yes,
                                        const std::function<std::vector<Value>()>& no) {
  if (const auto known = KnownNumber(builder_, condition)) return *known != 0 ? yes() : no();
  const auto before = variables_;
  const auto with_variables = [&](const std::function<std::vector<Value>()>& side) {
    variables_ = before;
    std::vector<Value> values = side();
    for (const std::string& name : states_) values.push_back(variables_[name]);
    return values;
  };
  std::vector<Value> given_yes = with_variables(yes);
  std::vector<Value> given_no = with_variables(no);
  std::vector<Value> out =
      Joined(AsScalar(Term(builder_, condition)), std::move(given_yes), std::move(given_no));
  variables_ = before;
  if (!builder_.status().ok()) return {};
  const size_t first = out.size() - states_.size();
  size_t i = first;
  for (const std::string& name : states_) variables_[name] = out[i++];
  out.resize(first);
  return out;
}

// --- Loops ---

std::vector<Value> GraphImporter::RunWhile(const WhileSpec& spec) {
  if (!builder_.status().ok()) return {};
  // Variables are state like any other.
  const size_t own = spec.initial.size();
  const auto before = variables_;
  WhileSpec whole;
  whole.initial = spec.initial;
  whole.fixed = spec.fixed;
  whole.fixed.resize(own, false);
  for (const std::string& name : states_) {
    whole.initial.push_back(variables_[name]);
    whole.fixed.push_back(false);
  }
  const auto enter = [&](const std::vector<Value>& state) {
    variables_ = before;
    size_t i = own;
    for (const std::string& name : states_) variables_[name] = state[i++];
    return std::vector<Value>(state.begin(), state.begin() + static_cast<ptrdiff_t>(own));
  };
  whole.condition = [&](const std::vector<Value>& state) {
    const Value holds = spec.condition(enter(state));
    return holds && holds.rank() != 0 ? builder_.Reshape(holds, {}) : holds;
  };
  whole.body = [&](const std::vector<Value>& state) {
    std::vector<Value> next = spec.body(enter(state));
    if (next.size() != own && builder_.status().ok())
      builder_.Fail("the body of the loop gives {} values, expected {}", next.size(), own);
    for (const std::string& name : states_) next.push_back(variables_[name]);
    return next;
  };
  std::vector<Value> last = RunLoopOver(whole);
  if (!builder_.status().ok()) return {};
  return enter(last);
}

std::vector<Value> GraphImporter::RunLoopOver(const WhileSpec& spec) {
  TypedBuilder& b = builder_;
  std::vector<Value> initial = spec.initial;
  std::vector<bool> fixed = spec.fixed;
  const auto failed = [&] { return std::vector<Value>(); };
  const Value first = spec.condition(initial);
  if (!b.status().ok()) return failed();
  if (const auto known = KnownNumber(b, first); known && *known == 0) return initial;
  // Lists are made of what the first turn puts into them.
  const size_t values = b.num_sized();
  const auto is_unmade = [&](size_t i) { return !fixed[i] && UnmadeOf(initial[i]) != nullptr; };
  for (size_t i = 0; i < initial.size(); ++i)
    fixed[i] = fixed[i] || ResourceOf(initial[i]) != nullptr;
  bool made = true;
  while (made) {
    made = false;
    bool any = false;
    for (size_t i = 0; i < initial.size(); ++i) any |= is_unmade(i);
    if (!any) break;
    const std::vector<Value> next = spec.body(initial);
    if (!b.status().ok() || next.size() != initial.size()) return failed();
    for (size_t i = 0; i < initial.size(); ++i) {
      if (!is_unmade(i) || !next[i].is_tensor() || next[i].rank() == 0) continue;
      const std::vector<Dim> element(next[i].shape().begin() + 1, next[i].shape().end());
      initial[i] = Made(*UnmadeOf(initial[i]), element, values);
      if (!initial[i]) {
        b.Fail(StatusCode::kUnsupported,
               "a list of tensors whose dims only the loop tells: {}; fix them with --shape",
               ir::TypeToString(next[i].type));
        return failed();
      }
      made = true;
    }
  }
  for (size_t i = 0; i < initial.size(); ++i)
    fixed[i] = fixed[i] || UnmadeOf(initial[i]) != nullptr;
  // What turns change is the loop's state.
  CountedLoop loop;
  loop.condition = first;
  for (size_t i = 0; i < initial.size(); ++i) {
    if (!fixed[i]) loop.initial.push_back(initial[i]);
  }
  const auto all = [&](const TypedBuilder::State& state) {
    std::vector<Value> out = initial;
    size_t at = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      if (!fixed[i]) out[i] = state[at++];
    }
    return out;
  };
  loop.body = [&](const Value&, const TypedBuilder::State& state) {
    Turn turn;
    std::vector<Value> next = spec.body(all(state));
    if (!b.status().ok() || next.size() != initial.size()) return turn;
    for (size_t i = 0; i < next.size(); ++i) {
      if (fixed[i]) {
        next[i] = initial[i];
      } else {
        turn.next.push_back(next[i]);
      }
    }
    turn.again = spec.condition(next);
    return turn;
  };
  const TypedBuilder::State last = RunLoop(b, loop);
  if (!b.status().ok()) return failed();
  return all(last);
}

}  // namespace relayvm::import::tensorflow
