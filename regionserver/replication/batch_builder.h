// Converts log entries into the mutations that one peer gets. Pure.
//
// Cells keep their timestamps, so that a batch that is delivered twice changes nothing. Only the last of several puts
// of one cell is kept, because the peer may apply the mutations of a batch in any order.
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
#include "regionserver/wal/log_entry.h"

namespace ratchet::regionserver {

// Mutations of one table that have passed the same clusters.
struct Shipment {
  TableName table;
  std::vector<std::string> cluster_ids;  // ids of the clusters that they passed before this one
  std::vector<client::Mutation> mutations;
};

// True if the peer gets any part of `shipped`.
[[nodiscard]] bool IsSelected(const hbase::pb::ReplicationPeer& config, const ShippedPart& shipped);

class BatchBuilder {
 public:
  // `config` outlives the builder. `own_id` is this cluster's id, which is added to the ids of the mutations.
  BatchBuilder(const hbase::pb::ReplicationPeer& config, std::string own_id)
      : config_(config), own_id_(std::move(own_id)) {}

  void Add(const LogEntry& entry);
  // To keep the order, an entry whose cluster ids differ from those of the batch's entries of the same table must wait
  // for the next batch.
  [[nodiscard]] bool MayFollow(const LogEntry& entry) const;

  [[nodiscard]] bool empty() const { return cells_ == 0; }
  [[nodiscard]] std::size_t cells() const { return cells_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // time of the oldest entry in the batch; 0: the batch is empty
  [[nodiscard]] std::int64_t oldest_ms() const { return oldest_ms_; }
  // `peer_id` is the peer's cluster id. Mutations that have passed the peer, or that have passed this cluster before,
  // are left out (S112: no replication loops).
  [[nodiscard]] std::vector<Shipment> Take(const std::string& peer_id);
  // Mutations that Take has left out because they have passed this cluster.
  [[nodiscard]] std::size_t returned() const { return returned_; }

 private:
  struct Group {
    Shipment shipment;
    // (row, family, qualifier, timestamp) of a put -> its position.
    struct Place {
      std::size_t mutation = 0;
      std::size_t cell = 0;
      std::optional<std::int64_t> ttl_ms;
    };
    std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, Place> puts;
    std::optional<std::int64_t> last_ttl;  // time to live of the last mutation
  };
  // Drops an earlier put of the same cell. Its mutation may be left without cells.
  static void DropEarlier(Group& group, const Cell& cell);
  void AddCell(Group& group, const LoggedCell& logged) const;

  const hbase::pb::ReplicationPeer& config_;
  const std::string own_id_;
  std::map<std::pair<TableName, std::vector<std::string>>, Group> groups_;
  std::size_t cells_ = 0;
  std::size_t returned_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t oldest_ms_ = 0;
};

}  // namespace ratchet::regionserver
