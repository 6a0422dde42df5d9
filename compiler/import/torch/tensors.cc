#include "compiler/import/torch/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "bytecode/base/printable.h"

namespace relayvm::import::torch {
namespace {

using Pickled = PickleValue::Kind;

// What a view that is no part of its storage as it lies may become.
constexpr int64_t kMostGathered = int64_t{256} << 20;
// Gathered at once; larger ones when they are read.
constexpr int64_t kGatheredNow = 64 << 10;
constexpr int kMostWrapped = 8;  // a parameter of a tensor of ...

int ElementsInByte(const ElementType& type) {
  return type.torch == 16 ? 2 : type.torch == 17 ? 4 : 1;
}

struct StorageName {
  std::string_view storage;  // of torch.FloatStorage
  std::string_view dtype;    // of torch.float32
  int torch;
  DType of;
  bool complex = false, quantised = false;
};
constexpr StorageName kStorages[] = {
    {"ByteStorage", "uint8", 0, DType::kUInt8},
    {"CharStorage", "int8", 1, DType::kInt8},
    {"ShortStorage", "int16", 2, DType::kInt16},
    {"IntStorage", "int32", 3, DType::kInt32},
    {"LongStorage", "int64", 4, DType::kInt64},
    {"HalfStorage", "float16", 5, DType::kFloat16},
    {"FloatStorage", "float32", 6, DType::kFloat32},
    {"DoubleStorage", "float64", 7, DType::kFloat64},
    {"ComplexHalfStorage", "complex32", 8, DType::kFloat16, true},
    {"ComplexFloatStorage", "complex64", 9, DType::kFloat32, true},
    {"ComplexDoubleStorage", "complex128", 10, DType::kFloat64, true},
    {"BoolStorage", "bool", 11, DType::kBool},
    {"QInt8Storage", "qint8", 12, DType::kInt8, false, true},
    {"QUInt8Storage", "quint8", 13, DType::kUInt8, false, true},
    {"QInt32Storage", "qint32", 14, DType::kInt32, false, true},
    {"BFloat16Storage", "bfloat16", 15, DType::kBFloat16},
    // Two, and four, in a byte, which become one each.
    {"QUInt4x2Storage", "quint4x2", 16, DType::kUInt8, false, true},
    {"QUInt2x4Storage", "quint2x4", 17, DType::kUInt8, false, true},
    {"", "uint16", 27, DType::kUInt16},
    {"", "uint32", 28, DType::kUInt32},
    {"", "uint64", 29, DType::kUInt64},
};

ElementType TypeOf(const StorageName& s) { return {s.torch, s.of, s.complex, s.quantised}; }

// One element behind another; where they lie among the bytes of a storage.
struct Walk {
  std::vector<int64_t> sizes, strides;  // bytes
  int64_t offset = 0;
  int64_t element = 0;
};

// Copies the elements in order. REQUIRES: all lie in `from`.
void Gather(const Walk& walk, const std::byte* from, std::span<std::byte> out) {
  const size_t rank = walk.sizes.size();
  std::vector<int64_t> at(rank, 0);
  const std::byte* row = from + walk.offset;
  const int64_t width = walk.element;
  const int64_t last = rank == 0 ? 1 : walk.sizes[rank - 1];
  const int64_t step = rank == 0 ? 0 : walk.strides[rank - 1];
  for (std::byte* to = out.data(); to != out.data() + out.size();) {
    for (int64_t i = 0; i < last; ++i, to += width) {
      std::memcpy(to, row + i * step, static_cast<size_t>(width));
    }
    for (size_t axis = rank < 2 ? 0 : rank - 1; axis-- > 0;) {
      row += walk.strides[axis];
      if (++at[axis] < walk.sizes[axis]) break;
      row -= walk.strides[axis] * walk.sizes[axis];
      at[axis] = 0;
    }
  }
}

// How many elements a view has, or why it cannot be of a storage of `room` elements.
Result<int64_t> CountOf(std::string_view where, const Strides& view, int64_t room) {
  const auto refuse = [&](std::string_view why) {
    return InvalidInput(fmt::format("{}: sizes ({}), strides ({}), offset {}: {}", where,
                                    fmt::join(view.sizes, ", "), fmt::join(view.strides, ", "),
                                    view.offset, why));
  };
  if (view.sizes.size() != view.strides.size()) return refuse("expected a stride for each size");
  int64_t count = 1, last = view.offset;
  bool empty = false;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    const int64_t size = view.sizes[i];
    if (size < 0 || view.strides[i] < 0) return refuse("expected no negative number");
    empty = empty || size == 0;
  }
  if (view.offset < 0) return refuse("expected no negative offset");
  if (empty) return 0;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(view.sizes[i] - 1, view.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last) ||
        __builtin_mul_overflow(count, view.sizes[i], &count)) {
      return refuse("too large");
    }
  }
  if (last >= room) return refuse(fmt::format("its storage has {} elements", room));
  return count;
}

