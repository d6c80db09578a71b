// What the load "replication" has written, and whether two clusters have it. Pure; not thread-safe.
//
// Each row has one writer, and its value is a number that rises with each write: so what a cluster has must lie between
// the last number that was acknowledged and the last one that was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ratchet::chaos {

class ReplicatedRows {
 public:
  // Rows of each writer; beyond them only older ones are written again.
  static constexpr std::size_t kMostRows = 500'000;
  explicit ReplicatedRows(std::size_t writers) : rows_(writers) {}

  struct Write {
    std::size_t row = 0;
    std::uint32_t number = 0;
  };
  // A new row of the writer, or an older one once more: `draw` decides.
  [[nodiscard]] Write Next(std::size_t writer, std::uint64_t draw);
  void Acknowledged(std::size_t writer, const Write& write);

  [[nodiscard]] static std::string KeyOf(std::size_t writer, std::size_t row);
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t acknowledged() const;

  // The numbers that a cluster has, by key.
  using Copy = std::map<std::string, std::uint64_t>;
  struct Comparison {
    std::size_t compared = 0;
    std::size_t lost = 0;            // not what was acknowledged, at the first cluster
    std::size_t missing = 0;         // the first cluster has it, or a newer one; the second one does not
    std::size_t foreign = 0;         // the other way round, or nothing that was ever written
    std::vector<std::string> shown;  // of the first few that are wrong
    [[nodiscard]] bool good() const { return lost + missing + foreign == 0; }
  };
  [[nodiscard]] Comparison Compare(const Copy& first, const Copy& second) const;
  // "<key> <acknowledged> <asked for>", one a line.
  [[nodiscard]] std::string ToText() const;

 private:
  struct Row {
    std::uint32_t acknowledged = 0;  // 0: none
    std::uint32_t asked = 0;
  };
  std::vector<std::vector<Row>> rows_;  // by writer
};

}  // namespace ratchet::chaos
