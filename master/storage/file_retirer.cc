#include "master/storage/file_retirer.h"

#include <utility>

#include <fmt/core.h>

#include "common/base/fault_point.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/fenced_directory.h"
#include "master/storage/directory_tools.h"
#include "master/storage/posix_cluster_files.h"
#include "master/storage/retirement.h"

namespace ratchet::master {
namespace {

bool IsGone(const Error& error) { return error.code() == Code::kNotFound; }

}  // namespace

Result<std::vector<std::string>> FileRetirer::RunOnce() {
  std::vector<std::string> moved;
  RATCHET_TRY(RetireLogs(&moved));
  RATCHET_TRY(RetireRegions(&moved));
  return moved;
}

Status FileRetirer::MoveAll(io::Directory& source, const std::string& path, const std::vector<Move>& moves,
                            const std::function<bool()>& go_on, std::vector<std::string>* moved) {
  if (moves.empty()) return Ok();
  // S3 (durable fence mark): another process made the marks. They must be durable before the files are moved.
  RATCHET_TRY(SyncOrDie(source));
  RATCHET_TRY(deps_.check());
  RATCHET_ASSIGN(const DirectoryPtr target,
                 EnsurePath(deps_.archive, fmt::format("{}/{}/{}", deps_.epoch, kRetiredFilesFolder, path)));
  for (const Move& move : moves) {
    if (!go_on()) break;
    RATCHET_TRY(HitFault("master.before_retire", path + "/" + move.name));
    RATCHET_TRY(deps_.check());
    const Status renamed = source.RenameTo(move.name, *target, move.as);
    if (!renamed.ok() && !IsGone(renamed.error())) return renamed;
    if (renamed.ok()) moved->push_back(path + "/" + move.name);
  }
  RATCHET_TRY(SyncOrDie(*target));
  return SyncOrDie(source);
}

Status FileRetirer::RetireLogs(std::vector<std::string>* moved) {
  RATCHET_ASSIGN(const std::vector<std::string> names, deps_.wals.List());
  for (const std::string& name : names) {
    const auto server = ServerName::Parse(name);  // fails for "-splitting"
    if (server.ok() && server->ToString() == name) RATCHET_TRY(RetireLogsOf(*server, moved));
  }
  return Ok();
}

Status FileRetirer::RetireLogsOf(const ServerName& server, std::vector<std::string>* moved) {
  const auto alive = [&] { return deps_.is_alive(server) || RATCHET_MUTANT("cleaner.logs_of_the_crashed"); };
  if (!alive()) return Ok();
  auto directory = deps_.wals.OpenDir(server.ToString());
  if (!directory.ok()) return IsGone(directory.error()) ? Ok() : Status(directory.error());
  RATCHET_ASSIGN(const std::vector<std::string> names, (*directory)->List());
  std::vector<Move> moves;
  for (const std::string& log : LogsToRetire(names)) moves.push_back({log, log});
  return MoveAll(**directory, fmt::format("{}/{}", kWalsFolder, server.ToString()), moves, alive, moved);
}

Status FileRetirer::RetireRegions(std::vector<std::string>* moved) {
  const Place from = std::exchange(next_, {});
  std::size_t left = deps_.most_listings;
  const auto stop_at = [&](Place place) {
    RATCHET_LOG(kInfo, "Retiring files: listed {} directories; the next run continues at {}/{}", deps_.most_listings,
                place.name_space, place.table);
    next_ = std::move(place);
    return Ok();
  };
  RATCHET_ASSIGN(const std::vector<std::string> namespaces, deps_.data.List());
  for (const std::string& name_space : namespaces) {
    if (name_space < from.name_space) continue;
    RATCHET_ASSIGN(const std::vector<std::string> tables, NamesBelow(deps_.data, name_space));
    for (const std::string& table : tables) {
      const bool first = name_space == from.name_space;
      if (first && table < from.table) continue;
      if (left == 0) return stop_at({name_space, table, {}});
      --left;
      RATCHET_ASSIGN(const std::vector<std::string> regions, NamesBelow(deps_.data, name_space + "/" + table));
      for (const std::string& region : regions) {
        if (first && table == from.table && region < from.region) continue;
        if (left == 0) return stop_at({name_space, table, region});
        --left;
        next_ = {name_space, table, region + '\0'};  // continues after this region if it fails
        RATCHET_TRY(RetireRegionFiles(name_space + "/" + table + "/" + region, moved));
      }
    }
  }
  next_ = {};
  return Ok();
}

Status FileRetirer::RetireRegionFiles(const std::string& path, std::vector<std::string>* moved) {
  auto directory = OpenPath(deps_.data, path);
  if (!directory.ok()) {
    const bool file = directory.error().code() == Code::kFailedPrecondition;  // a descriptor file
    return file || IsGone(directory.error()) ? Ok() : Status(directory.error());
  }
  RATCHET_ASSIGN(const std::vector<std::string> names, (*directory)->List());
  std::vector<Move> moves;
  for (RetiredName& file : RegionFilesToRetire(names)) moves.push_back({std::move(file.name), std::move(file.as)});
  std::vector<std::string> wals;
  for (const std::string& name : names) {
    const auto server = SplitServerOf(name);
    if (!server) continue;
    if (wals.empty()) {
      RATCHET_ASSIGN(wals, deps_.wals.List());
    }
    if (SplitIsOver(*server, wals)) moves.push_back({name, name});
  }
  return MoveAll(
      **directory, fmt::format("{}/{}", kDataFolder, path), moves, [] { return true; }, moved);
}

}  // namespace ratchet::master
