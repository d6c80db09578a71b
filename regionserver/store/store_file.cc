#include "regionserver/store/store_file.h"

#include <rocksdb/comparator.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "common/base/log.h"
#include "common/base/mutant.h"
#include "regionserver/store/block_cache.h"
#include "regionserver/store/block_entries.h"
#include "regionserver/store/cell_key.h"
#include "regionserver/store/directory_file_system.h"
#include "regionserver/store/row_filter.h"
#include "regionserver/store/row_range.h"
#include "regionserver/store/row_samples.h"

namespace ratchet::regionserver {
namespace {

constexpr std::size_t kBlockBytes = 16U << 10;

std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice ToSlice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

Error FromRocks(const rocksdb::Status& status, const std::string& what) {
  const Code code = status.IsNotFound()     ? Code::kNotFound
                    : status.IsCorruption() ? Code::kCorruption
                    : status.IsNoSpace()    ? Code::kNoSpace
                                            : Code::kIo;
  return Error(code, fmt::format("store file {}: {}", what, status.ToString()));
}

// hbase:meta's order. Keys are not shortened in index blocks, because a shortened key would not be a key.
class MetaComparator final : public rocksdb::Comparator {
 public:
  const char* Name() const override { return "ratchet.MetaCellOrder.1"; }
  int Compare(const rocksdb::Slice& a, const rocksdb::Slice& b) const override {
    return KeyOrder{RowOrder::kMeta}.Compare(View(a), View(b));
  }
  void FindShortestSeparator(std::string*, const rocksdb::Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

rocksdb::CompressionType TypeOf(FileCompression compression) {
  switch (compression) {
    case FileCompression::kLz4: break;
    case FileCompression::kSnappy: return rocksdb::kSnappyCompression;
    case FileCompression::kGz: return rocksdb::kZlibCompression;
    case FileCompression::kZstd: return rocksdb::kZSTD;
  }
  return rocksdb::kLZ4Compression;
}

rocksdb::Options TableOptions(RowOrder order) {
  static auto* const meta = new MetaComparator;
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = BlockCache::OfProcess().blocks();
  table.block_size = kBlockBytes;
  table.checksum = rocksdb::kXXH3;  // CRC32C is computed in software in Debian's build
  rocksdb::Options options;
  options.statistics = BlockCache::OfProcess().counts();
  options.comparator =
      order == RowOrder::kMeta ? static_cast<const rocksdb::Comparator*>(meta) : rocksdb::BytewiseComparator();
  options.compression = rocksdb::kLZ4Compression;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.table_properties_collector_factories.push_back(MakeRowSampler());
  return options;
}

// Everything but the environment, for the files of all regions of this order.
const rocksdb::Options& SharedOptions(RowOrder order) {
  static const auto* const plain = new rocksdb::Options(TableOptions(RowOrder::kPlain));
  static const auto* const meta = new rocksdb::Options(TableOptions(RowOrder::kMeta));
  return order == RowOrder::kMeta ? *meta : *plain;
}

// Skips the cells of some families (S49: re-added family is new).
class LivingCursor final : public CellCursor {
 public:
  LivingCursor(std::unique_ptr<CellCursor> cells, const std::set<std::string, std::less<>>& families)
      : cells_(std::move(cells)) {
    for (const std::string& family : families) AppendEscaped(family, dead_.emplace_back());
  }
  void Seek(std::string_view key) override {
    cells_->Seek(key);
    Forward();
  }
  void SeekBefore(std::string_view key) override {
    cells_->SeekBefore(key);
    Backward();
  }
  void SeekToLast() override {
    cells_->SeekToLast();
    Backward();
  }
  void Next() override {
    cells_->Next();
    Forward();
  }
  void Prev() override {
    cells_->Prev();
    Backward();
  }
  [[nodiscard]] bool Valid() const override { return cells_->Valid(); }
  [[nodiscard]] std::string_view key() const override { return cells_->key(); }
  [[nodiscard]] std::string_view value() const override { return cells_->value(); }
  [[nodiscard]] Status status() const override { return cells_->status(); }

 private:
  [[nodiscard]] bool Dead() const {
    const std::string_view key = cells_->key();
    const std::string_view rest = key.substr(EncodedRowOf(key).size());
    return std::any_of(dead_.begin(), dead_.end(),
                       [rest](const std::string& family) { return rest.starts_with(family); });
  }
  void Forward() {
    while (cells_->Valid() && Dead()) cells_->Next();
  }
  void Backward() {
    while (cells_->Valid() && Dead()) cells_->Prev();
  }

  const std::unique_ptr<CellCursor> cells_;
  std::vector<std::string> dead_;  // escaped, so that no name is a prefix of another one
};

}  // namespace

struct StoreFiles::Shared {
  Shared(std::shared_ptr<io::Directory> the_directory, KeyOrder the_order, OnDamagedFile the_on_damaged)
      : order(the_order), on_damaged(std::move(the_on_damaged)), directory(std::move(the_directory)) {}
  // Made for the first file, because most regions of a large cluster have none.
  [[nodiscard]] rocksdb::Env& env() const {
    std::call_once(env_once_, [this] { env_ = MakeDirectoryEnv(directory); });
    return *env_;
  }
  [[nodiscard]] rocksdb::Options Options() const {
    rocksdb::Options options = SharedOptions(order.rows);
    options.env = &env();
    return options;
  }
  const KeyOrder order;
  const OnDamagedFile on_damaged;
  const std::shared_ptr<io::Directory> directory;

