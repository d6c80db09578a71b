#include "common/client/master_finder.h"

#include <algorithm>
#include <optional>

#include "common/base/host_port.h"
#include "common/base/mutex.h"
#include "common/zk/master_election.h"
#include "common/zk/zk_session.h"

namespace ratchet::client {
namespace {

class ZooKeeperFinder final : public MasterFinder {
 public:
  ZooKeeperFinder(std::string servers, std::string parent, Millis session_timeout)
      : servers_(std::move(servers)), paths_{std::move(parent)}, session_timeout_(session_timeout) {}

  Result<rpc::Endpoint> Find(Millis patience) override {
    MutexLock lock(mutex_);
    if (cached_) return *cached_;
    if (session_ == nullptr || session_->state() == zk::SessionState::kExpired) {
      session_.reset();
      RATCHET_ASSIGN(session_, zk::ZkSession::Open({servers_, session_timeout_}));
    }
    const Status connected = session_->WaitConnected(std::min(patience, session_timeout_));
    if (!connected.ok()) {
      return Error(Code::kUnavailable,
                   fmt::format("ZooKeeper at {} does not answer: {}", servers_, connected.error().message()));
    }
    auto master = zk::ReadMaster(*session_, paths_);
    if (!master.ok()) {
      if (master.error().code() == Code::kNotFound) return Error(Code::kUnavailable, "no master is active");
      return Error(Code::kUnavailable,
                   fmt::format("reading the active master from ZooKeeper: {}", master.error().message()));
    }
    cached_ = rpc::Endpoint{master->server.host, master->server.port};
    return *cached_;
  }

  void Forget() override {
    MutexLock lock(mutex_);
    cached_.reset();
  }

  std::string Describe() const override { return "ZooKeeper at " + servers_; }

 private:
  const std::string servers_;
  const zk::ZkPaths paths_;
  const Millis session_timeout_;
  Mutex mutex_;
  std::unique_ptr<zk::ZkSession> session_ GUARDED_BY(mutex_);
  std::optional<rpc::Endpoint> cached_ GUARDED_BY(mutex_);
};

class ListFinder final : public MasterFinder {
 public:
  explicit ListFinder(std::vector<rpc::Endpoint> masters) : masters_(std::move(masters)) {}

  Result<rpc::Endpoint> Find(Millis /*patience*/) override {
    MutexLock lock(mutex_);
    return masters_[current_];
  }

  void Forget() override {
    MutexLock lock(mutex_);
    current_ = (current_ + 1) % masters_.size();
  }

  std::string Describe() const override { return "a list of masters"; }

 private:
  const std::vector<rpc::Endpoint> masters_;
  Mutex mutex_;
  std::size_t current_ GUARDED_BY(mutex_) = 0;
};

}  // namespace

std::unique_ptr<MasterFinder> MakeZooKeeperFinder(std::string servers, std::string znode_parent,
                                                  Millis session_timeout) {
  return std::make_unique<ZooKeeperFinder>(std::move(servers), std::move(znode_parent), session_timeout);
}

Result<std::unique_ptr<MasterFinder>> MakeListFinder(const std::vector<std::string>& masters) {
  std::vector<rpc::Endpoint> endpoints;
  for (const auto& text : masters) {
    auto address = SplitHostPort(text);
    if (!address.has_value())
      return Error(Code::kInvalidArgument, fmt::format("master '{}': expected host:port or [IPv6 address]:port", text));
    endpoints.push_back({std::move(address->host), address->port});
  }
  if (endpoints.empty()) return Error(Code::kInvalidArgument, "the list of masters is empty");
  return std::unique_ptr<MasterFinder>(std::make_unique<ListFinder>(std::move(endpoints)));
}

}  // namespace ratchet::client
