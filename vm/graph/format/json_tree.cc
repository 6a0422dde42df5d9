#include "vm/graph/format/json_tree.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace relayvm::graph {
namespace {

// What nlohmann's parser calls: builds the tree.
class Builder {
 public:
  using Json = nlohmann::json;

  bool null() { return Add({}); }
  bool boolean(bool b) { return Add({b}); }
  bool number_integer(Json::number_integer_t i) { return Add({i}); }
  bool number_unsigned(Json::number_unsigned_t u) { return Add({u}); }
  bool number_float(Json::number_float_t f, const std::string& /*text*/) { return Add({f}); }
  bool string(std::string& s) { return Add({std::move(s)}); }
  bool binary(Json::binary_t& /*bytes*/) { return false; }  // JSON has none
  bool start_object(size_t /*size*/) { return Open({std::make_unique<JsonObject>()}); }
  bool start_array(size_t /*size*/) { return Open({std::make_unique<JsonArray>()}); }
  bool key(std::string& name) {
    key_ = std::move(name);
    return true;
  }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }
  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) {
    error_ = error.what();
    return false;
  }

  JsonTree& root() { return root_; }
  const std::string& error() const { return error_; }

 private:
  // Where the value is to be: in what is open.
  JsonTree* Place(JsonTree value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    if (auto* array = std::get_if<std::unique_ptr<JsonArray>>(&open_.back()->value)) {
      (*array)->push_back(std::move(value));
      return &(*array)->back();
    }
    auto& object = std::get<std::unique_ptr<JsonObject>>(open_.back()->value);
    object->emplace_back(std::move(key_), std::move(value));
    return &object->back().second;
  }
  bool Add(JsonTree value) {
    Place(std::move(value));
    return true;
  }
  bool Open(JsonTree value) {
    if (open_.size() == kMaxJsonDepth) {
      error_ = fmt::format("nested more than {} deep", kMaxJsonDepth);
      return false;
    }
    // Nothing is added to a list while one inside it is open: its place stays.
    open_.push_back(Place(std::move(value)));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  JsonTree root_;
  std::vector<JsonTree*> open_;
  std::string key_, error_;
};

}  // namespace

const JsonTree* JsonTree::Find(std::string_view key) const {
  const JsonObject* members = object();
  if (members == nullptr) return nullptr;
  for (size_t i = members->size(); i-- > 0;) {
    if ((*members)[i].first == key) return &(*members)[i].second;
  }
  return nullptr;
}

Result<JsonTree> ParseJson(std::string_view text) {
  Builder builder;
  if (nlohmann::json::sax_parse(text, &builder)) return std::move(builder.root());
  return Status(StatusCode::kInvalidInput, "no JSON: " + builder.error());
}

}  // namespace relayvm::graph
