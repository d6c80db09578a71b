#include "common/tools/cli/verbs.h"

#include <utility>

#include "common/tools/cli/flag_checks.h"

namespace ratchet::cli {

CLI::App* AddVerb(CLI::App& app, const char* word, const char* help, const std::vector<const char*>& examples) {
  CLI::App* verb = app.add_subcommand(word, help);
  std::string footer = examples.empty() ? "" : "\nExamples:";
  for (const char* example : examples) footer += fmt::format("\n  ratchet {}", example);
  verb->footer(footer + "\nExit codes, where the cluster is, --json, --timeout-ms: ratchet --help");
  return verb;
}

VerbAdder Plain(const char* name, const char* help, std::vector<const char*> examples,
                std::function<Result<int>(Session&)> run) {
  struct NoFlags {
    void Bind(CLI::App& /*verb*/) {}
  };
  return Verb<NoFlags>(name, help, std::move(examples),
                       [run = std::move(run)](Session& session, const NoFlags& /*flags*/) { return run(session); });
}

void AddAllVerbs(CLI::App& app, Action& action) {
  for (const auto topic :
       {StatusVerbs, WhyVerbs,      HealthVerbs,     TableVerbs,    NamespaceVerbs, PeerVerbs,   RightsVerbs,
        TokenVerbs,  SecurityVerbs, ConnectionVerbs, RowVerbs,      ImportVerbs,    RegionVerbs, SnapshotVerbs,
        ServerVerbs, SwitchVerbs,   ProcedureVerbs,  OperatorVerbs, EventVerbs,     SqlVerbs,    HistoryVerbs}) {
    for (const auto& verb : topic()) verb(app, action);
  }
}

CLI::Validator Whole(std::uint64_t low, std::uint64_t high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        const auto number = ParseWhole(text, low, high);
        return number.ok() ? std::string() : number.error().message();
      },
      std::string());
}

CLI::Option* AddTable(CLI::App& verb, std::string& into, const char* help) {
  return Need(verb, "table", into, kind::kTable, help);
}

CLI::Option* AddRegion(CLI::App& verb, std::string& into) {
  constexpr const char* kHelp = "Encoded name, or the beginning of it that no other region has; or the full name";
  return Need(verb, "region", into, kind::kRegion, kHelp);
}

CLI::Option* AddPid(CLI::App& verb, std::uint64_t& into, const char* name) {
  return TakeWhole(verb, name, into, kind::kPid, 1, kLargest, "Number of the procedure");
}

void AddNoWait(CLI::App& verb, bool& wait) {
  verb.add_flag("!--no-wait", wait, "Print the pid and do not wait for the end");
}

void AddYes(CLI::App& verb, bool& yes) { verb.add_flag("--yes,-y", yes, "Do not ask for confirmation"); }

}  // namespace ratchet::cli
