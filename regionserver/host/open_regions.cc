#include "regionserver/host/open_regions.h"

#include <utility>

#include <fmt/format.h>

#include "common/rpc/exceptions.h"

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

Result<std::shared_ptr<Region>> OpenRegions::Find(const std::string& encoded_name) const {
  MutexLock lock(mutex_);
  const auto found = open_.find(encoded_name);
  if (found != open_.end()) return found->second;
  if (opening_.contains(encoded_name)) {
    return rpc::RemoteError(rpc::exception::kRegionOpening, fmt::format("region {} is opening here", encoded_name));
  }
  if (const auto moved = moved_.Find(encoded_name, clock_.Now()))
    return rpc::RegionMovedError(moved->destination, moved->sequence);
  return rpc::RemoteError(rpc::exception::kNotServingRegion, fmt::format("region {} is not open here", encoded_name));
}

std::shared_ptr<Region> OpenRegions::Get(const std::string& encoded_name) const {
  MutexLock lock(mutex_);
  const auto found = open_.find(encoded_name);
  return found == open_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Region>> OpenRegions::All() const {
  std::vector<std::shared_ptr<Region>> all;
  MutexLock lock(mutex_);
  all.reserve(open_.size());
  for (const auto& [name, region] : open_) all.push_back(region);
  return all;
}

std::vector<std::string> OpenRegions::OpenOnes(const std::map<std::string, std::uint64_t>& names,
                                               std::size_t most) const {
  std::vector<std::string> open;
  MutexLock lock(mutex_);
  for (const auto& [name, value] : names) {
    if (open.size() == most) break;
    if (open_.contains(name)) open.push_back(name);
  }
  return open;
}

OpenChanges OpenRegions::DrainChanges() {
  std::map<std::string, std::shared_ptr<Region>> changed;
  {
    MutexLock lock(mutex_);
    changed.swap(changed_);
  }
  OpenChanges changes;
  for (auto& [name, region] : changed) {
    if (region == nullptr) {
      changes.closed.push_back(name);
    } else {
      changes.opened.push_back(std::move(region));
    }
  }
  return changes;
}

std::shared_ptr<Region> OpenRegions::BeginOpening(const std::string& encoded_name) {
  MutexLock lock(mutex_);
  const auto found = open_.find(encoded_name);
  if (found != open_.end()) return found->second;
  opening_.insert(encoded_name);
  moved_.Forget(encoded_name);
  return nullptr;
}

void OpenRegions::EndOpening(const std::string& encoded_name, const std::shared_ptr<Region>& region) {
  MutexLock lock(mutex_);
  opening_.erase(encoded_name);
  if (region != nullptr) open_[encoded_name] = changed_[encoded_name] = region;
}

void OpenRegions::Close(const std::string& encoded_name, const std::optional<ServerName>& destination,
                        std::uint64_t sequence) {
  std::shared_ptr<Region> closed;  // released outside the mutex
  MutexLock lock(mutex_);
  if (const auto found = open_.find(encoded_name); found != open_.end()) {
    closed = std::move(found->second);
    open_.erase(found);
  }
  changed_[encoded_name] = nullptr;
  if (destination.has_value()) {
    moved_.Remember(encoded_name, {*destination, sequence}, clock_.Now());
  } else {
    moved_.Forget(encoded_name);
  }
}

void OpenRegions::ForgetMove(const std::string& encoded_name) {
  MutexLock lock(mutex_);
  moved_.Forget(encoded_name);
}

void OpenRegions::Drop(const std::string& encoded_name, std::uint64_t open_number) {
  std::shared_ptr<Region> dropped;  // released outside the mutex
  MutexLock lock(mutex_);
  const auto found = open_.find(encoded_name);
  if (found == open_.end() || found->second->GetStatus().open_number != open_number) return;
  dropped = std::move(found->second);
  open_.erase(found);
  changed_[encoded_name] = nullptr;
  given_up_.insert(encoded_name);
}

bool OpenRegions::IsGivenUp(const std::string& encoded_name) const {
  MutexLock lock(mutex_);
  return given_up_.contains(encoded_name);
}

}  // namespace ratchet::regionserver
