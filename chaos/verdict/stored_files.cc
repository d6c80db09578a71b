#include "chaos/verdict/stored_files.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "chaos/verdict/settled.h"
#include "chaos/workloads/load.h"
#include "common/io/disk.h"
#include "common/io/record_log.h"
#include "procedure/api/offline_store.h"
#include "regionserver/store/cell_cursor.h"
#include "regionserver/store/manifest.h"
#include "regionserver/store/store_file.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;
using regionserver::KeyOrder;
using regionserver::StoreFileInfo;
using regionserver::StoreFiles;

constexpr std::string_view kLogPrefixes[] = {"log.", "meta."};

class Reading {
 public:
  explicit Reading(fs::path root) : root_(std::move(root)) {}

  StoredFiles Take() {
    Try("procedures", ReadProcedures());
    for (const fs::path& server : FoldersIn(root_ / "wals")) ReadLogsOf(server);
    for (const fs::path& space : FoldersIn(root_ / "data")) {
      for (const fs::path& table : FoldersIn(space)) {
        const bool meta = space.filename() == "hbase" && table.filename().string().starts_with("meta");
        for (const fs::path& region : FoldersIn(table)) {
          Try(region.string(), ReadRegion(region, meta ? RowOrder::kMeta : RowOrder::kPlain));
        }
      }
    }
    return std::move(files_);
  }

 private:
  void Try(const std::string& what, const Status& done) {
    if (!done.ok()) files_.wrong.push_back(fmt::format("{}: {}", what, done.error().ToString()));
  }

  // A folder that is missing has nothing to read; CheckFiles (cluster_checks.h) checks which files must exist.
  std::vector<fs::path> FoldersIn(const fs::path& folder) {
    std::vector<fs::path> folders;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
      if (entry->is_directory()) folders.push_back(entry->path());
    }
    if (failed) Try(folder.string(), Error(Code::kIo, failed.message()));
    return folders;
  }

  Status ReadProcedures() {
    RATCHET_ASSIGN(const auto directory, io::PosixDisk().Open((root_ / "procedures").string()));
    RATCHET_ASSIGN(const auto store, procedure::ReadOfflineStore(*directory));
    files_.procedures = store.records.size();
    if (store.damage.empty()) return Ok();
    return Error(Code::kCorruption, store.damage.front());
  }

  void ReadLogsOf(const fs::path& server) {
    auto directory = io::PosixDisk().Open(server.string());
    if (!directory.ok()) return Try(server.string(), directory.error());
    const auto names = (*directory)->List();
    if (!names.ok()) return Try(server.string(), names.error());
    for (const std::string& name : *names) {
      const bool log = std::any_of(std::begin(kLogPrefixes), std::end(kLogPrefixes),
                                   [&](std::string_view prefix) { return name.starts_with(prefix); });
      if (log) Try((server / name).string(), ReadLog(**directory, name));
    }
  }

  // The end of a log may be torn, as its server was killed; bytes that were durable may not be wrong.
  Status ReadLog(io::Directory& directory, const std::string& name) {
    RATCHET_ASSIGN(const auto file, directory.OpenForRead(name));
    RATCHET_ASSIGN(const std::uint64_t size, file->size());
    io::RecordReader reader(*file, size, {});
    io::Record record;
    while (reader.Next(&record)) ++files_.log_records;
    RATCHET_TRY(reader.status());
    ++files_.logs;
    if (reader.tail().end != io::LogEnd::kDamage) return Ok();
    return Error(Code::kCorruption, fmt::format("at offset {}: {}", reader.tail().offset, reader.tail().reason));
  }

  Status ReadRegion(const fs::path& folder, RowOrder order) {
    RATCHET_ASSIGN(std::shared_ptr<io::Directory> directory, io::PosixDisk().Open(folder.string()));
    RATCHET_ASSIGN(const auto names, directory->List());
    const std::string region = folder.filename().string();
    RATCHET_ASSIGN(const auto newest, regionserver::NewestState(*directory, names, region, UINT64_MAX));
    if (!newest) return Ok();  // no opening has come as far as a manifest
    ++files_.manifests;
    const StoreFiles store(std::move(directory), KeyOrder{order});
    for (const StoreFileInfo& file : newest->state.files) {
      Try((folder / file.name).string(), ReadStoreFile(store, file));
    }
    return Ok();
  }

  Status ReadStoreFile(const StoreFiles& store, const StoreFileInfo& info) {
    RATCHET_ASSIGN(const auto reader, store.OpenFile(info));
    const auto cursor = StoreFiles::NewCursor(reader);
    std::uint64_t cells = 0;
    for (cursor->Seek(""); cursor->Valid(); cursor->Next()) ++cells;
    RATCHET_TRY(cursor->status());
    ++files_.store_files;
    files_.cells += cells;
    // A cursor shows a part of a file that a split cut, or that has cells of dropped families.
    if (info.cut() || !info.dead.empty() || cells == info.cells) return Ok();
    return Error(Code::kCorruption, fmt::format("{} cells, but the manifest has {}", cells, info.cells));
  }

  const fs::path root_;
  StoredFiles files_;
};

}  // namespace

StoredFiles ReadStoredFiles(const fs::path& root) { return Reading(root).Take(); }

Finding JudgeStoredFiles(const StoredFiles& files) {
  if (files.wrong.empty() && (files.manifests == 0 || files.logs == 0)) {
    return {false, fmt::format("only {} and {} were read: the stopped cluster's files prove nothing",
                               Counted(files.manifests, "manifest"), Counted(files.logs, "log"))};
  }
  return Summary(fmt::format("read after the end: {} with {}, {}, {} with {}, {}: every checksum is right",
                             Counted(files.logs, "log"), Counted(files.log_records, "record"),
                             Counted(files.manifests, "manifest"), Counted(files.store_files, "store file"),
                             Counted(files.cells, "cell"), Counted(files.procedures, "stored procedure")),
                 "invalid files of the stopped cluster", files.wrong);
}

}  // namespace ratchet::chaos
