/*
 * A library that stands between a program and the C library (LD_PRELOAD) and does to its files what a disk, a signal or a
 * power cut would. It looks at paths below FAULT_SHIM_PREFIX alone. See shim.ts, which compiles and steers it.
 *
 *   FAULT_SHIM_PREFIX   folder that is looked at, with links resolved
 *   FAULT_SHIM_RULES    file with rules, read at every call: "gen N", a line a rule, "end N"
 *                       rule: OPERATION EFFECT SKIP COUNT PART-OF-PATH
 *   FAULT_SHIM_HITS     file that gets a line for every effect
 *   FAULT_SHIM_JOURNAL  file that gets a record of every change of files and names, and every sync, in order
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAX_RULES 16
#define TEXT 4096
#define PATHS 4200

struct rule {
  char operation[16], effect[24], part[256];
  long skip, count, seen;
};

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t rules_lock = PTHREAD_MUTEX_INITIALIZER;
static char prefix[PATHS];
static size_t prefix_length;
static int rules_fd = -1, hits_fd = -1, journal_fd = -1;
static struct rule rules[MAX_RULES];
static int rule_count;
static char known[TEXT];

#define REAL(result, name, ...)                                 \
  static result (*real_##name)(__VA_ARGS__);                    \
  static void find_##name(void) {                               \
    if (!real_##name) real_##name = dlsym(RTLD_NEXT, #name);    \
  }
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(ssize_t, pwritev64, int, const struct iovec *, int, off64_t)
REAL(ssize_t, read, int, void *, size_t)
REAL(ssize_t, pread64, int, void *, size_t, off64_t)
REAL(int, open64, const char *, int, ...)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, rename, const char *, const char *)
REAL(int, link, const char *, const char *)
REAL(int, unlink, const char *)
REAL(int, mkdir, const char *, mode_t)
REAL(int, rmdir, const char *)
REAL(int, ftruncate64, int, off64_t)

static int open_for(const char *variable, int flags) {
  const char *path = getenv(variable);
  find_open64();
  return path ? real_open64(path, flags | O_CLOEXEC, 0600) : -1;
}

__attribute__((constructor)) static void start(void) {
  const char *given = getenv("FAULT_SHIM_PREFIX");
  find_write(); find_pwrite64(); find_writev(); find_pwritev64(); find_read(); find_pread64(); find_open64();
  find_fsync(); find_fdatasync(); find_rename(); find_link(); find_unlink(); find_mkdir(); find_rmdir();
  find_ftruncate64();
  if (!given) return;
  rules_fd = open_for("FAULT_SHIM_RULES", O_RDONLY);
  hits_fd = open_for("FAULT_SHIM_HITS", O_WRONLY | O_CREAT | O_APPEND);
  journal_fd = open_for("FAULT_SHIM_JOURNAL", O_WRONLY | O_CREAT | O_APPEND);
  snprintf(prefix, sizeof prefix, "%s", given);
  prefix_length = strlen(prefix);
}

static int is_below(const char *path) {
  return prefix_length > 0 && strncmp(path, prefix, prefix_length) == 0 &&
         (path[prefix_length] == '/' || path[prefix_length] == 0);
}

/* The path of an open file, as the kernel knows it now; 0 where it is none of ours. */
static int path_of(int fd, char *path) {
  char name[40];
  if (prefix_length == 0 || fd < 0) return 0;
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(name, path, PATHS - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return is_below(path);
}

/* ---- effects ---- */

static void read_rules(void) {
  char text[TEXT + 1];
  long from = 0, to = -1;
  for (int tries = 0; tries < 100; tries++) {
    ssize_t length = real_pread64(rules_fd, text, TEXT, 0);
    if (length <= 0) return;
    text[length] = 0;
    char *end = strstr(text, "\nend ");
    if (end && sscanf(text, "gen %ld", &from) == 1 && sscanf(end, "\nend %ld", &to) == 1 && from == to) break;
  }
  if (from != to || strcmp(text, known) == 0) return;
  strcpy(known, text);
  rule_count = 0;
  char *place = NULL;
  for (char *line = strtok_r(text, "\n", &place); line; line = strtok_r(NULL, "\n", &place)) {
    struct rule *rule = &rules[rule_count];
    if (rule_count == MAX_RULES || strncmp(line, "gen ", 4) == 0 || strncmp(line, "end ", 4) == 0) continue;
    memset(rule, 0, sizeof *rule);
    if (sscanf(line, "%15s %23s %ld %ld %255s", rule->operation, rule->effect, &rule->skip, &rule->count, rule->part) >= 4)
      rule_count++;
  }
}

static int error_of(const char *effect) {
  static const struct { const char *name; int number; } errors[] = {
      {"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EDQUOT", EDQUOT}, {"EROFS", EROFS}, {"EINTR", EINTR},
      {"EFBIG", EFBIG}, {"EACCES", EACCES}, {"EMFILE", EMFILE}};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (strcmp(errors[i].name, effect) == 0) return errors[i].number;
  return 0;
}

enum { GO_ON, FAIL, SHORT, KILL_AFTER };

/* What is to happen to a call: GO_ON, FAIL with errno set, SHORT (half of the bytes), KILL_AFTER. May not return. */
static int judge(const char *operation, const char *path) {
  char effect[24] = "";
  if (rules_fd < 0) return GO_ON;
  int changes = strcmp(operation, "read") != 0;
  pthread_mutex_lock(&rules_lock);
  read_rules();
  for (int i = 0; i < rule_count && !*effect; i++) {
    struct rule *rule = &rules[i];
    if (strcmp(rule->operation, operation) != 0 && !(changes && strcmp(rule->operation, "change") == 0)) continue;
    if (*rule->part && !strstr(path, rule->part)) continue;
    long number = rule->seen++;
    if (number >= rule->skip && number < rule->skip + rule->count) strcpy(effect, rule->effect);
  }
  pthread_mutex_unlock(&rules_lock);
  if (!*effect) return GO_ON;
  char line[PATHS + 64];
  int length = snprintf(line, sizeof line, "%s %s %s\n", operation, effect, path);
  if (hits_fd >= 0 && real_write(hits_fd, line, length) < 0) abort();
  if (strcmp(effect, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(effect, "stop") == 0) kill(getpid(), SIGSTOP);
  if (strcmp(effect, "kill-after") == 0) return KILL_AFTER;
  if (strcmp(effect, "short") == 0) return SHORT;
  if (strncmp(effect, "delay=", 6) == 0) usleep(atol(effect + 6) * 1000);
  int error = error_of(effect);
  if (error == 0) return GO_ON;
  errno = error;
  return FAIL;
}

static void end_if(int verdict) {
  if (verdict == KILL_AFTER) kill(getpid(), SIGKILL);
}

/* ---- journal ---- */

enum { CREATE = 1, WRITE, TRUNCATE, SYNC, SYNC_FOLDER, RENAME, UNLINK, MKDIR, RMDIR, LINK };

static int is_journaled(const char *path) {
  size_t length = strlen(path);
  return journal_fd >= 0 && !(length > 4 && strcmp(path + length - 4, "-shm") == 0);
}

/* One record: type, two lengths of paths, length of data, inode, offset; then the paths and the data. */
static void record(uint32_t type, uint64_t inode, uint64_t offset, const char *one, const char *two, const void *data, uint32_t size) {
  uint32_t head[8] = {type, strlen(one), two ? strlen(two) : 0, size};
  memcpy(head + 4, &inode, 8);
  memcpy(head + 6, &offset, 8);
  struct iovec parts[4] = {{head, sizeof head}, {(void *)one, head[1]}, {(void *)(two ? two : ""), head[2]}, {(void *)data, size}};
  ssize_t whole = (ssize_t)(sizeof head + head[1] + head[2] + size);
  if (real_writev(journal_fd, parts, 4) != whole) abort();
}

static uint64_t inode_of(int fd) {
  struct stat facts;
  return fstat(fd, &facts) == 0 ? facts.st_ino : 0;
}

/* ---- writing ---- */

static ssize_t write_all_kinds(int fd, const void *bytes, size_t size, off64_t offset, int positioned) {
  char path[PATHS];
  if (!path_of(fd, path)) return positioned ? real_pwrite64(fd, bytes, size, offset) : real_write(fd, bytes, size);
  int verdict = judge("write", path);
  if (verdict == FAIL) return -1;
  if (verdict == SHORT && size > 1) size /= 2;
  if (!is_journaled(path)) {
    ssize_t done = positioned ? real_pwrite64(fd, bytes, size, offset) : real_write(fd, bytes, size);
    end_if(verdict);
    return done;
  }
  pthread_mutex_lock(&order);
  struct stat facts = {0};
  fstat(fd, &facts);
  off64_t at = positioned ? offset : (fcntl(fd, F_GETFL) & O_APPEND) ? facts.st_size : lseek64(fd, 0, SEEK_CUR);
  ssize_t done = positioned ? real_pwrite64(fd, bytes, size, offset) : real_write(fd, bytes, size);
  int error = errno;
  if (done > 0) record(WRITE, facts.st_ino, at, path, NULL, bytes, done);
  pthread_mutex_unlock(&order);
  end_if(verdict);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *bytes, size_t size) { return write_all_kinds(fd, bytes, size, 0, 0); }
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) { return write_all_kinds(fd, bytes, size, at, 1); }
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) { return write_all_kinds(fd, bytes, size, at, 1); }

