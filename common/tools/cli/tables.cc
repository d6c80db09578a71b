// Verbs on tables.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/model/codec.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/family_text.h"
#include "common/tools/cli/printer.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {
namespace {

struct CreateFlags {
  std::string table;
  std::vector<std::string> families;    // "f" or "f:VERSIONS=3,TTL=86400"
  std::vector<std::string> split_keys;  // as text (bytes_text.h)
  std::int64_t regions = 0;             // with `split`: number of regions, split evenly; 0: use split_keys
  std::string split = "hex";            // "hex" (keys of 8 hex digits) or "uniform" (first bytes)
  std::string owner;                    // empty: the caller
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    Need(verb, "family", families, "FAMILY", "Families: f or f:VERSIONS=3,MIN_VERSIONS=1,TTL=86400 (seconds)");
    Take(verb, "--split-keys", split_keys, kind::kRow, "Start keys of regions")->delimiter(',');
    TakeWhole(verb, "--regions", regions, kind::kNumber, 1, 100'000, "Number of regions, split evenly");
    verb.add_option("--split", split, "With --regions: keys are 8 hex digits, or any bytes")
        ->check(CLI::IsMember({"hex", "uniform"}));
    Take(verb, "--owner", owner, kind::kText, "User who gets every right in the table (default: this client's user)");
    AddNoWait(verb, wait);
  }
};

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

Result<int> CreateTable(Session& session, const CreateFlags& flags) {
  TableDescriptor table;
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  table.name = name;
  if (name.ns == kSystemNamespace) {
    return Error(Code::kInvalidArgument,
                 fmt::format("table {}: the namespace {} is the system's", name.ToString(), kSystemNamespace));
  }
  for (const auto& text : flags.families) {
    RATCHET_ASSIGN(auto family, ParseFamily(text));
    table.families.push_back(std::move(family));
  }
  RATCHET_ASSIGN(const auto keys, SplitKeys(flags));
  if (!flags.owner.empty()) table.attributes[std::string(kOwnerKey)] = flags.owner;
  RATCHET_TRY(table.Check());
  return FinishOnTable(session, session.admin.CreateTable(table, keys), flags.wait, name, "created " + flags.table);
}

struct CloneFlags {
  std::string source;
  std::string copy;
  bool preserve_splits = false;  // the new table's regions have the same keys
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddTable(verb, source, "The table whose schema is used");
    Need(verb, "new-table", copy, kind::kTable, "Name of the new table");
    verb.add_flag("--preserve-splits", preserve_splits, "Use the region boundaries of the other table");
    AddNoWait(verb, wait);
  }
};

Result<int> CloneSchema(Session& session, const CloneFlags& flags) {
  RATCHET_ASSIGN(auto source, TableName::Parse(flags.source));
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.copy));
  auto table = session.admin.Describe(source);
  if (!table.ok()) return ReportOnTable(session, table.error(), source);
  std::vector<std::string> keys;
  if (flags.preserve_splits) {
    const auto regions = session.admin.Regions(source);
    if (!regions.ok()) return ReportOnTable(session, regions.error(), source);
    for (const auto& location : *regions) {
      if (!location.region.start_key.empty()) keys.push_back(location.region.start_key);
    }
  }
  table->name = name;
  table->attributes.erase(std::string(kOwnerKey));  // the new table is the caller's
  return FinishOnTable(session, session.admin.CreateTable(*table, keys), flags.wait, name, "created " + flags.copy);
}

struct AlterFlags {
  std::string table;
  std::vector<std::string> add;   // families, as for create
  std::vector<std::string> set;   // "f:VERSIONS=3,TTL=86400": these attributes of an existing family
  std::vector<std::string> drop;  // names of families
  bool reopen = true;             // false: each region uses the change the next time that it opens
  bool wait = true;
  bool yes = false;  // otherwise a drop asks for confirmation on a terminal

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    Take(verb, "--add", add, "FAMILY", "Families to add: g or g:VERSIONS=3,MIN_VERSIONS=1,TTL=86400 (seconds)");
    Take(verb, "--set", set, "FAMILY", "Attributes of an existing family: f:VERSIONS=3,TTL=86400");
    Take(verb, "--drop", drop, "FAMILY", "Families to drop, with all that is stored in them");
    verb.add_flag("!--no-reopen", reopen, "Let each region use the change when it opens next");
    AddNoWait(verb, wait);
    AddYes(verb, yes);
  }
};

std::vector<FamilyDescriptor>::iterator Find(TableDescriptor& table, const std::string& family) {
  return std::find_if(table.families.begin(), table.families.end(),
                      [&family](const FamilyDescriptor& candidate) { return candidate.name == family; });
}

Status NoFamily(const TableDescriptor& table, const std::string& family) {
  return Error(Code::kInvalidArgument, fmt::format("table {} has no family '{}'", table.name.ToString(), family));
}

