internal import Store
internal import Synchronization
internal import Wire

/// A service's write about a room, which the queue's reader performs after everything that was appended about the room before.
package final class RoomWrite: Sendable {
    package let room: String
    /// - Throws: `StoreError.superseded` if the store refuses the fence. Other errors are handled by the body.
    let perform: @Sendable (RoomFence?) async throws -> Void
    /// Called if the write is not stored because another node is the room's home.
    let refused: @Sendable () -> Void
    /// Called when the write is performed or lost.
    private let ended: @Sendable () -> Void

    init(
        _ room: String, refused: @escaping @Sendable () -> Void = {}, ended: @escaping @Sendable () -> Void = {},
        perform: @escaping @Sendable (RoomFence?) async throws -> Void
    ) {
        self.room = room
        (self.refused, self.ended) = (refused, ended)
        self.perform = perform
    }

    deinit { ended() }
}

extension RoomWrite: Hashable {
    package static func == (a: RoomWrite, b: RoomWrite) -> Bool { a === b }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AuditEventQueue {
    /// - Returns: false if too many writes are queued, or the queue is finished.
    func append(_ write: RoomWrite) -> Bool {
        let (isTaken, reader) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard state.hasRoomForWrite else { return (false, nil) }
            state.append(write, epoch(of: write.room))
            return (true, state.takeReader())
        }
        reader?.resume()
        return isTaken
    }

    /// Performs a write after the room's earlier events and writes, and returns its result.
    ///
    /// - Parameter body: is passed the fence of what it writes about the room: nil without a cluster, and for a room that is not open here.
    /// - Throws: what `body` throws; `busy` if too many writes are queued; `full` or `busy` if an earlier write waits for the store: the body
    ///   is then performed once the store has recovered.
    func performing<T: Sendable>(_ room: String, _ body: @escaping @Sendable (RoomFence?) async throws -> T) async throws -> T {
        let (results, continuation) = AsyncThrowingStream.makeStream(of: T.self, bufferingPolicy: .bufferingOldest(1))
        let waiter = state.withLock { $0.addWaiter { continuation.finish(throwing: $0) } }
        defer { state.withLock { $0.removeWaiter(waiter) } }
        guard
            append(
                RoomWrite(room, ended: { continuation.finish() }) { fence in
                    do {
                        continuation.yield(try await body(fence))
                    } catch {
                        continuation.finish(throwing: error)
                        throw error
                    }
                })
        else { throw StoreError.busy }
        for try await result in results { return result }
        throw StoreError.cancelled
    }

    /// Waits until everything appended about these rooms is stored, at most for `span`: a store that is slow or full must not stop calls.
    func settle(_ rooms: [String], within span: Duration) async {
        guard !rooms.isEmpty else { return }
        await withTaskGroup { group in
            group.addTask { for room in rooms { _ = try? await self.performing(room) { _ in } } }
            group.addTask { try? await Task.sleep(for: span) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Runs a write of the reader, and repeats it while the store is full or busy. Callers of `performing` get the error instead of waiting.
    func persisting(willRetry: () -> Void = {}, body: () async throws -> Void) async throws {
        try await StoreError.retryingWhileUnavailable { error in
            willRetry()
            for waiter in state.withLock({ $0.takeWaiters() }) { waiter(error) }
        } body: {
            try await body()
        }
    }
}
