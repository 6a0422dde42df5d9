#include "compiler/transforms/products/hoist_products.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/problems.h"
#include "compiler/ir/walk.h"
#include "compiler/transforms/builder.h"
#include "compiler/transforms/loops/value_flow.h"
#include "compiler/typing/call_graph.h"

namespace relayvm::ir {
namespace {

// The bytes of a table of products that stands for all rows, and of one for a chunk of them.
constexpr int64_t kTableBytes = 256 << 10;
// Rows of a chunk: enough that weights are read seldom, few enough that what is left of the last
// one is little.
constexpr int64_t kLeastChunk = 8;
constexpr int64_t kMostChunk = 64;

// A product that leaves its loop, or is computed for a chunk of rows. Atoms are the function's own.
struct Hoist {
  const Var* product;  // what the loop binds to it
  const OpCall* call;
  const OpCall* take;  // of the row
  Atom rows, weight;   // the same in every turn
  Atom counter;        // the row's number
  const Var* table;    // the new parameter: products of all rows, or of the chunk's
  int64_t chunk = 0;   // rows of one; 0: all at once, where the loop is started
  // Of a chunk: the parameter that is its first row; both for the turn that this one leads to.
  const Var* first = nullptr;
  const Var* next_table = nullptr;
  const Var* next_first = nullptr;
};

// A loop: a function that calls itself, and is only called by name.
struct Loop {
  const Function* function = nullptr;
  std::vector<const CallExpr*> turns, starts;
  std::set<std::string> starters;  // functions of the module that start it
  std::vector<Hoist> hoists;
};

class Finder {
 public:
  Finder(const Module& m, const ValueFlow& flow) : m_(m), flow_(flow) {}

  // Those that something leaves.
  std::unordered_map<const Function*, Loop> Run() {
    for (const auto& [name, f] : m_.functions) {
      function_ = name;
      Visit(*f);
      ForEachGlobal(*f->body, [&](const GlobalVar& g, const CallExpr* call) {
        if (call == nullptr) values_.insert(g.name);
      });
    }
    const std::vector<typing::Component> components = typing::ComponentsCalleesFirst(m_);
    for (size_t i = 0; i < components.size(); ++i) {
      for (const std::string* name : components[i].functions) component_of_[*name] = i;
    }
    for (auto& [f, loop] : loops_) {
      loop.function = f;
      if (!loop.turns.empty() && !loop.starts.empty() && !MayStartItself(loop)) Find(loop);
    }
    std::erase_if(loops_, [](const auto& entry) { return entry.second.hoists.empty(); });
    return std::move(loops_);
  }

 private:
  // --- Who calls what ---

  void Visit(const Function& f) {
    around_[&f] = innermost_;
    const Function* outer = std::exchange(innermost_, &f);
    open_.insert(&f);
    for (const Var* p : f.params) Bind(p);
    Visit(*f.body);
    open_.erase(&f);
    innermost_ = outer;
  }
  void Visit(const Block& block) {
    for (const Binding& b : block.bindings) {
      Bind(b.var);
      bound_[b.var->id] = b.value;
      if (const auto* call = b.value->As<CallExpr>()) {
        if (const Function* f = flow_.Callee(call->callee)) AddCall(f, call);
      }
      if (const auto* match = b.value->As<MatchExpr>()) {
        for (const MatchClause& c : match->clauses)
          ForEachVar(c.pattern, [&](const Var* v) { Bind(v); });
      }
      if (const auto* literal = b.value->As<FunctionExpr>()) {
        Visit(*literal->function);
      } else {
        ForEachBlock(*b.value, [&](const Block& inner) { Visit(inner); });
      }
    }
  }
  void Bind(const Var* var) { owner_[var->id] = innermost_; }
  // Whether the variable is bound in the function, or in one inside it.
  bool IsInside(const Function* f, const Var* var) const {
    const auto owner = owner_.find(var->id);
    const Function* at = owner == owner_.end() ? nullptr : owner->second;
    while (at != nullptr && at != f) at = around_.at(at);
    return at != nullptr;
  }
  void AddCall(const Function* f, const CallExpr* call) {
    Loop& loop = loops_[f];
    if (open_.contains(f)) {
      loop.turns.push_back(call);
    } else {
      loop.starts.push_back(call);
      loop.starters.insert(function_);
    }
  }

