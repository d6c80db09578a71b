#include "master/process/zookeeper_start.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "common/base/exit_codes.h"
#include "common/base/log.h"

namespace ratchet::master {
namespace {

constexpr Millis kSlice{2'000};

}  // namespace

ZooKeeperStart::ZooKeeperStart(const MasterConfig& config, const Clock& clock, ExitLatch& exit, End end)
    : config_(config),
      clock_(clock),
      exit_(exit),
      end_(std::move(end)),
      deadline_(clock.Now() + config.zk_connect_timeout) {}

Millis ZooKeeperStart::Left() const {
  return std::max(Millis{0}, std::chrono::duration_cast<Millis>(deadline_ - clock_.Now()));
}

std::unique_ptr<zk::ZkSession> ZooKeeperStart::Open() {
  auto opened = zk::ZkSession::Open({config_.zookeeper, config_.zk_session});
  while (!opened.ok() && opened.error().code() == Code::kUnavailable && clock_.Now() < deadline_) {
    RATCHET_LOG(kWarn, "{}; trying again", opened.error().message());
    if (exit_.WaitFor(std::min(Left(), kSlice))) return nullptr;
    opened = zk::ZkSession::Open({config_.zookeeper, config_.zk_session});
  }
  if (opened.ok()) return std::move(*opened);
  const bool unreachable = opened.error().code() == Code::kUnavailable;
  end_(unreachable ? exit_code::kZooKeeperUnreachable : exit_code::kUsage, opened.error().ToString());
  return nullptr;
}

bool ZooKeeperStart::AwaitConnected(zk::ZkSession& session) {
  while (!exit_.requested().has_value()) {
    if (Left().count() == 0) {
      end_(exit_code::kZooKeeperUnreachable,
           fmt::format("no session with ZooKeeper at {} within {} ms (--zk-connect-timeout-ms)", config_.zookeeper,
                       config_.zk_connect_timeout.count()));
      return false;
    }
    if (session.WaitConnected(std::min(Left(), kSlice)).ok()) return true;
    RATCHET_LOG(kWarn, "ZooKeeper at {} does not answer, trying for another {} ms", config_.zookeeper, Left().count());
  }
  return false;
}

}  // namespace ratchet::master
