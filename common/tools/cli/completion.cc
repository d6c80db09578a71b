#include "common/tools/cli/completion.h"

#include <algorithm>

#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/tools/cli/verbs.h"

namespace ratchet::cli {
namespace {

constexpr Millis kKeyPressPatience{1500};  // time limit for one key press

// "TEXT:{hex,uniform}" -> hex, uniform
std::vector<std::string> Choices(const std::string& type) {
  const auto open = type.find('{');
  const auto close = type.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Completion ValuesOf(const CLI::Option& option) {
  Completion completion;
  const std::string type = option.get_type_name();
  completion.words = Choices(type);
  if (completion.words.empty()) completion.kind = type;
  return completion;
}

const CLI::Option* FlagNamed(const CLI::App& app, const CLI::App* verb, const std::string& word) {
  for (const CLI::App* level : {verb, &app}) {
    const CLI::Option* option = level == nullptr ? nullptr : level->get_option_no_throw(word);
    if (option != nullptr && word.starts_with('-')) return option;
  }
  return nullptr;
}

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

void AddFlags(const CLI::App& level, std::vector<std::string>& words) {
  for (const CLI::Option* option : level.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
}

const std::vector<std::string>& ScopeWords() {
  static const std::vector<std::string> words = {"everything", "ordinary",  "type",   "table",
                                                 "region",     "namespace", "server", "meta"};
  return words;
}

// The words of a pause: the kind of the second word follows from the first.
Completion ScopeCompletion(const std::vector<std::string>& before) {
  const std::string last = before.empty() ? std::string() : before.back();
  if (last == "table") return {{}, kind::kTable};
  if (last == "region") return {{}, kind::kRegion};
  if (last == "server") return {{}, kind::kServer};
  return {ScopeWords(), kind::kPid};
}

template <class Request, class Response, class Each>
void Ask(client::Connection& connection, const rpc::Method<Request, Response>& method, const Each& each) {
  client::Admin admin(connection, kKeyPressPatience);
  const auto answer = admin.Call(method, Request());
  if (answer.ok()) each(*answer);
}

}  // namespace

Completion CompletionOf(const CLI::App& app, const std::vector<std::string>& words) {
  const std::string current = words.empty() ? std::string() : words.back();
  const CLI::App* verb = nullptr;
  const CLI::Option* open = nullptr;  // a flag that waits for its value
  std::vector<std::string> positionals;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (open != nullptr) {
      open = nullptr;
    } else if (words[i].starts_with('-') && words[i].size() > 1) {
      const CLI::Option* flag = words[i].find('=') == std::string::npos ? FlagNamed(app, verb, words[i]) : nullptr;
      if (flag != nullptr && TakesValue(*flag)) open = flag;
    } else if (verb == nullptr) {
      for (const auto* each : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (each->get_name() == words[i]) verb = each;
      }
      if (verb == nullptr) return {};
    } else {
      positionals.push_back(words[i]);
    }
  }
  if (open != nullptr) return ValuesOf(*open);
  Completion completion;
  if (current.starts_with('-')) {
    if (verb != nullptr) AddFlags(*verb, completion.words);
    AddFlags(app, completion.words);
    return completion;
  }
  if (verb == nullptr) {
    for (const auto* each : app.get_subcommands([](const CLI::App*) { return true; }))
      completion.words.push_back(each->get_name());
    return completion;
  }
  std::vector<const CLI::Option*> places;
  for (const CLI::Option* option : verb->get_options()) {
    if (option->get_positional()) places.push_back(option);
  }
  if (places.empty()) return completion;
  const bool beyond = positionals.size() >= places.size();
  const CLI::Option& place = *places[beyond ? places.size() - 1 : positionals.size()];
  if (beyond && place.get_items_expected_max() <= 1) return completion;
  if (place.get_type_name() == kind::kScope) return ScopeCompletion(positionals);
  return ValuesOf(place);
}

std::string FlagIn(const std::vector<std::string>& words, const std::string& flag) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == flag && i + 1 < words.size()) return words[i + 1];
    if (words[i].starts_with(flag + "=")) return words[i].substr(flag.size() + 1);
  }
  return {};
}

std::vector<std::string> LookUpNames(client::ConnectionOptions options, const std::string& what) {
  options.operation_timeout = options.rpc_timeout = options.zookeeper_timeout = kKeyPressPatience;
  auto connection = client::Connection::Open(std::move(options));
  std::vector<std::string> names;
  if (!connection.ok()) return names;
  if (what == kind::kTable) {
    const auto tables = client::Admin(**connection, kKeyPressPatience).ListTables(true);
    if (!tables.ok()) return names;
    for (const TableName& table : *tables) names.push_back(table.ToString());
  } else if (what == kind::kRegion) {
    Ask(**connection, methods::kListRegions, [&](const auto& answer) {
      for (const auto& region : answer.region()) names.push_back(region.encoded_name());
    });
  } else if (what == kind::kServer) {
    Ask(**connection, methods::kListServers, [&](const auto& answer) {
      for (const auto& row : answer.server()) {
        const auto server = FromProto(row.server());
        if (server.ok()) names.push_back(server->ToString());
      }
    });
  } else if (what == kind::kPid) {
    Ask(**connection, methods::kListProcedures, [&](const auto& answer) {
      for (const auto& procedure : answer.procedure()) names.push_back(std::to_string(procedure.pid()));
    });
  }
  return names;
}

std::vector<std::string> Fitting(std::vector<std::string> candidates, const std::string& current) {
  std::erase_if(candidates, [&](const std::string& candidate) { return !candidate.starts_with(current); });
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  return candidates;
}

std::string CompletionScript(const std::string& shell) {
  if (shell == "zsh") {
    return "#compdef ratchet\n"
           "_ratchet() {\n"
           "  local -a found\n"
           "  found=(\"${(@f)$(ratchet __complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
           "  if [[ -n \"${found[1]}\" ]]; then compadd -a found; else _files; fi\n"
           "}\n"
           "compdef _ratchet ratchet\n";
  }
  if (shell == "fish") {
    return "complete -c ratchet -f -a '(ratchet __complete -- (commandline -opc)[2..-1] (commandline -ct) "
           "2>/dev/null)'\n"
           "complete -c ratchet -n '__fish_seen_subcommand_from import' -F\n";
  }
  return "_ratchet() {\n"
         "  local IFS=$'\\n' line=${COMP_LINE:0:COMP_POINT} words\n"
         "  # Words as the shell splits a command, so that ':' and '=' stay inside them.\n"
         "  IFS=' ' read -r -a words <<<\"$line\"\n"
         "  [[ $line == *' ' ]] && words+=('')\n"
         "  COMPREPLY=($(ratchet __complete -- \"${words[@]:1}\" 2>/dev/null))\n"
         "  # The part of a word up to its last ':' or '=' is not replaced.\n"
         "  local whole=${words[${#words[@]}-1]} part=${COMP_WORDS[COMP_CWORD]}\n"
         "  case $part in : | =) part= ;; esac\n"
         "  local kept=$((${#whole} - ${#part})) i\n"
         "  [ \"$kept\" -gt 0 ] && for i in \"${!COMPREPLY[@]}\"; do COMPREPLY[i]=${COMPREPLY[i]:kept}; done\n"
         "  return 0\n"
         "}\n"
         "complete -o default -F _ratchet ratchet\n";
}

}  // namespace ratchet::cli
