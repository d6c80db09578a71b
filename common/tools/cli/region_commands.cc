#include <algorithm>
#include <tuple>

#include "common/client/admin.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/targets.h"

namespace ratchet::cli {
namespace {

Result<std::uint64_t> Transit(client::Admin& admin, RegionVerb verb, const std::string& region,
                              const std::string& destination) {
  RATCHET_ASSIGN(const std::string encoded, FindRegion(admin, region));
  std::optional<ServerName> server;
  if (!destination.empty()) {
    RATCHET_ASSIGN(server, FindServer(admin, destination));
  }
  return admin.Transit(verb, encoded, server);
}

}  // namespace

int ShowRegions(Session& session, const std::string& table, bool in_transition_only,
                const std::optional<RegionPart>& part, const std::string& server) {
  client::Admin admin(session.connection, session.timeout);
  pb::ListRegionsRequest request;
  request.set_in_transition_only(in_transition_only);
  if (part.has_value()) {
    request.set_limit(part->limit);
    request.set_offset(part->offset);
  }
  if (!server.empty()) {
    const auto name = ServerName::Parse(server);
    if (!name.ok()) return Report(session, name.error());
    ToProto(*name, *request.mutable_server());
  }
  TableName asked;
  if (!table.empty()) {
    auto name = TableName::Parse(table);
    if (!name.ok()) return Report(session, name.error());
    ToProto(*name, *request.mutable_table());
    asked = *std::move(name);
  }
  auto answer = admin.Call(methods::kListRegions, request);
  if (!answer.ok()) return ReportOnTable(session, answer.error(), asked);
  struct Shown {
    RegionInfo region;
    const pb::RegionRow* row;
  };
  std::vector<Shown> regions;
  for (const auto& row : answer->region()) {
    auto region = FromProto(row.region());
    if (!region.ok()) return Report(session, region.error());
    regions.push_back({*std::move(region), &row});
  }
  std::sort(regions.begin(), regions.end(), [](const Shown& a, const Shown& b) {
    return std::tie(a.region.table, a.region.start_key, a.row->encoded_name()) <
           std::tie(b.region.table, b.region.start_key, b.row->encoded_name());
  });
  std::vector<std::string> headers = {"TABLE", "REGION", "START", "END", "STATE", "SERVER", "PROCEDURE"};
  // Columns for which a terminal has no room.
  if (session.printer.json()) headers.insert(headers.end(), {"STORE FILES", "STORE MIB", "MEMSTORE MIB"});
  const auto known = [](bool has, std::uint64_t value) { return has ? Field(Number(value)) : Field(); };
  std::vector<std::vector<Field>> rows;
  for (const auto& [info, shown] : regions) {
    const RegionInfo* region = &info;
    const pb::RegionRow& row = *shown;
    auto at = row.has_server() ? FromProto(row.server()) : Result<ServerName>(ServerName{});
    rows.push_back({region->table.ToString(), row.encoded_name(), ToText(region->start_key), ToText(region->end_key),
                    row.state(), at.ok() && !at->empty() ? Field(at->ToString()) : Field(),
                    row.has_procedure() ? Field(static_cast<std::int64_t>(row.procedure())) : Field()});
    if (!session.printer.json()) continue;
    rows.back().push_back(known(row.has_store_files(), row.store_files()));
    rows.back().push_back(known(row.has_store_mib(), row.store_mib()));
    rows.back().push_back(known(row.has_memstore_mib(), row.memstore_mib()));
  }
  session.printer.Table(headers, rows);
  if (part.has_value() && session.printer.into() != nullptr) session.printer.into()->total = answer->total();
  return kExitOk;
}

int LocateRow(Session& session, const std::string& table, const std::string& row) {
  auto name = TableName::Parse(table);
  if (!name.ok()) return Report(session, name.error());
  const auto key = FromText(row);
  if (!key.ok()) return Report(session, key.error());
  client::Admin admin(session.connection, session.timeout);
  const auto regions = admin.Regions(*name);
  if (!regions.ok()) return ReportOnTable(session, regions.error(), *name);
  for (const client::RegionLocation& location : *regions) {
    const RegionInfo& region = location.region;
    const ServerName& server = location.server;
    if (!region.Contains(*key)) continue;
    session.printer.Object({{"region", region.encoded_name()},
                            {"start", ToText(region.start_key)},
                            {"end", ToText(region.end_key)},
                            {"server", server.empty() ? Field() : Field(server.ToString())}});
    return kExitOk;
  }
  return Report(session, Error(Code::kNotFound,
                               fmt::format("no region of table {} has the row {} (see: ratchet status)", table, row)));
}

int FinishAlone(Session& session, client::Admin& admin, const Result<std::uint64_t>& pid, const char* done,
                const std::string& what, bool wait) {
  if (!pid.ok()) return Report(session, pid.error());
  const auto number = static_cast<std::int64_t>(*pid);
  if (!wait) {
    session.printer.Object({{"submitted", what}, {"pid", number}});
    return kExitOk;
  }
  const auto ended = admin.Wait(*pid);
  if (!ended.ok()) return Report(session, ended.error());
  if (ended->error.has_value()) return Report(session, *ended->error);
  if (ended->result.empty()) {
    session.printer.Object({{done, what}, {"pid", number}});
  } else {
    session.printer.Object({{done, what}, {"pid", number}, {"remark", ended->result}});
  }
  return kExitOk;
}

int ChangeRegion(Session& session, RegionVerb verb, const std::string& region, const std::string& destination,
                 bool wait) {
  client::Admin admin(session.connection, session.timeout);
  auto pid = Transit(admin, verb, region, destination);
  if (!pid.ok()) return Report(session, pid.error());
  const auto number = static_cast<std::int64_t>(*pid);
  if (!wait) {
    session.printer.Object({{"submitted", region}, {"pid", number}});
    return kExitOk;
  }
  const auto ended = admin.Wait(*pid);
  if (!ended.ok()) return Report(session, ended.error());
  if (ended->error.has_value()) return Report(session, *ended->error);
  // The procedure ended, but reports that it did not do what was requested, for example because its table was disabled
  // meanwhile.
  if (!ended->result.empty() && verb == RegionVerb::kMove)
    return Report(session, Error(Code::kFailedPrecondition, fmt::format("pid={}: {}", *pid, ended->result)));
  session.printer.Object(
      {{"done", region}, {"pid", number}, {"remark", ended->result.empty() ? Field() : Field(ended->result)}});
  return kExitOk;
}

namespace {

int AskForYes(const Session& session, const std::string& what) {
  return Report(session, Error(Code::kInvalidArgument, what + ": repeat with --yes if that is meant"));
}

}  // namespace

int GiveUpRegion(Session& session, const std::string& region, bool yes, bool wait) {
  if (!yes) {
    return AskForYes(
        session,
        fmt::format("the rows of region {} will be lost: its files go to the folder quarantine of the root, and "
                    "an empty region takes its place",
                    region));
  }
  client::Admin admin(session.connection, session.timeout);
  const auto encoded = FindRegion(admin, region);
  if (!encoded.ok()) return Report(session, encoded.error());
  return FinishAlone(session, admin, admin.GiveUpRegion(*encoded), "done", region, wait);
}

int PutBackEdits(Session& session, const std::string& region, bool wait) {
  client::Admin admin(session.connection, session.timeout);
  const auto encoded = FindRegion(admin, region);
  if (!encoded.ok()) return Report(session, encoded.error());
  return FinishAlone(session, admin, admin.PutBackEdits(*encoded), "done", region, wait);
}

int FillHoles(Session& session, const std::string& table, bool yes, bool wait) {
  if (!yes) {
    return AskForYes(
        session,
        fmt::format(
            "table {} will have empty regions for the rows that belong to no region; their earlier content is lost",
            table));
  }
  const auto name = TableName::Parse(table);
  if (!name.ok()) return Report(session, name.error());
  client::Admin admin(session.connection, session.timeout);
  return FinishAlone(session, admin, admin.FillHoles(*name), "done", table, wait);
}

}  // namespace ratchet::cli
