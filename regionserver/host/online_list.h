// The list of open regions that a server reports to the master: first a full list, then the changes since the last list
// that the master has acknowledged.
//
// A list names its base list. The master accepts it only if it has that base, and answers with the number of the list
// that it has then. If the answer has no number or another one, the next list is a full one. A process never reuses a
// number, so a master with another server's list, an older list or none is detected. Each list carries the size and
// digest of the whole set, so that both sides know that they have the same set. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace hbase::pb {
class RegionServerReportRequest;
}

namespace ratchet::regionserver {

class OnlineList {
 public:
  struct List {
    std::uint64_t number = 0;
    std::uint64_t base = 0;                                   // 0: a full list
    std::vector<std::pair<std::string, std::uint64_t>> open;  // encoded name -> number of the opening
    std::vector<std::string> closed;
    std::uint64_t size = 0;    // size of the whole set
    std::uint64_t digest = 0;  // digest of the whole set
  };

  void Opened(const std::string& encoded_name, std::uint64_t open_number);
  void Closed(const std::string& encoded_name);
  // Returns the list to send now. The previous list counts as unanswered, unless Answered was called.
  [[nodiscard]] List Next();
  // Takes the master's answer to the last list: the number of the list that it has now; 0: none.
  void Answered(std::uint64_t taken);
  // Makes the next list a full one, because there is another master. A late answer to the last list is ignored.
  void StartAnew() {
    acknowledged_ = 0;
    ++number_;
  }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& open() const { return open_; }

 private:
  std::map<std::string, std::uint64_t> open_;
  std::set<std::string> changed_;  // regions changed since the acknowledged list
  std::set<std::string> sent_;     // those that the last list reported
  std::uint64_t number_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t digest_ = 0;
};

// Writes the list into a report.
void FillList(const OnlineList::List& list, hbase::pb::RegionServerReportRequest& request);

}  // namespace ratchet::regionserver
