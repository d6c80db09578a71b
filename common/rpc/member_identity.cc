#include "common/rpc/member_identity.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/cluster_key.h"
#include "common/model/name_rules.h"
#include "common/rpc/digests.h"

namespace ratchet::rpc {

MemberIdentity::MemberIdentity(MemberRole role, const std::vector<std::string>& keys, Live<ProofPolicy> policy)
    : role_(role), policy_(std::move(policy)) {
  SetKeys(keys);
}

void MemberIdentity::SetName(const ServerName& name) {
  const MutexLock lock(mutex_);
  name_ = name;
  name_.host = LowerCaseHost(name.host);
}

ServerName MemberIdentity::name() const {
  const MutexLock lock(mutex_);
  return name_;
}

void MemberIdentity::SetKeys(const std::vector<std::string>& keys) {
  std::vector<Key> made;
  for (const std::string& key : keys) {
    if (!key.empty() && made.size() < kMostMemberKeys) made.push_back({key, DeriveMemberKey(key)});
  }
  const MutexLock lock(mutex_);
  keys_ = std::move(made);
}

MemberKeys MemberIdentity::keys() const {
  MemberKeys keys;
  const MutexLock lock(mutex_);
  for (const Key& key : keys_) keys.push_back(key.key);
  return keys;
}

std::vector<std::string> MemberIdentity::texts() const {
  std::vector<std::string> texts;
  const MutexLock lock(mutex_);
  for (const Key& key : keys_) texts.push_back(key.text);
  return texts;
}

bool MemberIdentity::Holds(std::string_view key_id) const {
  const MutexLock lock(mutex_);
  return std::any_of(keys_.begin(), keys_.end(), [&](const Key& key) { return key.key.id == key_id; });
}

std::optional<MemberClientProof> MemberIdentity::BeginClient(HostPort wanted, std::string binding) const {
  const ServerName own = name();
  if (own.empty()) return std::nullopt;
  return MemberClientProof({kMemberVersion, RandomBytes(kNonceBytes), role_, own}, std::move(wanted), keys(),
                           std::move(binding));
}

MemberServerProof MemberIdentity::BeginServer(std::string binding) const {
  return {name(), RandomBytes(kNonceBytes), keys(), std::move(binding)};
}

bool MemberIdentity::ShowsInClear(const std::string& key) const {
  const ProofPolicy policy = policy_.Get();
  const bool in_clear =
      policy == ProofPolicy::kByKey ? !key.starts_with(io::kProofKeyPrefix) : policy == ProofPolicy::kAccept;
  return in_clear || RATCHET_MUTANT("member.show_key_anyway");
}

std::string MemberIdentity::KeyInClear() const {
  const MutexLock lock(mutex_);
  return !keys_.empty() && ShowsInClear(keys_.front().text) ? keys_.front().text : std::string();
}

bool MemberIdentity::TakesInClear(std::string_view shown) const {
  bool taken = false;
  const MutexLock lock(mutex_);
  for (const Key& key : keys_) taken = (SameSecret(shown, key.text) && ShowsInClear(key.text)) || taken;
  return taken;
}

void MemberIdentity::Joined(std::uint64_t connection, const ServerName& peer) const {
  const MutexLock lock(mutex_);
  ServerName& kept = peers_[connection] = peer;
  kept.host = LowerCaseHost(peer.host);
}

void MemberIdentity::Left(std::uint64_t connection) const {
  const MutexLock lock(mutex_);
  peers_.erase(connection);
}

std::optional<ServerName> MemberIdentity::PeerOn(std::uint64_t connection) const {
  const MutexLock lock(mutex_);
  const auto found = peers_.find(connection);
  if (found == peers_.end()) return std::nullopt;
  return found->second;
}

void MemberIdentity::NotProven(const std::string& address, const std::string& why) const {
  doubt_ = true;
  Note(address, fmt::format("{} is not a member of this cluster: {}. No request was sent to it", address, why));
}

void MemberIdentity::NotEncrypted(const std::string& address, const std::string& why) const {
  Note(address, fmt::format("no TLS connection to {}: {}. No request was sent to it", address, why));
}

void MemberIdentity::ShownInClear(const std::string& address) const {
  Note(address, fmt::format("cluster.key was sent in clear to {}, whose version knows no proof of it; upgrade that "
                            "process, then set --member-proof required and replace the key",
                            address));
}

void MemberIdentity::Note(const std::string& address, std::string text) const {
  const TimePoint now = clock_.Now();
  bool logs = false;
  {
    const MutexLock lock(mutex_);
    std::erase_if(problems_, [now](const auto& entry) { return now - entry.second.last > kKeepProblem; });
    const auto found = problems_.find(address);
    if (found == problems_.end() && problems_.size() >= kMostProblems) return;
    logs = found == problems_.end() || found->second.text != text;
    problems_[address] = {text, now};
  }
  if (logs) RATCHET_LOG(kWarn, "{}", text);
}

void MemberIdentity::Proven(const std::string& address) const {
  const MutexLock lock(mutex_);
  problems_.erase(address);
}

void MemberIdentity::Refused(const std::string& client, const std::string& why) const {
  constexpr Millis kBetweenLines{1'000};
  std::uint64_t count = 0;
  doubt_ = true;
  {
    const TimePoint now = clock_.Now();
    const MutexLock lock(mutex_);
    ++refused_;
    if (now < next_line_) return;
    next_line_ = now + kBetweenLines;
    count = std::exchange(refused_, 0);
  }
  RATCHET_LOG(kWarn, "{} is not a member of this cluster: {} ({} refused since the last report)", client, why, count);
}

std::vector<std::string> MemberIdentity::Problems() const {
  std::vector<std::string> texts;
  const TimePoint now = clock_.Now();
  const MutexLock lock(mutex_);
  for (const auto& [address, problem] : problems_) {
    if (now - problem.last <= kKeepProblem) texts.push_back(problem.text);
  }
  return texts;
}

}  // namespace ratchet::rpc
