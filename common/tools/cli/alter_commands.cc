// Changes a table's descriptor.
#include <algorithm>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/tools/cli/commands.h"
#include "common/tools/cli/family_text.h"
#include "common/tools/cli/targets.h"

namespace ratchet::cli {
namespace {

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

Result<std::uint64_t> Ask(client::Admin& admin, const AlterFlags& flags, const TableDescriptor& table) {
  const std::size_t changes = flags.add.size() + flags.set.size() + flags.drop.size();
  if (changes != 1 || !flags.reopen) return admin.ModifyTable(table, flags.reopen);
  // For one family: later changes of other families are kept.
  if (!flags.drop.empty()) return admin.DeleteFamily(table.name, flags.drop.front());
  const std::string name = FamilyName(flags.add.empty() ? flags.set.front() : flags.add.front());
  const FamilyDescriptor& family = *table.Family(name);
  return flags.add.empty() ? admin.ModifyFamily(table.name, family) : admin.AddFamily(table.name, family);
}

}  // namespace

int AlterTable(Session& session, const AlterFlags& flags) {
  auto name = TableName::Parse(flags.table);
  if (!name.ok()) return Report(session, name.error());
  if (flags.add.empty() && flags.set.empty() && flags.drop.empty()) {
    return Report(session, Error(Code::kInvalidArgument, "nothing to change: give --add, --set or --drop"));
  }
  if (!flags.drop.empty() && !Confirmed(fmt::format("Drop {} of table {} with all that is stored in {}?",
                                                    flags.drop.size() == 1 ? "a family" : "families", name->ToString(),
                                                    flags.drop.size() == 1 ? "it" : "them"),
                                        flags.yes)) {
    return kExitFailed;
  }
  client::Admin admin(session.connection, session.timeout);
  auto table = admin.Describe(*name);
  if (!table.ok()) return ReportOnTable(session, table.error(), *name);
  if (const Status applied = Apply(flags, *table); !applied.ok()) return Report(session, applied.error());
  return FinishOnTable(session, admin, Ask(admin, flags, *table), flags.wait, *name, "altered " + flags.table);
}

int ShowAlterStatus(Session& session, const std::string& text) {
  auto name = TableName::Parse(text);
  if (!name.ok()) return Report(session, name.error());
  client::Admin admin(session.connection, session.timeout);
  const auto progress = admin.AlterStatus(*name);
  if (!progress.ok()) return ReportOnTable(session, progress.error(), *name);
  session.printer.Object({{"table", name->ToString()},
                          {"updated", static_cast<std::int64_t>(progress->total - progress->left)},
                          {"regions", static_cast<std::int64_t>(progress->total)}});
  return kExitOk;
}

int FinishOnTable(Session& session, client::Admin& admin, Result<std::uint64_t> pid, bool wait, const TableName& table,
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

}  // namespace ratchet::cli
