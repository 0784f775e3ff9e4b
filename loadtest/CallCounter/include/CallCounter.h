#pragma once
// What a gateway in this process asks of the kernel and of the allocator, counted by functions of our own in place of the C library's.

// Allocations while a loop reads a socket's records without lws: a frame's way, without what control messages and the clock have done.
unsigned long call_counter_allocations(void);
unsigned long call_counter_receives(void);
unsigned long call_counter_sends(void);
unsigned long call_counter_waits(void);
// epoll_ctl and ioctl.
unsigned long call_counter_others(void);
// Sockets' events that were for lws.
unsigned long call_counter_handed(void);
// Bytes that are allocated now.
unsigned long call_counter_bytes(void);
