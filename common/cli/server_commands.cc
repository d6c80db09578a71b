// Draining region servers and taking them back.
#include <fmt/format.h>

#include "common/cli/commands.h"
#include "common/cli/targets.h"
#include "common/client/drain.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"

namespace ratchet::cli {
namespace {

// A live server, or a marked address: "host:port", or the full name.
Result<ServerName> FindMarked(client::Admin& admin, const std::string& text) {
  if (text.find(',') != std::string::npos) return ServerName::Parse(text);
  RATCHET_ASSIGN(const auto marked, client::Drained(admin));
  for (const ServerName& server : marked) {
    if (server.Address() == text) return server;
  }
  return FindServer(admin, text);
}

}  // namespace

int DrainServer(Session& session, const std::string& server, bool and_stop, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  const auto found = FindServer(admin, server);
  if (!found.ok()) return Report(session, found.error());
  return FinishAlone(session, admin, client::Drain(session.connection, admin, *found, and_stop), "drained",
                     found->ToString(), wait);
}

int UndrainServer(Session& session, const std::string& server, const std::vector<std::string>& regions, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  const auto found = FindMarked(admin, server);
  if (!found.ok()) return Report(session, found.error());
  std::vector<std::string> encoded;
  for (const std::string& region : regions) {
    auto name = FindRegion(admin, region);
    if (!name.ok()) return Report(session, name.error());
    encoded.push_back(*std::move(name));
  }
  return FinishAlone(session, admin, client::Undrain(session.connection, admin, *found, encoded), "taken_back",
                     found->ToString(), wait);
}

int ShowDrained(Session& session) {
  client::Admin admin(session.connection, session.timeout);
  const auto marked = client::Drained(admin);
  if (!marked.ok()) return Report(session, marked.error());
  const auto all = admin.Call(methods::kListServers, {});
  if (!all.ok()) return Report(session, all.error());
  std::vector<std::vector<Field>> rows;
  for (const ServerName& server : *marked) {
    std::string state = "not there";
    std::int64_t regions = 0;
    for (const auto& row : all->server()) {
      const auto name = FromProto(row.server());
      if (!name.ok() || *name != server) continue;
      state = row.state();
      regions = row.regions();
    }
    rows.push_back({server.ToString(), state, regions});
  }
  session.printer.Table({"SERVER", "STATE", "REGIONS"}, rows);
  return kExitOk;
}

}  // namespace ratchet::cli
