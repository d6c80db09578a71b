// Verbs on regions.
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/client/admin.h"
#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/bytes_text.h"
#include "common/tools/cli/targets.h"
#include "common/tools/cli/verbs.h"
#include "common/tools/cli/views.h"

namespace ratchet::cli {

Result<int> ShowRegions(Session& session, const std::string& table, bool in_transition_only,
                        const std::optional<RegionPart>& part, const std::string& server) {
  pb::ListRegionsRequest request;
  request.set_in_transition_only(in_transition_only);
  if (part.has_value()) {
    request.set_limit(part->limit);
    request.set_offset(part->offset);
  }
  if (!server.empty()) {
    RATCHET_ASSIGN(const auto name, ServerName::Parse(server));
    ToProto(name, *request.mutable_server());
  }
  TableName asked;
  if (!table.empty()) {
    RATCHET_ASSIGN(auto name, TableName::Parse(table));
    ToProto(name, *request.mutable_table());
    asked = std::move(name);
  }
  auto answer = session.admin.Call(methods::kListRegions, request);
  if (!answer.ok()) return ReportOnTable(session, answer.error(), asked);
  struct Shown {
    RegionInfo region;
    const pb::RegionRow* row;
  };
  std::vector<Shown> regions;
  for (const auto& row : answer->region()) {
    RATCHET_ASSIGN(auto region, FromProto(row.region()));
    regions.push_back({std::move(region), &row});
  }
  std::sort(regions.begin(), regions.end(), [](const Shown& a, const Shown& b) {
    return std::tie(a.region.table, a.region.start_key, a.row->encoded_name()) <
           std::tie(b.region.table, b.region.start_key, b.row->encoded_name());
  });
  std::vector<std::string> headers = {"TABLE", "REGION", "START", "END", "STATE", "SERVER", "PROCEDURE"};
  // Columns for which a terminal has no room.
  if (session.printer.json()) headers.insert(headers.end(), {"STORE FILES", "STORE MIB", "MEMSTORE MIB"});
  const auto known = [](bool has, std::uint64_t value) { return has ? Field(Number(value)) : Field(); };
  std::vector<std::vector<Field>> rows;
  for (const auto& [region, shown] : regions) {
    const pb::RegionRow& row = *shown;
    auto at = row.has_server() ? FromProto(row.server()) : Result<ServerName>(ServerName{});
    rows.push_back({region.table.ToString(), row.encoded_name(), ToText(region.start_key), ToText(region.end_key),
                    row.state(), at.ok() && !at->empty() ? Field(at->ToString()) : Field(),
                    row.has_procedure() ? Field(static_cast<std::int64_t>(row.procedure())) : Field()});
    if (!session.printer.json()) continue;
    rows.back().push_back(known(row.has_store_files(), row.store_files()));
    rows.back().push_back(known(row.has_store_mib(), row.store_mib()));
    rows.back().push_back(known(row.has_memstore_mib(), row.memstore_mib()));
  }
  session.printer.Table(headers, rows);
  if (part.has_value() && session.printer.into() != nullptr) session.printer.into()->total = answer->total();
  return kExitOk;
}

namespace {

using client::RegionVerb;

struct RegionsFlags {
  std::string table;
  bool in_transition_only = false;

