#include "tests/tidy/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ratchet::tidy {

namespace {

SourceFile ReadSource(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  SourceFile file{path.lexically_normal().generic_string(), text.str(), {}};
  std::string line;
  std::istringstream reader(file.text);
  while (std::getline(reader, line)) file.lines.push_back(line);
  return file;
}

// A line of C++, split into code, string literals and comment.
struct Parts {
  std::string code;
  std::string literals;
  std::string comment;
};

Parts PartsOf(std::string_view line) {
  Parts parts;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted) {
      if (line[i] == '\\') {
        ++i;
        parts.literals += ' ';
      } else if (line[i] == '"') {
        quoted = false;
        parts.literals += ' ';
      } else {
        parts.literals += line[i];
      }
      continue;
    }
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\'')) {
      quoted = true;
      continue;
    }
    if (line[i] == '/' && i + 1 < line.size() && line[i + 1] == '/') {
      parts.comment = line.substr(i);
      break;
    }
    parts.code += line[i];
  }
  return parts;
}

}  // namespace

std::vector<SourceFile> ReadSourceTree() {
  std::vector<SourceFile> files;
  for (const char* top : {"common", "procedure", "master", "regionserver", "chaos", "tests", "docs"}) {
    if (!std::filesystem::exists(top)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
      const auto extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cc" && extension != ".proto" && extension != ".def") continue;
      files.push_back(ReadSource(entry.path()));
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

std::vector<std::string> AllPaths() {
  std::vector<std::string> paths;
  for (auto it = std::filesystem::recursive_directory_iterator("."); it != std::filesystem::end(it); ++it) {
    const std::string name = it->path().filename().string();
    if (it->is_directory() && it.depth() == 0 && (name == "build" || name == ".git")) it.disable_recursion_pending();
    if (it->is_regular_file()) paths.push_back(it->path().lexically_normal().generic_string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<SourceFile> ReadDocuments() {
  std::vector<SourceFile> documents;
  for (const auto& path : AllPaths()) {
    if (path.ends_with(".md")) documents.push_back(ReadSource(path));
  }
  return documents;
}

std::string CodeOf(std::string_view line) { return PartsOf(line).code; }
std::string CommentOf(std::string_view line) { return PartsOf(line).comment; }
std::string LiteralsOf(std::string_view line) { return PartsOf(line).literals; }

}  // namespace ratchet::tidy
