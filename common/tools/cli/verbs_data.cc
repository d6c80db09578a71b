// Verbs on tables, rows and regions.
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

constexpr std::uint64_t kMostVersions = 1'000'000;
constexpr const char* kNoWait = "Print the pid and do not wait for the end";

void AddColumns(CLI::App* verb, std::vector<std::string>& columns) {
  verb->add_option("column", columns, "family or family:qualifier ...")->type_name(kind::kColumn);
}

void AddVersions(CLI::App* verb, std::uint32_t& versions) {
  verb->add_option("--versions", versions, "Number of versions of each column, the newest first")
      ->check(Whole(1, kMostVersions))
      ->type_name(kind::kNumber);
}

void AddRange(CLI::App* verb, ScanFlags& scan) {
  auto* start = verb->add_option("--start", scan.start, "First row")->type_name(kind::kRow);
  auto* stop = verb->add_option("--stop", scan.stop, "Row to stop before")->type_name(kind::kRow);
  verb->add_option("--prefix", scan.prefix, "Only rows that begin with this text")
      ->type_name(kind::kRow)
      ->excludes(start)
      ->excludes(stop);
  verb->add_option("--filter", scan.filter,
                   "Only what this filter of HBase's filter language accepts: \"PrefixFilter('a') AND ...\"")
      ->type_name(kind::kText);
}

void AddYes(CLI::App* verb, bool& yes) { verb->add_flag("--yes,-y", yes, "Do not ask for confirmation"); }

}  // namespace