// The numbers of a tuple or list of integers.
std::optional<std::vector<int64_t>> IntsOf(const PickleValue& v) {
  const PickleValue& list = Untagged(v);
  if (!list.is_sequence()) return std::nullopt;
  std::vector<int64_t> numbers;
  for (const PickleValue* item : list.items) {
    if (!item->is(Pickled::kInt)) return std::nullopt;
    numbers.push_back(item->integer);
  }
  return numbers;
}

template <typename T>
void AppendNumbers(const HostTensor& t, std::vector<double>& to) {
  const SharedBytes bytes = t.data.Loaded();
  for (int64_t i = 0; i < t.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    to.push_back(static_cast<double>(value));
  }
}
// False: of another dtype.
bool NumbersOf(const HostTensor& t, std::vector<double>& to) {
  switch (t.dtype) {
    case DType::kFloat32:
      return AppendNumbers<float>(t, to), true;
    case DType::kFloat64:
      return AppendNumbers<double>(t, to), true;
    case DType::kInt32:
      return AppendNumbers<int32_t>(t, to), true;
    case DType::kInt64:
      return AppendNumbers<int64_t>(t, to), true;
    default:
      return false;
  }
}

constexpr std::array kTensorCalls = {
    std::string_view("torch._utils._rebuild_tensor"),
    std::string_view("torch._utils._rebuild_tensor_v2"),
    std::string_view("torch._utils._rebuild_tensor_v3"),
    std::string_view("torch._utils._rebuild_qtensor"),
    std::string_view("torch._utils._rebuild_parameter"),
    std::string_view("torch._utils._rebuild_parameter_with_state"),
    std::string_view("torch._tensor._rebuild_from_type_v2"),
};

}  // namespace

std::optional<ElementType> ElementTypeOf(int torch) {
  for (const StorageName& s : kStorages) {
    if (s.torch == torch) return TypeOf(s);
  }
  return std::nullopt;
}

std::string ElementTypeName(const ElementType& type) {
  for (const StorageName& s : kStorages) {
    if (s.torch == type.torch) return std::string(s.dtype);
  }
  return fmt::format("dtype {}", type.torch);
}

bool Strides::contiguous() const {
  if (sizes.size() != strides.size()) return false;
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != expected || __builtin_mul_overflow(expected, sizes[i], &expected))
      return false;
  }
  return true;
}

// Elements of 4 or 2 bits, the first one in a byte's lowest.
static Result<HostTensor> Unpacked(std::string_view where, const SharedBytes& storage,
                                   const ElementType& type, const Strides& view, int parts) {
  RELAYVM_ASSIGN_OR_RETURN(int64_t count,
                           CountOf(where, view, static_cast<int64_t>(storage.size()) * parts));
  if (view.offset != 0 || !view.contiguous()) {
    return InvalidInput(fmt::format("{}: a view of elements that share bytes", where));
  }
  const auto unpack = [storage, parts](std::span<std::byte> out) {
    const SharedBytes from = storage.Loaded();
    const auto in_byte = static_cast<size_t>(parts), bits = 8 / in_byte;
    for (size_t i = 0; i < out.size(); ++i) {
      const auto byte = static_cast<uint8_t>(from[i / in_byte]);
      out[i] = static_cast<std::byte>((byte >> (i % in_byte * bits)) & ((1U << bits) - 1));
    }
  };
  return HostTensor{
      type.dtype, view.sizes,
      count == 0 ? SharedBytes() : SharedBytes::Lazy(static_cast<size_t>(count), unpack)};
}

