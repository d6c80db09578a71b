#include "common/ops/api/view_list.h"

#include "common/tools/cli/flag_checks.h"

namespace ratchet::api {
namespace {

using http::HttpRequest;

Result<int> Procedures(cli::Session& session, const HttpRequest& request, const std::string& /*part*/) {
  cli::ListFlags flags;
  RATCHET_ASSIGN(const std::uint64_t all, request.Number("all", 0, 0, 1));
  flags.include_finished = all == 1;
  flags.wide = true;
  flags.most = kMostListed;
  return cli::Finish(session, cli::ShowProcedures(session, flags));
}

Result<int> Procedure(cli::Session& session, const HttpRequest& /*request*/, const std::string& part) {
  RATCHET_ASSIGN(const std::uint64_t pid, cli::ParseWhole(part, 1, UINT64_MAX));
  return cli::Finish(session, cli::ShowProcedure(session, pid));
}

Result<int> Why(cli::Session& session, const HttpRequest& request, const std::string& /*part*/) {
  RATCHET_ASSIGN(const std::uint64_t limit, request.Number("chains", 5, 1, 100));
  std::vector<std::string> subject;
  if (const std::string text = request.Parameter("subject"); !text.empty()) subject.push_back(text);
  return cli::Finish(session, cli::ShowWhy(session, subject, limit));
}

Result<int> Regions(cli::Session& session, const HttpRequest& request, const std::string& /*part*/) {
  // The master limits the list, so the printer prints all of it.
  cli::Printed& printed = *session.printer.into();
  const cli::RegionPart part{static_cast<std::uint32_t>(printed.limit), printed.offset};
  printed.limit = UINT64_MAX;
  printed.offset = 0;
  RATCHET_ASSIGN(const std::uint64_t moving, request.Number("moving", 0, 0, 1));
  return cli::Finish(
      session, cli::ShowRegions(session, request.Parameter("table"), moving == 1, part, request.Parameter("server")));
}

Result<int> Events(cli::Session& session, const HttpRequest& request, const std::string& /*part*/) {
  cli::EventFlags flags;
  RATCHET_ASSIGN(flags.root, request.Number("pid", 0, 1, UINT64_MAX));
  RATCHET_ASSIGN(const std::uint64_t newest, request.Number("newest", 100, 1, 10'000));
  flags.newest = newest;
  return cli::Finish(session, cli::ShowEvents(session, flags));
}

Result<int> History(cli::Session& session, const HttpRequest& request, const std::string& /*part*/) {
  cli::HistoryFlags flags;
  flags.type = request.Parameter("type");
  flags.table = request.Parameter("table");
  flags.since = request.Parameter("since");
  flags.until = request.Parameter("until");
  flags.outcome = request.Parameter("outcome");
  RATCHET_ASSIGN(const std::uint64_t newest, request.Number("newest", 1000, 1, 100'000));
  flags.limit = static_cast<std::uint32_t>(newest);
  return cli::Finish(session, cli::ShowHistory(session, flags));
}

Result<int> Trace(cli::Session& session, const HttpRequest& /*request*/, const std::string& part) {
  RATCHET_ASSIGN(const std::uint64_t pid, cli::ParseWhole(part, 1, UINT64_MAX));
  return cli::Finish(session, cli::ShowTrace(session, pid));
}

auto Sql(const char* statement) {
  return [statement](cli::Session& session, const HttpRequest&, const std::string&) -> Result<int> {
    return cli::Finish(session, cli::RunSql(session, {statement, false}));
  };
}

template <Result<int> (*Show)(cli::Session&)>
Result<int> Plain(cli::Session& session, const HttpRequest& /*request*/, const std::string& /*part*/) {
  return cli::Finish(session, Show(session));
}

std::vector<View> MakeViews() {
  constexpr const char* kRows = "limit, offset";
  return {
      {"cluster", "ratchet status", "", "The cluster at a glance, problems first.", false, true,
       Plain<cli::ShowStatus>},
      {"master", "ratchet --master HOST:PORT status", "", "The master that answers, also a standby.", false, false,
       Plain<cli::ShowStatus>},
      {"why", "ratchet why [SUBJECT]", "subject, chains", "What waits, for what, since when, down to the cause.", false,
       true, Why},
      {"procedures", "ratchet procedures [--all]", "all=1, limit, offset",
       "Procedures, unfinished ones only by default.", false, true, Procedures},
      {"procedure/", "ratchet procedure PID", "", "One procedure: state, tree, wait chain, step history.", false, true,
       Procedure},
      {"locks", "ratchet locks", "", "Locks with holders and waiters; limits; wait chains.", false, true,
       Plain<cli::ShowLocks>},
      {"pauses", "ratchet pauses", "", "What operators have paused.", false, true,
       [](cli::Session& session, const HttpRequest&, const std::string&) -> Result<int> {
         return cli::Finish(session, cli::ShowPauses(session, false));
       }},
      {"tables", "ratchet list --system", kRows, "Tables with their states.", true, true,
       [](cli::Session& session, const HttpRequest&, const std::string&) -> Result<int> {
         return cli::Finish(session, cli::ListTables(session, true));
       }},
      {"table/", "ratchet describe TABLE", "", "The attributes of one table.", true, true,
       [](cli::Session& session, const HttpRequest&, const std::string& part) -> Result<int> {
         return cli::Finish(session, cli::DescribeTable(session, part));
       }},
      {"regions", "ratchet regions [TABLE]", "table, server, moving=1, limit, offset",
       "Regions by table and start key.", true, true, Regions},
      {"servers", "ratchet servers", kRows, "Region servers, dead ones included.", true, true, Plain<cli::ShowServers>},
      {"orders", "ratchet sql 'select * from orders'", kRows, "Servers that have orders waiting, or do not answer.",
       true, true, Sql("select * from orders")},
      {"peers", "ratchet peers", kRows, "Clusters to which tables are shipped, with their lag.", true, true,
       Plain<cli::ListPeers>},
      {"snapshots", "ratchet snapshots", kRows, "Snapshots of tables.", true, true, Plain<cli::ListSnapshots>},
      {"namespaces", "ratchet namespaces", kRows, "Namespaces with their limits.", true, true,
       Plain<cli::ListNamespaces>},
      {"quotas", "ratchet sql 'select * from quotas'", kRows, "Limits of requests.", true, true,
       Sql("select * from quotas")},
      {"switches", "ratchet switch", kRows, "Switches of the cluster.", true, true, Plain<cli::ShowSwitches>},
      {"drains", "ratchet drained", kRows, "Servers that are drained, until they are taken back.", true, true,
       Plain<cli::ShowDrained>},
      {"findings", "ratchet reconcile --no-look", kRows, "What the reconciler has found and done.", true, true,
       [](cli::Session& session, const HttpRequest&, const std::string&) -> Result<int> {
         return cli::Finish(session, cli::ShowFindings(session, false));
       }},
      {"events", "ratchet events -n N", "newest, pid, limit, offset", "The newest events; events/stream follows them.",
       false, true, Events},
      {"store", "ratchet sql 'select * from store'", "", "The procedure store's counters.", false, true,
       Sql("select * from store")},
      {"types", "ratchet metrics", kRows, "Counters and durations by procedure type.", false, true,
       Plain<cli::ShowMetrics>},
      {"recoveries", "ratchet sql 'select * from recoveries'", kRows,
       "Recoveries of servers, also under earlier masters, as long as the history is kept.", true, true,
       Sql("select * from recoveries order by pid desc")},
      {"failovers", "ratchet sql 'select * from failovers'", kRows,
       "Masters that took over, with the steps of their activations, as long as the history is kept.", true, true,
       Sql("select * from failovers order by epoch desc, number")},
      {"history", "ratchet history", "type, table, since, until, outcome, newest, limit, offset",
       "Procedures that have ended, the newest first.", true, true, History},
      {"trace/", "ratchet trace PID", "", "A procedure's tree as OTLP/JSON.", false, true, Trace},
      {"timeline", "ratchet sql 'select ... from recoveries join recovery_steps'", kRows,
       "The steps of these recoveries with their times.", true, true,
       Sql("select r.pid, r.server, r.finished, s.number, s.step, s.outcome, s.epoch, s.began_ms, s.ended_ms, "
           "s.took_us "
           "from recoveries r join recovery_steps s on s.pid = r.pid order by r.pid desc, s.number")},
  };
}

}  // namespace

const std::vector<View>& Views() {
  static const std::vector<View> views = MakeViews();
  return views;
}

const View* FindView(std::string_view path, std::string* part) {
  part->clear();
  for (const View& view : Views()) {
    if (path == view.name) return view.name.ends_with('/') ? nullptr : &view;
    if (view.name.ends_with('/') && path.starts_with(view.name) && path.size() > view.name.size()) {
      *part = std::string(path.substr(view.name.size()));
      return &view;
    }
  }
  return nullptr;
}

}  // namespace ratchet::api
