#pragma once
// What a gateway in this process asks of the kernel and of the allocator, counted by functions of our own in place of the C library's.

// Allocations while lws deals with a socket's events: a frame's way, without what the clock has done.
unsigned long call_counter_allocations(void);
unsigned long call_counter_receives(void);
unsigned long call_counter_sends(void);
unsigned long call_counter_waits(void);
// epoll_ctl and ioctl.
unsigned long call_counter_others(void);
// Has the allocator give back to the system what nobody uses.
void call_counter_trim(void);
