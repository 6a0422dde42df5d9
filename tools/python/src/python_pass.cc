#include "tools/python/src/python_pass.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "tools/python/src/without_gil.h"

namespace py = pybind11;

namespace relayvm::python {

namespace {

Result<ir::Module> Run(const py::object& run, const ir::Module& module,
                       const CustomOperators& operators, const PassContext& context,
                       RaisedException& raised) {
  const GilAcquire gil;
  const auto thread = PyThread_get_thread_ident();
  // Asked for by the thread that handles signals, which holds the GIL.
  const std::stop_callback interrupt(
      context.stop, [thread] { PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt); });
  try {
    const py::object object = run(PyModule{{module, operators}, context.holds});
    const auto& made = object.cast<const PyModule&>();
    if (made.holds.ToString() != context.holds.ToString()) {
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format("it got a program that is {} and gave one that is {}: the pipeline runs the "
                      "compiler's own passes itself",
                      context.holds.ToString(), made.holds.ToString()));
    }
    if (made.model.module.arena != module.arena) {
      return Status(
          StatusCode::kInvalidArgument,
          "it gave a module of its own: expected one that is made of the module that it got");
    }
    ir::Module result = made.model.module;
    result.entry = module.entry;
    if (!result.functions.contains(result.entry)) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("it gave a module without @{}, which is compiled", result.entry));
    }
    return result;
  } catch (py::error_already_set& e) {
    if (e.trace()) PyException_SetTraceback(e.value().ptr(), e.trace().ptr());
    raised.Set(e.value());
    return Status(StatusCode::kInternal, fmt::format("{} was raised", e.what()));
  }
}

}  // namespace

PythonPasses ReadPythonPasses(const py::list& inserted, const CustomOperators& operators) {
  PythonPasses result;
  result.raised = std::make_shared<RaisedException>();
  for (const py::handle item : inserted) {
    const auto tuple = item.cast<py::tuple>();
    const int level = tuple[1].cast<int>();
    InsertedPass pass;
    pass.pass.name = tuple[0].cast<std::string>();
    pass.place = tuple[2].cast<std::string>();
    pass.pass.description = "a pass written in Python";
    pass.pass.drops = {};
    pass.pass.applies = [level](const PassContext& context) { return context.opt_level >= level; };
    // The compiler copies passes where nobody holds the GIL.
    const auto run = std::make_shared<const py::object>(tuple[3]);
    pass.pass.run = [run, operators, raised = result.raised](const ir::Module& module,
                                                             const PassContext& context) {
      return Run(*run, module, operators, context, *raised);
    };
    result.passes.push_back(std::move(pass));
  }
  return result;
}

void WithExceptionsOf(const RaisedException& of, const std::function<void()>& compile) {
  try {
    compile();
  } catch (py::error_already_set& e) {
    const py::object& raised = of.value();
    if (!raised || e.matches(PyExc_KeyboardInterrupt)) throw;
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    throw py::error_already_set();
  }
}

}  // namespace relayvm::python
