#include "regionserver/replication/client_positions.h"

#include <utility>

#include "common/client/admin.h"
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
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Table table(*connection, ReplicationTable(), connection_.timeout());
    client::Get get;
    get.row = RowOf(peer, server);
    RATCHET_ASSIGN(const client::Row row, table.Get(get));
    const auto value = row.Value(kReplicationFamily, kColumn);
    if (!value) return std::optional<LogPosition>();
    RATCHET_ASSIGN(const LogPosition position, ParseLogPosition(*value));
    return std::optional<LogPosition>(position);
  }

  // Never lower than what is kept: a server that is fenced, and does not know it yet, must not set back the one that
  // ships its logs now.
  Status Write(const std::string& peer, const std::string& server, const LogPosition& position) override {
    RATCHET_ASSIGN(const std::optional<LogPosition> kept, Read(peer, server));
    if (kept && *kept >= position) return Ok();
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Table table(*connection, ReplicationTable(), connection_.timeout());
    const auto put = client::Mutation::Put(RowOf(peer, server)).Set(kReplicationFamily, kColumn, ToText(position));
    client::Condition as_read;
    as_read.family = kReplicationFamily;
    as_read.qualifier = kColumn;
    if (kept) as_read.expected = ToText(*kept);  // empty: there is none
    RATCHET_ASSIGN(const bool written, table.CheckAndMutate(as_read, put));
    if (written) return Ok();
    return Error(Code::kUnavailable, "the position was changed meanwhile");
  }

  Status Forget(const std::string& peer, const std::string& server) override {
    return Change(client::Mutation::Delete(RowOf(peer, server)));
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
  Status Change(const client::Mutation& mutation) {
    RATCHET_ASSIGN(client::Connection* const connection, connection_.Get());
    client::Table table(*connection, ReplicationTable(), connection_.timeout());
    const auto changed = table.Mutate(mutation);
    return changed.ok() ? Ok() : Status(changed.error());
  }

  KeptConnection connection_;
};

}  // namespace

std::unique_ptr<Positions> MakeClientPositions(ClusterKey own, Millis timeout) {
  return std::make_unique<ClientPositions>(std::move(own), timeout);
}

}  // namespace ratchet::regionserver
