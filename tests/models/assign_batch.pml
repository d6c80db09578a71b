/* (r) AssignBatch: one procedure opens two regions on server 0 with one order for each, all with one number, its pid B.
   Two masters (epochs 1, 2). A commit is atomic and impossible for an owner once a higher epoch was claimed (store_claim), so a
   deposed master leaves nothing but orders. An order is sent with the commit that makes it, and arrives at most once, at any later
   time; an order that its master sends late, or never, is one that arrives late. The second master loads the durable state at any
   time, and sends again all orders that are not settled.
   The server has the ledger of assignment.pml for each region: it refuses a lower number, answers the same one again to the newest
   address (epoch, attempt), and executes a higher one. A report has the answers of some regions under one address. It is taken in
   one commit, and may be repeated, because the server may not learn that it was taken.
   The numbers of a region: 1 an earlier opening (region 0); 2 the batch (B); 3, 4 another procedure, submitted after the batch, which
   opened and closed region 1 before the batch owned it (on server 0 or 1); from 5 later single orders, K for region 1 and one for
   region 0. A single order opens a region that the batch hands on, or that was on a dead server, or closes it (a move). With DEATH one
   server may die: it is fenced, then its logs are split. The batch takes a region only if the highest number that was issued for it is
   below its own.
   Left out: BATCHENDS the batch ends with its first answer   SETTLEBYTIME silence counts as the answer that the region is not open
   ATCRASH the batch ends when the server seems dead and is not fenced   NOSPLIT it ends at the fence, before the split of the logs
   ONEFORALL an answer counts as the answer for all regions of the batch   NUMBER the batch takes a region whatever its numbers
   CHECKFIRST the batch compares the numbers before it owns the regions   FORGET the server forgets an order that was answered
   ROWNUMBER instead of the numbers of orders the batch compares the number of the region's row, which each opening raises first: it
   notes it of a region that no procedure owns, then gets its pid, and takes the region if the row has this number when it owns it
   PIDFIRST (with ROWNUMBER) the pid comes before the note   NOTEBUSY (with ROWNUMBER) it notes it also of an owned region
   Holds as well: NOEPOCH servers do not compare epochs   ANYADDRESS the master takes reports under any address while it waits
   HANDON the batch may hand on any region at once (its numbers are not known, or another procedure has it)
   OVER=s the other procedure opens region 1 on server s
   RESEND the master may send the orders without an answer again in its epoch, under the next attempt
   REACH claims that no order of the first master arrives after a batch of which one region was handed on; must fail. */
