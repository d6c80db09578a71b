/* S101: a region server A whose storage client caches names, its fencer and successor B, two reads and a write at A.
   A client that is cut off answers looks from its cache and gets no answer to anything else; one that was evicted answers looks
   from its cache too, and everything else fails. The storage keeps the caches of clients that it reaches right. */
bit cut=0;              /* A's client does not reach the storage; A's clients reach A */
bit evicted=0;          /* the storage knows A's client no more, for good */
bit marked=0;           /* ALIVE is gone */
bit seen=0;             /* A's cache: is it gone? */
byte val=1;             /* the newest acknowledged value, of any server (ghost) */
byte logged=1;          /* A's log, and its memory */
byte recovered=0;       /* what B opened with */
inline Look(fenced) { atomic { if :: cut || evicted -> fenced=seen :: else -> fenced=marked; seen=marked fi } }
inline Proof(good) { atomic { !cut || evicted; good=!evicted } }        /* the moment at which the storage sees it */
proctype Reader() { byte base, v; bit fenced=0, good=1;
#ifdef EARLY
  Proof(good);                                  /* one that was under way already */
#endif
  base=val;                                     /* invocation */
  v=logged;                                     /* evaluation */
#ifdef LOOKLAST
  Proof(good);
#endif
  Look(fenced);
#if !defined(NOPROOF) && !defined(EARLY) && !defined(LOOKLAST)
  Proof(good);
#endif
  if :: fenced || !good -> goto rend :: else fi;
#ifdef REACH
  assert(0);
#endif
  assert(v>=base);                              /* the answer: nothing newer had been acknowledged when it was asked */
rend: skip }
proctype Writer() { bit fenced=0, good=0;
#ifdef NOSYNC
  atomic { logged=2; good=1 }                   /* into the client's own buffer: nothing has reached the storage */
#else
  atomic { !cut || evicted; if :: !evicted -> logged=2; good=1 :: else fi };    /* append, sync: its own proof */
#endif
  if :: !good -> goto wend :: else fi;
  Look(fenced);
  if :: fenced -> goto wend :: else fi;
  atomic { assert(recovered==0 || recovered>=2); if :: val<2 -> val=2 :: else fi }
wend: skip }
proctype Net() { cut=1; if :: cut=0 :: evicted=1 fi }                         /* it heals, or the time-out ends it */
proctype Fencer() {
  if :: evicted=1 :: skip fi;                   /* an operator, or the hook */
#ifdef SILENT
  atomic { marked=1; if :: !cut && !evicted -> seen=1 :: else fi };             /* passes over a silent client's cache */
#else
  atomic { if :: cut -> evicted=1 :: else fi; marked=1; if :: !evicted -> seen=1 :: else fi };
#endif
#ifdef NOSYNC
  recovered=(evicted -> 1 : logged);
#else
  recovered=logged;                             /* seal, split, open */
#endif
  assert(recovered>=val);
  val=9                                         /* B acknowledges something newer */
}
init { atomic { run Reader(); run Reader(); run Writer(); run Net(); run Fencer() } }
