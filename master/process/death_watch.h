// DeathWatch: finds out that a region server's process is gone before its ZooKeeper session ends.
//
// The end of the connection on which a server sends its heartbeats is the hint. Then this master probes the server's
// address (common/rpc/address_probe.h), and one other region server must come to the same finding: a firewall at the
// master looks like the death of everything. When more than a third of the servers look dead within ten seconds, only
// ZooKeeper decides. A wrong finding would cost the time of a crash procedure and no data: the fence decides (S1: check
// after sync, to S5: rising start code).
//
// Owned by the process. Thread-safe. Probes run on a separate thread, one server after the other, from a bounded queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/base/thread_pool.h"
#include "common/model/server_name.h"
#include "common/rpc/address_probe.h"
#include "master/process/second_opinion.h"

namespace ratchet::master {

// Limits how many findings are believed within a while. Pure; times only rise.
class MassRule {
 public:
  static constexpr Millis kWithin{10'000};
  // A server looks dead at `now`; `servers` are online, this one included. Returns true if the finding may be believed.
  [[nodiscard]] bool Believe(TimePoint now, std::size_t servers);

 private:
  std::deque<TimePoint> found_;  // within kWithin, believed or not
};

class DeathWatch {
 public:
  static constexpr std::size_t kMostConnections = 10'000;
  static constexpr std::size_t kMostWaiting = 64;  // one more is left to ZooKeeper

  struct Deps {
    const Clock& clock;
    std::function<std::vector<ServerName>()> online{};  // empty while this master is not active
    // Probes once, from here. Blocks for about 100 ms at most.
    std::function<rpc::ProbeFinding(const ServerName&)> probe{};
    AskForOpinion ask{};
    std::function<void(const ServerName&, const std::string& why)> expire{};
  };
  explicit DeathWatch(Deps deps);
  ~DeathWatch();  // Stop()
  DeathWatch(const DeathWatch&) = delete;
  DeathWatch& operator=(const DeathWatch&) = delete;

  // A heartbeat of `server` came on this connection (CallContext::connection).
  void HeardFrom(const ServerName& server, std::uint64_t connection);
  // Does not wait.
  void ConnectionEnded(std::uint64_t connection);
  // The mass rule, which counts all early findings. Returns true if one more finding may be believed now.
  [[nodiscard]] bool Believe();
  // Waits for the probe that is in progress.
  void Stop();

  // Ended inquiries, for tests and metrics.
  struct Counts {
    std::uint64_t gone = 0, alive = 0, no_finding = 0, not_confirmed = 0, too_many = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  void Inquire(const ServerName& suspect);
  [[nodiscard]] bool Pause(Millis duration);

  const Deps deps_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::map<std::uint64_t, ServerName> connections_ GUARDED_BY(mutex_);
  std::map<ServerName, std::uint64_t> newest_ GUARDED_BY(mutex_);
  Counts counts_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  MassRule mass_ GUARDED_BY(mutex_);
  ThreadPool inquiries_{{.name = "death-watch", .max_queued = kMostWaiting, .numbered = false}};
};

}  // namespace ratchet::master
