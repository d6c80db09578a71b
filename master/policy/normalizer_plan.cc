#include "master/policy/normalizer_plan.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace ratchet::master {
namespace {

const std::string* SettingOf(const TableDescriptor& table, std::string_view key) {
  return FindSetting(table.attributes, table.configuration, key);
}

// Returns the positive number of an attribute; 0 if it is absent or not valid.
std::uint64_t PositiveOf(const TableDescriptor& table, std::string_view key) {
  const std::string* const text = SettingOf(table, key);
  const std::int64_t number = text == nullptr ? 0 : WholeNumber(*text).value_or(0);
  return number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

double TargetBytes(const TableDescriptor& table, const std::vector<NormalizedRegion>& regions) {
  constexpr double kMegabyte = 1 << 20;
  for (const char* key : {"NORMALIZER_TARGET_REGION_SIZE_MB", "NORMALIZER_TARGET_REGION_SIZE"}) {
    if (const std::uint64_t size = PositiveOf(table, key); size > 0) return static_cast<double>(size) * kMegabyte;
  }
  double all = 0;
  for (const NormalizedRegion& region : regions) all += static_cast<double>(region.bytes);
  const std::uint64_t count = PositiveOf(table, "NORMALIZER_TARGET_REGION_COUNT");
  return all / static_cast<double>(count > 0 ? count : regions.size());
}

}  // namespace

bool WantsNormalization(const TableDescriptor& table) {
  const std::string* const text = SettingOf(table, "NORMALIZATION_ENABLED");
  if (text == nullptr) return false;
  std::string lower = *text;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower == "true";
}

std::vector<NormalizerStep> PlanNormalization(const TableDescriptor& table,
                                              const std::vector<NormalizedRegion>& regions) {
  std::vector<NormalizerStep> plan;
  if (regions.empty()) return plan;
  const double target = TargetBytes(table, regions);
  const auto is_large = [target](const NormalizedRegion& region) {
    return static_cast<double>(region.bytes) > 2 * target;
  };
  for (const NormalizedRegion& region : regions) {
    if (is_large(region)) plan.push_back({{region.encoded}});
  }
  if (regions.size() < kFewestToMerge) return plan;
  NormalizerStep run;
  double together = 0;
  const auto end_run = [&] {
    if (run.regions.size() > 1) plan.push_back(run);
    run.regions.clear();
    together = 0;
  };
  for (const NormalizedRegion& region : regions) {
    const auto bytes = static_cast<double>(region.bytes);
    if (together + bytes > target || run.regions.size() >= kMostMergedAtOnce) end_run();
    if (bytes > target) continue;
    run.regions.push_back(region.encoded);
    together += bytes;
  }
  end_run();
  return plan;
}

}  // namespace ratchet::master