/* Parts are written one by one; the first that is not written whole ends the call, as it may. */
static ssize_t write_parts(int fd, const struct iovec *parts, int count, off64_t at, int positioned) {
  ssize_t sum = 0;
  for (int i = 0; i < count; i++) {
    ssize_t done = write_all_kinds(fd, parts[i].iov_base, parts[i].iov_len, at + sum, positioned);
    if (done < 0) return sum > 0 ? sum : -1;
    sum += done;
    if ((size_t)done < parts[i].iov_len) break;
  }
  return sum;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char path[PATHS];
  return path_of(fd, path) ? write_parts(fd, parts, count, 0, 0) : real_writev(fd, parts, count);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  char path[PATHS];
  return path_of(fd, path) ? write_parts(fd, parts, count, at, 1) : real_pwritev64(fd, parts, count, at);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) { return pwritev64(fd, parts, count, at); }

/* ---- reading ---- */

static size_t allowed(int fd, size_t size, int *failed) {
  char path[PATHS];
  *failed = 0;
  if (!path_of(fd, path)) return size;
  int verdict = judge("read", path);
  *failed = verdict == FAIL;
  return verdict == SHORT && size > 1 ? size / 2 : size;
}

ssize_t read(int fd, void *bytes, size_t size) {
  int failed;
  size = allowed(fd, size, &failed);
  return failed ? -1 : real_read(fd, bytes, size);
}
ssize_t pread64(int fd, void *bytes, size_t size, off64_t at) {
  int failed;
  size = allowed(fd, size, &failed);
  return failed ? -1 : real_pread64(fd, bytes, size, at);
}
ssize_t pread(int fd, void *bytes, size_t size, off_t at) { return pread64(fd, bytes, size, at); }

