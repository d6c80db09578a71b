// Checks that the --help of every script prints exactly the comment at its top, and exits with 0.
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tidy/source_tree.h"

namespace ratchet::tidy {
namespace {

struct Script {
  std::string path;
  std::vector<std::string> lines;
  std::string help;            // the comment at the top, without the line of the interpreter
  std::set<std::string> code;  // every line that is longer than a bracket, except that comment
  bool shell = false;
  bool answers_help = false;
};

Script ReadScript(const std::string& path) {
  Script script{path, {}, {}, {}, false, false};
  std::ifstream file(path);
  bool at_top = true;
  for (std::string line; std::getline(file, line);) {
    script.lines.push_back(line);
    if (script.lines.size() == 1) continue;
    at_top = at_top && line.starts_with('#');
    if (at_top) {
      script.help += line.substr(line.starts_with("# ") ? 2 : 1) + "\n";
    } else {
      if (line.size() > 4) script.code.insert(line);
      if (line.find("--help)") != std::string::npos || line.find("--help ]") != std::string::npos ||
          line.find("asks_help ") != std::string::npos || line.find("\"--help\"") != std::string::npos ||
          line.find("argparse") != std::string::npos) {
        script.answers_help = true;
      }
    }
  }
  script.shell = !script.lines.empty() && script.lines[0].ends_with("sh");
  return script;
}

// Every program with an interpreter in scripts/ and packaging/, and each elsewhere that answers --help.
std::vector<Script> Scripts() {
  std::vector<Script> scripts;
  for (const std::string& path : AllPaths()) {
    if (path.starts_with("build/") || path.ends_with(".py")) continue;
    const auto permissions = std::filesystem::status(path).permissions();
    if ((permissions & std::filesystem::perms::owner_exec) == std::filesystem::perms::none) continue;
    Script script = ReadScript(path);
    if (script.lines.empty() || !script.lines[0].starts_with("#!")) continue;
    const bool ours = path.starts_with("scripts/") || path.starts_with("packaging/");
    if (ours || script.answers_help) scripts.push_back(std::move(script));
  }
  return scripts;
}

struct Answer {
  int code = -1;
  std::string text;
};

// Runs the script from a directory that is not the root: a script must find itself from anywhere.
Answer AskForHelp(const std::string& path) {
  Answer answer;
  std::FILE* pipe = popen(("cd docs && ../" + path + " --help 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return answer;
  std::array<char, 4096> part{};
  for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;) answer.text.append(part.data(), n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) answer.code = WEXITSTATUS(status);
  return answer;
}

// The first line of the output that is a line of the script's code; empty without one.
std::string CodeIn(const Script& script, const std::string& output) {
  for (std::size_t from = 0; from < output.size();) {
    const std::size_t end = std::min(output.find('\n', from), output.size());
    const std::string line = output.substr(from, end - from);
    if (script.code.contains(line)) return line;
    from = end + 1;
  }
  return {};
}

TEST(ScriptHelp, ALineOfCodeInTheOutputIsFound) {
  const Script script = ReadScript("scripts/install-deps");
  EXPECT_TRUE(script.shell);
  EXPECT_EQ(CodeIn(script, script.help), "");
  EXPECT_EQ(CodeIn(script, script.help + "set -euo pipefail\n"), "set -euo pipefail");
}

TEST(ScriptHelp, EveryScriptPrintsItsCommentAndNoCode) {
  const auto scripts = Scripts();
  EXPECT_GT(scripts.size(), 25U) << "run from the root of the project";
  for (const Script& script : scripts) {
    // A script without --help would do its work instead.
    if (!script.answers_help) {
      ADD_FAILURE() << script.path << " has no --help";
      continue;
    }
    const Answer answer = AskForHelp(script.path);
    EXPECT_EQ(answer.code, 0) << script.path << " --help\n" << answer.text;
    EXPECT_NE(answer.text, "") << script.path;
    if (script.shell) {  // the help of a Python program is part of its code
      EXPECT_EQ(CodeIn(script, answer.text), "") << script.path << " --help prints code";
      EXPECT_TRUE(answer.text.starts_with(script.help)) << script.path << " --help prints\n" << answer.text;
    }
  }
}

}  // namespace
}  // namespace ratchet::tidy
