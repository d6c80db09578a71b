#include "master/storage/checked_content.h"

#include <cstdint>

#include <fmt/format.h>

#include "common/base/crc32c.h"

namespace ratchet::master {
namespace {

constexpr std::size_t kChecksumBytes = 4;

}  // namespace

std::string WithChecksum(std::string_view content) {
  const std::uint32_t crc = Crc32c(content);
  std::string bytes;
  bytes.reserve(kChecksumBytes + content.size());
  for (std::size_t i = 0; i < kChecksumBytes; ++i) bytes.push_back(static_cast<char>((crc >> (8 * i)) & 0xff));
  return bytes.append(content);
}

Result<std::string_view> CheckedContent(std::string_view bytes, std::string_view what) {
  if (bytes.size() < kChecksumBytes) return Error(Code::kCorruption, fmt::format("{} is too short", what));
  std::uint32_t crc = 0;
  for (std::size_t i = 0; i < kChecksumBytes; ++i) {
    crc |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  const std::string_view content = bytes.substr(kChecksumBytes);
  if (Crc32c(content) != crc) return Error(Code::kCorruption, fmt::format("{}: checksum mismatch", what));
  return content;
}

}  // namespace ratchet::master
