#include "regionserver/filter/decimal.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <openssl/bn.h>

#include "common/base/check.h"
#include "regionserver/filter/refusal.h"

namespace ratchet::regionserver::filters {
namespace {

constexpr std::size_t kScaleBytes = 4;
constexpr std::size_t kMostIntegerBytes = 256;
constexpr std::int32_t kMostScale = 1000;

struct FreeContext {
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
};

BN_CTX* Context() {
  thread_local const std::unique_ptr<BN_CTX, FreeContext> kContext(BN_CTX_new());
  return kContext.get();
}

// Big-number functions fail only without memory.
void Must(bool done) { RATCHET_CHECK(done, "arithmetic of big numbers failed"); }

// Changes the sign of a big-endian number, in place.
void Negate(std::vector<unsigned char>& bytes) {
  unsigned carry = 1;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    carry += static_cast<unsigned char>(~*byte);
    *byte = static_cast<unsigned char>(carry & 0xffu);
    carry >>= 8;
  }
}

}  // namespace

void Decimal::Free::operator()(bignum_st* number) const { BN_free(number); }

Decimal::Decimal() : integer_(BN_new()) { Must(integer_ != nullptr); }
Decimal::Decimal(const Decimal& other) : integer_(BN_dup(other.integer_.get())), scale_(other.scale_) {
  Must(integer_ != nullptr);
}
Decimal& Decimal::operator=(const Decimal& other) {
  if (this != &other) *this = Decimal(other);
  return *this;
}

bool Decimal::IsNumber(std::string_view bytes) { return bytes.size() > kScaleBytes; }

Result<Decimal> Decimal::Decode(std::string_view bytes, std::string_view reader) {
  if (!IsNumber(bytes) || bytes.size() > kScaleBytes + kMostIntegerBytes) {
    return Refuse(fmt::format("{}: a value has {} bytes; it needs a scale of 4 bytes and an integer of 1 to {}", reader,
                              bytes.size(), kMostIntegerBytes));
  }
  std::uint32_t scale = 0;
  for (std::size_t i = 0; i < kScaleBytes; ++i) scale = scale << 8 | static_cast<unsigned char>(bytes[i]);
  Decimal decimal;
  decimal.scale_ = static_cast<std::int32_t>(scale);
  if (decimal.scale_ > kMostScale || decimal.scale_ < -kMostScale)
    return Refuse(fmt::format("{}: a value has scale {}; the limit is {}", reader, decimal.scale_, kMostScale));
  std::vector<unsigned char> integer(bytes.begin() + kScaleBytes, bytes.end());
  const bool negative = (integer.front() & 0x80u) != 0;
  if (negative) Negate(integer);
  Must(BN_bin2bn(integer.data(), static_cast<int>(integer.size()), decimal.integer_.get()) != nullptr);
  BN_set_negative(decimal.integer_.get(), negative ? 1 : 0);
  return decimal;
}

std::string Decimal::Encode() const {
  // One bit more than the absolute value, for the sign; for a negative power of two Java uses one byte less.
  std::vector<unsigned char> integer(static_cast<std::size_t>(BN_num_bits(integer_.get())) / 8 + 1);
  Must(BN_bn2binpad(integer_.get(), integer.data(), static_cast<int>(integer.size())) >= 0);
  if (BN_is_negative(integer_.get()) == 1) Negate(integer);
  if (integer.size() > 1 && integer[0] == 0xff && (integer[1] & 0x80u) != 0) integer.erase(integer.begin());
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes.push_back(static_cast<char>(static_cast<std::uint32_t>(scale_) >> shift & 0xffu));
  return bytes.append(integer.begin(), integer.end());
}

Decimal Decimal::Rounded(std::int32_t scale) const {
  Decimal rounded(*this);
  rounded.scale_ = scale;
  if (scale == scale_) return rounded;
  BIGNUM* const integer = rounded.integer_.get();
  const Decimal power;  // a power of ten
  const Decimal rest;
  Must(BN_set_word(power.integer_.get(), 10) == 1);
  Must(BN_set_word(rest.integer_.get(), static_cast<BN_ULONG>(std::max(scale, scale_) - std::min(scale, scale_))) == 1);
  Must(BN_exp(power.integer_.get(), power.integer_.get(), rest.integer_.get(), Context()) == 1);
  if (scale > scale_) {
    Must(BN_mul(integer, integer, power.integer_.get(), Context()) == 1);
    return rounded;
  }
  BN_set_negative(integer, 0);
  Must(BN_div(integer, rest.integer_.get(), integer, power.integer_.get(), Context()) == 1);
  Must(BN_lshift1(rest.integer_.get(), rest.integer_.get()) == 1);
  const int half = BN_cmp(rest.integer_.get(), power.integer_.get());
  if (half > 0 || (half == 0 && BN_is_odd(integer) == 1)) Must(BN_add_word(integer, 1) == 1);
  BN_set_negative(integer, BN_is_negative(integer_.get()));
  return rounded;
}

Decimal Decimal::Plus(const Decimal& other) const {
  if (scale_ < other.scale_) return other.Plus(*this);
  Decimal sum = other.Rounded(scale_);
  Must(BN_add(sum.integer_.get(), sum.integer_.get(), integer_.get()) == 1);
  return sum;
}

Decimal Decimal::Times(const Decimal& other) const {
  Decimal product;
  Must(BN_mul(product.integer_.get(), integer_.get(), other.integer_.get(), Context()) == 1);
  product.scale_ = scale_ + other.scale_;
  return product;
}

int Decimal::Compare(const Decimal& other) const {
  if (scale_ == other.scale_) return BN_cmp(integer_.get(), other.integer_.get());
  const std::int32_t finer = std::max(scale_, other.scale_);
  return Rounded(finer).Compare(other.Rounded(finer));
}

}  // namespace ratchet::regionserver::filters
