internal import CLibwebsockets
internal import Synchronization

/// libuv's `uv_poll_start`, defined anew for the whole program: on the loops of a gateway each event of a socket goes to `FastPathLoop`
/// first and to libwebsockets' own handler where that is needed.
///
/// libwebsockets has no hook before it reads or after it finishes an event. Without the interposition it reads everything itself.
enum InterposedPoll {
    /// By the address of the `uv_loop_t`. Read only when the watched events of a descriptor change.
    private static let loops = Mutex<[UInt: UInt]>([:])

    static func register(_ loop: FastPathLoop, for uv: UnsafeMutableRawPointer) {
        let address = unsafe UInt(bitPattern: Unmanaged.passUnretained(loop).toOpaque())
        loops.withLock { $0[UInt(bitPattern: uv)] = address }
        // Used by `socketEvent`, for every event.
        unsafe uv.assumingMemoryBound(to: uv_loop_t.self).pointee.data = unsafe UnsafeMutableRawPointer(bitPattern: address)
    }

    static func unregister(_ uv: UnsafeMutableRawPointer) {
        loops.withLock { $0[UInt(bitPattern: uv)] = nil }
        unsafe uv.assumingMemoryBound(to: uv_loop_t.self).pointee.data = nil
    }

    fileprivate static func loop(of uv: UnsafeMutablePointer<uv_loop_t>) -> FastPathLoop? {
        let address = loops.withLock { $0[UInt(bitPattern: uv)] }
        return unsafe UnsafeRawPointer(bitPattern: address ?? 0).map {
            unsafe Unmanaged<FastPathLoop>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// How often the interposed function was called, so that `FastPathTrial` can see whether it is.
    private static let callCounter = Atomic(0)
    static var calls: Int { callCounter.load(ordering: .relaxed) }

    fileprivate static func countCall() { callCounter.add(1, ordering: .relaxed) }

    /// libuv's own function.
    typealias Start = @convention(c) (UnsafeMutablePointer<uv_poll_t>?, Int32, uv_poll_cb?) -> Int32
    static let start = unsafe DynamicSymbol.library("uv_poll_start").map { unsafe unsafeBitCast($0, to: Start.self) }
}

/// Public for the reason that `interposedRead` is.
@_cdecl("uv_poll_start")
public func interposedPollStart(
    _ poll: UnsafeMutableRawPointer?, _ events: Int32, _ handler: (@convention(c) (UnsafeMutableRawPointer?, Int32, Int32) -> Void)?
) -> Int32 {
    InterposedPoll.countCall()
    guard let handle = unsafe poll?.assumingMemoryBound(to: uv_poll_t.self) else { return -1 }
    let handler = unsafe unsafeBitCast(handler, to: uv_poll_cb?.self)
    guard let uv = unsafe handle.pointee.loop, let loop = unsafe InterposedPoll.loop(of: uv) else {
        return unsafe InterposedPoll.start?(handle, events, handler) ?? -1
    }
    unsafe loop.handler = unsafe handler
    return unsafe InterposedPoll.start?(handle, events, socketEvent) ?? -1
}

private func socketEvent(_ handle: UnsafeMutablePointer<uv_poll_t>?, _ status: Int32, _ events: Int32) {
    guard let handle = unsafe handle, let data = unsafe handle.pointee.loop.pointee.data else { return }
    // libwebsockets may free the handle.
    unsafe Unmanaged<FastPathLoop>.fromOpaque(data)._withUnsafeGuaranteedRef { unsafe $0.handle(handle, status, events) }
}
