// `ratchet connections`: who is connected to the masters and region servers, and closes the connections of a user.
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/host_port.h"
#include "common/model/codec.h"
#include "common/model/proto/connections.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/admin_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/processes.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

constexpr Millis kPatienceWithProcess{10'000};

struct ConnectionFlags {
  std::optional<std::string> user;
  std::string address;
  std::string process;
  bool plain_text = false;
  bool close = false;
  bool yes = false;
  std::uint32_t most = 1'000;

  void Bind(CLI::App& verb) {
    Take(verb, "--user", user, kind::kText, "Only connections of this user");
    Take(verb, "--address", address, kind::kText, "Only connections from this address, 10.0.0.7 or 10.0.0.7:4011");
    auto* const plain = verb.add_flag("--plaintext", plain_text, "Only connections without TLS");
    Take(verb, "--process", process, "HOST:PORT", "Ask this process only (default: every master and region server)");
    TakeWhole(verb, "--most", most, kind::kNumber, 1, 10'000, "Largest number of connections of one process");
    verb.add_flag("--close", close, "Close the connections of the user or the address")->excludes(plain);
    AddYes(verb, yes);
  }
};

struct Process {
  std::string name;  // "master h,16000,1"
  rpc::Endpoint endpoint;
};

Result<std::vector<Process>> ProcessesOf(Session& session, const ConnectionFlags& flags) {
  if (!flags.process.empty()) {
    const auto place = SplitHostPort(flags.process);
    if (!place.has_value())
      return Error(Code::kInvalidArgument, fmt::format("--process {}: HOST:PORT is expected", flags.process));
    return std::vector<Process>{{flags.process, {place->host, place->port}}};
  }
  RATCHET_ASSIGN(const auto status, session.admin.Call(methods::kGetStatus, pb::GetStatusRequest()));
  std::vector<Process> processes;
  processes.push_back({MasterText(status.master()), EndpointOf(status.master())});
  for (const auto& standby : status.backup_master()) processes.push_back({MasterText(standby), EndpointOf(standby)});
  for (const auto& server : status.live_server()) processes.push_back({RegionServerText(server), EndpointOf(server)});
  return processes;
}

// The processes that have not answered; they may have further connections.
struct Silent {
  std::vector<std::vector<Field>> rows;
  std::optional<Error> first;
  void Add(const Process& process, const Error& error) {
    rows.push_back({process.name, error.message()});
    if (!first.has_value()) first = error;
  }
  [[nodiscard]] Section Shown() const { return {"silent", "Without an answer:", {"PROCESS", "WHY"}, rows}; }
  [[nodiscard]] int Exit() const { return first.has_value() ? ExitCodeOf(*first) : kExitOk; }
};

template <class Request>
Request RequestOf(const ConnectionFlags& flags) {
  Request request;
  if (flags.user.has_value()) request.set_user_name(*flags.user);
  if (!flags.address.empty()) request.set_address(flags.address);
  return request;
}

Result<int> List(Session& session, const ConnectionFlags& flags, const std::vector<Process>& processes) {
  auto request = RequestOf<pb::ListConnectionsRequest>(flags);
  request.set_plain_text(flags.plain_text);
  request.set_most(flags.most);
  Section list{
      "connections",
      "",
      {"PROCESS", "PEER", "USER", "BY", "REAL USER", "CLAIMED", "MEMBER", "TLS", "SERIAL", "SERVICE", "SINCE", "CALLS"},
      {}};
  Silent silent;
  std::uint64_t left_out = 0;
  for (const Process& process : processes) {
    const auto answer = AskProcess(session, process.endpoint, methods::kListConnections, request, kPatienceWithProcess);
    if (!answer.ok()) {
      silent.Add(process, answer.error());
      continue;
    }
    left_out += answer->left_out();
    for (const auto& each : answer->connection()) {
      list.rows.push_back({process.name, each.peer(), TextOrNull(each.user()), each.by(), TextOrNull(each.real_user()),
                           TextOrNull(each.claimed()), TextOrNull(each.member()), TextOrNull(each.tls()),
                           TextOrNull(each.serial()), TextOrNull(each.service()), TimeText(each.since_ms()),
                           Number(each.calls())});
    }
  }
  if (silent.rows.size() == processes.size() && silent.first.has_value()) return *silent.first;
  std::vector<Section> sections{std::move(list)};
  if (session.printer.json() || !silent.rows.empty()) sections.push_back(silent.Shown());
  if (session.printer.json()) {
    session.printer.Document({{"left out", Number(left_out)}}, sections);
  } else {
    session.printer.Document({}, sections);
    if (left_out > 0) session.printer.Note(fmt::format("{} more (--most)", left_out));
  }
  return silent.Exit();
}

Result<int> Close(Session& session, const ConnectionFlags& flags, const std::vector<Process>& processes) {
  if (!flags.user.has_value() && flags.address.empty())
    return Error(Code::kInvalidArgument, "connections --close needs --user or --address");
  if (!Confirmed("Close these connections? Their calls in progress get no answer.", flags.yes)) return kExitFailed;
  const auto request = RequestOf<pb::CloseConnectionsRequest>(flags);
  Section list{"closed", "", {"PROCESS", "CLOSED"}, {}};
  Silent silent;
  for (const Process& process : processes) {
    const auto answer =
        AskProcess(session, process.endpoint, methods::kCloseConnections, request, kPatienceWithProcess);
    if (answer.ok()) {
      list.rows.push_back({process.name, Number(answer->closed())});
    } else {
      silent.Add(process, answer.error());
    }
  }
  if (silent.rows.size() == processes.size() && silent.first.has_value()) return *silent.first;
  std::vector<Section> sections{std::move(list)};
  if (session.printer.json() || !silent.rows.empty()) sections.push_back(silent.Shown());
  session.printer.Document({}, sections);
  return silent.Exit();
}

Result<int> RunConnections(Session& session, const ConnectionFlags& flags) {
  RATCHET_ASSIGN(const auto processes, ProcessesOf(session, flags));
  return flags.close ? Close(session, flags, processes) : List(session, flags, processes);
}

}  // namespace

Verbs ConnectionVerbs() {
  return {Verb<ConnectionFlags>(
      "connections", "Show who is connected to each process, or close the connections of a user",
      {"connections", "connections --plaintext", "connections --user etl", "connections --close --user etl --yes",
       "connections --process rs1:16020 --address 10.0.0.7"},
      RunConnections)};
}

}  // namespace ratchet::cli
