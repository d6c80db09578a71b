// Reads rows in order, across regions and through failovers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/client/connection.h"
#include "common/client/operations.h"

namespace hbase::pb {
class ScanRequest;
class ScanResponse;
}  // namespace hbase::pb

namespace ratchet::client {

// Rows are atomic, scans are not (S30): each row is whole, rows come once and in order, but they may be of different
// moments; after a region has moved the scan goes on behind the last whole row. Not thread-safe. Dropped early, it
// tells the server to close its side and does not wait for the answer.
class Scanner {
 public:
  Scanner(Connection& connection, TableName table, Scan scan)
      : Scanner(connection, std::move(table), std::move(scan), connection.options().operation_timeout) {}
  // `timeout`: of each call of Next.
  Scanner(Connection& connection, TableName table, Scan scan, Millis timeout);
  ~Scanner() { CloseOnServer(); }
  Scanner(Scanner&& other) noexcept = default;
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;
  Scanner& operator=(Scanner&&) = delete;
  // nullopt at the end.
  [[nodiscard]] Result<std::optional<Row>> Next();
  // The next row is here: Next does not ask for it.
  [[nodiscard]] bool has_row() const { return !ready_.empty(); }

 private:
  [[nodiscard]] Status Fetch();
  [[nodiscard]] Result<RegionLocation> NextRegion(RetryLoop& loop);
  void FillRequest(hbase::pb::ScanRequest& request) const;
  [[nodiscard]] Status TakeRows(const hbase::pb::ScanResponse& response, std::string_view cells);
  [[nodiscard]] Status TakeOne(std::vector<Cell> cells, bool partial);
  void FinishRow();
  void EndRegion();
  void CloseOnServer();
  void Restart();

  // A scanner on the server; moving leaves none behind.
  struct ScannerId {
    ScannerId() = default;
    ScannerId(ScannerId&& other) noexcept : value(std::exchange(other.value, std::nullopt)) {}
    std::optional<std::uint64_t> value;
  };

  Connection& connection_;
  const TableName table_;
  const Scan scan_;
  const Millis timeout_;
  std::string position_;  // scan goes on here
  bool include_position_;
  std::optional<RegionLocation> region_;  // being read
  std::optional<RegionInfo> previous_;    // finished, reversed scans only
  ScannerId scanner_id_;
  std::uint64_t next_call_ = 0;
  std::uint64_t returned_ = 0;
  bool finished_ = false;
  std::optional<Row> unfinished_;  // cells of a row that the server cut
  std::deque<Row> ready_;
};

}  // namespace ratchet::client
