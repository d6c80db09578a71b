#include "common/cli/completion.h"

#include <fmt/core.h>

namespace ratchet::cli {

std::string BashCompletion(const std::vector<std::string>& commands) {
  std::string words;
  for (const auto& command : commands) words += (words.empty() ? "" : " ") + command;
  return fmt::format(
      "_ratchet() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  case \"$previous\" in\n"
      "    describe|enable|disable|drop|put|get|delete|scan|import|regions)\n"
      "      COMPREPLY=($(compgen -W \"$(ratchet --timeout-ms 2000 list 2>/dev/null | awk 'NR>1{{print $1}}')\" -- \"$word\"))\n"
      "      return ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"{} --zookeeper --master --json --timeout-ms --help\" -- \"$word\"))\n"
      "}}\n"
      "complete -F _ratchet ratchet\n",
      words);
}

}  // namespace ratchet::cli
