// The cryptographic functions of the member proof, by OpenSSL's EVP interface. Thread-safe. Internal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ratchet::rpc {

inline constexpr std::size_t kDigestBytes = 32;

[[nodiscard]] std::string Sha256(std::string_view bytes);
[[nodiscard]] std::string HmacSha256(std::string_view key, std::string_view bytes);
// HKDF with SHA-256 and without a salt, kDigestBytes of output.
[[nodiscard]] std::string DeriveKey(std::string_view secret, std::string_view purpose);
// Unpredictable bytes.
[[nodiscard]] std::string RandomBytes(std::size_t count);
// Takes the same time wherever two strings of one length differ.
[[nodiscard]] bool SameSecret(std::string_view a, std::string_view b);

}  // namespace ratchet::rpc
