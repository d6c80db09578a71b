#include "regionserver/rpc/hundredths.h"

#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/bn.h>

#include "common/base/check.h"
#include "common/rpc/exceptions.h"

namespace ratchet::regionserver {
namespace {

constexpr std::size_t kScaleLength = 4;
constexpr std::size_t kMostIntegerBytes = 256;
constexpr int kMostPlaces = 1000;
constexpr int kPlaces = 2;

struct FreeContext {
  void operator()(BN_CTX* context) const { BN_CTX_free(context); }
};

BN_CTX* Context() {
  thread_local const std::unique_ptr<BN_CTX, FreeContext> kContext(BN_CTX_new());
  return kContext.get();
}

// Big-number functions fail only without memory.
void Must(int done) { RATCHET_CHECK(done == 1, "arithmetic of big numbers failed"); }

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

void Hundredths::Free::operator()(bignum_st* number) const { BN_free(number); }

Hundredths::Hundredths() : count_(BN_new()) { RATCHET_CHECK(count_ != nullptr, "out of memory for a number"); }

Hundredths::Hundredths(const Hundredths& other) : count_(BN_dup(other.count_.get())) {
  RATCHET_CHECK(count_ != nullptr, "out of memory for a number");
}

Hundredths& Hundredths::operator=(const Hundredths& other) {
  if (this != &other) count_.reset(BN_dup(other.count_.get()));
  RATCHET_CHECK(count_ != nullptr, "out of memory for a number");
  return *this;
}

bool Hundredths::IsNumber(std::string_view bytes) { return bytes.size() > kScaleLength; }

void Hundredths::DropPlaces(int places) {
  if (places == 0) return;
  const Hundredths power;  // a power of ten
  const Hundredths exponent;
  const Hundredths ten;
  Must(BN_set_word(ten.count_.get(), 10));
  Must(BN_set_word(exponent.count_.get(), static_cast<BN_ULONG>(places < 0 ? -places : places)));
  Must(BN_exp(power.count_.get(), ten.count_.get(), exponent.count_.get(), Context()));
  if (places < 0) {
    Must(BN_mul(count_.get(), count_.get(), power.count_.get(), Context()));
    return;
  }
  const bool negative = BN_is_negative(count_.get()) == 1;
  const Hundredths rest;
  BN_set_negative(count_.get(), 0);
  Must(BN_div(count_.get(), rest.count_.get(), count_.get(), power.count_.get(), Context()));
  Must(BN_lshift1(rest.count_.get(), rest.count_.get()));
  const int half = BN_cmp(rest.count_.get(), power.count_.get());
  if (half > 0 || (half == 0 && BN_is_odd(count_.get()) == 1)) Must(BN_add_word(count_.get(), 1));
  BN_set_negative(count_.get(), negative ? 1 : 0);
}

Result<Hundredths> Hundredths::Decode(std::string_view bytes) {
  if (!IsNumber(bytes) || bytes.size() > kScaleLength + kMostIntegerBytes) {
    return rpc::RemoteError(rpc::exception::kDoNotRetryIo,
                            fmt::format("BigDecimalColumnInterpreter: a value has {} bytes; it needs a scale of 4 "
                                        "bytes and an integer of 1 to {}",
                                        bytes.size(), kMostIntegerBytes));
  }
  std::uint32_t scale_bits = 0;
  for (std::size_t i = 0; i < kScaleLength; ++i) scale_bits = scale_bits << 8 | static_cast<unsigned char>(bytes[i]);
  const auto scale = static_cast<std::int32_t>(scale_bits);
  if (scale > kMostPlaces || scale < -kMostPlaces) {
    return rpc::RemoteError(
        rpc::exception::kDoNotRetryIo,
        fmt::format("BigDecimalColumnInterpreter: a value has scale {}; the limit is {}", scale, kMostPlaces));
  }
  std::vector<unsigned char> integer(bytes.begin() + kScaleLength, bytes.end());
  const bool negative = (integer.front() & 0x80u) != 0;
  if (negative) Negate(integer);
  Hundredths number;
  RATCHET_CHECK(BN_bin2bn(integer.data(), static_cast<int>(integer.size()), number.count_.get()) != nullptr,
                "out of memory for a number");
  BN_set_negative(number.count_.get(), negative ? 1 : 0);
  number.DropPlaces(scale - kPlaces);
  return number;
}

std::string Hundredths::Encode() const {
  // One bit more than the absolute value, for the sign; for a negative power of two Java uses one byte less.
  std::vector<unsigned char> integer(static_cast<std::size_t>(BN_num_bits(count_.get())) / 8 + 1);
  Must(BN_bn2binpad(count_.get(), integer.data(), static_cast<int>(integer.size())) >= 0 ? 1 : 0);
  if (BN_is_negative(count_.get()) == 1) Negate(integer);
  if (integer.size() > 1 && integer[0] == 0xff && (integer[1] & 0x80u) != 0) integer.erase(integer.begin());
  std::string bytes(kScaleLength - 1, '\0');
  bytes.push_back(static_cast<char>(kPlaces));
  bytes.append(integer.begin(), integer.end());
  return bytes;
}

Hundredths Hundredths::Plus(const Hundredths& other) const {
  Hundredths sum;
  Must(BN_add(sum.count_.get(), count_.get(), other.count_.get()));
  return sum;
}

Hundredths Hundredths::Times(const Hundredths& other) const {
  Hundredths product;
  Must(BN_mul(product.count_.get(), count_.get(), other.count_.get(), Context()));
  product.DropPlaces(kPlaces);
  return product;
}

bool Hundredths::operator<(const Hundredths& other) const { return BN_cmp(count_.get(), other.count_.get()) < 0; }

}  // namespace ratchet::regionserver
