// Claims: the tables, regions and directories that a procedure of the master works on, read from its durable data.
// Other parts of the master leave these alone until the procedure has ended, or show them.
//
// Every procedure class declares the kinds of its claims: `static constexpr ClaimKinds kClaims`. Without the
// declaration the list of procedures does not compile. `Claims Uses() const` returns the claims of its current data. A
// pure function of the data; any thread may call the functions below.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/bits.h"
#include "common/model/region_info.h"
#include "common/model/table_name.h"

namespace ratchet::master {

using ClaimKinds = Bits<struct ClaimKindsTag>;
inline constexpr ClaimKinds kClaimsNothing{0};
inline constexpr ClaimKinds kClaimsTables{1};       // Claims::tables and directories
inline constexpr ClaimKinds kClaimsRegions{2};      // Claims::regions
inline constexpr ClaimKinds kClaimsDescriptors{4};  // Claims::altered
inline constexpr ClaimKinds kClaimsAnswer{8};       // Claims::awaited_server
inline constexpr ClaimKinds kClaimsSetback{16};     // Claims::setback
inline constexpr ClaimKinds kClaimsPeers{32};       // it changes a replication peer
inline constexpr ClaimKinds kClaimsExports{64};     // it exports or imports a snapshot

// Reason of a procedure's last setback, and how often it came in a row.
struct Setback {
  std::string error;
  std::uint32_t times = 0;
};

struct Claims {
  // The procedure owns the table's row in hbase:meta.
  struct Table {
    TableName name;
    bool with_regions = false;  // it also owns the rows of the table's regions, and makes or removes their directories
    std::string directory;      // the directory that is made or removed; empty: rows under any id may be written
  };
  std::vector<Table> tables;
  std::vector<std::string> directories;  // of tables
  std::vector<RegionInfo> regions;       // regions that it replaces, and the regions that replace them
  std::optional<TableName> altered;      // the table whose regions it opens with a new descriptor
  std::string awaited_server;            // "host,port,startcode"; empty: it awaits no answer
  std::optional<Setback> setback;        // of a loop over several steps; absent while it makes progress
};

// The claim of a loop that has failed this number of times in a row.
[[nodiscard]] inline Claims ClaimSetback(std::uint32_t times, const std::string& error) {
  Claims claims;
  if (times > 0) claims.setback = Setback{error, times};
  return claims;
}

}  // namespace ratchet::master
