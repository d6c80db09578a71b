// MetaTable: how the master's logic reads and writes hbase:meta, wherever that region happens to be.
//
// Owner: the master's shell implements it by RPC to the server that carries meta (found through
// RegionDirectory::MetaLocation); simulations by a map. Meta's own location is NOT in meta: it is a system record of
// the procedure store (rule S12).
// Threads: every method may be called from any thread and returns at once; `done` is called exactly once, on any
// thread, possibly before the method returns.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/region_info.h"
#include "common/model/region_state.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"

namespace ratchet::master {

// A region's row as it is to be, or as it was read.
struct RegionRow {
  RegionInfo region;                          // info:regioninfo
  RegionState state = RegionState::kOffline;  // info:state
  std::optional<ServerName> location;         // info:server + info:serverstartcode: the last server that had it open
  std::optional<ServerName> target;  // info:sn: the server of the transition that is going on; also the last one
  std::uint64_t open_sequence = 0;   // info:seqnumDuringOpen: first sequence id of the opening; 0: never opened
  // info:transition (8 bytes, big endian). Grows with every write that the master means to make (S28).
  std::uint64_t transition = 0;
  // info:desc: number of the descriptor with which it was last opened (S48); 0: unknown, which counts as old.
  std::uint64_t descriptor = 0;
  // info:born: number of the build that has made the region out of others (S38); 0: it was created empty.
  std::uint64_t born = 0;
  // info:splitA, info:splitB of a row that goes to SPLIT; info:merge0000, ... of one that a merge creates.
  std::vector<RegionInfo> daughters = {};
  std::vector<RegionInfo> merged_from = {};
};

// A table's row. The creating procedure's directory is remembered here: names on storage never come back (S31).
struct TableRow {
  TableName table;
  TableState state = TableState::kEnabled;  // table:state
  std::string directory;                    // table:dir: "<namespace>/<table>.<creating pid>", below <root>/data
  std::uint64_t transition = 0;             // table:transition
};

// One conditional change of one row. It is applied, under the row's lock, only if the row's stored transition number is
// absent or at most `transition`; so a late repetition of an older write changes nothing, and the repetition of this
// one changes nothing either (S28).
struct MetaEdit {
  enum class Kind : std::uint8_t {
    kCreateRegion,  // writes regioninfo, state, transition; the row may be absent
    kUpdateRegion,  // the row must exist (else kNotFound). OPEN writes location, open_sequence, descriptor; every other
                    // state leaves them as they are: clients treat an empty server as an error
    kDeleteRegion,  // removes the row; an absent one is fine
    kPutTable,      // writes table:state, table:dir, table:transition; the row may be absent
    kDeleteTable,   // removes the row; an absent one is fine
    kForgetMerged,  // removes the columns of merged_from, and leaves the transition number; an absent row is fine
  };
  Kind kind = Kind::kUpdateRegion;
  RegionRow region;  // kind *Region
  TableRow table;    // kind *Table
};

struct MetaContents {
  std::vector<RegionRow> regions;  // meta order
  std::vector<TableRow> tables;
};

// One change of several rows, wholly or not at all (S41).
struct MetaCommit {
  // What a row must be for the commit to be applied.
  struct Expected {
    MetaEdit row;         // which row (of a region or a table, by its kind), and its exact transition number
    bool absent = false;  // there must be no such row; the number is not looked at
  };
  std::vector<Expected> expected;  // each row that is changed, and any others; all must be so
  std::vector<MetaEdit> edits;     // at least one, of different rows. Their numbers are above those that are expected
};
enum class CommitOutcome : std::uint8_t {
  kApplied,  // by this sending or by an earlier one: each row is as the edits have left it
  kRefused,  // a row is not as expected, and the edits were not applied, now or before
};

class MetaTable {
 public:
  virtual ~MetaTable() = default;

  // Applies the edits, each atomically for its own row; rows are independent of each other, and after an error any part
  // may have been applied: the caller repeats the whole write, which is harmless. The implementation adds the master's
  // epoch, which the meta region checks (S28), and gives up after a bounded time.
  // Errors: kUnavailable / kTimeout (try again; the outcome is unknown), kStale (a row carries a higher transition
  // number: a newer owner wrote it), kNotFound (kUpdateRegion of an absent row), kFenced (a higher epoch is known).
  virtual void Write(std::vector<MetaEdit> edits, std::function<void(Status)> done) = 0;

  // Applies all edits in one mutation under the locks of all rows, only if every row is exactly as expected (S41). The
  // epoch goes with it as in Write. An error tells nothing of the outcome: the caller repeats it until it has one, and
  // does nothing that assumes either (S40). The rows must not be changed by others until then (S42), or an outcome
  // cannot be told. Errors: kUnavailable / kTimeout (try again), kFenced (a higher epoch is known).
  virtual void Commit(MetaCommit commit, std::function<void(Result<CommitOutcome>)> done) = 0;

  // All of meta. Errors as for Write.
  virtual void Scan(std::function<void(Result<MetaContents>)> done) = 0;
};

}  // namespace ratchet::master
