#include "master/process/own_place.h"

#include <chrono>
#include <utility>

#include "common/base/exit_codes.h"
#include "common/base/log.h"
#include "common/zk/cluster_place.h"
#include "common/zk/session_start.h"

namespace ratchet::master {
namespace {
constexpr Millis kConnectSlice{2'000};
constexpr Millis kIdLookAgain{200};
constexpr Millis kLeaveWithin{2'000};
}  // namespace

bool OwnPlace::Connect() {
  paths_.parent = deps_.config.zk_parent;
  zk::SessionStart start({deps_.config.zookeeper, deps_.config.zk_session}, deps_.config.zk_connect_timeout,
                         deps_.clock, deps_.exit);
  auto opened = start.Open();
  if (!opened.ok()) return FailSession(opened.error());
  session_ = std::move(*opened);
  closer_ = std::make_unique<zk::SessionCloser>(*session_);
  const Status connected = start.AwaitConnected(*session_);
  return connected.ok() || FailSession(connected.error());
}

bool OwnPlace::FailSession(const Error& error) {
  deps_.end(zk::ExitCodeWithoutSession(error), error.ToString());  // has no effect after an earlier end
  return false;
}

void OwnPlace::Fail(const Error& error) { deps_.end(zk::ExitCodeWithoutPlace(error), error.message()); }

bool OwnPlace::PresentKeys() {
  access_ = std::make_unique<zk::PlaceAccess>(*session_, paths_);
  auto keys = io::ReadClusterKeys(*deps_.root.directory);
  if (!keys.ok() && keys.error().code() == Code::kNotFound) keys = io::ClusterKeys();
  if (!keys.ok()) {
    deps_.fail_root(keys.error());
    return false;
  }
  while (!deps_.exit.requested().has_value()) {
    const Status begun = access_->Begin(*keys);
    if (begun.ok()) return true;
    if (begun.error().code() != Code::kUnavailable) Fail(begun.error());
    IgnoreResult(session_->WaitConnected(kConnectSlice), "the next try decides");
  }
  return false;
}

bool OwnPlace::Claim() {
  const TimePoint deadline = deps_.clock.Now() + zk::kIdReturnsWithin;
  while (!deps_.exit.requested().has_value()) {
    const auto failure = ClaimPlaceFor(deps_.root, *session_, paths_, deps_.config.adopt_zookeeper);
    if (!failure.has_value()) return true;
    if (failure->of_root) {
      deps_.fail_root(failure->error);
      return false;
    }
    if (failure->error.code() == Code::kUnavailable) {
      IgnoreResult(session_->WaitConnected(kConnectSlice), "the next try decides");
      continue;
    }
    if (IdMayReturn(failure->error, deadline)) {
      static_cast<void>(deps_.exit.WaitFor(kIdLookAgain));
      continue;
    }
    Fail(failure->error);
  }
  return false;
}

bool OwnPlace::IdMayReturn(const Error& error, TimePoint deadline) const {
  if (error.code() != Code::kFailedPrecondition || deps_.clock.Now() >= deadline) return false;
  const auto returns = zk::IdMayReturn(*session_, paths_);
  return returns.ok() && *returns;
}

void OwnPlace::WatchSession() {
  session_->Subscribe([this](zk::SessionState state) {
    RATCHET_LOG(kInfo, "ZooKeeper session: {}", zk::SessionStateName(state));
    {
      const MutexLock lock(mutex_);
      lost_.reset();
      if (state == zk::SessionState::kConnecting) lost_ = deps_.clock.Now();
    }
    if (state == zk::SessionState::kExpired) deps_.end(exit_code::kSessionExpired, "the ZooKeeper session expired");
  });
}

bool OwnPlace::IsStillMine() {
  while (!deps_.exit.requested().has_value()) {
    const Status kept = zk::KeepPlace(*session_, paths_, cluster_id(), /*active=*/false);
    if (kept.ok()) return true;
    if (kept.error().code() != Code::kUnavailable) Fail(kept.error());
    IgnoreResult(session_->WaitConnected(kConnectSlice), "the next try decides");
  }
  return false;
}

std::string OwnPlace::KeepAccess(const std::vector<std::string>& keys, bool leads) {
  Status kept = access_->Take(keys);
  if (kept.ok() && leads) kept = access_->KeepSometimes(deps_.config.closes_zookeeper, deps_.clock.Now());
  const bool wrong = !kept.ok() && kept.error().code() == Code::kFailedPrecondition;
  return wrong ? kept.error().message() : std::string();
}

void OwnPlace::KeepId(bool active) {
  IgnoreResult(zk::KeepPlace(*session_, paths_, cluster_id(), active), "looked at again in a second");
}

std::optional<Millis> OwnPlace::Lost() const {
  const MutexLock lock(mutex_);
  if (!lost_.has_value()) return std::nullopt;
  return std::chrono::duration_cast<Millis>(deps_.clock.Now() - *lost_);
}

bool OwnPlace::Leave() { return closer_ == nullptr || closer_->Close(kLeaveWithin); }

}  // namespace ratchet::master