#ifndef K
#define K 2
#endif
#define KS(r) (r==0 -> 1 : K)
#define B 2
#define CLOSED 0
#define OPENING 1
#define OPEN 2
#define CLOSING 3
#define FREE 0
#define BATCH 1
#define SINGLE 2
#define X(s,r) ((s)*2+(r))
#define P(r,k) ((r)*K+(k)-1)
#define EP(ad) (((ad)+1)/2)              /* addresses: 1 (1,1)  2 (1,2)  3 (2,1)  4 (2,2) */
#define BX(r,ad) ((r)*4+(ad)-1)
#define SX(r,k,e) (P(r,k)*2+(e)-1)
/* durable */
byte claim=1;
byte phase=0, att=1;                     /* of the batch: 0 submitted 1 owns 2 gives orders 3 all orders are settled 4 ended */
bit has[2], opened[2];
byte act[2], k[2];                       /* who owns the region; its last single order */
byte pty[2*K], ptg[2*K];                 /* single orders: 1 open 2 close; the addressee */
byte row[2], rsrv[2], hi[2];             /* hi: the highest number that was issued before the batch */
/* the network */
bit bm[8], sm[4*K];
/* servers */
bit live[2], split[2], susp[2];
byte maxE[2]; byte tok[4], ra[4]; bit cur[4], rr[4], pend[4], open[4];
byte top[2];                             /* the number of the newest opening */
#ifdef CHECKFIRST
bit looked=0, fit=0;
#endif
#ifdef ROWNUMBER
bit busy=0;                              /* the other procedure owns region 1 */
bit tn=0, note=0, noted=0, fit=0, made=0; /* the number of the row of region 1, and as noted; the batch has its pid */
#ifdef PIDFIRST
#define MAY_NOTE made
#define MAY_MAKE true
#else
#define MAY_NOTE true
#define MAY_MAKE noted
#endif
#ifdef NOTEBUSY
#define UNOWNED true
#else
#define UNOWNED (!busy)
#endif
#endif
#ifdef REACH
bit late=0;
#endif
#define ISOPEN(s,r) (live[s] && open[X(s,r)])
#define OWNS(r) (act[r]==BATCH)
#define ANSWERED ((!OWNS(0) || has[0]) && (!OWNS(1) || has[1]))
#ifdef BATCHENDS
#define SETTLED (ANSWERED || split[0] || has[0] || has[1])
#else
#ifdef ATCRASH
#define SETTLED (ANSWERED || susp[0])
#else
#ifdef NOSPLIT
#define SETTLED (ANSWERED || !live[0])
#else
#define SETTLED (ANSWERED || split[0])
#endif
#endif
#endif
#ifdef NUMBER
#define FITS(r) (true)
#else
#ifdef CHECKFIRST
#define FITS(r) (r==0 || fit)
#else
#ifdef ROWNUMBER
#define FITS(r) (r==0 || (fit && tn==note))
#else
#define FITS(r) (hi[r]<B)
#endif
#endif
#endif
#ifdef HANDON
#define LEAVES (true)
#else
#define LEAVES else
#endif
inline sends(r) { if :: live[ptg[P(r,k[r])]] -> sm[SX(r,k[r],claim)]=1 :: else fi }
inline opens(r) {                        /* the next single order opens the region, on any server that is not known to be dead */
  k[r]++; act[r]=SINGLE; pty[P(r,k[r])]=1;
  if :: !split[0] -> ptg[P(r,k[r])]=0 :: !split[1] -> ptg[P(r,k[r])]=1 fi;
  row[r]=OPENING; rsrv[r]=ptg[P(r,k[r])]; sends(r) }
inline closes(r) {
  k[r]++; act[r]=SINGLE; pty[P(r,k[r])]=2; ptg[P(r,k[r])]=rsrv[r]; row[r]=CLOSING; sends(r) }
inline opens_or_ends(r) { if :: k[r]<KS(r) -> opens(r) :: else -> row[r]=CLOSED; act[r]=FREE fi }
#define ADDRESS ((claim-1)*2+att)
inline sends_batch() {                   /* to all regions without an answer */
  if :: live[0] && OWNS(0) && !has[0] -> bm[BX(0,ADDRESS)]=1 :: else fi;
  if :: live[0] && OWNS(1) && !has[1] -> bm[BX(1,ADDRESS)]=1 :: else fi }
inline own(r) { if :: FITS(r) -> act[r]=BATCH :: LEAVES -> opens(r) fi }
inline ends(r) {
  if :: OWNS(r) && has[r] && opened[r] -> act[r]=FREE
     :: OWNS(r) && !(has[r] && opened[r]) -> opens(r)
     :: else fi }
#define TO_OPEN(r) (OWNS(r) && has[r] && opened[r] && row[r]!=OPEN)
#define AS_ITS_ROW(r) \
  (row[r]==OPEN && ISOPEN(rsrv[r],r) && !ISOPEN(1-rsrv[r],r)) || (row[r]==CLOSED && !ISOPEN(0,r) && !ISOPEN(1,r))
#define NO_BATCH_ORDER (bm[0]+bm[1]+bm[2]+bm[3]+bm[4]+bm[5]+bm[6]+bm[7]==0)
#if K==3
#define NO_SINGLE_ORDER (sm[0]+sm[1]+sm[2]+sm[3]+sm[4]+sm[5]+sm[6]+sm[7]+sm[8]+sm[9]+sm[10]+sm[11]==0)
#else
#define NO_SINGLE_ORDER (sm[0]+sm[1]+sm[2]+sm[3]+sm[4]+sm[5]+sm[6]+sm[7]==0)
#endif
#define IDLE(i) (!cur[i] && !pend[i])
#define QUIET (NO_BATCH_ORDER && NO_SINGLE_ORDER && IDLE(0) && IDLE(1) && IDLE(2) && IDLE(3) && \
  (live[0] || split[0]) && (live[1] || split[1]))
