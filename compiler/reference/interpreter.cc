#include "compiler/reference/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "bytecode/base/guarded.h"
#include "bytecode/base/message.h"
#include "compiler/ir/guard_text.h"
#include "compiler/ir/large_stack.h"
#include "compiler/ir/one_of.h"
#include "compiler/ir/scalar.h"
#include "compiler/ir/walk.h"
#include "compiler/reference/operator.h"
#include "compiler/reference/surroundings.h"
#include "kernels/te/scalar.h"

namespace relayvm::reference {
namespace {

using ir::Atom;
using Symbols = std::unordered_map<uint32_t, int64_t>;

// A block that is being run; when it ends, its result becomes the value of `target` in the block
// below, or of the call.
struct Cursor {
  const ir::Block* block;
  size_t next = 0;
  const ir::Var* target = nullptr;  // null: the body of the function
};

// A call that is active.
struct Call {
  const ir::Function* function;
  std::vector<Cursor> blocks;
  std::unordered_map<uint32_t, Value> vars;  // by Var::id
  Symbols symbols;
  const ir::Var* target = nullptr;  // of the caller
};

std::string VarText(const ir::Var& v) {
  return v.name.empty() ? fmt::format("%{}", v.id) : "%" + v.name;
}

// What type inference has put there, and no program says.
bool IsOfTypes(const ir::Expr& e) {
  return e.As<ir::Guard>() != nullptr || e.As<ir::DimOf>() != nullptr ||
         e.As<ir::ElementOf>() != nullptr || e.As<ir::Stated>() != nullptr ||
         e.As<ir::ShapeByRule>() != nullptr;
}

class Interpreter {
 public:
  Interpreter(const ir::Module& module, const Options& options)
      : module_(module), options_(options), started_(std::chrono::steady_clock::now()) {}

  Result<Value> Run(const ir::Function& entry, std::vector<Value> inputs) {
    Closure closure;
    closure.function = &entry;
    if (inputs.size() != entry.params.size()) {
      return {StatusCode::kInvalidArgument, fmt::format("@{} takes {} inputs, not {}", entry.name,
                                                        entry.params.size(), inputs.size())};
    }
    if (Status s = Enter(closure, std::move(inputs), nullptr); !s.ok()) {
      // A type that disagrees is the host's doing here.
      return s.code() == StatusCode::kInternal ? Status(StatusCode::kInvalidArgument, s.message())
                                               : s;
    }
    while (!calls_.empty()) RELAYVM_RETURN_IF_ERROR(Step());
    return std::move(result_);
  }

  // Cycles go through references only: emptying all that nothing outside needs lets them go.
  Status Finish(const Value& result) {
    std::unordered_set<const Object*> kept, path;
    bool cycle = false;
    // Depth first; a node leaves `path` when the walk returns to it.
    std::vector<std::pair<Object*, bool>> stack;
    if (result) stack.emplace_back(result.get(), false);
    while (!stack.empty()) {
      auto [o, leaving] = stack.back();
      stack.pop_back();
      if (leaving) {
        path.erase(o);
        continue;
      }
      if (path.contains(o)) cycle = true;
      if (!kept.insert(o).second) continue;
      path.insert(o);
      stack.emplace_back(o, true);
      auto visit = [&](const Value& v) {
        if (v) stack.emplace_back(v.get(), false);
      };
      if (const auto* data = o->As<Data>())
        std::for_each(data->fields.begin(), data->fields.end(), visit);
      if (const auto* ref = o->As<Reference>()) visit(ref->content);
      if (const auto* closure = o->As<Closure>()) {
        std::for_each(closure->first_args.begin(), closure->first_args.end(), visit);
        for (const auto& [id, v] : closure->captured) visit(v);
      }
    }
    for (const std::weak_ptr<Object>& weak : references_) {
      Value ref = weak.lock();
      if (ref != nullptr && (cycle || !kept.contains(ref.get())))
        ref->As<Reference>()->content.reset();
    }
    if (!cycle) return OkStatus();
    return {StatusCode::kUnsupported,
            "the result holds references that form a cycle; these cannot leave the program"};
  }

 private:
  Call& call() { return calls_.back(); }

