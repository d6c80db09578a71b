#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <variant>

#include "common/base/host_port.h"
#include "common/client/admin.h"
#include "common/client/table.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/rpc/snapshot_exceptions.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/progress_reporter.h"
#include "common/tools/cli/why_outside.h"

namespace ratchet::cli {
namespace {

std::string NameText(const hbase::pb::ServerName& name) {
  return fmt::format("{},{},{}", name.host_name(), name.port(), name.start_code());
}

template <class List>
std::vector<std::string> Names(const List& names) {
  std::vector<std::string> texts;
  for (const auto& name : names) texts.push_back(NameText(name));
  return texts;
}

template <class List>
Field ListText(const List& entries) {
  std::string text;
  for (const auto& entry : entries) text += (text.empty() ? "" : "; ") + entry;
  return text.empty() ? Field() : Field(text);
}

// Problems for the operator come first; "none" is printed if there are none.
void PrintProblems(const Session& session, const std::vector<std::string>& problems) {
  session.printer.Note(problems.empty() ? "No problems." : fmt::format("PROBLEMS ({})", problems.size()));
  for (const std::string& problem : problems) session.printer.Note("  " + problem);
  session.printer.Note("");
}

std::vector<std::string> ProblemsOf(const pb::GetStatusResponse& status) {
  std::vector<std::string> problems(status.problem().begin(), status.problem().end());
  if (status.role() == pb::GetStatusResponse::ACTIVATING && status.activation_size() > 0) {
    const auto& step = status.activation(status.activation_size() - 1);
    problems.insert(problems.begin(), fmt::format("the master is starting: {}{}{}", step.name(),
                                                  step.detail().empty() ? "" : ", ", step.detail()));
  }
  if (status.procedures_stuck() > 0) {
    problems.push_back(fmt::format("{} procedures are stuck (ratchet procedures)", status.procedures_stuck()));
  }
  return problems;
}

template <class Message>
Field RestartsText(const Message& message) {
  if (message.came_again() == 0) return Field();
  return Field(fmt::format("{}, the last after {}", message.came_again(), message.came_again_why()));
}

// JSON has null for an absent value; a person reads a word.
Field OrWord(const Session& session, Field field, const char* word) {
  if (session.printer.json() || !std::holds_alternative<std::monostate>(field)) return field;
  return Field(std::string(word));
}

Field PageText(const hbase::pb::ServerName& process, bool has_page, std::uint32_t port) {
  return has_page ? Field(JoinHostPort(process.host_name(), static_cast<std::uint16_t>(port))) : Field();
}

// JSON: a text for each process. People: the process that is nearest to its limit, and the number of processes.
Field DescriptorsField(const Session& session, const pb::GetStatusResponse& status) {
  const auto text = [](const auto& use) {
    return fmt::format("{} of {} at {}", use.used(), use.limit(), NameText(use.server()));
  };
  const auto share = [](const auto& use) {
    return static_cast<double>(use.used()) / static_cast<double>(std::max<std::uint64_t>(use.limit(), 1));
  };
  std::vector<std::string> texts;
  const auto* worst = status.descriptors_size() == 0 ? nullptr : &status.descriptors(0);
  for (const auto& use : status.descriptors()) {
    texts.push_back(text(use));
    if (share(use) > share(*worst)) worst = &use;
  }
  if (session.printer.json() || worst == nullptr || texts.size() == 1) return texts;
  return fmt::format("{}, the most of {} processes", text(*worst), texts.size());
}

// "2.6.1: 3 connections"
std::vector<std::string> ClientTexts(const pb::GetStatusResponse& status) {
  std::vector<std::string> texts;
  for (const auto& client : status.client())
    texts.push_back(fmt::format("{}: {} connections", client.version(), client.connections()));
  return texts;
}

// The steps with which the active master became active, with the times after its election.
Section StartSteps(const pb::GetStatusResponse& status) {
  Section steps{"activation steps", "", {"STEP", "STARTED", "TOOK", "DETAIL"}, {}};
  for (const auto& step : status.activation()) {
    steps.rows.push_back({step.name(), Span{static_cast<std::int64_t>(step.started_ms())},
                          step.has_took_ms() ? Field(Span{static_cast<std::int64_t>(step.took_ms())}) : Field(),
                          step.detail()});
  }
  return steps;
}

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

// Returns the user's next action after an error, by its class: " (see: ratchet list)". Empty if the message names one.
std::string NextAction(const Error& error) {
  static const std::map<std::string_view, std::string_view> actions = {
      {rpc::exception::kTableNotFound, "see: ratchet list"},
      {rpc::exception::kTableExists, "see: ratchet list"},
      {rpc::exception::kTableNotEnabled, "ratchet enable TABLE enables it"},
      {rpc::exception::kTableNotDisabled, "ratchet disable TABLE disables it"},
      {rpc::exception::kNoSuchColumnFamily, "see: ratchet describe TABLE"},
      {rpc::exception::kUnknownRegion, "see: ratchet regions"},
      {rpc::exception::kNamespaceExist, "see: ratchet namespaces"},
      {rpc::exception::kPeerNotFound, "see: ratchet peers"},
      {rpc::exception::kSnapshotExists, "see: ratchet snapshots"},
      {rpc::exception::kSnapshotDoesNotExist, "see: ratchet snapshots"},
      {rpc::exception::kUnknownService, "not served at this address; give the address of a master"},
  };
  static const std::map<std::string_view, std::string_view> own = {
      {"procedure ", "see: ratchet procedures --all, ratchet history"},
      {"there is no snapshot ", "see: ratchet snapshots"},
      {"there is no region ", "see: ratchet regions"},
  };
  if (ExitCodeOf(error) == kExitUnreachable) return " (see: ratchet why)";
  if (error.message().find("ratchet ") != std::string::npos) return {};
  for (const auto& [beginning, action] : own) {  // errors of this program have no class
    if (error.code() == Code::kNotFound && error.remote_class().empty() && error.message().starts_with(beginning))
      return fmt::format(" ({})", action);
  }
  const auto found = actions.find(error.remote_class());
  return found == actions.end() ? std::string() : fmt::format(" ({})", found->second);
}

}  // namespace

int Report(const Session& session, const Error& error) {
  std::string message = error.message();
  if (const auto stack = message.find("\n\tat "); stack != std::string::npos) message.resize(stack);
  const std::string word(EndingOf(error).word);
  const bool to_user = session.printer.into() == nullptr;
  if (!to_user) session.printer.into()->text.clear();
  const std::string next = NextAction(error);
  if (to_user)
    std::fprintf(stderr, "ratchet: %s: %s%s\n", word.c_str(), TerminalText(message, true).c_str(), next.c_str());
  if (to_user && ExitCodeOf(error) == kExitTimeout) {
    if (const std::string text = ContinueText(session.connection.activity().Look()); !text.empty()) {
      std::fprintf(stderr, "ratchet: %s\n", text.c_str());
    }
  }
  if (session.printer.json()) {
    session.printer.Object({{"error", word}, {"message", message}, {"exception", error.remote_class()}});
  }
  return ExitCodeOf(error);
}

int ShowStatus(Session& session) {
  client::Admin admin(session.connection, session.timeout);
  auto status = admin.Call(methods::kGetStatus, pb::GetStatusRequest());
  if (!status.ok()) {
    const std::string refused = RefusedStartText(session);
    if (refused.empty()) return Report(session, status.error());
    const Error& error = status.error();
    return Report(session,
                  Error(error.code(), fmt::format("{}; a master's start was refused: {}", error.message(), refused),
                        error.remote_class()));
  }
  if (status->role() == pb::GetStatusResponse::STANDBY) {  // it does not know the cluster's state
    const auto problems = ProblemsOf(*status);
    if (!problems.empty()) PrintProblems(session, problems);
    session.printer.Object(
        {{"role", "standby"},
         {"cluster", status->cluster_id()},
         {"version", status->version()},
         {"this master", NameText(status->master())},
         {"active master", status->has_active_master() ? Field(NameText(status->active_master())) : Field()},
         {"problems", problems},
         {"automatic restarts", OrWord(session, RestartsText(*status), "none")},
         {"clients", ClientTexts(*status)},
         {"page", PageText(status->master(), status->has_info_port(), status->info_port())},
         {"uptime", Span{static_cast<std::int64_t>(status->uptime_ms())}}});
    return kExitOk;
  }
  const std::string activation = status->role() == pb::GetStatusResponse::ACTIVATING && status->activation_size() > 0
                                     ? status->activation(status->activation_size() - 1).name()
                                     : "complete";
  const auto problems = ProblemsOf(*status);
  PrintProblems(session, problems);
  if (!session.printer.json() && status->has_why()) session.printer.Note("why: " + status->why() + "\n");
  std::vector<std::pair<std::string, Field>> fields = {
      {"cluster", status->cluster_id()},
      {"version", status->version()},
      {"active master", NameText(status->master())},
      {"backup masters", Names(status->backup_master())},
      {"epoch", Number(status->epoch())},
      {"activation", activation},
      {"procedures unfinished", Number(status->procedures_unfinished())},
      {"procedures stuck", Number(status->procedures_stuck())},
      {"paused", OrWord(session, ListText(status->pause()), "none")},
      {"fault injection", OrWord(session, ListText(status->fault_points_allowed()), "off")},
      {"automatic restarts", OrWord(session, RestartsText(*status), "none")},
      {"descriptors", DescriptorsField(session, *status)},
      {"clients", ClientTexts(*status)},
      {"page", PageText(status->master(), status->has_info_port(), status->info_port())},
      {"uptime", Span{static_cast<std::int64_t>(status->uptime_ms())}},
  };
  if (!status->without_regions()) {
    const std::vector<std::pair<std::string, Field>> of_regions = {
        {"live servers", Names(status->live_server())},
        {"dead servers", Names(status->dead_server())},
        {"meta", fmt::format("{} on {}", status->meta_state(),
                             status->has_meta_server() ? NameText(status->meta_server()) : std::string("no server"))},
        {"tables", Number(status->tables())},
        {"regions", Number(status->regions())},
        {"regions open", Number(status->regions_open())},
        {"regions in transition", Number(status->regions_in_transition())}};
    fields.insert(std::next(fields.begin(), 6), of_regions.begin(), of_regions.end());
  }
  if (session.printer.json()) {
    fields.emplace_back("problems", problems);
    fields.emplace_back("why", status->has_why() ? Field(status->why()) : Field());
    session.printer.Document(fields, {StartSteps(*status)});
    return kExitOk;
  }
  session.printer.Object(fields);
  return kExitOk;
}

int ShowServers(Session& session) {
  client::Admin admin(session.connection, session.timeout);
  auto answer = admin.Call(methods::kListServers, pb::ListServersRequest());
  if (!answer.ok()) return Report(session, answer.error());
  std::vector<std::string> headers = {"SERVER",      "STATE",           "REGIONS",       "META",
                                      "LAST REPORT", "CRASH PROCEDURE", "STORAGE HANGS", "DESCRIPTORS",
                                      "RESTARTS",    "VERSION",         "PAGE"};
  // Columns for which a terminal has no room.
  if (session.printer.json()) {
    for (const char* more :
         {"LOG FILES", "ORDERS", "STORE FILES", "STORE MIB", "MEMSTORE MIB", "DISK FREE BYTES", "REQUESTS PER SECOND"})
      headers.emplace_back(more);
  }
  std::vector<std::vector<Field>> rows;
  for (const auto& server : answer->server()) {
    rows.push_back(
        {NameText(server.server()), server.state(), Number(server.regions()), server.carries_meta(),
         server.has_last_report_ms() ? Field(Span{static_cast<std::int64_t>(server.last_report_ms())}) : Field(),
         server.has_crash_procedure() ? Field(Number(server.crash_procedure())) : Field(),
         server.has_storage_hangs_ms() ? Field(Span{static_cast<std::int64_t>(server.storage_hangs_ms())}) : Field(),
         server.has_descriptor_limit()
             ? Field(fmt::format("{} of {}", server.descriptors_used(), server.descriptor_limit()))
             : Field(),
         RestartsText(server), server.version(),
         PageText(server.server(), server.has_info_port(), server.info_port())});
    if (!session.printer.json()) continue;
    const auto known = [](bool has, std::uint64_t value) { return has ? Field(Number(value)) : Field(); };
    for (Field& more : std::vector<Field>{
             known(server.has_log_files(), server.log_files()), Number(server.dispatch_queued()),
             known(server.has_store_files(), server.store_files()), known(server.has_store_mib(), server.store_mib()),
             known(server.has_memstore_mib(), server.memstore_mib()),
             known(server.has_disk_free_bytes(), server.disk_free_bytes()),
             known(server.has_requests_per_second(), server.requests_per_second())})
      rows.back().push_back(std::move(more));
  }
  session.printer.Table(headers, rows);
  return kExitOk;
}

int ShowFindings(Session& session, bool look) {
  client::Admin admin(session.connection, session.timeout);
  pb::ReconcileRequest request;
  request.set_look_now(look);
  auto answer = admin.Call(methods::kReconcile, request);
  if (!answer.ok()) return Report(session, answer.error());
  const std::int64_t now = SystemClock().WallMillis();
  std::vector<std::vector<Field>> rows;
  for (const auto& finding : answer->finding()) {
    rows.push_back({Span{now - static_cast<std::int64_t>(finding.at_wall_ms())},
                    finding.has_server() ? Field(NameText(finding.server())) : Field(),
                    finding.has_encoded_name() ? Field(finding.encoded_name()) : Field(), finding.what()});
  }
  for (const auto& doubt : answer->doubt()) {
    rows.push_back({Field(), Field(), doubt.encoded_name(),
                    doubt.what() + " (unconfirmed: repaired when the next check finds it again)"});
  }
  session.printer.Table({"AGO", "SERVER", "REGION", "FOUND AND DONE"}, rows);
  return kExitOk;
}

int CheckHealth(Session& session) {
  client::Admin admin(session.connection, session.timeout);
  auto meta = admin.Regions(MetaTableName());
  if (!meta.ok()) return Report(session, meta.error().Annotate("meta is not online"));
  if (meta->empty()) return Report(session, Error(Code::kUnavailable, "meta is not online"));
  const auto servers = ReadFromServers(session, admin);
  if (!servers.ok()) return Report(session, servers.error());
  const auto written = CheckPutAndGet(session, admin);
  if (!written.ok())
    return Report(session, written.error().Annotate(fmt::format("a put and a get in {}", kHealthTable)));
  session.printer.Object({{"healthy", true},
                          {"meta", meta->front().server.ToString()},
                          {"servers read from", Number(*servers)},
                          {"put and get", *written ? Field(std::string(kHealthTable)) : Field()}});
  return kExitOk;
}

}  // namespace ratchet::cli
