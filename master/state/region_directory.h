// RegionDirectory: the master's picture of every region, in memory. Rebuilt after a restart from hbase:meta, from
// meta's system record and from unfinished procedures, which are newer than meta.
//
// At most one procedure owns a region's transition at a time; only the owner changes its node.
// Thread-safe; methods copy.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/region_info.h"
#include "common/model/region_state.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

struct RegionNode {
  RegionInfo info;
  std::string encoded;        // info.encoded_name(), which is a hash; set by the directory
  std::uint64_t version = 0;  // rises with each change of any node; set by the directory
  RegionState state = RegionState::kOffline;
  std::optional<ServerName> location;   // where it is open, being opened or being closed; none while no server has it
  std::optional<ServerName> last_host;  // the last one that had it open (retain)
  std::uint64_t open_sequence = 0;
  std::uint64_t transition = 0;         // S28; the newest that is known to be in hbase:meta
  std::uint64_t taken = 0;              // S65; the newest that a write was begun with, or that a row was seen with
  ProcId opening;                       // the order by which it was last opened (its opening's number, S21)
  std::uint64_t descriptor = 0;         // number of the descriptor with which it was last opened (S48); 0: unknown
  std::vector<RegionInfo> merged_from;  // what a merge made it of, as long as their directories may be there
  std::uint64_t born = 0;               // number of the build that has made it (S38); 0: it was created empty
  ProcId owner;                         // the procedure that owns its transition; invalid: none
  TimePoint last_update{};              // of anything above
  std::uint32_t failed_opens = 0;       // in a row
  // S71: its row said that a server has it, and not which one. ABNORMALLY_CLOSED until each server has said what it
  // has.
  bool unplaced = false;
};

class RegionDirectory {
 public:
  explicit RegionDirectory(const Clock& clock) : clock_(clock) {}

  // ---- views ----
  [[nodiscard]] std::optional<RegionNode> Get(std::string_view encoded) const;
  // Accepts a full region name, an encoded name, or meta's.
  [[nodiscard]] std::optional<RegionNode> Find(std::string_view name) const;
  [[nodiscard]] std::vector<RegionNode> OfTable(const TableName& table) const;     // by start key
  [[nodiscard]] std::vector<RegionNode> OnServer(const ServerName& server) const;  // location == server
  [[nodiscard]] std::vector<RegionNode> InTransition() const;  // owned, or in a state that needs a procedure
  // Shows every node to `visit`, by encoded name, without a copy. The lock is held for at most kVisitedAtOnce of them,
  // so `visit` is short and calls no other part; what comes or goes meanwhile may be left out.
  void Visit(const std::function<void(const RegionNode&)>& visit) const;
  static constexpr std::size_t kVisitedAtOnce = 500;
  // Copies of those that are `wanted`, by encoded name; as Visit.
  [[nodiscard]] std::vector<RegionNode> Select(const std::function<bool(const RegionNode&)>& wanted) const;
  // A few of those that a procedure owns, or that are not at rest, OFFLINE or unplaced: at most `most`, behind
  // `*after`, which moves on and is empty again at the end. For looking through them in slices.
  [[nodiscard]] std::vector<RegionNode> Owned(std::string* after, std::size_t most) const;
  [[nodiscard]] std::vector<RegionNode> Unsettled(std::string* after, std::size_t most) const;
  // Likewise of those that were split or merged, or that a merge has made: the catalog janitor's.
  [[nodiscard]] std::vector<RegionNode> Remains(std::string* after, std::size_t most) const;
  // Encoded names of what is located at `server`, in order, behind `after`.
  [[nodiscard]] std::vector<std::string> NamesOnServer(const ServerName& server, const std::string& after,
                                                       std::size_t most) const;
  [[nodiscard]] std::vector<ServerName> Locations() const;
  // Regions of the table that are neither CLOSED nor SPLIT nor MERGED.
  [[nodiscard]] std::size_t NotClosedOf(const TableName& table) const;
  // Encoded names of the nodes that have changed, come or gone since `*version`, which becomes the present one. False:
  // `*version` is 0 or too long ago, so any may have.
  bool ChangedSince(std::uint64_t* version, std::vector<std::string>* changed) const;
  // How many nodes the views have copied so far. Tests count on it.
  [[nodiscard]] std::uint64_t copied() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::map<ServerName, std::size_t> CountByServer() const;  // by location
  // Where to send requests for hbase:meta: set once it is OPEN; nothing while it is moving or unknown.
  [[nodiscard]] std::optional<ServerName> MetaLocation() const;

