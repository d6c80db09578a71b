#include "regionserver/store/row_samples.h"

#include <rocksdb/table_properties.h>

#include <utility>

#include "regionserver/store/cell_key.h"
#include "regionserver/wal/byte_codec.h"

namespace ratchet::regionserver {
namespace {

class Sampler final : public rocksdb::TablePropertiesCollector {
 public:
  rocksdb::Status AddUserKey(const rocksdb::Slice& key, const rocksdb::Slice& value, rocksdb::EntryType /*type*/,
                             rocksdb::SequenceNumber /*sequence*/, std::uint64_t /*file_size*/) override {
    samples_.Add(DecodeRow(EncodedRowOf({key.data(), key.size()})), key.size() + value.size());
    return rocksdb::Status::OK();
  }
  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override {
    (*properties)[std::string(kRowSamplesProperty)] = samples_.Encode();
    return rocksdb::Status::OK();
  }
  [[nodiscard]] rocksdb::UserCollectedProperties GetReadableProperties() const override { return {}; }
  [[nodiscard]] const char* Name() const override { return "ratchet.RowSampler"; }

 private:
  RowSamples samples_;
};

class SamplerFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context /*context*/) override {
    return new Sampler;  // owned by its file
  }
  [[nodiscard]] const char* Name() const override { return "ratchet.RowSampler"; }
};

}  // namespace

void RowSamples::Add(std::string_view row, std::size_t bytes) {
  passed_ += bytes;
  if (passed_ < step_) return;
  row = row.substr(0, kLongest);
  if (!rows_.empty() && rows_.back() == row) return;  // the next row replaces it
  passed_ = 0;
  rows_.emplace_back(row);
  if (rows_.size() <= kMost) return;
  std::vector<std::string> half;
  for (std::size_t i = 1; i < rows_.size(); i += 2) half.push_back(std::move(rows_[i]));
  rows_ = std::move(half);
  step_ = step_ == 1 ? 2 * bytes : 2 * step_;
}

std::string RowSamples::Encode() const {
  std::string encoded;
  for (const std::string& row : rows_) PutBytes(encoded, row);
  return encoded;
}

std::vector<std::string> DecodeRowSamples(std::string_view encoded) {
  std::vector<std::string> rows;
  ByteReader in(encoded);
  while (in.ok() && !in.AtEnd() && rows.size() <= RowSamples::kMost) {
    std::string row(in.Bytes());
    if (in.ok()) rows.push_back(std::move(row));
  }
  return rows;
}

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> MakeRowSampler() {
  return std::make_shared<SamplerFactory>();
}

}  // namespace ratchet::regionserver
