#include "master/process/refusal.h"

#include <memory>

#include <fmt/core.h>

#include "common/base/host_port.h"
#include "common/base/log.h"
#include "common/io/cluster_id.h"
#include "common/io/cluster_key.h"
#include "common/io/disk.h"
#include "common/zk/place_access.h"
#include "common/zk/refused_start.h"

namespace ratchet::master {
namespace {

constexpr Millis kConnectPatience{5'000};

Status Note(const MasterConfig& config, zk::ZkSession* session, const std::string& text) {
  RATCHET_ASSIGN(const std::unique_ptr<io::Directory> root, io::PosixDisk().Open(config.root));
  RATCHET_ASSIGN(const std::string cluster_id, io::ReadClusterId(*root));
  std::unique_ptr<zk::ZkSession> own;
  if (session == nullptr) {
    RATCHET_ASSIGN(own, zk::ZkSession::Open({config.zookeeper, config.zk_session}));
    RATCHET_TRY(own->WaitConnected(kConnectPatience));
    session = own.get();
  }
  zk::ZkPaths paths;
  paths.parent = config.zk_parent;
  if (own != nullptr) {
    if (const auto keys = io::ReadClusterKeys(*root); keys.ok()) {
      RATCHET_TRY(zk::PlaceAccess(*session, paths).Begin(*keys));
    }
  }
  return zk::NoteRefusedStart(*session, paths, cluster_id, text);
}

}  // namespace

std::string RefusalStart(const MasterConfig& config) {
  return JoinHostPort(config.host, static_cast<std::uint16_t>(config.port)) + ": ";
}

std::optional<std::string> RefusalProblem(zk::ZkSession& session, const zk::ZkPaths& paths) {
  const auto refused = zk::ReadRefusedStart(session, paths);
  if (refused.ok()) {
    return fmt::format(
        "MASTER_REFUSED: a master was refused at its start: {}; repair what the cause names ('ratchet-master "
        "--check-root --root ROOT'), then start that master again",
        *refused);
  }
  return refused.error().code() == Code::kNotFound ? std::optional(std::string()) : std::nullopt;
}

void NoteRefusal(const MasterConfig& config, zk::ZkSession* session, const std::string& why) {
  const Status noted = Note(config, session, RefusalStart(config) + why);
  if (!noted.ok()) RATCHET_LOG(kWarn, "Cannot write the cause to ZooKeeper: {}", noted.error().ToString());
}

}  // namespace ratchet::master
