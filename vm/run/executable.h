// Executable: a program ready to run. Its kernels are linked, its constants are objects.
//
// Code, tables and kernels are copies, which no change of the file reaches. Constants stay in the
// mapped file, shared by all processes: replace a file by renaming a new one over it (mv, install,
// relayc), never by writing into it (cp). Where that happens all the same, runs fail with
// kFailedPrecondition from then on, 10 ms later at the latest, and the file has to be loaded again;
// until then they may see both the old constants and the new, and one that reads constants while
// the file is shorter than it was ends the process (SIGBUS). Who sets the time of writing back does
// not hide it: constants are compared with their checksums then. LoadOptions::copy_file is for
// hosts whose files others may write to.
//
// Immutable; any number of threads and invocations share one. Values and invocations that need it
// keep it alive. Tested by executable_test.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/status.h"
#include "bytecode/base/status_detail.h"
#include "bytecode/kernel_abi.h"
#include "kernels/runtime/builtin.h"
#include "vm/border/host_function.h"
#include "vm/border/model_info.h"

namespace relayvm {

class FileMapping;
class Value;
struct ExportInfo;
struct Program;

namespace vm {
struct LinkedProgram;
}

// A shared library that runs regions of programs (bytecode/region_abi.h).
struct EngineLibrary {
  std::string name;  // of the engine: "dnnl"
  // Empty: the one that comes with relayvm, librelayvm_NAME.so beside the runtime or in the folder
  // that the environment's RELAYVM_ENGINES names (vm/engines/engine.h).
  std::string path;
};

struct LoadOptions {
  // The host's own kernels, found by name before those of the runtime library. Parallel as the
  // program asks.
  std::span<const Builtin> kernels;
  // What the program declares without a body, by name; copied. Others may be among them.
  std::span<const HostFunction> host_functions;
  // Of a file that holds the program for several processors, the one to load: "x86-64-v3", as
  // ModelInfo::targets says. Empty: the best that this machine runs.
  std::string target;
  // Engines that regions of the program may be for: no others are loaded, whatever a file says. The
  // form of the program with regions is taken where its engines are here and take them, else the
  // native one, where there is one, and `notice` is told why in one line.
  std::span<const EngineLibrary> engines;
  std::function<void(const std::string&)> notice;
  // Reads the file into memory of this process's own, instead of mapping it. What becomes of the
  // file is nothing to the executable then.
  bool copy_file = false;
  // Constants that are made when the program is loaded (RecipeInfo) are kept in a folder of this
  // user, where other processes that load the program find them: one copy for all (vm/README.md).
  // Else, and where there is no such folder, they are memory of this executable. The environment's
  // RELAYVM_CACHE names the folder, and turns this off where it is empty.
  bool share_constants = true;
  // Compares the checksums of constants too, and of what is for other processors: reads all of the
  // file. kInvalidInput names what is damaged.
  bool verify = false;
  // Of a program that is not trusted: each tensor and arena of its runs is zero when it gets it.
  // Else it is what was there before, which may be data of other programs' runs in this process:
  // compilers never read it, but a file that someone has made may. Costs as much as writing each
  // tensor once more.
  bool clear_memory = false;
  // False: a program that has kernels of its own, which are native code, is refused (kUnsupported):
  // what is left are builtins and the interpreter, which hold to what the verifier has proved. With
  // clear_memory and limits of runs, for programs that are not trusted.
  bool allow_images = true;
  // Lists kernels in /tmp/perf-PID.map for `perf report`.
  bool perf_map = false;
  // Checks at each call of a kernel what the verifier has proved of it, too: a test of the
  // verifier, which costs time. Where such a check fails the run does, with kInternal. Debug builds
  // always do.
  bool check_proved_calls = false;
};

class Executable : public std::enable_shared_from_this<Executable> {
 public:
  // Opens, verifies and links. Fails with kUnsupported when no kernel image suits the machine, or a
  // builtin or a host function is missing; with kInvalidArgument, when one has another type; with
  // kResourceExhausted without memory.
  static Result<std::shared_ptr<const Executable>> Load(const std::string& path,
                                                        const LoadOptions& options = {});
  // The same for the bytes of a .vmx file in memory. They stay there and must not change for as
  // long as `owner` lives, which is kept while anything needs them: constants are used where they
  // lie. Bytes that are not 64-byte aligned, or without an owner, are copied. So are kernel images.
  static Result<std::shared_ptr<const Executable>> FromMemory(std::span<const uint8_t> bytes,
                                                              std::shared_ptr<const void> owner,
                                                              const LoadOptions& options = {});
  // The same for a program of the compiler; it is verified here.
  static Result<std::shared_ptr<const Executable>> FromProgram(Program program,
                                                               const LoadOptions& options = {});
  // Of several forms of one program, for processors and engines (bytecode/writer.h): the best one,
  // as of a file that has them. REQUIRES: !programs.empty().
  static Result<std::shared_ptr<const Executable>> FromPrograms(std::vector<Program> programs,
                                                                const LoadOptions& options = {});
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  // Its functions with what they take and give, its data types.
  const ModelInfo& info() const { return info_; }
  // The tag of a constructor, searched in all ADTs. kNotFound; kInvalidArgument when two ADTs have
  // one of that name.
  Result<uint32_t> FindConstructor(std::string_view name) const;
  // Where an instruction comes from: the function, and the source line or the model's node where
  // they are known. `function` is its index in the program, `pc` units from its first.
  StatusPlace PlaceOf(uint32_t function, uint32_t pc) const;
  // Whether the inputs are what a function of this program takes: fails as Invocation::Start.
  Status CheckInputs(std::string_view function, std::span<const Value> inputs) const;
  // The kernels that schedulers can batch (BatchingOptions): none unless it was compiled with
  // --batching.
  size_t num_batched_kernels() const;