  void Bind(CLI::App& verb) {
    Take(verb, "table", table, kind::kTable, "Only of this table");
    verb.add_flag("--in-transition", in_transition_only, "Only those that a procedure is moving");
  }
};

struct ChangeRegionFlags {
  std::string region;       // encoded name or the beginning of it, or full name
  std::string destination;  // "host,port,startcode", "host:port" or empty
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddRegion(verb, region);
    AddNoWait(verb, wait);
  }
};
struct MoveFlags : ChangeRegionFlags {
  void Bind(CLI::App& verb) {
    AddRegion(verb, region);
    Take(verb, "server", destination, kind::kServer, "host:port, or host,port,startcode");
    AddNoWait(verb, wait);
  }
};

template <RegionVerb verb>
Result<int> ChangeRegion(Session& session, const ChangeRegionFlags& flags) {
  RATCHET_ASSIGN(const std::string encoded, FindRegion(session.admin, flags.region));
  std::optional<ServerName> server;
  if (!flags.destination.empty()) {
    RATCHET_ASSIGN(server, FindServer(session.admin, flags.destination));
  }
  RATCHET_ASSIGN(const std::uint64_t pid, session.admin.Transit(verb, encoded, server));
  if (!flags.wait) {
    session.printer.Object({{"submitted", flags.region}, {"pid", Number(pid)}});
    return kExitOk;
  }
  RATCHET_ASSIGN(const auto ended, session.admin.Wait(pid));
  if (ended.error.has_value()) return *ended.error;
  // The procedure ended, but reports that it did not do what was requested, for example because its table was disabled
  // meanwhile.
  if (!ended.result.empty() && verb == RegionVerb::kMove)
    return Error(Code::kFailedPrecondition, fmt::format("pid={}: {}", pid, ended.result));
  session.printer.Object(
      {{"done", flags.region}, {"pid", Number(pid)}, {"remark", ended.result.empty() ? Field() : Field(ended.result)}});
  return kExitOk;
}

// HBase's request carries the whole region, not its name.
Result<RegionInfo> InfoOf(client::Admin& admin, const std::string& encoded) {
  RATCHET_ASSIGN(const pb::ListRegionsResponse all, (admin.Call(methods::kListRegions, {})));
  for (const auto& row : all.region()) {
    if (row.encoded_name() == encoded) return FromProto(row.region());
  }
  return Error(Code::kNotFound, fmt::format("there is no region {}", encoded));
}

struct SplitFlags {
  std::string region;
  std::string split_key;  // as text (bytes_text.h); empty: taken from the data
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddRegion(verb, region);
    Take(verb, "--at", split_key, kind::kRow, "First row of the second region; left out: taken from the data");
    AddNoWait(verb, wait);
  }
};

Result<int> SplitRegion(Session& session, const SplitFlags& flags) {
  RATCHET_ASSIGN(const auto key, FromText(flags.split_key));
  RATCHET_ASSIGN(const auto encoded, FindRegion(session.admin, flags.region));
  RATCHET_ASSIGN(const auto info, InfoOf(session.admin, encoded));
  return FinishAlone(session, session.admin.SplitRegion(info, key), "split", encoded, flags.wait);
}

struct MergeFlags {
  std::vector<std::string> regions;
  bool wait = true;

  void Bind(CLI::App& verb) {
    Need(verb, "regions", regions, kind::kRegion,
         "Regions, named as for split; without a gap between them, in any order")
        ->expected(2, -1);
    AddNoWait(verb, wait);
  }
};

Result<int> MergeRegions(Session& session, const MergeFlags& flags) {
  std::vector<std::string> encoded;
  for (const std::string& region : flags.regions) {
    RATCHET_ASSIGN(auto found, FindRegion(session.admin, region));
    encoded.push_back(std::move(found));
  }
  return FinishAlone(session, session.admin.MergeRegions(encoded), "merged",
                     fmt::format("{} regions", flags.regions.size()), flags.wait);
}

struct RegionFlags {
  std::string region;
  bool yes = false;
  bool wait = true;
};

// Asks for confirmation on a terminal, unless `flags.yes`.
Result<int> TruncateRegion(Session& session, const RegionFlags& flags) {
  RATCHET_ASSIGN(const auto encoded, FindRegion(session.admin, flags.region));
  RATCHET_ASSIGN(const auto info, InfoOf(session.admin, encoded));
  const std::string question = fmt::format("Delete all rows of region {} of table {}?", encoded, info.table.ToString());
  if (!Confirmed(question, flags.yes)) return kExitFailed;
  return FinishAlone(session, session.admin.TruncateRegion(info), "truncated", encoded, flags.wait);
}

struct TruncateRegionFlags : RegionFlags {
  void Bind(CLI::App& verb) {
    AddRegion(verb, region);
    AddYes(verb, yes);
    AddNoWait(verb, wait);
  }
};

Error AskForYes(const std::string& what) {
  return {Code::kInvalidArgument, what + ": repeat with --yes if that is meant"};
}

