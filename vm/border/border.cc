#include "vm/border/border.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bytecode/base/guarded.h"
#include "bytecode/base/message.h"
#include "bytecode/base/status_detail.h"
#include "bytecode/disassembler.h"
#include "bytecode/program.h"
#include "vm/border/signature_dims.h"

namespace relayvm::vm {
namespace {

// --- Inputs ---

std::string Describe(const Object* object) {
  switch (object->kind) {
    case ObjectKind::kTensor:
    case ObjectKind::kDeviceTensor: {
      auto* tensor = static_cast<const Tensor*>(object);
      std::string text(DTypeName(tensor->dtype));
      if (tensor->rank > 0) text = fmt::format("Tensor[({}), {}]", Joined(tensor->shape()), text);
      return object->kind == ObjectKind::kTensor ? text : text + " on a device";
    }
    case ObjectKind::kAdt: {
      auto* adt = static_cast<const Adt*>(object);
      return fmt::format("a tuple or constructor with tag {} and {} fields", adt->tag,
                         adt->num_fields);
    }
    case ObjectKind::kClosure:
      return "a function";
    case ObjectKind::kRef:
      return "a reference";
    case ObjectKind::kEmpty:
      return "nothing";
  }
  return "?";
}

// `on_devices`, if not null: it may lie on one, which is told there.
bool TensorMatches(const ValueType& type, const Object* object, bool* on_devices = nullptr) {
  if (object->kind != ObjectKind::kTensor) {
    if (on_devices == nullptr || !IsTensor(object)) return false;
    *on_devices = true;
  }
  auto* tensor = static_cast<const Tensor*>(object);
  if (tensor->dtype != type.dtype || tensor->rank != type.dims.size()) return false;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (type.dims[i] >= 0 && type.dims[i] != tensor->dims[i]) return false;
  }
  return true;
}

constexpr const char* kNoFunctions = "functions cannot be passed in from the host";
constexpr const char* kNoStrings =
    "strings cannot be passed in where the function leaves the type open";
constexpr const char* kNoReferences = "references cannot be passed in from the host";

// Walks a value along its type, without recursion. Types of fields are closures: a type, and what
// its variables stand for.
class TypeChecker {
 public:
  // Fills `detail` in when a tensor is not as expected.
  TypeChecker(const Program& program, StatusDetail* detail, BorderPoll* poll,
              const TensorVisitor* visitor = nullptr, bool* on_devices = nullptr)
      : program_(program),
        detail_(*detail),
        poll_(*poll),
        visitor_(visitor),
        on_devices_(on_devices) {}

  // Empty when `root` is of `type` or when it was stopped, else what is wrong.
  std::string Check(const Object* root, const ValueType& type) {
    Push(root, &type, nullptr);
    while (!work_.empty()) {
      Item item = work_.back();
      work_.pop_back();
      std::string problem = Visit(item);
      if (!problem.empty()) return problem;
      if (!poll_.GoesOn(BorderPoll::kVisit)) return "";
    }
    return "";
  }

 private:
  struct Environment;
  struct Bound {
    const ValueType* type;
    const Environment* environment;
    auto operator<=>(const Bound&) const = default;  // NOLINT(modernize-use-nullptr): its defect
  };
  struct Environment {
    std::vector<Bound> args;
  };
  struct Item {
    const Object* object;
    Bound type;
  };

  void Push(const Object* object, const ValueType* type, const Environment* environment) {
    // A tree is shared inside only where counts are above one, so only those are remembered.
    if (object->count.load(std::memory_order_relaxed) > kUncounted + 1 &&
        !FieldsOf(const_cast<Object*>(object)).empty() &&
        !seen_.insert({object, {type, environment}}).second) {
      return;
    }
    work_.push_back({object, {type, environment}});
  }

  const Environment* EnvironmentOf(const ValueType& adt, const Environment* outer) {
    std::vector<Bound> args;
    for (const ValueType& arg : adt.args) {
      if (arg.kind == ValueType::Kind::kTypeVar && outer != nullptr &&
          arg.index < outer->args.size()) {
        args.push_back(outer->args[arg.index]);
      } else {
        args.push_back({&arg, outer});
      }
    }
    // List[T] inside List[T]: nothing new.
    if (outer != nullptr && args == outer->args) return outer;
    auto [it, inserted] = environments_.try_emplace(args, nullptr);
    if (inserted) it->second = &storage_.emplace_back(Environment{std::move(args)});
    return it->second;
  }

