// Files under tests/golden with the records and decisions of earlier versions of this code. Tests run from the root of
// the project.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace ratchet::golden {

// Returns an empty text if the file does not exist.
inline std::string Read(const std::string& name) {
  std::ifstream file("tests/golden/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// RATCHET_GOLDEN_WRITE=1: the tests write the files instead of comparing with them.
inline bool Writing() { return std::getenv("RATCHET_GOLDEN_WRITE") != nullptr; }

inline void Write(const std::string& name, const std::string& text) {
  std::ofstream file("tests/golden/" + name, std::ios::binary | std::ios::trunc);
  file << text;
  EXPECT_TRUE(file.good()) << "tests/golden/" << name << " cannot be written; run from the root of the project";
}

// Expects that the whole file is `text`.
inline void ExpectTranscript(const std::string& name, const std::string& text) {
  const std::string file = "transcripts/" + name + ".txt";
  if (Writing()) return Write(file, text);
  EXPECT_EQ(text, Read(file))
      << "the core decides differently; if that is what was wanted, run this test from the root of the "
         "project with RATCHET_GOLDEN_WRITE=1 and look at the difference";
}

}  // namespace ratchet::golden
