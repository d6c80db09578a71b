// Measures the memory growth of a process that attacks caused, beyond the growth from other clients' writes.
//
// Other clients write all the time, so memstores and caches also grow between attacks; only faster growth during
// attacks is attributed to them. Not thread-safe; keeps one entry for each process of a run.
#pragma once

#include <cstdint>
#include <map>

#include "common/base/clock.h"

namespace ratchet::chaos {

class GrowthBook {
 public:
  void Begin(int pid, std::uint64_t resident_bytes, TimePoint now) {
    Page& page = pages_[pid];
    if (page.known) page.between.Add(page.resident, resident_bytes, now - page.at);
    page.known = true;
    page.resident = resident_bytes;
    page.at = now;
  }
  // Returns the bytes from all attacks on this process so far; negative: it grew less during attacks than between them.
  [[nodiscard]] double End(int pid, std::uint64_t resident_bytes, TimePoint now) {
    Page& page = pages_[pid];
    if (page.known) page.during.Add(page.resident, resident_bytes, now - page.at);
    page.known = true;
    page.resident = resident_bytes;
    page.at = now;
    const double share = page.between.seconds > 0 ? page.during.seconds / page.between.seconds : 0;
    return page.during.bytes - page.between.bytes * share;
  }

 private:
  struct Span {
    double bytes = 0;
    double seconds = 0;
    void Add(std::uint64_t from, std::uint64_t to, TimePoint::duration took) {
      bytes += static_cast<double>(to) - static_cast<double>(from);
      seconds += std::chrono::duration<double>(took).count();
    }
  };
  struct Page {
    bool known = false;
    std::uint64_t resident = 0;
    TimePoint at{};
    Span during;
    Span between;
  };
  std::map<int, Page> pages_;
};

}  // namespace ratchet::chaos