// Makes all changes in one descriptor.
Status Apply(const AlterFlags& flags, TableDescriptor& table) {
  for (const std::string& text : flags.add) {
    RATCHET_ASSIGN(FamilyDescriptor family, ParseFamily(text));
    if (Find(table, family.name) != table.families.end()) {
      return Error(Code::kInvalidArgument,
                   fmt::format("table {} has a family '{}' already", table.name.ToString(), family.name));
    }
    table.families.push_back(std::move(family));
  }
  for (const std::string& text : flags.set) {
    const auto family = Find(table, FamilyName(text));
    if (family == table.families.end()) return NoFamily(table, FamilyName(text));
    if (FamilyName(text) == text) {
      return Error(Code::kInvalidArgument, fmt::format("--set {}: expected NAME:KEY=VALUE,...", text));
    }
    RATCHET_TRY(SetAttributes(text, *family));
  }
  for (const std::string& name : flags.drop) {
    const auto family = Find(table, name);
    if (family == table.families.end()) return NoFamily(table, name);
    table.families.erase(family);
  }
  return table.Check();
}

Result<std::uint64_t> SendChanges(client::Admin& admin, const AlterFlags& flags, const TableDescriptor& table) {
  const std::size_t changes = flags.add.size() + flags.set.size() + flags.drop.size();
  if (changes != 1 || !flags.reopen) return admin.ModifyTable(table, flags.reopen);
  // For one family: later changes of other families are kept.
  if (!flags.drop.empty()) return admin.DeleteFamily(table.name, flags.drop.front());
  const std::string name = FamilyName(flags.add.empty() ? flags.set.front() : flags.add.front());
  const FamilyDescriptor& family = *table.Family(name);
  return flags.add.empty() ? admin.ModifyFamily(table.name, family) : admin.AddFamily(table.name, family);
}

Result<int> AlterTable(Session& session, const AlterFlags& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  if (flags.add.empty() && flags.set.empty() && flags.drop.empty()) {
    return Error(Code::kInvalidArgument, "nothing to change: give --add, --set or --drop");
  }
  if (!flags.drop.empty() && !Confirmed(fmt::format("Drop {} of table {} with all that is stored in {}?",
                                                    flags.drop.size() == 1 ? "a family" : "families", name.ToString(),
                                                    flags.drop.size() == 1 ? "it" : "them"),
                                        flags.yes)) {
    return kExitFailed;
  }
  auto table = session.admin.Describe(name);
  if (!table.ok()) return ReportOnTable(session, table.error(), name);
  RATCHET_TRY(Apply(flags, *table));
  return FinishOnTable(session, SendChanges(session.admin, flags, *table), flags.wait, name, "altered " + flags.table);
}

struct TableFlag {
  std::string table;

  void Bind(CLI::App& verb) { AddTable(verb, table); }
};

Result<int> ShowAlterStatus(Session& session, const TableFlag& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  const auto progress = session.admin.AlterStatus(name);
  if (!progress.ok()) return ReportOnTable(session, progress.error(), name);
  session.printer.Object({{"table", name.ToString()},
                          {"updated", static_cast<std::int64_t>(progress->total - progress->left)},
                          {"regions", static_cast<std::int64_t>(progress->total)}});
  return kExitOk;
}

}  // namespace

