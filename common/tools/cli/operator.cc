// An operator's verbs: abort, bypass, park, unpark and rerun a procedure; pauses; locks.
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/client/retry_loop.h"
#include "common/model/codec.h"
#include "common/model/proto/operator.pb.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/lock_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/suggest.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

constexpr Millis kBeatPeriod{200};
constexpr const char* kLockType = "LockProcedure";

struct NoteFlags {
  std::string who;  // empty: the user of the connection
  std::string why;
};

void AddNote(CLI::App& verb, NoteFlags& note) {
  Take(verb, "--who", note.who, kind::kText,
       "Recorded after the user of the connection, as the name that the operator gives");
  Take(verb, "--why", note.why, kind::kText, "Recorded as the reason");
}

void FillNote(const NoteFlags& flags, pb::OperatorNote& note) {
  if (!flags.who.empty()) note.set_who(flags.who);
  note.set_why(flags.why);
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

struct OnOneFlags {
  NoteFlags note;
  std::uint64_t pid = 0;
  bool recursive = false;
  bool yes = false;  // a bypass does not ask for confirmation on a terminal
  std::string step;

  void Bind(CLI::App& verb) {
    AddNote(verb, note);
    AddPid(verb, pid)->required();
  }
};
struct BypassFlags : OnOneFlags {
  void Bind(CLI::App& verb) {
    OnOneFlags::Bind(verb);
    verb.add_flag("--recursive", recursive, "Its unfinished children too");
    AddYes(verb, yes);
  }
};
struct RerunFlags : OnOneFlags {
  void Bind(CLI::App& verb) {
    OnOneFlags::Bind(verb);
    Need(verb, "--step", step, "STEP", "Name or number of the state");
  }
};

template <pb::ProcedureVerbRequest::Verb verb>
Result<int> ActOnProcedure(Session& session, const OnOneFlags& flags) {
  if (verb == pb::ProcedureVerbRequest::BYPASS &&
      !Confirmed(
          fmt::format("End procedure {} without its remaining steps, and leave the cluster as it is?", flags.pid),
          flags.yes)) {
    return kExitFailed;
  }
  pb::ProcedureVerbRequest request;
  request.set_verb(verb);
  request.set_pid(flags.pid);
  request.set_recursive(flags.recursive);
  request.set_step(flags.step);
  FillNote(flags.note, *request.mutable_note());
  auto answer = session.admin.Call(methods::kProcedureVerb, request);
  if (!answer.ok()) {  // for an unknown or finished pid every verb prints the same error
    const auto known = LookAt(session.admin, flags.pid);
    if (!known.ok() && known.error().code() == Code::kNotFound) return known.error();
    if (known.ok() && known->finished()) return Finished(flags.pid);
    return answer.error();
  }
  std::string word = pb::ProcedureVerbRequest::Verb_Name(verb);
  for (char& letter : word) letter = static_cast<char>(std::tolower(letter));
  session.printer.Object({{"pid", Number(flags.pid)}, {"done", word}});
  return kExitOk;
}

struct PauseFlags {
  NoteFlags note;
  // A pid; "everything"; "ordinary"; "type NAME"; "table NAME" and the other resources.
  std::vector<std::string> what;
  std::int64_t wait_ms = 10'000;
};

void AddScope(CLI::App& verb, PauseFlags& flags) {
  AddNote(verb, flags.note);
  Need(verb, "what", flags.what, kind::kScope,
       "A pid; everything; ordinary (all except crash handling); type NAME; "
       "table|region|namespace|server NAME; meta")
      ->expected(1, 2);
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

template <class Pids>
std::string PidListText(const Pids& pids) {
  std::string text;
  for (const auto pid : pids) text += (text.empty() ? "" : " ") + std::to_string(pid);
  return text;
}

// Exit code 4: some steps still run.
Result<int> PauseProcedures(Session& session, const PauseFlags& flags) {
  RATCHET_ASSIGN(auto scope, ScopeOf(session.admin, flags.what));
  pb::PauseRequest request;
  *request.mutable_scope() = scope;
  FillNote(flags.note, *request.mutable_note());
  request.set_patience_ms(static_cast<std::uint64_t>(flags.wait_ms));
  auto answer = session.admin.Call(methods::kPause, request);
  if (!answer.ok()) {
    const auto table = flags.what.size() == 2 && flags.what.front() == "table" ? TableName::Parse(flags.what.back())
                                                                               : Result<TableName>(TableName());
    return ReportOnTable(session, answer.error(), table.ok() ? *table : TableName());
  }
  session.printer.Object({{"paused", true},
                          {"still running", PidListText(answer->running())},
                          {"waiting outside", PidListText(answer->waiting_outside())}});
  return answer->running_size() == 0 ? kExitOk : kExitTimeout;
}

struct PauseVerbFlags : PauseFlags {
  void Bind(CLI::App& verb) {
    AddScope(verb, *this);
    TakeWhole(verb, "--wait-ms", wait_ms, kind::kMillis, 0, 3'600'000, "How long to wait for running steps");
  }
};

Result<int> ResumeProcedures(Session& session, const PauseFlags& flags) {
  RATCHET_ASSIGN(auto scope, ScopeOf(session.admin, flags.what));
  pb::ResumeRequest request;
  *request.mutable_scope() = scope;
  FillNote(flags.note, *request.mutable_note());
  RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kResume, request));
  session.printer.Object({{"resumed", true}});
  return kExitOk;
}

