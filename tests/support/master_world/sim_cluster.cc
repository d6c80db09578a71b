#include "tests/support/master_world/sim_cluster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "master/repair/reconciler.h"

namespace ratchet::sim {

SimCluster::SimCluster(SimOptions options) : options_(options), prng_(options.seed) {
  master_options.seed = options.seed;
  master_options.order_resend = Millis(400);
  master_options.retry = BackoffPolicy{Millis(10), Millis(500), 2.0, 0.1};
  if (options_.heartbeats) time_.After(Millis(200), [this] { Heartbeats(); });
}

SimCluster::~SimCluster() { masters_.clear(); }

void SimCluster::Trace(const std::string& line) {
  trace_.push_back(fmt::format("{} ms: {}", time_.WallMillis() - 1'700'000'000'000, line));
  if (verbose) fmt::print("{}\n", trace_.back());
}

void SimCluster::Violation(const std::string& what) {
  Trace("VIOLATION: " + what);
  storage_.violations.push_back(what);
}

// ---- servers --------------------------------------------------------------------------------------------------------

SimServer& SimCluster::AddServer(const std::string& host) {
  const ServerName name{host, 16020, next_start_code_++};
  servers_.push_back(std::make_unique<SimServer>(*this, name));
  storage_.logs[name];  // S4 (directory made once): before it registers anywhere
  live_.insert(name);
  Trace("starts " + name.ToString());
  TryRegister(*servers_.back());
  return *servers_.back();
}

SimServer* SimCluster::Find(const ServerName& name) {
  for (const auto& server : servers_) {
    if (server->name() == name) return server.get();
  }
  return nullptr;
}

std::vector<SimServer*> SimCluster::Alive() {
  std::vector<SimServer*> alive;
  for (const auto& server : servers_) {
    if (server->alive()) alive.push_back(server.get());
  }
  return alive;
}

void SimCluster::Kill(SimServer& server) {
  Trace("kill " + server.name().ToString());
  const auto session = options_.session;
  const ServerName name = server.name();
  server.Exit("killed");
  live_.insert(name);  // a killed process' session ends only after its time
  SessionEnds(name, session);
}

void SimCluster::SessionEnds(const ServerName& name, Millis delay) {
  time_.After(delay, [this, name] {
    if (live_.erase(name) == 0) return;
    if (!has_master()) return;
    master().logic().registrations.Abandon(name);
    master().logic().server_manager.Expire(name, "its session has ended");
  });
}

void SimCluster::TryRegister(SimServer& server) {
  if (!server.alive() || server.registered) return;
  const auto again = [this, &server] { time_.After(Millis(20), [this, &server] { TryRegister(server); }); };
  if (!has_master() || master().deposed() || !server.reachable() || master().executor().epoch() == Epoch() ||
      master().logic().activation.step() < master::ActivationStep::kLoadMeta) {
    return again();
  }
  auto answered = std::make_shared<bool>(false);
  master().logic().server_manager.Register(server.name(), "sim", [this, &server, answered](const Status& status) {
    *answered = true;
    if (!status.ok()) {
      if (status.error().remote_class().find("YouAreDead") != std::string::npos) server.Exit("may not register");
      return;
    }
    server.registered = true;
    if (!live_.contains(server.name()))
      master().logic().server_manager.Expire(server.name(), "died while it registered");
  });
  again();
}

void SimCluster::Heartbeats() {
  time_.After(Millis(200), [this] { Heartbeats(); });
  if (!has_master() || master().deposed() || master().logic().activation.step() < master::ActivationStep::kLoadMeta) {
    return;
  }
  for (SimServer* server : Alive()) {
    if (!server->registered || !server->reachable() || Lost()) continue;
    if (Status beat = master().logic().servers.Heartbeat(server->name()); !beat.ok()) {
      server->Exit("heartbeat refused");
      continue;
    }
    const std::uint64_t taken = master().logic().reconciler.OnHeartbeat(server->name(), server->NextList());
    constexpr std::uint64_t kOneAnswerIn = 7;  // one answer in 7 is lost: the master may have accepted a list without
                                               // the server's knowledge
    if (options_.lost_permille == 0 || ++answers_ % kOneAnswerIn != 0) server->ListAnswered(taken);
    server->Learn(master().logic().peers.ListFor(server->name(), master().epoch()));
    const auto& book = master().logic().rights;
    const auto image = server->rights.image();
    const bool current = image != nullptr && image->number().epoch == master().epoch().value() &&
                         image->number().number == book.number();
    if (!current) server->LearnRights(*book.EncodedImage(master().epoch()));
  }
  master().logic().reconciler.Sweep();
  constexpr std::uint64_t kBeatsPerComparison = 5;
  if (++beats_ % kBeatsPerComparison == 0) master().logic().reconciler.CompareWithMeta([](const Status&) {});
}

namespace {

bool Listens(SimMaster& master) {
  return !master.dead() && master.logic().activation.step() >= master::ActivationStep::kLoadMeta;
}

}  // namespace

SimMaster& SimCluster::MasterForReport() {
  constexpr std::uint64_t kOldInFour = 1;
  if (masters_.size() > 1 && prng_.Chance(kOldInFour, 4)) return *masters_[prng_.Below(masters_.size())];
  return master();
}

namespace {

master::RegionReport RegionReportOf(const ServerName& from, const regionserver::OrderReport& report) {
  using regionserver::OrderOutcome;
  const master::TransitionCode code = report.answer.outcome == OrderOutcome::kOpened ? master::TransitionCode::kOpened
                                      : report.answer.outcome == OrderOutcome::kClosed
                                          ? master::TransitionCode::kClosed
                                          : master::TransitionCode::kFailedOpen;
  return {from,
          code,
          report.key.region,
          report.answer.open_sequence,
          report.pid,
          report.address.epoch,
          report.address.attempt,
          report.answer.error_class,
          report.answer.error_message,
          report.answer.schema_number,
          report.answer.open_number,
          report.answer.flushed};
}

}  // namespace

void SimCluster::Hand(SimMaster& to, const ServerName& from, const Reports& reports, ReportDone done) {
  using regionserver::OrderOutcome;
  const bool online = to.logic().servers.IsOnline(from);
  const regionserver::OrderReport& report = reports.front();
  const ReportDone judged = [this, online, from, pid = report.pid, done = std::move(done)](const auto& answer) {
    if (!online && answer.ok()) {
      Violation(fmt::format("{} is marked crashed, and its report for pid {} is taken", from.ToString(), pid));
    }
    done(answer);
  };
  master::ReportHandler& handler = to.logic().reports;
  if (report.key.region.empty()) {
    handler.OnProcedureReport(
        {from, report.pid, report.address.epoch, report.address.attempt, report.answer.outcome == OrderOutcome::kDone,
         report.answer.payload, report.answer.error_class, report.answer.error_message},
        judged);
    return;
  }
  std::vector<master::RegionReport> regions;
  for (const regionserver::OrderReport& each : reports) regions.push_back(RegionReportOf(from, each));
  handler.OnRegionReports(regions, judged);
}

bool SimCluster::CarryReports(SimServer& from, const Reports& reports,
                              std::function<void(const Result<master::ReportAnswer>&)> done) {
  if (!has_master()) return false;
  ++sent.reports;
  SimMaster& to = MasterForReport();
  if (!Listens(to) || Lost()) return false;
  if (Duplicated()) {
    time_.After(LongDelay(), [this, name = from.name(), reports] {
      if (has_master() && Listens(master())) Hand(master(), name, reports, [](const auto&) {});
    });
  }
  auto answered = std::make_shared<bool>(false);
  const bool answer_lost = Lost();
  const auto once = [answered, answer_lost, done](const Result<master::ReportAnswer>& answer) {
    if (answer_lost || std::exchange(*answered, true)) return;
    done(answer);
  };
  time_.After(Millis(300), [answered, done] {  // no answer: the server asks again
    if (!std::exchange(*answered, true)) done(Error(Code::kTimeout, "no answer"));
  });
  Hand(to, from.name(), reports, once);
  return true;
}

// ---- masters --------------------------------------------------------------------------------------------------------

SimMaster& SimCluster::StartMaster(testing::CrashPlan plan, bool keep_old) {
  if (has_master() && !keep_old) KillMaster();
  masters_.push_back(std::make_unique<SimMaster>(*this, plan, master_options));
  const Status active = masters_.back()->Activate();
  Trace(fmt::format("master of epoch {}: {}", masters_.back()->epoch(),
                    active.ok() ? "active" : active.error().ToString()));
  return *masters_.back();
}

void SimCluster::KillMaster() {
  if (!has_master()) return;
  Trace(fmt::format("master of epoch {} dies", master().epoch()));
  master().store().Die();
  masters_.pop_back();
}

void SimCluster::DropOldMasters() {
  while (masters_.size() > 1) {
    masters_.front()->store().Die();
    masters_.erase(masters_.begin());
  }
}

// ---- running --------------------------------------------------------------------------------------------------------

bool SimCluster::RunMasters() {
  bool ran = false;
  for (std::size_t i = 0; i < masters_.size(); ++i) ran = masters_[i]->RunOne() || ran;
  return ran;
}

bool SimCluster::RunUntil(const std::function<bool()>& done, Millis limit) {
  const TimePoint end = time_.Now() + limit;
  while (!done()) {
    if (RunMasters()) continue;
    if (time_.Now() >= end) return false;
    if (!time_.RunNext()) return done();
  }
  return true;
}

bool SimCluster::RunFor(Millis span) {
  const TimePoint end = time_.Now() + span;
  bool over = false;
  time_.After(span, [&over] { over = true; });
  return RunUntil([&] { return over || time_.Now() >= end + Millis(1); }, span + Millis(10));
}

bool SimCluster::Settle(Millis limit) {
  // Called before every step. The expensive check runs only when nothing else can be done, and once in a while.
  TimePoint next_look{};
  const auto at_rest = [this, &next_look] {
    if (!master().ready() || !master().executor().Idle() || time_.Now() < next_look) return false;
    next_look = time_.Now() + Millis(5);
    return master().AllFinished();
  };
  (void)RunUntil([&] { return has_master() && (master().dead() || at_rest()); }, limit);
  next_look = {};  // no event may be left that would let time advance
  return has_master() && !master().dead() && at_rest();
}

void SimCluster::Boot(int servers) {
  for (int i = 0; i < servers; ++i) AddServer("rs" + std::to_string(i + 1));
  StartMaster();
  RATCHET_CHECK(Settle(), "the cluster does not boot:\n{}", master().Unfinished());
}

// ---- the checkers ---------------------------------------------------------------------------------------------------

void SimCluster::WriteEverywhere() {
  for (SimServer* server : Alive()) {
    std::vector<std::string> open;
    for (const auto& [encoded, region] : server->regions()) open.push_back(encoded);
    for (const std::string& encoded : open) server->Write(encoded);
  }
}

std::string SimCluster::OpenTwice() {
  std::map<std::string_view, const SimServer*> holders;
  for (const auto& server : servers_) {
    if (!server->alive() || server->regions().empty() || server->fenced()) continue;
    for (const auto& [encoded, region] : server->regions()) {
      const auto [other, fresh] = holders.emplace(encoded, server.get());
      if (!fresh) {
        return fmt::format("region {} is open at {} and at {}", encoded, other->second->name().ToString(),
                           server->name().ToString());
      }
    }
  }
  return {};
}

std::string SimCluster::CheckSettled() {
  std::map<std::string, std::vector<ServerName>> holders;
  for (SimServer* server : Alive()) {
    if (server->fenced()) continue;  // it does not know it yet, but can acknowledge nothing
    for (const auto& [encoded, region] : server->regions()) holders[encoded].push_back(server->name());
  }
  std::string wrong;
  const auto expect = [&](const std::string& encoded, const std::optional<ServerName>& where) {
    const auto it = holders.find(encoded);
    const std::vector<ServerName> have = it == holders.end() ? std::vector<ServerName>{} : it->second;
    const std::vector<ServerName> want = where ? std::vector<ServerName>{*where} : std::vector<ServerName>{};
    if (have != want) {
      wrong += fmt::format("region {} should be at {}, is at {} servers{}\n", encoded,
                           where ? where->ToString() : "no server", have.size(),
                           have.empty() ? "" : ", first " + have.front().ToString());
    }
    holders.erase(encoded);
  };
  expect(std::string(kMetaEncodedName), master().logic().regions.MetaLocation());
  for (const auto& [encoded, row] : meta_.regions()) {
    const bool open = row.state == RegionState::kOpen;
    if (!open && row.state != RegionState::kClosed && row.state != RegionState::kSplit) {
      wrong += fmt::format("region {} is {} in meta\n", encoded, RegionStateText(row.state));
    }
    expect(encoded, open ? row.location : std::nullopt);
    const auto node = master().logic().regions.Get(encoded);
    if (!node || node->state != row.state || (open && node->location != row.location)) {
      wrong += fmt::format("region {}: memory and meta disagree\n", encoded);
    }
    const SimServer* const server = open && row.location ? Find(*row.location) : nullptr;
    const auto served = server == nullptr ? nullptr : server->Served(encoded);
    const bool known = row.schema_number != 0;                                       // else it counts as old
    if (served != nullptr && known && served->schema_number != row.schema_number) {  // S48 (schema pinned in the order)
      wrong += fmt::format("region {} is served with descriptor {}, meta says {}\n", encoded, served->schema_number,
                           row.schema_number);
    }
  }
  for (const auto& [encoded, where] : holders) wrong += fmt::format("region {} is open but not in meta\n", encoded);
  if (!any_ranges) wrong += RangesInMeta();
  for (const auto& [server, logs] : storage_.logs) {
    if (logs.fenced) wrong += "fenced logs of " + server.ToString() + " are left\n";
  }
  for (const std::string& violation : storage_.violations) wrong += violation + "\n";
  return wrong;
}

std::string SimCluster::RangesInMeta() const {
  std::map<TableName, std::map<std::string, std::string>> ends;  // by start key
  for (const auto& [table, row] : meta_.tables()) ends[table];
  std::string wrong;
  for (const auto& [encoded, row] : meta_.regions()) {
    if (!HasItsRows(row.state)) continue;
    const bool fresh = ends[row.region.table].emplace(row.region.start_key, row.region.end_key).second;
    if (!fresh) wrong += fmt::format("region {} begins where another one does\n", encoded);
  }
  for (const auto& [table, regions] : ends) {
    std::string at;
    for (const auto& [start, end] : regions) {
      if (start != at)
        wrong +=
            fmt::format("table {}: a region ends at '{}', the next one begins at '{}'\n", table.ToString(), at, start);
      at = end;
    }
    if (regions.empty()) wrong += fmt::format("table {} has no region\n", table.ToString());
    if (!at.empty()) wrong += fmt::format("table {} has no region behind '{}'\n", table.ToString(), at);
  }
  return wrong;
}

std::string SimCluster::Fingerprint() const {
  std::string text;
  for (const auto& [name, row] : meta_.tables()) {
    text += fmt::format("{}={};", name.ToString(), TableStateText(row.state));
  }
  std::map<std::string, int> states;
  for (const auto& [encoded, row] : meta_.regions()) {
    if (IsSplitOrMerged(row.state)) continue;  // until the janitor comes
    ++states[fmt::format("{}:{}:{}", row.region.table.ToString(), row.region.start_key, RegionStateText(row.state))];
  }
  for (const auto& [what, count] : states) text += fmt::format("{}x{};", what, count);
  if (!storage_.snapshots.empty()) {
    const auto complete = std::count_if(storage_.snapshots.begin(), storage_.snapshots.end(), [](const auto& snapshot) {
      return snapshot.second.files.contains("complete");
    });
    text += fmt::format("snapshots={} of {};", complete, storage_.snapshots.size());
  }
  return text + fmt::format("dirs={}", storage_.tables.size());
}

}  // namespace ratchet::sim
