#include "master/storage/stray_logs.h"

#include <optional>
#include <set>
#include <utility>

#include "common/base/mutant.h"
#include "master/storage/posix_cluster_files.h"

namespace ratchet::master {

Result<std::vector<ServerName>> StrayLogs::RunOnce() {
  if (!deps_.is_ready()) return std::vector<ServerName>{};
  std::optional<Result<std::vector<ServerName>>> live;
  if (RATCHET_MUTANT("master.zookeeper_first")) live = deps_.read_live();
  RATCHET_ASSIGN(const std::vector<LogDirectory> directories, deps_.files.ListLogDirectories());
  const TimePoint now = deps_.clock.Now();
  std::map<ServerName, TimePoint> since;
  std::vector<ServerName> due;
  for (const LogDirectory& directory : directories) {
    if (directory.fenced || deps_.is_known(directory.server)) continue;
    const auto before = since_.find(directory.server);
    const TimePoint first = before == since_.end() ? now : before->second;
    since.emplace(directory.server, first);
    if (now - first >= deps_.grace) due.push_back(directory.server);
  }
  since_ = std::move(since);
  std::vector<ServerName> retired;
  if (due.empty()) return retired;
  if (!live) live = deps_.read_live();  // after the directories (S34: which servers may be dead)
  if (!live->ok()) return live->error().Annotate("reading the live servers");
  const std::set<ServerName> alive((*live)->begin(), (*live)->end());
  for (const ServerName& server : due) {
    if (alive.contains(server)) continue;
    const Status done = deps_.files.RetireUnregistered(server, deps_.epoch, [&] { return deps_.is_known(server); });
    if (done.ok()) {
      since_.erase(server);
      retired.push_back(server);
      continue;
    }
    if (done.error().code() == Code::kFenced) return done.error();  // this master is deposed
    if (done.error().code() == Code::kAborted) continue;            // the server has registered meanwhile
    deps_.expire(server, "it was never registered, but its logs cannot be archived: " + done.error().ToString());
  }
  return retired;
}

}  // namespace ratchet::master
