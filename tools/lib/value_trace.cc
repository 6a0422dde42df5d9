#include "tools/lib/value_trace.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/reference/value_summary.h"

namespace relayvm::tools {

ValueTrace::ValueTrace(const ir::SourceMap& sources, size_t most, Writer write)
    : sources_(sources), most_(most), write_(std::move(write)) {}

ValueTrace::~ValueTrace() {
  if (seen_ > shown_)
    write_(fmt::format("... {} values more; --trace-values={} shows all", seen_ - shown_, seen_));
}

Status ValueTrace::operator()(const reference::ValueEvent& event) {
  std::string mark;
  const HostTensor* tensor = reference::TensorOf(event.value);
  if (tensor != nullptr && IsFloat(tensor->dtype) && !(nan_ && inf_)) {
    const reference::TensorSummary summary = reference::Summarise(*tensor);
    if (summary.nan > 0 && !std::exchange(nan_, true)) mark += "  <- first NaN";
    if (summary.inf > 0 && !std::exchange(inf_, true)) mark += "  <- first Inf";
  }
  if (++seen_ > most_ && mark.empty()) return OkStatus();
  ++shown_;
  const std::string place = sources_.Place(event.span());
  const std::string name = event.Name();
  write_(fmt::format("{}{}{}  {}{}{}", name, name.empty() ? "" : " = ", event.Operation(),
                     reference::SummaryText(event.value),
                     place.empty() ? "" : fmt::format("  [{}]", place), mark));
  return OkStatus();
}

}  // namespace relayvm::tools
