internal import CLibwebsockets

/// The watch of a libuv loop over one socket. Starting and changing it costs system calls, so it changes only when the events do.
@safe struct SocketPoll {
    private let handle: UnsafeMutablePointer<uv_poll_t>
    private var events: Int32 = 0

    static var readable: Int32 { Int32(UV_READABLE.rawValue) }
    static var writable: Int32 { Int32(UV_WRITABLE.rawValue) }
    /// The peer has ended its side.
    static var disconnected: Int32 { Int32(UV_DISCONNECT.rawValue) }

    /// - Parameter edge: receives the events; must outlive the watch.
    /// - Returns: nil if libuv cannot watch the descriptor.
    init?(_ descriptor: Int32, on uv: UnsafeMutablePointer<uv_loop_t>, for edge: EdgeConnection) {
        unsafe handle = .allocate(capacity: 1)
        guard unsafe uv_poll_init(uv, handle, descriptor) == 0 else {
            unsafe handle.deallocate()
            return nil
        }
        unsafe handle.pointee.data = unsafe Unmanaged.passUnretained(edge).toOpaque()
    }

    /// Reports these events from now on; none if 0.
    mutating func watch(for wanted: Int32) {
        guard wanted != events else { return }
        events = wanted
        if wanted == 0 { unsafe uv_poll_stop(handle) } else { unsafe uv_poll_start(handle, wanted, socketEvent) }
    }

    /// libuv has stopped the watch because of an error.
    mutating func noteStopped() { events = 0 }

    /// Ends the watch, before the descriptor is closed.
    func close() {
        unsafe uv_poll_stop(handle)
        unsafe uv_close(patchbay_poll_handle(handle)) { handle in unsafe handle?.deallocate() }
    }
}

private func socketEvent(_ handle: UnsafeMutablePointer<uv_poll_t>?, _ status: Int32, _ events: Int32) {
    guard let data = unsafe handle?.pointee.data else { return }
    // Its loop releases a connection at the end of a turn only.
    unsafe Unmanaged<EdgeConnection>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.handle(status, events) }
}

/// The events that one connection waits for: input, unless reading is paused, and room for output.
struct SocketWatch {
    private var poll: SocketPoll
    private(set) var input = Input.open
    /// The phase wants to know when the socket takes bytes, though none wait in the stream.
    var wantsWritable = false
    /// While reading is paused, the phase wants to know that the peer has left.
    var noticesHangup = false

    enum Input {
        case open, paused
        /// The peer has ended its side.
        case ended
    }

    init(_ poll: SocketPoll) {
        self.poll = poll
    }

    /// Watches for what can happen next.
    ///
    /// - Parameter isCongested: bytes wait in the stream.
    mutating func update(isCongested: Bool) {
        var events: Int32 = 0
        if input == .open { events |= SocketPoll.readable }
        if input == .paused && noticesHangup { events |= SocketPoll.disconnected }
        if isCongested || wantsWritable { events |= SocketPoll.writable }
        poll.watch(for: events)
    }

    /// Watches for the end of TCP's handshake only.
    mutating func awaitConnection() { poll.watch(for: SocketPoll.writable) }

    /// libuv has stopped the watch because of an error.
    mutating func noteStopped() { poll.noteStopped() }

    mutating func endInput() { input = .ended }

    /// Pauses or resumes reading.
    ///
    /// - Returns: false if the peer has ended its side.
    @discardableResult
    mutating func setReading(_ reads: Bool) -> Bool {
        guard input != .ended else { return false }
        input = reads ? .open : .paused
        return true
    }

    func close() { poll.close() }
}

/// Watches a descriptor that is no connection yet for input, with a timer, on a libuv loop.
@safe final class DescriptorWatch {
    private let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
    private let timer = UnsafeMutablePointer<uv_timer_t>.allocate(capacity: 1)
    private let readable: () -> Void
    private let timerFired: () -> Void
    private var isOpen = false

    /// - Returns: nil if libuv cannot watch the descriptor.
    init?(
        _ descriptor: Int32, on uv: UnsafeMutablePointer<uv_loop_t>, readable: @escaping () -> Void, timerFired: @escaping () -> Void
    ) {
        self.readable = readable
        self.timerFired = timerFired
        guard unsafe uv_poll_init(uv, poll, descriptor) == 0 else {
            unsafe poll.deallocate()
            unsafe timer.deallocate()
            return nil
        }
        isOpen = true
        unsafe uv_timer_init(uv, timer)
        // libuv keeps the pointers until the handles are closed; `close` frees them only after that.
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe poll.pointee.data = unsafe this
        unsafe timer.pointee.data = unsafe this
    }

    deinit { precondition(!isOpen, "a watch must be closed before it is released") }

    func resume() {
        unsafe uv_poll_start(poll, SocketPoll.readable) { poll, _, _ in
            guard let data = unsafe poll?.pointee.data else { return }
            unsafe Unmanaged<DescriptorWatch>.fromOpaque(data).takeUnretainedValue().readable()
        }
    }

    func pause() { unsafe uv_poll_stop(poll) }

    func startTimer(milliseconds: UInt64) {
        unsafe uv_timer_start(
            timer,
            { timer in
                guard let data = unsafe timer?.pointee.data else { return }
                unsafe Unmanaged<DescriptorWatch>.fromOpaque(data).takeUnretainedValue().timerFired()
            }, milliseconds, 0)
    }

    func close() {
        guard isOpen else { return }
        isOpen = false
        unsafe uv_poll_stop(poll)
        unsafe uv_timer_stop(timer)
        unsafe uv_close(patchbay_poll_handle(poll)) { handle in unsafe handle?.deallocate() }
        unsafe uv_close(patchbay_timer_handle(timer)) { handle in unsafe handle?.deallocate() }
    }
}
