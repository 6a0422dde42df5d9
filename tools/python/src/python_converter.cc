#include "tools/python/src/python_converter.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/import/composite/loops.h"
#include "compiler/import/user_call.h"
#include "tools/python/src/nodes.h"
#include "tools/python/src/without_gil.h"

namespace py = pybind11;

namespace relayvm::python {
namespace {

using import::TypedBuilder;
using import::UserArgument;
using import::Value;
using Kind = UserArgument::Kind;

// Tensors that are smaller come to a converter as constants, which it may look at.
constexpr size_t kSmallBytes = 1024;

// --- What a converter is given ---

class Arguments {
 public:
  explicit Arguments(const TypedBuilder& b) : home_(b.module().arena) {}

  py::list ToPython(const std::vector<UserArgument>& all) {
    py::list list;
    for (const UserArgument& a : all) list.append(ToPython(a));
    return list;
  }
  // Those that are the function's parameters.
  const std::vector<Value>& values() const { return values_; }

 private:
  py::object ToPython(const UserArgument& a) {
    switch (a.kind) {
      case Kind::kNone:
        return py::none();
      case Kind::kBool:
        return py::bool_(a.integer != 0);
      case Kind::kInt:
        return py::int_(a.integer);
      case Kind::kFloat:
        return py::float_(a.real);
      case Kind::kString:
        return py::str(a.text);
      case Kind::kTensor:
        if (a.value.constant != nullptr && a.value.constant->data.size() <= kSmallBytes) {
          auto constant = std::make_shared<ir::Constant>();
          constant->value = *a.value.constant;
          return py::make_tuple("tensor", PyConstant{std::move(constant), nullptr});
        }
        return Parameter("tensor", a.value);
      case Kind::kNumber:
        return Parameter("number", a.value);
      case Kind::kList:
      case Kind::kTuple:
        break;
    }
    return py::make_tuple(a.kind == Kind::kList ? "list" : "tuple", ToPython(a.items));
  }
  py::object Parameter(const char* kind, const Value& v) {
    values_.push_back(v);
    return py::make_tuple(kind, PyType{v.type, home_});
  }

  Home home_;
  std::vector<Value> values_;
};

// --- What it gives ---

// Builds the records of a function's body anew, over values in place of its parameters.
class Replay {
 public:
  Replay(TypedBuilder& b, const py::list& records, const std::vector<Value>& parameters) : b_(b) {
    for (const py::handle item : records) records_.push_back(item.cast<py::tuple>());
    values_.resize(records_.size());
    const std::vector<size_t> operands = Operands(records_.size() - 1);
    for (size_t i = 0; i < parameters.size(); ++i) values_[operands[i]] = parameters[i];
    for (size_t i = 0; i < records_.size(); ++i) {
      if (KindOf(i) == "let") bound_[Operands(i)[0]] = Operands(i)[1];
    }
    for (size_t i = 0; i + 1 < records_.size() && b_.status().ok(); ++i) {
      if (!values_[i] && KindOf(i) != "var") values_[i] = Build(i);
    }
    result_ = b_.status().ok() ? Get(operands.back()) : Value();
  }
  // The fields of the body.
  std::vector<Value> Fields() {
    return b_.status().ok() ? b_.Fields(result_) : std::vector<Value>();
  }

 private:
  std::string KindOf(size_t i) const { return records_[i][0].cast<std::string>(); }
  std::vector<size_t> Operands(size_t i) const {
    return records_[i][1].cast<std::vector<size_t>>();
  }
  Value Get(size_t i) {
    if (values_[i]) return values_[i];
    const auto bound = bound_.find(i);
    if (bound != bound_.end() && values_[bound->second]) return values_[bound->second];
    b_.Fail("the converter gives an expression with a variable that is not one of its inputs");
    return {};
  }
  std::vector<Value> GetAll(const std::vector<size_t>& positions) {
    std::vector<Value> all;
    for (const size_t i : positions) all.push_back(Get(i));
    return all;
  }
  Value Build(size_t i) {
    const std::string kind = KindOf(i);
    const std::vector<size_t> operands = Operands(i);
    const py::object payload = records_[i][2];
    if (kind == "constant") {
      const auto& c = *payload.cast<const PyConstant&>().constant;
      return b_.Constant(c.value, c.name);
    }
    const std::vector<Value> values = GetAll(operands);
    if (!b_.status().ok()) return {};
    if (kind == "op_call") {
      const auto& call = payload.cast<const PyCall&>();
      return b_.Op(*call.op, values, call.attrs);
    }
    if (kind == "tuple") return b_.Tuple(values);
    if (kind == "get") return b_.Field(values[0], payload.cast<size_t>());
    if (kind == "let") return values[2];
    if (kind == "if") {
      const auto joined = import::Branches(b_, values[0], {values[1]}, {values[2]});
      if (joined) return joined->front();
      b_.Fail("the branches of an if differ in rank or dtype");
      return {};
    }
    b_.Fail(StatusCode::kUnsupported,
            "the converter gives a {}: it may give operators, constants, tuples, let and if", kind);
    return {};
  }

