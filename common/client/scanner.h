// Reads rows in order, across regions and through failovers.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "common/client/connection.h"
#include "common/client/operations.h"

namespace hbase::pb {
class ScanRequest;
class ScanResponse;
}  // namespace hbase::pb

namespace ratchet::client {

// Rows are atomic, scans are not (S30): each row is whole, rows come once and in order, but they may be of different
// moments; after a region has moved the scan goes on behind the last whole row. Not thread-safe. The scanner on the server
// is left to its lease when the object is dropped early.
class Scanner {
 public:
  Scanner(Connection& connection, TableName table, Scan scan);
  // nullopt at the end. Each call has the connection's operation time-out.
  [[nodiscard]] Result<std::optional<Row>> Next();

 private:
  [[nodiscard]] Status Fetch();
  [[nodiscard]] Result<RegionLocation> NextRegion(RetryLoop& loop);
  void FillRequest(hbase::pb::ScanRequest& request) const;
  [[nodiscard]] Status TakeRows(const hbase::pb::ScanResponse& response, std::string_view cells);
  [[nodiscard]] Status TakeOne(std::vector<Cell> cells, bool partial);
  void EndRegion();
  void Restart();

  Connection& connection_;
  const TableName table_;
  const Scan scan_;
  std::string position_;             // scan goes on here
  bool include_position_;
  std::optional<RegionLocation> region_;   // being read
  std::optional<RegionInfo> previous_;     // finished, reversed scans only
  std::uint64_t scanner_id_ = 0;     // 0: not open
  std::uint64_t next_call_ = 0;
  std::uint64_t returned_ = 0;
  bool finished_ = false;
  std::optional<Row> unfinished_;    // cells of a row that the server cut
  std::deque<Row> ready_;
};

}  // namespace ratchet::client
