// From log entries to the mutations that one peer gets. Pure.
//
// Cells keep their timestamps, so that a batch that is delivered twice changes nothing. Of several puts of one cell the
// last one counts, because the peer may apply the mutations of a batch in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/client/operations.h"
#include "common/model/proto/replication.pb.h"
#include "common/model/table_name.h"
#include "regionserver/log/log_entry.h"

namespace ratchet::regionserver {

// Mutations of one table that have passed the same clusters.
struct Shipment {
  TableName table;
  std::vector<std::string> cluster_ids;  // passed before they came here
  std::vector<client::Mutation> mutations;
};

// Something of it goes to the peer.
[[nodiscard]] bool IsSelected(const hbase::pb::ReplicationPeer& config, const ShippedPart& shipped);

class BatchBuilder {
 public:
  // `config` outlives the builder. `own_id`: of this cluster; it is added to what the mutations have passed.
  BatchBuilder(const hbase::pb::ReplicationPeer& config, std::string own_id)
      : config_(config), own_id_(std::move(own_id)) {}

  void Add(const LogEntry& entry);
  // In order: what has passed other clusters than the table's entries that are in it goes with another shipment, so it
  // has to wait for the next batch.
  [[nodiscard]] bool MayFollow(const LogEntry& entry) const;

  [[nodiscard]] bool empty() const { return cells_ == 0; }
  [[nodiscard]] std::size_t cells() const { return cells_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::int64_t oldest_ms() const { return oldest_ms_; }  // of what is in it; 0: nothing
  // The peer's own id: what has passed it already is left out.
  [[nodiscard]] std::vector<Shipment> Take(const std::string& peer_id);

 private:
  struct Group {
    Shipment shipment;
    // (row, family, qualifier, timestamp) of a put -> where it is.
    struct Place {
      std::size_t mutation = 0;
      std::size_t cell = 0;
      std::int64_t ttl_ms = 0;
    };
    std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, Place> puts;
    std::int64_t last_ttl = 0;  // of the last mutation
  };
  // An earlier put of the same cell, which does not count any more. Its mutation may be left without cells.
  static void DropEarlier(Group& group, const Cell& cell);
  void AddCell(Group& group, const LoggedCell& logged) const;

  const hbase::pb::ReplicationPeer& config_;
  const std::string own_id_;
  std::map<std::pair<TableName, std::vector<std::string>>, Group> groups_;
  std::size_t cells_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t oldest_ms_ = 0;
};

}  // namespace ratchet::regionserver