  [[gnu::cold]] std::string Mismatch(const Item& item) const {
    if (item.type.type->kind == ValueType::Kind::kTensor &&
        item.object->kind == ObjectKind::kTensor) {
      std::span<const int64_t> found = static_cast<const Tensor*>(item.object)->shape();
      detail_.expected = item.type.type->dims;
      detail_.found.assign(found.begin(), found.end());
    }
    return fmt::format("expected {}, found {}", TypeToString(program_, *item.type.type),
                       Describe(item.object));
  }

  // A value whose type the export leaves open: its parts are whatever the host made. Those that
  // only a program can make stay out, since they are of one invocation.
  std::string VisitOpen(const Item& item) {
    switch (item.object->kind) {
      case ObjectKind::kTensor:
        // Where a type is open, nothing would tell that they are strings.
        return static_cast<const Tensor*>(item.object)->dtype == DType::kString ? kNoStrings : "";
      case ObjectKind::kAdt: {
        std::span<Object*> fields = FieldsOf(const_cast<Object*>(item.object));
        for (size_t i = fields.size(); i-- > 0;) Push(fields[i], item.type.type, nullptr);
        return "";
      }
      case ObjectKind::kClosure:
        return kNoFunctions;
      case ObjectKind::kRef:
        return kNoReferences;
      case ObjectKind::kDeviceTensor:
        if (on_devices_ == nullptr) return Mismatch(item);
        *on_devices_ = true;
        return "";
      case ObjectKind::kEmpty:
        return Mismatch(item);
    }
    return "";
  }

  std::string Visit(Item item) {
    while (item.type.type->kind == ValueType::Kind::kTypeVar) {
      const Environment* environment = item.type.environment;
      // The variables of ADTs have a meaning, those of the export have none.
      if (environment == nullptr || item.type.type->index >= environment->args.size())
        return VisitOpen(item);
      Bound bound = environment->args[item.type.type->index];
      if (bound == item.type) return VisitOpen(item);
      item.type = bound;
    }
    const ValueType& type = *item.type.type;
    switch (type.kind) {
      case ValueType::Kind::kTensor:
        if (!TensorMatches(type, item.object, on_devices_)) return Mismatch(item);
        if (visitor_ == nullptr) return "";
        return (*visitor_)(type, *static_cast<const Tensor*>(item.object));
      case ValueType::Kind::kTuple: {
        auto* tuple = static_cast<const Adt*>(item.object);
        if (item.object->kind != ObjectKind::kAdt || tuple->tag != 0 ||
            tuple->num_fields != type.args.size()) {
          return Mismatch(item);
        }
        for (size_t i = type.args.size(); i-- > 0;)
          Push(tuple->fields[i], &type.args[i], item.type.environment);
        return "";
      }
      case ValueType::Kind::kAdt: {
        const AdtInfo& info = program_.adts[type.index];
        auto* adt = static_cast<const Adt*>(item.object);
        if (item.object->kind != ObjectKind::kAdt || adt->tag >= info.constructors.size())
          return Mismatch(item);
        const ConstructorInfo& constructor = info.constructors[adt->tag];
        if (adt->num_fields != constructor.fields.size()) {
          detail_.expected = {static_cast<int64_t>(constructor.fields.size())};
          detail_.found = {adt->num_fields};
          return fmt::format("{} takes {} fields, found {}", constructor.name,
                             constructor.fields.size(), adt->num_fields);
        }
        const Environment* environment = EnvironmentOf(type, item.type.environment);
        for (size_t i = constructor.fields.size(); i-- > 0;) {
          Push(adt->fields[i], &constructor.fields[i], environment);
        }
        return "";
      }
      case ValueType::Kind::kFunction:
        return kNoFunctions;
      case ValueType::Kind::kRef:
        return kNoReferences;
      case ValueType::Kind::kTypeVar:
        return "";
    }
    return "";
  }

  const Program& program_;
  StatusDetail& detail_;
  BorderPoll& poll_;
  const TensorVisitor* visitor_;  // or null
  bool* on_devices_;              // or null
  std::vector<Item> work_;
  std::set<std::pair<const Object*, Bound>> seen_;
  std::map<std::vector<Bound>, const Environment*> environments_;
  std::deque<Environment> storage_;
};

}  // namespace

