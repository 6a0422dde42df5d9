#include "bytecode/io/npz.h"

#include <fmt/format.h>
#include <zip.h>
#include <zlib.h>

#include <array>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>

#include "bytecode/base/file_mapping.h"
#include "bytecode/io/npy.h"
#include "bytecode/io/zip_reader.h"

namespace relayvm {
namespace {

constexpr std::string_view kSuffix = ".npy";

struct ZipDiscarder {
  void operator()(zip_t* z) const { zip_discard(z); }
};
using Zip = std::unique_ptr<zip_t, ZipDiscarder>;

Result<Zip> Create(const std::string& path) {
  int code = 0;
  Zip zip(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code));
  if (zip != nullptr) return zip;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  Status status(code == ZIP_ER_NOENT || code == ZIP_ER_OPEN ? StatusCode::kNotFound
                                                            : StatusCode::kInvalidInput,
                fmt::format("{}: {}", path, zip_error_strerror(&error)));
  zip_error_fini(&error);
  return status;
}

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
  // libzip deletes an archive without entries instead of writing it: it is the
  // end-of-central-directory record alone.
  if (tensors.empty()) {
    constexpr std::array<char, 22> kEmptyArchive = {'P', 'K', 5, 6};
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(kEmptyArchive.data(), kEmptyArchive.size());
    if (out.flush()) return OkStatus();
    return {StatusCode::kInvalidInput, fmt::format("{}: cannot be written", path)};
  }
  RELAYVM_ASSIGN_OR_RETURN(Zip zip, Create(path));
  std::vector<std::vector<std::byte>> buffers;  // libzip reads them when it closes
  auto failed = [&] {
    return Status(StatusCode::kInvalidInput, fmt::format("{}: {}", path, zip_strerror(zip.get())));
  };
  for (const auto& [name, tensor] : tensors) {
    auto bytes = SerializeNpy(tensor);
    if (!bytes.ok()) return bytes.status().WithContext(name);
    buffers.push_back(*std::move(bytes));
    zip_source_t* source =
        zip_source_buffer(zip.get(), buffers.back().data(), buffers.back().size(), 0);
    if (source == nullptr) return failed();
    const std::string entry = name + std::string(kSuffix);
    zip_int64_t index = zip_file_add(zip.get(), entry.c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      return failed();
    }
    const auto added = static_cast<zip_uint64_t>(index);
    constexpr zip_uint16_t kFirstDay = 1 << 5 | 1;  // 1980-01-01
    if (zip_set_file_compression(zip.get(), added, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(zip.get(), added, 0, kFirstDay, 0) != 0) {
      return failed();
    }
  }
  if (zip_close(zip.get()) != 0) return failed();
  std::ignore = zip.release();  // zip_close freed it
  return OkStatus();
}

}  // namespace relayvm