Result<HostTensor> TensorOf(std::string_view where, const SharedBytes& storage,
                            const ElementType& type, const Strides& view) {
  const int64_t width = type.bytes();
  if (const int parts = ElementsInByte(type); parts > 1)
    return Unpacked(where, storage, type, view, parts);
  RELAYVM_ASSIGN_OR_RETURN(int64_t count,
                           CountOf(where, view, static_cast<int64_t>(storage.size()) / width));
  HostTensor tensor{type.dtype, view.sizes, {}};
  if (type.complex) tensor.shape.push_back(2);
  if (count == 0) return tensor;
  const int64_t start = view.offset * width;  // within the storage
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, width, &bytes) ||
      bytes > std::max(kMostGathered, static_cast<int64_t>(storage.size()))) {
    return InvalidInput(
        fmt::format("{}: a view of {} elements of a storage of {} bytes is too large", where, count,
                    storage.size()));
  }
  const bool in_order = view.contiguous();
  const auto align = static_cast<uintptr_t>(DTypeBytes(type.dtype));
  // Lazy bytes, which somebody makes in memory, are aligned; asking them for their place would make
  // them.
  if (in_order) {
    tensor.data = storage.Slice(static_cast<size_t>(start), static_cast<size_t>(bytes));
    if (reinterpret_cast<uintptr_t>(tensor.data.data()) % align != 0) {
      const SharedBytes from = tensor.data;
      tensor.data = SharedBytes::Lazy(from.size(), [from](std::span<std::byte> out) {
        std::memcpy(out.data(), from.data(), out.size());
        from.DropPages();
      });
    }
  } else {
    Walk walk{view.sizes, view.strides, start, width};
    for (int64_t& s : walk.strides) s *= width;
    // Of extent 1 a stride means nothing, and may be anything.
    for (size_t i = 0; i < walk.sizes.size(); ++i) {
      if (walk.sizes[i] == 1) walk.strides[i] = 0;
    }
    const auto gather = [walk, storage](std::span<std::byte> out) {
      const SharedBytes from = storage.Loaded();
      Gather(walk, from.data(), out);
    };
    if (bytes <= kGatheredNow) {
      tensor.data = SharedBytes::Zeros(static_cast<size_t>(bytes));
      gather(tensor.data.Mutable());
    } else {
      tensor.data = SharedBytes::Lazy(static_cast<size_t>(bytes), gather);
    }
  }
  NormalizeBools(tensor);
  return tensor;
}

bool IsTorchGlobal(std::string_view module, std::string_view name) {
  const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, name) != names.end();
  };
  if (module == "torch") {
    for (const StorageName& s : kStorages) {
      if (name == s.dtype || (!s.storage.empty() && name == s.storage)) return true;
    }
    return is_one_of({"device", "Size", "per_tensor_affine", "per_channel_affine",
                      "per_tensor_symmetric", "per_channel_symmetric",
                      "per_channel_affine_float_qparams", "serialization._get_layout"});
  }
  if (module == "collections") return name == "OrderedDict";
  if (module == "__builtin__" || module == "builtins") return is_one_of({"set", "frozenset"});
  if (module == "torch.jit._pickle") {
    return is_one_of({"build_intlist", "build_doublelist", "build_boollist", "build_tensorlist",
                      "restore_type_tag"});
  }
  if (module == "torch.nn.parameter") return name == "Parameter";
  if (module == "torch.storage") return is_one_of({"UntypedStorage", "_UntypedStorage"});
  return std::ranges::find(kTensorCalls, fmt::format("{}.{}", module, name)) != kTensorCalls.end();
}

bool IsTensor(const PickleValue& v) {
  return v.is(Pickled::kCall) &&
         std::ranges::find(kTensorCalls, v.callee->text) != kTensorCalls.end();
}

const PickleValue& Untagged(const PickleValue& v) {
  const PickleValue* at = &v;
  while (at->is(Pickled::kCall) && at->callee->text.starts_with("torch.jit._pickle.") &&
         !at->arguments().empty()) {
    at = at->arguments()[0];
  }
  return *at;
}

