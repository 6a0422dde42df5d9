#include "compiler/import/container/zip.h"

#include <fmt/format.h>

#include <algorithm>

#include "bytecode/base/printable.h"

namespace relayvm::import {
namespace {

constexpr uint16_t kStored = 0;
// What all entries together may inflate to: this, or a multiple of the file.
constexpr uint64_t kInflated = uint64_t{512} << 20;
constexpr uint64_t kInflatedOfFile = 8;

// The folder of the first entry, if all others lie in it too.
std::string CommonFolder(const std::vector<ZipEntry>& entries) {
  if (entries.empty()) return "";
  const std::string folder = entries[0].name.substr(0, entries[0].name.find('/') + 1);
  const auto lies_in = [&](const ZipEntry& e) { return e.name.starts_with(folder); };
  return std::ranges::all_of(entries, lies_in) ? folder : "";
}

}  // namespace

Result<Archive> Archive::Open(std::string path, SharedBytes file) {
  auto zip = ZipReader::Open(file);
  if (!zip.ok()) return zip.status().WithContext(path);
  Archive archive(std::move(path), *std::move(zip), std::move(file));
  const std::vector<ZipEntry>& entries = archive.zip_.entries();
  archive.folder_ = CommonFolder(entries);
  for (size_t i = 0; i < entries.size(); ++i) {
    std::string name = entries[i].name.substr(archive.folder_.size());
    if (name.empty() || name.ends_with('/')) continue;
    if (!archive.by_name_.emplace(std::move(name), i).second) {
      return InvalidInput(
          fmt::format("{}: two entries are called {}", archive.path_, Printable(entries[i].name)));
    }
  }
  return archive;
}

std::vector<std::string_view> Archive::Names(std::string_view prefix) const {
  std::vector<std::string_view> names;
  for (const ZipEntry& e : zip_.entries()) {
    const std::string_view name = std::string_view(e.name).substr(folder_.size());
    if (!name.empty() && !name.ends_with('/') && name.starts_with(prefix)) names.push_back(name);
  }
  return names;
}

uint64_t Archive::SizeOf(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? 0 : zip_.entries()[found->second].size;
}

Result<const ZipEntry*> Archive::Find(std::string_view name, uint64_t most) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    return Status(StatusCode::kNotFound, fmt::format("{}: the archive has no entry {}{}", path_,
                                                     Printable(folder_), Printable(name)));
  }
  const ZipEntry& entry = zip_.entries()[found->second];
  if (entry.size > most) {
    return InvalidInput(fmt::format("{}: {}: {} bytes; expected at most {}", path_, Printable(name),
                                    entry.size, most));
  }
  if (entry.method == kStored) return &entry;
  const uint64_t limit = std::max(kInflated, kInflatedOfFile * file_.size());
  if (entry.size > limit - inflated_) {
    return InvalidInput(fmt::format("{}: {}: the archive inflates to more than {} bytes", path_,
                                    Printable(name), limit));
  }
  inflated_ += entry.size;
  return &entry;
}

Result<SharedBytes> Archive::Read(std::string_view name, uint64_t most) const {
  RELAYVM_ASSIGN_OR_RETURN(const ZipEntry* entry, Find(name, most));
  auto bytes = zip_.Read(*entry);
  if (!bytes.ok()) return bytes.status().WithContext(fmt::format("{}: {}", path_, Printable(name)));
  return bytes;
}

Result<std::string> Archive::Text(std::string_view name, uint64_t most) const {
  RELAYVM_ASSIGN_OR_RETURN(SharedBytes bytes, Read(name, most));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<SharedBytes> Archive::View(std::string_view name) const {
  RELAYVM_ASSIGN_OR_RETURN(const ZipEntry* entry, Find(name, UINT64_MAX));
  // What is stored has one size: zip_reader.h compares them only when it reads.
  if (entry->method != kStored || entry->size != entry->stored_size) return Read(name, UINT64_MAX);
  return file_.Slice(entry->offset, entry->stored_size);
}

}  // namespace relayvm::import
