#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ratchet::tidy {

std::vector<SourceFile> ReadSourceTree() {
  std::vector<SourceFile> files;
  for (const char* top : {"common", "procedure", "master", "regionserver", "chaos", "tests", "docs"}) {
    if (!std::filesystem::exists(top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
      const auto extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cc" && extension != ".proto" && extension != ".def") continue;
      std::ifstream stream(entry.path());
      std::stringstream text;
      text << stream.rdbuf();
      SourceFile file{entry.path().generic_string(), text.str(), {}};
      std::string line;
      std::istringstream reader(file.text);
      while (std::getline(reader, line)) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string> QuotedIncludes(const SourceFile& file) {
  std::vector<std::string> includes;
  constexpr std::string_view kStart = "#include \"";
  for (const auto& line : file.lines) {
    if (line.rfind(kStart, 0) != 0) continue;
    const auto end = line.find('"', kStart.size());
    if (end != std::string::npos) includes.push_back(line.substr(kStart.size(), end - kStart.size()));
  }
  return includes;
}

std::string CodeOf(std::string_view line) {
  std::string code;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted) {
      if (line[i] == '\\')
        ++i;
      else if (line[i] == '"')
        quoted = false;
      continue;
    }
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\'')) {
      quoted = true;
      continue;
    }
    if (line[i] == '/' && i + 1 < line.size() && line[i + 1] == '/') break;
    code += line[i];
  }
  return code;
}

}  // namespace ratchet::tidy
