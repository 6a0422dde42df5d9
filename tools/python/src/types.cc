#include "tools/python/src/types.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <atomic>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace relayvm::python {
namespace {

uint32_t NewPythonId() {
  static std::atomic<uint32_t> next = kFirstPythonId;
  return next++;
}

// A symbol of its name: the same wherever Python writes it.
Dim NamedSymbol(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, uint32_t> ids;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = ids.try_emplace(name, 0);
  if (is_new) at->second = NewPythonId();
  return Dim::Symbol(at->second, name);
}

// The home of what is made of parts: all that have one have the same.
class HomeOf {
 public:
  void Add(const Home& home) {
    if (home == nullptr || home == home_) return;
    if (home_ != nullptr)
      throw py::value_error("a type is made of parts of one module, and these are of two");
    home_ = home;
  }
  Home Take() { return std::move(home_); }

 private:
  Home home_;
};

DType DTypeOf(const std::string& name) {
  const std::optional<DType> dtype = ParseDType(name);
  if (!dtype) throw py::type_error(fmt::format("there is no dtype {}", name));
  return *dtype;
}

Dim DimOf(py::handle object, HomeOf* home) {
  if (object.is_none()) return Dim::Any();
  if (py::isinstance<PyDim>(object)) {
    const auto& dim = object.cast<const PyDim&>();
    home->Add(dim.home);
    return dim.dim;
  }
  if (py::isinstance<py::str>(object)) {
    const auto name = object.cast<std::string>();
    return name == "?" ? Dim::Any() : NamedSymbol(name);
  }
  const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
  if (!index) throw py::error_already_set();
  const auto value = index.cast<int64_t>();
  if (value < 0) throw py::value_error(fmt::format("a dim is at least 0, found {}", value));
  return value;
}

std::vector<ir::Type> Types(const py::sequence& objects, HomeOf* home) {
  std::vector<ir::Type> types;
  for (const py::handle t : objects) {
    const auto& type = t.cast<const PyType&>();
    home->Add(type.home);
    types.push_back(type.type);
  }
  return types;
}

PyType TensorTypeOf(const py::sequence& shape, const std::string& dtype) {
  HomeOf home;
  std::vector<Dim> dims;
  for (const py::handle d : shape) dims.push_back(DimOf(d, &home));
  return {ir::MakeTensorType(std::move(dims), DTypeOf(dtype)), home.Take()};
}
PyType TupleTypeOf(const py::sequence& fields) {
  HomeOf home;
  ir::Type type = ir::MakeType(ir::TupleType{Types(fields, &home)});
  return {std::move(type), home.Take()};
}
PyType FunctionTypeOf(const py::sequence& type_params, const py::sequence& params,
                      const PyType& result) {
  HomeOf home;
  ir::FunctionType type{Types(type_params, &home), Types(params, &home), result.type};
  home.Add(result.home);
  return {ir::MakeType(std::move(type)), home.Take()};
}
PyType AdtTypeOf(const std::string& name, const py::sequence& args) {
  HomeOf home;
  ir::Type type = ir::MakeType(ir::AdtType{name, Types(args, &home)});
  return {std::move(type), home.Take()};
}

// Of dims and numbers: a dim.
template <typename F>
auto DimFunction(const F& compute) {
  return [compute](const py::object& a, const py::object& b) {
    HomeOf home;
    const auto read = [&](const py::object& o) {
      return py::isinstance<py::int_>(o) ? Dim(o.cast<int64_t>()) : DimOf(o, &home);
    };
    const Dim x = read(a), y = read(b);
    return ObjectOfDim(compute(x, y), home.Take());
  };
}
void AddDimArithmetic(py::module_& m) {
  m.def("dim_symbol",
        [](const std::string& name) { return PyDim{Dim::Symbol(NewPythonId(), name), nullptr}; });
  m.def("dim_add", DimFunction([](const Dim& a, const Dim& b) { return a + b; }));
  m.def("dim_subtract", DimFunction([](const Dim& a, const Dim& b) { return a - b; }));
  m.def("dim_multiply", DimFunction([](const Dim& a, const Dim& b) { return a * b; }));
  m.def("dim_floor_divide", DimFunction(Dim::FloorDiv));
  m.def("dim_floor_mod", DimFunction(Dim::FloorMod));
  m.def("dim_min", DimFunction(Dim::Min));
  m.def("dim_max", DimFunction(Dim::Max));
}

// A dim that no program names: ?, and what inference has found for one or computed.
bool IsUnnamed(const Dim& d) {
  return !d.is_const() && (!d.is_symbol() || d.symbol_id() < kFirstPythonId);
}
// A dim that a program has no names for: ?, and what is computed of such.
bool IsOpen(const Dim& d) {
  bool is_open = d.ContainsAny();
  d.ForEachSymbol(
      [&](const Dim& symbol) { is_open = is_open || symbol.symbol_id() < kFirstPythonId; });
  return is_open;
}
ir::Type WithoutFound(const ir::Type& t) {
  if (!t->has_open_dim) return t;
  return ir::MapDims(t, [](const Dim& d) { return IsUnnamed(d) ? Dim::Any() : d; });
}
bool HasAny(const ir::Type& t) {
  bool has_any = false;
  if (t->has_open_dim)
    ir::ForEachDim(t, [&](const Dim& d) { has_any = has_any || d.ContainsAny(); });
  return has_any;
}
// Where one of them says ?, the other may say what was found for it.
bool AlikeTypes(const ir::Type& a, const ir::Type& b) {
  if (ir::TypeEquals(a, b)) return true;
  return (HasAny(a) || HasAny(b)) && ir::TypeEquals(WithoutFound(a), WithoutFound(b));
}

// What Python's class of the type has: its kind and its parts.
py::tuple PartsOf(const PyType& t) {
  const auto types = [&](const std::vector<ir::Type>& parts) {
    py::tuple result(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) result[i] = py::cast(PyType{parts[i], t.home});
    return result;
  };
  if (const auto* x = t.type->As<TensorType>()) {
    py::tuple shape(x->shape.size());
    for (size_t i = 0; i < x->shape.size(); ++i) shape[i] = ObjectOfDim(x->shape[i], t.home);
    return py::make_tuple("tensor", shape, std::string(DTypeName(x->dtype)));
  }
  if (const auto* x = t.type->As<ir::TupleType>()) return py::make_tuple("tuple", types(x->fields));
  if (const auto* x = t.type->As<ir::FunctionType>())
    return py::make_tuple("function", types(x->type_params), types(x->params),
                          PyType{x->result, t.home});
  if (const auto* x = t.type->As<ir::RefType>())
    return py::make_tuple("ref", PyType{x->value, t.home});
  if (const auto* x = t.type->As<ir::AdtType>())
    return py::make_tuple("adt", x->name, types(x->args));
  if (const auto* x = t.type->As<ir::TypeVar>()) return py::make_tuple("var", x->name, x->id);
  return py::make_tuple("incomplete");
}

}  // namespace