Result<TensorReader::Stored> TensorReader::StorageOf(const PickleValue& v, std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return InvalidInput(fmt::format("{}: tensor {}: {}", archive_.path(), Printable(name), why));
  };
  const bool right = v.is(Pickled::kPersistent) && v.items.size() >= 5 &&
                     v.items[0]->is(Pickled::kText) && v.items[0]->text == "storage" &&
                     v.items[1]->is(Pickled::kGlobal) && v.items[2]->is(Pickled::kText) &&
                     v.items[4]->is(Pickled::kInt);
  if (!right) return refuse(fmt::format("expected a storage, found {}", Describe(v)));
  Stored stored{.bytes = {}, .type = {}, .key = v.items[2]->text};
  const std::string_view global = v.items[1]->text;
  const StorageName* found = nullptr;
  for (const StorageName& s : kStorages) {
    if (!s.storage.empty() && global == fmt::format("torch.{}", s.storage)) found = &s;
  }
  int64_t width = 1;  // of untyped ones
  if (found != nullptr) {
    stored.type = TypeOf(*found);
    width = stored.type.bytes();
  } else if (global.starts_with("torch.storage.")) {
    stored.type = {.torch = 0, .dtype = DType::kUInt8};
  } else {
    return refuse(fmt::format("a storage of {}", Printable(global)));
  }
  const int64_t count = v.items[4]->integer;
  int64_t bytes = 0;
  if (count < 0 || __builtin_mul_overflow(count, width, &bytes)) {
    return refuse(fmt::format("a storage of {} elements", count));
  }
  auto known = storages_.find(stored.key);
  if (known == storages_.end()) {
    SharedBytes content;
    // Without elements there may be no entry.
    if (count > 0 || archive_.Has(folder_ + stored.key)) {
      if (archive_.Has("byteorder")) {
        RELAYVM_ASSIGN_OR_RETURN(std::string order, archive_.Text("byteorder", 64));
        if (order != "little") return refuse("the archive is of a big-endian machine");
      }
      auto viewed = archive_.View(folder_ + stored.key);
      if (!viewed.ok())
        return viewed.status().WithContext(fmt::format("tensor {}", Printable(name)));
      content = *std::move(viewed);
    }
    known = storages_.emplace(stored.key, std::move(content)).first;
  }
  if (known->second.size() < static_cast<size_t>(bytes)) {
    return refuse(fmt::format("storage {} has {} elements of {} bytes, its entry has {} bytes",
                              Printable(stored.key), count, width, known->second.size()));
  }
  stored.bytes = known->second.Slice(0, static_cast<size_t>(bytes));
  return stored;
}

Result<TorchTensor> TensorReader::Read(const PickleValue& v, std::string_view name) {
  return Rebuilt(v, name, 0);
}

