#include "compiler/import/torch/export_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/import/torch/export_archive.h"
#include "compiler/import/torch/user_converter.h"

namespace relayvm::import::torch {

namespace {

using Kind = Argument::Kind;
constexpr int kDepth = 64;

// Python's operators on symbolic numbers, and the rows that are them.
struct ScalarTarget {
  std::string_view text, name, overload;
};
constexpr ScalarTarget kScalarTargets[] = {
    {"_operator.add", "aten::add", ""},
    {"_operator.sub", "aten::sub", ""},
    {"_operator.mul", "aten::mul", ""},
    {"_operator.floordiv", "aten::floordiv", ""},
    {"_operator.mod", "aten::remainder", ""},
    {"_operator.truediv", "aten::truediv", ""},
    {"_operator.pow", "aten::pow", "int_to_int"},
    {"_operator.neg", "aten::neg", "int"},
    {"_operator.pos", "prim::pos", ""},
    {"_operator.eq", "aten::eq", ""},
    {"_operator.ne", "aten::ne", ""},
    {"_operator.lt", "aten::lt", ""},
    {"_operator.le", "aten::le", ""},
    {"_operator.gt", "aten::gt", ""},
    {"_operator.ge", "aten::ge", ""},
    {"_operator.and_", "aten::__and__", "int"},
    {"_operator.or_", "aten::__or__", "int"},
    {"_operator.xor", "aten::__xor__", "int"},
    {"_operator.lshift", "aten::__lshift__", "int"},
    {"_operator.rshift", "aten::__rshift__", "int"},
    {"_operator.not_", "aten::sym_not", ""},
    {"torch.sym_not", "aten::sym_not", ""},
    {"torch.sym_int", "aten::sym_int", ""},
    {"torch.sym_float", "aten::sym_float", ""},
    {"torch.sym_ite", "aten::sym_ite", ""},
    {"torch.sym_max", "prim::max", "int"},
    {"torch.sym_min", "prim::min", "int"},
    {"torch.sym_sqrt", "aten::sqrt", "float"},
    {"torch._sym_sqrt", "aten::sqrt", "float"},
    {"torch._sym_log2", "aten::log2", "float"},
    {"torch._sym_exp", "aten::exp", "float"},
    {"torch._sym_cos", "aten::cos", "float"},
    {"torch._sym_sin", "aten::sin", "float"},
    {"math.trunc", "aten::trunc", "float"},
    {"math.ceil", "aten::ceil", "float"},
    {"math.floor", "aten::floor", "float"},
    {"builtins.round", "aten::round", "float"},
    {"builtins.max", "prim::max", "int"},
    {"builtins.min", "prim::min", "int"},
    {"builtins.abs", "prim::abs", "int"},
    {"builtins.float", "aten::sym_float", ""},
    {"builtins.int", "aten::sym_int", ""},
};

constexpr std::array<std::string_view, 14> kHigherOrder = {"cond",
                                                           "while_loop",
                                                           "scan",
                                                           "map_impl",
                                                           "map",
                                                           "wrap_with_set_grad_enabled",
                                                           "wrap_with_autocast",
                                                           "invoke_subgraph",
                                                           "associative_scan",
                                                           "tag_activation_checkpoint",
                                                           "strict_mode",
                                                           "hints_wrapper",
                                                           "wrap",
                                                           "wrap_activation_checkpoint"};

// Of a library of the user's: "acme::blur" is its operator acme.blur.
const OpDef* FindCustom(const CustomOperators& custom, const Target& t) {
  const size_t at = t.name.find("::");
  if (at == std::string::npos) return nullptr;
  const std::string space = t.name.substr(0, at), name = t.name.substr(at + 2);
  if (const OpDef* op = custom.Find(fmt::format("{}.{}", space, name))) return op;
  return custom.FindOnnx(space, name);
}

bool IsSupported(const Target& t, const ImportOptions& options) {
  if (FindUserConverter(options.user_operators, t.name) != nullptr) return true;
  if (!t.higher_order.empty())
    return std::find(kHigherOrder.begin(), kHigherOrder.end(), t.higher_order) !=
           kHigherOrder.end();
  return FindOperator(t.name, t.overload) != nullptr;
}

}  // namespace

Target TargetOf(std::string_view text) {
  constexpr std::string_view kOps = "torch.ops.", kHigher = "torch.ops.higher_order.";
  Target t;
  if (text.starts_with(kHigher)) {
    t.higher_order = text.substr(kHigher.size());
    return t;
  }
  for (const ScalarTarget& s : kScalarTargets) {
    if (s.text == text) return {std::string(s.name), std::string(s.overload), ""};
  }
  if (!text.starts_with(kOps)) {
    t.name = text;
    return t;
  }
  const std::string_view rest = text.substr(kOps.size());
  const size_t dot = rest.find('.'), last = rest.rfind('.');
  if (dot == std::string_view::npos || last == dot) {
    t.name = text;
    return t;
  }
  t.name = fmt::format("{}::{}", rest.substr(0, dot), rest.substr(dot + 1, last - dot - 1));
  t.overload = rest.substr(last + 1);
  return t;
}

std::string UserPlace(const Json& node) {
  const Json& metadata = Member(node, "metadata");
  const std::string_view trace = TextOf(Member(metadata, "stack_trace"));
  // The last frame that is not of PyTorch itself.
  std::string place;
  constexpr std::string_view kFile = "File \"";
  for (size_t at = trace.find(kFile); at != std::string_view::npos;
       at = trace.find(kFile, at + 1)) {
    const size_t from = at + kFile.size(), end = trace.find('"', from);
    if (end == std::string_view::npos) break;
    const std::string_view file = trace.substr(from, end - from);
    constexpr std::string_view kLine = ", line ";
    if (file.find("site-packages/torch/") != std::string_view::npos ||
        !trace.substr(end + 1).starts_with(kLine))
      continue;
    size_t number = end + 1 + kLine.size();
    place = fmt::format("{}:", file);
    while (number < trace.size() && trace[number] >= '0' && trace[number] <= '9')
      place += trace[number++];
  }
  const std::string_view stack = TextOf(Member(metadata, "nn_module_stack"));
  const size_t entry = stack.rfind(';');
  std::string_view module = entry == std::string_view::npos ? stack : stack.substr(entry + 1);
  const size_t first = module.find(',');
  if (first == std::string_view::npos) return place;
  module = module.substr(first + 1);
  module = module.substr(0, module.find(','));
  if (module.empty()) return place;
  return place.empty() ? std::string(module) : fmt::format("{} ({})", place, module);
}

void FindMissing(const Json& graph, const ImportOptions& options,
                 std::map<std::string, Missing>* missing) {
  for (const Json& node : Member(graph, "nodes")) {
    const std::string text(TextOf(Member(node, "target")));
    const Target target = TargetOf(text);
    if (VmapTarget(text).empty() && !IsSupported(target, options) &&
        FindCustom(options.operators, target) == nullptr) {
      Missing& m = (*missing)[text];
      if (++m.count == 1) m.place = UserPlace(node);
    }
    for (const Json& input : Member(node, "inputs")) {
      const auto [kind, value] = UnionOf(Member(input, "arg"));
      if (kind == "as_graph") FindMissing(Member(*value, "graph"), options, missing);
    }
  }
}

// --- Arguments ---

Argument ExportGraph::Named(const Json& name, const Names& names) {
  const auto at = names.find(TextOf(name));
  if (at != names.end()) return at->second;
  b_.Fail("there is no value '{}' before this node", TextOf(name));
  return {};
}

Argument ExportGraph::SymbolicOf(const Json& v, const Names& names) {
  const auto [kind, value] = UnionOf(v);
  if (kind == "as_name") return Named(*value, names);
  if (kind == "as_int") return Argument::Int(IntOf(*value).value_or(0));
  if (kind == "as_bool") return Argument::Bool(*value == Json(true));
  if (kind == "as_float" && value->is_number())
    return Argument::Float(*value->get_ptr<const double*>());
  b_.Fail("a symbolic number is given by '{}', which this version does not know", kind);
  return {};
}

Argument FloatArgument(const Json& v) {
  const std::string_view text = TextOf(v);
  if (text == "Infinity") return Argument::Float(HUGE_VAL);
  if (text == "-Infinity") return Argument::Float(-HUGE_VAL);
  if (text == "NaN") return Argument::Float(NAN);
  if (const auto* real = v.get_ptr<const double*>()) return Argument::Float(*real);
  return Argument::Float(static_cast<double>(IntOf(v).value_or(0)));
}

Argument ExportGraph::Read(const Json& argument, const Names& names) {
  const auto [kind, value] = UnionOf(argument);
  const Json& v = *value;
  const auto list = [&](const auto& read) {
    std::vector<Argument> items;
    for (const Json& item : v) items.push_back(read(item));
    return Argument::List(std::move(items));
  };
  if (kind == "as_none" || kind == "as_graph" || kind == "as_operator") return {};
  if (kind == "as_tensor" || kind == "as_optional_tensor") {
    if (kind == "as_optional_tensor" && !v.contains("name")) return Read(v, names);
    return Named(Member(v, "name"), names);
  }
  if (kind == "as_tensors")
    return list([&](const Json& item) { return Named(Member(item, "name"), names); });
  if (kind == "as_optional_tensors")
    return list([&](const Json& item) { return Read(item, names); });
  if (kind == "as_nested_tensors") {
    return list([&](const Json& inner) {
      std::vector<Argument> items;
      for (const Json& item : inner) items.push_back(Named(Member(item, "name"), names));
      return Argument::List(std::move(items));
    });
  }
  if (kind == "as_int") return Argument::Int(IntOf(v).value_or(0));
  if (kind == "as_ints")
    return list([&](const Json& item) { return Argument::Int(IntOf(item).value_or(0)); });
  if (kind == "as_float") return FloatArgument(v);
  if (kind == "as_floats") return list(FloatArgument);
  if (kind == "as_bool") return Argument::Bool(v == Json(true));
  if (kind == "as_bools")
    return list([&](const Json& item) { return Argument::Bool(item == Json(true)); });
  if (kind == "as_string") return Argument::String(std::string(TextOf(v)));
  if (kind == "as_strings")
    return list([&](const Json& item) { return Argument::String(std::string(TextOf(item))); });
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool")
    return SymbolicOf(v, names);
  if (kind == "as_sym_ints" || kind == "as_sym_floats" || kind == "as_sym_bools")
    return list([&](const Json& item) { return SymbolicOf(item, names); });
  if (kind == "as_scalar_type") return Argument::Int(TorchOfExported(IntOf(v).value_or(0)));
  if (kind == "as_memory_format") {
    // 1 contiguous, 2 channels last, 3 the same of 3 dims, 4 preserved; TorchScript: 0, 2, 3, 1.
    const int64_t format = IntOf(v).value_or(1);
    return Argument::Int(format == 1 ? 0 : format == 4 ? 1 : format);
  }
  if (kind == "as_layout") return Argument::Int(0);
  if (kind == "as_device") return Argument::Device(std::string(TextOf(Member(v, "type"))));
  if (kind == "as_complex") {
    return Argument::Complex(FloatArgument(Member(v, "real")).real,
                             FloatArgument(Member(v, "imag")).real);
  }
  if (kind == "as_int_lists") {
    return list([&](const Json& inner) {
      std::vector<int64_t> ints;
      for (const Json& item : inner) ints.push_back(IntOf(item).value_or(0));
      return Argument::Ints(ints);
    });
  }
  if (kind == "as_custom_obj") {
    b_.Fail(StatusCode::kUnsupported, "an object of a class (TorchBind) is not supported");
    return {};
  }
  b_.Fail("an argument is given as '{}', which this version does not know", kind);
  return {};
}

// --- Nodes ---

// A result in the dtype that the file says (autocast computes in another), and of its rank.
Argument ExportGraph::AsFileSays(const Json& graph, const std::string& name, Argument value) {
  const Json& meta = Member(Member(graph, "tensor_values"), name.c_str());
  if (!value.is_tensor() || !value.value.is_tensor() || !meta.is_object()) return value;
  const auto rank = static_cast<int>(Member(meta, "sizes").size()) + (value.complex ? 1 : 0);
  if (rank != value.value.rank() && b_.status().ok() && !batched_) {
    b_.Fail("'{}' has rank {}, the file says {}", name, value.value.rank(), rank);
  }
  const auto dtype = DTypeOfTorch(TorchOfExported(IntOf(Member(meta, "dtype")).value_or(0)));
  if (dtype && !value.complex && value.quantised == nullptr && *dtype != value.value.dtype()) {
    Argument cast = b_.Cast(aliases_.Read(value), *dtype);
    return aliases_.Fresh(std::move(cast));
  }
  if (!batched_ && !value.complex) WithSizesOf(meta, name, &value);
  return value;
}

// Sizes that are numbers in the file and formulas here: min(n, 3), where n is never less than 3.
void ExportGraph::WithSizesOf(const Json& meta, const std::string& name, Argument* value) {
  if (!b_.status().ok()) return;
  std::vector<Dim> shape(value->value.shape().size(), Dim::Any());
  bool more = false;
  const Json& sizes = Member(meta, "sizes");
  for (size_t i = 0; i < shape.size() && i < sizes.size(); ++i) {
    const auto size = IntOf(Member(ItemOf(sizes, i), "as_int"));
    if (!size || *size < 0 || value->value.shape()[i].is_const()) continue;
    shape[i] = Dim(*size);
    more = true;
  }
  if (!more) return;
  const Value v = aliases_.Read(*value);
  const ir::Type type = ir::MakeTensorType(std::move(shape), v.dtype());
  value->value = b_.Stated({v, type}, {}, fmt::format("'{}'", name));
  aliases_.Refine(*value, value->value);
}

void ExportGraph::Name(const Json& graph, const Json& output, Argument value, Names& names) {
  const auto [kind, v] = UnionOf(output);
  if (kind == "as_none") return;
  if (kind == "as_tensors" || kind == "as_optional_tensors") {
    size_t i = 0;
    for (const Json& item : *v) {
      const std::string name(TextOf(Member(item, "name")));
      if (i < value.items.size() && !name.empty())
        names[name] = AsFileSays(graph, name, value.items[i]);
      ++i;
    }
    if (value.items.size() != v->size() && b_.status().ok())
      b_.Fail("{} tensors, the file says {}", value.items.size(), v->size());
    return;
  }
  const std::string name(TextOf(Member(*v, kind.starts_with("as_sym") ? "as_name" : "name")));
  if (name.empty()) return;
  names[name] = AsFileSays(graph, name, std::move(value));
}

bool ExportGraph::FitsFile(const Json& graph, const Json& output, const Argument& value) const {
  const auto [kind, v] = UnionOf(output);
  if (kind != "as_tensor" || !value.is_tensor() || value.complex || batched_) return true;
  const std::string name(TextOf(Member(*v, "name")));
  const Json& meta = Member(Member(graph, "tensor_values"), name.c_str());
  return !meta.is_object() || static_cast<int>(Member(meta, "sizes").size()) == value.value.rank();
}

void ExportGraph::Assign(const Json& graph, const Json& node, std::vector<Argument> results,
                         Names& names) {
  const Json& outputs = Member(node, "outputs");
  if (!outputs.is_array() || !b_.status().ok()) return;
  size_t i = 0;
  for (const Json& output : outputs) {
    if (i >= results.size()) {
      const auto [kind, v] = UnionOf(output);
      if (kind == "as_none" || results.empty()) continue;
      b_.Fail("{} results, the file says {}", results.size(), outputs.size());
      return;
    }
    const bool is_first = i == 0;
    Argument result = std::move(results[i++]);
    // A further result that nobody reads may be of any rank.
    if (!is_first && !FitsFile(graph, output, result)) continue;
    Name(graph, output, std::move(result), names);
  }
}

// Tensors are its inputs, in order; what else is given are attributes.
std::vector<Argument> ExportGraph::CallCustom(const OpDef& op, const Json& node,
                                              const Names& names) {
  std::vector<Value> inputs;
  Attrs attrs;
  for (const Json& input : Member(node, "inputs")) {
    const Argument a = Read(Member(input, "arg"), names);
    const std::string name(TextOf(Member(input, "name")));
    if (a.is_tensor()) {
      inputs.push_back(aliases_.Read(a));
    } else if (a.is(Kind::kInt) || a.is(Kind::kBool)) {
      attrs.Set(name, a.integer);
    } else if (a.is(Kind::kFloat)) {
      attrs.Set(name, a.real);
    } else if (a.is(Kind::kString)) {
      attrs.Set(name, a.text);
    } else if (a.is_list()) {
      AttrList list;
      for (const Argument& item : a.items) {
        if (item.is_tensor()) inputs.push_back(aliases_.Read(item));
        if (item.is(Kind::kInt)) list.emplace_back(item.integer);
        if (item.is(Kind::kFloat)) list.emplace_back(item.real);
      }
      if (!list.empty()) attrs.Set(name, list);
    }
  }
  const Value result = b_.Op(op, inputs, attrs);
  std::vector<Argument> out;
  if (!b_.status().ok()) return out;
  for (const Value& v : result.is_tensor() ? std::vector<Value>{result} : b_.Fields(result))
    out.push_back(aliases_.Fresh(Argument(v)));
  return out;
}

void ExportGraph::CallRow(const Json& graph, const Json& node, const Target& target, Names& names) {
  const Operator* op = FindOperator(target.name, target.overload);
  const OpDef* custom = op == nullptr ? FindCustom(options_.operators, target) : nullptr;
  if (custom != nullptr) {
    Assign(graph, node, CallCustom(*custom, node, names), names);
    return;
  }
  if (op == nullptr) {
    b_.Fail(StatusCode::kUnsupported, "{} is not supported", target.name);
    return;
  }
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  const Argument* out = nullptr;
  Argument out_value;
  for (const Json& input : Member(node, "inputs")) {
    const std::string name(TextOf(Member(input, "name")));
    Argument value = Read(Member(input, "arg"), names);
    if (name == "out") {
      out_value = std::move(value);
      out = &out_value;
    } else if (!name.empty() && op->schema.Find(name) >= 0) {
      keywords.push_back({name, std::move(value)});
    } else if (keywords.empty()) {
      positional.push_back(std::move(value));
    } else if (!value.is_none()) {
      // By its place, where the schema here calls it otherwise.
      const size_t at = positional.size() + keywords.size();
      if (at < op->schema.arguments.size())
        keywords.push_back({op->schema.arguments[at].name, std::move(value)});
    }
  }
  if (!b_.status().ok()) return;
  auto bound = Bind(op->schema, positional, keywords, /*convert=*/true);
  if (!bound.ok()) {
    b_.Fail(bound.status().code(), bound.status().message());
    return;
  }
  const Json& outputs = Member(node, "outputs");
  if (outputs.is_array() && !outputs.empty()) {
    const auto [kind, v] = UnionOf(outputs[0]);
    Expected expected;
    if (kind == "as_tensors") expected.items = v->size();
    if (kind == "as_tensor") {
      const std::string name(TextOf(Member(*v, "name")));
      const Json& meta = Member(Member(graph, "tensor_values"), name.c_str());
      if (meta.is_object() && !batched_)
        expected.rank = static_cast<int>(Member(meta, "sizes").size());
    }
    aliases_.Expect(expected);
  }
  const bool in_place = out != nullptr || IsInPlace(target.name);
  Assign(graph, node, aliases_.Run(*op, *std::move(bound), in_place, out), names);
}

void ExportGraph::CallUserConverter(const Json& graph, const Json& node, const Target& target,
                                    Names& names) {
  // The table's schema says what is left out, if it is the overload's.
  const Operator* op = FindOperator(target.name, target.overload);
  std::vector<Argument> positional;
  std::vector<KeywordArgument> keywords;
  for (const Json& input : Member(node, "inputs")) {
    const std::string name(TextOf(Member(input, "name")));
    Argument value = Read(Member(input, "arg"), names);
    const bool known = op != nullptr && op->schema.Find(name) >= 0;
    if (known || !keywords.empty()) {
      keywords.push_back({name, std::move(value)});
    } else {
      positional.push_back(std::move(value));
    }
  }
  if (!b_.status().ok()) return;
  Argument result =
      RunUserConverter(b_, aliases_, options_.user_operators, target.name, positional, keywords);
  if (!b_.status().ok()) return;
  const Json& outputs = Member(node, "outputs");
  const bool one = outputs.is_array() && outputs.size() == 1;
  Assign(graph, node, result.is_list() && !one ? result.items : Results{result}, names);
}

// "_assert_async", "_assert_scalar" and the like: the program fails where it does not hold.
void ExportGraph::Assert(const Json& node, const Names& names) {
  const Json& inputs = Member(node, "inputs");
  const Argument said = Read(Member(ItemOf(inputs, 0), "arg"), names);
  const Argument text = inputs.size() > 1 ? Read(Member(ItemOf(inputs, 1), "arg"), names) : said;
  const std::string message =
      text.is(Kind::kString) ? text.text : "Expected Tensor with single nonzero value";
  if (!b_.status().ok() || !(said.is_tensor() || said.is_number())) return;
  if (said.is_known_number() && said.number() != 0) return;
  const Value v = ValuesOf(b_, aliases_, {said})[0];
  b_.SetSpan(module_.sources->NodeSpan(file_, TextOf(Member(node, "name")), "assertion", message));
  assertions_.push_back({b_.Cast(v.rank() == 0 ? v : b_.Reshape(v, {}), DType::kBool), b_.span()});
}

std::vector<Argument> ExportGraph::WithAssertions(std::vector<Argument> outputs) {
  if (assertions_.empty() || !b_.status().ok()) return outputs;
  for (Argument& a : outputs) {
    if (!a.is_tensor() || !a.value) continue;
    for (const Assertion& assertion : assertions_) {
      b_.SetSpan(assertion.span);
      a.value = InRange(b_, assertion.holds, a.value);
    }
    aliases_.Refine(a, a.value);
    return outputs;
  }
  b_.SetSpan(assertions_[0].span);
  b_.Fail(StatusCode::kUnsupported, "an assertion in a graph that has no tensor as a result");
  return outputs;
}

void ExportGraph::RunNode(const Json& graph, const Json& node, Names& names) {
  const std::string text(TextOf(Member(node, "target")));
  std::string name(TextOf(Member(node, "name")));
  b_.SetSpan(module_.sources->NodeSpan(file_, name, text, UserPlace(node)));
  const Target target = TargetOf(text);
  if (target.name == "prim::pos") {
    for (const Json& input : Member(node, "inputs"))
      Assign(graph, node, {Read(Member(input, "arg"), names)}, names);
    return;
  }
  if (target.name.starts_with("aten::_assert_async") || target.name == "aten::_assert_scalar" ||
      target.name.starts_with("aten::_functional_assert"))
    Assert(node, names);
  if (FindUserConverter(options_.user_operators, target.name) != nullptr) {
    CallUserConverter(graph, node, target, names);
  } else if (target.higher_order.empty()) {
    CallRow(graph, node, target, names);
  } else {
    Assign(graph, node, HigherOrder(target.higher_order, node, names), names);
  }
}

void ExportGraph::RunNodes(const Json& graph, size_t from, size_t to, Names& names) {
  const Json& nodes = Member(graph, "nodes");
  for (size_t i = from; i < to && b_.status().ok();) {
    const std::string_view vmap = VmapTarget(TextOf(Member(ItemOf(nodes, i), "target")));
    if (vmap == "vmap_increment_nesting") {
      i = RunVmap(graph, i, to, names);
    } else {
      if (vmap.empty()) RunNode(graph, ItemOf(nodes, i), names);
      ++i;
    }
  }
}

std::vector<Argument> ExportGraph::Run(const Json& graph, std::vector<Argument> inputs,
                                       Names* values) {
  if (++depth_ > kDepth) {
    b_.Fail("graphs in graphs, more than {} deep", kDepth);
    return {};
  }
  Names names;
  std::vector<Assertion> outer = std::exchange(assertions_, {});
  const Json& parameters = Member(graph, "inputs");
  if (!parameters.is_array() || parameters.size() != inputs.size()) {
    b_.Fail("a graph of {} inputs is given {}", parameters.size(), inputs.size());
    return {};
  }
  for (size_t i = 0; i < inputs.size(); ++i) Name(graph, parameters[i], inputs[i], names);
  RunNodes(graph, 0, Member(graph, "nodes").size(), names);
  if (!b_.status().ok()) return {};
  std::vector<Argument> outputs;
  for (const Json& output : Member(graph, "outputs"))
    outputs.push_back(aliases_.Current(Read(output, names)));
  outputs = WithAssertions(std::move(outputs));
  assertions_ = std::move(outer);
  --depth_;
  if (values != nullptr) *values = std::move(names);
  return outputs;
}

}  // namespace relayvm::import::torch