  // Whether a turn may come to where the loop is started: then that is no start. A starter mentions
  // what the loop mentions, by the loop or because the loop is a literal in it; what mentions it in
  // turn is of one component with it.
  bool MayStartItself(const Loop& loop) const {
    std::set<size_t> starters;
    for (const std::string& starter : loop.starters) {
      if (values_.contains(starter)) return true;
      starters.insert(component_of_.at(starter));
    }
    bool found = false;
    ForEachGlobal(*loop.function->body, [&](const GlobalVar& g, const CallExpr*) {
      const auto component = component_of_.find(g.name);
      found = found || (component != component_of_.end() && starters.contains(component->second));
    });
    return found;
  }

  // --- What is the same in every turn ---

  static std::optional<size_t> ParamOf(const Loop& loop, const Atom& a) {
    const auto& params = loop.function->params;
    const Var* var = AsVar(a);
    const auto at = std::find(params.begin(), params.end(), var);
    if (var == nullptr || at == params.end()) return std::nullopt;
    return static_cast<size_t>(at - params.begin());
  }
  bool IsInvariant(const Loop& loop, const Atom& a) const {
    if (const auto param = ParamOf(loop, a)) {
      return std::ranges::all_of(
          loop.turns, [&](const CallExpr* turn) { return AsVar(turn->args[*param]) == AsVar(a); });
    }
    const Var* var = AsVar(a);
    return var != nullptr ? !IsInside(loop.function, var)
                          : std::holds_alternative<const Constant*>(a);
  }

  const OpCall* CallOf(const Atom& a) const {
    const Var* var = AsVar(a);
    const auto at = var == nullptr ? bound_.end() : bound_.find(var->id);
    return at == bound_.end() ? nullptr : at->second->As<OpCall>();
  }
  // What an atom is of the arguments of the call that binds it, each a placeholder; null where it
  // is no function of single elements.
  te::Expr FunctionOf(const Atom& a) const {
    const OpCall* call = CallOf(a);
    const auto* result = call == nullptr ? nullptr : AsVar(a)->type->As<TensorType>();
    if (result == nullptr || call->op->fusion > FusionClass::kBroadcast) return nullptr;
    std::vector<TensorType> types;
    for (const Atom& arg : call->args) {
      const Type type = AtomType(m_, arg);
      if (type->As<TensorType>() == nullptr) return nullptr;
      types.push_back(*type->As<TensorType>());
    }
    const te::Tensor e = ExpressionOf(*call->op, call->attrs, types, *result);
    return e == nullptr || e->is_placeholder() ? nullptr : e->body;
  }
  // The argument that an operand of such a function is.
  const Atom* ArgOf(const Atom& a, const te::Expr& e) const {
    const bool is_argument = e->kind == te::ExprKind::kLoad && e->tensor->is_placeholder();
    return is_argument ? &CallOf(a)->args[static_cast<size_t>(e->tensor->input_index)] : nullptr;
  }
  // Through views, and casts of numbers.
  Atom SkipViews(Atom a, bool casts) const {
    while (const OpCall* call = CallOf(a)) {
      if (!call->op->is_view) {
        const te::Expr e = casts ? FunctionOf(a) : nullptr;
        if (e == nullptr || e->kind != te::ExprKind::kCast) break;
      }
      a = call->args[0];
    }
    return a;
  }
  static bool IsBinary(const te::ExprNode& e, te::BinaryOp op) {
    return e.kind == te::ExprKind::kBinary && e.binary == op;
  }
  static std::optional<int64_t> NumberOf(const Atom& a) {
    const auto* c = std::get_if<const Constant*>(&a);
    if (c == nullptr || IsFloat((*c)->value.dtype) || !(*c)->value.shape.empty())
      return std::nullopt;
    int64_t number = 0;
    const size_t bytes = DTypeBytes((*c)->value.dtype);
    if (bytes != 4 && bytes != 8) return std::nullopt;
    std::copy_n((*c)->value.data.data(), bytes, reinterpret_cast<std::byte*>(&number));
    return bytes == 4 ? static_cast<int32_t>(number) : number;
  }

  // A parameter that counts the turns.
  bool IsCounter(const Loop& loop, const Atom& a) const {
    const auto param = ParamOf(loop, a);
    if (!param) return false;
    return std::ranges::all_of(loop.turns, [&](const CallExpr* turn) {
      const Atom& next = turn->args[*param];
      const te::Expr e = FunctionOf(next);
      if (e == nullptr || !IsBinary(*e, te::BinaryOp::kAdd)) return false;
      const auto is_step = [&](size_t from, size_t by) {
        const Atom *counted = ArgOf(next, e->operands[from]), *one = ArgOf(next, e->operands[by]);
        return counted != nullptr && one != nullptr && AsVar(*counted) == AsVar(a) &&
               NumberOf(*one) == 1;
      };
      return is_step(0, 1) || is_step(1, 0);
    });
  }

