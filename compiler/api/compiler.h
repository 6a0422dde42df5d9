// Compiling inside a program: librelayvm_compiler, on top of the runtime (relayvm.h). This is all
// that its user includes.
//
//   CompilerOptions options;
//   options.targets = {"x86-64-v3", "x86-64-v4"};
//   auto compiled = CompileModel({.name = "model.onnx"}, options);
//   if (!compiled.ok()) ... compiled.status().detail()->places ...
//   auto executable = compiled->Load();        // runs here, weights are not copied
//   compiled->Save("model.vmx");
//
// relayc's options have the same names and meanings, and messages name them so ("--shape x=2x3:
// ..."). Callbacks do not throw. Failures are Statuses; StatusDetail has the place in the program:
// file, line, column, the line's text, what was expected and found. No exception leaves these
// functions. Nothing is printed, and no state of one compilation reaches another: any number of
// threads may compile at once, and the same model and options give the same bytes. A failed or
// cancelled compilation leaves nothing behind.
//
// What LLVM gives up on is a Status too (kInternal). For that LLVM's fatal error handler, which the
// process has one of, is the compiler's for as long as code is generated.
//
// The C API: c_api_compiler.h. Tested by compiler_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "bytecode/base/shared_bytes.h"
#include "vm/api/relayvm.h"

namespace relayvm {

// A program in one of the formats of `relayc --help`, told by its content and then by its name.
struct ModelSource {
  // The file, "-" for standard input. With `content`: what messages call it, and whose folder holds
  // an ONNX model's external data.
  std::string name;
  // In place of the file's. Weights stay where they are: the bytes must not change while what came
  // of them lives, which holds their owner.
  std::optional<SharedBytes> content;

  static ModelSource Text(std::string_view text, std::string name = "<text>") {
    return {std::move(name), SharedBytes::Copy(std::as_bytes(std::span(text)))};
  }
};

struct CompilerOptions {
  // What the kernels run on: "native", "x86-64-v3", "sapphirerapids" (x86-64-v4 with what that
  // processor multiplies bfloat16 and bytes by) ...: TargetNames of kernels/codegen/machine.h.
  // Several make an executable of which each machine runs the best part. None: native.
  std::vector<std::string> targets;
  int opt_level = 3;  // 0 (quick to compile, 8 to 40 times slower to run) to 3
  std::string entry = "main";
  // Of parameters, by name, or by position: "1x?x300"; "?" keeps what is declared, "?<=512" plans
  // memory for at most so many. Where a format has no types, these: "(n, 3):int64",
  // "List[Tensor[(?, 3), float32]]" (import/input_types.h).
  std::map<std::string, std::string> shapes;
  std::map<std::string, int64_t> dims;  // by the names that a model gives to dims
  std::string signature;  // which entry of a model that has several; empty: its default
  // Which values of a graph without signatures (TensorFlow, MXNet) are its results, by name. Empty:
  // those that nothing reads.
  std::vector<std::string> outputs;
  std::vector<std::string> input_names;  // in place of the model's, in the order of its inputs
  // Initializers of an ONNX model that callers may give other values, by name, or "all" (those that
  // are inputs too), or "none". Empty: all, where they are 1 MiB or less in sum; a graph has none.
  std::vector<std::string> overridable;
  // Weights to bind to parameters of the entry function by name: tensors, whose memory is kept and
  // must not change; and a file or its bytes (TVM's parameter file or an .npz). One name may be
  // given once.
  std::map<std::string, Value> params;
  std::string params_file;
  std::optional<SharedBytes> params_content;
  // What the executable is for: "vm", or "graph" (compiler/graph), for static programs without
  // control flow.
  std::string executor = "vm";
  bool batching = false;  // with kernels for schedulers that batch (vm/schedule/scheduler.h)
  // Of passes, by their names: {"weights", {"q8"}}, {"exact", {"true"}}, {"layout",
  // {"nn.conv2d=NHWC:default"}}; relayc --list-passes has them all.
  std::map<std::string, std::vector<std::string>, std::less<>> pass_options;
  std::map<std::string, std::string> schedule_for;  // by kernel: "tile=8x32,block=96"
  std::vector<std::string> schedules;               // files that relayc --tune-log wrote
  std::vector<std::string> plugins;                 // libraries of operators (operator_plugin.h)
  std::vector<std::string> disabled_passes;
  // Passes of shared libraries (compiler/pass_plugin.h), and where each runs: "NAME@after:FuseOps".
  // Only in relayvm's tools and in programs that export the compiler to such libraries.
  std::vector<std::string> pass_libraries, passes;
  // Files of rewrite rules (compiler/rules/rules.h), applied before SimplifyInference; with the
  // option "explain-rules" what nearly matched goes to `on_text`.
  std::vector<std::string> rules;
  bool verify_ir = false;      // checks the program after each pass
  std::string print_ir_after;  // a pass's name, or "all": goes to `on_text`
  std::function<void(std::string_view text)> on_text;
  // Threads that generate code, the calling one included; 0: as many as the machine has. The bytes
  // do not depend on it.
  uint32_t num_threads = 0;
  // Where models and kernels that were compiled before are found, and those that come are left: a
  // folder, up to 4 GiB; "off"; or "auto": the user's (RELAYVM_CACHE, or relayvm in XDG_CACHE_HOME
  // or ~/.cache), and none where that cannot be used.
  std::string cache = "off";
  // A model that was compiled before, of the same bytes and with the same options, is taken from
  // the cache whole. False: it is compiled anew, of kernels that were compiled before, and times()
  // has its passes.
  bool direct = true;
  // What the compilation is at: a pass, or kernels with their number (total > 0). From any thread,
  // not at once.
  std::function<void(std::string_view what, size_t done, size_t total)> on_progress;

