// SilenceJudge: decides which region servers are silent because their processes are stopped, or cut off from the
// network. Pure logic: no threads, no clock, no connections; silence_watch.h is the shell.
//
// Each server gets a pulse (common/rpc/pulse.h) every kPulse, one at a time. A server whose pulse is not answered
// within the limit of its WaitBook is suspected. Then this master and two other servers ask it on other connections,
// and all three must find silence (S124: silence needs three witnesses). Vetoes: this master was late itself since the
// pulse was sent, or more than max(1, a third) of the servers are overdue at once.
//
// Times only rise. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/model/server_name.h"
#include "common/rpc/pulse.h"
#include "master/process/wait_book.h"

namespace ratchet::master {

class SilenceJudge {
 public:
  static constexpr Millis kTick{50};    // interval of Tick
  static constexpr Millis kLate{100};   // delay of a tick from which on this master does not trust itself
  static constexpr Millis kPulse{100};  // between two pulses of one server
  static constexpr std::size_t kPulsesPerMilli = 1;
  static constexpr Millis kPatience{150};  // of the three witnesses
  static constexpr Millis kAnswersWithin = kPatience + kLate;
  static constexpr Millis kInquiriesApart{1'000};     // of one server
  static constexpr std::size_t kMostServers = 1'000;  // the others are left to ZooKeeper

  // Names one pulse; a late answer to an earlier one has another number.
  struct Pulse {
    ServerName server;
    std::uint64_t number = 0;
  };
  struct Inquiry {
    std::uint64_t number = 0;
    ServerName suspect;
    std::array<ServerName, 2> others;  // witnesses next to this master
  };
  enum class Verdict : std::uint8_t { kSilent, kAnswered, kNotConfirmed, kLate, kTooMany };
  struct Judgement {
    ServerName suspect;
    Verdict verdict = Verdict::kNotConfirmed;
    Millis silent{0};  // age of the pulse
    Millis limit{0};
    std::array<ServerName, 2> others;
  };
  // The shell carries these out in this order.
  struct Actions {
    std::optional<Judgement> judgement{};
    std::optional<Inquiry> inquiry{};
    std::vector<Pulse> pulses{};
  };

  // `online`: the servers that are online now.
  [[nodiscard]] Actions Tick(const std::vector<ServerName>& online, TimePoint now);
  // Returns true if there are servers, and enough waits of each are known.
  [[nodiscard]] bool Ready(TimePoint now) const;
  void PulseEnded(const Pulse& pulse, rpc::PulseEnd end, TimePoint now);
  // `witness`: 0 is this master, 1 and 2 are the others.
  void WitnessEnded(std::uint64_t inquiry, std::size_t witness, rpc::PulseEnd end);

 private:
  struct Server {
    WaitBook waits{};
    std::uint64_t pulse = 0;  // number of the pulse that is not answered; 0: none
    TimePoint sent{};         // of that pulse, or of the last one
    TimePoint since{};        // the silence counts from here: `sent`, or the end of a delay of this master
    TimePoint next_inquiry{};
  };
  struct Open {
    Inquiry inquiry;
    std::uint64_t pulse = 0;
    TimePoint begun{};
    std::array<std::optional<rpc::PulseEnd>, 3> found{};
  };

  void SetOnline(const std::vector<ServerName>& online, TimePoint now);
  [[nodiscard]] bool NoteTick(TimePoint now);
  [[nodiscard]] std::vector<Pulse> DuePulses(TimePoint now);
  [[nodiscard]] std::optional<Inquiry> Suspect(TimePoint now);
  [[nodiscard]] std::optional<std::array<ServerName, 2>> Witnesses(const ServerName& suspect, TimePoint now);
  [[nodiscard]] std::optional<Judgement> Judge(TimePoint now);
  [[nodiscard]] Verdict VerdictOn(const Open& open, TimePoint now) const;
  // Servers whose pulse is older than half of their limit.
  [[nodiscard]] std::size_t Overdue(TimePoint now) const;
  [[nodiscard]] static Millis SilenceOf(const Server& server, TimePoint now);

  std::map<ServerName, Server> servers_;
  std::optional<TimePoint> last_tick_;
  std::optional<Open> open_;
  std::uint64_t numbers_ = 0;
  ServerName last_pulsed_;  // pulses are sent in turn
  std::size_t turn_ = 0;    // of the witnesses
  bool late_ = false;       // since the inquiry began
};

}  // namespace ratchet::master