  // Whether the number is `length`, which may be an atom's dim where the atom stands.
  bool IsLength(const Atom& number, const Dim& length) const {
    if (const auto value = NumberOf(number)) return length.is_const(*value);
    const Var* var = AsVar(number);
    const auto known = var == nullptr ? m_.contents.end() : m_.contents.find(var->id);
    if (known != m_.contents.end() && known->second.size() == 1)
      return known->second[0].WithoutInt32() == length;
    return length.is_symbol() && var != nullptr && ValueOf(length) == var;
  }
  const Var* ValueOf(const Dim& symbol) const {
    const auto value = m_.symbols.find(symbol.symbol_id());
    return value == m_.symbols.end() ? nullptr : value->second.value;
  }

  // Whether the condition is as `is_true` says just as long as `counter` is below the length of
  // `rows`. A loop that may end before would have computed rows that it does not come to.
  bool EndsAtLength(const Loop& loop, const Atom& condition, bool is_true, const Atom& counter,
                    const Atom& rows) const {
    using enum te::BinaryOp;
    const te::Expr e = FunctionOf(condition);
    if (e == nullptr) return false;
    if (e->kind == te::ExprKind::kUnary && e->unary == te::UnaryOp::kNot) {
      const Atom* negated = ArgOf(condition, e->operands[0]);
      return negated != nullptr && EndsAtLength(loop, *negated, !is_true, counter, rows);
    }
    const bool is_less = IsBinary(*e, is_true ? kLess : kGreaterEqual);
    if (!is_less && !IsBinary(*e, is_true ? kGreater : kLessEqual)) return false;
    const Atom* below = ArgOf(condition, e->operands[is_less ? 0 : 1]);
    const Atom* above = ArgOf(condition, e->operands[is_less ? 1 : 0]);
    if (below == nullptr || above == nullptr) return false;
    const Atom low = SkipViews(*below, true), end = SkipViews(*above, true);
    if (AsVar(low) != AsVar(counter)) return false;
    const Type type = AtomType(m_, rows);
    if (IsLength(end, type->As<TensorType>()->shape[0])) return true;
    const auto param = ParamOf(loop, end);
    if (!param || !IsInvariant(loop, end)) return false;
    return std::ranges::all_of(loop.starts, [&](const CallExpr* start) {
      const auto rows_param = ParamOf(loop, rows);
      const Type given = AtomType(m_, rows_param ? start->args[*rows_param] : rows);
      return IsLength(start->args[*param], given->As<TensorType>()->shape[0]);
    });
  }

  // --- Products ---

  void Find(Loop& loop) {
    const Block& body = *loop.function->body;
    for (const Binding& b : body.bindings) {
      const auto* branch = b.value->As<IfExpr>();
      if (branch == nullptr) continue;
      for (const bool is_then : {true, false}) {
        const Block& taken = is_then ? *branch->then_block : *branch->else_block;
        for (size_t i = 0; i < taken.bindings.size(); ++i) {
          // A turn that ends the loop would leave the rows behind it computed for nothing.
          size_t turns = 0;
          if (!AlwaysTurns(loop, taken, i + 1, turns) || turns != loop.turns.size()) break;
          auto hoist = Match(loop, branch->condition, is_then, taken.bindings[i]);
          if (hoist) loop.hoists.push_back(*std::move(hoist));
        }
      }
    }
  }

  // Whether every path through the block from binding `first` on comes to the next turn; counts
  // these calls.
  bool AlwaysTurns(const Loop& loop, const Block& block, size_t first, size_t& turns) const {
    bool always = false;
    for (size_t i = first; i < block.bindings.size(); ++i) {
      const Expr& e = *block.bindings[i].value;
      if (const auto* call = e.As<CallExpr>()) {
        const bool is_turn = std::ranges::count(loop.turns, call) > 0;
        turns += is_turn ? 1 : 0;
        always = always || is_turn;
      }
      if (e.As<IfExpr>() == nullptr && e.As<MatchExpr>() == nullptr) continue;
      bool each = true;
      ForEachBlock(e,
                   [&](const Block& inner) { each = AlwaysTurns(loop, inner, 0, turns) && each; });
      always = always || each;
    }
    return always;
  }

