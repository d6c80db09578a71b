// RegionDirectory: the master's picture of every region, in memory. Rebuilt after a restart from hbase:meta, from meta's
// system record and from unfinished procedures, which are newer than meta.
//
// At most one procedure owns a region's transition at a time; only the owner changes its node.
// Thread-safe; methods copy.
#pragma once

#include <cstdint>
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
#include "common/model/server_name.h"
#include "common/model/table_name.h"
#include "master/assignment/region_state.h"
#include "master/env/meta_table.h"

namespace ratchet::master {

struct RegionNode {
  RegionInfo info;
  RegionState state = RegionState::kOffline;
  std::optional<ServerName> location;   // where it is open, being opened or being closed; none while nobody has it
  std::optional<ServerName> last_host;  // the last one that had it open (retain)
  std::uint64_t open_sequence = 0;
  std::uint64_t transition = 0;         // S28; the newest that is known to be in hbase:meta
  std::uint64_t taken = 0;              // S65; the newest that a write was begun with, or that a row was seen with
  ProcId open_order;                    // the order by which it was last opened (its opening's number, S21)
  ProcId owner;                         // the procedure that owns its transition; invalid: none
  TimePoint last_update{};              // of anything above
  std::uint32_t failed_opens = 0;       // in a row
  // S71: its row said that a server has it, and not which one. ABNORMALLY_CLOSED until each server has said what it has.
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
  [[nodiscard]] std::vector<RegionNode> InTransition() const;                      // owned, or in a state that needs somebody
  [[nodiscard]] std::vector<RegionNode> All() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::map<ServerName, std::size_t> CountByServer() const;           // by location
  // Where to send requests for hbase:meta: set once it is OPEN; nothing while it is moving or unknown.
  [[nodiscard]] std::optional<ServerName> MetaLocation() const;

  // ---- for the owner of the transition ----
  // Makes `procedure` the owner. False: another one is, or there is no such region.
  bool Own(std::string_view encoded, ProcId procedure);
  void Disown(std::string_view encoded, ProcId procedure);
  // Applies `change` to the node under the lock and stamps last_update. A change of state that is not a legal move is a
  // broken invariant and stops the process. False: there is no such region.
  bool Update(std::string_view encoded, const std::function<void(RegionNode&)>& change);
  // `procedure` gives the region up: the owner that cannot open it lets it go (S84). Until `procedure` ends.
  void Want(std::string_view encoded, ProcId procedure);
  [[nodiscard]] ProcId WantedBy(std::string_view encoded) const;  // invalid: none
  // S65: a write to the region's row begins with this number, or the row was seen with it. The next owner goes on above it.
  void Take(std::string_view encoded, std::uint64_t transition);
  // After a restart: what an unfinished procedure knows, whatever is known otherwise; it is the owner.
  void Restore(RegionNode node);

  // ---- for table procedures and loading ----
  // New, or replaces what is known unless it is owned; then only the row's transition number is taken.
  void Add(const RegionRow& row);
  void Remove(std::string_view encoded);
  // S71: an unplaced region is open at `server`, as that server says. False: it is not unplaced, or owned.
  bool Place(std::string_view encoded, const ServerName& server, std::uint64_t open_seq);

 private:
  RegionNode* FindLocked(std::string_view encoded) REQUIRES(mutex_);
  void Put(RegionNode node) REQUIRES(mutex_);
  void Unindex(const RegionNode& node) REQUIRES(mutex_);
  std::vector<RegionNode> Collect(const std::function<bool(const RegionNode&)>& wanted) const;

  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, RegionNode, std::less<>> nodes_ GUARDED_BY(mutex_);  // by encoded name
  std::map<std::string, ProcId, std::less<>> wanted_ GUARDED_BY(mutex_);     // of regions that are there
  std::map<TableName, std::set<std::string>> by_table_ GUARDED_BY(mutex_);
  std::map<ServerName, std::set<std::string>> by_server_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::master
