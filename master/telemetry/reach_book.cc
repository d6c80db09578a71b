#include "master/telemetry/reach_book.h"

#include <fmt/core.h>

#include "common/base/host_port.h"

namespace ratchet::master {

bool ReachBook::NotReached(const ServerName& server, const std::string& why, TimePoint now) {
  const MutexLock lock(mutex_);
  std::erase_if(pages_, [now](const auto& entry) { return now - entry.second.last > kUnreachedAge; });
  const Address address{server.host, server.port};
  const bool known = pages_.contains(address);
  if (!known && pages_.size() >= kMostUnreached) return false;
  Page& page = pages_[address];
  if (!known) page.since = now;
  page.name = server.ToString();
  page.why = why;
  page.last = now;
  return !known;
}

void ReachBook::Reached(const ServerName& server) {
  const MutexLock lock(mutex_);
  pages_.erase({server.host, server.port});
}

std::vector<ReachBook::Problem> ReachBook::Problems(TimePoint now) const {
  const MutexLock lock(mutex_);
  std::vector<Problem> problems;
  for (const auto& [address, page] : pages_) {
    if (now - page.last > kUnreachedAge) continue;
    problems.push_back({fmt::format("region server {} requests registration, but this master cannot reach it at {}: {}",
                                    page.name, JoinHostPort(address.first, address.second), page.why),
                        "let the server listen at the address that its --host has on the other machines: correct "
                        "/etc/hosts or DNS, or set --bind",
                        page.since});
  }
  return problems;
}

}  // namespace ratchet::master
