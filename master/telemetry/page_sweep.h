// PageSweep: removes the pages of servers that report no longer. Internal.
#pragma once

#include <cstddef>
#include <map>

#include "common/base/clock.h"

namespace ratchet::master {

// To be called with each report, under the lock of the pages. All pages are looked at once in as many reports as there
// are pages, because a look at each report costs the square of the number of servers.
class PageSweep {
 public:
  // Removes the pages that are older than `age`. A page has the time of its last report in `at`.
  template <class Pages>
  void Count(Pages& pages, TimePoint now, Millis age) {
    if (++reports_ < pages.size()) return;
    reports_ = 0;
    std::erase_if(pages, [now, age](const auto& entry) { return now - entry.second.at > age; });
  }

 private:
  std::size_t reports_ = 0;
};

}  // namespace ratchet::master
