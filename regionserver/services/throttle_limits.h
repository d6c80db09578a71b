// How often and how much may be asked: the limits of one quota, and all quotas of a server as a table. Pure: the time
// comes with each call, and one thread at a time uses them (Throttles).
//
// A limit is a bucket that holds what one period allows. It fills evenly, and is full at the start. What a request
// takes beyond what is there is owed, at most as much as one period allows, so that a large answer delays what follows
// by one period at most.
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
  // How long until `need` is there, in whole milliseconds; 0: it is. More than a period allows is taken for that much.
  [[nodiscard]] Millis WaitFor(std::uint64_t need, TimePoint now);
  void Use(double amount);  // below 0: gives back

 private:
  void Refill(TimePoint now);
  const double limit_;
  const double period_ns_;
  double available_;
  std::optional<TimePoint> filled_;
};

// What is counted. In the order in which limits are looked at.
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

// A capacity unit is one begun KiB.
inline constexpr std::uint64_t kCapacityUnit = 1024;

struct ThrottleWork {
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t read_bytes = 0;  // expected
};

struct ThrottleWait {
  LimitKind kind = LimitKind::kRequests;
  Millis wait{0};
};

// HBase's text, in which its clients look for the time: "number of requests exceeded - wait 1sec, 500ms".
[[nodiscard]] std::string ThrottleText(const ThrottleWait& wait);

// Of one quota.
class ThrottleLimits {
 public:
  explicit ThrottleLimits(const hbase::pb::Throttle& throttle);
  [[nodiscard]] std::optional<ThrottleWait> WaitFor(const ThrottleWork& work, TimePoint now);
  void Use(const ThrottleWork& work);
  // It has read so many bytes, and not what was expected.
  void Correct(std::uint64_t expected, std::uint64_t read);

 private:
  std::array<std::optional<RateLimit>, kLimitKinds> limits_;
};

// The quotas of a list. Limits that are as they were in an earlier list go on from where they are.
class ThrottleTable {
 public:
  using Shared = std::shared_ptr<ThrottleLimits>;
  ThrottleTable() = default;
  ThrottleTable(const hbase::pb::ThrottleList& list, const ThrottleTable& before);

  [[nodiscard]] bool limits_anything() const { return enabled_ && !by_key_.empty(); }
  // Takes what `work` needs of every limit that it is under, which are put into `taken`; or takes nothing, and says how
  // long to wait.
  [[nodiscard]] std::optional<ThrottleWait> Take(const std::string& user, const TableName& table,
                                                 const ThrottleWork& work, TimePoint now,
                                                 std::vector<Shared>* taken) const;

 private:
  struct Entry {
    std::string quotas;  // as bytes
    Shared limits;       // null: none
    bool bypass = false;
  };
  [[nodiscard]] const Entry* Find(const std::string& key) const;
  [[nodiscard]] Shared LimitsOf(const std::string& key) const;  // null: none
  [[nodiscard]] Shared OfUser(const std::string& user, const TableName& table) const;
  std::map<std::string, Entry> by_key_;
  bool enabled_ = false;
  bool may_exceed_ = false;
};

}  // namespace ratchet::regionserver
