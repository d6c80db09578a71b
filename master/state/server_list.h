// What one region server has said it has open: a full list, then changes of it (regionserver/server/online_list.h is
// the other end). Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ratchet::master {

// A region that a server says it has open, and under which order.
struct OnlineRegion {
  std::string encoded;
  std::uint64_t open_seq = 0;  // 0: not told
};

// One list as it came. Without a number (0) it is a full one from a server that tells no changes.
struct RegionList {
  std::uint64_t number = 0;
  std::uint64_t base = 0;  // the list that this one changes; 0: none, `open` is everything
  std::vector<OnlineRegion> open;
  std::vector<std::string> closed;
  std::uint64_t size = 0;    // of the whole set, and
  std::uint64_t digest = 0;  // its digest; looked at only where there is a number
};

class ServerList {
 public:
  // Adds the names of the regions that have come, gone, or are open under another order to `changed`. False: not taken,
  // because it changes a list that is not here, is older than the newest one that came, or does not add up to the
  // server's set. Then nothing is known of the server's regions until a full one comes.
  bool Take(const RegionList& list, std::vector<std::string>* changed);
  // The number of the list that is here; 0: none, or one without a number.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& open() const { return open_; }

 private:
  void Set(const OnlineRegion& region, std::vector<std::string>* changed);
  void Erase(const std::string& encoded, std::vector<std::string>* changed);
  [[nodiscard]] bool AddsUp(const RegionList& list) const;

  std::map<std::string, std::uint64_t> open_;
  std::uint64_t number_ = 0;
  std::uint64_t newest_ = 0;  // number that came
  std::uint64_t digest_ = 0;
};

}  // namespace ratchet::master
