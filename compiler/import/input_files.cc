#include "compiler/import/input_files.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace relayvm::import {
namespace {

namespace fs = std::filesystem;

constexpr char kEnd = '\0';  // of a name, which has none

std::string TextOf(const ContentHash& hash) { return {hash.begin(), hash.end()}; }

std::span<const char> ContentOf(const FileMapping& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::string NamesIn(const std::string& folder, const std::string& ending) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.ends_with(ending)) names.insert(name);
  }
  std::string all;
  for (const std::string& name : names) all += name + kEnd;
  return all;
}

std::string CanonicalOf(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path canonical = error ? fs::path() : fs::weakly_canonical(absolute, error);
  return error ? "" : canonical.string();
}

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

const InputFiles::File& InputFiles::FileOf(const std::string& path) {
  const auto at = files_.find(path);
  if (at != files_.end()) return at->second;
  const int64_t now = Now();
  return files_.emplace(path, File{FileMapping::Open(path), now}).first->second;
}

const std::string& InputFiles::Answer(const Question& question) {
  const auto [at, is_new] = answers_.try_emplace({question.kind, question.about});
  if (!is_new) return at->second;
  const std::string& about = question.about;
  std::error_code error;
  switch (question.kind) {
    case Kind::kContent: {
      const File& file = FileOf(about);
      // Of one that cannot be read there is no hash.
      if (file.opened.ok()) at->second = TextOf(hash_(ContentOf(**file.opened)));
      break;
    }
    case Kind::kIsFile:
      at->second = fs::is_regular_file(about, error) ? "1" : "0";
      break;
    case Kind::kIsFolder:
      at->second = fs::is_directory(about, error) ? "1" : "0";
      break;
    case Kind::kCanonical:
      at->second = CanonicalOf(about);
      break;
    case Kind::kNames: {
      const size_t folder = about.find(kEnd);
      at->second = NamesIn(about.substr(0, folder), about.substr(folder + 1));
      break;
    }
  }
  return at->second;
}

const std::string& InputFiles::Ask(Kind kind, const std::string& about) {
  const Question question{kind, about};
  if (std::ranges::find(asked_, question) == asked_.end()) asked_.push_back(question);
  return Answer(question);
}

Result<std::shared_ptr<const FileMapping>> InputFiles::Open(const std::string& path) {
  if (hash_ != nullptr) Ask(Kind::kContent, path);
  return FileOf(path).opened;
}

bool InputFiles::IsFile(const std::string& path) { return Ask(Kind::kIsFile, path) == "1"; }
bool InputFiles::IsFolder(const std::string& path) { return Ask(Kind::kIsFolder, path) == "1"; }
std::string InputFiles::Canonical(const std::string& path) { return Ask(Kind::kCanonical, path); }

std::vector<std::string> InputFiles::Names(const std::string& folder, const std::string& ending) {
  std::vector<std::string> names;
  std::string_view rest = Ask(Kind::kNames, folder + kEnd + ending);
  while (!rest.empty()) {
    names.emplace_back(rest.substr(0, rest.find(kEnd)));
    rest.remove_prefix(names.back().size() + 1);
  }
  return names;
}

bool InputFiles::AreUnchanged() const {
  // Times of files step: who writes again within a step, or to a page of a mapping that is not
  // written back, leaves the time as it was. What was written shortly before is read again.
  constexpr int64_t kShortly = 2'000'000'000;
  return std::ranges::all_of(files_, [&](const auto& f) {
    const auto& [path, file] = f;
    if (!file.opened.ok()) return true;
    const FileMapping& mapping = **file.opened;
    if (!mapping.CheckUnchanged().ok()) return false;
    if (mapping.write_time() + kShortly < file.opened_at) return true;
    const auto answer = answers_.find({Kind::kContent, path});
    return answer == answers_.end() || answer->second == TextOf(hash_(ContentOf(mapping)));
  });
}

}  // namespace relayvm::import
