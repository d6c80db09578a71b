#include "common/ops/page/security_facts.h"

#include <algorithm>

#include "common/io/cluster_key.h"

namespace ratchet::page {

ratchet::pb::ProcessSecurity SecurityFacts(const std::vector<SettingRow>& settings,
                                           const std::vector<std::string>& keys, const rpc::ServerStats& stats,
                                           const std::string& version) {
  const auto value = [&settings](const std::string& name) {
    for (const SettingRow& row : settings) {
      if (row.name == name) return row.value;
    }
    return std::string();
  };
  ratchet::pb::ProcessSecurity facts;
  facts.set_version(version);
  facts.set_tls(value("tls"));
  facts.set_tls_connect(value("tls-connect") == "true");
  const bool proof_key = !keys.empty() && std::all_of(keys.begin(), keys.end(), [](const std::string& key) {
    return key.starts_with(io::kProofKeyPrefix);
  });
  const std::string proof = value("member-proof");
  facts.set_proof_key(proof_key);
  facts.set_proof_required(proof == "required" || (proof == "auto" && proof_key));
  facts.set_users_from(value("tls-user-from"));
  facts.set_rights(value("rights"));
  if (const std::string access = value("zk-acl"); !access.empty()) facts.set_zk_acl(access);
  for (const auto& [address, connections] : stats.plain_peers) {
    auto& peer = *facts.add_plain();
    peer.set_address(address);
    peer.set_connections(connections);
  }
  facts.set_would_be_refused(stats.rights_would_refuse);
  return facts;
}

}  // namespace ratchet::page
