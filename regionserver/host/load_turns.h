// LoadTurns: which loads of regions a server's report has. Each report looks at some regions in turn, and at new ones,
// and has the loads that changed since the master acknowledged them.
//
// S168 (unchanged is not unknown): a load is left out only if an answer has acknowledged it. Each report counts the
// regions whose load the master must have (`held`), so that a master with fewer asks for all of them. It also reports
// the end of a round (`complete`), in which the server has looked at every region and sent every changed load. Only
// then does an absent load mean an unchanged one.
//
// The master's answer has the server's share of all loads a second. A master of version 0.2 gives no share, and does
// not count loads: it gets each load kRepeatsOfQuiet times, and again after kRepeatLoad. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"

namespace ratchet::regionserver {

class LoadTurns {
 public:
  static constexpr std::size_t kLooksAReport = 1'000;
  static constexpr std::size_t kLoadsBeforeAShare = 100;  // in the first report to a master
  static constexpr Millis kLongestShare{10'000};          // a share does not grow during a longer silence
  static constexpr int kRepeatsOfQuiet = 4;               // reports of a load after its last change, without a share
  static constexpr Millis kRepeatLoad{120'000};

  struct Report {
    bool complete = false;   // the end of a round
    std::uint64_t held = 0;  // regions whose load the master has once it has taken this report
  };
  struct Answer {
    bool taken = false;                           // the master took the last report
    std::optional<std::uint32_t> loads_a_second;  // this server's share
    bool all = false;                             // the master lacks some of the held loads
  };
  // Reads the region's load and returns its hash; nullopt: the region has none now.
  using Look = std::function<std::optional<std::size_t>(const std::string& encoded_name)>;
  // Adds the load that was read last to the report.
  using Send = std::function<void(const std::string& encoded_name)>;

  explicit LoadTurns(std::size_t looks_a_report = kLooksAReport) : looks_a_report_(looks_a_report) {}

  void Opened(const std::string& encoded_name);
  void Closed(const std::string& encoded_name);
  // Chooses the loads of the next report. The previous report counts as lost, unless Answered was called.
  Report Next(TimePoint now, const Look& look, const Send& send);
  void Answered(const Answer& answer);
  // Call when there is another master, which has no load.
  void StartAnew();

 private:
  struct Known {
    std::size_t load = 0;  // hash of the load that was sent last
    int sent = 0;          // reports with this load; 0: none, or the master may not have it
    TimePoint sent_at{};
  };
  void Unsend(Known& known);
  void UnsendAll();
  [[nodiscard]] std::size_t Allowed(TimePoint now) const;
  [[nodiscard]] bool IsDue(const Known& known, std::size_t load, TimePoint now) const;
  // Returns false if the load is due and may not be sent in this report.
  bool Take(const std::string& encoded_name, Known& known, TimePoint now, const Look& look, const Send& send);

  const std::size_t looks_a_report_;
  std::map<std::string, Known> regions_;
  std::vector<std::string> sent_;   // regions with a load in the last report
  std::vector<std::string> fresh_;  // opened since the last report
  std::string last_;                // the last region whose turn it was
  std::size_t left_ = 0;            // looks until the round ends
  std::size_t allowed_ = 0;         // loads that may be added to this report
  std::uint64_t held_ = 0;          // regions with `sent` above 0
  bool answered_ = false;           // this master has answered
  std::optional<std::uint32_t> loads_a_second_;
  std::optional<TimePoint> reported_at_;
};

}  // namespace ratchet::regionserver
