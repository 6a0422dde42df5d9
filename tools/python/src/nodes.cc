#include "tools/python/src/nodes.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bytecode/base/suggestion.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/from_anf.h"
#include "compiler/ir/large_stack.h"
#include "compiler/ir/printer.h"
#include "kernels/op/op.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/types.h"
#include "tools/python/src/values.h"
#include "tools/python/src/without_gil.h"

namespace py = pybind11;

namespace relayvm::python {
namespace {

// --- Records ---

const char* KindName(ir::NodeKind kind) {
  switch (kind) {
    case ir::NodeKind::kAtom:
    case ir::NodeKind::kOperator:
      break;
    case ir::NodeKind::kOpCall:
      return "op_call";
    case ir::NodeKind::kCall:
      return "call";
    case ir::NodeKind::kTuple:
      return "tuple";
    case ir::NodeKind::kTupleGet:
      return "get";
    case ir::NodeKind::kLet:
      return "let";
    case ir::NodeKind::kFunction:
      return "function";
    case ir::NodeKind::kIf:
      return "if";
    case ir::NodeKind::kMatch:
      return "match";
    case ir::NodeKind::kHostCall:
    case ir::NodeKind::kExpr:
      return "internal";
    case ir::NodeKind::kRefCreate:
      return "ref_create";
    case ir::NodeKind::kRefRead:
      return "ref_read";
    case ir::NodeKind::kRefWrite:
      return "ref_write";
  }
  return "?";
}

class RecordWriter {
 public:
  // `written`: the graph is its.
  RecordWriter(const ir::Module& m, const ir::Graph& graph,
               const frontend::WrittenProgram* written = nullptr)
      : m_(m), graph_(graph), written_(written), positions_(graph.nodes.size()) {}

  py::list Write() {
    for (ir::NodeId i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].kind != ir::NodeKind::kOperator) positions_[i] = Record(i);
    }
    return records_;
  }
  size_t position(ir::NodeId id) {
    const ir::Node& n = graph_.nodes[id];
    if (n.kind != ir::NodeKind::kOperator) return positions_[id];
    const std::string name(graph_.ops[n.payload].op->name);
    return Add("op", {}, py::str(name), py::none(), PlaceOf(id));
  }

 private:
  // Of a place in the module's sources.
  py::object SpanOf(ir::Span span) {
    if (span.line == 0 || written_ != nullptr) return py::none();
    return py::cast(PySpan{span, m_.sources});
  }
  py::object SpanOf(const frontend::WrittenPlace& place, ir::Span span) {
    if (place.line == 0) return py::none();
    return py::cast(PySpan{span, m_.sources, place});
  }
  py::object PlaceOf(ir::NodeId id) {
    const ir::Span span = graph_.nodes[id].span;
    return written_ == nullptr ? SpanOf(span) : SpanOf(written_->places[id], span);
  }
  py::object PlaceOf(const ir::Atom& a, ir::Span span) {
    if (written_ == nullptr) return SpanOf(span);
    const auto at = written_->atom_places.find(frontend::KeyOf(a));
    return at == written_->atom_places.end() ? py::none() : SpanOf(at->second, span);
  }

  size_t Add(const char* kind, const std::vector<size_t>& operands, py::object payload,
             py::object type, py::object place, py::object bound = py::none()) {
    py::tuple positions(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) positions[i] = operands[i];
    records_.append(py::make_tuple(Name(kind), positions, payload, type, place, bound));
    return records_.size() - 1;
  }
  py::object Name(const char* kind) {
    auto [at, is_new] = names_.try_emplace(kind);
    if (is_new) at->second = py::str(kind);
    return at->second;
  }
  py::object TypeOf(const ir::Type& type) {
    if (type == nullptr) return py::none();
    auto [at, is_new] = types_.try_emplace(type.get());
    if (is_new) at->second = py::cast(PyType{type, m_.arena});
    return at->second;
  }

