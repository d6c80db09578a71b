// SilenceWatch: finds region servers whose process is stopped or cut off from the network, before their ZooKeeper
// sessions end. It carries out what SilenceJudge decides.
//
// A wrong finding would cost the time of a crash procedure and no data: the fence decides (S1: check after sync, to S5:
// rising start code). Owned by the process. Thread-safe. Ticks on a thread of its own, which never waits for an answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/model/server_name.h"
#include "common/rpc/pulse.h"
#include "master/process/silence_judge.h"

namespace ratchet::master {

class SilenceWatch {
 public:
  using Done = std::function<void(rpc::PulseEnd)>;
  struct Deps {
    const Clock& clock;
    std::function<std::vector<ServerName>()> online{};  // empty while this master is not active
    // These ask and return; the answer may come on any thread, also after the end of this object. A pulse may wait for
    // long, the others wait for SilenceJudge::kPatience.
    std::function<void(const ServerName&, Done)> pulse{};
    std::function<void(const ServerName&, Done)> ask_self{};  // on another connection than the pulse
    std::function<void(const ServerName& other, const ServerName& suspect, Done)> ask_other{};
    // The mass rule (S121: early findings are positive), which counts all early findings.
    std::function<bool()> believe{};
    std::function<void(const ServerName&, const std::string& why)> expire{};
  };
  explicit SilenceWatch(Deps deps);  // does nothing before Start
  ~SilenceWatch();                   // Stop()
  SilenceWatch(const SilenceWatch&) = delete;
  SilenceWatch& operator=(const SilenceWatch&) = delete;

  // Begins to call Tick every SilenceJudge::kTick.
  void Start();
  // Public for tests, which call it instead of Start.
  void Tick();
  // Waits for the tick that is in progress.
  void Stop();

  // Ended inquiries, for tests and metrics.
  struct Counts {
    std::uint64_t silent = 0, answered = 0, not_confirmed = 0, late = 0, too_many = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct State;
  void Work();
  void Settle(const SilenceJudge::Judgement& judgement);
  void Inquire(const SilenceJudge::Inquiry& inquiry);

  const Deps deps_;
  const std::shared_ptr<State> state_;  // callbacks share it
  bool told_ready_ = false;             // touched by Tick only
  std::thread thread_;
};

}  // namespace ratchet::master
