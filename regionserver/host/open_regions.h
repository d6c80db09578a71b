// The regions that are open on this server, by encoded name; and of others: that they are opening, where they went, or
// that they were lost.
//
// Owner: RegionHost. Thread-safe; memory only. `mutex_` guards everything. Every request looks up its region
// here, so no call under `mutex_` waits. Under it only the locks that guard a region's status are taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/server_name.h"
#include "regionserver/region/region.h"

namespace ratchet::regionserver {

// Destinations of regions that this server has closed: hints for clients with old locations. Pure.
class MovedRegions {
 public:
  // As in HBase. Later the hint is more likely wrong than right, and hbase:meta has the location.
  static constexpr Millis kKept{120'000};
  static constexpr std::size_t kMost = 1000;

  struct Move {
    ServerName destination;
    std::uint64_t sequence = 0;
  };

  void Remember(const std::string& encoded_name, Move move, TimePoint now);
  // Call when the region is open here again, or was closed for another reason than a move: a disabled or deleted table,
  // a split, a merge.
  void Forget(const std::string& encoded_name);
  // Returns nullopt when the region was not moved, or too long ago.
  [[nodiscard]] std::optional<Move> Find(const std::string& encoded_name, TimePoint now) const;
  [[nodiscard]] std::size_t size() const { return moves_.size(); }

 private:
  struct Entry {
    Move move;
    TimePoint at;
    std::uint64_t number = 0;  // key in order_
  };
  std::map<std::string, Entry> moves_;
  std::map<std::uint64_t, std::string> order_;  // oldest first; exactly the regions of moves_
  std::uint64_t next_ = 0;
};

// Regions opened and closed since the last call; each region once, with its current state.
struct OpenChanges {
  std::vector<std::shared_ptr<Region>> opened;
  std::vector<std::string> closed;
};

class OpenRegions {
 public:
  // `clock` outlives this object.
  explicit OpenRegions(const Clock& clock) : clock_(clock) {}

  // Returns the open region with this encoded name. Errors are those that clients handle: not serving, opening, moved.
  [[nodiscard]] Result<std::shared_ptr<Region>> Find(const std::string& encoded_name) const;
  // Returns null when the region is not open here.
  [[nodiscard]] std::shared_ptr<Region> Get(const std::string& encoded_name) const;
  [[nodiscard]] std::vector<std::shared_ptr<Region>> All() const;
  // Returns the regions of `names` that are open here, at most `most`.
  [[nodiscard]] std::vector<std::string> OpenOnes(const std::map<std::string, std::uint64_t>& names,
                                                  std::size_t most) const;
  // Returns the regions opened and closed since the last call; for the report only.
  [[nodiscard]] OpenChanges DrainChanges();

  // Returns the region when it is open already. Otherwise returns null, and the region counts as opening until
  // EndOpening.
  [[nodiscard]] std::shared_ptr<Region> BeginOpening(const std::string& encoded_name);
  // `region`: null when the opening failed.
  void EndOpening(const std::string& encoded_name, const std::shared_ptr<Region>& region);
  // The region was closed. Only a move leaves a hint, because after every other close the region may never be open
  // again.
  void Close(const std::string& encoded_name, const std::optional<ServerName>& destination, std::uint64_t sequence);
  void ForgetMove(const std::string& encoded_name);
  // S50 (give up only on proof): only a higher opening removes a region from here without a close.
  void Drop(const std::string& encoded_name, std::uint64_t open_number);
  // True when this region was open here and was lost without a close.
  [[nodiscard]] bool IsGivenUp(const std::string& encoded_name) const;

 private:
  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<Region>> open_ GUARDED_BY(mutex_);
  // changes since DrainChanges; null: closed
  std::map<std::string, std::shared_ptr<Region>> changed_ GUARDED_BY(mutex_);
  std::set<std::string> opening_ GUARDED_BY(mutex_);
  std::set<std::string> given_up_ GUARDED_BY(mutex_);  // kept for the life of the process
  MovedRegions moved_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::regionserver
