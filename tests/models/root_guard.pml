/* A root whose procedures/ is lost, emptied or put back from an older copy while masters come and go (S9', S114, S117).
   Directories of the store: 0 the first, 1 a copy of it, 2 an empty one; `named` has the name procedures/ now. What was moved away stays
   open to the master that has it open. Masters claim, read, seal, then give pids; a pid is used (a name on disk bears it) after the CHECK.
   A claim, a mark and the limit are durable when they are made; a record is a pid in the directory that the master has open.
   Rules left out: NOAGE a store without claims, or below the mark, is taken; NOLIMIT the next pid follows the largest in the store; STOREONLY
   claims are made and looked for in the open directory alone.
   Left out of the model: procedures of what is read; a copy of the whole root; masters of version 0.1; more than two masters. */
#define M 2
#define STEP 3
byte claim[3], largest[3], seq[3];   /* of each directory: newest claim, largest pid, last sequence */
byte named=0, rootclaim=0, limit=0, markepoch=0, markseq=0, last=0, begun=0;
bit used[40]; bit copied=0, gone=0;
inline maximum(a,b,r) { if :: a>b -> r=a :: else -> r=b fi }
#ifdef STOREONLY
#define OWNER (claim[h]==e)
#else
#define OWNER (rootclaim==e && claim[named]==e)
#endif
proctype Master() {
  byte e, h, s, base, num, n, known;
  atomic { h=named;                                        /* the checks before the claim */
#ifndef NOAGE
    if :: claim[h]==0 && markepoch>0 -> goto end :: else fi;
#endif
    skip }
  atomic {
#ifdef STOREONLY
    e=claim[h]+1
#else
    maximum(rootclaim,claim[h],e); e=e+1; rootclaim=e      /* exclusive, the root synced */
#endif
  }
  if :: true -> skip :: true -> goto end fi;               /* it may die here */
  atomic { if :: claim[h]>=e -> goto end :: else -> claim[h]=e fi }
  s=seq[h]; known=markseq;
#ifndef NOAGE
  if :: s<known -> goto end :: else fi;
#endif
  atomic { seq[h]=seq[h]+1; s=seq[h] }                      /* the seal; then its CHECK */
  atomic { if :: OWNER -> skip :: else -> goto end fi }
#ifdef NOLIMIT
  base=largest[h];
#else
  maximum(largest[h],limit,base);
#endif
  atomic { if :: limit<base+STEP -> limit=base+STEP :: else fi }
  atomic { if :: OWNER -> assert(s>known) :: else -> goto end fi }      /* it has all that was marked before it looked */
  atomic { if :: markepoch<e -> markepoch=e; markseq=s :: else fi }
  atomic { if :: OWNER -> assert(e>begun); begun=e :: else -> goto end fi }
  do
  :: n<2 ->
     n++; num=base+n;
     atomic { largest[h]=num; seq[h]=seq[h]+1 }             /* a record, synced */
     atomic { if :: OWNER -> assert(begun==e); assert(!used[num]); used[num]=1 :: else -> goto end fi }
  :: n==2 -> break
  :: true -> break
  od;
end: skip }
proctype World() {
  do
  :: !copied && named==0 -> atomic { copied=1; claim[1]=claim[0]; largest[1]=largest[0]; seq[1]=seq[0] }
  :: copied && gone<1 -> atomic { named=1; gone=1 }
  :: gone<1 -> atomic { named=2; gone=1 }
  :: gone==1 && named!=0 -> atomic { named=0; break }        /* an operator puts the newest back */
  :: true -> break
  od }
init { byte i; atomic { run World(); do :: i<M -> run Master(); i++ :: else -> break od } }
