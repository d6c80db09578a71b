#include <algorithm>

#include "common/client/admin.h"
#include "common/model/codec.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/family_text.h"
#include "common/tools/cli/printer_parts.h"
#include "common/tools/cli/targets.h"

namespace ratchet::cli {
namespace {

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
  return FinishOnTable(session, admin, admin.CreateTable(table, *keys), flags.wait, *name, "created " + flags.table);
}

int CloneSchema(Session& session, const std::string& from, const std::string& to, bool preserve_splits, bool wait) {
  auto source = TableName::Parse(from);
  if (!source.ok()) return Report(session, source.error());
  auto name = TableName::Parse(to);
  if (!name.ok()) return Report(session, name.error());
  client::Admin admin(session.connection, session.timeout);
  auto table = admin.Describe(*source);
  if (!table.ok()) return ReportOnTable(session, table.error(), *source);
  std::vector<std::string> keys;
  if (preserve_splits) {
    const auto regions = admin.Regions(*source);
    if (!regions.ok()) return ReportOnTable(session, regions.error(), *source);
    for (const auto& location : *regions) {
      if (!location.region.start_key.empty()) keys.push_back(location.region.start_key);
    }
  }
  table->name = *name;
  return FinishOnTable(session, admin, admin.CreateTable(*table, keys), wait, *name, "created " + to);
}

int ListTables(Session& session, bool include_system) {
  client::Admin admin(session.connection, session.timeout);
  const auto tables = admin.Call(methods::kListTables, pb::ListTablesRequest());
  if (!tables.ok()) return Report(session, tables.error());
  std::vector<std::string> headers = {"TABLE", "STATE"};
  // Columns for which a terminal has no room.
  if (session.printer.json())
    headers.insert(headers.end(), {"REGIONS", "REGIONS OPEN", "STORE FILES", "STORE MIB", "MEMSTORE MIB"});
  std::vector<std::vector<Field>> rows;
  for (const auto& row : tables->table()) {
    const auto name = FromProto(row.table());
    if (!name.ok()) return Report(session, name.error());
    if (name->ns == kSystemNamespace && !include_system) continue;
    rows.push_back({name->ToString(), row.state()});
    if (!session.printer.json()) continue;
    const auto known = [](bool has, std::uint64_t value) { return has ? Field(Number(value)) : Field(); };
    rows.back().push_back(Number(row.regions()));
    rows.back().push_back(Number(row.regions_open()));
    rows.back().push_back(known(row.has_store_files(), row.store_files()));
    rows.back().push_back(known(row.has_store_mib(), row.store_mib()));
    rows.back().push_back(known(row.has_memstore_mib(), row.memstore_mib()));
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return FieldText(a[0]) < FieldText(b[0]); });
  session.printer.Table(headers, rows);
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
    case TableVerb::kEnable:
      return FinishOnTable(session, admin, admin.EnableTable(*name), wait, *name, "enabled " + text);
    case TableVerb::kDisable:
      return FinishOnTable(session, admin, admin.DisableTable(*name), wait, *name, "disabled " + text);
    case TableVerb::kFlush:
      return FinishOnTable(session, admin, admin.FlushTable(*name), wait, *name, "flushed " + text);
    case TableVerb::kDrop:
      return FinishOnTable(session, admin, admin.DeleteTable(*name), wait, *name, "dropped " + text);
  }
  return kExitUsage;
}

int CompactTable(Session& session, const std::string& text, bool major, bool wait) {
  auto name = TableName::Parse(text);
  if (!name.ok()) return Report(session, name.error());
  client::Admin admin(session.connection, session.timeout);
  return FinishOnTable(session, admin, admin.CompactTable(*name, major), wait, *name, "compacted " + text);
}

int TruncateTable(Session& session, const std::string& text, bool preserve_splits, bool wait, bool yes) {
  auto name = TableName::Parse(text);
  if (!name.ok()) return Report(session, name.error());
  if (!Confirmed(fmt::format("Delete all rows of table {}?", name->ToString()), yes)) return kExitFailed;
  client::Admin admin(session.connection, session.timeout);
  return FinishOnTable(session, admin, admin.TruncateTable(*name, preserve_splits), wait, *name, "truncated " + text);
}

}  // namespace ratchet::cli
