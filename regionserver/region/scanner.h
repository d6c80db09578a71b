// A scan over one opening (S30: scan belongs to one opening): its position, and its state between two calls. Abandon it
// by destroying it.
//
// Between two calls it keeps no cursors, and exchanges memstores for the files into which they were flushed. So a
// client that does not return holds no memstore memory (S63: bounded reads). A row that was cut resumes where it was
// cut.
//
// Owner: the caller of Region::Scan. Next: one thread at a time. Flushed: any thread. `resting_` guards exchanges
// against the begin and end of a call; it is taken after the lock of the registry.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "regionserver/region/admission.h"
#include "regionserver/region/plain_cells.h"
#include "regionserver/region/region_data.h"
#include "regionserver/region/requests.h"
#include "regionserver/region/row_stream.h"
#include "regionserver/region/view_cursor.h"

namespace ratchet::regionserver {

class Scanner final : public FlushListener {
 public:
  // `admission` keeps the region alive, and with it `opening` and `data`.
  Scanner(std::shared_ptr<Admission> admission, const OpeningRules& opening, RegionData& data, ScanSpec spec);
  ~Scanner() override;
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;

  // Gives the next results to `sink`. The caller must pass Region::CheckServing() before it sends them (S24: visible
  // after sync). After more_in_region == false further calls return no results and the same flag. Fails when the region
  // was closed.
  [[nodiscard]] Result<ScanProgress> Next(const ScanLimits& limits, ScanSink& sink);
  [[nodiscard]] Result<ScanChunk> Next(const ScanLimits& limits);  // returns copies
  [[nodiscard]] std::uint64_t read_point() const override { return read_point_; }
  void Flushed(const std::shared_ptr<Memstore>& memstore, const ReadableFiles& files,
               std::vector<std::shared_ptr<const void>>* garbage) override;

 private:
  struct Exchanged {
    std::shared_ptr<Memstore> memstore;
    ReadableFiles files;
  };
  enum class Reading : std::uint8_t { kGoOn, kStop };

  void Begin();
  // Returns the row of a scan that reads at most one row; empty: it may read several.
  [[nodiscard]] std::string_view OnlyRow() const;
  Status Wake();
  void Rest();
  Status ReadRows(const ScanLimits& limits, ScanSink& sink);
  // Moves to the first row, or to the row after the current one, inside the bounds or not.
  Status Advance();
  [[nodiscard]] bool HasRow() const { return stream_->has_row() && Inside(stream_->row()); }
  [[nodiscard]] bool Inside(const std::string& row) const;
  // Reads whole rows from the current one on, as long as all their cells are plain (plain_cells.h). Stops before
  // another row, or in it: then in_row_ is true.
  Result<Reading> ReadPlainRows(const ScanLimits& limits, ScanSink& sink);
  // Reads the rest of a row that began with a plain cell. Returns true when it has ended, and another one follows.
  bool ReadPlainRow(CellCursor& cursor, std::string_view* key, const ScanLimits& limits, ScanSink& sink);
  [[nodiscard]] bool TakePlain(std::string_view key, const CellCursor& cursor, ScanSink& sink);
  // Ends a result that has some plain cells of the current row already, with the following cells.
  Result<Reading> EndPlainResult(const ScanLimits& limits, ScanSink& sink);
  // Returns results of the current row until it ends or the reply is full.
  Result<Reading> ReadRow(const ScanLimits& limits, ScanSink& sink);
  // Returns the next result: the cells up to the next cut in the row. `cells` of them were returned already; `found`
  // is the stream's state after them.
  Result<Reading> ReadResult(const ScanLimits& limits, ScanSink& sink, RowStream::Found found, std::uint32_t cells);
  // For a filter that judges whole rows: reads all cells of the current row, then returns one result or none.
  Result<Reading> ReadJudgedRow(const ScanLimits& limits, ScanSink& sink);
  // Called after the last cell of the current row, or instead of its cells; `gave`: the row gave a result.
  Result<Reading> EndRow(const ScanLimits& limits, bool gave);
  Status CheckRowSize(std::uint64_t more);
  [[nodiscard]] bool Full(const ScanLimits& limits, bool row_is_done) const;
  [[nodiscard]] bool CutsResult(const ScanLimits& limits) const;
  [[nodiscard]] bool OutOfTime(const ScanLimits& limits) const;
  [[nodiscard]] bool WantsClock();
  // Call before each row. Returns true when the call must end before it; sets `abandoned_` if its client has given up.
  [[nodiscard]] bool TimeIsOver(const ScanLimits& limits);

  const std::shared_ptr<Admission> admission_;
  const OpeningRules& opening_;
  RegionData& data_;
  const ScanSpec spec_;
  const RowQuery query_;
  std::uint64_t read_point_ = 0;
  std::unique_ptr<ViewCursor> view_;
  std::unique_ptr<RowStream> stream_;
  std::optional<PlainCells> plain_;  // not for scans whose rows need each rule
  std::string plain_end_;            // key at or after which rows are outside; empty: none
  std::uint32_t plain_cells_ = 0;    // cells of the result that ReadPlainRows has begun
  // Rows until plain cells are tried again: the more often rows have others too, the more.
  int rows_to_plain_ = 0;
  int plain_pause_ = 0;
  bool begun_ = false;
  bool in_row_ = false;          // the current row has begun
  bool row_gave_ = false;        // whether the row gave a result
  bool row_cut_ = false;         // the row's last result did not end it
  std::uint64_t row_bytes_ = 0;  // bytes of the row returned in this call
  // Rows and bytes until the next check of the clock, and its last result.
  int rows_to_clock_ = 0;
  int clock_pause_ = 0;  // number of rows between the next two checks
  std::uint64_t bytes_to_clock_ = 0;
  std::int64_t now_ms_ = 0;
  std::string last_row_;  // last row looked at

  // State of the current call.
  ScanProgress progress_;
  bool abandoned_ = false;
  std::uint64_t bytes_ = 0;

  Mutex resting_;  // guards exchanges against the begin and end of a call
  bool in_call_ GUARDED_BY(resting_) = false;
  std::atomic<bool> exchange_waits_{false};
  std::vector<Exchanged> waiting_ GUARDED_BY(resting_);  // exchanges that came during a call
};

}  // namespace ratchet::regionserver