 private:
  mutable std::once_flag env_once_;
  mutable std::shared_ptr<rocksdb::Env> env_;
};

namespace {

class FileReader final : public StoreFiles::Reader {
 public:
  // `keep` owns the options' environment and `on_damaged`.
  FileReader(std::shared_ptr<const void> keep, const rocksdb::Options& options, const OnDamagedFile& on_damaged,
             StoreFileInfo info)
      : keep_(std::move(keep)), env_(*options.env), on_damaged_(on_damaged), info_(std::move(info)), table_(options) {}
  // Converts a failed read to an error that names the file.
  [[nodiscard]] Error Damaged(const rocksdb::Status& status) const {
    Error error = FromRocks(status, info_.name);
    if (on_damaged_) on_damaged_(info_.name, error);
    return error;
  }
  [[nodiscard]] Status HoldFile() const { return HoldOpen(env_, info_.name); }
  rocksdb::Status Open() {
    rocksdb::Status opened = table_.Open(info_.name);
    if (!opened.ok()) return opened;
    properties_ = table_.GetTableProperties();
    const auto found = properties_->user_collected_properties.find(std::string(kRowFilterProperty));
    if (found != properties_->user_collected_properties.end()) filter_ = RowFilter(found->second);
    return opened;
  }
  [[nodiscard]] const StoreFileInfo& info() const override { return info_; }
  // `keep`: blocks that it reads stay in the block cache.
  [[nodiscard]] rocksdb::Iterator* NewIterator(bool keep, ReadSource from) const {
    rocksdb::ReadOptions options;
    options.fill_cache = keep;
    if (from == ReadSource::kCache) options.read_tier = rocksdb::kBlockCacheTier;
    return table_.NewIterator(options);
  }
  [[nodiscard]] std::uint64_t entries() const { return properties_->num_entries; }
  [[nodiscard]] std::vector<std::string> SampledRows() const override {
    const auto found = properties_->user_collected_properties.find(std::string(kRowSamplesProperty));
    return found == properties_->user_collected_properties.end() ? std::vector<std::string>()
                                                                 : DecodeRowSamples(found->second);
  }
  [[nodiscard]] std::string compression() const override { return properties_->compression_name; }
  [[nodiscard]] std::uint64_t raw_bytes() const override {
    return properties_->raw_key_size + properties_->raw_value_size;
  }
  [[nodiscard]] bool MayHaveRow(std::string_view row_prefix) const override { return filter_.MayHave(row_prefix); }

 private:
  const std::shared_ptr<const void> keep_;  // the environment
  rocksdb::Env& env_;
  const OnDamagedFile& on_damaged_;
  const StoreFileInfo info_;
  mutable rocksdb::SstFileReader table_;                        // NewIterator is not declared const, but only reads
  std::shared_ptr<const rocksdb::TableProperties> properties_;  // set by Open
  RowFilter filter_;                                            // its bytes are in properties_
};

// RocksDB's iterator moves from block to block. Inside a block, the cursor moves forward by itself; then the iterator
// stays at an earlier entry of the same block and so keeps the block in memory.
class FileCursor final : public CellCursor {
 public:
  explicit FileCursor(std::shared_ptr<const FileReader> reader, bool keep = true, ReadSource from = ReadSource::kDisk)
      : reader_(std::move(reader)), at_(reader_->NewIterator(keep, from)) {}
  void Seek(std::string_view key) override {
    at_->Seek(ToSlice(key));
    Arrive();
  }
  void SeekBefore(std::string_view key) override {
    at_->SeekForPrev(ToSlice(key));
    if (at_->Valid() && View(at_->key()) == key) at_->Prev();
    Arrive();
  }
  void SeekToLast() override {
    at_->SeekToLast();
    Arrive();
  }
  void Next() override {
    if (!alone_)
      Leave();
    else if (entries_.Next())
      key_ = entries_.key();
    else
      ToNextBlock();
  }
  bool Step(std::string_view* key) override {
    Next();
    if (valid_) *key = key_;
    return valid_;
  }
  void Prev() override {
    if (alone_) at_->Seek(ToSlice(key_));
    at_->Prev();
    Arrive();
  }
  [[nodiscard]] bool Valid() const override { return valid_; }
  [[nodiscard]] std::string_view key() const override { return key_; }
  [[nodiscard]] std::string_view value() const override { return alone_ ? entries_.value() : View(at_->value()); }
  [[nodiscard]] Status status() const override {
    const rocksdb::Status status = at_->status();
    if (status.ok()) return Ok();
    if (status.IsIncomplete()) return Error(Code::kResourceExhausted, "a block is not in the block cache");
    return reader_->Damaged(status);
  }

