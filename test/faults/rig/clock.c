/*
 * The wall clock of a program, moved (LD_PRELOAD). FAULT_SHIM_CLOCK names a file with a 64-bit number: milliseconds that
 * the clock is ahead; it may change at any time. CLOCK_MONOTONIC stays true. See shim.ts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *clock_ahead;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void start_clock(void) {
  const char *path = getenv("FAULT_SHIM_CLOCK");
  int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return;
  void *map = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  if (map != MAP_FAILED) clock_ahead = map;
  close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!real_clock_gettime) real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  int done = real_clock_gettime(clock, now);
  if (done != 0 || !clock_ahead || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return done;
  int64_t ms = *clock_ahead, ns = now->tv_nsec + ms % 1000 * 1000000;
  now->tv_sec += ms / 1000 + (ns >= 1000000000) - (ns < 0);
  now->tv_nsec = ns >= 1000000000 ? ns - 1000000000 : ns < 0 ? ns + 1000000000 : ns;
  return done;
}
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *place) {
  struct timespec exact;
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  if (place) *place = exact.tv_sec;
  return exact.tv_sec;
}
