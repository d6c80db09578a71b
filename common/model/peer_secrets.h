// Secret values in the configuration of a replication peer: stored, and left out of answers to clients. Pure.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/model/proto/replication.pb.h"

namespace ratchet {

// Answers show this text instead of a secret value. In an update it means the stored value, because clients request the
// whole configuration, change a part, and return the whole.
inline constexpr std::string_view kHiddenValue = "(secret)";

// True if the value of this key of a configuration must not be shown.
[[nodiscard]] bool NamesASecret(std::string_view key);
void HideSecrets(hbase::pb::ReplicationPeer& config);
// Replaces each hidden value by the one that `present` has, and removes the key if there is none.
void FillInSecrets(const hbase::pb::ReplicationPeer& present, hbase::pb::ReplicationPeer& wanted);
// Refuses a hidden value for which `present` has none: it would be stored instead of the secret.
[[nodiscard]] Status CheckHiddenValues(const hbase::pb::ReplicationPeer& present,
                                       const hbase::pb::ReplicationPeer& wanted);

}  // namespace ratchet
