#pragma once
// What Swift cannot import from these headers: a computed macro, a kernel structure newer than the C library's, and calls that clash with
// its own names.
#include <libwebsockets.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <uv.h>

enum { patchbay_lws_pre = LWS_PRE };

// Bytes in the send queue that the peer has not acknowledged (SIOCOUTQ), or -1.
static inline int patchbay_unacknowledged(int socket) {
    int bytes = 0;
    return ioctl(socket, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}

// accept4 is a GNU extension, which Swift's Glibc module does not show.
int accept4(int, struct sockaddr *, socklen_t *, int);
static inline int patchbay_accept(int listener) { return accept4(listener, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC); }

// The kernel's struct tcp_info up to snd_wnd (Linux 5.4), by its layout in linux/tcp.h, which cannot stand beside netinet/tcp.h.
struct patchbay_tcp_info {
    uint8_t before_rto[8];
    uint32_t rto, ato, snd_mss, rcv_mss, unacked, sacked, lost, retrans, fackets;
    uint32_t last_data_sent, last_ack_sent, last_data_recv, last_ack_recv;
    uint32_t pmtu, rcv_ssthresh, rtt, rttvar, snd_ssthresh, snd_cwnd, advmss, reordering, rcv_rtt, rcv_space, total_retrans;
    uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
    uint32_t segs_out, segs_in, notsent_bytes, min_rtt, data_segs_in, data_segs_out;
    uint64_t delivery_rate, busy_time, rwnd_limited, sndbuf_limited;
    uint32_t delivered, delivered_ce;
    uint64_t bytes_sent, bytes_retrans;
    uint32_t dsack_dups, reord_seen, rcv_ooopack, snd_wnd;
};
_Static_assert(sizeof(struct patchbay_tcp_info) == 232, "struct tcp_info as Linux 5.4 has it");

static inline void *patchbay_as_loop(uv_loop_t *loop) { return loop; }
static inline uv_handle_t *patchbay_timer_handle(uv_timer_t *timer) { return (uv_handle_t *)timer; }
static inline uv_handle_t *patchbay_async_handle(uv_async_t *async) { return (uv_handle_t *)async; }
static inline uv_handle_t *patchbay_poll_handle(uv_poll_t *poll) { return (uv_handle_t *)poll; }
