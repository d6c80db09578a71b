#include "master/repair/online_watch.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "common/base/part_lock.h"
#include "master/cluster/membership.h"
#include "master/procedures/core/master_env.h"

namespace ratchet::master {
namespace {

// Returns true if the in-memory state agrees that the server has this region open.
bool Agrees(const RegionNode* node, const ServerName& server, std::uint64_t open_number) {
  if (node == nullptr || node->owner.valid() || node->state != RegionState::kOpen || node->location != server)
    return false;
  return open_number == 0 || !node->open_number.valid() || open_number == node->open_number.value();
}

// Returns why the server should not have this region open; empty if it may, or if this cannot be judged now.
std::string Contradiction(const RegionNode* node, const ServerName& server, std::uint64_t open_number) {
  if (node == nullptr) return "the region is unknown";
  if (node->owner.valid()) return {};
  // An ended procedure left the region in transition: the server's list may be right. The next assignment settles it.
  if (!IsAtRest(node->state)) return {};
  if (node->location != server) {
    return fmt::format("the region is {} {}", RegionStateText(node->state),
                       node->location ? "at " + node->location->ToString() : "nowhere");
  }
  if (open_number != 0 && node->open_number.valid() && open_number != node->open_number.value()) {
    return fmt::format("opening {} is current, not {}", node->open_number, open_number);
  }
  return {};
}

}  // namespace

void OnlineWatch::Gather(const ServerName& server, Watched& watched, std::vector<std::string> changed,
                         std::set<std::string>* names) {
  const bool loaded = env_.meta_loaded.load();
  std::vector<std::string> moved;
  const bool known = env_.regions.ChangedSince(server, &watched.seen, &moved);
  if (!known || (loaded && !watched.loaded)) {
    for (const auto& [encoded, open_number] : watched.list.open()) names->insert(encoded);
    for (std::string& encoded : env_.regions.NamesOnServer(server, {}, SIZE_MAX)) names->insert(std::move(encoded));
  }
  watched.loaded = loaded;
  names->insert(std::make_move_iterator(changed.begin()), std::make_move_iterator(changed.end()));
  names->insert(std::make_move_iterator(moved.begin()), std::make_move_iterator(moved.end()));
  names->merge(watched.open_questions);
  watched.open_questions.clear();
  // Checks the next part of the list in key order.
  const std::size_t looks = std::min<std::size_t>(options_.looks_in_turn, looks_.Of(env_.servers));
  auto listed = watched.list.open().upper_bound(watched.listed_position);
  for (std::size_t i = 0; i < looks && listed != watched.list.open().end(); ++i, ++listed) names->insert(listed->first);
  watched.listed_position = listed == watched.list.open().end() ? std::string() : std::prev(listed)->first;
  std::vector<std::string> placed = env_.regions.NamesOnServer(server, watched.placed_position, looks);
  watched.placed_position = placed.size() < looks ? std::string() : placed.back();
  names->insert(std::make_move_iterator(placed.begin()), std::make_move_iterator(placed.end()));
}

bool OnlineWatch::Judge(const ServerName& server, Watched& watched, const std::string& encoded, TimePoint now,
                        Findings* findings, std::map<std::string, std::string>* contradictions) {
  ++looked_at_;
  const bool loaded = watched.loaded;
  const auto listed = watched.list.open().find(encoded);
  if (listed != watched.list.open().end()) {
    if (!loaded) return false;  // there is no in-memory state to compare with yet
    if (env_.regions.Place(encoded, server, listed->second, now)) {
      findings->notes.emplace_back(encoded, "had no server in hbase:meta and is open there: location recorded");
    }
    // A region that is not judged now stays a question: its next change may be at another server only.
    bool question = true;
    env_.regions.Look(encoded, [&](const RegionNode* node) {
      std::string why = Contradiction(node, server, listed->second);
      if (why.empty())
        question = !Agrees(node, server, listed->second) && !RATCHET_MUTANT("master.forget_open_questions");
      else if (node == nullptr || now - node->last_update >= options_.grace)
        contradictions->emplace(encoded, std::move(why));
    });
    return question;
  }
  bool lacks = false;
  env_.regions.Look(encoded, [&](const RegionNode* node) {
    lacks = node != nullptr && node->location == server && node->state == RegionState::kOpen && !node->owner.valid() &&
            (loaded || node->info.IsMeta());
    if (lacks && now - node->last_update >= options_.grace) findings->missing.push_back(*node);
  });
  return lacks;
}

void OnlineWatch::Strike(Watched& watched, const std::map<std::string, std::string>& contradictions,
                         Findings* findings) const {
  std::map<std::string, std::uint32_t> next;
  for (const auto& [encoded, why] : contradictions) {
    const auto before = watched.strikes.find(encoded);
    const std::uint32_t count = (before == watched.strikes.end() ? 0 : before->second) + 1;
    next[encoded] = count;
    findings->notes.emplace_back(
        encoded, fmt::format("reports it as open; {} (heartbeat {} of {})", why, count, options_.strikes));
    if (count >= options_.strikes) findings->expire = fmt::format("keeps serving region {} although {}", encoded, why);
  }
  watched.strikes = std::move(next);
  if (!findings->expire.empty()) watched.strikes.clear();
}

std::unique_ptr<OnlineWatch::Watched> OnlineWatch::Detach(const ServerName& server) {
  const PartLock lock(mutex_);
  const auto [found, fresh] = servers_.try_emplace(server);
  if (fresh) found->second = std::make_unique<Watched>();
  return std::move(found->second);
}

void OnlineWatch::PutBack(const ServerName& server, std::unique_ptr<Watched> watched) {
  const PartLock lock(mutex_);
  const auto found = servers_.find(server);
  if (found != servers_.end()) found->second = std::move(watched);  // else the server has gone meanwhile
}

OnlineWatch::Findings OnlineWatch::Look(const ServerName& server, const RegionList& list) {
  const TimePoint now = env_.clock.Now();
  Findings findings;
  std::unique_ptr<Watched> watched = Detach(server);
  if (watched == nullptr) return findings;
  std::vector<std::string> changed;
  findings.taken = watched->list.Take(list, &changed);
  findings.number = watched->list.number();
  watched->open_questions.insert(changed.begin(), changed.end());  // also changes of a list that was inconsistent
  if (findings.taken) {
    std::set<std::string> names;
    Gather(server, *watched, std::move(changed), &names);
    std::map<std::string, std::string> contradictions;
    for (const std::string& encoded : names) {
      if (Judge(server, *watched, encoded, now, &findings, &contradictions)) watched->open_questions.insert(encoded);
    }
    Strike(*watched, contradictions, &findings);
  }
  PutBack(server, std::move(watched));
  return findings;
}

bool OnlineWatch::AllHaveSaid(const RegionNode& node) {
  const std::vector<ServerName> online = env_.servers.Online();
  if (env_.servers.AnyDead()) return false;
  const PartLock lock(mutex_);
  for (const ServerName& server : online) {
    const auto watched = servers_.find(server);
    if (watched == servers_.end() || watched->second == nullptr) return false;  // null: a check is in progress
    if (!watched->second->loaded || watched->second->seen < node.version) return false;
  }
  return true;
}

void OnlineWatch::ForgetGone() {
  const std::vector<ServerName> online = env_.servers.Online();
  const PartLock lock(mutex_);
  std::erase_if(servers_, [&online](const auto& each) {
    return std::find(online.begin(), online.end(), each.first) == online.end();
  });
}

}  // namespace ratchet::master
