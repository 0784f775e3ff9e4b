internal import Foundation
internal import Sockets
internal import Synchronization

/// The thread that drives the sockets of all rooms and call channels of this process that trust the same authorities.
///
/// One thread and not one per room: a room costs it a few microseconds a frame, so a thread carries hundreds. It is started by the
/// first of them and ends when nobody refers to this object any more. This is the outer half, for all threads; `LoopThread` is what
/// lives inside.
final class ClientLoop: Sendable {
    private let mailbox = Mailbox<LoopMessage>()
    private let lastID = Atomic(0)

    private static let running = Mutex<[TLSTrust: WeakLoop]>([:])

    private struct WeakLoop {
        weak var loop: ClientLoop?
    }

    deinit {
        mailbox.post(.stop)
    }

    /// The loop for `trust`: the one that runs, or a new one.
    ///
    /// - Throws: `ConnectError` of kind `setup`.
    static func shared(for trust: TLSTrust) async throws(ConnectError) -> ClientLoop {
        if let loop = running.withLock({ $0[trust]?.loop }) { return loop }
        let loop = ClientLoop()
        if let problem = await loop.start(trust) { throw problem }
        // Two that start at the same moment make two loops. Both serve; the second is the one that others find.
        running.withLock { $0[trust] = WeakLoop(loop: loop) }
        return loop
    }

    func post(_ message: LoopMessage) {
        mailbox.post(message)
    }

    /// A number for a room, channel or track, new in this loop.
    func makeID() -> Int {
        lastID.add(1, ordering: .relaxed).newValue
    }

    private func start(_ trust: TLSTrust) async -> ConnectError? {
        await withCheckedContinuation { (started: CheckedContinuation<ConnectError?, Never>) in
            let thread = Thread { [mailbox] in
                LoopThread(mailbox: mailbox).run(trusting: trust.settings) { problem in
                    started.resume(returning: problem.map(ConnectError.init(settingUp:)))
                }
            }
            thread.name = "patchbay-client"
            thread.stackSize = 1 << 20
            thread.start()
        }
    }
}
