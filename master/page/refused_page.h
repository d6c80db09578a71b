// The page of a master whose start was refused (S114: no start without the past). Such a process has no RPC server, no
// ZooKeeper session and no cluster; the page shows the cause, in the browser and below /api/v1/, for some seconds
// before the process ends.
//
// One owner, the process's main thread. The destructor closes the page.
#pragma once

#include <string>

#include "common/base/exit_latch.h"
#include "common/ops/page/info_page.h"

namespace ratchet::master {

class RefusedPage {
 public:
  // Listens. Every path below /api/v1/ answers 503 with the error MASTER_REFUSED and `why`.
  RefusedPage(const page::InfoPageOptions& options, const std::string& why);

  // page::kNoPage: it is off, or could not listen.
  [[nodiscard]] std::int64_t port() const { return page_.port(); }
  // Returns after `stay`, when `exit` is requested, or at once if there is no page.
  void Await(Millis stay, ExitLatch& exit) const;

 private:
  const std::string answer_;
  page::InfoPage page_;
};

}  // namespace ratchet::master
