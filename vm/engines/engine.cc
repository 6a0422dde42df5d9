#include "vm/engines/engine.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "bytecode/base/guarded.h"
#include "bytecode/base/printable.h"

namespace relayvm::vm {
namespace {

// Of the shared library or the program that this function is a part of; empty where it is unknown.
std::string FolderOfRuntime() {
  Dl_info info{};
  std::string path;
  if (::dladdr(reinterpret_cast<const void*>(&FolderOfRuntime), &info) != 0 &&
      info.dli_fname != nullptr)
    path = info.dli_fname;
  // A program's own name is what its caller said.
  if (char file[4096]; path.find(".so") == std::string::npos) {
    const ssize_t size = ::readlink("/proc/self/exe", file, sizeof(file));
    if (size > 0) path.assign(file, static_cast<size_t>(size));
  }
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

// Where the library of that name is, or what was looked at.
Result<std::string> FindLibrary(const std::string& engine) {
  const std::string file = "librelayvm_" + engine + ".so";
  std::vector<std::string> folders;
  if (const char* given = std::getenv("RELAYVM_ENGINES"); given != nullptr && *given != '\0') {
    folders.emplace_back(given);
  } else if (const std::string own = FolderOfRuntime(); !own.empty()) {
    for (const char* beside : {"/engines", "/../engines", "/relayvm", "/../lib/relayvm"})
      folders.push_back(own + beside);
  }
  std::string looked;
  for (const std::string& folder : folders) {
    std::string path = folder + "/" + file;
    if (::access(path.c_str(), R_OK) == 0) return path;
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  return Status(StatusCode::kUnsupported,
                fmt::format("there is no {} in {}; name its file, or the folder by RELAYVM_ENGINES",
                            file, looked.empty() ? "any folder" : looked));
}

// What is wrong with it; empty where it can be used.
std::string Problem(const RelayvmRegionProvider* provider, const std::string& engine) {
  if (provider == nullptr) return RELAYVM_REGION_PROVIDER_SYMBOL " gives NULL";
  if (provider->abi != RELAYVM_REGION_ABI || provider->struct_size < sizeof(*provider)) {
    return fmt::format(
        "built for another relayvm: expected ABI {} and a provider of {} bytes, found {} and {}",
        RELAYVM_REGION_ABI, sizeof(*provider), provider->abi, provider->struct_size);
  }
  if (provider->engine == nullptr || engine != provider->engine) {
    return fmt::format("expected engine {}, found {}", engine,
                       provider->engine == nullptr ? "none" : Printable(provider->engine));
  }
  if (provider->open == nullptr || provider->create == nullptr || provider->prepare == nullptr ||
      provider->run == nullptr || provider->release == nullptr || provider->destroy == nullptr)
    return "one of its functions is NULL";
  return "";
}

}  // namespace

std::string RegionErrorText(int32_t status, const RelayvmRegionError& error) {
  const size_t bytes = ::strnlen(error.message, sizeof(error.message));
  if (bytes > 0) return Printable({error.message, bytes});
  switch (status) {
    case RELAYVM_REGION_UNSUPPORTED:
      return "unsupported";
    case RELAYVM_REGION_INVALID:
      return "invalid";
    case RELAYVM_REGION_OUT_OF_MEMORY:
      return "out of memory";
    default:
      return fmt::format("failed with status {}", status);
  }
}

Result<Engine> OpenEngine(const EngineLibrary& library) {
  std::string path = library.path;
  if (path.empty()) {
    RELAYVM_ASSIGN_OR_RETURN(path, FindLibrary(library.name));
  }
  const auto bad = [&](const std::string& what) {
    return Status(StatusCode::kUnsupported, fmt::format("{}: {}", path, what));
  };
  // A name without '/' is a file of the current folder where there is one, else the system's.
  const bool is_here = path.find('/') == std::string::npos && ::access(path.c_str(), F_OK) == 0;
  void* handle = ::dlopen((is_here ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return bad(fmt::format("cannot load the engine: {}", why == nullptr ? "?" : why));
  }
  void* entry = ::dlsym(handle, RELAYVM_REGION_PROVIDER_SYMBOL);
  if (entry == nullptr)
    return bad("expected a function " RELAYVM_REGION_PROVIDER_SYMBOL ", found none");
  Engine engine{nullptr, path, ""};
  const char* version = nullptr;
  RelayvmRegionError error{};
  int32_t status = RELAYVM_REGION_FAILED;
  std::string problem;
  const bool threw = ExceptionOf([&] {
                       engine.provider = reinterpret_cast<RelayvmRegionProviderFn>(entry)();
                       problem = Problem(engine.provider, library.name);
                       if (problem.empty()) status = engine.provider->open(&version, &error);
                     }) != nullptr;
  if (threw) return bad("it threw an exception");
  if (!problem.empty()) return bad(problem);
  if (status != RELAYVM_REGION_OK) return bad(RegionErrorText(status, error));
  if (version != nullptr) engine.version = version;
  return engine;
}

}  // namespace relayvm::vm
