#include "chaos/cluster/log_file.h"

#include <fstream>
#include <system_error>

namespace ratchet::chaos {

std::uint64_t FileSize(const std::filesystem::path& file) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  return failed ? 0 : size;
}

std::vector<std::string> LinesContaining(const std::filesystem::path& file, const std::string& text,
                                         std::uint64_t from_byte) {
  std::vector<std::string> lines;
  std::ifstream stream(file);
  stream.seekg(static_cast<std::streamoff>(from_byte));
  for (std::string line; std::getline(stream, line);) {
    if (line.find(text) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

std::uint64_t FollowLines(const std::filesystem::path& file, std::uint64_t from_byte,
                          const std::function<void(const std::string& line)>& line) {
  std::ifstream stream(file);
  stream.seekg(static_cast<std::streamoff>(from_byte));
  for (std::string text; std::getline(stream, text) && !stream.eof();) {  // the last line may be half written
    from_byte += text.size() + 1;
    line(text);
  }
  return from_byte;
}

}  // namespace ratchet::chaos
