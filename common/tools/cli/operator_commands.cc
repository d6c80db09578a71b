// An operator's verbs on procedures, and the views that an operator watches.
#include <cctype>
#include <chrono>
#include <cstdio>
#include <utility>

#include "common/client/admin.h"
#include "common/client/retry_loop.h"
#include "common/model/codec.h"
#include "common/model/proto/operator.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/lock_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/suggest.h"
#include "common/tools/cli/targets.h"

namespace ratchet::cli {
namespace {

constexpr Millis kBeatPeriod{200};
constexpr const char* kLockType = "LockProcedure";

void FillNote(const NoteFlags& flags, pb::OperatorNote& note) {
  if (!flags.who.empty()) note.set_who(flags.who);
  note.set_why(flags.why);
}

// "everything", "ordinary", "type CreateTable", "table t", "server h,p,s", ..., "17"
Result<pb::PauseScope> ScopeOf(client::Admin& admin, const std::vector<std::string>& words) {
  static const std::vector<std::string> kinds = {"everything", "ordinary", "type", "table", "region",
                                                 "namespace",  "server",   "peer", "meta",  "cluster"};
  static const std::vector<std::string> named = {"type", "table", "region", "namespace", "server", "peer"};
  pb::PauseScope scope;
  const std::string& first = words.front();
  if (words.size() == 1 && std::find(named.begin(), named.end(), first) != named.end())
    return Error(Code::kInvalidArgument, fmt::format("'{}' needs a name: give {} NAME", first, first));
  if (words.size() == 1 && first == "everything") {
    scope.set_kind(pb::PauseScope::EVERYTHING);
  } else if (words.size() == 1 && first == "ordinary") {
    scope.set_kind(pb::PauseScope::ORDINARY);
  } else if (words.size() == 2 && first == "type") {
    scope.set_kind(pb::PauseScope::TYPE);
    scope.set_type(words[1]);
  } else if (const auto pid = ParseWhole(first, 1, kLargest); words.size() == 1 && pid.ok()) {
    scope.set_kind(pb::PauseScope::PROCEDURE);
    scope.set_pid(*pid);
  } else if (words.size() == 2 && first == "region") {
    RATCHET_ASSIGN(const std::string region, FindRegionResource(admin, words[1]));
    scope.set_kind(pb::PauseScope::RESOURCE);
    scope.set_resource("region " + region);
  } else if ((words.size() == 2 && std::find(kinds.begin(), kinds.end(), first) != kinds.end()) || first == "meta" ||
             first == "cluster") {
    scope.set_kind(pb::PauseScope::RESOURCE);
    scope.set_resource(words.size() == 1 ? first : first + " " + words[1]);
  } else {
    return Error(Code::kInvalidArgument,
                 fmt::format("'{}' cannot be paused{} (use a pid, everything, ordinary, type NAME, or table, "
                             "region, namespace, server, peer NAME, meta, cluster)",
                             first, DidYouMean(first, kinds)));
  }
  return scope;
}

Result<pb::ProcedureInfo> LookAt(client::Admin& admin, std::uint64_t pid) {
  pb::GetProcedureRequest look;
  look.set_pid(pid);
  RATCHET_ASSIGN(auto known, (admin.Call(methods::kGetProcedure, look)));
  if (!known.has_procedure()) return Error(Code::kNotFound, fmt::format("procedure {} is not known", pid));
  return known.procedure();
}

Error Finished(std::uint64_t pid) {
  return {Code::kFailedPrecondition, fmt::format("pid {} has finished (see: ratchet procedure {})", pid, pid)};
}

template <class Pids>
std::string PidListText(const Pids& pids) {
  std::string text;
  for (const auto pid : pids) text += (text.empty() ? "" : " ") + std::to_string(pid);
  return text;
}

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

}  // namespace

int PauseProcedures(Session& session, const std::vector<std::string>& what, const NoteFlags& note,
                    std::int64_t wait_ms) {
  client::Admin admin(session.connection, session.timeout);
  auto scope = ScopeOf(admin, what);
  if (!scope.ok()) return Report(session, scope.error());
  pb::PauseRequest request;
  *request.mutable_scope() = *scope;
  FillNote(note, *request.mutable_note());
  request.set_patience_ms(static_cast<std::uint64_t>(wait_ms));
  auto answer = admin.Call(methods::kPause, request);
  if (!answer.ok()) {
    const auto table =
        what.size() == 2 && what.front() == "table" ? TableName::Parse(what.back()) : Result<TableName>(TableName());
    return ReportOnTable(session, answer.error(), table.ok() ? *table : TableName());
  }
  session.printer.Object({{"paused", true},
                          {"still running", PidListText(answer->running())},
                          {"waiting outside", PidListText(answer->waiting_outside())}});
  return answer->running_size() == 0 ? kExitOk : kExitTimeout;
}

int ResumeProcedures(Session& session, const std::vector<std::string>& what, const NoteFlags& note) {
  client::Admin admin(session.connection, session.timeout);
  auto scope = ScopeOf(admin, what);
  if (!scope.ok()) return Report(session, scope.error());
  pb::ResumeRequest request;
  *request.mutable_scope() = *scope;
  FillNote(note, *request.mutable_note());
  auto answer = admin.Call(methods::kResume, request);
  if (!answer.ok()) return Report(session, answer.error());
  session.printer.Object({{"resumed", true}});
  return kExitOk;
}

int ShowPauses(Session& session, bool log) {
  client::Admin admin(session.connection, session.timeout);
  auto answer = admin.Call(methods::kListPauses, pb::ListPausesRequest());
  if (!answer.ok()) return Report(session, answer.error());
  std::vector<std::vector<Field>> rows;
  if (log) {
    for (const auto& change : answer->change()) {
      rows.push_back({TimeText(change.at_wall_ms()), change.resume() ? "resume" : "pause", change.what(), change.who(),
                      change.why()});
    }
    session.printer.Table({"TIME", "VERB", "WHAT", "OPERATOR", "REASON"}, rows);
    return kExitOk;
  }
  for (const auto& pause : answer->pause())
    rows.push_back({pause.what(), pause.who(), pause.why(), TimeText(pause.at_wall_ms())});
  session.printer.Table({"PAUSED", "OPERATOR", "REASON", "SINCE"}, rows);
  return kExitOk;
}

int ActOnProcedure(Session& session, const VerbFlags& flags, const NoteFlags& note) {
  if (flags.verb == "bypass" &&
      !Confirmed(
          fmt::format("End procedure {} without its remaining steps, and leave the cluster as it is?", flags.pid),
          flags.yes)) {
    return kExitFailed;
  }
  client::Admin admin(session.connection, session.timeout);
  pb::ProcedureVerbRequest request;
  pb::ProcedureVerbRequest::Verb verb;
  std::string name = flags.verb;
  for (char& letter : name) letter = static_cast<char>(std::toupper(letter));
  if (!pb::ProcedureVerbRequest::Verb_Parse(name, &verb)) {
    return Report(session, Error(Code::kInvalidArgument, "no such verb: " + flags.verb));
  }
  request.set_verb(verb);
  request.set_pid(flags.pid);
  request.set_recursive(flags.recursive);
  request.set_step(flags.step);
  FillNote(note, *request.mutable_note());
  auto answer = admin.Call(methods::kProcedureVerb, request);
  if (!answer.ok()) {  // for an unknown or finished pid every verb prints the same error
    const auto known = LookAt(admin, flags.pid);
    if (!known.ok() && known.error().code() == Code::kNotFound) return Report(session, known.error());
    if (known.ok() && known->finished()) return Report(session, Finished(flags.pid));
    return Report(session, answer.error());
  }
  session.printer.Object({{"pid", Number(flags.pid)}, {"done", flags.verb}});
  return kExitOk;
}

int HoldLock(Session& session, const LockFlags& flags) {
  hbase::pb::LockRequest request;
  request.set_lock_type(flags.shared ? hbase::pb::SHARED : hbase::pb::EXCLUSIVE);
  if (flags.is_namespace) {
    if (const Status there = RequireNamespace(session, flags.target); !there.ok())
      return Report(session, there.error());
    request.set_namespace_(flags.target);
  } else {
    auto table = TableName::Parse(flags.target);
    if (!table.ok()) return Report(session, table.error());
    if (const Status there = RequireTable(session, *table); !there.ok())
      return ReportOnTable(session, there.error(), *table);
    ToProto(*table, *request.mutable_table_name());
  }
  request.set_description(flags.who.empty() ? flags.why : fmt::format("by {}: {}", flags.who, flags.why));
  request.set_nonce_group(session.connection.nonce_group());
  request.set_nonce(session.connection.NewNonce());
  session.connection.activity().Submitting({request.nonce_group(), request.nonce()});
  client::Admin admin(session.connection, session.timeout);
  auto asked = admin.Call(methods::kRequestLock, request);
  if (!asked.ok()) return Report(session, asked.error());
  client::StopSignal pacer;
  hbase::pb::LockHeartbeatRequest beat;
  beat.set_proc_id(asked->proc_id());
  bool held = false;
  Millis left(flags.hold_ms);
  while (true) {
    auto answer = admin.Call(methods::kLockHeartbeat, beat);
    if (!answer.ok()) return Report(session, answer.error());
    const bool locked = answer->lock_status() == hbase::pb::LockHeartbeatResponse::LOCKED;
    if (locked && !held) session.printer.Object({{"pid", Number(asked->proc_id())}, {"locked", flags.target}});
    if (held && !locked) {
      return Report(session,
                    Error(Code::kAborted, "the lock is gone: it was released, or no heartbeat arrived in time"));
    }
    held = locked;
    if (held && flags.hold_ms > 0 && left <= Millis{0}) return ReleaseLock(session, asked->proc_id());
    Millis pause = held ? Millis(std::max<std::int64_t>(50, answer->timeout_ms() / 4)) : kBeatPeriod;
    if (held && flags.hold_ms > 0) pause = std::min(pause, left);
    if (held) left -= pause;
    if (!pacer.Sleep(pause)) return kExitOk;
  }
}

int ReleaseLock(Session& session, std::uint64_t pid) {
  client::Admin admin(session.connection, session.timeout);
  const auto known = LookAt(admin, pid);
  if (!known.ok()) return Report(session, known.error());
  if (known->type() != kLockType) {
    return Report(session, Error(Code::kFailedPrecondition,
                                 fmt::format("pid {} is not a lock: it is a {} procedure (see: ratchet locks)", pid,
                                             known->type())));
  }
  if (known->finished()) return Report(session, Finished(pid));
  hbase::pb::LockHeartbeatRequest beat;
  beat.set_proc_id(pid);
  beat.set_keep_alive(false);
  auto answer = admin.Call(methods::kLockHeartbeat, beat);
  if (!answer.ok()) return Report(session, answer.error());
  session.printer.Note("released");
  return kExitOk;
}

int ShowMetrics(Session& session) {
  client::Admin admin(session.connection, session.timeout);
  auto answer = admin.Call(methods::kGetMetrics, pb::GetMetricsRequest());
  if (!answer.ok()) return Report(session, answer.error());
  std::vector<std::vector<Field>> rows;
  for (const auto& type : answer->type()) {
    rows.push_back({type.type(), Number(type.submitted()), Number(type.succeeded()), Number(type.failed()),
                    QuantileText(type, 0.5), QuantileText(type, 0.99), Number(type.hook_errors())});
  }
  session.printer.Table({"TYPE", "SUBMITTED", "SUCCEEDED", "FAILED", "MEDIAN", "P99", "HOOK ERRORS"}, rows);
  session.printer.Note(
      fmt::format("procedure store: {} batches, {} records, {} syncs, {} bytes, {} segments, {} live, {} in flight",
                  answer->store_batches(), answer->store_records(), answer->store_syncs(), answer->store_bytes(),
                  answer->store_segments(), answer->store_live_records(), answer->store_in_flight()));
  return kExitOk;
}

}  // namespace ratchet::cli
