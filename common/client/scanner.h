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

// Rows are atomic, scans are not, S30 (scan belongs to one opening): each row is whole, rows come once and in order,
// but they may be of different moments. After a region has moved the scan continues after the last whole row. Not
// thread-safe. A scanner that is destroyed early closes its server side without waiting for the answer.
class Scanner {
 public:
  Scanner(Connection& connection, TableName table, Scan scan)
      : Scanner(connection, std::move(table), std::move(scan), connection.options().operation_timeout) {}
  // `timeout`: for each call of Next.
  Scanner(Connection& connection, TableName table, Scan scan, Millis timeout);
  ~Scanner() { CloseOnServer(); }
  Scanner(Scanner&& other) noexcept = default;
  Scanner(const Scanner&) = delete;
  Scanner& operator=(const Scanner&) = delete;
  Scanner& operator=(Scanner&&) = delete;
  // nullopt at the end.
  [[nodiscard]] Result<std::optional<Row>> Next();
  // The next row was received already: Next sends no request for it.
  [[nodiscard]] bool has_row() const { return !ready_.empty(); }

 private:
  [[nodiscard]] Status Fetch();
  [[nodiscard]] Result<RegionLocation> NextRegion(RetryLoop& loop);
  void FillRequest(hbase::pb::ScanRequest& request) const;
  [[nodiscard]] Status AddRows(const hbase::pb::ScanResponse& response, std::string_view cells);
  [[nodiscard]] Status AddCells(std::vector<Cell> cells, bool partial);
  void FinishRow();
  void EndRegion();
  void CloseOnServer();
  void Restart();

  // A scanner on the server; a move leaves the source without one.
  struct ScannerId {
    ScannerId() = default;
    ScannerId(ScannerId&& other) noexcept : value(std::exchange(other.value, std::nullopt)) {}
    std::optional<std::uint64_t> value;
  };

  Connection& connection_;
  const TableName table_;
  const Scan scan_;
  const Millis timeout_;
  std::string position_;  // the scan continues here
  bool include_position_;
  std::optional<RegionLocation> region_;  // being read
  std::optional<RegionInfo> previous_;    // finished, reversed scans only
  ScannerId scanner_id_;
  std::uint64_t next_call_ = 0;
  std::uint64_t bytes_per_call_;  // grows where the half of a row was lost, so that the row comes in one reply at last
  std::uint64_t returned_ = 0;
  bool finished_ = false;
  std::optional<Row> unfinished_;  // cells of a row that the server cut
  std::deque<Row> ready_;
};

}  // namespace ratchet::client
