// No early finding is about a process that lives (S121: early findings are positive, S124: silence needs three
// witnesses). Pure.
//
// The masters' logs have each finding with its time. A process lived at least until the last line that it logged, until
// the driver killed it, or until now if it still runs. So a finding is false if the process lived longer, except if a
// fault in progress excuses the finding: the driver had stopped or starved the process, or had cut it off from all
// three witnesses (silence), or made its port refuse (refusal). All times are wall clocks of one machine. A process
// whose clock a fault has changed logs wrong times, so these lines have no time here, and a finding without a time is
// counted as not judged.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/cluster/cluster_spec.h"
#include "chaos/report/run_record.h"

namespace ratchet::chaos {

// A fault that was healed may excuse a finding for this long: the inquiry began before.
inline constexpr std::int64_t kSilenceExcusedMs = 1'000;
inline constexpr std::int64_t kRefusalExcusedMs = 2'000;

// The bytes of a process's log that were written while a fault changed its clock.
struct WrongClock {
  std::vector<std::string> victims;
  std::map<std::string, std::uint64_t> from;  // by process
  std::map<std::string, std::uint64_t> to;    // empty: up to the end
};

// "Server <name> is expired: <why>", or "the active master <name> is gone: <why>", which a standby logs.
struct LoggedDeath {
  std::string finder;                 // "master-1"
  std::optional<std::int64_t> at_ms;  // nullopt: the finder's clock was wrong
  std::string server;                 // "host,port,startcode"
  std::string reason;                 // "connection refused"
  std::string why;
  bool of_master = false;
  bool operator==(const LoggedDeath&) const = default;
};

// One incarnation of a process: a process that restarts itself begins another one.
struct LoggedLife {
  std::string process;                      // "rs-2"
  std::string server;                       // "host,port,startcode"
  std::optional<std::int64_t> lived_until;  // at least; nullopt: unknown
  bool operator==(const LoggedLife&) const = default;
};

// Reads the log of one master or region server, line by line, from its first byte.
class MemberLog {
 public:
  // `changes` and `clocks` may contain other processes.
  MemberLog(std::string process, const std::vector<ProcessChange>& changes, const std::vector<WrongClock>& clocks);

  void Read(const std::string& line);
  // Call once, after the last line. `running_at`: the process runs, and this is the time; nullopt: it does not run.
  void End(std::optional<std::int64_t> running_at);

  [[nodiscard]] const std::vector<LoggedDeath>& deaths() const { return deaths_; }
  [[nodiscard]] const std::vector<LoggedLife>& lives() const { return lives_; }

 private:
  // From one start by the driver to the next one.
  struct Run {
    std::uint64_t log_from = 0;
    std::optional<std::int64_t> killed_ms{};
    std::optional<std::int64_t> asked_to_stop_ms{};
  };
  struct Span {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  void Begin(std::string_view server);
  void Close(bool last_of_run, std::optional<std::int64_t> running_at = std::nullopt);
  void ReadDeath(const std::string& line, std::string_view text, bool right_clock);
  [[nodiscard]] bool RightClock(std::uint64_t offset) const;

  const std::string process_;
  std::vector<Run> runs_;
  std::vector<Span> wrong_clock_;
  std::vector<LoggedDeath> deaths_;
  std::vector<LoggedLife> lives_;
  std::uint64_t offset_ = 0;
  std::size_t run_ = 0;
  std::string server_;        // of the life in progress; empty: none
  std::string last_line_;     // of this life; empty: none with a right time
  bool ended_ = false;        // by itself
  bool end_unknown_ = false;  // it was asked to stop at an unknown time
};

struct EarlyEvidence {
  std::vector<LoggedDeath> deaths;
  std::vector<LoggedLife> lives;
  std::vector<ProcessChange> changes;
  std::vector<FaultLine> faults;
};

struct EarlyVerdict {
  DeathFigures figures;
  Finding finding;
};

// A run without findings is good.
[[nodiscard]] EarlyVerdict JudgeEarlyFindings(const EarlyEvidence& evidence);

}  // namespace ratchet::chaos
