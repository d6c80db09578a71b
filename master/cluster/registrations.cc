#include "master/cluster/registrations.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/base/part_lock.h"
#include "master/cluster/address_key.h"
#include "master/cluster/errors.h"
#include "master/cluster/membership.h"

namespace ratchet::master {

void Registrations::Raise(const ServerName& server) {
  std::uint64_t& greatest = start_codes_[AddressKey(server)];
  if (greatest < server.start_code) greatest = server.start_code;
}

std::uint64_t Registrations::GreatestAt(const std::string& address) const {
  const auto it = start_codes_.find(address);
  return it == start_codes_.end() ? start_code_floor_ : it->second;
}

std::optional<Result<Admission>> Registrations::AsMember(const ServerName& server) const {
  const auto phase = members_.PhaseOf(server);
  if (!phase) return std::nullopt;
  if (*phase != ServerPhase::kOnline) return Result<Admission>(YouAreDead(server, "is being recovered"));
  return Result<Admission>(Admission{.known = true, .older = {}});
}

Status Registrations::Begin(const ServerName& server) {
  const PartLock lock(mutex_);
  // The server's own registration has raised the greatest start code, so this does not refuse it.
  if (registering_.contains(server) && !RATCHET_MUTANT("master.forget_registering")) {
    return PleaseHold("the registration of " + server.ToString() + " is in progress; retry later");
  }
  const std::uint64_t greatest = GreatestAt(AddressKey(server));
  if (server.start_code <= greatest && !RATCHET_MUTANT("master.any_start_code")) {
    return YouAreDead(server,
                      "has a start code that is not above " + std::to_string(greatest) + ", known for its address");
  }
  start_codes_[AddressKey(server)] = server.start_code;
  registering_[server] = {};
  return Ok();
}

Result<Admission> Registrations::Admit(const ServerName& server) {
  if (auto member = AsMember(server)) return *std::move(member);
  if (Status begun = Begin(server); !begun.ok()) {
    // Its registration may have ended since the first check, and then it is a member now.
    if (auto member = AsMember(server)) return *std::move(member);
    return begun.error();
  }
  Admission admission;
  // A later server may have registered at the address since Begin released the lock.
  admission.older = members_.OlderAtAddressOf(server);
  return admission;
}

bool Registrations::IsKnown(const ServerName& server) const {
  {
    const PartLock lock(mutex_);
    if (registering_.contains(server)) return true;
  }
  return members_.PhaseOf(server).has_value();
}

void Registrations::AddRegistering(const ServerName& server, ProcId procedure) {
  const PartLock lock(mutex_);
  registering_[server] = {.procedure = procedure};
  Raise(server);
}

void Registrations::SetRegistration(const ServerName& server, ProcId procedure) {
  const PartLock lock(mutex_);
  if (const auto it = registering_.find(server); it != registering_.end()) it->second.procedure = procedure;
}

std::optional<ProcId> Registrations::RegistrationOf(const ServerName& server) const {
  const PartLock lock(mutex_);
  const auto it = registering_.find(server);
  if (it == registering_.end() || RATCHET_MUTANT("master.forget_registering")) return std::nullopt;
  return it->second.procedure;
}

std::vector<std::pair<ServerName, ProcId>> Registrations::List() const {
  const PartLock lock(mutex_);
  std::vector<std::pair<ServerName, ProcId>> found;
  for (const auto& [name, registration] : registering_) found.emplace_back(name, registration.procedure);
  return found;
}

void Registrations::Abandon(const ServerName& server) {
  const PartLock lock(mutex_);
  if (const auto it = registering_.find(server); it != registering_.end()) it->second.abandoned = true;
}

std::uint64_t Registrations::GreatestStartCode(const ServerName& server) const {
  const PartLock lock(mutex_);
  const auto it = start_codes_.find(AddressKey(server));
  return it == start_codes_.end() ? 0 : it->second;
}

std::string Registrations::ClaimStartCode(const ServerName& server) {
  const PartLock lock(mutex_);
  const std::uint64_t greatest = GreatestAt(AddressKey(server));
  if (greatest > server.start_code && !RATCHET_MUTANT("master.any_start_code") &&
      !RATCHET_MUTANT("master.record_late_registration")) {
    return fmt::format("has a start code that is not above {}, which registered at its address meanwhile", greatest);
  }
  const auto it = registering_.find(server);
  const bool abandoned = it != registering_.end() && it->second.abandoned;
  if (abandoned && !RATCHET_MUTANT("master.record_late_registration")) return "its registration in ZooKeeper is gone";
  start_codes_[AddressKey(server)] = server.start_code;
  return {};
}

bool Registrations::EndRegistration(const ServerName& server, const Status& recorded) {
  {
    const PartLock lock(mutex_);
    // An unrecorded server may register again with the same start code; a dead server may not.
    const auto greatest = start_codes_.find(AddressKey(server));
    const bool again = !recorded.ok() && recorded.error().code() == Code::kUnavailable;
    if (again && greatest != start_codes_.end() && greatest->second == server.start_code) --greatest->second;
    if (forgets_ == server) forgets_.reset();
    const auto it = registering_.find(server);
    const bool mine = it != registering_.end() && !it->second.ending;
    if (!mine && !RATCHET_MUTANT("master.forget_registering")) return false;
    if (it != registering_.end()) it->second.ending = true;
  }
  if (recorded.ok()) members_.AddRegistered(server);
  const PartLock lock(mutex_);
  registering_.erase(server);
  return true;
}

void Registrations::RaiseStartCode(const ServerName& server) {
  const PartLock lock(mutex_);
  Raise(server);
}

void Registrations::RaiseStartCodeFloor(std::uint64_t floor) {
  const PartLock lock(mutex_);
  start_code_floor_ = std::max(start_code_floor_, floor);
}

bool Registrations::MayForget(const ServerName& server) const {
  return !forgets_ && registering_.contains(server) && start_codes_.size() > kStartCodesKept;
}

Registrations::ForgottenStartCodes Registrations::ForgetStartCodes(const ServerName& server) {
  const auto now_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(0, clock_.WallMillis()));
  const auto age_ms = static_cast<std::uint64_t>(kStartCodeAge.count());
  std::set<std::string> in_use;
  {
    const PartLock lock(mutex_);
    if (forgets_ == server) return forgotten_;
    if (!MayForget(server)) return {};
    for (const auto& [name, registration] : registering_) in_use.insert(AddressKey(name));
  }
  for (const ServerName& name : members_.Names()) in_use.insert(AddressKey(name));
  const PartLock lock(mutex_);
  if (forgets_ == server) return forgotten_;
  if (!MayForget(server)) return {};
  for (const auto& [name, registration] : registering_) in_use.insert(AddressKey(name));
  std::vector<std::pair<std::uint64_t, std::string>> old;  // by start code
  for (const auto& [address, code] : start_codes_) {
    if (code < now_ms && now_ms - code > age_ms && !in_use.contains(address)) old.emplace_back(code, address);
  }
  if (old.empty()) {
    RATCHET_LOG(kWarn, "{} addresses have a recorded start code, more than {}, and none is old enough to be removed",
                start_codes_.size(), kStartCodesKept);
    return {};
  }
  const std::size_t count = std::min({old.size(), kForgottenAtOnce, start_codes_.size() - kStartCodesKept});
  std::partial_sort(old.begin(), old.begin() + static_cast<std::ptrdiff_t>(count), old.end());
  forgotten_ = {};
  for (std::size_t i = 0; i < count; ++i) {
    forgotten_.addresses.push_back(old[i].second);
    start_codes_.erase(old[i].second);
    if (old[i].first > start_code_floor_ && !RATCHET_MUTANT("master.forget_without_floor"))
      start_code_floor_ = old[i].first;
  }
  forgotten_.floor = start_code_floor_;
  forgets_ = server;
  return forgotten_;
}

}  // namespace ratchet::master