/* ---- files and names ---- */

static int open_any(const char *path, int flags, mode_t mode) {
  if (!path || !is_below(path)) return real_open64(path, flags, mode);
  int writes = (flags & (O_CREAT | O_TRUNC)) != 0;
  int verdict = writes ? judge("open", path) : GO_ON;
  if (verdict == FAIL) return -1;
  if (!writes || !is_journaled(path)) {
    int fd = real_open64(path, flags, mode), error = errno;
    end_if(verdict);
    errno = error;
    return fd;
  }
  pthread_mutex_lock(&order);
  struct stat facts;
  int existed = lstat(path, &facts) == 0;
  int fd = real_open64(path, flags, mode);
  int error = errno;
  if (fd >= 0 && !existed) record(CREATE, inode_of(fd), 0, path, NULL, "", 0);
  else if (fd >= 0 && (flags & O_TRUNC)) record(TRUNCATE, inode_of(fd), 0, path, NULL, "", 0);
  pthread_mutex_unlock(&order);
  end_if(verdict);
  errno = error;
  return fd;
}

#define MODE_OF(flags)                                  \
  mode_t mode = 0;                                      \
  if ((flags) & (O_CREAT | O_TMPFILE)) {                \
    va_list rest;                                       \
    va_start(rest, flags);                              \
    mode = va_arg(rest, mode_t);                        \
    va_end(rest);                                       \
  }
