// RightsEntry: one grant, with its form in messages and records. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/proto/rights.pb.h"
#include "common/rights/action.h"
#include "common/rights/scope.h"

namespace ratchet::rights {

inline constexpr std::size_t kMaxUserBytes = 255;
inline constexpr std::size_t kMostEntries = 100'000;        // of a cluster
inline constexpr std::size_t kMostImageBytes = 8UL << 20U;  // of all entries as messages
inline constexpr char kGroupMark = '@';                     // "@ops" is the group ops

// Ok for a user or "@group" that rights may be given to. Refused: empty names, ',' (it separates the parts of a
// qualifier of hbase:acl), control characters, text that is no UTF-8, and more than kMaxUserBytes.
[[nodiscard]] Status CheckGrantee(std::string_view name);

struct RightsEntry {
  std::string user;  // or "@group"
  Scope scope;
  Actions actions;
  bool operator==(const RightsEntry&) const = default;
};

[[nodiscard]] pb::RightsEntry ToProto(const RightsEntry& entry);
[[nodiscard]] pb::RightsEntry ToProto(const Scope& scope);  // without user and actions
// kInvalidArgument names the field that is wrong.
[[nodiscard]] Result<Scope> ScopeFromProto(const pb::RightsEntry& entry);
[[nodiscard]] Result<RightsEntry> EntryFromProto(const pb::RightsEntry& entry);

}  // namespace ratchet::rights
