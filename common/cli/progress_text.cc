#include "common/cli/progress_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "common/cli/flag_checks.h"

namespace ratchet::cli {
namespace {

// "12" and "40" of "server=..., 12 of 40 regions left".
std::optional<Progress> ToldBy(const std::string& text) {
  const auto end = text.find(" regions left");
  if (end == std::string::npos) return std::nullopt;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t total = end;
  while (total > 0 && is_digit(text[total - 1])) --total;
  constexpr std::string_view kOf = " of ";
  if (total < kOf.size() || text.compare(total - kOf.size(), kOf.size(), kOf) != 0) return std::nullopt;
  const std::size_t left_end = total - kOf.size();
  std::size_t left = left_end;
  while (left > 0 && is_digit(text[left - 1])) --left;
  const auto all = ParseWhole(text.substr(total, end - total), 1, INT64_MAX);
  const auto rest = ParseWhole(text.substr(left, left_end - left), 0, INT64_MAX);
  if (!all.ok() || !rest.ok() || *rest > *all) return std::nullopt;
  return Progress{static_cast<std::int64_t>(*all - *rest), static_cast<std::int64_t>(*all)};
}

}  // namespace

std::optional<Progress> ProgressOf(const pb::GetProcedureResponse& answer) {
  if (!answer.has_procedure() || answer.procedure().finished()) return std::nullopt;
  if (const auto told = ToldBy(answer.procedure().text())) return told;
  Progress progress;
  for (const auto& member : answer.tree()) {
    if (!member.has_parent() || member.parent() != answer.procedure().pid()) continue;
    ++progress.total;
    if (member.finished()) ++progress.done;
  }
  if (progress.total == 0) return std::nullopt;
  return progress;
}

std::string LeftText(std::int64_t left, std::int64_t done, std::int64_t elapsed_ms) {
  if (left <= 0 || done <= 0 || elapsed_ms <= 0) return {};
  const double seconds = static_cast<double>(elapsed_ms) / 1000 * static_cast<double>(left) / static_cast<double>(done);
  if (seconds < 120) return fmt::format("about {:.0f} s left", std::max(1.0, seconds));
  return fmt::format("about {:.0f} min left", seconds / 60);
}

std::string ProgressText(const Progress& progress, std::int64_t done_before, std::int64_t elapsed_ms) {
  std::string text = fmt::format("{} of {} done", progress.done, progress.total);
  const std::int64_t done = progress.done - done_before;
  if (done <= 0 || elapsed_ms <= 0) return text;
  text += fmt::format(", {:.0f}/s", static_cast<double>(done) * 1000 / static_cast<double>(elapsed_ms));
  if (const std::string left = LeftText(progress.total - progress.done, done, elapsed_ms); !left.empty())
    text += ", " + left;
  return text;
}

}  // namespace ratchet::cli
