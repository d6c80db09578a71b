#include "common/io/storage_client.h"

#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/core.h>

namespace ratchet::io {
namespace {

constexpr std::size_t kLongestName = 100;

std::optional<StorageClient> ParseNote(std::string_view text) {
  StorageClient client;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), client.id);
  if (error != std::errc() || end == text.data() + text.size() || *end != '.') return std::nullopt;
  client.name = std::string(text.substr(static_cast<std::size_t>(end - text.data()) + 1));
  if (!IsClientName(client.name)) return std::nullopt;
  return client;
}

}  // namespace

std::string StorageClient::ToString() const { return id == 0 ? name : fmt::format("{} (session {})", name, id); }

bool IsClientName(std::string_view name) {
  if (name.empty() || name.size() > kLongestName || name.front() == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
  });
}

std::uint64_t ClientIdAt(const std::string& path) {
  std::array<char, 64> text{};
  const ssize_t length = ::getxattr(path.c_str(), "ceph.client_id", text.data(), text.size());
  constexpr std::string_view kKind = "client";
  std::string_view value(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  if (!value.starts_with(kKind)) return 0;
  value.remove_prefix(kKind.size());
  std::uint64_t id = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), id);
  return parsed.ec == std::errc() ? id : 0;
}

std::string ClientNote(std::string_view prefix, const StorageClient& client) {
  return fmt::format("{}{}.{}", prefix, client.id, client.name);
}

std::vector<StorageClient> NotedClients(const std::vector<std::string>& names, std::string_view prefix) {
  std::vector<StorageClient> clients;
  for (const std::string& name : names) {
    if (!name.starts_with(prefix)) continue;
    if (auto client = ParseNote(std::string_view(name).substr(prefix.size()))) clients.push_back(std::move(*client));
  }
  return clients;
}

Status NoteClient(Directory& directory, std::string_view prefix, const StorageClient& client) {
  const auto made = directory.Create(ClientNote(prefix, client));
  if (!made.ok() && made.error().code() != Code::kAlreadyExists) return made.error();
  return directory.Sync();
}

}  // namespace ratchet::io
