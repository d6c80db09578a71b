// The rows of the load "replication", and their comparison on two clusters. Pure; not thread-safe.
//
// Each row has one writer, and its value is a number that rises with each write. So a cluster's value must be between
// the last acknowledged and the last requested number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ratchet::chaos {

class ReplicatedRows {
 public:
  // Maximum number of rows of each writer; after that only existing rows are written.
  static constexpr std::size_t kMostRows = 500'000;
  explicit ReplicatedRows(std::size_t writers) : rows_(writers) {}

  struct Write {
    std::size_t row = 0;
    std::uint32_t number = 0;
  };
  // Returns a new row of the writer, or an existing one: `draw` decides.
  [[nodiscard]] Write Next(std::size_t writer, std::uint64_t draw);
  void Acknowledged(std::size_t writer, const Write& write);

  [[nodiscard]] static std::string KeyOf(std::size_t writer, std::size_t row);
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t acknowledged() const;

  // The numbers of a cluster, by key.
  using Copy = std::map<std::string, std::uint64_t>;
  struct Comparison {
    std::size_t compared = 0;
    std::size_t lost = 0;            // rows below the acknowledged number at the first cluster
    std::size_t missing = 0;         // rows that are missing or older at the second cluster
    std::size_t foreign = 0;         // rows that only the second cluster has, or that were never written
    std::vector<std::string> shown;  // the first few wrong rows
    [[nodiscard]] bool good() const { return lost + missing + foreign == 0; }
  };
  [[nodiscard]] Comparison Compare(const Copy& first, const Copy& second) const;
  // Returns "<key> <acknowledged> <asked for>", one per line.
  [[nodiscard]] std::string ToText() const;

 private:
  struct Row {
    std::uint32_t acknowledged = 0;  // 0: none
    std::uint32_t asked = 0;
  };
  std::vector<std::vector<Row>> rows_;  // by writer
};

}  // namespace ratchet::chaos
