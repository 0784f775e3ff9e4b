internal import CLibwebsockets

/// What is to be done after each event of a socket (`RecordIO.eventEnds`).
///
/// lws does not tell when it is through with one. But libuv calls it for each, so the handler that it gives to libuv is remembered (we define
/// `uv_poll_start` anew for the whole program, as `TurnEnd` does with `uv_idle_start`) and called from one of ours. Where that does not
/// take effect there are no batches, and each record goes its own way.
enum EventEnd {
    /// Watches a descriptor that is not lws's.
    static func watch(_ handle: UnsafeMutablePointer<uv_poll_t>, for events: uv_poll_event, _ handler: uv_poll_cb?) {
        _ = unsafe LibraryPoll.start?(handle, Int32(events.rawValue), handler)
    }
}

/// libuv's own function of this name.
private enum LibraryPoll {
    typealias Start = @convention(c) (UnsafeMutablePointer<uv_poll_t>?, Int32, uv_poll_cb?) -> Int32

    static let start = unsafe libraryFunction(named: "uv_poll_start").map { unsafe unsafeBitCast($0, to: Start.self) }
}

/// Public for the reason that `startIdleAtTurnEnd` is.
@_cdecl("uv_poll_start")
public func startPollingWithEnd(
    _ poll: UnsafeMutableRawPointer?, _ events: Int32, _ handler: (@convention(c) (UnsafeMutableRawPointer?, Int32, Int32) -> Void)?
) -> Int32 {
    let handle = unsafe poll?.assumingMemoryBound(to: uv_poll_t.self)
    let handler = unsafe unsafeBitCast(handler, to: uv_poll_cb?.self)
    guard let loop = unsafe handle?.pointee.loop, let recordIO = unsafe TurnEnd.of(loop)?.recordIO else {
        return unsafe LibraryPoll.start?(handle, events, handler) ?? -1
    }
    unsafe recordIO.handler = unsafe handler
    return unsafe LibraryPoll.start?(handle, events, socketEvent) ?? -1
}

private func socketEvent(_ handle: UnsafeMutablePointer<uv_poll_t>?, _ status: Int32, _ events: Int32) {
    guard let handle = unsafe handle, let data = unsafe handle.pointee.loop.pointee.data else { return }
    // lws may free the handle.
    unsafe Unmanaged<RecordIO>.fromOpaque(data)._withUnsafeGuaranteedRef { unsafe $0.handle(handle, status, events) }
}
