#include "bytecode/io/npz.h"

#include <fmt/format.h>
#include <zip.h>
#include <zlib.h>

#include <array>
#include <fstream>
#include <memory>
#include <set>
#include <string_view>

#include "bytecode/io/npy.h"

namespace relayvm {
namespace {

constexpr std::string_view kSuffix = ".npy";
// Deflate expands by at most 1032; a size beyond that is a lie that would have us allocate it.
constexpr uint64_t kMaxExpansion = 1040;

struct ZipDiscarder {
  void operator()(zip_t* z) const { zip_discard(z); }
};
using Zip = std::unique_ptr<zip_t, ZipDiscarder>;

struct EntryCloser {
  void operator()(zip_file_t* f) const { zip_fclose(f); }
};

Result<Zip> Open(const std::string& path, int flags) {
  int code = 0;
  Zip zip(zip_open(path.c_str(), flags, &code));
  if (zip != nullptr) return zip;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  Status status(code == ZIP_ER_NOENT || code == ZIP_ER_OPEN ? StatusCode::kNotFound
                                                            : StatusCode::kInvalidInput,
                fmt::format("{}: {}", path, zip_error_strerror(&error)));
  zip_error_fini(&error);
  return status;
}

Result<HostTensor> ReadEntry(zip_t* zip, zip_uint64_t index, const zip_stat_t& stat) {
  if (stat.size / kMaxExpansion > stat.comp_size + 1) {
    return Status(
        StatusCode::kInvalidInput,
        fmt::format("{} bytes from {} compressed ones are impossible", stat.size, stat.comp_size));
  }
  std::unique_ptr<zip_file_t, EntryCloser> file(zip_fopen_index(zip, index, 0));
  if (file == nullptr) return Status(StatusCode::kInvalidInput, zip_strerror(zip));
  // libzip compares the checksum only when it is asked for bytes behind the last one.
  uLong crc = crc32_z(0, nullptr, 0);
  auto tensor = ReadNpyStream(stat.size, [&](std::span<std::byte> buffer) {
    for (std::span<std::byte> rest = buffer; !rest.empty();) {
      zip_int64_t got = zip_fread(file.get(), rest.data(), rest.size());
      if (got <= 0) {
        return Status(StatusCode::kInvalidInput,
                      got == 0 ? "truncated entry" : zip_file_strerror(file.get()));
      }
      rest = rest.subspan(static_cast<size_t>(got));
    }
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(buffer.data()), buffer.size());
    return OkStatus();
  });
  if (tensor.ok() && crc != stat.crc) {
    return Status(
        StatusCode::kInvalidInput,
        fmt::format("the archive states checksum {:08x}, found {:08x}: damaged", stat.crc, crc));
  }
  return tensor;
}

}  // namespace

Result<NamedTensors> ReadNpz(const std::string& path) {
  RELAYVM_ASSIGN_OR_RETURN(Zip zip, Open(path, ZIP_RDONLY | ZIP_CHECKCONS));
  NamedTensors tensors;
  std::set<std::string> names;
  const zip_int64_t count = zip_get_num_entries(zip.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    constexpr zip_uint64_t kNeeded =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_CRC;
    if (zip_stat_index(zip.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW, &stat) != 0 ||
        (stat.valid & kNeeded) != kNeeded) {
      return Status(StatusCode::kInvalidInput, fmt::format("{}: entry {} cannot be read", path, i));
    }
    std::string name = stat.name;
    if (!name.empty() && name.back() == '/') continue;
    const std::string place = fmt::format("{}: {}", path, name);
    if (!name.ends_with(kSuffix))
      return Status(StatusCode::kInvalidInput, place + ": not a .npy entry");
    name.resize(name.size() - kSuffix.size());
    if (!names.insert(name).second)
      return Status(StatusCode::kInvalidInput, place + ": entry occurs twice");
    auto tensor = ReadEntry(zip.get(), static_cast<zip_uint64_t>(i), stat);
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
  RELAYVM_ASSIGN_OR_RETURN(Zip zip, Open(path, ZIP_CREATE | ZIP_TRUNCATE));
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
  static_cast<void>(zip.release());  // zip_close freed it
  return OkStatus();
}

}  // namespace relayvm
