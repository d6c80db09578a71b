// Limits on the number and size of requests: the limits of one quota, and all quotas of a server as a table. Pure: the
// time comes with each call, and one thread at a time uses them (Throttles).
//
// A limit is a bucket that holds what one period allows. It fills evenly, and is full at the start. A request may
// overdraw the bucket by at most one period's amount, so that a large answer delays later requests by one period at
// most.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/model/proto/quota.pb.h"
#include "common/model/table_name.h"

namespace ratchet::regionserver {

class RateLimit {
 public:
  RateLimit(std::uint64_t amount, std::chrono::nanoseconds period);
  // Returns how long until `need` is available, in whole milliseconds; 0: now. A need above one period's amount counts
  // as that amount.
  [[nodiscard]] Millis WaitFor(std::uint64_t need, TimePoint now);
  void Use(double amount);  // a negative amount is a refund

 private:
  void Refill(TimePoint now);
  const double limit_;
  const double period_ns_;
  double available_;
  std::optional<TimePoint> filled_;
};

// The quantities that are limited, in the order in which limits are checked.
enum class LimitKind : std::uint8_t {
  kRequests,
  kRequestBytes,
  kRequestUnits,
  kWrites,
  kWriteBytes,
  kWriteUnits,
  kReads,
  kReadBytes,
  kReadUnits,
};
inline constexpr std::size_t kLimitKinds = 9;

// A capacity unit is one KiB, rounded up.
inline constexpr std::uint64_t kCapacityUnit = 1024;

struct ThrottleWork {
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t read_bytes = 0;  // estimated
};

struct ThrottleWait {
  LimitKind kind = LimitKind::kRequests;
  Millis wait{0};
};

// HBase's text, from which its clients parse the time: "number of requests exceeded - wait 1sec, 500ms".
[[nodiscard]] std::string ThrottleText(const ThrottleWait& wait);

// The limits of one quota.
class ThrottleLimits {
 public:
  explicit ThrottleLimits(const hbase::pb::Throttle& throttle);
  [[nodiscard]] std::optional<ThrottleWait> WaitFor(const ThrottleWork& work, TimePoint now);
  void Use(const ThrottleWork& work);
  // Corrects the estimate after a request has read `read` bytes instead of `expected`.
  void Correct(std::uint64_t expected, std::uint64_t read);

 private:
  std::array<std::optional<RateLimit>, kLimitKinds> limits_;
};

// The quotas of a list. Limits that did not change since the previous list keep their state.
class ThrottleTable {
 public:
  using Shared = std::shared_ptr<ThrottleLimits>;
  ThrottleTable() = default;
  ThrottleTable(const hbase::pb::ThrottleList& list, const ThrottleTable& before);

  [[nodiscard]] bool limits_anything() const { return enabled_ && !by_key_.empty(); }
  // Takes the amounts for `work` from every limit that applies, and adds these limits to `taken`; or takes none, and
  // returns how long to wait.
  [[nodiscard]] std::optional<ThrottleWait> Take(const std::string& user, const TableName& table,
                                                 const ThrottleWork& work, TimePoint now,
                                                 std::vector<Shared>* taken) const;

 private:
  struct Entry {
    std::string quotas;  // the serialized quotas
    Shared limits;       // null: no limits
    bool bypass = false;
  };
  [[nodiscard]] const Entry* Find(const std::string& key) const;
  [[nodiscard]] Shared LimitsOf(const std::string& key) const;  // null: no limits
  [[nodiscard]] Shared OfUser(const std::string& user, const TableName& table) const;
  std::map<std::string, Entry> by_key_;
  bool enabled_ = false;
  bool may_exceed_ = false;
};

}  // namespace ratchet::regionserver
