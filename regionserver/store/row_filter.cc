#include "regionserver/store/row_filter.h"

#include <rocksdb/table_properties.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "common/base/mutant.h"
#include "common/model/cell.h"
#include "regionserver/store/cell_key.h"
#include "regionserver/wal/byte_codec.h"

namespace ratchet::regionserver {
namespace {

// The format: this byte, then pieces in the order of their rows. A piece is its last row and its bits, both with their
// length. A row's bits are all in one line of kLineBytes, so that a look-up costs one access to memory.
constexpr char kFormat = 1;
constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kBitsOfRow = 10;
constexpr int kProbes = 6;

static_assert(std::endian::native == std::endian::little, "the hash reads words, so it needs a little-endian machine");

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93U;
  return x ^ (x >> 32);
}

// Part of the format.
std::uint64_t HashOf(std::string_view row) {
  std::uint64_t hash = Mix(row.size() + 0x9e3779b97f4a7c15U);
  while (!row.empty()) {
    std::uint64_t word = 0;
    const std::size_t taken = std::min(row.size(), sizeof(word));
    std::memcpy(&word, row.data(), taken);
    hash = Mix(hash ^ word) + 0x9e3779b97f4a7c15U;
    row.remove_prefix(taken);
  }
  return Mix(hash);
}

// Calls `probe(byte, bit)` with the places of a row's bits in a filter of `bytes` bytes, until it returns false.
template <typename Probe>
bool AllOf(std::uint64_t hash, std::size_t bytes, Probe probe) {
  const std::uint64_t lines = bytes / kLineBytes;
  const std::size_t line = (static_cast<std::uint32_t>(hash) * lines) >> 32;
  auto bits = static_cast<std::uint32_t>(hash >> 32);
  for (int i = 0; i < kProbes; ++i) {
    bits *= 0x9e3779b9U;
    const std::uint32_t place = bits >> 23;  // one of the 512 bits of the line
    if (!probe(line * kLineBytes + place / 8, place % 8)) return false;
  }
  return true;
}

bool IsPut(std::string_view key) {
  constexpr std::size_t kTypeFromEnd = 1 + 8;  // type, sequence
  return key.size() >= kTypeFromEnd &&
         static_cast<CellType>(static_cast<std::uint8_t>(~static_cast<std::uint8_t>(key[key.size() - kTypeFromEnd]))) ==
             CellType::kPut;
}

class Collector final : public rocksdb::TablePropertiesCollector {
 public:
  rocksdb::Status AddUserKey(const rocksdb::Slice& key, const rocksdb::Slice& /*value*/, rocksdb::EntryType /*type*/,
                             rocksdb::SequenceNumber /*sequence*/, std::uint64_t /*file_size*/) override {
    const std::string_view cell(key.data(), key.size());
    if (!RATCHET_MUTANT("store.filter_puts_only") || IsPut(cell)) filter_.Add(EncodedRowOf(cell));
    return rocksdb::Status::OK();
  }
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override {
    (*properties)[std::string(kRowFilterProperty)] = filter_.Finish();
    return rocksdb::Status::OK();
  }
  [[nodiscard]] rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }
  [[nodiscard]] const char* Name() const override { return "ratchet.RowFilter"; }

 private:
  RowFilterBuilder filter_;
};

class CollectorFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context /*context*/) override {
    return new Collector;  // owned by its file
  }
  [[nodiscard]] const char* Name() const override { return "ratchet.RowFilter"; }
};

}  // namespace

void RowFilterBuilder::Add(std::string_view encoded_row) {
  if (full_ || encoded_row == last_row_) return;
  if (hashes_.size() == kRowsOfPiece) {
    EndPiece();
    full_ = pieces_.size() >= most_bytes_;
    if (full_) return;
  }
  last_row_ = encoded_row;
  hashes_.push_back(HashOf(encoded_row));
}

void RowFilterBuilder::EndPiece() {
  if (hashes_.empty()) return;
  const std::size_t lines = hashes_.size() * kBitsOfRow / (8 * kLineBytes) + 1;
  std::string bits(lines * kLineBytes, '\0');
  for (const std::uint64_t hash : std::exchange(hashes_, {})) {
    AllOf(hash, bits.size(), [&bits](std::size_t byte, std::uint32_t bit) {
      bits[byte] = static_cast<char>(static_cast<unsigned char>(bits[byte]) | (1U << bit));
      return true;
    });
  }
  PutBytes(pieces_, last_row_);
  PutBytes(pieces_, bits);
}

std::string RowFilterBuilder::Finish() {
  EndPiece();
  if (full_) pieces_.append(2, '\0');  // no last row, no bits: later rows are not excluded
  return kFormat + std::exchange(pieces_, {});
}

RowFilter::RowFilter(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != kFormat) return;
  ByteReader in(bytes.substr(1));
  while (in.ok() && !in.AtEnd()) {
    Piece piece;
    piece.last_row = in.Bytes();
    piece.bits = in.Bytes();
    const bool ordered = pieces_.empty() || piece.last_row.empty() ||
                         (!pieces_.back().last_row.empty() && pieces_.back().last_row < piece.last_row);
    if (!in.ok() || !ordered || piece.bits.size() % kLineBytes != 0 || piece.last_row.empty() != piece.bits.empty()) {
      pieces_.clear();
      return;
    }
    pieces_.push_back(piece);
  }
}

bool RowFilter::MayHave(std::string_view encoded_row) const {
  if (pieces_.empty()) return true;
  const auto piece = std::partition_point(pieces_.begin(), pieces_.end(), [encoded_row](const Piece& each) {
    return !each.last_row.empty() && each.last_row < encoded_row;
  });
  if (piece == pieces_.end()) return false;
  if (piece->bits.empty()) return true;
  return AllOf(HashOf(encoded_row), piece->bits.size(), [piece](std::size_t byte, std::uint32_t bit) {
    return (static_cast<unsigned char>(piece->bits[byte]) >> bit & 1U) != 0;
  });
}

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> MakeRowFilterCollector() {
  return std::make_shared<CollectorFactory>();
}

}  // namespace ratchet::regionserver
