#include "master/chores/auto_splitter.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "master/cluster/region_directory.h"
#include "master/cluster/reshape_switches.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/core/master_env.h"
#include "master/procedures/crash/server_crash.h"
#include "procedure/api/executor.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kMostRemembered = 10'000;

// Keeps `times` below kMostRemembered entries: removes those whose time has passed, and all if that is not enough.
template <class Key>
void Bound(std::map<Key, TimePoint>& times, TimePoint now) {
  if (times.size() < kMostRemembered) return;
  std::erase_if(times, [now](const auto& each) { return each.second <= now; });
  if (times.size() >= kMostRemembered) times.clear();
}

}  // namespace

bool AutoSplitter::IsDue(const ServerName& server) {
  if (!env_.meta_loaded.load()) return false;
  constexpr Millis kForOthers{10'000};  // the normalizer needs sizes too
  const TimePoint now = env_.clock.Now();
  const MutexLock lock(mutex_);
  Bound(next_look_, now);
  TimePoint& next = next_look_[server];
  if (now < next) return false;
  next = now + (options_.interval.Get() == Millis{0} ? kForOthers : options_.interval.Get());
  return true;
}

bool AutoSplitter::MayTry(const std::string& region) {
  const TimePoint now = env_.clock.Now();
  const MutexLock lock(mutex_);
  if (under_way_.size() >= static_cast<std::size_t>(options_.at_once.Get()) || under_way_.contains(region))
    return false;
  const auto failed = not_before_.find(region);
  return failed == not_before_.end() || failed->second <= now;
}

std::size_t AutoSplitter::Look(const ServerName& server, std::vector<Size> sizes) {
  if (options_.interval.Get() == Millis{0} || !env_.meta_loaded.load() || !env_.switches.IsOn(Switch::kSplit)) return 0;
  if (!env_.executor->FindUnfinished(ServerCrash::kTypeName).empty()) return 0;
  // The largest first, since few are begun at a time.
  std::sort(sizes.begin(), sizes.end(), [](const Size& a, const Size& b) { return a.bytes > b.bytes; });
  std::map<TableName, std::size_t> on_server;  // regions of each table; counted at the first candidate
  std::size_t asked = 0;
  for (const Size& size : sizes) {
    const auto node = env_.regions.Get(size.region);
    const bool at_rest = node && node->state == RegionState::kOpen && !node->owner.valid() && node->location == server;
    if (!at_rest || node->info.table.IsSystem()) continue;
    const auto table = env_.tables.Get(node->info.table);
    if (!table || table->schema == nullptr || table->state != TableState::kEnabled) continue;
    const auto lowest = SplitSize(*table->schema, options_.policy, 1);
    if (!lowest || size.bytes <= *lowest || !AllowsSplits(env_.switches, *table).ok()) continue;
    if (on_server.empty()) {
      for (const RegionNode& other : env_.regions.OnServer(server)) ++on_server[other.info.table];
    }
    const std::size_t count = on_server[node->info.table];
    const std::uint64_t limit = SplitSize(*table->schema, options_.policy, count).value_or(UINT64_MAX);
    if (size.bytes <= limit || !MayTry(size.region)) continue;
    Ask(size.region,
        fmt::format("it has {} bytes, and {} allows {} with {} regions of table {} on its server", size.bytes,
                    SplitPolicyOf(*table->schema, options_.policy), limit, count, node->info.table.ToString()));
    ++asked;
  }
  return asked;
}

void AutoSplitter::Ask(const std::string& region, const std::string& why) {
  {
    const MutexLock lock(mutex_);
    under_way_.insert(region);
  }
  tables_.SplitRegion(region, {}, {"master", {}}, [this, region, why](const Result<ProcId>& pid) {
    if (!pid.ok()) {
      RATCHET_LOG(kInfo, "Region {} is not split, although {}: {}", region, why, pid.error().message());
      return Ended(region, true);
    }
    RATCHET_LOG(kInfo, "pid={} region {} is split, because {}", *pid, region, why);
    env_.executor->OnFinished(
        *pid, [this, region](const procedure::ProcedureResult& result) { Ended(region, result.error.has_value()); });
  });
}

void AutoSplitter::Ended(const std::string& region, bool failed) {
  const TimePoint now = env_.clock.Now();
  const MutexLock lock(mutex_);
  under_way_.erase(region);
  if (!failed) return;
  Bound(not_before_, now);
  not_before_[region] = now + options_.after_failure;
}

}  // namespace ratchet::master
