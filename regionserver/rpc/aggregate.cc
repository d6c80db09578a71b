#include "regionserver/rpc/aggregate.h"

#include <bit>
#include <cfloat>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "common/model/proto/common.pb.h"
#include "common/rpc/exceptions.h"
#include "regionserver/filter/decimal.h"

namespace ratchet::regionserver {
namespace {

using hbase::pb::AggregateResponse;

// ---- interpreters ---------------------------------------------------------------------------------------------------

// Java's long: sums overflow by wrapping.
struct LongNumbers {
  using Number = std::int64_t;
  static std::optional<Number> ValueOf(const CellView& cell, Status& /*problem*/) {
    Number value = 0;
    return DecodeInt64(cell.value, value) ? std::optional(value) : std::nullopt;
  }
  static Number Plus(Number a, Number b) {
    return static_cast<Number>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
  static Number Times(Number a, Number b) {
    return static_cast<Number>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
  static std::string NoWeight() { return Bytes(INT64_MIN); }  // as HBase's interpreter does
  static std::string Bytes(Number value) {
    hbase::pb::LongMsg message;
    message.set_long_msg(value);
    return message.SerializeAsString();
  }
};

struct DoubleNumbers {
  using Number = double;
  static std::optional<Number> ValueOf(const CellView& cell, Status& /*problem*/) {
    std::int64_t bits = 0;
    return DecodeInt64(cell.value, bits) ? std::optional(std::bit_cast<double>(bits)) : std::nullopt;
  }
  static Number Plus(Number a, Number b) { return a + b; }
  static Number Times(Number a, Number b) { return a * b; }
  static std::string NoWeight() { return Bytes(DBL_TRUE_MIN); }  // as HBase's interpreter does
  static std::string Bytes(Number value) {
    hbase::pb::DoubleMsg message;
    message.set_double_msg(value);
    return message.SerializeAsString();
  }
};

// As HBase's interpreter: values and products are rounded to two places, half to even.
struct BigNumbers {
  using Number = filters::Decimal;
  static std::optional<Number> ValueOf(const CellView& cell, Status& problem) {
    if (!Number::IsNumber(cell.value)) return std::nullopt;
    auto value = Number::Decode(cell.value, "BigDecimalColumnInterpreter");
    if (value.ok()) return value->Rounded(kPlaces);
    problem = value.error();
    return std::nullopt;
  }
  static Number Plus(const Number& a, const Number& b) { return a.Plus(b); }
  static Number Times(const Number& a, const Number& b) { return a.Times(b).Rounded(kPlaces); }
  // The value of HBase's interpreter: the least double above 0, 49 with 325 places.
  static std::string NoWeight() { return Message(std::string("\0\0\x01\x45\x31", 5)); }
  static std::string Bytes(const Number& value) { return Message(value.Rounded(kPlaces).Encode()); }

 private:
  static constexpr std::int32_t kPlaces = 2;
  static std::string Message(std::string bytes) {
    hbase::pb::BigDecimalMsg message;
    message.set_bigdecimal_msg(std::move(bytes));
    return message.SerializeAsString();
  }
};

// ---- functions ------------------------------------------------------------------------------------------------------

template <class Numbers>
using Sum = std::optional<typename Numbers::Number>;

template <class Numbers>
void AddTo(Sum<Numbers>& sum, const Sum<Numbers>& value) {
  if (value) sum = sum ? Numbers::Plus(*sum, *value) : *value;
}

template <class Numbers>
class Extreme final : public Aggregate {
 public:
  explicit Extreme(bool greatest) : greatest_(greatest) {}
  void Add(const CellView& cell) override {
    const auto value = Numbers::ValueOf(cell, problem_);
    if (!value) return;
    if (!found_ || (greatest_ ? *found_ < *value : *value < *found_)) found_ = value;
  }
  void EndRow() override {}
  [[nodiscard]] AggregateResponse Answer() const override {
    AggregateResponse answer;
    if (found_) answer.add_first_part(Numbers::Bytes(*found_));
    return answer;
  }

 private:
  const bool greatest_;
  Sum<Numbers> found_;
};

class RowCount final : public Aggregate {
 public:
  void Add(const CellView& /*cell*/) override {}
  void EndRow() override { ++rows_; }
  [[nodiscard]] AggregateResponse Answer() const override {
    AggregateResponse answer;
    answer.add_first_part(EncodeInt64(rows_));
    return answer;
  }
  [[nodiscard]] bool only_rows() const override { return true; }

 private:
  std::int64_t rows_ = 0;
};

// GetSum, GetAvg and GetStd: the sum, the number of rows, and the sum of the squares of the rows' sums.
template <class Numbers>
class Sums final : public Aggregate {
 public:
  Sums(bool count, bool squares) : count_(count), squares_(squares) {}
  void Add(const CellView& cell) override { AddTo<Numbers>(row_, Numbers::ValueOf(cell, problem_)); }
  void EndRow() override {
    AddTo<Numbers>(sum_, row_);
    if (row_) AddTo<Numbers>(square_sum_, Numbers::Times(*row_, *row_));
    row_.reset();
    ++rows_;
  }
  [[nodiscard]] AggregateResponse Answer() const override {
    AggregateResponse answer;
    if (!sum_) return answer;
    answer.add_first_part(Numbers::Bytes(*sum_));
    if (squares_) answer.add_first_part(Numbers::Bytes(*square_sum_));
    if (count_) answer.set_second_part(EncodeInt64(rows_));
    return answer;
  }

 private:
  const bool count_;
  const bool squares_;
  Sum<Numbers> row_, sum_, square_sum_;
  std::int64_t rows_ = 0;
};

// The first pass of a median: the sum of all weights, or of all values, of the region. The client does the rest with
// scans.
template <class Numbers>
class MedianParts final : public Aggregate {
 public:
  explicit MedianParts(std::string weights) : weights_(std::move(weights)) {}
  void Add(const CellView& cell) override {
    const auto value = Numbers::ValueOf(cell, problem_);
    AddTo<Numbers>(values_, value);  // interpreters ignore qualifiers
    if (!weights_.empty()) AddTo<Numbers>(weight_sum_, value);
  }
  void EndRow() override {}
  [[nodiscard]] AggregateResponse Answer() const override {
    AggregateResponse answer;
    answer.add_first_part(Numbers::Bytes(values_.value_or(typename Numbers::Number())));
    answer.add_first_part(weight_sum_ ? Numbers::Bytes(*weight_sum_) : Numbers::NoWeight());
    return answer;
  }

 private:
  const std::string weights_;
  Sum<Numbers> values_, weight_sum_;
};

template <class Numbers>
std::unique_ptr<Aggregate> MakeOf(const std::string& method, const std::string& weights) {
  if (method == "GetMax" || method == "GetMin") return std::make_unique<Extreme<Numbers>>(method == "GetMax");
  if (method == "GetSum") return std::make_unique<Sums<Numbers>>(false, false);
  if (method == "GetAvg") return std::make_unique<Sums<Numbers>>(true, false);
  if (method == "GetStd") return std::make_unique<Sums<Numbers>>(true, true);
  if (method == "GetRowNum") return std::make_unique<RowCount>();
  if (method == "GetMedian") return std::make_unique<MedianParts<Numbers>>(weights);
  return nullptr;
}

constexpr std::string_view kInterpreters = "org.apache.hadoop.hbase.client.coprocessor.";

}  // namespace

Result<std::unique_ptr<Aggregate>> MakeAggregate(const std::string& method, const std::string& interpreter,
                                                 const std::string& weights) {
  std::string_view name = interpreter;
  if (name.starts_with(kInterpreters)) name.remove_prefix(kInterpreters.size());
  std::unique_ptr<Aggregate> made;
  if (name == "LongColumnInterpreter") {
    made = MakeOf<LongNumbers>(method, weights);
  } else if (name == "DoubleColumnInterpreter") {
    made = MakeOf<DoubleNumbers>(method, weights);
  } else if (name == "BigDecimalColumnInterpreter") {
    made = MakeOf<BigNumbers>(method, weights);
  } else {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                            fmt::format("interpreter {} is not supported: LongColumnInterpreter, "
                                        "DoubleColumnInterpreter or BigDecimalColumnInterpreter",
                                        interpreter));
  }
  if (made == nullptr)
    return rpc::RemoteError(rpc::exception::kUnknownProtocol,
                            fmt::format("Unknown method {} called on service AggregateService", method));
  return made;
}

}  // namespace ratchet::regionserver
