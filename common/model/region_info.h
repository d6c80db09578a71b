// A region: one row range of one table, under a name that never changes and is never reused.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/table_name.h"

namespace ratchet {

// Encoded name of hbase:meta's only region.
inline constexpr std::string_view kMetaEncodedName = "1588230740";

struct RegionInfo {
  TableName table;
  std::string start_key;  // included; empty: from the first row
  std::string end_key;    // excluded; empty: to the last row
  std::uint64_t region_id =
      0;  // creation time in ms (HBase) or derived from the creating pid; daughters' ids are larger
  std::int32_t replica_id = 0;
  bool offline = false;  // together with split: a parent whose daughters serve
  bool split = false;

  // "T,startKey,regionId.md5hex." ; "hbase:meta,,1" for meta. Computed on each call.
  [[nodiscard]] std::string name() const;
  // The 32 hex digits, or kMetaEncodedName.
  [[nodiscard]] std::string encoded_name() const;
  [[nodiscard]] bool IsMeta() const { return table.IsMeta(); }
  [[nodiscard]] bool Contains(std::string_view row) const {
    return row >= start_key && (end_key.empty() || row < end_key);
  }
  [[nodiscard]] bool operator==(const RegionInfo&) const = default;
};

// hbase:meta,,1.1588230740
[[nodiscard]] const RegionInfo& MetaRegionInfo();

// The encoded name inside a full region name; kInvalidArgument when there is none.
[[nodiscard]] Result<std::string> EncodedNameOf(std::string_view region_name);

// The parts of a full region name (end key, offline and split are not part of it).
[[nodiscard]] Result<RegionInfo> ParseRegionName(std::string_view region_name);

// Lower-case hex MD5.
[[nodiscard]] std::string Md5Hex(std::string_view data);

}  // namespace ratchet
