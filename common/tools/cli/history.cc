// `ratchet metrics`, `ratchet history` and `ratchet trace`: procedures that have ended, as long as the masters keep
// them.
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/model/proto/history.pb.h"
#include "common/model/proto/operator.pb.h"
#include "common/ops/trace/chrome.h"
#include "common/ops/trace/otlp.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

// The smallest 2^i ms below which the given share of the durations is.
std::string QuantileText(const pb::TypeMetrics& type, double share) {
  std::uint64_t all = 0;
  for (const auto count : type.duration_log2_ms()) all += count;
  if (all == 0) return {};
  std::uint64_t seen = 0;
  for (int i = 0; i < type.duration_log2_ms_size(); ++i) {
    seen += type.duration_log2_ms(i);
    if (static_cast<double>(seen) >= share * static_cast<double>(all)) return "<" + DurationText(std::int64_t{1} << i);
  }
  return {};
}

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

Result<int> ShowMetrics(Session& session) {
  RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kGetMetrics, pb::GetMetricsRequest()));
  std::vector<std::vector<Field>> rows;
  for (const auto& type : answer.type()) {
    rows.push_back({type.type(), Number(type.submitted()), Number(type.succeeded()), Number(type.failed()),
                    QuantileText(type, 0.5), QuantileText(type, 0.99), Number(type.hook_errors())});
  }
  session.printer.Table({"TYPE", "SUBMITTED", "SUCCEEDED", "FAILED", "MEDIAN", "P99", "HOOK ERRORS"}, rows);
  session.printer.Note(
      fmt::format("procedure store: {} batches, {} records, {} syncs, {} bytes, {} segments, {} live, {} in flight",
                  answer.store_batches(), answer.store_records(), answer.store_syncs(), answer.store_bytes(),
                  answer.store_segments(), answer.store_live_records(), answer.store_in_flight()));
  return kExitOk;
}

Result<int> ShowHistory(Session& session, const HistoryFlags& flags) {
  pb::ListHistoryRequest request;
  request.set_limit(flags.limit);
  if (!flags.type.empty()) request.set_type(flags.type);
  if (!flags.table.empty()) request.set_table(flags.table);
  if (!flags.outcome.empty()) request.set_outcome(flags.outcome);
  for (const auto& [text, until] : {std::pair(flags.since, false), std::pair(flags.until, true)}) {
    if (text.empty()) continue;
    RATCHET_ASSIGN(const auto at, ParseSince(text, SystemClock().WallMillis()));
    if (until)
      request.set_until_wall_ms(at);
    else
      request.set_since_wall_ms(at);
  }
  RATCHET_ASSIGN(const auto answer, session.admin.Call(methods::kListHistory, request));
  std::vector<std::vector<Field>> rows;
  for (const auto& ended : answer.procedure()) {
    const auto& info = ended.procedure();
    const auto submitted = static_cast<std::int64_t>(info.submitted_wall_ms());
    const auto at = static_cast<std::int64_t>(info.updated_wall_ms());
    rows.push_back({Number(info.pid()), info.has_parent() ? Number(info.parent()) : Field(), info.type(), info.state(),
                    TimeText(at), Span{std::max<std::int64_t>(0, at - submitted)}, Number(ended.epoch()),
                    TextOrNone(info.owner()), TextOrNone(info.error()), TextOrNone(info.text())});
  }
  session.printer.Table({"PID", "PARENT", "TYPE", "STATE", "ENDED", "TOOK", "EPOCH", "OWNER", "ERROR", "TEXT"}, rows,
                        true, true);
  if (answer.more()) session.printer.Note("... and older ones: --limit, --until");
  PrintProblems(session, answer);
  return kExitOk;
}

Result<int> ShowTrace(Session& session, std::uint64_t pid, TraceFormat format) {
  RATCHET_ASSIGN(const auto status, session.admin.Call(methods::kGetStatus, pb::GetStatusRequest()));
  trace::Source source{status.cluster_id()};
  RATCHET_ASSIGN(const auto tree, TreeOf(session.admin, pid, &source));
  const bool known =
      std::any_of(tree.begin(), tree.end(), [pid](const auto& member) { return member.procedure().pid() == pid; });
  if (!known) {
    return Error(Code::kNotFound, fmt::format("procedure {} is not known, and the history does not have it", pid));
  }
  std::string text = format == TraceFormat::kChrome ? trace::ToChrome(source, tree) : trace::ToOtlp(source, tree);
  if (Printed* const into = session.printer.into(); into != nullptr) {
    into->text = std::move(text);
  } else {
    std::fprintf(stdout, "%s\n", text.c_str());
  }
  return kExitOk;
}

namespace {

struct HistoryVerbFlags : HistoryFlags {
  void Bind(CLI::App& verb) {
    Take(verb, "--type", type, kind::kText, "Only of this type, for example CreateTable");
    Take(verb, "--table", table, kind::kTable, "Only of this table");
    Take(verb, "--since", since, "WHEN",
         "Only those that ended within this time (90s, 5m, 2h, 1d), or after a time (UTC)");
    Take(verb, "--until", until, "WHEN", "Only those that ended then or earlier");
    Take(verb, "--outcome", outcome, "success|failed", "success or failed")
        ->check(CLI::IsMember({"success", "failed"}));
    TakeWhole(verb, "--limit", limit, kind::kNumber, 1, 100'000, "Maximum number of procedures");
  }
};

struct TraceFlags {
  std::uint64_t pid = 0;
  std::string format = "otlp";

  void Bind(CLI::App& verb) {
    AddPid(verb, pid)->required();
    Take(verb, "--format", format, "otlp|chrome",
         "otlp: for collectors (OTLP/JSON); chrome: for Perfetto and speedscope")
        ->check(CLI::IsMember({"otlp", "chrome"}));
  }
};

}  // namespace

Verbs HistoryVerbs() {
  return {Plain("metrics", "Show counters and durations by procedure type", {"metrics"}, ShowMetrics),
          Verb<HistoryVerbFlags>(
              "history", "Show procedures that have ended, also under earlier masters, newest first",
              {"history --since 1d", "history --type CreateTable --outcome failed", "history --table t --limit 20"},
              ShowHistory),
          Verb<TraceFlags>("trace", "Print a procedure and all its descendants as a trace",
                           {"trace 17 >trace.json", "trace 17 --format chrome >trace.json"},
                           [](Session& session, const TraceFlags& flags) {
                             return ShowTrace(session, flags.pid,
                                              flags.format == "chrome" ? TraceFormat::kChrome : TraceFormat::kOtlp);
                           })};
}

}  // namespace ratchet::cli
