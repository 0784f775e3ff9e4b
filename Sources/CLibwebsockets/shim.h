#pragma once
// Wrappers for what Swift cannot import: a computed macro, a variadic call, GNU extensions, and casts between libuv's handle types.
#include <libwebsockets.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <uv.h>

enum { patchbay_lws_pre = LWS_PRE };

// The number of bytes in the send queue that the peer has not acknowledged (SIOCOUTQ), or -1.
static inline int patchbay_unacknowledged(int socket) {
    int bytes = 0;
    return ioctl(socket, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}

// Cancels a netlink socket's subscriptions (netlink(7)): binds it again, to no groups. Fails for other descriptors.
static inline int patchbay_netlink_unsubscribe(int socket) {
    struct sockaddr_nl address;
    socklen_t length = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &length) != 0 || address.nl_family != AF_NETLINK) return -1;
    address.nl_groups = 0;
    return bind(socket, (struct sockaddr *)&address, sizeof address);
}

// Like lws_adopt_socket_vhost, with user data from the start. Each adopted socket whose LWS_CALLBACK_WSI_CREATE came gets its
// LWS_CALLBACK_WSI_DESTROY, also if this returns NULL, perhaps later.
static inline struct lws *patchbay_adopt(struct lws_vhost *vhost, int socket, void *opaque) {
    lws_adopt_desc_t description;
    memset(&description, 0, sizeof description);
    description.vh = vhost;
    description.type = LWS_ADOPT_SOCKET | LWS_ADOPT_HTTP;
    description.fd.sockfd = socket;
    description.opaque = opaque;
    return lws_adopt_descriptor_vhost_via_info(&description);
}

// accept4 is a GNU extension, which Swift's Glibc module does not show.
int accept4(int, struct sockaddr *, socklen_t *, int);
static inline int patchbay_accept(int listener) { return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC); }

// sched_getaffinity is one too; the kernel's sets have up to 8,192 processors.
int sched_getaffinity(int, unsigned long, void *);
static inline int patchbay_affinity(void *set, unsigned long bytes) { return sched_getaffinity(0, bytes, set); }

static inline void *patchbay_as_loop(uv_loop_t *loop) { return loop; }
static inline uv_handle_t *patchbay_timer_handle(uv_timer_t *timer) { return (uv_handle_t *)timer; }
static inline uv_handle_t *patchbay_async_handle(uv_async_t *async) { return (uv_handle_t *)async; }
static inline uv_handle_t *patchbay_prepare_handle(uv_prepare_t *prepare) { return (uv_handle_t *)prepare; }
static inline uv_handle_t *patchbay_poll_handle(uv_poll_t *poll) { return (uv_handle_t *)poll; }

// Bytes that the program has allocated, by either of malloc's ways.
static inline unsigned long patchbay_heap_used(void) {
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}
static inline int patchbay_heap_trim(void) { return malloc_trim(0); }
static inline int patchbay_limit_arenas(int most) { return mallopt(M_ARENA_MAX, most); }

// Prefetches cache lines; harmless for invalid addresses.
static inline void patchbay_prefetch(const void *start, int lines) {
    for (int line = 0; line < lines; line++) __builtin_prefetch((const char *)start + 64 * line);
}
