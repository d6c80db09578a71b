// RegionDirectory: the master's in-memory state of every region. Rebuilt after a restart from hbase:meta, from meta's
// system record and from unfinished procedures, which are newer than meta.
//
// At most one procedure owns a region's transition at a time; only the owner changes its node.
// Thread-safe; methods copy.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
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
  std::optional<ServerName> last_host;  // the last server that had it open (for retain)
  std::uint64_t open_sequence = 0;
  std::uint64_t transition = 0;  // S28 (conditional meta writes); the newest number known to be in hbase:meta
  // S65 (transition number reserved first); the greatest number of any started write or seen row
  std::uint64_t reserved = 0;
  // the order by which it was last opened; also its open number (S21: numbered openings)
  ProcId open_number;
  // number of the descriptor with which it was last opened (S48: schema pinned in the order); 0: unknown
  std::uint64_t schema_number = 0;
  std::vector<RegionInfo> merged_from;  // the regions that a merge made it from, while their directories may exist
  // number of the build that made it (S38: no empty opening over data); 0: it was created empty
  std::uint64_t build_number = 0;
  // S118 (older copy stays closed): `issued` is the highest number that an opening or a build of the region has; 0 if
  // unknown, also while an order is outstanding. `served`: the highest open number that was reported as open.
  // `flushed`: the sequence up to which its last close flushed.
  std::uint64_t issued = 0;
  std::uint64_t served = 0;
  std::uint64_t flushed = 0;
  ProcId owner;                    // the procedure that owns its transition; invalid if none does
  TimePoint last_update{};         // time of the last change of a field above
  std::uint32_t failed_opens = 0;  // in a row
  // S71 (ask servers for unplaced regions): the row shows the region on a server without naming the server.
  // ABNORMALLY_CLOSED until every server has sent its region list.
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
  // Calls `look` with the node, or with null, without a copy. The lock is held, so `look` must be short and call no
  // other part.
  void Look(std::string_view encoded, const std::function<void(const RegionNode*)>& look) const;
  // Passes every node to `visit`, by encoded name, without a copy. The lock is held for up to kVisitedAtOnce nodes at a
  // time, so `visit` must be short and call no other part; nodes that are added or removed meanwhile may be missed.
  void Visit(const std::function<void(const RegionNode&)>& visit) const;
  static constexpr std::size_t kVisitedAtOnce = 500;
  // Returns copies of the nodes for which `wanted` is true, by encoded name; locks as Visit.
  [[nodiscard]] std::vector<RegionNode> Select(const std::function<bool(const RegionNode&)>& wanted) const;
  // Returns up to `most` nodes after `*after` that a procedure owns or that are in transition, OFFLINE or unplaced.
  // Advances `*after`, and clears it at the end, so that callers can iterate in slices.
  [[nodiscard]] std::vector<RegionNode> Owned(std::string* after, std::size_t most) const;
  [[nodiscard]] std::vector<RegionNode> Unsettled(std::string* after, std::size_t most) const;
  // Like Owned, for nodes that were split or merged or that a merge made; for the catalog janitor.
  [[nodiscard]] std::vector<RegionNode> Remains(std::string* after, std::size_t most) const;
  // Returns the encoded names of regions located at `server`, in order, after `after`.
  [[nodiscard]] std::vector<std::string> NamesOnServer(const ServerName& server, const std::string& after,
                                                       std::size_t most) const;
  [[nodiscard]] std::vector<ServerName> Locations() const;
  // Number of regions of the table that are neither CLOSED nor SPLIT nor MERGED.
  [[nodiscard]] std::size_t NotClosedOf(const TableName& table) const;
  // Returns the encoded names of the nodes that were changed, added or removed since `*version` and are, or were before
  // the change, located at `server`; sets `*version` to the current one. Returns false if `*version` is 0 or too old,
  // so that any of its nodes may have changed.
  bool ChangedSince(const ServerName& server, std::uint64_t* version, std::vector<std::string>* changed) const;
  // Number of nodes that the views have copied; for tests.
  [[nodiscard]] std::uint64_t copied() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::map<ServerName, std::size_t> CountByServer() const;                          // by location
  [[nodiscard]] std::vector<std::size_t> CountsAt(const std::vector<ServerName>& servers) const;  // in the same order
  // Server for requests to hbase:meta, when it is OPEN; nullopt while it is moving or unknown.
  [[nodiscard]] std::optional<ServerName> MetaLocation() const;

  // ---- for the owner of the transition ---- Makes `procedure` the owner; `from` may hand the region over. Returns
  // false if another procedure is the owner, or the region does not exist.
  bool Own(std::string_view encoded, ProcId procedure, ProcId from = ProcId());
  void Disown(std::string_view encoded, ProcId procedure);
  // Applies `change` to the node under the lock and stamps last_update. Throws at an illegal change of state, which
  // fails the calling step. Returns false if the region does not exist.
  bool Update(std::string_view encoded, const std::function<void(RegionNode&)>& change);
  // Replaces the node, as Update; keeps what the catalog janitor needs of it (merged_from).
  bool Show(RegionNode shown);
  // Records that `procedure` wants to give the region up, until it ends: an owner that cannot open the region releases
  // it (S84: give up a region by name).
  void RequestRelease(std::string_view encoded, ProcId procedure);
  [[nodiscard]] ProcId ReleaseRequestedBy(std::string_view encoded) const;  // invalid: none
  // S65 (transition number reserved first): records that a write to the region's row was started, or the row was seen,
  // with this number. The next owner uses numbers above.
  void Reserve(std::string_view encoded, std::uint64_t transition);
  // Replaces the node after a restart by the state of an unfinished procedure, which is the owner.
  void Restore(RegionNode node);

  // ---- for table procedures and loading ---- Adds or replaces the node. If the region has an owner, only the row's
  // transition number is recorded.
  void Add(const RegionRow& row);
  void Remove(std::string_view encoded);
  // S71: records that `server` reports an unplaced region as open. Returns false if the region is not unplaced or has
  // an owner.
  bool Place(std::string_view encoded, const ServerName& server, std::uint64_t open_number, TimePoint now);

 private:
  // By encoded name. An index has pointers, because a name in each of them takes more memory than the rest of a region.
  struct ByName {
    using is_transparent = void;
    static std::string_view NameOf(std::string_view name) { return name; }
    static std::string_view NameOf(const RegionNode* node) { return node->encoded; }
    static std::string_view NameOf(const std::unique_ptr<RegionNode>& node) { return node->encoded; }
    bool operator()(const auto& a, const auto& b) const { return NameOf(a) < NameOf(b); }
  };
  using Nodes = std::set<const RegionNode*, ByName>;
  struct HashOfName {
    using is_transparent = void;
    std::size_t operator()(const auto& name) const { return std::hash<std::string_view>()(ByName::NameOf(name)); }
  };
  struct SameName {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return ByName::NameOf(a) == ByName::NameOf(b); }
  };
  struct OfOneTable {
    Nodes nodes;
    std::size_t not_closed = 0;
  };
  struct Change {
    std::uint64_t version = 0;
    std::string encoded;
  };
  // The newest changes at one server, in order; bounded.
  struct ChangeLog {
    std::deque<Change> changes;
    std::uint64_t forgotten = 0;  // version of the newest change that is no longer in `changes`
  };
  [[nodiscard]] RegionNode* FindLocked(std::string_view encoded) const REQUIRES(mutex_);
  void Put(RegionNode node) REQUIRES(mutex_);
  // The sets below of which a node is a member.
  struct Places {
    bool known = false;
    bool closed = false;
    bool owned = false;
    bool unsettled = false;
    bool remains = false;
    std::optional<ServerName> server;
  };
  [[nodiscard]] static Places PlacesOf(const RegionNode& node);
  // Moves the node from the sets of `before` to those of `after`.
  void Index(const RegionNode& node, const Places& before, const Places& after) REQUIRES(mutex_);
  // Records a change of a node that was located at `before` and is at `now`. Returns its version.
  std::uint64_t Changed(const std::string& encoded, const std::optional<ServerName>& before,
                        const std::optional<ServerName>& now) REQUIRES(mutex_);
  void Log(const ServerName& server, const std::string& encoded) REQUIRES(mutex_);
  void SetOwner(RegionNode& node, ProcId owner, TimePoint now) REQUIRES(mutex_);
  [[nodiscard]] std::vector<RegionNode> Copies(const Nodes& nodes) const REQUIRES(mutex_);
  [[nodiscard]] std::vector<RegionNode> Slice(const Nodes& nodes, std::string* after, std::size_t most) const
      REQUIRES(mutex_);

  const Clock& clock_;
  mutable Mutex mutex_;
  std::set<std::unique_ptr<RegionNode>, ByName> nodes_ GUARDED_BY(mutex_);
  std::unordered_set<RegionNode*, HashOfName, SameName> by_name_ GUARDED_BY(mutex_);
  std::map<std::string, ProcId, std::less<>> wanted_ GUARDED_BY(mutex_);  // of existing regions
  std::map<TableName, OfOneTable> by_table_ GUARDED_BY(mutex_);
  std::map<ServerName, Nodes> by_server_ GUARDED_BY(mutex_);
  Nodes owned_ GUARDED_BY(mutex_);
  Nodes unsettled_ GUARDED_BY(mutex_);
  Nodes remains_ GUARDED_BY(mutex_);
  std::uint64_t version_ GUARDED_BY(mutex_) = 0;
  std::map<ServerName, ChangeLog> changes_ GUARDED_BY(mutex_);
  std::uint64_t logs_forgotten_ GUARDED_BY(mutex_) = 0;  // version at which the last log was removed
  mutable std::uint64_t copied_ GUARDED_BY(mutex_) = 0;
};

}  // namespace ratchet::master
