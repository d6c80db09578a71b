// Filters of history requests. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/proto/history.pb.h"

namespace ratchet::master {

// Returns the table that a text names: "default:t" for "table=t, regions=3"; empty if it names none.
[[nodiscard]] std::string TableInText(std::string_view text);
// Time of the procedure's end, by the wall clock of its master.
[[nodiscard]] std::int64_t EndedAtMs(const ::ratchet::pb::EndedProcedure& ended);
[[nodiscard]] bool Succeeded(const ::ratchet::pb::EndedProcedure& ended);

class HistoryFilter {
 public:
  // kInvalidArgument: unknown outcome, or invalid table name.
  [[nodiscard]] static Result<HistoryFilter> Of(const ::ratchet::pb::ListHistoryRequest& request);
  // Restricts the filter to the tree of this root.
  void OnlyTree(std::uint64_t root) { root_ = root; }

  [[nodiscard]] bool Matches(const ::ratchet::pb::EndedProcedure& ended) const;
  [[nodiscard]] bool Matches(const ::ratchet::pb::Failover& failover) const;
  // Returns true if an entry between these times may match.
  [[nodiscard]] bool MayMatch(std::int64_t first_ms, std::int64_t last_ms) const {
    return last_ms >= since_ms_ && first_ms <= until_ms_;
  }

 private:
  std::string type_;
  std::string table_;
  std::int64_t since_ms_ = INT64_MIN;
  std::int64_t until_ms_ = INT64_MAX;
  enum class Outcome : std::uint8_t { kAny, kSuccess, kFailed };
  Outcome outcome_ = Outcome::kAny;
  std::uint64_t root_ = 0;
};

}  // namespace ratchet::master
