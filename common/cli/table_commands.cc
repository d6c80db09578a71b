#include <algorithm>

#include "common/cli/bytes_text.h"
#include "common/cli/commands.h"
#include "common/cli/suggest.h"
#include "common/cli/targets.h"
#include "common/client/admin.h"

namespace ratchet::cli {
namespace {

// Those of HBase's attributes that change what this cluster does with a family.
const std::vector<std::string>& LiveAttributes() {
  static const std::vector<std::string> names = {"VERSIONS", "MIN_VERSIONS", "TTL", "KEEP_DELETED_CELLS"};
  return names;
}

// The others are taken with the one value that they have here: a request for another value is refused, because it would
// have no effect.
Status CheckAttribute(const std::string& family, std::string_view key, std::string_view value) {
  if (key == "KEEP_DELETED_CELLS" && value != "TRUE" && value != "FALSE" && value != "TTL") {
    return Error(Code::kInvalidArgument,
                 fmt::format("family '{}': KEEP_DELETED_CELLS is TRUE, FALSE or TTL, not '{}'", family, value));
  }
  if (std::find(LiveAttributes().begin(), LiveAttributes().end(), key) != LiveAttributes().end()) return Ok();
  const FamilyDescriptor known = DefaultFamily("f");
  const auto found = known.attributes.find(key);
  if (found == known.attributes.end()) {
    return Error(Code::kInvalidArgument,
                 fmt::format("family '{}': there is no attribute '{}'{} (VERSIONS, MIN_VERSIONS, TTL, "
                             "KEEP_DELETED_CELLS)",
                             family, key, DidYouMean(key, LiveAttributes())));
  }
  if (found->second == value) return Ok();
  return Error(Code::kInvalidArgument,
               fmt::format("family '{}': {}={} would have no effect here, it is always {}; VERSIONS, "
                           "MIN_VERSIONS, TTL and KEEP_DELETED_CELLS can be set",
                           family, key, value, found->second));
}

// "f" or "f:VERSIONS=3,TTL=86400"
Result<FamilyDescriptor> ParseFamily(const std::string& text) {
  const auto colon = text.find(':');
  FamilyDescriptor family = DefaultFamily(text.substr(0, colon));
  std::string_view rest = colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Error(Code::kInvalidArgument, fmt::format("family '{}': expected NAME:KEY=VALUE,... at '{}'", text, item));
    }
    RATCHET_TRY(CheckAttribute(text, item.substr(0, equals), item.substr(equals + 1)));
    family.attributes[std::string(item.substr(0, equals))] = std::string(item.substr(equals + 1));
  }
  return family;
}

Result<std::vector<std::string>> SplitKeys(const CreateFlags& flags) {
  std::vector<std::string> keys;
  for (const auto& text : flags.split_keys) {
    RATCHET_ASSIGN(auto key, FromText(text));
    keys.push_back(std::move(key));
  }
  if (flags.regions <= 1) return keys;
  if (!keys.empty()) return Error(Code::kInvalidArgument, "give either --split-keys or --regions, not both");
  const auto regions = static_cast<std::uint64_t>(flags.regions);
  for (std::uint64_t i = 1; i < regions; ++i) {
    const std::uint64_t point = (i << 32U) / regions;  // of the 32-bit space
    if (flags.split == "hex") {
      keys.push_back(fmt::format("{:08x}", point));
    } else {
      std::string key;
      for (int shift = 24; shift >= 0; shift -= 8)
        key += static_cast<char>((point >> static_cast<unsigned>(shift)) & 0xffU);
      keys.push_back(std::move(key));
    }
  }
  return keys;
}

int Finish(Session& session, client::Admin& admin, Result<std::uint64_t> pid, bool wait, const TableName& table,
           const std::string& done) {
  if (!pid.ok()) return ReportOnTable(session, pid.error(), table);
  if (!wait) {
    session.printer.Object({{"pid", static_cast<std::int64_t>(*pid)}});
    return kExitOk;
  }
  const Status status = admin.WaitOk(pid);
  if (!status.ok()) return Report(session, status.error());
  session.printer.Object({{"done", done}, {"pid", static_cast<std::int64_t>(*pid)}});
  return kExitOk;
}

}  // namespace

int CreateTable(Session& session, const CreateFlags& flags) {
  TableDescriptor table;
  auto name = TableName::Parse(flags.table);
  if (!name.ok()) return Report(session, name.error());
  table.name = *name;
  if (name->ns == kSystemNamespace) {
    return Report(session, Error(Code::kInvalidArgument, fmt::format("table {}: the namespace {} is the system's",
                                                                     name->ToString(), kSystemNamespace)));
  }
  for (const auto& text : flags.families) {
    auto family = ParseFamily(text);
    if (!family.ok()) return Report(session, family.error());
    table.families.push_back(std::move(*family));
  }
  const auto keys = SplitKeys(flags);
  if (!keys.ok()) return Report(session, keys.error());
  if (const Status checked = table.Check(); !checked.ok()) return Report(session, checked.error());
  client::Admin admin(session.connection, session.timeout);
  return Finish(session, admin, admin.CreateTable(table, *keys), flags.wait, *name, "created " + flags.table);
}

int ListTables(Session& session, bool include_system) {
  client::Admin admin(session.connection, session.timeout);
  auto tables = admin.ListTables(include_system);
  if (!tables.ok()) return Report(session, tables.error());
  std::vector<std::vector<Field>> rows;
  for (const auto& table : *tables) {
    auto state = admin.State(table);
    rows.push_back({table.ToString(), state.ok() ? Field(std::string(TableStateText(*state))) : Field()});
  }
  session.printer.Table({"TABLE", "STATE"}, rows);
  return kExitOk;
}

int DescribeTable(Session& session, const std::string& text) {
  auto name = TableName::Parse(text);
  if (!name.ok()) return Report(session, name.error());
  client::Admin admin(session.connection, session.timeout);
  auto table = admin.Describe(*name);
  if (!table.ok()) return ReportOnTable(session, table.error(), *name);
  std::vector<std::vector<Field>> rows;
  for (const auto& [key, value] : table->attributes) rows.push_back({Field(), ToText(key), ToText(value)});
  for (const auto& family : table->families) {
    for (const auto& [key, value] : family.attributes) rows.push_back({family.name, ToText(key), ToText(value)});
  }
  session.printer.Table({"FAMILY", "ATTRIBUTE", "VALUE"}, rows);
  return kExitOk;
}

int ChangeTable(Session& session, TableVerb verb, const std::string& text, bool wait, bool yes) {
  auto name = TableName::Parse(text);
  if (!name.ok()) return Report(session, name.error());
  if (verb == TableVerb::kDrop && !Confirmed(fmt::format("Drop table {} with all its rows?", name->ToString()), yes))
    return kExitFailed;
  client::Admin admin(session.connection, session.timeout);
  switch (verb) {
    case TableVerb::kEnable: return Finish(session, admin, admin.EnableTable(*name), wait, *name, "enabled " + text);
    case TableVerb::kDisable: return Finish(session, admin, admin.DisableTable(*name), wait, *name, "disabled " + text);
    case TableVerb::kDrop: return Finish(session, admin, admin.DeleteTable(*name), wait, *name, "dropped " + text);
  }
  return kExitUsage;
}

}  // namespace ratchet::cli