  Status Step() {
    Cursor& cursor = call().blocks.back();
    if (cursor.next < cursor.block->bindings.size()) {
      const ir::Binding& b = cursor.block->bindings[cursor.next++];
      Status s = Evaluate(*b.var, *b.value);
      if (s.ok() || b.value->span.line == 0 || module_.sources == nullptr) return s;
      return module_.sources->Error(s.code(), b.value->span, s.message());
    }
    RELAYVM_ASSIGN_OR_RETURN(Value value, ValueOf(cursor.block->result));
    const ir::Var* target = cursor.target;
    call().blocks.pop_back();
    if (target != nullptr) return Bind(*target, std::move(value));
    return Return(std::move(value));
  }

  Status Return(Value value) {
    const ir::Var* target = call().target;
    calls_.pop_back();
    if (!calls_.empty()) return Bind(*target, std::move(value));
    result_ = std::move(value);
    return OkStatus();
  }

  // --- Variables and symbols ---

  Result<Value> ValueOf(const Atom& atom) {
    if (const auto* v = std::get_if<const ir::Var*>(&atom)) {
      auto at = call().vars.find((*v)->id);
      if (at != call().vars.end()) return at->second;
      return {StatusCode::kInternal, fmt::format("{} has no value", VarText(**v))};
    }
    if (const auto* c = std::get_if<const ir::Constant*>(&atom)) {
      // The module owns it.
      return Make(Tensor{std::shared_ptr<const HostTensor>(std::shared_ptr<void>(), &(*c)->value)});
    }
    Closure closure;
    if (const auto* g = std::get_if<const ir::GlobalVar*>(&atom)) {
      RELAYVM_ASSIGN_OR_RETURN(closure.function, FunctionNamed((*g)->name));
      return Make(std::move(closure));
    }
    closure.constructor = std::get<const ir::Constructor*>(atom);
    return Make(std::move(closure));
  }

  Result<const ir::Function*> FunctionNamed(const std::string& name) {
    auto at = module_.functions.find(name);
    if (at != module_.functions.end()) return at->second;
    return {StatusCode::kInternal, fmt::format("there is no function @{}", name)};
  }

  Result<std::vector<Value>> ValuesOf(const std::vector<Atom>& atoms) {
    std::vector<Value> out;
    for (const Atom& a : atoms) {
      RELAYVM_ASSIGN_OR_RETURN(Value v, ValueOf(a));
      out.push_back(std::move(v));
    }
    return out;
  }

  Status Bind(const ir::Var& var, Value value) {
    if (var.type != nullptr) RELAYVM_RETURN_IF_ERROR(Learn(var, *var.type, value));
    Value& bound = call().vars[var.id];
    bound = std::move(value);
    return options_.observe ? Observe(var, bound) : OkStatus();
  }

  Status Observe(const ir::Var& var, const Value& value) {
    const Cursor& cursor = call().blocks.back();
    const ir::Expr* expr = nullptr;
    if (cursor.next > 0 && cursor.block->bindings[cursor.next - 1].var == &var)
      expr = cursor.block->bindings[cursor.next - 1].value;
    if (expr != nullptr && IsOfTypes(*expr)) return OkStatus();
    return options_.observe({*call().function, var, expr, value});
  }

  // Gives the symbols of a variable's type their values, and checks what is known of it.
  Status Learn(const ir::Var& var, const ir::TypeNode& type, const Value& value) {
    if (const auto* tuple = type.As<ir::TupleType>()) {
      const auto* data = value->As<Data>();
      if (data == nullptr || data->constructor != nullptr ||
          data->fields.size() != tuple->fields.size()) {
        return Disagree(var, "another kind of value");
      }
      for (size_t i = 0; i < tuple->fields.size(); ++i) {
        RELAYVM_RETURN_IF_ERROR(Learn(var, *tuple->fields[i], data->fields[i]));
      }
      return OkStatus();
    }
    const auto* expected = type.As<TensorType>();
    if (expected == nullptr) return OkStatus();
    const HostTensor* t = TensorOf(value);
    if (t == nullptr) return Disagree(var, "another kind of value");
    if (t->dtype != expected->dtype || t->shape.size() != expected->shape.size()) {
      return Disagree(var, ShownTensor(*t));
    }
    for (size_t i = 0; i < t->shape.size(); ++i) {
      const Dim& dim = expected->shape[i];
      if (dim.ContainsAny()) continue;
      auto known = dim.Evaluate([&](uint32_t id) { return Symbol(id); });
      if (known && *known != t->shape[i]) return Disagree(var, ShownTensor(*t));
      if (!known && dim.is_symbol()) call().symbols[dim.symbol_id()] = t->shape[i];
    }
    return OkStatus();
  }

