#include "master/cluster/reshape_switches.h"

#include <string>

#include <fmt/format.h>

#include "master/cluster/errors.h"
#include "master/cluster/switches.h"
#include "master/cluster/table_directory.h"

namespace ratchet::master {
namespace {

std::string ValueOf(const TableNode& table, const std::string& attribute) {
  if (table.schema == nullptr) return {};
  const auto value = table.schema->attributes.find(attribute);
  return value == table.schema->attributes.end() ? std::string() : value->second;
}

bool IsSwitchedOff(const TableNode& table, const std::string& attribute) {
  const std::string value = ValueOf(table, attribute);
  return value == "false" || value == "FALSE";
}

Error NotAllowed(const TableNode& table, const char* what, const std::string& attribute) {
  return IllegalRequest(
      fmt::format("{} of table {} are switched off by its {}", what, table.name.ToString(), attribute));
}

Error SwitchedOff(const char* what, const char* name) {
  return IllegalRequest(
      fmt::format("{} are switched off (ratchet switch {} on; splitormerge_switch of HBase's shell)", what, name));
}

}  // namespace

Status AllowsSplits(const Switches& switches, const TableNode& table) {
  if (!switches.IsOn(Switch::kSplit)) return SwitchedOff("splits", "split");
  if (IsSwitchedOff(table, "SPLIT_ENABLED")) return NotAllowed(table, "splits", "SPLIT_ENABLED");
  if (ValueOf(table, "SPLIT_POLICY").ends_with(".DisabledRegionSplitPolicy"))
    return NotAllowed(table, "splits", "SPLIT_POLICY");
  return Ok();
}

Status AllowsMerges(const Switches& switches, const TableNode& table) {
  if (!switches.IsOn(Switch::kMerge)) return SwitchedOff("merges", "merge");
  return IsSwitchedOff(table, "MERGE_ENABLED") ? Status(NotAllowed(table, "merges", "MERGE_ENABLED")) : Ok();
}

}  // namespace ratchet::master
