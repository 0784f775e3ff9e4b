internal import CLibwebsockets
internal import Synchronization

/// The queue through which other threads reach a loop: any thread posts, the loop takes everything posted so far in one turn.
///
/// A full mailbox has one of three policies, by the message:
///
/// - *keep*, `post(_:)`: for what must not be lost, because both sides would disagree from then on. Its number must be limited by what it is
///   about, such as connections.
/// - *refuse*, `post(_:unlessMoreThan:)`: for requests that a client can send without end, and whose sender gets an error.
/// - *drop*, `post(droppable:)`: for everything else. `drain` reports the loss, and the loop's owner must repair what depends on it.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State: ~Copyable {
        var messages: [Message] = []
        /// Since the loop has last read.
        var dropped = 0
        var wake: LoopWaker?
        var isClosed = false
    }

    private let state = Mutex(State())
    private let limit: Int

    /// - Parameter limit: messages that may wait before droppable ones are dropped.
    package init(limit: Int = MailboxLimits.messagesMax) {
        self.limit = limit
    }

    package func post(_ message: Message) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.messages.append(message)
            // Under the lock, so that the waker is never used after `disconnect` has returned.
            state.wake?.wake()
        }
    }

    /// - Returns: whether it was accepted.
    package func post(_ message: Message, unlessMoreThan limit: Int) -> Bool {
        state.withLock { state in
            guard state.messages.count < limit, !state.isClosed else { return false }
            state.messages.append(message)
            state.wake?.wake()
            return true
        }
    }

    /// - Returns: whether it is the first that is dropped since the loop has last read. Further ones follow until it reads again.
    @discardableResult
    package func post(droppable message: Message) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            // Nothing that was posted after a lost message may arrive without it.
            guard state.dropped == 0, state.messages.count < limit else {
                state.dropped += 1
                return state.dropped == 1
            }
            state.messages.append(message)
            state.wake?.wake()
            return false
        }
    }

    /// Wakes the loop without a message, for something that it finds elsewhere.
    package func wake() {
        state.withLock { $0.wake?.wake() }
    }

    /// Takes everything posted so far. Called on the loop's thread.
    ///
    /// - Returns: how many messages were dropped after those.
    @discardableResult
    package func drain(into messages: inout [Message]) -> Int {
        state.withLock { state in
            swap(&messages, &state.messages)
            state.messages.removeAll(keepingCapacity: true)
            defer { state.dropped = 0 }
            return state.dropped
        }
    }

    package func connect(_ waker: LoopWaker) {
        state.withLock { state in
            state.wake = waker
            if !state.messages.isEmpty { waker.wake() }
        }
    }

    /// Releases the loop's waker, after which the loop may be freed.
    package func disconnect() {
        state.withLock { $0.wake = nil }
    }

    /// Drops the messages that are waiting and all that are posted later. Replies that depend on a message end with it.
    package func close() {
        let messages = state.withLock { state in
            state.isClosed = true
            defer { state.messages = [] }
            return state.messages
        }
        // Not under the lock: a message's deinit may post.
        withExtendedLifetime(messages) {}
    }
}

/// Wakes a loop from any thread.
///
/// `@unchecked Sendable`: the pointer is only passed to `uv_async_send`, which libuv allows from every thread, and the mailbox's lock
/// prevents that after the loop has closed the handle.
@safe package struct LoopWaker: @unchecked Sendable {
    let handle: UnsafeMutablePointer<uv_async_t>

    package func wake() {
        unsafe uv_async_send(handle)
    }
}

package enum MailboxLimits {
    /// More than a busy shard receives in the 15 s after which its clients give it up.
    package static let messagesMax = 1 << 18
}
