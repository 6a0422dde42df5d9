#include "tools/serve/bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace relayvm::serve {
namespace {

constexpr std::array<double, 5> kPercents = {50, 90, 99, 99.9, 100};
constexpr std::array<const char*, 6> kColours = {"#1b6ca8", "#d1495b", "#2e8b57",
                                                 "#b8860b", "#6a4c93", "#444444"};
constexpr double kWidth = 420, kHeight = 280, kLeft = 60, kTop = 50;

std::string Rate(const LoadResult& result) {
  return result.rate == 0 ? "max" : fmt::format("{:g}", result.rate);
}

struct Point {
  double x, y;
};
struct Series {
  std::string name;
  std::vector<Point> points;
};
struct Axis {
  double least, most;  // of what is drawn, on its scale
  std::vector<std::pair<double, std::string>> ticks;
  std::string name;
};

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<'                               ? "&lt;"
           : c == '&'                             ? "&amp;"
           : static_cast<unsigned char>(c) < 0x20 ? " "
                                                  : std::string(1, c);
  }
  return out;
}

// Powers of ten around what is there, with 2 and 5 between them where they are few.
Axis LogAxis(const std::vector<Series>& series, std::string name) {
  double least = 1e300, most = 0;
  for (const Series& s : series) {
    for (const Point& p : s.points) {
      least = std::min(least, p.y);
      most = std::max(most, p.y);
    }
  }
  if (most <= 0) least = most = 1;
  Axis axis{std::floor(std::log10(least)), std::ceil(std::log10(most)), {}, std::move(name)};
  if (axis.most <= axis.least) axis.most = axis.least + 1;
  const bool is_short = axis.most - axis.least <= 2;
  for (double power = axis.least; power <= axis.most; ++power) {
    for (const int digit : {1, 2, 5}) {
      const double at = power + std::log10(digit);
      if ((digit > 1 && !is_short) || at > axis.most) continue;
      axis.ticks.emplace_back(at, fmt::format("{:g}", std::pow(10, power) * digit));
    }
  }
  return axis;
}

void AppendChart(double left, const std::vector<Series>& series, const Axis& x, const Axis& y,
                 std::string* svg) {
  const auto out = std::back_inserter(*svg);
  const auto at_x = [&](double v) { return left + (v - x.least) / (x.most - x.least) * kWidth; };
  const auto at_y = [&](double v) {
    return kTop + kHeight - (std::log10(v) - y.least) / (y.most - y.least) * kHeight;
  };
  for (const auto& [v, text] : y.ticks) {
    const double at = at_y(std::pow(10, v));
    fmt::format_to(out,
                   "<path d='M{:.1f} {:.1f}h{}' stroke='#ddd'/><text x='{:.1f}' y='{:.1f}' "
                   "text-anchor='end'>{}</text>\n",
                   left, at, kWidth, left - 5, at + 4, text);
  }
  for (const auto& [v, text] : x.ticks) {
    fmt::format_to(out,
                   "<path d='M{:.1f} {}v{}' stroke='#eee'/><text x='{:.1f}' y='{}' "
                   "text-anchor='middle'>{}</text>\n",
                   at_x(v), kTop, kHeight, at_x(v), kTop + kHeight + 16, text);
  }
  fmt::format_to(out,
                 "<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>"
                 "<text x='{:.1f}' y='{}'>{}</text>\n",
                 left + kWidth / 2, kTop + kHeight + 36, x.name, left, kTop - 8, y.name);
  for (size_t i = 0; i < series.size(); ++i) {
    const char* colour = kColours[i % kColours.size()];
    std::string path;
    for (const Point& p : series[i].points)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? 'M' : 'L', at_x(p.x), at_y(p.y));
    fmt::format_to(out, "<path d='{}' fill='none' stroke='{}' stroke-width='1.8'/>\n", path,
                   colour);
    fmt::format_to(out, "<text x='{:.1f}' y='{:.1f}' fill='{}'>{}</text>\n", left + 10,
                   kTop + 16 + 15 * static_cast<double>(i), colour, Escaped(series[i].name));
  }
}

