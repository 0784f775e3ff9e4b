#define _GNU_SOURCE
#include "CallCounter.h"
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static atomic_ulong allocations, receives, sends, waits, others;
static _Thread_local int isInEvent;

static void count(atomic_ulong *counter) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }

unsigned long call_counter_allocations(void) { return allocations; }
unsigned long call_counter_bytes(void) { return mallinfo2().uordblks; }
unsigned long call_counter_receives(void) { return receives; }
unsigned long call_counter_sends(void) { return sends; }
unsigned long call_counter_waits(void) { return waits; }
unsigned long call_counter_others(void) { return others; }

// glibc's allocator under its own names.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void allocating(void) {
    if (isInEvent) count(&allocations);
}

void *malloc(size_t size) { allocating(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { allocating(); return __libc_calloc(number, size); }
void *realloc(void *block, size_t size) { allocating(); return __libc_realloc(block, size); }
void *memalign(size_t alignment, size_t size) { allocating(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { allocating(); return __libc_memalign(alignment, size); }
int posix_memalign(void **block, size_t alignment, size_t size) {
    allocating();
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

// A loop's `recv` begins the handling of a socket event; a look at the clock or the next wait ends it.
int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*library)(clockid_t, struct timespec *);
    if (!library) library = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    isInEvent = 0;
    return library(clock, time);
}

ssize_t recv(int socket, void *buffer, size_t size, int flags) {
    count(&receives);
    ssize_t received = syscall(SYS_recvfrom, socket, buffer, size, flags, NULL, NULL);
    isInEvent = received > 0;
    return received;
}
ssize_t read(int file, void *buffer, size_t size) {
    count(&receives);
    return syscall(SYS_read, file, buffer, size);
}
ssize_t send(int socket, const void *buffer, size_t size, int flags) {
    count(&sends);
    return syscall(SYS_sendto, socket, buffer, size, flags, NULL, 0);
}
ssize_t write(int file, const void *buffer, size_t size) {
    count(&sends);
    return syscall(SYS_write, file, buffer, size);
}
int epoll_pwait(int epoll, struct epoll_event *events, int room, int timeout, const sigset_t *mask) {
    isInEvent = 0;
    count(&waits);
    return (int)syscall(SYS_epoll_pwait, epoll, events, room, timeout, mask, _NSIG / 8);
}
int epoll_wait(int epoll, struct epoll_event *events, int room, int timeout) { return epoll_pwait(epoll, events, room, timeout, NULL); }
int epoll_ctl(int epoll, int what, int file, struct epoll_event *event) {
    count(&others);
    return (int)syscall(SYS_epoll_ctl, epoll, what, file, event);
}
int ioctl(int file, unsigned long request, ...) {
    va_list rest;
    va_start(rest, request);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    count(&others);
    return (int)syscall(SYS_ioctl, file, request, argument);
}