Status ExportStatus(Failure failure, const std::string& function) {
  failure.detail.places = {{.function = function}};
  failure.detail.subject = function;
  return {failure.code, fmt::format("{}: {}", function, failure.message),
          std::make_shared<StatusDetail>(std::move(failure.detail))};
}

namespace {

[[gnu::cold, gnu::noinline]] Status DimsStatus(const Program& program, const ExportInfo& function,
                                               const SignatureDims& dims,
                                               std::span<const Value> inputs) {
  BorderPoll poll;
  SignatureDims::Mismatch wrong = dims.Check(program, inputs, nullptr, function.param_names, &poll);
  if (wrong.text.empty()) return OkStatus();
  std::string text = fmt::format("{}: {}", function.name, wrong.text);
  if (!wrong.other_name.empty()) {
    text += fmt::format("; where these are two sizes, relayc --shape {} gives one another name",
                        wrong.other_name);
  }
  return {StatusCode::kInvalidArgument, text,
          std::make_shared<StatusDetail>(std::move(wrong.detail))};
}

// What is not as the types of plain tensors say: data, or an error.
[[gnu::noinline]] Status CheckAnyInputs(const Program& program, const ExportInfo& function,
                                        const SignatureDims& dims, std::span<const Value> inputs,
                                        bool* on_devices) {
  if (inputs.size() != function.params.size()) {
    StatusDetail detail{.expected = {static_cast<int64_t>(function.params.size())},
                        .found = {static_cast<int64_t>(inputs.size())}};
    return {StatusCode::kInvalidArgument,
            fmt::format("{}: expected {} inputs, found {}", function.name, function.params.size(),
                        inputs.size()),
            std::make_shared<StatusDetail>(std::move(detail))};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Object* object = inputs[i].object() != nullptr ? inputs[i].object() : Empty();
    const ValueType& type = function.params[i];
    if (type.kind == ValueType::Kind::kTensor && TensorMatches(type, object, on_devices)) continue;
    StatusDetail detail;
    BorderPoll poll;
    std::string problem =
        TypeChecker(program, &detail, &poll, nullptr, on_devices).Check(object, type);
    if (problem.empty()) continue;
    std::string name = i < function.param_names.size() ? function.param_names[i] : "";
    detail.subject = name.starts_with('%') ? name.substr(1) : name;
    if (!name.empty() && name.front() != '%') name.insert(0, 1, '%');
    if (name.empty()) detail.subject = name = std::to_string(i);
    return {StatusCode::kInvalidArgument,
            fmt::format("{}: parameter {}: {}", function.name, name, problem),
            std::make_shared<StatusDetail>(std::move(detail))};
  }
  if (dims.empty() || dims.Agree(inputs)) return OkStatus();
  return DimsStatus(program, function, dims, inputs);
}

}  // namespace

Status CheckInputs(const Program& program, const ExportInfo& function, const SignatureDims& dims,
                   std::span<const Value> inputs, bool* on_devices) {
  // The common case, without the machinery and its frame.
  bool fits = inputs.size() == function.params.size();
  for (size_t i = 0; fits && i < inputs.size(); ++i) {
    const Object* object = inputs[i].object();
    const ValueType& type = function.params[i];
    fits = object != nullptr && type.kind == ValueType::Kind::kTensor &&
           TensorMatches(type, object, on_devices);
  }
  if (fits && (dims.empty() || dims.Agree(inputs))) return OkStatus();
  return CheckAnyInputs(program, function, dims, inputs, on_devices);
}

std::string VisitTensors(const Program& program, const Object* object, const ValueType& type,
                         const TensorVisitor& visitor, BorderPoll* poll) {
  StatusDetail detail;
  bool on_devices = false;
  return TypeChecker(program, &detail, poll, &visitor, &on_devices).Check(object, type);
}

bool IsTensorOf(const Object* object, const ValueType& type) {
  return object != nullptr && type.kind == ValueType::Kind::kTensor && TensorMatches(type, object);
}

std::string CheckType(const Program& program, const Object* object, const ValueType& type,
                      StatusDetail* detail, BorderPoll* poll) {
  if (IsTensorOf(object, type)) return "";
  return TypeChecker(program, detail, poll).Check(object == nullptr ? Empty() : object, type);
}

}  // namespace relayvm::vm