struct ResumeFlags : PauseFlags {
  void Bind(CLI::App& verb) { AddScope(verb, *this); }
};

}  // namespace

Result<int> ShowPauses(Session& session, bool log) {
  RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kListPauses, pb::ListPausesRequest()));
  std::vector<std::vector<Field>> rows;
  if (log) {
    for (const auto& change : answer.change()) {
      rows.push_back({TimeText(change.at_wall_ms()), change.resume() ? "resume" : "pause", change.what(), change.who(),
                      change.why()});
    }
    session.printer.Table({"TIME", "VERB", "WHAT", "OPERATOR", "REASON"}, rows);
    return kExitOk;
  }
  for (const auto& pause : answer.pause())
    rows.push_back({pause.what(), pause.who(), pause.why(), TimeText(pause.at_wall_ms())});
  session.printer.Table({"PAUSED", "OPERATOR", "REASON", "SINCE"}, rows);
  return kExitOk;
}

namespace {

struct PausesFlags {
  bool log = false;

  void Bind(CLI::App& verb) { verb.add_flag("--log", log, "Show the newest pauses and resumes instead"); }
};

Result<int> ReleaseLock(Session& session, std::uint64_t pid) {
  RATCHET_ASSIGN(const auto known, LookAt(session.admin, pid));
  if (known.type() != kLockType) {
    return Error(Code::kFailedPrecondition,
                 fmt::format("pid {} is not a lock: it is a {} procedure (see: ratchet locks)", pid, known.type()));
  }
  if (known.finished()) return Finished(pid);
  hbase::pb::LockHeartbeatRequest beat;
  beat.set_proc_id(pid);
  beat.set_keep_alive(false);
  RATCHET_TRY(session.admin.Call(methods::kLockHeartbeat, beat));
  session.printer.Note("released");
  return kExitOk;
}

struct UnlockFlags {
  std::uint64_t pid = 0;

  void Bind(CLI::App& verb) { AddPid(verb, pid)->required(); }
};

struct LockFlags {
  std::string target;  // a table, or with `is_namespace` a namespace
  bool is_namespace = false;
  bool shared = false;
  std::string who;  // empty: only the connection's user
  std::string why;
  std::int64_t hold_ms = 0;  // 0: until this process ends

