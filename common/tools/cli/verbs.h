// The verbs of the command line. The file of each topic declares and implements its verbs: name, help, examples, flags
// and the function that runs. The parser, --help and the completion of shells come from this one declaration.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <CLI/CLI.hpp>

#include "common/tools/cli/session.h"

namespace ratchet::cli {

// The action of the chosen verb; set when it is parsed.
using Action = std::function<int(Session&)>;

// Adds a verb with its own examples, each without the leading "ratchet ".
CLI::App* AddVerb(CLI::App& app, const char* word, const char* help, const std::vector<const char*>& examples);

// Adds one verb to the command line.
using VerbAdder = std::function<void(CLI::App& app, Action& action)>;
// A verb whose Flags::Bind declares each flag, with its help and its kind. `run` returns the exit code; an error that
// it returns instead is reported.
template <class Flags>
[[nodiscard]] VerbAdder Verb(const char* name, const char* help, std::vector<const char*> examples,
                             std::type_identity_t<std::function<Result<int>(Session&, const Flags&)>> run) {
  return [=](CLI::App& app, Action& action) {
    const auto flags = std::make_shared<Flags>();
    CLI::App* verb = AddVerb(app, name, help, examples);
    flags->Bind(*verb);
    verb->callback([=, &action] { action = [=](Session& session) { return Finish(session, run(session, *flags)); }; });
  };
}
// A verb without flags.
[[nodiscard]] VerbAdder Plain(const char* name, const char* help, std::vector<const char*> examples,
                              std::function<Result<int>(Session&)> run);

// The verbs of one topic, in the order of --help.
using Verbs = std::vector<VerbAdder>;
[[nodiscard]] Verbs StatusVerbs();
[[nodiscard]] Verbs WhyVerbs();
[[nodiscard]] Verbs HealthVerbs();
[[nodiscard]] Verbs TableVerbs();
[[nodiscard]] Verbs NamespaceVerbs();
[[nodiscard]] Verbs PeerVerbs();
[[nodiscard]] Verbs RightsVerbs();
[[nodiscard]] Verbs TokenVerbs();
[[nodiscard]] Verbs SecurityVerbs();
[[nodiscard]] Verbs ConnectionVerbs();
[[nodiscard]] Verbs RowVerbs();
[[nodiscard]] Verbs ImportVerbs();
[[nodiscard]] Verbs RegionVerbs();
[[nodiscard]] Verbs SnapshotVerbs();
[[nodiscard]] Verbs ServerVerbs();
[[nodiscard]] Verbs SwitchVerbs();
[[nodiscard]] Verbs ProcedureVerbs();
[[nodiscard]] Verbs OperatorVerbs();
[[nodiscard]] Verbs EventVerbs();
[[nodiscard]] Verbs SqlVerbs();
[[nodiscard]] Verbs HistoryVerbs();

// Adds the verbs of all topics.
void AddAllVerbs(CLI::App& app, Action& action);

// Kinds of arguments: shown in --help; the completion looks them up in the cluster.
namespace kind {
inline constexpr const char* kTable = "TABLE";
inline constexpr const char* kRegion = "REGION";
inline constexpr const char* kServer = "SERVER";
inline constexpr const char* kPid = "PID";
inline constexpr const char* kFile = "FILE";
inline constexpr const char* kScope = "WHAT";
inline constexpr const char* kRow = "ROW";
inline constexpr const char* kColumn = "COLUMN";
inline constexpr const char* kNumber = "N";
inline constexpr const char* kMillis = "MS";
inline constexpr const char* kText = "TEXT";
}  // namespace kind

// A whole number in a range: no sign, no suffix.
CLI::Validator Whole(std::uint64_t low, std::uint64_t high);

// An argument of the verb, or an option if `name` begins with a dash. Need: the verb does not run without it.
template <class Value>
CLI::Option* Take(CLI::App& verb, const char* name, Value& into, const char* kind, const char* help) {
  return verb.add_option(name, into, help)->type_name(kind);
}
template <class Value>
CLI::Option* Need(CLI::App& verb, const char* name, Value& into, const char* kind, const char* help) {
  return Take(verb, name, into, kind, help)->required();
}
template <class Value>
CLI::Option* TakeWhole(CLI::App& verb, const char* name, Value& into, const char* kind, std::uint64_t low,
                       std::uint64_t high, const char* help) {
  return Take(verb, name, into, kind, help)->check(Whole(low, high));
}
CLI::Option* AddTable(CLI::App& verb, std::string& into, const char* help = "Name, or namespace:name");
// One region, named in any accepted form.
CLI::Option* AddRegion(CLI::App& verb, std::string& into);
CLI::Option* AddPid(CLI::App& verb, std::uint64_t& into, const char* name = "pid");
void AddNoWait(CLI::App& verb, bool& wait);
void AddYes(CLI::App& verb, bool& yes);

}  // namespace ratchet::cli
