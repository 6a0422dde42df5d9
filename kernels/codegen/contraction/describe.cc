#include "kernels/codegen/contraction/describe.h"

#include <fmt/format.h>

#include "kernels/codegen/contraction/attention_plan.h"
#include "kernels/codegen/contraction/estimate.h"
#include "kernels/codegen/contraction/winograd_plan.h"

namespace relayvm::codegen {
namespace {

constexpr int64_t kOpenExtent = 128;

std::string FormOf(const ContractionDetail& d) {
  switch (d.form) {
    case ContractionForm::kMatrix:
      return "";
    case ContractionForm::kPixelColumns:
      return "channels first, ";
    case ContractionForm::kPixelRows:
      return "channels last, ";
    case ContractionForm::kDirect:
      if (d.has_plane_tiles) return "planes, channels first, ";
      return d.pixels.channels_last ? "direct, channels last" : "direct, channels first";
  }
  return "";
}

std::string BlocksOf(const ContractionDetail& d) {
  std::string text = FormOf(d);
  if (d.form == ContractionForm::kDirect && !d.has_plane_tiles) return text;
  text += ToString(TileSchedule{d.tile_rows, d.panel, d.row_block});
  if (d.k_block > 0) text += fmt::format(" of {} deep", d.k_block);
  if (d.panel_group > 1) text += fmt::format(", {} panels", d.panel_group);
  return text;
}

std::string CostOf(const ContractionPlan& plan) {
  bool is_open = false;
  const auto estimate = EstimateContraction(plan, [&](uint32_t) {
    is_open = true;
    return std::optional(kOpenExtent);
  });
  if (!estimate) return "";
  return fmt::format("; {:.2g} cycles{}, {:.0f} % of the best", estimate->cycles,
                     is_open ? fmt::format(" with {} for what is open", kOpenExtent) : "",
                     100 * estimate->share());
}

}  // namespace

std::string DescribePlan(const ContractionPlan& plan) {
  if (plan.attention) {
    const AttentionDetail& d = *plan.attention;
    return fmt::format("attention, {}x{} of {} queries", d.panel / d.lanes, d.lanes,
                       d.panel * d.unit_panels);
  }
  if (plan.winograd) {
    const WinogradDetail& d = *plan.winograd;
    return fmt::format("Winograd {}x{}, {}x{}", d.tile, d.tile, d.rows, d.panel);
  }
  const std::string amx = plan.amx ? ", with many rows by AMX: " + BlocksOf(*plan.amx) : "";
  return BlocksOf(*plan.detail) + amx + CostOf(plan);
}

}  // namespace relayvm::codegen
