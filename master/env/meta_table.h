// MetaTable: reads and writes hbase:meta for the master's logic, at any location of that region.
//
// Owner: the master's shell implements it by RPC to the server that carries meta (found through
// RegionDirectory::MetaLocation); simulations by a map. Meta's own location is NOT in meta: it is a system record of
// the procedure store (rule S12: system record with its lock). Threads: every method may be called from any thread and
// returns at once; `done` is called exactly once, on any thread, possibly before the method returns.
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

// A region's row, to write or as read.
struct RegionRow {
  RegionInfo region;                          // info:regioninfo
  RegionState state = RegionState::kOffline;  // info:state
  std::optional<ServerName> location;         // info:server + info:serverstartcode: the last server that had it open
  std::optional<ServerName> target;           // info:sn: the server of the current or last transition
  std::uint64_t open_sequence = 0;  // info:seqnumDuringOpen: first sequence id after the last opening; 0: never opened
  // info:transition (8 bytes, big endian). Grows with every new write; a repeated write has the same number (S28:
  // conditional meta writes).
  std::uint64_t transition = 0;
  // info:desc: number of the descriptor with which the region was last opened (S48: schema pinned in the order); 0:
  // unknown, treated as old.
  std::uint64_t schema_number = 0;
  // info:born: number of the build that made the region from others (S38: no empty opening over data); 0: it was
  // created empty.
  std::uint64_t build_number = 0;
  // S118 (older copy stays closed). info:issued: the highest number of any opening or build of the region, valid only
  // with this transition number; 0: unknown. info:served: the highest open number known to have served. info:flushed:
  // the sequence up to which its last close flushed. The last two are written if they are not 0.
  std::uint64_t issued = 0;
  std::uint64_t served = 0;
  std::uint64_t flushed = 0;
  // info:splitA, info:splitB of a row that changes to SPLIT; info:merge0000, ... of a row that a merge creates.
  std::vector<RegionInfo> daughters = {};
  std::vector<RegionInfo> merged_from = {};
};

// A table's row. The row names the directory of the creating procedure, because names on storage are never reused (S31:
// names are never reused).
struct TableRow {
  TableName table;
  TableState state = TableState::kEnabled;  // table:state
  std::string directory;                    // table:dir: "<namespace>/<table>.<creating pid>", below <root>/data
  std::uint64_t transition = 0;             // table:transition
};

// One conditional change of one row. It is applied, under the row's lock, only if the row's stored transition number is
// absent or at most MetaEdit::transition. So late repetitions of an older write, and repetitions of this one, have no
// effect (S28).
struct MetaEdit {
  enum class Kind : std::uint8_t {
    kCreateRegion,  // writes regioninfo, state, transition; the row may be absent
    kUpdateRegion,  // the row must exist (else kNotFound). OPEN writes location, open_sequence, schema_number; every
                    // other state leaves them as they are: clients treat an empty server as an error
    kDeleteRegion,  // removes the row, if present
    // Both write table:state, table:dir, table:transition, S173 (only creations add table rows).
    kCreateTable,   // the row may be absent; only for the creation of a table
    kUpdateTable,   // the row must exist (else kNotFound)
    kDeleteTable,   // removes the row, if present
    kForgetMerged,  // removes the columns of merged_from, if the row is present, and keeps the transition number
  };
  Kind kind = Kind::kUpdateRegion;
  RegionRow region;  // of the other kinds
  TableRow table;    // of a kind that IsOfTable
};
// True: the edit is one of a table's row. False: of a region's.
[[nodiscard]] constexpr bool IsOfTable(MetaEdit::Kind kind) {
  using Kind = MetaEdit::Kind;
  return kind == Kind::kCreateTable || kind == Kind::kUpdateTable || kind == Kind::kDeleteTable;
}

struct MetaContents {
  std::vector<RegionRow> regions;  // in the order of hbase:meta
  std::vector<TableRow> tables;
};

// One atomic change of several rows (S41: atomic conditional commit).
struct MetaCommit {
  // Expected state of a row; otherwise the commit is refused.
  struct Expected {
    MetaEdit row;         // which row (of a region or a table, by its kind), and its exact transition number
    bool absent = false;  // the row must be absent; the number is ignored
  };
  std::vector<Expected> expected;  // of each changed row, and of others; all must match
  std::vector<MetaEdit> edits;     // at least one, of different rows, with numbers above the expected ones
};
enum class CommitOutcome : std::uint8_t {
  kApplied,  // by this or an earlier request: each row is as the edits left it
  kRefused,  // a row did not match, and the edits were never applied
};

class MetaTable {
 public:
  virtual ~MetaTable() = default;

  // Applies the edits, each atomically for its own row; rows are independent, and after an error any part may have been
  // applied: the caller repeats the whole write, which is harmless. The implementation adds the master's epoch, which
  // the meta region checks (S28), and returns an error after a bounded time. Errors: kUnavailable / kTimeout (try
  // again; the outcome is unknown), kStale (a row carries a higher transition number: a newer owner wrote it),
  // kNotFound (kUpdateRegion or kUpdateTable of an absent row), kFenced (a higher epoch is known).
  virtual void Write(std::vector<MetaEdit> edits, std::function<void(Status)> done) = 0;

  // Applies all edits in one mutation under the locks of all rows, only if every row is exactly as expected (S41). It
  // carries the epoch as in Write. After an error the outcome is unknown: the caller repeats the call until it has an
  // outcome, and must not assume one before (S40: durable commit point). Other writers must not change the rows until
  // then (S42: look again after locking), or the outcome cannot be determined. Errors: kUnavailable / kTimeout (try
  // again), kFenced (a higher epoch is known).
  virtual void Commit(MetaCommit commit, std::function<void(Result<CommitOutcome>)> done) = 0;

  // All of meta. Errors as for Write.
  virtual void Scan(std::function<void(Result<MetaContents>)> done) = 0;
};

}  // namespace ratchet::master