  // One of relayc's options by its name without dashes, as text: ("target", "native,x86-64-v3"),
  // ("O", "2"), ("shape", "x=1x?"), ("exact", "true"). Those that relayc takes several times add
  // up. kInvalidArgument for names and values that there are not. What passes of `pass_libraries`
  // take comes after these.
  Status Set(std::string_view name, std::string_view value);
  // The names that Set takes, without those of libraries.
  static std::vector<std::string_view> Names();
};

struct PassTime {
  std::string pass;
  double milliseconds;
  bool is_part;  // of the one before: a share of its work, summed over threads
};

// A part of a program that an engine runs, and the JSON that the engine's provider gets.
struct CompiledRegion {
  std::string name, engine, json;
};

// What came of a compilation. Copies share it; immutable, thread-safe.
class CompiledModel {
 public:
  // Its functions with what they take and give, its data types.
  const ModelInfo& info() const;
  // What was done otherwise than asked, or for nothing: schedules of a log that are for other
  // machines; with places where there are. And, where products take microseconds that matter, that
  // tuning may gain (one target, which this machine runs).
  const std::vector<Status>& warnings() const;
  const std::vector<PassTime>& times() const;  // none, where it was taken from the cache whole
  // The executable's bytecode as text, as relayc --emit bytecode prints it: of the form with
  // regions, where there is one.
  std::string Bytecode() const;

  // The bytes of the .vmx file, 64-byte aligned, made once: for Executable::FromMemory(bytes,
  // owner) without a copy of them, where owner is a copy of the SharedBytes, or for another
  // machine. Fails without memory.
  Result<SharedBytes> Bytes() const;
  // Writes the same to a file, which appears whole or not at all; weights come straight from where
  // they are.
  Status Save(const std::string& path) const;
  // Ready to run in this process, without Bytes(). Kernels of the model's plugins are found. Of
  // several targets, the best that runs here, unless options.target says.
  Result<std::shared_ptr<const Executable>> Load(const LoadOptions& options = {}) const;

  // Those that engines run, each once, by name.
  std::vector<CompiledRegion> Regions() const;

  // For tools of this tree (bytecode/program.h). Of several targets, the least.
  const Program& program() const;
  // Where there are forms with regions, the first of those; else program().
  const Program& program_with_regions() const;

 private:
  friend class ModelCompiler;
  struct Impl;
  explicit CompiledModel(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// Fails with kInvalidArgument (options), kNotFound (a file, a function), kInvalidInput (the model
// is malformed or its types are wrong), kUnsupported (an operator), kResourceExhausted (memory,
// room for temporary files), kInternal; and with kCancelled soon after `stop` was asked for, from
// any thread.
Result<CompiledModel> CompileModel(const ModelSource& source, const CompilerOptions& options = {},
                                   std::stop_token stop = {});

}  // namespace relayvm
