// The progress of a scan into a file: by regions passed, or by rows of a limit; on standard error, when that is a
// terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/client/operations.h"
#include "common/tools/cli/progress_text.h"
#include "common/tools/cli/session.h"

namespace ratchet::cli {

// The regions of a table within a scan's range, by their start keys. Pure.
class ScannedRegions {
 public:
  ScannedRegions() = default;
  // `starts`: of all regions of the table, rising. A range that ends before it begins contains none.
  ScannedRegions(const std::vector<std::string>& starts, const client::Scan& scan);

  // How many regions were passed before `row`, and how many there are; 0 of 0 for an empty range.
  [[nodiscard]] Progress At(std::string_view row) const;
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(starts_.size()); }

 private:
  std::vector<std::string> starts_;
  bool reversed_ = false;
};

// "1200 rows, 3 of 8 regions, 400 rows/s, about 5 s left"; with `limit`: "1200 of 3000 rows, 400 rows/s, ...".
[[nodiscard]] std::string ScanText(std::int64_t rows, std::uint64_t limit, const Progress& regions,
                                   std::int64_t elapsed_ms);

// Redraws one line. Silent if standard error is not a terminal, with --quiet, and if the rows themselves go to a
// terminal or a pipe. One thread.
class ScanProgress {
 public:
  ScanProgress(Session& session, const TableName& table, const client::Scan& scan, bool count_only);
  void Row(std::int64_t rows, const std::string& key);
  // Call before any other output. `whole`: the scan reached its end.
  void End(std::int64_t rows, bool whole);

 private:
  void Draw(const std::string& text);

  const SystemClock clock_;
  const TimePoint start_;
  const std::uint64_t limit_;
  bool shown_ = false;
  bool drawn_any_ = false;
  ScannedRegions regions_;
  TimePoint drawn_{};
};

}  // namespace ratchet::cli
