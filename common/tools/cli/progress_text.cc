#include "common/tools/cli/progress_text.h"

#include <algorithm>

#include <fmt/format.h>

namespace ratchet::cli {
std::optional<Progress> ProgressOf(const pb::GetProcedureResponse& answer) {
  if (!answer.has_procedure() || answer.procedure().finished()) return std::nullopt;
  const pb::ProcedureInfo& asked = answer.procedure();
  if (asked.parts_total() > 0 && asked.parts_left() <= asked.parts_total())
    return Progress{static_cast<std::int64_t>(asked.parts_total() - asked.parts_left()),
                    static_cast<std::int64_t>(asked.parts_total())};
  Progress progress;
  for (const auto& member : answer.tree()) {
    if (!member.has_parent() || member.parent() != asked.pid()) continue;
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
