// Orders of the master to region servers. An order is durable before it is sent; only its addressee's answer or its
// addressee's fence settles it (rules S17: answer or fence settles an order, to S20: answers are repeated).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/base/strong_id.h"
#include "common/model/region_info.h"
#include "common/model/server_name.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

// Identifies the order of an answer. The shell adds the sender's epoch, which is the same for all of its orders.
struct OrderId {
  // the order's number; servers remember the highest number of each region while they run (S19: executed orders are
  // remembered)
  ProcId pid;
  std::uint32_t attempt = 1;  // grows with each new attempt of the same order; used only to address the answer
};

struct OpenOrder {
  OrderId id;
  RegionInfo region;
  // open number, which names the manifest (S21: numbered openings). Equals the order's pid.
  std::uint64_t open_number = 0;
  std::string table_directory;  // below <root>/data: "<namespace>/<table>.<creating pid>"
  std::shared_ptr<const TableDescriptor> schema;
  std::uint64_t transition = 0;  // the region's transition number, for the records (S28: conditional meta writes)
  // true: a directory without an earlier opening is damaged (S53: opening starts with full state)
  bool opened_before = false;
  // number of the required build (S38: no empty opening over data); 0: the region was created empty
  std::uint64_t build_number = 0;
  std::uint64_t schema_number = 0;  // number of the schema's descriptor (S48: schema pinned in the order); 0: unknown
  // S118 (older copy stays closed); 0: not known.
  std::uint64_t issued = 0;   // highest number of any opening or build of the region
  std::uint64_t served = 0;   // highest open number that has served
  std::uint64_t flushed = 0;  // sequence up to which its last close flushed
};

// Opens several regions; each is answered by itself. All openings have the id of the order.
struct OpenBatchOrder {
  OrderId id;
  std::vector<OpenOrder> opens;
};

struct CloseOrder {
  OrderId id;
  RegionInfo region;
  std::optional<ServerName> destination;  // the region's next server, if known; clients get it in RegionMovedException
};

using RegionNames = std::set<std::string, std::less<>>;  // encoded names

// A log file as the fencer measured it, after syncing it (S3: durable fence mark; S26: split up to the seal).
struct SealedLog {
  std::string name;                 // file name inside the "-splitting" directory
  std::uint64_t length = 0;         // bytes
  std::uint32_t crc32c = 0;         // of those bytes
  std::uint64_t last_sequence = 0;  // greatest sequence number in it; 0: no entry
  bool meta = false;                // the log of hbase:meta
  // the log was made and no longer exists: its content is unknown (S119: made logs are required)
  bool missing = false;
  // S171 (seal makes an index): the regions that the entries name; nullopt: unknown, or the log of hbase:meta
  std::optional<RegionNames> regions = std::nullopt;
};

// The master's record of a dead server whose logs are sealed.
struct LogOwner {
  // the server was recorded, so its log directory and its first log existed (S58: server name proven by storage; S119)
  bool registered = false;
  bool carried_meta = false;  // it carried, or may have carried, hbase:meta
};

// A splitter may drop edits of `encoded_region` up to `flushed_sequence`, because they are already in store files.
struct SplitRegionHint {
  std::string encoded_region;
  std::string region_directory;        // below <root>/data
  std::uint64_t flushed_sequence = 0;  // 0: unknown
};

struct SplitLogOrder {
  OrderId id;
  ServerName dead_server;
  SealedLog log;
  std::string path;  // below <root>: "wals/<server>-splitting/<file>"
  std::vector<SplitRegionHint> regions;
};

// Does not move a region: a server remembers the order only by its pid, and the order may be abandoned (S47: orders
// without ownership).
struct FlushOrder {
  OrderId id;
  RegionInfo flushed;
  // requested families; a region's families share one memory store and are flushed together
  std::vector<std::string> families;
};

// Compacts the region; the server answers when that is done. May be abandoned (S47).
struct CompactOrder {
  OrderId id;
  RegionInfo compacted;
  bool major = false;  // merges all files into one
};

// Makes the children's first manifests from the parents (S35: proof of a clean close, to S37: numbered build output).
// Does not move a region, and the new files carry its pid, so it may be abandoned (S47).
struct BuildOrder {
  OrderId id;
  std::vector<RegionInfo> parents;   // adjacent regions, by start key; this order seals them
  std::vector<RegionInfo> children;  // their directories exist
  std::string table_directory;       // below <root>/data
  std::shared_ptr<const TableDescriptor> schema;
};

// Links a region's files into a part of a snapshot, or a part's files into a new region (S44: own name for each file;
// S46: source of a snapshot part). Does not move a region, and the new names carry its pid, so it may be abandoned
// (S47).
struct CopyOrder {
  enum class Source : std::uint8_t { kOpenRegion, kClosedRegion, kPart };
  OrderId id;
  Source kind = Source::kOpenRegion;
  RegionInfo source;
  RegionInfo target;
  std::string snapshot;            // below <root>/snapshots
  std::string table_directory;     // of the closed or the new region; below <root>/data
  bool flush = true;               // kOpenRegion
  bool opened_before = false;      // kClosedRegion, as in OpenOrder
  std::uint64_t build_number = 0;  // kClosedRegion
  std::uint64_t part = 0;          // kPart: number of its manifest
  std::shared_ptr<const TableDescriptor> schema;
};

// Sends the list of replication peers, as a hbase::pb::PeerList. Does not move a region, and the server accepts the
// list by the list's own number, so the order may be abandoned (S47).
struct RefreshPeersOrder {
  OrderId id;
  std::string list;
};

// Sends an image of all rights, as a ratchet::pb::RightsImage. The server accepts it by its own number, S127 (images
// only rise).
struct TakeRightsOrder {
  OrderId id;
  std::shared_ptr<const std::string> image;
};

using Order = std::variant<OpenOrder, OpenBatchOrder, CloseOrder, SplitLogOrder, FlushOrder, CompactOrder, BuildOrder,
                           CopyOrder, RefreshPeersOrder, TakeRightsOrder>;

[[nodiscard]] inline const OrderId& IdOf(const Order& order) {
  return std::visit([](const auto& o) -> const OrderId& { return o.id; }, order);
}

}  // namespace ratchet::master
