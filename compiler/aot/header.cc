#include "compiler/aot/header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string_view>

#include "bytecode/base/printable.h"
#include "bytecode/disassembler.h"
#include "compiler/aot/aot.h"
#include "compiler/aot/static_plan.h"

namespace relayvm::aot {
namespace {

std::string CType(DType t) {
  if (t == DType::kFloat32) return "float";
  if (t == DType::kFloat64) return "double";
  return fmt::format("{}int{}_t", IsSignedInt(t) ? "" : "u", 8 * DTypeBytes(t));
}

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string Start(const std::string& name, const std::string& what) {
  const std::string guard = Upper(name) + "_H_";
  return fmt::format(
      "/* Made by relayc --executor aot. {1} */\n"
      "#ifndef {0}\n#define {0}\n\n",
      guard, what);
}

// What a C or C++ compiler, the headers that a header includes or the header itself take for
// something else than a parameter.
constexpr std::string_view kTaken[] = {
    // Keywords of C, of C++ or of either, and macros that stand for them.
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
    "co_yield", "compl", "complex", "concept", "const", "const_cast", "consteval", "constexpr",
    "constinit", "continue", "contract_assert", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
    "friend", "goto", "if", "imaginary", "inline", "int", "long", "mutable", "namespace", "new",
    "noexcept", "noreturn", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private",
    "protected", "public", "register", "reinterpret_cast", "requires", "restrict", "return",
    "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
    "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
    "typeof", "typeof_unqual", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "xor", "xor_eq",
    // Types and macros of the header and of what it includes; macros of compilers and of headers
    // that may stand before it.
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
    "size_t", "ptrdiff_t", "intptr_t", "uintptr_t", "intmax_t", "uintmax_t", "max_align_t", "NULL",
    "offsetof", "unreachable", "relayvm_aot_tensor", "relayvm_aot_is", "relayvm_aot_options",
    "RELAYVM_AOT_TENSOR", "RELAYVM_AOT_BAD_ARGUMENT", "linux", "unix", "i386", "errno", "EOF", "I",
    "workspace"};

bool IsTaken(std::string_view name) {
  // INT64_MAX, SIZE_MAX, INT64_C and so on.
  const bool is_limit =
      (name.starts_with("INT") || name.starts_with("UINT") || name.starts_with("SIZE_") ||
       name.starts_with("PTRDIFF_") || name.starts_with("WCHAR_") || name.starts_with("WINT_") ||
       name.starts_with("SIG_ATOMIC_")) &&
      (name.ends_with("_MAX") || name.ends_with("_MIN") || name.ends_with("_C") ||
       name.ends_with("_WIDTH"));
  return is_limit || name.starts_with("M_") ||  // M_PI
         std::ranges::find(kTaken, name) != std::end(kTaken);
}

// Names of C parameters: each once, and none that means something else already.
void MakeUnique(std::vector<Leaf>* leaves, std::vector<std::string> taken) {
  for (Leaf& leaf : *leaves) {
    std::string& name = leaf.name;
    // Such names are the compiler's: __LINE__, _Bool.
    const bool is_reserved =
        name.size() > 1 && name[0] == '_' &&
        (name[1] == '_' || std::isupper(static_cast<unsigned char>(name[1])) != 0);
    if (is_reserved) name.insert(0, "x");
    while (IsTaken(name) || std::ranges::find(taken, name) != taken.end()) name += "_";
    taken.push_back(name);
  }
}

// Names of macros, each once: names that differ in case are the same in capitals.
class MacroNames {
 public:
  std::string Add(const std::string& name) {
    std::string macro = Upper(name);
    while (!taken_.insert(macro).second) macro += "_";
    return macro;
  }

