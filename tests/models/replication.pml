/* S110, S111: what is written at a server A reaches a peer, whatever dies. A's log has one entry a file. A's source ships entry after entry; the peer may
   get one and not answer, or not get it. A position is kept in a table now and then. A dies: its logs end, and it may go on shipping what it has read and
   writing its position for a while (it was only stopped). The master names a live server, which goes on from the kept position; that one may die, too, and
   then its crash procedure has the queue claimed again. When the claimer says that nothing is left, the logs go.
   MOVEFIRST: the position moves before the peer has answered      NOKEEP: files go when manifests cover them, whatever is not shipped
   EARLY: ... and also before A knows the peers                    FROMNOW: A's source begins with the file that is written when A learns the peers,
   although the peer was there before A was                        NOCLAIM: the logs of A go without having been claimed
   LOOKFIRST: the master looks whether the claimer lives before the claim is shown; nobody ships then
   REACH: claims that no second claim ever comes to its end; must fail */
#ifndef N
#define N 3
#endif
byte acked=0, covered=0, gone=0;  /* entries written and acknowledged; in manifests; files that are removed */
byte sink=0;                      /* the peer: a bit an entry */
byte kept=0;                      /* the position in the table */
bit fenced=0, moved=0, retired=0; /* A's logs end; they are at their second place; they are gone */
byte claimer=0;                   /* on record */
bit dead[3], finished[3];         /* of the servers 1 and 2, as the master knows it */
bit lock=0;                       /* of the queue of A */
bit again=0;                      /* it was claimed twice (ghost) */
#define AT(i) ((sink>>(i))&1)
#define ALL (sink==((1<<(acked+1))-2))
inline Ship(p, i) {
  i=p+1;
#ifdef MOVEFIRST
  p=i; if :: sink=sink|(1<<i) :: skip fi
#else
  if :: sink=sink|(1<<i); if :: p=i :: skip fi :: skip fi
#endif
}
proctype A() { byte p=0, i; bit known=0;
  do
  :: atomic { !fenced && acked<N -> acked++ }
  :: atomic { !fenced && covered<acked -> covered++ }
  :: atomic { !known -> known=1;
#ifdef FROMNOW
      p=(acked>0 -> acked-1 : 0)
#endif
     }
  :: known && p<acked -> Ship(p, i)
  :: known -> kept=p
#if defined(NOKEEP)
  :: atomic { gone<covered && !moved -> gone++; assert(AT(gone)) }
#elif defined(EARLY)
  :: atomic { gone<covered && !moved && (!known || p>gone) -> gone++; assert(AT(gone)) }
#else
  :: atomic { gone<covered && !moved && known && p>gone -> gone++; assert(AT(gone)) }
#endif
  :: fenced -> break
  od }
inline Claim(c) {
  atomic { !lock -> lock=1 };
pick:
  if :: !dead[1] -> c=1 :: !dead[2] -> c=2 fi;
  claimer=c;
#ifndef LOOKFIRST
  if :: dead[c] -> goto pick :: else fi;
#endif
  moved=1; lock=0 }
proctype CrashOfA() { byte c;
  fenced=1;
#ifdef NOCLAIM
  atomic { retired=1; assert(ALL) };
#else
  Claim(c)
#endif
}
proctype Claimer(byte me) { byte p, i;
end0:
  moved && claimer==me;
  p=kept;
  do
  :: dead[me] -> break
  :: p<acked -> if :: p<gone -> p=gone :: else -> Ship(p, i) fi   /* files that are gone were shipped */
  :: kept=p
  :: p==acked -> finished[me]=1; break
  od }
proctype CrashOf1() { byte c;
  dead[1]=1;
  if :: claimer==1 && !retired -> again=1; Claim(c) :: else fi }
proctype Retire() {
end1:
  atomic { !lock && claimer!=0 && finished[claimer] -> retired=1; assert(ALL);
#ifdef REACH
    assert(!again)
#endif
  } }
proctype End() {
end2:
  timeout -> assert(retired) }
init { atomic { run A(); run CrashOfA(); run Claimer(1); run Claimer(2); run Retire(); run End(); if :: run CrashOf1() :: skip fi } }