  size_t Var(const ir::Var* v) {
    auto [at, is_new] = vars_.try_emplace(v, 0);
    if (is_new)
      at->second = Add("var", {}, py::cast(PyVar{v, m_.arena}), TypeOf(v->type),
                       PlaceOf(ir::Atom(v), v->span));
    return at->second;
  }
  size_t Atom(const ir::Atom& a, ir::Span span) {
    if (const ir::Var* v = ir::AsVar(a)) return Var(v);
    const void* node = frontend::KeyOf(a);
    const py::object place = PlaceOf(a, span);
    if (const auto at = atoms_.find(node); at != atoms_.end()) return at->second;
    const py::object type = TypeOf(ir::AtomType(m_, a));
    size_t position = 0;
    if (const auto* c = std::get_if<const ir::Constant*>(&a)) {
      const std::shared_ptr<const ir::Constant> shared(m_.arena, *c);
      position = Add("constant", {}, py::cast(PyConstant{shared, m_.arena}), type, place);
    } else if (const auto* g = std::get_if<const ir::GlobalVar*>(&a)) {
      position = Add("global", {}, py::str((*g)->name), type, place);
    } else {
      position = Add("constructor", {}, Path(*std::get<const ir::Constructor*>(a)), type, place);
    }
    atoms_.emplace(node, position);
    return position;
  }
  static py::object Path(const ir::Constructor& c) { return py::make_tuple(c.adt, c.name); }

  size_t Pattern(const ir::Pattern& p) {
    std::vector<size_t> fields;
    for (const ir::Pattern& f : p.fields) fields.push_back(Pattern(f));
    switch (p.kind) {
      case ir::Pattern::Kind::kWildcard:
        return Add("pattern_any", {}, py::none(), py::none(), SpanOf(p.span));
      case ir::Pattern::Kind::kVar:
        return Add("pattern_var", {Var(p.var)}, py::none(), py::none(), SpanOf(p.span));
      case ir::Pattern::Kind::kConstructor:
        return Add("pattern_constructor", fields, Path(*p.constructor), py::none(), SpanOf(p.span));
      case ir::Pattern::Kind::kTuple:
        return Add("pattern_tuple", fields, py::none(), py::none(), SpanOf(p.span));
    }
    return 0;
  }

  // One for each variable, the last first.
  size_t Let(const std::vector<const ir::Var*>& vars, const std::vector<size_t>& operands,
             ir::NodeId id) {
    const std::vector<frontend::WrittenPlace>* places = nullptr;
    if (written_ != nullptr) places = &written_->let_places.at(id);
    size_t body = operands.back();
    for (size_t i = vars.size(); i-- > 0;) {
      py::object place =
          places == nullptr || i == 0 ? PlaceOf(id) : SpanOf((*places)[i], graph_.nodes[id].span);
      body =
          Add("let", {Var(vars[i]), operands[i], body}, py::none(), py::none(), std::move(place));
    }
    return body;
  }

