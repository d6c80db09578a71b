// Immutable sorted files of cells, in RocksDB's table format. The only files here that see RocksDB are .cc files.
//
// A file is written whole, synced, and its name made durable by the caller before a manifest names it. Threads: a
// reader may be used by many threads, each with its own cursor, and lives as long as a cursor of it.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/store/cell_cursor.h"
#include "regionserver/store/file_compression.h"

namespace rocksdb {
class Env;
}

namespace ratchet::regionserver {

// What the manifest says of a file.
struct StoreFileInfo {
  std::string name;  // "<open_seq>-<n>.sst", never used twice
  std::uint64_t bytes = 0;
  std::uint64_t cells = 0;
  std::uint64_t last_sequence = 0;  // greatest one in it
  std::string smallest_key;
  std::string largest_key;
  std::set<std::string, std::less<>> dead;  // families whose cells in it are gone (S49): no cursor shows them
  // Rows from `low` on and below `high` (empty: no bound) are this region's, and no cursor shows others: the file has
  // names in other regions too. Cut by a split, kept for life (S39).
  std::string low = {};
  std::string high = {};
  std::int64_t major_ms = 0;  // when a major compaction wrote it, by the wall clock; 0: none did
  [[nodiscard]] bool cut() const { return !low.empty() || !high.empty(); }
  bool operator==(const StoreFileInfo&) const = default;
};

// As the reader of a file names it.
[[nodiscard]] std::string_view CompressionName(FileCompression compression);

// Files of one region: its directory, its order.
class StoreFiles {
 public:
  StoreFiles(std::shared_ptr<io::Directory> directory, KeyOrder order);
  ~StoreFiles();

  class Reader {
   public:
    virtual ~Reader() = default;
    [[nodiscard]] virtual const StoreFileInfo& info() const = 0;
    // Rows at about equal distances, of the whole file; none in files of earlier versions.
    [[nodiscard]] virtual std::vector<std::string> SampledRows() const = 0;
    // As RocksDB names it: "LZ4", "Snappy", "Zlib", "ZSTD".
    [[nodiscard]] virtual std::string compression() const = 0;
    [[nodiscard]] virtual std::uint64_t raw_bytes() const = 0;  // of its cells, before they were compressed
  };
  // kCorruption when the file is not what the manifest says or fails its checks; kNotFound when it is not there.
  [[nodiscard]] Result<std::shared_ptr<const Reader>> OpenFile(const StoreFileInfo& info) const;
  // Sequence of the first cell of a finished file of which no manifest tells. kCorruption: it is no such file, as one
  // that was never finished.
  [[nodiscard]] Result<std::uint64_t> FirstSequenceOf(const std::string& name) const;
  [[nodiscard]] static std::unique_ptr<CellCursor> NewCursor(std::shared_ptr<const Reader> reader);

  class Writer {
   public:
    virtual ~Writer() = default;
    // Keys in order.
    virtual Status Add(std::string_view key, std::string_view value) = 0;
    // Syncs the file (not the directory). At least one cell was added.
    virtual Result<StoreFileInfo> Finish() = 0;
  };
  // Created exclusively. A file that is not finished goes with its writer.
  [[nodiscard]] Result<std::unique_ptr<Writer>> Create(const std::string& name,
                                                       FileCompression compression = FileCompression::kLz4) const;
  // S80: removes a file that this opening has finished and that no manifest can name.
  void Remove(const StoreFileInfo& file) const;

 private:
  struct Shared;
  const std::shared_ptr<const Shared> shared_;
};

// Opens the file of `reader` and keeps it open until the reader has gone: before the file gets its owner's mark and the
// cleaner may take it. Costs a descriptor until then; not needed when no scan reads it any more. Thread-safe.
[[nodiscard]] Status HoldOpen(const StoreFiles::Reader& reader);

}  // namespace ratchet::regionserver
