// A table of a fault's own with one region and rows that are counted: whether a piece that was taken away and put back
// has cost a row. Runs on the driver's thread; calls block.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "chaos/faults/target.h"
#include "common/client/admin.h"
#include "common/client/connection.h"

namespace ratchet::chaos {

// Requirements of faults that change files of the root by hand.
inline constexpr std::string_view kNeedsLocalRoot = "a cluster of its own with a local root";
// Why such a fault cannot be done here; nullopt: it can.
[[nodiscard]] std::optional<std::string> WhyNoLocalRoot(Target& target);

class PieceTable {
 public:
  [[nodiscard]] static Result<std::unique_ptr<PieceTable>> Make(Target& target, std::uint64_t number);

  // The write is acknowledged when the function returns.
  [[nodiscard]] Status WriteRows(std::size_t count);
  [[nodiscard]] Status Flush();
  [[nodiscard]] std::size_t written() const { return written_; }
  // Rows that a scan finds; an error when the region is not served within `patience`.
  [[nodiscard]] Result<std::size_t> CountRows(Millis patience);
  // The first row whose value CountRows did not find right; empty: there was none.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  // The process that serves the region.
  [[nodiscard]] Result<std::string> Server(Target& target);
  // The region's directory.
  [[nodiscard]] Result<std::filesystem::path> Folder(Target& target);
  // Drops the table if the cluster serves.
  void Drop();

 private:
  PieceTable(std::unique_ptr<client::Connection> connection, TableName table)
      : connection_(std::move(connection)), table_(std::move(table)) {}
  [[nodiscard]] Result<client::RegionLocation> Region();

  std::unique_ptr<client::Connection> connection_;
  const TableName table_;
  std::size_t written_ = 0;
  std::string wrong_;
};

}  // namespace ratchet::chaos