  size_t Record(ir::NodeId id) {
    const ir::Node& n = graph_.nodes[id];
    if (n.kind == ir::NodeKind::kAtom) return Atom(n.atom, n.span);
    std::vector<size_t> operands;
    for (const ir::NodeId operand : n.operands) operands.push_back(position(operand));
    py::object payload = py::none();
    py::object type = n.bind == nullptr ? py::none() : TypeOf(n.bind->type);
    switch (n.kind) {
      case ir::NodeKind::kOpCall: {
        const ir::OpPayload& call = graph_.ops[n.payload];
        payload = py::cast(PyCall{call.op, call.attrs, m_.arena});
        break;
      }
      case ir::NodeKind::kCall: {
        if (written_ == nullptr) break;
        const auto attrs = written_->call_attrs.find(id);
        if (attrs == written_->call_attrs.end()) break;
        py::dict kept;
        for (const auto& [name, value] : attrs->second)
          kept[name.c_str()] = ObjectOf(value, m_.arena);
        payload = kept;
        break;
      }
      case ir::NodeKind::kTupleGet:
        payload = py::int_(n.payload);
        break;
      case ir::NodeKind::kLet:
        return Let(graph_.lets[n.payload], operands, id);
      case ir::NodeKind::kFunction: {
        const ir::Function& f = graph_.functions[n.payload];
        const size_t body = operands[0];
        operands.clear();
        for (const ir::Var* p : f.params) operands.push_back(Var(p));
        operands.push_back(body);
        PyFunction made{std::make_shared<const ir::Function>(f), m_.arena};
        if (written_ != nullptr) {
          const auto order = written_->attr_orders.find(id);
          if (order != written_->attr_orders.end()) made.attr_order = order->second;
        }
        payload = py::cast(std::move(made));
        const bool is_typed =
            std::ranges::all_of(f.params, [](const ir::Var* p) { return p->type != nullptr; });
        if (f.result_type != nullptr && is_typed) type = TypeOf(ir::FunctionTypeOf(f));
        break;
      }
      case ir::NodeKind::kMatch: {
        const ir::MatchPayload& match = graph_.matches[n.payload];
        for (size_t i = 0; i < match.patterns.size(); ++i) {
          const size_t pattern = Pattern(match.patterns[i]);
          operands[i + 1] = Add("clause", {pattern, operands[i + 1]}, py::none(), py::none(),
                                SpanOf(match.patterns[i].span));
        }
        payload = py::bool_(match.complete);
        break;
      }
      case ir::NodeKind::kExpr:
        payload = py::cast(PyExpr{graph_.exprs[n.payload], m_.arena});
        break;
      default:
        break;
    }
    py::object bound = py::none();
    if (n.bind != nullptr) bound = py::cast(PyVar{n.bind, m_.arena});
    return Add(KindName(n.kind), operands, std::move(payload), std::move(type), PlaceOf(id),
               std::move(bound));
  }

  const ir::Module& m_;
  const ir::Graph& graph_;
  const frontend::WrittenProgram* written_;
  py::list records_;
  std::vector<size_t> positions_;  // of the records, by node
  std::unordered_map<const ir::Var*, size_t> vars_;
  std::unordered_map<const void*, size_t> atoms_;
  std::unordered_map<const ir::TypeNode*, py::object> types_;
  std::map<std::string, py::object, std::less<>> names_;
};

// --- Operators, constants, the rest ---

PyCall CallOf(const std::string& name, const py::dict& attrs, size_t num_args, const PyCall* like) {
  const OpDef* op = like != nullptr ? like->op : OpTable::Get().Find(name);
  if (op == nullptr)
    Throw({StatusCode::kUnsupported, fmt::format("there is no operator {}", name)});
  if (op->num_args >= 0 && num_args != static_cast<size_t>(op->num_args)) {
    throw py::type_error(fmt::format("operator {} takes {} argument{}, {} given", op->name,
                                     op->num_args, op->num_args == 1 ? "" : "s", num_args));
  }
  Attrs given;
  for (const auto& [key, value] : attrs) given.Set(key.cast<std::string>(), AttrOf(value));
  auto complete = CompleteAttrs(*op, given);
  if (!complete.ok()) Throw(complete.status());  // which names the operator
  return {op, *std::move(complete), nullptr};
}

// (positions of arguments that are tuples, [(attribute, whether it must be given, its default)]).
py::object SchemaOf(const std::string& name) {
  const OpDef* op = OpTable::Get().Find(name);
  if (op == nullptr) return py::none();
  py::list attrs;
  for (const AttrField& field : op->attrs)
    attrs.append(
        py::make_tuple(std::string(field.name), field.required, ObjectOf(field.fallback, nullptr)));
  return py::make_tuple(py::cast(op->tuple_args), attrs);
}

