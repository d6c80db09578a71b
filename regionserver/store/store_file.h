// Immutable sorted files of cells, in RocksDB's table format. Only .cc files include RocksDB's headers.
//
// A file is written whole, synced, and its name made durable by the caller before a manifest names it. Threads: a
// reader may be used by many threads, each with its own cursor, and lives as long as a cursor of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "regionserver/store/cell_cursor.h"
#include "regionserver/store/row_filter.h"

namespace ratchet::regionserver {

// Compression of a store file's blocks. The file records its compression, and every version reads all of these. In the
// order of compression ratio, the weakest first.
enum class FileCompression : std::uint8_t { kLz4, kSnappy, kGz, kZstd };

// A manifest's description of a file.
struct StoreFileInfo {
  std::string name;  // "<open_number>-<n>.sst", never reused
  std::uint64_t bytes = 0;
  std::uint64_t cells = 0;
  std::uint64_t last_sequence = 0;  // greatest sequence in the file
  std::string smallest_key;
  std::string largest_key;
  // families whose cells in the file are dead (S49: re-added family is new): no cursor returns them
  std::set<std::string, std::less<>> dead;
  // Rows from `low` on and below `high` (empty: no bound) belong to this region, and no cursor returns others: the file
  // has links in other regions too. Set by a split, kept for life (S39: children inherit from all parents).
  std::string low = {};
  std::string high = {};
  std::int64_t major_ms = 0;  // wall clock time of the major compaction that wrote it; 0: none did
  [[nodiscard]] bool cut() const { return !low.empty() || !high.empty(); }
  bool operator==(const StoreFileInfo&) const = default;
};

// The name that the reader of a file returns.
[[nodiscard]] std::string_view CompressionName(FileCompression compression);

// kCache: a cursor reads nothing from the disk. At a block that is not in the block cache it ends with
// kResourceExhausted.
enum class ReadSource : std::uint8_t { kDisk, kCache };

// Called when a read of an open file has failed, by the thread that reads. Must not block.
using OnDamagedFile = std::function<void(const std::string& file, const Error& error)>;

// The files of one region: its directory and key order.
class StoreFiles {
 public:
  StoreFiles(std::shared_ptr<io::Directory> directory, KeyOrder order, OnDamagedFile on_damaged = {});
  ~StoreFiles();

  class Reader {
   public:
    virtual ~Reader() = default;
    [[nodiscard]] virtual const StoreFileInfo& info() const = 0;
    // Returns rows at about equal distances in the whole file; none in files of earlier versions.
    [[nodiscard]] virtual std::vector<std::string> SampledRows() const = 0;
    // RocksDB's name: "LZ4", "Snappy", "Zlib", "ZSTD".
    [[nodiscard]] virtual std::string compression() const = 0;
    [[nodiscard]] virtual std::uint64_t raw_bytes() const = 0;  // size of its cells before compression
    // Returns false only if the file has no cell of the row, markers included. `row_prefix` is the row's RowPrefix.
    [[nodiscard]] virtual bool MayHaveRow(std::string_view row_prefix) const = 0;
  };
  // kCorruption when the file differs from the manifest or fails its checks; kNotFound when it does not exist.
  [[nodiscard]] Result<std::shared_ptr<const Reader>> OpenFile(const StoreFileInfo& info) const;
  // Returns the sequence of the first cell of a finished file that no manifest names. kCorruption: the file is not a
  // finished store file.
  [[nodiscard]] Result<std::uint64_t> FirstSequenceOf(const std::string& name) const;
  [[nodiscard]] static std::unique_ptr<CellCursor> NewCursor(std::shared_ptr<const Reader> reader,
                                                             ReadSource from = ReadSource::kDisk);

  class Writer {
   public:
    virtual ~Writer() = default;
    // Adds keys in order.
    virtual Status Add(std::string_view key, std::string_view value) = 0;
    // Syncs the file (not the directory). At least one cell was added.
    virtual Result<StoreFileInfo> Finish() = 0;
  };
  // Creates the file exclusively. A writer that is destroyed before Finish removes its file.
  [[nodiscard]] Result<std::unique_ptr<Writer>> Create(const std::string& name,
                                                       FileCompression compression = FileCompression::kLz4,
                                                       FileFilter filter = FileFilter::kNone) const;
  // S80 (remove only unnamed files): removes a file that this opening has finished and that no manifest can name.
  void Remove(const StoreFileInfo& file) const;

 private:
  struct Shared;
  const std::shared_ptr<const Shared> shared_;
};

// Opens the file of `reader` and keeps it open until the reader is destroyed. Call it before the file gets its owner's
// mark and the cleaner may remove it. Costs a descriptor until then; not needed when no scan reads the file.
// Thread-safe.
[[nodiscard]] Status HoldOpen(const StoreFiles::Reader& reader);

}  // namespace ratchet::regionserver
