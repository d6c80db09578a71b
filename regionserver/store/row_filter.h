// Bloom filters of the rows of a store file: a read of one row skips a file whose filter excludes the row.
//
// The filter is a property of the file. The file's writer makes it from every key, including delete markers. Readers
// hold it in memory, about 10 bits for each row. A filter never excludes a row of its file, and about 1 % of the other
// rows pass. Files of earlier versions have none. hbase:meta's files have none, because its rows have an order of their
// own.
//
// Not RocksDB's filter: SstFileReader consults it only in an iterator, which must be made for each file first, and
// whose later rows are undefined in that mode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rocksdb {
class TablePropertiesCollectorFactory;
}

namespace ratchet::regionserver {

// The filter of a new file. Every version reads files with and without one.
enum class FileFilter : std::uint8_t { kNone, kRow };

inline constexpr std::string_view kRowFilterProperty = "ratchet.row_filter";

// Takes the rows of a file in order, as RowPrefix encodes them. The filter consists of pieces of up to kRowsOfPiece
// rows, so the writer keeps the hashes of one piece only. Rows after the first `most_bytes` of pieces are not excluded.
// One thread.
class RowFilterBuilder {
 public:
  static constexpr std::size_t kRowsOfPiece = 32'768;
  static constexpr std::size_t kMostBytes = 64U << 20;

  explicit RowFilterBuilder(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}
  void Add(std::string_view encoded_row);  // equal rows follow each other
  [[nodiscard]] std::string Finish();

 private:
  void EndPiece();

  const std::size_t most_bytes_;
  std::string last_row_;
  std::vector<std::uint64_t> hashes_;  // of the current piece
  std::string pieces_;
  bool full_ = false;
};

// A filter as it is stored; `bytes` outlive it. Thread-safe.
class RowFilter {
 public:
  // Bytes that are malformed, or of a later format, exclude no row.
  explicit RowFilter(std::string_view bytes = {});
  // Returns false only if the file has no key of this row.
  [[nodiscard]] bool MayHave(std::string_view encoded_row) const;
  [[nodiscard]] bool empty() const { return pieces_.empty(); }

 private:
  struct Piece {
    std::string_view last_row;  // empty: all later rows
    std::string_view bits;      // empty: no row is excluded
  };
  std::vector<Piece> pieces_;
};

// Returns the builder for options with which files are written.
[[nodiscard]] std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> MakeRowFilterCollector();

}  // namespace ratchet::regionserver
