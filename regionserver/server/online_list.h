// The regions that a server has open, as it tells them to the master: everything first, then what has changed since the
// last list that the master says it has.
//
// A list names the one that it builds on. The master takes it only if that is the one it has, and answers with the
// number of the list that it has then; no such number, or another one, and the next list is a full one. Numbers never
// come back in the life of a process, so a master that has another's list, an older one's or none is found out. Size
// and digest of the whole set go with each list, so that both sides are known to mean the same set. Pure; not
// thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ratchet::regionserver {

class OnlineList {
 public:
  struct List {
    std::uint64_t number = 0;
    std::uint64_t base = 0;                                   // 0: a full list
    std::vector<std::pair<std::string, std::uint64_t>> open;  // encoded name, number of the opening
    std::vector<std::string> closed;
    std::uint64_t size = 0;    // of the whole set
    std::uint64_t digest = 0;  // of the whole set
  };

  void Opened(const std::string& encoded_name, std::uint64_t open_seq);
  void Closed(const std::string& encoded_name);
  // The list to send now. The one before counts as unanswered, unless Answered was called.
  [[nodiscard]] List Next();
  // The master's answer to the last list: the number of the one that it has now; 0: none.
  void Answered(std::uint64_t taken);
  // The next list is a full one: another master is asked. An answer to the last list, which may still come, counts no
  // longer.
  void StartAnew() {
    acknowledged_ = 0;
    ++number_;
  }
  [[nodiscard]] const std::map<std::string, std::uint64_t>& open() const { return open_; }

 private:
  std::map<std::string, std::uint64_t> open_;
  std::set<std::string> changed_;  // since the acknowledged list
  std::set<std::string> sent_;     // of these, what the last list has told
  std::uint64_t number_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t digest_ = 0;
};

}  // namespace ratchet::regionserver