  TypedBuilder& b_;
  std::vector<py::tuple> records_;
  std::vector<Value> values_;       // by position
  std::map<size_t, size_t> bound_;  // variables of lets, and what they stand for
  Value result_;
};

UserArgument OfValue(TypedBuilder& b, Value v) {
  UserArgument a;
  const bool is_tuple = v.type != nullptr && v.type->As<ir::TupleType>() != nullptr;
  a.kind = is_tuple ? Kind::kTuple : Kind::kTensor;
  if (is_tuple) {
    for (const Value& field : b.Fields(v)) a.items.push_back(OfValue(b, field));
  } else {
    a.value = std::move(v);
  }
  return a;
}

UserArgument FromPython(TypedBuilder& b, const py::handle& given,
                        const std::vector<Value>& fields) {
  UserArgument a;
  if (py::isinstance<py::tuple>(given)) {
    const auto tuple = given.cast<py::tuple>();
    const auto kind = tuple[0].cast<std::string>();
    if (kind == "field") return OfValue(b, fields.at(tuple[1].cast<size_t>()));
    a.kind = kind == "list" ? Kind::kList : Kind::kTuple;
    for (const py::handle item : tuple[1].cast<py::list>())
      a.items.push_back(FromPython(b, item, fields));
  } else if (py::isinstance<py::bool_>(given)) {
    a.kind = Kind::kBool;
    a.integer = given.cast<bool>() ? 1 : 0;
  } else if (py::isinstance<py::int_>(given)) {
    a.kind = Kind::kInt;
    a.integer = given.cast<int64_t>();
  } else if (py::isinstance<py::float_>(given)) {
    a.kind = Kind::kFloat;
    a.real = given.cast<double>();
  } else if (py::isinstance<py::str>(given)) {
    a.kind = Kind::kString;
    a.text = given.cast<std::string>();
  }
  return a;
}

UserArgument Run(const py::object& run, TypedBuilder& b, const import::UserCall& call,
                 const std::stop_token& stop, RaisedException& raised) {
  const GilAcquire gil;
  const auto thread = PyThread_get_thread_ident();
  // Asked for by the thread that handles signals, which holds the GIL.
  const std::stop_callback interrupt(
      stop, [thread] { PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt); });
  try {
    Arguments arguments(b);
    const py::tuple given = run(arguments.ToPython(call.arguments));
    Replay replay(b, given[0].cast<py::list>(), arguments.values());
    const std::vector<Value> fields = replay.Fields();
    if (!b.status().ok()) return {};
    return FromPython(b, given[1], fields);
  } catch (py::error_already_set& e) {
    if (e.trace()) PyException_SetTraceback(e.value().ptr(), e.trace().ptr());
    raised.Set(e.value());
    b.Fail(StatusCode::kCancelled, "its converter raised {}", e.what());
  } catch (const std::exception& e) {  // a cast of pybind11's
    b.Fail("its converter gives what is no expression: {}", e.what());
  }
  return {};
}

}  // namespace

PythonConverters ReadPythonConverters(const py::dict& converters) {
  PythonConverters result;
  result.raised = std::make_shared<RaisedException>();
  result.stop = std::make_shared<std::stop_token>();
  for (const auto& [name, function] : converters) {
    // The importer copies them where nobody holds the GIL.
    const auto run =
        std::make_shared<const py::object>(py::reinterpret_borrow<py::object>(function));
    result.operators.emplace(name.cast<std::string>(),
                             [run, raised = result.raised, stop = result.stop](
                                 TypedBuilder& b, const import::UserCall& call) {
                               return Run(*run, b, call, *stop, *raised);
                             });
  }
  return result;
}

}  // namespace relayvm::python
