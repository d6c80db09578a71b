// What the answer to "why does it wait?" is made of: a snapshot of values, taken part by part, each under its own lock
// for a moment. Nothing here refers to a running part, so a worker, a disk or a server that hangs does not matter.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/strong_id.h"
#include "procedure/record/inspect.h"

namespace ratchet::host {

// All ages are in ms.
struct WhyServer {
  bool online = true;                     // false: marked crashed
  std::optional<std::int64_t> silent_ms;  // since its last heartbeat; none: it has sent none to this master
  ProcId crash_procedure;                 // of one that is not online
  std::optional<std::int64_t> storage_hangs_ms;
  std::optional<std::string> lacks_room;
  std::size_t orders = 0;      // queued, or in the request under way
  std::uint32_t failures = 0;  // of sending to it, in a row
  std::string last_error;      // of sending to it
};

struct WhyRegion {
  std::string table;
  std::string state;
  std::string server;  // empty: none
  ProcId owner;        // invalid: no procedure works on it
  std::int64_t since_ms = 0;
  bool served = false;   // OPEN on a server that lives
  bool at_rest = false;  // its state needs no procedure
};

struct WhyTable {
  std::string state;
  bool between = false;         // ENABLING, DISABLING
  std::string schema_error;     // its descriptor cannot be read
  bool schema_awaited = false;  // at this time; the file may be sound
};

struct WhyPause {
  std::string text;    // "everything paused by op: upgrade"
  std::string resume;  // the argument of `ratchet resume`
  std::int64_t age_ms = 0;
};

// A line of the master's own watch that no procedure shows.
struct WhyProblem {
  std::string cause;  // WhyChain.cause
  std::string text;
  std::string verb;
  std::optional<std::int64_t> age_ms;  // none: it is not known since when
};

enum class WhyRole : std::uint8_t { kStandby, kActivating, kActive, kStopping };

struct WhyFacts {
  WhyRole role = WhyRole::kActive;
  std::string self;
  std::string active_master;                      // that a standby knows of; empty: none
  std::string step;                               // of the activation; with what is known of it
  std::int64_t step_ms = 0;                       // how long it has lasted
  std::optional<std::int64_t> zookeeper_lost_ms;  // this master's own connection
  std::optional<std::int64_t> own_storage_hangs_ms;
  std::optional<std::string> store_full;  // the procedure store takes nothing new, and why
  procedure::WorkersInfo workers;
  bool meta_loaded = true;
  // False: a host of procedures alone, which has no region servers, regions and tables.
  bool has_servers = true;
  std::int64_t now_ms = 0;  // wall clock, as the procedures' times are
  std::int64_t order_resend_ms = 10'000;
  std::map<ProcId, procedure::ProcedureInfo> procedures;  // unfinished
  // The server ("host,port,startcode") from which an order procedure still waits for an answer.
  std::map<ProcId, std::string> order_targets;
  std::map<ProcId, std::string> refusals;    // of openings, or failed tries, that a procedure has on record
  std::map<std::string, WhyServer> servers;  // by "host,port,startcode"
  std::map<std::string, WhyRegion> regions;  // by encoded name; those that are not served, and hbase:meta
  std::map<std::string, WhyTable> tables;
  std::vector<WhyPause> pauses;
  std::vector<WhyProblem> problems;
  std::vector<std::vector<ProcId>> cycles;
};

}  // namespace ratchet::host