 private:
  // The iterator has moved, and the cursor is where the iterator is.
  void Arrive() {
    alone_ = stepped_ = false;
    valid_ = at_->Valid();
    if (valid_) key_ = View(at_->key());
  }
  // Both make one step. The cursor continues alone if it has found the same entry, at the same place, as RocksDB.
  void Leave() {
    bool found = false;
    if (walks_ && stepped_) {  // a read of one cell makes one step
      entries_.Begin(key_, View(at_->value()));
      found = entries_.Next();
    }
    at_->Next();
    Arrive();
    stepped_ = true;
    if (!found || !valid_) return;
    const std::string_view value = View(at_->value());
    alone_ =
        entries_.key() == key_ && entries_.value().data() == value.data() && entries_.value().size() == value.size();
    walks_ = alone_;
    if (alone_) key_ = entries_.key();
  }
  void ToNextBlock() {
    after_.assign(key_);
    after_.push_back('\0');
    at_->Seek(ToSlice(after_));
    Arrive();
    stepped_ = true;
  }

  const std::shared_ptr<const FileReader> reader_;
  const std::unique_ptr<rocksdb::Iterator> at_;
  BlockEntries entries_;
  bool walks_ = true;     // false: the file's blocks have another form
  bool alone_ = false;    // the cursor is at an entry of entries_, at or after the iterator's one in the same block
  bool stepped_ = false;  // the last move was a step of the iterator
  bool valid_ = false;
  std::string_view key_;  // if valid_
  std::string after_;
};

// S80 (remove only unnamed files). A file with its owner's mark is left to the cleaner.
void RemoveUnnamed(io::Directory& directory, const std::string& name) {
  const Status removed = directory.Unlink(name);
  if (removed.ok() || removed.error().code() == Code::kNotFound) return;
  RATCHET_LOG(kWarn, "cannot remove {}/{}, which no manifest names; the master's cleaner removes it: {}",
              directory.path(), name, removed.error().ToString());
}

class FileWriter final : public StoreFiles::Writer {
 public:
  FileWriter(std::shared_ptr<const void> keep, io::Directory& directory, const rocksdb::Options& options,
             std::string name)
      : keep_(std::move(keep)), directory_(directory), table_(rocksdb::EnvOptions(), options) {
    info_.name = std::move(name);
  }
  ~FileWriter() override {
    if (made_ && !finished_ && !RATCHET_MUTANT("store.keep_unfinished")) RemoveUnnamed(directory_, info_.name);
  }
  rocksdb::Status Open() {
    const rocksdb::Status opened = table_.Open(info_.name);
    made_ = opened.ok();  // otherwise the file may be another opening's
    return opened;
  }
  Status Add(std::string_view key, std::string_view value) override {
    const rocksdb::Status added = table_.Put(ToSlice(key), ToSlice(value));
    if (!added.ok()) return FromRocks(added, info_.name);
    if (info_.cells++ == 0) info_.smallest_key = key;
    info_.largest_key = key;
    info_.last_sequence = std::max(info_.last_sequence, SequenceOf(key));
    return Ok();
  }
  Result<StoreFileInfo> Finish() override {
    rocksdb::ExternalSstFileInfo written;
    const rocksdb::Status finished = table_.Finish(&written);
    if (!finished.ok()) return FromRocks(finished, info_.name);
    info_.bytes = written.file_size;
    finished_ = true;
    return info_;
  }

