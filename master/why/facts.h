// The facts from which a master answers "why does it wait?": those about its procedures (procedure/ops/why/facts.h),
// and those about servers, regions, tables and the master itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/strong_id.h"
#include "common/model/why_cause.h"
#include "procedure/ops/why/facts.h"

namespace ratchet::master {

// All ages are in ms.
struct WhyServer {
  bool online = true;                     // false: marked crashed
  std::optional<std::int64_t> silent_ms;  // since its last heartbeat; nullopt: it has sent none to this master
  ProcId crash_procedure;                 // of a server that is not online
  std::optional<std::int64_t> storage_hangs_ms;
  std::optional<std::string> lacks_room;
  std::size_t orders = 0;      // queued, or in the request in progress
  std::uint32_t failures = 0;  // consecutive failures to send to it
  std::string last_error;      // the last error of sending to it
};

struct WhyRegion {
  std::string table;
  std::string state;
  std::string server;  // empty: none
  ProcId owner;        // invalid: no procedure works on it
  std::int64_t since_ms = 0;
  bool served = false;   // OPEN on a live server
  bool at_rest = false;  // its state needs no procedure
};

struct WhyTable {
  std::string state;
  bool between = false;         // in state ENABLING or DISABLING
  std::string schema_error;     // its descriptor cannot be read
  bool schema_awaited = false;  // at the moment; the file may be valid
};

// A problem that a monitor of the master found and no procedure shows.
struct WhyProblem {
  WhyCause cause = WhyCause::kDifference;
  std::string text;
  std::string verb;
  std::optional<std::int64_t> age_ms;  // nullopt: its beginning is unknown
};

enum class WhyRole : std::uint8_t { kStandby, kActivating, kActive, kStopping };

struct MasterFacts : host::WhyFacts {
  MasterFacts() { process = "master"; }
  WhyRole role = WhyRole::kActive;
  std::string active_master;                      // as a standby knows it; empty: none
  std::string refused_start;                      // why a master's start was refused; empty: none was
  std::string election_obstacle;                  // why no master can be elected, with the remedy; empty: no obstacle
  std::string step;                               // step of the activation, with details
  std::int64_t step_ms = 0;                       // how long it has lasted
  std::optional<std::int64_t> zookeeper_lost_ms;  // of this master's own connection
  bool meta_loaded = true;
  std::int64_t order_resend_ms = 10'000;
  // The server ("host,port,startcode") from which an order procedure still expects an answer.
  std::map<ProcId, std::string> order_targets;
  std::set<ProcId> transitions;              // procedures that open, close or move one region
  std::map<std::string, WhyServer> servers;  // by "host,port,startcode"
  std::map<std::string, WhyRegion> regions;  // by encoded name; regions that are not served, and hbase:meta
  std::map<std::string, WhyTable> tables;
  std::vector<WhyProblem> problems;
};

}  // namespace ratchet::master
