#include "tools/python/src/native_executor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "bytecode/base/file_replacement.h"
#include "bytecode/base/guarded.h"
#include "compiler/aot/aot.h"
#include "kernels/codegen/link.h"
#include "tools/python/src/best_form.h"
#include "tools/python/src/errors.h"
#include "tools/python/src/interruptible.h"
#include "tools/python/src/program.h"
#include "tools/python/src/values.h"
#include "tools/python/src/without_gil.h"
#include "vm/aot/native_program.h"

namespace relayvm::python {

namespace py = pybind11;

namespace {

struct NativeFunction {
  std::shared_ptr<vm::NativeProgram> program;
  std::shared_ptr<const Executable> tables;                                   // for results
  uint32_t index;                                                             // of the export
  std::shared_ptr<PyRuntime> runtime;                                         // or null
  mutable std::chrono::nanoseconds latest = std::chrono::nanoseconds::max();  // run, under the GIL
  const ExportInfo& info() const { return program->program().exports[index]; }
  const FunctionSignature& signature() const {
    return *tables->info().FindFunction(info().name).value();
  }
};

// A file that is gone with this.
class TemporaryFile {
 public:
  static Result<std::unique_ptr<TemporaryFile>> Make() {
    std::error_code error;
    std::filesystem::path folder = std::filesystem::temp_directory_path(error);
    if (error) folder = "/tmp";
    std::string path = folder / "relayvm-XXXXXX";
    const int fd = mkstemp(path.data());
    if (fd < 0) {
      return {StatusCode::kResourceExhausted,
              fmt::format("cannot make the file {}: {}", path, std::strerror(errno))};
    }
    close(fd);
    return std::unique_ptr<TemporaryFile>(new TemporaryFile(path));
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// The library that has relayvm_aot_run, where this process has it from.
Result<std::string> RuntimePath() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&relayvm_aot_run), &info) == 0)
    return {StatusCode::kInternal, "the library of native programs' runtime is not known"};
  return std::string(info.dli_fname);
}

Result<std::shared_ptr<vm::NativeProgram>> LoadNative(const std::vector<uint8_t>& library,
                                                      const std::vector<EngineLibrary>& engines) {
  RELAYVM_ASSIGN_OR_RETURN(const auto file, TemporaryFile::Make());
  RELAYVM_RETURN_IF_ERROR(
      WriteFile(file->path(), {reinterpret_cast<const char*>(library.data()), library.size()}));
  void* handle = dlopen(file->path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return {StatusCode::kUnsupported,
            fmt::format("native code cannot be loaded: {}; TMPDIR names another folder, of which "
                        "programs may be run",
                        dlerror())};
  }
  std::shared_ptr<const void> owner(handle, dlclose);
  auto* descriptor = static_cast<RelayvmAotProgram*>(dlsym(handle, aot::kDescriptorSymbol));
  if (descriptor == nullptr) return {StatusCode::kInternal, "native code without a descriptor"};
  return vm::NativeProgram::Make(descriptor, std::move(owner), engines);
}

Result<std::shared_ptr<vm::NativeProgram>> CompileNative(const BestForm& form,
                                                         const std::stop_token& stop) {
  const Program& program = *form.program;
  aot::AotOptions options;
  options.descriptor = aot::kDescriptorSymbol;
  options.kernels.stop = stop;
  // For the processor that the kernels are for: its level is the first of what they need.
  if (!program.images.empty()) {
    const std::string& features = program.images[0].cpu_features;
    RELAYVM_ASSIGN_OR_RETURN(options.kernels.machine,
                             MachineFor(features.substr(0, features.find(','))));
  }
  RELAYVM_ASSIGN_OR_RETURN(aot::AotObject object, aot::CompileAhead(program, options));
  RELAYVM_ASSIGN_OR_RETURN(const std::string runtime, RuntimePath());
  std::vector<std::vector<char>> objects;
  objects.push_back(std::move(object.object));
  RELAYVM_ASSIGN_OR_RETURN(const std::vector<uint8_t> library,
                           codegen::LinkLibrary(objects, runtime, stop));
  return LoadNative(library, form.engines);
}

// Whether a run needs no thread of its own, beside which handlers of signals run: that takes some
// 25 us. Without a heap nothing in a program depends on values: a run takes as long as the one
// before.
bool IsDirect(const NativeFunction& self) {
  constexpr std::chrono::milliseconds kShort(2);
  return !IsMainThread() || (!self.program->has_heap() && self.latest < kShort);
}

// `args` is no py::args, after which pybind11 lets nothing come by position.
py::object RunNative(const NativeFunction& self, const py::tuple& args, const py::dict& kwargs) {
  const std::vector<Value> inputs = InputsOf(self.program->program(), self.info(), args, kwargs);
  vm::NativeOptions options;
  if (self.runtime != nullptr) options.runtime = self.runtime->runtime();
  uint32_t stopped = 0;
  if (self.program->has_heap()) options.stop = &stopped;
  const auto run = [&] { return self.program->Run(self.index, inputs, options, nullptr); };
  const auto begin = std::chrono::steady_clock::now();
  Result<Value> ran = IsDirect(self) ? WithoutTheGil([&] { return Guarded(run); })
                                     : InterruptibleResult<Value>([&](const std::stop_token& stop) {
                                         const std::stop_callback on_stop(stop, [&] {
                                           __atomic_store_n(&stopped, 1, __ATOMIC_RELEASE);
                                         });
                                         return run();
                                       });
  self.latest = std::chrono::steady_clock::now() - begin;
  Value result = ValueOrThrow(std::move(ran));
  return FromValue(std::move(result), self.info().result, self.tables);
}

}  // namespace

py::object MakeNative(const CompiledModel& model, const std::string& function,
                      std::shared_ptr<PyRuntime> runtime) {
  const BestForm form = ValueOrThrow(WithoutTheGil([&] { return BestFormOf(model); }));
  const auto program = Interruptible<std::shared_ptr<vm::NativeProgram>>(
      [&](const std::stop_token& stop) { return CompileNative(form, stop); });
  const auto tables = form.tables != nullptr
                          ? form.tables
                          : ValueOrThrow(WithoutTheGil([&] { return model.Load(); }));
  const std::vector<ExportInfo>& exports = program->program().exports;
  for (uint32_t i = 0; i < exports.size(); ++i) {
    if (exports[i].name == function)
      return py::cast(NativeFunction{program, tables, i, std::move(runtime)});
  }
  Throw({StatusCode::kNotFound, fmt::format("there is no function @{}", function)});
}

void AddNativeExecutor(py::module_& m) {
  py::class_<NativeFunction>(m, "NativeFunction")
      .def("run", RunNative)
      .def("inputs", [](const NativeFunction& f) { return Describe(f.signature().inputs); })
      .def("outputs", [](const NativeFunction& f) { return Describe(f.signature().outputs); });
}

}  // namespace relayvm::python