 private:
  const std::shared_ptr<const void> keep_;  // the directory and the environment
  io::Directory& directory_;
  bool made_ = false;
  bool finished_ = false;
  StoreFileInfo info_;
  rocksdb::SstFileWriter table_;
};

}  // namespace

namespace {

// S53 (opening starts with full state): the file under this name must be the one that the manifest describes, not
// another one with the same number of cells.
Status CheckIsNamed(const std::shared_ptr<const FileReader>& reader, const StoreFileInfo& info) {
  FileCursor cursor(reader, false);
  const auto key_is = [&](const std::string& expected, const char* which) -> Status {
    RATCHET_TRY(cursor.status());
    if (cursor.Valid() && cursor.key() == expected) return Ok();
    return Error(
        Code::kCorruption,
        fmt::format("store file {} is not the one that its manifest describes: its {} key differs", info.name, which));
  };
  cursor.Seek({});
  RATCHET_TRY(key_is(info.smallest_key, "first"));
  cursor.SeekToLast();
  return key_is(info.largest_key, "last");
}

}  // namespace

StoreFiles::StoreFiles(std::shared_ptr<io::Directory> directory, KeyOrder order, OnDamagedFile on_damaged)
    : shared_(std::make_shared<const Shared>(std::move(directory), order, std::move(on_damaged))) {}
StoreFiles::~StoreFiles() = default;

Result<std::shared_ptr<const StoreFiles::Reader>> StoreFiles::OpenFile(const StoreFileInfo& info) const {
  auto reader = std::make_shared<FileReader>(shared_, shared_->Options(), shared_->on_damaged, info);
  std::uint64_t bytes = 0;
  if (const rocksdb::Status sized = shared_->env().GetFileSize(info.name, &bytes); !sized.ok())
    return FromRocks(sized, info.name);
  if (bytes != info.bytes)
    return Error(Code::kCorruption,
                 fmt::format("store file {} has {} bytes, but its manifest has {}", info.name, bytes, info.bytes));
  const rocksdb::Status opened = reader->Open();
  if (!opened.ok()) return FromRocks(opened, info.name);
  if (reader->entries() != info.cells)
    return Error(Code::kCorruption, fmt::format("store file {} has {} cells, but its manifest has {}", info.name,
                                                reader->entries(), info.cells));
  if (!RATCHET_MUTANT("store.any_file")) RATCHET_TRY(CheckIsNamed(reader, info));
  return std::shared_ptr<const Reader>(std::move(reader));
}

Result<std::uint64_t> StoreFiles::FirstSequenceOf(const std::string& name) const {
  StoreFileInfo info;
  info.name = name;
  static const OnDamagedFile kNobody;  // the file may be unfinished, so do not report damage
  const auto reader = std::make_shared<FileReader>(shared_, shared_->Options(), kNobody, info);
  if (const rocksdb::Status opened = reader->Open(); !opened.ok()) return FromRocks(opened, name);
  FileCursor cursor(reader);
  cursor.Seek({});
  RATCHET_TRY(cursor.status());
  if (!cursor.Valid() || !DecodeStoredCell(cursor.key(), cursor.value()).ok())
    return Error(Code::kCorruption, fmt::format("store file {} does not begin with a cell", name));
  return SequenceOf(cursor.key());
}

Status HoldOpen(const StoreFiles::Reader& reader) {
  const auto* const file = dynamic_cast<const FileReader*>(&reader);
  return file == nullptr || RATCHET_MUTANT("region.hold_nothing") ? Ok() : file->HoldFile();
}

std::unique_ptr<CellCursor> StoreFiles::NewCursor(std::shared_ptr<const Reader> reader, ReadSource from) {
  const StoreFileInfo& info = reader->info();
  std::unique_ptr<CellCursor> cursor =
      std::make_unique<FileCursor>(std::static_pointer_cast<const FileReader>(reader), true, from);
  if (info.cut() && !RATCHET_MUTANT("store.any_range")) cursor = OnlyRows(std::move(cursor), info.low, info.high);
  if (info.dead.empty()) return cursor;
  return std::make_unique<LivingCursor>(std::move(cursor), info.dead);
}

void StoreFiles::Remove(const StoreFileInfo& file) const { RemoveUnnamed(*shared_->directory, file.name); }

std::string_view CompressionName(FileCompression compression) {
  switch (compression) {
    case FileCompression::kLz4: break;
    case FileCompression::kSnappy: return "Snappy";
    case FileCompression::kGz: return "Zlib";
    case FileCompression::kZstd: return "ZSTD";
  }
  return "LZ4";
}

Result<std::unique_ptr<StoreFiles::Writer>> StoreFiles::Create(const std::string& name, FileCompression compression,
                                                               FileFilter filter) const {
  rocksdb::Options options = shared_->Options();
  options.compression = TypeOf(compression);
  // A filter's pieces are in the plain order of rows.
  if (filter == FileFilter::kRow && shared_->order.rows == RowOrder::kPlain)
    options.table_properties_collector_factories.push_back(MakeRowFilterCollector());
  auto writer = std::make_unique<FileWriter>(shared_, *shared_->directory, options, name);
  const rocksdb::Status opened = writer->Open();
  if (!opened.ok()) return FromRocks(opened, name);
  return std::unique_ptr<Writer>(std::move(writer));
}

}  // namespace ratchet::regionserver