#define HOME(r) (act[r]==FREE && !(row[r]==OPEN && split[rsrv[r]]))
#define SINGLE_STEPS(r) \
  :: atomic { (act[r]==SINGLE && split[ptg[P(r,k[r])]]) -> opens_or_ends(r) } \
  :: atomic { (act[r]==FREE && row[r]==OPEN && split[rsrv[r]]) -> opens_or_ends(r) } \
  :: atomic { (act[r]==FREE && row[r]==OPEN && !split[rsrv[r]] && k[r]<KS(r)) -> closes(r) }
#define SILENT(r) :: atomic { (phase==2 && OWNS(r) && !has[r]) -> has[r]=1; opened[r]=0 }
proctype Masters() {
  do
#ifdef CHECKFIRST
  :: atomic { (phase==0 && !looked) -> looked=1; fit=(hi[1]<B) }
  :: atomic { (phase==0 && looked) -> own(0); own(1); phase=1 }
#else
#ifdef ROWNUMBER
  :: atomic { (phase==0 && !noted && MAY_NOTE) -> noted=1; note=tn; fit=UNOWNED }
  :: atomic { (phase==0 && !made && MAY_MAKE) -> made=1 }
  :: atomic { (phase==0 && noted && made && !busy) -> own(0); own(1); phase=1 }
#else
  :: atomic { (phase==0) -> own(0); own(1); phase=1 }
#endif
#endif
  :: atomic { (phase==1 && OWNS(0) && row[0]!=OPENING) -> row[0]=OPENING; rsrv[0]=0 }
  :: atomic { (phase==1 && OWNS(1) && row[1]!=OPENING) -> row[1]=OPENING; rsrv[1]=0 }
  :: atomic { (phase==1 && (!OWNS(0) || row[0]==OPENING) && (!OWNS(1) || row[1]==OPENING)) -> phase=2; sends_batch() }
#ifdef RESEND
  :: atomic { (phase==2 && att<2 && !ANSWERED) -> att++; sends_batch() }
#endif
#ifdef SETTLEBYTIME
  SILENT(0)
  SILENT(1)
#endif
  :: atomic { (phase==2 && SETTLED) -> phase=3 }
  :: atomic { (phase==3 && TO_OPEN(0)) -> row[0]=OPEN }
  :: atomic { (phase==3 && TO_OPEN(1)) -> row[1]=OPEN }
  :: atomic { (phase==3 && !TO_OPEN(0) && !TO_OPEN(1)) -> ends(0); ends(1); phase=4 }
  SINGLE_STEPS(0)
  SINGLE_STEPS(1)
  :: atomic { (claim==1) -> claim=2;                                        /* the second master */
       if :: phase==2 -> sends_batch() :: else fi;
       if :: act[0]==SINGLE -> sends(0) :: else fi;
       if :: act[1]==SINGLE -> sends(1) :: else fi }
  :: atomic { (phase==4 && HOME(0) && HOME(1) && QUIET) ->
       assert(AS_ITS_ROW(0)); assert(AS_ITS_ROW(1));
#ifdef REACH
       assert(!(late && row[0]==OPEN && opened[0] && row[1]==OPEN && has[1] && !opened[1]));
#endif
       break }
  od }
/* Servers. A dead one executes nothing; its reports that have left may still arrive. */
inline arrive(s,r,n,ad) {
  if
#ifndef NOEPOCH
  :: EP(ad)<maxE[s] -> skip
#endif
  :: else ->
#ifndef NOEPOCH
     maxE[s]=EP(ad);
#endif
     if
     :: n<tok[X(s,r)] -> skip
     :: n==tok[X(s,r)] ->
        if :: ad>ra[X(s,r)] -> ra[X(s,r)]=ad :: else fi;
        if :: !cur[X(s,r)] -> pend[X(s,r)]=1 :: else fi
     :: n>tok[X(s,r)] -> tok[X(s,r)]=n; ra[X(s,r)]=ad; cur[X(s,r)]=1; pend[X(s,r)]=0
     fi
  fi }
