// `ratchet history` and `ratchet trace`: procedures that have ended, as long as the masters keep them.
#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "common/model/proto/history.pb.h"
#include "common/ops/trace/chrome.h"
#include "common/ops/trace/otlp.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/event_window.h"

namespace ratchet::cli {
namespace {

Field TextOrNone(const std::string& text) { return text.empty() ? Field() : Field(text); }

// Prints the parts of the history that could not be read, in addition to the answer.
void PrintProblems(const Session& session, const pb::ListHistoryResponse& answer) {
  if (session.printer.into() != nullptr) return;
  for (const std::string& problem : answer.problem())
    std::fprintf(stderr, "ratchet: %s\n", TerminalText(problem).c_str());
  if (answer.entries_lost() > 0) {
    std::fputs(fmt::format("ratchet: {} entries were not kept by this master\n", answer.entries_lost()).c_str(),
               stderr);
  }
}

// The tree of `pid`: procedures in memory and procedures that have ended; for those in both, the entry of the history.
Result<std::vector<pb::EndedProcedure>> TreeOf(client::Admin& admin, std::uint64_t pid, trace::Source* source) {
  std::map<std::uint64_t, pb::EndedProcedure> members;
  pb::GetProcedureRequest live;
  live.set_pid(pid);
  live.set_tree_history(true);
  RATCHET_ASSIGN(const auto now, admin.Call(methods::kGetProcedure, live));
  std::uint64_t root = pid;
  for (const auto& member : now.tree()) {
    if (!member.has_parent()) root = member.pid();
    *members[member.pid()].mutable_procedure() = member;
  }
  for (auto& [number, member] : members) member.set_root(root);
  pb::ListHistoryRequest request;
  request.set_tree_of(pid);
  request.set_limit(UINT32_MAX);
  request.set_steps(true);
  request.set_failovers(true);
  RATCHET_ASSIGN(auto past, admin.Call(methods::kListHistory, request));
  for (const auto& failover : past.failover()) source->masters[failover.epoch()] = failover.master();
  for (auto& ended : *past.mutable_procedure()) members[ended.procedure().pid()] = std::move(ended);
  std::vector<pb::EndedProcedure> tree;
  for (auto& [number, member] : members) tree.push_back(std::move(member));
  return tree;
}

}  // namespace

int ShowHistory(Session& session, const HistoryFlags& flags) {
  pb::ListHistoryRequest request;
  request.set_limit(flags.limit);
  if (!flags.type.empty()) request.set_type(flags.type);
  if (!flags.table.empty()) request.set_table(flags.table);
  if (!flags.outcome.empty()) request.set_outcome(flags.outcome);
  for (const auto& [text, until] : {std::pair(flags.since, false), std::pair(flags.until, true)}) {
    if (text.empty()) continue;
    const auto at = ParseSince(text, SystemClock().WallMillis());
    if (!at.ok()) return Report(session, at.error());
    if (until)
      request.set_until_wall_ms(*at);
    else
      request.set_since_wall_ms(*at);
  }
  client::Admin admin(session.connection, session.timeout);
  const auto answer = admin.Call(methods::kListHistory, request);
  if (!answer.ok()) return Report(session, answer.error());
  std::vector<std::vector<Field>> rows;
  for (const auto& ended : answer->procedure()) {
    const auto& info = ended.procedure();
    const auto submitted = static_cast<std::int64_t>(info.submitted_wall_ms());
    const auto at = static_cast<std::int64_t>(info.updated_wall_ms());
    rows.push_back({Number(info.pid()), info.has_parent() ? Number(info.parent()) : Field(), info.type(), info.state(),
                    TimeText(at), Span{std::max<std::int64_t>(0, at - submitted)}, Number(ended.epoch()),
                    TextOrNone(info.owner()), TextOrNone(info.error()), TextOrNone(info.text())});
  }
  session.printer.Table({"PID", "PARENT", "TYPE", "STATE", "ENDED", "TOOK", "EPOCH", "OWNER", "ERROR", "TEXT"}, rows,
                        true, true);
  if (answer->more()) session.printer.Note("... and older ones: --limit, --until");
  PrintProblems(session, *answer);
  return kExitOk;
}

int ShowTrace(Session& session, std::uint64_t pid, TraceFormat format) {
  client::Admin admin(session.connection, session.timeout);
  const auto status = admin.Call(methods::kGetStatus, pb::GetStatusRequest());
  if (!status.ok()) return Report(session, status.error());
  trace::Source source{status->cluster_id()};
  const auto tree = TreeOf(admin, pid, &source);
  if (!tree.ok()) return Report(session, tree.error());
  const bool known =
      std::any_of(tree->begin(), tree->end(), [pid](const auto& member) { return member.procedure().pid() == pid; });
  if (!known) {
    return Report(session, Error(Code::kNotFound,
                                 fmt::format("procedure {} is not known, and the history does not have it", pid)));
  }
  std::string text = format == TraceFormat::kChrome ? trace::ToChrome(source, *tree) : trace::ToOtlp(source, *tree);
  if (Printed* const into = session.printer.into(); into != nullptr) {
    into->text = std::move(text);
  } else {
    std::fprintf(stdout, "%s\n", text.c_str());
  }
  return kExitOk;
}

}  // namespace ratchet::cli
