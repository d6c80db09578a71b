#include "regionserver/host/split_log.h"

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/base/fault_point.h"
#include "common/base/prng.h"
#include "common/io/fenced_directory.h"
#include "common/io/file_system_sync.h"
#include "common/io/unneeded_files.h"
#include "common/model/server_name.h"
#include "regionserver/host/orphan_edits.h"
#include "regionserver/host/region_directories.h"
#include "regionserver/host/side_by_side.h"
#include "regionserver/wal/log_splitter.h"
#include "regionserver/wal/log_survey.h"

namespace ratchet::regionserver {
namespace {

// Number of threads that publish one log's recovered edits, so that the disk can combine their syncs.
constexpr std::size_t kPublishThreads = 8;

struct LogPath {
  std::string directory;  // "<server>-splitting"
  std::string server;
  std::string file;
};

// Parses "wals/<server>-splitting/<file>".
Result<LogPath> ParsePath(const std::string& path) {
  const std::size_t first = path.find('/');
  const std::size_t second = first == std::string::npos ? first : path.find('/', first + 1);
  if (second == std::string::npos || path.substr(0, first) != "wals") {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not a log's path", path));
  }
  LogPath parsed;
  parsed.directory = path.substr(first + 1, second - first - 1);
  if (!parsed.directory.ends_with(io::kSplittingSuffix)) {
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not in a fenced directory", path));
  }
  parsed.server = parsed.directory.substr(0, parsed.directory.size() - std::string_view(io::kSplittingSuffix).size());
  parsed.file = path.substr(second + 1);
  if (!ServerName::Parse(parsed.server).ok() || !io::ParseLogFileName(parsed.file))
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not the path of a server's log", path));
  return parsed;
}

// Opens the directory of a region, which the order may name.
Result<std::unique_ptr<io::Directory>> OpenByHint(io::Directory& root,
                                                  const std::map<std::string, std::string>& directories,
                                                  RegionSearch& search, const std::string& name) {
  const auto known = directories.find(name);
  if (known == directories.end()) {
    RATCHET_ASSIGN(const std::string table, search.TableOf(name));
    return OpenRegionDirectory(root, table, name);
  }
  const std::size_t slash = known->second.rfind('/');
  if (slash == std::string::npos) return Error(Code::kInvalidArgument, "a region's directory lies below its table's");
  const std::string folder = known->second.substr(slash + 1);
  if (!IsDirectoryName(folder))
    return Error(Code::kInvalidArgument, fmt::format("'{}' is not a region's directory", known->second));
  return OpenRegionDirectory(root, known->second.substr(0, slash), folder);
}

// S142 (shared syncs of a split): syncfs makes durable what was written in the file system before the call.
class SplitSync final : public SharedSync {
 public:
  explicit SplitSync(std::shared_ptr<const io::FileSystemSync> file_system) : file_system_(std::move(file_system)) {}
  [[nodiscard]] bool Covers(io::Directory& directory) const override { return file_system_->Covers(directory); }
  [[nodiscard]] Status Sync(const std::vector<Change>& changes) const override {
    std::vector<io::Directory*> directories;
    for (const Change& change : changes) directories.push_back(change.directory);
    // After an error the attempt fails, and the next one writes new files.
    return file_system_->Sync(directories, {});
  }

 private:
  const std::shared_ptr<const io::FileSystemSync> file_system_;
};

}  // namespace

Result<std::string> RunSplit(io::Directory& root, const SplitLogOrder& order) {
  RATCHET_TRY(HitFault("regionserver.before_split", order.parameter.wal_path()));
  RATCHET_ASSIGN(const LogPath path, ParsePath(order.parameter.wal_path()));
  SplitRequest request;
  request.server = path.server;
  request.file = path.file;
  request.sealed_length = order.parameter.sealed_length();
  request.sealed_crc32c = order.parameter.sealed_crc32c();
  request.sealed_last_sequence = order.parameter.sealed_last_sequence();
  request.attempt_token = RandomSeed();
  std::map<std::string, std::string> directories;
  for (const auto& hint : order.parameter.region()) {
    if (hint.has_flushed_sequence()) request.flushed_sequences[hint.encoded_name()] = hint.flushed_sequence();
    if (hint.has_region_dir()) directories[hint.encoded_name()] = hint.region_dir();
  }
  RegionSearch search(root);
  request.open_region = [&](const std::string& name) { return OpenByHint(root, directories, search, name); };
  request.side_by_side = [](std::size_t count, const std::function<void(std::size_t)>& job) {
    RunSideBySide(kPublishThreads, count, job, "split-publish");
  };
  std::optional<SplitSync> shared_sync;
  if (auto file_system = io::FileSystemSync::Of(root); file_system != nullptr) {
    shared_sync.emplace(std::move(file_system));
    request.shared_sync = &*shared_sync;
  }
  RATCHET_ASSIGN(auto wals, root.OpenDir("wals"));
  RATCHET_ASSIGN(auto directory, wals->OpenDir(path.directory));
  MissingRegions missing(root, *directory);
  request.keep_edits = [&missing](const std::string& name, std::uint64_t last_sequence) {
    return missing.PlaceFor(name, last_sequence);
  };
  RATCHET_ASSIGN(const SplitReport report, regionserver::SplitLog(*directory, request));
  const std::string kept =
      report.kept.empty() ? std::string() : fmt::format(", kept in quarantine/edits={}", fmt::join(report.kept, " "));
  return fmt::format("entries={}, regions={}, dropped={}, covered={}{}{}{}", report.entries, report.regions,
                     report.dropped, report.covered, kept, report.already_done ? ", done before" : "",
                     report.retired ? ", covered and gone" : "");
}

}  // namespace ratchet::regionserver