#ifdef NOEPOCH
#define LEARN(s) skip
#else
#define LEARN(s) maxE[s]=claim
#endif
#define CAN(s,r,n) (!cur[X(s,r)] || n<=tok[X(s,r)])      /* a higher order waits for the end of an execution */
#ifdef REACH
#define LATE(ad) if :: phase==4 && ad<3 -> late=1 :: else fi
#else
#define LATE(ad) skip
#endif
#define TAKE_BATCH_ORDER(r,ad) \
  :: atomic { (s==0 && bm[BX(r,ad)] && CAN(0,r,B)) -> bm[BX(r,ad)]=0; LATE(ad); arrive(0,r,B,ad) }
#define TAKE_SINGLE_ORDER(r,i,e) \
  :: atomic { (sm[SX(r,i,e)] && ptg[P(r,i)]==s && CAN(s,r,i+4)) -> sm[SX(r,i,e)]=0; arrive(s,r,i+4,e*2-1) }
#define OF_BATCH(r) (tok[X(s,r)]==B)
#define UNSETTLED(r) ((OF_BATCH(r) && phase==2 && !has[r]) || (tok[X(s,r)]>4 && act[r]==SINGLE && k[r]==tok[X(s,r)]-4))
inline execute(r) {
  assert(UNSETTLED(r));
  if
  :: OF_BATCH(r) || pty[P(r,tok[X(s,r)]-4)]==1 ->
     if :: open[X(s,r)] -> rr[X(s,r)]=1                                     /* it answers that it has the region */
        :: !open[X(s,r)] -> rr[X(s,r)]=0                                    /* it refuses */
        :: !open[X(s,r)] ->
           assert(tok[X(s,r)]>top[r]);                                      /* S21: numbers of openings rise */
           assert(live[1-s] || split[1-s] || !open[X(1-s,r)]);              /* it has all that the dead server wrote */
           top[r]=tok[X(s,r)]; open[X(s,r)]=1; rr[X(s,r)]=1;
           assert(!(ISOPEN(0,r) && ISOPEN(1,r))) fi
  :: else -> open[X(s,r)]=0; rr[X(s,r)]=1
  fi;
  cur[X(s,r)]=0; pend[X(s,r)]=1 }
inline answer(r) { if :: OWNS(r) && !has[r] -> has[r]=1; opened[r]=rr[X(0,r)] :: else fi }
#ifdef ONEFORALL
#define ALSO(r,o) if :: OWNS(r) && !has[r] -> has[r]=1; opened[r]=rr[X(0,o)] :: else fi
#else
#define ALSO(r,o) skip
#endif
#ifdef ANYADDRESS
#define WAITS_FOR(ad) (phase==2)
#else
#define WAITS_FOR(ad) (phase==2 && ad==ADDRESS)
#endif
#define DUE(r) (s==0 && pend[X(0,r)] && tok[X(0,r)]==B)
#define DROP(r) pend[X(0,r)]=0
#define REPORT_OF_ONE(r,o) \
  :: atomic { DUE(r) -> \
       if :: WAITS_FOR(ra[X(0,r)]) -> answer(r); ALSO(o,r); LEARN(0); if :: DROP(r) :: skip fi \
          :: else -> DROP(r) fi }
#define REPORT_OF_SINGLE(r) \
  :: atomic { (pend[X(s,r)] && tok[X(s,r)]>4) -> \
       pend[X(s,r)]=0; \
       if :: (act[r]==SINGLE && k[r]==tok[X(s,r)]-4 && EP(ra[X(s,r)])==claim) -> \
             LEARN(s); \
             if :: pty[P(r,k[r])]==1 && rr[X(s,r)] -> row[r]=OPEN; act[r]=FREE :: else -> opens_or_ends(r) fi \
          :: else fi }
