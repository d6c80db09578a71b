// The reconciler's sweep in two parts: TakeSweepSnapshot reads facts from the master's parts, and Diff returns the
// repairs that follow from them. Diff is pure: it reads no clock, calls no part and changes nothing, so that a test
// gives it any snapshot. RepairRunner runs the repairs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/base/strong_id.h"
#include "common/model/region_info.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"
#include "master/cluster/membership.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/table_directory.h"
#include "procedure/api/procedure.h"

namespace ratchet::master {

struct MasterEnv;
class OnlineWatch;

// The inconsistency that a repair removes. Becomes a ReconcilerFinding.
struct Finding {
  ServerName server;    // without a host if no server is concerned
  std::string encoded;  // empty if no single region is concerned
  std::string what;     // the inconsistency and the repair; empty: the repair is only logged
};

struct SweepSnapshot {
  struct Server {
    bool known = false;
    SettlementState settlement = SettlementState::kAwait;       // of orders about ordinary regions
    SettlementState meta_settlement = SettlementState::kAwait;  // of orders about hbase:meta
  };
  struct Table {
    TableNode node;
    std::optional<TableLockGrant> grant;
  };

  TimePoint now{};
  Millis grace{};                        // a state that changed more recently is left alone
  std::set<ProcId> running;              // unfinished procedures, of all that the facts below name
  std::vector<ProcId> slots;             // holders of slots for splitting logs
  std::vector<RegionNode> owned;         // some regions that procedures own
  std::map<ServerName, Server> servers;  // locations of hbase:meta and of `unsettled`
  // hbase:meta
  bool meta_is_being_created = false;  // by an InitMeta
  bool meta_was_created = false;
  std::optional<RegionNode> meta;
  // All of these are empty until hbase:meta is loaded.
  std::map<ServerName, std::vector<RegionNode>> on_unknown_servers;
  // Regions that may be left behind: some that are not at rest, and all of disabled tables with an open region.
  std::vector<RegionNode> unsettled;
  std::vector<Table> unsettled_tables;           // ENABLING, DISABLING, or without a schema
  std::map<TableName, TableState> table_states;  // of the regions in `unsettled`
  std::set<std::string> absent_everywhere;       // encoded names of unplaced regions that no server has
  std::set<std::string> of_reshapes;             // parents and children of unfinished splits and merges
};

// ---- repairs ----

// The holder of a slot for splitting a log has ended.
struct ReleaseSlot {
  ProcId holder;
};
// The owner of a region has ended: a procedure releases its region in its last step, unless an operator ended it
// before.
struct ReleaseRegion {
  RegionNode node;
  Finding finding;
};
struct ExpireServer {
  ServerName server;
  std::string why;
  Finding finding;
};
struct SubmitProcedure {
  std::string key;  // no second procedure for the same key is submitted before the first has ended
  procedure::ProcedurePtr procedure;
  Finding finding;
};
// Descriptors that could not be read are read again; procedures that wait for them then continue.
struct ReadSchemas {
  std::vector<TableName> tables;
};
using Repair = std::variant<ReleaseSlot, ReleaseRegion, ExpireServer, SubmitProcedure, ReadSchemas>;

// Positions at which the next snapshot continues, by encoded name.
struct SweepPositions {
  std::string owned;
  std::string unsettled;
};

// Reads the facts of a bounded number of regions; call before and after hbase:meta is loaded.
[[nodiscard]] SweepSnapshot TakeSweepSnapshot(const MasterEnv& env, OnlineWatch& watch, Millis grace,
                                              SweepPositions* positions);
// In the order in which the repairs must run.
[[nodiscard]] std::vector<Repair> Diff(const SweepSnapshot& snapshot);

}  // namespace ratchet::master
