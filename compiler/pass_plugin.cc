#include "compiler/pass_plugin.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>

namespace relayvm {

Result<std::vector<Pass>> LoadPassPlugin(const std::string& path) {
  auto bad = [&](std::string_view what) {
    return Status(StatusCode::kInvalidInput, fmt::format("{}: {}", path, what));
  };
  std::error_code error;
  const bool is_here = path.find('/') == std::string::npos && std::filesystem::exists(path, error);
  // Passes may be called until the process ends: the library is never unloaded.
  void* library = ::dlopen((is_here ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return bad(fmt::format("cannot load passes: {}", why == nullptr ? "?" : why));
  }
  void* entry = ::dlsym(library, "relayvm_pass_plugin");
  if (entry == nullptr)
    return bad("not a library of passes: it has no RELAYVM_PASS_PLUGIN (compiler/pass_plugin.h)");
  const PassPlugin* plugin = reinterpret_cast<const PassPlugin* (*)()>(entry)();
  const std::string abi = PassAbi();
  if (plugin == nullptr || plugin->abi == nullptr || plugin->abi != abi) {
    return bad(fmt::format(
        "built for another relayvm: expected \"{}\", found \"{}\"; build it again with the headers "
        "and the compiler of this one",
        abi, plugin == nullptr || plugin->abi == nullptr ? "" : plugin->abi));
  }
  std::vector<Pass> passes;
  plugin->add_passes(passes);
  for (const Pass& pass : passes) {
    if (pass.name.empty() || !pass.run) return bad("a pass without a name or a function");
  }
  if (passes.empty()) return bad("it has no passes");
  return passes;
}

}  // namespace relayvm
