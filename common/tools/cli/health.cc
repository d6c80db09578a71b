// `ratchet reconcile` and `ratchet health`: do the parts of the cluster agree, and do all of them answer.
#include <set>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {

Result<int> ShowFindings(Session& session, bool look) {
  pb::ReconcileRequest request;
  request.set_look_now(look);
  RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kReconcile, request));
  const std::int64_t now = SystemClock().WallMillis();
  std::vector<std::vector<Field>> rows;
  for (const auto& finding : answer.finding()) {
    rows.push_back({Span{now - static_cast<std::int64_t>(finding.at_wall_ms())},
                    finding.has_server() ? Field(NameText(finding.server())) : Field(),
                    finding.has_encoded_name() ? Field(finding.encoded_name()) : Field(), finding.what()});
  }
  for (const auto& doubt : answer.doubt()) {
    rows.push_back({Field(), Field(), doubt.encoded_name(),
                    doubt.what() + " (unconfirmed: repaired when the next check finds it again)"});
  }
  session.printer.Table({"AGO", "SERVER", "REGION", "FOUND AND DONE"}, rows);
  return kExitOk;
}

namespace {

struct ReconcileFlags {
  bool only_earlier = false;

  void Bind(CLI::App& verb) {
    verb.add_flag("--no-look", only_earlier, "Do not compare now; show only what earlier comparisons have found");
  }
};

constexpr const char* kHealthTable = "ratchet_health";
constexpr std::size_t kServersAsked = 100;

// Reads one row of a region on each server that has any, at most kServersAsked of them: through the master's cached
// locations, meta and the servers' own CHECK. Returns how many servers were asked.
Result<std::size_t> ReadFromServers(Session& session, client::Admin& admin) {
  RATCHET_ASSIGN(auto answer, (admin.Call(methods::kListRegions, pb::ListRegionsRequest())));
  std::set<std::string> asked;
  for (const auto& row : answer.region()) {
    if (row.state() != "OPEN" || !row.has_server() || asked.size() >= kServersAsked) continue;
    if (!asked.insert(NameText(row.server())).second) continue;
    RATCHET_ASSIGN(const auto region, FromProto(row.region()));
    const std::string key = region.start_key.empty() ? std::string(1, '\0') : region.start_key;
    const auto read = client::Table(session.connection, region.table, session.timeout).Get({key, {}, 1, {}});
    if (!read.ok()) return read.error().Annotate(fmt::format("a get through {}", NameText(row.server())));
  }
  return asked.size();
}

// Only if an operator has made the table: a check must leave nothing behind, especially when the cluster is in trouble.
Result<bool> CheckPutAndGet(Session& session, client::Admin& admin) {
  const TableName name(std::string(kDefaultNamespace), kHealthTable);
  const auto state = admin.State(name);
  if (!state.ok() && rpc::IsClass(state.error(), rpc::exception::kTableNotFound)) return false;
  if (!state.ok()) return state.error();
  if (*state != TableState::kEnabled) return false;
  RATCHET_ASSIGN(const TableDescriptor described, admin.Describe(name));
  if (described.families.empty()) return false;
  const std::string family = described.families.front().name;
  client::Table table(session.connection, name, session.timeout);
  const std::string value = std::to_string(SystemClock().WallMillis());
  const std::string row = fmt::format("checked by {}", session.connection.nonce_group());
  RATCHET_TRY(table.Mutate(client::Mutation::Put(row).Set(family, "at", value)));
  RATCHET_ASSIGN(const client::Row read, table.Get({row, {}, 1, {}}));
  if (read.Value(family, "at") != value) return Error(Code::kInternal, "the row that was just put reads differently");
  RATCHET_TRY(table.Mutate(client::Mutation::Delete(row)));
  return true;
}

// Checks that meta is online, and reads a row through each server that has a region. With a table "ratchet_health" (an
// operator makes it), a put and a get go through the cluster too. Creates nothing and submits nothing.
Result<int> CheckHealth(Session& session) {
  auto meta = session.admin.Regions(MetaTableName());
  if (!meta.ok()) return meta.error().Annotate("meta is not online");
  if (meta->empty()) return Error(Code::kUnavailable, "meta is not online");
  RATCHET_ASSIGN(const auto servers, ReadFromServers(session, session.admin));
  const auto written = CheckPutAndGet(session, session.admin);
  if (!written.ok()) return written.error().Annotate(fmt::format("a put and a get in {}", kHealthTable));
  session.printer.Object({{"healthy", true},
                          {"meta", meta->front().server.ToString()},
                          {"servers read from", Number(servers)},
                          {"put and get", *written ? Field(std::string(kHealthTable)) : Field()}});
  return kExitOk;
}

}  // namespace

Verbs HealthVerbs() {
  return {Verb<ReconcileFlags>(
              "reconcile", "Compare meta, memory and servers; show what was found and repaired",
              {"reconcile", "reconcile --no-look"},
              [](Session& session, const ReconcileFlags& flags) { return ShowFindings(session, !flags.only_earlier); }),
          Plain("health", "Check that meta and all servers answer (and a put, with a table ratchet_health)",
                {"health && echo up"}, CheckHealth)};
}

}  // namespace ratchet::cli
