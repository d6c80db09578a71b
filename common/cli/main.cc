// ratchet: the command line of a cluster. Declares the subcommands; commands.h does the work.
#include <cstdlib>
#include <functional>
#include <iostream>

#include <CLI/CLI.hpp>

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
  describe->add_option("table", *name)->required();
  describe->callback([name, &action] { action = [name](Session& s) { return DescribeTable(s, *name); }; });
  const auto verb = [&](const char* word, const char* help, TableVerb which) {
    auto* command = app.add_subcommand(word, help);
    command->add_option("table", *name)->required();
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
  put->add_option("table", *table)->required();
  put->add_option("row", *row)->required();
  put->add_option("value", *columns, "family:qualifier=value ...")->required();
  put->callback([=, &action] { action = [=](Session& s) { return PutRow(s, *table, *row, *columns); }; });
  auto* get = app.add_subcommand("get", "Read one row");
  get->add_option("table", *table)->required();
  get->add_option("row", *row)->required();
  get->add_option("column", *columns, "family or family:qualifier ...");
  get->add_option("--versions", *versions)->check(CLI::Range(1, 1'000'000));
  get->callback([=, &action] { action = [=](Session& s) { return GetRow(s, *table, *row, *columns, *versions); }; });
  auto* remove = app.add_subcommand("delete", "Delete a row, or some of its columns");
  remove->add_option("table", *table)->required();
  remove->add_option("row", *row)->required();
  remove->add_option("column", *columns, "family or family:qualifier ...");
  remove->callback([=, &action] { action = [=](Session& s) { return DeleteRow(s, *table, *row, *columns); }; });

  auto scan = std::make_shared<ScanFlags>();
  auto* command = app.add_subcommand("scan", "Read rows in order");
  command->add_option("table", scan->table)->required();
  command->add_option("--start", scan->start, "First row");
  command->add_option("--stop", scan->stop, "Row to stop before");
  command->add_option("--columns", scan->columns, "family or family:qualifier, ...")->delimiter(',');
  command->add_option("--limit", scan->limit, "So many rows at the most");
  command->add_option("--versions", scan->versions)->check(CLI::Range(1, 1'000'000));
  command->add_flag("--reversed", scan->reversed, "From the end to the beginning");
  command->add_flag("--count", scan->count_only, "Print only how many rows there are");
  command->callback([scan, &action] { action = [scan](Session& s) { return ScanTable(s, *scan); }; });

  auto import = std::make_shared<ImportFlags>();
  auto* load = app.add_subcommand("import", "Store the lines of a separated text file as rows");
  load->add_option("table", import->table)->required();
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
    command->add_option("pid", *pid)->required();
    command->callback([=, &action] { action = [=](Session& s) { return run(s, *pid); }; });
  };
  verb("procedure", "Show one procedure: state, tree, wait chain, step history", ShowProcedure);
  verb("wait", "Wait until a procedure has ended; fails when it failed", WaitForProcedure);
  verb("abort", "Undo a procedure, where that is still possible", AbortProcedure);
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
  app.add_subcommand("health", "Check that meta is online and that a put and a get work")->callback([&] {
    action = CheckHealth;
  });
  AddTableCommands(app, action);
  AddRowCommands(app, action);
  AddRegionCommands(app, action);
  AddProcedureCommands(app, action);
  std::string shell = "bash";
  auto* completion = app.add_subcommand("completion", "Print a completion script: source <(ratchet completion bash)");
  completion->add_option("shell", shell)->check(CLI::IsMember({"bash"}));

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
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

int main(int argc, char** argv) { return ratchet::cli::Run(argc, argv); }