 private:
  std::set<std::string> taken_;
};

// Names out of the program inside a comment.
std::string InComment(std::string_view text) {
  std::string out = Printable(text);
  for (size_t i = 0; i + 1 < out.size(); ++i) {
    const std::string_view pair = std::string_view(out).substr(i, 2);
    if (pair == "*/" || pair == "/*") out.insert(i + 1, " ");
  }
  return out;
}

// The checks of a NAME_checked, in C: it costs nothing where it is not called.
std::string CheckedFunction(const Program& program, const std::string& function,
                            const std::string& macro, const std::vector<Leaf>& inputs,
                            const std::vector<Leaf>& outputs) {
  (void)program;
  std::string out = fmt::format(
      "/* The same for tensors that say what they are: RELAYVM_AOT_BAD_ARGUMENT where their "
      "number, dtypes\n"
      " * or shapes are others than {0} has, or the workspace is too small. */\n"
      "static inline int32_t {0}_checked(const relayvm_aot_tensor* inputs, size_t num_inputs,\n"
      "                                  const relayvm_aot_tensor* outputs, size_t num_outputs,\n"
      "                                  void* workspace, size_t workspace_bytes) {{\n",
      function);
  out += fmt::format(
      "  if (num_inputs != {} || num_outputs != {} || workspace_bytes < {}_WORKSPACE_BYTES)\n"
      "    return RELAYVM_AOT_BAD_ARGUMENT;\n",
      inputs.size(), outputs.size(), macro);
  std::string args;
  const auto check = [&](const std::vector<Leaf>& leaves, const char* array, bool is_const) {
    for (size_t i = 0; i < leaves.size(); ++i) {
      const ValueType& t = *leaves[i].type;
      std::string dims = fmt::format("{}", fmt::join(t.dims, ", "));
      if (dims.empty()) dims = "0";
      out += fmt::format(
          "  {{\n    static const int64_t dims[] = {{{}}};\n"
          "    if (!relayvm_aot_is(&{}[{}], {}, {}, dims)) return RELAYVM_AOT_BAD_ARGUMENT;\n  "
          "}}\n",
          dims, array, i, static_cast<int>(t.dtype), t.dims.size());
      args +=
          fmt::format("({}{}*){}[{}].data, ", is_const ? "const " : "", CType(t.dtype), array, i);
    }
  };
  check(inputs, "inputs", true);
  check(outputs, "outputs", false);
  return out + fmt::format("  return {}({}workspace);\n}}\n\n", function, args);
}

// What headers of several objects share.
constexpr const char* kTensorText = R"(#ifndef RELAYVM_AOT_TENSOR
#define RELAYVM_AOT_TENSOR
/* Error codes: 0 is success, those of programs are above it (see the message functions). */
enum { RELAYVM_AOT_BAD_ARGUMENT = -1 };
/* Compact, row-major. dtype: bool 0, int8 1, int16 2, int32 3, int64 4, uint8 5, uint16 6, uint32
 * 7, uint64 8, float16 9, bfloat16 10, float32 11, float64 12. */
typedef struct relayvm_aot_tensor {
  void* data;
  const int64_t* dims;
  int32_t rank;
  int32_t dtype;
} relayvm_aot_tensor;
static inline int relayvm_aot_is(const relayvm_aot_tensor* t, int32_t dtype, int32_t rank,
                                 const int64_t* dims) {
  int32_t i;
  if (t->data == NULL || t->dtype != dtype || t->rank != rank) return 0;
  for (i = 0; i < rank; ++i)
    if (t->dims[i] != dims[i]) return 0;
  return 1;
}
#endif

)";

// The same of programs with a heap: vm/aot/aot_runtime.h's RelayvmAotOptions.
constexpr const char* kOptionsText = R"(#ifndef RELAYVM_AOT_OPTIONS
#define RELAYVM_AOT_OPTIONS
/* Limits of a run, for the functions _with; NULL and zeros: none. At a limit a run fails as
 * any other: RELAYVM_RESOURCE_EXHAUSTED, RELAYVM_DEADLINE_EXCEEDED, RELAYVM_CANCELLED. */
typedef struct relayvm_aot_options {
  uint32_t struct_size; /* sizeof(relayvm_aot_options) */
  uint32_t reserved;
  uint64_t memory_limit; /* bytes of the run's values */
  uint64_t stack_bytes;  /* which bounds recursion; 0: 256 MiB */
  int64_t timeout_ns;
  const volatile uint32_t* cancel; /* a run ends soon after it is set, by any thread, to what is not 0 */
  const relayvm_runtime* runtime;  /* whose threads and memory it takes, and which counts it; NULL: the program's own */
  /* Of the first run, in programs of relayc --byoc: libraries of engines (relayvm/c_api_host.h).
   * NULL, and for others than those: what comes with relayvm; RELAYVM_ENGINES names its folder. */
  const relayvm_engines* engines;
} relayvm_aot_options;
#endif

)";

}  // namespace

std::string ToIdentifier(const std::string& name) {
  std::string out;
  for (unsigned char c : name) out += std::isalnum(c) != 0 ? static_cast<char>(c) : '_';
  if (out.empty() || std::isdigit(static_cast<unsigned char>(out[0])) != 0) out.insert(0, "_");
  return out;
}

void AppendLeaves(const std::string& name, const ValueType& type, std::vector<Leaf>* leaves) {
  if (type.kind == ValueType::Kind::kTensor) {
    leaves->push_back({ToIdentifier(name), &type});
    return;
  }
  for (size_t i = 0; i < type.args.size(); ++i)
    AppendLeaves(fmt::format("{}_{}", name, i), type.args[i], leaves);
}