  std::optional<Hoist> Match(const Loop& loop, const Atom& condition, bool is_true,
                             const Binding& b) const {
    const auto* call = b.value->As<OpCall>();
    if (call == nullptr || call->args.size() != 2) return std::nullopt;
    const auto product = MatrixProductOf(m_, *call);
    if (!product || product->kind.is_batched || product->transpose_a ||
        !IsInvariant(loop, call->args[1])) {
      return std::nullopt;
    }
    const OpCall* take = CallOf(SkipViews(call->args[0], false));
    if (take == nullptr || take->op->along_axis != AlongAxis::kTakes ||
        !IsInvariant(loop, take->args[0]) || AsVar(take->args[0]) == nullptr) {
      return std::nullopt;
    }
    const Atom &rows = take->args[0], counter = SkipViews(take->args[1], true);
    const Type data_type = AtomType(m_, call->args[0]), rows_type = AtomType(m_, rows),
               index_type = AtomType(m_, take->args[1]), weight_type = AtomType(m_, call->args[1]);
    // Nothing is left to check where the loop is started: it may have no turns.
    const auto is_const = [](const Dim& d) { return d.is_const(); };
    if (!std::ranges::all_of(weight_type->As<TensorType>()->shape, is_const)) return std::nullopt;
    const std::vector<Dim>& data = data_type->As<TensorType>()->shape;
    const std::vector<Dim>& all = rows_type->As<TensorType>()->shape;
    const auto axis = take->attrs.OptionalInt("axis");
    // A row is one matrix: (K), or (R, K) with a known R.
    if (!axis || *axis != 0 || !ProductOf(index_type->As<TensorType>()->shape).is_const(1) ||
        (all.size() != 2 && all.size() != 3) || data.size() != 2 || all.back() != data[1] ||
        !all.back().is_const() || all.back().is_const(0)) {
      return std::nullopt;
    }
    const auto& result = *b.var->type->As<TensorType>();
    const Dim row_count = all.size() == 3 ? all[1] : Dim(1);
    if (result.rank() != 2 || data[0] != row_count || !row_count.is_const() ||
        row_count.is_const(0) || !result.shape[1].is_const() || result.shape[1].is_const(0)) {
      return std::nullopt;
    }
    if (!IsCounter(loop, counter) || !EndsAtLength(loop, condition, is_true, counter, rows)) {
      return std::nullopt;
    }
    std::vector<Dim> table = all;
    table.back() = result.shape[1];
    Hoist hoist{b.var, call, take, rows, call->args[1], counter, nullptr};
    const Span span = b.var->span;
    const int64_t row_bytes = BytesOfRow(row_count, result);
    const Dim& length = all[0];
    if (!length.is_const() || length.value() > kTableBytes / row_bytes) {
      // What counts in the loop's condition is a scalar.
      const Type type = AtomType(m_, counter);
      if (type->As<TensorType>() == nullptr || type->As<TensorType>()->rank() != 0)
        return std::nullopt;
      hoist.chunk = std::clamp(kTableBytes / row_bytes, kLeastChunk, kMostChunk);
      table[0] = Dim::Symbol(m_.ids->Next(), "chunk");
      hoist.first = MakeVar(m_, "first", type, span);
      hoist.next_table = MakeVar(m_, "table", nullptr, span);
      hoist.next_first = MakeVar(m_, "first", nullptr, span);
    }
    hoist.table = MakeVar(m_, "table", MakeTensorType(std::move(table), result.dtype), span);
    return hoist;
  }

  static int64_t BytesOfRow(const Dim& row_count, const TensorType& result) {
    constexpr int64_t kMany = int64_t{1} << 30;
    const int64_t rows = std::min(row_count.value(), kMany);
    const int64_t units = std::min(result.shape[1].value(), kMany);
    return rows * units * static_cast<int64_t>(DTypeBytes(result.dtype));
  }

