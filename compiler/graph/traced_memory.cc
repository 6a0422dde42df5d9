#include "compiler/graph/traced_memory.h"

#include <span>

#include "vm/graph/format/verify.h"

namespace relayvm::graph {

uint32_t TracedMemory::NewSpace() {
  spaces_.emplace_back();
  return static_cast<uint32_t>(spaces_.size() - 1);
}
uint32_t TracedMemory::NewStorage() {
  storages_.push_back(static_cast<uint32_t>(storages_.size()));
  return storages_.back();
}
uint32_t TracedMemory::StorageRoot(uint32_t s) {
  while (storages_[s] != s) s = storages_[s] = storages_[storages_[s]];
  return s;
}
void TracedMemory::JoinStorages() {
  for (Node& node : made_.graph.nodes) {
    for (Entry& entry : node.outputs) entry.storage = StorageRoot(entry.storage);
  }
}

Region TracedMemory::OfConstant(uint32_t constant) {
  const auto [at, fresh] = constant_space_.emplace(constant, 0);
  if (fresh) {
    at->second = NewSpace();
    spaces_[at->second].constant = constant;
  }
  return {at->second, 0};
}

Region TracedMemory::OfNumber(DType dtype, int64_t value) {
  const auto [at, fresh] = number_space_.emplace(std::pair(dtype, value), 0);
  if (fresh) {
    at->second = NewSpace();
    const auto bytes = std::as_bytes(std::span(&value, 1));  // little endian
    const auto width = static_cast<size_t>(DTypeBytes(dtype));
    AddWeight({dtype, {}, "", SharedBytes::Copy(bytes.first(width))}, at->second);
  }
  return {at->second, 0};
}

Entry TracedMemory::NewEntry(DType dtype, std::vector<int64_t> dims, uint64_t offset) {
  return {dtype, std::move(dims), NewStorage(), offset};
}

void TracedMemory::AddInput(const std::string& name, DType dtype, const std::vector<int64_t>& dims,
                            uint32_t space) {
  const auto n = static_cast<uint32_t>(made_.graph.nodes.size());
  Node& node = made_.graph.nodes.emplace_back();
  node.name = name;
  node.outputs.push_back({dtype, dims, NewStorage(), 0});
  made_.graph.inputs.push_back(n);
  spaces_[space].written.emplace(0, EntryRef{n, 0});
  names_.insert(name);
}

// What has a recipe is a constant of the kernels' file, whose loading makes it.
void TracedMemory::AddWeight(const ConstantInfo& weight, uint32_t space) {
  std::string name = weight.name;
  if (name.empty() || names_.contains(name)) {
    const std::string base = name.empty() ? "p" : name + ".";
    size_t number = made_.params.size() + made_.kernels.constants.size();
    do {
      name = base + std::to_string(number++);
    } while (names_.contains(name));
  }
  AddInput(name, weight.dtype, weight.dims, space);
  if (weight.recipe == nullptr) {
    made_.params.emplace(name, HostTensor{weight.dtype, weight.dims, weight.data});
  } else {
    made_.kernels.constants.push_back(weight);
    made_.kernels.constants.back().name = name;
  }
}

Result<EntryRef> TracedMemory::Read(Region region, DType dtype, const std::vector<int64_t>& dims,
                                    const std::string& place) {
  Space& space = spaces_[region.space];
  if (space.constant >= 0 && space.written.empty()) {
    AddWeight(program_.constants[static_cast<size_t>(space.constant)], region.space);
  }
  const uint64_t begin = region.offset, end = begin + BytesOf({dtype, dims, 0, 0});
  std::vector<EntryRef> parts;
  auto at = spaces_[region.space].written.upper_bound(begin);
  if (at != spaces_[region.space].written.begin()) --at;
  for (; at != spaces_[region.space].written.end(); ++at) {
    const Entry& entry = At(at->second);
    const uint64_t entry_end = at->first + BytesOf(entry);
    if (at->first == begin && entry.dtype == dtype && entry.dims == dims) return at->second;
    if (at->first >= end && !(begin == end && at->first == begin)) break;
    if (entry_end > begin || (begin == end && at->first <= begin && begin <= entry_end))
      parts.push_back(at->second);
    if (begin == end && !parts.empty()) break;
  }
  return View(region, dtype, dims, parts, place);
}

Result<EntryRef> TracedMemory::View(Region region, DType dtype, const std::vector<int64_t>& dims,
                                    const std::vector<EntryRef>& parts, const std::string& place) {
  if (parts.empty())
    return Status(StatusCode::kInternal, "a graph's kernel reads what nobody has written");
  const auto key = std::tuple(region.offset, dtype, dims, parts);
  if (const auto known = views_.find(key); known != views_.end()) return known->second;
  const auto n = static_cast<uint32_t>(made_.graph.nodes.size());
  Node node;
  node.kind = Node::Kind::kView;
  node.name = parts.size() == 1 ? "view" : "join";
  node.source = place;
  node.inputs = parts;
  const uint32_t storage = StorageRoot(At(parts[0]).storage);
  for (const EntryRef& part : parts) storages_[StorageRoot(At(part).storage)] = storage;
  node.outputs.push_back({dtype, dims, storage, region.offset});
  made_.graph.nodes.push_back(std::move(node));
  views_.emplace(key, EntryRef{n, 0});
  return EntryRef{n, 0};
}

void TracedMemory::Write(Region region, EntryRef ref) {
  std::map<uint64_t, EntryRef>& written = spaces_[region.space].written;
  const uint64_t begin = region.offset, end = begin + BytesOf(At(ref));
  auto at = written.lower_bound(begin);
  if (at != written.begin()) {
    const auto before = std::prev(at);
    if (before->first + BytesOf(At(before->second)) > begin) at = before;
  }
  while (at != written.end() && (at->first < end || at->first == begin)) at = written.erase(at);
  written.emplace(begin, ref);
}

}  // namespace relayvm::graph
