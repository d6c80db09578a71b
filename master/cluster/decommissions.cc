#include "master/cluster/decommissions.h"

#include "master/cluster/address_key.h"
#include "master/cluster/membership.h"

namespace ratchet::master {

bool Decommissions::Has(const ServerName& server) const {
  const std::string address = AddressKey(server);
  const MutexLock lock(mutex_);
  return marked_.contains(address) || reserved_.contains(address);
}

bool Decommissions::IsMarked(const ServerName& server) const {
  const MutexLock lock(mutex_);
  return marked_.contains(AddressKey(server));
}

std::vector<ServerName> Decommissions::Marked() const {
  const MutexLock lock(mutex_);
  std::vector<ServerName> all;
  all.reserve(marked_.size());
  for (const auto& [address, server] : marked_) all.push_back(server);
  return all;
}

std::size_t Decommissions::size() const {
  const MutexLock lock(mutex_);
  std::size_t only_reserved = 0;
  for (const std::string& address : reserved_) only_reserved += marked_.contains(address) ? 0 : 1;
  return marked_.size() + only_reserved;
}

bool Decommissions::IsToStop(const ServerName& server) const {
  const MutexLock lock(mutex_);
  return stopping_.contains(server);
}

void Decommissions::Reserve(const ServerName& server) {
  const MutexLock lock(mutex_);
  reserved_.insert(AddressKey(server));
  ++changes_;
}

void Decommissions::Show(const ServerName& server, const std::string& record) {
  const std::string address = AddressKey(server);
  const auto named = ServerName::Parse(record);
  {
    const MutexLock lock(mutex_);
    reserved_.erase(address);
    if (record.empty()) {
      marked_.erase(address);
    } else {
      marked_[address] = named.ok() ? *named : server;
    }
    ++changes_;
  }
  if (record.empty() && wake_) wake_(Membership::ServerAddedEvent());
}

void Decommissions::SetToStop(const ServerName& server, bool stops) {
  const MutexLock lock(mutex_);
  if (stops) {
    stopping_.insert(server);
  } else {
    stopping_.erase(server);
  }
}

}  // namespace ratchet::master
