// Rows of a store file at about equal distances, noted in the file while it is written: where a split would make two
// regions of about the same size is known without reading the file. Files of earlier versions have none.
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

// Takes rows in order; keeps at most kMost of them, each at most kLongest bytes long (a beginning of a row is as good a
// split key). One thread.
class RowSamples {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kLongest = 256;
  // `bytes`: of a cell of this row.
  void Add(std::string_view row, std::size_t bytes);
  [[nodiscard]] std::string Encode() const;

 private:
  std::vector<std::string> rows_;
  std::size_t step_ = 1;    // bytes between two samples
  std::size_t passed_ = 0;  // since the last one
};

// What Encode has made; what follows bytes that cannot be read is left out.
[[nodiscard]] std::vector<std::string> DecodeRowSamples(std::string_view encoded);

// For files that are written with these options.
[[nodiscard]] std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> MakeRowSampler();

}  // namespace ratchet::regionserver
