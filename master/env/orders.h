// What the master tells region servers to do. An order is durable before it is sent; it is settled only by its
// addressee's answer or its addressee's fence (rules S17 to S20).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/strong_id.h"
#include "common/model/region_info.h"
#include "common/model/server_name.h"
#include "common/model/table_descriptor.h"

namespace ratchet::master {

// Routes an answer. The sender's epoch is added by the shell (it is the same for all of its orders).
struct OrderId {
  ProcId pid;                 // the order's number: servers remember the highest one per region for life (S19)
  std::uint32_t attempt = 1;  // grows with each deliberate new attempt of the same order; only routes the answer
};

struct OpenOrder {
  OrderId id;
  RegionInfo region;
  std::uint64_t open_seq = 0;   // number of this opening: names the manifest (S21). Equals the order's pid.
  std::string table_directory;  // below <root>/data: "<namespace>/<table>.<creating pid>"
  std::shared_ptr<const TableDescriptor> schema;
  std::uint64_t transition = 0;  // the region's transition number, for the records (S28)
  bool opened_before = false;    // then a directory without an earlier opening is damage (S53)
  std::uint64_t born = 0;        // number of the build that must be there (S38); 0: the region was created empty
  std::uint64_t descriptor = 0;  // number of the schema's descriptor (S48); 0: unknown
};

struct CloseOrder {
  OrderId id;
  RegionInfo region;
  std::optional<ServerName> destination;  // where it will go, if known: told to clients in RegionMovedException
};

// A log file as the fencer measured it, after syncing it (S3, S26).
struct SealedLog {
  std::string name;                 // file name inside the "-splitting" directory
  std::uint64_t length = 0;         // bytes
  std::uint32_t crc32c = 0;         // of those bytes
  std::uint64_t last_sequence = 0;  // greatest sequence number in it; 0: no entry
  bool meta = false;                // the log of hbase:meta
};

// What a splitter may drop: edits of `region` at or below `flushed_sequence` are already in files.
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

// Neither gives nor takes a region: a server remembers it by its pid only, and it may be abandoned (S47).
struct FlushOrder {
  OrderId id;
  RegionInfo flushed;
  std::vector<std::string> families;  // asked for; a region's families share one memory store and are flushed together
};

// Merges the region's store files; answered when that is done. Likewise (S47).
struct CompactOrder {
  OrderId id;
  RegionInfo compacted;
  bool major = false;  // all files become one
};

// Makes the children's first manifests out of the parents (S35 to S37). Neither gives nor takes a region, and what it
// makes bears its pid, so it may be abandoned (S47).
struct BuildOrder {
  OrderId id;
  std::vector<RegionInfo> parents;   // neighbours, by start key; sealed by this
  std::vector<RegionInfo> children;  // their directories are there
  std::string table_directory;       // below <root>/data
  std::shared_ptr<const TableDescriptor> schema;
};

// Gives a region's files names in a part of a snapshot, or a part's in a new region (S44, S46). Neither gives nor takes
// a region, and what it makes bears its pid, so it may be abandoned (S47).
struct CopyOrder {
  enum class Source : std::uint8_t { kOpenRegion, kClosedRegion, kPart };
  OrderId id;
  Source kind = Source::kOpenRegion;
  RegionInfo source;
  RegionInfo target;
  std::string snapshot;         // below <root>/snapshots
  std::string table_directory;  // of the closed region, or of the new one; below <root>/data
  bool flush = true;            // kOpenRegion
  bool opened_before = false;   // kClosedRegion, as in OpenOrder
  std::uint64_t born = 0;       // kClosedRegion
  std::uint64_t part = 0;       // kPart: number of its manifest
  std::shared_ptr<const TableDescriptor> schema;
};

// The list of replication peers, as a hbase::pb::PeerList. Neither gives nor takes a region, and the list's own number
// decides whether it is taken, so it may be abandoned (S47).
struct RefreshPeersOrder {
  OrderId id;
  std::string list;
};

using Order = std::variant<OpenOrder, CloseOrder, SplitLogOrder, FlushOrder, CompactOrder, BuildOrder, CopyOrder,
                           RefreshPeersOrder>;

[[nodiscard]] inline const OrderId& IdOf(const Order& order) {
  return std::visit([](const auto& o) -> const OrderId& { return o.id; }, order);
}

}  // namespace ratchet::master
