// Verbs on procedures: views, and an operator's verbs.
#include "common/tools/cli/flag_checks.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {

void AddProcedureVerbs(CLI::App& app, Action& action) {
  auto list = std::make_shared<ListFlags>();
  auto* procedures = AddVerb(app, "procedures", "List procedures: age, state, step, what they wait for",
                             {"procedures", "procedures --all --wide"});
  procedures->add_flag("--all", list->include_finished, "Finished ones too");
  procedures->add_flag("--wide", list->wide, "Show long texts in full");
  procedures->callback([=, &action] { action = [=](Session& s) { return ShowProcedures(s, *list); }; });
  AddVerb(app, "locks", "List locks, holders, waiters and wait chains", {"locks"})->callback([&action] {
    action = ShowLocks;
  });
  auto pid = std::make_shared<std::uint64_t>(0);
  const auto verb = [&](const char* word, const char* help, int (*run)(Session&, std::uint64_t), const char* example) {
    auto* command = AddVerb(app, word, help, {example});
    AddPid(command, *pid)->required();
    command->callback([=, &action] { action = [=](Session& s) { return run(s, *pid); }; });
  };
  verb("procedure", "Show one procedure: state, tree, wait chain, step history", ShowProcedure, "procedure 17");
  verb("wait", "Wait until a procedure has ended; fails when it failed", WaitForProcedure, "wait 17");
}

