// The bytes of HBase's znodes: FF, length of an id (big-endian, 4 bytes), id, "PBUF", protobuf message.
// (docs/wire-compatibility.md). Pure functions, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/server_name.h"

namespace ratchet::zk {

struct MasterNode {
  ServerName server;
  std::uint32_t info_port = 0;  // 0: no status page
};

[[nodiscard]] std::string EncodeMasterNode(const MasterNode& node);
// kCorruption with the reason when the bytes are not in the form that EncodeMasterNode or HBase writes.
[[nodiscard]] Result<MasterNode> DecodeMasterNode(std::string_view bytes);

[[nodiscard]] std::string EncodeClusterIdNode(const std::string& cluster_id);
// kCorruption as above; also for an empty id.
[[nodiscard]] Result<std::string> DecodeClusterIdNode(std::string_view bytes);

// The location of hbase:meta, for clients.
[[nodiscard]] std::string EncodeMetaServerNode(const ServerName& server);

[[nodiscard]] std::string EncodeRegionServerNode(std::uint32_t info_port, std::string_view version);

}  // namespace ratchet::zk
