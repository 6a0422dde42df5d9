#include "compiler/transforms/loops/name_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bytecode/base/message.h"
#include "bytecode/base/suggestion.h"
#include "compiler/ir/signature_attrs.h"

namespace relayvm::ir {
namespace {

Status Wrong(const std::string& text, const std::string& what) {
  return {StatusCode::kInvalidArgument, fmt::format("--state {}: {}", text, what)};
}

void AddOutputs(const Type& type, std::vector<Type>* outputs) {
  const auto* tuple = type->As<TupleType>();
  if (tuple == nullptr) return outputs->push_back(type);
  for (const Type& field : tuple->fields) AddOutputs(field, outputs);
}

// Whether values of the type hold one of the type argument, or nothing (bytecode/optional_form.h).
bool IsOptional(const TypeDef& def) {
  const auto& of = def.constructors;
  const auto holds_nothing = [](const Constructor* c) { return c->fields.empty(); };
  const auto holds_one = [](const Constructor* c) {
    return c->fields.size() == 1 && c->fields[0]->As<TypeVar>() != nullptr;
  };
  return of.size() == 2 && std::ranges::any_of(of, holds_nothing) &&
         std::ranges::any_of(of, holds_one);
}

// Of an input that may be left out, what it is else; null for what is no tensor of numbers.
const TensorType* KeptTensor(const Module& m, const Type& type) {
  const auto* adt = type->As<AdtType>();
  const bool is_optional =
      adt != nullptr && adt->args.size() == 1 && IsOptional(m.types.at(adt->name));
  const auto* tensor = (is_optional ? adt->args[0] : type)->As<TensorType>();
  return tensor == nullptr || tensor->dtype == DType::kString ? nullptr : tensor;
}

bool MayBeEqual(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype || a.rank() != b.rank()) return false;
  for (size_t i = 0; i < a.shape.size(); ++i) {
    const Dim &x = a.shape[i], &y = b.shape[i];
    if (x.is_const() && y.is_const() && x != y) return false;
  }
  return true;
}

class Namer {
 public:
  Namer(const Module& m, const Function& main) : m_(m) {
    for (const Var* p : main.params) {
      inputs_.push_back(p->name);
      input_types_.push_back(p->type);
    }
    AddOutputs(main.result_type, &output_types_);
    outputs_ = OutputNamesOf(main);
    for (const auto& [input, output] : StatesOf(main)) Take(input, output);
    for (size_t i = outputs_.size(); i < output_types_.size(); ++i)
      outputs_.push_back(fmt::format("output_{}", i));
  }

  Status Add(const std::string& text) {
    RELAYVM_ASSIGN_OR_RETURN(const auto pair, Split(text));
    const auto [input, output] = pair;
    for (size_t i = 0; i < taken_inputs_.size(); ++i) {
      if (taken_inputs_[i] == input && taken_outputs_[i] == output)
        return OkStatus();  // said twice
    }
    if (std::ranges::count(taken_inputs_, input) > 0 || std::ranges::count(taken_outputs_, output))
      return Wrong(text, "one of them is in another pair");
    const TensorType* given = KeptTensor(m_, output_types_[output]);
    const TensorType* taken = KeptTensor(m_, input_types_[input]);
    if (given == nullptr || taken == nullptr ||
        output_types_[output]->As<TensorType>() == nullptr || !MayBeEqual(*given, *taken)) {
      return Wrong(
          text, fmt::format("expected tensors of numbers, of one type, found {} is {} and {} is {}",
                            inputs_[input], TypeToString(input_types_[input]), outputs_[output],
                            TypeToString(output_types_[output])));
    }
    Take(input, output);
    return OkStatus();
  }

  AttrValue pairs() const { return AttrValue(pairs_); }

 private:
  void Take(size_t input, size_t output) {
    taken_inputs_.push_back(input);
    taken_outputs_.push_back(output);
    pairs_.emplace_back(static_cast<int64_t>(input));
    pairs_.emplace_back(static_cast<int64_t>(output));
  }
  // Names may hold a =.
  Result<std::pair<size_t, size_t>> Split(const std::string& text) const {
    std::string problem;
    for (size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
      const std::string in = text.substr(0, at), out = text.substr(at + 1);
      const auto input = std::ranges::find(inputs_, in), output = std::ranges::find(outputs_, out);
      if (input != inputs_.end() && output != outputs_.end()) {
        return std::pair{static_cast<size_t>(input - inputs_.begin()),
                         static_cast<size_t>(output - outputs_.begin())};
      }
      problem =
          input == inputs_.end() ? Missing("input", in, inputs_) : Missing("output", out, outputs_);
    }
    return Wrong(
        text, problem.empty() ? "write IN=OUT, an input and the output that it is next" : problem);
  }

  static std::string Missing(const char* what, const std::string& name,
                             const std::vector<std::string>& all) {
    const std::vector<std::string_view> views(all.begin(), all.end());
    const std::string meant = DidYouMean(name, views);
    return fmt::format("there is no {} {}{}", what, name,
                       meant.empty() ? fmt::format("; {}s: {}", what, Joined(all)) : meant);
  }

  const Module& m_;
  std::vector<std::string> inputs_, outputs_;
  std::vector<Type> input_types_, output_types_;
  std::vector<size_t> taken_inputs_, taken_outputs_;
  AttrList pairs_;
};

}  // namespace

const OptionOf<std::vector<std::string>>& StateOption() {
  static const OptionOf<std::vector<std::string>> option(
      {.name = "state",
       .help = "h=hn: input h is what output hn of the run before was; vmrun --state FILE.npz and "
               "State keep it",
       .keyword = "states",
       .form = "IN=OUT",
       .repeats = true},
      [](std::string_view text, std::vector<std::string>* states) -> Status {
        const size_t at = text.find('=');
        if (at == 0 || at == std::string_view::npos || text.ends_with('='))
          return {StatusCode::kInvalidArgument, "write IN=OUT, an input and an output"};
        states->emplace_back(text);
        return OkStatus();
      });
  return option;
}

Result<Module> NameStates(const Module& m, const std::vector<std::string>& states) {
  Module out = m;
  const Function* main = m.functions.at(m.entry);
  Namer namer(m, *main);
  for (const std::string& text : states) RELAYVM_RETURN_IF_ERROR(namer.Add(text));
  Function named = *main;
  named.attrs[kStates] = namer.pairs();
  out.functions[m.entry] = m.arena->New<Function>(std::move(named));
  return out;
}

}  // namespace relayvm::ir
