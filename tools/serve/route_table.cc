#include "tools/serve/route_table.h"

#include <utility>
#include <vector>

namespace relayvm::serve {
namespace {

constexpr size_t kMaxParts = 8;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded.push_back(text[i]);
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return decoded;
}

// A target in its parts: {"v2", "models", "m", "infer"}.
std::optional<std::vector<std::string>> PartsOf(std::string_view target) {
  std::vector<std::string> parts;
  target = target.substr(0, target.find('?'));
  if (!target.starts_with('/')) return std::nullopt;
  while (!target.empty()) {
    if (parts.size() == kMaxParts) return std::nullopt;
    target.remove_prefix(1);
    const size_t end = std::min(target.find('/'), target.size());
    std::optional<std::string> part = Decoded(target.substr(0, end));
    if (!part) return std::nullopt;
    target.remove_prefix(end);
    if (part->empty() && target.empty()) break;  // a slash at the end
    parts.push_back(*std::move(part));
  }
  return parts;
}

struct Places {
  size_t model = SIZE_MAX, version = SIZE_MAX;
};

// Whether a row's path is that of the parts, and where its parameters stand among them.
bool Fits(std::string_view path, const std::vector<std::string>& parts, Places* places) {
  if (path == "/") return parts.empty();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (path.empty()) return false;
    path.remove_prefix(1);
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    if (part == "{model}") {
      places->model = i;
    } else if (part == "{version}") {
      places->version = i;
    } else if (part != parts[i]) {
      return false;
    }
  }
  return path.empty();
}

}  // namespace

bool Route::Allows(std::string_view method) const {
  std::string_view left = row->methods;
  while (!left.empty()) {
    const std::string_view one = left.substr(0, left.find(','));
    if (one == method) return true;
    left.remove_prefix(one.size() < left.size() ? one.size() + 2 : one.size());
  }
  return false;
}

std::optional<Route> FindRoute(std::string_view target) {
  std::optional<std::vector<std::string>> parts = PartsOf(target);
  if (!parts) return std::nullopt;
  for (const RouteRow& row : kRoutes) {
    Places places;
    if (!Fits(row.path, *parts, &places)) continue;
    Route route{&row, {}, {}};
    if (places.model != SIZE_MAX) route.model = std::move((*parts)[places.model]);
    if (places.version != SIZE_MAX) route.version = std::move((*parts)[places.version]);
    return route;
  }
  return std::nullopt;
}

}  // namespace relayvm::serve
