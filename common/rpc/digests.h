// The cryptographic functions of the member proof and of tokens, by OpenSSL's EVP interface. Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ratchet::rpc {

inline constexpr std::size_t kDigestBytes = 32;

// For DIGEST-MD5 only.
[[nodiscard]] std::string Md5(std::string_view bytes);
[[nodiscard]] std::string Sha256(std::string_view bytes);
[[nodiscard]] std::string HmacSha256(std::string_view key, std::string_view bytes);
// HKDF with SHA-256 and without a salt, kDigestBytes of output.
[[nodiscard]] std::string DeriveKey(std::string_view secret, std::string_view purpose);
// Unpredictable bytes.
[[nodiscard]] std::string RandomBytes(std::size_t count);
// Takes the same time wherever two strings of one length differ.
[[nodiscard]] bool SameSecret(std::string_view a, std::string_view b);

// Lower-case hexadecimal digits.
[[nodiscard]] std::string HexText(std::string_view bytes);
// Digits of either case; nullopt: not pairs of digits.
[[nodiscard]] std::optional<std::string> FromHex(std::string_view text);
[[nodiscard]] std::string ToBase64(std::string_view bytes);
// nullopt: not exactly what ToBase64 makes of some bytes, or longer than 16 KiB.
[[nodiscard]] std::optional<std::string> FromBase64(std::string_view text);

}  // namespace ratchet::rpc
