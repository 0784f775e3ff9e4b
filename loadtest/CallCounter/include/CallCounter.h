#pragma once
// Counts system calls and allocations of a gateway in this process, by replacing functions of the C library.

// Allocations between a loop's `recv` and its next look at the clock or wait: the way of a frame, without control messages.
unsigned long call_counter_allocations(void);
unsigned long call_counter_receives(void);
unsigned long call_counter_sends(void);
unsigned long call_counter_waits(void);
// epoll_ctl and ioctl.
unsigned long call_counter_others(void);
// Bytes allocated at present.
unsigned long call_counter_bytes(void);
