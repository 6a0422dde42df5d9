#include "tools/values/print.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "tools/values/numbers.h"
#include "tools/values/tensor_file.h"

namespace relayvm::tools {
namespace {

constexpr int64_t kMaxShown = 1000;
constexpr int64_t kEdge = 3;

// The elements of a tensor as nested lists. `summarise`: of each long axis only the ends.
class ListWriter {
 public:
  using ElementFn = std::function<std::string(const char*)>;
  ListWriter(const Value& tensor, bool summarise) : tensor_(tensor), summarise_(summarise) {
    int64_t stride = DTypeBytes(tensor.dtype());
    strides_.resize(tensor.dims().size());
    if (tensor.num_elements() == 0) return;  // its dims may be of any size
    for (size_t i = strides_.size(); i-- > 0;) {
      strides_[i] = stride;
      stride *= tensor.dims()[i];
    }
  }

  void Write(const ElementFn& element, std::string& out) const {
    Write(0, static_cast<const char*>(tensor_.data()), element, out);
  }

 private:
  // Recurses with the rank.
  void Write(size_t axis, const char* data, const ElementFn& element, std::string& out) const {
    if (axis == strides_.size()) {
      out += element(data);
      return;
    }
    int64_t n = tensor_.dims()[axis];
    out += '[';
    for (int64_t i = 0; i < n; ++i) {
      if (i > 0) out += ", ";
      if (summarise_ && i == kEdge && n > 2 * kEdge) {
        out += "..., ";
        i = n - kEdge;
      }
      Write(axis + 1, data + i * strides_[axis], element, out);
    }
    out += ']';
  }

  const Value& tensor_;
  bool summarise_;
  std::vector<int64_t> strides_;
};

// A tensor without elements still has lists, one for each index before its first axis of size 0.
// True where they are more than can be shown.
bool HasManyEmptyLists(const Value& tensor) {
  if (tensor.num_elements() != 0) return false;
  int64_t lists = 1;
  for (int64_t dim : tensor.dims()) {
    if (dim == 0) return false;
    if (__builtin_mul_overflow(lists, dim, &lists) || lists > kMaxShown) return true;
  }
  return false;
}

// numpy turns to exponents where the shown elements differ too much in size.
bool IsScientific(const Value& tensor, const ListWriter& writer) {
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  std::string unused;
  writer.Write(
      [&](const char* p) {
        double x = std::abs(ElementAsDouble(tensor.dtype(), p));
        if (std::isfinite(x) && x != 0) {
          largest = std::max(largest, x);
          smallest = std::min(smallest, x);
        }
        return std::string();
      },
      unused);
  if (largest == 0) return false;
  return largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000;
}

// The text of the element whose bytes would be at `p`.
std::string_view TextAt(const Value& tensor, const char* p) {
  return tensor.text((p - static_cast<const char*>(tensor.data())) / DTypeBytes(DType::kString));
}

std::string RelayTensor(const Value& tensor) {
  DType dtype = tensor.dtype();
  if (tensor.dims().empty()) {
    return dtype == DType::kString ? JsonString(tensor.text(0))
                                   : RelayElement(dtype, tensor.data());
  }
  std::string out = TensorTypeOf(tensor) + " ";
  if (HasManyEmptyLists(tensor)) return out + "[]";
  ListWriter writer(tensor, tensor.num_elements() > kMaxShown);
  if (dtype == DType::kString) {
    writer.Write([&](const char* p) { return JsonString(TextAt(tensor, p)); }, out);
    return out;
  }
  bool scientific = IsFloat(dtype) && IsScientific(tensor, writer);
  writer.Write(
      [&](const char* p) -> std::string {
        if (IsFloat(dtype)) return NumpyFloat(dtype, p, scientific);
        if (dtype == DType::kBool) return *p != 0 ? "True" : "False";
        return ShortestElement(dtype, p);
      },
      out);
  return out;
}

std::string JsonTensor(const Value& tensor) {
  std::string out = fmt::format(R"({{"dtype": "{}", "shape": [{}], "data": )",
                                DTypeName(tensor.dtype()), fmt::join(tensor.dims(), ", "));
  if (tensor.num_elements() > kMaxShown || HasManyEmptyLists(tensor)) {
    out += "null";
  } else {
    ListWriter(tensor, false)
        .Write(
            [&](const char* p) {
              return tensor.dtype() == DType::kString ? JsonString(TextAt(tensor, p))
                                                      : JsonElement(tensor.dtype(), p);
            },
            out);
  }
  return out + "}";
}

// How a node reads: before its children, after them.
struct Brackets {
  std::string open, close;
};

Brackets RelayBrackets(const FlatNode& node) {
  switch (node.kind) {
    case FlatNode::Kind::kTensor:
      return {RelayTensor(node.tensor), ""};
    case FlatNode::Kind::kTuple:
      return {"(", node.num_children == 1 ? ",)" : ")"};
    case FlatNode::Kind::kConstructor:
      if (node.num_children == 0) return {node.name, ""};
      return {node.name + "(", ")"};
    case FlatNode::Kind::kFunction:
      return {"fn @" + node.name, ""};
    case FlatNode::Kind::kRef:
      return {"ref(", ")"};
  }
  return {};
}

Brackets JsonBrackets(const FlatNode& node) {
  switch (node.kind) {
    case FlatNode::Kind::kTensor:
      return {JsonTensor(node.tensor), ""};
    case FlatNode::Kind::kTuple:
      return {R"({"tuple": [)", "]}"};
    case FlatNode::Kind::kConstructor:
      return {fmt::format(R"({{"constructor": {}, "fields": [)", JsonString(node.name)), "]}"};
    case FlatNode::Kind::kFunction:
      return {fmt::format(R"({{"function": {}}})", JsonString(node.name)), ""};
    case FlatNode::Kind::kRef:
      return {R"({"ref": )", "}"};
  }
  return {};
}

std::string Print(const FlatValue& value,
                  const std::function<Brackets(const FlatNode&)>& brackets) {
  struct Open {
    uint32_t left;
    std::string close;
  };
  std::string out;
  std::vector<Open> stack;
  for (const FlatNode& node : value) {
    Brackets b = brackets(node);
    out += b.open;
    stack.push_back({node.num_children, std::move(b.close)});
    // Ends what has no child left.
    while (!stack.empty() && stack.back().left == 0) {
      out += stack.back().close;
      stack.pop_back();
      if (!stack.empty() && --stack.back().left > 0) out += ", ";
    }
  }
  return out;
}

}  // namespace

std::string PrintRelay(const FlatValue& value) { return Print(value, RelayBrackets); }
std::string PrintJson(const FlatValue& value) { return Print(value, JsonBrackets); }

std::string JsonString(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace relayvm::tools
