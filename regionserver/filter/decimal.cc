#include "regionserver/filter/decimal.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "regionserver/filter/refusal.h"

namespace ratchet::regionserver::filters {
namespace {

constexpr std::size_t kScaleBytes = 4;
constexpr std::size_t kMostBytes = 256;
constexpr std::int32_t kMostScale = 1000;

// Returns the decimal digits of an absolute value, lowest digit last.
std::string DecimalDigits(std::string_view magnitude) {
  std::vector<std::uint8_t> digits;  // lowest first
  for (const char c : magnitude) {
    unsigned carry = static_cast<unsigned char>(c);
    for (std::uint8_t& digit : digits) {
      carry += digit * 256u;
      digit = static_cast<std::uint8_t>(carry % 10);
      carry /= 10;
    }
    for (; carry > 0; carry /= 10) digits.push_back(static_cast<std::uint8_t>(carry % 10));
  }
  std::string text;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) text.push_back(static_cast<char>('0' + *digit));
  return text;
}

// Returns the absolute value of a negative number in two's complement.
std::string Negated(std::string_view bytes) {
  std::string out(bytes);
  unsigned carry = 1;
  for (auto byte = out.rbegin(); byte != out.rend(); ++byte) {
    carry += static_cast<unsigned char>(~*byte);
    *byte = static_cast<char>(carry & 0xff);
    carry >>= 8;
  }
  return out;
}

}  // namespace

Result<Decimal> Decimal::Decode(std::string_view bytes) {
  if (bytes.size() <= kScaleBytes || bytes.size() > kScaleBytes + kMostBytes) {
    return Refuse(
        fmt::format("BigDecimalComparator: a value has {} bytes; it needs a scale of 4 bytes and an integer of 1 to {}",
                    bytes.size(), kMostBytes));
  }
  std::uint32_t scale = 0;
  for (std::size_t i = 0; i < kScaleBytes; ++i) scale = scale << 8 | static_cast<unsigned char>(bytes[i]);
  Decimal decimal;
  decimal.scale_ = static_cast<std::int32_t>(scale);
  if (decimal.scale_ > kMostScale || decimal.scale_ < -kMostScale) {
    return Refuse(
        fmt::format("BigDecimalComparator: a value has scale {}; the limit is {}", decimal.scale_, kMostScale));
  }
  const std::string_view integer = bytes.substr(kScaleBytes);
  decimal.negative_ = (static_cast<unsigned char>(integer.front()) & 0x80u) != 0;
  decimal.digits_ = DecimalDigits(decimal.negative_ ? Negated(integer) : std::string(integer));
  return decimal;
}

int Decimal::Compare(const Decimal& other) const {
  const auto sign = [](const Decimal& d) { return d.digits_.empty() ? 0 : d.negative_ ? -1 : 1; };
  if (sign(*this) != sign(other)) return sign(*this) < sign(other) ? -1 : 1;
  if (digits_.empty()) return 0;
  // Compare both as integers of the finer scale.
  const std::int32_t scale = std::max(scale_, other.scale_);
  const auto scaled = [scale](const Decimal& d) {
    return d.digits_ + std::string(static_cast<std::size_t>(scale - d.scale_), '0');
  };
  const std::string mine = scaled(*this);
  const std::string theirs = scaled(other);
  const int order = mine.size() != theirs.size() ? (mine.size() < theirs.size() ? -1 : 1) : mine.compare(theirs);
  const int absolute = order < 0 ? -1 : order > 0 ? 1 : 0;
  return negative_ ? -absolute : absolute;
}

}  // namespace ratchet::regionserver::filters