  Status Disagree(const ir::Var& var, const std::string& found) {
    std::string values;
    if (const auto* t = var.type->As<TensorType>()) {
      for (const Dim& d : t->shape) {
        auto value = d.Evaluate([&](uint32_t id) { return Symbol(id); });
        values +=
            fmt::format("{}{}", values.empty() ? "" : ", ", value ? std::to_string(*value) : "?");
      }
      values = fmt::format(" (here ({}))", values);
    }
    return {StatusCode::kInternal,
            fmt::format("{}: its type is {}{}, its value is {}", VarText(var),
                        ir::TypeToString(var.type), values, found)};
  }

  std::optional<int64_t> Symbol(uint32_t id) {
    auto known = call().symbols.find(id);
    if (known != call().symbols.end()) return known->second;
    auto symbol = module_.symbols.find(id);
    if (symbol == module_.symbols.end()) return std::nullopt;
    auto var = call().vars.find(symbol->second.value->id);
    const HostTensor* t = var == call().vars.end() ? nullptr : TensorOf(var->second);
    if (t == nullptr) return std::nullopt;
    return ElementAt(*t, 0);
  }

  static int64_t ElementAt(const HostTensor& t, int64_t index) {
    if (IsFloat(t.dtype) || index >= t.size()) return 0;
    return te::ReadElement(t.dtype, t.data.data() + index * DTypeBytes(t.dtype)).i;
  }

  Result<int64_t> Number(const Dim& d) {
    auto value = d.Evaluate([&](uint32_t id) { return Symbol(id); });
    if (value) return *value;
    std::vector<std::string> values;
    bool is_known = true;
    d.ForEachSymbol([&](const Dim& s) {
      auto number = Symbol(s.symbol_id());
      is_known = is_known && number;
      if (number) values.push_back(fmt::format("{} = {}", s.symbol_name(), *number));
    });
    if (!is_known)
      return {StatusCode::kInternal, fmt::format("the dimension {} is not known", d.ToString())};
    return {StatusCode::kFailedPrecondition,
            fmt::format("the dimension {} divides by 0 or is beyond 64 bits ({})", d.ToString(),
                        fmt::join(values, ", "))};
  }

  // --- Expressions ---

  // What enters a block or a function binds the variable when that ends; all else has a value.
  Status Evaluate(const ir::Var& var, const ir::Expr& e) {
    return std::visit(
        ir::Overloaded{
            [&](const ir::OpCall& x) { return Operator(var, x); },
            [&](const ir::CallExpr& x) { return CallFunction(var, x); },
            [&](const ir::PrimitiveCall& x) -> Status {
              Closure closure;
              closure.function = x.function;
              RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> args, ValuesOf(x.args));
              return Enter(closure, std::move(args), &var);
            },
            [&](const ir::IfExpr& x) { return Branch(var, x); },
            [&](const ir::MatchExpr& x) { return Match(var, x); },
            [&](const ir::FunctionExpr& x) { return Bind(var, Capture(var, *x.function)); },
            [&](const ir::ShapeValue& x) { return BindResult(var, ShapeTensor(var, x)); },
            [&](const auto& x) { return BindResult(var, Simple(x)); },
        },
        e.node);
  }

  Status BindResult(const ir::Var& var, Result<Value> value) {
    return value.ok() ? Bind(var, std::move(value).value()) : value.status();
  }

  Status Branch(const ir::Var& var, const ir::IfExpr& x) {
    RELAYVM_ASSIGN_OR_RETURN(Value condition, ValueOf(x.condition));
    const HostTensor* t = TensorOf(condition);
    if (t == nullptr || t->size() != 1 || IsFloat(t->dtype)) {
      return {StatusCode::kInternal, "the condition of if is not a bool"};
    }
    bool taken = te::ReadElement(t->dtype, t->data.data()).i != 0;
    call().blocks.push_back({taken ? x.then_block : x.else_block, 0, &var});
    return OkStatus();
  }