std::vector<Leaf> InputLeaves(const ExportInfo& e) {
  std::vector<Leaf> leaves;
  for (size_t i = 0; i < e.params.size(); ++i) AppendLeaves(e.param_names[i], e.params[i], &leaves);
  MakeUnique(&leaves, {"result"});
  return leaves;
}

std::vector<Leaf> OutputLeaves(const ExportInfo& e) {
  std::vector<Leaf> leaves, inputs = InputLeaves(e);
  AppendLeaves("result", e.result, &leaves);
  std::vector<std::string> taken;
  for (const Leaf& leaf : inputs) taken.push_back(leaf.name);
  MakeUnique(&leaves, taken);
  return leaves;
}

std::string StaticHeader(const Program& program, const std::string& name,
                         const std::vector<uint64_t>& workspace_bytes) {
  std::string out =
      Start(name, "Links with C's library alone; thread-safe: a workspace is one call's.");
  out +=
      "#include <stddef.h>\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  out += kTensorText;
  out += fmt::format(
      "/* What an error code of this program says; a text of its own for 0 and for unknown ones. "
      "*/\n"
      "const char* {}_message(int32_t error);\n\n",
      name);
  MacroNames macros;
  for (size_t i = 0; i < program.exports.size(); ++i) {
    const ExportInfo& e = program.exports[i];
    const std::string function = fmt::format("{}_{}", name, ToIdentifier(e.name));
    const std::vector<Leaf> inputs = InputLeaves(e), outputs = OutputLeaves(e);
    const std::string macro = macros.Add(function);
    out += fmt::format("/* @{}. 0, or an error. `workspace` has {}_WORKSPACE_BYTES bytes.\n",
                       InComment(e.name), macro);
    std::string params;
    for (const auto* leaves : {&inputs, &outputs}) {
      for (const Leaf& leaf : *leaves) {
        const bool is_input = leaves == &inputs;
        out += fmt::format(" *   {} {}: {}\n", is_input ? "in " : "out", leaf.name,
                           InComment(TypeToString(program, *leaf.type)));
        params +=
            fmt::format("{}{}* {}, ", is_input ? "const " : "", CType(leaf.type->dtype), leaf.name);
      }
    }
    out += " */\n";
    out += fmt::format("#define {}_WORKSPACE_BYTES {}\n", macro, workspace_bytes[i]);
    out += fmt::format("int32_t {}({}void* workspace);\n\n", function, params);
    out += CheckedFunction(program, function, macro, inputs, outputs);
  }
  return out + "#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

std::string RuntimeHeader(const Program& program, const std::string& name) {
  std::string out =
      Start(name,
            "Links with librelayvm_aot.a (and -lboost_context -lfmt -lstdc++ -lm);\n"
            " * thread-safe. Values are made and read by the functions of relayvm/c_api.h.");
  out +=
      "#include <relayvm/c_api.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
      "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  out += kOptionsText;
  MacroNames macros;
  for (const AdtInfo& adt : program.adts) {
    for (size_t tag = 0; tag < adt.constructors.size(); ++tag) {
      const std::string constructor = adt.name + "_" + adt.constructors[tag].name;
      out += fmt::format("#define {}_TAG {}\n",
                         macros.Add(fmt::format("{}_{}", name, ToIdentifier(constructor))), tag);
    }
  }
  for (const ExportInfo& e : program.exports) {
    const std::string function = fmt::format("{}_{}", name, ToIdentifier(e.name));
    out += fmt::format("/* @{}: NULL and a *result that is the caller's, or what failed.\n",
                       InComment(e.name));
    for (size_t i = 0; i < e.params.size(); ++i) {
      out += fmt::format(" *   in  {}: {}\n", InComment(e.param_names[i]),
                         InComment(TypeToString(program, e.params[i])));
    }
    out += fmt::format(" *   out {} */\n", InComment(ResultTypeToString(program, e, e.result)));
    out += fmt::format("enum {{ {}_INPUTS = {} }};\n", macros.Add(function), e.params.size());
    out += fmt::format(
        "relayvm_status* {0}(relayvm_value* const* inputs, size_t num_inputs, relayvm_value** "
        "result);\n"
        "relayvm_status* {0}_with(const relayvm_aot_options* options, relayvm_value* const* "
        "inputs,\n"
        "    size_t num_inputs, relayvm_value** result);\n\n",
        function);
  }
  return out + "#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

}  // namespace relayvm::aot