  // ---- for the owner of the transition ----
  // Makes `procedure` the owner; `from` hands the region over to it. False: another one is, or there is no such region.
  bool Own(std::string_view encoded, ProcId procedure, ProcId from = ProcId());
  void Disown(std::string_view encoded, ProcId procedure);
  // Applies `change` to the node under the lock and stamps last_update. A change of state that is not a legal move is a
  // broken invariant and stops the process. False: there is no such region.
  bool Update(std::string_view encoded, const std::function<void(RegionNode&)>& change);
  // `procedure` gives the region up: the owner that cannot open it lets it go (S84). Until `procedure` ends.
  void Want(std::string_view encoded, ProcId procedure);
  [[nodiscard]] ProcId WantedBy(std::string_view encoded) const;  // invalid: none
  // S65: a write to the region's row begins with this number, or the row was seen with it. The next owner goes on above
  // it.
  void Take(std::string_view encoded, std::uint64_t transition);
  // After a restart: what an unfinished procedure knows, whatever is known otherwise; it is the owner.
  void Restore(RegionNode node);

  // ---- for table procedures and loading ----
  // New, or replaces what is known unless it is owned; then only the row's transition number is taken.
  void Add(const RegionRow& row);
  void Remove(std::string_view encoded);
  // S71: an unplaced region is open at `server`, as that server says. False: it is not unplaced, or owned.
  bool Place(std::string_view encoded, const ServerName& server, std::uint64_t open_seq, TimePoint now);

 private:
  using Names = std::set<std::string, std::less<>>;
  struct OfOneTable {
    Names names;
    std::size_t not_closed = 0;
  };
  struct Change {
    std::uint64_t version = 0;
    std::string encoded;
  };
  RegionNode* FindLocked(std::string_view encoded) REQUIRES(mutex_);
  void Put(RegionNode node) REQUIRES(mutex_);
  void Index(const RegionNode& node) REQUIRES(mutex_);
  void Unindex(const RegionNode& node) REQUIRES(mutex_);
  std::uint64_t Changed(const std::string& encoded) REQUIRES(mutex_);
  void SetOwner(RegionNode& node, ProcId owner, TimePoint now) REQUIRES(mutex_);
  [[nodiscard]] const RegionNode& CopyOf(const std::string& encoded) const REQUIRES(mutex_);
  [[nodiscard]] std::vector<RegionNode> Slice(const Names& names, std::string* after, std::size_t most) const
      REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, RegionNode, std::less<>> nodes_ GUARDED_BY(mutex_);  // by encoded name
  std::map<std::string, ProcId, std::less<>> wanted_ GUARDED_BY(mutex_);     // of regions that are there
  std::map<TableName, OfOneTable> by_table_ GUARDED_BY(mutex_);
  std::map<ServerName, Names> by_server_ GUARDED_BY(mutex_);
  Names owned_ GUARDED_BY(mutex_);
  Names unsettled_ GUARDED_BY(mutex_);
  Names remains_ GUARDED_BY(mutex_);
  std::uint64_t version_ GUARDED_BY(mutex_) = 0;
  std::deque<Change> changes_ GUARDED_BY(mutex_);  // the newest, in order; bounded
  mutable std::uint64_t copied_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::master
