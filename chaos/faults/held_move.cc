#include "chaos/faults/held_move.h"

#include <algorithm>
#include <map>
#include <utility>

#include "chaos/faults/cluster_client.h"

namespace ratchet::chaos {

Status HeldMove::Begin(Target& target, Prng& prng, const Victims& spare) {
  Victims movable = RunningOnes(target, Role::kRegionServer);
  RATCHET_ASSIGN(const auto meta_holder, target.MetaHolder());
  std::erase_if(movable, [&](const std::string& name) {
    return name == meta_holder || std::find(spare.begin(), spare.end(), name) != spare.end();
  });
  const Status begun = MoveOneOf(target, prng, movable);
  if (!begun.ok()) LetGo(target);
  return begun;
}

void HeldMove::LetGo(Target& target) {
  const std::string name = std::exchange(stopped_, "");
  if (!name.empty() && target.Running(name)) IgnoreResult(target.Resume(name), "the process may have ended");
}

Status HeldMove::MoveOneOf(Target& target, Prng& prng, const Victims& movable) {
  constexpr int kTries = 5;  // a table may be deleted meanwhile
  RATCHET_ASSIGN(const auto view, ClusterClient::Open(target));
  // names of processes by server name; asked once, because a container engine is slow
  std::map<std::string, std::string> names;
  RATCHET_ASSIGN(const auto online, view->OnlineServers());
  for (const auto& server : online) names[server.ToString()] = target.NameOf(server);
  RATCHET_ASSIGN(auto regions, view->Regions());
  std::erase_if(regions, [&](const auto& region) {
    const auto name = names.find(region.server.ToString());
    return name == names.end() || std::find(movable.begin(), movable.end(), name->second) == movable.end();
  });
  if (regions.empty() || online.size() < 2) return Error(Code::kUnavailable, "there is no region to move");
  Status last = Ok();
  for (int tried = 0; tried < kTries; ++tried) {
    const auto& region = regions[prng.Below(regions.size())];
    const std::string holder = names[region.server.ToString()];
    if (holder != stopped_) {
      LetGo(target);
      RATCHET_TRY(target.Pause(holder));
      stopped_ = holder;
    }
    const auto pid = view->admin().Transit(client::RegionVerb::kMove, region.region.encoded_name());
    const auto found = pid.ok() ? view->UnfinishedOne(*pid) : pid.error();
    if (found.ok()) {
      pid_ = found->pid();
      text_ = fmt::format("pid={} {}", found->pid(), found->text());
      return Ok();
    }
    last = found.error();
  }
  return last;
}

}  // namespace ratchet::chaos