PyConstant ConstantOf(const py::object& object, const std::string& name) {
  ValueType open;
  open.kind = ValueType::Kind::kTypeVar;
  const Value value = py::isinstance<Opaque>(object)
                          ? object.cast<const Opaque&>().value
                          : ToValue(object, open, Program(), "a constant");
  if (!value.is_tensor()) throw py::type_error("a constant is a tensor");
  if (value.dtype() == DType::kString)
    throw py::type_error("a constant has no strings: make it a parameter, and bind that");
  HostTensor tensor;
  tensor.dtype = value.dtype();
  tensor.shape.assign(value.dims().begin(), value.dims().end());
  auto owner = std::make_shared<Value>(value);
  tensor.data = SharedBytes(std::span(static_cast<const std::byte*>(value.data()), value.bytes()),
                            std::shared_ptr<const void>(owner));
  return {std::make_shared<const ir::Constant>(ir::Constant{std::move(tensor), name}), nullptr};
}

// For numpy.asarray: the constant's own memory, not to be written. bfloat16: its bits.
py::buffer_info BufferOf(const PyConstant& c) {
  static constexpr std::array<const char*, kNumDTypes> kFormats = {
      "?", "b", "h", "i", "q", "B", "H", "I", "Q", "e", "H", "f", "d"};
  const HostTensor& t = c.constant->value;
  if (t.dtype == DType::kString) throw py::buffer_error("a constant of strings has no buffer");
  const py::ssize_t item = DTypeBytes(t.dtype);
  const std::vector<py::ssize_t> shape(t.shape.begin(), t.shape.end());
  std::vector<py::ssize_t> strides(shape.size());
  py::ssize_t stride = item;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return {const_cast<std::byte*>(t.data.data()),
          item,
          kFormats[static_cast<size_t>(t.dtype)],
          static_cast<py::ssize_t>(shape.size()),
          shape,
          strides,
          /*readonly=*/true};
}

const char* KindOf(const ir::Expr& e) {
  if (e.As<ir::HostCall>() != nullptr) return "host_call";
  if (e.As<ir::Stated>() != nullptr) return "stated";
  if (e.As<ir::Trap>() != nullptr) return "trap";
  if (e.As<ir::Guard>() != nullptr) return "guard";
  if (e.As<ir::DimOf>() != nullptr) return "dim";
  if (e.As<ir::ElementOf>() != nullptr) return "element";
  if (e.As<ir::ShapeValue>() != nullptr) return "shape_value";
  if (e.As<ir::ShapeByRule>() != nullptr) return "shape_by_rule";
  if (e.As<ir::MakeClosure>() != nullptr) return "closure";
  return "?";
}

// Definitions of types: [(name, [type parameters], [(constructor, [field types], its type)])].
py::list TypeDefinitions(const PyModule& p) {
  const ir::Module& m = p.model.module;
  const auto types = [&](const std::vector<ir::Type>& list) {
    py::list result;
    for (const ir::Type& t : list) result.append(PyType{t, m.arena});
    return result;
  };
  py::list definitions;
  for (const auto& [name, def] : m.types) {
    py::list constructors;
    for (const ir::Constructor* c : def.constructors)
      constructors.append(
          py::make_tuple(c->name, types(c->fields), PyType{ir::ConstructorType(m, *c), m.arena}));
    definitions.append(py::make_tuple(name, types(def.params), constructors));
  }
  return definitions;
}

}  // namespace

py::list FunctionRecords(const PyModule& p, const std::string& name) {
  const ir::Module& m = p.model.module;
  const auto found = m.functions.find(name);
  if (found == m.functions.end()) throw py::key_error(name);
  ir::Graph graph;
  {
    const GilRelease no_gil;
    graph = ir::WithLargeStack([&] {
      ir::Graph made;
      ir::SurfaceBuilder(m).Add(*found->second, &made);
      return made;
    });
  }
  py::list records = RecordWriter(m, graph).Write();
  py::tuple last = records[records.size() - 1];
  const std::shared_ptr<const ir::Function> own(m.arena, found->second);
  records[records.size() - 1] =
      py::make_tuple(last[0], last[1], PyFunction{own, m.arena}, last[3], last[4], last[5]);
  return records;
}