Result<TorchTensor> TensorReader::Rebuilt(const PickleValue& v, std::string_view name, int depth) {
  const auto refuse = [&](std::string_view why) {
    return InvalidInput(fmt::format("{}: tensor {}: {}", archive_.path(), Printable(name), why));
  };
  if (!IsTensor(v) || depth > kMostWrapped) {
    return refuse(fmt::format("expected a tensor, found {}", Describe(v)));
  }
  const std::string_view global = v.callee->text;
  const std::span<const PickleValue* const> arguments = v.arguments();
  if (arguments.empty()) return refuse(fmt::format("{} without arguments", Describe(v)));
  if (global.find("parameter") != std::string_view::npos) {
    RELAYVM_ASSIGN_OR_RETURN(TorchTensor t, Rebuilt(*arguments[0], name, depth + 1));
    t.is_parameter = true;
    return t;
  }
  if (global.ends_with("_rebuild_from_type_v2")) {
    // What rebuilds it, its class, what with, its attributes.
    if (arguments.size() < 3 || !arguments[0]->is(Pickled::kGlobal) ||
        !arguments[2]->is(Pickled::kTuple)) {
      return refuse(Describe(v));
    }
    PickleValue call;
    call.kind = Pickled::kCall;
    call.callee = arguments[0];
    call.called_with = arguments[2];
    return Rebuilt(call, name, depth + 1);
  }
  if (arguments.size() < 4 || !arguments[1]->is(Pickled::kInt)) return refuse(Describe(v));
  RELAYVM_ASSIGN_OR_RETURN(Stored stored, StorageOf(*arguments[0], name));
  auto sizes = IntsOf(*arguments[2]), strides = IntsOf(*arguments[3]);
  if (!sizes || !strides) return refuse("expected its sizes and strides");
  if (global.ends_with("_v3")) {
    // Behind requires_grad and hooks: its dtype.
    const StorageName* found = nullptr;
    for (const StorageName& s : kStorages) {
      if (arguments.size() > 6 && arguments[6]->is(Pickled::kGlobal) &&
          arguments[6]->text == fmt::format("torch.{}", s.dtype)) {
        found = &s;
      }
    }
    if (found == nullptr) return refuse("of a dtype that is not supported");
    stored.type = TypeOf(*found);
  }
  TorchTensor t{.elements = {},
                .type = stored.type,
                .storage = folder_ + stored.key,
                .view = {arguments[1]->integer, *std::move(sizes), *std::move(strides)}};
  const std::string where = fmt::format("{}: tensor {}", archive_.path(), Printable(name));
  RELAYVM_ASSIGN_OR_RETURN(t.elements, TensorOf(where, stored.bytes, t.type, t.view));
  if (global.ends_with("_rebuild_qtensor")) {
    if (arguments.size() < 5) return refuse(Describe(v));
    RELAYVM_RETURN_IF_ERROR(ReadQuantisation(*arguments[4], name, depth, t));
  }
  return t;
}

// (torch.per_tensor_affine, scale, zero point), or (torch.per_channel_affine, scales, zero points,
// axis).
Status TensorReader::ReadQuantisation(const PickleValue& v, std::string_view name, int depth,
                                      TorchTensor& t) {
  const auto numbers = [&](const PickleValue& of, std::vector<double>& to) -> Status {
    if (IsTensor(of)) {
      RELAYVM_ASSIGN_OR_RETURN(TorchTensor held, Rebuilt(of, name, depth + 1));
      if (NumbersOf(held.elements, to)) return {};
    } else if (of.is_number()) {
      return to.push_back(of.number()), OkStatus();
    } else if (Untagged(of).is_sequence()) {
      for (const PickleValue* item : Untagged(of).items) {
        if (item->is_number()) to.push_back(item->number());
      }
      if (to.size() == Untagged(of).items.size()) return {};
    }
    return InvalidInput(
        fmt::format("{}: tensor {}: expected numbers that it is quantised by, "
                    "found {}",
                    archive_.path(), Printable(name), Describe(of)));
  };
  if (!v.is(Pickled::kTuple) || v.items.size() < 3 || !v.items[0]->is(Pickled::kGlobal)) {
    return InvalidInput(fmt::format("{}: tensor {}: expected how it is quantised, found {}",
                                    archive_.path(), Printable(name), Describe(v)));
  }
  RELAYVM_RETURN_IF_ERROR(numbers(*v.items[1], t.scales));
  RELAYVM_RETURN_IF_ERROR(numbers(*v.items[2], t.zero_points));
  if (v.items[0]->text.starts_with("torch.per_tensor")) {
    if (t.scales.size() == 1 && t.zero_points.size() == 1) return {};
  } else if (v.items.size() > 3 && v.items[3]->is(Pickled::kInt) && v.items[3]->integer >= 0 &&
             v.items[3]->integer < static_cast<int64_t>(t.view.sizes.size())) {
    t.axis = static_cast<int>(v.items[3]->integer);
    const auto extent = static_cast<size_t>(t.view.sizes[static_cast<size_t>(t.axis)]);
    if (t.scales.size() == extent && t.zero_points.size() == extent) return {};
  }
  return InvalidInput(fmt::format("{}: tensor {}: {} scales and {} zero points do not fit it",
                                  archive_.path(), Printable(name), t.scales.size(),
                                  t.zero_points.size()));
}

}  // namespace relayvm::import::torch
