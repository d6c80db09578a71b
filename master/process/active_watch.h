// ActiveWatch: lets a standby find out that the active master's process is gone before its ZooKeeper session ends.
//
// The standby calls the active master every kPulse, and at once when its connection to the active master has ended. A
// failed call is the hint. Then it probes the address (common/rpc/address_probe.h), and one region server must come to
// the same finding. A wrong finding would cost an
// election and no data: the claim of the procedure store decides which master owns the cluster (S7: seal before acting,
// to S9: claims are never removed).
//
// Owned by the process. Thread-safe. Works on a thread of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/model/server_name.h"
#include "common/rpc/address_probe.h"
#include "common/rpc/channel.h"
#include "master/process/second_opinion.h"

namespace ratchet::master {

class ActiveWatch {
 public:
  static constexpr Millis kPulse{50};
  static constexpr Millis kInquiriesApart{1'000};  // of one active master, after an inquiry without a finding

  struct Deps {
    const Clock& clock;
    // Calls the active master once. Returns false if the connection ended or could not be made; silence is not
    // evidence, because the process may be paused. Blocks for about a second at most.
    std::function<bool(const ServerName&)> reaches{};
    // Probes once, from here. Blocks for about 100 ms at most.
    std::function<rpc::ProbeFinding(const ServerName&)> probe{};
    std::function<std::vector<ServerName>()> region_servers{};
    AskForOpinion ask{};
    // The active master is gone.
    std::function<void(const ServerName&, const std::string& why)> remove{};
  };
  explicit ActiveWatch(Deps deps);
  ~ActiveWatch();  // Stop()
  ActiveWatch(const ActiveWatch&) = delete;
  ActiveWatch& operator=(const ActiveWatch&) = delete;

  // The active master that this standby sees; nullopt: none, or this master is active itself. Does not wait.
  void Follow(const std::optional<ServerName>& active);
  // A connection of this process to this address has ended. Does not wait.
  void ConnectionEnded(const rpc::Endpoint& endpoint);
  // Waits for the call or the probe that is in progress.
  void Stop();

  // Ended inquiries, for tests.
  struct Counts {
    std::uint64_t gone = 0, alive = 0, no_finding = 0, not_confirmed = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  void Work();
  void Inquire(const ServerName& suspect);
  void Tell(std::string text);
  [[nodiscard]] bool Follows(const ServerName& suspect) const;
  // Returns false if `suspect` is no longer followed.
  [[nodiscard]] bool Pause(const ServerName& suspect, Millis duration);
  // Waits for kPulse, or until a connection to `active` has ended.
  void AwaitPulse(const ServerName& active);

  const Deps deps_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::optional<ServerName> active_ GUARDED_BY(mutex_);
  bool ended_ GUARDED_BY(mutex_) = false;  // a connection to it, since the last call
  Counts counts_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::string told_;    // touched by the thread only: the last line of the log
  std::thread thread_;  // last: it uses the others
};

}  // namespace ratchet::master
