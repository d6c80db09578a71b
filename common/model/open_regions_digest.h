// A number for a set of open regions, updated as they are added and removed, in any order: a region server and the
// master compare it when only changes of the set are sent. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace ratchet {

// The number that one region adds to the sum (which wraps around).
[[nodiscard]] constexpr std::uint64_t DigestOfOpenRegion(std::string_view encoded_name, std::uint64_t open_number) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
  for (const char c : encoded_name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  hash += open_number * 0x9e3779b97f4a7c15ULL;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

}  // namespace ratchet
