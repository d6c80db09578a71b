#include "regionserver/filter/comparator_kinds.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/model/cell.h"
#include "common/model/message_limits.h"
#include "common/model/proto/filter.pb.h"
#include "regionserver/filter/decimal.h"
#include "regionserver/filter/refusal.h"
#include "regionserver/filter/regex_comparator.h"

namespace ratchet::regionserver::filters {
namespace {

namespace pb = ::hbase::pb;

int Sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

class Binary final : public Comparator {
 public:
  explicit Binary(std::string expected) : expected_(std::move(expected)) {}
  [[nodiscard]] Result<int> Compare(std::string_view stored) const override {
    return Sign(std::string_view(expected_).compare(stored));
  }
  [[nodiscard]] bool ExpectsNothing() const override { return expected_.empty(); }

 private:
  const std::string expected_;
};

class BinaryPrefix final : public Comparator {
 public:
  explicit BinaryPrefix(std::string expected) : expected_(std::move(expected)) {}
  [[nodiscard]] Result<int> Compare(std::string_view stored) const override {
    return Sign(std::string_view(expected_).compare(stored.substr(0, expected_.size())));
  }
  [[nodiscard]] bool ExpectsNothing() const override { return expected_.empty(); }

 private:
  const std::string expected_;
};

class BinaryComponent final : public Comparator {
 public:
  BinaryComponent(std::string expected, std::size_t offset) : expected_(std::move(expected)), offset_(offset) {}
  [[nodiscard]] Result<int> Compare(std::string_view stored) const override {
    const std::string_view component = stored.substr(std::min(offset_, stored.size()), expected_.size());
    return Sign(std::string_view(expected_).compare(component));
  }
  [[nodiscard]] bool ExpectsNothing() const override { return expected_.empty(); }

 private:
  const std::string expected_;
  const std::size_t offset_;
};

class Long final : public Comparator {
 public:
  explicit Long(std::int64_t expected) : expected_(expected) {}
  [[nodiscard]] Result<int> Compare(std::string_view stored) const override {
    std::int64_t number = 0;
    if (!DecodeInt64(stored, number)) {
      return Refuse(fmt::format("LongComparator needs stored values of 8 bytes, but one has {}", stored.size()));
    }
    return expected_ < number ? -1 : expected_ > number ? 1 : 0;
  }

 private:
  const std::int64_t expected_;
};

constexpr std::string_view kDecimalName = "BigDecimalComparator";

class BigDecimal final : public Comparator {
 public:
  explicit BigDecimal(Decimal expected) : expected_(std::move(expected)) {}
  [[nodiscard]] Result<int> Compare(std::string_view stored) const override {
    RATCHET_ASSIGN(const Decimal number, Decimal::Decode(stored, kDecimalName));
    return expected_.Compare(number);
  }

 private:
  const Decimal expected_;
};

class Bit final : public Comparator {
 public:
  Bit(std::string expected, pb::BitComparator::BitwiseOp op) : expected_(std::move(expected)), op_(op) {}
  [[nodiscard]] Result<int> Compare(std::string_view stored) const override {
    if (stored.size() != expected_.size()) return 1;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (Apply(static_cast<unsigned char>(expected_[i]), static_cast<unsigned char>(stored[i])) != 0) return 0;
    }
    return 1;
  }
  [[nodiscard]] bool ExpectsNothing() const override { return expected_.empty(); }

 private:
  [[nodiscard]] int Apply(int a, int b) const {
    switch (op_) {
      case pb::BitComparator::AND: return a & b;
      case pb::BitComparator::OR: return a | b;
      case pb::BitComparator::XOR: return a ^ b;
    }
    return 0;
  }
  const std::string expected_;
  const pb::BitComparator::BitwiseOp op_;
};

// A stored value is never null, so a null comparator equals no value.
class Null final : public Comparator {
 public:
  [[nodiscard]] Result<int> Compare(std::string_view) const override { return 1; }
  [[nodiscard]] bool ExpectsNothing() const override { return true; }
};

// Changes ASCII letters only.
std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

class Substring final : public Comparator {
 public:
  explicit Substring(std::string_view expected) : expected_(Lower(expected)) {}
  [[nodiscard]] Result<int> Compare(std::string_view stored) const override {
    return Lower(stored).find(expected_) != std::string::npos ? 0 : 1;
  }
  [[nodiscard]] bool ExpectsNothing() const override { return expected_.empty(); }

 private:
  const std::string expected_;
};

using Made = Result<std::unique_ptr<Comparator>>;

template <class Message>
Result<Message> Parse(const pb::Comparator& comparator) {
  Message message;
  if (!ParseMessage(comparator.serialized_comparator(), message).ok()) {
    return Refuse(fmt::format("comparator {} cannot be read", Shown(comparator.name())));
  }
  return message;
}

}  // namespace

std::unique_ptr<Comparator> MakeBinary(std::string expected) { return std::make_unique<Binary>(std::move(expected)); }

Result<std::unique_ptr<Comparator>> DecodeComparator(const pb::Comparator& comparator) {
  const std::string_view name = ShortName(comparator.name());
  if (name == "BinaryComparator") {
    RATCHET_ASSIGN(auto message, Parse<pb::BinaryComparator>(comparator));
    return Made(std::make_unique<Binary>(std::move(*message.mutable_comparable()->mutable_value())));
  }
  if (name == "BinaryPrefixComparator") {
    RATCHET_ASSIGN(auto message, Parse<pb::BinaryPrefixComparator>(comparator));
    return Made(std::make_unique<BinaryPrefix>(std::move(*message.mutable_comparable()->mutable_value())));
  }
  if (name == "BinaryComponentComparator") {
    RATCHET_ASSIGN(auto message, Parse<pb::BinaryComponentComparator>(comparator));
    return Made(std::make_unique<BinaryComponent>(std::move(*message.mutable_value()), message.offset()));
  }
  if (name == "LongComparator") {
    RATCHET_ASSIGN(const auto message, Parse<pb::LongComparator>(comparator));
    std::int64_t expected = 0;
    if (!DecodeInt64(message.comparable().value(), expected)) return Refuse("LongComparator needs a value of 8 bytes");
    return Made(std::make_unique<Long>(expected));
  }
  if (name == kDecimalName) {
    RATCHET_ASSIGN(const auto message, Parse<pb::BigDecimalComparator>(comparator));
    RATCHET_ASSIGN(auto expected, Decimal::Decode(message.comparable().value(), kDecimalName));
    return Made(std::make_unique<BigDecimal>(std::move(expected)));
  }
  if (name == "BitComparator") {
    RATCHET_ASSIGN(auto message, Parse<pb::BitComparator>(comparator));
    return Made(std::make_unique<Bit>(std::move(*message.mutable_comparable()->mutable_value()), message.bitwise_op()));
  }
  if (name == "RegexStringComparator") {
    RATCHET_ASSIGN(const auto message, Parse<pb::RegexStringComparator>(comparator));
    return MakeRegex(message.pattern(), message.pattern_flags(), message.charset());
  }
  if (name == "SubstringComparator") {
    RATCHET_ASSIGN(const auto message, Parse<pb::SubstringComparator>(comparator));
    return Made(std::make_unique<Substring>(message.substr()));
  }
  if (name == "NullComparator") return Made(std::make_unique<Null>());
  return Refuse(fmt::format("comparator {} is not offered", Shown(comparator.name())));
}

}  // namespace ratchet::regionserver::filters