  // For the runtime, and tools of this tree: bytecode/program.h.
  const Program& program() const { return *program_; }
  // What says names and places of a program whose code is elsewhere: native code's.
  static std::shared_ptr<const Executable> OfTables(Program program);
  // Null when there is none of that name.
  const ExportInfo* FindExport(std::string_view name) const;
  // Which of Program::images runs here; -1 without kernels of an image.
  int image_index() const { return image_index_; }
  const vm::LinkedProgram& linked() const { return *linked_; }
  // Whether the mapped file is what it was, looked at once in 10 ms: `now` is of the steady clock,
  // in nanoseconds.
  Status CheckFile(int64_t now) const {
    if (file_ == nullptr || now < next_check_.load(std::memory_order_relaxed)) return OkStatus();
    return LookAtFile(now);
  }

 private:
  Executable();
  static Result<std::shared_ptr<const Executable>> Link(Program program,
                                                        std::shared_ptr<const FileMapping> file,
                                                        const LoadOptions& options,
                                                        std::string* lacking);
  // A form of a program for the engines that may be used, and the file that it is mapped from, or
  // null. kNotFound: it was given before.
  using ReadForm = std::function<Result<Program>(std::span<const std::string> engines,
                                                 std::shared_ptr<const FileMapping>* file)>;
  static Result<std::shared_ptr<const Executable>> LinkBest(const ReadForm& read,
                                                            const LoadOptions& options);
  Status LinkKernels(const LoadOptions& options);
  Status LinkHostFunctions(std::span<const HostFunction> functions);
  Status MakeFunctions(const LoadOptions& options);
  Status MakeConstants();
  Result<uint32_t> SearchConstructor(std::string_view name) const;
  Status LookAtFile(int64_t now) const;

  std::unique_ptr<Program> program_;
  ModelInfo info_;
  std::unique_ptr<vm::LinkedProgram> linked_;
  int image_index_ = -1;
  std::shared_ptr<const FileMapping> file_;     // null: none is mapped
  mutable std::atomic<int64_t> next_check_{0};  // of the file
  // Of the file's status, when it was last found unchanged (FileMapping::CheckUnchanged).
  mutable std::atomic<int64_t> status_time_{0};
};

}  // namespace relayvm
