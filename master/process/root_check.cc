#include "master/process/root_check.h"

#include <algorithm>
#include <memory>

#include <fmt/core.h>

#include "common/io/disk.h"
#include "master/cluster/table_directory.h"
#include "master/env/cluster_files.h"
#include "master/storage/directory_tools.h"
#include "master/storage/posix_cluster_files.h"
#include "procedure/api/offline_store.h"

namespace ratchet::master {
namespace {

constexpr const char* kMetaLocationKey = "meta/location";

// Lists all tables' directories, "<namespace>/<table>.<pid>".
Result<std::vector<std::string>> TableDirectoriesIn(io::Directory& root) {
  std::vector<std::string> found;
  RATCHET_ASSIGN(const std::vector<std::string> spaces, NamesBelow(root, kDataFolder));
  for (const std::string& space : spaces) {
    RATCHET_ASSIGN(const std::vector<std::string> tables, NamesBelow(root, fmt::format("{}/{}", kDataFolder, space)));
    for (const std::string& table : tables) {
      std::string directory = fmt::format("{}/{}", space, table);
      if (CreatorOf(directory).valid()) found.push_back(std::move(directory));
    }
  }
  return found;
}

io::RootCheck JudgeDamage(const procedure::OfflineStore& store) {
  io::RootCheck check{"records of procedures/",
                      fmt::format("{} procedures, last sequence {}", store.records.size(), store.last_sequence),
                      std::nullopt};
  if (!store.damage.empty()) check.refused = fmt::format("damaged: {}; see 'ratchet-wal verify'", store.damage.front());
  return check;
}

io::RootCheck JudgeSequence(const procedure::OfflineStore& store, const io::RootNumbers& numbers) {
  io::RootCheck check{"sequence of procedures/", fmt::format("{}", store.last_sequence), std::nullopt};
  if (numbers.mark && store.last_sequence < numbers.mark->sequence) {
    check.refused = fmt::format("procedures/ is an older copy: it ends at sequence {}, but had sequence {} in epoch {}",
                                store.last_sequence, numbers.mark->sequence, numbers.mark->epoch);
  }
  return check;
}

io::RootCheck JudgePids(const procedure::OfflineStore& store, const io::RootNumbers& numbers,
                        const std::vector<std::string>& directories) {
  const std::uint64_t largest = std::max(store.max_pid.value(), numbers.pid_limit);
  io::RootCheck check{"pids in data/", fmt::format("{} table directories, largest pid {}", directories.size(), largest),
                      std::nullopt};
  for (const std::string& directory : directories) {
    if (CreatorOf(directory).value() <= largest) continue;
    check.refused =
        fmt::format("procedures/ is an older copy: its largest pid is {}, but data/{} exists", largest, directory);
  }
  return check;
}

io::RootCheck JudgeMeta(const procedure::OfflineStore& store, const std::vector<std::string>& directories) {
  const std::string own = TableDirectoryName(MetaTableName(), ProcId(1));
  const bool placed = store.system_records.contains(kMetaLocationKey);
  const bool exists = std::find(directories.begin(), directories.end(), own) != directories.end();
  io::RootCheck check{"hbase:meta",
                      fmt::format("{}, {}", placed ? "has a location" : "has no location",
                                  exists ? "has a directory" : "has no directory"),
                      std::nullopt};
  if (placed && !exists) check.refused = fmt::format("data/{} is missing: restore the newest one", own);
  if (!placed && directories.size() > (exists ? 1U : 0U))
    check.refused = "procedures/ has no record of hbase:meta's location, but data/ has tables";
  return check;
}

}  // namespace

Result<std::vector<io::RootCheck>> CheckRootDirectory(const std::string& path) {
  RATCHET_ASSIGN(const std::unique_ptr<io::Directory> root, io::PosixDisk().Open(path));
  RATCHET_ASSIGN(const io::RootPast past, io::ReadRootPast(*root));
  std::vector<io::RootCheck> checks = io::JudgeRootPast(past);
  if (past.store_claim == 0) return checks;
  RATCHET_ASSIGN(const std::unique_ptr<io::Directory> procedures, root->OpenDir(kProceduresFolder));
  RATCHET_ASSIGN(const procedure::OfflineStore store, procedure::ReadOfflineStore(*procedures));
  RATCHET_ASSIGN(const std::vector<std::string> directories, TableDirectoriesIn(*root));
  checks.push_back(JudgeDamage(store));
  checks.push_back(JudgeSequence(store, past.numbers));
  checks.push_back(JudgePids(store, past.numbers, directories));
  checks.push_back(JudgeMeta(store, directories));
  return checks;
}

bool AnyRefused(const std::vector<io::RootCheck>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const io::RootCheck& check) { return check.refused.has_value(); });
}

std::string CheckText(const std::vector<io::RootCheck>& checks) {
  std::string text;
  for (const io::RootCheck& check : checks) {
    text += check.refused ? fmt::format("REFUSED  {}: {}\n", check.what, *check.refused)
                          : fmt::format("ok       {}: {}\n", check.what, check.found);
  }
  return text;
}

}  // namespace ratchet::master