py::object ObjectOfDim(const Dim& d, const Home& home) {
  if (d.is_const()) return py::int_(d.value());
  return py::cast(PyDim{d, home});
}

void AddTypes(py::module_& m) {
  py::class_<PyType>(m, "Type")
      .def("parts", PartsOf)
      .def("__str__", [](const PyType& t) { return ir::TypeToString(t.type); })
      .def("__eq__", [](const PyType& a, const PyType& b) { return AlikeTypes(a.type, b.type); })
      .def("__hash__", [](const PyType& t) { return WithoutFound(t.type)->hash; });
  py::class_<PyDim>(m, "Dim")
      .def("__str__", [](const PyDim& d) { return d.dim.ToString(); })
      .def("__repr__", [](const PyDim& d) { return "Dim(" + d.dim.ToString() + ")"; })
      .def("__eq__", [](const PyDim& a, const PyDim& b) { return a.dim == b.dim; })
      .def("__eq__", [](const PyDim&, const py::object&) { return false; })
      .def("__hash__", [](const PyDim& d) { return d.dim.Hash(); })
      .def_property_readonly("is_symbol", [](const PyDim& d) { return d.dim.is_symbol(); })
      .def_property_readonly("is_unnamed", [](const PyDim& d) { return IsOpen(d.dim); });
  AddDimArithmetic(m);
  m.def("tensor_type", TensorTypeOf);
  m.def("tuple_type", TupleTypeOf);
  m.def("function_type", FunctionTypeOf);
  m.def("adt_type", AdtTypeOf);
  m.def("ref_type", [](const PyType& value) {
    return PyType{ir::MakeType(ir::RefType{value.type}), value.home};
  });
  m.def("type_var", [](const std::string& name) {
    return PyType{ir::MakeType(ir::TypeVar{NewPythonId(), name}), nullptr};
  });
}

}  // namespace relayvm::python
