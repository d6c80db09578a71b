#include "common/tools/cli/verbs.h"

#include "common/tools/cli/flag_checks.h"

namespace ratchet::cli {

CLI::App* AddVerb(CLI::App& app, const char* word, const char* help, std::initializer_list<const char*> examples) {
  CLI::App* verb = app.add_subcommand(word, help);
  std::string footer = examples.size() == 0 ? "" : "\nExamples:";
  for (const char* example : examples) footer += fmt::format("\n  ratchet {}", example);
  verb->footer(footer + "\nExit codes, where the cluster is, --json, --timeout-ms: ratchet --help");
  return verb;
}

CLI::Validator Whole(std::uint64_t low, std::uint64_t high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        const auto number = ParseWhole(text, low, high);
        return number.ok() ? std::string() : number.error().message();
      },
      std::string());
}

CLI::Option* AddTable(CLI::App* verb, std::string& into, const char* help) {
  return verb->add_option("table", into, help)->type_name(kind::kTable)->required();
}

CLI::Option* AddRegion(CLI::App* verb, std::string& into) {
  constexpr const char* kHelp = "Encoded name, or the beginning of it that no other region has; or the full name";
  return verb->add_option("region", into, kHelp)->type_name(kind::kRegion)->required();
}

CLI::Option* AddPid(CLI::App* verb, std::uint64_t& into, const char* name) {
  return verb->add_option(name, into, "Number of the procedure")->check(Whole(1, kLargest))->type_name(kind::kPid);
}

void AddClusterVerbs(CLI::App& app, Action& action) {
  AddVerb(app, "status", "Show the cluster at a glance, problems first", {"status", "--json status"})
      ->callback([&action] { action = ShowStatus; });
  AddVerb(app, "servers", "List region servers", {"servers"})->callback([&action] { action = ShowServers; });
  const auto subject = std::make_shared<std::vector<std::string>>();
  const auto limit = std::make_shared<std::uint64_t>(5);
  auto* why =
      AddVerb(app, "why", "Show what waits, for what, since when, down to the cause; exit code 6: something waits",
              {"why", "why 17", "why table t", "why 56f9", "why rs1:16020", "--json why"});
  why->add_option(
         "subject", *subject,
         "A pid, a table, a region (the beginning of its encoded name) or a server (host:port), each also with "
         "the word pid, table, region or server before it; default: the cluster")
      ->expected(0, 2)
      ->type_name(kind::kScope);
  why->add_option("--limit", *limit, "How many causes are shown, the longest wait first")
      ->check(Whole(1, 100))
      ->type_name(kind::kNumber);
  why->callback([subject, limit, &action] {
    action = [subject, limit](Session& session) { return ShowWhy(session, *subject, *limit); };
  });
  const auto only_earlier = std::make_shared<bool>(false);
  auto* reconcile = AddVerb(app, "reconcile", "Compare meta, memory and servers; show what was found and repaired",
                            {"reconcile", "reconcile --no-look"});
  reconcile->add_flag("--no-look", *only_earlier, "Do not compare now; show only what earlier comparisons have found");
  reconcile->callback([only_earlier, &action] {
    action = [only_earlier](Session& session) { return ShowFindings(session, !*only_earlier); };
  });
  AddVerb(app, "health", "Check that meta and all servers answer (and a put, with a table ratchet_health)",
          {"health && echo up"})
      ->callback([&action] { action = CheckHealth; });
}

void AddAllVerbs(CLI::App& app, Action& action) {
  AddClusterVerbs(app, action);
  AddTableVerbs(app, action);
  AddNamespaceVerbs(app, action);
  AddPeerVerbs(app, action);
  AddRowVerbs(app, action);
  AddRegionVerbs(app, action);
  AddSnapshotVerbs(app, action);
  AddServerVerbs(app, action);
  AddSwitchVerb(app, action);
  AddProcedureVerbs(app, action);
  AddOperatorVerbs(app, action);
  AddHistoryVerbs(app, action);
}

}  // namespace ratchet::cli
