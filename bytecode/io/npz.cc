#include "bytecode/io/npz.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <string_view>

#include "bytecode/base/file_mapping.h"
#include "bytecode/io/npy.h"
#include "bytecode/io/zip_reader.h"
#include "bytecode/io/zip_writer.h"

namespace relayvm {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

Result<NamedTensors> ReadNpz(const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(std::shared_ptr<const FileMapping> file, FileMapping::Open(path));
  return ParseNpz(path, SharedBytes::OfFile(std::move(file)));
}

Result<NamedTensors> ParseNpz(const std::string& path, SharedBytes bytes_of_archive) {
  auto archive = ZipReader::Open(std::move(bytes_of_archive));
  if (!archive.ok()) return archive.status().WithContext(path);
  NamedTensors tensors;
  std::set<std::string> names;
  for (const ZipEntry& entry : archive->entries()) {
    std::string name = entry.name;
    if (name.ends_with('/')) continue;
    const std::string place = fmt::format("{}: {}", path, name);
    if (!name.ends_with(kSuffix))
      return Status(StatusCode::kInvalidInput, place + ": not a .npy entry");
    name.resize(name.size() - kSuffix.size());
    if (!names.insert(name).second)
      return Status(StatusCode::kInvalidInput, place + ": entry occurs twice");
    auto bytes = archive->Read(entry);
    if (!bytes.ok()) return bytes.status().WithContext(place);
    auto tensor = ParseNpy(*bytes);
    if (!tensor.ok()) return tensor.status().WithContext(place);
    tensors.emplace_back(std::move(name), *std::move(tensor));
  }
  return tensors;
}

Status WriteNpz(const std::string& path, const NamedTensors& tensors) {
  RELAYVM_ASSIGN_OR_RETURN(ZipWriter zip, ZipWriter::Create(path));
  for (const auto& [name, tensor] : tensors) {
    auto bytes = SerializeNpy(tensor);
    if (!bytes.ok()) return bytes.status().WithContext(name);
    RELAYVM_RETURN_IF_ERROR(zip.Add(name + std::string(kSuffix), *bytes));
  }
  return zip.Finish();
}

}  // namespace relayvm
