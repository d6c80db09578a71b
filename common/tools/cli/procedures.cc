// Verbs that show procedures and their locks.
#include <algorithm>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/printer.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

std::string StateText(const pb::ProcedureInfo& procedure) {
  std::string text = procedure.state();
  if (!procedure.step().empty()) text += ":" + procedure.step();
  if (procedure.parked()) text += " (parked)";
  if (procedure.bypassed()) text += " (bypassed)";
  if (procedure.has_paused()) text += " (paused)";
  return text;
}

Field AgeOf(const pb::ProcedureInfo& procedure, std::int64_t now) {
  const std::int64_t end = procedure.finished() ? static_cast<std::int64_t>(procedure.updated_wall_ms()) : now;
  return Span{std::max<std::int64_t>(0, end - static_cast<std::int64_t>(procedure.submitted_wall_ms()))};
}

// `longest`: maximum width of the free texts, in columns; 0: unlimited.
std::vector<Field> RowOf(const pb::ProcedureInfo& procedure, std::int64_t now, std::size_t longest) {
  const auto text = [&](const std::string& whole) { return TextOrNull(Shortened(whole, longest)); };
  return {Number(procedure.pid()),
          procedure.has_parent() ? Number(procedure.parent()) : Field(),
          procedure.type(),
          StateText(procedure),
          AgeOf(procedure, now),
          TextOrNull(procedure.owner()),
          TimeText(static_cast<std::int64_t>(procedure.submitted_wall_ms())),
          Number(procedure.attempt()),
          text(procedure.waits_for()),
          text(procedure.last_error()),
          text(procedure.text())};
}

const std::vector<std::string>& Headers() {
  static const std::vector<std::string> headers = {"PID",       "PARENT",  "TYPE",      "STATE",      "AGE", "OWNER",
                                                   "SUBMITTED", "ATTEMPT", "WAITS FOR", "LAST ERROR", "TEXT"};
  return headers;
}

// Prints procedures for people: empty columns are left out, and a terminal's lines end at its edge.
void PrintProcedures(const Session& session, const google::protobuf::RepeatedPtrField<pb::ProcedureInfo>& procedures,
                     bool wide) {
  constexpr std::size_t kTextColumns = 48;
  const std::int64_t now = SystemClock().WallMillis();
  const bool json = session.printer.json();
  std::vector<std::vector<Field>> rows;
  for (const auto& procedure : procedures) rows.push_back(RowOf(procedure, now, json || wide ? 0 : kTextColumns));
  std::vector<std::string> headers = Headers();
  for (std::size_t column = headers.size(); !json && !rows.empty() && column-- > 0;) {
    const auto silent = [&](const std::vector<Field>& row) { return FieldText(row[column]) == "-"; };
    if (!std::all_of(rows.begin(), rows.end(), silent)) continue;
    headers.erase(headers.begin() + static_cast<std::ptrdiff_t>(column));
    for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
  session.printer.Table(headers, rows, true, !wide);
}

template <class List>
Field Texts(const List& list) {
  return std::vector<std::string>(list.begin(), list.end());
}

template <class Pids>
std::string PidsText(const Pids& pids) {
  std::string text;
  for (const auto pid : pids) text += (text.empty() ? "" : " ") + std::to_string(pid);
  return text;
}

// Several procedures hold a lock exclusively only as members of one tree.
template <class Pids>
Field Holders(const Pids& pids) {
  return pids.size() == 1 ? Number(*pids.begin()) : TextOrNull(PidsText(pids));
}

}  // namespace

Result<int> ShowProcedures(Session& session, const ListFlags& flags) {
  pb::ListProceduresRequest request;
  request.set_include_finished(flags.include_finished);
  request.set_limit(flags.most);
  RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kListProcedures, request));
  PrintProcedures(session, answer.procedure(), flags.wide);
  if (answer.truncated()) session.printer.Note("... and more");
  return kExitOk;
}

