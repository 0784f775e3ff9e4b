internal import CLibwebsockets
package import Wire

/// A libuv loop with the handles that every `Loop` has: two timers, a way to wake it, and a hook before it waits for events; and the
/// libwebsockets context on it.
///
/// `close` frees all of it, whether or not `openLibrary` was called or has succeeded.
@safe final class UVLoop {
    let pointer = UnsafeMutablePointer<uv_loop_t>.allocate(capacity: 1)
    private let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    private let async = UnsafeMutablePointer<uv_async_t>.allocate(capacity: 1)
    private let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    /// For `Loop.scanDeadlines`.
    private let scan = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    let lws = LwsContext()
    private var isOpen = false
    private unowned let loop: Loop

    /// - Parameter loop: keeps this object alive, and closes it before it goes.
    init(for loop: Loop) throws(LoopError) {
        self.loop = loop
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        guard unsafe uv_loop_init(pointer) == 0 else { throw .noLoop }
        isOpen = true
        unsafe uv_timer_init(pointer, timer)
        unsafe timer.pointee.data = unsafe this
        unsafe uv_timer_init(pointer, scan)
        unsafe scan.pointee.data = unsafe this
        guard unsafe uv_async_init(pointer, async, asyncSignaled) == 0 else {
            unsafe uv_close(patchbay_timer_handle(timer), nil)
            unsafe uv_close(patchbay_timer_handle(scan), nil)
            unsafe uv_run(pointer, UV_RUN_NOWAIT)
            unsafe uv_loop_close(pointer)
            isOpen = false
            throw .noLoop
        }
        unsafe async.pointee.data = unsafe this
        unsafe uv_prepare_init(pointer, prepare)
        unsafe prepare.pointee.data = unsafe this
        unsafe uv_prepare_start(prepare) { handle in
            guard let data = unsafe handle?.pointee.data else { return }
            unsafe Unmanaged<UVLoop>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.willPoll() }
        }
    }

    /// Creates the libwebsockets context, which a loop needs to serve HTTP.
    func openLibrary() throws(LoopError) { try unsafe lws.open(on: pointer) }

    func run() { unsafe uv_run(pointer, UV_RUN_DEFAULT) }
    func stop() { unsafe uv_stop(pointer) }

    var waker: LoopWaker { unsafe LoopWaker(handle: async) }

    /// Frees the context and the loop, in the order that libwebsockets needs, unless it may not have another turn: then both are leaked.
    func close() {
        guard lws.destroy() else { return }
        closeHandles()
        lws.finishDestroying()
    }

    /// libwebsockets must have closed its own handles, or be about to.
    private func closeHandles() {
        guard isOpen else { return }
        isOpen = false
        unsafe uv_prepare_stop(prepare)
        unsafe uv_close(patchbay_timer_handle(scan), nil)
        unsafe uv_close(patchbay_prepare_handle(prepare), nil)
        unsafe uv_close(patchbay_timer_handle(timer), nil)
        unsafe uv_close(patchbay_async_handle(async), nil)
        // libwebsockets and libuv finish closing in the following turns.
        for _ in 0..<100 where unsafe uv_loop_alive(pointer) != 0 { unsafe uv_run(pointer, UV_RUN_NOWAIT) }
        guard unsafe uv_loop_close(pointer) == 0 else { return }
        unsafe pointer.deallocate()
        unsafe timer.deallocate()
        unsafe async.deallocate()
        unsafe prepare.deallocate()
        unsafe scan.deallocate()
    }

    // MARK: The timer

    func stopTimer() { unsafe uv_timer_stop(timer) }

    func startTimer(milliseconds: UInt64) {
        unsafe uv_timer_start(timer, timerFired, milliseconds, 0)
    }

    /// Makes the timer fire within this time, unless it is set to fire earlier.
    func startTimer(withinMilliseconds milliseconds: UInt64) {
        if unsafe uv_is_active(patchbay_timer_handle(timer)) == 0 || uv_timer_get_due_in(timer) > milliseconds {
            startTimer(milliseconds: milliseconds)
        }
    }

    /// How often deadlines are looked at, in milliseconds.
    static let scanMilliseconds: UInt64 = 100

    /// Looks at deadlines periodically until there are none.
    func startScanning() {
        guard unsafe uv_is_active(patchbay_timer_handle(scan)) == 0 else { return }
        unsafe uv_timer_start(
            scan,
            { timer in
                guard let data = unsafe timer?.pointee.data else { return }
                unsafe Unmanaged<UVLoop>.fromOpaque(data).takeUnretainedValue().scanDeadlines()
            }, Self.scanMilliseconds, Self.scanMilliseconds)
    }

    private func scanDeadlines() {
        if !loop.scanDeadlines() { unsafe uv_timer_stop(scan) }
    }

    // MARK: Events

    private func willPoll() { loop.endTurn() }
    fileprivate func fireTimer() { loop.timerFired() }
    fileprivate func signal() { unsafe loop.delegate.woken() }
}

private func asyncSignaled(_ async: UnsafeMutablePointer<uv_async_t>?) {
    guard let data = unsafe async?.pointee.data else { return }
    unsafe Unmanaged<UVLoop>.fromOpaque(data).takeUnretainedValue().signal()
}

private func timerFired(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    guard let data = unsafe timer?.pointee.data else { return }
    unsafe Unmanaged<UVLoop>.fromOpaque(data).takeUnretainedValue().fireTimer()
}

/// The time of a loop's turn, in whole milliseconds: read once per turn and not once per frame.
///
/// A value, so that reading it counts no references. Valid until its loop has ended.
@safe package struct LoopClock {
    private let loop: UnsafePointer<uv_loop_t>?
    private let fixed: Instant

    /// A stopped clock, without a loop.
    package init(standingAt instant: Instant) {
        unsafe loop = nil
        fixed = instant
    }

    init(of loop: UnsafePointer<uv_loop_t>) {
        unsafe self.loop = unsafe loop
        fixed = Instant(nanoseconds: 0)
    }

    package var now: Instant {
        guard let loop = unsafe loop else { return fixed }
        return unsafe Instant(nanoseconds: uv_now(loop) &* 1_000_000)
    }
}

/// Why a loop could not be created.
package struct LoopError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    static let noTLS = LoopError("OpenSSL has no memory for TLS")
    static let noLoop = LoopError("libuv cannot create a loop; check the limit of open files (`ulimit -n`)")
}
