// Destinations of regions that this server has closed: hints for clients with old locations. Pure; the host guards it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/model/server_name.h"

namespace ratchet::regionserver {

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

}  // namespace ratchet::regionserver