Result<int> ShowProcedure(Session& session, std::uint64_t pid) {
  pb::GetProcedureRequest request;
  request.set_pid(pid);
  RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kGetProcedure, request));
  if (!answer.has_procedure()) {
    return Error(Code::kNotFound, fmt::format("procedure {} is not known", pid));
  }
  const auto& procedure = answer.procedure();
  std::vector<Section> sections;
  if (session.printer.json() || answer.tree_size() > 1) {
    sections.push_back({"tree", "Tree:", Headers(), {}});
    for (const auto& member : answer.tree())
      sections.back().rows.push_back(RowOf(member, SystemClock().WallMillis(), 0));
  }
  sections.push_back({"history", "History:", {"STEP", "EPOCH", "WORKER", "BEGAN", "US", "OUTCOME", "DETAIL"}, {}});
  std::uint32_t shown = 0;
  for (const auto& step : procedure.history()) {
    if (shown++ == procedure.history_first() && procedure.history_left_out() > 0 && !session.printer.json()) {
      sections.back().rows.push_back({std::string("..."), Field(), Field(), Field(), Field(), Field(),
                                      fmt::format("{} steps left out", procedure.history_left_out())});
    }
    sections.back().rows.push_back({step.step(), Number(step.epoch()), Number(step.worker()),
                                    TimeText(static_cast<std::int64_t>(step.began_wall_ms())), Number(step.took_us()),
                                    step.outcome(), TextOrNull(step.detail())});
  }
  if (session.printer.json() || procedure.verb_size() > 0) {
    sections.push_back({"verbs", "Operators:", {"VERB", "OPERATOR", "REASON", "TIME"}, {}});
    for (const auto& verb : procedure.verb()) {
      sections.back().rows.push_back({verb.verb(), verb.who(), verb.why(), TimeText(verb.at_wall_ms())});
    }
  }
  session.printer.Document({{"pid", Number(procedure.pid())},
                            {"parent", procedure.has_parent() ? Number(procedure.parent()) : Field()},
                            {"type", procedure.type()},
                            {"state", StateText(procedure)},
                            {"text", procedure.text()},
                            {"owner", TextOrNull(procedure.owner())},
                            {"peer", TextOrNull(procedure.peer())},
                            {"method", TextOrNull(procedure.method())},
                            {"submitted", TimeText(static_cast<std::int64_t>(procedure.submitted_wall_ms()))},
                            {"updated", TimeText(static_cast<std::int64_t>(procedure.updated_wall_ms()))},
                            {"waits for", TextOrNull(procedure.waits_for())},
                            {"wait chain", Texts(answer.wait_chain())},
                            {"locks", Texts(procedure.locks())},
                            {"paused", TextOrNull(procedure.paused())},
                            {"attempt", Number(procedure.attempt())},
                            {"last error", TextOrNull(procedure.last_error())},
                            {"next try in ms", procedure.has_next_try_ms() ? Number(procedure.next_try_ms()) : Field()},
                            {"error", TextOrNull(procedure.error())},
                            {"steps left out", Number(procedure.history_left_out())}},
                           sections);
  return kExitOk;
}

Result<int> ShowLocks(Session& session) {
  RATCHET_ASSIGN(auto answer, session.admin.Call(methods::kListLocks, pb::ListLocksRequest()));
  std::vector<std::vector<Field>> rows;
  for (const auto& lock : answer.lock()) {
    rows.push_back({lock.resource(), Holders(lock.exclusive_holder()), TextOrNull(PidsText(lock.shared_holder())),
                    TextOrNull(PidsText(lock.waiter()))});
  }
  const Section locks{"locks", "", {"RESOURCE", "EXCLUSIVE", "SHARED", "WAITING"}, std::move(rows)};
  Section limits{"limits", "Limits:", {"RESOURCE", "LIMIT", "RUNNING", "WAITING"}, {}};
  for (const auto& limit : answer.limit()) {
    limits.rows.push_back(
        {limit.resource(), Number(limit.limit()), PidsText(limit.running()), PidsText(limit.waiter())});
  }
  if (session.printer.json()) {
    session.printer.Document({{"wait chains", Texts(answer.wait_chain())}, {"cycles", Texts(answer.cycle())}},
                             {locks, limits});
    return kExitOk;
  }
  session.printer.Document({}, {locks});
  if (!limits.rows.empty()) session.printer.Document({}, {limits});
  for (const auto& chain : answer.wait_chain()) session.printer.Note(chain);
  for (const auto& cycle : answer.cycle()) session.printer.Note("CYCLE (a defect): " + cycle);
  return kExitOk;
}

namespace {

struct ProceduresFlags : ListFlags {
  void Bind(CLI::App& verb) {
    verb.add_flag("--all", include_finished, "Finished ones too");
    verb.add_flag("--wide", wide, "Show long texts in full");
  }
};

struct PidFlag {
  std::uint64_t pid = 0;

  void Bind(CLI::App& verb) { AddPid(verb, pid)->required(); }
};

Result<int> WaitForProcedure(Session& session, const PidFlag& flags) {
  RATCHET_ASSIGN(auto outcome, session.admin.Wait(flags.pid));
  if (outcome.error) return *outcome.error;
  session.printer.Object({{"pid", Number(flags.pid)}, {"succeeded", true}});
  return kExitOk;
}

}  // namespace

Verbs ProcedureVerbs() {
  return {
      Verb<ProceduresFlags>("procedures", "List procedures: age, state, step, what they wait for",
                            {"procedures", "procedures --all --wide"}, ShowProcedures),
      Plain("locks", "List locks, holders, waiters and wait chains", {"locks"}, ShowLocks),
      Verb<PidFlag>("procedure", "Show one procedure: state, tree, wait chain, step history", {"procedure 17"},
                    [](Session& session, const PidFlag& flags) { return ShowProcedure(session, flags.pid); }),
      Verb<PidFlag>("wait", "Wait until a procedure has ended; fails when it failed", {"wait 17"}, WaitForProcedure)};
}

}  // namespace ratchet::cli
