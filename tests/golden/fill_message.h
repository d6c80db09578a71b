// Messages with every field set, and their bytes as JSON.
#pragma once

#include <string>
#include <string_view>

namespace ratchet::golden {

// Returns the bytes of a message of the type with this full name, with every field set to a value derived from its
// number and name; lists have two elements. Fails the test if the type is unknown.
[[nodiscard]] std::string FullMessage(const std::string& type);
// Returns the bytes as indented JSON with the field names of the .proto file; fails the test if they are not a valid
// message of the type.
[[nodiscard]] std::string JsonOf(const std::string& type, const std::string& bytes);
// Returns the JSON after it was parsed and written again.
[[nodiscard]] std::string Reencoded(const std::string& type, const std::string& bytes);

[[nodiscard]] std::string Hex(std::string_view bytes);
[[nodiscard]] std::string Unhex(std::string_view hex);

}  // namespace ratchet::golden
