// The commands that show something, and that the page's JSON views (common/ops/api) run too. Each is implemented in the
// file of its topic, prints its result, and returns an exit code, or an error for Report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/tools/cli/session.h"

namespace ratchet::cli {

// status.cc, health.cc
Result<int> ShowStatus(Session& session);
Result<int> ShowServers(Session& session);
// Shows the findings and actions of the master's reconciler; `look`: it checks now.
Result<int> ShowFindings(Session& session, bool look);
// why.cc. Shows what `subject` waits for, down to the cause; empty: the cluster. kExitWaits when something waits.
Result<int> ShowWhy(Session& session, const std::vector<std::string>& subject, std::uint64_t limit);

// tables.cc
Result<int> ListTables(Session& session, bool include_system);
Result<int> DescribeTable(Session& session, const std::string& table);

// regions.cc
// A part of a long list, which is then sorted by table and start key.
struct RegionPart {
  std::uint32_t limit = 0;
  std::uint64_t offset = 0;
};
// `server`: "host,port,startcode"; empty: all servers.
Result<int> ShowRegions(Session& session, const std::string& table, bool in_transition_only,
                        const std::optional<RegionPart>& part = std::nullopt, const std::string& server = {});

// servers.cc, peers.cc, namespaces.cc, snapshots.cc
Result<int> ShowDrained(Session& session);
Result<int> ListPeers(Session& session);
Result<int> ListNamespaces(Session& session);
Result<int> ListSnapshots(Session& session);
// switches.cc
Result<int> ShowSwitches(Session& session);

// procedures.cc
struct ListFlags {
  bool include_finished = false;
  bool wide = false;            // long texts in full
  std::uint32_t most = 10'000;  // maximum number of procedures in the master's answer
};
Result<int> ShowProcedures(Session& session, const ListFlags& flags);
Result<int> ShowProcedure(Session& session, std::uint64_t pid);
Result<int> ShowLocks(Session& session);

// operator.cc
// `log`: shows recent pauses and resumes with their users, instead of the active pauses.
Result<int> ShowPauses(Session& session, bool log);

// events.cc
struct EventFlags {
  std::uint64_t root = 0;  // only of this tree; 0: of all
  bool follow = false;
  std::optional<std::uint64_t> newest;  // begin with this number of events
  std::string since;                    // "5m" or a time; empty: unbounded
};
Result<int> ShowEvents(Session& session, const EventFlags& flags);

// history.cc
Result<int> ShowMetrics(Session& session);
struct HistoryFlags {
  std::string type;
  std::string table;
  std::string since;    // "5m" or a time; empty: unbounded
  std::string until;    // likewise
  std::string outcome;  // "success", "failed"; empty: both
  std::uint32_t limit = 1000;
};
// Procedures that have ended, the newest first.
Result<int> ShowHistory(Session& session, const HistoryFlags& flags);
enum class TraceFormat : std::uint8_t { kOtlp, kChrome };
// The tree of a procedure as a trace, also after its end.
Result<int> ShowTrace(Session& session, std::uint64_t pid, TraceFormat format = TraceFormat::kOtlp);

// sql.cc
struct SqlFlags {
  std::string statement;  // one SELECT, ".schema" or ".schema TABLE"
  bool csv = false;
};
Result<int> RunSql(Session& session, const SqlFlags& flags);

}  // namespace ratchet::cli
