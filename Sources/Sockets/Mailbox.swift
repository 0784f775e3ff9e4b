internal import CLibwebsockets
internal import Synchronization

/// The one door into a loop's thread: anyone posts, the loop takes all that has come in one turn.
///
/// Posts between two turns cost one wake between them (`uv_async_send` joins calls), so a batch is as cheap as a message.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State: ~Copyable {
        var messages: [Message] = []
        var wake: LoopWaker?
        var isClosed = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Posts a message; the loop sees it in its next turn. A loop that has ended takes no more, and the message is gone.
    package func post(_ message: Message) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.messages.append(message)
            // Under the lock, so that the waker is never used after `disconnect` has returned.
            state.wake?.wake()
        }
    }

    /// Posts a message unless too many wait already: for what somebody outside can send without end.
    ///
    /// - Returns: whether it was taken.
    package func post(_ message: Message, unlessMoreThan limit: Int) -> Bool {
        state.withLock { state in
            guard state.messages.count < limit, !state.isClosed else { return false }
            state.messages.append(message)
            state.wake?.wake()
            return true
        }
    }

    /// Wakes the loop without a message, for something that it will find elsewhere.
    package func wake() {
        state.withLock { $0.wake?.wake() }
    }

    /// Takes all that has been posted. Called on the loop's thread.
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

    /// After this the loop may go: nobody holds its waker any more.
    package func disconnect() {
        state.withLock { $0.wake = nil }
    }

    /// No loop will read it any more: what waits is gone, and so is what is posted from now on. Whoever waits for what a message would bring
    /// learns that by its end.
    package func close() {
        let messages = state.withLock { state in
            state.isClosed = true
            defer { state.messages = [] }
            return state.messages
        }
        // Not under the lock: what goes with them may post.
        withExtendedLifetime(messages) {}
    }
}

/// Wakes a loop from any thread.
///
/// `@unchecked Sendable`: the pointer is only passed to `uv_async_send`, which libuv allows from every thread, and the
/// mailbox's lock sees to it that this does not happen after the loop has closed the handle.
@safe package struct LoopWaker: @unchecked Sendable {
    let handle: UnsafeMutablePointer<uv_async_t>

    package func wake() {
        unsafe uv_async_send(handle)
    }
}
