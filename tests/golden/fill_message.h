// Messages with every field set, and their bytes in words.
#pragma once

#include <string>
#include <string_view>

namespace ratchet::golden {

// The bytes of the message type of this full name with every field set to something that its number and name tell;
// lists have two elements. Fails the test when the program knows no such type.
[[nodiscard]] std::string FullMessage(const std::string& type);
// The bytes as JSON with the field names of the .proto file, indented; bytes that are no such message fail the test.
[[nodiscard]] std::string JsonOf(const std::string& type, const std::string& bytes);
// The same message in JSON form, read and written again.
[[nodiscard]] std::string Reencoded(const std::string& type, const std::string& bytes);

[[nodiscard]] std::string Hex(std::string_view bytes);
[[nodiscard]] std::string Unhex(std::string_view hex);

}  // namespace ratchet::golden