  const Module& m_;
  const ValueFlow& flow_;
  std::string function_;
  std::unordered_set<const Function*> open_;  // that are being visited
  const Function* innermost_ = nullptr;       // of these
  std::unordered_map<const Function*, const Function*> around_;
  std::unordered_map<uint32_t, const Function*> owner_;  // by Var::id
  std::unordered_map<const Function*, Loop> loops_;
  std::unordered_map<uint32_t, const Expr*> bound_;       // by Var::id
  std::unordered_map<std::string, size_t> component_of_;  // functions that call each other
  std::unordered_set<std::string> values_;  // functions that are mentioned, not called
};

class ProductHoister {
 public:
  ProductHoister(const Module& m, const ValueFlow& flow,
                 const std::unordered_map<const Function*, Loop>& loops)
      : m_(m), flow_(flow), loops_(loops) {
    for (const auto& [f, loop] : loops) {
      for (const Hoist& h : loop.hoists) products_[h.product->id] = &h;
    }
  }

  Module Run() {
    Module out = m_;
    for (auto& [name, f] : out.functions) f = Rewrite(*f);
    return out;
  }

 private:
  // The variable that a function literal is bound to, whose type has its new parameters.
  const Var* Image(const Var* var) const {
    const auto image = images_.find(var->id);
    return image == images_.end() ? var : image->second;
  }

  Function WithTables(const Function& f) const {
    Function copy = f;
    const auto loop = loops_.find(&f);
    if (loop == loops_.end()) return copy;
    for (const Hoist& h : loop->second.hoists) {
      copy.params.push_back(h.table);
      if (h.chunk > 0) copy.params.push_back(h.first);
    }
    return copy;
  }

  const Function* Rewrite(const Function& f) {
    Function copy = WithTables(f);
    open_.insert(&f);
    copy.body = Rewrite(*f.body);
    open_.erase(&f);
    return m_.arena->New<Function>(std::move(copy));
  }

  const Block* Rewrite(const Block& block) {
    Block out;
    out.result = block.result;
    for (const Binding& b : block.bindings) {
      const auto product = products_.find(b.var->id);
      const auto* call = b.value->As<CallExpr>();
      const Function* callee = call == nullptr ? nullptr : flow_.Callee(call->callee);
      if (product != products_.end()) {
        TakeRow(*product->second, b, out.bindings);
      } else if (const auto loop = loops_.find(callee); loop != loops_.end()) {
        CallLoop(loop->second, b, out.bindings);
      } else if (const auto* literal = b.value->As<FunctionExpr>()) {
        if (loops_.contains(literal->function)) {
          const Type type = FunctionTypeOf(WithTables(*literal->function));
          images_[b.var->id] = MakeVar(m_, b.var->name, type, b.var->span);
        }
        const Function* f = Rewrite(*literal->function);
        out.bindings.push_back({Image(b.var), MakeExpr(m_, FunctionExpr{f}, b.value->span)});
      } else {
        out.bindings.push_back(
            {b.var, MapBlocks(m_, b.value, [&](const Block& inner) { return Rewrite(inner); })});
      }
    }
    return m_.arena->New<Block>(std::move(out));
  }

  void TakeRow(const Hoist& h, const Binding& b, std::vector<Binding>& out) {
    BindingBuilder builder(m_, b.value->span, out);
    Atom table = h.table, index = h.take->args[1];
    if (h.chunk > 0) {
      MakeChunk(h, b.value->span, out);
      table = h.next_table;
      index = builder.Subtract(h.counter, h.next_first);
    }
    const Atom row = builder.Call(h.take->op->name, {table, index}, h.take->attrs);
    builder.Reshape(row, DimsOf(b.var->type->As<TensorType>()->shape), b.var);
  }

  // The product of those rows, as the table has it.
  static Atom Product(const Hoist& h, Atom rows, const Atom& weight, const Dim& depth,
                      BindingBuilder& builder) {
    const std::vector<Dim>& table = h.table->type->As<TensorType>()->shape;
    if (table.size() == 3) rows = builder.Reshape(rows, {Dim(-1), depth});
    const Atom product = builder.Call(h.call->op->name, {rows, weight}, h.call->attrs);
    return table.size() == 3 ? builder.Reshape(product, {Dim(-1), table[1], table[2]}) : product;
  }