// 99.9 % is at 3: the rarer, the more to the right.
double PercentPlace(double percent) { return -std::log10(1 - percent / 100); }

}  // namespace

std::string LoadTable(const std::vector<LoadResult>& results) {
  std::string out = fmt::format("{:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>8}\n",
                                "rate/s", "answered/s", "p50 ms", "p90 ms", "p99 ms", "p99.9 ms",
                                "max ms", "failed", "unsent");
  for (const LoadResult& r : results) {
    out += fmt::format("{:>10} {:>10.1f}", Rate(r), r.throughput());
    for (const double percent : kPercents)
      out += fmt::format(" {:>9.3f}", r.percentile_ms(percent));
    out += fmt::format(" {:>8} {:>8}\n", r.failed, r.unsent);
  }
  return out;
}

std::string LoadCsv(const std::vector<LoadResult>& results) {
  std::string out = "rate,answered,p50_ms,p90_ms,p99_ms,p99.9_ms,max_ms,failed,unsent\n";
  for (const LoadResult& r : results) {
    out += fmt::format("{},{:.3f}", Rate(r), r.throughput());
    for (const double percent : kPercents) out += fmt::format(",{:.6f}", r.percentile_ms(percent));
    out += fmt::format(",{},{}\n", r.failed, r.unsent);
  }
  return out;
}

std::string LoadLatencies(const std::vector<LoadResult>& results) {
  std::string out = "rate,ms\n";
  for (const LoadResult& r : results) {
    for (const int64_t ns : r.latencies_ns)
      out += fmt::format("{},{:.6f}\n", Rate(r), static_cast<double>(ns) / 1e6);
    for (uint64_t i = 0; i < r.failed + r.unsent; ++i) out += Rate(r) + ",inf\n";
  }
  return out;
}

std::string LoadSvg(const std::string& title, const std::vector<LoadResult>& results) {
  std::vector<Series> by_percent, by_rate;
  double top_rate = 0;
  for (const LoadResult& r : results) {
    Series& line = by_percent.emplace_back(Series{Rate(r) + "/s", {}});
    for (const double percent : {0.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9}) {
      const double ms = r.percentile_ms(std::max(percent, 0.01));
      if (std::isfinite(ms)) line.points.push_back({PercentPlace(percent), ms});
    }
    top_rate = std::max(top_rate, r.rate);
  }
  for (const double percent : {50.0, 90.0, 99.0, 99.9}) {
    Series& line = by_rate.emplace_back(Series{fmt::format("p{:g}", percent), {}});
    for (const LoadResult& r : results) {
      const double ms = r.percentile_ms(percent);
      if (r.rate > 0 && std::isfinite(ms)) line.points.push_back({r.rate, ms});
    }
    std::ranges::sort(line.points, {}, &Point::x);
  }
  const bool has_rates = results.size() > 1 && top_rate > 0;
  const double width = has_rates ? 2 * (kWidth + kLeft) + 40 : kWidth + kLeft + 30;
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='#fff'/>\n"
      "<text x='{2}' y='22' font-size='14'>{3}</text>\n",
      width, kTop + kHeight + 50, kLeft, Escaped(title));
  Axis x{0, 3, {}, "requests, %, that took no longer"};
  for (const double percent : {0.0, 50.0, 90.0, 99.0, 99.9})
    x.ticks.emplace_back(PercentPlace(percent), fmt::format("{:g}", percent));
  AppendChart(kLeft, by_percent, x, LogAxis(by_percent, "latency, ms"), &svg);
  if (has_rates) {
    Axis rates{0, top_rate, {}, "requests a second"};
    for (int i = 0; i <= 4; ++i)
      rates.ticks.emplace_back(top_rate * i / 4, fmt::format("{:.4g}", top_rate * i / 4));
    AppendChart(2 * kLeft + kWidth + 10, by_rate, rates, LogAxis(by_rate, "latency, ms"), &svg);
  }
  return svg + "</svg>\n";
}

}  // namespace relayvm::serve
