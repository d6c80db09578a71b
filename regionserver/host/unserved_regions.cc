#include "regionserver/host/unserved_regions.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/region/region.h"

namespace ratchet::regionserver {
namespace {

constexpr std::size_t kLongestWhy = 500;

}  // namespace

bool UnservedRegions::IsKnown(const std::string& encoded_name) const {
  const MutexLock lock(mutex_);
  return refusals_.contains(encoded_name);
}

void UnservedRegions::Note(const std::string& encoded_name, const Error& why, TimePoint now) {
  {
    const MutexLock lock(mutex_);
    const auto [refusal, fresh] = refusals_.try_emplace(encoded_name, Refusal{now, why});
    refusal->second.why = why;
    if (!fresh) return;
  }
  RATCHET_LOG(kError, "region {} refuses every request: {}", encoded_name, why.ToString());
}

std::optional<std::string> UnservedRegions::Look(const std::vector<std::shared_ptr<Region>>& open, TimePoint now) {
  std::set<std::string> here;
  std::vector<std::shared_ptr<Region>> due;
  std::size_t in_turn = 0;
  // `open` is sorted by encoded name, so this round continues after the last region of the previous one.
  const auto first = std::upper_bound(
      open.begin(), open.end(), last_,
      [](const std::string& name, const std::shared_ptr<Region>& region) { return name < region->encoded_name(); });
  const auto begin = static_cast<std::size_t>(first - open.begin());
  for (std::size_t i = 0; i < open.size(); ++i) {
    const auto& region = open[(begin + i) % open.size()];
    here.insert(region->encoded_name());
    if (in_turn < kLooksAtOnce) {
      ++in_turn;
      last_ = region->encoded_name();
      due.push_back(region);
    } else if (IsKnown(region->encoded_name())) {
      due.push_back(region);
    }
  }
  for (const auto& region : due) {
    const Status mark = region->CheckMark();
    const bool refuses = !mark.ok() && mark.error().code() != Code::kFenced;
    if (refuses && !RATCHET_MUTANT("host.silent_refusals")) {
      Note(region->encoded_name(), mark.error(), now);
    } else if (mark.ok()) {
      const MutexLock lock(mutex_);
      refusals_.erase(region->encoded_name());
    }
  }
  const MutexLock lock(mutex_);
  std::erase_if(refusals_, [&here](const auto& refusal) { return !here.contains(refusal.first); });
  for (const auto& [name, refusal] : refusals_) {
    if (refusal.why.code() == Code::kCorruption && now - refusal.since >= kPatience)
      return fmt::format("region {} refuses every request permanently: {}", name, refusal.why.message());
  }
  return std::nullopt;
}

void UnservedRegions::Fill(hbase::pb::StorageReport& report) const {
  const MutexLock lock(mutex_);
  if (refusals_.empty()) return;
  report.set_unserved_regions(static_cast<std::uint32_t>(refusals_.size()));
  const auto& [name, refusal] = *refusals_.begin();
  report.set_unserved_why(fmt::format("region {}: {}", name, refusal.why.message().substr(0, kLongestWhy)));
}

}  // namespace ratchet::regionserver