  // In the first turn, and wherever the chunk's rows are used up, those from this one on:
  //
  //   let %next_first = where(%i - %first >= chunk, %i, %first)
  //   let %next_table = if (%i - %first >= chunk) {
  //     nn.dense(take(%xs, arange(%i, minimum(%i + chunk, length of %xs), 1)), %w)
  //   } else { %table }
  void MakeChunk(const Hoist& h, Span span, std::vector<Binding>& out) {
    BindingBuilder builder(m_, span, out);
    const DType dtype = h.first->type->As<TensorType>()->dtype;
    const auto number = [&](int64_t v) { return builder.Scalar(static_cast<double>(v), dtype); };
    const Atom passed = builder.Subtract(h.counter, h.first);
    const Atom is_used_up = builder.IsAtLeast(passed, number(h.chunk));
    Block made, kept;
    BindingBuilder inner(m_, span, made.bindings);
    const Dim depth = AtomType(m_, h.rows)->As<TensorType>()->shape.back();
    const Atom shape = inner.ShapeOf(h.rows, dtype);
    const Atom length = inner.Take(shape, inner.Scalar(0, DType::kInt32));
    const Atom end = inner.Minimum(inner.Add(h.counter, number(h.chunk)), length);
    const Atom numbers = inner.Range(h.counter, end, number(1), dtype);
    const Atom rows = inner.Call(h.take->op->name, {h.rows, numbers}, h.take->attrs);
    made.result = Product(h, rows, h.weight, depth, inner);
    kept.result = h.table;
    const auto choose = [&](const Var* var, Block if_true, Block if_false) {
      IfExpr branch{is_used_up, m_.arena->New<Block>(std::move(if_true)),
                    m_.arena->New<Block>(std::move(if_false))};
      out.push_back({var, MakeExpr(m_, std::move(branch), span)});
    };
    choose(h.next_table, std::move(made), std::move(kept));
    choose(h.next_first, Block{{}, h.counter}, Block{{}, h.first});
  }

  void CallLoop(const Loop& loop, const Binding& b, std::vector<Binding>& out) {
    CallExpr call = *b.value->As<CallExpr>();
    if (const Var* literal = AsVar(call.callee)) call.callee = Image(literal);
    const bool is_turn = open_.contains(loop.function);
    for (const Hoist& h : loop.hoists) {
      if (h.chunk == 0) {
        call.args.push_back(is_turn ? Atom(h.table) : Table(loop, h, call, b.value->span, out));
      } else if (is_turn) {
        call.args.insert(call.args.end(), {h.next_table, h.next_first});
      } else {
        EmptyChunk(loop, h, call, b.value->span, out);
      }
    }
    out.push_back({b.var, MakeExpr(m_, std::move(call), b.value->span)});
  }

  // A chunk without rows, of which the first turn has used up all.
  void EmptyChunk(const Loop& loop, const Hoist& h, CallExpr& start, Span span,
                  std::vector<Binding>& out) {
    BindingBuilder builder(m_, span, out);
    const auto& params = loop.function->params;
    const auto at = std::find(params.begin(), params.end(), AsVar(h.counter));
    const auto position = static_cast<size_t>(at - params.begin());
    const TensorType& table = *h.table->type->As<TensorType>();
    AttrList dims;
    for (size_t i = 0; i < table.shape.size(); ++i)
      dims.emplace_back(i == 0 ? Dim(0) : table.shape[i]);
    start.args.push_back(builder.Zeros(std::move(dims), table.dtype));
    const DType dtype = h.first->type->As<TensorType>()->dtype;
    const Atom chunk = builder.Scalar(static_cast<double>(h.chunk), dtype);
    start.args.push_back(builder.Subtract(start.args[position], chunk));
  }

  // The product of all rows, where the loop is started.
  Atom Table(const Loop& loop, const Hoist& h, const CallExpr& start, Span span,
             std::vector<Binding>& out) {
    const auto outside = [&](const Atom& a) {
      const auto& params = loop.function->params;
      const auto at = std::find(params.begin(), params.end(), AsVar(a));
      return AsVar(a) == nullptr || at == params.end()
                 ? a
                 : start.args[static_cast<size_t>(at - params.begin())];
    };
    BindingBuilder builder(m_, span, out);
    const Dim depth = AtomType(m_, h.rows)->As<TensorType>()->shape.back();
    return Product(h, outside(h.rows), outside(h.weight), depth, builder);
  }

  const Module& m_;
  const ValueFlow& flow_;
  const std::unordered_map<const Function*, Loop>& loops_;
  std::unordered_map<uint32_t, const Hoist*> products_;  // by Var::id
  std::unordered_set<const Function*> open_;
  std::unordered_map<uint32_t, const Var*> images_;
};

}  // namespace

Module HoistProducts(const Module& m) {
  ValueFlow flow(m);
  const std::unordered_map<const Function*, Loop> loops = Finder(m, flow).Run();
  return loops.empty() ? m : ProductHoister(m, flow, loops).Run();
}

}  // namespace relayvm::ir
