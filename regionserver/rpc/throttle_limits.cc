#include "regionserver/rpc/throttle_limits.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace ratchet::regionserver {
namespace {

namespace pb = ::hbase::pb;

constexpr double kNanosPerMilli = 1e6;

constexpr std::array<std::string_view, kLimitKinds> kExceeded{
    "number of requests exceeded",       "request size limit exceeded", "request capacity unit exceeded",
    "number of write requests exceeded", "write size limit exceeded",   "write capacity unit exceeded",
    "number of read requests exceeded",  "read size limit exceeded",    "read capacity unit exceeded"};

std::chrono::nanoseconds PeriodOf(pb::TimeUnit unit) {
  using namespace std::chrono_literals;
  switch (unit) {
    case pb::NANOSECONDS: return 1ns;
    case pb::MICROSECONDS: return 1us;
    case pb::MILLISECONDS: return 1ms;
    case pb::SECONDS: return 1s;
    case pb::MINUTES: return 1min;
    case pb::HOURS: return 1h;
    case pb::DAYS: return 24h;
  }
  return 1s;
}

std::uint64_t UnitsOf(std::uint64_t bytes) { return bytes / kCapacityUnit + (bytes % kCapacityUnit == 0 ? 0 : 1); }

// Returns the amount of a limit that `work` uses; nullopt when the limit does not apply.
std::uint64_t AmountOf(LimitKind kind, const ThrottleWork& work) {
  switch (kind) {
    case LimitKind::kRequests: return work.writes + work.reads;
    case LimitKind::kRequestBytes: return work.write_bytes + work.read_bytes;
    case LimitKind::kRequestUnits: return UnitsOf(work.write_bytes) + UnitsOf(work.read_bytes);
    case LimitKind::kWrites: return work.writes;
    case LimitKind::kWriteBytes: return work.write_bytes;
    case LimitKind::kWriteUnits: return UnitsOf(work.write_bytes);
    case LimitKind::kReads: return work.reads;
    case LimitKind::kReadBytes: return work.read_bytes;
    case LimitKind::kReadUnits: return UnitsOf(work.read_bytes);
  }
  return 0;
}

std::string UserKey(const std::string& user) { return "u." + user + '\n'; }
std::string TableKey(const TableName& table) { return "t." + table.ToString(); }
std::string NamespaceKey(const std::string& ns) { return "n." + ns; }

std::string KeyOf(const pb::ThrottleOf& of) {
  const std::string user = of.has_user() ? UserKey(of.user()) : std::string();
  if (of.has_table()) return user + TableKey(TableName(of.table().namespace_(), of.table().qualifier()));
  if (of.has_namespace_()) return user + NamespaceKey(of.namespace_());
  return user;
}

}  // namespace

// ---- one limit ------------------------------------------------------------------------------------------------------

RateLimit::RateLimit(std::uint64_t amount, std::chrono::nanoseconds period)
    : limit_(std::max(1.0, static_cast<double>(amount))),
      period_ns_(static_cast<double>(period.count())),
      available_(limit_) {}

void RateLimit::Refill(TimePoint now) {
  if (filled_ && now > *filled_) {
    const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(now - *filled_);
    available_ = std::min(limit_, available_ + limit_ * static_cast<double>(passed.count()) / period_ns_);
  }
  if (!filled_ || now > *filled_) filled_ = now;
}

Millis RateLimit::WaitFor(std::uint64_t need, TimePoint now) {
  Refill(now);
  const double wanted = std::min(limit_, static_cast<double>(need));
  // Ignores a rounding error: amounts added in many small parts may lack the last bit.
  const double missing = wanted - available_;
  if (missing <= limit_ * 1e-9) return Millis(0);
  return Millis(static_cast<std::int64_t>(std::ceil(missing * period_ns_ / limit_ / kNanosPerMilli)));
}

void RateLimit::Use(double amount) { available_ = std::clamp(available_ - amount, -limit_, limit_); }

// Clients parse hours and minutes only if seconds follow.
std::string ThrottleText(const ThrottleWait& wait) {
  const std::int64_t all = std::max<std::int64_t>(wait.wait.count(), 0);
  std::string time;
  if (all >= 3'600'000) time += fmt::format("{}hrs, ", all / 3'600'000);
  if (all / 60'000 % 60 > 0) time += fmt::format("{}mins, ", all / 60'000 % 60);
  if (all / 1'000 % 60 > 0 || !time.empty()) time += fmt::format("{}sec", all / 1'000 % 60);
  if (all % 1'000 > 0 || time.empty()) time += fmt::format("{}{}ms", time.empty() ? "" : ", ", all % 1'000);
  return fmt::format("{} - wait {}", kExceeded[static_cast<std::size_t>(wait.kind)], time);
}

// ---- of one quota ---------------------------------------------------------------------------------------------------

