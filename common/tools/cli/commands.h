// The implementations of the subcommands. Each prints its result and returns an exit code (exit_status.h); errors go to
// stderr.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/client/admin.h"
#include "common/client/connection.h"
#include "common/tools/cli/exit_status.h"
#include "common/tools/cli/printer.h"

namespace ratchet::cli {

// The context of every command.
struct Session {
  client::Connection& connection;
  const Printer printer;
  Millis timeout;
  bool quiet = false;  // no progress is shown
};

// Prints "ratchet: <error>" to stderr (with --json also {"error": ...} to stdout) and returns the error's exit code.
int Report(const Session& session, const Error& error);
// As Report; if the table does not exist the error names the one that was probably meant.
int ReportOnTable(Session& session, const Error& error, const TableName& table);
// An error only when the master reports that the table does not exist; a master that does not answer is not an
// obstacle.
[[nodiscard]] Status RequireTable(Session& session, const TableName& table);
// Does what RequireTable does, for a namespace.
[[nodiscard]] Status RequireNamespace(Session& session, const std::string& name);

// cluster_commands.cc
int ShowStatus(Session& session);
int ShowServers(Session& session);
// Shows what `subject` waits for, down to the cause; empty: the cluster. kExitWaits when something waits.
int ShowWhy(Session& session, const std::vector<std::string>& subject, std::uint64_t limit);
// Shows the findings and actions of the master's reconciler; `look`: it checks now.
int ShowFindings(Session& session, bool look);
// Checks that meta is online, and reads a row through each server that has a region. With a table "ratchet_health" (an
// operator makes it), a put and a get go through the cluster too. Creates nothing and submits nothing.
int CheckHealth(Session& session);

// table_commands.cc
struct CreateFlags {
  std::string table;
  std::vector<std::string> families;    // "f" or "f:VERSIONS=3,TTL=86400"
  std::vector<std::string> split_keys;  // as text (bytes_text.h)
  std::int64_t regions = 0;             // with `split`: number of regions, split evenly; 0: use split_keys
  std::string split = "hex";            // "hex" (keys of 8 hex digits) or "uniform" (first bytes)
  bool wait = true;
};
int CreateTable(Session& session, const CreateFlags& flags);
// Creates an empty table with the schema of another one. `preserve_splits`: its regions have the same keys.
int CloneSchema(Session& session, const std::string& from, const std::string& to, bool preserve_splits, bool wait);
int ListTables(Session& session, bool include_system);
int DescribeTable(Session& session, const std::string& table);
enum class TableVerb { kEnable, kDisable, kDrop, kFlush };
// A drop asks for confirmation on a terminal, unless `yes`.
int ChangeTable(Session& session, TableVerb verb, const std::string& table, bool wait, bool yes);
// Asks for confirmation on a terminal, unless `yes`.
int TruncateTable(Session& session, const std::string& table, bool preserve_splits, bool wait, bool yes);
// `major`: all store files of each region become one.
int CompactTable(Session& session, const std::string& table, bool major, bool wait);

// reshape_commands.cc
// `split_key` as text (bytes_text.h); empty: taken from the data.
int SplitRegion(Session& session, const std::string& region, const std::string& split_key, bool wait);
int TruncateRegion(Session& session, const std::string& region, bool wait, bool yes);
int MergeRegions(Session& session, const std::vector<std::string>& regions, bool wait);

// alter_commands.cc
struct AlterFlags {
  std::string table;
  std::vector<std::string> add;   // families, as for create
  std::vector<std::string> set;   // "f:VERSIONS=3,TTL=86400": these attributes of an existing family
  std::vector<std::string> drop;  // names of families
  bool reopen = true;             // false: each region uses the change the next time that it opens
  bool wait = true;
  bool yes = false;  // otherwise a drop asks for confirmation on a terminal
};
int AlterTable(Session& session, const AlterFlags& flags);
int ShowAlterStatus(Session& session, const std::string& table);
// Prints the pid, or waits for the end and prints `done`.
int FinishOnTable(Session& session, client::Admin& admin, Result<std::uint64_t> pid, bool wait, const TableName& table,
                  const std::string& done);

// row_commands.cc
struct PutFlags {
  std::string table;
  std::string row;
  std::vector<std::string> values;
  std::optional<std::int64_t> timestamp;  // unset: the server's clock
};
int PutRow(Session& session, const PutFlags& flags);
int GetRow(Session& session, const std::string& table, const std::string& row, const std::vector<std::string>& columns,
           std::uint32_t versions);
int DeleteRow(Session& session, const std::string& table, const std::string& row,
              const std::vector<std::string>& columns);
struct ScanFlags {
  std::string table;
  std::string start;
  std::string stop;
  std::string prefix;  // instead of a start and a stop row
  std::vector<std::string> columns;
  std::uint64_t limit = 0;
  std::uint32_t versions = 1;
  bool reversed = false;
  std::string filter;  // in HBase's filter language (filter_text.h); empty: none
  bool count_only = false;
};
int ScanTable(Session& session, const ScanFlags& flags);

// import.cc
struct ImportFlags {
  std::string table;
  std::string file;  // "-": standard input
  std::vector<std::string>
      columns;  // "family:qualifier" of each field; "row" for the row key, "-" to leave a field out
  std::string separator = "\t";
  std::uint64_t batch_rows = 500;
  bool quiet = false;  // no progress bar
};
int ImportRows(Session& session, const ImportFlags& flags);

// region_commands.cc
// Prints the pid, or waits for the end and prints `done`, with the text of the procedure's result.
int FinishAlone(Session& session, client::Admin& admin, const Result<std::uint64_t>& pid, const char* done,
                const std::string& what, bool wait);
// A part of a long list, which is then sorted by table and start key.
struct RegionPart {
  std::uint32_t limit = 0;
  std::uint64_t offset = 0;
};
// `server`: "host,port,startcode"; empty: all servers.
int ShowRegions(Session& session, const std::string& table, bool in_transition_only,
                const std::optional<RegionPart>& part = std::nullopt, const std::string& server = {});
// Shows which region has a row, and where the region is. `row` as text (bytes_text.h).
int LocateRow(Session& session, const std::string& table, const std::string& row);
using client::RegionVerb;
// `region`: encoded name or the beginning of it, or full name. `destination`: "host,port,startcode", "host:port" or
// empty.
int ChangeRegion(Session& session, RegionVerb verb, const std::string& region, const std::string& destination,
                 bool wait);
// Opens the region again, so that it applies the edits that are kept for it in quarantine.
int PutBackEdits(Session& session, const std::string& region, bool wait);
// Both lose rows permanently, or accept that rows are lost: only with `yes`.
int GiveUpRegion(Session& session, const std::string& region, bool yes, bool wait);
int FillHoles(Session& session, const std::string& table, bool yes, bool wait);

// server_commands.cc
// `server`: "host,port,startcode" or "host:port". `and_stop`: the server stops when no region is left.
int DrainServer(Session& session, const std::string& server, bool and_stop, bool wait);
// `regions`: encoded names, or the beginnings of them; they are moved to the server.
int UndrainServer(Session& session, const std::string& server, const std::vector<std::string>& regions, bool wait);
int ShowDrained(Session& session);
// Moves regions so that each server has its share; `dry_run`: only prints how many regions would move.
int Balance(Session& session, bool dry_run);
// `to`: "on", "off", or empty: only shows the state.
int SwitchBalancer(Session& session, const std::string& to);

// peer_commands.cc
struct PeerFlags {
  std::vector<std::string> namespaces;
  std::vector<std::string> tables;  // "t" or "t=f,g"
  std::vector<std::string> without_namespaces;
  std::vector<std::string> without_tables;
  bool all = false;
  bool disabled = false;
  std::optional<bool> serial;
  std::optional<std::int64_t> bandwidth;
  bool wait = true;
};
enum class PeerVerb { kRemove, kEnable, kDisable };
int ListPeers(Session& session);
int DescribePeer(Session& session, const std::string& id);
int AddPeer(Session& session, const std::string& id, const std::string& cluster_key, const PeerFlags& flags);
int AlterPeer(Session& session, const std::string& id, const PeerFlags& flags);
int ChangePeer(Session& session, PeerVerb verb, const std::string& id, bool wait);

// namespace_commands.cc
// `properties`, `set`: "KEY=VALUE".
int CreateNamespace(Session& session, const std::string& name, const std::vector<std::string>& properties, bool wait);
int AlterNamespace(Session& session, const std::string& name, const std::vector<std::string>& set,
                   const std::vector<std::string>& unset, bool wait);
int DropNamespace(Session& session, const std::string& name, bool wait);
int DescribeNamespace(Session& session, const std::string& name);
int ListNamespaces(Session& session);

// switch_commands.cc
// `to`: "on", "off", or empty: only shows the state. An empty `name`: all. `wait`: for splits and merges in progress.
int Normalize(Session& session);
int Switch(Session& session, const std::string& name, const std::string& to, bool wait);

// procedure_commands.cc
struct ListFlags {
  bool include_finished = false;
  bool wide = false;            // long texts in full
  std::uint32_t most = 10'000;  // maximum number of procedures in the master's answer
};
int ShowProcedures(Session& session, const ListFlags& flags);
int ShowProcedure(Session& session, std::uint64_t pid);
int ShowLocks(Session& session);
int WaitForProcedure(Session& session, std::uint64_t pid);

// operator_commands.cc
struct NoteFlags {
  std::string who;  // empty: the user of the connection
  std::string why;
};
// `what`: a pid; "everything"; "ordinary"; "type NAME"; "table NAME" and the other resources. Exit code 4: some steps
// still run.
int PauseProcedures(Session& session, const std::vector<std::string>& what, const NoteFlags& note,
                    std::int64_t wait_ms);
int ResumeProcedures(Session& session, const std::vector<std::string>& what, const NoteFlags& note);
// `log`: shows recent pauses and resumes with their users, instead of the active pauses.
int ShowPauses(Session& session, bool log);
struct VerbFlags {
  std::string verb;  // "abort", "bypass", "park", "unpark", "rerun"
  std::uint64_t pid = 0;
  bool recursive = false;
  bool yes = false;  // a bypass does not ask for confirmation on a terminal
  std::string step;
};
int ActOnProcedure(Session& session, const VerbFlags& flags, const NoteFlags& note);
struct LockFlags {
  std::string target;  // a table, or with `is_namespace` a namespace
  bool is_namespace = false;
  bool shared = false;
  std::string who;  // empty: only the connection's user
  std::string why;
  std::int64_t hold_ms = 0;  // 0: until this process ends
};
int HoldLock(Session& session, const LockFlags& flags);
int ReleaseLock(Session& session, std::uint64_t pid);
struct EventFlags {
  std::uint64_t root = 0;  // only of this tree; 0: of all
  bool follow = false;
  std::optional<std::uint64_t> newest;  // begin with this number of events
  std::string since;                    // "5m" or a time; empty: unbounded
};
int ShowEvents(Session& session, const EventFlags& flags);
int ShowMetrics(Session& session);

// history_commands.cc
struct HistoryFlags {
  std::string type;
  std::string table;
  std::string since;    // "5m" or a time; empty: unbounded
  std::string until;    // likewise
  std::string outcome;  // "success", "failed"; empty: both
  std::uint32_t limit = 1000;
};
// Procedures that have ended, the newest first.
int ShowHistory(Session& session, const HistoryFlags& flags);
enum class TraceFormat : std::uint8_t { kOtlp, kChrome };
// The tree of a procedure as a trace, also after its end.
int ShowTrace(Session& session, std::uint64_t pid, TraceFormat format = TraceFormat::kOtlp);

// sql_commands.cc
struct SqlFlags {
  std::string statement;  // one SELECT, ".schema" or ".schema TABLE"
  bool csv = false;
};
int RunSql(Session& session, const SqlFlags& flags);

}  // namespace ratchet::cli