  Result<Value> Simple(const ir::AtomExpr& x) { return ValueOf(x.atom); }
  Result<Value> Simple(const ir::Stated& x) { return ValueOf(x.value); }
  Result<Value> Simple(const ir::Trap& x) {
    return Status(StatusCode::kFailedPrecondition, x.message);
  }
  Result<Value> Simple(const ir::Guard& x) {
    RELAYVM_RETURN_IF_ERROR(Check(x));
    return MakeTuple({});
  }
  Result<Value> Simple(const ir::MakeTuple& x) {
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> fields, ValuesOf(x.fields));
    return MakeTuple(std::move(fields));
  }
  Result<Value> Simple(const ir::TupleGet& x) {
    RELAYVM_ASSIGN_OR_RETURN(Value tuple, ValueOf(x.tuple));
    const auto* data = tuple->As<Data>();
    if (data != nullptr && x.index < data->fields.size()) return data->fields[x.index];
    return {StatusCode::kInternal, "a field of what is no such tuple"};
  }
  Result<Value> Simple(const ir::ElementOf& x) {
    RELAYVM_ASSIGN_OR_RETURN(Value tensor, ValueOf(x.tensor));
    const HostTensor* t = TensorOf(tensor);
    if (t == nullptr) return {StatusCode::kInternal, "an element of what is no tensor"};
    return MakeTensor(ir::IntScalar(DType::kInt64, ElementAt(*t, x.index)));
  }
  Result<Value> Simple(const ir::MakeClosure& x) {
    Closure closure;
    RELAYVM_ASSIGN_OR_RETURN(closure.function, FunctionNamed(x.function->name));
    RELAYVM_ASSIGN_OR_RETURN(closure.first_args, ValuesOf(x.captured));
    return Make(std::move(closure));
  }
  Result<Value> Simple(const ir::HostCall& x) {
    if (!options_.host) {
      return Status(
          StatusCode::kUnsupported,
          fmt::format("the program calls host function {}, and there is no host", x.name));
    }
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> args, ValuesOf(x.args));
    Result<Value> result = options_.host(x.name, std::move(args));
    if (!result.ok()) return result.status().WithContext("host function " + x.name);
    return result;
  }
  Result<Value> Simple(const ir::RefCreate& x) {
    RELAYVM_ASSIGN_OR_RETURN(Value content, ValueOf(x.value));
    Value ref = Make(Reference{std::move(content)});
    references_.push_back(ref);
    return ref;
  }
  Result<Value> Simple(const ir::RefRead& x) {
    RELAYVM_ASSIGN_OR_RETURN(Value ref, ValueOf(x.ref));
    if (const auto* r = ref->As<Reference>()) return r->content;
    return {StatusCode::kInternal, "a read of what is no reference"};
  }
  Result<Value> Simple(const ir::RefWrite& x) {
    RELAYVM_ASSIGN_OR_RETURN(Value ref, ValueOf(x.ref));
    RELAYVM_ASSIGN_OR_RETURN(Value content, ValueOf(x.value));
    auto* r = ref->As<Reference>();
    if (r == nullptr) return {StatusCode::kInternal, "a write of what is no reference"};
    r->content = std::move(content);
    return MakeTuple({});
  }

  Result<Value> Simple(const ir::DimOf& x) {
    RELAYVM_ASSIGN_OR_RETURN(Value value, ValueOf(x.value));
    for (uint32_t field : x.path) {
      const auto* data = value->As<Data>();
      if (data == nullptr || field >= data->fields.size()) {
        return {StatusCode::kInternal, "a dimension of a field of what is no such tuple"};
      }
      value = Value(data->fields[field]);
    }
    const HostTensor* t = TensorOf(value);
    if (t == nullptr || x.axis >= t->shape.size()) {
      return {StatusCode::kInternal, "a dimension that the value does not have"};
    }
    return MakeTensor(ir::IntScalar(DType::kInt64, t->shape[x.axis]));
  }

  Status Operator(const ir::Var& var, const ir::OpCall& x) {
    RELAYVM_RETURN_IF_ERROR(CheckTime());
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> values, ValuesOf(x.args));
    if (x.op->is_identity) return Bind(var, values[0]);
    std::vector<OperatorArg> args;
    for (const Value& v : values) {
      OperatorArg arg;
      if (const auto* data = v->As<Data>()) {
        arg.is_tuple = true;
        for (const Value& f : data->fields) arg.tensors.push_back(TensorOf(f));
      } else {
        arg.tensors.push_back(TensorOf(v));
      }
      for (const HostTensor* t : arg.tensors) {
        if (t == nullptr) {
          return {StatusCode::kInternal, fmt::format("{}: an argument is no tensor", x.op->name)};
        }
      }
      args.push_back(std::move(arg));
    }
    RELAYVM_ASSIGN_OR_RETURN(OperatorResult result,
                             RunOperator(*x.op, x.attrs, args, options_.strings));
    if (!result.is_tuple) return Bind(var, MakeTensor(std::move(result.tensors[0])));
    std::vector<Value> fields;
    for (HostTensor& t : result.tensors) fields.push_back(MakeTensor(std::move(t)));
    return Bind(var, MakeTuple(std::move(fields)));
  }

  Result<Value> ShapeTensor(const ir::Var& var, const ir::ShapeValue& x) {
    const auto* type = var.type == nullptr ? nullptr : var.type->As<TensorType>();
    if (type == nullptr) return {StatusCode::kInternal, "a shape without a type"};
    HostTensor t{type->dtype, {}, {}};
    if (type->rank() == 1) t.shape.push_back(static_cast<int64_t>(x.elements.size()));
    auto width = static_cast<size_t>(DTypeBytes(t.dtype));
    t.data = SharedBytes::Zeros(width * x.elements.size());
    std::byte* data = t.data.Mutable().data();
    for (size_t i = 0; i < x.elements.size(); ++i) {
      RELAYVM_ASSIGN_OR_RETURN(int64_t value, Number(x.elements[i]));
      te::WriteElement(t.dtype, te::IntScalar(WrapInteger(value, t.dtype)), data + i * width);
    }
    return MakeTensor(std::move(t));
  }

  Result<Value> Simple(const ir::ShapeByRule& x) {
    std::vector<int64_t> lists[2];
    for (const Dim& d : x.shape.data) {
      RELAYVM_ASSIGN_OR_RETURN(lists[0].emplace_back(), Number(d));
    }
    for (const Dim& d : x.shape.numbers) {
      RELAYVM_ASSIGN_OR_RETURN(lists[1].emplace_back(), Number(d));
    }
    std::vector<int64_t> shape(x.shape.rank);
    Status s = ApplyShapeRule(x.shape.rule, lists[0], lists[1], x.shape.zeros, shape);
    if (!s.ok()) return s.WithContext(x.what);
    HostTensor t{DType::kInt64, {static_cast<int64_t>(shape.size())}, {}};
    t.data = SharedBytes::Copy(std::as_bytes(std::span(shape)));
    return MakeTensor(std::move(t));
  }

  Result<int64_t> Number(const Dim& d, const std::string& what) {
    Result<int64_t> number = Number(d);
    return number.ok() ? number : number.status().WithContext(what);
  }

  Status Check(const ir::Guard& guard) {
    RELAYVM_ASSIGN_OR_RETURN(int64_t left, Number(guard.left, guard.message));
    RELAYVM_ASSIGN_OR_RETURN(int64_t right, Number(guard.right, guard.message));
    if (ir::Holds(guard.kind, left, right)) return OkStatus();
    ir::GuardText text = ir::TextOf(guard);
    std::vector<int64_t> values;
    for (const Dim& d : text.values) {
      RELAYVM_ASSIGN_OR_RETURN(int64_t value, Number(d));
      values.push_back(value);
    }
    return {StatusCode::kFailedPrecondition, FillMessage(text.text, values)};
  }

  Status Match(const ir::Var& var, const ir::MatchExpr& x) {
    RELAYVM_ASSIGN_OR_RETURN(Value data, ValueOf(x.data));
    for (const ir::MatchClause& clause : x.clauses) {
      if (!Matches(clause.pattern, data)) continue;
      RELAYVM_RETURN_IF_ERROR(BindPattern(clause.pattern, data));
      call().blocks.push_back({clause.body, 0, &var});
      return OkStatus();
    }
    return {StatusCode::kFailedPrecondition, "match: no clause matches the value"};
  }
  Status BindPattern(const ir::Pattern& p, const Value& value) {
    if (p.kind == ir::Pattern::Kind::kVar) return Bind(*p.var, value);
    for (size_t i = 0; i < p.fields.size(); ++i) {
      RELAYVM_RETURN_IF_ERROR(BindPattern(p.fields[i], value->As<Data>()->fields[i]));
    }
    return OkStatus();
  }

  // --- Functions ---

  Value Capture(const ir::Var& var, const ir::Function& f) {
    auto [at, inserted] = surroundings_.try_emplace(&f);
    if (inserted) at->second = FindSurroundings(f);
    Closure closure;
    closure.function = &f;
    for (uint32_t id : at->second.vars) {
      auto found = call().vars.find(id);
      if (found != call().vars.end()) closure.captured.emplace_back(id, found->second);
      if (id == var.id) closure.self = &var;
    }
    for (uint32_t id : at->second.symbols) {
      if (auto value = Symbol(id)) closure.symbols.emplace_back(id, *value);
    }
    return Make(std::move(closure));
  }

  Status CallFunction(const ir::Var& var, const ir::CallExpr& x) {
    RELAYVM_ASSIGN_OR_RETURN(Value callee, ValueOf(x.callee));
    RELAYVM_ASSIGN_OR_RETURN(std::vector<Value> args, ValuesOf(x.args));
    const auto* closure = callee->As<Closure>();
    if (closure == nullptr) return {StatusCode::kInternal, "a call of what is no function"};
    if (closure->constructor == nullptr) return Enter(*closure, std::move(args), &var, callee);
    if (args.size() != closure->constructor->fields.size()) {
      return {StatusCode::kInternal,
              fmt::format("{} has {} fields, not {}", closure->constructor->name,
                          closure->constructor->fields.size(), args.size())};
    }
    return Bind(var, Make(Data{closure->constructor, std::move(args)}));
  }

  // Starts a call whose result becomes the value of `target`. `self` is the closure's value, held
  // by the caller meanwhile.
  Status Enter(const Closure& closure, std::vector<Value> args, const ir::Var* target,
               const Value& self = nullptr) {
    RELAYVM_RETURN_IF_ERROR(CheckTime());
    const ir::Function& f = *closure.function;
    if (!closure.first_args.empty()) {
      args.insert(args.begin(), closure.first_args.begin(), closure.first_args.end());
    }
    if (args.size() != f.params.size()) {
      return {StatusCode::kInternal,
              fmt::format("@{} takes {} arguments, not {}", f.name, f.params.size(), args.size())};
    }
    Call next{&f, {}, {}, {}, target};
    next.blocks.push_back({f.body, 0, nullptr});
    for (const auto& [id, value] : closure.captured) next.vars.emplace(id, value);
    if (closure.self != nullptr) next.vars[closure.self->id] = self;
    for (const auto& [id, value] : closure.symbols) next.symbols.emplace(id, value);
    if (target != nullptr && IsTail(*target)) {
      next.target = call().target;
      calls_.pop_back();
    }
    if (calls_.size() >= options_.max_depth) {
      return {
          StatusCode::kResourceExhausted,
          fmt::format("calls are nested more than {} deep, in @{}", options_.max_depth, f.name)};
    }
    calls_.push_back(std::move(next));
    for (size_t i = 0; i < args.size(); ++i)
      RELAYVM_RETURN_IF_ERROR(Bind(*f.params[i], std::move(args[i])));
    return OkStatus();
  }

  // True when the value of `target`, bound just now, is the result of the whole active call.
  bool IsTail(const ir::Var& target) {
    const ir::Var* var = &target;
    const std::vector<Cursor>& blocks = call().blocks;
    for (size_t i = blocks.size(); i-- > 0;) {
      const auto* result = std::get_if<const ir::Var*>(&blocks[i].block->result);
      if (blocks[i].next != blocks[i].block->bindings.size() || result == nullptr || *result != var)
        return false;
      var = blocks[i].target;
    }
    return true;
  }

  Status CheckTime() {
    constexpr uint32_t kEvery = 64;
    if (options_.stop.stop_requested()) return {StatusCode::kCancelled, "the run was cancelled"};
    if (options_.timeout.count() <= 0 || ++ticks_ % kEvery != 0) return OkStatus();
    if (std::chrono::steady_clock::now() - started_ < options_.timeout) return OkStatus();
    return {StatusCode::kDeadlineExceeded, "the run took longer than its timeout"};
  }

  const ir::Module& module_;
  const Options options_;
  const std::chrono::steady_clock::time_point started_;
  uint32_t ticks_ = 0;
  std::vector<Call> calls_;
  Value result_;
  std::unordered_map<const ir::Function*, Surroundings> surroundings_;
  std::vector<std::weak_ptr<Object>> references_;
};

}  // namespace

Result<Value> Run(const ir::Module& module, std::string_view entry, std::vector<Value> inputs,
                  const Options& options) {
  auto at = module.functions.find(std::string(entry));
  if (at == module.functions.end()) {
    return {StatusCode::kNotFound, fmt::format("there is no function @{}", entry)};
  }
  return Guarded([&] {
    return ir::WithLargeStack([&]() -> Result<Value> {
      Interpreter interpreter(module, options);
      // Where memory is short too, Finish lets go of what is left.
      Result<Value> result =
          Guarded([&] { return interpreter.Run(*at->second, std::move(inputs)); });
      if (result.ok() && ir::HasOneOfResults(*at->second)) result = OpenResult(*result);
      RELAYVM_RETURN_IF_ERROR(interpreter.Finish(result.ok() ? *result : Value()));
      return result;
    });
  });
}

}  // namespace relayvm::reference
