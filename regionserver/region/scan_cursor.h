// A scan in progress: where it is, and the rest of a row that was cut.
//
// One thread at a time. Keeps its read point, and with it the memstores and files of that moment, alive.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "regionserver/region/region_core.h"
#include "regionserver/region/row_reader.h"

namespace ratchet::regionserver {

class ScanCursor {
 public:
  ScanCursor(std::shared_ptr<RegionCore> core, ScanSpec spec);
  [[nodiscard]] Result<ScanChunk> Next(const ScanLimits& limits);
  [[nodiscard]] std::uint64_t read_point() const { return reader_.read_point(); }

 private:
  // Moves next_row_ to the following stored row inside the bounds; nullopt at the end.
  Status Advance();
  [[nodiscard]] bool Inside(const std::string& row) const;
  // Appends the next result of the current row; at most `bytes_left` unless it may not be cut there.
  void Emit(const ScanLimits& limits, std::uint64_t* bytes, ScanChunk& chunk);
  [[nodiscard]] bool RowIsDone() const { return row_at_ == row_.size(); }
  [[nodiscard]] static bool Full(const ScanLimits& limits, std::uint64_t bytes, const ScanChunk& chunk, bool row_is_done);

  const std::shared_ptr<RegionCore> core_;
  const ScanSpec spec_;
  RowReader reader_;
  bool begun_ = false;
  std::optional<std::string> next_row_;  // to be read; valid when begun_
  std::string current_row_;              // the last one that was looked at
  std::vector<Cell> row_;                // selected cells of it
  std::size_t row_at_ = 0;               // how many of them were returned
};

}  // namespace ratchet::regionserver
