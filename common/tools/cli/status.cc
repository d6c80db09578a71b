// `ratchet status` and `ratchet servers`.
#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "common/base/host_port.h"
#include "common/client/admin.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"
#include "common/tools/cli/why_outside.h"

namespace ratchet::cli {
namespace {

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

}  // namespace

Result<int> ShowStatus(Session& session) {
  auto status = session.admin.Call(methods::kGetStatus, pb::GetStatusRequest());
  if (!status.ok()) {
    const std::string refused = RefusedStartText(session);
    if (refused.empty()) return status.error();
    const Error& error = status.error();
    return Error(error.code(), fmt::format("{}; a master's start was refused: {}", error.message(), refused),
                 error.remote_class());
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

Result<int> ShowServers(Session& session) {
  RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kListServers, pb::ListServersRequest()));
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
  for (const auto& server : answer.server()) {
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

Verbs StatusVerbs() {
  return {Plain("status", "Show the cluster at a glance, problems first", {"status", "--json status"}, ShowStatus),
          Plain("servers", "List region servers", {"servers"}, ShowServers)};
}

}  // namespace ratchet::cli
