#include "chaos/network/source_finder.h"

#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/base/result.h"

namespace ratchet::chaos {
namespace {

template <class Number>
bool Parse(std::string_view text, Number& value, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

// "0100007F:9C40" -> 0x9C40
bool ParsePort(std::string_view field, std::uint16_t& port) {
  const auto colon = field.find(':');
  return colon != std::string_view::npos && Parse(field.substr(colon + 1), port, 16);
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Parentage {
  int parent = 0;
  std::uint64_t start = 0;
};

// Reads fields 4 and 22 of /proc/<pid>/stat.
Parentage ReadParentage(int pid) {
  const std::string text = ReadAll(fmt::format("/proc/{}/stat", pid));
  const auto after_name = text.rfind(')');
  Parentage found;
  if (after_name == std::string::npos) return found;
  std::istringstream fields(text.substr(after_name + 1));
  std::string field;
  for (int number = 3; number <= 22 && fields >> field; ++number) {
    if (number == 4 && !Parse(field, found.parent, 10)) return {};
    if (number == 22 && !Parse(field, found.start, 10)) return {};
  }
  return found;
}

bool HoldsSocket(int pid, std::uint64_t inode) {
  const std::string wanted = fmt::format("socket:[{}]", inode);
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", pid), failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry->path(), gone) == wanted) return true;
  }
  return false;
}

}  // namespace

std::optional<std::uint64_t> FindInode(std::string_view tcp_table, std::uint16_t local_port,
                                       std::uint16_t remote_port) {
  std::istringstream lines{std::string(tcp_table)};
  std::string line;
  std::getline(lines, line);  // skip the heading
  while (std::getline(lines, line)) {
    // sl local remote state queues timer retransmits uid timeout inode
    std::istringstream fields(line);
    std::string field[10];
    for (auto& one : field) fields >> one;
    std::uint16_t local = 0;
    std::uint16_t remote = 0;
    std::uint64_t inode = 0;
    if (!ParsePort(field[1], local) || !ParsePort(field[2], remote) || !Parse(field[9], inode, 10)) continue;
    if (local == local_port && remote == remote_port && inode != 0) return inode;
  }
  return std::nullopt;
}

std::optional<std::uint16_t> PortArgument(std::string_view command_line) {
  constexpr std::string_view kFlag("--port\0", 7);
  const auto at = command_line.find(kFlag);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view value = command_line.substr(at + kFlag.size());
  value = value.substr(0, value.find('\0'));
  std::uint16_t port = 0;
  return Parse(value, port, 10) ? std::optional(port) : std::nullopt;
}

std::string SourceFinder::NameOf(std::uint16_t their_port, std::uint16_t our_port) {
  const auto inode = FindInode(ReadAll("/proc/net/tcp"), their_port, our_port);
  if (!inode) return "client";
  for (const auto& [name, id] : known_) {
    if (IsAlive(id) && HoldsSocket(id.pid, *inode)) return name;
  }
  if (HoldsSocket(::getpid(), *inode)) return "client";
  return Search(*inode);
}

std::string SourceFinder::Search(std::uint64_t inode) {
  std::error_code failed;
  for (auto entry = std::filesystem::directory_iterator("/proc", failed);
       !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    int pid = 0;
    if (!Parse(entry->path().filename().string(), pid, 10)) continue;
    const Parentage stat = ReadParentage(pid);
    if (stat.parent != ::getpid() || !HoldsSocket(pid, inode)) continue;
    const auto port = PortArgument(ReadAll(fmt::format("/proc/{}/cmdline", pid)));
    const auto name = port ? name_of_port_.find(*port) : name_of_port_.end();
    if (name == name_of_port_.end()) return "client";
    known_[name->second] = {pid, stat.start};
    return name->second;
  }
  return "client";
}

}  // namespace ratchet::chaos
