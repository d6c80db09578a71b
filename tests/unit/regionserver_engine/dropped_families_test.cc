// S49 (re-added family is new): a family that was dropped and added again is another family. None of its old cells
// returns from a store file, from recovered edits, or after a death at any moment of the opening that first has it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/mutant.h"
#include "tests/support/expect_killed.h"
#include "tests/unit/regionserver_engine/engine_world.h"

namespace ratchet::regionserver {
namespace {

constexpr const char* kOld = "old";
constexpr const char* kNew = "new";

AtomicMutation PutIn(const std::string& family, const std::string& row, const std::string& value) {
  AtomicMutation mutation = Put(row, "q", value);
  for (Cell& cell : mutation.mutations.front().cells) cell.family = family;
  return mutation;
}

// A table with families f and g, of which g is dropped and added again.
class DroppedFamilies : public EngineWorld {
 public:
  DroppedFamilies() {
    EXPECT_TRUE(Format().ok());
    Have({{"f", 0}, {"g", 0}});
  }
  // Sets the table's families, with the number that distinguishes each from earlier ones of its name.
  void Have(const std::map<std::string, std::uint64_t>& families) {
    table.families.clear();
    for (const auto& [name, added_by] : families) {
      FamilyDescriptor family = DefaultFamily(name);
      family.added_by = added_by;
      table.families.push_back(std::move(family));
    }
  }
  void Write(Server& server, const std::string& family, const std::string& row, const std::string& value) {
    const auto written = Mutate(*server.region, PutIn(family, row, value));
    EXPECT_TRUE(written.has_value() && written->ok());
  }
  // "family/row=value ..." for every cell that a reader sees.
  std::string All(Server& server) {
    std::string text;
    const auto cells = ScanAll(*server.region);
    if (!cells.ok()) return cells.error().ToString();
    for (const Cell& cell : *cells) text += (text.empty() ? "" : " ") + cell.family + "/" + cell.row + "=" + cell.value;
    return text;
  }
  // Opening 5 has cells of f and g in a store file, and newer ones in its log only; it dies.
  void LiveAndDie() {
    auto server = Start("a,1,1").value();
    EXPECT_TRUE(OpenRegion(*server, 5).ok());
    Write(*server, "f", "flushed", kOld);
    Write(*server, "g", "flushed", kOld);
    EXPECT_TRUE(server->region->Flush().ok());
    Write(*server, "f", "logged", kOld);
    Write(*server, "g", "logged", kOld);
    server.reset();
    EXPECT_TRUE(Recover("a,1,1").ok());
  }
};

// g is dropped and added again while no server has the region. Returns the rows of the next opening, of the one after a
// death with new cells in the log, and those after a major compaction.
std::string AfterItIsBack() {
  DroppedFamilies world;
  world.LiveAndDie();
  world.Have({{"f", 0}, {"g", 57}});
  auto server = world.Start("b,1,2").value();
  if (const Status opened = world.OpenRegion(*server, 6); !opened.ok()) return opened.error().ToString();
  std::string seen = world.All(*server);
  world.Write(*server, "g", "flushed", kNew);
  server.reset();
  if (!world.Recover("b,1,2").ok()) return "not recovered";
  server = world.Start("c,1,3").value();
  if (const Status opened = world.OpenRegion(*server, 7); !opened.ok()) return opened.error().ToString();
  seen += " | " + world.All(*server);
  if (const Status compacted = server->region->Compact(true); !compacted.ok()) return compacted.error().ToString();
  return seen + " | " + world.All(*server);
}

constexpr const char* kRight =
    "f/flushed=old f/logged=old | f/flushed=old g/flushed=new f/logged=old | f/flushed=old g/flushed=new f/logged=old";

TEST(DroppedFamiliesTest, NoneOfTheOldCellsComesBack) { EXPECT_EQ(AfterItIsBack(), kRight); }

TEST(DroppedFamiliesTest, TakingAnyFamilyOfTheNameIsNoticed) {
  ExpectKilled(
      "region.any_family_of_the_name", [] { EXPECT_EQ(AfterItIsBack(), kRight); },
      "f/flushed=old g/flushed=old f/logged=old g/logged=old |");
}

TEST(DroppedFamiliesTest, ReplayingThemIsNoticed) {
  ExpectKilled(
      "region.replay_dead_families", [] { EXPECT_EQ(AfterItIsBack(), kRight); },
      "f/flushed=old f/logged=old g/logged=old |");
}

// S25 (recovered edits stay until flushed): the record of a new family does not wait for their flush.
TEST(DroppedFamiliesTest, LeavingTheirRecordToTheNextFlushIsNoticed) {
  ExpectKilled(
      "region.replayed_always_wait", [] { EXPECT_EQ(AfterItIsBack(), kRight); },
      "f/flushed=old f/logged=old | f/flushed=old f/logged=old |");
}

// A power failure at one operation of the opening that first has the new family, and the openings after it. Returns
// false if there are fewer operations.
bool DiesAt(std::uint64_t at, bool after) {
  DroppedFamilies world;
  world.LiveAndDie();
  world.Have({{"f", 0}, {"g", 57}});
  auto started = world.Start("b,1,2", io::CrashAtOp(at, after));
  std::unique_ptr<Server> server = started.ok() ? std::move(started).value() : nullptr;
  const bool opened = server != nullptr && world.OpenRegion(*server, 6).ok();
  if (opened && !server->process->crashed()) return false;
  world.disk.PowerFailure(io::SimDisk::Loss::kEverything, at);
  server.reset();
  world.ForgetDeath();
  const Status recovered = world.Recover("b,1,2");  // kNotFound: it died before it had a log
  EXPECT_TRUE(recovered.ok() || recovered.error().code() == Code::kNotFound) << recovered.error().ToString();
  server = world.Start("c,1,3").value();
  EXPECT_TRUE(world.OpenRegion(*server, 7).ok());
  EXPECT_EQ(world.All(*server), "f/flushed=old f/logged=old");
  world.Write(*server, "g", "flushed", kNew);
  EXPECT_EQ(world.All(*server), "f/flushed=old g/flushed=new f/logged=old");
  return true;
}

TEST(DroppedFamiliesTest, ADeathAnywhereInTheFirstOpeningBringsNothingBack) {
  std::uint64_t deaths = 0;
  for (const bool after : {false, true}) {
    for (std::uint64_t at = 1;; ++at) {
      SCOPED_TRACE(fmt::format("{} operation {}", after ? "after" : "before", at));
      if (!DiesAt(at, after)) break;
      ++deaths;
    }
  }
  EXPECT_GT(deaths, 20U);
}

// The next compaction, and nothing else, removes a family that no descriptor names; it keeps a family if the schema's
// number is unknown, S54 (no schema, no change).
TEST(DroppedFamiliesTest, WhatWasDroppedGoesWithACompaction) {
  DroppedFamilies world;
  world.LiveAndDie();
  world.Have({{"f", 0}});
  const auto server = world.Start("b,1,2").value();
  const auto bytes_after = [&](std::uint64_t schema_number, std::uint64_t opening) {
    world.schema_number = schema_number;
    EXPECT_TRUE(world.OpenRegion(*server, opening).ok());
    EXPECT_TRUE(server->region->Compact(true).ok());
    EXPECT_EQ(world.All(*server), "f/flushed=old f/logged=old");
    const std::uint64_t bytes = server->region->GetStatus().store_bytes;
    EXPECT_TRUE(server->region->Close().ok());
    return bytes;
  };
  const std::uint64_t with = bytes_after(0, 6);
  EXPECT_LT(bytes_after(9, 7), with);
}

}  // namespace
}  // namespace ratchet::regionserver
