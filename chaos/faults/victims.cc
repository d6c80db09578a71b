#include "chaos/faults/victims.h"

#include <algorithm>
#include <utility>

namespace ratchet::chaos {
namespace {

Error Nobody(const char* what) { return {Code::kUnavailable, std::string("there is no ") + what + " now"}; }

Result<Victims> OneOf(const Victims& all, Prng& prng, const char* what) {
  if (all.empty()) return Nobody(what);
  return Victims{all[prng.Below(all.size())]};
}

}  // namespace

Victims RunningOnes(Target& target, Role role) {
  Victims running;
  for (const auto& name : target.Names(role)) {
    if (target.Running(name)) running.push_back(name);
  }
  return running;
}

Victims RunningServers(Target& target) {
  Victims all = RunningOnes(target, Role::kMaster);
  for (auto& name : RunningOnes(target, Role::kRegionServer)) all.push_back(std::move(name));
  return all;
}

Victims RandomSubset(Victims all, std::size_t count, Prng& prng) {
  for (std::size_t i = 0; i + 1 < all.size(); ++i) std::swap(all[i], all[i + prng.Below(all.size() - i)]);
  all.resize(std::min(count, all.size()));
  return all;
}

Result<Victims> PickActiveMaster(Target& target, Prng& /*prng*/) {
  RATCHET_ASSIGN(auto active, target.ActiveMaster());
  return Victims{std::move(active)};
}

Result<Victims> PickStandby(Target& target, Prng& prng) {
  RATCHET_ASSIGN(const auto active, target.ActiveMaster());
  Victims others = RunningOnes(target, Role::kMaster);
  std::erase(others, active);
  return OneOf(others, prng, "standby master");
}

Result<Victims> PickMetaHolder(Target& target, Prng& /*prng*/) {
  RATCHET_ASSIGN(auto holder, target.MetaHolder());
  if (!target.Running(holder)) return Nobody("running server with meta");
  return Victims{std::move(holder)};
}

Result<Victims> PickServer(Target& target, Prng& prng) {
  return OneOf(RunningOnes(target, Role::kRegionServer), prng, "region server");
}

Result<Victims> PickSomeServers(Target& target, Prng& prng) {
  const Victims servers = RunningOnes(target, Role::kRegionServer);
  if (servers.size() < 3) return Nobody("third region server, so that one remains after several die");
  const auto most = static_cast<std::int64_t>(servers.size()) - 1;
  return RandomSubset(servers, static_cast<std::size_t>(prng.Between(2, most)), prng);
}

Result<Victims> PickAllServers(Target& target, Prng& prng) {
  const Victims servers = RunningOnes(target, Role::kRegionServer);
  if (servers.empty()) return Nobody("region server");
  return RandomSubset(servers, servers.size(), prng);
}

Result<Victims> PickMasterAndMetaHolder(Target& target, Prng& prng) {
  RATCHET_ASSIGN(auto victims, PickActiveMaster(target, prng));
  RATCHET_ASSIGN(const auto holder, PickMetaHolder(target, prng));
  victims.push_back(holder.front());
  return RandomSubset(std::move(victims), 2, prng);
}

Result<Victims> PickAnyProcess(Target& target, Prng& prng) {
  const Victims all = RunningServers(target);
  return OneOf(all, prng, "process");
}

Result<Victims> PickSwizzle(Target& target, Prng& prng) {
  Victims all = RunningServers(target);
  if (all.size() < 2) return Nobody("second process");
  const auto count = prng.Between(2, static_cast<std::int64_t>(all.size()));
  return RandomSubset(std::move(all), static_cast<std::size_t>(count), prng);
}

Result<Victims> PickZooKeeper(Target& target, Prng& prng) {
  return OneOf(RunningOnes(target, Role::kZooKeeper), prng, "running ZooKeeper");
}

Result<Victims> PickZooKeeperLeader(Target& target, Prng& /*prng*/) {
  Victims leader;
  std::uint64_t epoch = 0;
  for (const auto& name : RunningOnes(target, Role::kZooKeeper)) {
    const ZooKeeperState state = target.ZooKeeperStateOf(name);
    if (state.mode != "leader" || (!leader.empty() && state.epoch < epoch)) continue;
    leader = {name};
    epoch = state.epoch;
  }
  if (leader.empty()) return Nobody("leading ZooKeeper member");
  return leader;
}

Result<Victims> PickZooKeeperMajority(Target& target, Prng& prng) {
  const std::size_t majority = target.Names(Role::kZooKeeper).size() / 2 + 1;
  const Victims running = RunningOnes(target, Role::kZooKeeper);
  if (running.size() <= majority) return Nobody("ZooKeeper member beyond a majority");
  return RandomSubset(running, majority, prng);
}

Result<Victims> PickAllZooKeepers(Target& target, Prng& prng) {
  const Victims running = RunningOnes(target, Role::kZooKeeper);
  if (running.empty()) return Nobody("running ZooKeeper");
  return RandomSubset(running, running.size(), prng);
}

std::optional<std::string> WhyNoEnsemble(Target& target) {
  if (target.Names(Role::kZooKeeper).size() >= 3) return std::nullopt;
  return "there is one ZooKeeper server, not an ensemble";
}

}  // namespace ratchet::chaos
