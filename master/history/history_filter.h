// What an entry of the history is asked for by. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/proto/history.pb.h"

namespace ratchet::master {

// "default:t" of "table=t, regions=3"; empty: the text names no table.
[[nodiscard]] std::string TableInText(std::string_view text);
// When it ended, on the wall clock of the master that saw it.
[[nodiscard]] std::int64_t EndedAtMs(const ::ratchet::pb::EndedProcedure& ended);
[[nodiscard]] bool Succeeded(const ::ratchet::pb::EndedProcedure& ended);

class HistoryFilter {
 public:
  // kInvalidArgument: no such outcome, or a table's name that is none.
  [[nodiscard]] static Result<HistoryFilter> Of(const ::ratchet::pb::ListHistoryRequest& request);
  // Of a tree: of this root only.
  void OnlyTree(std::uint64_t root) { root_ = root; }

  [[nodiscard]] bool Matches(const ::ratchet::pb::EndedProcedure& ended) const;
  [[nodiscard]] bool Matches(const ::ratchet::pb::Failover& failover) const;
  // Whether something between these times may match.
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