py::tuple WrittenRecords(const std::string& name, const std::string& text, bool is_expression,
                         size_t skipped) {
  Result<frontend::WrittenProgram> parsed = [&] {
    const GilRelease no_gil;
    return frontend::ParseRelayAsWritten({name, text, is_expression, skipped});
  }();
  frontend::WrittenProgram program = ValueOrThrow(std::move(parsed));
  RecordWriter writer(program.module, program.graph, &program);
  py::list records = writer.Write();
  py::list functions;
  for (const auto& [function, node] : program.functions)
    functions.append(py::make_tuple(function, writer.position(node)));
  return py::make_tuple(records, functions, PyModule{{std::move(program.module), {}}, {}});
}

AttrValue AttrOf(py::handle object) {
  if (object.is_none()) return {};
  if (py::isinstance<py::bool_>(object)) return object.cast<bool>();
  if (py::isinstance<PyDim>(object)) return object.cast<const PyDim&>().dim;
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (py::isinstance<py::float_>(object)) return object.cast<double>();
  if (py::isinstance<py::list>(object) || py::isinstance<py::tuple>(object)) {
    AttrList list;
    for (const py::handle item : object) list.push_back(AttrOf(item));
    return list;
  }
  if (PyIndex_Check(object.ptr()) != 0) {
    const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
    if (index) return Dim(index.cast<int64_t>());
    throw py::error_already_set();
  }
  // Numbers of numpy.
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Float(object.ptr()));
  if (number) return number.cast<double>();
  PyErr_Clear();
  throw py::type_error(
      fmt::format("an attribute is None, a bool, a number, a string, or a list of them; found {}",
                  Py_TYPE(object.ptr())->tp_name));
}

py::object ObjectOf(const AttrValue& value, const Home& home) {
  if (const auto* x = std::get_if<bool>(&value.value)) return py::bool_(*x);
  if (const auto* x = std::get_if<Dim>(&value.value)) return ObjectOfDim(*x, home);
  if (const auto* x = std::get_if<double>(&value.value)) return py::float_(*x);
  if (const auto* x = std::get_if<std::string>(&value.value)) return py::str(*x);
  const auto* list = std::get_if<AttrList>(&value.value);
  if (list == nullptr) return py::none();
  py::tuple result(list->size());
  for (size_t i = 0; i < list->size(); ++i) result[i] = ObjectOf((*list)[i], home);
  return result;
}

namespace {

void AddSpans(py::module_& m) {
  py::class_<PySpan>(m, "Span")
      .def_property_readonly("file", [](const PySpan& s) { return s.sources->name(s.span.file); })
      .def_property_readonly("line",
                             [](const PySpan& s) {
                               if (s.written.line != 0) return s.written.line;
                               return s.sources->IsModel(s.span.file) ? 0 : s.span.line;
                             })
      .def_property_readonly(
          "column",
          [](const PySpan& s) { return s.written.line != 0 ? s.written.column : s.span.column; })
      .def_property_readonly(
          "end_line",
          [](const PySpan& s) { return s.written.line != 0 ? s.written.end_line : s.span.line; })
      .def_property_readonly("end_column",
                             [](const PySpan& s) {
                               return s.written.line != 0 ? s.written.end_column
                                                          : s.span.column + s.span.length;
                             })
      .def_property_readonly("is_written",  // by the text's tokens
                             [](const PySpan& s) { return s.written.line != 0; })
      .def_property_readonly("length", [](const PySpan& s) { return s.span.length; })
      .def("__str__",
           [](const PySpan& s) {
             if (s.written.line == 0) return s.sources->Place(s.span);
             return fmt::format("{}:{}:{}", s.sources->name(s.span.file), s.written.line,
                                s.written.column);
           })
      .def("__repr__", [](const PySpan& s) { return "Span(" + s.sources->Place(s.span) + ")"; })
      .def("__eq__", [](const PySpan& a, const PySpan& b) {
        return a.sources == b.sources && a.span.file == b.span.file && a.span.line == b.span.line &&
               a.span.column == b.span.column && a.span.length == b.span.length &&
               a.written.line == b.written.line && a.written.end_line == b.written.end_line &&
               a.written.column == b.written.column && a.written.end_column == b.written.end_column;
      });
}

}  // namespace

