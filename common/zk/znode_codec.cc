#include "common/zk/znode_codec.h"

#include "common/model/name_rules.h"
#include "common/model/proto/common.pb.h"
#include "common/model/proto/registry.pb.h"
#include "common/model/proto/zookeeper.pb.h"

namespace ratchet::zk {
namespace {

constexpr char kMagic = '\xff';
constexpr std::string_view kProtobufMark = "PBUF";
constexpr std::string_view kWriterId = "ratchet";  // every client ignores it
constexpr std::size_t kMaxIdBytes = 65'000;        // maximum that clients accept

std::string Wrap(const std::string& message) {
  std::string bytes(1, kMagic);
  const auto length = static_cast<std::uint32_t>(kWriterId.size());
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(length >> shift & 0xff);
  bytes += kWriterId;
  bytes += kProtobufMark;
  return bytes + message;
}

Error Damaged(const char* why) { return {Code::kCorruption, fmt::format("the znode is not one of ours: {}", why)}; }

Result<std::string_view> Unwrap(std::string_view bytes) {
  if (bytes.size() < 5 || bytes[0] != kMagic) return Damaged("it does not begin with FF and a length");
  std::size_t length = 0;
  for (int i = 1; i <= 4; ++i) length = length << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  if (length == 0 || length > kMaxIdBytes || bytes.size() < 5 + length) return Damaged("the length of its id is wrong");
  bytes.remove_prefix(5 + length);
  if (!bytes.starts_with(kProtobufMark)) return Damaged("PBUF is missing");
  return bytes.substr(kProtobufMark.size());
}

}  // namespace

std::string EncodeMasterNode(const MasterNode& node) {
  hbase::pb::Master message;
  message.mutable_master()->set_host_name(node.server.host);
  message.mutable_master()->set_port(node.server.port);
  message.mutable_master()->set_start_code(node.server.start_code);
  message.set_rpc_version(0);
  message.set_info_port(node.info_port);
  return Wrap(message.SerializeAsString());
}

Result<MasterNode> DecodeMasterNode(std::string_view bytes) {
  RATCHET_ASSIGN(const std::string_view body, Unwrap(bytes));
  hbase::pb::Master message;
  if (!message.ParsePartialFromArray(body.data(), static_cast<int>(body.size())) || !message.IsInitialized()) {
    return Damaged("the message cannot be parsed");
  }
  if (message.master().port() == 0 || message.master().port() > 65'535) return Damaged("the port is out of range");
  if (!CheckHost(message.master().host_name()).ok()) return Damaged("the host is not a host name");
  MasterNode node;
  node.server.host = message.master().host_name();
  node.server.port = static_cast<std::uint16_t>(message.master().port());
  node.server.start_code = message.master().start_code();
  node.info_port = message.info_port();
  return node;
}

std::string EncodeClusterIdNode(const std::string& cluster_id) {
  hbase::pb::ClusterId message;
  message.set_cluster_id(cluster_id);
  return Wrap(message.SerializeAsString());
}

Result<std::string> DecodeClusterIdNode(std::string_view bytes) {
  RATCHET_ASSIGN(const std::string_view body, Unwrap(bytes));
  hbase::pb::ClusterId message;
  if (!message.ParsePartialFromArray(body.data(), static_cast<int>(body.size())) || !message.IsInitialized()) {
    return Damaged("the message cannot be parsed");
  }
  if (message.cluster_id().empty()) return Damaged("it names no cluster");
  return message.cluster_id();
}

std::string EncodeMetaServerNode(const ServerName& server) {
  hbase::pb::MetaRegionServer message;
  message.mutable_server()->set_host_name(server.host);
  message.mutable_server()->set_port(server.port);
  message.mutable_server()->set_start_code(server.start_code);
  message.set_rpc_version(0);
  message.set_state(hbase::pb::RegionState::OPEN);
  return Wrap(message.SerializeAsString());
}

std::string EncodeRegionServerNode(std::uint32_t info_port, std::string_view version) {
  hbase::pb::RegionServerInfo message;
  message.set_infoport(static_cast<std::int32_t>(info_port));
  auto* info = message.mutable_version_info();
  info->set_version(std::string(version));
  info->set_url("");
  info->set_revision("");
  info->set_user("");
  info->set_date("");
  info->set_src_checksum("");
  return Wrap(message.SerializeAsString());
}

}  // namespace ratchet::zk