#ifdef FORGET
#define FORGETS(r) :: atomic { (live[s] && !cur[X(s,r)] && !pend[X(s,r)] && tok[X(s,r)]!=0) -> tok[X(s,r)]=0; ra[X(s,r)]=0 }
#else
#define FORGETS(r)
#endif
proctype S(byte s) {
end: do
  TAKE_BATCH_ORDER(0,1) TAKE_BATCH_ORDER(0,2) TAKE_BATCH_ORDER(0,3) TAKE_BATCH_ORDER(0,4)
  TAKE_BATCH_ORDER(1,1) TAKE_BATCH_ORDER(1,2) TAKE_BATCH_ORDER(1,3) TAKE_BATCH_ORDER(1,4)
  TAKE_SINGLE_ORDER(0,1,1) TAKE_SINGLE_ORDER(0,1,2) TAKE_SINGLE_ORDER(1,1,1) TAKE_SINGLE_ORDER(1,1,2)
  TAKE_SINGLE_ORDER(0,2,1) TAKE_SINGLE_ORDER(0,2,2) TAKE_SINGLE_ORDER(1,2,1) TAKE_SINGLE_ORDER(1,2,2)
#if K==3
  TAKE_SINGLE_ORDER(0,3,1) TAKE_SINGLE_ORDER(0,3,2) TAKE_SINGLE_ORDER(1,3,1) TAKE_SINGLE_ORDER(1,3,2)
#endif
  :: atomic { (live[s] && cur[X(s,0)]) -> execute(0) }
  :: atomic { (live[s] && cur[X(s,1)]) -> execute(1) }
  REPORT_OF_ONE(0,1)
  REPORT_OF_ONE(1,0)
  :: atomic { (DUE(0) && DUE(1) && ra[X(0,0)]==ra[X(0,1)]) ->               /* one report, one commit */
       if :: WAITS_FOR(ra[X(0,0)]) -> answer(0); answer(1); LEARN(0); if :: DROP(0); DROP(1) :: skip fi
          :: else -> DROP(0); DROP(1) fi }
  REPORT_OF_SINGLE(0)
  REPORT_OF_SINGLE(1)
  FORGETS(0)
  FORGETS(1)
  od }
/* Another procedure opens region 1 (order 3) and closes it (order 4), both settled, before the batch owns it. With ROWNUMBER it writes
   the row only before the order, which has the number 1 if the batch has no pid yet. */
#define OTHER(i) hi[1]=4; top[1]=3; tok[X(i,1)]=4; ra[X(i,1)]=1
proctype Other() {
#ifdef ROWNUMBER
  if :: atomic { (phase==0) -> busy=1; tn=1 } :: goto end fi;
  atomic { if :: !made -> hi[1]=1; top[1]=1; tok[X(0,1)]=1; ra[X(0,1)]=1
              :: made -> OTHER(0) :: made -> OTHER(1) fi }
  busy=0;
end: skip
#else
  if
#ifdef OVER
  :: atomic { (phase==0) -> OTHER(OVER) }
#else
  :: atomic { (phase==0) -> OTHER(0) }
  :: atomic { (phase==0) -> OTHER(1) }
#endif
  :: true
  fi
#endif
}
#define CLEAR(r,i) if :: ptg[P(r,i)]==s -> sm[SX(r,i,1)]=0; sm[SX(r,i,2)]=0 :: else fi;
proctype Death() { byte s=0;
  if :: true -> s=0 :: true -> s=1 :: true -> goto end fi;
#ifdef ATCRASH
  susp[s]=1;
#endif
  atomic { live[s]=0; cur[X(s,0)]=0; cur[X(s,1)]=0;                         /* fenced: the order that it executes has no end */
    if :: s==0 -> bm[0]=0; bm[1]=0; bm[2]=0; bm[3]=0; bm[4]=0; bm[5]=0; bm[6]=0; bm[7]=0 :: else fi;
    CLEAR(0,1) CLEAR(1,1) CLEAR(0,2) CLEAR(1,2)
#if K==3
    CLEAR(0,3) CLEAR(1,3)
#endif
  }
  split[s]=1;
end: skip }
init { atomic { live[0]=1; live[1]=1; maxE[0]=1; maxE[1]=1;
  hi[0]=1; top[0]=1; tok[X(0,0)]=1; ra[X(0,0)]=1;
  run Masters(); run S(0); run S(1); run Other();
#if defined(DEATH) || defined(ATCRASH) || defined(NOSPLIT)
  run Death()
#endif
  } }
