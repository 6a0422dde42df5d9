#include "compiler/import/torch/aliases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/import/torch/complex_calls.h"

namespace relayvm::import::torch {

namespace {

using Kind = Argument::Kind;

template <size_t kSize>
bool Among(std::string_view name, const std::array<std::string_view, kSize>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Views that leave the elements in their order.
constexpr std::array<std::string_view, 24> kReshapes = {
    "aten::view",         "aten::reshape",      "aten::unsqueeze",       "aten::squeeze",
    "aten::flatten",      "aten::unflatten",    "aten::view_as",         "aten::reshape_as",
    "aten::alias",        "aten::detach",       "aten::contiguous",      "aten::to",
    "aten::_unsafe_view", "aten::view_as_real", "aten::view_as_complex", "aten::_reshape_alias",
    "aten::ravel",        "aten::lift",         "aten::positive",        "aten::lift_fresh",
    "aten::atleast_1d",   "aten::atleast_2d",   "aten::atleast_3d",      "aten::_to_copy"};
// Views that may be copies, by how the elements lie.
constexpr std::array<std::string_view, 6> kPerhaps = {"aten::reshape",    "aten::flatten",
                                                      "aten::contiguous", "aten::reshape_as",
                                                      "aten::ravel",      "aten::_reshape_alias"};
// Views whose result lies as their argument, if that is contiguous.
constexpr std::array<std::string_view, 4> kPermutes = {"aten::permute", "aten::movedim",
                                                       "aten::moveaxis", "aten::numpy_T"};
// Own results that have their elements in order, however those of the arguments lie.
constexpr std::array<std::string_view, 8> kInOrder = {
    "aten::contiguous", "aten::softmax", "aten::log_softmax", "aten::layer_norm",
    "aten::linear",     "aten::matmul",  "aten::bmm",         "aten::mm"};
constexpr std::array<std::string_view, 6> kSwaps = {"aten::transpose", "aten::t",  "aten::swapaxes",
                                                    "aten::swapdims",  "aten::mT", "aten::mH"};
constexpr std::array<std::string_view, 5> kOverlapping = {
    "aten::expand", "aten::expand_as", "aten::broadcast_to", "aten::unfold", "aten::as_strided"};

// Views of a part along `dim`.
constexpr std::array<std::string_view, 7> kParts = {
    "aten::select", "aten::slice",  "aten::narrow",          "aten::split",
    "aten::chunk",  "aten::unbind", "aten::split_with_sizes"};
// What looks at no elements.
constexpr std::array<std::string_view, 8> kOfShapes = {
    "aten::size",       "aten::sym_size",  "aten::numel",     "aten::sym_numel",
    "aten::zeros_like", "aten::ones_like", "aten::new_zeros", "aten::new_ones"};

// In-place operators that change how a tensor looks at its elements, not these.
constexpr std::array<std::string_view, 8> kInPlaceViews = {
    "aten::unsqueeze", "aten::squeeze",  "aten::transpose", "aten::t",
    "aten::swapaxes",  "aten::swapdims", "aten::detach",    "aten::view"};

// Axes of what is turned, in their new order; none where that is not known here.
bool Turns(std::string_view name) { return Among(name, kSwaps) || name == "aten::permute"; }
std::vector<int64_t> TurnedAxes(const Call& of, int rank) {
  std::vector<int64_t> axes;
  const std::string_view name = of.op().schema.name;
  const auto known = [&](std::string_view argument) -> std::vector<int64_t> {
    const int i = of.op().schema.Find(argument);
    if (i < 0) return {};
    const Argument& a = of.Arg(static_cast<size_t>(i));
    if (a.is(Kind::kInt)) return {a.integer};
    std::vector<int64_t> numbers;
    for (const Argument& item : a.items) {
      if (item.is(Kind::kInt)) numbers.push_back(item.integer);
    }
    return numbers;
  };
  if (name == "aten::permute") {
    axes = known("dims");
    if (axes.size() != static_cast<size_t>(rank)) return {};
  } else {
    std::array<int64_t, 2> pair = {rank - 2, rank - 1};
    const char* first = name == "aten::transpose" ? "dim0" : "axis0";
    const char* second = name == "aten::transpose" ? "dim1" : "axis1";
    if (name == "aten::swapdims") first = "dim0", second = "dim1";
    const std::vector<int64_t> i = known(first), k = known(second);
    if (!i.empty() && !k.empty()) pair = {i[0], k[0]};
    for (int64_t at = 0; at < rank; ++at) axes.push_back(at);
    for (int64_t& at : pair) {
      if (at < 0) at += rank;
      if (at < 0 || at >= rank) return {};
    }
    std::swap(axes[static_cast<size_t>(pair[0])], axes[static_cast<size_t>(pair[1])]);
  }
  for (int64_t& at : axes) {
    if (at < 0) at += rank;
    if (at < 0 || at >= rank) return {};
  }
  return axes;
}

// The steps of a view's axes, by those of what it looks at; none where they are not known.
std::optional<AxisSteps> StepsOfView(const Call& of, const Argument& viewed, const Value& result,
                                     AxisSteps steps) {
  const std::string_view name = of.op().schema.name;
  const std::vector<Dim>& shape = viewed.value.shape();
  const int rank = viewed.value.rank() - (viewed.complex ? 1 : 0);
  if (steps.size() != shape.size()) return std::nullopt;
  if (Among(name, kReshapes)) {
    AxisSteps view;
    if (FitOf(shape, steps, result.shape(), &view) != Fit::kView) return std::nullopt;
    return view;
  }
  if (Turns(name)) {
    const std::vector<int64_t> axes = TurnedAxes(of, rank);
    if (axes.empty()) return rank < 2 ? std::optional(steps) : std::nullopt;
    AxisSteps turned = steps;
    for (size_t i = 0; i < axes.size(); ++i) turned[i] = steps[static_cast<size_t>(axes[i])];
    return turned;
  }
  if (name == "aten::expand" || name == "aten::expand_as" || name == "aten::broadcast_to") {
    AxisSteps wide(result.shape().size(), Dim(0));
    for (size_t i = 1; i <= std::min(steps.size(), wide.size()); ++i) {
      if (shape[shape.size() - i] == result.shape()[wide.size() - i])
        wide[wide.size() - i] = steps[steps.size() - i];
    }
    return wide;
  }
  const int at = of.op().schema.Find("dim");
  if (!Among(name, kParts) || at < 0 || !of.Arg(static_cast<size_t>(at)).is(Kind::kInt))
    return std::nullopt;
  int64_t dim = of.Arg(static_cast<size_t>(at)).integer;
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank) return std::nullopt;
  if (name == "aten::select" || name == "aten::unbind") {
    steps.erase(steps.begin() + dim);
  } else if (const int every = of.op().schema.Find("step"); every >= 0) {
    const Argument& step = of.Arg(static_cast<size_t>(every));
    if (!step.is(Kind::kInt)) return std::nullopt;
    steps[static_cast<size_t>(dim)] = steps[static_cast<size_t>(dim)] * Dim(step.integer);
  }
  return steps;
}

// Whether an operator's own result lies as `argument` does: element by element.
bool LiesAlike(std::string_view name, const Argument& argument, const Value& result) {
  return argument.is_tensor() && argument.value.is_tensor() && result.is_tensor() &&
         result.rank() > 1 && argument.value.shape() == result.shape() && !Among(name, kInOrder);
}

// The argument whose memory result `i` shares.
size_t Viewed(const Schema& schema, size_t i) {
  for (size_t k = 0; k < schema.arguments.size(); ++k) {
    if (schema.arguments[k].alias != 0 && schema.arguments[k].alias == schema.results[i].alias)
      return k;
  }
  return 0;
}

}  // namespace

Argument Aliases::Fresh(Argument tensor) {
  if (!tensor.is_tensor()) {
    for (Argument& item : tensor.items) item = Fresh(std::move(item));
    return tensor;
  }
  auto storage = std::make_shared<Storage>();
  storage->value = tensor.value;
  storage->id = next_id_++;
  tensor.alias = std::make_shared<TensorAlias>();
  tensor.alias->storage_ = std::move(storage);
  tensor.alias->seen_ = tensor.value;
  return tensor;
}

Value Aliases::Read(const Argument& tensor) {
  TensorAlias* alias = tensor.alias.get();
  if (alias == nullptr) return tensor.value;
  if (!alias->storage_->stale.empty()) {
    b_.Fail(StatusCode::kUnsupported,
            "this tensor is read after {}, which gives a view or a copy, by how the elements lie, "
            "and one of both was written since; make it a copy (clone)",
            alias->storage_->stale);
    return tensor.value;
  }
  if (alias->seen_ && alias->version_ == alias->storage_->version) return alias->seen_;
  alias->seen_ = Replay(*alias, alias->steps_.size());
  alias->version_ = alias->storage_->version;
  return alias->seen_;
}

Value Aliases::ReadShape(const Argument& tensor) {
  const bool stale = tensor.alias != nullptr && !tensor.alias->storage_->stale.empty();
  return stale && tensor.alias->seen_ ? tensor.alias->seen_ : Read(tensor);
}

Argument Aliases::Current(const Argument& a) {
  Argument now = a;
  if (a.is_tensor()) now.value = Read(a);
  for (Argument& item : now.items) item = Current(item);
  return now;
}

Value Aliases::Replay(TensorAlias& alias, size_t steps) {
  Value v = alias.storage_->value;
  for (size_t i = 0; i < steps && b_.status().ok(); ++i) v = Apply(alias.steps_[i], v);
  return v;
}

Value Aliases::Apply(const TensorAlias::Step& step, const Value& v) {
  std::vector<Argument> arguments = step.arguments;
  arguments[step.argument].value = v;
  Call call(b_, *step.op, std::move(arguments));
  call.Expect(step.expected);
  Results results = Converted(call);
  if (!b_.status().ok() || results.empty()) return v;
  if (!step.is_item) return results[std::min(step.result, results.size() - 1)].value;
  const Argument& list = results[0];
  return step.result < list.items.size() ? list.items[step.result].value : v;
}

void Aliases::Set(Storage& storage, const Value& value) {
  if (log_ != nullptr && storage.id < log_from_) {
    const bool known = std::any_of(log_->begin(), log_->end(),
                                   [&](const Written& w) { return w.storage.get() == &storage; });
    if (!known) log_->push_back({storage.shared_from_this(), storage.value});
  }
  storage.value = value;
  ++storage.version;
  if (storage.perhaps == nullptr) return;
  for (const std::weak_ptr<Storage>& other : *storage.perhaps) {
    const auto held = other.lock();
    if (held == nullptr || held.get() == &storage) continue;
    held->stale = held->perhaps_by.empty() ? storage.perhaps_by : held->perhaps_by;
  }
}

std::vector<Aliases::Written> Aliases::During(const std::function<void()>& run) {
  std::vector<Written> written;
  std::vector<Written>* outer = std::exchange(log_, &written);
  const uint64_t outer_from = std::exchange(log_from_, next_id_);
  run();
  log_ = outer;
  log_from_ = outer_from;
  if (outer != nullptr) {
    for (const Written& w : written) {
      const bool known = std::any_of(outer->begin(), outer->end(),
                                     [&](const Written& o) { return o.storage == w.storage; });
      if (w.storage->id < outer_from && !known) outer->push_back(w);
    }
  }
  std::sort(written.begin(), written.end(),
            [](const Written& x, const Written& y) { return x.storage->id < y.storage->id; });
  return written;
}

void Aliases::Refine(const Argument& tensor, const Value& value) {
  if (tensor.alias == nullptr) return;
  Read(tensor);
  tensor.alias->seen_ = value;
  if (tensor.alias->is_whole()) tensor.alias->storage_->value = value;
}

void Aliases::Write(const Argument& tensor, const Value& value) {
  if (!b_.status().ok()) return;
  if (tensor.alias == nullptr) {
    b_.Fail("a number that is no tensor is written");
    return;
  }
  TensorAlias& alias = *tensor.alias;
  const Value old = Read(tensor);
  Value v = b_.Cast(value, old.dtype());
  if (v.shape() != old.shape()) v = BroadcastAs(v, old);
  if (!b_.status().ok()) return;
  const Value written = v;
  for (size_t i = alias.steps_.size(); i-- > 0;) v = Undo(alias.steps_[i], Replay(alias, i), v);
  if (!b_.status().ok()) return;
  Set(*alias.storage_, v);
  alias.seen_ = written;
  alias.version_ = alias.storage_->version;
}

Value Aliases::BroadcastAs(const Value& v, const Value& like) {
  const Value shape = b_.ShapeOf(like);
  Value from = v;
  // Leading dims of 1 are dropped.
  while (from.rank() > like.rank() && from.dim(0).is_const(1)) from = b_.Squeeze(from, {0});
  if (from.rank() > like.rank()) {
    b_.Fail("a tensor of rank {} is written to one of rank {}", from.rank(), like.rank());
    return like;
  }
  if (const auto known = b_.ConstantInts(shape))
    return b_.Op("broadcast_to", {from}, {{"shape", ListOf(*known)}});
  return b_.Op("dyn.broadcast_to", {from, shape});
}

// The value that the step looks at, once `v` stands where it looks.
Value Aliases::Undo(const TensorAlias::Step& step, const Value& before, const Value& v) {
  if (!b_.status().ok()) return before;
  const std::string_view name = step.op->schema.name;
  const auto call = [&](std::string_view full_name, std::vector<Argument> arguments) {
    Call context(b_, *step.op, step.arguments);
    return context.ValueAs(full_name, std::move(arguments));
  };
  const auto arg = [&](std::string_view argument) -> Argument {
    const int i = step.op->schema.Find(argument);
    return i < 0 ? Argument() : step.arguments[static_cast<size_t>(i)];
  };
  if (Among(name, kReshapes)) {
    std::vector<Value> dims;
    for (int i = 0; i < before.rank(); ++i) dims.push_back(b_.DimOf(before, i));
    return v.shape() == before.shape() ? v : ShapedAs(b_, v, dims);
  }
  if (Among(name, kSwaps)) return Apply(step, v);
  if (Among(name, kOverlapping)) {
    b_.Fail(StatusCode::kUnsupported,
            "a view made by {} is written, whose elements may share a place", name);
    return before;
  }
  if (Among(name, kPermutes)) {
    // Where each axis came from, by what the view does to a tensor of extents 1, 2, 3 ...
    return b_.Transpose(v, PermutationOf(step, before.rank()));
  }
  if (name == "aten::select")
    return call("aten::select_scatter", {before, v, arg("dim"), arg("index")});
  if (name == "aten::slice")
    return call("aten::slice_scatter",
                {before, v, arg("dim"), arg("start"), arg("end"), arg("step")});
  if (name == "aten::unbind")
    return call("aten::select_scatter",
                {before, v, arg("dim"), Argument::Int(static_cast<int64_t>(step.result))});
  return Scattered(step, before, v);
}

std::vector<int64_t> Aliases::PermutationOf(const TensorAlias::Step& step, int rank) {
  std::vector<int64_t> extents;
  for (int i = 0; i < rank; ++i) extents.push_back(i + 2);
  const ir::Var* var = b_.NewVar(
      "", ir::MakeTensorType(std::vector<Dim>(extents.begin(), extents.end()), DType::kInt32));
  const Value moved = Apply(step, b_.Use(var));
  std::vector<int64_t> back(static_cast<size_t>(rank), 0);
  for (int i = 0; i < moved.rank() && moved.rank() == rank; ++i) {
    if (moved.dim(i).is_const()) back[static_cast<size_t>(moved.dim(i).value() - 2)] = i;
  }
  return back;
}

// The same of any view, by the places of the elements that it looks at.
Value Aliases::Scattered(const TensorAlias::Step& step, const Value& before, const Value& v) {
  const Value count = ProductOfDims(b_, before, 0, before.rank());
  const Term places = Range(Term(b_, b_.Reshape(count, {})));
  std::vector<Value> dims;
  for (int i = 0; i < before.rank(); ++i) dims.push_back(b_.DimOf(before, i));
  const Value seen = Apply(step, ShapedAs(b_, places, dims));
  const Value flat = b_.Op("scatter_elements",
                           {b_.Reshape(before, {-1}), b_.Reshape(seen, {-1}), b_.Reshape(v, {-1})},
                           {{"axis", 0}, {"reduction", "update"}});
  return ShapedAs(b_, flat, dims);
}

bool Aliases::Allowed(const Operator& op, const Argument& a) {
  for (const Argument& item : a.items) {
    if (!Allowed(op, item)) return false;
  }
  const Takes takes = op.def->takes;
  if (a.quantised != nullptr &&
      (takes == Takes::kPlain || takes == Takes::kComplex || takes == Takes::kNested)) {
    b_.Fail(StatusCode::kUnsupported, "{} of a quantised tensor is not supported", op.schema.name);
    return false;
  }
  if (a.rows != nullptr && takes != Takes::kNested) {
    b_.Fail(StatusCode::kUnsupported, "{} of a nested tensor is not supported", op.schema.name);
    return false;
  }
  if (a.complex && takes != Takes::kComplex && takes != Takes::kAll) {
    b_.Fail(StatusCode::kUnsupported, "{} of a complex tensor is not supported", op.schema.name);
    return false;
  }
  return true;
}

// A tensor that looks at what `from` looks at, or is a copy of it. Which, matters only where one of
// them is written and the other is read later.
Argument Aliases::Perhaps(const TensorAlias& from, std::string_view by, Argument value) {
  Argument made = Fresh(std::move(value));
  Storage& old = *from.storage_;
  Storage& storage = *made.alias->storage_;
  if (old.perhaps == nullptr) {
    old.perhaps = std::make_shared<std::vector<std::weak_ptr<Storage>>>();
    old.perhaps->push_back(from.storage_);
  }
  storage.perhaps = old.perhaps;
  storage.perhaps_by = by;
  storage.perhaps->push_back(made.alias->storage_);
  if (by != "aten::contiguous") made.alias->layout_ = Layout::kUnknown;
  return made;
}

// How the result of a view lies: `perhaps` views of what is not contiguous may be copies.
Argument Aliases::View(const Call& of, const std::vector<Argument>& original,
                       const std::vector<Argument>& current, size_t result, bool is_item,
                       Argument value) {
  const Operator& op = of.op();
  const size_t viewed = Viewed(op.schema, is_item ? 0 : result);
  const Argument& source = original[viewed];
  if (source.alias == nullptr || !source.is_tensor()) return Fresh(std::move(value));
  const TensorAlias& from = *source.alias;
  const std::string_view name = op.schema.name;
  if (name == "aten::contiguous" && from.layout_ == Layout::kDense) {
    value.alias = source.alias;
    return value;
  }
  const int copy = op.schema.Find("copy");
  if (copy >= 0 && current[static_cast<size_t>(copy)].is(Kind::kBool) &&
      current[static_cast<size_t>(copy)].integer != 0)
    return Fresh(std::move(value));
  if (value.value.node == current[viewed].value.node && name == "aten::to") {
    value.alias = source.alias;  // the same tensor
    return value;
  }
  if (value.value.dtype() != current[viewed].value.dtype()) return Fresh(std::move(value));
  const std::vector<Dim>& shape = current[viewed].value.shape();
  const AxisSteps steps = from.layout_ == Layout::kSteps ? from.steps_of_axes_ : DenseSteps(shape);
  if (Among(name, kPerhaps) && from.layout_ != Layout::kDense) {
    AxisSteps view;
    Fit fit = Fit::kUnknown;
    if (from.layout_ == Layout::kSteps && steps.size() == shape.size()) {
      fit =
          name == "aten::contiguous" ? Fit::kCopy : FitOf(shape, steps, value.value.shape(), &view);
    }
    if (fit == Fit::kCopy) return Fresh(std::move(value));
    if (fit == Fit::kUnknown) return Perhaps(from, name, std::move(value));
  }
  auto alias = std::make_shared<TensorAlias>();
  alias->storage_ = from.storage_;
  alias->steps_ = from.steps_;
  alias->steps_.push_back({&op, current, viewed, result, is_item, of.expected()});
  alias->seen_ = value.value;
  alias->version_ = from.storage_->version;
  if (from.layout_ == Layout::kUnknown) {
    alias->layout_ = Layout::kUnknown;
  } else if (from.layout_ != Layout::kDense || !Among(name, kReshapes)) {
    auto own = StepsOfView(of, current[viewed], value.value, steps);
    alias->layout_ = !own                                 ? Layout::kUnknown
                     : IsDense(value.value.shape(), *own) ? Layout::kDense
                                                          : Layout::kSteps;
    if (own) alias->steps_of_axes_ = *std::move(own);
  }
  value.alias = std::move(alias);
  return value;
}

// as_strided looks at the storage itself, whatever its argument looks at of it.
void Aliases::LookAtStorage(std::vector<Argument>& arguments) {
  Argument& x = arguments[0];
  if (x.alias == nullptr) return;
  const TensorAlias& from = *x.alias;
  bool reshapes = true, moves = true;
  for (const TensorAlias::Step& step : from.steps_) {
    const std::string_view name = step.op->schema.name;
    reshapes &= Among(name, kReshapes);
    moves &= Among(name, kReshapes) || Among(name, kSwaps) || Among(name, kPermutes);
  }
  const bool placed = arguments.size() > 3 && !arguments[3].is_none();
  if (from.layout_ == Layout::kDense && (reshapes || !placed)) return;
  if ((from.is_whole() && from.layout_ != Layout::kDense) || (!moves && !placed)) {
    b_.Fail(StatusCode::kUnsupported,
            "aten::as_strided of a tensor of which is not known how its elements lie; make it a "
            "copy (contiguous)");
    return;
  }
  auto alias = std::make_shared<TensorAlias>();
  alias->storage_ = from.storage_;
  x.alias = std::move(alias);
  x.value = Read(x);
}

Results Aliases::Run(const Operator& op, std::vector<Argument> arguments, bool in_place,
                     const Argument* out) {
  if (op.schema.name == "aten::as_strided" && !arguments.empty()) LookAtStorage(arguments);
  std::vector<Argument> current;
  const bool of_shapes = Among(op.schema.name, kOfShapes);
  for (const Argument& a : arguments) {
    current.push_back(of_shapes && a.is_tensor() ? a : Current(a));
    if (of_shapes && a.is_tensor()) current.back().value = ReadShape(a);
  }
  const bool by_parts = IsComplexCall(op, current);
  for (const Argument& a : current) {
    if (!by_parts && !Allowed(op, a)) return {};
  }
  Call call(b_, op, current);
  const Expected expected = std::exchange(expected_, {});
  call.Expect(expected);
  Results results = Converted(call);
  if (!b_.status().ok()) return {};
  if (op.def->takes == Takes::kMoves && !arguments.empty()) Keep(current[0], &results);
  for (const auto& [i, value] : call.writes()) Write(arguments[i], value);
  if (results.empty()) return results;
  if (in_place) return InPlace(call, arguments, current, out, std::move(results));
  for (size_t i = 0; i < results.size(); ++i) {
    if (!op.schema.IsView(i)) {
      results[i] = Fresh(std::move(results[i]));
      const bool turned = std::ranges::any_of(arguments, [&](const Argument& a) {
        return a.alias != nullptr && a.alias->layout_ != Layout::kDense &&
               LiesAlike(op.schema.name, a, results[i].value) &&
               (a.alias->layout_ == Layout::kUnknown || !InOrder(a.alias->steps_of_axes_));
      });
      if (turned && results[i].alias != nullptr) results[i].alias->layout_ = Layout::kUnknown;
      continue;
    }
    if (results[i].is_tensor()) {
      results[i] = View(call, arguments, current, i, false, std::move(results[i]));
      continue;
    }
    for (size_t k = 0; k < results[i].items.size(); ++k) {
      results[i].items[k] = View(call, arguments, current, k, true, std::move(results[i].items[k]));
    }
  }
  return results;
}

// What is quantised, or complex, stays so where elements are only moved.
void Aliases::Keep(const Argument& first, Results* results) {
  const Argument& model = first.is_list() && !first.items.empty() ? first.items[0] : first;
  for (Argument& r : *results) {
    for (Argument& item : r.items) {
      if (item.quantised == nullptr) item.quantised = model.quantised;
    }
    if (r.is_tensor() && r.quantised == nullptr) r.quantised = model.quantised;
  }
}

Results Aliases::InPlace(const Call& call, const std::vector<Argument>& arguments,
                         const std::vector<Argument>& current, const Argument* out,
                         Results results) {
  const Operator& op = call.op();
  const Argument& target = out != nullptr ? *out : arguments[0];
  if (out != nullptr && target.alias != nullptr && target.alias->is_whole()) {
    Set(*target.alias->storage_, b_.Cast(results[0].value, Read(target).dtype()));
    target.alias->seen_ = {};
    Argument given = target;
    given.value = Read(target);
    return {given};
  }
  if (out == nullptr && op.schema.IsView(0) && target.alias != nullptr) {
    if (Among(op.schema.name, kInPlaceViews)) {
      // The tensor itself looks otherwise from here on.
      const Argument view = View(call, arguments, current, 0, false, results[0]);
      if (view.alias != target.alias) *target.alias = *view.alias;
      Argument given = target;
      given.value = Read(target);
      return {given};
    }
  }
  Write(target, results[0].value);
  Argument given = target;
  given.value = Read(target);
  return {given};
}

}  // namespace relayvm::import::torch