namespace {

void AddVerbsOnOne(CLI::App& app, Action& action, const std::shared_ptr<NoteFlags>& note) {
  const auto verb = std::make_shared<VerbFlags>();
  const auto on_pid = [&](const char* word, const char* help, const char* example) {
    auto* command = AddVerb(app, word, help, {example});
    command->add_option("--who", note->who, "Recorded as the user; default: the user of this process")
        ->type_name(kind::kText);
    command->add_option("--why", note->why, "Recorded as the reason")->type_name(kind::kText);
    AddPid(command, verb->pid)->required();
    command->callback([=, &action] {
      verb->verb = word;
      action = [=](Session& s) { return ActOnProcedure(s, *verb, *note); };
    });
    return command;
  };
  on_pid("abort", "Undo a procedure, where that is still possible", "abort 17 --why 'wrong table'");
  auto* bypass =
      on_pid("bypass", "End a procedure and its parents without their remaining steps; the cluster is left as it is",
             "bypass 17 --recursive --why 'its server is permanently gone'");
  bypass->add_flag("--recursive", verb->recursive, "Its unfinished children too");
  bypass->add_flag("--yes,-y", verb->yes, "Do not ask for confirmation");
  on_pid("park", "Run no step of a procedure until it is unparked; its children continue", "park 17 --why 'to look'");
  on_pid("unpark", "Continue a parked procedure", "unpark 17");
  on_pid("rerun", "Continue a procedure from another state", "rerun 17 --step ADD_TO_META")
      ->add_option("--step", verb->step, "Name or number of the state")
      ->required()
      ->type_name("STEP");
}

void AddPauses(CLI::App& app, Action& action, const std::shared_ptr<NoteFlags>& note) {
  const auto what = std::make_shared<std::vector<std::string>>();
  const auto wait_ms = std::make_shared<std::int64_t>(10'000);
  const auto add = [&](const char* word, const char* help, std::initializer_list<const char*> examples) {
    auto* command = AddVerb(app, word, help, examples);
    command->add_option("--who", note->who, "Recorded as the user; default: the user of this process")
        ->type_name(kind::kText);
    command->add_option("--why", note->why, "Recorded as the reason")->type_name(kind::kText);
    command
        ->add_option("what", *what,
                     "A pid; everything; ordinary (all except crash handling); type NAME; "
                     "table|region|namespace|server NAME; meta")
        ->required()
        ->expected(1, 2)
        ->type_name(kind::kScope);
    return command;
  };
  auto* pause = add("pause", "Pause procedures until `resume`, also after a failover; wait for running steps",
                    {"pause table t --why 'night shift'", "pause everything", "pause type CreateTable",
                     "pause region 56f9", "pause 17"});
  pause->add_option("--wait-ms", *wait_ms, "How long to wait for running steps")
      ->check(Whole(0, 3'600'000))
      ->type_name(kind::kMillis);
  pause->callback([=, &action] { action = [=](Session& s) { return PauseProcedures(s, *what, *note, *wait_ms); }; });
  auto* resume = add("resume", "Remove a pause", {"resume table t", "resume everything"});
  resume->callback([=, &action] { action = [=](Session& s) { return ResumeProcedures(s, *what, *note); }; });
  const auto log = std::make_shared<bool>(false);
  auto* pauses = AddVerb(app, "pauses", "List the active pauses with user and reason", {"pauses", "pauses --log"});
  pauses->add_flag("--log", *log, "Show the newest pauses and resumes instead");
  pauses->callback([=, &action] { action = [=](Session& s) { return ShowPauses(s, *log); }; });
}

void AddLocks(CLI::App& app, Action& action) {
  const auto lock = std::make_shared<LockFlags>();
  auto* hold = AddVerb(app, "lock", "Hold a lock on a table for as long as this command runs",
                       {"lock t --why backup", "lock ns --namespace --shared --hold-ms 60000"});
  hold->add_option("table", lock->target, "Table, or with --namespace a namespace")
      ->required()
      ->type_name(kind::kTable);
  hold->add_flag("--namespace", lock->is_namespace, "The name is that of a namespace");
  hold->add_flag("--shared", lock->shared, "Shared instead of exclusive");
  hold->add_option("--who", lock->who, "Recorded and shown as the holder, together with the user of this process")
      ->type_name(kind::kText);
  hold->add_option("--why", lock->why, "Recorded, and shown with each waiter")->type_name(kind::kText);
  hold->add_option("--hold-ms", lock->hold_ms, "Release the lock after this time; 0: hold it until the command ends")
      ->check(Whole(0, 2'000'000'000))
      ->type_name(kind::kMillis);
  hold->callback([=, &action] { action = [=](Session& s) { return HoldLock(s, *lock); }; });
  const auto pid = std::make_shared<std::uint64_t>(0);
  auto* unlock = AddVerb(app, "unlock", "Release a lock by the pid of its procedure", {"unlock 17"});
  AddPid(unlock, *pid)->required();
  unlock->callback([=, &action] { action = [=](Session& s) { return ReleaseLock(s, *pid); }; });
}

}  // namespace

void AddOperatorVerbs(CLI::App& app, Action& action) {
  const auto note = std::make_shared<NoteFlags>();
  AddVerbsOnOne(app, action, note);
  AddPauses(app, action, note);
  AddLocks(app, action);
  const auto events = std::make_shared<EventFlags>();
  auto* stream = AddVerb(app, "events", "Show the events of procedures",
                         {"events", "events --follow -n 0", "events --since 5m", "events --pid 17"});
  AddPid(stream, events->root, "--pid")->description("Only of this tree (pid of its root)");
  stream->add_flag("--follow", events->follow, "Continue to show new events");
  stream
      ->add_option("-n,--newest", events->newest,
                   "Begin with this number of the newest events (default: all that the master keeps; with --follow 10)")
      ->check(Whole(0, kLargest))
      ->type_name(kind::kNumber);
  stream
      ->add_option("--since", events->since,
                   "Begin this long ago (90s, 5m, 2h), or at a time (2026-01-31T12:30:00, UTC)")
      ->type_name("WHEN");
  stream->callback([=, &action] { action = [=](Session& s) { return ShowEvents(s, *events); }; });
  const auto sql = std::make_shared<SqlFlags>();
  auto* query =
      AddVerb(app, "sql", "Run one SELECT over the master's views (SQLite's language); .schema lists the tables",
              {"sql 'select type, count(*), max(age_s) from procedures where not finished group by type'",
               "sql .schema", "sql --csv 'select * from regions'"});
  query->add_option("statement", sql->statement, "SELECT ..., .schema, or .schema TABLE")
      ->required()
      ->type_name(kind::kText);
  query->add_flag("--csv", sql->csv, "Comma-separated values instead of a table");
  query->callback([=, &action] { action = [=](Session& s) { return RunSql(s, *sql); }; });
  AddVerb(app, "metrics", "Show counters and durations by procedure type", {"metrics"})->callback([&action] {
    action = ShowMetrics;
  });
}

}  // namespace ratchet::cli
