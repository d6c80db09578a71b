// EarlyDetection: a master's watches that find the end of a member before its ZooKeeper session ends, and the calls
// that they make. DeathWatch and SilenceWatch watch the region servers of the active master, ActiveWatch the active
// master of a standby (S121: early findings are positive; S124: silence needs three witnesses).
//
// Owned by the process, which makes it before its channels and its server, and destroys it after them. Thread-safe
// after the start.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/model/server_name.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/server.h"
#include "master/process/active_watch.h"
#include "master/process/death_watch.h"
#include "master/process/silence_watch.h"

namespace ratchet::master {

class EarlyDetection {
 public:
  struct Deps {
    const Clock& clock;
    bool silence = false;  // --silence-detection
    // The region servers of the active master; empty while this master is not active.
    std::function<std::vector<ServerName>()> online{};
    // The region servers that ZooKeeper lists.
    std::function<std::vector<ServerName>()> registered{};
    std::function<void(const ServerName& server, const std::string& why)> expire{};
    // The active master is gone.
    std::function<void(const ServerName& master)> replace{};
  };
  explicit EarlyDetection(Deps deps);
  EarlyDetection(const EarlyDetection&) = delete;
  EarlyDetection& operator=(const EarlyDetection&) = delete;

  // The start, in this order: with the options of the channels, with the channels, with the options of the server.
  void Hear(rpc::ChannelPoolOptions& options);
  void Use(rpc::ChannelPool& channels) { channels_ = &channels; }
  void Hear(rpc::ServerOptions& options);
  // Begins to look for silent servers, if the setting is on.
  void Start();

  // A heartbeat of `server` came on this connection.
  void HeardFrom(const ServerName& server, std::uint64_t connection) { deaths_.HeardFrom(server, connection); }
  // The active master that this standby sees; nullopt: none, or this master is active itself.
  void Follow(const std::optional<ServerName>& active) { active_.Follow(active); }

  // Waits for the calls and probes that are in progress.
  void Stop();
  void StopChannels();

 private:
  [[nodiscard]] DeathWatch::Deps ForServers();
  [[nodiscard]] ActiveWatch::Deps ForTheActiveMaster();
  [[nodiscard]] SilenceWatch::Deps ForSilence();
  [[nodiscard]] Result<rpc::ProbeVerdict> SecondOpinion(const ServerName& other, const ServerName& suspect);

  const Deps deps_;
  rpc::ChannelPool* channels_ = nullptr;
  std::unique_ptr<rpc::ChannelPool> pulses_;  // orders and pulses do not delay each other; null without `silence`
  DeathWatch deaths_;
  ActiveWatch active_;  // follows no master before the election begins
  SilenceWatch silence_;
};

}  // namespace ratchet::master
