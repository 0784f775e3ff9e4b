internal import CLibwebsockets
internal import Synchronization

/// The queue through which other threads reach a loop: any thread posts, the loop takes everything posted so far in one turn.
///
/// Posts between two turns share one wake (`uv_async_send` coalesces calls), so a batch is as cheap as a message.
///
/// Two kinds of messages have two policies. Requests that a client can send without end are posted with `post(_:unlessMoreThan:)`, which
/// refuses them. Control messages between threads must not be lost, because both sides would disagree about rooms from then on, so
/// `post(_:)` has only the limit `MailboxLimits.messagesMax`, at which the process stops: a loop that has not run for that long is stuck.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State: ~Copyable {
        var messages: [Message] = []
        var wake: LoopWaker?
        var isClosed = false
    }

    private let state = Mutex(State())
    private let limit: Int

    package init(limit: Int = MailboxLimits.messagesMax) {
        self.limit = limit
    }

    /// Posts a message. Messages to a loop that has ended are dropped.
    ///
    /// - Precondition: fewer than `limit` messages are waiting.
    package func post(_ message: Message) {
        state.withLock { state in
            guard !state.isClosed else { return }
            precondition(
                state.messages.count < limit, "a loop has not read its mailbox for \(limit) messages; its thread is stuck or overloaded")
            state.messages.append(message)
            // Under the lock, so that the waker is never used after `disconnect` has returned.
            state.wake?.wake()
        }
    }

    /// Posts a message unless too many are waiting.
    ///
    /// - Returns: whether it was accepted.
    package func post(_ message: Message, unlessMoreThan limit: Int) -> Bool {
        state.withLock { state in
            guard state.messages.count < limit, !state.isClosed else { return false }
            state.messages.append(message)
            state.wake?.wake()
            return true
        }
    }

    /// Wakes the loop without a message, for something that it finds elsewhere.
    package func wake() {
        state.withLock { $0.wake?.wake() }
    }

    /// Takes everything posted so far. Called on the loop's thread.
    package func drain(into messages: inout [Message]) {
        state.withLock { state in
            swap(&messages, &state.messages)
            state.messages.removeAll(keepingCapacity: true)
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

/// Limits of mailboxes.
package enum MailboxLimits {
    /// About a hundred times what a busy shard receives in a second.
    package static let messagesMax = 1 << 20
}