  void Bind(CLI::App& verb) {
    Need(verb, "table", target, kind::kTable, "Table, or with --namespace a namespace");
    verb.add_flag("--namespace", is_namespace, "The name is that of a namespace");
    verb.add_flag("--shared", shared, "Shared instead of exclusive");
    Take(verb, "--who", who, kind::kText,
         "Recorded after the user of the connection, who holds the lock, as the name that the operator gives");
    Take(verb, "--why", why, kind::kText, "Recorded, and shown with each waiter");
    TakeWhole(verb, "--hold-ms", hold_ms, kind::kMillis, 0, 2'000'000'000,
              "Release the lock after this time; 0: hold it until the command ends");
  }
};

Result<int> HoldLock(Session& session, const LockFlags& flags) {
  hbase::pb::LockRequest request;
  request.set_lock_type(flags.shared ? hbase::pb::SHARED : hbase::pb::EXCLUSIVE);
  if (flags.is_namespace) {
    RATCHET_TRY(RequireNamespace(session, flags.target));
    request.set_namespace_(flags.target);
  } else {
    RATCHET_ASSIGN(auto table, TableName::Parse(flags.target));
    if (const Status there = RequireTable(session, table); !there.ok())
      return ReportOnTable(session, there.error(), table);
    ToProto(table, *request.mutable_table_name());
  }
  request.set_description(flags.who.empty() ? flags.why : fmt::format("says to be {}: {}", flags.who, flags.why));
  request.set_nonce_group(session.connection.nonce_group());
  request.set_nonce(session.connection.NewNonce());
  session.connection.activity().Submitting({request.nonce_group(), request.nonce()});
  RATCHET_ASSIGN(auto asked, session.admin.Call(methods::kRequestLock, request));
  client::StopSignal pacer;
  hbase::pb::LockHeartbeatRequest beat;
  beat.set_proc_id(asked.proc_id());
  bool held = false;
  Millis left(flags.hold_ms);
  while (true) {
    RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kLockHeartbeat, beat));
    const bool locked = answer.lock_status() == hbase::pb::LockHeartbeatResponse::LOCKED;
    if (locked && !held) session.printer.Object({{"pid", Number(asked.proc_id())}, {"locked", flags.target}});
    if (held && !locked) {
      return Error(Code::kAborted, "the lock is gone: it was released, or no heartbeat arrived in time");
    }
    held = locked;
    if (held && flags.hold_ms > 0 && left <= Millis{0}) return ReleaseLock(session, asked.proc_id());
    Millis pause = held ? Millis(std::max<std::int64_t>(50, answer.timeout_ms() / 4)) : kBeatPeriod;
    if (held && flags.hold_ms > 0) pause = std::min(pause, left);
    if (held) left -= pause;
    if (!pacer.Sleep(pause)) return kExitOk;
  }
}

}  // namespace

Verbs OperatorVerbs() {
  using Request = pb::ProcedureVerbRequest;
  return {
      Verb<OnOneFlags>("abort", "Undo a procedure, where that is still possible", {"abort 17 --why 'wrong table'"},
                       ActOnProcedure<Request::ABORT>),
      Verb<BypassFlags>(
          "bypass", "End a procedure and its parents without their remaining steps; the cluster is left as it is",
          {"bypass 17 --recursive --why 'its server is permanently gone'"}, ActOnProcedure<Request::BYPASS>),
      Verb<OnOneFlags>("park", "Run no step of a procedure until it is unparked; its children continue",
                       {"park 17 --why 'to look'"}, ActOnProcedure<Request::PARK>),
      Verb<OnOneFlags>("unpark", "Continue a parked procedure", {"unpark 17"}, ActOnProcedure<Request::UNPARK>),
      Verb<RerunFlags>("rerun", "Continue a procedure from another state", {"rerun 17 --step ADD_TO_META"},
                       ActOnProcedure<Request::RERUN>),
      Verb<PauseVerbFlags>("pause", "Pause procedures until `resume`, also after a failover; wait for running steps",
                           {"pause table t --why 'night shift'", "pause everything", "pause type CreateTable",
                            "pause region 56f9", "pause 17"},
                           PauseProcedures),
      Verb<ResumeFlags>("resume", "Remove a pause", {"resume table t", "resume everything"}, ResumeProcedures),
      Verb<PausesFlags>("pauses", "List the active pauses with user and reason", {"pauses", "pauses --log"},
                        [](Session& session, const PausesFlags& flags) { return ShowPauses(session, flags.log); }),
      Verb<LockFlags>("lock", "Hold a lock on a table for as long as this command runs",
                      {"lock t --why backup", "lock ns --namespace --shared --hold-ms 60000"}, HoldLock),
      Verb<UnlockFlags>("unlock", "Release a lock by the pid of its procedure", {"unlock 17"},
                        [](Session& session, const UnlockFlags& flags) { return ReleaseLock(session, flags.pid); })};
}

}  // namespace ratchet::cli
