#include "compiler/import/keras/weights.h"

#include <cctype>

namespace relayvm::import::keras {

std::string WeightScope::Next(const Hdf5File& file, std::string_view part) const {
  if (!by_place) return next < datasets.size() ? datasets[next] : "";
  const auto count = taken.find(part);
  const size_t index = count == taken.end() ? 0 : count->second;
  const std::string last = "/vars/" + std::to_string(index);
  const std::string name = place + (part.empty() ? "" : "/" + std::string(part)) + last;
  if (file.Has(name) || part.empty()) return file.Has(name) ? name : "";
  // Some layers keep a part in a member of their own.
  const std::string own = place + "/_" + std::string(part) + last;
  return file.Has(own) ? own : "";
}

void WeightScope::Took(std::string_view part) {
  if (by_place) {
    ++taken[std::string(part)];
  } else {
    ++next;
  }
}

std::string SnakeCase(std::string_view name) {
  const auto upper = [&](size_t i) {
    return i < name.size() && std::isupper(static_cast<unsigned char>(name[i])) != 0;
  };
  const auto lower = [&](size_t i) {
    return i < name.size() && std::islower(static_cast<unsigned char>(name[i])) != 0;
  };
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    // A word begins at a capital that small letters follow, or that follows one.
    if (i > 0 && upper(i) && (lower(i + 1) || lower(i - 1)) && out.back() != '_') out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return out;
}

WeightScope PartOf(const WeightScope& whole, std::string_view layer) {
  WeightScope part;
  part.by_place = false;
  const std::string inside = "/" + std::string(layer) + "/";
  for (const std::string& name : whole.datasets) {
    if (("/" + name).find(inside) != std::string::npos) part.datasets.push_back(name);
  }
  return part;
}

}  // namespace relayvm::import::keras