Result<int> ListTables(Session& session, bool include_system) {
  RATCHET_ASSIGN(const auto tables, session.admin.Call(methods::kListTables, pb::ListTablesRequest()));
  std::vector<std::string> headers = {"TABLE", "STATE"};
  // Columns for which a terminal has no room.
  if (session.printer.json())
    headers.insert(headers.end(), {"REGIONS", "REGIONS OPEN", "STORE FILES", "STORE MIB", "MEMSTORE MIB"});
  std::vector<std::vector<Field>> rows;
  for (const auto& row : tables.table()) {
    RATCHET_ASSIGN(const auto name, FromProto(row.table()));
    if (name.ns == kSystemNamespace && !include_system) continue;
    rows.push_back({name.ToString(), row.state()});
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

Result<int> DescribeTable(Session& session, const std::string& text) {
  RATCHET_ASSIGN(auto name, TableName::Parse(text));
  auto table = session.admin.Describe(name);
  if (!table.ok()) return ReportOnTable(session, table.error(), name);
  std::vector<std::vector<Field>> rows;
  for (const auto& [key, value] : table->attributes) rows.push_back({Field(), ToText(key), ToText(value)});
  for (const auto& family : table->families) {
    for (const auto& [key, value] : family.attributes) rows.push_back({family.name, ToText(key), ToText(value)});
  }
  session.printer.Table({"FAMILY", "ATTRIBUTE", "VALUE"}, rows);
  return kExitOk;
}

namespace {

struct ListTablesFlags {
  bool include_system = false;

  void Bind(CLI::App& verb) { verb.add_flag("--system", include_system, "System tables too"); }
};

struct ChangeFlags {
  std::string table;
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    AddNoWait(verb, wait);
  }
};

// The action of a verb on a whole table that has no flags of its own. `done`: "enabled".
template <class Submit>
auto Changing(const char* done, Submit submit) {
  return [done, submit](Session& session, const ChangeFlags& flags) -> Result<int> {
    RATCHET_ASSIGN(const TableName name, TableName::Parse(flags.table));
    return FinishOnTable(session, (session.admin.*submit)(name), flags.wait, name,
                         fmt::format("{} {}", done, flags.table));
  };
}

struct DropFlags : ChangeFlags {
  bool yes = false;  // otherwise it asks for confirmation on a terminal

  void Bind(CLI::App& verb) {
    ChangeFlags::Bind(verb);
    AddYes(verb, yes);
  }
};

Result<int> DropTable(Session& session, const DropFlags& flags) {
  RATCHET_ASSIGN(const TableName name, TableName::Parse(flags.table));
  if (!Confirmed(fmt::format("Drop table {} with all its rows?", name.ToString()), flags.yes)) return kExitFailed;
  return Changing("dropped", &client::Admin::DeleteTable)(session, flags);
}

struct CompactFlags {
  std::string table;
  bool major = false;  // all store files of each region become one
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    verb.add_flag("--major", major, "Make one file of all files of a region, without deleted or expired cells");
    AddNoWait(verb, wait);
  }
};

Result<int> CompactTable(Session& session, const CompactFlags& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  return FinishOnTable(session, session.admin.CompactTable(name, flags.major), flags.wait, name,
                       "compacted " + flags.table);
}

struct TruncateFlags {
  std::string table;
  bool preserve_splits = false;
  bool wait = true;
  bool yes = false;  // otherwise it asks for confirmation on a terminal

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    verb.add_flag("--preserve-splits", preserve_splits, "Keep the region boundaries; otherwise one region");
    AddNoWait(verb, wait);
    AddYes(verb, yes);
  }
};

Result<int> TruncateTable(Session& session, const TruncateFlags& flags) {
  RATCHET_ASSIGN(auto name, TableName::Parse(flags.table));
  if (!Confirmed(fmt::format("Delete all rows of table {}?", name.ToString()), flags.yes)) return kExitFailed;
  return FinishOnTable(session, session.admin.TruncateTable(name, flags.preserve_splits), flags.wait, name,
                       "truncated " + flags.table);
}

}  // namespace

Verbs TableVerbs() {
  using client::Admin;
  return {
      Verb<CreateFlags>("create", "Create a table, optionally pre-split",
                        {"create t f", "create t f:VERSIONS=3,TTL=86400 g --regions 16",
                         "create ns:t f --split-keys g,n,t", "create t f --owner etl"},
                        CreateTable),
      Verb<CloneFlags>("clone-schema", "Create an empty table with the schema of another one",
                       {"clone-schema t copy", "clone-schema t copy --preserve-splits"}, CloneSchema),
      Verb<AlterFlags>("alter", "Add, change or drop families of a table, while it is served",
                       {"alter t --add g:VERSIONS=3", "alter t --set f:TTL=86400 --drop g", "alter t --drop g --yes"},
                       AlterTable),
      Verb<TableFlag>("alter-status", "Show how many regions of a table are open with its newest descriptor",
                      {"alter-status t"}, ShowAlterStatus),
      Verb<ListTablesFlags>(
          "list", "List tables and their states", {"list", "list --system"},
          [](Session& session, const ListTablesFlags& flags) { return ListTables(session, flags.include_system); }),
      Verb<TableFlag>("describe", "Show a table's families and attributes", {"describe t"},
                      [](Session& session, const TableFlag& flags) { return DescribeTable(session, flags.table); }),
      Verb<ChangeFlags>("enable", "Bring a disabled table online", {"enable t"},
                        Changing("enabled", &Admin::EnableTable)),
      Verb<ChangeFlags>("disable", "Take a table offline", {"disable t", "disable t --no-wait"},
                        Changing("disabled", &Admin::DisableTable)),
      Verb<ChangeFlags>("flush", "Flush the memory stores of a table's regions to files", {"flush t"},
                        Changing("flushed", &Admin::FlushTable)),
      Verb<CompactFlags>("compact", "Merge the store files of a table's regions",
                         {"compact t", "compact t --major", "compact t --major --no-wait"}, CompactTable),
      Verb<DropFlags>("drop", "Delete a disabled table and its data", {"disable t && ratchet drop t", "drop t --yes"},
                      DropTable),
      Verb<TruncateFlags>("truncate", "Delete all rows of a disabled table, and enable it",
                          {"disable t && ratchet truncate t", "truncate t --preserve-splits --yes"}, TruncateTable)};
}

}  // namespace ratchet::cli
