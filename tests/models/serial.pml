/* S113: a serial peer gets the writes of one region in the order of its openings. Each opening (1..K) is on a server; each server's log is a queue of its own,
   with a source that ships it. An opening writes a mark with what it comes after (from the manifest) into the log, then says in the manifest that all of this
   server's log may be its own; may write one entry; then it is closed (the place where it ends, a mark in the log, the place in the manifest), or its server
   dies, or the opening fails although its server lives. A source passes the mark of an opening when the kept position of the queue before is at the place, or
   says END. A dead server's queue is shipped on by another one from the kept position.
   NOWAIT: nothing waits                         ATENTRY: waits in front of an opening's first entry only, not at its mark
   NOSAVE: a position is kept only when something was shipped         MANIFESTFIRST: the manifest before the mark in the log
   STUCK: an opening that failed leaves its server's END in the manifest        NOMARK: ... leaves a place, but no mark in the log
   OVERHEARD: waits for what the source has in memory, which a claimer does not know; must fail: writes come again behind later ones
   LATEKEEP: the dead server's own source keeps its position after the claim; must fail likewise
   REACH: claims that three openings on three servers, one of them dead, are never shipped; must fail */
#define Q 3
#define K 3
#define L 9          /* records of a queue */
#define END 15
#define NONE 9
byte rec[27];        /* 1..3: opening begins; 5..7: entry of opening 1..3; 9..11: opening ends */
byte ends[Q], pos[Q], kept[Q], afterq[4], afterp[4];
byte mq=NONE, mp=0;  /* the manifest */
bit dead[Q], over=0;
byte owed=0, sink=0, deaths=0;
byte last=0, lastq=NONE; /* the newest entry that was shipped, and from which queue */
#define REC(q) rec[(q)*L+pos[q]]
#define BIT(i) (1<<(i))
#ifdef OVERHEARD
#define KEPT(x, i) (kept[x]==END || pos[x]>=afterp[i])
#else
#define KEPT(x, i) (kept[x]==END || kept[x]>=afterp[i])
#endif
#define AFTER(q, i) (afterq[i]==NONE || afterq[i]==q || KEPT(afterq[i], i))
#ifdef NOWAIT
#define ATMARK(q) 1
#define ATFIRST(q) 1
#elif defined(ATENTRY)
#define ATMARK(q) 1
#define ATFIRST(q) AFTER(q, REC(q)-4)
#else
#define ATMARK(q) AFTER(q, REC(q))
#define ATFIRST(q) 1
#endif
inline Add(q, r) { assert(ends[q]<L); rec[(q)*L+ends[q]]=r; ends[q]++ }
proctype Region() { byte i=1, q, p;
  do
  :: i>K -> break
  :: else ->
    atomic { if :: !dead[0] -> q=0 :: !dead[1] -> q=1 :: !dead[2] -> q=2 fi; afterq[i]=mq; afterp[i]=mp }
#ifdef MANIFESTFIRST
    atomic { mq=q; mp=END };
    if :: deaths==0 -> atomic { deaths++; dead[q]=1; i++; q=0 }; goto next :: skip fi;
    atomic { Add(q, i) };
#else
    atomic { Add(q, i) };
    if :: deaths==0 -> atomic { deaths++; dead[q]=1; i++; q=0 }; goto next :: skip fi;
    atomic { mq=q; mp=END };
#endif
    if
    :: atomic { p=ends[q] };                                     /* the opening fails, the server lives */
#ifndef STUCK
#ifndef NOMARK
       atomic { Add(q, 8+i) };
#endif
       atomic { mq=q; mp=p }
#endif
    :: if :: atomic { Add(q, 4+i); owed=owed|BIT(i) } :: skip fi;
       if
       :: atomic { p=ends[q] }; atomic { Add(q, 8+i) }; 
          if :: atomic { mq=q; mp=p } :: deaths==0 -> atomic { deaths++; dead[q]=1 } fi
       :: deaths==0 -> atomic { deaths++; dead[q]=1 }
       fi
    fi;
    i++;
next: skip
  od;
  over=1 }
proctype Source(byte q) { bit claimed=0, unsaved=0; byte i=0, late=0;
  do
  :: atomic { pos[q]<ends[q] && REC(q)<=K && ATMARK(q) -> pos[q]++ }
  :: atomic { pos[q]<ends[q] && REC(q)>K && REC(q)<=2*K+1 && ATFIRST(q) ->
       i=REC(q)-4;
       assert((owed & (BIT(i)-1) & ~sink)==0);               /* nothing earlier is missing at the peer */
       assert(i>=last || lastq==q);                            /* nor does it come again from one queue behind a later one of another */
       sink=sink|BIT(i); if :: i>last -> last=i; lastq=q :: else fi;
       if :: pos[q]++; unsaved=1 :: skip fi;                   /* the answer may be lost */
       i=0 }
  :: atomic { pos[q]<ends[q] && REC(q)>2*K+1 -> pos[q]++;
#ifndef NOSAVE
       if :: kept[q]<pos[q] -> kept[q]=pos[q] :: else fi;
#endif
       skip }
  :: atomic { unsaved -> unsaved=0; if :: kept[q]<pos[q] -> kept[q]=pos[q] :: else fi }
#ifdef LATEKEEP
  :: atomic { claimed && late>0 -> if :: kept[q]<late -> kept[q]=late :: else fi; late=0 }
#endif
  :: atomic { dead[q] && !claimed -> claimed=1; if :: unsaved -> late=pos[q] :: else fi; unsaved=0; if :: kept[q]!=END -> pos[q]=kept[q] :: else fi }
  :: atomic { dead[q] && claimed && pos[q]==ends[q] -> kept[q]=END; break }
  :: atomic { over && !dead[q] && pos[q]==ends[q] && !unsaved -> break }
  od }
proctype End() {
end0:
  timeout -> assert(over && sink==owed);
  assert(pos[0]==ends[0] && pos[1]==ends[1] && pos[2]==ends[2]);
#ifdef REACH
  assert(!(owed==14 && deaths==1 && ends[0]>0 && ends[1]>0 && ends[2]>0))
#endif
}
init { atomic { run Region(); run Source(0); run Source(1); run Source(2); run End() } }
