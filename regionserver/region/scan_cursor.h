// A scan in progress: where it is, and what it keeps between two calls.
//
// Between two calls it keeps no cursors, and exchanges memstores for the files that they were flushed into, so that a
// client that does not come back holds no memory of memstores (S63). A row that was cut goes on where it was.
//
// Next: one thread at a time. Flushed: any thread.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "regionserver/region/region_core.h"
#include "regionserver/region/row_stream.h"
#include "regionserver/region/scan_registry.h"
#include "regionserver/region/view_cursor.h"

namespace ratchet::regionserver {

class ScanCursor final : public FlushListener {
 public:
  ScanCursor(std::shared_ptr<RegionCore> core, ScanSpec spec);
  ~ScanCursor() override;
  [[nodiscard]] Result<ScanProgress> Next(const ScanLimits& limits, ScanSink& sink);
  [[nodiscard]] std::uint64_t read_point() const override { return read_point_; }
  void Flushed(const std::shared_ptr<Memstore>& memstore,
               const std::vector<std::shared_ptr<const StoreFiles::Reader>>& files,
               std::vector<std::shared_ptr<const void>>* garbage) override;

 private:
  struct Exchanged {
    std::shared_ptr<Memstore> memstore;
    std::vector<std::shared_ptr<const StoreFiles::Reader>> files;
  };
  enum class Reading : std::uint8_t { kGoOn, kStop };

  void Begin();
  Status Wake();
  void Rest();
  Status ReadRows(const ScanLimits& limits, ScanSink& sink);
  // To the first row, or the one after the row at hand, inside the bounds or not.
  Status Advance();
  [[nodiscard]] bool HasRow() const { return stream_->has_row() && Inside(stream_->row()); }
  [[nodiscard]] bool Inside(const std::string& row) const;
  // Gives results of the row at hand until it ends or the reply is full.
  Result<Reading> ReadRow(const ScanLimits& limits, ScanSink& sink);
  // The next result: the cells up to where the row has to be cut.
  Result<Reading> ReadResult(const ScanLimits& limits, ScanSink& sink);
  // Of a filter that judges whole rows: all cells of the row at hand, then one result or none.
  Result<Reading> ReadJudgedRow(const ScanLimits& limits, ScanSink& sink);
  // After the last cell of the row at hand, or instead of its cells; `gave`: it gave a result.
  Result<Reading> EndRow(const ScanLimits& limits, bool gave);
  Status CheckRowSize(std::uint64_t more);
  [[nodiscard]] bool Full(const ScanLimits& limits, bool row_is_done) const;
  [[nodiscard]] bool OutOfTime(const ScanLimits& limits) const;
  [[nodiscard]] bool WantsClock();

  const std::shared_ptr<RegionCore> core_;
  const ScanSpec spec_;
  const RowWish wish_;
  std::uint64_t read_point_ = 0;
  std::unique_ptr<ViewCursor> view_;
  std::unique_ptr<RowStream> stream_;
  bool begun_ = false;
  bool in_row_ = false;          // the row at hand was begun
  bool row_gave_ = false;        // a result
  std::uint64_t row_bytes_ = 0;  // given of it in this call
  // Rows and bytes until the clock is looked at again, and what it said.
  int rows_to_clock_ = 0;
  int clock_pause_ = 0;  // how many rows the next look is away from the one after it
  std::uint64_t bytes_to_clock_ = 0;
  std::int64_t now_ms_ = 0;
  std::string last_row_;  // that was looked at

  // Of the call that runs.
  ScanProgress progress_;
  std::uint64_t bytes_ = 0;

  Mutex resting_;  // protects the exchange against the begin and end of a call
  bool in_call_ GUARDED_BY(resting_) = false;
  std::atomic<bool> exchange_waits_{false};
  std::vector<Exchanged> waiting_ GUARDED_BY(resting_);  // exchanges that came during a call
};

}  // namespace ratchet::regionserver
