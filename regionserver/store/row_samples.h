// Samples of a store file's rows at about equal distances, recorded in the file while it is written. They give a split
// row that makes two regions of about the same size without reading the file. Files of earlier versions have none.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rocksdb {
class TablePropertiesCollectorFactory;
}

namespace ratchet::regionserver {

inline constexpr std::string_view kRowSamplesProperty = "ratchet.rows";

// Takes rows in order; keeps at most kMost of them, each at most kLongest bytes long (a prefix of a row is a valid
// split key, too). One thread.
class RowSamples {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kLongest = 256;
  // `bytes` is the size of a cell of this row.
  void Add(std::string_view row, std::size_t bytes);
  [[nodiscard]] std::string Encode() const;

 private:
  std::vector<std::string> rows_;
  std::size_t step_ = 1;    // bytes between two samples
  std::size_t passed_ = 0;  // bytes since the last sample
};

// Decodes the bytes of Encode; ignores the rest after bytes that cannot be read.
[[nodiscard]] std::vector<std::string> DecodeRowSamples(std::string_view encoded);

// Returns the sampler for options with which files are written.
[[nodiscard]] std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> MakeRowSampler();

}  // namespace ratchet::regionserver
