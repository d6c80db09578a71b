// The open regions that one region server reports: a full list, then changes (regionserver/host/online_list.h is the
// sender). Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ratchet::master {

// A region that a server reports as open, with its order.
struct OnlineRegion {
  std::string encoded;
  std::uint64_t open_number = 0;  // 0: not reported
};

// One list as received. Without a number (0) it is a full list of a server that never sends changes.
struct RegionList {
  std::uint64_t number = 0;
  std::uint64_t base = 0;  // the list that this one changes; 0: `open` is the full list
  std::vector<OnlineRegion> open;
  std::vector<std::string> closed;
  std::uint64_t size = 0;    // number of regions in the whole set
  std::uint64_t digest = 0;  // digest of the whole set; checked only in a list with a number
};

class ReportedRegions {
 public:
  // Applies the list and adds the names of regions that were opened, closed or reopened under another order to
  // `changed`. Returns false if it rejects the list: the list changes an unknown list, is older than the newest one, or
  // does not match the server's size and digest. After that the server's regions are unknown until a full list arrives.
  bool Take(const RegionList& list, std::vector<std::string>* changed);
  // Number of the current list; 0 if there is none or it has no number.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& open() const { return open_; }

 private:
  void Set(const OnlineRegion& region, std::vector<std::string>* changed);
  void Erase(const std::string& encoded, std::vector<std::string>* changed);
  [[nodiscard]] bool AddsUp(const RegionList& list) const;

  std::map<std::string, std::uint64_t> open_;
  std::uint64_t number_ = 0;
  std::uint64_t newest_ = 0;  // greatest received number
  std::uint64_t digest_ = 0;
};

}  // namespace ratchet::master
