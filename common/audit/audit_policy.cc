#include "common/audit/audit_policy.h"

#include <algorithm>
#include <array>

namespace ratchet::audit {
namespace {

// Rows, and the sign of life of a lock, which repeats.
constexpr std::array<std::string_view, 4> kNotAudited{"Mutate", "Multi", "ExecService", "LockHeartbeat"};
constexpr std::array<std::string_view, 2> kRights{"Grant", "Revoke"};
constexpr std::array<std::string_view, 3> kTokens{"IssueToken", "ReplaceTokenKey", "RevokeTokens"};
constexpr std::array<std::string_view, 1> kSettings{"UpdateConfiguration"};
// A table is disabled before it is deleted or truncated.
constexpr std::array<std::string_view, 12> kWithoutRoom{"DisableTable",
                                                        "DeleteTable",
                                                        "truncateTable",
                                                        "TruncateRegion",
                                                        "DeleteColumn",
                                                        "DeleteSnapshot",
                                                        "RemoveReplicationPeer",
                                                        "Drain",
                                                        "DecommissionRegionServers",
                                                        "StopMaster",
                                                        "Shutdown",
                                                        "StopServer"};

template <std::size_t kCount>
bool IsAmong(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool NeedsLine(const rpc::CallContext& context, bool changes) {
  return changes && !context.member && !IsAmong(kNotAudited, context.method);
}

std::string_view EventOf(std::string_view method) {
  if (IsAmong(kRights, method)) return "rights";
  if (IsAmong(kTokens, method)) return "token";
  return IsAmong(kSettings, method) ? "settings" : "change";
}

bool RunsWithoutRoom(std::string_view method) { return IsAmong(kWithoutRoom, method); }

}  // namespace ratchet::audit
