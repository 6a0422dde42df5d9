// The engine ccompiler: writes C for a region, compiles it with the machine's compiler (`cc`) in a
// folder of its own, which is gone when the region is made, and runs it. What it runs says
// ccompiler.relay; it is what TVM's "Bring Your Own Codegen" shows, of any ranks and open sizes.
//
//   void region_5(float* const* v, const int64_t* n) {   // v: values, n: symbols
//     for (int64_t i0 = 0; i0 < n[0]; ++i0)
//     for (int64_t i1 = 0; i1 < 50; ++i1) {
//       float y = v[0][i0 * 50 + i1] + v[1][i1];
//       v[5][i0 * 50 + i1] = y * v[2][0];
//     }
//   }
//
// Nothing of the JSON stands in the C but numbers that were read. Tested by
// tools/examples/engines/engines_test.cc.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "tools/examples/engines/region.h"

extern char** environ;

namespace {

using engines::Extent;
using engines::Node;
using engines::Region;

// Whether `cc` with the arguments ended well. What it prints goes nowhere.
bool RunCompiler(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "cc");
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const bool started = posix_spawnp(&child, "cc", &quiet, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  while (started && waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return started && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A folder that nobody else may read, until the end.
class PrivateFolder {
 public:
  PrivateFolder() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base == nullptr ? "/tmp" : base) + "/ccompiler.XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) engines::Unsupported("no folder for the C in " + path_);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    for (const std::string& file : {Source(), Library()}) unlink(file.c_str());
    rmdir(path_.c_str());
  }
  std::string Source() const { return path_ + "/region.c"; }
  std::string Library() const { return path_ + "/region.so"; }

 private:
  std::string path_;
};

// --- C of a region ---

std::string Number(const Extent& e) {
  return e.symbol < 0 ? std::to_string(e.number) : "n[" + std::to_string(e.symbol) + "]";
}

// Where an operand has the element of the loops' i0, i1, ...: one of extent 1 is broadcast.
std::string Element(const Region& region, size_t value, const Node& result) {
  const std::vector<Extent>&from = region.nodes[value].shape, &to = result.shape;
  if (from.size() > to.size()) engines::Invalid("an operand of more dims than the result");
  const size_t first = to.size() - from.size();
  std::string index = "0";
  for (size_t d = 0; d < from.size(); ++d) {
    const std::string i = "i" + std::to_string(first + d);
    index = "(" + index + ") * " + Number(from[d]) + " + ";
    if (from[d] == to[first + d]) {
      index += i;
    } else if (from[d].symbol >= 0) {
      index += "(" + Number(from[d]) + " == 1 ? 0 : " + i + ")";
    } else if (from[d].number == 1) {
      index += "0";
    } else {
      engines::Invalid("an operand that is not broadcast to the result");
    }
  }
  return "v[" + std::to_string(value) + "][" + index + "]";
}

char Sign(const std::string& op) {
  if (op == "add") return '+';
  if (op == "subtract") return '-';
  if (op == "multiply") return '*';
  engines::Unsupported(op + " is no operator of this engine");
}

std::string FunctionName(size_t node) { return "region_" + std::to_string(node); }

std::string WriteKernel(const Region& region, size_t number) {
  const Node& node = region.nodes[number];
  const auto operand = [&](size_t input) { return Element(region, node.inputs.at(input), node); };
  std::string c = "void " + FunctionName(number) + "(float* const* v, const int64_t* n) {\n";
  c += "  (void)n;\n";
  for (size_t d = 0; d < node.shape.size(); ++d) {
    const std::string i = "i" + std::to_string(d);
    c += "  for (int64_t " + i + " = 0; " + i + " < " + Number(node.shape[d]) + "; ++" + i + ")\n";
  }
  c += "  {\n    float y = " + operand(0) + " " + Sign(node.op) + " " + operand(1) + ";\n";
  for (const engines::Step& step : node.steps) {
    if (step.inputs.size() != 1) engines::Unsupported("step " + step.label);
    c += "    y = y " + std::string(1, Sign(step.label)) + " " + operand(step.inputs[0]) + ";\n";
  }
  return c + "    " + Element(region, number, node) + " = y;\n  }\n}\n";
}

using Function = void (*)(float* const* values, const int64_t* symbols);

class CCompiler : public engines::Engine {
 public:
  static const char* Open() {
    static const bool works = RunCompiler({"--version"});
    if (!works) engines::Unsupported("no compiler of the name cc");
    return "C";
  }

  explicit CCompiler(const Region& region) : region_(region), functions_(region.nodes.size()) {
    const PrivateFolder folder;
    std::ofstream source(folder.Source());
    source << "#include <stdint.h>\n";
    for (size_t i = 0; i < region.nodes.size(); ++i) {
      if (region.nodes[i].kind == Node::Kind::kKernel) source << WriteKernel(region, i);
    }
    source.close();
    // The same bits as float arithmetic one by one has.
    if (!source || !RunCompiler({"-O2", "-ffp-contract=off", "-shared", "-fPIC", "-o",
                                 folder.Library(), folder.Source()}))
      engines::Unsupported("the C of a region does not compile");
    library_.reset(dlopen(folder.Library().c_str(), RTLD_NOW | RTLD_LOCAL));
    if (library_ == nullptr) engines::Unsupported("the C of a region cannot be loaded");
    for (size_t i = 0; i < region.nodes.size(); ++i) {
      if (region.nodes[i].kind != Node::Kind::kKernel) continue;
      void* function = dlsym(library_.get(), FunctionName(i).c_str());
      functions_[i] = reinterpret_cast<Function>(function);
    }
  }

  // Open dims of operands are those of the result, or 1.
  void Check(const engines::Plan& plan) const override {
    for (size_t i = 0; i < region_.nodes.size(); ++i) {
      for (const size_t input : region_.nodes[i].inputs) {
        const engines::Dims &from = plan.dims[input], &to = plan.dims[i];
        for (size_t d = 0; d < from.size(); ++d) {
          const int64_t extent = to[to.size() - from.size() + d];
          if (from[d] != 1 && from[d] != extent) engines::Invalid("an operand of another size");
        }
      }
    }
  }

  void Compute(const engines::Plan& plan, size_t node, float* const* values) const override {
    functions_[node](values, plan.symbols.data());
  }

 private:
  struct Close {
    void operator()(void* library) const { dlclose(library); }
  };
  const Region& region_;
  std::unique_ptr<void, Close> library_;
  std::vector<Function> functions_;  // of kernels, by node
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const RelayvmRegionProvider*
relayvm_region_provider() {
  return engines::ProviderOf<CCompiler>("ccompiler");
}
