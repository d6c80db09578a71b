#include "master/process/client_znodes.h"

#include "common/base/log.h"
#include "common/zk/znode_codec.h"

namespace ratchet::master {

Status ClientZnodes::Write(const std::string& data) {
  const auto node = session_.Get(paths_.MetaServer());
  if (!node.ok() && node.error().code() != Code::kNotFound) return node.error();
  if (!node.ok()) return session_.Create(paths_.MetaServer(), data, zk::NodeKind::kPersistent);
  if (node->owner_session != 0) {  // a master that made it ephemeral would take it away with itself
    RATCHET_TRY(session_.Delete(paths_.MetaServer(), node->version));
    return session_.Create(paths_.MetaServer(), data, zk::NodeKind::kPersistent);
  }
  if (node->data == data) return Ok();
  return session_.Set(paths_.MetaServer(), data, node->version);
}

void ClientZnodes::Publish(const std::optional<ServerName>& meta) {
  if (!meta.has_value()) return;
  const Status written = Write(zk::EncodeMetaServerNode(*meta));
  if (!written.ok()) RATCHET_LOG(kWarn, "Cannot publish meta's location for clients: {}", written.error().ToString());
}

}  // namespace ratchet::master
