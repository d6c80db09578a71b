#include "common/tools/cli/targets.h"
#include "common/base/host_port.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"

namespace ratchet::cli {
namespace {

constexpr std::size_t kEncodedLength = 32;

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Result<std::vector<NamedRegion>> AllRegions(client::Admin& admin) {
  RATCHET_ASSIGN(auto answer, (admin.Call(methods::kListRegions, pb::ListRegionsRequest())));
  std::vector<NamedRegion> regions;
  for (const auto& row : answer.region()) {
    RATCHET_ASSIGN(const auto table, FromProto(row.region().table_name()));
    regions.push_back({table.ToString(), row.encoded_name()});
  }
  return regions;
}

}  // namespace

Result<NamedRegion> ChooseRegion(std::string_view text, const std::vector<NamedRegion>& regions) {
  constexpr std::size_t kShown = 5;
  std::vector<const NamedRegion*> found;
  for (const NamedRegion& region : regions) {
    if (region.encoded == text) return region;
    if (!text.empty() && std::string_view(region.encoded).starts_with(text)) found.push_back(&region);
  }
  if (found.size() == 1) return *found.front();
  if (found.empty()) {
    return Error(
        Code::kNotFound,
        fmt::format("region '{}' is not known: no encoded name begins so (see: ratchet regions)", ToText(text)));
  }
  std::string names;
  for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) {
    names += fmt::format("{}{} of table {}", i == 0 ? "" : ", ", found[i]->encoded, found[i]->table);
  }
  if (found.size() > kShown) names += fmt::format(" and {} more", found.size() - kShown);
  return Error(Code::kInvalidArgument, fmt::format("'{}' begins the names of {} regions, give more digits: {}",
                                                   ToText(text), found.size(), names));
}

Result<std::string> FindRegion(client::Admin& admin, const std::string& text) {
  if (text.find(',') != std::string::npos) {
    RATCHET_ASSIGN(const std::string name, FromText(text));
    return EncodedNameOf(name);
  }
  const std::string encoded = text.substr(text.rfind('/') == std::string::npos ? 0 : text.rfind('/') + 1);
  if (encoded.size() == kEncodedLength && IsHex(encoded)) return encoded;
  RATCHET_ASSIGN(const auto regions, AllRegions(admin));
  RATCHET_ASSIGN(const NamedRegion region, ChooseRegion(encoded, regions));
  return region.encoded;
}

Result<std::string> FindRegionResource(client::Admin& admin, const std::string& text) {
  const auto slash = text.rfind('/');
  std::string encoded = slash == std::string::npos ? text : text.substr(slash + 1);
  if (slash != std::string::npos && encoded.size() == kEncodedLength) return text;
  RATCHET_ASSIGN(const auto regions, AllRegions(admin));
  if (encoded.find(',') != std::string::npos) {
    RATCHET_ASSIGN(encoded, FindRegion(admin, text));
  }
  RATCHET_ASSIGN(const NamedRegion region, ChooseRegion(encoded, regions));
  return region.table + "/" + region.encoded;
}

Result<ServerName> FindServer(client::Admin& admin, const std::string& text) {
  if (text.find(',') != std::string::npos) return ServerName::Parse(text);
  pb::ListServersRequest request;
  request.set_include_dead(false);
  RATCHET_ASSIGN(auto answer, (admin.Call(methods::kListServers, request)));
  const auto address = SplitHostPort(text);
  for (const auto& server : answer.server()) {
    RATCHET_ASSIGN(auto name, FromProto(server.server()));
    if (address == HostPort{name.host, name.port}) return name;
  }
  return Error(Code::kNotFound, fmt::format("no live server at '{}' (see: ratchet servers)", text));
}

std::string NameText(const hbase::pb::ServerName& name) {
  return fmt::format("{},{},{}", name.host_name(), name.port(), name.start_code());
}

bool Confirmed(const std::string& question, bool yes) {
  if (yes || isatty(STDIN_FILENO) == 0) return true;
  std::fprintf(stderr, "%s [y/N] ", question.c_str());
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  std::fprintf(stderr, "ratchet: nothing was done (--yes skips the question)\n");
  return false;
}

}  // namespace ratchet::cli
