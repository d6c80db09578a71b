#include "regionserver/host/moved_regions.h"

#include <utility>

namespace ratchet::regionserver {

void MovedRegions::Remember(const std::string& encoded_name, Move move, TimePoint now) {
  Forget(encoded_name);
  const std::uint64_t number = next_++;
  order_.emplace(number, encoded_name);
  moves_.emplace(encoded_name, Entry{std::move(move), now, number});
  while (order_.size() > kMost || moves_.at(order_.begin()->second).at + kKept < now) {
    moves_.erase(order_.begin()->second);
    order_.erase(order_.begin());
  }
}

void MovedRegions::Forget(const std::string& encoded_name) {
  const auto found = moves_.find(encoded_name);
  if (found == moves_.end()) return;
  order_.erase(found->second.number);
  moves_.erase(found);
}

std::optional<MovedRegions::Move> MovedRegions::Find(const std::string& encoded_name, TimePoint now) const {
  const auto found = moves_.find(encoded_name);
  if (found == moves_.end() || found->second.at + kKept < now) return std::nullopt;
  return found->second.move;
}

}  // namespace ratchet::regionserver
