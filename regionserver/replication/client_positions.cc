#include "regionserver/replication/client_positions.h"

#include <charconv>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/mutex.h"
#include "common/client/admin.h"
#include "common/client/scanner.h"
#include "common/client/table.h"
#include "common/model/replication_peer.h"
#include "regionserver/replication/kept_connection.h"

namespace ratchet::regionserver {
namespace {

constexpr const char* kColumn = "log";

std::string RowOf(const std::string& peer, const std::string& server) { return peer + "-" + server; }

class ClientPositions final : public Positions {
 public:
  ClientPositions(ClusterKey own, Millis timeout) : connection_(std::move(own), timeout, "this server stops") {}

  Result<std::optional<LogPosition>> Read(const std::string& peer, const std::string& server) override {
    RATCHET_ASSIGN(const std::optional<KeptPosition> kept, ReadRow(peer, server));
    return kept ? std::optional<LogPosition>(kept->position) : std::optional<LogPosition>();
  }

  Result<std::optional<LogPosition>> Claim(const std::string& peer, const std::string& server) override {
    RATCHET_ASSIGN(const std::optional<KeptPosition> kept, ReadRow(peer, server));
    const KeptPosition claimed = Claimed(kept);
    RATCHET_TRY(Swap(peer, server, kept, claimed));
    const MutexLock lock(mutex_);
    claims_[RowOf(peer, server)] = claimed.claims;
    return kept ? std::optional<LogPosition>(kept->position) : std::optional<LogPosition>();
  }

  Status Write(const std::string& peer, const std::string& server, const LogPosition& position) override {
    RATCHET_ASSIGN(const std::optional<KeptPosition> kept, ReadRow(peer, server));
    RATCHET_ASSIGN(const std::optional<KeptPosition> moved, MovedTo(kept, ClaimOf(peer, server), position));
    return moved ? Swap(peer, server, kept, *moved) : Ok();
  }

  Status Forget(const std::string& peer, const std::string& server) override {
    {
      const MutexLock lock(mutex_);
      claims_.erase(RowOf(peer, server));
    }
    return Change(client::Mutation::Delete(RowOf(peer, server)));
  }

  Result<std::vector<std::string>> Servers(const std::string& peer) override {
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Scan scan;  // a peer's id has no '-', and '.' is the character after '-'
    scan.start_row = RowOf(peer, "");
    scan.stop_row = peer + '.';
    client::Scanner scanner(*connection, ReplicationTable(), std::move(scan), connection_.timeout());
    std::vector<std::string> servers;
    for (;;) {
      RATCHET_ASSIGN(const std::optional<client::Row> row, scanner.Next());
      if (!row.has_value()) return servers;
      servers.push_back(row->key.substr(peer.size() + 1));
    }
  }

  Result<bool> HasFamilies(const Shipment& shipment) override {
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Admin admin(*connection, connection_.timeout());
    const auto table = admin.Describe(shipment.table);
    if (!table.ok() && table.error().code() == Code::kNotFound) return false;
    if (!table.ok()) return table.error();
    for (const client::Mutation& mutation : shipment.mutations) {
      for (const Cell& cell : mutation.cells)
        if (table->Family(cell.family) == nullptr) return false;
    }
    return true;
  }

  void Close() override { connection_.Close(); }

 private:
  Result<std::optional<KeptPosition>> ReadRow(const std::string& peer, const std::string& server) {
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Table table(*connection, ReplicationTable(), connection_.timeout());
    client::Get get;
    get.row = RowOf(peer, server);
    RATCHET_ASSIGN(const client::Row row, table.Get(get));
    const auto value = row.Value(kReplicationFamily, kColumn);
    if (!value) return std::optional<KeptPosition>();
    RATCHET_ASSIGN(const KeptPosition kept, ParseKeptPosition(*value));
    return std::optional<KeptPosition>(kept);
  }

  // Writes only if the stored value is still `read`.
  Status Swap(const std::string& peer, const std::string& server, const std::optional<KeptPosition>& read,
              const KeptPosition& next) {
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Table table(*connection, ReplicationTable(), connection_.timeout());
    const auto put = client::Mutation::Put(RowOf(peer, server)).Set(kReplicationFamily, kColumn, ToText(next));
    client::Condition as_read;
    as_read.family = kReplicationFamily;
    as_read.qualifier = kColumn;
    if (read) as_read.expected = ToText(*read);  // empty: no stored value
    RATCHET_ASSIGN(const bool written, table.CheckAndMutate(as_read, put));
    if (written) return Ok();
    return Error(Code::kUnavailable, "the position was changed meanwhile");
  }

  std::uint64_t ClaimOf(const std::string& peer, const std::string& server) {
    const MutexLock lock(mutex_);
    const auto found = claims_.find(RowOf(peer, server));
    return found == claims_.end() ? 0 : found->second;
  }

  Status Change(const client::Mutation& mutation) {
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Table table(*connection, ReplicationTable(), connection_.timeout());
    const auto changed = table.Mutate(mutation);
    return changed.ok() ? Ok() : Status(changed.error());
  }

  KeptConnection connection_;
  Mutex mutex_;
  // number of claims of this server, by row of hbase:replication; each source has one row
  std::map<std::string, std::uint64_t> claims_ GUARDED_BY(mutex_);
};

}  // namespace

std::unique_ptr<Positions> MakeClientPositions(ClusterKey own, Millis timeout) {
  return std::make_unique<ClientPositions>(std::move(own), timeout);
}

std::string ToText(const KeptPosition& kept) {
  const std::string position = ToText(kept.position);
  return kept.claims == 0 ? position : fmt::format("{}#{}", position, kept.claims);
}

Result<KeptPosition> ParseKeptPosition(std::string_view text) {
  KeptPosition kept;
  const std::size_t mark = text.find('#');
  RATCHET_ASSIGN(kept.position, ParseLogPosition(std::string(text.substr(0, mark))));
  if (mark == std::string_view::npos) return kept;
  const std::string_view claims = text.substr(mark + 1);
  const auto parsed = std::from_chars(claims.data(), claims.data() + claims.size(), kept.claims);
  if (parsed.ec != std::errc() || parsed.ptr != claims.data() + claims.size() || kept.claims == 0 ||
      kept.claims == UINT64_MAX)
    return Error(Code::kCorruption, fmt::format("'{}' is not a valid position with claims", text));
  return kept;
}

KeptPosition Claimed(const std::optional<KeptPosition>& kept) {
  if (!kept) return {{}, 1};
  return {kept->position, kept->claims + 1};
}

Result<std::optional<KeptPosition>> MovedTo(const std::optional<KeptPosition>& kept, std::uint64_t own,
                                            const LogPosition& position) {
  if (kept && kept->claims > own && !RATCHET_MUTANT("replication.late_positions"))
    return Error(Code::kStale, "another server ships these logs now");
  if (kept && kept->position >= position) return std::optional<KeptPosition>();
  return std::optional<KeptPosition>(KeptPosition{position, own});
}

}  // namespace ratchet::regionserver