ThrottleLimits::ThrottleLimits(const pb::Throttle& throttle) {
  const auto set = [this](LimitKind kind, bool given, const pb::TimedQuota& quota) {
    if (given) limits_[static_cast<std::size_t>(kind)].emplace(quota.soft_limit(), PeriodOf(quota.time_unit()));
  };
  set(LimitKind::kRequests, throttle.has_req_num(), throttle.req_num());
  set(LimitKind::kRequestBytes, throttle.has_req_size(), throttle.req_size());
  set(LimitKind::kRequestUnits, throttle.has_req_capacity_unit(), throttle.req_capacity_unit());
  set(LimitKind::kWrites, throttle.has_write_num(), throttle.write_num());
  set(LimitKind::kWriteBytes, throttle.has_write_size(), throttle.write_size());
  set(LimitKind::kWriteUnits, throttle.has_write_capacity_unit(), throttle.write_capacity_unit());
  set(LimitKind::kReads, throttle.has_read_num(), throttle.read_num());
  set(LimitKind::kReadBytes, throttle.has_read_size(), throttle.read_size());
  set(LimitKind::kReadUnits, throttle.has_read_capacity_unit(), throttle.read_capacity_unit());
}

std::optional<ThrottleWait> ThrottleLimits::WaitFor(const ThrottleWork& work, TimePoint now) {
  for (std::size_t i = 0; i < kLimitKinds; ++i) {
    const auto kind = static_cast<LimitKind>(i);
    const std::uint64_t amount = AmountOf(kind, work);
    if (!limits_[i] || amount == 0) continue;
    const Millis wait = limits_[i]->WaitFor(amount, now);
    if (wait > Millis(0)) return ThrottleWait{kind, wait};
  }
  return std::nullopt;
}

void ThrottleLimits::Use(const ThrottleWork& work) {
  for (std::size_t i = 0; i < kLimitKinds; ++i) {
    if (limits_[i]) limits_[i]->Use(static_cast<double>(AmountOf(static_cast<LimitKind>(i), work)));
  }
}

void ThrottleLimits::Correct(std::uint64_t expected, std::uint64_t read) {
  for (std::size_t i = 0; i < kLimitKinds; ++i) {
    const auto amount = [kind = static_cast<LimitKind>(i)](std::uint64_t read_bytes) {
      return static_cast<double>(AmountOf(kind, {0, 0, 0, read_bytes}));
    };
    if (limits_[i]) limits_[i]->Use(amount(read) - amount(expected));
  }
}

// ---- all quotas -----------------------------------------------------------------------------------------------------

ThrottleTable::ThrottleTable(const pb::ThrottleList& list, const ThrottleTable& before)
    : enabled_(list.enabled()), may_exceed_(list.may_exceed()) {
  for (const pb::ThrottleOf& of : list.throttle()) {
    const std::string key = KeyOf(of);
    Entry entry;
    entry.quotas = of.quotas().SerializeAsString();
    entry.bypass = of.quotas().bypass_globals();
    const Entry* known = before.Find(key);
    if (known != nullptr && known->quotas == entry.quotas) {
      entry.limits = known->limits;
    } else if (of.quotas().has_throttle()) {
      entry.limits = std::make_shared<ThrottleLimits>(of.quotas().throttle());
    }
    by_key_[key] = std::move(entry);
  }
}

const ThrottleTable::Entry* ThrottleTable::Find(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &found->second;
}

ThrottleTable::Shared ThrottleTable::LimitsOf(const std::string& key) const {
  const Entry* entry = Find(key);
  return entry == nullptr ? nullptr : entry->limits;
}

// Only the most specific quota of the user applies.
ThrottleTable::Shared ThrottleTable::OfUser(const std::string& user, const TableName& table) const {
  const std::string key = UserKey(user);
  for (const std::string& each : {key + TableKey(table), key + NamespaceKey(table.ns), key}) {
    if (Shared limits = LimitsOf(each); limits != nullptr) return limits;
  }
  return nullptr;
}

std::optional<ThrottleWait> ThrottleTable::Take(const std::string& user, const TableName& table,
                                                const ThrottleWork& work, TimePoint now,
                                                std::vector<Shared>* taken) const {
  std::vector<Shared> limits;
  if (Shared own = OfUser(user, table); own != nullptr) limits.push_back(std::move(own));
  const Entry* of_user = Find(UserKey(user));
  Shared server;
  if (of_user == nullptr || !of_user->bypass) {
    for (const std::string& key : {NamespaceKey(table.ns), TableKey(table)}) {
      if (Shared each = LimitsOf(key); each != nullptr) limits.push_back(std::move(each));
    }
    server = LimitsOf("");
  }
  std::optional<ThrottleWait> wait;
  for (const Shared& each : limits) {
    if (!wait) wait = each->WaitFor(work, now);
  }
  if (server != nullptr) {
    if (const auto of_server = server->WaitFor(work, now)) return of_server;
    // When the server has capacity, requests above other limits count only on the server's limit.
    if (wait && may_exceed_) {
      wait.reset();
      limits.clear();
    }
    limits.push_back(server);
  }
  if (wait) return wait;
  for (const Shared& each : limits) each->Use(work);
  *taken = std::move(limits);
  return std::nullopt;
}

}  // namespace ratchet::regionserver
