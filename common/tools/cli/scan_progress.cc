#include "common/tools/cli/scan_progress.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

namespace ratchet::cli {
namespace {

constexpr Millis kBetweenDraws{200};

bool GoesToFile() {
  struct stat info {};
  return ::fstat(STDOUT_FILENO, &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

ScannedRegions::ScannedRegions(const std::vector<std::string>& starts, const client::Scan& scan)
    : reversed_(scan.reversed) {
  const std::string& low = scan.reversed ? scan.stop_row : scan.start_row;
  const std::string& high = scan.reversed ? scan.start_row : scan.stop_row;
  auto first = std::upper_bound(starts.begin(), starts.end(), low);
  if (first != starts.begin()) --first;
  const auto end = high.empty() ? starts.end() : std::lower_bound(first, starts.end(), high);
  starts_.assign(first, end);
}

Progress ScannedRegions::At(std::string_view row) const {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), row);
  const std::int64_t from_begin = std::max<std::int64_t>(0, behind - starts_.begin() - 1);
  const std::int64_t from_end = starts_.end() - behind;
  return {reversed_ ? from_end : from_begin, size()};
}

std::string ScanText(std::int64_t rows, std::uint64_t limit, const Progress& regions, std::int64_t elapsed_ms) {
  std::string text = limit > 0 ? fmt::format("{} of {} rows", rows, limit) : fmt::format("{} rows", rows);
  if (limit == 0 && regions.total > 0) text += fmt::format(", {} of {} regions", regions.done, regions.total);
  if (elapsed_ms > 0) text += fmt::format(", {} rows/s", rows * 1000 / elapsed_ms);
  const std::string left = limit > 0 ? LeftText(static_cast<std::int64_t>(limit) - rows, rows, elapsed_ms)
                                     : LeftText(regions.total - regions.done, regions.done, elapsed_ms);
  return left.empty() ? text : text + ", " + left;
}

ScanProgress::ScanProgress(Session& session, const TableName& table, const client::Scan& scan, bool count_only)
    : start_(clock_.Now()), limit_(scan.limit) {
  shown_ =
      !session.quiet && session.printer.into() == nullptr && isatty(STDERR_FILENO) != 0 && (count_only || GoesToFile());
  if (!shown_ || limit_ > 0) return;
  const auto regions = session.admin.Regions(table);
  if (!regions.ok()) return;  // only rows are shown then
  std::vector<std::string> starts;
  for (const auto& region : *regions) starts.push_back(region.region.start_key);
  std::sort(starts.begin(), starts.end());
  regions_ = ScannedRegions(starts, scan);
}

void ScanProgress::Row(std::int64_t rows, const std::string& key) {
  if (!shown_) return;
  const auto now = clock_.Now();
  if (now - std::max(drawn_, start_) < kBetweenDraws) return;
  drawn_ = now;
  const auto elapsed = std::chrono::duration_cast<Millis>(now - start_);
  Draw(ScanText(rows, limit_, regions_.At(key), elapsed.count()));
}

void ScanProgress::End(std::int64_t rows, bool whole) {
  if (!shown_) return;
  shown_ = false;
  const auto elapsed = std::chrono::duration_cast<Millis>(clock_.Now() - start_);
  if (whole) Draw(ScanText(rows, 0, {regions_.size(), regions_.size()}, std::max<std::int64_t>(1, elapsed.count())));
  if (drawn_any_) std::fputs("\n", stderr);
}

void ScanProgress::Draw(const std::string& text) {
  drawn_any_ = true;
  std::fprintf(stderr, "\r\033[K%s", text.c_str());
  std::fflush(stderr);
}

}  // namespace ratchet::cli
