#include "master/process/client_znodes.h"

#include "common/base/log.h"
#include "common/model/codec.h"
#include "common/model/proto/registry.pb.h"
#include "common/model/proto/zookeeper.pb.h"

namespace ratchet::master {
namespace {

// FF, length of an id, the id, "PBUF", message (reference wire protocol 2.1).
std::string Envelope(const std::string& message) {
  const std::string id = "ratchet-master";
  std::string bytes = "\xff";
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>((id.size() >> shift) & 0xff));
  return bytes + id + "PBUF" + message;
}

}  // namespace

Status ClientZnodes::Replace(const std::string& path, const std::string& data) {
  const Status deleted = session_.Delete(path);
  if (!deleted.ok() && deleted.error().code() != Code::kNotFound) return deleted;
  return session_.Create(path, data, zk::NodeKind::kEphemeral);
}

void ClientZnodes::Publish(const std::optional<ServerName>& meta) {
  if (!id_published_) {
    hbase::pb::ClusterId id;
    id.set_cluster_id(cluster_id_);
    id_published_ = Replace(paths_.parent + "/hbaseid", Envelope(id.SerializeAsString())).ok();
  }
  if (!meta.has_value() || meta == published_) return;
  hbase::pb::MetaRegionServer node;
  ToProto(*meta, *node.mutable_server());
  node.set_rpc_version(0);
  node.set_state(hbase::pb::RegionState::OPEN);
  const Status written = Replace(paths_.parent + "/meta-region-server", Envelope(node.SerializeAsString()));
  if (written.ok()) {
    published_ = meta;
  } else {
    RATCHET_LOG(kWarn, "Cannot publish meta's location for clients: {}", written.error().ToString());
  }
}

}  // namespace ratchet::master
