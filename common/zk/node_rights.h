// The rights on the cluster's nodes in ZooKeeper (ACLs): open to all clients, or changed only by holders of the
// cluster's key. A session that knows the key names itself with the user "ratchet" and a password that is computed from
// the key with HMAC-SHA256. So the password cannot be guessed, and neither it nor its hash in the rights reveals the
// key. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"

namespace ratchet::zk {

// One entry of a node's rights. Source of the values: ZooKeeper's programmer's guide, "ACL Permissions".
struct NodeRight {
  std::string scheme;
  std::string id;
  int permissions = 0;  // bits: 1 read, 2 write, 4 create, 8 delete, 16 admin
  bool operator==(const NodeRight&) const = default;
  auto operator<=>(const NodeRight&) const = default;
};
// Sorted, so that equal rights are equal vectors.
using NodeRights = std::vector<NodeRight>;

inline constexpr int kRead = 1;
inline constexpr int kEveryPermission = 31;

[[nodiscard]] NodeRights OpenRights();
// All clients read; holders of one of these keys change. No keys: OpenRights.
[[nodiscard]] NodeRights RightsOfKeys(const std::vector<std::string>& keys);
// The password's text for zoo_add_auth, scheme digest.
[[nodiscard]] std::string CredentialOf(const std::string& key);

// All clients have every permission.
[[nodiscard]] bool IsOpen(const NodeRights& rights);
// A holder of one of `keys` has every permission by its key.
[[nodiscard]] bool BelongsTo(const NodeRights& rights, const std::vector<std::string>& keys);
// As zkCli's setAcl takes them: "digest:ratchet:...:cdrwa" and so on, joined by commas.
[[nodiscard]] std::string ToText(const NodeRights& rights);

}  // namespace ratchet::zk