void AddTableVerbs(CLI::App& app, Action& action) {
  auto* create =
      AddVerb(app, "create", "Create a table, optionally pre-split",
              {"create t f", "create t f:VERSIONS=3,TTL=86400 g --regions 16", "create ns:t f --split-keys g,n,t"});
  auto flags = std::make_shared<CreateFlags>();
  AddTable(create, flags->table);
  create->add_option("family", flags->families, "Families: f or f:VERSIONS=3,MIN_VERSIONS=1,TTL=86400 (seconds)")
      ->required()
      ->type_name("FAMILY");
  create->add_option("--split-keys", flags->split_keys, "Start keys of regions")->delimiter(',')->type_name(kind::kRow);
  create->add_option("--regions", flags->regions, "Number of regions, split evenly")
      ->check(Whole(1, 100'000))
      ->type_name(kind::kNumber);
  create->add_option("--split", flags->split, "With --regions: keys are 8 hex digits, or any bytes")
      ->check(CLI::IsMember({"hex", "uniform"}));
  create->add_flag("!--no-wait", flags->wait, kNoWait);
  create->callback([flags, &action] { action = [flags](Session& s) { return CreateTable(s, *flags); }; });

  auto* clone = AddVerb(app, "clone-schema", "Create an empty table with the schema of another one",
                        {"clone-schema t copy", "clone-schema t copy --preserve-splits"});
  auto source = std::make_shared<std::string>();
  auto copy = std::make_shared<std::string>();
  auto preserved = std::make_shared<bool>(false);
  auto cloned = std::make_shared<bool>(true);
  AddTable(clone, *source, "The table whose schema is used");
  clone->add_option("new-table", *copy, "Name of the new table")->required()->type_name(kind::kTable);
  clone->add_flag("--preserve-splits", *preserved, "Use the region boundaries of the other table");
  clone->add_flag("!--no-wait", *cloned, kNoWait);
  clone->callback(
      [=, &action] { action = [=](Session& s) { return CloneSchema(s, *source, *copy, *preserved, *cloned); }; });

  auto* alter = AddVerb(app, "alter", "Add, change or drop families of a table, while it is served",
                        {"alter t --add g:VERSIONS=3", "alter t --set f:TTL=86400 --drop g", "alter t --drop g --yes"});
  auto changes = std::make_shared<AlterFlags>();
  AddTable(alter, changes->table);
  alter->add_option("--add", changes->add, "Families to add: g or g:VERSIONS=3,MIN_VERSIONS=1,TTL=86400 (seconds)")
      ->type_name("FAMILY");
  alter->add_option("--set", changes->set, "Attributes of an existing family: f:VERSIONS=3,TTL=86400")
      ->type_name("FAMILY");
  alter->add_option("--drop", changes->drop, "Families to drop, with all that is stored in them")->type_name("FAMILY");
  alter->add_flag("!--no-reopen", changes->reopen, "Let each region use the change when it opens next");
  alter->add_flag("!--no-wait", changes->wait, kNoWait);
  AddYes(alter, changes->yes);
  alter->callback([changes, &action] { action = [changes](Session& s) { return AlterTable(s, *changes); }; });

  auto altered = std::make_shared<std::string>();
  auto* status = AddVerb(app, "alter-status", "Show how many regions of a table are open with its newest descriptor",
                         {"alter-status t"});
  AddTable(status, *altered);
  status->callback([altered, &action] { action = [altered](Session& s) { return ShowAlterStatus(s, *altered); }; });

  auto* list = AddVerb(app, "list", "List tables and their states", {"list", "list --system"});
  auto system = std::make_shared<bool>(false);
  list->add_flag("--system", *system, "System tables too");
  list->callback([system, &action] { action = [system](Session& s) { return ListTables(s, *system); }; });

  auto name = std::make_shared<std::string>();
  auto wait = std::make_shared<bool>(true);
  auto yes = std::make_shared<bool>(false);
  auto* describe = AddVerb(app, "describe", "Show a table's families and attributes", {"describe t"});
  AddTable(describe, *name);
  describe->callback([name, &action] { action = [name](Session& s) { return DescribeTable(s, *name); }; });
  const auto verb = [&](const char* word, const char* help, TableVerb which,
                        std::initializer_list<const char*> examples) {
    auto* command = AddVerb(app, word, help, examples);
    AddTable(command, *name);
    command->add_flag("!--no-wait", *wait, kNoWait);
    if (which == TableVerb::kDrop) AddYes(command, *yes);
    command->callback([name, wait, yes, which, &action] {
      action = [name, wait, yes, which](Session& s) { return ChangeTable(s, which, *name, *wait, *yes); };
    });
  };
  verb("enable", "Bring a disabled table online", TableVerb::kEnable, {"enable t"});
  verb("disable", "Take a table offline", TableVerb::kDisable, {"disable t", "disable t --no-wait"});
  verb("flush", "Flush the memory stores of a table's regions to files", TableVerb::kFlush, {"flush t"});
  auto* compact = AddVerb(app, "compact", "Merge the store files of a table's regions",
                          {"compact t", "compact t --major", "compact t --major --no-wait"});
  auto major = std::make_shared<bool>(false);
  AddTable(compact, *name);
  compact->add_flag("--major", *major, "Make one file of all files of a region, without deleted or expired cells");
  compact->add_flag("!--no-wait", *wait, kNoWait);
  compact->callback([name, major, wait, &action] {
    action = [name, major, wait](Session& s) { return CompactTable(s, *name, *major, *wait); };
  });
  verb("drop", "Delete a disabled table and its data", TableVerb::kDrop,
       {"disable t && ratchet drop t", "drop t --yes"});
  auto* truncate = AddVerb(app, "truncate", "Delete all rows of a disabled table, and enable it",
                           {"disable t && ratchet truncate t", "truncate t --preserve-splits --yes"});
  auto preserve = std::make_shared<bool>(false);
  AddTable(truncate, *name);
  truncate->add_flag("--preserve-splits", *preserve, "Keep the region boundaries; otherwise one region");
  truncate->add_flag("!--no-wait", *wait, kNoWait);
  AddYes(truncate, *yes);
  truncate->callback([name, preserve, wait, yes, &action] {
    action = [name, preserve, wait, yes](Session& s) { return TruncateTable(s, *name, *preserve, *wait, *yes); };
  });
}

void AddRowVerbs(CLI::App& app, Action& action) {
  auto put_flags = std::make_shared<PutFlags>();
  auto* put =
      AddVerb(app, "put", "Store values in one row",
              {"put t row1 f:name=value f:kind=a", "put t 'row\\x00' f:q='\\x01\\x02' --timestamp 1700000000000"});
  AddTable(put, put_flags->table);
  put->add_option("row", put_flags->row, "Key of the row")->required()->type_name(kind::kRow);
  put->add_option("value", put_flags->values, "family:qualifier=value ...")->required()->type_name("COLUMN=VALUE");
  put->add_option("--timestamp", put_flags->timestamp, "In ms since 1970; left out: the server's clock")
      ->check(Whole(0, kLargest - 1))
      ->type_name(kind::kMillis);
  put->callback([=, &action] { action = [=](Session& s) { return PutRow(s, *put_flags); }; });

  auto table = std::make_shared<std::string>();
  auto row = std::make_shared<std::string>();
  auto columns = std::make_shared<std::vector<std::string>>();
  auto versions = std::make_shared<std::uint32_t>(1);
  auto* get = AddVerb(app, "get", "Read one row; exit code 5 when there is none",
                      {"get t row1", "get t row1 f:name --versions 3"});
  AddTable(get, *table);
  get->add_option("row", *row, "Key of the row")->required()->type_name(kind::kRow);
  AddColumns(get, *columns);
  AddVersions(get, *versions);
  get->callback([=, &action] { action = [=](Session& s) { return GetRow(s, *table, *row, *columns, *versions); }; });
  auto* remove =
      AddVerb(app, "delete", "Delete a row, or some of its columns", {"delete t row1", "delete t row1 f:name g"});
  AddTable(remove, *table);
  remove->add_option("row", *row, "Key of the row")->required()->type_name(kind::kRow);
  AddColumns(remove, *columns);
  remove->callback([=, &action] { action = [=](Session& s) { return DeleteRow(s, *table, *row, *columns); }; });

  auto scan = std::make_shared<ScanFlags>();
  auto* command =
      AddVerb(app, "scan", "Read rows in order, printed as they come",
              {"scan t --start a --stop b --limit 10", "scan t --prefix user42/ --columns f:name",
               "scan t --filter \"ValueFilter(=, 'substring:x') AND KeyOnlyFilter()\"", "--json scan t | head -3"});
  AddTable(command, scan->table);
  AddRange(command, *scan);
  command->add_option("--columns", scan->columns, "family or family:qualifier, ...")
      ->delimiter(',')
      ->type_name(kind::kColumn);
  command->add_option("--limit", scan->limit, "Maximum number of rows; 0: unlimited")
      ->check(Whole(0, UINT32_MAX))
      ->type_name(kind::kNumber);
  AddVersions(command, scan->versions);
  command->add_flag("--reversed", scan->reversed, "Scan from the end to the beginning");
  command->add_flag("--count", scan->count_only, "Print only the number of rows");
  command->callback([scan, &action] { action = [scan](Session& s) { return ScanTable(s, *scan); }; });

  auto* count =
      AddVerb(app, "count", "Count the rows of a table, or of a part of it", {"count t", "count t --prefix a"});
  auto counted = std::make_shared<ScanFlags>();
  counted->count_only = true;
  AddTable(count, counted->table);
  AddRange(count, *counted);
  count->callback([counted, &action] { action = [counted](Session& s) { return ScanTable(s, *counted); }; });

  auto* locate = AddVerb(app, "locate", "Show which region has a row, and its server", {"locate t row1"});
  AddTable(locate, *table);
  locate->add_option("row", *row, "Key of the row")->required()->type_name(kind::kRow);
  locate->callback([=, &action] { action = [=](Session& s) { return LocateRow(s, *table, *row); }; });

  auto import = std::make_shared<ImportFlags>();
  auto* load = AddVerb(
      app, "import", "Store the lines of a separated text file as rows",
      {"import t data.tsv --columns row,f:name,f:kind", "import t - --columns row,f:v --separator , < data.csv"});
  AddTable(load, import->table);
  load->add_option("file", import->file, "A file, a pipe, or - for standard input")->required()->type_name(kind::kFile);
  load->add_option("--columns", import->columns, "Meaning of each field: row, family:qualifier, or - to leave it out")
      ->delimiter(',')
      ->required()
      ->type_name(kind::kColumn);
  load->add_option("--separator", import->separator, "Between fields (default: a tab)")->type_name(kind::kText);
  load->add_option("--batch", import->batch_rows, "Rows sent together")
      ->check(Whole(1, 100'000))
      ->type_name(kind::kNumber);
  load->add_flag("--quiet", import->quiet, "No progress bar");
  load->callback([import, &action] { action = [import](Session& s) { return ImportRows(s, *import); }; });
}

void AddRegionVerbs(CLI::App& app, Action& action) {
  auto table = std::make_shared<std::string>();
  auto moving = std::make_shared<bool>(false);
  auto* regions = AddVerb(app, "regions", "List regions, their states and servers",
                          {"regions", "regions t", "regions --in-transition"});
  regions->add_option("table", *table, "Only of this table")->type_name(kind::kTable);
  regions->add_flag("--in-transition", *moving, "Only those that a procedure is moving");
  regions->callback([=, &action] { action = [=](Session& s) { return ShowRegions(s, *table, *moving); }; });

  auto region = std::make_shared<std::string>();
  auto destination = std::make_shared<std::string>();
  auto wait = std::make_shared<bool>(true);
  const auto verb = [&](const char* word, const char* help, RegionVerb which,
                        std::initializer_list<const char*> examples) {
    auto* command = AddVerb(app, word, help, examples);
    AddRegion(command, *region);
    if (which == RegionVerb::kMove) {
      command->add_option("server", *destination, "host:port, or host,port,startcode")->type_name(kind::kServer);
    }
    command->add_flag("!--no-wait", *wait, kNoWait);
    command->callback(
        [=, &action] { action = [=](Session& s) { return ChangeRegion(s, which, *region, *destination, *wait); }; });
  };
  verb("move", "Move a region to another server", RegionVerb::kMove, {"move 56f9 rs2:16020", "move 56f9"});
  verb("assign", "Open a region", RegionVerb::kAssign, {"assign 56f9"});
  verb("unassign", "Close a region", RegionVerb::kUnassign, {"unassign 56f9"});

  auto* split = AddVerb(app, "split", "Make two regions of one, at a key or in the middle of its data",
                        {"split 56f9", "split 56f9 --at row5000"});
  AddRegion(split, *region);
  auto key = std::make_shared<std::string>();
  split->add_option("--at", *key, "First row of the second region; left out: taken from the data")
      ->type_name(kind::kRow);
  split->add_flag("!--no-wait", *wait, kNoWait);
  split->callback([=, &action] { action = [=](Session& s) { return SplitRegion(s, *region, *key, *wait); }; });
  auto neighbours = std::make_shared<std::vector<std::string>>();
  auto* merge = AddVerb(app, "merge", "Make one region of two or more neighbours", {"merge 56f9 a01c"});
  merge->add_option("regions", *neighbours, "Regions, named as for split; without a gap between them, in any order")
      ->required()
      ->expected(2, -1)
      ->type_name(kind::kRegion);
  merge->add_flag("!--no-wait", *wait, kNoWait);
  merge->callback([=, &action] { action = [=](Session& s) { return MergeRegions(s, *neighbours, *wait); }; });

  auto yes = std::make_shared<bool>(false);
  auto* empty = AddVerb(app, "truncate-region", "Delete all rows of one region", {"truncate-region 56f9 --yes"});
  AddRegion(empty, *region);
  AddYes(empty, *yes);
  empty->add_flag("!--no-wait", *wait, kNoWait);
  empty->callback([=, &action] { action = [=](Session& s) { return TruncateRegion(s, *region, *wait, *yes); }; });
  auto* give_up =
      AddVerb(app, "give-up", "Give up a region that no server can open: its rows are lost, its files go to quarantine",
              {"give-up 56f9 --yes"});
  AddRegion(give_up, *region);
  give_up->callback([=, &action] { action = [=](Session& s) { return GiveUpRegion(s, *region, *yes, *wait); }; });
  auto* put_back =
      AddVerb(app, "put-back-edits", "Open a region again, so that it applies its edits in quarantine/edits",
              {"put-back-edits 56f9"});
  AddRegion(put_back, *region);
  put_back->add_flag("!--no-wait", *wait, kNoWait);
  put_back->callback([=, &action] { action = [=](Session& s) { return PutBackEdits(s, *region, *wait); }; });
  auto* fill = AddVerb(app, "fill-holes", "Make empty regions for rows of a table that belong to no region",
                       {"fill-holes t --yes"});
  fill->add_option("table", *table, "Name, or namespace:name")->required()->type_name(kind::kTable);
  fill->callback([=, &action] { action = [=](Session& s) { return FillHoles(s, *table, *yes, *wait); }; });
  for (auto* command : {give_up, fill}) {
    command->add_flag("--yes", *yes, "Do it; without this flag the command only prints what it would do");
    command->add_flag("!--no-wait", *wait, kNoWait);
  }
}

}  // namespace ratchet::cli
