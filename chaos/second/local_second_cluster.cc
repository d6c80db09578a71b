#include "chaos/second/local_second_cluster.h"

#include <array>
#include <deque>
#include <functional>
#include <future>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "chaos/faults/fault.h"
#include "chaos/faults/target.h"
#include "chaos/network/links.h"
#include "common/base/mutex.h"
#include "common/base/thread_name.h"
#include "common/client/connection.h"

namespace ratchet::chaos {
namespace {

constexpr const char* kFirst = "first";  // name of the first cluster's servers in the links
constexpr Millis kOperationTimeout{30'000};
constexpr Millis kAttemptTimeout{2'000};
constexpr std::array<std::string_view, 5> kBroken = {"kill-server", "kill-server", "kill-active-master",
                                                     "kill-all-servers", "pause-server-briefly"};

// Runs one job after the other; the caller waits for each.
class OwnThread {
 public:
  explicit OwnThread(const char* name) : thread_([this, name] { Run(name); }) {}
  ~OwnThread() {
    {
      const MutexLock lock(mutex_);
      ending_ = true;
      changed_.NotifyAll();
    }
    thread_.join();
  }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

  void Do(const std::function<void()>& work) {
    std::promise<void> done;
    {
      const MutexLock lock(mutex_);
      waiting_.emplace_back([&] {
        work();
        done.set_value();
      });
      changed_.NotifyAll();
    }
    done.get_future().wait();
  }

 private:
  void Run(const char* name) {
    SetThreadName(name);
    for (;;) {
      std::function<void()> next;
      {
        const MutexLock lock(mutex_);
        while (waiting_.empty() && !ending_) changed_.Wait(mutex_);
        if (waiting_.empty()) return;
        next = std::move(waiting_.front());
        waiting_.pop_front();
      }
      next();
    }
  }

  Mutex mutex_;
  CondVar changed_;
  bool ending_ GUARDED_BY(mutex_) = false;
  std::deque<std::function<void()>> waiting_ GUARDED_BY(mutex_);  // at most one job per caller
  std::thread thread_;
};

class LocalSecondCluster final : public SecondCluster {
 public:
  LocalSecondCluster() = default;
  ~LocalSecondCluster() override {
    connection_.reset();
    thread_.Do([this] {
      fault_.reset();
      target_.reset();
    });
  }

  [[nodiscard]] Status Boot(SecondClusterSpec spec) {
    Status booted = Ok();
    thread_.Do([&] { booted = BootHere(std::move(spec)); });
    return booted;
  }

  [[nodiscard]] std::string PeerKey() const override { return key_; }
  [[nodiscard]] client::Connection& connection() override { return *connection_; }

  void CutLink(bool vanish) override {
    LinkMode mode = LinkMode::Blackhole();
    if (vanish) mode = {.half_open = true};
    SetLink(mode);
  }
  void JoinLink() override { SetLink({}); }
  [[nodiscard]] std::uint64_t Disturbed() const override {
    std::uint64_t all = zookeeper_link_->Counters({kFirst, "zookeeper"}).Disturbed();
    for (const std::string& name : servers_) all += target_->links()->Counters({kFirst, name}).Disturbed();
    return all;
  }

  [[nodiscard]] Result<std::string> Break(Prng& prng) override {
    Result<std::string> broken = Error(Code::kAborted, "nothing was done");
    thread_.Do([&] { broken = BreakHere(prng); });
    return broken;
  }
  [[nodiscard]] Status Recover(Millis timeout) override {
    Status recovered = Ok();
    thread_.Do([&] { recovered = RecoverHere(timeout); });
    return recovered;
  }
  [[nodiscard]] std::vector<std::string> CollectDefects() override {
    std::vector<std::string> defects;
    thread_.Do([&] {
      for (const Death& death : target_->CollectDeaths()) {
        if (!death.expected) defects.push_back(fmt::format("{} ended with exit code {}", death.name, death.exit_code));
      }
    });
    return defects;
  }
  [[nodiscard]] Status Collect(const std::filesystem::path& folder) override {
    Status collected = Ok();
    thread_.Do([&] { collected = target_->Collect(folder); });
    return collected;
  }

 private:
  Status BootHere(SecondClusterSpec spec) {
    ClusterSpec cluster;
    cluster.dir = spec.dir;
    cluster.bin = spec.bin;
    cluster.masters = spec.masters;
    cluster.servers = spec.servers;
    cluster.session_timeout = spec.session_timeout;
    LocalTargetOptions options;
    options.boot_timeout = spec.boot_timeout;
    options.shims = false;
    options.seed = spec.seed;
    for (const std::uint16_t port : spec.first_servers) options.strangers.emplace(port, kFirst);
    RATCHET_ASSIGN(target_, MakeLocalTarget(std::move(cluster), options));
    for (const Role role : {Role::kMaster, Role::kRegionServer}) {
      for (const std::string& name : target_->Names(role)) servers_.push_back(name);
    }
    // The peer's key has this address of ZooKeeper.
    RATCHET_ASSIGN(const std::uint16_t port, PickFreePort());
    const std::uint16_t behind = target_->OwnPort(target_->Names(Role::kZooKeeper).front());
    RATCHET_ASSIGN(zookeeper_link_, Links::Start({{"zookeeper", kFirst, port, behind}}, spec.seed + 1));
    key_ = fmt::format("127.0.0.1:{}:/hbase", port);
    client::ConnectionOptions connect;
    connect.zookeeper = target_->zookeeper();
    connect.user = "chaos";
    connect.operation_timeout = kOperationTimeout;
    connect.rpc_timeout = kAttemptTimeout;
    RATCHET_ASSIGN(connection_, client::Connection::Open(connect));
    return Ok();
  }

  Result<std::string> BreakHere(Prng& prng) {
    RATCHET_ASSIGN(auto fault, MakeFault(kBroken[prng.Below(kBroken.size())]));
    RATCHET_ASSIGN(const FaultRecord record, fault->Inject(*target_, prng));
    fault_ = std::move(fault);
    return fmt::format("second cluster: {}: {}", record.kind, record.evidence);
  }
  Status RecoverHere(Millis timeout) {
    if (const auto fault = std::move(fault_)) RATCHET_TRY(fault->Heal(*target_));
    return target_->WaitServing(timeout);
  }
  // Links has a thread of its own.
  void SetLink(const LinkMode& mode) {
    zookeeper_link_->Set({kFirst, "zookeeper"}, mode);
    for (const std::string& name : servers_) target_->links()->Set({kFirst, name}, mode);
  }

  std::unique_ptr<Links> zookeeper_link_;
  std::unique_ptr<Target> target_;  // used on the thread only, except for its links
  std::unique_ptr<Fault> fault_;    // the active fault; used by the thread
  std::unique_ptr<client::Connection> connection_;
  std::string key_;
  std::vector<std::string> servers_;
  OwnThread thread_{"second-cluster"};  // last, because it uses the other members
};

}  // namespace

Result<std::unique_ptr<SecondCluster>> MakeLocalSecondCluster(SecondClusterSpec spec) {
  auto cluster = std::make_unique<LocalSecondCluster>();
  RATCHET_TRY(cluster->Boot(std::move(spec)));
  return std::unique_ptr<SecondCluster>(std::move(cluster));
}

}  // namespace ratchet::chaos
