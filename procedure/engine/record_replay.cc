// ReplayRecords of api/offline_store.h.
#include <utility>

#include <fmt/format.h>

#include "procedure/api/offline_store.h"
#include "procedure/core/author_object.h"

namespace ratchet::procedure {
namespace {

// Empty: the history agrees with the table.
std::string WrongPast(const Procedure& procedure, const std::vector<StepHistoryEntry>& past) {
  for (const StepHistoryEntry& entry : past) {
    const StepRow* row = procedure.FindRow(entry.step);
    if (row == nullptr)
      return fmt::format("its history has the state {}, which its step table does not have", entry.step);
    const bool undone = entry.outcome == OutcomeKind::kUndone || entry.outcome == OutcomeKind::kUndoFailed;
    if (undone && row->undo != UndoKind::kCall)
      return fmt::format("its history has an undo of {}, which has none: was the state {} renumbered?", row->name,
                         entry.step);
  }
  return {};
}

class Replay {
 public:
  Replay(const ProcedureRegistry& registry, ReplayReport& report) : registry_(registry), report_(report) {}

  void Take(const ProcedureUpsert& stored) {
    ++report_.records;
    const Result<DecodedRecord> decoded = DecodeRecord(stored.bytes);
    if (!decoded.ok()) {
      ++report_.unfinished;  // no end is recorded
      return Add({stored.pid, "", "its record cannot be read: " + decoded.error().message(), true});
    }
    const auto& [id, durable] = *decoded;
    const bool ended = IsTerminal(durable.state);
    if (!ended) ++report_.unfinished;
    const std::vector<StepHistoryEntry> past = durable.history.Entries();
    report_.steps += past.size();
    const UsableRecord usable = UseRecord(registry_, id, durable);
    if (!usable.wrong.empty()) return Add({stored.pid, id.type, usable.wrong, !ended});
    if (std::string wrong = WrongPast(*usable.procedure, past); !wrong.empty())
      Add({stored.pid, id.type, std::move(wrong), false});
  }

 private:
  void Add(ReplayFinding finding) {
    ++(finding.would_park ? report_.parked : report_.told_wrongly);
    if (report_.findings.size() < kMostFindings) report_.findings.push_back(std::move(finding));
  }

  const ProcedureRegistry& registry_;
  ReplayReport& report_;
};

}  // namespace

ReplayReport ReplayRecords(const ProcedureRegistry& registry, const OfflineStore& store) {
  ReplayReport report;
  Replay replay(registry, report);
  for (const ProcedureUpsert& record : store.records) replay.Take(record);
  return report;
}

}  // namespace ratchet::procedure
