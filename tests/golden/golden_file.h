// Files under tests/golden that say what earlier versions of this code wrote or decided. Tests run from the root of the
// project.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace ratchet::golden {

// Empty when it is not there.
inline std::string Read(const std::string& name) {
  std::ifstream file("tests/golden/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// RATCHET_GOLDEN_WRITE=1: the tests write what they would have compared with.
inline bool Writing() { return std::getenv("RATCHET_GOLDEN_WRITE") != nullptr; }

inline void Write(const std::string& name, const std::string& text) {
  std::ofstream file("tests/golden/" + name, std::ios::binary | std::ios::trunc);
  file << text;
  EXPECT_TRUE(file.good()) << "tests/golden/" << name << " cannot be written; run from the root of the project";
}

// The whole file is `text`.
inline void ExpectTranscript(const std::string& name, const std::string& text) {
  const std::string file = "transcripts/" + name + ".txt";
  if (Writing()) return Write(file, text);
  EXPECT_EQ(text, Read(file))
      << "the core decides differently; if that is what was wanted, run this test from the root of the "
         "project with RATCHET_GOLDEN_WRITE=1 and look at the difference";
}

}  // namespace ratchet::golden
