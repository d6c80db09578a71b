#include "chaos/workloads/huge_row.h"

#include <algorithm>
#include <cstring>
#include <map>

#include <fmt/core.h>

#include "chaos/workloads/load.h"
#include "common/base/prng.h"
#include "common/model/cell.h"
#include "common/model/cell_codec.h"

namespace ratchet::chaos {
namespace {

constexpr std::uint64_t kSmallValue = 24;

std::string Bytes(std::uint64_t seed, std::uint64_t version, std::uint32_t column, std::uint64_t size) {
  Prng prng(seed ^ (version * 0x9e3779b97f4a7c15ULL) ^ (std::uint64_t{column} << 40U));
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = prng.Next();
    std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(sizeof word, size - at));
  }
  return bytes;
}

std::string Qualifier(std::uint32_t column) { return fmt::format("q{:05d}", column); }

// Up to 64 bytes below the limit, depending on the version.
std::uint64_t ValueSize(const HugeRow& row, std::uint64_t version) {
  return row.shape == HugeShape::kCell ? row.LargestValue() - version % 65 : kSmallValue;
}

std::uint32_t Columns(const HugeRow& row) { return row.shape == HugeShape::kWide ? row.columns : 1; }

}  // namespace

std::uint64_t HugeRow::LargestValue() const {
  const Cell empty{key, kLoadFamily, Qualifier(0), 0, CellType::kPut, ""};
  return cell_bytes - EncodedCellSize(empty);
}

HugeRow MakeHugeRow(HugeShape shape, std::string prefix, std::uint64_t seed, std::uint64_t cell_bytes) {
  HugeRow row;
  row.key = std::move(prefix);
  row.shape = shape;
  row.seed = seed;
  row.cell_bytes = cell_bytes;
  Prng prng(seed);
  if (shape == HugeShape::kWide) row.columns = static_cast<std::uint32_t>(prng.Between(2'000, 8'000));
  if (shape == HugeShape::kLongKey) row.key.resize(kMaxRowLength, 'k');
  return row;
}

client::Mutation PutHugeRow(const HugeRow& row, std::uint64_t version, std::uint64_t extra) {
  auto put = client::Mutation::Put(row.key);
  const std::uint64_t size = extra > 0 ? row.LargestValue() + extra : ValueSize(row, version);
  for (std::uint32_t column = 0; column < Columns(row); ++column) {
    put.Set(kLoadFamily, Qualifier(column), Bytes(row.seed, version, column, size), static_cast<std::int64_t>(version));
  }
  return put;
}

std::uint64_t BytesOf(const client::Mutation& put) {
  std::uint64_t bytes = 0;
  for (const Cell& cell : put.cells) bytes += EncodedCellSize(cell);
  return bytes;
}

std::optional<std::string> Judge(const client::Row& answer, HugeRow& row) {
  const std::string name = fmt::format("row {} ({} bytes of key)", row.key.substr(0, 12), row.key.size());
  if (answer.cells.empty()) {
    if (row.acknowledged == 0) return std::nullopt;
    return fmt::format("{}: version {} was acknowledged, but it is gone", name, row.acknowledged);
  }
  const auto version = static_cast<std::uint64_t>(answer.cells.front().timestamp);
  if (version != row.acknowledged && row.perhaps.count(version) == 0) {
    return fmt::format("{}: has version {}, but {} was acknowledged", name, version, row.acknowledged);
  }
  if (answer.cells.size() != Columns(row)) {
    return fmt::format("{}: has {} cells of version {}, not {}", name, answer.cells.size(), version, Columns(row));
  }
  const std::uint64_t size = ValueSize(row, version);
  for (std::uint32_t column = 0; column < Columns(row); ++column) {
    const Cell& cell = answer.cells[column];
    if (cell.qualifier != Qualifier(column) || static_cast<std::uint64_t>(cell.timestamp) != version) {
      return fmt::format("{}: column {} has version {} instead of {} of {}", name, cell.qualifier, cell.timestamp,
                         Qualifier(column), version);
    }
    if (cell.value != Bytes(row.seed, version, column, size)) {
      return fmt::format("{}: column {} of version {} differs from the written bytes ({}, not {})", name,
                         cell.qualifier, version, cell.value.size(), size);
    }
  }
  row.acknowledged = version;
  row.perhaps.erase(row.perhaps.begin(), row.perhaps.upper_bound(version));
  return std::nullopt;
}

}  // namespace ratchet::chaos