void AddNodes(py::module_& m) {
  py::class_<PyVar>(m, "Var").def_property_readonly("name",
                                                    [](const PyVar& v) { return v.var->name; });
  AddTypes(m);
  py::class_<PyConstant>(m, "Constant", py::buffer_protocol())
      .def_buffer(BufferOf)
      .def_property_readonly("name", [](const PyConstant& c) { return c.constant->name; })
      .def_property_readonly("type", [](const PyConstant& c) {
        return PyType{ir::ConstantType(*c.constant), c.home};
      });
  py::class_<PyFunction>(m, "Function")
      .def("same_as",
           [](const PyFunction& a, const PyFunction& b) { return a.function == b.function; })
      .def_property_readonly("name", [](const PyFunction& f) { return f.function->name; })
      .def_property_readonly("type_params",
                             [](const PyFunction& f) {
                               py::list types;
                               for (const ir::Type& t : f.function->type_params)
                                 types.append(PyType{t, f.home});
                               return types;
                             })
      .def_property_readonly("result_type",
                             [](const PyFunction& f) -> py::object {
                               if (f.function->result_type == nullptr) return py::none();
                               return py::cast(PyType{f.function->result_type, f.home});
                             })
      .def_property_readonly("attrs", [](const PyFunction& f) {
        py::dict attrs;
        for (const std::string& name : f.attr_order)
          attrs[name.c_str()] = ObjectOf(f.function->attrs.at(name), f.home);
        for (const auto& [name, value] : f.function->attrs)
          attrs[name.c_str()] = ObjectOf(value, f.home);
        return attrs;
      });
  py::class_<PyExpr>(m, "Expr").def_property_readonly(
      "kind", [](const PyExpr& e) { return KindOf(*e.expr); });
  py::class_<PyCall>(m, "Call")
      .def(py::init([](const py::object& op, const py::dict& attrs, size_t num_args) {
        if (py::isinstance<PyCall>(op)) return CallOf("", attrs, num_args, op.cast<PyCall*>());
        return CallOf(op.cast<std::string>(), attrs, num_args, nullptr);
      }))
      .def_property_readonly("op", [](const PyCall& c) { return c.op->name; })
      .def_property_readonly("num_args", [](const PyCall& c) { return c.op->num_args; })
      .def_property_readonly("attrs", [](const PyCall& c) {
        py::dict attrs;
        for (const auto& [name, value] : c.attrs.values())
          attrs[name.c_str()] = ObjectOf(value, c.home);
        return attrs;
      });
  AddSpans(m);
  m.def("constant", ConstantOf);
  m.def("type_definitions", TypeDefinitions);
  m.def("written_records", WrittenRecords, py::arg("name"), py::arg("text"),
        py::arg("is_expression") = false, py::arg("skipped") = 0);
  m.def("operator_names", [] {
    std::vector<std::string> names;
    for (const std::string_view name : OpTable::Get().Names()) names.emplace_back(name);
    return names;
  });
  m.def("operator_arguments", [](const std::string& name) -> py::object {
    const OpDef* op = OpTable::Get().Find(name);
    return op == nullptr ? py::object(py::none()) : py::object(py::int_(op->num_args));
  });
  m.def("operator_schema", SchemaOf);
  m.def("did_you_mean", [](const std::string& wanted, const std::vector<std::string>& names) {
    Suggestion suggestion(wanted);
    for (const std::string& name : names) suggestion.Consider(name);
    return suggestion.Text("");
  });
}

}  // namespace relayvm::python