int open64(const char *path, int flags, ...) { MODE_OF(flags) return open_any(path, flags, mode); }
int open(const char *path, int flags, ...) { MODE_OF(flags) return open_any(path, flags, mode); }

static int sync_any(int fd, int (*real)(int)) {
  char path[PATHS];
  if (!path_of(fd, path)) return real(fd);
  int verdict = judge("fsync", path);
  if (verdict == FAIL) return -1;
  if (!is_journaled(path)) {
    int done = real(fd), error = errno;
    end_if(verdict);
    errno = error;
    return done;
  }
  pthread_mutex_lock(&order);
  struct stat facts = {0};
  fstat(fd, &facts);
  int done = real(fd), error = errno;
  if (done == 0) record(S_ISDIR(facts.st_mode) ? SYNC_FOLDER : SYNC, facts.st_ino, 0, path, NULL, "", 0);
  pthread_mutex_unlock(&order);
  end_if(verdict);
  errno = error;
  return done;
}
int fsync(int fd) { return sync_any(fd, real_fsync); }
int fdatasync(int fd) { return sync_any(fd, real_fdatasync); }

int ftruncate64(int fd, off64_t size) {
  char path[PATHS];
  if (!path_of(fd, path)) return real_ftruncate64(fd, size);
  int verdict = judge("truncate", path);
  if (verdict == FAIL) return -1;
  pthread_mutex_lock(&order);
  int done = real_ftruncate64(fd, size), error = errno;
  if (done == 0 && is_journaled(path)) record(TRUNCATE, inode_of(fd), size, path, NULL, "", 0);
  pthread_mutex_unlock(&order);
  end_if(verdict);
  errno = error;
  return done;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

#define NAME_CHANGE(operation, type, ours, call, one, two, made)              \
  if (!(ours)) return call;                                                   \
  int verdict = judge(operation, made);                                       \
  if (verdict == FAIL) return -1;                                             \
  pthread_mutex_lock(&order);                                                 \
  int done = call, error = errno;                                             \
  if (done == 0 && is_journaled(one)) record(type, 0, 0, one, two, "", 0);    \
  pthread_mutex_unlock(&order);                                               \
  end_if(verdict);                                                            \
  errno = error;                                                              \
  return done;

#define NOTHING ((const char *)NULL)
int rename(const char *from, const char *to) {
  NAME_CHANGE("rename", RENAME, is_below(from) || is_below(to), real_rename(from, to), from, to, to)
}
int link(const char *from, const char *to) {
  NAME_CHANGE("link", LINK, is_below(from) || is_below(to), real_link(from, to), from, to, to)
}
int unlink(const char *path) { NAME_CHANGE("unlink", UNLINK, is_below(path), real_unlink(path), path, NOTHING, path) }
int rmdir(const char *path) { NAME_CHANGE("rmdir", RMDIR, is_below(path), real_rmdir(path), path, NOTHING, path) }
int mkdir(const char *path, mode_t mode) {
  NAME_CHANGE("mkdir", MKDIR, is_below(path), real_mkdir(path, mode), path, NOTHING, path)
}
