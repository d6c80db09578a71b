#include "master/process/client_znodes.h"

#include "common/base/log.h"
#include "common/zk/znode_codec.h"

namespace ratchet::master {

Status ClientZnodes::Write(const std::string& data) {
  const auto node = session_.Get(paths_.MetaServer());
  if (!node.ok() && node.error().code() != Code::kNotFound) return node.error();
  if (!node.ok()) return session_.Create(paths_.MetaServer(), data, zk::NodeKind::kPersistent);
  if (node->owner_session != 0) {  // an ephemeral node would disappear with the master that made it
    RATCHET_TRY(session_.Delete(paths_.MetaServer(), node->version));
    return session_.Create(paths_.MetaServer(), data, zk::NodeKind::kPersistent);
  }
  if (node->data == data) return Ok();
  return session_.Set(paths_.MetaServer(), data, node->version);
}

void ClientZnodes::Publish(const std::optional<ServerName>& meta) {
  if (!meta.has_value()) return;
  const Status written = Write(zk::EncodeMetaServerNode(*meta));
  const std::string error = written.ok() ? std::string() : written.error().ToString();
  if (error == error_) return;
  if (error.empty()) {
    RATCHET_LOG(kInfo, "{} now names hbase:meta's server {} for clients", paths_.MetaServer(), meta->ToString());
  } else {
    RATCHET_LOG(kWarn, "cannot write hbase:meta's server to {} for clients, retrying each second: {}",
                paths_.MetaServer(), error);
  }
  error_ = error;
}

void ClientZnodes::Withdraw() {
  const auto node = session_.Get(paths_.MetaServer());
  if (!node.ok()) return;  // absent, or ZooKeeper does not answer; the next check follows in a second
  const Status deleted = session_.Delete(paths_.MetaServer(), node->version);
  if (deleted.ok())
    RATCHET_LOG(kWarn,
                "Removed {}, which an earlier master has published: this master runs without --publish-client-znodes, "
                "and clients would follow an old location of hbase:meta",
                paths_.MetaServer());
  else
    RATCHET_LOG(kWarn, "Cannot remove {}: {}", paths_.MetaServer(), deleted.error().ToString());
}

}  // namespace ratchet::master
