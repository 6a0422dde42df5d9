// Folders for what will run: only this user may write to them. Tested by
// kernels/codegen/object_cache_test.cc and tools/serve/repository_test.cc.
#pragma once

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "bytecode/base/status.h"

namespace relayvm {

// Makes `folder`, with mode 0700, and those above it, where they are not there. kInvalidInput: it
// cannot be made, or is no folder; kFailedPrecondition: it is another user's, or others may write
// to it. `purpose` is for messages: "for compiled kernels".
inline Status MakePrivateFolder(const std::string& folder, std::string_view purpose) {
  const auto failed = [&](const std::string& why) {
    return Status(StatusCode::kInvalidInput,
                  fmt::format("the folder {} {}: {}", folder, purpose, why));
  };
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(folder).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (!error && ::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    error = {errno, std::generic_category()};
  struct stat info = {};
  if (!error && ::stat(folder.c_str(), &info) != 0) error = {errno, std::generic_category()};
  if (error) return failed(error.message());
  if (!S_ISDIR(info.st_mode)) return failed("it is no folder");
  if (info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return {StatusCode::kFailedPrecondition,
            fmt::format("the folder {} {}: it must be this user's, and no one else's to write to "
                        "(chmod go-w), as what is in it will run",
                        folder, purpose)};
  }
  return OkStatus();
}

}  // namespace relayvm
