#include "tools/cli/output_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <optional>
#include <utility>

namespace relayvm::tools {
namespace {

using FileId = std::pair<dev_t, ino_t>;

// Of regular files: what is written to a pipe or a device replaces nothing.
std::optional<FileId> IdOf(const std::string& path) {
  struct stat info {};
  if (path.empty() || path == "-" || ::stat(path.c_str(), &info) != 0) return std::nullopt;
  if (!S_ISREG(info.st_mode)) return std::nullopt;
  return FileId{info.st_dev, info.st_ino};
}

}  // namespace

Status CheckOutputs(const std::vector<std::string>& outputs,
                    const std::vector<SourceFile>& sources) {
  for (const std::string& output : outputs) {
    const auto id = IdOf(output);
    if (!id) continue;
    for (const SourceFile& source : sources) {
      if (IdOf(source.path) != id) continue;
      return {
          StatusCode::kInvalidArgument,
          fmt::format("{}: the output is {}; give another name by --output", output, source.what)};
    }
  }
  return OkStatus();
}

}  // namespace relayvm::tools