void AddDoIt(CLI::App& verb, bool& yes) {
  verb.add_flag("--yes", yes, "Do it; without this flag the command only prints what it would do");
}

// Loses rows permanently: only with --yes.
Result<int> GiveUpRegion(Session& session, const RegionFlags& flags) {
  if (!flags.yes) {
    return AskForYes(
        fmt::format("the rows of region {} will be lost: its files go to the folder quarantine of the root, and "
                    "an empty region takes its place",
                    flags.region));
  }
  RATCHET_ASSIGN(const auto encoded, FindRegion(session.admin, flags.region));
  return FinishAlone(session, session.admin.GiveUpRegion(encoded), "done", flags.region, flags.wait);
}

struct GiveUpFlags : RegionFlags {
  void Bind(CLI::App& verb) {
    AddRegion(verb, region);
    AddDoIt(verb, yes);
    AddNoWait(verb, wait);
  }
};

// Opens the region again, so that it applies the edits that are kept for it in quarantine.
Result<int> PutBackEdits(Session& session, const RegionFlags& flags) {
  RATCHET_ASSIGN(const auto encoded, FindRegion(session.admin, flags.region));
  return FinishAlone(session, session.admin.PutBackEdits(encoded), "done", flags.region, flags.wait);
}

struct PutBackEditsFlags : RegionFlags {
  void Bind(CLI::App& verb) {
    AddRegion(verb, region);
    AddNoWait(verb, wait);
  }
};

struct FillFlags {
  std::string table;
  bool yes = false;
  bool wait = true;

  void Bind(CLI::App& verb) {
    AddTable(verb, table);
    AddDoIt(verb, yes);
    AddNoWait(verb, wait);
  }
};

// Accepts that rows are lost: only with --yes.
Result<int> FillHoles(Session& session, const FillFlags& flags) {
  if (!flags.yes) {
    return AskForYes(fmt::format(
        "table {} will have empty regions for the rows that belong to no region; their earlier content is lost",
        flags.table));
  }
  RATCHET_ASSIGN(const auto name, TableName::Parse(flags.table));
  return FinishAlone(session, session.admin.FillHoles(name), "done", flags.table, flags.wait);
}

}  // namespace

Verbs RegionVerbs() {
  return {
      Verb<RegionsFlags>("regions", "List regions, their states and servers",
                         {"regions", "regions t", "regions --in-transition"},
                         [](Session& session, const RegionsFlags& flags) {
                           return ShowRegions(session, flags.table, flags.in_transition_only);
                         }),
      Verb<MoveFlags>("move", "Move a region to another server", {"move 56f9 rs2:16020", "move 56f9"},
                      ChangeRegion<RegionVerb::kMove>),
      Verb<ChangeRegionFlags>("assign", "Open a region", {"assign 56f9"}, ChangeRegion<RegionVerb::kAssign>),
      Verb<ChangeRegionFlags>("unassign", "Close a region", {"unassign 56f9"}, ChangeRegion<RegionVerb::kUnassign>),
      Verb<SplitFlags>("split", "Make two regions of one, at a key or in the middle of its data",
                       {"split 56f9", "split 56f9 --at row5000"}, SplitRegion),
      Verb<MergeFlags>("merge", "Make one region of two or more neighbours", {"merge 56f9 a01c"}, MergeRegions),
      Verb<TruncateRegionFlags>("truncate-region", "Delete all rows of one region", {"truncate-region 56f9 --yes"},
                                TruncateRegion),
      Verb<GiveUpFlags>("give-up",
                        "Give up a region that no server can open: its rows are lost, its files go to quarantine",
                        {"give-up 56f9 --yes"}, GiveUpRegion),
      Verb<PutBackEditsFlags>("put-back-edits", "Open a region again, so that it applies its edits in quarantine/edits",
                              {"put-back-edits 56f9"}, PutBackEdits),
      Verb<FillFlags>("fill-holes", "Make empty regions for rows of a table that belong to no region",
                      {"fill-holes t --yes"}, FillHoles)};
}

}  // namespace ratchet::cli
