// S25 (recovered edits stay until flushed): openings that serve recovered edits from memory, and die at any moment.
//
// Opening i = 0..N-1 makes one write, bit i, which is acknowledged when it is in the log. After its death a splitter
// turns its log into the edits file i. A log may also be split late, when an operator has put a damaged one back: then
// its edits may appear while a later opening serves, and are for the opening after that. (The filter by sequence is
// not modelled.) An opening loads the edits that its listing shows and that the manifest does not call consumed. A
// flush sets the memory aside, and its record names the file and the consumed edits at once. The cleaner removes edits
// that were marked as unneeded.
//
// REACH: is the interesting run reached? (must fail)
// CONSUMEFIRST: the opening's own record calls the loaded edits consumed, before a flush. (must fail)
// GOFIRST: the opening marks the loaded edits as unneeded. (must fail)
// RELIST: a flush calls all edits consumed that the directory has by then. (must fail)
// SECONDFIRST: a flush that failed leaves its memory aside, and the next one names the edits with newer memory only.
// (must fail)
// NOCLOSE: a close does not flush what was loaded, and the next owner opens without the edits. (must fail)
#ifndef N
#define N 3
#endif

byte acked;     // acknowledged writes
byte logs;      // logs of dead openings that were not split
byte edits;     // edits files in the directory
byte consumed;  // edits that the newest manifest calls consumed
byte unneeded;  // edits that the cleaner may take
byte files;     // writes in the files that the newest manifest names
byte turn;      // the opening that may begin
bool waited;    // an opening ended with loaded edits that no record calls consumed

#define BIT(i) (1 << (i))

proctype Opening(byte me) {
  byte loaded, memory, aside;
  bool failed;
  (turn == me);
  d_step {
    loaded = edits & ~consumed;
    memory = loaded;
    assert(((memory | files | logs) & acked) == acked)  // reads see everything, except a log that was not split
  }
#ifdef CONSUMEFIRST
  consumed = consumed | loaded;
#endif
#ifdef GOFIRST
  unneeded = unneeded | loaded;
#endif
  bool wrote = false;
  do
    :: !wrote -> d_step { memory = memory | BIT(me); logs = logs | BIT(me); acked = acked | BIT(me); wrote = true; }
    :: memory != 0 && aside == 0 -> d_step { aside = memory; memory = 0; }
    :: aside != 0 && !failed -> failed = true  // the disk was full
    :: aside != 0 ->
      d_step {
#ifdef SECONDFIRST
        if
          :: failed -> files = files | memory; memory = 0
          :: else -> files = files | aside; aside = 0
        fi;
#else
        files = files | aside; aside = 0;
#endif
#ifdef RELIST
        consumed = consumed | edits;
#else
        consumed = consumed | loaded;
#endif
      }
      // the CHECK
      unneeded = unneeded | consumed
#ifdef SECONDFIRST
      ; if :: failed && aside != 0 -> break :: else fi
#endif
    :: break  // dies
    :: memory == 0 && aside == 0 && wrote ->  // a clean close: the log is not needed, as files have everything
      assert((files & BIT(me)) != 0);
      logs = logs & ~BIT(me); break
#ifdef NOCLOSE
    :: wrote && (memory | aside) != 0 ->
      d_step {
        files = files | ((memory | aside) & BIT(me));
        consumed = consumed | loaded;
        logs = logs & ~BIT(me)
      }
      break
#endif
  od;
  if
    :: (loaded & ~consumed) != 0 -> waited = true
    :: else
  fi;
  // Splitters finish before the next opening, except that of a log that an operator has to put back.
  if
    :: (logs & BIT(me)) != 0 -> d_step { edits = edits | BIT(me); logs = logs & ~BIT(me); }
    :: (logs & BIT(me)) != 0  // later
    :: (logs & BIT(me)) == 0
  fi;
  turn = me + 1
}

active proctype Late() {
  do
    :: turn < N ->
      if
        :: d_step { (logs & BIT(0)) != 0 && turn > 0 -> edits = edits | BIT(0); logs = logs & ~BIT(0) }
        :: d_step { (logs & BIT(1)) != 0 && turn > 1 -> edits = edits | BIT(1); logs = logs & ~BIT(1) }
        :: turn >= N -> break
      fi
    :: turn >= N -> break
  od
}

active proctype Cleaner() {
  do
    :: (edits & unneeded) != 0 -> d_step { edits = edits & ~unneeded; }
    :: turn >= N -> break
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. N - 1) { run Opening(i) }
  }
  (turn == N);
  // The last opening: nothing that was acknowledged is missing.
  assert(((files | (edits & ~consumed) | logs) & acked) == acked);
#ifdef REACH
  assert(!waited)
#endif
}
