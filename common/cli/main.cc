// ratchet: the command line of a cluster. Declares the subcommands; commands.h does the work.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>

#include "common/base/descriptors.h"
#include "common/base/log.h"
#include "common/cli/commands.h"
#include "common/cli/completion.h"

namespace ratchet::cli {
namespace {

constexpr const char* kFooter =
    "\nExit codes: 0 done; 1 refused or failed; 2 wrong usage; 3 nobody answered in time; 4 time-out, outcome unknown;\n"
    "5 not found.\n"
    "Keys and values: printable text as it is, other bytes as \\xHH, a backslash doubled.\n\n"
    "Examples:\n"
    "  ratchet --zookeeper 127.0.0.1:2181 create t f --regions 4\n"
    "  ratchet put t row1 f:name=value && ratchet get t row1\n"
    "  ratchet import t data.tsv --columns row,f:name,f:kind\n"
    "  ratchet procedures && ratchet procedure 17\n";

struct Global {
  client::ConnectionOptions connection;
  bool json = false;
  std::int64_t timeout_ms = 60'000;
};

// The chosen subcommand's work; filled by its callback.
using Action = std::function<int(Session&)>;

void AddTableCommands(CLI::App& app, Action& action) {
  auto* create = app.add_subcommand("create", "Create a table, pre-split if you like");
  auto flags = std::make_shared<CreateFlags>();
  create->add_option("table", flags->table, "Name, or namespace:name")->required();
  create->add_option("family", flags->families, "Families: f or f:VERSIONS=3,TTL=86400")->required();
  create->add_option("--split-keys", flags->split_keys, "Where regions begin")->delimiter(',');
  create->add_option("--regions", flags->regions, "So many regions of equal share")->check(CLI::Range(1, 100'000));
  create->add_option("--split", flags->split, "With --regions: keys are 8 hex digits, or any bytes")
      ->check(CLI::IsMember({"hex", "uniform"}));
  create->add_flag("!--no-wait", flags->wait, "Print the pid and do not wait for the end");
  create->callback([flags, &action] { action = [flags](Session& s) { return CreateTable(s, *flags); }; });

  auto* list = app.add_subcommand("list", "List tables and their states");
  auto system = std::make_shared<bool>(false);
  list->add_flag("--system", *system, "System tables too");
  list->callback([system, &action] { action = [system](Session& s) { return ListTables(s, *system); }; });

  auto name = std::make_shared<std::string>();
  auto wait = std::make_shared<bool>(true);
  auto* describe = app.add_subcommand("describe", "Show a table's families and attributes");
  describe->add_option("table", *name, "Name, or namespace:name")->required();
  describe->callback([name, &action] { action = [name](Session& s) { return DescribeTable(s, *name); }; });
  const auto verb = [&](const char* word, const char* help, TableVerb which) {
    auto* command = app.add_subcommand(word, help);
    command->add_option("table", *name, "Name, or namespace:name")->required();
    command->add_flag("!--no-wait", *wait, "Print the pid and do not wait for the end");
    command->callback([name, wait, which, &action] {
      action = [name, wait, which](Session& s) { return ChangeTable(s, which, *name, *wait); };
    });
  };
  verb("enable", "Bring a disabled table online", TableVerb::kEnable);
  verb("disable", "Take a table offline", TableVerb::kDisable);
  verb("drop", "Delete a disabled table and its data", TableVerb::kDrop);
}

void AddRowCommands(CLI::App& app, Action& action) {
  auto table = std::make_shared<std::string>();
  auto row = std::make_shared<std::string>();
  auto columns = std::make_shared<std::vector<std::string>>();
  auto versions = std::make_shared<std::uint32_t>(1);
  auto* put = app.add_subcommand("put", "Store values in one row");
  put->add_option("table", *table, "Name, or namespace:name")->required();
  put->add_option("row", *row, "Key of the row")->required();
  put->add_option("value", *columns, "family:qualifier=value ...")->required();
  put->callback([=, &action] { action = [=](Session& s) { return PutRow(s, *table, *row, *columns); }; });
  auto* get = app.add_subcommand("get", "Read one row");
  get->add_option("table", *table, "Name, or namespace:name")->required();
  get->add_option("row", *row, "Key of the row")->required();
  get->add_option("column", *columns, "family or family:qualifier ...");
  get->add_option("--versions", *versions, "So many versions of each column, the newest first")->check(CLI::Range(1, 1'000'000));
  get->callback([=, &action] { action = [=](Session& s) { return GetRow(s, *table, *row, *columns, *versions); }; });
  auto* remove = app.add_subcommand("delete", "Delete a row, or some of its columns");
  remove->add_option("table", *table, "Name, or namespace:name")->required();
  remove->add_option("row", *row, "Key of the row")->required();
  remove->add_option("column", *columns, "family or family:qualifier ...");
  remove->callback([=, &action] { action = [=](Session& s) { return DeleteRow(s, *table, *row, *columns); }; });

  auto scan = std::make_shared<ScanFlags>();
  auto* command = app.add_subcommand("scan", "Read rows in order");
  command->add_option("table", scan->table, "Name, or namespace:name")->required();
  command->add_option("--start", scan->start, "First row");
  command->add_option("--stop", scan->stop, "Row to stop before");
  command->add_option("--columns", scan->columns, "family or family:qualifier, ...")->delimiter(',');
  command->add_option("--limit", scan->limit, "So many rows at the most; 0: all");
  command->add_option("--versions", scan->versions, "So many versions of each column, the newest first")->check(CLI::Range(1, 1'000'000));
  command->add_flag("--reversed", scan->reversed, "From the end to the beginning");
  command->add_flag("--count", scan->count_only, "Print only how many rows there are");
  command->callback([scan, &action] { action = [scan](Session& s) { return ScanTable(s, *scan); }; });

  auto import = std::make_shared<ImportFlags>();
  auto* load = app.add_subcommand("import", "Store the lines of a separated text file as rows");
  load->add_option("table", import->table, "Name, or namespace:name")->required();
  load->add_option("file", import->file, "A file, or - for standard input")->required();
  load->add_option("--columns", import->columns, "What each field is: row, family:qualifier, or - to leave it out")
      ->delimiter(',')
      ->required();
  load->add_option("--separator", import->separator, "Between fields (default: a tab)");
  load->add_option("--batch", import->batch_rows, "Rows sent together")->check(CLI::Range(1, 100'000));
  load->add_flag("--quiet", import->quiet, "No progress bar");
  load->callback([import, &action] { action = [import](Session& s) { return ImportRows(s, *import); }; });
}

void AddRegionCommands(CLI::App& app, Action& action) {
  auto table = std::make_shared<std::string>();
  auto moving = std::make_shared<bool>(false);
  auto* regions = app.add_subcommand("regions", "List regions, their states and servers");
  regions->add_option("table", *table, "Only of this table");
  regions->add_flag("--in-transition", *moving, "Only those that a procedure is moving");
  regions->callback([=, &action] { action = [=](Session& s) { return ShowRegions(s, *table, *moving); }; });

  auto region = std::make_shared<std::string>();
  auto destination = std::make_shared<std::string>();
  auto wait = std::make_shared<bool>(true);
  const auto verb = [&](const char* word, const char* help, RegionVerb which) {
    auto* command = app.add_subcommand(word, help);
    command->add_option("region", *region, "Encoded or full region name")->required();
    if (which != RegionVerb::kUnassign) command->add_option("server", *destination, "host:port, or host,port,startcode");
    command->add_flag("!--no-wait", *wait, "Print the pid and do not wait for the end");
    command->callback([=, &action] {
      action = [=](Session& s) { return ChangeRegion(s, which, *region, *destination, *wait); };
    });
  };
  verb("move", "Move a region to another server", RegionVerb::kMove);
  verb("assign", "Open a region", RegionVerb::kAssign);
  verb("unassign", "Close a region", RegionVerb::kUnassign);
}

void AddProcedureCommands(CLI::App& app, Action& action) {
  auto all = std::make_shared<bool>(false);
  auto* procedures = app.add_subcommand("procedures", "List procedures: state, step, what they wait for");
  procedures->add_flag("--all", *all, "Finished ones too");
  procedures->callback([=, &action] { action = [=](Session& s) { return ShowProcedures(s, *all); }; });
  app.add_subcommand("locks", "List locks, holders, waiters and wait chains")->callback([&action] { action = ShowLocks; });
  auto pid = std::make_shared<std::uint64_t>(0);
  const auto verb = [&](const char* word, const char* help, int (*run)(Session&, std::uint64_t)) {
    auto* command = app.add_subcommand(word, help);
    command->add_option("pid", *pid, "Number of the procedure")->required();
    command->callback([=, &action] { action = [=](Session& s) { return run(s, *pid); }; });
  };
  verb("procedure", "Show one procedure: state, tree, wait chain, step history", ShowProcedure);
  verb("wait", "Wait until a procedure has ended; fails when it failed", WaitForProcedure);
}

void AddOperatorCommands(CLI::App& app, Action& action) {
  const auto note = std::make_shared<NoteFlags>();
  const auto add = [&app, note](const char* word, const char* help) {
    auto* command = app.add_subcommand(word, help);
    command->add_option("--who", note->who, "Recorded as who did it; default: the connection's user");
    command->add_option("--why", note->why, "Recorded as the reason");
    return command;
  };
  const auto verb = std::make_shared<VerbFlags>();
  const auto on_pid = [&](const char* word, const char* help) {
    auto* command = add(word, help);
    command->add_option("pid", verb->pid, "Number of the procedure")->required();
    command->callback([=, &action] {
      verb->verb = word;
      action = [=](Session& s) { return ActOnProcedure(s, *verb, *note); };
    });
    return command;
  };
  on_pid("abort", "Undo a procedure, where that is still possible");
  on_pid("bypass", "End a procedure and its parents without their remaining steps; the world is left as it is")
      ->add_flag("--recursive", verb->recursive, "Its unfinished children too");
  on_pid("park", "Run nothing of a procedure until it is unparked; its children go on");
  on_pid("unpark", "Take a parked procedure up again");
  on_pid("rerun", "Take a procedure up again from another state")
      ->add_option("--step", verb->step, "Name or number of the state")
      ->required();

  const auto what = std::make_shared<std::vector<std::string>>();
  const auto wait_ms = std::make_shared<std::int64_t>(10'000);
  const char* scopes = "A pid; everything; ordinary (all but crash handling); type NAME; table|region|namespace|server NAME; meta";
  auto* pause = add("pause", "Begin no step of what is named, now and after a failover; wait for those that run");
  pause->add_option("what", *what, scopes)->required()->expected(1, 2);
  pause->add_option("--wait-ms", *wait_ms, "How long to wait for steps that run")->check(CLI::Range(0, 3'600'000));
  pause->callback([=, &action] { action = [=](Session& s) { return PauseProcedures(s, *what, *note, *wait_ms); }; });
  auto* resume = add("resume", "Take a pause back");
  resume->add_option("what", *what, scopes)->required()->expected(1, 2);
  resume->callback([=, &action] { action = [=](Session& s) { return ResumeProcedures(s, *what, *note); }; });
  const auto log = std::make_shared<bool>(false);
  auto* pauses = app.add_subcommand("pauses", "List what is paused, by whom and why");
  pauses->add_flag("--log", *log, "Who has paused and resumed what lately, instead");
  pauses->callback([=, &action] { action = [=](Session& s) { return ShowPauses(s, *log); }; });

  const auto lock = std::make_shared<LockFlags>();
  auto* hold = app.add_subcommand("lock", "Hold a lock on a table for as long as this command runs");
  hold->add_option("table", lock->target, "Table, or with --namespace a namespace")->required();
  hold->add_flag("--namespace", lock->is_namespace);
  hold->add_flag("--shared", lock->shared, "Shared instead of exclusive");
  hold->add_option("--who", lock->who, "Recorded and shown as who holds it, beside the connection's user");
  hold->add_option("--why", lock->why, "Recorded, and shown to those who wait");
  hold->add_option("--hold-ms", lock->hold_ms, "Let go after this long; 0: hold on")->check(CLI::Range(0, 2'000'000'000));
  hold->callback([=, &action] { action = [=](Session& s) { return HoldLock(s, *lock); }; });
  const auto pid = std::make_shared<std::uint64_t>(0);
  auto* unlock = app.add_subcommand("unlock", "Release a lock by the pid of its procedure");
  unlock->add_option("pid", *pid, "Number of the procedure")->required();
  unlock->callback([=, &action] { action = [=](Session& s) { return ReleaseLock(s, *pid); }; });

  const auto root = std::make_shared<std::uint64_t>(0);
  const auto follow = std::make_shared<bool>(false);
  auto* events = app.add_subcommand("events", "Show what has happened to procedures");
  events->add_option("--pid", *root, "Only of this tree (pid of its root)");
  events->add_flag("--follow", *follow, "Go on as things happen");
  events->callback([=, &action] { action = [=](Session& s) { return ShowEvents(s, *root, *follow); }; });
  app.add_subcommand("metrics", "Counters and durations by procedure type")->callback([&action] { action = ShowMetrics; });
}

int Run(int argc, char** argv) {
  CLI::App app("ratchet: the command line of a Ratchet cluster", "ratchet");
  app.require_subcommand(1);
  app.footer(kFooter);
  app.option_defaults()->always_capture_default();
  Global global;
  Action action;
  auto* zookeeper = app.add_option("--zookeeper", global.connection.zookeeper, "host:port,... of the ensemble")
                        ->envname("RATCHET_ZOOKEEPER");
  app.add_option("--master", global.connection.masters, "host:port of a master, instead of ZooKeeper; may be repeated")
      ->envname("RATCHET_MASTER")
      ->delimiter(',')
      ->excludes(zookeeper);
  app.add_option("--znode-parent", global.connection.znode_parent, "Where the cluster's nodes are");
  app.add_option("--timeout-ms", global.timeout_ms, "How long an operation may take, retries included")
      ->check(CLI::Range(1, 86'400'000));
  app.add_flag("--json", global.json, "JSON on standard output");
  app.fallthrough();

  app.add_subcommand("status", "Show the cluster at a glance")->callback([&] { action = ShowStatus; });
  app.add_subcommand("servers", "List region servers")->callback([&] { action = ShowServers; });
  bool only_earlier = false;
  auto* reconcile = app.add_subcommand("reconcile", "Compare meta, memory and servers; show what was found and repaired");
  reconcile->add_flag("--no-look", only_earlier, "Show only what earlier looks have found");
  reconcile->callback([&] { action = [&](Session& session) { return ShowFindings(session, !only_earlier); }; });
  app.add_subcommand("health", "Check that meta and all servers answer (and a put, with a table ratchet_health)")->callback([&] {
    action = CheckHealth;
  });
  AddTableCommands(app, action);
  AddRowCommands(app, action);
  AddRegionCommands(app, action);
  AddProcedureCommands(app, action);
  AddOperatorCommands(app, action);
  std::string shell = "bash";
  auto* completion = app.add_subcommand("completion", "Print a completion script: source <(ratchet completion bash)");
  completion->add_option("shell", shell)->check(CLI::IsMember({"bash"}));

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const auto unknown = app.remaining(true);
    if (error.get_name() == "RequiredError" && app.get_subcommands().empty() && !unknown.empty() &&
        !unknown.front().starts_with('-')) {
      std::cerr << "ratchet: '" << unknown.front() << "' is no command; ratchet --help lists them all\n";
      return kExitUsage;
    }
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  if (completion->parsed()) {
    std::vector<std::string> words;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) words.push_back(command->get_name());
    std::cout << BashCompletion(words);
    return kExitOk;
  }
  ConfigureLog({LogLevel::kError, ""});
  const Millis timeout(global.timeout_ms);
  global.connection.operation_timeout = timeout;
  if (const char* user = std::getenv("USER"); user != nullptr && *user != '\0') global.connection.user = user;
  auto connection = client::Connection::Open(global.connection);
  if (!connection.ok()) {
    std::cerr << "ratchet: " << connection.error().message() << " (--zookeeper or --master)\n";
    return kExitUsage;
  }
  Session session{**connection, Printer(global.json), timeout};
  return action(session);
}

}  // namespace
}  // namespace ratchet::cli

int main(int argc, char** argv) {
  ratchet::RaiseDescriptorLimit();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // whoever reads `lock` or `events --follow` through a pipe reads as things happen
  return ratchet::cli::Run(argc, argv);
}
