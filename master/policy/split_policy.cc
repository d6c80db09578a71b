#include "master/policy/split_policy.h"

#include <algorithm>
#include <array>

namespace ratchet::master {
namespace {

constexpr std::array<std::string_view, 7> kPolicies = {"ConstantSizeRegionSplitPolicy",
                                                       "IncreasingToUpperBoundRegionSplitPolicy",
                                                       "SteppingSplitPolicy",
                                                       "BusyRegionSplitPolicy",
                                                       "DisabledRegionSplitPolicy",
                                                       "KeyPrefixRegionSplitPolicy",
                                                       "DelimitedKeyPrefixRegionSplitPolicy"};

const std::string* TextOf(const TableDescriptor& table, std::string_view key) {
  return FindSetting(table.attributes, table.configuration, key);
}

// Returns the attribute if it is above 0; else `otherwise`.
std::uint64_t BytesOf(const TableDescriptor& table, std::string_view key, std::uint64_t otherwise) {
  const std::string* const text = TextOf(table, key);
  const std::int64_t bytes = text == nullptr ? 0 : WholeNumber(*text).value_or(0);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : otherwise;
}

// Returns initial x n^3, without overflow.
std::uint64_t Cubed(std::uint64_t initial, std::size_t n, std::uint64_t most) {
  std::uint64_t size = initial;
  for (int i = 0; i < 3; ++i) {
    if (size >= most || size > most / std::max<std::size_t>(n, 1)) return most;
    size *= n;
  }
  return std::min(size, most);
}

}  // namespace

std::string_view KnownSplitPolicy(std::string_view class_name) {
  const std::string_view simple = class_name.substr(class_name.rfind('.') + 1);
  const auto* const found = std::find(kPolicies.begin(), kPolicies.end(), simple);
  return found == kPolicies.end() ? std::string_view() : *found;
}

std::string_view SplitPolicyOf(const TableDescriptor& table, const SplitPolicyOptions& options) {
  for (const char* key : {"SPLIT_POLICY", "hbase.regionserver.region.split.policy"}) {
    const std::string* const text = TextOf(table, key);
    if (text == nullptr) continue;
    if (const std::string_view known = KnownSplitPolicy(*text); !known.empty()) return known;
  }
  return KnownSplitPolicy(options.policy);
}

std::optional<std::uint64_t> SplitSize(const TableDescriptor& table, const SplitPolicyOptions& options,
                                       std::size_t regions_on_server) {
  const std::string_view policy = SplitPolicyOf(table, options);
  const std::uint64_t most = BytesOf(table, "MAX_FILESIZE", options.max_bytes);
  if (policy == "ConstantSizeRegionSplitPolicy") return most;
  if (policy.empty() || policy == "DisabledRegionSplitPolicy" || policy.ends_with("KeyPrefixRegionSplitPolicy"))
    return std::nullopt;
  const std::uint64_t flush = BytesOf(table, "MEMSTORE_FLUSHSIZE", options.flush_bytes);
  const std::uint64_t by_setting = options.initial_bytes > 0 ? options.initial_bytes.Get() : 2 * flush;
  const std::uint64_t initial = BytesOf(table, "hbase.increasing.policy.initial.size", by_setting);
  if (policy == "SteppingSplitPolicy") return regions_on_server <= 1 ? std::min(initial, most) : most;
  return Cubed(initial, regions_on_server, most);
}

}  // namespace ratchet::master
