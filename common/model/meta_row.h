// The rows of hbase:meta: regions and table states, in HBase's layout (docs/wire-compatibility.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/cell.h"
#include "common/model/region_info.h"
#include "common/model/region_state.h"
#include "common/model/server_name.h"

namespace ratchet {

namespace meta {
inline constexpr std::string_view kInfoFamily = "info";
inline constexpr std::string_view kTableFamily = "table";
inline constexpr std::string_view kRepBarrierFamily = "rep_barrier";
inline constexpr std::string_view kRegionInfo = "regioninfo";
inline constexpr std::string_view kServer = "server";
inline constexpr std::string_view kStartCode = "serverstartcode";
inline constexpr std::string_view kSeqNum = "seqnumDuringOpen";
inline constexpr std::string_view kTargetServer = "sn";
inline constexpr std::string_view kState = "state";
// Ratchet's own: the region's transition number (S28: conditional meta writes)
inline constexpr std::string_view kTransition = "transition";
// Ratchet's own: number of the table's descriptor (S48: schema pinned in the order)
inline constexpr std::string_view kDescriptor = "desc";
// Ratchet's own: number of the build that made the region (S38: no empty opening over data)
inline constexpr std::string_view kBuildNumber = "born";
// Ratchet's own, S118 (older copy stays closed): the newest number that was given to an opening or a build, with the
// transition number that the row had then (16 bytes); the highest opening that has served; the sequence up to which the
// last close had flushed.
inline constexpr std::string_view kIssued = "issued";
inline constexpr std::string_view kServed = "served";
inline constexpr std::string_view kFlushed = "flushed";
inline constexpr std::string_view kSplitA = "splitA";  // for a parent that was split: its daughters, as regioninfo
inline constexpr std::string_view kSplitB = "splitB";
inline constexpr std::string_view kMerge = "merge";       // "merge0000", ...: the regions that a merge replaced by this
                                                          // one, likewise
inline constexpr std::string_view kTableState = "state";  // in family table
// Attribute of a mutation that a master sends to hbase:meta: its epoch, 8 bytes big-endian (S28: conditional meta
// writes).
inline constexpr std::string_view kEpochAttribute = "ratchet.epoch";
}  // namespace meta

// One region's row, default replica. Absent columns are nullopt.
struct MetaRow {
  RegionInfo region;
  std::optional<ServerName> server;            // where clients look: server + serverstartcode; stays during transitions
  std::optional<std::uint64_t> open_sequence;  // seqnumDuringOpen
  std::optional<ServerName> target;            // sn
  std::optional<RegionState> state;
  std::optional<std::uint64_t> transition;     // info:transition
  std::optional<std::uint64_t> schema_number;  // info:desc: the descriptor with which the region was last opened
  std::optional<std::uint64_t> build_number;   // info:born
  std::optional<std::uint64_t> issued;         // info:issued, if it was written with this transition number (S118)
  std::optional<std::uint64_t> served;         // info:served
  std::optional<std::uint64_t> flushed;        // info:flushed
  std::vector<RegionInfo> daughters;           // info:splitA, info:splitB: none, or two
  std::vector<RegionInfo> merged_from;         // info:merge0000, ...
  [[nodiscard]] bool operator==(const MetaRow&) const = default;
};

// The cells of the columns that are set, row = region.name(), timestamp latest. Put them in one mutation.
[[nodiscard]] std::vector<Cell> EncodeMetaRow(const MetaRow& row);
// From the cells of one row (newest version of each column; later duplicates are ignored). kNotFound when the row has
// no region (a table's state row); kCorruption names the column that cannot be read. Unknown columns are skipped.
[[nodiscard]] Result<MetaRow> DecodeMetaRow(const std::vector<Cell>& cells);

// info:regioninfo's value: "PBUF" and the message.
[[nodiscard]] std::string EncodeRegionInfoValue(const RegionInfo& region);
[[nodiscard]] Result<RegionInfo> DecodeRegionInfoValue(std::string_view value);

// table:state of row T.
[[nodiscard]] Cell EncodeTableState(const TableName& table, TableState state);
[[nodiscard]] Result<TableState> DecodeTableState(std::string_view value);

// Bounds for scans: all region rows of a table [first, last), and the start (included) and stop (excluded) of a reverse
// scan for the region of `row`.
[[nodiscard]] std::string MetaFirstRow(const TableName& table);
[[nodiscard]] std::string MetaStopRow(const TableName& table);
[[nodiscard]] std::string MetaSearchRow(const TableName& table, std::string_view row);

}  // namespace ratchet
