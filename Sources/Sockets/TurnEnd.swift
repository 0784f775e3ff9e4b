internal import CLibwebsockets
internal import Glibc
internal import Synchronization

/// What is to be done once in each turn of a loop: after its sockets' events, and before it waits for the next.
///
/// Before it waits, what was gathered for its sockets leaves (`RecordIO.sendGathered`).
///
/// lws has work of its own then: timers, and connections that have more to read than the kernel knows of. It does that in an idle
/// handle of libuv's, and as long as one is active libuv asks the kernel twice in each turn, the first time without waiting. That
/// second question was half of all waits. So lws's idle handle is not started but remembered here (we define
/// `uv_idle_start` anew for the whole program, as `SubprotocolHeader` does with another function), and its work done at the end of the
/// turn. Only if lws says that it wants to go on at once is the handle really started.
@safe final class TurnEnd {
    private let check = UnsafeMutablePointer<uv_check_t>.allocate(capacity: 1)
    private let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
    let recordIO: RecordIO
    private var idle: (handle: UnsafeMutablePointer<uv_idle_t>, work: uv_idle_cb)?
    /// lws is at work on what it had read before.
    private(set) var isWorking = false
    /// lws has nothing more to do at once.
    private var isStopped = false

    init(loop: UnsafeMutablePointer<uv_loop_t>, recordIO: RecordIO) {
        self.recordIO = recordIO
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe uv_check_init(loop, check)
        // The handle points back to us, and the loop is known as ours, until `stop`.
        unsafe check.pointee.data = unsafe this
        // And so does the loop, to where its sockets' events go (`EventEnd`).
        unsafe loop.pointee.data = unsafe Unmanaged.passUnretained(recordIO).toOpaque()
        let address = UInt(bitPattern: this)
        OurLoops.known.withLock { $0[UInt(bitPattern: loop)] = address }
        unsafe uv_check_start(check) { check in
            guard let data = unsafe check?.pointee.data else { return }
            unsafe Unmanaged<TurnEnd>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.turnEnds() }
        }
        unsafe uv_prepare_init(loop, prepare)
        unsafe prepare.pointee.data = unsafe this
        unsafe uv_prepare_start(prepare) { prepare in
            guard let data = unsafe prepare?.pointee.data else { return }
            unsafe Unmanaged<TurnEnd>.fromOpaque(data)._withUnsafeGuaranteedRef { $0.recordIO.sendGathered() }
        }
    }

    func stop() {
        let loop = unsafe UInt(bitPattern: check.pointee.loop)
        OurLoops.known.withLock { $0[loop] = nil }
        unsafe uv_check_stop(check)
        unsafe uv_close(patchbay_check_handle(check)) { handle in unsafe handle?.deallocate() }
        unsafe uv_prepare_stop(prepare)
        unsafe uv_close(patchbay_prepare_handle(prepare)) { handle in unsafe handle?.deallocate() }
    }

    private func turnEnds() {
        recordIO.serveWhatStayed()
        guard let (handle, work) = unsafe idle else { return }
        unsafe idle = nil
        isStopped = false
        isWorking = true
        unsafe work(handle)
        isWorking = false
        if !isStopped { _ = unsafe LibraryIdle.start?(handle, work) }
    }

    fileprivate func remember(_ handle: UnsafeMutablePointer<uv_idle_t>, _ work: @escaping uv_idle_cb) {
        unsafe idle = unsafe (handle, work)
    }

    fileprivate func forget() {
        isStopped = true
        unsafe idle = nil
    }
}

/// libuv's own functions of these names.
private enum LibraryIdle {
    typealias Start = @convention(c) (UnsafeMutablePointer<uv_idle_t>?, uv_idle_cb?) -> Int32
    typealias Stop = @convention(c) (UnsafeMutablePointer<uv_idle_t>?) -> Int32

    static let start = unsafe libraryFunction(named: "uv_idle_start").map { unsafe unsafeBitCast($0, to: Start.self) }
    static let stop = unsafe libraryFunction(named: "uv_idle_stop").map { unsafe unsafeBitCast($0, to: Stop.self) }
}

/// The addresses of our loops, and of what ends their turns. Asked once a turn; libuv's loops of others go on as ever.
private enum OurLoops {
    static let known = Mutex<[UInt: UInt]>([:])
}

extension TurnEnd {
    /// Nil where the loop is not ours.
    static func of(_ loop: UnsafeMutablePointer<uv_loop_t>) -> TurnEnd? {
        let address = OurLoops.known.withLock { $0[UInt(bitPattern: loop)] }
        return unsafe UnsafeRawPointer(bitPattern: address ?? 0).map { unsafe Unmanaged<TurnEnd>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// Public, as the next: else an optimised program keeps its name to itself, and the libraries go on with libuv's own.
@_cdecl("uv_idle_start")
public func startIdleAtTurnEnd(_ idle: UnsafeMutableRawPointer?, _ work: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?) -> Int32 {
    let handle = unsafe idle?.assumingMemoryBound(to: uv_idle_t.self)
    let work = unsafe unsafeBitCast(work, to: uv_idle_cb?.self)
    guard let handle = unsafe handle, let work = unsafe work, let turnEnd = unsafe TurnEnd.of(handle.pointee.loop) else {
        return unsafe LibraryIdle.start?(handle, work) ?? -1
    }
    unsafe turnEnd.remember(handle, work)
    return 0
}

@_cdecl("uv_idle_stop")
public func stopIdleAtTurnEnd(_ idle: UnsafeMutableRawPointer?) -> Int32 {
    let handle = unsafe idle?.assumingMemoryBound(to: uv_idle_t.self)
    if let loop = unsafe handle?.pointee.loop { unsafe TurnEnd.of(loop)?.forget() }
    return unsafe LibraryIdle.stop?(handle) ?? -1
}
